"""Everything that a training did, as columns: what each merge was, and where.

Two facts make it small. A merge joins two neighbours, so it removes one *boundary* inside a word at each place; and
every boundary is removed at most once. The step at which each boundary disappears is therefore the whole history of
every word's segmentation.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.training.records import Merge
from wordpiece_studio.core.vocabulary import TokenTable, Vocabulary
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.core.training.preparation import TrainingInput

NEVER = np.iinfo(np.int32).max
"""The step of a boundary that is still there."""

_COLUMNS: dict[str, Any] = {
    "left_id": np.int64,
    "right_id": np.int64,
    "new_id": np.int64,
    "pair_frequency": np.int64,
    "left_frequency": np.int64,
    "right_frequency": np.int64,
    "symbols_before": np.int64,
    "value": np.float64,
    "ties": np.int64,
    "is_new": np.bool_,
}


@dataclass(frozen=True, slots=True)
class MergeBatch:
    """Merges as an engine reports them: arrays of shape (n,), one entry a merge.

    Attributes
    ----------
    columns
        The columns of the history by name.
    position_counts
        int64: how many places each merge changed.
    positions
        int32, the places of all merges one after the other: the first cell of the left symbol, ascending per merge.
    left_lengths
        int64: cells in the left symbol of each merge.
    """

    columns: dict[str, NDArray[Any]]
    position_counts: NDArray[np.int64]
    positions: NDArray[np.int32]
    left_lengths: NDArray[np.int64]


class MergeHistory:
    """The merges of one training, first to last.

    One thread may append while others read: a merge can be read as soon as ``len(history)`` counts it.

    Column names: left_id, right_id, new_id (vocabulary ids), pair_frequency, left_frequency, right_frequency,
    symbols_before, ties (int64), value (float64), is_new (bool). Their meaning is that of :class:`Merge`.
    """

    def __init__(self, input_: TrainingInput) -> None:
        self.input = input_
        self._count = 0
        self._columns = {name: np.empty(64, dtype=dtype) for name, dtype in _COLUMNS.items()}
        self._sizes = np.empty(64, dtype=np.int64)  # vocabulary size after each merge
        self._offsets = np.zeros(65, dtype=np.int64)
        self._positions = np.empty(256, dtype=np.int32)
        self._boundary_steps = _initial_boundaries(input_)
        config = input_.config
        self._table = TokenTable(input_.vocabulary_tokens)
        self._initial = Vocabulary(
            self._table, config.special_tokens, config.continuing_subword_prefix, config.end_of_word_suffix
        )
        self._named = 0  # merges whose tokens have been spelled out
        self._naming = threading.Lock()
        self._word_index: dict[str, int] | None = None

    # What an engine does.

    def extend(self, batch: MergeBatch) -> None:
        """Append merges."""
        first, count = self._count, len(batch.position_counts)
        end = first + count
        for name, values in batch.columns.items():
            self._columns[name] = _with_room(self._columns[name], end)
            self._columns[name][first:end] = values
        self._sizes = _with_room(self._sizes, end)
        before = int(self._sizes[first - 1]) if first else len(self._initial)
        self._sizes[first:end] = before + np.cumsum(batch.columns["is_new"])
        self._offsets = _with_room(self._offsets, end + 1)
        self._offsets[first + 1 : end + 1] = self._offsets[first] + np.cumsum(batch.position_counts)
        used = int(self._offsets[first])
        self._positions = _with_room(self._positions, used + len(batch.positions))
        self._positions[used : used + len(batch.positions)] = batch.positions
        boundaries = batch.positions + np.repeat(batch.left_lengths, batch.position_counts)
        steps = np.arange(first + 1, end + 1, dtype=np.int32)
        self._boundary_steps[boundaries] = np.repeat(steps, batch.position_counts)
        self._count = end  # last: it is what makes the rest visible to readers

    # What was merged.

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Merge:
        index = self._checked_index(index)
        row = {name: column[index].item() for name, column in self._columns.items()}
        left, right, new = (self.token(row.pop(name)) for name in ("left_id", "right_id", "new_id"))
        return Merge(step=index + 1, left=left, right=right, token=new, **row)

    def __iter__(self) -> Iterator[Merge]:
        return (self[index] for index in range(self._count))

    def column(self, name: str) -> NDArray[Any]:
        """Return the column called `name`, shape (len(self),), as a view that must not be written to."""
        count = self._count
        return self._columns[name][:count]

    def positions(self, index: int) -> NDArray[np.int32]:
        """Return the places that merge `index` (from 0) changed: the first cell of each left symbol, ascending."""
        index = self._checked_index(index)
        return self._positions[self._offsets[index] : self._offsets[index + 1]]

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
        """Return the vocabulary after `step` merges. All of them share one list of tokens."""
        self._spell_out()
        initial = self._initial
        return Vocabulary(
            self._table,
            initial.special_tokens,
            initial.continuing_subword_prefix,
            initial.end_of_word_suffix,
            size=self.vocabulary_size(step),
        )

    def birth_step(self, token_id: int) -> int:
        """Return the step that made a token; 0 for special tokens and the alphabet."""
        if token_id < len(self._initial):
            return 0
        return int(np.searchsorted(self.vocabulary_sizes(), token_id, side="right")) + 1

    def _spell_out(self) -> None:
        """Write out the tokens of merges that were not asked for yet; the engine only has numbers."""
        with self._naming:
            count = self._count
            prefix = self.input.config.continuing_subword_prefix
            columns = (self._columns[name][self._named : count].tolist() for name in ("left_id", "right_id", "is_new"))
            for left, right, is_new in zip(*columns, strict=True):
                if is_new:
                    tokens = self._table.tokens
                    self._table.append(tokens[left] + tokens[right].removeprefix(prefix))
            self._named = count

    # Words.

    def symbols_after(self, step: int) -> int:
        """Return N, the weighted number of symbols in the corpus, after `step` merges."""
        if self._checked_step(step) < self._count:
            return int(self._columns["symbols_before"][step])
        if not step:
            return self.input.total_symbols
        touched = self.positions(step - 1)
        merged = int(self.input.weights[self._words_at(touched)].sum())
        return int(self._columns["symbols_before"][step - 1]) - merged

    def words_touched(self, index: int) -> list[str]:
        """Return the words that merge `index` (from 0) changed, in corpus order."""
        return [self.input.words[word] for word in np.unique(self._words_at(self.positions(index))).tolist()]

    def segmentation(self, word: str, step: int) -> list[str]:
        """Return the tokens of a training word after `step` merges; 0 gives its initial symbols.

        Raises
        ------
        StudioError
            If the training did not see `word`, or there is no such step.
        """
        return self._segmentation(self._index_of(word), self._checked_step(step))

    def words_with_pair(self, left: str, right: str, step: int) -> list[tuple[str, int]]:
        """Return the words in which two neighbours are `left` and `right` after `step` merges, most frequent first.

        Each comes with its weight in the corpus. This looks at every word that spells the pair.
        """
        prefix = self.input.config.continuing_subword_prefix
        text = left.removeprefix(prefix) + right.removeprefix(prefix)
        suffix = self.input.config.end_of_word_suffix
        if suffix:
            text = text.removesuffix(suffix)
        if self.input.config.alphabet_limit is not None:
            text = ""  # characters may have been removed between the two
        found = []
        for index, word in enumerate(self.input.words):
            if text in word:
                tokens = self._segmentation(index, step)
                if any(pair == (left, right) for pair in itertools.pairwise(tokens)):
                    found.append((word, int(self.input.weights[index])))
        return sorted(found, key=lambda item: -item[1])

    def _checked_index(self, index: int) -> int:
        """Return the index of a merge counted from the front, as a list would take it."""
        if not -self._count <= index < self._count:
            raise IndexError(f"merge {index} of {self._count}")
        return index % self._count

    def _checked_step(self, step: int) -> int:
        if not 0 <= step <= self._count:
            raise StudioError("There is no step {step}", "Steps run from 0 to {last}.", step=step, last=self._count)
        return step

    def _segmentation(self, index: int, step: int) -> list[str]:
        start = int(self.input.word_starts[index])
        end = start + int(self.input.word_lengths[index])
        inner = np.flatnonzero(self._boundary_steps[start + 1 : end] > step) + start + 1
        cuts = [start, *inner.tolist(), end]
        return [self.input.token_at(begin, stop) for begin, stop in itertools.pairwise(cuts)]

    def _words_at(self, positions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the index of the word that each position lies in."""
        return np.searchsorted(self.input.word_starts, positions, side="right") - 1

    def _index_of(self, word: str) -> int:
        if self._word_index is None:
            self._word_index = {word: index for index, word in enumerate(self.input.words)}
        try:
            return self._word_index[word]
        except KeyError:
            raise StudioError(
                "The word {word!r} was not trained on", "Choose a word of the corpus.", word=word
            ) from None


def _initial_boundaries(input_: TrainingInput) -> NDArray[np.int32]:
    """Return NEVER for every cell; 0 inside the initial symbols with a suffix, where there never was a boundary."""
    boundaries = np.full(len(input_.cells), NEVER, dtype=np.int32)
    widths = np.array([len(symbol.text) for symbol in input_.symbols])
    ends = input_.word_starts + input_.word_lengths
    last = widths[input_.cells[ends - 1]]
    for offset in range(1, int(last.max())):
        boundaries[ends[last > offset] - offset] = 0
    return boundaries


def _with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return `array`, or a copy with at least twice its length if `size` entries do not fit.

    A copy and not a resize: a reader may still hold the old one.
    """
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
