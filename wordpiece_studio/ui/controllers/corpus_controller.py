"""The corpus: opens texts and files, lists files, asks how to read undecodable ones, saves the text, watches files."""

from __future__ import annotations

import logging
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QMessageBox

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.corpus.files import CorpusFile, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import FileRow, FileState
from wordpiece_studio.session.document import Opened, Reading, TextFile, Undecodable, is_about_decoding, read_text_file
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.samples import document_titles, first_sentence, sample_project, samples, text_offered
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.storage.lesson import is_lesson
from wordpiece_studio.storage.project.container import SUFFIX
from wordpiece_studio.storage.project.contents import note_agreed
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.dialogs.file_questions import (
    LONGEST_NAMED,
    agreement_box,
    ask_for_place,
    listed,
    names_project,
    overwrite_box,
)
from wordpiece_studio.ui.messages import ask, question_box, reported
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog
from wordpiece_studio.ui.widgets.plain import menu_text, plain_title, shown
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from wordpiece_studio.ui.controllers.project_controller import ProjectController

_log = logging.getLogger(__name__)
_MOST_NAMED = 3
_OPEN, _YES = QMessageBox.StandardButton.Open, QMessageBox.StandardButton.Yes
_TEXTS = "*.txt *.text *.md *.rst *.jsonl *.ndjson *.json *.csv *.tsv *.parquet *.gz *.xz *.bz2 *.zst"


