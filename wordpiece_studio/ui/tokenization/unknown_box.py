"""The box under the chips that says why a word is unknown; it is handed the sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

_SIDE, _TOP = 8, 5
_LOW_LINES = 2


class UnknownBox(QFrame):
    """Shows all sentences; in a low pane the first one in at most two lines, and its tooltip all of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.setProperty("kind", "error")
        self._text = ""
        self._is_low = False
        self.label = plain_label("", self, wrap=True)
        box = QVBoxLayout(self)
        box.setContentsMargins(_SIDE, _TOP, _SIDE, _TOP)
        box.addWidget(self.label)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show these sentences, one a line; an empty text hides the box."""
        self._text = text
        set_plain_tooltip(self, text)
        self.setVisible(bool(text))
        self._fit()

    def set_low(self, is_low: bool) -> None:
        """Save height, or show everything."""
        self._is_low = is_low
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def needed_height(self) -> int:
        """Height in pixels of the box with all that it shows now."""
        width = self.width() - 2 * (_SIDE + 1)
        return max(self.label.heightForWidth(width), 0) + 2 * (_TOP + 1)

    def _fit(self) -> None:
        """Keep the text whole: a wrapped label may be made lower than its text otherwise."""
        width = self.width() - 2 * (_SIDE + 1)
        shown = self._text
        if self._is_low:
            first = self._text.split("\n")[0]
            # A little less than two lines: words are not broken at their ends.
            room = int(_LOW_LINES * width * 0.9)
            shown = self.label.fontMetrics().elidedText(first, Qt.TextElideMode.ElideRight, room)
        if shown != self.label.text():
            set_plain_text(self.label, shown)
        self.setFixedHeight(self.needed_height())
