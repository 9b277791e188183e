"""The trainers of the window, which one thread uses: what it is asked to train, continue and look at.

Each method is the work of a `Task`; `trainer_model.py` asks for them and shows what they answer.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import (
    LibraryHistory,
    LibraryTrainingStopped,
    is_replayable,
    reads_text,
    train_library,
)
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.system.arrays import lengths_of
from wordpiece_studio.system.memory import available_memory
from wordpiece_studio.training.forecast import corpus_notices
from wordpiece_studio.training.segmentation import PreparationStopped, stop_if_asked
from wordpiece_studio.training.trainer import Trainer, candidates_at, candidates_memory, train

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Generator, Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryProgress, LibraryTrainer
    from wordpiece_studio.storage.project.contents import ProjectCorpus, RunOrigin
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory

    ShouldStop = Callable[[], bool]
    TrainerFactory = Callable[[WordCounts, TrainingConfig, ShouldStop], Trainer]

SLICE_SECONDS = 0.016  # one frame at 60 Hz: anything shorter is invisible
MAX_BATCH = 256  # the most merges sent at once
_GROWTH = 4.0
_GATE_POLL_SECONDS = 0.02
_MARGIN = 2  # times the memory that candidates need must be free: the training beside them keeps growing


class TrainerState(Enum):
    """What the trainer is doing.

    `IDLE`: nothing has been trained yet. `TRAINING`: the worker is training or preparing to. `PAUSED`: the training can
    be resumed. `FINISHED`: a stop rule was met, or the user stopped; the run can be trained further. `FAILED`: the last
    command failed; what was learned before is still there.
    """

    IDLE = "idle"
    TRAINING = "training"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    merges: int  # learned and published
    vocabulary_size: int
    target_size: int | None  # None if there is no such limit
    seconds_left: float | None  # None if unknown
    is_target_sure: bool = True  # the corpus has enough words for it; otherwise training may run out of pairs first


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best pairs at a step, best first; there are none if no pair is left, or if nothing is available.

    Nothing is if there is no run, or not enough memory to find them beside a running training.
    """

    step: int
    pairs: tuple[Candidate, ...]
    available: bool


class Pacer:
    """Adapts the number of steps in a slice so that a slice lasts about `SLICE_SECONDS`.

    >>> pacer = Pacer()
    >>> pacer.note(1, 0.004)
    >>> pacer.size
    4
    """

    def __init__(self, largest: int = MAX_BATCH) -> None:
        self.size = 1
        self._largest = largest

    def note(self, steps: int, seconds: float) -> None:
        if steps > 0:
            fitting = steps * SLICE_SECONDS / max(seconds, 1e-6)
            self.size = max(1, min(self._largest, int(min(fitting, self.size * _GROWTH))))


class Halt(NamedTuple):
    """How training ended: after so many merges and seconds, for which reason, and with the limits that hold now."""

    merges: int
    seconds: float
    stop_reason: str | None
    config: TrainingConfig
    is_interrupted: bool = False


@dataclass(slots=True)
class _Held:
    trainer: Trainer
    seconds: float = 0.0

    def halt(self, *, is_interrupted: bool = False) -> Halt:
        trainer = self.trainer
        return Halt(len(trainer.history), self.seconds, trainer.stop_reason, trainer.config, is_interrupted)


