"""The live text as lines, each tokenized when first requested, so that only visible lines cost anything.

Long lines are cut into segments that may be tokenized separately: only where no word and no special token spans the
cut, and where the cut changes nothing beside it: after a space, or, for a pipeline that works character by character,
after a character that is a word by itself, as ideographs are for BERT. `live_timeline.py` counts the words and tokens
of the whole text. Plain Python: no Qt and no widgets.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, overload

from wordpiece_studio.session.view_text import TextUnit, length_in
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord, Tokenizer

    _Steps = tuple[Normalizer, PreTokenizer, frozenset[str]]


_LONG_LINE = 1000
_LINE = re.compile(r"[^\n]*\n?")
_MARKS = string.punctuation + "、。，！？：；「」『』（）《》"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
_ONE_IDEOGRAPH = "汉"


class LineCutter:
    """Cuts texts for one tokenizer after another; caches what it learned about the pipeline."""

    def __init__(self) -> None:
        self._steps: _Steps | None = None
        self._segment_pattern: re.Pattern[str] | None = None

    def set_tokenizer(self, tokenizer: Tokenizer) -> bool:
        """Cut for this tokenizer; return whether texts may be cut differently from now on."""
        added = frozenset(token.content for token in tokenizer.vocabulary.added_tokens)
        steps = tokenizer.normalizer, tokenizer.pre_tokenizer, added
        if steps == self._steps:
            return False
        self._steps = steps
        self._segment_pattern = segment_pattern(Pipeline(*steps[:2]), steps[2])
        return True

    def cut(self, text: str) -> list[str]:
        """Return the lines of a text with their line ends; lines of more than 1,000 characters in segments."""
        return cut_lines(text, self._segment_pattern)


def cut_lines(text: str, segment: re.Pattern[str] | None) -> list[str]:
    """Return the lines of a text with their line ends; long ones in segments, unless `segment` is None.

    Joined, they are the text.
    """
    lines = [line for line in _LINE.findall(text) if line]
    if segment is None or all(len(line) <= 2 * _LONG_LINE for line in lines):
        return lines
    return [each for line in lines for each in (segment.findall(line) if len(line) > _LONG_LINE else [line])]


def segment_pattern(pipeline: Pipeline, special_tokens: frozenset[str] = frozenset()) -> re.Pattern[str] | None:
    r"""Return a pattern of the segments of a line, about 1,000 characters each; None if lines must stay whole.

    >>> from wordpiece_studio.text.normalizers import BertNormalizer
    >>> from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
    >>> bert = Pipeline(BertNormalizer(), BertPreTokenizer())
    >>> [len(each) for each in cut_lines("汉" * 2500, segment_pattern(bert))]
    [1000, 1000, 500]
    """
    if not pipeline.is_local or any(" " in token for token in special_tokens):
        return None
    ends = r"(?=[ \n])|\Z"  # not every normalizer treats a tab as a space
    if cuts := _cut_characters(pipeline, special_tokens):
        ends = rf"(?<=[{cuts}])(?=[\w{cuts}])|{ends}"
    return re.compile(rf"[^\n]{{1,{_LONG_LINE}}}[^ \n]*?(?:{ends}) ?\n?|\n")


def _cut_characters(pipeline: Pipeline, special_tokens: frozenset[str]) -> str:
    """Return the content of a character class: those after which a text may be cut; empty if there are none."""
    if not pipeline.is_by_character:
        return ""
    in_special = set().union(*special_tokens)
    marks = (mark for mark in _MARKS if mark not in in_special and _is_a_word(mark, pipeline))
    cuts = "".join(map(re.escape, marks))
    return cuts + _IDEOGRAPHS if _is_a_word(_ONE_IDEOGRAPH, pipeline) else cuts


def _is_a_word(character: str, pipeline: Pipeline) -> bool:
    """Return whether a character is a word by itself, whatever surrounds it."""
    is_alone = not pipeline.normalizer.regards_neighbours(character)
    return is_alone and len(pipeline.words(f"a{character}a")) == 3


_MOST_KEPT = 5000
"""How many lines beyond those of the text stay cached: what was undone or deleted may come back."""

_SEEN = 2
"""Tokenizers, beside the one used, whose words stay cached: those of two runs that are shown in turn."""

_Words = tuple["TokenizedWord", ...]


class LiveLine:
    """A line of the text, or a segment of about a thousand characters of a longer line where the words allow it.

    Attributes
    ----------
    text
        The line with its line end.
    start
        Code points before it.
    """

    __slots__ = ("_source", "start", "text")

    def __init__(self, text: str, start: int, source: LiveLines) -> None:
        self.text = text
        self.start = start
        self._source = source

    @property
    def words(self) -> _Words:
        """Its words, tokenized on first access; the offsets of their pieces count from `start`.

        Unchanged lines keep the very same tuple.
        """
        return self._source.words_of(self.text)


class LiveLines(Sequence[LiveLine]):
    """The lines of a text under one tokenizer, each created on demand. Immutable.

    Parameters
    ----------
    texts, starts
        The text of each line, and the number of code points before it.
    tokenizer
        Finds the words of a line.
    known
        A cache of words by the text of the line; the words of further lines are added to it.
    before
        The same for other tokenizers that find the same words, which need not be found again, each with its tokenizer.
    """

    def __init__(
        self, texts: Sequence[str], starts: Sequence[int], tokenizer: Tokenizer | None, known: dict[str, _Words],
        before: dict[str, tuple[Tokenizer, _Words]] | None = None,
    ) -> None:  # fmt: skip
        self._texts = texts
        self._starts = starts
        self._tokenizer = tokenizer
        self._known = known
        self._before = before if before is not None else {}

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> LiveLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[LiveLine]: ...
    def __getitem__(self, index: int | slice) -> LiveLine | list[LiveLine]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return LiveLine(self._texts[index], self._starts[index], self)

    @property
    def texts(self) -> Sequence[str]:
        return self._texts

    def words_of(self, line: str) -> _Words:
        words = self._known.get(line)
        if words is None:
            words = self._words_of(line, self._tokenizer) if self._tokenizer is not None else ()
            if len(self._known) > _MOST_KEPT + len(self._texts):
                self._known.clear()
            self._known[line] = words
        return words

    def _words_of(self, line: str, tokenizer: Tokenizer) -> _Words:
        earlier, words = self._before.get(line, (None, ()))
        return tuple(tokenizer.tokenize_words(line)) if earlier is None else tokenizer.retokenized(words, earlier)


class LiveText:
    """A text and its tokens under one tokenizer at a time."""

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._tokenizer: Tokenizer | None = None
        self._known: dict[str, _Words] = {}
        self._before: dict[str, tuple[Tokenizer, _Words]] = {}  # the words under earlier tokenizers
        self._seen: dict[Tokenizer, dict[str, _Words]] = {}  # all words under the last few tokenizers
        self._lines: LiveLines | None = None
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._cutter = LineCutter()
        self._cut_text: str | None = None
        self._unit_starts: tuple[TextUnit, list[int]] | None = None

    @property
    def text(self) -> str:
        """The text."""
        return self._text

    @property
    def tokenizer(self) -> Tokenizer | None:
        """The tokenizer; without one (None) there are no lines."""
        return self._tokenizer

    def set_text(self, text: str) -> None:
        """Replace the text."""
        if text != self._text:
            self._text = text
            self._lines = None

    def set_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Replace the tokenizer."""
        if tokenizer is not self._tokenizer:
            if self._tokenizer is not None:
                kept = self._before if len(self._before) + len(self._known) <= _MOST_KEPT else {}
                known = {line: (self._tokenizer, words) for line, words in self._known.items()}
                self._before = {**kept, **known}
                self._seen = {**self._seen, self._tokenizer: self._known}
                for old in list(self._seen)[:-_SEEN]:
                    del self._seen[old]
            known_before = self._seen.pop(tokenizer, {}) if tokenizer is not None else {}
            self._tokenizer, self._known, self._lines = tokenizer, known_before, None

    @property
    def lines(self) -> LiveLines:
        """The lines; the same object until the text or the tokenizer changes."""
        if self._lines is None:
            self._split()
            self._lines = LiveLines(self._texts, self._starts, self._tokenizer, self._known, self._before)
        return self._lines

    @property
    def line_texts(self) -> list[str]:
        return self._texts if self.lines else []

    def line_at(self, position: int) -> int:
        """Return the index of the line that holds the code point `position`; the last one for the end of the text."""
        return max(min(bisect_right(self._starts, position) - 1, len(self.lines) - 1), 0)

    def offsets_in(self, unit: TextUnit, line: LiveLine, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the text, in `unit`, of a range in a line given in code points from its start."""
        if unit == "characters":
            return line.start + start, line.start + end
        if self._unit_starts is None or self._unit_starts[0] != unit:
            lengths = (length_in(unit, text) for text in self.line_texts)
            self._unit_starts = (unit, list(accumulate(lengths, initial=0)))
        before = self._unit_starts[1][self.line_at(line.start)] + length_in(unit, line.text[:start])
        return before, before + length_in(unit, line.text[start:end])

    def tokens(self) -> list[str]:
        """Return all tokens in text order; slow for a long text."""
        return [piece.token for line in self.lines for word in line.words for piece in word.pieces]

    def ids(self) -> list[int]:
        """Return the ids of all tokens in text order; slow for a long text."""
        return [piece.id for line in self.lines for word in line.words for piece in word.pieces]

    def _split(self) -> None:
        if self._tokenizer is None:
            self._texts, self._starts, self._cut_text = [], [], None
            return
        may_differ = self._cutter.set_tokenizer(self._tokenizer)
        if may_differ:
            self._before = {}
        if self._text == self._cut_text and not may_differ:
            return
        self._texts = self._cutter.cut(self._text)
        self._starts = list(accumulate(map(len, self._texts), initial=0))[:-1]
        self._cut_text, self._unit_starts = self._text, None
