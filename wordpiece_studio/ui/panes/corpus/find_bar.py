"""Finding text in the corpus: the places in the text shown, and the find bar; the pane goes to the place.

Positions are in UTF-16 units of the text shown, as Qt counts them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.session.view_text import ViewIndex, to_view, utf16_length
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.painting import icon
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, tool_button, whole
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

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

    search_changed = Signal()
    next_requested = Signal()
    previous_requested = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("Find in corpus"))
        self._field.setAccessibleName(self.tr("Find in corpus"))
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self.search_changed)
        self._field.installEventFilter(self)
        self._count_label = plain_label("", self, role="hint", wrap=True)
        self._case_button = tool_button("Aa", self.tr("Match case"), self)
        self._case_button.setCheckable(True)
        self._case_button.toggled.connect(self.search_changed)
        self._previous_button = tool_button("", self.tr("Find previous (Shift+F3)"), self)
        self._previous_button.clicked.connect(self.previous_requested)
        self._next_button = tool_button("", self.tr("Find next (F3, Enter)"), self)
        self._next_button.clicked.connect(self.next_requested)
        self._close_button = tool_button("", self.tr("Close (Esc)"), self)
        self._close_button.clicked.connect(self.close_bar)
        self._lay_out()
        theme.changed.connect(self._draw_icons)
        self._draw_icons()
        self.hide()

    def _lay_out(self) -> None:
        self._field.setMinimumWidth(60)
        controls = QHBoxLayout()
        controls.setSpacing(3)
        controls.addWidget(self._field, 1)
        controls.addWidget(self._close_button)
        below = QHBoxLayout()  # on its own line: beside the field it would widen the pane
        below.setSpacing(3)
        below.addWidget(self._count_label, 1)
        for button in (self._case_button, self._previous_button, self._next_button):
            below.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 8, 2)
        layout.setSpacing(2)
        layout.addLayout(controls)
        layout.addLayout(below)

    @property
    def sought(self) -> str:
        return self._field.text()

    @property
    def case_matters(self) -> bool:
        return self._case_button.isChecked()

    def open_bar(self, text: str = "") -> None:
        """Show the bar, with `text` to find if it is not empty and has one line."""
        self.show()
        if text and "\n" not in text:
            self._field.setText(whole(text))
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()
        self.search_changed.emit()

    def close_bar(self) -> None:
        """Hide the bar and give the keyboard focus back."""
        self.hide()
        self.closed.emit()

    def show_count(self, place: int, places: int) -> None:
        """Show that place number `place` (from 1; 0 for none) of `places` is selected."""
        if not self.sought:
            text = ""
        elif places == 0:
            text = self.tr("No matches")
        else:
            text = self.tr("{place} of {places}").format(place=number_text(place), places=number_text(places))
        set_plain_text(self._count_label, text)
        self._field.setProperty("state", "wrong" if self.sought and places == 0 else "")
        self._field.style().polish(self._field)

    def eventFilter(self, watched: QObject, event: object) -> bool:
        """Take Enter, Shift+Enter and Escape from the field."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.previous_requested if shift else self.next_requested).emit()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return False

    def _draw_icons(self) -> None:
        for button, name in ((self._previous_button, "up"), (self._next_button, "down"), (self._close_button, "close")):
            button.setIcon(icon(name, self._theme.text))
