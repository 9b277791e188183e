"""The one question before the window closes: what would be lost of text and vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.model.records import TrainerState
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from wordpiece_studio.model.document import Document
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.corpus.file_flow import FileFlow
    from wordpiece_studio.ui.corpus.vocabulary_flow import VocabularyFlow
    from wordpiece_studio.ui.training.run_record import RunRecord

_Button = QMessageBox.StandardButton


class LeaveFlow(QObject):
    """Asks only for what the user made: an edited text, a training that the user asked for."""

    agreed = Signal()
    """The window may close now."""

    def __init__(
        self, window: QWidget, document: Document, model: TrainerModel, files: FileFlow, vocabulary: VocabularyFlow,
        record: RunRecord,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._document = document
        self._model = model
        self._files = files
        self._vocabulary = vocabulary
        self._record = record

    def must_ask(self) -> bool:
        """Ask what becomes of what would be lost, if there is anything; `agreed` is the answer."""
        trains = self._model.state is TrainerState.TRAINING and not self._record.is_automatic
        if trains and not self._document.is_modified:
            self._ask_to_stop()
        elif self._record.is_unsaved and not trains:
            self._ask_to_save()
        elif self._document.is_modified:
            self._files.when_safe(self.agreed.emit, self.tr("The training is stopped.") if trains else "")
        else:
            return False
        return True

    def _ask_to_stop(self) -> None:
        box = plain_box(
            self._window, QMessageBox.Icon.Question, self.tr("Leave while the training runs?"),
            self.tr("What it has learned so far is lost. To keep it, stop the training and save the vocabulary."),
        )  # fmt: skip
        add_button(box, _Button.Discard, self.tr("&Leave"))
        add_button(box, _Button.Cancel)
        box.finished.connect(self._on_box_finished)
        box.open()

    def _ask_to_save(self) -> None:
        name, merges = self._files.corpus_name, self._model.merge_count
        learned = (
            self.tr("One merge was learned and its vocabulary was not saved.") if merges == 1
            else self.tr("{merges:,} merges were learned and their vocabulary was not saved.").format(merges=merges)
        )  # fmt: skip
        if self._document.is_modified:
            title, save = self.tr("Save text and vocabulary before leaving?"), self.tr("&Save both…")
            edited = self.tr("The corpus text “{name}” was edited and not saved.").format(name=name)
            learned = f"{edited}\n{learned}"
        else:
            title, save = self.tr("Save the vocabulary before leaving?"), self.tr("&Save vocabulary…")
        box = plain_box(self._window, QMessageBox.Icon.Question, title, learned)
        add_button(box, _Button.Save, save)
        add_button(box, _Button.Discard, self.tr("&Leave"))
        add_button(box, _Button.Cancel)
        box.setDefaultButton(_Button.Save)
        box.finished.connect(self._on_box_finished)
        box.open()

    def _on_box_finished(self, answer: int) -> None:
        if answer == _Button.Discard.value:
            self.agreed.emit()
        elif answer == _Button.Save.value and self._document.is_modified:
            self._files.save_corpus(self._save_vocabulary)
        elif answer == _Button.Save.value:
            self._save_vocabulary()

    def _save_vocabulary(self) -> None:
        self._vocabulary.save(self.agreed.emit)
