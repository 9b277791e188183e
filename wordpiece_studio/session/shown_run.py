"""The run that the window shows: its progress, the step and the selection that all panes share, and queries about it.

It keeps the published part of the history, the *step* (the number of merges) and the *selection*. Moving in time only
changes a number: the history has all data about any step. `trainer_model.py` trains runs and queries the engine.

While a training continues, the candidates of a step are found beside it: a second engine starts at that step, from the
history alone, in a thread of its own, and is discarded with the answer. Without enough memory for it there are none.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QMetaMethod, QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.run import Candidates, Progress, Run, RunOrigin, Selection, TrainerState
from wordpiece_studio.system.memory import available_memory

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory

    CandidatesFinder = Callable[[MergeHistory, int, int, Callable[[], bool]], list[Candidate] | None]
    """See `candidates_at`; also returns None if there is not enough memory."""
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.training.history import MergeHistory


_WINDOW_SECONDS = 5.0
_MARGIN = 2
"""This multiple of the memory needed must be free, since the training keeps growing."""


class TrainingPace:
    """Tracks the time and the recent speed of a run, and when a report is due.

    Parameters
    ----------
    interval_seconds
        The shortest time between reports.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._next_report = 0.0
        self._samples: deque[tuple[int, float]] = deque()  # (merges, seconds of training), oldest first

    def begin_run(self) -> None:
        """Discard the previous run's data."""
        self._samples.clear()
        self._next_report = 0.0

    def note(self, merges: int, seconds: float) -> None:
        """Record that `merges` merges took `seconds` of training so far."""
        samples = self._samples
        samples.append((merges, seconds))
        while len(samples) > 2 and seconds - samples[0][1] > _WINDOW_SECONDS:
            samples.popleft()

    def take_turn(self) -> bool:
        """Return whether a report is due; if so, schedule the next one an interval later."""
        now = time.monotonic()
        if now < self._next_report:
            return False
        self._next_report = now + self._interval_seconds
        return True

    def progress(
        self, merges: int, vocabulary_size: int, symbols: int, config: TrainingConfig | None,
        sure_size: int | None = None,
    ) -> Progress:  # fmt: skip
        """Return the report for a run after `merges` merges.

        `sure_size` is the size certain to be reached (`training_job.sure_size`); None if any size is.
        """
        seconds = self._samples[-1][1] if self._samples else 0.0
        target = config.vocab_size if config is not None else None
        is_sure = sure_size is None or target is None or target <= max(sure_size, vocabulary_size)
        left = self._seconds_left(merges, vocabulary_size, seconds, config) if is_sure else None
        return Progress(merges, vocabulary_size, target, symbols, seconds, left, is_sure)

    def _seconds_left(
        self, merges: int, vocabulary_size: int, seconds: float, config: TrainingConfig | None
    ) -> float | None:
        if config is None:
            return None
        estimates: list[float] = []
        if config.max_seconds is not None:
            estimates.append(config.max_seconds - seconds)
        if pace := self._seconds_per_merge():
            if config.vocab_size is not None:
                estimates.append((config.vocab_size - vocabulary_size) * pace)
            if config.max_merges is not None:
                estimates.append((config.max_merges - merges) * pace)
        return max(0.0, min(estimates)) if estimates else None

    def _seconds_per_merge(self) -> float:
        """Return the recent pace; 0.0 if unknown."""
        if not self._samples:
            return 0.0
        (first_merges, first_seconds), (merges, seconds) = self._samples[0], self._samples[-1]
        if merges == first_merges:
            first_merges, first_seconds = 0, 0.0
        return (seconds - first_seconds) / (merges - first_merges) if merges > first_merges else 0.0


PROGRESS_INTERVAL_SECONDS = 0.05


