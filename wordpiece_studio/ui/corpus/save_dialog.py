"""The question which vocabulary is saved, and as what; the place is asked for afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.ui.look.choice_dialog import ChoiceDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class SaveChoice:
    """What is saved: the vocabulary after `step` merges, as a folder with its settings or as a bare ``vocab.txt``."""

    step: int
    as_folder: bool


class SaveVocabularyDialog(ChoiceDialog):
    """Asks which step is saved and in which form. With nothing to choose between, the step is only named.

    Parameters
    ----------
    shown, last
        ``(step, vocabulary size)`` of the step shown and of the last one.
    """

    def __init__(self, shown: tuple[int, int], last: tuple[int, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Save vocabulary"))
        steps = [(self.tr("The step shown: after merge {step:,}, {size:,} tokens"), shown)]
        if last != shown:
            steps.append((self.tr("The last step: after merge {step:,}, {size:,} tokens"), last))
        answers = [(text.format(step=step, size=size), step) for text, (step, size) in steps]
        self._steps = self.ask(self.tr("Which step?"), answers)
        folder = self.tr("A folder: vocab.txt, and the settings to tokenize the same way again")
        bare = self.tr("Only vocab.txt: one token a line, in the order of the ids")
        self._forms = self.ask(self.tr("As what?"), [(folder, 1), (bare, 0)])
        self.end()

    def choice(self) -> SaveChoice:
        """Return the step and the form."""
        return SaveChoice(self._steps.checkedId(), self._forms.checkedId() == 1)
