"""The messages between the window and the training worker: requests, answers, and shared flags.

Frozen records without behavior, tagged with the number of their run.
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
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.training.history import MergeHistory

BATCHES_IN_FLIGHT = 4
"""The most batches that may wait for the window before the worker waits for it."""

_GATE_POLL_SECONDS = 0.02


class RunControl:
    """The flags and the gate that the window and the worker share from a start or a resumption to the next halt.

    The window sets `stop` and `pause`, and the worker reads them between slices; the worker acquires `gate` for each
    batch that it sends, and the window releases it for each that it has shown. `begin` and `give_up` decide whether a
    training that is being stopped ever begins: only one of them can return True.
    """

    def __init__(self) -> None:
        self._agreement = threading.Lock()
        self._has_begun = False
        self.stop = threading.Event()
        self.pause = threading.Event()
        self.gate = threading.Semaphore(BATCHES_IN_FLIGHT)

    def begin(self) -> bool:
        """Declare the worker ready; return False if it was stopped before, in which case it must report nothing."""
        with self._agreement:
            self._has_begun = not self.stop.is_set()
            return self._has_begun

    def give_up(self) -> bool:
        """Stop the worker; return True if it had not begun, in which case it reports nothing more."""
        with self._agreement:
            self.stop.set()
            return not self._has_begun

    def interrupted(self) -> bool:
        """Return whether the worker should halt now."""
        return self.stop.is_set() or self.pause.is_set()

    def pass_gate(self) -> bool:
        """Wait until one more batch may be sent; return False if interrupted."""
        while not self.gate.acquire(timeout=_GATE_POLL_SECONDS):
            if self.interrupted():
                return False
        return True


class LatestRequests:
    """The window's latest requests, as plain values, so that reading them needs no lock.

    `candidates` is the serial number of the newest request for candidates; all older ones are void. `is_closed`: all
    requests are void.
    """

    def __init__(self) -> None:
        self.candidates = 0
        self.is_closed = False


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Build a trainer and train; if the control is paused, it learns nothing yet."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    control: RunControl


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Switch to a run that was trained earlier; its trainer is built on first use."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory


@dataclass(frozen=True, slots=True)
class NewLimits:
    """Where to stop from now on; None means no limit."""

    vocab_size: int | None
    max_merges: int | None


@dataclass(frozen=True, slots=True)
class ContinueRequest:
    """Continue from the last merge of a history, with new limits if given."""

    run: int
    history: MergeHistory
    control: RunControl
    limits: NewLimits | None = None


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Learn exactly one more merge at the end of a history."""

    run: int
    history: MergeHistory


@dataclass(frozen=True, slots=True)
class CandidatesRequest:
    """Report the `limit` best pairs at `step` of a history."""

    run: int
    history: MergeHistory
    serial: int
    step: int
    limit: int


@dataclass(frozen=True, slots=True)
class ReplaceRequest:
    """Train to the end beside the current run, which stays usable meanwhile."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    stop: threading.Event


@dataclass(frozen=True, slots=True)
class Started:
    """A new history exists; the vocabulary is certain to be able to grow to `sure_size`. `notices`: what is unusual."""

    run: int
    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """The run has learned `merges` merges so far, in `seconds` of training."""

    run: int
    merges: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Halted:
    """The worker halted; `merges` and `seconds` as in a batch, `config` with the present limits."""

    run: int
    merges: int
    seconds: float
    cause: Literal["paused", "stopped", "finished", "stepped"]
    stop_reason: str | None
    config: TrainingConfig


@dataclass(frozen=True, slots=True)
class Replaced:
    """A replacement run is complete; it ended for `stop_reason` after `seconds` of training."""

    started: Started
    seconds: float
    stop_reason: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """A command failed; `engine_lost`: the trainer had to be discarded."""

    run: int
    error: StudioError
    engine_lost: bool


@dataclass(frozen=True, slots=True)
class CandidatesAnswer:
    """The best pairs at `step`; None if the request was superseded or there is no engine."""

    run: int
    serial: int
    step: int
    pairs: tuple[Candidate, ...] | None
