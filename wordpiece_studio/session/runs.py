"""The runs of a session, of which one is shown, and those that are compared with it.

Every training adds a run; a preview makes room for the next one. Runs are compared at the steps at which their
vocabularies are nearest in size, and bookmarked steps as they are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.evaluation.differences import Divergence, VocabularyOverlap, WordsToCompare, divergence, overlap
from wordpiece_studio.evaluation.evaluating import named_tokenizers
from wordpiece_studio.evaluation.held_out import Watch, texts_by_name
from wordpiece_studio.session.commands import Command
from wordpiece_studio.session.task import Task, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from PySide6.QtGui import QUndoStack

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.step_marks import Bookmarks
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.storage.view import Bookmark
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory


COLORS = 8  # how many colors with their line styles there are; those of further runs begin again
MOST_SHOWN = 4  # runs and steps drawn one below the other, with the one shown; further ones are named
KEPT_BYTES = 40_000_000  # for the places of the runs that are not shown, those shown last first
_FEW_BYTES = 1_000_000
_PART_SECONDS = 0.25  # between two times that the words found so far are shown


class Runs(QObject):
    changed = Signal()  # a run was added, changed or closed, or another one is shown
    replaced = Signal()  # another project is about to be shown, with runs of its own
    chosen = Signal(object)  # a run that was there already is about to be shown
    shown = Signal(object)  # it is shown now
    numbered = Signal(object)  # a run is about to have this number, which may have been that of an unrelated one

    def __init__(self, model: TrainerModel, undo_stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.undo_stack = undo_stack
        self.all: tuple[Run, ...] = ()  # in the order of their tabs
        self._shown: list[Run] = []  # those shown last are last
        failure = "The words that each merge changed cannot be found"
        self.places = Task(_with_places, failure, self, on_answer=self._look_at_places)
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def current(self) -> Run | None:
        return self._model.run

    @property
    def compared(self) -> tuple[Run, ...]:
        return tuple(run for run in self.all if run.is_compared)

    @property
    def unsaved_merges(self) -> int:
        """The number of merges, of all runs of ours, that the user asked for and did not save."""
        return sum(len(run.history) for run in self.all if run.is_unsaved and run.library_run is None)

    @property
    def unsaved_library_runs(self) -> int:
        return sum(run.is_unsaved for run in self.all if run.library_run is not None)

    def trained_on(self, counts: WordCounts, config: TrainingConfig) -> Run | None:
        """Return the first run that went to its end with these words and settings, if there is one."""
        ended = (run for run in self.all if run.stop_reason not in (None, "user"))
        return next((run for run in ended if run.is_trained_on(counts, config)), None)

    # What the user does.

    def show(self, run: Run) -> None:
        """Show a run where it was left; a training in progress is canceled, and what it has learned is its run.

        While what comes next is hidden, it is shown no further than the run that is left: it may have the same merges.
        """
        if run is not self.current:
            self.chosen.emit(run)
            self._model.open_run(run, self._model.step if self._model.hides_future else run.step)
            self.shown.emit(run)

    def add(self, run: Run) -> None:
        """Add a run that was not trained by the model, and show it unless a training is in progress."""
        if self._model.is_busy:
            self._add(run)
            self.changed.emit()
        else:
            self.show(run)

    def show_next(self, by: int = 1) -> None:
        if self.current is not None:
            self.show(self.all[(self.all.index(self.current) + by) % len(self.all)])

    def keep(self, run: Run) -> None:
        """Keep a run when another one is trained, and treat it as one that the user asked for."""
        if not (run.is_kept and run.origin.is_wanted):
            self._keep_changed(run)

    def keep_all(self) -> None:
        for run in self.all:
            if not run.is_kept:
                self.keep(run)

    def rename(self, run: Run, name: str) -> None:
        """Call a run by another name, and keep it; an empty name is what tells it from the others."""
        run.name = " ".join(name.split())
        self._keep_changed(run)

    def recolor(self, run: Run, color: int) -> None:
        run.color = color % COLORS
        self._keep_changed(run)

    def set_compared(self, run: Run, is_compared: bool) -> None:
        """Compare a run with others or not, and keep it; the colors of compared runs differ as far as they suffice.

        The current run is always compared with the others, so it still is when another one becomes the current one.
        """
        self._mark(run, is_compared)
        if run is not self.current:
            self._mark_current()
        self._keep_changed(run)

    def _mark_current(self) -> None:
        """Compare the current run if any other one is compared, else do not."""
        if self.current is not None:
            self._mark(self.current, any(each is not self.current for each in self.compared))

    def _mark(self, run: Run, is_compared: bool) -> None:
        taken = {each.color for each in self.compared if each is not run}
        if is_compared and run.color in taken:
            run.color = self._free_color(run.color, taken)
        run.is_compared = is_compared
        if not is_compared and run is not self.current:
            run.drop_tokenizers()

    def compare_all(self, is_wanted: bool) -> None:
        for run in self.all:
            self._mark(run, is_wanted)
        self._keep_changed(*self.all)

    def close(self, run: Run) -> None:
        place = self.all.index(run)
        self.undo_stack.push(Command(lambda: self._remove([run]), lambda: self._insert(place, run)))

    # What becomes of the corpus and the project.

    def discard_previews(self) -> None:
        self._remove([run for run in self.all if not run.origin.is_wanted])

    def drop_preview(self) -> None:
        self._remove([run for run in self.all if not run.is_kept])

    def rename_corpus(self, old: str, new: str) -> None:
        """Note that the corpus has another name; runs of other corpora keep theirs."""
        if self._model.origin.corpus_name == old:
            self._model.rename_corpus(new)
        for run in self.all:
            if run.origin.corpus_name == old:
                run.origin = replace(run.origin, corpus_name=new)

    def take(self, runs: Iterable[Run], current: Run | None, step: int) -> None:
        self.replaced.emit()
        self.all = tuple(runs)
        if current is None:
            self._model.forget()
        else:
            self._model.open_run(current, step)
        self.changed.emit()

    def note_saved(self, saved: Iterable[Run]) -> None:
        """Note that these runs, with the merges that they had then, are in a file of the user's."""
        merges = {run.history: run.merge_count for run in saved}
        for run in self.all:
            run.saved_merges = merges.get(run.history, run.saved_merges)

    # The places of merges.

    def drop_places(self) -> None:
        """Drop the places of the runs not shown for longest, as many as there is no room for."""
        room = KEPT_BYTES
        for run in [*reversed(self._shown), *(run for run in self.all if run not in self._shown)]:
            if run is not self.current:
                room -= run.history.bytes_of_places
                if room < 0:
                    run.history.drop_places(run.counts)

    def _note_shown(self, run: Run) -> None:
        self._shown = [each for each in self._shown if each in self.all and each is not run] + [run]
        self.drop_places()
        if run.history.is_read and not run.history.is_whole:
            self.places.run(run.history)

    def _look_at_places(self, history: MergeHistory) -> None:
        self.places.forget()
        if history is self._model.history:
            self._model.look_again()

    # Internal changes.

    def _keep_changed(self, *changed: Run) -> None:
        for run in changed:
            run.is_kept = True
            run.origin = replace(run.origin, is_wanted=True)
        self.changed.emit()

    def _remove(self, gone: list[Run]) -> None:
        current = self.current
        place = self.all.index(current) if current in self.all else 0
        before = [run for run in self.all[:place] if run not in gone]
        self.all = tuple(run for run in self.all if run not in gone)
        if current is None or current not in gone:
            if any(run.is_compared for run in gone):
                self._mark_current()
            self.changed.emit()
        elif self.all:
            self.show(self.all[min(len(before), len(self.all) - 1)])
        else:
            self._model.forget()
        for run in gone:  # which undo may bring back
            if run.history.bytes_of_places > _FEW_BYTES:
                run.history.drop_places(run.counts)

    def _insert(self, place: int, run: Run) -> None:
        if any(each.number == run.number for each in self.all):
            run.number = self._free_number()
            self.numbered.emit(run.number)
        if run.is_compared and not self.compared and self.current is not None:
            self._mark(self.current, True)  # as it was before the last run that it was compared with was closed
        self.all = (*self.all[:place], run, *self.all[place:])
        self.show(run)

    def _on_model_run_reset(self) -> None:
        run = self._model.run
        if run is not None:
            if run not in self.all:
                self._add(run)
            self._note_shown(run)
        self.changed.emit()

    def _add(self, run: Run) -> None:
        gone = [each for each in self.all if _makes_room(each, run)]
        if gone:
            run.number, run.color = gone[0].number, gone[0].color
            self.all = tuple(run if each is gone[0] else each for each in self.all if each not in gone[1:])
        else:
            run.number = self._free_number()
            run.color = self._free_color(run.number, set())
            self.all += (run,)
        if not gone or gone[0].origin.corpus_name != run.origin.corpus_name:
            self.numbered.emit(run.number)

    def _free_color(self, first: int, taken: set[int]) -> int:
        used = {each.color for each in self.all}
        colors = [(first + by) % COLORS for by in range(COLORS)]
        untaken = [color for color in colors if color not in taken] or colors
        return next((color for color in untaken if color not in used), untaken[0])

    def _free_number(self) -> int:
        used = {each.number for each in self.all}
        return next(number for number in range(len(used) + 1) if number not in used)