class ShownRun(QObject):
    """The run, step and selection that all panes show.

    Signals
    -------
    merged(Merge)
        Once per merge, in strict order; `merge_count` already includes it.
    merges_appended(first, last)
        Once per batch, after its `merged`: indices into `history`, from 0, both inclusive.
    step_changed(int)
        The current step, "after k merges". After `merges_appended`, if the step follows the last merge.
    selection_changed(Selection | None), state_changed(TrainerState)
        The new value.
    progress_changed(Progress)
        At most 20 times a second during training, and once whenever it halts.
    failed(StudioError)
        The last command failed; after `state_changed`.
    run_reset()
        There is a new history object; `merge_count` and `step` are 0. `selection` is None, except after `replace`.
        Panes must start over.
    candidates_changed(Candidates)
        The answer to the latest `request_candidates`; not emitted if the step has changed since the request.
    """

    merged = Signal(object)
    merges_appended = Signal(object, object)
    step_changed = Signal(object)
    selection_changed = Signal(object)
    state_changed = Signal(object)
    progress_changed = Signal(object)
    failed = Signal(object)
    run_reset = Signal()
    candidates_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = TrainerState.IDLE
        self._current: Run | None = None
        self._next_origin = RunOrigin()  # of the run that is beginning
        self._step = 0
        self._is_held = False
        self._published = 0
        self._learned = 0  # learned by the worker, not all of it published yet
        self._selection: Selection | None = None
        self._is_closed = False
        self._merged_method = QMetaMethod.fromSignal(self.merged)
        self._pace = TrainingPace(PROGRESS_INTERVAL_SECONDS)

    # State.

    @property
    def state(self) -> TrainerState:
        """What the trainer is doing."""
        return self._state

    @property
    def run(self) -> Run | None:
        """The run shown; None if nothing has been trained yet."""
        return self._current

    @property
    def history(self) -> MergeHistory | None:
        """The merges; during training it may be longer than `merge_count`, the number announced."""
        return self._current.history if self._current is not None else None

    @property
    def merge_count(self) -> int:
        """Number of merges announced, which is also the last step."""
        return self._published

    @property
    def step(self) -> int:
        """The current step: a number of merges, 0 to `merge_count`."""
        return self._step

    @property
    def is_at_head(self) -> bool:
        """Whether the current step is the last one; if so, it follows a running training."""
        return self._step == self._published

    @property
    def selection(self) -> Selection | None:
        """The selection, shared by all panes."""
        return self._selection

    @property
    def counts(self) -> WordCounts | None:
        """The word counts that `history` was learned from."""
        return self._current.counts if self._current is not None else None

    @property
    def config(self) -> TrainingConfig | None:
        """The settings that `history` was learned with, including limits raised by `train_further`."""
        return self._current.config if self._current is not None else None

    @property
    def stop_reason(self) -> str | None:
        """Why the training ended: a stop rule's name, or "user"; None if it has not ended."""
        if self._current is None or self._state is TrainerState.TRAINING:
            return None
        return self._current.stop_reason

    @property
    def origin(self) -> RunOrigin:
        """Who asked for the run; for the one that is just beginning."""
        if self._state is TrainerState.TRAINING or self._current is None:
            return self._next_origin
        return self._current.origin

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is unusual about the corpus of a run started with `start`."""
        return self._current.notices if self._current is not None else ()

    @property
    def progress(self) -> Progress:
        """The progress of the training."""
        history = self.history
        return self._pace.progress(
            merges=self._published,
            vocabulary_size=history.vocabulary_size(self._published) if history is not None else 0,
            symbols=history.symbols_after(self._published) if history is not None else 0,
            config=self.config,
            sure_size=self._current.sure_size if self._current is not None else None,
        )

    def vocabulary_at(self, step: int) -> Vocabulary | None:
        """Return the vocabulary after `step` merges; None if nothing was trained."""
        return None if self.history is None else self.history.vocabulary(max(0, min(step, self._published)))

    def tokenizer_at(self, step: int) -> Tokenizer | None:
        """Return the tokenizer after `step` merges, with the pipeline of the counts; None if nothing was trained."""
        return None if self._current is None else self._current.tokenizer_at(max(0, min(step, self._published)))

    # Moving in time, and selecting.

    def seek(self, step: int) -> None:
        """Show the state after `step` merges, or the nearest step available."""
        nearest = self._nearest(step)
        self._is_held = False
        if nearest != self._step:
            self._step = nearest
            self.step_changed.emit(nearest)

    def look_again(self) -> None:
        """Emit `step_changed` again, because more is known about the step now."""
        self.step_changed.emit(self._step)

    def hold(self) -> None:
        """Stop following the last merge of a running training until `seek` is called."""
        self._is_held = self._state is TrainerState.TRAINING

    def previous_merge(self) -> None:
        self.seek(self._step - 1)

    def first(self) -> None:
        """Show step 0."""
        self.seek(0)

    def last(self) -> None:
        """Show the last step, and follow it during training."""
        self.seek(self._published)

    def set_selection(self, selection: Selection | None) -> None:
        """Set the selection; it stays None as long as nothing is trained."""
        if self.history is None:
            selection = None
        if selection != self._selection:
            self._selection = selection
            self.selection_changed.emit(selection)

    # What is kept of the run besides its merges.

    def note_saved(self) -> None:
        """Note that all merges are in a file of the user's now."""
        if self._current is not None:
            self._current.saved_merges = self._published

    def rename_corpus(self, name: str) -> None:
        self._set_origin(replace(self.origin, corpus_name=name))

    def _set_origin(self, origin: RunOrigin) -> None:
        self._next_origin = origin
        if self._current is not None:
            self._current.origin = origin

    # For subclasses, which train the run.

    def _nearest(self, step: int) -> int:
        return max(0, min(int(step), self._published))

    def _take_run(self, run: Run | None) -> None:
        had_step, had_selection, self._selection = self._step, self._selection, None
        self._set_run(run)
        self.run_reset.emit()
        if had_step:
            self.step_changed.emit(0)
        if had_selection is not None:
            self.selection_changed.emit(None)

    def _set_run(self, run: Run | None) -> None:
        """Switch to a run, or to none, with nothing published yet."""
        if self._current is not None:
            self._current.step = self._step
            if not self._current.is_compared:
                self._current.drop_tokenizers()
        self._current = run
        self._published = self._learned = self._step = 0
        self._pace.begin_run()

    def _publish(self, *, follows: bool = True) -> None:
        """Announce the merges learned since the last call; with `follows`, a step at the end stays at the end."""
        history, first, end = self.history, self._published, self._learned
        if history is None or end <= first:
            return
        self._published = end
        if self.isSignalConnected(self._merged_method):
            for index in range(first, end):
                self.merged.emit(history[index])
        if self._is_closed:  # by a listener
            return
        self.merges_appended.emit(first, end - 1)
        if follows and self._step == first and not self._is_held:
            self.seek(end)

    def _set_state(self, state: TrainerState) -> None:
        if state is not self._state:
            self._state = state
            self._is_held = False
            self.state_changed.emit(state)


