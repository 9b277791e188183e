"""The observable trainer: the only way for panes to train, and the run, step and selection that all of them show.

It lives in the window's thread and owns the worker thread, in which the engine lives (`training_job.py`). Moving in
time only changes a number, the *step*: the history has all data about any step.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import SIGNAL, QCoreApplication, QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.session.training_job import (
    Candidates,
    Progress,
    Trainers,
    TrainerState,
    candidates_beside,
    default_trainer,
)
from wordpiece_studio.storage.project.contents import Run, RunOrigin

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.training_job import Halt, TrainerFactory
    from wordpiece_studio.storage.view import Selection
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory

BATCHES_IN_FLIGHT = 4  # the most batches that may wait for the window before the worker waits for it
PUBLISH_INTERVAL_MS = 16
TOY_WORDS = 20  # distinct ones, as many as a table shows at once
PROGRESS_INTERVAL_SECONDS = 0.05
_WINDOW_SECONDS = 5.0
_FAILURE = "The vocabulary cannot be trained"


class TrainingPace:
    def __init__(self) -> None:
        self._next_report = 0.0
        self._samples: deque[tuple[int, float]] = deque()  # (merges, seconds of training), oldest first

    def note(self, merges: int, seconds: float) -> None:
        samples = self._samples
        samples.append((merges, seconds))
        while len(samples) > 2 and seconds - samples[0][1] > _WINDOW_SECONDS:
            samples.popleft()

    def take_turn(self) -> bool:
        """Return whether a report is due; if so, schedule the next one an interval later."""
        now = time.monotonic()
        if now < self._next_report:
            return False
        self._next_report = now + PROGRESS_INTERVAL_SECONDS
        return True

    @property
    def seconds(self) -> float:
        return self._samples[-1][1] if self._samples else 0.0

    def seconds_left(self, merges: int, vocabulary_size: int, config: TrainingConfig) -> float | None:
        """Return how long it takes until a limit is met, at the recent pace; None if that is not known."""
        estimates: list[float] = []
        if config.max_seconds is not None:
            estimates.append(config.max_seconds - self.seconds)
        if pace := self._seconds_per_merge():
            if config.vocab_size is not None:
                estimates.append((config.vocab_size - vocabulary_size) * pace)
            if config.max_merges is not None:
                estimates.append((config.max_merges - merges) * pace)
        return max(0.0, min(estimates)) if estimates else None

    def _seconds_per_merge(self) -> float:
        if not self._samples:
            return 0.0
        (first_merges, first_seconds), (merges, seconds) = self._samples[0], self._samples[-1]
        if merges == first_merges:
            first_merges, first_seconds = 0, 0.0
        return (seconds - first_seconds) / (merges - first_merges) if merges > first_merges else 0.0


class TrainerModel(QObject):
    """The training, and the run, step and selection that the window shows.

    All commands return at once. Commands that make no sense in the present state do nothing.
    """

    merged = Signal(object)  # each merge, in order; `merge_count` already includes it
    merges_appended = Signal(object, object)  # after some: the first and the last index into `history`, from 0
    step_changed = Signal(object)  # after `merges_appended`, if the step follows the last merge
    selection_changed = Signal(object)
    side_changed = Signal(object)  # `is_after`
    order_changed = Signal()  # of words
    state_changed = Signal(object)
    progress_changed = Signal(object)  # at most 20 times a second, and whenever a training halts
    failed = Signal(object)  # the last command; after `state_changed`
    run_reset = Signal()  # another history, at step 0, with no selection, except after `replace`: start over
    candidates_changed = Signal(object)

    def __init__(
        self, parent: QObject | None = None, *, trainer_factory: TrainerFactory = default_trainer,
        candidates_finder: Callable[..., Candidates] = candidates_beside,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        application = QCoreApplication.instance()
        if application is not None:  # before the tasks, which wait for each other
            application.aboutToQuit.connect(self.close)
        self.state = TrainerState.IDLE
        self.run: Run | None = None
        self.merge_count = 0  # announced, which is also the last step
        self.step = 0
        self.is_after = False  # see `words_step`
        self.text_order: bool | None = None  # see `in_text_order`
        self.selection: Selection | None = None
        self.candidates: Candidates | None = None  # the latest answer to `request_candidates` for this run
        self._next_origin = RunOrigin()  # of the run that is beginning
        self._past: MergeHistory | None = None  # of the run, up to the step, while `hides_future`
        self.hides_future = False
        self._is_held = False
        self._learned = 0  # learned by the worker, not all of it published yet
        self._is_closed = False
        self._pace = TrainingPace()
        self._ended_runs = 0
        self._gate = threading.Semaphore(0)
        self._unreleased = 0
        self._has_begun = False  # the worker is ready
        self._intent: Literal["train", "pause", "stop"] = "train"
        self._missed: int | None = None  # the chosen step, if no replacement has gone beyond it since
        self._candidates_step = 0
        self._publish_timer = single_shot(self, self._publish_in_turn, PUBLISH_INTERVAL_MS)

        self._trainers = trainers = Trainers(trainer_factory)
        thread = ThreadPoolExecutor(1, "training")

        def task(work: Callable[..., object], **outcomes: Any) -> Task:
            return Task(work, _FAILURE, self, thread=thread, **outcomes)

        self._training = task(trainers.train, on_part=self._take_part, on_answer=self._take_halt, on_error=self._fail)
        self._stepping = task(trainers.step, on_answer=self._take_halt, on_error=self._fail)
        self._finding = task(
            trainers.candidates, on_answer=self._take_candidates, on_error=self._fail_to_find_candidates
        )
        self._replacing = task(trainers.replace, on_answer=self._take_replacement, on_error=self.failed)
        self._discarding = task(trainers.discard)
        self._finding_beside = Task(
            candidates_finder, "The merge candidates cannot be found", self,
            on_answer=self._take_candidates, on_error=self._report_no_candidates,
        )  # fmt: skip
        self._tasks_of_run = self._training, self._stepping, self._replacing, self._finding, self._finding_beside

    # The run shown.

    @property
    def history(self) -> MergeHistory | None:
        """The merges; during training it may be longer than `merge_count`, the number announced.

        While `hides_future` it ends at the step, as if no more had been learned, and grows by `next_merge`.
        """
        return self._past if self._past is not None or self.run is None else self.run.history

    @property
    def hidden_merge(self) -> Merge | None:
        """The merge after the step that `hides_future` keeps from `history`, and from all that is shown."""
        is_there = self._past is not None and self.step < self._learned
        return self.run.history[self.step] if is_there and self.run is not None else None

    @property
    def last_told(self) -> float:
        """The last step of which anything may be said."""
        return self.step if self.hides_future else math.inf

    def hide_future(self, is_hidden: bool) -> None:
        """Let the history end at the step, or at its true end again; runs that are shown later begin likewise."""
        if is_hidden != self.hides_future:
            self.hides_future = is_hidden
            self._show_again(self.step)

    def _show_again(self, step: int) -> None:
        if self.run is not None:
            self._drop_candidates()
            self._show_whole(self.run, self.state, step, selection=None if self.hides_future else self.selection)

    @property
    def is_at_head(self) -> bool:
        return self.step == self.merge_count

    @property
    def words_step(self) -> int:
        """The step whose words, counts and candidates are shown: those before the merge of `step`, or after it."""
        return self.step if self.is_after or self.hides_future else max(self.step - 1, 0)

    @property
    def counts(self) -> WordCounts | None:
        return None if self.run is None else self.run.counts

    @property
    def config(self) -> TrainingConfig | None:
        return None if self.run is None else self.run.config

    @property
    def stop_reason(self) -> str | None:
        is_unknown = self.run is None or self.state is TrainerState.TRAINING or self.hidden_merge is not None
        return None if is_unknown or self.run is None else self.run.stop_reason

    @property
    def origin(self) -> RunOrigin:
        """Who asked for the run; for the one that is just beginning."""
        return self._next_origin if self.run is None or self.state is TrainerState.TRAINING else self.run.origin

    @property
    def progress(self) -> Progress:
        run, merges = self.run, self.merge_count
        if run is None:
            return Progress(merges, 0, None, None)
        size, target = run.history.vocabulary_size(merges), run.config.vocab_size
        is_sure = run.sure_size is None or target is None or target <= max(run.sure_size, size)
        left = self._pace.seconds_left(merges, size, run.config) if is_sure else None
        return Progress(merges, size, target, left, is_sure)

    def vocabulary_at(self, step: int) -> Vocabulary | None:
        return None if self.history is None else self.history.vocabulary(self._nearest(step))

    def tokenizer_at(self, step: int) -> Tokenizer | None:
        return None if self.run is None else self.run.tokenizer_at(self._nearest(step))

    def note_saved(self) -> None:
        if self.run is not None:
            self.run.saved_merges = self.merge_count if self._past is None else self._learned

    def rename_corpus(self, name: str) -> None:
        self._next_origin = replace(self.origin, corpus_name=name)
        if self.run is not None:
            self.run.origin = self._next_origin

    # Moving in time, and selecting.

    def seek(self, step: int) -> None:
        self._missed, self._is_held = None, False
        if self._past is not None and self._nearest(step) < len(self._past):
            self._show_again(self._nearest(step))
        elif self._nearest(step) != self.step:
            self._drop_candidates()  # an answer for another step would come too late
            self.step = self._nearest(step)
            self.step_changed.emit(self.step)

    def look_again(self) -> None:
        self.step_changed.emit(self.step)

    def hold(self) -> None:
        """Stop following the last merge of a running training until `seek` is called."""
        self._is_held = self.state is TrainerState.TRAINING

    def next_merge(self) -> None:
        """Show the next step; at the last one, if nothing is training, the worker first learns one more merge."""
        if self.step < self.merge_count:
            self.seek(self.step + 1)
        elif self._past is not None and self.run is not None:
            if self.step < self._learned:
                self._drop_candidates()
                self._past.extend(self.run.history.part(self.step, self.step + 1))
                self._publish()
                self.progress_changed.emit(self.progress)
        elif self.run is not None and self._can_continue():
            self._replacing.stop()
            self._drop_candidates()
            wanted = self._stepping.request[1] if self._stepping.is_running else self._learned  # type: ignore[index]
            self._stepping.run(self.run, wanted + 1)

    def last(self) -> None:
        self.seek(self.merge_count)

    def set_after(self, is_after: bool) -> None:
        if is_after != self.is_after:
            self._drop_candidates()
            self.is_after = is_after
            self.side_changed.emit(is_after)

    def in_text_order(self, words: int) -> bool:
        """Return whether so many words are listed in the order of the text: few are, so that ties can be checked."""
        return words <= TOY_WORDS if self.text_order is None else self.text_order

    def set_text_order(self, is_wanted: bool | None) -> None:
        if is_wanted != self.text_order:
            self.text_order = is_wanted
            self.order_changed.emit()

    def set_selection(self, selection: Selection | None) -> None:
        if self.run is None:
            selection = None
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit(selection)

    def request_candidates(self, limit: int = 20, step: int | None = None) -> None:
        """Request the best pairs at `step` (None: the current one); `candidates_changed` answers the latest request.

        While the engine is training, or if it is lost, they are found by another, if there is memory for that.
        """
        self._drop_candidates()
        self._candidates_step = wanted = self._nearest(self.step if step is None else step)
        run = self.run
        if run is None or not run.history.has_steps or run.history.is_damaged or self._is_closed:
            self._report_no_candidates()
        elif self.state is TrainerState.TRAINING or self._trainers.lost is run.history:
            self._finding_beside.run(run.history, wanted, limit)
        else:
            self._finding.run(run, wanted, limit)

    # Training.

    @property
    def is_busy(self) -> bool:
        """Whether the worker is training, or learning the one merge of `next_merge`."""
        return self.state is TrainerState.TRAINING or self._stepping.is_running

    @property
    def is_replacing(self) -> bool:
        return self._replacing.is_running

    def start(
        self, counts: WordCounts, config: TrainingConfig, *, paused: bool = False, origin: RunOrigin | None = None
    ) -> None:
        """Start a new training, canceling a running one. With `paused`, it waits at step 0 without learning.

        `history` stays the old one until `run_reset`, or permanently if the new training cannot begin (`failed`).
        """
        if self._is_closed:
            return
        self._end_run()
        self._next_origin = origin or RunOrigin()
        self._train((counts, config), intent="pause" if paused else "train")

    def replace(self, counts: WordCounts, config: TrainingConfig, *, origin: RunOrigin | None = None) -> None:
        """Train a new run beside the current one, and replace that by it once it is complete, as the user types.

        Everything changes at once. The step stays the same, or the last one if it was that; the selection stays. The
        latest call wins; any training command voids it. If it would have to wait for kernels to be compiled, it is
        abandoned with `progress_changed` alone. Does nothing while a training runs or is paused.
        """
        if not (self._is_closed or self.is_busy or self.state is TrainerState.PAUSED):
            self._next_origin = origin or RunOrigin()
            self._replacing.run(counts, config)

    def give_up_replacement(self) -> None:
        self._replacing.stop()

    def open_run(self, run: Run, step: int = 0) -> None:
        """Show a run that was trained earlier, at a step, instead of a running training; without end it is paused."""
        if self._is_closed:
            return
        self._end_run()
        self._discarding.run()
        self._next_origin = run.origin
        state = TrainerState.PAUSED if run.stop_reason is None else TrainerState.FINISHED
        self._show_whole(run, state, step)

    def forget(self) -> None:
        if self._is_closed:
            return
        self._end_run()
        self._next_origin = RunOrigin()
        self._take_run(None)
        self._set_state(TrainerState.IDLE)

    def train_further(self, vocab_size: int | None = None, max_merges: int | None = None) -> None:
        """Continue the current history up to these new limits; None means no limit."""
        if self._can_continue():
            self._continue({"vocab_size": vocab_size, "max_merges": max_merges})

    def pause(self) -> None:
        if self.state is TrainerState.TRAINING and self._intent == "train":
            self._intent = "pause"
            if self._has_begun:
                self._training.finish()

    def resume(self) -> None:
        if self.state is TrainerState.TRAINING and self._intent == "pause":
            self._intent = "train"  # if the worker is about to halt, it is sent on then
        elif self.state is TrainerState.PAUSED and self._can_continue():
            self._continue()

    def stop(self) -> None:
        """End the training and keep what was learned; what has not begun yet never does."""
        if self.state is TrainerState.TRAINING:
            self._intent = "stop"
            if self._has_begun:
                self._training.finish()
            else:
                self._training.stop()
                self._publish_rest()
                self._end_with("user")
                self._set_state(TrainerState.IDLE if self.run is None else TrainerState.FINISHED)
        elif self.state is TrainerState.PAUSED:
            self._end_with("user")
            self._set_state(TrainerState.FINISHED)

    def close(self) -> None:
        """Stop everything and wait for the worker thread to end; nothing is emitted afterwards."""
        self._end_run()
        self._is_closed = True
        for task in (*self._tasks_of_run, self._discarding):
            task.close()

    # What comes from the worker.

    def _take_part(self, part: Run | tuple[int, float]) -> None:
        if isinstance(part, Run):
            self._has_begun = True
            self._gate.release()  # for the run itself
            if self._intent == "pause":
                self._training.finish()
            self._gate.release(BATCHES_IN_FLIGHT + 1)  # and for the next one, but if it is paused it learns nothing
            if part is not self.run:
                part.origin = self._next_origin
                self._take_run(part)
            return
        self._learned, seconds = part
        self._unreleased += 1
        self._note_pace(seconds)
        # Not published here: Qt delivers queued signals until none are left, so a fast worker could keep the window
        # from ever painting. The timer gives it a turn, and the gate keeps the worker from running ahead.
        if not self._publish_timer.isActive():
            self._publish_timer.start()

    def _publish_in_turn(self) -> None:
        gate = self._gate
        self._publish()
        if self._pace.take_turn():
            self.progress_changed.emit(self.progress)
        if gate is self._gate and self._unreleased:
            gate.release(self._unreleased)
            self._unreleased = 0

    def _take_halt(self, halt: Halt) -> None:
        self._learned = halt.merges
        if self.run is not None:
            self.run.config = halt.config
        self._note_pace(halt.seconds)
        self._publish_timer.stop()
        ended_runs = self._ended_runs
        self._publish()
        if self._ended_runs == ended_runs:  # else a listener has started another run
            self._settle(halt)

    def _settle(self, halt: Halt) -> None:
        """Set the state that follows from how the training ended and from the user's latest command."""
        if self._training.is_running:  # started after a step; it will report its own end
            return
        if halt.is_interrupted and self._intent == "train":
            self._continue()
            return
        reason = "user" if halt.is_interrupted and self._intent == "stop" else halt.stop_reason
        self._end_with(reason)
        self._set_state(TrainerState.FINISHED if reason is not None else TrainerState.PAUSED)
        self.progress_changed.emit(self.progress)

    def _take_replacement(self, found: tuple[Run, float] | None) -> None:
        if found is None:
            self.progress_changed.emit(self.progress)
            return
        run, seconds = found
        follows = self.is_at_head and not self.hides_future
        wanted = self._missed if self._missed is not None else math.inf if follows else self.step
        self._drop_candidates()
        run.origin = self._next_origin
        last = len(run.history)
        self._missed = int(wanted) if last <= wanted < math.inf else None
        step = int(min(wanted, last))
        self._show_whole(run, TrainerState.FINISHED, step, selection=self.selection, seconds=seconds)

    def _fail(self, error: StudioError) -> None:
        self._publish_rest()
        self._set_state(TrainerState.FAILED)
        self.failed.emit(error)

    def _fail_to_find_candidates(self, error: StudioError) -> None:
        self._fail(error)
        self._report_no_candidates()

    def _report_no_candidates(self) -> None:
        self._take_candidates(Candidates(self._candidates_step, (), available=False))

    def _take_candidates(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.candidates_changed.emit(candidates)

    # Internal changes.

    def _note_pace(self, seconds: float) -> None:
        self._pace.note(self._learned, seconds)
        if self.run is not None:
            self.run.seconds = max(self.run.seconds, seconds)

    def _nearest(self, step: int) -> int:
        return max(0, min(int(step), self.merge_count))

    def _drop_candidates(self) -> None:
        self._finding.stop()
        self._finding_beside.stop()

    def _take_run(self, run: Run | None) -> None:
        had_step, had_selection, self.selection = self.step, self.selection, None
        self._set_run(run)
        self.run_reset.emit()
        if had_step:
            self.step_changed.emit(0)
        if had_selection is not None:
            self.selection_changed.emit(None)

    def _show_whole(
        self, run: Run, state: TrainerState, step: int, *, selection: Selection | None = None,
        seconds: float | None = None,
    ) -> None:  # fmt: skip
        self.state = state
        is_other_selection = selection != self.selection
        self.selection = selection
        self._set_run(run, step)
        self._learned = len(run.history)
        if seconds is not None:
            self._note_pace(seconds)
        ended_runs = self._ended_runs
        self.run_reset.emit()
        if self._ended_runs != ended_runs:
            return  # a listener has started another run
        self._publish(follows=False)
        self.step = self._nearest(step)
        self.step_changed.emit(self.step)
        if is_other_selection:
            self.selection_changed.emit(self.selection)
        self.state_changed.emit(self.state)
        self.progress_changed.emit(self.progress)

    def _set_run(self, run: Run | None, step: int = 0) -> None:
        """Switch to a run, or to none, with nothing published yet; its future may be hidden from `step` on."""
        if self.run is not None:
            self.run.step = self.step
            if not self.run.is_compared:
                self.run.drop_tokenizers()
        self.run, self.candidates, self._past = run, None, None
        if self.hides_future and run is not None and run.history.has_steps and not run.history.is_damaged:
            try:
                self._past = run.history.until(max(0, min(int(step), len(run.history))))
            except StudioError:  # its words cannot be read, which is said where they are shown
                self.hides_future = False
        self.merge_count = self._learned = self.step = 0
        self._pace = TrainingPace()

    def _set_state(self, state: TrainerState) -> None:
        if state is not self.state:
            self.state = state
            self._is_held = False
            self.state_changed.emit(state)

    def _end_with(self, stop_reason: str | None) -> None:
        if self.run is not None:
            self.run.stop_reason = stop_reason

    def _can_continue(self) -> bool:
        is_ours = self.run is not None and self.run.library_run is None
        return is_ours and not self._is_closed and self.state is not TrainerState.TRAINING

    def _train(
        self, what: Run | tuple[WordCounts, TrainingConfig], limits: dict[str, int | None] | None = None,
        intent: Literal["train", "pause"] = "train",
    ) -> None:  # fmt: skip
        """Train or continue, with a new gate; the old one stays with the previous training."""
        self._drop_candidates()
        self._gate = gate = threading.Semaphore(0)
        self._unreleased = 0
        self._has_begun, self._intent = False, intent
        self._publish_timer.stop()
        self._set_state(TrainerState.TRAINING)
        if gate is self._gate and self.state is TrainerState.TRAINING:  # else a listener wants something else
            self._training.run(what, limits, gate)

    def _end_run(self) -> None:
        """Cancel what runs; nothing more is heard of it, and nothing of it is kept."""
        self._ended_runs += 1
        self._missed = None
        self._publish_timer.stop()
        for task in self._tasks_of_run:
            task.forget()

    def _continue(self, limits: dict[str, int | None] | None = None) -> None:
        if self.run is None:
            return
        self._replacing.stop()
        self._next_origin = self.run.origin
        self._end_with(None)
        self._train(self.run, limits)

    def _publish(self, *, follows: bool = True) -> None:
        """Announce the merges learned since the last call; with `follows`, a step at the end stays at the end."""
        history, first = self.history, self.merge_count
        end = 0 if history is None else min(self._learned, len(history))
        if history is None or end <= first:
            return
        self.merge_count = end
        if self.receivers(SIGNAL("merged(PyObject)")):
            for index in range(first, end):
                self.merged.emit(history[index])
        if self._is_closed:  # by a listener
            return
        self.merges_appended.emit(first, end - 1)
        if follows and self.step == first and not self._is_held:
            self.seek(end)

    def _publish_rest(self) -> None:
        self._publish_timer.stop()
        self._learned = 0 if self.history is None else len(self.history)
        self._publish()
