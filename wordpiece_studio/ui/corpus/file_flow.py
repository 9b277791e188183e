"""What the commands of the File menu do: other texts as the corpus, and saving text and vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from wordpiece_studio.core.formats.tokenizer_directory import VOCABULARY_FILE, save_directory
from wordpiece_studio.core.formats.vocab_txt import write_vocabulary
from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.corpus.samples import sample
from wordpiece_studio.ui.corpus.save_dialog import SaveChoice, SaveVocabularyDialog
from wordpiece_studio.ui.corpus.unsaved_question import unsaved_box
from wordpiece_studio.ui.messages import Messages, plain_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.model.document import Document
    from wordpiece_studio.model.settings import SettingsStore
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions


class FileFlow(QObject):
    """Opens and saves. A text that was edited is never replaced without a question."""

    sample_loaded = Signal(object)
    """A sample is the corpus now, a :class:`~wordpiece_studio.ui.corpus.samples.Sample`."""
    text_taken = Signal(object)
    """Another text is the corpus now: its name where it has no file, a str."""
    vocabulary_saved = Signal(object)
    """A sentence that says what was saved and where, a str."""

    def __init__(
        self, window: QWidget, document: Document, model: TrainerModel, settings: SettingsStore, actions: Actions,
        messages: Messages,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._document = document
        self._model = model
        self._settings = settings
        self._messages = messages
        self._actions = actions
        self._then: Callable[[], None] | None = None  # what was asked for, until the old text is safe
        self._choice = SaveChoice(0, True)
        self._folder_wanted = Path()
        self._name = self.tr("new")
        self.open_dialog: QFileDialog | None = None
        actions.new_corpus.triggered.connect(self._on_new_triggered)
        actions.open_file.triggered.connect(self._on_open_triggered)
        actions.save_corpus.triggered.connect(self._on_save_corpus_triggered)
        actions.save_vocabulary.triggered.connect(self._on_save_vocabulary_triggered)
        model.run_reset.connect(self._enable)
        model.state_changed.connect(self._on_model_state_changed)
        self._enable()

    # -- other texts

    def open_path(self, path: Path) -> None:
        """Take the text of the file as the corpus, when the present one is safe."""

        def take() -> None:
            self._take_file(path)

        self.when_safe(take)

    def open_sample(self, name: str) -> None:
        """Take a sample as the corpus, when the present one is safe."""

        def take() -> None:
            self.load_sample(name)

        self.when_safe(take)

    def load_sample(self, name: str) -> None:
        """Take a sample as the corpus at once."""
        try:
            self._document.load_sample(name)
        except StudioError as error:
            self._messages.show_error(error)
        else:
            self._tell_text(sample(name).title)
            self.sample_loaded.emit(sample(name))

    def when_safe(self, then: Callable[[], None], extra: str = "") -> None:
        """Do `then` at once, or when the user has saved or given up the edits of the text."""
        if not self._document.is_modified:
            then()
            return
        self._then = then
        name = self._document.path.name if self._document.path is not None else self._name
        box = unsaved_box(self._window, name, extra)
        box.finished.connect(self._on_unsaved_box_finished)
        box.open()

    def _on_unsaved_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Discard.value:
            self._go_on()
        elif answer == QMessageBox.StandardButton.Save.value:
            self._save_corpus_to(self._document.path) if self._document.path else self._on_save_corpus_triggered()
        else:
            self._then = None

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()

    def _take_file(self, path: Path) -> None:
        try:
            self._document.open_file(path)
        except StudioError as error:
            self._messages.show_error(error)
            return
        self._remember(path)
        self._tell_text("")

    def _tell_text(self, name: str) -> None:
        self._name = name
        self.text_taken.emit(name)

    def _remember(self, path: Path) -> None:
        try:
            self._settings.remember_file(path.absolute())
        except StudioError as error:
            self._messages.show_error(error)

    def _on_new_triggered(self) -> None:
        self.when_safe(self._begin_empty)

    def _begin_empty(self) -> None:
        self._document.clear()
        self._tell_text(self.tr("new"))

    def _on_open_triggered(self) -> None:
        dialog = self._dialog(self.tr("Open text file"), QFileDialog.AcceptMode.AcceptOpen, "")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Text files (*.txt *.md *.text)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self._on_open_file_selected)
        dialog.open()

    def _on_open_file_selected(self, path: str) -> None:
        self.open_path(Path(path))

    # -- saving the text

    def _on_save_corpus_triggered(self) -> None:
        name = str(self._document.path) if self._document.path is not None else "corpus.txt"
        dialog = self._dialog(self.tr("Save corpus text"), QFileDialog.AcceptMode.AcceptSave, name)
        dialog.fileSelected.connect(self._on_corpus_file_selected)
        dialog.rejected.connect(self._on_save_dialog_rejected)
        dialog.open()

    def _on_corpus_file_selected(self, path: str) -> None:
        self._save_corpus_to(Path(path))

    def _on_save_dialog_rejected(self) -> None:
        self._then = None

    def _save_corpus_to(self, path: Path) -> None:
        try:
            self._document.save_text(path)
        except StudioError as error:
            self._then = None
            self._messages.show_error(error)
            return
        self._remember(path)
        self._go_on()

    # -- saving the vocabulary

    def _on_save_vocabulary_triggered(self) -> None:
        history = self._model.history
        if history is None:
            return
        shown, last = self._model.moment, self._model.merge_count
        dialog = SaveVocabularyDialog(
            (shown, history.vocabulary_size(shown)), (last, history.vocabulary_size(last)), self._window
        )
        dialog.chosen.connect(self._on_save_choice)
        dialog.open()

    def _on_save_choice(self, choice: SaveChoice) -> None:
        self._choice = choice
        name = "vocabulary" if choice.as_folder else VOCABULARY_FILE
        title = self.tr("Save the vocabulary after merge {step:,}").format(step=choice.step)
        dialog = self._dialog(title, QFileDialog.AcceptMode.AcceptSave, name)
        dialog.fileSelected.connect(self._on_vocabulary_place_selected)
        dialog.open()

    def _on_vocabulary_place_selected(self, place: str) -> None:
        path = Path(place)
        if self._choice.as_folder and (path / VOCABULARY_FILE).exists():
            self._ask_to_replace(path)
        else:
            self._save_vocabulary_to(path)

    def _ask_to_replace(self, folder: Path) -> None:
        self._folder_wanted = folder
        box = plain_box(
            self._window,
            QMessageBox.Icon.Question,
            self.tr("Replace the vocabulary in “{name}”?").format(name=folder.name),
            self.tr("The folder holds a vocab.txt already: {path}").format(path=folder),
        )
        replace = box.addButton(QMessageBox.StandardButton.Yes)
        replace.setText(self.tr("&Replace"))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.finished.connect(self._on_replace_box_finished)
        box.open()

    def _on_replace_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Yes.value:
            self._save_vocabulary_to(self._folder_wanted)

    def _save_vocabulary_to(self, path: Path) -> None:
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
        self.vocabulary_saved.emit(saved.format(size=len(vocabulary), step=self._choice.step, path=path))

    # -- helpers

    def _dialog(self, title: str, mode: QFileDialog.AcceptMode, name: str) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(mode)
        if self._document.path is not None:
            dialog.setDirectory(str(self._document.path.parent))
        if name:
            dialog.selectFile(name)
        self.open_dialog = dialog
        dialog.finished.connect(self._on_dialog_finished)
        return dialog

    def _on_dialog_finished(self, _result: int) -> None:
        self.open_dialog = None

    def _on_model_state_changed(self, _state: object) -> None:
        self._enable()

    def _enable(self) -> None:
        self._actions.save_vocabulary.setEnabled(self._model.history is not None)
