"""The live text as lines, each tokenized when first requested, so that only visible lines cost anything.

Long lines are cut into segments that may be tokenized separately: only where no word and no special token spans the
cut, and where the cut changes nothing beside it: after a space, or, for a pipeline that works character by character,
after a character that is a word by itself, as ideographs are for BERT. Plain Python: no Qt and no widgets.

The tokens at all steps, and the steps that change them, are found without tokenizing at every step. A step can change a
word only if it makes a token that occurs inside the word. So the birth steps of all tokens inside a word are looked up,
and longest match works on these numbers alone: at step k it may use tokens born by then. With ``Th`` born at step 9 and
``##is`` at step 12, "This" can change at the steps 9 and 12 only. Byte pair encoding merges the pairs of a word in the
order of their steps.

The words of the text are kept, not their positions, in time slices as text and history grow: each word is processed
once, a new merge affects only the words that contain its token, and what an edit removes or adds is subtracted or
added.
"""

from __future__ import annotations

import re
import string
import time
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, overload

import numpy as np

from wordpiece_studio.session.view_text import TextUnit, length_in
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerByMerges

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord, Tokenizer

    _Steps = tuple[Normalizer, PreTokenizer, frozenset[str]]
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.history import MergeHistory

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


_AT_ONCE = 16
"""How many small tasks are done between two checks of the clock."""
_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class TextSummary:
    """Number of words, of tokens, and of unknown words."""

    words: int
    tokens: int
    unknown: int

    @property
    def fertility(self) -> float:
        """Tokens per word; 0 for a text without words."""
        return self.tokens / self.words if self.words else 0.0


