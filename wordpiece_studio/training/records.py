"""What is said of one merge and of one candidate for it."""

from __future__ import annotations

from dataclasses import dataclass


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
