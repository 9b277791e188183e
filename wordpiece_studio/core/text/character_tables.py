"""BERT's character classes, for every code point, from ``resources/unicode/bert.json``.

They are tables and not calls of `unicodedata` because BERT's classes are those of old Unicode versions with a
few faults of their own, and must not change with the Python that runs them.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST_SYLLABLE, _LAST_SYLLABLE = 0xAC00, 0xD7A3  # Hangul
_LEADING, _VOWEL, _TRAILING = 0x1100, 0x1161, 0x11A7
_VOWELS, _TRAILINGS = 21, 28


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
        # Ascending: where a range begins, and where it is over. Inside a range an odd number of them lies
        # behind.
        self._bounds = [bound for first, last in self.ranges for bound in (first, last + 1)]

    def __contains__(self, code_point: int) -> bool:
        return bisect_right(self._bounds, code_point) % 2 == 1

    def pattern(self) -> str:
        """Return the set as the inside of a regular expression's brackets."""
        return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in self.ranges)


class CharacterMap(dict[int, str | None]):
    """A table for `str.translate` that works out a character's entry when it first meets it.

    Full tables would hold the 137,000 private-use characters that BERT removes, which no text needs.
    """

    __slots__ = ("_rule",)

    def __init__(self, rule: Callable[[int], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code_point: int) -> str | None:
        # None, not the empty string, keeps str.translate on its fast road.
        value = self[code_point] = self._rule(code_point) or None
        return value


@dataclass(frozen=True, slots=True)
class BertTables:
    """The classes that BERT's normalizer and pre-tokenizer go by.

    Attributes
    ----------
    removed, to_space
        What cleaning removes, and what it turns into a blank.
    chinese
        What gets a blank on either side.
    marks
        What stripping accents removes, once the text is decomposed.
    combining
        The canonical combining class of each character that has one other than 0.
    punctuation, whitespace
        What stands alone as a word, and what separates words.
    """

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
        """Return the full canonical decomposition of a character, itself if there is none."""
        if _FIRST_SYLLABLE <= code_point <= _LAST_SYLLABLE:
            return _decompose_syllable(code_point)
        return self.decompositions.get(code_point) or chr(code_point)


def _decompose_syllable(code_point: int) -> str:
    leading_and_vowel, trailing = divmod(code_point - _FIRST_SYLLABLE, _TRAILINGS)
    leading, vowel = divmod(leading_and_vowel, _VOWELS)
    jamo = chr(_LEADING + leading) + chr(_VOWEL + vowel)
    return jamo + chr(_TRAILING + trailing) if trailing else jamo


@cache
def bert_tables() -> BertTables:
    """Return the tables; they are read when they are first asked for."""
    data: dict[str, Any] = json.loads(resource_path("unicode/bert.json").read_text(encoding="ascii"))
    classes = {int(number): CodePoints(ranges) for number, ranges in data["combining"].items()}
    return BertTables(
        removed=CodePoints(data["removed"]),
        to_space=CodePoints(data["to_space"]),
        chinese=CodePoints(data["chinese"]),
        marks=CodePoints(data["marks"]),
        punctuation=CodePoints(data["punctuation"]),
        whitespace=CodePoints(data["whitespace"]),
        combining={
            chr(code_point): number
            for number, members in classes.items()
            for first, last in members.ranges
            for code_point in range(first, last + 1)
        },
        decompositions=_texts(data["decompose"]),
        lower_case=_texts(data["lower"]),
    )


def _texts(entries: dict[str, str]) -> dict[int, str]:
    return {int(key, 16): "".join(chr(int(part, 16)) for part in text.split()) for key, text in entries.items()}
