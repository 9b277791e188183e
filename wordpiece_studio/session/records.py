"""The small frozen records that the model passes to the panes: state, progress, selection, candidates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from wordpiece_studio.training.engine import Candidate


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
    """The progress of a training.

    Attributes
    ----------
    merges
        Number of merges learned and published.
    vocabulary_size
        Number of tokens after them.
    target_size
        The requested vocabulary size; None if there is no such limit.
    symbols
        Number of symbols that the corpus consists of after them, weighted.
    seconds
        Time that the engine has trained, excluding pauses.
    seconds_left
        Estimate of the remaining time; None if unknown.
    is_target_sure
        Whether the corpus has enough words to reach `target_size`; otherwise training may run out of pairs first.
    """

    merges: int
    vocabulary_size: int
    target_size: int | None
    symbols: int
    seconds: float
    seconds_left: float | None
    is_target_sure: bool = True


@dataclass(frozen=True, slots=True)
class Selection:
    """The one thing that all panes look at: a pair (`left`, `right`), a token or a word (`text`)."""

    kind: Literal["pair", "token", "word"]
    left: str = ""
    right: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best pairs at a step.

    Attributes
    ----------
    step
        The step they belong to, as a number of merges.
    pairs
        Best first; empty if no pair is left, or if nothing is available.
    available
        False if there is no run, or not enough memory to find them beside a running training.
    """

    step: int
    pairs: tuple[Candidate, ...]
    available: bool
