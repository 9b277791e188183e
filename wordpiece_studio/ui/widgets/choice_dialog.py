"""A dialog that asks what is written, and as what, before the place is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QDialogButtonBox, QRadioButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_role

if TYPE_CHECKING:
    from collections.abc import Sequence


class ChoiceDialog(QDialog):
    """Groups of radio buttons, each under its heading, and a button that goes on to the place.

    Subclasses ask their questions with :meth:`ask`, then call :meth:`end`, and write :meth:`choice`.
    """

    chosen = Signal(object)
    """What :meth:`choice` returns, when the dialog was accepted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._layout = QVBoxLayout(self)

    def choice(self) -> object:
        """Return what the user chose."""
        raise NotImplementedError

    def ask(self, question: str, answers: Sequence[tuple[str, int]]) -> QButtonGroup:
        """Add a question; each answer has its text and its number in the group, and the first one is chosen."""
        group = QButtonGroup(self)
        self._layout.addWidget(plain_label(question, self, role="heading"))
        for text, number in answers:
            button = QRadioButton(text, self)
            button.setChecked(not group.buttons())
            group.addButton(button, number)
            self._layout.addWidget(button)
        self._layout.addSpacing(8)
        return group

    def end(self) -> None:
        """Add the buttons; the one that goes on has the keyboard."""
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        go_on = buttons.addButton(self.tr("Choose &where…"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(go_on, "primary")
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self._layout.addWidget(buttons)
        go_on.setFocus()

    def accept(self) -> None:
        """Hand the choice over and close."""
        self.chosen.emit(self.choice())
        super().accept()
