"""The question which vocabulary is saved, and as what; the place is asked for afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QDialogButtonBox, QRadioButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.look.plain import plain_label, set_role


@dataclass(frozen=True, slots=True)
class SaveChoice:
    """What is saved: the vocabulary after `step` merges, as a folder with its settings or as a bare ``vocab.txt``."""

    step: int
    as_folder: bool


class SaveVocabularyDialog(QDialog):
    """Asks which step is saved and in which form. With nothing to choose between, the step is only named.

    Parameters
    ----------
    shown, last
        ``(step, vocabulary size)`` of the step shown and of the last one.
    """

    chosen = Signal(object)
    """The :class:`SaveChoice`, when the dialog was accepted."""

    def __init__(self, shown: tuple[int, int], last: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Save vocabulary"))
        self._steps = QButtonGroup(self)
        self._forms = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(self.tr("Which step?"), self, role="heading"))
        self._add(layout, self._steps, self.tr("The step shown: after merge {step:,}, {size:,} tokens"), *shown)
        if last != shown:
            text = self.tr("The last step: after merge {step:,}, {size:,} tokens")
            self._add(layout, self._steps, text, *last)
        layout.addSpacing(8)
        layout.addWidget(plain_label(self.tr("As what?"), self, role="heading"))
        folder = self.tr("A folder: vocab.txt, and the settings to tokenize the same way again")
        self._add(layout, self._forms, folder, 1)
        self._add(layout, self._forms, self.tr("Only vocab.txt: one token a line, in the order of the ids"), 0)
        for group in (self._steps, self._forms):
            group.buttons()[0].setChecked(True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        save = buttons.addButton(self.tr("Choose &where…"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(save, "primary")
        save.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addSpacing(8)
        layout.addWidget(buttons)
        save.setFocus()

    def accept(self) -> None:
        """Hand the choice over and close."""
        self.chosen.emit(SaveChoice(self._steps.checkedId(), self._forms.checkedId() == 1))
        super().accept()

    def _add(self, layout: QVBoxLayout, group: QButtonGroup, text: str, value: int, size: int = 0) -> None:
        button = QRadioButton(text.format(step=value, size=size), self)
        group.addButton(button, value)
        layout.addWidget(button)
