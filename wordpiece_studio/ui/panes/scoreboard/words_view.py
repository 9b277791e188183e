"""The table of the words that hold a pair or a token: before → after, the symbols that change drawn as chips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from wordpiece_studio.ui.panes.scoreboard.choosing_table import ChoosingTable
from wordpiece_studio.ui.panes.scoreboard.pair_words import NO_WORDS, PairWord, PairWords, changed_tokens
from wordpiece_studio.ui.widgets.chip_style import ChipStyle
from wordpiece_studio.ui.widgets.painting import saved
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

WORD, COUNT, CHANGE = range(3)
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_SPACE = 7.0

_Index = QModelIndex | QPersistentModelIndex


class WordsModel(QAbstractTableModel):
    """One row a word."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = NO_WORDS

    @property
    def words(self) -> PairWords:
        """What is shown."""
        return self._words

    def set_words(self, words: PairWords) -> None:
        """Show these words."""
        self.beginResetModel()
        self._words = words
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._words.words)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else 3

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._words.words[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (token_text(row.word), "×" + number_text(row.count), change_text(row))[index.column()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip_text(f"{row.word} ×{number_text(row.count)}\n{change_text(row)}")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() == COUNT else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


def change_text(row: PairWord) -> str:
    """Return ``ch ##a ##p → cha ##p``, or only how the word is where it stays as it is."""
    before, after = (" ".join(map(token_text, tokens)) for tokens in (row.before, row.after))
    return after if row.before == row.after else f"{before} → {after}"


def parts_of(tokens: tuple[str, ...], changed: list[bool]) -> list[tuple[str, bool]]:
    """Return each token and whether it changes, and so is drawn as a chip."""
    return list(zip(tokens, changed, strict=True))


def shortened(parts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the parts with each stretch of tokens that stay as they are put as three dots.

    >>> shortened([("a", False), ("##b", False), ("##c", True), ("##d", True)])
    [('…', False), ('##c', True), ('##d', True)]
    """
    result: list[tuple[str, bool]] = []
    for text, is_changed in parts:
        if is_changed:
            result.append((text, True))
        elif not result or result[-1][1]:
            result.append(("…", False))
    return result


class WordsDelegate(QStyledItemDelegate):
    """Draws the change of a word: what stays as text, what changes as chips."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.style_of_chips = ChipStyle(theme, -1)

    def restyle(self) -> None:
        """Take the theme's fonts and colours as they are now."""
        self.style_of_chips = ChipStyle(self._theme, -1)

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus
        if index.column() == CHANGE:
            option.text = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        if index.column() != CHANGE:
            return
        row: PairWord = index.data(ROW_ROLE)
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(option.rect)
            cell = QRectF(option.rect)
            if row.before == row.after:
                held = [(token, token == row.token) for token in row.after]
                is_wide = self._width(held) + 6 > cell.width() and bool(row.token)
                self._paint_parts(painter, cell, cell.left() + 6, shortened(held) if is_wide else held)
            else:
                self._paint_change(painter, cell, row)

    def _paint_change(self, painter: QPainter, cell: QRectF, row: PairWord) -> None:
        is_merged, is_made = changed_tokens(row.before, row.after)
        before, after = parts_of(row.before, is_merged), parts_of(row.after, is_made)
        if self._width(before) + self._width(after) + self._width([("→", False)]) + 12 > cell.width():
            before, after = shortened(before), shortened(after)
        x = self._paint_parts(painter, cell, cell.left() + 6, before)
        x = self._paint_text(painter, cell, x + 3, "→") + 3
        self._paint_parts(painter, cell, x, after)

    def _width(self, parts: list[tuple[str, bool]]) -> float:
        style = self.style_of_chips
        metrics = QFontMetricsF(style.font)
        return sum(
            style.width(text) + _SPACE - 3 if is_chip else metrics.horizontalAdvance(token_text(text)) + _SPACE
            for text, is_chip in parts
        )

    def _paint_parts(self, painter: QPainter, cell: QRectF, x: float, parts: list[tuple[str, bool]]) -> float:
        style = self.style_of_chips
        top = cell.center().y() - style.height / 2
        for token, is_changed in parts:
            if x > cell.right():
                break
            if is_changed:
                width = style.width(token)
                style.paint(painter, QRectF(x, top, width, style.height), token)
                x += width + _SPACE - 3
            else:
                x = self._paint_text(painter, cell, x, token_text(token))
        return x

    def _paint_text(self, painter: QPainter, cell: QRectF, x: float, text: str) -> float:
        painter.setFont(self.style_of_chips.font)
        painter.setPen(self._theme.muted)
        width = QFontMetricsF(self.style_of_chips.font).horizontalAdvance(text)
        painter.drawText(QRectF(x, cell.top(), width + 1, cell.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
        return x + width + _SPACE


class WordsView(ChoosingTable):
    """The words in rows."""

    word_chosen = Signal(object)
    """The word (str) that was clicked, moved to by key, or on which Enter was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = WordsModel(self)
        self._delegate = WordsDelegate(theme, self)
        self.setModel(self._words)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Words that hold the focus"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(CHANGE, QHeaderView.ResizeMode.Stretch)
        self._least_rows = 1
        self.restyle()
        theme.changed.connect(self.on_theme_changed)
        self.row_chosen.connect(self._on_self_row_chosen)

    @property
    def words(self) -> WordsModel:
        """The model shown."""
        return self._words

    def show_words(self, words: PairWords) -> None:
        """Show these words from the first on."""
        self._words.set_words(words)
        longest = max((self.fontMetrics().horizontalAdvance(row.word[:60]) for row in words.words[:20]), default=0)
        self.setColumnWidth(WORD, min(max(longest + 18, 60), 180))
        counts = (self.fontMetrics().horizontalAdvance(f"×{number_text(row.count)}") for row in words.words[:1])
        self.setColumnWidth(COUNT, max(counts, default=20) + 18)
        self.scrollToTop()

    def mark_word(self, word: str) -> bool:
        """Mark the row of a word; False if it is not among them, then none is marked."""
        rows = (row for row, shown in enumerate(self._words.words.words) if shown.word == word)
        row = next(rows, -1)
        self.mark_row(row)
        return row >= 0

    def restyle(self) -> None:
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.style_of_chips.height + 3)
        self.show_rows(self._least_rows)

    def show_rows(self, least: int) -> None:
        """Be at least as high as so many rows."""
        self._least_rows = least
        self.setMinimumHeight(least * self.verticalHeader().defaultSectionSize() + 2)

    def _on_self_row_chosen(self, row: int) -> None:
        self.word_chosen.emit(self._words.words.words[row].word)