class TextTimeline:
    """The words of a text and the steps that change them.

    Parameters
    ----------
    history, merges
        The history, of which the first `merges` merges are used.
    tokenizer
        Any tokenizer of that history; it determines how a text is split into words.
    """

    def __init__(self, history: MergeHistory, merges: int, tokenizer: Tokenizer) -> None:
        self._history = history
        self._tokenizer = tokenizer
        self._births = [0] * history.vocabulary_size(0)
        self.merges = 0  # how many are taken into account
        self._searched = 0  # tokens, by id, that were searched for in the words
        self._lines: Counter[str] = Counter()
        self._new_lines: deque[tuple[str, int]] = deque()  # each with the change of its count
        self._counts: Counter[str] = Counter()
        self._special = 0
        self._known: dict[str, WordTimeline] = {}
        self._waiting: dict[str, None] = {}  # words to process, in order
        self._at: dict[int, list[int]] = {}  # step: how many words it changes, and by how many tokens in all
        self._words = self._tokens_at_start = 0
        self._unknown: Counter[str] = Counter()
        self._spelled: tuple[str, list[int], list[str]] | None = None
        self.grow(merges)
        self._searched = len(self._births)  # there are no words yet that they could affect

    def set_lines(self, lines: Sequence[str]) -> None:
        """Set the text, given as lines or segments of lines that may be tokenized separately."""
        lines_now = Counter(lines)
        changed = [(line, count - self._lines[line]) for line, count in lines_now.items() if count != self._lines[line]]
        changed += [(line, -count) for line, count in self._lines.items() if line not in lines_now]
        self._lines = lines_now
        self._new_lines += changed

    def grow(self, merges: int) -> None:
        """Take the first `merges` merges of the history into account."""
        is_new = self._history.column("is_new")[self.merges : merges]
        if isinstance(self._tokenizer, TokenizerByMerges):
            self._history.pair_steps()
            has_unknown = self._tokenizer.unk_token in self._tokenizer.vocabulary  # else symbols are left out of words
            if not (has_unknown and is_new.all()):  # then no new token tells which words change
                self._waiting.update(dict.fromkeys(self._known))
        self._births += (np.flatnonzero(is_new) + self.merges + 1).tolist()
        self.merges = merges

    @property
    def is_done(self) -> bool:
        return not self._new_lines and not self._waiting and self._searched == len(self._births)

    def advance(self, seconds: float) -> bool:
        """Work for about that long; return whether all work is done."""
        end = time.perf_counter() + seconds
        while not self.is_done:
            if self._new_lines:
                self._take_line(*self._new_lines.popleft())
            elif self._searched < len(self._births):
                self._search_tokens()
            else:
                self._process_words()
            if time.perf_counter() > end:
                break
        return self.is_done

    # Results.

    def rows(self) -> TextChanges:
        """Return the steps that change the text, as far as they are known."""
        steps = np.fromiter(self._at, dtype=np.int64, count=len(self._at))
        changes = np.fromiter((change for _, change in self._at.values()), dtype=np.int64, count=len(self._at))
        order = np.argsort(steps)
        return TextChanges(self._history, steps[order], changes[order], self.start.tokens)

    @property
    def start(self) -> TextSummary:
        """The text at step 0; the numbers of words and unknown words are the same at every step."""
        words = self._words + self._special
        return TextSummary(words, self._tokens_at_start + self._special, self._unknown.total())

    def unknown_words(self, limit: int) -> list[str]:
        """Return some of the distinct unknown words, at most `limit`."""
        return [word for word, _ in zip(self._unknown, range(limit), strict=False)]

    # The work.

    def _take_line(self, line: str, times: int) -> None:
        for word, is_special in self._tokenizer.split(line):
            if is_special:
                self._special += times
            else:
                self._count(word, times)

    def _count(self, word: str, times: int) -> None:
        count = self._counts[word] = self._counts[word] + times
        if word in self._known:
            self._add(word, times)
        if count:
            if word not in self._known:
                self._waiting[word] = None
            return
        del self._counts[word]
        self._known.pop(word, None)
        self._waiting.pop(word, None)
        self._spelled = None

    def _add(self, word: str, times: int) -> None:
        """Count `times` more (or fewer) of a known word."""
        timeline = self._known[word]
        self._words += times
        self._tokens_at_start += timeline.tokens_at_start * times
        if timeline.is_unknown:
            self._unknown[word] += times
            if not self._unknown[word]:
                del self._unknown[word]
        for step, change in zip(timeline.steps, timeline.changes, strict=True):
            entry = self._at.setdefault(step, [0, 0])
            entry[0] += times
            entry[1] += change * times
            if not entry[0]:
                del self._at[step]

    def _process_words(self) -> None:
        vocabulary = self._history.vocabulary(self.merges)
        for word in [word for word, _ in zip(self._waiting, range(_AT_ONCE), strict=False)]:
            del self._waiting[word]
            timeline = self._timeline_of(word, vocabulary)
            if word not in self._known:
                self._spelled = None
            elif timeline == self._known[word]:
                continue
            else:
                self._add(word, -self._counts[word])
            self._known[word] = timeline
            self._add(word, self._counts[word])

    def _timeline_of(self, word: str, vocabulary: Vocabulary) -> WordTimeline:
        if not self._tokenizer.can_explain:
            tokens = [token for token, _, _ in self._tokenizer.spans(word) or ()]
            return WordTimeline(max(len(tokens), 1), (), (), is_unknown=vocabulary.unk_token in tokens or not tokens)
        if not isinstance(self._tokenizer, TokenizerByMerges):
            return word_timeline(word, vocabulary, self._births, self._tokenizer.max_word_length)
        symbols, merged = self._tokenizer.changing_steps(word, self.merges)
        times = Counter(merged)
        return WordTimeline(symbols or 1, tuple(times), tuple(-n for n in times.values()), is_unknown=not symbols)

    def _search_tokens(self) -> None:
        """Find the words that contain one of the next new tokens, and queue them for processing."""
        joined, starts, words = self._joined()
        prefix = self._tokenizer.vocabulary.continuing_subword_prefix
        suffix = self._tokenizer.vocabulary.end_of_word_suffix or ""
        for token_id in range(self._searched, min(self._searched + _AT_ONCE, len(self._births))):
            token = self._history.token(token_id).removesuffix(suffix)
            # A token that is just the prefix occurs only where a word begins with these very characters.
            letters = token.removeprefix(prefix) if token.startswith(prefix) else ""
            letters = letters or _BREAK + token
            place = joined.find(letters)
            while place >= 0:
                index = bisect_right(starts, place) - 1
                self._waiting[words[index]] = None
                place = joined.find(letters, starts[index + 1])
            self._searched = token_id + 1

    def _joined(self) -> tuple[str, list[int], list[str]]:
        """Return the known words joined, each after a break; the start of each; and the words."""
        if self._spelled is None:
            words = list(self._known)
            starts = list(accumulate((len(word) + 1 for word in words), initial=0))
            self._spelled = ("".join(_BREAK + word for word in words), starts, words)
        return self._spelled