class Trainers:
    """Holds the trainer of the run that was last asked for, and makes another one if that is of another run.

    A trainer that raises a `StudioError` is intact; after anything else it may be inconsistent: it is discarded, and
    the history is `lost` for training.
    """

    def __init__(self, make: TrainerFactory) -> None:
        self._make = make
        self._held: _Held | None = None
        self._replacement: _Held | None = None  # not used yet
        self.lost: MergeHistory | None = None

    def train(
        self, what: Run | tuple[WordCounts, TrainingConfig], limits: dict[str, int | None] | None,
        gate: threading.Semaphore, *, should_stop: ShouldStop,
    ) -> Generator[Run | tuple[int, float], None, Halt | None]:  # fmt: skip
        """Yield a run, a new one of counts with settings, then train it, with new limits if there are any.

        The trainer before stays unless the gate is opened for a new one.
        """
        if isinstance(what, Run):
            held = self._held_of(what, should_stop)
            yield what
        else:
            counts, config = what
            _prepare_kernels(counts, config, should_stop)
            held = _Held(self._make(counts, config, should_stop))
            yield _run_of(counts, config, held.trainer, notices=tuple(corpus_notices(counts, config)))
        if not _passes(gate, should_stop):
            return None
        if not isinstance(what, Run):
            self._held, self._replacement, self.lost = held, None, None
        if limits:
            config = held.trainer.config
            held.trainer.change_limits(max_seconds=config.max_seconds, min_value=config.min_value, **limits)
        return (yield from self._learn(held, gate, should_stop))

    def step(self, run: Run, merges: int, *, should_stop: ShouldStop) -> Halt:
        held = self._held_of(run, should_stop)
        with self._losing(run.history):
            _seek(held.trainer, len(run.history), should_stop)
            began = time.perf_counter()
            while len(run.history) < merges and not should_stop() and held.trainer.step() is not None:
                pass
            held.seconds += time.perf_counter() - began
        return held.halt()

    def candidates(self, run: Run, step: int, limit: int, *, should_stop: ShouldStop) -> Candidates | None:
        trainer = self._held_of(run, should_stop, step).trainer
        with self._losing(run.history):
            is_there = _seek(trainer, min(step, len(trainer.history)), should_stop)
            return Candidates(step, tuple(trainer.top(limit)), available=True) if is_there else None

    def replace(
        self, counts: WordCounts, config: TrainingConfig, *, should_stop: ShouldStop
    ) -> tuple[Run, float] | None:
        """Return a run that was trained to the end, and the seconds it took; the present trainer stays until then.

        None if it was stopped, or would first have to compile the kernels.
        """
        if must_compile_first(counts, config):
            return None
        began = time.perf_counter()
        trainer = self._make(counts, config, should_stop)
        while not should_stop() and trainer.run(MAX_BATCH, should_stop) and trainer.stop_reason is None:
            pass
        trainer.history.vocabulary(len(trainer.history))  # builds the token texts, so that the window need not
        if should_stop():
            return None
        self._replacement = _Held(trainer, time.perf_counter() - began)
        run = _run_of(counts, config, trainer, stop_reason=trainer.stop_reason, is_kept=False)
        return run, self._replacement.seconds

    def discard(self) -> None:
        self._held = self._replacement = self.lost = None

    def _held_of(self, run: Run, should_stop: ShouldStop, step: int | None = None) -> _Held:
        """Return the trainer of a run; one that was trained earlier gets it now, at `step` (None: the end).

        It is found by history, as the window may show another run than the one that was asked for last.
        """
        history = run.history
        if self._replacement is not None and self._replacement.trainer.history is history:
            self._held, self._replacement = self._replacement, None
        if history is self.lost:
            raise StudioError("Training cannot continue: its engine was closed", "Train again.")
        if self._held is None or self._held.trainer.history is not history:
            self._held = None
            try:
                _prepare_kernels(run.counts, run.config, should_stop)
                trainer = Trainer(
                    run.counts, run.config, memory_limit=math.inf, history=history, step=step, should_stop=should_stop
                )
                self._held = _Held(trainer)
            except PreparationStopped:
                raise
            except Exception:
                self.lost = history
                raise
        return self._held

    @contextmanager
    def _losing(self, history: MergeHistory) -> Iterator[None]:
        try:
            yield
        except StudioError:
            raise
        except Exception:
            self._held, self.lost = None, history
            raise

    def _learn(
        self, held: _Held, gate: threading.Semaphore, should_stop: ShouldStop
    ) -> Generator[tuple[int, float], None, Halt]:
        """Train, and yield after each slice the numbers of merges and of seconds, as far as the gate lets them pass."""
        trainer, pacer = held.trainer, Pacer()
        with self._losing(trainer.history):
            _seek(trainer, len(trainer.history), should_stop)
            while _passes(gate, should_stop) and not should_stop():
                wanted = pacer.size
                began = time.perf_counter()
                done = trainer.run(wanted, should_stop)
                elapsed = time.perf_counter() - began
                held.seconds += elapsed
                pacer.note(done, elapsed)
                if trainer.stop_reason is not None or (done < wanted and not should_stop()):
                    return held.halt()
                if done:
                    yield len(trainer.history), held.seconds
        return held.halt(is_interrupted=True)


def _prepare_kernels(counts: WordCounts, config: TrainingConfig, should_stop: ShouldStop) -> None:
    if must_compile_first(counts, config):
        compile_kernels(should_stop)
    stop_if_asked(should_stop)


def _passes(gate: threading.Semaphore, should_stop: ShouldStop) -> bool:
    """Wait until the window lets the training go on; return False if it is to stop instead."""
    while not gate.acquire(timeout=_GATE_POLL_SECONDS):
        if should_stop():
            return False
    return True


