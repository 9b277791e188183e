"""Character classes for every code point, from ``resources/unicode``: BERT's, and those of the `tokenizers` library.

They are tables rather than calls of `unicodedata` because BERT's classes come from old Unicode versions with a few
faults of their own, and must not change with the Python version. Those of the library build on BERT's.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Self

from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# Hangul, whose syllables are composed by arithmetic
FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3
_LEADING, _VOWEL, _TRAILING = 0x1100, 0x1161, 0x11A7
_LEADINGS, _VOWELS, _TRAILINGS = 19, 21, 28


class CodePoints:
    """A set of code points, kept as ranges.

    >>> digits = CodePoints("0030-0039 00B2")
    >>> ord("7") in digits, ord("x") in digits
    (True, False)
    """

    __slots__ = ("_bounds", "ranges")

    def __init__(self, ranges: str) -> None:
        pairs = [part.partition("-") for part in ranges.split()]
        self.ranges = [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]
        # Ascending: where each range begins, and where it ends. A code point inside a range has an odd number of
        # bounds before it.
        self._bounds = [bound for first, last in self.ranges for bound in (first, last + 1)]

    @classmethod
    def of(cls, characters: Iterable[str]) -> Self:
        return cls(" ".join(f"{first:X}-{last:X}" for first, last in _ranges(characters, bridging=1)))

    def __contains__(self, code_point: int) -> bool:
        return bisect_right(self._bounds, code_point) % 2 == 1

    def pattern(self) -> str:
        return _pattern(self.ranges)


def ranges_outside(*sets: CodePoints) -> list[tuple[int, int]]:
    inside = sorted(pair for members in sets for pair in members.ranges)
    starts = [0, *(last + 1 for _, last in inside)]
    ends = [*(first - 1 for first, _ in inside), 0x10FFFF]
    return [(start, end) for start, end in zip(accumulate(starts, max), ends, strict=True) if start <= end]


def rough_pattern(characters: Iterable[str]) -> str:
    """Return what matches `characters` in brackets, and a few more beyond U+FFFF, where each range takes time."""
    return _pattern(_ranges(characters, bridging=0x1000))


def _pattern(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


def _ranges(characters: Iterable[str], bridging: int) -> list[tuple[int, int]]:
    """Return ranges of the characters, joined beyond U+FFFF if they are at most `bridging` apart."""
    codes = sorted(map(ord, characters))
    gaps = [
        (before, after) for before, after in pairwise(codes) if after - before > (bridging if before > 0xFFFF else 1)
    ]
    return list(zip(codes[:1] + [after for _, after in gaps], [before for before, _ in gaps] + codes[-1:], strict=True))


def one_pattern(ranges: Iterable[tuple[int, int]]) -> str:
    """Return a regular expression for a character in any of the ranges; faster for most characters than brackets.

    Beyond U+FFFF a regular expression tries one range after the other, here only for characters beyond U+FFFF.
    """
    low, beyond = _low_and_beyond(ranges)
    return f"[{low}]|{beyond}"


def run_pattern(ranges: Iterable[tuple[int, int]]) -> str:
    low, beyond = _low_and_beyond(ranges)
    return f"[{low}]+(?:{beyond}[{low}]*)*|(?:{beyond}[{low}]*)+"


def _low_and_beyond(ranges: Iterable[tuple[int, int]]) -> tuple[str, str]:
    pairs = list(ranges)
    low = _pattern((first, min(last, 0xFFFF)) for first, last in pairs if first <= 0xFFFF)
    high = _pattern((max(first, 0x10000), last) for first, last in pairs if last > 0xFFFF)
    return low, f"[\U00010000-\U0010ffff](?<=[{high}])"


class CharacterMap(dict[int, str | None]):
    """A table for `str.translate` that computes a character's entry when it first meets it."""

    __slots__ = ("_rule",)

    def __init__(self, rule: Callable[[int], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code_point: int) -> str | None:
        # None, not the empty string, keeps str.translate on its fast path.
        value = self[code_point] = self._rule(code_point) or None
        return value


@dataclass(frozen=True, slots=True)
class BertTables:
    """The classes that BERT's normalizer and pre-tokenizer use; `marks` is what stripping accents removes."""

    removed: CodePoints
    to_space: CodePoints
    chinese: CodePoints
    marks: CodePoints
    punctuation: CodePoints
    whitespace: CodePoints
    combining: dict[str, int]
    decompositions: dict[int, str]
    lower_case: dict[int, str]

    def decompose(self, code_point: int) -> str:
        if not FIRST_SYLLABLE <= code_point <= LAST_SYLLABLE:
            return self.decompositions.get(code_point) or chr(code_point)
        leading_and_vowel, trailing = divmod(code_point - FIRST_SYLLABLE, _TRAILINGS)
        leading, vowel = divmod(leading_and_vowel, _VOWELS)
        jamo = chr(_LEADING + leading) + chr(_VOWEL + vowel)
        return jamo + chr(_TRAILING + trailing) if trailing else jamo


@cache
def bert_tables() -> BertTables:
    data: dict[str, Any] = json.loads(resource_path("unicode/bert.json").read_text(encoding="ascii"))
    classes = {int(number): CodePoints(ranges) for number, ranges in data["combining"].items()}
    ranges = ((number, *pair) for number, members in classes.items() for pair in members.ranges)
    combining = {chr(code): number for number, first, last in ranges for code in range(first, last + 1)}
    names = ("removed", "to_space", "chinese", "marks", "punctuation", "whitespace")
    sets = {name: CodePoints(data[name]) for name in names}
    decompositions, lower_case = _texts_of(data["decompose"]), _texts_of(data["lower"])
    return BertTables(**sets, combining=combining, decompositions=decompositions, lower_case=lower_case)


def _texts_of(entries: dict[str, str]) -> dict[int, str]:
    return {int(key, 16): "".join(chr(int(part, 16)) for part in text.split()) for key, text in entries.items()}


@dataclass(frozen=True, slots=True)
class FormTables:
    """The classes that the `tokenizers` library uses beyond BERT's.

    `marks` is what stripping accents removes from a text that is not decomposed first, more than BERT strips;
    `composites` lacks Hangul syllables.
    """

    marks: CodePoints
    word: CodePoints
    composites: dict[tuple[str, str], str]
    compatible: dict[int, str]

    def compose(self, first: str, second: str) -> str | None:
        if composite := self.composites.get((first, second)):
            return composite
        code, vowel, trailing = ord(first), ord(second) - _VOWEL, ord(second) - _TRAILING
        if 0 <= code - _LEADING < _LEADINGS and 0 <= vowel < _VOWELS:
            return chr(FIRST_SYLLABLE + ((code - _LEADING) * _VOWELS + vowel) * _TRAILINGS)
        is_open = FIRST_SYLLABLE <= code <= LAST_SYLLABLE and (code - FIRST_SYLLABLE) % _TRAILINGS == 0
        return chr(code + trailing) if is_open and 0 < trailing < _TRAILINGS else None

    def decompose_compatibly(self, code_point: int) -> str:
        return self.compatible.get(code_point) or bert_tables().decompose(code_point)

    def following(self) -> set[str]:
        jamo = (*range(_VOWEL, _VOWEL + _VOWELS), *range(_TRAILING + 1, _TRAILING + _TRAILINGS))
        return {*map(chr, jamo), *(second for _, second in self.composites)}


@cache
def form_tables() -> FormTables:
    data: dict[str, Any] = json.loads(resource_path("unicode/forms.json").read_text(encoding="ascii"))
    return FormTables(
        marks=CodePoints(data["marks"]),
        word=CodePoints(data["word"]),
        composites=_composites(CodePoints(data["excluded"])),
        compatible=_texts_of(data["compatible"]),
    )


def _composites(excluded: CodePoints) -> dict[tuple[str, str], str]:
    composed: dict[str, str] = {}
    pairs: dict[tuple[str, str], str] = {}
    for code_point, parts in sorted(bert_tables().decompositions.items(), key=lambda entry: len(entry[1])):
        if code_point not in excluded:
            composed[parts] = chr(code_point)
            pairs[composed.get(parts[:-1], parts[0]), parts[-1]] = chr(code_point)
    return pairs


@dataclass(frozen=True, slots=True)
class PatternTables:
    """The classes of the `tokenizers` library's digits and regular expressions, with what its Unicode lacks."""

    digit: CodePoints
    letter: CodePoints
    number: CodePoints
    unassigned: CodePoints


@cache
def pattern_tables() -> PatternTables:
    data: dict[str, str] = json.loads(resource_path("unicode/patterns.json").read_text(encoding="ascii"))
    return PatternTables(**{name: CodePoints(data[name]) for name in ("digit", "letter", "number", "unassigned")})
