"""Labels for little space: one line cut in its middle, as both ends of a long path say most; or the whole text.

Qt would cut off wrapped text where space is short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.plain import set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

_LONGEST = 5000


class CutLabel(QLabel):
    """Shows a text, cut if necessary; its tooltip and screen readers have all of it."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, role: str = "", most: int = 0) -> None:
        super().__init__(parent)
        self._whole = ""
        self._most = most
        self.setTextFormat(Qt.TextFormat.PlainText)
        policy = QSizePolicy.Policy.Preferred if most else QSizePolicy.Policy.Ignored
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)
        self.show_text(text)

    @property
    def whole_text(self) -> str:
        """The whole text."""
        return self._whole

    def show_text(self, text: str) -> None:
        """Show `text`, cut where it does not fit."""
        self._whole = text[:_LONGEST]
        self.setAccessibleName(self._whole)
        self._cut()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self._whole) + 2
        return QSize(min(width, self._most) if self._most else width, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(0 if not self._most else self.sizeHint().width(), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._cut()

    def _cut(self) -> None:
        room = self._most or self.width()
        line = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, room)
        set_plain_text(self, line)
        set_plain_tooltip(self, self._whole if line != self._whole else "")
        self.updateGeometry()


class WholeLabel(QLabel):
    """Shows all of a text; its minimum height follows from its width."""

    def __init__(self, parent: QWidget | None = None, *, role: str = "") -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str) -> None:
        """Show `text`, also to screen readers."""
        if text != self.text():
            set_plain_text(self, text)
            self.setAccessibleName(text)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        self.setMinimumHeight(0)  # else the old minimum would count as needed
        self.setMinimumHeight(max(self.heightForWidth(self.width()), 0))


def wrapped_height(label: QLabel, text: str, width: int) -> int:
    """Return the height in pixels that a text needs in the font of a label, in lines of this width."""
    return label.fontMetrics().boundingRect(0, 0, width, 10_000, int(Qt.TextFlag.TextWordWrap), text).height()
