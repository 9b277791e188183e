"""The live text, whose lines are tokenized when first requested, and the steps that change how it is tokenized.

The tokens at all steps, and the steps that change them, are found without tokenizing at every step. A step can change a
word only if it makes a token that occurs inside the word. So the birth steps of all tokens inside a word are looked up,
and longest match works on these numbers alone: at step k it may use tokens born by then. With ``Th`` born at step 9 and
``##is`` at step 12, "This" can change at the steps 9 and 12 only. Byte pair encoding merges the pairs of a word in the
order of their steps.

Each word is processed once, while training runs too; a new merge affects only the words that contain its token. There
are no widgets here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.task import single_shot
from wordpiece_studio.system.arrays import first_after, last_before
from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerByMerges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord, Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_EARLIER = 2  # tokenizers, beside the one used, whose words stay cached: of another step, of a run shown in turn

_Words = tuple["TokenizedWord", ...]


class LiveLine(NamedTuple):
    """A line of the text with its line end.

    `start`: code points before it, from where offsets of pieces count. `words`: the same object while they are equal.
    """

    text: str
    start: int
    words: _Words


class LiveText:
    """The lines of a text under one tokenizer, each tokenized when first requested; without one there are no lines.

    Immutable. `before`: an earlier text, or another tokenizer; what is known of it is not found again.
    """

    def __init__(self, text: str = "", tokenizer: Tokenizer | None = None, before: LiveText | None = None) -> None:
        self.text, self.tokenizer = text, tokenizer
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.known: dict[Tokenizer, dict[str, _Words]] = {}  # words by their line; the latest tokenizer first
        self.pipeline: tuple[Normalizer, PreTokenizer, frozenset[str]] | None = None
        if tokenizer is None:
            return
        special_tokens = frozenset(token.content for token in tokenizer.vocabulary.added_tokens)
        self.pipeline = tokenizer.normalizer, tokenizer.pre_tokenizer, special_tokens
        if before is None or before.pipeline != self.pipeline:
            before = LiveText()  # other tokenizers found other words
        if before.texts and before.text == text:
            self.texts, self.starts, known = before.texts, before.starts, before.known
        else:
            self.texts = _LINE.findall(text)
            self.starts = list(accumulate(map(len, self.texts), initial=0))[:-1]
            known = {
                each: {line: words[line] for line in words.keys() & self.texts} for each, words in before.known.items()
            }
        earlier = [(other, words) for other, words in known.items() if other is not tokenizer]
        self.known = {tokenizer: known.get(tokenizer, {}), **dict(earlier[:_EARLIER])}

    def updated(self, text: str, tokenizer: Tokenizer | None) -> LiveText:
        """Return another text or other tokens; the same object if they are not."""
        return self if text == self.text and tokenizer is self.tokenizer else LiveText(text, tokenizer, self)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int) -> LiveLine:
        return LiveLine(self.texts[index], self.starts[index], self._words_of(self.texts[index]))

    def __iter__(self) -> Iterator[LiveLine]:
        return map(self.__getitem__, range(len(self)))

    def word_at(self, line: int, word: int) -> TokenizedWord | None:
        words = self[line].words if line < len(self) else ()
        return words[word] if word < len(words) else None

    def pieces(self) -> Iterator[Piece]:
        return (piece for line in self for word in line.words for piece in word.pieces)

    def _words_of(self, line: str) -> _Words:
        (tokenizer, known), *earlier = self.known.items()
        if line not in known:
            found = next(((words[line], other) for other, words in earlier if line in words), None)
            known[line] = tokenizer.retokenized(*found) if found else tuple(tokenizer.tokenize_words(line))
        return known[line]


_MOST_UNKNOWN = 1 / 3  # of the words of a text: if more are, there is no figure of tokens per word
_BREAK = "\n"
_ADDED = ""  # in place of the word of an added token


@dataclass(frozen=True, slots=True)
class TextSummary:
    words: int = 0
    tokens: int = 0
    unknown: int = 0

    @property
    def fertility(self) -> float:
        """Tokens per word; 0 for a text without words."""
        return self.tokens / self.words if self.words else 0.0

    @property
    def has_fertility(self) -> bool:
        """Whether tokens per word say something: an unknown word, however long, is one token."""
        return self.words > 0 and self.unknown <= _MOST_UNKNOWN * self.words


@dataclass(frozen=True, slots=True)
class TextChange:
    step: int
    token: str
    tokens: int  # of the text after it
    change: int = 0  # how many more tokens that is than before; may be 0 if the text is only split differently
    left: str = ""
    right: str = ""


_NO_STEPS = np.empty(0, dtype=np.int64)


class TextChanges(Sequence[TextChange]):
    """The steps that change a text, in one run or in several; each row is created on demand.

    Arrays are int64, of shape (n_rows,).
    """

    def __init__(
        self, runs: tuple[Run, ...] = (), steps: NDArray[np.int64] = _NO_STEPS, changes: NDArray[np.int64] = _NO_STEPS,
        start: TextSummary = TextSummary(), unknown_word: str = "",
    ) -> None:  # fmt: skip
        self.runs = runs
        self.steps = steps  # of its run
        self.changes = changes  # by how many tokens each step changes the text
        self.tokens = np.cumsum(changes) + start.tokens  # after the step
        self.places = np.zeros(len(steps), dtype=np.int64)  # to which of the runs each row belongs
        self.start = start  # the text at step 0; its words, and the unknown ones, are the same at every step
        self.unknown_word = unknown_word  # one of them
        self._made: dict[int, TextChange] = {}  # those of the rows in view are asked for again and again

    @classmethod
    def of_runs(cls, found: Mapping[Run, TextChanges]) -> TextChanges:
        places = np.repeat(np.arange(len(found)), [len(rows) for rows in found.values()])
        sizes = [run.history.vocabulary_sizes()[rows.steps - 1] for run, rows in found.items()]
        order = np.lexsort((places, np.concatenate(sizes)))
        whole = cls(tuple(found))
        whole.places = places[order]
        whole.steps, whole.changes, whole.tokens = (
            np.concatenate(parts)[order]
            for parts in zip(*((rows.steps, rows.changes, rows.tokens) for rows in found.values()), strict=True)
        )
        return whole

    def run_of(self, row: int) -> Run:
        return self.runs[int(self.places[row])]

    def says_same(self, other: TextChanges) -> bool:
        return (
            (self.runs, self.start, self.unknown_word) == (other.runs, other.start, other.unknown_word)
            and np.array_equal(self.steps, other.steps)
            and np.array_equal(self.changes, other.changes)
        )

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> TextChange:  # type: ignore[override]  # no one wants a part
        made = self._made.get(index)
        if made is None:
            step = int(self.steps[index])
            merge = self.run_of(index).history[step - 1]
            tokens, change = int(self.tokens[index]), int(self.changes[index])
            made = self._made[index] = TextChange(step, merge.token, tokens, change, merge.left, merge.right)
        return made


class TextTimeline:
    """Finds the steps of a run that change a text; what was found for a word is not found again."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.library = run.library  # which may run the tokenizer
        self._tokenizer = run.tokenizer_at(0)  # any would do: they split a text into the same words
        self._births = [0] * run.history.vocabulary_size(0)
        self._lines: Sequence[str] = ()
        self._splits: dict[str, list[str]] = {}  # the words of lines
        self._counts: Counter[str] = Counter()
        self._known: dict[str, WordTimeline] = {}
        self.merges = 0
        self.rows = TextChanges()  # of no run, until the first update

    def update(self, lines: Sequence[str], merges: int) -> bool:
        """Take a text, as lines, which are tokenized separately, and the first merges; return whether `rows` is new."""
        if lines == self._lines and merges <= self.merges and self.rows.runs:
            return False
        if merges > self.merges:
            self._grow(merges)
        self._lines = lines
        self._splits = {line: self._splits.get(line) or self._words_of(line) for line in lines}
        self._counts = Counter(chain.from_iterable(self._splits[line] for line in lines))
        vocabulary = self._run.history.vocabulary(self.merges)
        self._known = {word: self._known.get(word) or self._timeline_of(word, vocabulary) for word in self._counts}
        self.rows = self._found_rows()
        return True

    def _words_of(self, line: str) -> list[str]:
        return [_ADDED if is_added else word for word, is_added in self._tokenizer.split(line)]

    def _grow(self, merges: int) -> None:
        """Take more merges into account, and forget the words that they may change."""
        history = self._run.history
        is_new = history.column("is_new")[self.merges : merges]
        searched = len(self._births)
        self._births += (np.flatnonzero(is_new) + self.merges + 1).tolist()
        self.merges = merges
        if isinstance(self._tokenizer, TokenizerByMerges):
            history.pair_steps()
            has_unknown = self._tokenizer.unk_token in self._tokenizer.vocabulary  # else symbols are left out of words
            if not (has_unknown and is_new.all()):  # then no new token tells which words change
                self._known.clear()
        for word in self._words_with(range(searched, len(self._births))):
            del self._known[word]

    def _words_with(self, tokens: range) -> set[str]:
        words, found = list(self._known), set()
        starts = list(accumulate((len(word) + 1 for word in words), initial=0))
        joined = "".join(_BREAK + word for word in words)
        prefix = self._tokenizer.vocabulary.continuing_subword_prefix
        suffix = self._tokenizer.vocabulary.end_of_word_suffix or ""
        for token_id in tokens if words else ():
            token = self._run.history.token(token_id).removesuffix(suffix)
            # A token that is just the prefix occurs only where a word begins with these very characters.
            letters = token.removeprefix(prefix) if token.startswith(prefix) else ""
            letters = letters or _BREAK + token
            place = joined.find(letters)
            while place >= 0:
                index = bisect_right(starts, place) - 1
                found.add(words[index])
                place = joined.find(letters, starts[index + 1])
        return found

    def _found_rows(self) -> TextChanges:
        found = [(word, self._known[word], count) for word, count in self._counts.items()]
        counts = np.array([count for _, _, count in found], dtype=np.int64)
        steps = np.fromiter(chain.from_iterable(timeline.steps for _, timeline, _ in found), dtype=np.int64)
        changes = np.fromiter(chain.from_iterable(timeline.changes for _, timeline, _ in found), dtype=np.int64)
        lengths = np.array([len(timeline.steps) for _, timeline, _ in found], dtype=np.int64)
        changes *= np.repeat(counts, lengths)
        steps, places = np.unique(steps, return_inverse=True)
        unknown = {word: count for word, timeline, count in found if timeline.is_unknown}
        tokens = sum(timeline.tokens_at_start * count for _, timeline, count in found)
        start = TextSummary(int(counts.sum()), tokens, sum(unknown.values()))
        changes = np.bincount(places, changes, len(steps)).astype(np.int64)
        return TextChanges((self._run,), steps, changes, start, next(iter(unknown), ""))

    def _timeline_of(self, word: str, vocabulary: Vocabulary) -> WordTimeline:
        if word == _ADDED:
            return WordTimeline(1, (), ())
        if self._tokenizer.can_explain and not isinstance(self._tokenizer, TokenizerByMerges):
            return word_timeline(word, vocabulary, self._births, self._tokenizer.max_word_length)
        tokens = [token for token, _, _ in self._tokenizer.spans(word) or ()]
        is_unknown = vocabulary.unk_token in tokens or not tokens
        if not isinstance(self._tokenizer, TokenizerByMerges):
            return WordTimeline(max(len(tokens), 1), (), (), is_unknown)
        symbols, merged = self._tokenizer.changing_steps(word, self.merges)
        times = Counter(merged)
        return WordTimeline(symbols or 1, tuple(times), tuple(-n for n in times.values()), is_unknown)


