"""The small frozen records that the model hands to the panes: state, progress, selection, candidates.

They say what is so; they do nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from wordpiece_studio.training.engine import Candidate


class TrainerState(Enum):
    """What the trainer is doing.

    `IDLE`: nothing was trained yet. `TRAINING`: the worker learns, or prepares to. `PAUSED`: it can be resumed.
    `FINISHED`: a stop rule was met, or the user stopped it; it can be trained further. `FAILED`: the last command
    went wrong; what was learned before is still there.
    """

    IDLE = "idle"
    TRAINING = "training"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is.

    Attributes
    ----------
    merges
        Number of merges learned and published.
    vocabulary_size
        Number of tokens after them.
    target_size
        The vocabulary size asked for; None if there is no such limit.
    symbols
        Number of symbols that the corpus is made of after them, weighted.
    seconds
        Time that the engine has trained, pauses left out.
    seconds_left
        Estimate of the time that is missing; None if nothing can be said.
    is_target_sure
        Whether the corpus has words enough to reach `target_size`; else the training may end before, with no pair left.
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
        The step they stand at: after so many merges.
    pairs
        Best first; empty if no pair is left, or if nothing is available.
    available
        False where there is no run, or not enough memory to find them beside a training that runs.
    """

    step: int
    pairs: tuple[Candidate, ...]
    available: bool
