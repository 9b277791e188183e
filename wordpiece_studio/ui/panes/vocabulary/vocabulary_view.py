"""The table of tokens: each token as a chip, dead ones marked.

It shows a :class:`~wordpiece_studio.session.vocabulary_table.VocabularyTableModel` and decides nothing about the
selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip, QWidget

from wordpiece_studio.session.vocabulary_table import VocabularyColumn, VocabularyTableModel
from wordpiece_studio.ui.widgets.chip_style import ChipStyle
from wordpiece_studio.ui.widgets.painting import saved
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import CELL_PADDING, SortedTable, left_out, paint_mark, paint_text
from wordpiece_studio.ui.widgets.token_text import DEAD_MARK, dead_sentence, token_text

if TYPE_CHECKING:
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.ui.widgets.theme import Theme

_Column = VocabularyColumn
_LEFT_OUT_FIRST = (_Column.LENGTH, _Column.REASON, _Column.WORDS, _Column.ID, _Column.BORN, _Column.RUNS)
"""What a narrow table hides, so that the other columns fit."""
_LEAST = {
    _Column.TOKEN: "##tokenization",
    _Column.ID: "000,000",
    _Column.BORN: "alphabet",
    _Column.RUNS: "(B 00,000)",
    _Column.SCORE: "-000.000",
    _Column.FREQUENCY: "00,000,000",
    _Column.WORDS: "0,000,000",
    _Column.LENGTH: "00",
    _Column.REASON: "went into 12 others, last ##tokenization at 12,345",
}
"""Columns are at least as wide as these texts."""
_ROWS_AROUND = 2


class VocabularyDelegate(QStyledItemDelegate):
    """Does its own painting: Qt's would query the model seven times per cell."""

    def __init__(
        self, model: VocabularyTableModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._usage = usage
        self._theme = theme
        self.chips = ChipStyle(theme, -1)

    def restyle(self) -> None:
        """Apply the theme's current fonts and colors."""
        self.chips = ChipStyle(self._theme, -1)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        token_id, column = self._model.item_of_row(index.row()), _Column(index.column())
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected:
            painter.fillRect(option.rect, self._theme.accent_soft)
        if column is _Column.TOKEN:
            if is_selected:
                paint_mark(painter, option.rect, self._theme)
            self._paint_token(painter, option.rect, token_id)
            return
        is_figure = column in (_Column.FREQUENCY, _Column.WORDS, _Column.REASON)
        is_pale = (is_figure and not self._usage.is_current) or column in (_Column.REASON, _Column.RUNS)
        painter.setFont(option.font)
        painter.setPen(self._theme.muted if is_pale else self._theme.text)
        text = self._model.text(token_id, column)
        paint_text(painter, option.rect, text, is_number=column not in (_Column.REASON, _Column.RUNS))

    def _paint_token(self, painter: QPainter, cell: QRect, token_id: int) -> None:
        dead = self._usage.dead
        is_dead = token_id < len(dead) and bool(dead[token_id])
        token = str(self._model.value(token_id, _Column.TOKEN))
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(cell)
            left, room = cell.left() + CELL_PADDING + 2, cell.width() - 2 * CELL_PADDING - (14 if is_dead else 2)
            width = min(self.chips.width(token), room)
            top = cell.top() + (cell.height() - self.chips.height) / 2
            self.chips.paint(painter, QRectF(left, top, width, self.chips.height), token)
            if is_dead:
                painter.setPen(self._theme.text)
                place = QRectF(left + width + 4, cell.top(), 12, cell.height())
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), DEAD_MARK)

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """Show the full token, and if it is dead, why."""
        if event.type() != QEvent.Type.ToolTip or not index.isValid():
            return super().helpEvent(event, view, option, index)
        token_id = self._model.item_of_row(index.row())
        lines = [token_text(str(self._model.value(token_id, _Column.TOKEN)), 400)]
        reason = self._usage.reason(token_id)
        if reason is not None:
            lines.append(dead_sentence(reason))
        QToolTip.showText(event.globalPos(), tooltip_text("\n".join(lines)))
        return True