# For each position in a word, the (end, birth step) of the tokens that fit there, longest first.
_Fits = list[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class WordTimeline:
    """One word at all steps: those that change its tokens, ascending, and by how many tokens each does."""

    tokens_at_start: int
    steps: tuple[int, ...]
    changes: tuple[int, ...]
    is_unknown: bool = False  # at all steps or at none: merges add no new characters


def word_timeline(word: str, vocabulary: Vocabulary, births: Sequence[int], longest_word: int) -> WordTimeline:
    """Return the steps at which the tokens of a word change; `births` has the step that made each token, by id."""
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


class LiveChanges(QObject):
    """The steps that change the live text, for all panes; `ChangesFinder` finds them."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows = TextChanges()  # of the run that is shown
        self.others: dict[Run, TextChanges] = {}  # of those compared with it
        self.is_known = False  # whether `rows` are those of the text as it is

    @property
    def steps(self) -> NDArray[np.int64]:
        return self.rows.steps

    def set_rows(self, rows: TextChanges, *, is_known: bool = True) -> None:
        if is_known != self.is_known or not rows.says_same(self.rows):
            self.rows, self.is_known = rows, is_known
            self.changed.emit()

    def set_others(self, others: dict[Run, TextChanges]) -> None:
        self.others = others
        self.changed.emit()

    def summary_at(self, step: int) -> TextSummary:
        """Return how many words, tokens and unknown words the text has at a step; reliable if `is_known`."""
        past = int(np.searchsorted(self.steps, step, side="right"))
        start = self.rows.start
        return replace(start, tokens=int(self.rows.tokens[past - 1])) if past else start

    def next_after(self, step: int) -> int | None:
        return first_after(self.steps, step)

    def previous_before(self, step: int) -> int | None:
        return last_before(self.steps, step)


_GROWTH_MS = 50


class ChangesFinder(QObject):
    """Finds the changes for a text and the run of `model`, and for compared runs, and puts them in `changes`."""

    def __init__(self, model: TrainerModel, changes: LiveChanges, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._changes = changes
        self._lines: Sequence[str] = ()
        self._compared: Collection[Run] = ()
        self._timelines: dict[Run, TextTimeline] = {}
        self._timer = single_shot(self, self._find)
        model.run_reset.connect(self._begin)
        model.merges_appended.connect(self._find_later)
        self._begin()

    def set_lines(self, lines: Sequence[str], compared: Collection[Run] = ()) -> None:
        self._lines, self._compared = lines, compared
        self._find()

    def _begin(self) -> None:
        self._compared = [run for run in self._compared if run.is_compared]
        if self._model.run is not None:
            self._changes.others.pop(self._model.run, None)
        self._changes.set_rows(TextChanges(), is_known=False)
        self._find_later()  # when the merges of the run are announced

    def _find_later(self) -> None:
        if not self._timer.isActive():
            self._timer.start(_GROWTH_MS)

    def _find(self) -> None:
        shown, changes = self._model.run, self._changes
        wanted = self._compared if shown is None else {*self._compared, shown}
        self._timelines = {run: self._timeline_of(run) for run in wanted}
        are_new = {
            run: timeline.update(self._lines, self._model.merge_count if run is shown else len(run.history))
            for run, timeline in self._timelines.items()
        }
        rows = {run: timeline.rows for run, timeline in self._timelines.items()}
        if shown is not None:
            changes.set_rows(rows.pop(shown))
        if rows.keys() != changes.others.keys() or any(are_new[run] for run in rows):
            changes.set_others(rows)

    def _timeline_of(self, run: Run) -> TextTimeline:
        known = self._timelines.get(run)
        is_current = known is not None and known.library is run.library  # else it has been loaded meanwhile
        knows_more = known is not None and run is self._model.run and known.merges > self._model.merge_count
        return known if known is not None and is_current and not knows_more else TextTimeline(run)
