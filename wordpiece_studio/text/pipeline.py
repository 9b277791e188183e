"""A normalizer and a pre-tokenizer together: from a raw text to its words, and from each word back to the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.text.pattern_pre_tokenizer import PatternOverrunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.text.normalizer import Normalizer
    from wordpiece_studio.text.pre_tokenizer import PreTokenizer, Span

BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""What most pipelines for WordPiece are given; a corpus that spells them out is told so."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, each of whose characters knows the stretch of the original text that it came from.

    Attributes
    ----------
    text
        The word after normalization; never empty.
    starts, ends
        For each character of `text` its first code point in the original, and the one after its last.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def start(self) -> int:
        """Where the word begins in the original text."""
        return self.starts[0]

    @property
    def end(self) -> int:
        """The position after the word's last character in the original text."""
        return self.ends[-1]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A normalizer and the pre-tokenizer that follows it.

    A text is read line by line; a line ends at LF. The built-in steps do not notice, except those that remove
    or join at line ends.
    """

    normalizer: Normalizer
    pre_tokenizer: PreTokenizer

    @property
    def is_local(self) -> bool:
        """Whether a text's words are those of its stretches between blanks and line ends, one after the other."""
        return self.normalizer.is_local and self.pre_tokenizer.is_local

    @property
    def is_by_character(self) -> bool:
        """Whether what becomes of each character need be found out only once, but for some that tell so themselves."""
        return self.is_local and self.normalizer.is_by_character and self.pre_tokenizer.is_by_character

    def words(self, text: str) -> list[str]:
        """Return the words of `text`, from left to right."""
        if self.is_local:
            return self.pre_tokenizer.split(self.normalizer.normalize(text))
        return list(self.iterate(text))

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of `text`; for a long one, whose list of words would need much memory."""
        if self.is_local:
            yield from self.pre_tokenizer.iterate(self.normalizer.normalize(text))
            return
        for number, _, line in self._lines(text):
            try:
                yield from self.pre_tokenizer.iterate(self.normalizer.normalize(line))
            except PatternOverrunError as error:
                raise error.in_line(number) from None

    def aligned_words(self, text: str) -> list[Word]:
        """Return the words of `text` with the way back to it; their texts are those of ``words(text)``."""
        if self.is_local:
            return self._aligned_words(text, 0)
        words = []
        for number, start, line in self._lines(text):
            try:
                words += self._aligned_words(line, start)
            except PatternOverrunError as error:
                raise error.in_line(number) from None
        return words

    @staticmethod
    def _lines(text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the number, from 1, the beginning and the text of each line."""
        start = 0
        for number, line in enumerate(text.split("\n"), start=1):
            yield number, start, line
            start += len(line) + 1

    def _aligned_words(self, text: str, first: int) -> list[Word]:
        aligned = self.normalizer.align(text)
        words = []
        for span in self.pre_tokenizer.spans(aligned.text):
            starts, ends = _taken(aligned.starts, span), _taken(aligned.ends, span)
            if first:
                starts, ends = tuple(map(first.__add__, starts)), tuple(map(first.__add__, ends))
            words.append(Word(span.text, starts, ends))
        return words


def _taken(positions: Sequence[int], span: Span) -> tuple[int, ...]:
    """Return the positions that belong to the characters of a word."""
    if span.positions is None:
        return tuple(positions[span.start : span.end])
    return tuple(positions[position] for position in span.positions)
