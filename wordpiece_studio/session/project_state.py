"""Everything a project holds, as the window has it now: captured for a file, and restored from one.

The history rows of an opened project are available at once; the large parts, its words and the places of its merges,
are read in the background before a pane needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import Task, free_words_slowly
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.container import ProjectStamp, stamp_of
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, steps_of
from wordpiece_studio.storage.view import RunTab, View
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.storage.view import Bookmark
    from wordpiece_studio.training.history import MergeHistory

    Part = WordCounts | tuple[MergeHistory, LibraryTokenizer | None]


_DELAY_MS = 250  # a large project waits while the window, with the processor to itself, shows what is there

_FEW = 20_000  # merges, and words: this many are read in no time


def _is_small(project: Project) -> bool:
    runs = [run.history for run in project.runs]
    return bool(runs) and sum(len(each) + each.word_count for each in runs) <= _FEW


def read_rest(project: Project, *, should_stop: Callable[[], bool]) -> Generator[Part, None, None]:
    """Read the words and places of a project as far as possible.

    Yields each history whose words and places are in memory, with what runs the tokenizer if a library trained it; then
    the word counts of the corpus with their figures. What cannot be read, or was lost before, is raised at the end, in
    one error: a run with such an error keeps its rows, but is never whole.
    """
    run, counts = project.run, project.counts
    if counts is None and run is not None and run.is_of_corpus:
        counts = run.counts
    error: StudioError | None = None
    try:
        if counts is not None:
            _ = counts.alphabet_size, counts.symbols  # worked out here, not in the window's thread
            free_words_slowly(counts)
    except StudioError as found:
        counts, error = None, found
    for each in project.runs:
        if should_stop():
            break
        try:
            len(each.history.input.words)  # reads and checks the words and places
            yield each.history, None if each.library_run is None else each.library_run.tokenizer()
        except StudioError as found:
            error = error or found
    if counts is not None:
        yield counts
    if project.lost:
        reason, said = ("", {}) if error is None else ("{reason}. ", {"reason": error.what})
        raise StudioError(
            "{path} is damaged and was opened without {parts}",
            f"{reason}The file was left as it is. Save your project under another name, or open a backup of the file.",
            path=project.lost[0][1].values["path"],
            parts=", ".join(part for part, _ in project.lost),
            **said,
        )
    if error is not None:
        raise error


@dataclass(frozen=True, slots=True)
class ProjectContent:
    """The content of a project that must not be discarded without asking; two are compared part by part.

    Excludes runs that no one asked for, since the Studio trains them again, and the run and the step shown.
    """

    settings: ProjectSettings = field(compare=False)
    own_settings: tuple[object, ...]  # as far as they are not those of the run shown
    corpus: tuple[object, ...]
    runs: dict[int, tuple[object, ...]]
    tabs: dict[int, tuple[object, ...]]  # what the user made of the runs, by number
    notes: tuple[Bookmark, ...]
    marks: tuple[object, ...]
    live_text: str


@dataclass(frozen=True, slots=True)
class Aside:
    """What is open while a lesson is shown in its place: kept, saved and asked about as if it were shown."""

    project: Project
    unsaved: UnsavedWork
    runs: tuple[Run, ...]  # themselves, since edits that can be undone know them
    bring_edits_back: Callable[[], None]


class ProjectState(QObject):
    changed = Signal()  # some content of the project
    path_changed = Signal(object)  # the file of the project; None: it has none
    brought_back = Signal()  # what was put aside
    saved = Signal()  # the present content, or it was discarded: there is nothing to recover

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._document = session.document
        self._counting = session.counting
        self._model = session.model
        self._runs = session.runs
        self._marks = session.marks
        self.path: Path | None = None
        self.stamp = ProjectStamp()  # what the file was like when it was read or written
        self.saved_content: ProjectContent | None = None  # in the file
        self.left_content: ProjectContent | None = None  # of a sample, or in the file of a project that was left
        self.is_file_another = False  # another program has changed or removed the file
        self.serial = 0  # changes with every new project, including those without a file
        self.aside: Aside | None = None
        self._shown_live_text = ("", "")  # of the restored project: as limited by the field, and whole
        self._expected: WordCounts | None = None  # of the corpus, still being read
        self.reading = Task(
            read_rest, "The project cannot be read", self, debounce_ms=_DELAY_MS,
            on_part=self._take_part, on_answer=self._end_reading, on_error=self._end_reading,
        )  # fmt: skip
        document, model, marks = self._document, self._model, self._marks
        for signal in (
            document.text_changed, document.path_changed, document.modified_changed, model.run_reset,
            model.merges_appended, model.step_changed, model.selection_changed, model.state_changed,
            marks.breakpoints.changed, marks.bookmarks.changed, session.settings.changed,
            session.live_text_changed, self._counting.pipeline_changed, self._runs.changed,
        ):  # fmt: skip
            signal.connect(self.changed)

    def set_path(self, path: Path | None) -> None:
        self.saved_content = self.left_content = None
        self.is_file_another = False
        self.stamp = ProjectStamp()
        if path is None:
            self._shown_live_text = ("", "")
        if path != self.path:
            self.path = path
            self.path_changed.emit(path)

    def note_saved(self, path: Path, project: Project) -> None:
        self.set_path(path)
        self.stamp = stamp_of(path)
        self.saved_content = content_of(project)
        self.saved.emit()

    def agree(self) -> None:
        """Read the files outside the project's folder from now on, wherever they are: its content is the same."""
        before = self.content().corpus
        self._session.agree()
        if self.saved_content is not None and self.saved_content.corpus == before:
            self.saved_content = replace(self.saved_content, corpus=self.content().corpus)

    def note_file(self, *, is_another: bool) -> None:
        """Record that another program has changed or removed the project's file, or brought it back."""
        if is_another != self.is_file_another:
            self.is_file_another = is_another
            self.changed.emit()

    def detach(self) -> None:
        """Start a new project without a file, because a different corpus is shown.

        The run stays on view, with its notes, until something else is trained. The previous file remains as it was last
        saved and is never written to again: saving asks for a name.
        """
        saved = self.saved_content
        self.serial += 1
        if self.path is not None:
            self.set_path(None)
            self.left_content = saved

    # Capturing.

    def capture(self) -> Project:
        """Return the whole project. Nothing large is copied: the history of a running training keeps growing."""
        if self.aside is not None:
            return self.aside.project
        shown_first = sorted(self._runs.all, key=lambda run: run is not self._runs.current)
        runs, counts = tuple(map(self._captured_run, shown_first)), None
        view, pipeline = self._session.view(), self._counting.pipeline
        shown, whole = self._shown_live_text
        if view.live_text == shown:  # one too long to be shown in full stays whole until it is edited
            view = msgspec.structs.replace(view, live_text=whole)
        training, length = self._session.settings.valid_config().to_dict(), self._counting.max_word_length
        settings = ProjectSettings(training=training, **steps_of(pipeline), max_word_length=length)
        if not runs or not runs[0].is_of_corpus:
            counts = self._expected if self._counting.is_expecting else self._counting.counts
        return Project(settings=settings, corpus=self._session.corpus(), view=view, runs=runs, counts=counts)

    def capture_run(self) -> Project:
        project, current = self.capture(), self._runs.current
        if project.run is None or project.run.is_of_corpus or current is None or current.origin.corpus is None:
            return project
        if current.origin.max_word_length is None:  # then neither is it known which words were left out
            return project
        settings = msgspec.structs.replace(project.settings, max_word_length=current.origin.max_word_length)
        runs = replace(project.run, is_of_corpus=True), *project.runs[1:]
        return replace(project, settings=settings, corpus=current.origin.corpus, runs=runs)

    def content(self) -> ProjectContent:
        return content_of(self.capture())

    def _captured_run(self, run: Run) -> Run:
        changes = self._session.changes_since_run(run)
        is_of_corpus = not (changes.is_other_corpus or changes.corpus or changes.pipeline)
        reason = self._model.stop_reason if run is self._runs.current else run.stop_reason
        return replace(run, merges=len(run.history), is_of_corpus=is_of_corpus, stop_reason=reason)

    # Restoring.

    def restore(self, project: Project) -> None:
        """Replace everything by `project`; it then has no file, see `set_path`.

        Its large parts are read in the background a little later.
        """
        self.serial += 1
        self.set_path(None)
        self._show(project)

    def _show(self, project: Project, *, known: Sequence[Run] = ()) -> None:
        """Show a project; runs with the numbers of those that are `known` are these."""
        self.reading.forget()
        self._restore_corpus(project.settings, project.corpus)
        self._restore_run(project, known)
        self._expected = project.counts
        if project.counts is not None or (project.run is not None and project.run.is_of_corpus):
            self._counting.expect_counts()
        if project.counts is not None or project.run is not None or project.lost:
            (self.reading.run if _is_small(project) else self.reading.ask)(project)
        self._session.show_view(project.view)
        self._shown_live_text = (self._session.live_text, project.view.live_text)
        self.changed.emit()

    def show_sample(self, project: Project) -> None:
        """Replace everything by `project`, whose notes are not the user's; prediction that is on goes on with it."""
        if self._session.prediction.is_on:
            project = replace(project, view=msgspec.structs.replace(project.view, step=0, is_predicting=True))
        self.restore(project)
        self._session.settings.suggestion.begin_anew()
        self._session.sample_notes = self._marks.bookmarks.records
        self.left_content = content_of(project)
        self.saved.emit()

    def put_aside(self, project: Project) -> None:
        """Show a lesson; what is open stays the project, its unsaved work is kept, and `bring_back` shows it again."""
        if self.aside is None:
            unsaved = unsaved_work(self._session, self)
            self.aside = Aside(self.capture(), unsaved, self._runs.all, self._document.put_edits_aside())
            self._runs.undo_stack = self._document.undo_stack
        self._show(project)

    def bring_back(self) -> None:
        aside, self.aside = self.aside, None
        if aside is not None:
            self._show(aside.project, known=aside.runs)
            aside.bring_edits_back()
            self._runs.undo_stack = self._document.undo_stack
            self.brought_back.emit()

    def undoing(self) -> Callable[[], None]:
        """Return what shows everything again as it is now."""
        project, path = self.capture(), self.path
        about = {name: getattr(self, name) for name in ("stamp", "saved_content", "left_content", "is_file_another")}

        def undo() -> None:
            self.restore(project)
            if path is not None:  # else it would forget what it has just restored
                self.set_path(path)
            for name, value in about.items():
                setattr(self, name, value)
            self.changed.emit()

        return undo

    def clear(self) -> None:
        """Discard the run, marks, settings and file of the project; the corpus has already been replaced."""
        self.reading.forget()
        self.serial += 1
        self.set_path(None)
        self._runs.take((), None, 0)
        self._counting.begin_anew()
        self._session.settings.begin_anew()
        self._session.show_view(View(is_predicting=self._session.prediction.is_on))
        self.saved.emit()

    def _restore_corpus(self, settings: ProjectSettings, corpus: ProjectCorpus) -> None:
        normalizer = normalizers.from_spec(settings.normalizer)
        pre_tokenizer = pre_tokenizers.from_spec(settings.pre_tokenizer)
        config = TrainingConfig.from_dict(settings.training, pre_tokenizer)
        self._counting.take_pipeline(normalizer, pre_tokenizer, settings.max_word_length)
        self._session.show_corpus(corpus)
        self._session.take_corpus(corpus.name)
        self._session.settings.suggestion.keep_saved()
        self._session.settings.set_config(config)

    def _restore_run(self, project: Project, known: Sequence[Run]) -> None:
        tabs = {tab.number: tab for tab in project.view.tabs}
        runs = {run.number: self._restored_run(run, tabs.get(run.number)) for run in project.runs}
        for run in known:
            run.origin = runs[run.number].origin  # of the text as it is shown now
            runs[run.number] = run
        order = sorted(runs, key=lambda number: list(tabs).index(number) if number in tabs else len(tabs))
        current = None if project.run is None else runs[project.run.number]
        self._runs.take((runs[number] for number in order), current, project.view.step)

    def _restored_run(self, run: Run, tab: RunTab | None) -> Run:
        tab = tab or RunTab(run.number)
        tab = msgspec.structs.replace(tab, step=min(tab.step, len(run.history)))  # the run may have been kept earlier
        origin = self._session.origin(is_wanted=run.origin.is_wanted) if run.is_of_corpus else run.origin
        return replace(run, origin=origin, merges=None, **msgspec.structs.asdict(tab))

    def _take_part(self, part: Part) -> None:
        if not isinstance(part, tuple):
            self._counting.take_counts(part)
            return
        history, library = part
        for run in self._runs.all:
            if run.history is history and library is not None:
                run.set_library(library)
        self._runs.drop_places()

    def _end_reading(self) -> None:
        self.reading.forget()
        self._expected = None
        self._counting.take_counts(None)  # if they could not be read
        self._model.look_again()