def _seek(trainer: Trainer, step: int, should_stop: ShouldStop) -> bool:
    """Move the engine to `step` in short slices; return False if stopped on the way."""
    if not trainer.can_walk_to(step):
        trainer.seek(step)  # restarts there
    pacer = Pacer(largest=64 * MAX_BATCH)
    while (distance := step - trainer.current_step) != 0:
        if should_stop():
            return False
        stride = max(-pacer.size, min(pacer.size, distance))
        began = time.perf_counter()
        trainer.seek(trainer.current_step + stride)
        pacer.note(abs(stride), time.perf_counter() - began)
    return True


def _run_of(counts: WordCounts, config: TrainingConfig, trainer: Trainer, **more: object) -> Run:
    sure = sure_size(counts, config, trainer.history.vocabulary_size(0))
    return Run(counts, config, trainer.history, sure, **more)  # type: ignore[arg-type]


def sure_size(counts: WordCounts, config: TrainingConfig, first_size: int) -> int:
    """Return a vocabulary size that training without limits on size, merges and time is certain to reach.

    `first_size` is that before the first merge. A sufficiently frequent word is merged until it is a single token, so
    there are at least as many merges as such words. If other rules can stop the merging, nothing beyond it is certain.
    """
    if config.min_value is not None or config.max_token_length is not None or config.alphabet_limit is not None:
        return first_size
    if config.has_rules:
        return first_size
    floor = max(1, config.min_frequency)
    return first_size + int(np.count_nonzero((counts.counts >= floor) & (lengths_of(counts.words) > 1)))


def default_trainer(counts: WordCounts, config: TrainingConfig, should_stop: ShouldStop) -> Trainer:
    trainer = Trainer(counts, config, memory_limit=math.inf, should_stop=should_stop)
    trainer.history.places.index_of(counts.words[0])  # builds the index that the window would otherwise wait for
    return trainer


def candidates_beside(history: MergeHistory, step: int, limit: int, *, should_stop: ShouldStop) -> Candidates:
    """Return the best pairs at a step from a second engine, which starts there and is discarded with the answer."""
    free = available_memory()
    if free is not None and _MARGIN * candidates_memory(history) > free:
        return Candidates(step, (), available=False)
    return Candidates(step, tuple(candidates_at(history, step, limit, should_stop)), available=True)


def corpus_with_lines(corpus: ProjectCorpus | None, counts: WordCounts) -> ProjectCorpus | None:
    """Return a corpus that words were counted in; None if it has no lines, is gone, or only a part was counted.

    Nor is one of files that the user has not agreed to reading, see `CorpusFile.unagreed`.
    """
    if corpus is None or counts.statistics.is_partial or any(each.file.unagreed for each in corpus.files):
        return None
    has_lines = all(each.file.kind != "word-counts" for each in corpus.files)
    return corpus if has_lines and not is_typed_counts(corpus.text or "") else None


def trained_by_library(
    trainer: LibraryTrainer, counts: WordCounts, config: TrainingConfig, origin: RunOrigin, is_twice: bool,
    progress: Callable[[LibraryProgress], None], should_stop: Callable[[], bool],
) -> Run:  # fmt: skip
    """Return what another library learned as a run; `is_twice`: train once more, to see whether the result is the same.

    What `tokenizers` merges is then trained by us in its order of ties: if that gives its vocabulary, the run has our
    history. All other runs have none, see `LibraryHistory`.
    """
    began = time.perf_counter()
    corpus = corpus_with_lines(origin.corpus, counts) if reads_text(trainer) else None
    given: Any = counts if corpus is None else [each.file for each in corpus.files] or [corpus.text or ""]
    library_run = train_library(given, config, trainer, twice=is_twice, progress=progress, should_stop=should_stop)
    library, run = library_run.tokenizer(), None
    if is_replayable(trainer):
        replayed = library_run.replay_config()
        if must_compile_first(counts, replayed):
            compile_kernels(should_stop)
        ours = train(counts, replayed, should_stop=should_stop)
        if ours.vocabulary.tokens == list(library_run.tokens):
            reason = ours.stop_reason
            run = Run(counts, replayed, ours.history, stop_reason=reason, library_run=library_run, library=library)
    if should_stop():
        raise LibraryTrainingStopped
    if run is None:
        history = LibraryHistory(library_run, counts, library)
        run = Run(counts, library_run.config, history, library_run=library_run, library=library)
    run.origin, run.stop_reason, run.step = origin, run.stop_reason or "peer", len(run.history)
    run.seconds = time.perf_counter() - began
    return run