@dataclass(frozen=True, slots=True)
class _Request:
    history: MergeHistory
    step: int
    limit: int


class CandidatesBeside(QObject):
    """Finds candidates, one request at a time: the latest wins.

    Signals
    -------
    found(Candidates)
        The answer to the latest request, even if none are available; not emitted after `drop`.
    """

    found = Signal(object)

    def __init__(self, finder: CandidatesFinder, parent: QObject) -> None:
        super().__init__(parent)
        self._finder = finder
        self._step = 0
        self._job = BackgroundJob(self._find, "The merge candidates cannot be found", self)
        self._job.finished.connect(self.found)
        self._job.failed.connect(self._on_job_failed)

    def find(self, history: MergeHistory, step: int, limit: int) -> None:
        """Request the best `limit` pairs after `step` merges."""
        self._step = step
        self._job.begin(_Request(history, step, limit))

    def drop(self) -> None:
        """Cancel the request."""
        self._job.stop()

    def close(self) -> None:
        """End the thread and wait for it."""
        self._job.close()

    def _find(self, request: _Request, stop: threading.Event, _report: Report) -> Candidates:
        """Do the work; in the thread."""
        found = self._finder(request.history, request.step, request.limit, stop.is_set)
        return Candidates(request.step, tuple(found or ()), available=found is not None)

    def _on_job_failed(self, _error: StudioError) -> None:
        self.found.emit(Candidates(self._step, (), available=False))


def find_if_memory_allows(
    history: MergeHistory, step: int, limit: int, should_stop: Callable[[], bool]
) -> list[Candidate] | None:
    """Return the candidates, or None if there is not enough memory."""
    from wordpiece_studio.training.trainer import candidates_at, candidates_memory  # late: the window opens first

    free = available_memory()
    if free is not None and _MARGIN * candidates_memory(history) > free:
        return None
    return candidates_at(history, step, limit, should_stop)
