"""The formula of an objective filled in with the numbers of one merge or rival, as plain text in its parts.

It computes nothing that the engine has not computed: the value shown is the record's own, the fraction is the record's
own counts, reduced.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Protocol

from wordpiece_studio.ui.look.token_text import number_text, value_text


class PairNumbers(Protocol):
    """What a merge and a rival have in common."""

    @property
    def pair_frequency(self) -> int: ...
    @property
    def left_frequency(self) -> int: ...
    @property
    def right_frequency(self) -> int: ...
    @property
    def value(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Formula:
    """The parts of ``rule = numbers = fraction = value``; an empty part is left out.

    ``rule``: ``n(ab) / (n(a) × n(b))`` · ``numbers``: ``1 / (1 × 6)`` · ``fraction``: ``1/6`` · ``value``: ``0.1667``.
    """

    rule: str
    numbers: str
    fraction: str
    value: str

    @property
    def text(self) -> str:
        """All parts that are there, joined by equal signs."""
        parts = (self.rule, self.numbers, self.fraction, self.value)
        return " = ".join(part for part in parts if part)


def formula_of(objective: str, pair: PairNumbers, symbols: int) -> Formula:
    """Fill in the formula of the objective.

    Parameters
    ----------
    objective
        ``"score"``, ``"likelihood"`` or ``"count"``.
    pair
        The numbers of the merge or rival.
    symbols
        N, the number of symbols in the corpus before the merge; only `likelihood` needs it.
    """
    together, left, right = (
        number_text(count) for count in (pair.pair_frequency, pair.left_frequency, pair.right_frequency)
    )
    value = value_text(pair.value)
    if objective == "count":
        return Formula("n(ab)", "", "", value)
    if objective == "likelihood":
        inside = f"{together} × {number_text(symbols)} / ({left} × {right})"
        return Formula("n(ab) × ln(n(ab) × N / (n(a) × n(b)))", f"{together} × ln({inside})", "", value)
    return Formula("n(ab) / (n(a) × n(b))", f"{together} / ({left} × {right})", _reduced(pair), value)


def _reduced(pair: PairNumbers) -> str:
    below = pair.left_frequency * pair.right_frequency
    if below <= 0:
        return ""
    divisor = gcd(pair.pair_frequency, below)
    above, below = pair.pair_frequency // divisor, below // divisor
    return number_text(above) if below == 1 else f"{number_text(above)}/{number_text(below)}"
