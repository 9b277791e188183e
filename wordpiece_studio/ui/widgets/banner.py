"""A message inside the window: one or two sentences in a coloured frame that blocks nothing and can be dismissed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, shown

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

_LONGEST_MESSAGE = 600
BannerKind = Literal["info", "warning", "error"]


class Banner(QFrame):
    """A message in the layout of the window, hidden until there is one."""

    action_requested = Signal()
    """The button of the message was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._theme = theme
        self._label = plain_label("", self, wrap=True)
        self._button = QPushButton(self)
        self._button.clicked.connect(self.action_requested)
        self._close_button = QToolButton(self)
        self._close_button.setAccessibleName(self.tr("Dismiss this message"))
        set_plain_tooltip(self._close_button, self.tr("Dismiss this message"))
        self._close_button.clicked.connect(self.clear)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.addWidget(self._label, 1)
        layout.addWidget(self._button)
        layout.addWidget(self._close_button)
        theme.changed.connect(self._draw_icon)
        self._draw_icon()
        self.hide()

    @property
    def text(self) -> str:
        """The message shown; empty if there is none."""
        return self._label.text() if not self.isHidden() else ""

    def show_message(self, text: str, kind: BannerKind = "info", action: str = "") -> None:
        """Show `text`, and a button with the text `action` if there is one."""
        self.setProperty("kind", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        for child in (self._label, self._button):
            child.style().polish(child)
        one_paragraph = shown(" ".join(text.split()), _LONGEST_MESSAGE)  # the work below needs the room
        set_plain_text(self._label, one_paragraph)
        self._label.setAccessibleName(one_paragraph)
        self._button.setText(action)
        self._button.setVisible(bool(action))
        self.show()

    def clear(self) -> None:
        """Hide the message."""
        self.hide()

    def _draw_icon(self) -> None:
        self._close_button.setIcon(icon("close", self._theme.muted))
