"""The formula of a pair's value, filled in with its numbers, as text for the window and for notebooks.

A formula holds nothing that the engine has not computed: its value is the record's own, and its fractions are the
record's own counts, reduced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

RULES = {
    "score": "n(ab) / (n(a) × n(b))",
    "likelihood": "n(ab) × ln(n(ab) × N / (n(a) × n(b)))",
    "count": "n(ab)",
}
"""The value of each objective as it is defined; N is the number of symbols in the corpus."""


class Pair(Protocol):
    """A merge or a candidate, as far as its value follows from it."""

    @property
    def pair_frequency(self) -> int: ...

    @property
    def left_frequency(self) -> int: ...

    @property
    def right_frequency(self) -> int: ...

    @property
    def value(self) -> float: ...


def number_text(number: int) -> str:
    """Return a whole number in groups of three digits.

    >>> number_text(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def value_text(value: float) -> str:
    """Return a value of an objective: whole as it is, else in four significant digits, small ones with an exponent.

    >>> value_text(1 / 6), value_text(3.0), value_text(0.0009358), value_text(0.0000123456)
    ('0.1667', '3', '0.0009358', '1.235e-5')
    """
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return number_text(int(value))
    mantissa, _, power = f"{value:.3e}".partition("e")
    exponent = int(power)
    if -4 <= exponent < 9:
        return f"{value:,.{max(3 - exponent, 1)}f}"
    return f"{mantissa}e{exponent}"


def fraction_text(fraction: Fraction) -> str:
    above = number_text(fraction.numerator)
    return above if fraction.denominator == 1 else f"{above}/{number_text(fraction.denominator)}"


@dataclass(frozen=True, slots=True)
class Formula:
    """The parts of ``rule = numbers = reduced = value``; an empty part is left out.

    ``rule``: ``n(ab) / (n(a) × n(b))`` · ``numbers``: ``5 / (20 × 5)`` · ``reduced``: ``1/20`` · ``value``: ``0.0500``.
    The gain of `likelihood` is reduced to its parts, the count and the logarithm of the ratio.
    """

    rule: str
    numbers: str
    reduced: tuple[str, ...]
    value: str

    @property
    def text(self) -> str:
        """All parts that are not empty, joined by equals signs."""
        return " = ".join(part for part in (self.rule, self.numbers, *self.reduced, self.value) if part)


def formula_of(objective: str, pair: Pair, symbols: int) -> Formula:
    """Fill in the formula of the objective.

    Parameters
    ----------
    objective
        ``"score"``, ``"likelihood"`` or ``"count"``.
    pair
        The numbers of the merge or candidate.
    symbols
        N, the number of symbols in the corpus before the merge; only `likelihood` needs it.
    """
    together, left, right, total = (
        number_text(count) for count in (pair.pair_frequency, pair.left_frequency, pair.right_frequency, symbols)
    )
    rule, value = RULES[objective], value_text(pair.value)
    if objective == "count" or not pair.left_frequency * pair.right_frequency:
        return Formula(rule, "", (), value)
    ratio = fraction_text(ratio_of(pair, symbols))
    if objective == "likelihood":
        inside = f"{together} × {total} / ({left} × {right})"
        logarithm = value_text(pair.value / pair.pair_frequency)
        parts = (f"{together} × ln({ratio})", f"{together} × {logarithm}")
        return Formula(rule, f"{together} × ln({inside})", parts, value)
    reduced = fraction_text(Fraction(pair.pair_frequency, pair.left_frequency * pair.right_frequency))
    return Formula(rule, f"{together} / ({left} × {right})", () if reduced == value else (reduced,), value)


def ratio_of(pair: Pair, symbols: int) -> Fraction:
    """Return p(ab) / (p(a) · p(b)) exactly, where each p is a count over N, the `symbols` in the corpus.

    It says how many times as often the pair occurs as it would by chance; it is the score times N, and the gain of
    `likelihood` is n(ab) times its logarithm.

    >>> from wordpiece_studio.training.engine import Candidate
    >>> ratio_of(Candidate("##g", "##s", "##gs", 5, 20, 5, 0.05, False), 113)
    Fraction(113, 20)
    """
    return Fraction(pair.pair_frequency * symbols, pair.left_frequency * pair.right_frequency)


def ratio_over_neighbours(pair: Pair, symbols: int, words: int) -> Fraction | None:
    """Return the same ratio with p(ab) = n(ab) / P, where P counts the pairs of neighbours in the corpus, N - `words`.

    `words` is weighted, as N is. None if there are no neighbours.
    """
    neighbours = symbols - words
    return ratio_of(pair, symbols) * symbols / neighbours if neighbours > 0 else None
