"""The corpus: opens texts and files, lists files, asks how to read undecodable ones, saves the text, watches the files.

A project is opened and saved by `project_controller`, which also asks before something is lost.
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.document import Reading, read_text_file
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.samples import (
    document_project,
    document_titles,
    first_sentence,
    sample,
    samples,
    text_offered,
)
from wordpiece_studio.session.unsaved_work import Loss
from wordpiece_studio.storage.project.layout import SUFFIX
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.controllers.files_elsewhere import FilesElsewhere
from wordpiece_studio.ui.dialogs.file_questions import and_more, names_project, overwrite_box, place_dialog
from wordpiece_studio.ui.messages import add_button, plain_box
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog, is_about_decoding
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.session.corpus_files import FileRow
    from wordpiece_studio.session.document import TextFile
    from wordpiece_studio.ui.controllers.project_controller import ProjectController
    from wordpiece_studio.ui.workspace import Workspace

_log = logging.getLogger(__name__)
_Offer = Literal["", "agree", "locate", "count", "reload"]
_MOST_NAMED = 3
_TEXTS = "*.txt *.text *.md *.rst *.jsonl *.ndjson *.json *.csv *.tsv *.parquet *.gz *.xz *.bz2 *.zst"


class CorpusController(QObject):
    """Opens and saves. What is in no file is never replaced without asking.

    Attributes
    ----------
    disk
        Reports files of the corpus that are missing or changed.
    """

    sample_loaded = Signal(object)
    """The corpus is now a sample; the step at which it should be shown, an int, or None for the last one."""

    def __init__(self, window: Workspace, project: ProjectController) -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self._document = window.session.document
        self._messages = window.messages
        self._project = project
        self._extends_text = False  # what is being listed begins with the file of the text shown
        self._added: list[FileRow] | None = None  # the files found to be added; None if none are being added
        self._is_taking = False
        self._sought: Reading | None = None  # of the small text whose encoding is being guessed
        self._error: StudioError | None = None
        self._guess: str | None = None
        self._path = ""  # of the text that the user is being asked about
        self._faulty: list[int] = []
        self._asks_to_add = False  # the dialog is about files to add
        self._suggested_text = window.tokenization_pane.text
        self._awaits_preview = False
        self.disk = CorpusOnDisk(window)
        self._connect_commands()
        self._connect_session()

    def _connect_commands(self) -> None:
        window, actions, menus, pane = self._window, self._window.actions_, self._window.menus, self._window.corpus_pane
        actions.new_corpus.triggered.connect(self._on_new_triggered)
        actions.open_file.triggered.connect(self._on_open_files_triggered)
        actions.open_folder.triggered.connect(self._on_open_folder_triggered)
        actions.add_files.triggered.connect(self._on_add_files_triggered)
        actions.add_folder.triggered.connect(self._on_add_folder_triggered)
        actions.save_corpus.triggered.connect(self._on_save_corpus_triggered)
        menus.set_samples(samples())
        pane.set_samples_menu(menus.samples)
        menus.sample_chosen.connect(self.open_sample)
        menus.recent_file_chosen.connect(self.open_paths)
        menus.recent.aboutToShow.connect(self._show_recent_files)
        pane.editor.drops.files_dropped.connect(self.open_paths)
        window.drops.files_dropped.connect(self.open_paths)
        pane.files_view.list.drops.files_dropped.connect(self.add_paths)
        pane.files_view.preview.text_shown.connect(self._on_preview_text_shown)
        pane.figures.name_refused.connect(self._messages.show_error)
        pane.words_face.count_refused.connect(self._messages.show_error)
        self._show_recent_files()

    def _connect_session(self) -> None:
        session, tokenization = self._session, self._window.tokenization_pane
        session.opening.text_read.connect(self._on_opening_text_read)
        session.opening.files_found.connect(self._on_opening_files_found)
        session.opening.files_listed.connect(self._ask_if_sought)
        session.opening.failed.connect(self._on_opening_failed)
        session.opening.ended.connect(self._on_opening_ended)
        session.counting.failed.connect(self._on_counting_failed)
        session.document.files.changed.connect(self._on_files_changed)
        session.corpus_taken.connect(self._on_session_corpus_taken)
        session.live_text_changed.connect(tokenization.set_text)
        tokenization.text_changed.connect(session.set_live_text)
        session.set_live_text(tokenization.text)

    # -- other texts and files

    def open_paths(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Open files, folders and patterns as the corpus once the present one is safe: as a small text, or as a list.

        A project is opened instead.
        """
        absolute = tuple(os.path.abspath(path) for path in paths)
        if absolute and not self._has_project(absolute):
            self._project.when_safe(partial(self._open, absolute), Loss.CORPUS)

    def add_paths(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Add files, folders and patterns to the list of files; a text that has a file becomes its first entry."""
        absolute = tuple(os.path.abspath(path) for path in paths)
        if not absolute or self._has_project(absolute):
            return
        if self._document.is_files:
            self._session.opening.open(absolute, as_list=True)
            self._added = []
        else:
            own = () if self._document.path is None else (str(self._document.path),)
            self._project.when_safe(partial(self._open, (*own, *absolute), extends_text=True), Loss.CORPUS)

    def _open(self, paths: tuple[str, ...], *, extends_text: bool = False) -> None:
        self._extends_text = extends_text
        self._session.opening.open(paths, as_list=extends_text)

    def _has_project(self, paths: tuple[str, ...]) -> bool:
        """Return whether a project is among the paths; if it is the only path, open it."""
        if not any(map(names_project, paths)):
            return False
        if len(paths) > 1:
            self._messages.show_error(
                StudioError("A project cannot be opened together with other files", "Open the project alone.")
            )
        else:
            self._project.when_safe(partial(self._open_project, Path(paths[0])), Loss.ALL)
        return True

    def _open_project(self, path: Path) -> None:
        self._session.opening.stop()
        self._project.open(path)

    def open_sample(self, name: str) -> None:
        """Take a sample as the corpus, when the text of the user's is safe; or a document, when all of it is."""
        if name in document_titles():
            self._project.when_safe(partial(self._show_document, name), Loss.ALL)
            return
        self._project.when_safe(partial(self.load_sample, name), Loss.CORPUS)

    def _show_document(self, name: str) -> None:
        self._session.opening.stop()
        project, pane = document_project(name), self._window.tokenization_pane
        self._window.project.show_sample(project)
        pane.ask_nothing()
        pane.offer_text(text_offered(name))
        self._window.docks.bring("vocabulary" if project.view.is_longest_first else "history")
        if notes := project.view.notes:
            shown = next((note for note in notes if note.step == project.view.step), notes[0])
            more = plural(len(notes), "1 bookmark in total ({keys}).", "{count} bookmarks in total ({keys}).")
            keys = self._window.actions_.bookmarks.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            said = [shown.text] + [more.format(count=number_text(len(notes)), keys=keys)] * (len(notes) > 1)
            self._window.banner.show_message(" ".join(said))

    def load_sample(self, name: str) -> None:
        """Make a sample the corpus at once."""
        self._session.opening.stop()
        try:
            self._window.project.detach()
            self._document.load_sample(name)
        except StudioError as error:
            self._messages.show_error(error)
            return
        chosen, settings = sample(name), self._session.settings
        self._session.take_corpus(chosen.title, is_sample=True)
        self._session.counting.set_pipeline(
            resolve_normalizer(chosen.normalizer), resolve_pre_tokenizer(chosen.pre_tokenizer)
        )
        config = replace(
            settings.valid_config(), objective=chosen.objective, vocab_size=chosen.size or None, min_frequency=0
        )
        settings.set_config(config)
        settings.suggestion.withdraw()
        self._window.tokenization_pane.ask_nothing()
        self._suggest_text(chosen.sentence)
        self.sample_loaded.emit(chosen.step)

    def _on_new_triggered(self) -> None:
        self._project.when_safe(self._begin_empty, Loss.ALL)

    def _begin_empty(self) -> None:
        self._session.opening.stop()
        self._document.clear()
        self._session.take_corpus(self.tr("Untitled"))
        self._window.project.clear()

    def _show_recent_files(self) -> None:
        self._window.menus.set_recent_files(self._window.settings.values.recent_files)

    # -- what was opened

    def _on_opening_text_read(self, path: Path, file: TextFile) -> None:
        self._window.project.detach()
        self._document.take_text(file, path)
        self._window.remember_files(path)
        self._session.take_corpus("")

    def _on_opening_files_found(self, rows: list[FileRow], number: int) -> None:
        if self._sought is not None:
            self._guess = rows[0].encoding if rows and rows[0].known == "guess" else None
            return
        files = self._document.files
        if not self._is_taking:
            self._is_taking = True
            files.is_listing = True
            if self._added is None:
                self._document.take_files()
                self._take_list(self._session.opening.paths)
        if self._added is not None:
            self._added += rows
        files.table.append(rows)
        self._window.corpus_pane.counting_bar.show_listing((len(files.table.rows), number))

    def _take_list(self, paths: tuple[str, ...]) -> None:
        if not self._extends_text:
            self._window.project.detach()
        self._window.remember_files(*(Path(path) for path in paths))
        self._session.take_corpus(Path(paths[0]).name if len(paths) == 1 else self.tr("Multiple files"))

    def _on_opening_ended(self) -> None:
        if not self._is_taking:
            return
        added, self._added = self._added, None
        self._is_taking = False
        self._document.files.end_listing(added or ())
        self._window.corpus_pane.counting_bar.show_listing(None)

    def _on_opening_failed(self, error: StudioError) -> None:
        opening = self._session.opening
        self._ask_if_sought()
        if is_about_decoding(error) and not opening.as_list:
            _log.info("shown to the user: %s", error)
            self._sought, self._error, self._guess = opening.reading, error, None
            opening.open(opening.paths, as_list=True)  # which guesses the encoding
        else:
            self._messages.show_error(error)

    def _on_files_changed(self) -> None:
        if self._document.is_files and not self._document.files.is_listing:
            self._session.note_renamed()

    # -- a text to tokenize

    def _on_session_corpus_taken(self) -> None:
        self._awaits_preview = self._document.is_files
        self._window.tokenization_pane.offer_text("")  # it was about the previous corpus
        if self._document.path is not None:
            self._suggest_text(first_sentence(self._document.text))

    def _on_preview_text_shown(self, text: str) -> None:
        if self._awaits_preview:  # of the first file of a newly opened corpus
            self._awaits_preview = False
            self._suggest_text(first_sentence(text))

    def _suggest_text(self, text: str) -> None:
        """Suggest a text to tokenize; if the user has typed one, only offer it."""
        pane = self._window.tokenization_pane
        is_own = pane.text not in (self._suggested_text, "")
        if text:
            self._suggested_text = text
        if is_own:
            pane.offer_text(text)
        elif text:
            pane.set_text(text)

    # -- what cannot be decoded

    def _ask_if_sought(self) -> None:
        """Ask how to read a small text that cannot be decoded, once its encoding has been guessed."""
        if self._sought is None or self._error is None:
            return
        reading, self._sought = self._sought, None
        dialog = EncodingDialog(self._error, reading, self._window, guess=self._guess)
        self._path = self._session.opening.paths[0]
        dialog.chosen.connect(self._on_text_reading_chosen)
        dialog.open()

    def _on_text_reading_chosen(self, reading: Reading) -> None:
        self._session.opening.open((self._path,), reading)

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
        dialog.open()

    def _on_file_reading_chosen(self, reading: Reading, is_for_all: bool) -> None:
        numbers = range(len(self._document.files.rows)) if is_for_all else self._faulty
        errors = None if reading.errors == "strict" else reading.errors
        self._document.files.read_as(numbers, encoding=None if errors else reading.encoding, errors=errors)

    # -- asking for places

    def _on_open_files_triggered(self) -> None:
        texts, projects = self.tr("Text files ({suffixes})"), f"*{SUFFIX}"
        filters = [
            self.tr("Projects and text files ({suffixes})").format(suffixes=f"{projects} {_TEXTS}"),
            texts.format(suffixes=_TEXTS),
            self.tr("WordPiece Studio projects ({suffixes})").format(suffixes=projects),
        ]
        self._ask_for_places(self.tr("Open project or corpus files"), filters)

    def _on_add_files_triggered(self) -> None:
        filters = [self.tr("Text files ({suffixes})").format(suffixes=_TEXTS)]
        self._ask_for_places(self.tr("Add files"), filters, adds=True)

    def _on_open_folder_triggered(self) -> None:
        self._ask_for_places(self.tr("Open folder"))

    def _on_add_folder_triggered(self) -> None:
        self._ask_for_places(self.tr("Add folder"), adds=True)

    def _ask_for_places(self, title: str, filters: Sequence[str] = (), *, adds: bool = False) -> None:
        """Ask for files, or for a folder where there are no filters."""
        self._asks_to_add = adds
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, self._folder())
        if filters:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
            dialog.setNameFilters([*filters, self.tr("All files (*)")])
        else:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.filesSelected.connect(self._on_places_selected)
        dialog.open()

    def _on_places_selected(self, places: list[str]) -> None:
        (self.add_paths if self._asks_to_add else self.open_paths)(places)

    def _folder(self) -> Path | None:
        if self._document.path is not None:
            return self._document.path.parent
        files = self._document.files.files
        return None if not files or files[0].unagreed or is_url(files[0].path) else Path(files[0].path).parent

    # -- saving the text

    def _on_save_corpus_triggered(self) -> None:
        path = self._document.path
        name = "corpus.txt" if path is None else str(path)
        if path is not None and self._document.file.is_lossy:
            name = str(path.with_name(f"{path.stem}.utf-8{path.suffix}"))
        folder = path.parent if path is not None else None
        title, mode = self.tr("Save corpus text"), QFileDialog.AcceptMode.AcceptSave
        dialog = place_dialog(self._window, title, mode, folder, name)
        dialog.fileSelected.connect(self._on_corpus_file_selected)
        dialog.open()

    def _on_corpus_file_selected(self, path: str) -> None:
        if (
            self._document.file.is_lossy
            and self._document.path is not None
            and _is_same(Path(path), self._document.path)
        ):
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
        self._window.remember_files(path)
        self._session.note_renamed()
        self.disk.note_written(str(path))


