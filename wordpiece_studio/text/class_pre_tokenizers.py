"""Pre-tokenizers that go by the class of a character: white space, punctuation, letters.

The classes are the `tokenizers` library's, for every code point, and do not change with the Python that runs them.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from wordpiece_studio.text.character_tables import bert_tables, one_pattern, ranges_outside, run_pattern
from wordpiece_studio.text.form_tables import form_tables
from wordpiece_studio.text.pre_tokenizer import CharacterPreTokenizer, Span

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Matching(CharacterPreTokenizer):
    """What they have in common: the words are the matches of a pattern without groups."""

    __slots__ = ()

    @property
    @abstractmethod
    def _pattern(self) -> re.Pattern[str]:
        """What matches a word."""

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand."""
        return [Span(match[0], match.start(), match.end()) for match in self._pattern.finditer(text)]

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        words: list[str] = self._pattern.findall(text)
        return words

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of `text`."""
        for match in self._pattern.finditer(text):
            yield match[0]


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(_Matching):
    """Splits at white space, and makes every punctuation character a word of its own.

    >>> BertPreTokenizer().split("Don't stop...")
    ['Don', "'", 't', 'stop', '.', '.', '.']
    """

    @property
    def name(self) -> str:
        """``"bert"``."""
        return "bert"

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _bert_words()


@dataclass(frozen=True, slots=True)
class Whitespace(_Matching):
    r"""Splits at white space, and makes every run of other characters than letters, digits and marks a word of its own.

    That is ``\w+|[^\w\s]+``, as the `tokenizers` library takes ``\w``; Python's knows no marks.

    >>> Whitespace().split("Don't stop...")
    ['Don', "'", 't', 'stop', '...']
    """

    @property
    def name(self) -> str:
        """``"whitespace"``."""
        return "whitespace"

    @property
    def is_by_character(self) -> bool:
        """No: punctuation is a word together with the punctuation beside it."""
        return False

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _runs()


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(_Matching):
    """Splits at white space and nowhere else.

    White space is what Unicode calls so. Python's `str.split` would also split at the separators U+001C to
    U+001F.

    >>> WhitespaceSplit().split("Don't stop...")
    ["Don't", 'stop...']
    """

    @property
    def name(self) -> str:
        """``"whitespace-split"``."""
        return "whitespace-split"

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _blank_separated_words()


@dataclass(frozen=True, slots=True)
class Punctuation(_Matching):
    """Makes every punctuation character a word of its own, and splits nowhere else: words may hold blanks.

    A line end still ends a word, because a text is read line by line. Most useful in a sequence with another.

    >>> Punctuation().split("Don't stop...")
    ['Don', "'", 't stop', '.', '.', '.']
    """

    @property
    def name(self) -> str:
        """``"punctuation"``."""
        return "punctuation"

    @property
    def is_local(self) -> bool:
        """Never."""
        return False

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _punctuation_separated_words()


@cache
def _bert_words() -> re.Pattern[str]:
    tables = bert_tables()
    letters = run_pattern(ranges_outside(tables.punctuation, tables.whitespace))
    return re.compile(f"{letters}|{one_pattern(tables.punctuation.ranges)}")


@cache
def _runs() -> re.Pattern[str]:
    word, whitespace = form_tables().word, bert_tables().whitespace
    return re.compile(f"{run_pattern(word.ranges)}|{run_pattern(ranges_outside(word, whitespace))}")


@cache
def _blank_separated_words() -> re.Pattern[str]:
    return re.compile(f"[^{bert_tables().whitespace.pattern()}]+")


@cache
def _punctuation_separated_words() -> re.Pattern[str]:
    punctuation = bert_tables().punctuation
    return re.compile(f"{run_pattern(ranges_outside(punctuation))}|{one_pattern(punctuation.ranges)}")
