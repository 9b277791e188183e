"""The worker of the observable trainer, which owns the engine, and the thread that it lives in, seen from the window.

Commands come in as queued signals to the slots below; results go out as queued signals. It takes frozen input, tags
all it says with the number of the run, stops by flags that it looks at between short slices, and shares nothing else
with the window than the history, which publishes its length last. What is done with the results is
`trainer_model.py`'s affair.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, QThread, Signal, Slot

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.kernel_child import compile_kernels, must_compile_first
from wordpiece_studio.session.pacing import MAX_BATCH, Pacer
from wordpiece_studio.session.training_messages import (
    Batch,
    CandidatesAnswer,
    CandidatesRequest,
    Failure,
    Halted,
    Replaced,
    Started,
    Wishes,
)
from wordpiece_studio.system.in_slices import lengths_of
from wordpiece_studio.system.memory import out_of_memory
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
    """Return a vocabulary size that a training without limits of size, merges and time reaches for certain.

    Parameters
    ----------
    first_size
        The size before the first merge: special tokens and alphabet.

    A word with pairs frequent enough is merged until it is a token of its own, so there are at least as many merges as
    such words. Where other rules stop the merging, nothing beyond `first_size` is sure.
    """
    if config.min_value is not None or config.max_token_length is not None or config.alphabet_limit is not None:
        return first_size
    floor = max(1, config.min_frequency)
    return first_size + int(np.count_nonzero((counts.counts >= floor) & (lengths_of(counts.words) > 1)))


_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    """A trainer, and the seconds that it has trained."""

    trainer: Trainer
    seconds: float = 0.0


class TrainingWorker(QObject):
    """Owns the `Trainer`. Every slot runs in the worker thread; every signal is read in the window's thread."""

    started = Signal(object)
    abandoned = Signal(object)  # the number of a run that was to replace another one and will not
    replaced = Signal(object)
    batch_ready = Signal(object)
    halted = Signal(object)
    failed = Signal(object)
    candidates_ready = Signal(object)

    def __init__(self, trainer_factory: TrainerFactory, wishes: Wishes) -> None:
        super().__init__()
        self._trainer_factory = trainer_factory
        self._wishes = wishes
        self._run = 0  # what is under way, or was last
        self._held: _Held | None = None
        self._replacement: _Held | None = None  # nothing was asked of it yet
        self._opened: OpenRequest | None = None  # has no trainer yet

    @Slot(object)
    def start(self, request: StartRequest) -> None:
        """Build a trainer for `request`; one that was stopped before its turn came is not even built.

        Where it is stopped meanwhile nothing is said, and the old trainer stays, as after a failure.
        """
        self._run = request.run
        stop = request.control.stop
        try:
            if not stop.is_set() and must_compile_first(request.counts, request.config):
                compile_kernels(stop)
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
        """Take a run that was learned before, and let go of the trainer there is."""
        self._run, self._opened = request.run, request
        self._held = self._replacement = None

    @Slot(object)
    def replace(self, request: ReplaceRequest) -> None:
        """Train for `request` to the end, unless it is stopped or would first have to compile the kernels.

        The present trainer stays until something is asked of the new one.
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
            trainer.history.vocabulary(len(trainer.history))  # spells the tokens out, which the window need not do then
        except Exception as error:
            if not stopped():
                self.failed.emit(Failure(request.run, as_studio_error(error), engine_lost=False))
            return
        if not stopped():
            seconds = time.perf_counter() - began
            self._replacement = _Held(trainer, seconds)
            self.replaced.emit(Replaced(_started(request, trainer), seconds, trainer.stop_reason))

    @Slot(object)
    def carry_on(self, request: ContinueRequest) -> None:
        """Go on from the head, with new limits if there are any."""
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
            except StudioError as error:  # refused, nothing was changed
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
        """Move the engine to the step asked for and name the best pairs there; void if overtaken."""
        if self._is_overtaken(request):
            return self._answer(request, None)
        self._run = request.run
        try:
            held = self._find(request.history, request.step, lambda: self._is_overtaken(request))
            found = None if held is None else self._candidates(held.trainer, request)
        except PreparationStopped:
            found = None
        except Exception as error:
            self._report(error, engine_lost=self._held is None or not isinstance(error, StudioError))
            found = None
        return self._answer(request, found)

    def _guarded(self, action: Callable[..., None], *arguments: object) -> None:
        """Run `action`; whatever it raises becomes a `failed` signal.

        A trainer that raises a `StudioError` is whole; after anything else it may be half changed and is let go.
        """
        try:
            action(*arguments)
        except Exception as error:
            self._report(error, engine_lost=not isinstance(error, StudioError))

    def _report(self, error: Exception, *, engine_lost: bool) -> None:
        if engine_lost:
            self._held = None
        self.failed.emit(Failure(self._run, as_studio_error(error), engine_lost))

    def _find(
        self,
        history: MergeHistory,
        step: int | None,
        should_stop: ShouldStop,
        stop: threading.Event | None = None,
    ) -> _Held | None:
        """Return what holds the trainer of a history; None if it is gone.

        By the history and not by the number of a run: a run that is begun and given up leaves its number behind, and
        the window goes on with what it had before. That of a run that was opened is built now, standing at `step`,
        None for the end.
        """
        if self._replacement is not None and self._replacement.trainer.history is history:
            self._held, self._replacement, self._opened = self._replacement, None, None
        request = self._opened
        if request is not None and request.history is history:
            self._opened = None  # not again, should it fail
            if must_compile_first(request.counts, request.config):
                compile_kernels(stop or threading.Event())
            try:
                self._held = _Held(resumed_trainer(request, step, should_stop))
            except PreparationStopped:
                self._opened = request
                raise
        return self._held if self._held is not None and self._held.trainer.history is history else None

    def _trainer_of(self, history: MergeHistory, stop: threading.Event | None = None) -> _Held | None:
        """Return what holds the trainer of a history; None if it is gone, which is reported, or if that was stopped."""
        try:
            held = self._find(history, None, self._is_closed if stop is None else stop.is_set, stop)
        except PreparationStopped:
            return None
        except Exception as error:
            self._report(error, engine_lost=True)
            return None
        if held is None:
            gone = StudioError("The training cannot go on: its engine is gone", "Train again.")
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
        wishes, serial = self._wishes, request.serial

        def overtaken() -> bool:
            return wishes.candidates != serial

        if not self._seek(trainer, min(request.step, len(trainer.history)), overtaken):
            return None
        return tuple(trainer.top(request.limit))

    def _seek(self, trainer: Trainer, step: int, abandoned: Callable[[], bool]) -> bool:
        """Move the engine to `step` in short slices; False if it was abandoned on the way."""
        if not trainer.can_walk_to(step):
            trainer.seek(step)  # begins there
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
        return self._wishes.is_closed

    def _is_overtaken(self, request: CandidatesRequest) -> bool:
        return self._wishes.candidates != request.serial

    def _answer(self, request: CandidatesRequest, candidates: tuple[Candidate, ...] | None) -> None:
        self.candidates_ready.emit(CandidatesAnswer(request.run, request.serial, request.step, candidates))


def _started(
    request: StartRequest | ReplaceRequest, trainer: Trainer, notices: tuple[Notice, ...] = ()
) -> Started:  # fmt: skip
    sure = sure_size(request.counts, request.config, trainer.history.vocabulary_size(0))
    return Started(request.run, request.counts, request.config, trainer.history, sure, notices)


def default_trainer(counts: WordCounts, config: TrainingConfig, should_stop: ShouldStop) -> Trainer:
    """Return a trainer with the engine that suits the corpus. Imported here: the window opens before it is needed.

    Whether there is enough memory is the affair of those who start the training: they can ask the user.
    """
    from wordpiece_studio.training.trainer import Trainer

    trainer = Trainer(counts, config, memory_limit=math.inf, should_stop=should_stop)
    trainer.history.segmentations.index_of(counts.words[0])  # what the window would wait for when it asks for a word
    return trainer


def resumed_trainer(request: OpenRequest, step: int | None, should_stop: ShouldStop) -> Trainer:
    """Return a trainer that stands at `step` of a run that was learned before, None for its end."""
    from wordpiece_studio.training.trainer import Trainer

    return Trainer(
        request.counts, request.config, memory_limit=math.inf, history=request.history, step=step,
        should_stop=should_stop,
    )  # fmt: skip


def as_studio_error(error: Exception) -> StudioError:
    """Return `error` in words for a user; what is no `StudioError` is also logged with its traceback."""
    if isinstance(error, StudioError):
        return error
    _log.error("The training failed", exc_info=error)
    if isinstance(error, MemoryError):
        return out_of_memory()
    return StudioError(
        "The training failed: {kind}: {message}",
        "This is a fault of the program; the log holds the details.",
        kind=type(error).__name__,
        message=error,
    )


def _never() -> bool:
    return False


class TrainingThread(QObject):
    """Sends requests to a `TrainingWorker` in a thread of its own, in the order in which they are made.

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
        self._wishes = Wishes()
        self._thread: QThread | None = QThread()
        self._thread.setObjectName("training")
        self.worker = TrainingWorker(trainer_factory, self._wishes)
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
        """Whether there is no thread any more."""
        return self._thread is None

    @property
    def newest_serial(self) -> int:
        """The number of the latest request for candidates that is still wanted."""
        return self._wishes.candidates

    def start(self, request: StartRequest) -> None:
        """Have a new trainer built."""
        self.drop_candidates()
        self._start_requested.emit(request)

    def open(self, request: OpenRequest) -> None:
        """Have a run taken that was learned before."""
        self.drop_candidates()
        self._open_requested.emit(request)

    def replace(self, request: ReplaceRequest) -> None:
        """Have a run trained beside the one that is shown."""
        self._replace_requested.emit(request)

    def carry_on(self, request: ContinueRequest) -> None:
        """Have the training go on."""
        self.drop_candidates()
        self._continue_requested.emit(request)

    def step(self, request: StepRequest) -> None:
        """Have one more merge learned."""
        self.drop_candidates()
        self._step_requested.emit(request)

    def find_candidates(self, run: int, history: MergeHistory, step: int, limit: int) -> None:
        """Have the best pairs named; the requests before are void."""
        self.drop_candidates()
        self._candidates_requested.emit(CandidatesRequest(run, history, self._wishes.candidates, step, limit))

    def drop_candidates(self) -> None:
        """Have no one wait for candidates any more; the worker comes away from them at once."""
        self._wishes.candidates += 1

    def close(self) -> None:
        """End the thread and wait for it; what runs must have been told to stop."""
        self.drop_candidates()
        self._wishes.is_closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.quit()
            thread.wait()
