"""The worker of the observable trainer, which owns the engine, and the window's interface to the worker's thread.

Commands arrive as queued signals to the slots below; results leave as queued signals. The worker takes frozen input,
tags all messages with the run number, checks its stop flags between short slices, and shares nothing with the window
but the flags and the history, which publishes its length last. `trainer_model.py` handles the results.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, QThread, Signal, Slot

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import MAX_BATCH, Pacer, as_studio_error
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.training_messages import (
    Batch,
    CandidatesAnswer,
    CandidatesRequest,
    Failure,
    Halted,
    LatestRequests,
    Replaced,
    Started,
)
from wordpiece_studio.system.arrays import lengths_of
from wordpiece_studio.training.initial_state import PreparationStopped
from wordpiece_studio.training.notices import corpus_notices

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.training_messages import (
        ContinueRequest,
        OpenRequest,
        ReplaceRequest,
        RunControl,
        StartRequest,
        StepRequest,
    )
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.notices import Notice
    from wordpiece_studio.training.trainer import Trainer

    ShouldStop = Callable[[], bool]
    TrainerFactory = Callable[[WordCounts, TrainingConfig, ShouldStop], Trainer]


def sure_size(counts: WordCounts, config: TrainingConfig, first_size: int) -> int:
    """Return a vocabulary size that training without limits on size, merges and time is certain to reach.

    Parameters
    ----------
    first_size
        The size before the first merge: special tokens and alphabet.

    A sufficiently frequent word is merged until it is a single token, so there are at least as many merges as such
    words. If other rules can stop the merging, nothing beyond `first_size` is certain.
    """
    if config.min_value is not None or config.max_token_length is not None or config.alphabet_limit is not None:
        return first_size
    floor = max(1, config.min_frequency)
    return first_size + int(np.count_nonzero((counts.counts >= floor) & (lengths_of(counts.words) > 1)))


_FAILURE = "The vocabulary cannot be trained"


@dataclass(slots=True)
class _Held:
    """A trainer, and its training time in seconds."""

    trainer: Trainer
    seconds: float = 0.0


class TrainingWorker(QObject):
    """Owns the `Trainer`. Every slot runs in the worker thread; every signal is read in the window's thread."""

    started = Signal(object)
    abandoned = Signal(object)  # the number of a replacement run that was abandoned
    replaced = Signal(object)
    batch_ready = Signal(object)
    halted = Signal(object)
    failed = Signal(object)
    candidates_ready = Signal(object)

    def __init__(self, trainer_factory: TrainerFactory, requests: LatestRequests) -> None:
        super().__init__()
        self._trainer_factory = trainer_factory
        self._requests = requests
        self._run = 0  # the current or last run
        self._held: _Held | None = None
        self._replacement: _Held | None = None  # not used yet
        self._opened: OpenRequest | None = None  # has no trainer yet

    @Slot(object)
    def start(self, request: StartRequest) -> None:
        """Build a trainer for `request` and train, unless the request was stopped before its turn.

        If it is stopped while being built, nothing is reported and the old trainer stays, as after a failure.
        """
        self._run = request.run
        stop = request.control.stop
        try:
            if not stop.is_set() and must_compile_first(request.counts, request.config):
                compile_kernels(stop.is_set)
            if stop.is_set():
                return
            trainer = self._trainer_factory(request.counts, request.config, stop.is_set)
            started = _started(request, trainer, tuple(corpus_notices(request.counts, request.config)))
        except PreparationStopped:
            return
        except Exception as error:
            if request.control.begin():
                self._report(error, engine_lost=False)
            return
        if not request.control.begin():
            return
        self._held, self._replacement, self._opened = _Held(trainer), None, None
        self.started.emit(started)
        self._guarded(self._train, self._held, request.control)

    @Slot(object)
    def open(self, request: OpenRequest) -> None:
        """Switch to a run that was trained earlier, and discard the present trainer."""
        self._run, self._opened = request.run, request
        self._held = self._replacement = None

    @Slot(object)
    def replace(self, request: ReplaceRequest) -> None:
        """Train for `request` to the end, unless it is stopped or would first have to compile the kernels.

        The present trainer stays until the new one is used.
        """
        stopped = request.stop.is_set
        if stopped() or must_compile_first(request.counts, request.config):
            self.abandoned.emit(request.run)
            return
        began = time.perf_counter()
        try:
            trainer = self._trainer_factory(request.counts, request.config, stopped)
            while not stopped() and trainer.run(MAX_BATCH, stopped) and trainer.stop_reason is None:
                pass
            trainer.history.vocabulary(len(trainer.history))  # builds the token texts, so that the window need not
        except Exception as error:
            if not stopped():
                self.failed.emit(Failure(request.run, as_studio_error(error, _FAILURE), engine_lost=False))
            return
        if not stopped():
            seconds = time.perf_counter() - began
            self._replacement = _Held(trainer, seconds)
            self.replaced.emit(Replaced(_started(request, trainer), seconds, trainer.stop_reason))

    @Slot(object)
    def carry_on(self, request: ContinueRequest) -> None:
        """Continue from the last merge, with new limits if given."""
        self._run, stop = request.run, request.control.stop
        if (held := self._trainer_of(request.history, stop)) is None or not request.control.begin():
            return
        if request.limits is not None:
            old, new = held.trainer.config, request.limits
            try:
                held.trainer.change_limits(
                    vocab_size=new.vocab_size,
                    max_merges=new.max_merges,
                    max_seconds=old.max_seconds,
                    min_value=old.min_value,
                )
            except StudioError as error:  # refused; nothing has changed
                self._report(error, engine_lost=False)
                return
        self._guarded(self._train, held, request.control)

    @Slot(object)
    def step(self, request: StepRequest) -> None:
        """Learn one more merge."""
        self._run = request.run
        if (held := self._trainer_of(request.history)) is not None:
            self._guarded(self._step, held)

    @Slot(object)
    def find_candidates(self, request: CandidatesRequest) -> None:
        """Move the engine to the requested step and report the best pairs there; void if superseded."""
        if self._is_superseded(request):
            return self._answer(request, None)
        self._run = request.run
        try:
            held = self._find(request.history, request.step, lambda: self._is_superseded(request))
            found = None if held is None else self._candidates(held.trainer, request)
        except PreparationStopped:
            found = None
        except Exception as error:
            self._report(error, engine_lost=self._held is None or not isinstance(error, StudioError))
            found = None
        return self._answer(request, found)

    def _guarded(self, action: Callable[..., None], *arguments: object) -> None:
        """Run `action`; whatever it raises becomes a `failed` signal.

        A trainer that raises a `StudioError` is intact; after anything else it may be inconsistent and is discarded.
        """
        try:
            action(*arguments)
        except Exception as error:
            self._report(error, engine_lost=not isinstance(error, StudioError))

    def _report(self, error: Exception, *, engine_lost: bool) -> None:
        if engine_lost:
            self._held = None
        self.failed.emit(Failure(self._run, as_studio_error(error, _FAILURE), engine_lost))

    def _find(
        self,
        history: MergeHistory,
        step: int | None,
        should_stop: ShouldStop,
        stop: threading.Event | None = None,
    ) -> _Held | None:
        """Return the trainer of a history; None if it is gone.

        It is found by history, not by run number: a run that is started and canceled leaves its number behind while the
        window continues with the previous run. The trainer of an opened run is built now, at `step` (None: the end).
        """
        if self._replacement is not None and self._replacement.trainer.history is history:
            self._held, self._replacement, self._opened = self._replacement, None, None
        request = self._opened
        if request is not None and request.history is history:
            self._opened = None  # do not retry if it fails
            if must_compile_first(request.counts, request.config):
                compile_kernels((stop or threading.Event()).is_set)
            try:
                self._held = _Held(resumed_trainer(request, step, should_stop))
            except PreparationStopped:
                self._opened = request
                raise
        return self._held if self._held is not None and self._held.trainer.history is history else None

    def _trainer_of(self, history: MergeHistory, stop: threading.Event | None = None) -> _Held | None:
        """Return the trainer of a history; None if it is gone, which is reported, or if building it was stopped."""
        try:
            held = self._find(history, None, self._is_closed if stop is None else stop.is_set, stop)
        except PreparationStopped:
            return None
        except Exception as error:
            self._report(error, engine_lost=True)
            return None
        if held is None:
            gone = StudioError("Training cannot continue: its engine was closed", "Train again.")
            self.failed.emit(Failure(self._run, gone, engine_lost=True))
        return held

    def _train(self, held: _Held, control: RunControl) -> None:
        trainer = held.trainer
        if not self._seek(trainer, len(trainer.history), control.interrupted):
            return self._halt(held, "stopped" if control.stop.is_set() else "paused")
        pacer = Pacer()
        while not control.interrupted():
            wanted = pacer.size
            began = time.perf_counter()
            done = trainer.run(wanted, control.interrupted)
            elapsed = time.perf_counter() - began
            held.seconds += elapsed
            pacer.note(done, elapsed)
            if trainer.stop_reason is not None or (done < wanted and not control.interrupted()):
                return self._halt(held, "finished")
            if done and control.pass_gate():
                self.batch_ready.emit(Batch(self._run, len(trainer.history), held.seconds))
        return self._halt(held, "stopped" if control.stop.is_set() else "paused")

    def _step(self, held: _Held) -> None:
        if self._seek(held.trainer, len(held.trainer.history), _never):
            began = time.perf_counter()
            held.trainer.step()
            held.seconds += time.perf_counter() - began
            self._halt(held, "stepped")

    def _halt(self, held: _Held, cause: Literal["paused", "stopped", "finished", "stepped"]) -> None:
        trainer = held.trainer
        reason = "user" if cause == "stopped" else trainer.stop_reason
        self.halted.emit(Halted(self._run, len(trainer.history), held.seconds, cause, reason, trainer.config))

    def _candidates(self, trainer: Trainer, request: CandidatesRequest) -> tuple[Candidate, ...] | None:
        requests, serial = self._requests, request.serial

        def superseded() -> bool:
            return requests.candidates != serial

        if not self._seek(trainer, min(request.step, len(trainer.history)), superseded):
            return None
        return tuple(trainer.top(request.limit))

    def _seek(self, trainer: Trainer, step: int, abandoned: Callable[[], bool]) -> bool:
        """Move the engine to `step` in short slices; return False if abandoned on the way."""
        if not trainer.can_walk_to(step):
            trainer.seek(step)  # restarts there
        pacer = Pacer(largest=64 * MAX_BATCH)
        while (distance := step - trainer.current_step) != 0:
            if abandoned():
                return False
            stride = max(-pacer.size, min(pacer.size, distance))
            began = time.perf_counter()
            trainer.seek(trainer.current_step + stride)
            pacer.note(abs(stride), time.perf_counter() - began)
        return True

    def _is_closed(self) -> bool:
        return self._requests.is_closed

    def _is_superseded(self, request: CandidatesRequest) -> bool:
        return self._requests.candidates != request.serial

    def _answer(self, request: CandidatesRequest, candidates: tuple[Candidate, ...] | None) -> None:
        self.candidates_ready.emit(CandidatesAnswer(request.run, request.serial, request.step, candidates))


