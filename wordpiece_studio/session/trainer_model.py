"""The observable trainer: the only way for panes to train, and the receiver of the worker's messages.

It lives in the window's thread and owns the worker thread, in which the engine lives (`training_job.py`). The displayed
state of a run is in `shown_run.py`; the engine itself moves in time only when candidates are requested, and never while
it trains (`CandidatesBeside`). It contains no algorithms and no widgets.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from wordpiece_studio.session.run import Candidates, Run, RunOrigin, TrainerState
from wordpiece_studio.session.shown_run import CandidatesBeside, ShownRun, find_if_memory_allows
from wordpiece_studio.session.training_job import TrainingThread, default_trainer
from wordpiece_studio.session.training_messages import (
    Batch,
    CandidatesAnswer,
    ContinueRequest,
    Failure,
    Halted,
    NewLimits,
    OpenRequest,
    Replaced,
    ReplaceRequest,
    RunControl,
    Started,
    StartRequest,
    StepRequest,
)

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.shown_run import CandidatesFinder
    from wordpiece_studio.session.training_job import TrainerFactory
    from wordpiece_studio.training.config import TrainingConfig


class Replacement:
    """A run trained to replace the current one: at most one at a time; a new one cancels the previous one."""

    def __init__(self) -> None:
        self._request: ReplaceRequest | None = None
        self._missed: int | None = None  # the chosen step, if no run has gone beyond it since

    @property
    def is_under_way(self) -> bool:
        """Whether a replacement is being trained."""
        return self._request is not None

    def begin(self, run: int, counts: WordCounts, config: TrainingConfig) -> ReplaceRequest:
        """Return the request for the worker."""
        self.give_up()
        self._request = ReplaceRequest(run, counts, config, threading.Event())
        return self._request

    def give_up(self) -> None:
        """Stop the worker; its messages about that run are no longer `taken`."""
        if self._request is not None:
            self._request.stop.set()
            self._request = None

    def taken(self, run: int) -> bool:
        """Return whether `run` is the replacement under way, and if so, mark it as done."""
        if self._request is None or self._request.run != run:
            return False
        self._request = None
        return True

    def forget_step(self) -> None:
        """Record that a different step was chosen."""
        self._missed = None

    def wanted_step(self, step: int, *, is_head: bool) -> float:
        """Return the step to show instead of `step`; infinity means the last one."""
        if self._missed is not None:
            return self._missed
        return math.inf if is_head else step

    def step(self, wanted: float, last: int) -> int:
        """Return the step nearest to `wanted`, and remember it in case a later run reaches further."""
        self._missed = int(wanted) if last <= wanted < math.inf else None
        return int(min(wanted, last))


PUBLISH_INTERVAL_MS = 16


class TrainerModel(ShownRun):
    """The training that the window shows, with the signals of `ShownRun`.

    All commands return at once. Commands that make no sense in the present state do nothing.
    """

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        trainer_factory: TrainerFactory = default_trainer,
        candidates_finder: CandidatesFinder = find_if_memory_allows,
    ) -> None:
        super().__init__(parent)
        self._run = self._last_run = 0
        self._replacement = Replacement()
        self._control = RunControl()
        self._intent: Literal["train", "pause", "stop"] = "train"
        self._steps_pending = 0
        self._unreleased = 0
        self._engine_lost = False
        self._publish_timer = QTimer(self)
        self._publish_timer.setSingleShot(True)
        self._publish_timer.setInterval(PUBLISH_INTERVAL_MS)
        self._publish_timer.timeout.connect(self._on_publish_timer_timeout)
        self._thread = TrainingThread(trainer_factory, self)
        worker = self._thread.worker
        worker.started.connect(self._on_worker_started)
        worker.abandoned.connect(self._on_worker_abandoned)
        worker.replaced.connect(self._on_worker_replaced)
        worker.batch_ready.connect(self._on_worker_batch_ready)
        worker.halted.connect(self._on_worker_halted)
        worker.failed.connect(self._on_worker_failed)
        worker.candidates_ready.connect(self._on_worker_candidates_ready)
        self._beside = CandidatesBeside(candidates_finder, self)
        self._beside.found.connect(self.candidates_changed)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    # Training.

    def start(
        self, counts: WordCounts, config: TrainingConfig, *, paused: bool = False, origin: RunOrigin | None = None
    ) -> None:
        """Start a new training, canceling a running one. With `paused`, it waits at step 0 without learning.

        `history` stays the old one until `run_reset`, or permanently if the new training cannot begin (`failed`).
        """
        if self._thread.is_closed:
            return
        self._end_run()
        self._next_origin = origin or RunOrigin()
        self._prepare_training(paused=paused)
        self._thread.start(StartRequest(self._run, counts, config, self._control))

    def replace(self, counts: WordCounts, config: TrainingConfig, *, origin: RunOrigin | None = None) -> None:
        """Train a new run beside the current one, and replace the current one by it once it is complete.

        For a small corpus that is trained again as the user types: nothing changes until the run is complete, then
        everything at once: `run_reset`, the merges, `step_changed`, `state_changed`, `progress_changed`. The step stays
        the same, or the last one if it was the last; the selection stays. The latest call wins; any training command
        voids it. If the training cannot begin, `failed` is emitted and the old run stays; if it would have to wait for
        kernels to be compiled, it is abandoned with `progress_changed` alone. Does nothing while a training runs or is
        paused.
        """
        if self._thread.is_closed or self.is_busy or self._state is TrainerState.PAUSED:
            return
        self._last_run += 1
        self._next_origin = origin or RunOrigin()
        self._thread.replace(self._replacement.begin(self._last_run, counts, config))

    def give_up_replacement(self) -> None:
        """Cancel the run that is being trained to replace this one."""
        self._replacement.give_up()

    def open_run(self, run: Run, step: int = 0) -> None:
        """Show a run that was trained earlier, at a step; cancel a running training.

        Where its `stop_reason` is None it is paused and can be resumed. Signals: `run_reset`, the merges,
        `step_changed`, `selection_changed`, `state_changed`, `progress_changed`.
        """
        if self._thread.is_closed:
            return
        self._end_run()
        self._drop_candidates()
        self._thread.open(OpenRequest(self._run, run.counts, run.config, run.history))
        had_selection, self._selection = self._selection, None
        self._state = TrainerState.PAUSED if run.stop_reason is None else TrainerState.FINISHED
        number = self._run
        self._next_origin = run.origin
        self._set_run(run)
        self._learned = len(run.history)
        self.run_reset.emit()
        if self._run != number:
            return  # a listener has started another run
        self._publish(follows=False)
        self._step = self._nearest(step)
        self.step_changed.emit(self._step)
        if had_selection is not None:
            self.selection_changed.emit(None)
        self.state_changed.emit(self._state)
        self.progress_changed.emit(self.progress)

    @property
    def is_busy(self) -> bool:
        """Whether the worker is training, or learning the one merge of `next_merge`."""
        return self._state is TrainerState.TRAINING or self._steps_pending > 0

    @property
    def is_replacing(self) -> bool:
        """Whether a run is being trained to replace this one."""
        return self._replacement.is_under_way

    def forget(self) -> None:
        """Discard the run, canceling a running training, and return to the initial state."""
        if self._thread.is_closed:
            return
        self._end_run()
        self._drop_candidates()
        self._next_origin = RunOrigin()
        self._take_run(None)
        self._set_state(TrainerState.IDLE)

    def train_further(self, vocab_size: int | None = None, max_merges: int | None = None) -> None:
        """Continue the current history up to these new limits; None means no limit."""
        if self._can_continue():
            self._continue(NewLimits(vocab_size, max_merges))

    def pause(self) -> None:
        """Pause after the present slice."""
        if self._state is TrainerState.TRAINING and self._intent == "train":
            self._intent = "pause"
            self._control.pause.set()

    def resume(self) -> None:
        """Resume after a pause, from the last merge."""
        if self._state is TrainerState.TRAINING and self._intent == "pause":
            self._intent = "train"  # if the worker has already paused, its message resumes it
            self._control.pause.clear()
        elif self._state is TrainerState.PAUSED and self._can_continue():
            self._continue()

    def stop(self) -> None:
        """End the training and keep what was learned."""
        if self._state is TrainerState.TRAINING:
            self._intent = "stop"
            if self._control.give_up():
                self._abandon_start()
        elif self._state is TrainerState.PAUSED:
            self._end_with("user")
            self._set_state(TrainerState.FINISHED)

    def close(self) -> None:
        """Stop everything and wait for the worker thread to end. Nothing is emitted afterwards."""
        self._end_run()
        self._is_closed = True
        self._beside.close()
        self._thread.close()

    # Moving in time.

    def seek(self, step: int) -> None:
        """Show the state after `step` merges, or the nearest step available."""
        self._replacement.forget_step()
        if self._nearest(step) != self._step:
            self._drop_candidates()  # an answer for another step would come too late
        super().seek(step)

    def next_merge(self) -> None:
        """Show the next step. At the last one, if nothing is training, the worker first learns exactly one more merge.

        `is_busy` is true while it learns; if a stop rule has been met, there is no further merge.
        """
        if self._step < self._published:
            self.seek(self._step + 1)
        elif self.history is not None and self._can_continue():
            self._replacement.give_up()
            self._steps_pending += 1
            self._thread.step(StepRequest(self._run, self.history))

    # Candidates.

    def request_candidates(self, limit: int = 20, step: int | None = None) -> None:
        """Request the best pairs at `step` (None: the current one); `candidates_changed` answers the latest request.

        The merge that made step k was chosen among the candidates at k - 1.

        While the engine is training, or if it is lost, they are found without it. If there is no run, its words cannot
        be read, or there is not enough memory for that, the answer says that none are available.
        """
        self._drop_candidates()
        wanted = self._step if step is None else max(0, min(step, self._published))
        history = self.history
        if history is None or not history.has_steps or history.is_damaged or self._thread.is_closed:
            self.candidates_changed.emit(Candidates(wanted, (), available=False))
        elif self._state is TrainerState.TRAINING or self._engine_lost:
            self._beside.find(history, wanted, limit)
        else:
            self._thread.find_candidates(self._run, history, wanted, limit)

    # Signals of the worker, which arrive in the window's thread.

    def _on_worker_started(self, started: Started) -> None:
        if started.run == self._run:
            self._take_run(self._run_of(started))

    def _on_worker_replaced(self, replaced: Replaced) -> None:
        started = replaced.started
        if not self._replacement.taken(started.run):
            return  # canceled, or superseded
        wanted = self._replacement.wanted_step(self._step, is_head=self.is_at_head)
        self._run = started.run
        self._state = TrainerState.FINISHED
        self._drop_candidates()
        run = self._run_of(started, replaced.stop_reason)
        run.is_kept = False
        self._set_run(run)
        self._learned = len(started.history)
        self._pace.note(self._learned, replaced.seconds)
        self.run_reset.emit()
        if self._run != started.run:
            return  # a listener has started another run
        self._publish(follows=False)
        self._step = self._replacement.step(wanted, self._published)
        self.step_changed.emit(self._step)
        self.state_changed.emit(self._state)
        self.progress_changed.emit(self.progress)

    def _on_worker_abandoned(self, run: int) -> None:
        if self._replacement.taken(run):
            self.progress_changed.emit(self.progress)

    def _abandon_start(self) -> None:
        """Stop at once: the training will not begin, though the worker may take a moment to notice."""
        self._publish_rest()
        self._end_with("user")
        self._set_state(TrainerState.IDLE if self.history is None else TrainerState.FINISHED)

    def _on_worker_batch_ready(self, batch: Batch) -> None:
        if batch.run != self._run:
            return  # from a canceled run
        self._learned = batch.merges
        self._unreleased += 1
        self._pace.note(batch.merges, batch.seconds)
        # Not published here: Qt delivers queued signals until none are left, so a fast worker could keep the window
        # from ever painting. The timer gives it a turn, and the gate keeps the worker from running ahead.
        if not self._publish_timer.isActive():
            self._publish_timer.start()

    def _on_publish_timer_timeout(self) -> None:
        control = self._control
        self._publish()
        if self._pace.take_turn():
            self.progress_changed.emit(self.progress)
        if control is self._control:
            for _ in range(self._unreleased):
                control.gate.release()
            self._unreleased = 0

    def _on_worker_halted(self, halted: Halted) -> None:
        if halted.run != self._run:
            return
        self._learned = halted.merges
        if self._current is not None:
            self._current.config = halted.config
        self._pace.note(halted.merges, halted.seconds)
        self._publish_timer.stop()
        self._publish()
        if halted.run == self._run:  # else a listener has started another run
            self._settle(halted)

    def _on_worker_failed(self, failure: Failure) -> None:
        if self._replacement.taken(failure.run):
            self.failed.emit(failure.error)
        if failure.run != self._run:
            return
        self._steps_pending = 0
        self._engine_lost = self._engine_lost or failure.engine_lost
        self._publish_rest()
        self._set_state(TrainerState.FAILED)
        self.failed.emit(failure.error)

    def _on_worker_candidates_ready(self, answer: CandidatesAnswer) -> None:
        if answer.run == self._run and answer.serial == self._thread.newest_serial:
            found = answer.pairs
            self.candidates_changed.emit(Candidates(answer.step, found or (), available=found is not None))

    # Internal changes.

    def _drop_candidates(self) -> None:
        """Cancel any request for candidates."""
        self._thread.drop_candidates()
        self._beside.drop()

    def _run_of(self, started: Started, stop_reason: str | None = None) -> Run:
        return Run(
            started.counts, started.config, started.history, started.sure_size, started.notices, stop_reason,
            self._next_origin,
        )  # fmt: skip

    def _set_run(self, run: Run | None) -> None:
        super()._set_run(run)
        self._engine_lost = False

    def _end_with(self, stop_reason: str | None) -> None:
        if self._current is not None:
            self._current.stop_reason = stop_reason

    def _can_continue(self) -> bool:
        is_ours = self._current is not None and self._current.library_run is None
        return is_ours and not self._thread.is_closed and self._state is not TrainerState.TRAINING

    def _prepare_training(self, *, paused: bool = False) -> None:
        """Prepare to train or to continue, with new flags; the old ones stay with the previous training."""
        self._control, self._unreleased = RunControl(), 0
        self._intent = "pause" if paused else "train"
        if paused:
            self._control.pause.set()
        self._publish_timer.stop()
        self._set_state(TrainerState.TRAINING)

    def _end_run(self) -> None:
        """Cancel what runs; its messages are ignored from now on."""
        self._control.stop.set()
        self._replacement.give_up()
        self._publish_timer.stop()
        self._last_run += 1
        self._run = self._last_run
        self._steps_pending = 0
        self._replacement.forget_step()
        self._beside.drop()

    def _continue(self, limits: NewLimits | None = None) -> None:
        if self.history is None or self._current is None:
            return
        self._replacement.give_up()
        self._next_origin = self._current.origin
        self._end_with(None)
        self._prepare_training()
        self._thread.carry_on(ContinueRequest(self._run, self.history, self._control, limits))

    def _publish_rest(self) -> None:
        """Announce everything in the history, to which nothing writes anymore."""
        self._publish_timer.stop()
        self._learned = len(self.history) if self.history is not None else 0
        self._publish()

    def _settle(self, halted: Halted) -> None:
        """Set the state that follows from `halted` and from the user's latest command."""
        if halted.cause == "stepped":
            self._steps_pending -= 1
            if self._state is TrainerState.TRAINING:  # started after the step; it will report its own end
                return
        elif halted.cause == "paused" and self._intent == "train":
            self._continue()
            return
        stopped = halted.cause == "stopped" or (halted.cause == "paused" and self._intent == "stop")
        reason = "user" if stopped else halted.stop_reason
        self._end_with(reason)
        self._set_state(TrainerState.FINISHED if reason is not None else TrainerState.PAUSED)
        self.progress_changed.emit(self.progress)