def _makes_room(old: Run, new: Run) -> bool:
    """Return whether a run that was not asked for is replaced by a new one: a preview by the next preview, say."""
    if old.origin.is_wanted:
        return False
    is_other_corpus = old.origin.corpus_name != new.origin.corpus_name
    return is_other_corpus or not (old.is_kept or new.is_kept) or old.is_trained_on(new.counts, new.config)


def _with_places(history: MergeHistory) -> MergeHistory:
    history.places.prepare()
    return history


@dataclass(frozen=True, slots=True)
class ComparedStep:
    """A run at the step that belongs to the one that is shown, or at that of a bookmark."""

    run: Run
    step: int
    is_at_end: bool = False  # its vocabulary never gets as large as the one that is shown
    bookmark: Bookmark | None = None
    is_longest_first: bool = False  # it splits words by the longest token first, not by its merges

    @property
    def label(self) -> str:
        return self.run.letter if self.bookmark is None else f"{self.run.letter}@{self.step}"

    @property
    def tokenizer(self) -> Tokenizer:
        return self.run.tokenizer_at(self.step, longest_first=self.is_longest_first)


class Comparison(QObject):
    """Aligns the compared runs by the size of their vocabulary; bookmarked steps stay where they are.

    With `is_longest_first`, texts are also split by the longest token first, where the run shown goes by merges.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, runs: Runs, bookmarks: Bookmarks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.runs = runs
        self.is_longest_first = False
        self.bookmarks = bookmarks
        runs.changed.connect(self.changed)
        bookmarks.changed.connect(self._on_bookmarks_changed)

    def set_longest_first(self, is_wanted: bool) -> None:
        if is_wanted != self.is_longest_first:
            self.is_longest_first = is_wanted
            self.changed.emit()

    @property
    def others(self) -> tuple[Run, ...]:
        """The runs compared with the one that is shown; none while its future is hidden, which they may tell."""
        others = () if self._model.hides_future else self.runs.compared
        return tuple(run for run in others if run is not self.runs.current)

    @property
    def has_any(self) -> bool:
        return bool(self.others or self.bookmarked())

    @property
    def size(self) -> int:
        history = self._model.history
        return 0 if history is None else history.vocabulary_size(self._model.step)

    def aligned(self) -> list[ComparedStep]:
        """Return `others`, each at its largest vocabulary that is no larger than the one shown."""
        return [ComparedStep(run, *step_of_size(run.history, self.size)) for run in self.others]

    def bookmarked(self) -> list[ComparedStep]:
        """Return the bookmarked steps that are compared, as far as their runs are there and have them."""
        runs = {run.number: run for run in self.runs.all}
        notes = () if self._model.hides_future else self.bookmarks.records
        found = [(runs[note.run], note) for note in notes if note.run in runs]
        return [
            ComparedStep(run, note.step, bookmark=note) for run, note in found if self.bookmarks.is_of_run(note, run)
        ]

    def _on_bookmarks_changed(self) -> None:
        for each in self.bookmarked():
            self.runs.keep(each.run)
        self.changed.emit()

    def beside(self) -> list[ComparedStep]:
        return [*self.aligned(), *self.bookmarked()]

    @property
    def shown(self) -> ComparedStep:
        assert self.runs.current is not None
        return ComparedStep(self.runs.current, self._model.step)

    def steps(self) -> list[ComparedStep]:
        """Return the step that is shown and all beside it in the order of tabs; nothing without others."""
        return self._together(self.beside())

    def texts(self) -> list[ComparedStep]:
        """Return what splits a text: `steps`, and the one that is shown by the longest token first too."""
        run = self.runs.current
        if run is None or not (self.is_longest_first and run.can_cut_longest_first):
            return self.steps()
        return self._together([replace(self.shown, is_longest_first=True), *self.beside()])

    def lanes(self) -> list[ComparedStep]:
        """Return the first of `steps`, as many as are drawn; the one that is shown is always among them."""
        return self._together(self.beside()[: MOST_SHOWN - 1])

    def _together(self, others: Sequence[ComparedStep]) -> list[ComparedStep]:
        steps = [self.shown, *others] if others and self.runs.current is not None else []
        return sorted(steps, key=lambda each: self.runs.all.index(each.run))

    def shown_step(self, run: Run, step: int) -> int:
        """Return the step of the run that is shown at which it is compared with a step of another one."""
        history = self._model.history
        if history is None or run is self.runs.current:
            return step
        return step_of_size(history, run.history.vocabulary_size(step))[0]


def step_of_size(history: MergeHistory, size: int) -> tuple[int, bool]:
    """Return the last step with at most `size` tokens, or 0, and whether the history ends before that size."""
    sizes = history.vocabulary_sizes()
    step = int(np.searchsorted(sizes, size, side="right"))
    return step, step == len(sizes) and history.vocabulary_size(step) < size


# What is found out of runs and steps that are compared, beside the window. Every tokenizer is that of its users:
# longest match, by its merges, or by the library that trained it.


@dataclass(frozen=True, slots=True)
class DifferentWords:
    """The words that some steps split differently, the most frequent first: each with its count, and all splits."""

    rows: list[tuple[str, int, list[tuple[str, ...]]]]
    compared: int  # of the distinct words, as far as they are known
    distinct_words: int
    total: int  # with repetitions


def word_differences(
    counts: WordCounts, _libraries: object, *steps: ComparedStep, should_stop: Callable[[], bool]
) -> Generator[DifferentWords, None, DifferentWords]:
    """Find the words that not all steps split alike; yield what there is every now and then."""
    turn = Turn()

    def stops() -> bool:
        turn.give()
        return should_stop()

    watch = Watch(None, stops)
    encoders = list(named_tokenizers([each.run.new_tokenizer(each.step) for each in steps]).values())
    words = WordsToCompare.of(encoders, texts_by_name(counts, ())[""], watch)
    rows: list[tuple[str, int, list[tuple[str, ...]]]] = []
    found, last = DifferentWords(rows, 0, len(words.counts), words.counts.total), 0.0
    for compared, part in words.differing(watch):
        rows += part
        found = replace(found, compared=compared)
        if rows and time.monotonic() - last > _PART_SECONDS:
            last = time.monotonic()
            yield replace(found, rows=rows.copy())
    return found


@dataclass(frozen=True, slots=True)
class RunDivergence:
    shown: Run
    other: Run
    divergence: Divergence | None = None  # the first merge in which they differ, if there is one that is known
    is_known: bool = True  # the merges of both are known

    @property
    def step(self) -> int | None:
        """The step at which they diverge; None if they do not, or if it is not known."""
        return None if self.divergence is None else self.divergence.step


def divergences(_merges: object, *pairs: tuple[Run, Run]) -> tuple[RunDivergence, ...]:
    found = []
    for first, other in pairs:
        is_known = first.history.has_steps and other.history.has_steps
        apart = divergence(first.history, other.history) if is_known else None
        found.append(RunDivergence(first, other, apart, is_known))
    return tuple(found)


def overlaps(shown: ComparedStep, *others: ComparedStep) -> tuple[VocabularyOverlap, ...]:
    """Return what the vocabulary of a step has in common with that of each of the others."""
    first, *rest = (each.run.new_tokenizer(each.step) for each in (shown, *others))
    return tuple(overlap(first, other) for other in rest)
