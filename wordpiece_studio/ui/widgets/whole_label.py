"""A label of wrapped plain text that is never lower than its text: Qt would cut it where room is short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.plain import set_plain_text

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent


class WholeLabel(QLabel):
    """Shows a text; its least height follows its width."""

    def __init__(self, parent: QWidget | None = None, *, role: str = "") -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str) -> None:
        """Show `text`, and tell it to screen readers."""
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
        self.setMinimumHeight(0)  # which would count as needed
        self.setMinimumHeight(max(self.heightForWidth(self.width()), 0))
