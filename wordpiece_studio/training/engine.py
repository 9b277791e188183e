"""The records of a merge and of a candidate, as the engines find them, and their formulas as text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.training.config import Objective
    from wordpiece_studio.training.segmentation import HistoryPlaces

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
        The number of pairs with this value, this one included: 1 means no tie.
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
    __slots__ = ()

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, more: int = 0) -> str:
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
    """Merges as an engine reports them: the columns of the history by name, and where the merges took place."""

    columns: dict[str, NDArray[Any]]
    places: HistoryPlaces

    def __len__(self) -> int:
        return len(self.places.position_counts)


StopReason = Literal[
    "vocab_size", "no_pair", "min_frequency", "max_token_length", "forbidden", "min_value", "max_merges", "max_seconds"
]


class NotACandidateError(StudioError):
    """Raised before a step for which a pair is chosen that is not a candidate there."""

    def __init__(self, step: int, pair: tuple[str, str]) -> None:
        what = "{left} + {right}, chosen for step {step}, is not a candidate there"
        super().__init__(what, "Choose another pair, or none.", left=pair[0], right=pair[1], step=step)
        self.step, self.pair = step, pair

    def __reduce__(self) -> tuple[type[NotACandidateError], tuple[int, tuple[str, str]]]:
        return NotACandidateError, (self.step, self.pair)


# A candidate as an engine reports it: the vocabulary ids of its parts, n(a, b), f(a), f(b), and its value.
RankedPair = tuple[int, int, int, int, int, float]


# The value of each objective as it is defined; N is the number of symbols in the corpus.
RULES = {"score": "n(ab) / (n(a) × n(b))", "likelihood": "n(ab) × ln(n(ab) × N / (n(a) × n(b)))", "count": "n(ab)"}


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
    """The parts of ``rule = numbers = reduced = value``: ``n(ab) / (n(a) × n(b)) = 5 / (20 × 5) = 1/20 = 0.05``.

    The gain of `likelihood` is reduced to its parts, the count and the logarithm of the ratio.
    """

    rule: str
    numbers: str
    reduced: tuple[str, ...]
    value: str

    @property
    def text(self) -> str:
        return " = ".join(part for part in (self.rule, self.numbers, *self.reduced, self.value) if part)

    @property
    def short(self) -> str:
        """The value, that of `score` as a fraction."""
        return self.reduced[0] if len(self.reduced) == 1 else self.value


def formula_of(objective: str, pair: Merge | Candidate, symbols: int) -> Formula:
    """Fill in the formula of an objective; `symbols` is N, the number of symbols in the corpus before the merge."""
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


def ratio_of(pair: Merge | Candidate, symbols: int) -> Fraction:
    """Return p(ab) / (p(a) · p(b)) exactly, where each p is a count over N, the `symbols` in the corpus.

    It says how many times as often the pair occurs as it would by chance; it is the score times N, and the gain of
    `likelihood` is n(ab) times its logarithm.

    >>> from wordpiece_studio.training.engine import Candidate
    >>> ratio_of(Candidate("##g", "##s", "##gs", 5, 20, 5, 0.05, False), 113)
    Fraction(113, 20)
    """
    return Fraction(pair.pair_frequency * symbols, pair.left_frequency * pair.right_frequency)


def ratio_over_neighbours(pair: Merge | Candidate, symbols: int, words: int) -> Fraction | None:
    """Return the same ratio with p(ab) = n(ab) / P, where P counts the pairs of neighbours: N - `words`, weighted."""
    neighbours = symbols - words
    return ratio_of(pair, symbols) * symbols / neighbours if neighbours > 0 else None
