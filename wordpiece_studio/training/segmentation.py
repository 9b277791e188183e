"""How every word is segmented after any number of merges, and the places of the merges with the words they lie in.

What was merged is in `history`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import hashes_of, repeated, with_room
from wordpiece_studio.training.initial_state import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.training.initial_state import TrainingInput


NEVER = np.iinfo(np.int32).max
"""The step of a boundary that is still there."""

_BLOCK = 1 << 16  # words processed together, which bounds the memory


@dataclass(frozen=True, slots=True)
class _Block:
    """Where the tokens of some words are after some step; places are cells, all but two arrays of shape (n_tokens,).

    Attributes
    ----------
    words
        The words.
    begins, ends
        int64: the first cell of each token, and the cell after its last.
    makers
        int32: the step that made each token, 0 for an initial symbol.
    insides
        int64, of any length: the cells where no token begins, separators left out.
    symbol_counts
        int64, one entry per word: its number of tokens.
    """

    words: slice
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    makers: NDArray[np.int32]
    insides: NDArray[np.int64]
    symbol_counts: NDArray[np.int64]


class Segmentations:
    """The segmentations of all words at all steps. *Places* are cells, in arrays of shape (n,), integers.

    Parameters
    ----------
    input_
        The state before the first merge.

    Attributes
    ----------
    boundary_steps
        int32, one entry per cell: the step that removed the boundary before the cell, or NEVER. The history writes it;
        writing a later step changes nothing at earlier steps.
    """

    def __init__(self, input_: TrainingInput) -> None:
        self._input = input_
        self.boundary_steps = initial_boundaries(input_)

    # One word.

    def index_of(self, word: str) -> int:
        """Return the index of a word."""
        hashes, order = self._hashes
        for place in itertools.count(int(np.searchsorted(hashes, hash(word)))):
            if place == len(hashes) or hashes[place] != hash(word):
                break
            if self._input.words[order[place]] == word:
                return int(order[place])
        raise StudioError("The word {word!r} is not in the training corpus", "Choose a word of the corpus.", word=word)

    def tokens(self, index: int, step: int) -> list[str]:
        """Return the tokens of the word `index` after `step` merges."""
        start = int(self._input.word_starts[index])
        end = start + int(self._input.word_lengths[index])
        inner = np.flatnonzero(self.boundary_steps[start + 1 : end] > step) + start + 1
        cuts = [start, *inner.tolist(), end]
        return [self._input.token_at(begin, stop) for begin, stop in itertools.pairwise(cuts)]

    # Places.

    def width(self, place: int, step: int) -> int:
        """Return the number of cells of the token that starts at `place` after `step` merges."""
        word = int(self._input.word_starts.searchsorted(place, side="right")) - 1
        end = int(self._input.word_starts[word] + self._input.word_lengths[word])
        return int((self.boundary_steps[place + 1 : end + 1] > step).argmax()) + 1

    def standing(self, places: NDArray[np.int32], width: int, step: int) -> NDArray[np.int32]:
        """Return the places of a token where no later merge up to `step` has made it part of another one."""
        steps = self.boundary_steps
        return places[(steps[places] > step) & (steps[places + width] > step)]

    def places_of_symbol(self, symbol: int, step: int) -> NDArray[np.int64]:
        """Return where an initial symbol still stands alone after `step` merges, ascending."""
        width = len(self._input.symbols[symbol].text)
        cuts = self.boundary_steps > step
        found = (self._input.cells == symbol) & cuts
        found[:-width] &= cuts[width:]
        return np.flatnonzero(found)

    def stands_at(self, places: NDArray[np.integer[Any]], symbol: int, step: int) -> NDArray[np.bool_]:
        """Return at which of the places, boundaries after `step` merges, an initial symbol still stands alone.

        Faster than finding all its places.
        """
        width = len(self._input.symbols[symbol].text)
        found: NDArray[np.bool_] = self._input.cells[places] == symbol
        found[found] = self.boundary_steps[places[found] + width] > step
        return found

    def blocks_at(self, step: int) -> Iterator[_Block]:
        """Yield all tokens after `step` merges, some words at a time."""
        starts, cells = self._input.word_starts, self._input.cells
        for first in range(0, len(starts), _BLOCK):
            words = slice(first, first + _BLOCK)
            begin = int(starts[first])
            end = int(starts[first + _BLOCK]) if first + _BLOCK < len(starts) else len(cells)
            steps = self.boundary_steps[begin:end]
            is_cut = steps > step
            cuts = np.flatnonzero(is_cut)
            begins_token = cells[begin + cuts] != SEPARATOR
            begins = cuts[begins_token]  # the last cut is a separator
            yield _Block(
                words,
                begin + begins,
                begin + cuts[1:][begins_token[:-1]],
                # The boundary inside a token that was removed last was removed by the merge that made the token.
                np.maximum.reduceat(np.where(is_cut, 0, steps), begins),
                begin + np.flatnonzero(~is_cut),
                np.diff(begins.searchsorted(np.append(starts[words] - begin, end - begin))),
            )

    def tokens_by_block(
        self, step: int, makers: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Yield the vocabulary ids of all tokens after `step` merges, and their words, some words at a time.

        `makers` has the id of the token that each merge made, shape (step,) or more.
        """
        for block in self.blocks_at(step):
            ids = self._input.symbol_ids[self._input.cells[block.begins]]
            merged = block.makers > 0
            ids[merged] = makers[block.makers[merged] - 1]
            yield ids, self._word_of_cell[block.begins]

    # Words.

    def words_at(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the index of the word that each place lies in."""
        return self._input.word_starts.searchsorted(places, side="right") - 1

    def count_words_at(self, places: NDArray[np.integer[Any]]) -> int:
        """Return the number of words that the places lie in."""
        return int(np.count_nonzero(self.holding(places)))

    def count_words_by_merge(self, places: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each of several merges the number of words that its places lie in: int64, shape (n_merges,).

        `places` has the places of all, merge after merge, ascending for each; `counts` how many each merge has.
        """
        ends = np.cumsum(counts)
        starts = ends - counts
        is_first = np.diff(self._word_of_cell[places], prepend=-1) != 0
        is_first[starts[counts > 0]] = True
        before = np.concatenate(([0], np.cumsum(is_first)))
        result: NDArray[np.int64] = before[ends] - before[starts]
        return result

    def distinct_words_at(self, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return the indices of the words that the places, ascending, lie in: int64, ascending, each once."""
        words = self._word_of_cell[places].astype(np.int64)
        distinct: NDArray[np.int64] = words[np.diff(words, prepend=-1) != 0]
        return distinct

    def prepare(self) -> None:
        """Build what looking up a word or a place takes; in a thread, because it takes a while for a million words."""
        _ = self._hashes, self._word_of_cell

    def most_frequent_words_at(self, places: NDArray[np.integer[Any]], limit: int | None) -> list[tuple[str, int]]:
        """Return the words that the places lie in, with their weights, most frequent first, at most `limit`."""
        found = self._by_weight[np.flatnonzero(self.holding(places)[self._by_weight])[:limit]]
        words = self._input.words
        return [(words[i], n) for i, n in zip(found.tolist(), self._input.weights[found].tolist(), strict=True)]

    def holding(self, places: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return for each word whether one of the places lies in it: bool, shape (n_words,)."""
        holding = np.zeros(len(self._input.weights), dtype=np.bool_)
        holding[self._word_of_cell[places]] = True
        return holding

    # Built when first used: a training without a window needs none of them.

    @cached_property
    def _by_weight(self) -> NDArray[np.int64]:
        return np.argsort(-self._input.weights, kind="stable")

    @cached_property
    def _word_of_cell(self) -> NDArray[np.int32]:
        """The word of each cell; a separator belongs to the word after it, the last one to no word."""
        return repeated(np.arange(len(self._input.weights), dtype=np.int32), self._input.word_lengths + 1)

    @cached_property
    def _hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The hashes of all words, ascending, and the word of each: a dictionary takes five times as long to build."""
        words = self._input.words
        hashes = hashes_of(words)
        order = np.argsort(hashes)
        return hashes[order], order


def initial_boundaries(input_: TrainingInput) -> NDArray[np.int32]:
    """Return NEVER for every cell, but 0 inside initial symbols with a suffix, where there never was a boundary."""
    boundaries = np.full(len(input_.cells), NEVER, dtype=np.int32)
    widths = np.array([len(symbol.text) for symbol in input_.symbols])
    if widths.max() == 1:
        return boundaries
    ends = input_.word_starts + input_.word_lengths
    last = widths[input_.cells[ends - 1]]
    for offset in range(1, int(last.max())):
        boundaries[ends[last > offset] - offset] = 0
    return boundaries


def places_of_boundaries(
    boundary_steps: NDArray[np.int32], merges: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return the places of the first merges, made from nothing but the step that removed each boundary.

    For each merge, how many there are and the cells of its left symbol: int64, shape (merges,); the places of all:
    int32, merge after merge, ascending per merge.

    When a boundary is removed, the left symbol reaches back to the nearest boundary that is removed later or never.
    """
    gone = np.flatnonzero(boundary_steps <= merges)  # also those that never were, with step 0
    back = np.arange(-1, len(boundary_steps) - 1, dtype=np.int32)
    waiting = gone[boundary_steps[back[gone]] <= boundary_steps[gone]]
    while len(waiting):
        back[waiting] = back[back[waiting]]  # between the two, all boundaries are removed earlier
        waiting = waiting[boundary_steps[back[waiting]] <= boundary_steps[waiting]]
    steps = boundary_steps[gone]
    in_order = gone[np.argsort(steps, kind="stable")][np.count_nonzero(steps == 0) :]
    counts = np.bincount(steps, minlength=merges + 1)[1:]
    places = back[in_order]
    firsts = np.cumsum(counts) - counts
    return counts, in_order[firsts] - places[firsts], places


_BYTES_A_CELL, _BYTES_A_WORD = 12, 64

GROWTH = 1.5
"""The factor by which the columns of a history grow when they are full."""


class MergePlaces:
    """The places that the merges changed, first merge to last; a place is the first cell of a left symbol.

    Parameters
    ----------
    input_
        The state before the first merge.

    Attributes
    ----------
    input : TrainingInput
        The same.
    segmentations : Segmentations
        Where the boundaries inside the words are at every step.
    """

    def __init__(self, input_: TrainingInput) -> None:
        self.input = input_
        self.segmentations = Segmentations(input_)
        self._offsets = np.zeros(65, dtype=np.int64)
        self._left_lengths = np.empty(64, dtype=np.int32)
        self._places = np.empty(256, dtype=np.int32)

    @property
    def bytes(self) -> int:
        """About how much memory they take, with the words laid out and what is built to look them up."""
        return _BYTES_A_CELL * len(self.input.cells) + _BYTES_A_WORD * len(self.input.weights) + self._places.nbytes

    def extend(
        self, first: int, counts: NDArray[np.int64], left_lengths: NDArray[np.integer[Any]], places: NDArray[np.int32]
    ) -> None:
        """Append the places of the merges from `first` on; per merge, how many, and the cells of its left symbol."""
        end = first + len(counts)
        self._offsets = with_room(self._offsets, end + 1, GROWTH)
        self._offsets[first + 1 : end + 1] = self._offsets[first] + np.cumsum(counts)
        self._left_lengths = with_room(self._left_lengths, end, GROWTH)
        self._left_lengths[first:end] = left_lengths
        used = int(self._offsets[first])
        self._places = with_room(self._places, used + len(places), GROWTH)
        self._places[used : used + len(places)] = places
        boundaries = places + np.repeat(left_lengths, counts)
        steps = np.arange(first + 1, end + 1, dtype=np.int32)
        self.segmentations.boundary_steps[boundaries] = np.repeat(steps, counts)

    def of(self, index: int) -> NDArray[np.int32]:
        """Return the places of merge `index` (from 0), ascending."""
        return self._places[self._offsets[index] : self._offsets[index + 1]]

    def firsts(self, count: int) -> NDArray[np.int32]:
        """Return the first place of each of the first `count` merges, shape (count,)."""
        return self._places[self._offsets[:count]]

    def counts(self, first: int, end: int) -> NDArray[np.int64]:
        """Return the number of places of each of the merges `first` to `end` (exclusive), shape (end - first,)."""
        return np.diff(self._offsets[first : end + 1])

    def between(self, first: int, end: int) -> NDArray[np.int32]:
        """Return the places of the merges `first` to `end` (exclusive), merge after merge."""
        return self._places[self._offsets[first] : self._offsets[end]]

    def left_lengths(self, count: int) -> NDArray[np.int32]:
        """Return the number of cells in the left symbol of each of the first `count` merges, shape (count,)."""
        return self._left_lengths[:count]

    def words_touched_counts(self, first: int, end: int, at_once: int) -> NDArray[np.int64]:
        """Return how many distinct words each of the merges `first` to `end` (exclusive) changed: int64, one per merge.

        At most `at_once` places, or those of one merge, are processed together.
        """
        offsets = self._offsets[first : end + 1]
        parts = [np.empty(0, dtype=np.int64)]
        while len(offsets) > 1:
            last = max(1, int(np.searchsorted(offsets, offsets[0] + at_once)) - 1)
            places = self._places[offsets[0] : offsets[last]]
            parts.append(self.segmentations.count_words_by_merge(places, np.diff(offsets[: last + 1])))
            offsets = offsets[last:]
        return np.concatenate(parts)
