"""What the window and the training worker say to each other: requests, answers, and the flags they share.

Frozen records, tagged with the number of the run they are about. They do nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.notices import Notice

BATCHES_IN_FLIGHT = 4
"""So many batches may wait for the window; then the worker waits for it."""

_GATE_POLL_SECONDS = 0.02


class RunControl:
    """The flags and the gate that the window and the worker share while one stretch of training runs.

    `stop` and `pause` are set by the window and read by the worker between slices; `gate` is acquired by the worker
    for each batch that it sends and released by the window for each that it has shown. Whether a stretch that is
    stopped ever begins is agreed on by `begin` and `give_up`: only one of them can return True.
    """

    def __init__(self) -> None:
        self._agreement = threading.Lock()
        self._has_begun = False
        self.stop = threading.Event()
        self.pause = threading.Event()
        self.gate = threading.Semaphore(BATCHES_IN_FLIGHT)

    def begin(self) -> bool:
        """Say, in the worker, that all is ready; False if it was stopped before: then nothing may be said of it."""
        with self._agreement:
            self._has_begun = not self.stop.is_set()
            return self._has_begun

    def give_up(self) -> bool:
        """Stop the worker; return whether it had not begun, so that nothing more will be heard of it."""
        with self._agreement:
            self.stop.set()
            return not self._has_begun

    def interrupted(self) -> bool:
        """Whether the worker should leave off now."""
        return self.stop.is_set() or self.pause.is_set()

    def pass_gate(self) -> bool:
        """Wait until one more batch may be sent; False if the wait was given up because of an interruption."""
        while not self.gate.acquire(timeout=_GATE_POLL_SECONDS):
            if self.interrupted():
                return False
        return True


class Wishes:
    """What the window wants most recently; a plain integer, so that reading it needs no lock.

    `candidates` is the serial number of the newest request for candidates; all older ones are void. `is_closed`:
    nothing at all is wanted any more.
    """

    def __init__(self) -> None:
        self.candidates = 0
        self.is_closed = False


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Build a trainer and train; it learns nothing yet if the control says pause."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    control: RunControl


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Take a run that was learned before; its trainer is built when something is first asked of it."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory


@dataclass(frozen=True, slots=True)
class NewLimits:
    """Where to stop from now on; None is no limit."""

    vocab_size: int | None
    max_merges: int | None


@dataclass(frozen=True, slots=True)
class ContinueRequest:
    """Go on from the head of a history, with other limits if there are any."""

    run: int
    history: MergeHistory
    control: RunControl
    limits: NewLimits | None = None


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Learn exactly one more merge at the head of a history."""

    run: int
    history: MergeHistory


@dataclass(frozen=True, slots=True)
class CandidatesRequest:
    """Name the `limit` best pairs at `step` of a history."""

    run: int
    history: MergeHistory
    serial: int
    step: int
    limit: int


@dataclass(frozen=True, slots=True)
class ReplaceRequest:
    """Train to the end beside the run that is shown, which stays usable meanwhile."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    stop: threading.Event


@dataclass(frozen=True, slots=True)
class Started:
    """A new history is there; the vocabulary can surely grow to `sure_size`. `notices`: what is unusual."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """The run has learned `merges` merges by now, in `seconds` of training."""

    run: int
    merges: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Halted:
    """The worker left off; `merges` and `seconds` as in a batch, `config` with the limits that hold now."""

    run: int
    merges: int
    seconds: float
    cause: Literal["paused", "stopped", "finished", "stepped"]
    stop_reason: str | None
    config: TrainingConfig


@dataclass(frozen=True, slots=True)
class Replaced:
    """A run that was trained beside the one shown is whole; it ended for `stop_reason` after `seconds` of training."""

    started: Started
    seconds: float
    stop_reason: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A command went wrong; `engine_lost` says that the trainer could not be kept."""

    run: int
    error: StudioError
    engine_lost: bool


@dataclass(frozen=True, slots=True)
class CandidatesAnswer:
    """The best pairs at `step`; None if the request was overtaken or there is no engine."""

    run: int
    serial: int
    step: int
    pairs: tuple[Candidate, ...] | None
