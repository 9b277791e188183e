"""Finding a text in the corpus editor: the bar for it, and the places that it finds, which the editor marks.

All positions are in UTF-16 units of the text shown, as Qt counts them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.session.task import single_shot
from wordpiece_studio.session.view_text import ViewIndex, to_view, utf16_length
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_state, tool_button, whole
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusEditor
    from wordpiece_studio.ui.widgets.theme import Theme

_MOST_MARKS = 500
_SEARCH_DELAY_MS = 150
_MOST_PLACES = 100_000
_SAME_LETTERS = tuple(
    zip(
        "\u00b5\u0131\u017f\u0345\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80"
        "\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\ufb05",
        "\u03bc\u0069\u0073\u03b9\u03c3\u03b2\u03b8\u03c6\u03c0\u03ba\u03c1\u03b5\u0432"
        "\u0434\u043e\u0441\u0442\u0442\u044a\u0463\ua64b\u1e61\u03b9\u0390\u03b0\ufb06",
        strict=True,
    )
)
"""Pairs of lower-case letters with the same capital: the first is treated as the second."""


def find_places(view_text: str, sought: str, case_matters: bool) -> list[tuple[int, int]]:
    """Return the start and end of each occurrence of `sought`, in order, at most 100,000 of them.

    >>> find_places("Hug a hug", "hug", False)
    [(0, 3), (6, 9)]
    """
    if not sought:
        return []
    index, sought = ViewIndex(view_text), to_view(sought)
    text, wanted = (view_text, sought) if case_matters else (_without_case(view_text), _without_case(sought))
    places: list[tuple[int, int]] = []
    # Not `re`: ignoring case, it takes as many steps per character as a line of one repeated letter is long.
    found = text.find(wanted)
    while found >= 0 and len(places) < _MOST_PLACES:
        start, end = index.view_position(found), found + len(wanted)
        places.append((start, start + utf16_length(view_text[found:end])))
        found = text.find(wanted, end)
    return places


def _without_case(text: str) -> str:
    """Return a text of the same length that is equal for all texts that differ only in case."""
    lower = text.replace("\u0130", "i").lower()  # the one letter that becomes two
    if not lower.isascii():
        for one, other in _SAME_LETTERS:
            if one in lower:
                lower = lower.replace(one, other)
    return lower


def next_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the first place at or after `position`, or else 0; `places` must not be empty."""
    found = bisect_left(places, (position, -1))
    return found if found < len(places) else 0


def previous_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the last place that begins before `position`, or else of the last place."""
    return (bisect_right(places, (position - 1, 1 << 62)) - 1) % len(places)


class FindBar(QFrame):
    """A field for the text to find, and the position among the places found."""

    def __init__(self, document: Document, editor: CorpusEditor, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._editor = editor
        self._places: list[tuple[int, int]] | None = None  # None: not searched for since the text changed
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("Find in corpus"))
        self._field.setAccessibleName(self.tr("Find in corpus"))
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._search)
        self._field.installEventFilter(self)
        self.count_label = plain_label("", self, role="hint", wrap=True)
        self._case_button = tool_button("Aa", self.tr("Match case"), self)
        self._case_button.setCheckable(True)
        self._case_button.toggled.connect(self._search)
        self._previous_button = tool_button("", self.tr("Find previous (Shift+F3)"), self, self.find_previous)
        self._next_button = tool_button("", self.tr("Find next (F3, Enter)"), self, self.find_next)
        self.close_button = tool_button("", self.tr("Close (Esc)"), self, self.close_bar)
        self._search_timer = single_shot(self, self._search_again, _SEARCH_DELAY_MS)
        for changed in (document.text_changed, document.reset, editor.loaded):
            changed.connect(self._forget_places)
        self._lay_out()
        for button, name in ((self._previous_button, "up"), (self._next_button, "down"), (self.close_button, "close")):
            theme.set_icon(button, name)
        self.hide()

    def _lay_out(self) -> None:
        self._field.setMinimumWidth(60)
        controls = fill(QHBoxLayout(), (self._field, 1), self.close_button, spacing=3)
        # On its own line: beside the field it would widen the pane.
        buttons = self._case_button, self._previous_button, self._next_button
        below = fill(QHBoxLayout(), (self.count_label, 1), *buttons, spacing=3)
        fill(QVBoxLayout(self), controls, below, margins=(10, 6, 8, 2), spacing=2)

    @property
    def sought(self) -> str:
        return self._field.text()

    def open_bar(self) -> None:
        """Show the bar, filled with the selected text if that is a part of one line."""
        self.show()
        cursor = self._editor.textCursor()
        text = self._editor.view_part(cursor.selectionStart(), cursor.selectionEnd())
        if text and "\n" not in text:
            self._field.setText(whole(text))
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()
        self._search()

    def close_bar(self) -> None:
        """Hide the bar and give the keyboard focus back."""
        self.hide()
        self._editor.set_marks([])
        self._editor.setFocus()

    def find_next(self) -> None:
        self._find(lambda places: next_place(places, self._editor.textCursor().selectionEnd()))

    def find_previous(self) -> None:
        self._find(lambda places: previous_place(places, self._editor.textCursor().selectionStart()))

    def _find(self, place_in: Callable[[list[tuple[int, int]]], int]) -> None:
        if not self.sought:
            self.open_bar()
        elif places := self._found_places():
            self._go_to(places, place_in(places))

    def _found_places(self) -> list[tuple[int, int]]:
        if self._places is None:
            self._places = find_places(self._document.view_text, self.sought, self._case_button.isChecked())
            if not self._places:
                self._show_places(self._places)
        return self._places

    def _forget_places(self) -> None:
        self._places = None
        if self.isVisible():
            self._search_timer.start()

    def _search(self) -> None:
        self._places = None
        if places := self._found_places():
            self._go_to(places, next_place(places, self._editor.textCursor().selectionStart()))

    def _search_again(self) -> None:
        if self.isVisible() and self.sought:
            self._show_places(self._found_places())

    def _show_places(self, places: list[tuple[int, int]]) -> None:
        """Mark the places around the cursor, and show which one is selected."""
        cursor = self._editor.textCursor()
        place = next_place(places, cursor.selectionStart()) if places else 0
        is_selected = (cursor.selectionStart(), cursor.selectionEnd()) in places[place : place + 1]
        first = max(0, place - _MOST_MARKS // 2)
        self._editor.set_marks(places[first : first + _MOST_MARKS])
        self._show_count(place + 1 if is_selected else 0, len(places))

    def _go_to(self, places: list[tuple[int, int]], place: int) -> None:
        self._editor.select(*places[place])
        self._show_places(places)
        self._show_count(place + 1, len(places))  # a place that is not loaded yet is selected later

    def _show_count(self, place: int, places: int) -> None:
        """Show that place number `place` (from 1; 0 for none) of `places` is selected."""
        text = ""
        if self.sought:
            text = self.tr("{place} of {places}").format(place=number_text(place), places=number_text(places))
        if self.sought and not places:
            text = self.tr("No matches")
        set_plain_text(self.count_label, text)
        set_state(self._field, "wrong" if self.sought and not places else "")

    def eventFilter(self, watched: QObject, event: object) -> bool:
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.find_previous if shift else self.find_next)()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return False
