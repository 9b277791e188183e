"""What every engine offers, and what is said of a merge and of a candidate for it.

The trainer drives an engine and knows no other difference between them than their speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Merge:
    """One step of a training. All counts are those *before* the merge.

    Attributes
    ----------
    step
        1 for the first merge.
    left, right, token
        The pair and the token that it became, prefix included.
    pair_frequency
        n(a, b): adjacent occurrences of the pair, weighted by how often each word occurs. Overlaps count.
    left_frequency, right_frequency
        f(a), f(b): occurrences of each symbol, weighted.
    symbols_before
        N: symbols in the corpus, weighted.
    value
        The objective's value of the pair.
    ties
        How many pairs had the best value, this one included: 1 means no tie.
    is_new
        False if the token was in the vocabulary before, which then did not grow.
    """

    step: int
    left: str
    right: str
    token: str
    pair_frequency: int
    left_frequency: int
    right_frequency: int
    symbols_before: int
    value: float
    ties: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be merged next. `is_tied`: it is as good as the best one, and is not alone in that."""

    left: str
    right: str
    token: str
    pair_frequency: int
    left_frequency: int
    right_frequency: int
    value: float
    is_tied: bool


@dataclass(frozen=True, slots=True)
class MergeBatch:
    """Merges as an engine reports them: arrays of shape (n,), one entry a merge.

    Attributes
    ----------
    columns
        The columns of the history by name.
    position_counts
        int64: how many places each merge changed.
    positions
        int32, the places of all merges one after the other: the first cell of the left symbol, ascending per merge.
    left_lengths
        int64: cells in the left symbol of each merge.
    """

    columns: dict[str, NDArray[Any]]
    position_counts: NDArray[np.int64]
    positions: NDArray[np.int32]
    left_lengths: NDArray[np.int64]


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
