"""The runs of a session, of which one is shown, and those that are compared with it.

Every training adds a run; a preview makes room for the next one. Runs are compared at the steps at which their
vocabularies are nearest in size, and bookmarked steps as they are. The places of merges are kept in memory for the runs
shown last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.commands import Command

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from PySide6.QtGui import QUndoStack

    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.step_marks import Bookmark, Bookmarks
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectRun
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.history import MergeHistory


COLORS = 8
"""How many colors with their line styles there are; those of further runs begin again."""
MOST_SHOWN = 4
"""Runs and steps that are drawn one below the other, the one that is shown included; further ones are named."""
KEPT_BYTES = 40_000_000
"""What the places of the runs that are not shown may take, those shown last first; the rest are dropped."""
_FEW_BYTES = 1_000_000


class Runs(QObject):
    """Follows the model, which trains and shows one run at a time.

    Signals
    -------
    changed()
        A run was added, changed or closed, or another one is shown.
    replaced()
        Another project is about to be shown, with runs of its own.
    chosen(Run), shown(Run)
        A run that was there already is about to be shown; it is shown now.
    """

    changed = Signal()
    replaced = Signal()
    chosen = Signal(object)
    shown = Signal(object)

    def __init__(self, model: TrainerModel, undo_stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._undo_stack = undo_stack
        self._all: list[Run] = []
        self._shown: list[Run] = []  # those shown last are last
        self._job = BackgroundJob(_with_places, "The words that each merge changed cannot be found", self)
        self._job.finished.connect(self._on_job_finished)
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def all(self) -> tuple[Run, ...]:
        """The runs in the order of their tabs."""
        return tuple(self._all)

    @property
    def current(self) -> Run | None:
        """The run shown; None if nothing has been trained yet."""
        return self._model.run

    @property
    def compared(self) -> tuple[Run, ...]:
        return tuple(run for run in self._all if run.is_compared)

    @property
    def unsaved_merges(self) -> int:
        """The number of merges, of all runs of ours, that the user asked for and did not save."""
        return sum(len(run.history) for run in self._all if run.is_unsaved and run.library_run is None)

    @property
    def unsaved_library_runs(self) -> int:
        """The number of trainings by other libraries that the user did not save."""
        return sum(run.is_unsaved for run in self._all if run.library_run is not None)

    def close_job(self) -> None:
        """Wait for the thread that makes places again to end."""
        self._job.close()

    # What the user does.

    def show(self, run: Run) -> None:
        """Show a run where it was left; a training in progress is canceled, and what it has learned is its run."""
        if run is not self.current:
            self.chosen.emit(run)
            self._model.open_run(run, run.step)
            self.shown.emit(run)

    def add(self, run: Run) -> None:
        """Add a run that was not trained by the model, and show it unless a training is in progress."""
        if self._model.is_busy:
            self._add(run)
            self.changed.emit()
        else:
            self.show(run)

    def show_next(self, by: int = 1) -> None:
        """Show the run `by` places further on, beginning again at the end."""
        if self.current is not None:
            self.show(self._all[(self._all.index(self.current) + by) % len(self._all)])

    def keep(self, run: Run) -> None:
        """Keep a run when another one is trained, and treat it as one that the user asked for."""
        if not (run.is_kept and run.origin.is_wanted):
            run.is_kept = True
            run.origin = replace(run.origin, is_automatic=False, is_wanted=True)
            self.changed.emit()

    def keep_all(self) -> None:
        """Keep the preview, because all runs are saved."""
        for run in self._all:
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
        """Compare a run with others or not, and keep it; the colors of compared runs differ as far as they suffice."""
        taken = {each.color for each in self.compared if each is not run}
        if is_compared and run.color in taken:
            run.color = self._free_color(run.color, taken)
        run.is_compared = is_compared
        if not is_compared and run is not self.current:
            run.drop_tokenizers()
        self._keep_changed(run)

    def close(self, run: Run) -> None:
        """Remove a run, which can be undone."""
        place = self._all.index(run)
        self._undo_stack.push(Command(lambda: self._remove([run]), lambda: self._insert(place, run)))

    # What becomes of the corpus and the project.

    def drop_unasked(self) -> None:
        """Remove the runs that the user did not ask for."""
        self._remove([run for run in self._all if not run.origin.is_wanted])

    def drop_preview(self) -> None:
        self._remove([run for run in self._all if not run.is_kept])

    def rename_corpus(self, old: str, new: str) -> None:
        """Note that the corpus has another name; runs of other corpora keep theirs."""
        if self._model.origin.corpus_name == old:
            self._model.rename_corpus(new)
        for run in self._all:
            if run.origin.corpus_name == old:
                run.origin = replace(run.origin, corpus_name=new)

    def take(self, runs: Iterable[Run], current: Run | None, step: int) -> None:
        """Replace all runs, and show one of them at a step."""
        self.replaced.emit()
        self._all = list(runs)
        if current is None:
            self._model.forget()
        else:
            self._model.open_run(current, step)
        self.changed.emit()

    def note_saved(self, saved: Iterable[ProjectRun]) -> None:
        """Note that these runs, with the merges that they had then, are in a file of the user's now."""
        merges = {run.history: run.merge_count for run in saved}
        for run in self._all:
            run.saved_merges = merges.get(run.history, run.saved_merges)

    # The places of merges.

    def drop_places(self) -> None:
        """Drop the places of the runs not shown for longest, as many as there is no room for."""
        room = KEPT_BYTES
        for run in [*reversed(self._shown), *(run for run in self._all if run not in self._shown)]:
            if run is not self.current:
                room -= run.history.bytes_of_places
                if room < 0:
                    run.history.drop_places(run.counts)

    def _note_shown(self, run: Run) -> None:
        """Note which run is shown, and make its places again if they were dropped."""
        self._shown = [each for each in self._shown if each in self._all and each is not run] + [run]
        self.drop_places()
        if run.history.is_read and not run.history.is_whole:
            self._job.begin(run.history)

    def _on_job_finished(self, history: MergeHistory) -> None:
        if history is self._model.history:
            self._model.look_again()

    # Internal changes.

    def _keep_changed(self, run: Run) -> None:
        self.keep(run)
        self.changed.emit()

    def _remove(self, gone: list[Run]) -> None:
        """Remove runs; if one of them was shown, its neighbor is shown, or nothing."""
        current = self.current
        place = self._all.index(current) if current in self._all else 0
        before = [run for run in self._all[:place] if run not in gone]
        self._all = [run for run in self._all if run not in gone]
        if current is None or current not in gone:
            self.changed.emit()
        elif self._all:
            self.show(self._all[min(len(before), len(self._all) - 1)])
        else:
            self._model.forget()
        for run in gone:  # which undo may bring back
            if run.history.bytes_of_places > _FEW_BYTES:
                run.history.drop_places(run.counts)

    def _insert(self, place: int, run: Run) -> None:
        """Bring a run back that was removed."""
        if any(each.number == run.number for each in self._all):
            run.number = self._free_number()
        self._all.insert(place, run)
        self.show(run)

    def _on_model_run_reset(self) -> None:
        run = self._model.run
        if run is not None and run not in self._all:
            self._add(run)
        if run is not None:
            self._note_shown(run)
        self.changed.emit()

    def _add(self, run: Run) -> None:
        gone = [each for each in self._all if _makes_room(each, run)]
        if gone:
            place, run.number, run.color = self._all.index(gone[0]), gone[0].number, gone[0].color
            self._all[place] = run
            self._all = [each for each in self._all if each not in gone]
        else:
            run.number = self._free_number()
            run.color = self._free_color(run.number, set())
            self._all.append(run)

    def _free_color(self, first: int, taken: set[int]) -> int:
        """Return the first color that no run has, else one that is not `taken`, beginning at `first`."""
        used = {each.color for each in self._all}
        colors = [(first + by) % COLORS for by in range(COLORS)]
        untaken = [color for color in colors if color not in taken] or colors
        return next((color for color in untaken if color not in used), untaken[0])

    def _free_number(self) -> int:
        used = {each.number for each in self._all}
        return next(number for number in range(len(used) + 1) if number not in used)


