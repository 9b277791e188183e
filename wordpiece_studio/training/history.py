"""The history of a training, in columns: what each merge joined, where, and how each token was made.

Two facts keep it small. A merge joins two adjacent symbols, so it removes one *boundary* inside a word at each place;
and each boundary is removed at most once. The step at which each boundary disappears is therefore the whole history of
every word's segmentation. The places of a token are those of the merges that made it, less those merged later, so there
is no index that would grow with the history.

For the same reason the places are a cache: they can be dropped, and are made again from the steps of the boundaries.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import with_room
from wordpiece_studio.tokenizer.vocabulary import TokenList, Vocabulary
from wordpiece_studio.training.engine import Merge, MergeBatch, PairList
from wordpiece_studio.training.segmentation import (
    GROWTH,
    HistoryPlaces,
    MergePlaces,
    TrainingInput,
    places_of_boundaries,
    prepare,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig

    Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class MergeTree:
    """A token with the trees of its parts; a token that occurs twice in a tree is one object.

    Trees are compared and printed without their parts, because they may be thousands of merges deep.
    """

    token_id: int
    step: int  # the merge that made the token first; 0 for special tokens and the alphabet, which have no parts
    left: MergeTree | None = field(default=None, repr=False, compare=False)
    right: MergeTree | None = field(default=None, repr=False, compare=False)


def _merge_tree(history: MergeHistory, token_id: int) -> MergeTree:
    # Loops, because a tree may be deeper than recursion allows.
    lefts, rights = history.column("left_id"), history.column("right_id")
    steps: dict[int, int] = {}
    waiting = [token_id]
    while waiting:
        token = waiting.pop()
        if token not in steps:
            steps[token] = step = history.birth_step(token)
            waiting += [int(lefts[step - 1]), int(rights[step - 1])] if step else []
    trees: dict[int, MergeTree] = {}
    for token in sorted(steps):  # a merge joins tokens that exist, so parts have smaller ids
        step = steps[token]
        parts = (trees[int(lefts[step - 1])], trees[int(rights[step - 1])]) if step else ()
        trees[token] = MergeTree(token, step, *parts)
    return trees[token_id]


COLUMNS: dict[str, Any] = {
    "left_id": np.int64, "right_id": np.int64, "new_id": np.int64, "pair_frequency": np.int64,
    "left_frequency": np.int64, "right_frequency": np.int64, "symbols_before": np.int64, "value": np.float64,
    "ties": np.int64, "is_new": np.bool_,
}  # fmt: skip
MERGE_TOKENS = {"left": "left_id", "right": "right_id", "token": "new_id"}
_NUMBERS = ("pair_frequency", "left_frequency", "right_frequency", "value", "ties")
# As in :class:`~wordpiece_studio.training.engine.Merge`, plus the vocabulary size and the number of symbols in the
# corpus after the merge, and how many distinct words it changed.
MERGE_COLUMNS = ("step", *MERGE_TOKENS, *_NUMBERS, "vocabulary_size", "symbols_after", "words_touched", "is_new")


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """The rows of a history: its columns, see `MergeHistory`."""

    config: TrainingConfig
    tokens: list[str]
    initial_size: int  # how many tokens there were before the first merge
    columns: dict[str, NDArray[Any]]
    symbols_after: int  # N after the last merge
    word_count: int
    total_words: int


def table_of(history: MergeHistory, end: int | None = None) -> HistoryTable:
    """Return the first `end` merges, or all; the arrays are views into the history."""
    end = len(history) if end is None else end
    vocabulary = history.vocabulary(end)
    return HistoryTable(
        history.config,
        vocabulary.tokens,
        history.vocabulary_size(0),
        {name: history.column(name)[:end] for name in COLUMNS},
        history.symbols_after(end),
        history.word_count,
        history.total_words,
    )


_ROWS_AT_ONCE = 1024


class MergeHistory(Sequence[Merge]):
    """The merges of one training, first to last.

    One thread may append while others read: a merge can be read as soon as ``len(history)`` counts it.

    Column names: left_id, right_id, new_id (vocabulary ids), pair_frequency, left_frequency, right_frequency,
    symbols_before, ties (int64), value (float64), is_new (bool). Their meaning is that of :class:`Merge`.

    Methods raise a `StudioError` for a step, a word or a token that is not there, and for a library that is not
    installed.

    Attributes
    ----------
    config : TrainingConfig
        The settings that the training began with.
    word_count, total_words : int
        The number of distinct words, and of all their occurrences.
    has_steps : bool
        Whether it is known how the vocabulary came to be.
    scores : tuple[float, ...] or None
        What another library gave each token, if it did.

    >>> from wordpiece_studio.training.trainer import train
    >>> history = train({"hug": 10, "pug": 5, "hugs": 5}).history
    >>> history
    <MergeHistory: 4 merges by likelihood>
    >>> history[0].token, [merge.token for merge in history[-2:]]
    ('##ug', ['pug', 'hugs'])
    """

    has_steps = True
    scores: tuple[float, ...] | None = None
    _places: MergePlaces | None
    _dropped: tuple[WordCounts | TrainingInput, NDArray[np.int32]] | None

    def __init__(self, input_: TrainingInput) -> None:
        columns = {name: np.empty(0, dtype=dtype) for name, dtype in COLUMNS.items()}
        tokens, counts = list(input_.vocabulary_tokens), input_.weights
        self._set_rows(
            HistoryTable(
                input_.config, tokens, len(tokens), columns, input_.total_symbols, len(counts), int(counts.sum())
            )
        )
        self._places = MergePlaces(input_)

    def _set_rows(self, table: HistoryTable) -> None:
        self.config = table.config
        self.word_count, self.total_words = table.word_count, table.total_words
        self._count = len(table.columns["is_new"])
        self._columns = {name: np.asarray(table.columns[name], dtype=dtype) for name, dtype in COLUMNS.items()}
        self._sizes = table.initial_size + np.cumsum(self._columns["is_new"])  # vocabulary size after each merge
        self._symbols_known = (self._count, table.symbols_after)  # a step, and N after it
        self._table = TokenList(table.tokens)
        self._initial = self.config.vocabulary(self._table, table.initial_size)
        self._named = self._count  # merges whose tokens have been spelled out
        self._naming = threading.Lock()
        base = self.config.base_merges  # before step 1
        self._pair_steps: dict[tuple[str, str], int] = {}
        for step, pair in enumerate(base, 1 - len(base)):
            self._pair_steps.setdefault(pair, step)
        self._paired = 0  # merges whose pairs are in it
        self._places = self._dropped = None
        self._making = threading.Lock()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[type[MergeHistory]], tuple[HistoryTable, Any]]:
        """Without the places, which can be made again; a history that reads them from a file does so now."""
        dropped = self._dropped
        if dropped is None:
            places = self.places
            dropped = (places.input, places.boundary_steps)
        return object.__new__, (MergeHistory,), (table_of(self), dropped)

    def __setstate__(self, state: tuple[HistoryTable, tuple[WordCounts | TrainingInput, NDArray[np.int32]]]) -> None:
        self._set_rows(state[0])
        self._dropped = state[1]

    @property
    def input(self) -> TrainingInput:
        """The state before the first merge."""
        return self.places.input

    @property
    def places(self) -> MergePlaces:
        """Where the merges took place, and so the words at every step; made or read now if they are not in memory."""
        places = self._places
        if places is None:
            with self._making:
                places = self._places
                if places is None:
                    places = self._places = self._made_places()
                    self._dropped = None
        return places

    @property
    def is_whole(self) -> bool:
        """Whether words and places are in memory, so that reading them does not wait."""
        return self._places is not None

    @property
    def is_read(self) -> bool:
        """Whether words and places are in memory, or were."""
        return self._dropped is not None or self._places is not None  # in this order, as another thread makes them

    @property
    def bytes_of_places(self) -> int:
        """About how much memory is free again when the places are dropped; 0 if they are not in memory."""
        return 0 if self._places is None else self._places.bytes

    def drop_places(self, counts: WordCounts) -> None:
        """Keep only what the places can be made of again; `counts`: the words that the merges were learned from."""
        if not self.is_whole:
            return
        self.symbols_after(self._count)  # found by the places of the last merge, and remembered
        with self._making:
            self._dropped = (counts, self.places.boundary_steps)
            self._places = None

    def places_until(self, end: int | None = None) -> HistoryPlaces:
        """Return the places of the first `end` merges, or of all; dropped ones are made for this alone."""
        end = self._count if end is None else end
        places, dropped = self._places, self._dropped
        if places is None and dropped is not None:
            return places_of_boundaries(dropped[1], end)
        return self.places.until(end)

    def _made_places(self) -> MergePlaces:
        assert self._dropped is not None
        source, boundary_steps = self._dropped
        places = MergePlaces(source if isinstance(source, TrainingInput) else prepare(source, self.config))
        places.extend(0, places_of_boundaries(boundary_steps, self._count))
        return places

    @property
    def is_damaged(self) -> bool:
        """Whether words and places cannot be read, so that asking for them raises a `StudioError`."""
        return False

    # What an engine does.

    def extend(self, batch: MergeBatch) -> None:
        """Append merges."""
        first, end = self._count, self._count + len(batch)
        for name, values in batch.columns.items():
            self._columns[name] = with_room(self._columns[name], end, GROWTH)
            self._columns[name][first:end] = values
        self._sizes = with_room(self._sizes, end, GROWTH)
        before = int(self._sizes[first - 1]) if first else len(self._initial)
        self._sizes[first:end] = before + np.cumsum(batch.columns["is_new"])
        places = self.places
        with self._making:
            self._places = places  # even if they have been dropped in this very moment
            places.extend(first, batch.places)
            self._count = end  # last: this makes the rest visible to readers

    def part(self, first: int, end: int) -> MergeBatch:
        """Return the merges `first` to `end` (exclusive), as an engine would report them."""
        places = self.places.until(end)
        before = int(places.position_counts[:first].sum())
        part = HistoryPlaces(places.position_counts[first:], places.left_lengths[first:], places.positions[before:])
        return MergeBatch({name: self.column(name)[first:end] for name in COLUMNS}, part)

    def until(self, step: int) -> MergeHistory:
        """Return the history of a training that has made `step` merges so far and knows nothing of those after them."""
        begun = MergeHistory(self.input)
        begun.extend(self.part(0, self._checked_step(step)))
        return begun

    # What was merged.

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Merge: ...

    @overload
    def __getitem__(self, index: slice) -> PairList[Merge]: ...

    def __getitem__(self, index: int | slice) -> Merge | PairList[Merge]:
        if isinstance(index, slice):
            return PairList(self._merges(range(self._count)[index]))
        index = self._checked_index(index)
        return next(self._merges(range(index, index + 1)))

    def __iter__(self) -> Iterator[Merge]:
        return self._merges(range(self._count))

    def __contains__(self, merge: object) -> bool:
        return isinstance(merge, Merge) and 0 < merge.step <= self._count and self[merge.step - 1] == merge

    def __repr__(self) -> str:
        return f"<MergeHistory: {self._count:,} merge{'s' * (self._count != 1)} by {self.config.objective}>"

    def _repr_html_(self) -> str:
        first = self[:10]
        return first.html(len(self) - len(first))

    def to_arrow(self) -> Any:
        """Return the merges as a `pyarrow.Table`, with the columns of an exported history."""
        try:
            import pyarrow
        except ImportError:
            raise StudioError("An Arrow table needs pyarrow", "Install it: pip install pyarrow") from None
        count = len(self)
        columns = merge_columns(self, np.arange(1, count + 1), self.words_touched_counts(0, count))
        return pyarrow.table(columns, schema=arrow_schema())

    def to_pandas(self) -> Any:
        """Return the merges as a `pandas.DataFrame`, with the columns of an exported history."""
        try:
            import pandas  # noqa: F401 (pyarrow imports it, but only after the table is made)
        except ImportError:
            raise StudioError("A data frame needs pandas", "Install it: pip install pandas pyarrow") from None
        return self.to_arrow().to_pandas()

    def _merges(self, indices: range) -> Iterator[Merge]:
        for start in range(0, len(indices), _ROWS_AT_ONCE):
            part = indices[start : start + _ROWS_AT_ONCE]
            rows = slice(part.start, part.stop if part.stop >= 0 else None, part.step)
            columns = (column[rows].tolist() for column in self._columns.values())
            for index, left, right, new, *numbers in zip(part, *columns, strict=True):
                tokens = map(self.token, (left, right, new))
                row: list[Any] = [index + 1, *tokens, *numbers, self.config.objective]
                yield Merge(*row)

    def column(self, name: str) -> NDArray[Any]:
        """Return the column called `name`, shape (len(self),), as a view that must not be written to."""
        count = self._count
        return self._columns[name][:count]

    def positions(self, index: int) -> NDArray[np.int32]:
        """Return the places that merge `index` (from 0) changed: the first cell of each left symbol, ascending."""
        return self.places.of(self._checked_index(index))

    # Vocabularies.

    def token(self, token_id: int) -> str:
        """Return the token with the vocabulary id `token_id`."""
        if token_id >= len(self._table.tokens):
            self._spell_out()
        return self._table.tokens[token_id]

    def vocabulary_size(self, step: int) -> int:
        """Return the number of tokens after `step` merges."""
        return int(self._sizes[self._checked_step(step) - 1]) if step else len(self._initial)

    def vocabulary_sizes(self) -> NDArray[np.int64]:
        """Return the vocabulary size after each merge, shape (len(self),)."""
        count = self._count
        return self._sizes[:count]

    def vocabulary(self, step: int) -> Vocabulary:
        """Return the vocabulary after `step` merges. All vocabularies share one list of tokens."""
        self._spell_out()
        return self._initial.with_size(self.vocabulary_size(step))

    def pair_steps(self) -> dict[tuple[str, str], int]:
        """Return the step at which each pair was merged first; called again after more merges, it adds to the same.

        The merges that a training goes on from have the steps before 1.
        """
        self._spell_out()
        tokens, known, count = self._table.tokens, self._paired, self._named  # two threads may add the same at once
        columns = (self._columns[name][known:count].tolist() for name in ("left_id", "right_id"))
        for step, (left, right) in enumerate(zip(*columns, strict=True), known + 1):
            self._pair_steps.setdefault((tokens[left], tokens[right]), step)
        self._paired = count
        return self._pair_steps

    def first_size(self) -> int:
        """Return the number of special tokens and the alphabet, which required tokens follow."""
        required, tokens, size = {*self.config.required_tokens}, self._table.tokens, len(self._initial)
        while size and tokens[size - 1] in required:
            size -= 1
        return size

    def birth_step(self, token_id: int) -> int:
        """Return the step that made a token; 0 for special and required tokens and the alphabet."""
        if operator.index(token_id) < len(self._initial):
            return 0
        return int(np.searchsorted(self.vocabulary_sizes(), token_id, side="right")) + 1

    def merge_tree(self, token_id: int) -> MergeTree:
        """Return how a token was made.

        If several merges made equal tokens, the tree is that of the first one. A token of the initial vocabulary is a
        leaf, even if merges made it again.
        """
        last = self.vocabulary_size(self._count) - 1
        if not 0 <= token_id <= last:
            raise StudioError("There is no token with the ID {id}", "IDs run from 0 to {last}.", id=token_id, last=last)
        return _merge_tree(self, token_id)

    def _spell_out(self) -> None:
        if self._named == self._count:
            return
        with self._naming:
            count = self._count
            prefix = self.config.continuing_subword_prefix
            names = ("left_id", "right_id", "new_id")
            columns = (self._columns[name][self._named : count].tolist() for name in names)
            tokens, set_id = self._table.tokens, self._table.ids.setdefault
            size = len(tokens)
            # Memory may run out, or Ctrl-C come, between any two of these lines; repeating what was done is harmless.
            for left, right, new in zip(*columns, strict=True):
                if new == size:
                    tokens.append(tokens[left] + tokens[right].removeprefix(prefix))
                    size += 1
                set_id(tokens[new], new)
            lengths = map(len, tokens[self.vocabulary_size(self._named) :])
            self._table.longest = max(self._table.longest, max(lengths, default=0))
            self._named = count

    # Words.

    def symbols_after(self, step: int) -> int:
        """Return N, the weighted number of symbols in the corpus, after `step` merges."""
        if self._checked_step(step) < self._count:
            return int(self._columns["symbols_before"][step])
        known, symbols = self._symbols_known
        if known != step:
            merged = int(self.input.weights[self.places.words_at(self.positions(step - 1))].sum())
            symbols = int(self._columns["symbols_before"][step - 1]) - merged
            self._symbols_known = (step, symbols)
        return symbols

    def words_touched(self, index: int) -> list[str]:
        """Return the words that merge `index` (from 0) changed, in corpus order."""
        touched = self.places.words_at(self.positions(index))
        is_first = np.diff(touched, prepend=-1) > 0
        return list(map(self.input.words.__getitem__, touched[is_first].tolist()))

    def words_touched_counts(self, first: int, end: int) -> NDArray[np.int64]:
        """Return how many distinct words each merge from `first` to `end` (from 0, exclusive) changed: int64.

        Every place that they changed is looked at, so ask for parts of a long history.
        """
        return self.places.words_touched_counts(first, end)

    def segmentation(self, word: str, step: int) -> list[str]:
        """Return the tokens of a training word after `step` merges; 0 gives its initial symbols."""
        return self.places.tokens(self.places.index_of(word), self._checked_step(step))

    def words_with_token(
        self, token_id: int, step: int, limit: int | None = None, *, in_text_order: bool = False
    ) -> list[tuple[str, int]]:
        """Return the words whose segmentation after `step` merges contains a token, most frequent first.

        Each comes with its weight in the corpus. `limit`: return at most this many; a long list takes time.
        """
        places = _occurrences(self, token_id, self._checked_step(step))[0]
        return self.places.weighted_words_at(places, limit, in_text_order=in_text_order)

    def words_with_pair(
        self, left: str, right: str, step: int, limit: int | None = None, *, in_text_order: bool = False
    ) -> list[tuple[str, int]]:
        """Return the words in which `left` is followed by `right` after `step` merges, most frequent first.

        Each comes with its weight in the corpus. `limit`: return at most this many; a long list takes time.
        """
        places = self._places_of_pair(left, right, step)
        return self.places.weighted_words_at(places, limit, in_text_order=in_text_order)

    def number_of_words(self, token_id: int, step: int) -> int:
        """Return how many distinct words contain a token after `step` merges."""
        return self.places.count_words_at(_occurrences(self, token_id, self._checked_step(step))[0])

    def holds_token(self, token_id: int, step: int) -> NDArray[np.bool_]:
        """Return for each word whether it contains a token after `step` merges: bool, shape (n_words,)."""
        return self.places.holding(_occurrences(self, token_id, self._checked_step(step))[0])

    def number_of_words_with_pair(self, left: str, right: str, step: int) -> int:
        """Return in how many distinct words `left` is followed by `right` after `step` merges."""
        return self.places.count_words_at(self._places_of_pair(left, right, step))

    def words_per_token(self, step: int) -> NDArray[np.int64]:
        """Return how many distinct words contain each token after `step` merges, by vocabulary id.

        This looks at the whole corpus: some tenths of a second for a million words.
        """
        size = self.vocabulary_size(step)
        numbers = np.zeros(size, dtype=np.int64)
        for ids, inside in self.places.tokens_by_block(step, self.column("new_id")):
            both = ids * self.word_count + inside
            both.sort()
            distinct = both[np.diff(both, prepend=-1) > 0]
            numbers += np.bincount(distinct // self.word_count, minlength=size)
        return numbers

    def tokens_in_use(self, step: int) -> dict[str, int]:
        """Return how often each token occurs after `step` merges, in order of first occurrence in the corpus.

        Tokens that the merges left nowhere are missing. This looks at the whole corpus, as `words_per_token` does.
        """
        step = self._checked_step(step)
        counts = np.zeros(self.vocabulary_size(step), dtype=np.int64)
        first = np.full(len(counts), -1, dtype=np.int64)
        order: list[int] = []
        for ids, inside in self.places.tokens_by_block(step, self.column("new_id")):
            backwards = np.flatnonzero(counts[ids] == 0)[::-1]
            first[ids[backwards]] = backwards  # of the places of a token, the last one written stays
            found = np.flatnonzero(first >= 0)
            order += found[np.argsort(first[found])].tolist()
            first[found] = -1
            np.add.at(counts, ids, self.input.weights[inside])
        return {self.token(token_id): int(counts[token_id]) for token_id in order}

    def _places_of_pair(self, left: str, right: str, step: int) -> NDArray[Any]:
        vocabulary = self.vocabulary(step)
        left_id, right_id = vocabulary.id_of(left), vocabulary.id_of(right)
        if left_id is None or right_id is None:
            return np.empty(0, dtype=np.int64)
        ends = _occurrences(self, left_id, step)[1]
        return ends[_begins_at(self, ends, right_id, step)]

    def _checked_index(self, index: int) -> int:
        if not -self._count <= operator.index(index) < self._count:
            raise IndexError(f"merge {index} of {self._count}")
        return index % self._count

    def _checked_step(self, step: int) -> int:
        if not 0 <= operator.index(step) <= self._count:
            raise StudioError("There is no step {step}", "Steps run from 0 to {last}.", step=step, last=self._count)
        return step


def _occurrences(history: MergeHistory, token_id: int, step: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where a token starts and where it ends (exclusive) after `step` merges."""
    symbols, makers = _origins(history, token_id, step)
    begins: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
    ends = begins.copy()
    for symbol in symbols:
        begins.append(history.places.places_of_symbol(symbol, step))
        ends.append(begins[-1] + len(history.input.symbols[symbol].text))
    for index in makers:
        places, width = _made_by(history, index, step)
        begins.append(places)
        ends.append(places + width)
    return np.concatenate(begins), np.concatenate(ends)