def _started(
    request: StartRequest | ReplaceRequest, trainer: Trainer, notices: tuple[Notice, ...] = ()
) -> Started:  # fmt: skip
    sure = sure_size(request.counts, request.config, trainer.history.vocabulary_size(0))
    return Started(request.run, request.counts, request.config, trainer.history, sure, notices)


def default_trainer(counts: WordCounts, config: TrainingConfig, should_stop: ShouldStop) -> Trainer:
    """Return a trainer with the engine that suits the corpus; imported late, so that the window opens first.

    Whoever starts the training checks the memory, since only they can ask the user.
    """
    from wordpiece_studio.training.trainer import Trainer

    trainer = Trainer(counts, config, memory_limit=math.inf, should_stop=should_stop)
    trainer.history.segmentations.index_of(counts.words[0])  # builds the index that the window would otherwise wait for
    return trainer


def resumed_trainer(request: OpenRequest, step: int | None, should_stop: ShouldStop) -> Trainer:
    """Return a trainer at `step` (None: the end) of a run that was trained earlier."""
    from wordpiece_studio.training.trainer import Trainer

    return Trainer(
        request.counts, request.config, memory_limit=math.inf, history=request.history, step=step,
        should_stop=should_stop,
    )  # fmt: skip


def _never() -> bool:
    return False


