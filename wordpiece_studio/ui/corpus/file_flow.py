"""Other texts as the corpus, and saving the text. The vocabulary is saved by `vocabulary_flow`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.corpus.encoding_dialog import EncodingDialog, Reading, is_about_decoding
from wordpiece_studio.ui.corpus.place_dialog import place_dialog
from wordpiece_studio.ui.corpus.samples import sample
from wordpiece_studio.ui.corpus.unsaved_question import overwrite_box, unsaved_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.model.document import Document
    from wordpiece_studio.model.settings import SettingsStore
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.messages import Messages

_log = logging.getLogger(__name__)


class FileFlow(QObject):
    """Opens and saves. A text that was edited is never replaced without a question."""

    sample_loaded = Signal(object)
    """A sample is the corpus now, a :class:`~wordpiece_studio.ui.corpus.samples.Sample`."""
    text_taken = Signal(object)
    """Another text is the corpus now: its name where it has no file, a str."""
    text_saved = Signal()
    """The text has a file of its own, perhaps another one."""

    def __init__(
        self, window: QWidget, document: Document, settings: SettingsStore, actions: Actions, messages: Messages
    ) -> None:
        super().__init__(window)
        self._window = window
        self._document = document
        self._settings = settings
        self._messages = messages
        self._then: Callable[[], None] | None = None  # what was asked for, until the old text is safe
        self._unreadable = Path()  # what the question about the encoding is about
        self._name = self.tr("new")
        self.is_sample = False
        actions.new_corpus.triggered.connect(self._on_new_triggered)
        actions.open_file.triggered.connect(self._on_open_triggered)
        actions.save_corpus.triggered.connect(self._on_save_corpus_triggered)

    @property
    def corpus_name(self) -> str:
        """What the corpus is called."""
        return self._document.path.name if self._document.path is not None else self._name

    # -- other texts

    def open_path(self, path: Path) -> None:
        """Take the text of the file as the corpus, when the present one is safe."""

        def take() -> None:
            self._take_file(path)

        self.when_safe(take)

    def load_sample(self, name: str) -> None:
        """Take a sample as the corpus at once."""
        try:
            self._document.load_sample(name)
            self.is_sample = True
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
        box = unsaved_box(self._window, self.corpus_name, extra)
        box.finished.connect(self._on_unsaved_box_finished)
        box.open()

    def _on_unsaved_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Discard.value:
            self._go_on()
        elif answer == QMessageBox.StandardButton.Save.value:
            self._save()
        else:
            self._then = None

    def save_corpus(self, then: Callable[[], None]) -> None:
        """Save the text to its file, or ask for one, and do `then` if it was saved."""
        self._then = then
        self._save()

    def _save(self) -> None:
        path = self._document.path
        if path is not None and not self._document.is_lossy:
            self._save_corpus_to(path)
        else:
            self._ask_for_place()

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()

    def _take_file(self, path: Path, reading: Reading | None = None) -> None:
        reading = reading or Reading()
        try:
            self._document.open_file(path, reading.encoding, reading.errors)
        except StudioError as error:
            if is_about_decoding(error):
                self._ask_how_to_read(path, error, reading)
            else:
                self._messages.show_error(error)
            return
        self.is_sample = False
        self._remember(path)
        self._tell_text("")

    def _ask_how_to_read(self, path: Path, error: StudioError, tried: Reading) -> None:
        _log.info("told the user: %s", error)
        self._unreadable = path
        dialog = EncodingDialog(error, tried, self._window)
        dialog.chosen.connect(self._on_reading_chosen)
        dialog.open()

    def _on_reading_chosen(self, reading: Reading) -> None:
        self._take_file(self._unreadable, reading)

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
        self.is_sample = False
        self._tell_text(self.tr("new"))

    def _on_open_triggered(self) -> None:
        dialog = self._dialog(self.tr("Open text file"), QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Text files (*.txt *.md *.text)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self._on_open_file_selected)
        dialog.open()

    def _on_open_file_selected(self, path: str) -> None:
        self.open_path(Path(path))

    # -- saving the text

    def _on_save_corpus_triggered(self) -> None:
        self._then = None
        self._ask_for_place()

    def _ask_for_place(self) -> None:
        path = self._document.path
        name = "corpus.txt" if path is None else str(path)
        if path is not None and self._document.is_lossy:
            name = str(path.with_name(f"{path.stem}.utf-8{path.suffix}"))
        dialog = self._dialog(self.tr("Save corpus text"), QFileDialog.AcceptMode.AcceptSave, name)
        dialog.fileSelected.connect(self._on_corpus_file_selected)
        dialog.rejected.connect(self._on_save_dialog_rejected)
        dialog.open()

    def _on_corpus_file_selected(self, path: str) -> None:
        if self._document.is_lossy and self._document.path is not None and _is_same(Path(path), self._document.path):
            box = overwrite_box(self._window, self.corpus_name)
            box.finished.connect(self._on_overwrite_box_finished)
            box.open()
        else:
            self._save_corpus_to(Path(path))

    def _on_overwrite_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Yes.value and self._document.path is not None:
            self._save_corpus_to(self._document.path)
        else:
            self._then = None

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
        self.text_saved.emit()
        self._go_on()

    def _dialog(self, title: str, mode: QFileDialog.AcceptMode, name: str = "") -> QFileDialog:
        folder = self._document.path.parent if self._document.path is not None else None
        return place_dialog(self._window, title, mode, folder, name)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one == other
