"""The command palette: everything that the window can do, found by typing.

What was typed matches the beginnings of words first, then parts of words, then letters in order; case, accents and the
width of letters make no difference.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from wordpiece_studio.session.plural import counted
from wordpiece_studio.session.table_model import LEFT, Index, RecordTableModel, TableColumn, each_row
from wordpiece_studio.ui.actions import REASON
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import key_text, plain_label, plain_title, set_plain_text, tooltip_text
from wordpiece_studio.ui.widgets.theme import Theme, saved
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

_START, _WORD_START, _INSIDE, _LETTERS = 100, 80, 60, 25
_TITLE_WEIGHT, _KEYS_WEIGHT, _PATH_WEIGHT, _TIP_WEIGHT = 10, 8, 4, 3
_SCANNED = 50_000  # tokens; those beyond are found by their whole text only
_FEW_TOKENS, _MANY_TOKENS = 3, 20
_PADDING, _GAP, _ROUND = 12, 14, 5
_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_MOST_ROWS = 11
_TOP = 56
# By how many rows they move.
_LIST_KEYS: dict[int, int] = {
    Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: 1 - _MOST_ROWS, Qt.Key.Key_PageDown: _MOST_ROWS - 1
}  # fmt: skip


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return `text` without the case, accents and letter widths that a search ignores.

    >>> folded("Über Größe"), folded("ＡＢＣ")
    ('uber grosse', 'abc')
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if unicodedata.category(character) != "Mn").strip()


def fit(word: str, text: str) -> int:
    """Return how well a folded `word` matches a folded `text`, 0 if not at all.

    >>> fit("sa", "save vocabulary"), fit("voc", "save vocabulary"), fit("ocab", "save vocabulary")
    (100, 80, 60)
    >>> 0 < fit("svoc", "save vocabulary") < 60, fit("xyz", "save vocabulary")
    (True, 0)
    """
    place = text.find(word)
    if place == 0:
        return _START
    if place > 0:
        return _WORD_START if f" {word}" in text else _INSIDE
    return _letters_fit(word, text) if len(word) > 1 else 0


def _letters_fit(word: str, text: str) -> int:
    """Return the worth of letters found in order, the first at the beginning of a word: the closer, the more."""
    pattern = f"(?s)(?<![^ ])(?=({'.*?'.join(map(re.escape, word))}))"
    spans = (len(found[1]) - len(word) for found in re.finditer(pattern, text))
    return max((_LETTERS - min(span, _LETTERS - 1) for span in spans), default=0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette; it triggers a command, shows a step, or selects a token."""

    title: str
    where: str = ""  # the menus it is in
    keys: str = ""
    tip: str = ""
    refusal: str = ""  # why it cannot be done; for a command, its action knows
    action: QAction | None = field(default=None, compare=False)
    step: int | None = None
    token: str | None = None

    @property
    def reason(self) -> str:
        if self.action is None or self.action.isEnabled():
            return self.refusal
        return self.action.property(REASON) or QCoreApplication.translate("palette", "Not available now")

    def worth(self, words: Sequence[str]) -> int:
        total = 0
        for word in words:
            best = max(
                fit(word, folded(self.title)) * _TITLE_WEIGHT,
                _KEYS_WEIGHT * 100 if word == folded(self.keys.partition("   ")[0]) else 0,
                _whole(fit(word, folded(self.where))) * _PATH_WEIGHT,
                _whole(fit(word, folded(self.tip))) * _TIP_WEIGHT,
            )
            if not best:
                return 0
            total += best
        return max(1, total - len(self.title))


def _whole(value: int) -> int:
    return value if value >= 60 else 0  # scattered letters match every long text


def command_entries(placed: Iterable[tuple[str, QAction]]) -> list[Entry]:
    return [
        Entry(title := plain_title(action.text()), where, keys_of(action), action.statusTip() or title, action=action)
        for where, action in placed
        if action.text() and action.isVisible()
    ]


def keys_of(action: QAction) -> str:
    return "   ".join(map(key_text, action.shortcuts())) or action.text().partition("\t")[2]


def matching_entries(entries: Sequence[Entry], text: str) -> list[Entry]:
    words = folded(text).split()
    if not words:
        return list(entries)
    found = [(entry.worth(words), -index, entry) for index, entry in enumerate(entries)]
    return [entry for worth, _, entry in sorted(found, key=lambda each: each[:2], reverse=True) if worth]


def step_entry(text: str, merge_count: int) -> Entry | None:
    number = re.fullmatch(r"[^\d\-−]*(\d[\d\s.,_'’]{0,20})", text.strip())
    if number is None:
        return None
    step = int("".join(character for character in number[1] if character.isdecimal()))
    title = QCoreApplication.translate("palette", "Go to step {step}").format(step=number_text(step))
    few = counted(merge_count, "This run has only 1 merge", "This run has only {count} merges")
    return Entry(title, refusal=few if step > merge_count else "", step=step)


def token_entries(text: str, vocabulary: Vocabulary | None, tokens: Sequence[str]) -> list[Entry]:
    """Return entries for the tokens that match `text` best: the whole token, then its beginning, then a part."""
    is_asked = asks_for_token(text)
    sought = text.strip().partition(" ")[2].strip() if is_asked else text.strip()
    if vocabulary is None or not sought or " " in sought:
        return []
    most = _MANY_TOKENS if is_asked else _FEW_TOKENS
    whole = [
        token
        for token in (sought, vocabulary.continuing_subword_prefix + sought)
        if vocabulary.id_of(token) is not None
    ]
    near = [token for token in tokens[:_SCANNED] if sought in token and token not in whole]
    near.sort(key=lambda token: (not token.startswith(sought), len(token)))
    title = QCoreApplication.translate("palette", "Select the token {token}")
    where = QCoreApplication.translate("palette", "Vocabulary")
    return [Entry(title.format(token=token_text(token)), where, token=token) for token in (whole + near)[:most]]


