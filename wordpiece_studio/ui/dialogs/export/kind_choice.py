"""The question as what a vocabulary is exported: each answer says what it is good for, or why it is not possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QRadioButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.dialogs.export.export_work import KINDS
from wordpiece_studio.ui.messages import sentence
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.exports import ExportKind

_INDENT = 22


class KindChoice(QWidget):
    """Radio buttons, one for each kind of export."""

    kind_changed = Signal(object)
    """Another kind was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._buttons: dict[ExportKind, QRadioButton] = {}
        self._hints: dict[ExportKind, QLabel] = {}
        self._texts = self._explanations()
        self._bpe_advice = self.tr("The command “wordpiece-studio train” with --bpe trains and writes it.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for number, (kind, (title, hint)) in enumerate(self._texts.items()):
            button = QRadioButton(title, self)
            button.setAccessibleDescription(hint)
            label = plain_label(hint, self, role="hint", wrap=True)
            label.setContentsMargins(_INDENT, 0, 0, 6)
            self._group.addButton(button, number)
            self._buttons[kind], self._hints[kind] = button, label
            layout.addWidget(button)
            layout.addWidget(label)
        self._buttons["folder"].setChecked(True)
        self._group.idToggled.connect(self._on_group_id_toggled)

    @property
    def kind(self) -> ExportKind:
        """What is chosen."""
        return list(self._buttons)[self._group.checkedId()]

    def choose(self, kind: ExportKind) -> None:
        """Choose a kind."""
        self._buttons[kind].setChecked(True)

    def take_focus(self) -> None:
        """Let the arrow keys choose."""
        self._buttons[self.kind].setFocus()

    def show_reasons(self, reasons: Mapping[ExportKind, StudioError]) -> None:
        """Say what is not possible and why; should that be chosen, the first that is possible is chosen instead."""
        for kind, button in self._buttons.items():
            reason, label = reasons.get(kind), self._hints[kind]
            button.setEnabled(reason is None)
            text = self._texts[kind][1]
            if reason is not None:  # a prefix cannot be chosen in the window
                text = f"{sentence(reason.what)} {self._bpe_advice if kind == 'bpe' else reason.advice}"
            set_plain_text(label, text)
            button.setAccessibleDescription(text)
        possible = [kind for kind in self._buttons if kind not in reasons]
        if self.kind in reasons and possible:
            self.choose(possible[0])

    def reason_shown(self, kind: ExportKind) -> str:
        """What stands below a kind now."""
        return self._hints[kind].text()

    def _on_group_id_toggled(self, _number: int, is_checked: bool) -> None:
        if is_checked:
            self.kind_changed.emit(self.kind)

    def _explanations(self) -> dict[ExportKind, tuple[str, str]]:
        texts: dict[ExportKind, tuple[str, str]] = {
            "folder": (
                self.tr("A &tokenizer for Hugging Face"),
                self.tr(
                    "A folder that transformers and tokenizers load as it is: text is cut exactly as in this window."
                ),
            ),
            "vocabulary": (
                self.tr("Only &vocab.txt"),
                self.tr("One token a line, in the order of the ids. Most BERT programs and TF-Text read it."),
            ),
            "bpe": (
                self.tr("&Byte pair encoding: vocab.json and merges.txt"),
                self.tr("For programs that carry out the merges one after the other."),
            ),
            "word-counts": (
                self.tr("The &word counts"),
                self.tr("All that the training saw of the corpus: enough to train again, here or elsewhere."),
            ),
        }
        return {kind: texts[kind] for kind in KINDS}
