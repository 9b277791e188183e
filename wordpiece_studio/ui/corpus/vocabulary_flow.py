"""Saving the vocabulary: which step, as what, and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from wordpiece_studio.core.formats.tokenizer_directory import VOCABULARY_FILE, save_directory
from wordpiece_studio.core.formats.vocab_txt import write_vocabulary
from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.corpus.place_dialog import place_dialog
from wordpiece_studio.ui.corpus.save_dialog import SaveChoice, SaveVocabularyDialog
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.model.document import Document
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions.actions import Actions
    from wordpiece_studio.ui.messages import Messages


class VocabularyFlow(QObject):
    """Asks step by step and saves; nothing is replaced without a question."""

    saved = Signal(object)
    """A sentence that says what was saved and where, a str."""

    def __init__(
        self, window: QWidget, document: Document, model: TrainerModel, actions: Actions, messages: Messages
    ) -> None:
        super().__init__(window)
        self._window = window
        self._document = document
        self._model = model
        self._actions = actions
        self._messages = messages
        self._choice = SaveChoice(0, True)
        self._folder_wanted = Path()
        self._then: Callable[[], None] | None = None
        actions.save_vocabulary.triggered.connect(self._on_save_vocabulary_triggered)
        model.run_reset.connect(self._enable)
        model.state_changed.connect(self._on_model_state_changed)
        self._enable()

    def save(self, then: Callable[[], None] | None = None) -> None:
        """Ask what is saved and where, and do `then` when it was saved; a question that is cancelled ends it."""
        history = self._model.history
        if history is None:
            return
        self._then = then
        shown, last = self._model.moment, self._model.merge_count
        dialog = SaveVocabularyDialog(
            (shown, history.vocabulary_size(shown)), (last, history.vocabulary_size(last)), self._window
        )
        dialog.chosen.connect(self._on_save_choice)
        dialog.open()

    def _on_save_vocabulary_triggered(self) -> None:
        self.save()

    def _on_save_choice(self, choice: SaveChoice) -> None:
        self._choice = choice
        name = "vocabulary" if choice.as_folder else VOCABULARY_FILE
        title = self.tr("Save the vocabulary after merge {step:,}").format(step=choice.step)
        folder = self._document.path.parent if self._document.path is not None else None
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptSave, folder, name)
        dialog.fileSelected.connect(self._on_place_selected)
        dialog.open()

    def _on_place_selected(self, place: str) -> None:
        path = Path(place)
        if self._choice.as_folder and (path / VOCABULARY_FILE).exists():
            self._ask_to_replace(path)
        else:
            self._save_to(path)

    def _ask_to_replace(self, folder: Path) -> None:
        self._folder_wanted = folder
        box = plain_box(
            self._window,
            QMessageBox.Icon.Question,
            self.tr("Replace the vocabulary in “{name}”?").format(name=folder.name),
            self.tr("The folder holds a vocab.txt already: {path}").format(path=folder),
        )
        add_button(box, QMessageBox.StandardButton.Yes, self.tr("&Replace"))
        add_button(box, QMessageBox.StandardButton.Cancel)
        box.finished.connect(self._on_replace_box_finished)
        box.open()

    def _on_replace_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Yes.value:
            self._save_to(self._folder_wanted)

    def _save_to(self, path: Path) -> None:
        vocabulary, counts = self._model.vocabulary_at(self._choice.step), self._model.counts
        if vocabulary is None or counts is None:
            return
        try:
            if self._choice.as_folder:
                save_directory(
                    path, vocabulary, counts.normalizer, counts.pre_tokenizer, config=self._model.config, counts=counts
                )
            else:
                write_vocabulary(path, vocabulary.tokens)
        except StudioError as error:
            self._messages.show_error(error)
            return
        saved = self.tr("Saved {size:,} tokens, the vocabulary after merge {step:,}, to {path}")
        self.saved.emit(saved.format(size=len(vocabulary), step=self._choice.step, path=path))
        then, self._then = self._then, None
        if then is not None:
            then()

    def _on_model_state_changed(self, _state: object) -> None:
        self._enable()

    def _enable(self) -> None:
        self._actions.save_vocabulary.setEnabled(self._model.history is not None)
