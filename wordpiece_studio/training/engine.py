"""What every engine offers; the trainer drives it and knows no other difference between them than their speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from wordpiece_studio.training.history import MergeBatch

StopReason = Literal[
    "vocab_size", "no_pair", "min_frequency", "max_token_length", "min_value", "max_merges", "max_seconds"
]


@dataclass(frozen=True, slots=True)
class RankedPair:
    """A candidate in the engine's terms: tokens by their vocabulary ids, the numbers as in :class:`Candidate`."""

    left_id: int
    right_id: int
    pair_frequency: int
    left_frequency: int
    right_frequency: int
    value: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Where to stop merging anew: at this vocabulary size, and when the best value is below this floor."""

    vocab_size: int | None
    min_value: float | None


class Engine(Protocol):
    """A segmentation of the corpus that can be moved forth and back, one merge at a time."""

    @property
    def current_step(self) -> int:
        """The number of merges carried out."""
        ...

    @property
    def known(self) -> int:
        """The number of merges ever found. The way from `step` to here is replayed without choosing again."""
        ...

    def advance(self, merges: int, limits: Limits) -> tuple[MergeBatch, StopReason | None]:
        """Carry out at most `merges` merges and return the new ones, and why it stopped before, if it did.

        May stop short for no reason, so that its caller can look up; but never without progress.
        """
        ...

    def retreat(self, merges: int) -> None:
        """Undo the last `merges` merges."""
        ...

    def forget(self, known: int, vocabulary_size: int) -> None:
        """Undo and unlearn all merges after the first `known`, with which there are so many tokens.

        Takes no memory and sets right whatever `advance` left behind when that was used up.
        """
        ...

    def ranked(self, limit: int) -> list[RankedPair]:
        """Return the best `limit` candidates at this step, the next merge first; ties in the order of the rule."""
        ...