def _begins_at(history: MergeHistory, places: NDArray[Any], token_id: int, step: int) -> NDArray[np.bool_]:
    """Return at which of the places, boundaries after `step` merges, a token starts."""
    symbols, makers = _origins(history, token_id, step)
    begins = np.zeros(len(places), dtype=np.bool_)
    for symbol in symbols:
        begins |= history.places.stands_at(places, symbol, step)
    for index in makers:
        begins |= np.isin(places, _made_by(history, index, step)[0], kind="table")
    return begins


def _origins(history: MergeHistory, token_id: int, step: int) -> tuple[list[int], list[int]]:
    """Return the initial symbols that are written as a token, and the merges up to `step` that made it, by index."""
    made, token_id = history.column("new_id")[:step], operator.index(token_id)
    return np.flatnonzero(history.input.symbol_ids == token_id).tolist(), np.flatnonzero(made == token_id).tolist()


def _made_by(history: MergeHistory, index: int, step: int) -> tuple[NDArray[np.int32], int]:
    """Return where the token that merge `index` made still stands after `step` merges, and its width in cells."""
    places = history.positions(index)
    width = history.places.width(int(places[0]), index + 1)
    return history.places.standing(places, width, step), width


def merge_columns(
    history: MergeHistory, steps: NDArray[np.int64], words_touched: NDArray[np.int64] | None = None
) -> Columns:
    """Return the columns of the table for some steps; `words_touched` is that of every merge, if known."""
    rows = steps - 1
    columns: Columns = {"step": steps.tolist()}
    for name, ids in MERGE_TOKENS.items():
        columns[name] = [history.token(token_id) for token_id in history.column(ids)[rows].tolist()]
    for name in _NUMBERS:
        columns[name] = history.column(name)[rows].tolist()
    columns["vocabulary_size"] = history.vocabulary_sizes()[rows].tolist()
    count = len(history)
    symbols = np.append(history.column("symbols_before")[1:], history.symbols_after(count) if count else 0)
    columns["symbols_after"] = symbols[rows].tolist()
    if words_touched is None:
        counts = [history.words_touched_counts(row, row + 1) for row in rows.tolist()]
        columns["words_touched"] = [count.item() for count in counts]
    else:
        columns["words_touched"] = words_touched[rows].tolist()
    columns["is_new"] = history.column("is_new")[rows].tolist()
    return columns


def arrow_schema() -> Any:
    import pyarrow

    kinds = dict.fromkeys(MERGE_TOKENS, pyarrow.string()) | {"value": pyarrow.float64(), "is_new": pyarrow.bool_()}
    return pyarrow.schema([(name, kinds.get(name, pyarrow.int64())) for name in MERGE_COLUMNS])
