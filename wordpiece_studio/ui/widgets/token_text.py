"""How tokens, numbers, formulas and the reasons why a token is never used are written, the same way in every pane.

Only text: no painting, no widget. A token is shown as it is, never obeyed; only invisible characters are spelled out.
A formula holds nothing that the engine has not computed: its value is the record's own, and its fractions are the
record's own counts, reduced.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication, QLocale

from wordpiece_studio.ui.widgets.plain import shown

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.usage import DeadReason

_JOINERS = "\u200c\u200d"
_NAMES = {"\t": "⟨tab⟩", "\r": "⟨CR⟩", "\xa0": "⟨nbsp⟩", "\ufeff": "⟨BOM⟩", "\xad": "⟨shy⟩"}
DEAD_MARK = "†"
RULES = {
    "score": "n(ab) / (n(a) × n(b))",
    "likelihood": "n(ab) × ln(n(ab) × N / (n(a) × n(b)))",
    "count": "n(ab)",
}
"""The value of each objective as it is defined; N is the number of symbols in the corpus."""


@lru_cache(maxsize=65536)
def token_text(token: str, limit: int = 60) -> str:
    r"""Return the text of a token for display.

    Invisible characters are spelled out, a combining mark without a letter gets a dotted circle to stand on,
    and a token of more than `limit` characters is cut.

    >>> token_text("##\u200b")
    '##⟨U+200B⟩'
    """
    if token.isascii() and token.isprintable():
        return shown(token, limit)
    count = len(token) if len(token) <= limit else limit - 1
    text = "".join(_visible(token, index) for index in range(count))
    return text if count == len(token) else text + "…"


def line_text(line: str) -> str:
    r"""Return a line of text for display, with invisible characters spelled out as in :func:`token_text`.

    The common ones have names.

    >>> line_text("a\tb\u200b")
    'a⟨tab⟩b⟨U+200B⟩'
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(_NAMES.get(character) or _visible(line, index) for index, character in enumerate(line))


def _visible(token: str, index: int) -> str:
    character = token[index]
    category = unicodedata.category(character)
    before = unicodedata.category(token[index - 1]) if index else "Zs"
    stands_on_something = before[0] in "LMNS" and token[index - 1] != "#"
    if character in _JOINERS and stands_on_something and index + 1 < len(token):
        return character
    if category[0] == "M":
        return character if stands_on_something else "◌" + character
    if category[0] in "CZ" and not (category == "Zs" and character == " "):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def number_text(number: int) -> str:
    """Return a whole number in groups of three digits, with the separator of the user's language."""
    if -1000 < number < 1000:
        return str(number)
    # Not QLocale's own: some languages, and the C locale, leave the separators out.
    return f"{number:,}".replace(",", QLocale().groupSeparator())


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
        whole, _, decimals = f"{value:,.{max(3 - exponent, 1)}f}".partition(".")
        return whole.replace(",", QLocale().groupSeparator()) + QLocale().decimalPoint() + decimals
    return f"{mantissa}e{exponent}".replace(".", QLocale().decimalPoint())


def dead_words(reason: DeadReason) -> str:
    """Return the reason in a few words."""
    templates = {
        "merged": _tr("all became {token} at {step}"),
        "covered": _tr("“{word}” takes {token}"),
        "unknown": _tr("“{word}” is unknown"),
        "absent": _tr("found in no word"),
    }
    several = _tr("went into {merges} others, last {token} at {step}")
    return _filled(several if reason.merges > 1 else templates[reason.kind], reason)


def dead_sentence(reason: DeadReason, spelled: int | None = None) -> str:
    """Return the reason in sentences; `spelled` is how many distinct words contain the token, if known."""
    templates = {
        "merged": _tr("Never used: an intermediate token. All of it became {token} at step {step}, as in “{word}”."),
        "covered": _tr("Never used: in “{word}” longest match takes {token}, born at step {step}, instead."),
        "unknown": _tr("Never used: “{word}”, which contains it, is unknown as a whole."),
        "absent": _tr("Never used: no word of the corpus contains it where it could be matched."),
    }
    several = _tr(
        "Never used: an intermediate token. {merges} merges absorbed it wherever it occurred; the last made {token} at"
        " step {step}, as in “{word}”."
    )
    if reason.kind == "covered" and not reason.step:
        templates["covered"] = _tr("Never used: in “{word}” longest match takes {token}, from the alphabet, instead.")
    sentence = _filled(several if reason.merges > 1 else templates[reason.kind], reason)
    if not spelled:
        return sentence
    if spelled == 1:
        return sentence + " " + _tr("One word contains it; longest match splits that word differently.")
    more = _tr("{count} words contain it; longest match splits all of them differently.")
    return sentence + " " + more.format(count=number_text(spelled))


def _filled(template: str, reason: DeadReason) -> str:
    return template.format(
        word=token_text(reason.word, 40),
        token=token_text(reason.token),
        step=number_text(reason.step),
        merges=number_text(reason.merges),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("DeadText", text)


class PairNumbers(Protocol):
    """What a merge and a candidate have in common."""

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


def formula_of(objective: str, pair: PairNumbers, symbols: int) -> Formula:
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
    together, left, right = (
        number_text(count) for count in (pair.pair_frequency, pair.left_frequency, pair.right_frequency)
    )
    rule, value = RULES[objective], value_text(pair.value)
    if objective == "count" or not pair.left_frequency * pair.right_frequency:
        return Formula(rule, "", (), value)
    ratio = fraction_text(ratio_of(pair, symbols))
    if objective == "likelihood":
        inside = f"{together} × {number_text(symbols)} / ({left} × {right})"
        parts = (f"{together} × ln({ratio})", f"{together} × {value_text(pair.value / pair.pair_frequency)}")
        return Formula(rule, f"{together} × ln({inside})", parts, value)
    reduced = fraction_text(Fraction(pair.pair_frequency, pair.left_frequency * pair.right_frequency))
    return Formula(rule, f"{together} / ({left} × {right})", () if reduced == value else (reduced,), value)


def ratio_of(pair: PairNumbers, symbols: int) -> Fraction:
    """Return p(ab) / (p(a) · p(b)) exactly, where each p is a count over N, the `symbols` in the corpus.

    It says how many times as often the pair occurs as it would by chance; it is the score times N, and the gain of
    `likelihood` is n(ab) times its logarithm.

    >>> from wordpiece_studio.training.engine import Candidate
    >>> ratio_of(Candidate("##g", "##s", "##gs", 5, 20, 5, 0.05, False), 113)
    Fraction(113, 20)
    """
    return Fraction(pair.pair_frequency * symbols, pair.left_frequency * pair.right_frequency)


def ratio_over_neighbours(pair: PairNumbers, symbols: int, words: int) -> Fraction | None:
    """Return the same ratio with p(ab) = n(ab) / P, where P counts the pairs of neighbours in the corpus, N - `words`.

    `words` is weighted, as N is. None if there are no neighbours.
    """
    neighbours = symbols - words
    return ratio_of(pair, symbols) * symbols / neighbours if neighbours > 0 else None


def fraction_text(fraction: Fraction) -> str:
    """Return ``1/20``, or ``3``."""
    above = number_text(fraction.numerator)
    return above if fraction.denominator == 1 else f"{above}/{number_text(fraction.denominator)}"
