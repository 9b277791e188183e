"""Opens texts and files as the corpus, and saves the text; `project_controller` opens and saves the project."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_opening import OpenedText, OpeningOrder, Reading
from wordpiece_studio.session.unsaved_work import Loss
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.controllers.listing_controller import ListingController
from wordpiece_studio.ui.dialogs.file_questions import names_project, overwrite_box, place_dialog
from wordpiece_studio.ui.panes.corpus.encodings import is_about_decoding
from wordpiece_studio.ui.panes.corpus.samples import sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.messages import Messages

    WhenSafe = Callable[[Callable[[], None], Loss], None]


class FileController(QObject):
    """Opens and saves. What is in no file is never replaced without asking, see `set_guard`."""

    sample_loaded = Signal(object)
    """The corpus is now a sample, a :class:`~wordpiece_studio.ui.panes.corpus.samples.SampleCorpus`."""
    text_saved = Signal(object)
    """The text was written to this file, a str."""
    replaced = Signal()
    """Another corpus was opened, which is no part of the project there was; before the session takes it."""
    new_begun = Signal()
    """Everything is to begin anew, with an empty corpus, which the session has taken."""
    project_wanted = Signal(object)
    """The project in this file is to be opened, a Path; the user has agreed to what is lost by it."""

    def __init__(self, window: QWidget, session: Session, actions: Actions, messages: Messages) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._document = session.document
        self._messages = messages
        self._when_safe: WhenSafe | None = None
        self._adds = False  # what is being listed is added to the present corpus
        self.opening = session.opening
        self.listing = ListingController(window, session.document, session.counting, self.opening, actions)
        self._connect(actions)

    def set_guard(self, when_safe: WhenSafe) -> None:
        """Set what is called with an action and the loss that it means; it asks, and performs the action or not."""
        self._when_safe = when_safe

    # -- other texts and files

    def open_paths(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Open files, folders and patterns as the corpus once the present one is safe: as a small text, or as a list.

        A project is opened instead.
        """
        order = OpeningOrder(tuple(os.path.abspath(path) for path in paths))
        if self._has_project(order.paths) or not order.paths:
            return

        def open_them() -> None:
            self._adds = False
            self.opening.open(order)

        self.when_safe(open_them, Loss.CORPUS)

    def add_paths(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Add files, folders and patterns to the list of files; a text that has a file becomes its first entry."""
        absolute = tuple(os.path.abspath(path) for path in paths)
        if self._has_project(absolute) or not absolute:
            return

        def begin_list() -> None:
            own = () if self._document.path is None else (str(self._document.path),)
            self._adds = True
            self.opening.open(OpeningOrder((*own, *absolute), as_list=True))

        if self._document.is_files:
            self.listing.add(absolute)
        else:
            self.when_safe(begin_list, Loss.CORPUS)

    def _has_project(self, paths: tuple[str, ...]) -> bool:
        """Return whether a project is among the paths; if it is the only path, open it."""
        if not any(map(names_project, paths)):
            return False
        if len(paths) > 1:
            self._messages.show_error(
                StudioError("A project cannot be opened together with other files", "Open the project alone.")
            )
        else:
            self._opens_project(Path(paths[0]))
        return True

    def _opens_project(self, path: Path) -> None:
        def open_it() -> None:
            self.opening.stop()
            self.project_wanted.emit(path)

        self.when_safe(open_it, Loss.ALL)

    def load_sample(self, name: str) -> None:
        """Make a sample the corpus at once."""
        self.opening.stop()
        try:
            self.replaced.emit()
            self._document.load_sample(name)
        except StudioError as error:
            self._messages.show_error(error)
            return
        chosen, settings = sample(name), self._session.settings
        self._session.take_corpus(chosen.title, is_sample=True)
        self._session.counting.set_pipeline(
            resolve_normalizer(chosen.normalizer), resolve_pre_tokenizer(chosen.pre_tokenizer)
        )
        settings.set_config(replace(settings.valid_config(), vocab_size=chosen.size or None, min_frequency=0))
        settings.suggestion.withdraw()
        self.sample_loaded.emit(chosen)

    def open_sample(self, name: str) -> None:
        """Take a sample as the corpus, when text and merges of the user's are safe."""
        self.when_safe(partial(self.load_sample, name), Loss.RUN)

    def when_safe(self, then: Callable[[], None], loss: Loss = Loss.ALL) -> None:
        """Call `then` at once, or when the user has saved or given up what would be lost by it."""
        if self._when_safe is None:
            then()
        else:
            self._when_safe(then, loss)

    # -- what was opened

    def _on_opening_text_read(self, opened: OpenedText) -> None:
        self.replaced.emit()
        self._document.take_text(opened.file, opened.path)
        self._remember(opened.path)
        self._session.take_corpus("")

    def _on_opening_failed(self, order: OpeningOrder, error: StudioError) -> None:
        if is_about_decoding(error) and not order.as_list:
            self.listing.ask_how_to_read(order, error)
        else:
            self._messages.show_error(error)

    def _on_listing_begun(self, paths: tuple[str, ...]) -> None:
        if not self._adds:
            self.replaced.emit()
        self._remember(*(Path(path) for path in paths))
        self._session.take_corpus(Path(paths[0]).name if len(paths) == 1 else self.tr("several files"))

    def _on_reading_chosen(self, path: str, reading: Reading) -> None:
        self.opening.open(OpeningOrder((path,), reading))

    def _on_files_changed(self) -> None:
        if self._document.is_files and not self._document.files.is_listing:
            self._session.note_renamed()

    def _remember(self, *paths: Path) -> None:
        try:
            self._session.store.remember_files([path.absolute() for path in paths])
        except StudioError as error:
            self._messages.show_error(error)

    def _on_new_triggered(self) -> None:
        self.when_safe(self._begin_empty, Loss.ALL)

    def _begin_empty(self) -> None:
        self.opening.stop()
        self._document.clear()
        self._session.take_corpus(self.tr("new"))
        self.new_begun.emit()

    # -- saving the text

    def _on_save_corpus_triggered(self) -> None:
        self._ask_for_place()

    def _ask_for_place(self) -> None:
        path = self._document.path
        name = "corpus.txt" if path is None else str(path)
        if path is not None and self._document.is_lossy:
            name = str(path.with_name(f"{path.stem}.utf-8{path.suffix}"))
        folder = path.parent if path is not None else None
        title, mode = self.tr("Save corpus text"), QFileDialog.AcceptMode.AcceptSave
        dialog = place_dialog(self._window, title, mode, folder, name)
        dialog.fileSelected.connect(self._on_corpus_file_selected)
        dialog.open()

    def _on_corpus_file_selected(self, path: str) -> None:
        if self._document.is_lossy and self._document.path is not None and _is_same(Path(path), self._document.path):
            box = overwrite_box(self._window, self._session.corpus_name)
            box.finished.connect(self._on_overwrite_box_finished)
            box.open()
        else:
            self._save_corpus_to(Path(path))

    def _on_overwrite_box_finished(self, answer: int) -> None:
        if answer == QMessageBox.StandardButton.Yes.value and self._document.path is not None:
            self._save_corpus_to(self._document.path)

    def _save_corpus_to(self, path: Path) -> None:
        try:
            self._document.save_text(path)
        except StudioError as error:
            self._messages.show_error(error)
            return
        self._remember(path)
        self._session.note_renamed()
        self.text_saved.emit(str(path))

    def _connect(self, actions: Actions) -> None:
        actions.new_corpus.triggered.connect(self._on_new_triggered)
        actions.save_corpus.triggered.connect(self._on_save_corpus_triggered)
        self.opening.text_read.connect(self._on_opening_text_read)
        self.opening.failed.connect(self._on_opening_failed)
        self.listing.begun.connect(self._on_listing_begun)
        self.listing.reading_chosen.connect(self._on_reading_chosen)
        self.listing.open_wanted.connect(self.open_paths)
        self.listing.add_wanted.connect(self.add_paths)
        self._document.files.changed.connect(self._on_files_changed)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist
        return one == other