class CorpusOnDisk(QObject):
    """Files that are missing, moved or changed: a banner reports them and offers what can be done.

    Nothing is reread or recounted until the user asks for it.
    """

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        session = window.session
        self._window = window
        self._document = document = session.document
        self._counting = counting = session.counting
        self._references = references = session.references
        self._watch = watch = session.watch
        self._action = window.actions_.locate_files
        self._banner = window.disk_banner
        self._elsewhere = FilesElsewhere(window, self)
        self._elsewhere.agreed.connect(self._on_agreed)
        self._gone: tuple[str, ...] = ()
        self._changed: tuple[str, ...] = ()
        self._offer: _Offer = ""
        self._action.setEnabled(False)
        self._action.triggered.connect(self._on_locate_triggered)
        self._banner.action_requested.connect(self._on_banner_action_requested)
        references.checked.connect(self._take_state)
        references.found.connect(self._on_references_found)
        document.reset.connect(self._on_document_reset)
        document.path_changed.connect(self._on_document_path_changed)
        counting.state_changed.connect(self._on_counting_state_changed)
        counting.failed.connect(self._on_counting_failed)
        document.files.changed.connect(self._watch_files)
        counting.counts_changed.connect(self._on_counting_counts_changed)
        watch.changed.connect(self._on_watch_changed)
        watch.gone.connect(self._on_watch_gone)
        watch.back.connect(self._on_watch_back)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(watch.check)  # as when one comes back to the window

    @property
    def gone(self) -> tuple[str, ...]:
        """The paths of the missing files."""
        return self._gone

    # -- the state of the files

    def note_written(self, path: str) -> None:
        """Note that the Studio itself has written a file."""
        self._watch.take(Path(path))
        self._note_read()
        self._take_state(tuple(one for one in self._gone if one != path), ())

    def _paths(self) -> list[str]:
        if self._document.is_files:
            return [file.path for file in self._document.files.files if not file.unagreed]
        return [] if self._document.path is None else [str(self._document.path)]

    def _note_read(self) -> None:
        self._references.note_read(self._paths())

    def _watch_files(self) -> None:
        self._watch.watch([Path(path) for path in self._paths() if not is_url(path)])
        self._offer_to_read()

    def _offer_to_read(self) -> None:
        if self._elsewhere.offer():
            self._offer = "agree"
        elif self._offer == "agree":
            self._forget()

    def _on_counting_failed(self, _error: object) -> None:
        self._offer_to_read()  # it may have been dismissed

    def _on_agreed(self) -> None:
        self._forget()
        self._watch_files()

    def _on_document_reset(self) -> None:
        self._forget()
        self._watch_files()

    def _on_document_path_changed(self, _path: object) -> None:
        self._note_read()  # it was read or written just now
        self._watch_files()

    def _on_counting_state_changed(self) -> None:
        if self._counting.is_running and self._document.is_files and not self._document.unagreed:
            self._forget()
            self._note_read()
            for path in self._watch.paths:
                self._watch.take(path)

    def _forget(self) -> None:
        self._gone, self._changed, self._offer = (), (), ""
        self._action.setEnabled(False)
        self._banner.clear()

    def _on_watch_changed(self, path: Path) -> None:
        self._take_state(self._gone, _with(self._changed, str(path)))

    def _on_watch_gone(self, path: Path) -> None:
        self._take_state(_with(self._gone, str(path)), self._changed)

    def _on_watch_back(self, path: Path) -> None:
        self._take_state(tuple(one for one in self._gone if one != str(path)), self._changed)

    def _take_state(self, gone: Sequence[str], changed: Sequence[str]) -> None:
        present = set(self._paths())
        before = (self._gone, self._changed)
        self._gone = gone = tuple(path for path in gone if path in present)
        self._changed = changed = tuple(path for path in changed if path in present)
        self._action.setEnabled(bool(gone))
        if before == (gone, changed):
            return  # a dismissed message stays dismissed
        if self._document.is_files:
            self._document.files.table.mark(set(before[0]) - set(gone), FileState.WAITING)
            self._mark()
            self._window.corpus_pane.lint_controller.check_again()
        self._show(gone, changed)

    def _mark(self) -> None:
        table = self._document.files.table
        table.mark(self._changed, FileState.CHANGED)
        table.mark(self._gone, FileState.FAULT, {path: _is_gone(path) for path in self._gone})

    def _on_counting_counts_changed(self, counts: object) -> None:
        if counts is not None and self._document.is_files:
            self._mark()  # counts that were taken over mark all files as counted

    def _show(self, gone: Sequence[str], changed: Sequence[str]) -> None:
        self._offer = ""
        if self._document.unagreed:
            self._offer_to_read()
        elif gone:
            self._offer = "locate"
            self._banner.show_message(self._gone_words(gone), "warning", self._action.text().replace("&", ""))
        elif changed and self._document.is_files:
            self._offer = "count"
            words = plural(
                len(changed),
                "This file changed on disk after it was counted: {names}. The word counts and merges shown are from "
                "the earlier version.",
                "These files changed on disk after they were counted: {names}. The word counts and merges shown are "
                "from the earlier versions.",
            )
            self._banner.show_message(words.format(names=_names(changed)), "warning", self.tr("Count again"))
        elif changed:
            self._offer = "reload"
            words = self.tr("Another program changed “{name}” on disk. Your own text is shown; dismiss this message to "
                            "keep it.")  # fmt: skip
            if self._document.is_modified:
                words += " " + self.tr("Reloading replaces your edits; Undo brings them back.")
            self._banner.show_message(words.format(name=_names(changed)), "warning", self.tr("Reload"))
        else:
            self._banner.clear()

    def _gone_words(self, gone: Sequence[str]) -> str:
        if not self._document.is_files:
            words = self.tr("The file {path} is missing. Its text is still open; save it to keep it.")
        else:
            words = plural(len(gone), "A corpus file is missing: {path}. Existing counts and merges are kept.",
            "{number} corpus files are missing: {path}. Existing counts and merges are kept.")  # fmt: skip
        path = display_name(gone[0]) if len(gone) == 1 else _names(gone)
        return words.format(number=number_text(len(gone)), path=path)

    def _on_banner_action_requested(self) -> None:
        offer, self._offer = self._offer, ""
        if offer == "agree":
            self._offer = "agree"
            self._elsewhere.ask()
        elif offer == "locate":
            self._offer = "locate"
            self._on_locate_triggered()
        elif offer == "count":
            self._banner.clear()
            self._counting.count_again()
        elif offer == "reload":
            self._reload()

    def _reload(self) -> None:
        document, path = self._document, self._document.path
        if path is None:
            return
        try:
            file = read_text_file(path, None if document.file.encoding.startswith("utf-8") else document.file.encoding)
        except StudioError as error:
            self._window.messages.show_error(error)
            return
        self._banner.clear()
        if (file.encoding, file.mark) == (document.file.encoding, document.file.mark) and not document.is_folded:
            document.set_text(file.text)  # as an edit, so that it can be undone
            document.note_saved()
        else:
            document.take_text(file, path)
        self.note_written(str(path))

    # -- files that were moved

    def _on_locate_triggered(self) -> None:
        if not self._gone:
            return
        names = "\n".join(display_name(path) for path in self._gone[:_MOST_NAMED])
        if len(self._gone) > _MOST_NAMED:
            names += "\n" + and_more(len(self._gone) - _MOST_NAMED)
        title = plural(len(self._gone), "Locate missing file", "Locate missing files")
        box = plain_box(self._window, QMessageBox.Icon.Question, title, names)
        buttons = QMessageBox.StandardButton
        add_button(box, buttons.Open, self.tr("&Look in a folder…"))
        if len(self._gone) == 1:
            add_button(box, buttons.Yes, self.tr("&Choose the file…"))
        add_button(box, buttons.Cancel)
        box.setDefaultButton(buttons.Open)
        box.finished.connect(self._on_locate_box_finished)
        box.open()

    def _on_locate_box_finished(self, answer: int) -> None:
        if answer not in (QMessageBox.StandardButton.Open.value, QMessageBox.StandardButton.Yes.value):
            return
        is_file = answer == QMessageBox.StandardButton.Yes.value
        title = self.tr("Choose the file") if is_file else self.tr("Look in this folder and its subfolders")
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, self._nearest_folder())
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.ExistingFile if is_file else modes.Directory)
        dialog.fileSelected.connect(self._on_file_selected if is_file else self._on_folder_selected)
        dialog.open()

    def _nearest_folder(self) -> Path | None:
        """Return the nearest folder above the first missing file that still exists."""
        return next((folder for folder in Path(self._gone[0]).parents if folder.is_dir()), None)

    def _on_file_selected(self, path: str) -> None:
        if self._gone:
            self._take_places({self._gone[0]: os.path.abspath(path)})

    def _on_folder_selected(self, folder: str) -> None:
        self._references.search(os.path.abspath(folder), self._gone)

    def _on_references_found(self, found: dict[str, str], missing: list[str]) -> None:
        places = {old: new for old, new in found.items() if old in self._gone}
        if places:
            self._take_places(places)
        if missing:
            words = self.tr("Not found in that folder: {names}. Choose another folder.")
            self._offer = "locate"
            action = self._action.text().replace("&", "")
            self._banner.show_message(words.format(names=_names(missing)), "warning", action)

    def _take_places(self, places: dict[str, str]) -> None:
        """Read files from their new places; their counts stay valid as long as they are the same files."""
        document, counts = self._document, self._counting.counts
        self._references.move(places)
        if document.is_files:
            document.files.move_files(places)
            if counts is not None:
                self._counting.expect_counts()
                self._counting.take_counts(counts)
        elif document.path is not None and str(document.path) in places:
            document.move_to(Path(places[str(document.path)]))
        self._references.check()


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist
        return one == other


def _names(paths: Sequence[str]) -> str:
    """Return the names of the first files, for a sentence."""
    names = ", ".join(display_name(os.path.basename(path)) for path in paths[:_MOST_NAMED])
    return f"{names}, …" if len(paths) > _MOST_NAMED else names


def _with(paths: tuple[str, ...], path: str) -> tuple[str, ...]:
    return paths if path in paths else (*paths, path)


def _is_gone(path: str) -> StudioError:
    advice = "If it was moved, use “Locate missing files…” in the File menu."
    return StudioError("{path} is missing", advice, path=display_name(path))