def _own_settings(project: Project) -> tuple[object, ...]:
    settings, run = project.settings, project.run
    if run is None:
        return (settings,)
    of_run = msgspec.structs.replace(settings, training=run.config.to_dict(), **steps_of(run.counts))
    return (settings.max_word_length,) if settings == of_run else (settings,)


def _learned(run: Run) -> tuple[object, ...]:
    merges, counts = run.merge_count, run.counts
    return run.config, merges, run.history.symbols_after(merges), counts.total, len(counts), run.library_run


def content_of(project: Project) -> ProjectContent:
    corpus, view = project.corpus, project.view
    wanted = {run.number: run for run in project.runs if run.origin.is_wanted}
    tabs = {number: RunTab(number) for number in wanted} | {tab.number: tab for tab in view.tabs}
    compared = tuple((note.step, note.run) for note in view.notes if note.run is not None)
    return ProjectContent(
        project.settings, _own_settings(project),
        (corpus.text, corpus.encoding, corpus.mark, tuple(each.file for each in corpus.files)),
        {number: _learned(run) for number, run in wanted.items()},
        {number: (tabs[number].name, tabs[number].color, tabs[number].is_compared) for number in wanted},
        tuple(msgspec.structs.replace(note, run=None, owner=None) for note in view.notes), (compared, view.breakpoints),
        view.live_text,
    )  # fmt: skip


