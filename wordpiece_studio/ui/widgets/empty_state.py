"""What a pane shows while it is empty: a sentence, and a button for the command that would fill it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QAction


class EmptyState(QWidget):
    """A sentence in the middle, and below it the command that the window offers, if any.

    The pane decides when it is shown and what it says; the window sets the command with :meth:`offer`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action: QAction | None = None
        self._label = plain_label("", self, role="hint", wrap=True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._button = QPushButton(self)
        self._button.setProperty("role", "button")
        self._button.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 8, 24, 8)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._label)
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    @property
    def text(self) -> str:
        """The sentence."""
        return self._label.text()

    def offer(self, action: QAction) -> None:
        """Set `action` as the command that fills the pane."""
        self._action = action
        self._button.clicked.connect(action.trigger)
        action.changed.connect(self._on_action_changed)
        self._on_action_changed()

    def show_text(self, text: str, *, offers: bool = False) -> None:
        """Show `text`, with `offers` also the command below it."""
        set_plain_text(self._label, text)
        self._button.setVisible(offers and self._action is not None)

    def _on_action_changed(self) -> None:
        if self._action is not None:
            self._button.setText(self._action.iconText())  # without the mnemonic, which belongs to the menu
            self._button.setEnabled(self._action.isEnabled())
            set_plain_tooltip(self._button, self._action.statusTip())
