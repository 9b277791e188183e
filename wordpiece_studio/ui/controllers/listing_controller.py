"""The corpus as a list of files: asks for files and folders, lists them, and asks how to read undecodable ones."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from wordpiece_studio.session.corpus_opening import CorpusOpening, FoundFiles, OpeningOrder, Reading
from wordpiece_studio.storage.project.layout import SUFFIX
from wordpiece_studio.ui.dialogs.file_questions import place_dialog
from wordpiece_studio.ui.panes.corpus.encodings import EncodingDialog, is_about_decoding

if TYPE_CHECKING:
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.file_rows import FileRow
    from wordpiece_studio.ui.actions import Actions

_log = logging.getLogger(__name__)


class ListingController(QObject):
    """Fills the list as files are found, and asks about a file that could not be decoded during counting."""

    begun = Signal(object)
    """The corpus is now a list of files, made for these paths, a tuple of str."""
    progress_changed = Signal(object)
    """How many files are listed and how many there are, a pair of int; None when the search is over."""
    reading_chosen = Signal(object, object)
    """A small text is to be read this way: its path, a str, and a :class:`Reading`."""
    open_wanted = Signal(object)
    """These paths are to become the corpus, a list of str."""
    add_wanted = Signal(object)
    """These paths are to be added to the corpus, a list of str."""

    def __init__(
        self,
        window: QWidget,
        document: Document,
        counting: CorpusCounting,
        opening: CorpusOpening,
        actions: Actions,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._document = document
        self._opening = opening
        self._added: list[FileRow] | None = None  # the files found to be added; None if none are being added
        self._is_taking = False
        self._sought: OpeningOrder | None = None  # the small text whose encoding is being guessed
        self._error: StudioError | None = None
        self._guess: str | None = None
        self._path = ""  # of the text that the user is being asked about
        self._adds = False
        self._faulty: list[int] = []
        opening.files_found.connect(self._on_opening_files_found)
        opening.files_listed.connect(self._on_opening_files_listed)
        opening.failed.connect(self._on_opening_failed)
        opening.running_changed.connect(self._on_opening_running_changed)
        counting.failed.connect(self._on_counting_failed)
        actions.open_file.triggered.connect(self._on_open_files_triggered)
        actions.open_folder.triggered.connect(self._on_open_folder_triggered)
        actions.add_files.triggered.connect(self._on_add_files_triggered)
        actions.add_folder.triggered.connect(self._on_add_folder_triggered)

    def add(self, paths: tuple[str, ...]) -> None:
        """Look for files to add at the end of the list."""
        self._opening.open(OpeningOrder(paths, as_list=True))
        self._added = []

    def ask_how_to_read(self, order: OpeningOrder, error: StudioError) -> None:
        """Ask how to read a small text that cannot be decoded, after guessing its encoding."""
        _log.info("shown to the user: %s", error)
        self._sought, self._error, self._guess = order, error, None
        self._opening.open(OpeningOrder(order.paths, as_list=True))

    # -- what is found

    def _on_opening_files_found(self, found: FoundFiles) -> None:
        if self._sought is not None:
            self._guess = found.rows[0].encoding if found.rows and found.rows[0].known == "guess" else None
            return
        if not self._is_taking:
            self._is_taking = True
            if self._added is None:
                self._document.files.begin_listing()
                self._document.take_files()
                self.begun.emit(found.paths)
            else:
                self._document.files.begin_listing()
        if self._added is not None:
            self._added += found.rows
        self._document.files.table.append(found.rows)
        self.progress_changed.emit((len(self._document.files.table.rows), found.number))

    def _on_opening_files_listed(self, _result: object) -> None:
        self._ask_if_sought()

    def _on_opening_failed(self, _order: object, _error: object) -> None:
        self._ask_if_sought()

    def _on_opening_running_changed(self, is_running: bool) -> None:
        if is_running or not self._is_taking:
            return
        added, self._added = self._added, None
        self._is_taking = False
        self._document.files.end_listing(added or ())
        self.progress_changed.emit(None)

    # -- what cannot be decoded

    def _ask_if_sought(self) -> None:
        if self._sought is None or self._error is None:
            return
        order, self._sought = self._sought, None
        dialog = EncodingDialog(self._error, order.reading, self._window, guess=self._guess)
        self._path = order.paths[0]
        dialog.chosen.connect(self._on_text_reading_chosen)
        dialog.open()

    def _on_text_reading_chosen(self, reading: Reading) -> None:
        self.reading_chosen.emit(self._path, reading)

    def _on_counting_failed(self, error: StudioError) -> None:
        files = self._document.files
        faulty = files.table.faulty
        if not self._document.is_files or not faulty or not is_about_decoding(error):
            return
        row = files.table.row(faulty[0])
        guess = row.encoding if row.known == "guess" else None
        _log.info("shown to the user: %s", error)
        dialog = EncodingDialog(
            error, Reading(row.file.encoding, row.file.errors), self._window, guess=guess, files=len(files.rows)
        )
        self._faulty = faulty
        dialog.chosen.connect(self._on_file_reading_chosen)
        dialog.chosen_for_all.connect(self._on_reading_of_all_chosen)
        dialog.open()

    def _on_file_reading_chosen(self, reading: Reading) -> None:
        errors = None if reading.errors == "strict" else reading.errors
        self._document.files.read_as(self._faulty, None if errors else reading.encoding, errors=errors)

    def _on_reading_of_all_chosen(self, reading: Reading) -> None:
        errors = None if reading.errors == "strict" else reading.errors
        everything = range(len(self._document.files.rows))
        self._document.files.read_as(everything, None if errors else reading.encoding, errors=errors)

    # -- asking for places

    def _on_open_files_triggered(self) -> None:
        self._adds = False
        self._ask_for_files(self.tr("Open a project, or files as the corpus"))

    def _on_add_files_triggered(self) -> None:
        self._adds = True
        self._ask_for_files(self.tr("Add files"))

    def _on_open_folder_triggered(self) -> None:
        self._adds = False
        self._ask_for_folder(self.tr("Open folder"))

    def _on_add_folder_triggered(self) -> None:
        self._adds = True
        self._ask_for_folder(self.tr("Add folder"))

    def _ask_for_files(self, title: str) -> None:
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, self._folder())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        projects = f"*{SUFFIX}"
        texts = "*.txt *.text *.md *.rst *.jsonl *.ndjson *.json *.csv *.tsv *.parquet *.gz *.xz *.bz2 *.zst"
        filters = [self.tr("Text files of any kind ({suffixes})").format(suffixes=texts)]
        if not self._adds:
            both = f"{projects} {texts}"
            filters.insert(0, self.tr("Projects and text files of any kind ({suffixes})").format(suffixes=both))
            filters.append(self.tr("WordPiece Studio projects ({suffixes})").format(suffixes=projects))
        dialog.setNameFilters([*filters, self.tr("All files (*)")])
        dialog.filesSelected.connect(self._on_places_selected)
        dialog.open()

    def _ask_for_folder(self, title: str) -> None:
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, self._folder())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.filesSelected.connect(self._on_places_selected)
        dialog.open()

    def _on_places_selected(self, places: list[str]) -> None:
        (self.add_wanted if self._adds else self.open_wanted).emit(places)

    def _folder(self) -> Path | None:
        if self._document.path is not None:
            return self._document.path.parent
        rows = self._document.files.rows
        return Path(rows[0].file.path).parent if rows else None
