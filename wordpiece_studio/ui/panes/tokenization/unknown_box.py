"""The box under the chips that says why a word is unknown; it is handed the sentences."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

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
        self._gives_way = False
        self.label = plain_label("", self, wrap=True)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(_SIDE, _TOP, _SIDE, _TOP)
        self._layout.addWidget(self.label)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show these sentences, one a line; an empty text hides the box."""
        self._text = text
        set_plain_tooltip(self, text)
        self._fit()

    @property
    def is_wanted(self) -> bool:
        """Whether there is something to say."""
        return bool(self._text)

    def give_way(self, gives_way: bool) -> None:
        """Leave the room to others, or be there where there is something to say."""
        self._gives_way = gives_way
        self._fit()

    def set_low(self, is_low: bool) -> None:
        """Save height, or show everything."""
        self._is_low = is_low
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):  # the latter: of another font too
            self._fit()
        return super().event(event)

    def needed_height(self, width: int) -> int:
        """Return the height in pixels of the box with all that it has to say, where it is so wide."""
        flags, room = int(Qt.TextFlag.TextWordWrap), QRect(0, 0, width - 2 * (_SIDE + 1), 10_000)
        return self.label.fontMetrics().boundingRect(room, flags, self._shown(width)).height() + 2 * (_TOP + 1)

    def _shown(self, width: int) -> str:
        """Return what is shown where it is so wide: in a low pane the first sentence, in two lines."""
        if not self._is_low:
            return self._text
        metrics, first = self.label.fontMetrics(), self._text.split("\n")[0]
        # A little less than two lines: words are not broken at their ends.
        room = int(_LOW_LINES * (width - 2 * (_SIDE + 1)) * 0.9)
        return metrics.elidedText(first, Qt.TextElideMode.ElideRight, room)

    def _fit(self) -> None:
        """Keep the text whole: a wrapped label may be made lower than its text otherwise."""
        shown = self._shown(self.width())
        if shown != self.label.text():
            set_plain_text(self.label, shown)
        self.setVisible(bool(self._text) and not self._gives_way)
        self.setFixedHeight(self.needed_height(self.width()))
        self._layout.setGeometry(self.contentsRect())  # which Qt leaves as it was if the height changes on the way