class VocabularyView(SortedTable):
    """The tokens, in rows of equal height."""

    birth_requested = Signal(object)
    """The id (int) of the token whose birth step the user asked for by double click or Enter."""

    def __init__(
        self, model: VocabularyTableModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(model, parent)
        self._tokens = model
        self._delegate = VocabularyDelegate(model, usage, theme, self)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Vocabulary"))
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        self._is_scrolled_away = False  # by the user
        self._compared = 0  # the number of other runs for which there is room
        self._has_scores = False
        self.restyle()
        self.verticalScrollBar().actionTriggered.connect(self._on_vertical_scroll_bar_action_triggered)
        self.clicked.connect(self._on_self_clicked_cell)
        self.doubleClicked.connect(self._on_self_double_clicked)
        header.sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.chips.height + 4)
        self._spread_columns()

    # -- columns

    def _wanted_width(self, column: VocabularyColumn) -> int:
        title = str(self._tokens.headerData(column, Qt.Orientation.Horizontal))
        header = self.horizontalHeader().fontMetrics().horizontalAdvance(title) + 16
        least = _LEAST[column] * (self._compared if column is _Column.RUNS else 1)
        return max(header, QFontMetrics(self.font()).horizontalAdvance(least) + 2 * CELL_PADDING)

    def show_compared(self) -> None:
        """Have a column for the other runs as long as there are any, and one for scores if there are some."""
        items = self._tokens.items
        compared = len(items.others) if items is not None else 0
        has_scores = items is not None and items.scores is not None
        if (compared, has_scores) != (self._compared, self._has_scores):
            self._compared, self._has_scores = compared, has_scores
            self._spread_columns()

    def _spread_columns(self) -> None:
        """Set the column widths, hide columns that do not fit, and give the token column the remaining space."""
        for _ in range(3):  # Qt may show or hide the vertical scroll bar while widths are set
            width = self.viewport().width()
            self._spread_over(width)
            if width == self.viewport().width():
                break

    def _spread_over(self, width: int) -> None:
        wanted: dict[int, int] = {column: self._wanted_width(column) for column in _Column}
        least: dict[int, int] = {
            **wanted,
            _Column.TOKEN: wanted[_Column.TOKEN] * 3 // 4,
            _Column.REASON: wanted[_Column.REASON] // 2,
        }
        unused = {_Column.RUNS} if not self._compared else set()
        unused |= {_Column.SCORE} if not self._has_scores else {_Column.BORN}
        least |= dict.fromkeys(unused, 0)
        hidden = left_out(least, _LEFT_OUT_FIRST, width) | unused
        for column in _Column:
            self.setColumnHidden(column, column in hidden)
        room = width - sum(least[column] for column in _Column if column not in hidden and column is not _Column.TOKEN)
        most = wanted[_Column.TOKEN] * 3 // 2 if _Column.REASON not in hidden else room
        for column in _Column:
            is_token = column is _Column.TOKEN
            self.setColumnWidth(column, max(min(room, most), least[column]) if is_token else least[column])
        self.updateGeometries()  # Qt would leave the table scrolled sideways for a while

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._spread_columns()

    # -- rows

    def show_token(self, token_id: int) -> None:
        """Select the row of a token and scroll to it; select nothing if it is not shown."""
        row = self._tokens.row_of_item(token_id)
        if row < 0:
            self.clearSelection()
            return
        if self.selected_items().tolist() != [token_id]:
            self.setCurrentIndex(self._tokens.index(row, 0))
        self.bring_into_view(row, _ROWS_AROUND, is_early=False)
        self._is_scrolled_away = False

    def keep_token(self, token_id: int) -> None:
        """Do the same after the rows have changed, but respect what the user has selected or scrolled to."""
        row, selected = self._tokens.row_of_item(token_id), self.selected_items()
        if len(selected) > 1:
            return
        if row < 0 or selected.tolist() != [token_id]:
            self.show_token(token_id)
        elif not self._is_scrolled_away:
            self.bring_into_view(row, _ROWS_AROUND, is_early=False)

    def focus_rows(self) -> None:
        """Take the keyboard focus, and select the first row if nothing is selected."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._tokens.rowCount() and not self.selectionModel().hasSelection():
            self.setCurrentIndex(self._tokens.index(0, 0))
            self.item_walked_to.emit(self._tokens.item_of_row(0))

    # -- user input

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() and self.currentIndex().isValid():
            self.birth_requested.emit(self._tokens.item_of_row(self.currentIndex().row()))
            return
        super().keyPressEvent(event)

    def _on_self_clicked_cell(self, index: QModelIndex) -> None:
        if self.is_one_row_selected():
            self.item_walked_to.emit(self._tokens.item_of_row(index.row()))

    def _on_vertical_scroll_bar_action_triggered(self, _action: int) -> None:
        self._is_scrolled_away = True

    def _on_self_double_clicked(self, index: QModelIndex) -> None:
        self.birth_requested.emit(self._tokens.item_of_row(index.row()))

    def _on_header_sort_indicator_changed(self, _column: int, _order: Qt.SortOrder) -> None:
        """Show the first rows of the new order, or the selected row if there is only one."""
        selected = self.selected_items().tolist()
        if len(selected) == 1:
            self.show_token(selected[0])
        else:
            self.scrollToTop()