class CorpusController(Controller):
    """Opens and saves. What is in no file is never replaced without asking."""

    lesson_found = Signal(object)  # the path of a file that is to be opened

    def __init__(self, window: Workspace, project: ProjectController) -> None:
        super().__init__(window)
        self._project = project
        self._added: list[FileRow] | None = None  # the files found to be added; None if none are being added
        self._suggested_text = window.tokenization_pane.text
        self._awaits_preview = self._lends_first_line = False  # until the live text is edited
        pane = window.corpus_pane
        self.disk = CorpusOnDisk(window)
        self._undo: Callable[[], None] | None = None  # what undoes a drop
        self._too_long = self.tr("The text is too long to edit (over 2 MB, 100,000 lines, or 10,000 characters in a "
                                 "line), so it is a file with a preview.")  # fmt: skip
        pane.editor.drops.files_dropped.connect(partial(self.open_paths, are_dropped=True))
        window.drops.files_dropped.connect(partial(self.open_paths, are_dropped=True))
        pane.files_view.drops.files_dropped.connect(partial(self.add_paths, are_dropped=True))
        pane.files_view.preview.text_shown.connect(self._on_preview_text_shown)
        pane.refused.connect(self._messages.show_error)
        session = window.session
        session.opening.files_found.connect(self._on_opening_files_found)
        session.opening.ended.connect(self._on_opening_ended)
        project.opening.finished.connect(lambda _project: self._say_what_was_opened(is_long=self._document.is_kept))
        session.counting.failed.connect(self._on_counting_failed)
        session.document.files.changed.connect(self._on_files_changed)
        session.document.text_changed.connect(self._lend_first_line)
        session.corpus_taken.connect(self._on_session_corpus_taken)
        session.document.reset.connect(self._keep_what_was_dropped)
        session.document.reset.connect(self._say_what_was_kept)
        session.document.undo_group.indexChanged.connect(self._keep_what_was_dropped)
        session.live_text_changed.connect(window.tokenization_pane.set_text)
        window.tokenization_pane.edit.text_changed.connect(session.set_live_text)
        session.set_live_text(window.tokenization_pane.text)
        self._actions.bind(self, self._document.reset)

    # -- other texts and files

    @command(tr("&New"), tr("Start over with an empty corpus"), QKeySequence.StandardKey.New, "new")
    def new_corpus(self) -> None:
        self._project.when_safe(self._begin_empty)

    @command(tr("&Open…"), tr("Open a project, or text files as the corpus"), QKeySequence.StandardKey.Open, "open")
    def open_file(self) -> None:
        texts, projects = self.tr("Text files ({suffixes})"), f"*{SUFFIX}"
        filters = [
            self.tr("Projects and text files ({suffixes})").format(suffixes=f"{projects} {_TEXTS}"),
            texts.format(suffixes=_TEXTS),
            self.tr("WordPiece Studio projects ({suffixes})").format(suffixes=projects),
        ]
        self._ask_for_places(self.tr("Open project or corpus files"), self.open_paths, filters)

    @command(tr("Open &folder…"), tr("Open all text files in a folder as the corpus"), "Ctrl+Shift+O")
    def open_folder(self) -> None:
        self._ask_for_places(self.tr("Open folder"), self.open_paths)

    @command(tr("A&dd files…"), tr("Add text files to the corpus"), icon="new")
    def add_files(self) -> None:
        filters = [self.tr("Text files ({suffixes})").format(suffixes=_TEXTS)]
        self._ask_for_places(self.tr("Add files"), self.add_paths, filters)

    @command(tr("Add fo&lder…"), tr("Add all text files in a folder to the corpus"))
    def add_folder(self) -> None:
        self._ask_for_places(self.tr("Add folder"), self.add_paths)

    @command(
        choices=lambda self: (
            MenuChoice(paths, menu_text(_name_of(paths)), "\n".join(paths))
            for paths in self._window.settings.values.recent_files
        )
    )
    def open_recent(self, paths: Sequence[str]) -> None:
        self.open_paths(paths)

    def open_paths(self, paths: Iterable[str | os.PathLike[str]], *, are_dropped: bool = False) -> None:
        """Open files, folders and patterns as the corpus once the present one is safe: as a small text, or as a list.

        A project is opened instead. With `are_dropped`, a notice says what was done, and undoes it.
        """
        places = tuple(os.path.abspath(path) for path in paths)
        if len(places) == 1 and is_lesson(places[0]):
            self.lesson_found.emit(Path(places[0]))
            return
        self._begin(places, partial(self._session.opening.open, places), are_dropped=are_dropped)

    def add_paths(self, paths: Iterable[str | os.PathLike[str]], *, are_dropped: bool = False) -> None:
        """Add files, folders and patterns to the list of files; a text that has a file becomes its first entry."""
        places, document = tuple(os.path.abspath(path) for path in paths), self._document
        own = () if document.path is None else (str(document.path),)
        add = partial(self._session.opening.open, (*own, *places), as_list=True)
        self._begin(places, add, are_added=document.is_files, are_dropped=are_dropped)

    def _begin(
        self, places: tuple[str, ...], act: Callable[[], None], *, are_added: bool = False, are_dropped: bool
    ) -> None:
        """Do what opens the places, once it loses nothing; of projects, open one alone."""
        if is_project := any(map(names_project, places)):
            if len(places) > 1:
                self._messages.show_error(
                    StudioError("A project cannot be opened together with other files", "Open the project alone.")
                )
                return
            act, are_added = partial(self._project.open, Path(places[0])), False

        def begin() -> None:
            self._session.opening.stop()
            self._undo, self._added = None, [] if are_added else None
            if are_dropped and are_added:
                stack = self._document.undo_stack
                self._undo = partial(stack.setIndex, stack.index())
            elif are_dropped:
                self._undo = partial(self._project.when_safe, self._window.project.undoing(), keeps_run=True)
            act()

        if are_added:
            begin()
        else:
            self._project.when_safe(begin, keeps_run=not is_project)

    def _say_what_was_opened(self, added: int = 0, *, is_long: bool = False) -> None:
        banner, words = self._window.notices.training, self._too_long if is_long else ""
        if self._undo is not None:  # a training clears the notice: undone after it, its run would be lost
            done = self.tr("The corpus is now {name}.").format(name=self._session.corpus_name)
            if added:
                done = counted(added, "1 file was added to the corpus.", "{count} files were added to the corpus.")
            done = f"{done} {words}".strip()
            banner.show_message(done, action=self.tr("Undo"), act=self._undo, needs_answer=False)
        elif is_long:
            banner.show_message(words)

    def _say_what_was_kept(self) -> None:
        banner = self._window.notices.training
        if banner.text.startswith(self._too_long):
            banner.clear()
        if self._document.is_kept:
            banner.show_message(self._too_long)

    def _keep_what_was_dropped(self) -> None:
        """Do not offer to undo the drop any longer: it would undo what was done after it, too."""
        banner = self._window.notices.training
        if self._undo is not None and banner.act is self._undo:
            banner.clear()

    @command(choices=lambda self: (MenuChoice(name, menu_text(title), group=use) for name, title, use in samples()))
    def open_sample(self, name: str) -> None:
        """Show a sample in place of everything, when all of the user's is safe."""
        self._project.when_safe(partial(self.load_sample, name))

    def load_sample(self, name: str) -> None:
        self._session.opening.stop()
        project, pane, own = sample_project(name), self._window.tokenization_pane, self._own_live_text()
        self._window.project.show_sample(project)
        self._suggested_text = pane.text
        pane.ask_nothing()
        pane.offer_text(text_offered(name) or own)
        if name in document_titles():
            self._window.docks.bring("vocabulary" if project.view.is_longest_first else "history")

    def _begin_empty(self) -> None:
        own = self._own_live_text()
        self._session.opening.stop()
        self._document.clear()
        self._session.take_corpus(self.tr("Untitled"))
        self._window.project.clear()
        self._suggested_text, self._lends_first_line = "", True
        self._window.tokenization_pane.offer_text(own)
        self.add_text()

    # -- what was opened

    def _on_opening_files_found(self, rows: list[FileRow], number: int) -> None:
        files = self._document.files
        if not files.is_listing:
            files.is_listing = True
            if self._added is None:
                self._document.take_files()
                self._take_list(self._session.opening.paths)
        if self._added is not None:
            self._added += rows
        files.append(rows)
        self._window.corpus_pane.counting_bar.show_listing((len(files.rows), number))

    def _take_list(self, paths: tuple[str, ...]) -> None:
        if not self._session.opening.as_list:  # else the list begins with the file of the text shown
            self._window.project.detach()
        self._window.remember_files(*(Path(path) for path in paths))
        self._session.take_corpus(Path(paths[0]).name if len(paths) == 1 else self.tr("Multiple files"))

    def _on_opening_ended(self, opened: Opened) -> None:
        added, self._added = self._added, None
        if self._document.files.is_listing:
            self._document.files.end_listing(added or ())
            self._window.corpus_pane.counting_bar.show_listing(None)
        if isinstance(opened, Undecodable):
            opening = self._session.opening
            reopen = partial(opening.open, opening.paths)
            self._ask_how_to_read(opened.error, opening.reading, opened.guess, lambda dialog: reopen(dialog.reading))
        elif isinstance(opened, StudioError):
            self._messages.show_error(opened)
        elif opened != "stopped":
            if isinstance(opened, TextFile):
                self._take_text(opened)
            self._say_what_was_opened(len(added or ()), is_long=opened == "long")

    def _take_text(self, file: TextFile) -> None:
        path = Path(self._session.opening.paths[0])
        self._window.project.detach()
        self._document.take_text(file, path)
        self._session.watch.take(path)
        self._window.remember_files(path)
        self._session.take_corpus("")

    def _on_files_changed(self) -> None:
        if self._document.is_files and not self._document.files.is_listing:
            self._session.note_renamed()

    # -- a text to tokenize

    def _on_session_corpus_taken(self) -> None:
        self._awaits_preview, self._lends_first_line = self._document.is_files, False
        self._window.tokenization_pane.offer_text("")  # it was about the previous corpus
        if self._document.path is not None:
            self._suggest_text(first_sentence(self._document.text))

    def _on_preview_text_shown(self, text: str) -> None:
        if self._awaits_preview:  # of the first file of a newly opened corpus
            self._awaits_preview = False
            self._suggest_text(first_sentence(text))

    def _lend_first_line(self) -> None:
        self._lends_first_line = self._lends_first_line and not self._own_live_text()
        if self._lends_first_line:
            text = self._document.text.lstrip()
            self._suggested_text = first_sentence(text if is_typed_counts(text) else text.partition("\n")[0])
            self._window.tokenization_pane.set_text(self._suggested_text)

    def _own_live_text(self) -> str:
        text = self._window.tokenization_pane.text
        return "" if text == self._suggested_text else text

    def _suggest_text(self, text: str) -> None:
        pane, is_own = self._window.tokenization_pane, bool(self._own_live_text())
        if text:
            self._suggested_text = text
        if is_own:
            pane.offer_text(text)
        elif text:
            pane.set_text(text)

    # -- what cannot be decoded

    def _ask_how_to_read(
        self, error: StudioError, tried: Reading, guess: str | None, take: Callable[[EncodingDialog], None],
        files: int = 1,
    ) -> None:  # fmt: skip
        _log.info("shown to the user: %s", error)
        dialog = EncodingDialog(error, tried, self._window, guess=guess, files=files)
        dialog.accepted.connect(lambda: take(dialog))
        dialog.open()

    def _on_counting_failed(self, error: StudioError) -> None:
        files = self._document.files
        if self._document.is_files and files.faulty and is_about_decoding(error):
            row = files.records[files.faulty[0]]
            guess = row.encoding if row.known == "guess" else None
            tried = Reading(row.file.encoding, row.file.errors)
            self._ask_how_to_read(error, tried, guess, partial(self._read_as, files.faulty), len(files.records))

    def _read_as(self, faulty: Sequence[int], dialog: EncodingDialog) -> None:
        files, reading = self._document.files, dialog.reading
        errors = None if reading.errors == "strict" else reading.errors
        numbers = range(len(files.rows)) if dialog.is_for_all else faulty
        files.read_as(numbers, encoding=None if errors else reading.encoding, errors=errors)

    # -- asking for places

    def _ask_for_places(self, title: str, take: Callable[[list[str]], None], filters: Sequence[str] = ()) -> None:
        if filters:
            filters = [*filters, self.tr("All files (*)")]
        ask_for_place(
            self._window, title, "files" if filters else "folder", take, folder=self._folder(), filters=filters
        )

    def _folder(self) -> Path | None:
        if self._document.path is not None:
            return self._document.path.parent
        files = self._document.files.files if self._document.is_files else ()
        return None if not files or files[0].unagreed or is_url(files[0].path) else Path(files[0].path).parent

    @command(
        tr("Type c&orpus text"), tr("Go to the corpus, to type or paste a text"), "Ctrl+Shift+L", button=tr("Add text")
    )
    def add_text(self) -> None:
        self._window.docks.bring("corpus")
        self._window.corpus_pane.show_tab(CorpusTab.TEXT)
        self._window.corpus_pane.editor.setFocus()

    # -- saving the text

    @command(
        tr("Save &corpus text as…"), tr("Save the text of the corpus to a text file"),
        when=lambda self: not self._document.is_files,
    )  # fmt: skip
    def save_corpus(self) -> None:
        path = self._document.path
        name = "corpus.txt" if path is None else str(path)
        if path is not None and self._document.file.is_lossy:
            name = str(path.with_name(f"{path.stem}.utf-8{path.suffix}"))
        folder = path.parent if path is not None else None
        title = self.tr("Save corpus text")
        ask_for_place(self._window, title, "new file", self._save_corpus_as, folder=folder, name=name)

    def _save_corpus_as(self, chosen: str) -> None:
        path, own = Path(chosen), self._document.path
        if self._document.file.is_lossy and own is not None and path.resolve() == own.resolve():
            ask(overwrite_box(self._window, self._session.corpus_name), {_YES: partial(self._save_corpus_to, own)})
        else:
            self._save_corpus_to(path)

    def _save_corpus_to(self, path: Path) -> None:
        with reported(self._messages.show_error):
            self._document.save_text(path)
            self._window.remember_files(path)
            self._session.note_renamed()
            self._session.watch.take(path)


