"""The text that is tokenized live: in lines, each tokenized once for each tokenizer, so that typing costs one line.

Plain Python: no Qt and no widget. Offsets are code points of the text as it was typed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.core.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.core.encoder import TokenizedWord, Tokenizer
    from wordpiece_studio.core.training.history import MergeHistory

_LONG_LINE = 1000
_LINE = re.compile(r"[^\n]*\n?")
# A blank after a thousand characters; a tabulator is no blank to every normalizer.
_STRETCH = re.compile(rf"[^\n]{{1,{_LONG_LINE}}}[^ \n]* ?\n?|\n")


@dataclass(frozen=True, slots=True)
class WatchedLine:
    """A line of the text, or a stretch of about a thousand characters of a longer one where the words allow it.

    Attributes
    ----------
    start
        Code points before it.
    words
        Its words; the offsets of their pieces count from `start`. Unchanged lines keep the very same tuple.
    """

    start: int
    words: tuple[TokenizedWord, ...]


@dataclass(frozen=True, slots=True)
class TextSummary:
    """Number of words, of tokens, and of words that are unknown."""

    words: int
    tokens: int
    unknown: int

    @property
    def fertility(self) -> float:
        """Tokens a word; 0 for a text without words."""
        return self.tokens / self.words if self.words else 0.0


class WatchedText:
    """A text and its tokens under one tokenizer at a time."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._tokenizer: Tokenizer | None = None
        self._known: dict[str, _TokenizedLine] = {}
        self._lines: list[WatchedLine] | None = None
        self._summary = TextSummary(0, 0, 0)

    @property
    def text(self) -> str:
        """The text."""
        return self._text

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer, or None while there is none: then there are no words."""
        return self._tokenizer

    def set_text(self, text: str) -> None:
        """Watch another text."""
        if text != self._text:
            self._text = text
            self._lines = None

    def set_tokenizer(self, tokenizer: Tokenizer | None, changed: Sequence[str] | None = None) -> None:
        """Tokenize with another tokenizer.

        Parameters
        ----------
        changed
            The letters of all tokens that one of the two tokenizers has and the other has not, without prefix and
            suffix: lines in which none of them is spelled keep their words. None if nothing is known of that.
        """
        if tokenizer is self._tokenizer:
            return
        self._tokenizer = tokenizer
        self._lines = None
        if changed is None:
            self._known = {}
        else:
            self._known = {
                text: line
                for text, line in self._known.items()
                if not any(letters in line.spelled for letters in changed)
            }

    @property
    def lines(self) -> list[WatchedLine]:
        """The lines with their words, tokenized now where they were not yet."""
        if self._lines is None:
            self._lines = self._tokenized()
        return self._lines

    @property
    def summary(self) -> TextSummary:
        """How many words, tokens and unknown words there are."""
        return self._summary if self.lines else TextSummary(0, 0, 0)

    def tokens(self) -> list[str]:
        """Return all tokens in the order of the text."""
        return [piece.token for line in self.lines for word in line.words for piece in word.pieces]

    def ids(self) -> list[int]:
        """Return the ids of all tokens in the order of the text."""
        return [piece.id for line in self.lines for word in line.words for piece in word.pieces]

    def word_counts(self) -> Counter[str]:
        """Return how often each word occurs, after normalization; written-out special tokens are none."""
        return Counter(word.word.text for line in self.lines for word in line.words if word.word is not None)

    def unknown_words(self, limit: int) -> list[TokenizedWord]:
        """Return the first occurrence of each unknown word, at most `limit` of them."""
        found: dict[str, TokenizedWord] = {}
        for line in self.lines if self.summary.unknown else ():
            for word in line.words:
                if word.unknown is not None and word.word is not None:
                    found.setdefault(word.word.text, word)
                    if len(found) == limit:
                        return list(found.values())
        return list(found.values())

    def _tokenized(self) -> list[WatchedLine]:
        if self._tokenizer is None:
            return []
        known: dict[str, _TokenizedLine] = {}
        lines = []
        start = words = tokens = unknown = 0
        for text in split_lines(self._text, at_blanks=_may_split_at_blanks(self._tokenizer)):
            line = known.get(text) or self._known.get(text) or _tokenized_line(self._tokenizer, text)
            known[text] = line
            lines.append(WatchedLine(start, line.words))
            start += len(text)
            words += len(line.words)
            tokens += line.tokens
            unknown += line.unknown
        self._known = known  # only what the text holds now
        self._summary = TextSummary(words, tokens, unknown)
        return lines


@dataclass(frozen=True, slots=True)
class _TokenizedLine:
    """The words of a line, what they spell with a blank between two, the number of tokens and of unknown words."""

    words: tuple[TokenizedWord, ...]
    spelled: str
    tokens: int
    unknown: int


def _tokenized_line(tokenizer: Tokenizer, text: str) -> _TokenizedLine:
    words = tuple(tokenizer.tokenize_words(text))
    spelled = " ".join(word.word.text for word in words if word.word is not None)
    tokens = sum(len(word.pieces) for word in words)
    return _TokenizedLine(words, spelled, tokens, sum(word.unknown is not None for word in words))


def changed_letters(history: MergeHistory, first: int, last: int) -> list[str]:
    """Return what the tokens spell that were made after step `first` up to `last`, without prefix and suffix."""
    vocabulary = history.vocabulary(last)
    tokens = [history.token(token_id) for token_id in range(history.vocabulary_size(first), len(vocabulary))]
    prefix, suffix = vocabulary.continuing_subword_prefix, vocabulary.end_of_word_suffix or ""
    return [token.removeprefix(prefix).removesuffix(suffix) for token in tokens]


def _may_split_at_blanks(tokenizer: Tokenizer) -> bool:
    """Tell whether the tokens of a line are those of its stretches between blanks, one after the other."""
    is_local = Pipeline(tokenizer.normalizer, tokenizer.pre_tokenizer).is_local
    return is_local and not any(" " in token for token in tokenizer.vocabulary.special_tokens)


def split_lines(text: str, *, at_blanks: bool = True) -> list[str]:
    r"""Return the lines of a text with their line ends; lines of more than about 1,000 characters in stretches.

    Parameters
    ----------
    at_blanks
        Whether a long line may be cut behind a blank; else it stays whole.

    >>> split_lines("a b\nc")
    ['a b\n', 'c']
    """
    lines = [line for line in _LINE.findall(text) if line]
    if not at_blanks or all(len(line) <= 2 * _LONG_LINE for line in lines):
        return lines
    return [stretch for line in lines for stretch in (_STRETCH.findall(line) if len(line) > _LONG_LINE else [line])]
