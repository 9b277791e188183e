"""Where in the corpus each merge took place, and with it how every word was segmented at every step.

Not here: what was merged (`history`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.compiled.arrays import with_room
from wordpiece_studio.training.segmentation import Segmentations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.training.initial_state import TrainingInput

GROWTH = 1.5
"""How many times as long the columns of a history become when they are full."""


class MergePlaces:
    """The places that merges changed, first merge to last; a place is the first cell of a left symbol.

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

    def extend(
        self, first: int, counts: NDArray[np.int64], left_lengths: NDArray[np.integer[Any]], places: NDArray[np.int32]
    ) -> None:
        """Append the places of the merges from `first` on: how many each has, and how many cells their left symbols."""
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
        """Return how many places each of the merges `first` to `end` (exclusive) has, shape (end - first,)."""
        return np.diff(self._offsets[first : end + 1])

    def between(self, first: int, end: int) -> NDArray[np.int32]:
        """Return the places of the merges `first` to `end` (exclusive), one merge's after the other's."""
        return self._places[self._offsets[first] : self._offsets[end]]

    def left_lengths(self, count: int) -> NDArray[np.int32]:
        """Return how many cells the left symbol of each of the first `count` merges has, shape (count,)."""
        return self._left_lengths[:count]

    def words_touched_counts(self, first: int, end: int, at_once: int) -> NDArray[np.int64]:
        """Return in how many distinct words the merges `first` to `end` (exclusive) took place: int64, one a merge.

        At most `at_once` places, or those of one merge, are looked at together.
        """
        offsets = self._offsets[first : end + 1]
        parts = [np.empty(0, dtype=np.int64)]
        while len(offsets) > 1:
            last = max(1, int(np.searchsorted(offsets, offsets[0] + at_once)) - 1)
            places = self._places[offsets[0] : offsets[last]]
            parts.append(self.segmentations.count_words_by_merge(places, np.diff(offsets[: last + 1])))
            offsets = offsets[last:]
        return np.concatenate(parts)