def asks_for_token(text: str) -> bool:
    first, _, rest = text.strip().partition(" ")
    return folded(first) == folded(QCoreApplication.translate("palette", "token")) and bool(rest.strip())


def entry_model(parent: QObject | None = None) -> RecordTableModel[Entry]:
    tip = each_row(lambda entry: tooltip_text(entry.reason or entry.tip))
    spoken = each_row(lambda entry: ", ".join(filter(None, (entry.title, entry.where, entry.keys, entry.reason))))
    column = TableColumn("", each_row(lambda entry: entry.title), align=LEFT, spoken=spoken)
    return RecordTableModel((column,), parent, tip=tip)


class PaletteDelegate(QStyledItemDelegate):
    """Draws an entry; an unavailable one is pale, with the reason in place of its menus."""

    def __init__(self, theme: Theme, model: RecordTableModel[Entry], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._model = theme, model

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(200, QFontMetrics(option.font).height() + 12)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry, theme = self._model.records[index.row()], self._theme
        with saved(painter):
            painter.setFont(option.font)
            metrics = painter.fontMetrics()
            if option.state & QStyle.StateFlag.State_Selected:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.accent_soft)
                painter.drawRoundedRect(option.rect, _ROUND, _ROUND)
            title, rest = (theme.faint,) * 2 if entry.reason else (theme.text, theme.muted)
            room = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
            keys = entry.keys.partition("   ")[0]  # the first is enough
            painter.setPen(rest)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | _LINE), keys)
            room.setRight(room.right() - (metrics.horizontalAdvance(keys) + _GAP if keys else 0))
            for color, text in ((title, entry.title), (rest, entry.reason or entry.where)):
                if room.width() > 0:
                    cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
                    painter.setPen(color)
                    painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | _LINE), cut)
                room.setLeft(room.left() + metrics.horizontalAdvance(text) + _GAP)


class Palette(QFrame):
    """Shows what `find` finds of the text typed, and tells `do` which entry was chosen, an available one.

    It is part of the window, not a window of its own: it cannot lie beside it, and closes when it loses the focus.
    """

    def __init__(
        self, theme: Theme, window: QWidget, *, find: Callable[[str], Sequence[Entry]], do: Callable[[Entry], object],
        catch_up: Callable[[], object],
    ) -> None:  # fmt: skip
        super().__init__(window)
        self.setObjectName("palette")
        self.setAccessibleName(self.tr("Command palette"))
        self._window = window
        self._find, self._do, self._catch_up = find, do, catch_up
        self._before: QWidget | None = None  # had the focus; may be deleted by now
        hint = self.tr("A command, a step number, “token …”, a sample or a file")
        self.field = line_field(self, hint=hint, name=self.tr("Search term"), takes_key=self._take_key)
        self.model = entry_model(self)
        self.list = QListView(self, uniformItemSizes=True)
        self.list.setModel(self.model)
        self.list.setItemDelegate(PaletteDelegate(theme, self.model, self.list))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the focus
        self.list.setAccessibleName(self.tr("Matches"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._note = plain_label("", self, role="hint", wrap=True)
        parts = self.field, (self.list, 1), self._note
        fill(QVBoxLayout(self), *parts, margins=(10, 10, 10, 10), spacing=8)
        self.field.textChanged.connect(self._show)
        self.field.installEventFilter(self)
        self.list.clicked.connect(self._choose)
        theme.dress(self.list.viewport().update)
        window.installEventFilter(self)
        self.hide()

    def begin(self) -> None:
        self._before = QApplication.focusWidget()
        self.field.clear()
        self._show("")
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        before, self._before = self._before, None
        has_keyboard = self.field.hasFocus()
        self.hide()
        if has_keyboard and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, text: str) -> None:
        self._catch_up()
        entries = self._find(text)
        self.model.set_records(entries)
        if entries:
            self.list.setCurrentIndex(self.model.index(0, 0))
        self.list.setVisible(bool(entries))
        self.list.scrollToTop()
        set_plain_text(self._note, "" if entries else self.tr("No matches. Try a part of a word."))
        self._note.setVisible(not entries)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.leave()
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.isVisible():
            self._place()

    def _take_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentIndex())
        elif key in _LIST_KEYS:
            last, row = self.model.rowCount() - 1, self.list.currentIndex().row() + _LIST_KEYS[key]
            if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):  # wraps around at both ends
                row = last if row < 0 else 0 if row > last else row
            self.list.setCurrentIndex(self.model.index(max(0, min(row, last)), 0))
        elif key not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return False
        return True

    def _choose(self, index: Index) -> None:
        self._catch_up()
        entry = self.model.records[index.row()] if index.isValid() else None
        if entry is not None and entry.reason:
            set_plain_text(self._note, entry.reason)
            self._note.show()
            self._place()
        elif entry is not None:
            self.leave()
            self._do(entry)

    def _place(self) -> None:
        window = self._window
        width = min(self.fontMetrics().averageCharWidth() * 84, window.width() - 40)
        rows = min(self.model.rowCount(), _MOST_ROWS)
        self.list.setFixedHeight(max(1, rows) * (self.fontMetrics().height() + 12) + 2)
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, min(_TOP, max(0, window.height() - self.height())))