class CorpusOnDisk(Controller):
    """Files that are missing, moved, changed or elsewhere: a banner reports them and offers what can be done.

    Nothing is reread or recounted until the user asks for it. Files that a project names outside its folder are not
    touched before the user has seen where they are, and agrees, see `wordpiece_studio.storage.project.contents`.
    """

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        session = window.session
        self._counting = session.counting
        self._watch = session.watch
        self._banner = window.notices.files
        self._told: tuple[list[str], list[str]] = [], []  # what is gone and changed, as last told
        self._news_timer = single_shot(self, self._show_state)  # once for all files that are missed at one look
        session.searching.finished.connect(lambda found: self._take_found(*found))
        session.document.reset.connect(self._begin_anew)
        session.document.path_changed.connect(self._watch_files)
        session.document.files.changed.connect(self._watch_files)
        session.counting.state_changed.connect(self._on_counting_state_changed)
        session.counting.failed.connect(lambda: self._offer_to_read())  # it may have been dismissed
        session.counting.counts_changed.connect(self._on_counting_counts_changed)
        session.watch.noticed.connect(lambda: self._news_timer.start())
        application = cast("QApplication", QApplication.instance())
        application.applicationStateChanged.connect(session.watch.check)  # as when one comes back to the window
        self._actions.bind(self)

    # -- the state of the files

    @property
    def gone(self) -> list[str]:
        return self._among(self._watch.gone)

    def _among(self, some: Collection[Path]) -> list[str]:
        return [path for path in self._paths() if Path(path) in some] if some else []

    def _paths(self) -> list[str]:
        if self._document.is_files:
            return [file.path for file in self._document.files.files if not file.unagreed]
        return [] if self._document.path is None else [str(self._document.path)]

    def _watch_files(self) -> None:
        self._watch.watch([Path(path) for path in self._paths() if not is_url(path)])
        if not self._offer_to_read() and self._banner.act == self._ask_to_read:
            self._banner.clear()
        self._show_state()

    def _begin_anew(self) -> None:
        self._forget()
        self._watch_files()

    def _on_counting_state_changed(self) -> None:
        if self._counting.is_running and self._document.is_files and not self._document.unagreed:
            self._forget()
            self._watch.take(*self._watch.stamps)

    def _forget(self) -> None:
        self._told = [], []
        self._actions.refresh_soon()
        self._banner.clear()

    def _show_state(self) -> None:
        """Say what is missing or changed, if that is news: a dismissed message stays dismissed."""
        before, _ = told = self._told
        self._told = gone, changed = self.gone, self._among(self._watch.changed)
        if self._told == told:
            return
        self._actions.refresh_soon()
        if self._document.is_files:
            self._document.files.mark(set(before).difference(gone), FileState.WAITING)
            self._mark()
            self._window.corpus_pane.lint_controller.check_again()
        self._show(gone, changed)

    def _mark(self) -> None:
        files, gone = self._document.files, self.gone
        files.mark(self._among(self._watch.changed), FileState.CHANGED)
        what, advice = "{path} is missing", "If it was moved, use “Locate missing files…” in the File menu."
        files.mark(gone, FileState.FAULT, {path: StudioError(what, advice, path=display_name(path)) for path in gone})

    def _on_counting_counts_changed(self, counts: object) -> None:
        if counts is not None and self._document.is_files:
            self._mark()  # counts that were taken over mark all files as counted

    def _show(self, gone: Sequence[str], changed: Sequence[str]) -> None:
        if self._offer_to_read():
            return
        if gone:
            words = self.tr("The file {path} is missing. Its text is still open; save it to keep it.")
            if self._document.is_files:
                words = plural(len(gone), "A corpus file is missing: {path}. Existing counts and merges are kept.",
                "{number} corpus files are missing: {path}. Existing counts and merges are kept.")  # fmt: skip
            path = display_name(gone[0]) if len(gone) == 1 else _names(gone)
            self._offer_to_locate(filled(words, number=len(gone), path=path))
        elif changed and self._document.is_files:
            words = plural(
                len(changed),
                "This file changed on disk after it was counted: {names}. The word counts and merges shown are from "
                "the earlier version.",
                "These files changed on disk after they were counted: {names}. The word counts and merges shown are "
                "from the earlier versions.",
            )
            words = words.format(names=_names(changed))
            self._banner.show_message(words, "warning", self.tr("Count again"), self._counting.count_again)
        elif changed:
            words = self.tr("Another program changed “{name}” on disk. Your own text is shown; dismiss this message to "
                            "keep it.")  # fmt: skip
            if self._document.is_modified:
                words += " " + self.tr("Reloading replaces your edits; Undo brings them back.")
            words = words.format(name=_names(changed))
            self._banner.show_message(words, "warning", self.tr("Reload"), self._reload)
        else:
            self._banner.clear()

    def _offer_to_locate(self, words: str) -> None:
        self._banner.show_message(words, "warning", plain_title(self._actions.locate_files.text()), self.locate_files)

    def _reload(self) -> None:
        document, path = self._document, self._document.path
        if path is None:
            return
        encoding, mark = document.file.encoding, document.file.mark
        with reported(self._messages.show_error):
            file = read_text_file(path, None if encoding.startswith("utf-8") else encoding)
            self._banner.clear()
            if (file.encoding, file.mark) == (encoding, mark):
                document.set_text(file.text)  # as an edit, so that it can be undone
                document.note_saved()
            else:
                document.take_text(file, path)
            self._watch.take(path)

    # -- files that were moved

    @command(
        tr("Locate &missing files…"), tr("Choose where the missing corpus files are now"),
        when=lambda self: bool(self._watch.gone),
    )  # fmt: skip
    def locate_files(self) -> None:
        gone = self.gone
        if not gone:
            return
        names = listed([*map(display_name, gone)], _MOST_NAMED)
        title = plural(len(gone), "Locate missing file", "Locate missing files")
        answers = {_OPEN: self.tr("&Look in a folder…")}
        if len(gone) == 1:
            answers[_YES] = self.tr("&Choose the file…")
        box = question_box(self._window, title, names, answers, default=_OPEN)
        nearest = next((folder for folder in Path(gone[0]).parents if folder.is_dir()), None)
        ask_where = partial(ask_for_place, self._window, folder=nearest)
        search = partial(ask_where, self.tr("Look in this folder and its subfolders"), "folder", self._search_in)
        choose = partial(ask_where, self.tr("Choose the file"), "file", partial(self._take_place, gone[0]))
        ask(box, {_OPEN: search, _YES: choose})

    def _take_place(self, old: str, new: str) -> None:
        self._take_places({old: os.path.abspath(new)})

    def _search_in(self, folders: list[str]) -> None:
        known = [self._watch.reference(CorpusFile(path)) for path in self.gone]
        self._session.searching.run(os.path.abspath(folders[0]), known)

    def _take_found(self, found: dict[str, str], missing: list[str]) -> None:
        gone = self.gone
        places = {old: new for old, new in found.items() if old in gone}
        if places:
            self._take_places(places)
        if missing:
            words = self.tr("Not found in that folder: {names}. Choose another folder.")
            self._offer_to_locate(words.format(names=_names(missing)))

    def _take_places(self, places: dict[str, str]) -> None:
        """Read files from their new places; their counts stay valid as long as they are the same files."""
        document, counts = self._document, self._counting.counts
        self._watch.move({Path(old): Path(new) for old, new in places.items()})
        if document.is_files:
            document.files.move_files(places)
            if counts is not None:
                self._counting.expect_counts()
                self._counting.take_counts(counts)
        elif document.path is not None and str(document.path) in places:
            document.move_to(Path(places[str(document.path)]))
        self._show_state()

    # -- files outside the folder of the project

    def _offer_to_read(self) -> bool:
        unagreed, places = self._document.unagreed, self._places()
        if not unagreed:
            return False
        if not self._document.is_files:
            words = self.tr("The file of this text is outside the project’s folder and has not been looked at: {paths}")
        else:
            words = plural(
                len(unagreed),
                "A file of the corpus is outside the project’s folder and has not been read: {paths}",
                "{number} files of the corpus are outside the project’s folder and have not been read: {paths}",
            )
        paths = listed([shown(display_name(place), LONGEST_NAMED) for place in places], _MOST_NAMED, " · ")
        action = self._reading_words()
        if not _has_room(places):
            action = plural(len(unagreed), "Read this file…", "Read these files…")
        words = filled(words, number=len(unagreed), paths=paths)
        self._banner.show_message(words, "warning", action, self._ask_to_read)
        return True

    def _ask_to_read(self) -> None:
        """Agree, because the user has pressed the banner's button; first show what it had no room for."""
        places = self._places()
        if _has_room(places):
            self._agree_to(places)
        else:
            box = agreement_box(self._window, places, self._reading_words())
            ask(box, {_YES: partial(self._agree_to, places)}, otherwise=self._offer_to_read)

    def _places(self) -> list[str]:
        return [place for file in self._document.unagreed for place in file.unagreed]

    def _reading_words(self) -> str:
        return plural(len(self._document.unagreed), "Read this file", "Read these files")

    def _agree_to(self, places: list[str]) -> None:
        if self._places() != places:  # another project was read meanwhile
            self._offer_to_read()
            return
        state = self._window.project
        if state.path is not None:
            note_agreed(state.path, self._session.corpus())
        state.agree()
        self._begin_anew()


def _has_room(places: Sequence[str]) -> bool:
    return len(places) <= _MOST_NAMED and all(len(display_name(place)) <= LONGEST_NAMED for place in places)


def _name_of(paths: Sequence[str]) -> str:
    name, others = Path(paths[0]).name, len(paths) - 1
    if not others:
        return name
    return counted(others, "{name} and 1 more", "{name} and {count} more", name=name)


def _names(paths: Sequence[str]) -> str:
    names = ", ".join(display_name(os.path.basename(path)) for path in paths[:_MOST_NAMED])
    return f"{names}, …" if len(paths) > _MOST_NAMED else names