class TrainingThread(QObject):
    """Sends requests to a `TrainingWorker` in a thread of its own, in order.

    Connect only bound methods of QObjects that live in the window's thread to the signals of `worker`: anything else
    would run in the worker's thread.
    """

    _start_requested = Signal(object)
    _open_requested = Signal(object)
    _replace_requested = Signal(object)
    _continue_requested = Signal(object)
    _step_requested = Signal(object)
    _candidates_requested = Signal(object)

    def __init__(self, trainer_factory: TrainerFactory, parent: QObject) -> None:
        super().__init__(parent)
        self._requests = LatestRequests()
        self._thread: QThread | None = QThread()
        self._thread.setObjectName("training")
        self.worker = TrainingWorker(trainer_factory, self._requests)
        self.worker.moveToThread(self._thread)
        self._start_requested.connect(self.worker.start)
        self._open_requested.connect(self.worker.open)
        self._replace_requested.connect(self.worker.replace)
        self._continue_requested.connect(self.worker.carry_on)
        self._step_requested.connect(self.worker.step)
        self._candidates_requested.connect(self.worker.find_candidates)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        return self._thread is None

    @property
    def newest_serial(self) -> int:
        """The number of the latest request for candidates that is still wanted."""
        return self._requests.candidates

    def start(self, request: StartRequest) -> None:
        """Request a new training."""
        self.drop_candidates()
        self._start_requested.emit(request)

    def open(self, request: OpenRequest) -> None:
        """Switch to a run that was trained earlier."""
        self.drop_candidates()
        self._open_requested.emit(request)

    def replace(self, request: ReplaceRequest) -> None:
        """Request a run trained beside the current one."""
        self._replace_requested.emit(request)

    def carry_on(self, request: ContinueRequest) -> None:
        self.drop_candidates()
        self._continue_requested.emit(request)

    def step(self, request: StepRequest) -> None:
        """Request one more merge."""
        self.drop_candidates()
        self._step_requested.emit(request)

    def find_candidates(self, run: int, history: MergeHistory, step: int, limit: int) -> None:
        """Request the best pairs; earlier requests are void."""
        self.drop_candidates()
        self._candidates_requested.emit(CandidatesRequest(run, history, self._requests.candidates, step, limit))

    def drop_candidates(self) -> None:
        """Void all requests for candidates; the worker abandons them at once."""
        self._requests.candidates += 1

    def close(self) -> None:
        """End the thread and wait for it; whatever runs must already have been asked to stop."""
        self.drop_candidates()
        self._requests.is_closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.quit()
            thread.wait()
