"""The field into which the text is typed that is tokenized live.

What an input method has not committed yet stays in the field and is not part of the text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from wordpiece_studio.ui.widgets.limited_edit import LimitedEdit

if TYPE_CHECKING:
    from PySide6.QtGui import QInputMethodEvent

_LONGEST_WRAPPED_LINE = 10_000
"""Qt's editor takes seconds for each key in a longer line that is wrapped."""
_MARGIN = 4


class LiveEdit(LimitedEdit):
    """A plain-text field that is as high as its text, within limits of lines."""

    composed_changed = Signal(object, object)
    """What an input method is composing (str), empty when it has ended, and the code point (int) where it stands."""

    def __init__(self, least: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._limits = (least, most)
        self._composed = ""
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)  # the margin is outside of the view, where no half of a line shows
        self.setViewportMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        self._set_bar(False)
        self._set_height()
        self.text_changed.connect(self._wrap_for)  # before it is laid out
        self.document().documentLayout().documentSizeChanged.connect(self._on_layout_size_changed)

    @property
    def caret(self) -> int:
        """How many code points stand before the caret."""
        before = self.textCursor().position()
        if self._text.isascii():
            return before
        units = self._text.encode("utf-16-le", "surrogatepass")
        text = units[: 2 * before].decode("utf-16-le", "surrogatepass")
        return len(text) if self._text.startswith(text) else len(text) - 1  # the caret is inside a surrogate pair

    def set_lines(self, least: int, most: int) -> None:
        """Be so many lines high, at least and at most."""
        self._limits = (least, most)
        self._set_height()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        super().inputMethodEvent(event)
        if event.preeditString() != self._composed:
            self._composed = event.preeditString()
            self.composed_changed.emit(self._composed, self.caret)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._set_height()

    def _set_height(self) -> None:
        frame = self.contentsMargins().top() + self.contentsMargins().bottom()
        # Of a height that is a fraction short Qt would show a bar to scroll by it.
        height = math.ceil(self._text_height()) + 1 + frame + 2 * _MARGIN
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    def _text_height(self) -> float:
        """Return the height of the first lines, as many as are to be seen: those of some scripts are higher."""
        least, most = self._limits
        heights: list[float] = []
        block = self.document().firstBlock()
        for _ in range(most):  # each has a line or more, but none as long as it is not laid out
            if not block.isValid() or len(heights) >= most:
                break
            layout = block.layout()
            heights += [layout.lineAt(line).height() for line in range(min(layout.lineCount(), most))]
            block = block.next()
        missing = max(least - len(heights), 0) * QFontMetricsF(self.font()).lineSpacing()
        return sum(heights[:most]) + missing

    def _on_layout_size_changed(self, _size: QSizeF) -> None:
        self._set_height()

    def _wrap_for(self, text: str) -> None:
        is_long = len(text) > _LONGEST_WRAPPED_LINE and max(map(len, text.split("\n"))) > _LONGEST_WRAPPED_LINE
        mode = QPlainTextEdit.LineWrapMode.NoWrap if is_long else QPlainTextEdit.LineWrapMode.WidgetWidth
        if self.lineWrapMode() != mode:
            self.setLineWrapMode(mode)
            self._set_bar(is_long)

    def _set_bar(self, is_needed: bool) -> None:
        """Where lines are wrapped, a blank at the end of one is no reason to scroll."""
        policies = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(policies.ScrollBarAsNeeded if is_needed else policies.ScrollBarAlwaysOff)
