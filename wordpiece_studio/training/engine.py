"""The interface of the engines, and the records of a merge and of a candidate.

The trainer drives an engine through it; engines differ only in speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from wordpiece_studio.training.formula import RULES, formula_of, ratio_of, value_text

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.config import Objective

_VALUE_NAMES = {"score": "score", "likelihood": "gain", "count": "count"}


@dataclass(frozen=True, slots=True)
class Merge:
    """One step of a training. All counts are those *before* the merge.

    Attributes
    ----------
    step
        1 for the first merge.
    left, right, token
        The pair and the token that it became, with their prefixes.
    pair_frequency
        n(a, b): adjacent occurrences of the pair, weighted by how often each word occurs. Overlaps count.
    left_frequency, right_frequency
        f(a), f(b): occurrences of each symbol, weighted.
    symbols_before
        N: symbols in the corpus, weighted.
    value
        The objective's value of the pair.
    ties
        The number of pairs with the best value, this one included: 1 means no tie.
    is_new
        False if the token was in the vocabulary already, so that it did not grow.
    objective
        What `value` is a value of.
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
    objective: Objective = "likelihood"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import merge_html

        formula = formula_of(self.objective, self, self.symbols_before)
        parts = (_VALUE_NAMES[self.objective], formula.rule, formula.numbers, *formula.reduced)
        ratio = value_text(float(ratio_of(self, self.symbols_before)))
        notes = [
            f"The pair occurs {ratio} times as often as expected by chance: p(ab) / (p(a) × p(b)), "
            f"where N = {self.symbols_before:,}."
        ]
        if self.ties > 1:
            notes.append(f"{self.ties:,} candidates tied.")
        if not self.is_new:
            notes.append("The token was already in the vocabulary.")
        pair = self.left, self.right, self.token
        return merge_html(self.step, pair, " = ".join(filter(None, parts)), formula.value, notes)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be merged next; its fields are those of :class:`Merge`.

    `is_tied`: it shares the best value with at least one other pair.
    """

    left: str
    right: str
    token: str
    pair_frequency: int
    left_frequency: int
    right_frequency: int
    value: float
    is_tied: bool
    symbols_before: int = 0
    objective: Objective = "likelihood"


_Pair = TypeVar("_Pair", Merge, Candidate)


class PairList(list[_Pair]):
    """Merges or candidates in a list, which a notebook shows as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, more: int = 0) -> str:
        """Return the pairs as a table that says how many `more` there are."""
        from wordpiece_studio.notebook import MOST_ROWS, pairs_html

        if not self:
            return "<div>No pairs</div>"
        objective, are_merges = self[0].objective, isinstance(self[0], Merge)
        rows = []
        for rank, pair in enumerate(self[:MOST_ROWS], start=1):
            if isinstance(pair, Merge):
                number, tie = pair.step, f"tie of {pair.ties:,}" if pair.ties > 1 else ""
            else:
                number, tie = rank, "tie" if pair.is_tied else ""
            formula = formula_of(objective, pair, pair.symbols_before)
            numbers = formula.numbers or f"{pair.pair_frequency:,}"
            rows.append((number, (pair.left, pair.right, pair.token), numbers, formula.value, tie))
        titles = ("step" if are_merges else "rank", "pair", RULES[objective], _VALUE_NAMES[objective], "")
        return pairs_html(titles, rows, len(self) - len(rows) + more, "merge" if are_merges else "candidate")


@dataclass(frozen=True, slots=True)
class MergeBatch:
    """Merges as an engine reports them: arrays of shape (n,), one entry per merge.

    Attributes
    ----------
    columns
        The columns of the history by name.
    position_counts
        int64: the number of places that each merge changed.
    positions
        int32, any length: the places of all merges, merge after merge, each the first cell of a left symbol, ascending
        per merge.
    left_lengths
        int64: the number of cells in the left symbol of each merge.
    """

    columns: dict[str, NDArray[Any]]
    position_counts: NDArray[np.int64]
    positions: NDArray[np.int32]
    left_lengths: NDArray[np.int64]


StopReason = Literal[
    "vocab_size", "no_pair", "min_frequency", "max_token_length", "min_value", "max_merges", "max_seconds"
]


RankedPair = tuple[int, int, int, int, int, float]
"""A candidate as an engine reports it: the vocabulary ids of its parts, n(a, b), f(a), f(b), and its value."""


class Engine(Protocol):
    """A segmentation of the corpus that moves forward and back, one merge at a time."""

    @property
    def current_step(self) -> int:
        """The number of merges carried out."""
        ...

    @property
    def known(self) -> int:
        """The number of merges found so far, undone ones included; up to here, `advance` replays without choosing."""
        ...

    def advance(
        self, merges: int, vocab_size: int | None = None, min_value: float | None = None
    ) -> tuple[MergeBatch, StopReason | None]:
        """Carry out at most `merges` merges; return the new ones, and the reason if a limit stopped it early.

        None is found at this vocabulary size, or if its value is below this floor.

        May also return early without a reason, to let its caller do other things, but never without progress.
        """
        ...

    def retreat(self, merges: int) -> None:
        """Undo the last `merges` merges."""
        ...

    def forget(self, known: int, vocabulary_size: int) -> None:
        """Undo and forget all merges after the first `known`, at which the vocabulary has `vocabulary_size` tokens.

        Needs no memory, and repairs whatever `advance` left behind when memory ran out.
        """
        ...

    def ranked(self, limit: int) -> list[RankedPair]:
        """Return the best `limit` candidates at this step, the next merge first; ties in the order of the tie rule."""
        ...
