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
    is_alone = not pipeline.normalizer.regards_neighbours(character)
    return is_alone and len(pipeline.words(f"a{character}a")) == 3


_MOST_KEPT = 5000
"""How many lines beyond those of the text stay cached: what was undone or deleted may come back."""

_EARLIER = 2
"""Tokenizers whose words stay cached, beside the one used: that of another step, and of a run shown in turn."""

_Words = tuple["TokenizedWord", ...]
_Known = dict[str, _Words]
"""Words by the text of their line."""


class LiveLine:
    """A line of the text, or a segment of about a thousand characters of a longer line where the words allow it.

    Attributes
    ----------
    text
        The line with its line end.
    start
        Code points before it.
    """

    __slots__ = ("_lines", "start", "text")

    def __init__(self, text: str, start: int, lines: LiveLines) -> None:
        self.text = text
        self.start = start
        self._lines = lines

    @property
    def words(self) -> _Words:
        """Its words, tokenized on first access; the offsets of their pieces count from `start`.

        Unchanged lines keep the very same tuple.
        """
        return self._lines.words_of(self.text)


class LiveLines(Sequence[LiveLine]):
    """The lines of a text under one tokenizer, each created on demand. Immutable.

    Parameters
    ----------
    texts, starts
        The text of each line, and the number of code points before it.
    known
        The words of lines; those of further lines are added.
    earlier
        Other tokenizers that find the same words, which need not be found again, with what is known of them.
    """

    def __init__(
        self, texts: Sequence[str], starts: Sequence[int], tokenizer: Tokenizer | None, known: _Known,
        earlier: Sequence[tuple[Tokenizer, _Known]] = (),
    ) -> None:  # fmt: skip
        self.texts = texts
        self._starts = starts
        self._tokenizer = tokenizer
        self._known = known
        self._earlier = earlier

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> LiveLine: ...
    @overload
    def __getitem__(self, index: slice) -> list[LiveLine]: ...
    def __getitem__(self, index: int | slice) -> LiveLine | list[LiveLine]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return LiveLine(self.texts[index], self._starts[index], self)

    def word_at(self, line: int, word: int) -> TokenizedWord | None:
        words = self[line].words if line < len(self) else ()
        return words[word] if word < len(words) else None

    def words_of(self, line: str) -> _Words:
        words = self._known.get(line)
        if words is None:
            words = self._words_of(line, self._tokenizer) if self._tokenizer is not None else ()
            if len(self._known) > _MOST_KEPT + len(self.texts):
                self._known.clear()
            self._known[line] = words
        return words

    def _words_of(self, line: str, tokenizer: Tokenizer) -> _Words:
        for earlier, known in self._earlier:
            if (words := known.get(line)) is not None:
                return tokenizer.retokenized(words, earlier)
        return tuple(tokenizer.tokenize_words(line))


class LiveText:
    """A text and its tokens under one tokenizer at a time; without one (None), there are no lines."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.tokenizer: Tokenizer | None = None
        self._known: dict[Tokenizer, _Known] = {}  # the latest tokenizer last
        self._lines: LiveLines | None = None
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._cut_text: str | None = None
        self._steps: _Steps | None = None  # for which it was cut
        self._segment: re.Pattern[str] | None = None
        self._unit_starts: tuple[TextUnit, list[int]] | None = None

    def set_text(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self._lines = None

    def set_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        if tokenizer is not self.tokenizer:
            self.tokenizer, self._lines = tokenizer, None

    @property
    def lines(self) -> LiveLines:
        """The lines; the same object until the text or the tokenizer changes."""
        if self._lines is None:
            self._lines = self._cut_for(self.tokenizer)
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

    def _cut_for(self, tokenizer: Tokenizer | None) -> LiveLines:
        if tokenizer is None:
            self._texts, self._starts, self._cut_text = [], [], None
            return LiveLines((), (), None, {})
        special_tokens = frozenset(token.content for token in tokenizer.vocabulary.added_tokens)
        steps = tokenizer.normalizer, tokenizer.pre_tokenizer, special_tokens
        if steps != self._steps:
            self._steps, self._segment = steps, segment_pattern(Pipeline(*steps[:2]), special_tokens)
            self._known, self._cut_text = {}, None  # earlier tokenizers found other words
        if self.text != self._cut_text:
            self._texts = cut_lines(self.text, self._segment)
            self._starts = list(accumulate(map(len, self._texts), initial=0))[:-1]
            self._cut_text, self._unit_starts = self.text, None
        known = self._known.pop(tokenizer, {})
        earlier = list(self._known.items())[-_EARLIER:]
        self._known = {**dict(earlier), tokenizer: known}
        return LiveLines(self._texts, self._starts, tokenizer, known, earlier[::-1])