def _makes_room(old: Run, new: Run) -> bool:
    """Return whether a run that was not asked for is replaced by a new one: a preview by the next preview, say."""
    if old.origin.is_wanted:
        return False
    is_other_corpus = old.origin.corpus_name != new.origin.corpus_name
    return is_other_corpus or not (old.is_kept or new.is_kept) or old.is_trained_on(new.counts, new.config)


def _with_places(history: MergeHistory, _stop: threading.Event, _report: Report) -> MergeHistory:
    history.segmentations.prepare()
    return history


@dataclass(frozen=True, slots=True)
class ComparedStep:
    """A run at the step that belongs to the one that is shown, or at that of a bookmark.

    `is_at_end`: its vocabulary never gets as large as the one that is shown. `is_longest_first`: it cuts words by the
    longest token first, not by its merges.
    """

    run: Run
    step: int
    is_at_end: bool = False
    bookmark: Bookmark | None = None
    is_longest_first: bool = False

    @property
    def label(self) -> str:
        """The letter of the run, with the step if that is bookmarked: ``"A@12"``."""
        return self.run.letter if self.bookmark is None else f"{self.run.letter}@{self.step}"

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the run at the step, with the pipeline of its words."""
        return self.run.tokenizer_at(self.step, longest_first=self.is_longest_first)


class Comparison(QObject):
    """Aligns the compared runs by the size of their vocabulary; bookmarked steps stay where they are.

    Signals
    -------
    changed()
        Other runs or steps are compared, or one of them has changed.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, runs: Runs, bookmarks: Bookmarks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._runs = runs
        self._bookmarks = bookmarks
        self._is_longest_first = False
        runs.changed.connect(self.changed)
        bookmarks.changed.connect(self.changed)
        bookmarks.run_compared.connect(runs.keep)

    @property
    def runs(self) -> Runs:
        return self._runs

    @property
    def is_longest_first(self) -> bool:
        """Whether texts are also cut by the longest token first, where the run shown goes by merges."""
        return self._is_longest_first

    def set_longest_first(self, is_wanted: bool) -> None:
        """Cut texts by the longest token first, too, or no longer."""
        if is_wanted != self._is_longest_first:
            self._is_longest_first = is_wanted
            self.changed.emit()

    @property
    def others(self) -> tuple[Run, ...]:
        return tuple(run for run in self._runs.compared if run is not self._runs.current)

    @property
    def size(self) -> int:
        """The size of the vocabulary at the step shown; 0 if nothing was trained."""
        history = self._model.history
        return 0 if history is None else history.vocabulary_size(self._model.step)

    def aligned(self) -> list[ComparedStep]:
        """Return `others`, each at its largest vocabulary that is no larger than the one shown."""
        return [ComparedStep(run, *step_of_size(run.history, self.size)) for run in self.others]

    def bookmarked(self) -> list[ComparedStep]:
        """Return the bookmarked steps that are compared, as far as their runs are there and have them."""
        runs = {run.number: run for run in self._runs.all}
        found = [(runs[note.run], note) for note in self._bookmarks.notes if note.run in runs]
        return [
            ComparedStep(run, note.step, bookmark=note) for run, note in found if self._bookmarks.is_of_run(note, run)
        ]

    def beside(self) -> list[ComparedStep]:
        return [*self.aligned(), *self.bookmarked()]

    def texts(self) -> list[ComparedStep]:
        """Return what cuts a text otherwise than the step shown: `beside`, and that step by the longest token first."""
        run = self._runs.current
        if run is None or not (self._is_longest_first and run.can_cut_longest_first):
            return self.beside()
        return [ComparedStep(run, self._model.step, is_longest_first=True), *self.beside()]

    def lanes(self) -> list[ComparedStep]:
        """Return the run that is shown and the first ones beside it in the order of tabs; nothing without others."""
        current, others = self._runs.current, self.beside()[: MOST_SHOWN - 1]
        if current is None or not others:
            return []
        lanes = [ComparedStep(current, self._model.step), *others]
        return sorted(lanes, key=lambda lane: self._runs.all.index(lane.run))

    def shown_step(self, run: Run, step: int) -> int:
        """Return the step of the run that is shown at which it is compared with a step of another one."""
        history = self._model.history
        if history is None or run is self._runs.current:
            return step
        return step_of_size(history, run.history.vocabulary_size(step))[0]


def step_of_size(history: MergeHistory, size: int) -> tuple[int, bool]:
    """Return the last step with at most `size` tokens, or 0, and whether the history ends before that size."""
    sizes = history.vocabulary_sizes()
    step = int(np.searchsorted(sizes, size, side="right"))
    return step, step == len(sizes) and history.vocabulary_size(step) < size