# What would be lost if the window closed now, or showed something else: what is in no file.


@dataclass(frozen=True, slots=True)
class UnsavedWork:
    text: bool = False  # whether the text of the corpus, or the list of its files, was changed
    merges: int = 0  # that the user asked for
    library_runs: int = 0
    notes: int = 0  # added to the bookmarks or removed from them
    others: bool = False  # whether settings, breakpoints, what is compared or the live text of a project have changed
    trains: bool = False  # whether a training that the user asked for is running
    is_file_another: bool = False  # whether another program has changed or removed the project's file
    is_text_missing: bool = False  # whether the file of the text is missing, and no project holds it

    @property
    def is_anything_made(self) -> bool:
        """Whether something would be lost that only the user can make again."""
        return self.text or self.notes > 0 or self.others or self.is_file_another or self.is_text_missing

    @property
    def is_any(self) -> bool:
        return self.is_anything_made or self.merges > 0 or self.library_runs > 0 or self.trains


def unsaved_work(session: Session, project: ProjectState, *, keeps_run: bool = False) -> UnsavedWork:
    """Return what would be lost; `keeps_run`: runs and notes stay, and only the corpus becomes another one."""
    if project.aside is not None:
        return project.aside.unsaved
    model, path, saved = session.model, session.document.path, project.saved_content
    is_training = not keeps_run and model.state is TrainerState.TRAINING and model.origin.is_wanted
    trains = is_training and model.run is not None and model.run.is_worth_asking
    if saved is not None:
        unsaved = _compared(session, project.content(), saved)
    else:
        left, notes = project.left_content, project.content().notes
        new_notes = len(notes) if left is None else len(set(notes) - set(left.notes))  # those left are in a file
        unsaved = UnsavedWork(
            text=session.document.is_modified,
            merges=0 if keeps_run else session.runs.unsaved_merges,
            library_runs=0 if keeps_run else session.runs.unsaved_library_runs,
            notes=0 if keeps_run else new_notes,
            others=project.path is not None,  # it was recovered: its file holds something older
        )
    return replace(
        unsaved, trains=trains, is_file_another=project.is_file_another,
        is_text_missing=project.path is None and path is not None and path in session.watch.gone,
    )  # fmt: skip


def _compared(session: Session, now: ProjectContent, saved: ProjectContent) -> UnsavedWork:
    new = [
        run for run in session.runs.all
        if run.is_worth_asking and run.number in now.runs and now.runs[run.number] != saved.runs.get(run.number)
    ]  # fmt: skip
    tabs = {number: tab for number, tab in now.tabs.items() if number in saved.tabs}
    tabs_before = {number: saved.tabs[number] for number in tabs}
    # A run trained meanwhile takes settings over as its own; they are still the same.
    are_other_settings = now.settings != saved.settings and now.own_settings != saved.own_settings
    return UnsavedWork(
        text=now.corpus != saved.corpus,
        merges=sum(len(run.history) for run in new if run.library_run is None),
        library_runs=sum(run.library_run is not None for run in new),
        notes=len({(note.step, note.owner) for note in {*now.notes} ^ {*saved.notes}}),
        others=not saved.runs.keys() <= now.runs.keys()  # one was closed
        or are_other_settings
        or (now.marks, now.live_text, tabs) != (saved.marks, saved.live_text, tabs_before),
    )