_Fits = list[list[tuple[int, int]]]
"""For each position in a word, the (end, birth step) of the tokens that fit there, longest first."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A step that changed the text, and the token it made of a pair."""

    step: int
    token: str
    tokens: int  # of the text after it
    change: int = 0  # how many more tokens that is than before; may be 0 if the text is only split differently
    left: str = ""
    right: str = ""


class TextChanges(Sequence[TextChange]):
    """Rows over two columns, each created on demand.

    Parameters
    ----------
    history
        The merges that they come from.
    steps, changes
        int64, shape (n,): the steps, ascending, and by how many tokens each changes the text.
    before
        The number of tokens before the first step.

    Attributes
    ----------
    tokens
        int64, shape (n,): the number of tokens after each step.
    """

    def __init__(
        self, history: MergeHistory, steps: NDArray[np.int64], changes: NDArray[np.int64], before: int
    ) -> None:
        self.history = history
        self.steps = steps
        self.changes = changes
        self.tokens = np.cumsum(changes) + before
        self._made: dict[int, TextChange] = {}  # those of the rows in view are asked for again and again

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> TextChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[TextChange]: ...
    def __getitem__(self, index: int | slice) -> TextChange | list[TextChange]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        made = self._made.get(index)
        if made is None:
            step = int(self.steps[index])
            merge = self.history[step - 1]
            tokens, change = int(self.tokens[index]), int(self.changes[index])
            made = self._made[index] = TextChange(step, merge.token, tokens, change, merge.left, merge.right)
        return made


@dataclass(frozen=True, slots=True)
class WordTimeline:
    """One word at all steps: those that change its tokens, ascending, and by how many tokens each does."""

    tokens_at_start: int
    steps: tuple[int, ...]
    changes: tuple[int, ...]
    is_unknown: bool = False  # at all steps or at none: merges add no new characters


def word_timeline(word: str, vocabulary: Vocabulary, births: Sequence[int], longest_word: int) -> WordTimeline:
    """Return the steps at which the tokens of a word change.

    Parameters
    ----------
    vocabulary
        The tokens up to the last step of interest.
    births
        The step that made each token, by id; 0 for special tokens and the alphabet.
    longest_word
        A word of more characters is unknown.
    """
    fits = _fitting_tokens(word, vocabulary, births) if len(word) <= longest_word else None
    before = _ends(fits, 0) if fits is not None else None
    if fits is None or before is None:
        return WordTimeline(1, (), (), is_unknown=True)
    first = len(before)
    steps, changes = [], []
    for step in sorted({born for place in fits for _, born in place if born}):
        now = _ends(fits, step)
        if now is not None and now != before:
            steps.append(step)
            changes.append(len(now) - len(before))
            before = now
    return WordTimeline(first, tuple(steps), tuple(changes))


def _fitting_tokens(word: str, vocabulary: Vocabulary, births: Sequence[int]) -> _Fits:
    """Look up every substring of the word; an end-of-word suffix counts as one more symbol."""
    suffix = vocabulary.end_of_word_suffix
    units = [*word, suffix] if suffix else list(word)
    places: _Fits = []
    for start in range(len(units)):
        piece = vocabulary.continuing_subword_prefix if start else ""
        found = []
        for end in range(start + 1, min(len(units), start + vocabulary.longest) + 1):
            piece += units[end - 1]
            token_id = vocabulary.id_of(piece)
            if token_id is not None:
                found.append((end, births[token_id]))
        places.append(found[::-1])
    return places


def _ends(fits: _Fits, step: int) -> list[int] | None:
    """Return where the tokens of the word end at a step, by longest match; None if the word is unknown."""
    ends = []
    place = 0
    while place < len(fits):
        for end, born in fits[place]:
            if born <= step:
                ends.append(end)
                place = end
                break
        else:
            return None
    return ends
