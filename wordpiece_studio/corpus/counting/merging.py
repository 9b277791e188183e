"""Putting together what was counted in neighbouring stretches of a corpus, in one process or on many machines.

However a corpus is divided and whichever neighbours are merged first, the result is the same: words, order, counts, and
what is told of each file. Not here: the counting (`segment_counter`), and who merges what (`counting_run`,
`cluster_counting`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.compiled.arrays import with_room
from wordpiece_studio.corpus.counting.mergeable_counts import IN_FIRST, IN_LAST, MergeableCounts
from wordpiece_studio.corpus.counting.part_counts import MOST_SKIPPED_WORDS
from wordpiece_studio.text.word_numbers import PlainWordNumbers, spelled_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.part_counts import PartCounts
    from wordpiece_studio.corpus.counts import FileStatistics, WordCounts
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_numbers import WordNumbers


class Merging:
    """Puts together what comes one after the other in a corpus.

    Parameters
    ----------
    numbers
        What numbers the words.
    first_file
        The number of the first file, from 0.

    Attributes
    ----------
    total
        How many words there are so far, repetitions counted.
    """

    def __init__(self, numbers: WordNumbers, first_file: int = 0) -> None:
        self.total = 0
        self._numbers = numbers
        self._counts = np.zeros(0, dtype=np.int64)  # by the number of the word
        self._is_in_first = np.zeros(0, dtype=np.bool_)
        self._last_files = np.zeros(0, dtype=np.int32)  # the number, from 1, of the last file that each was in
        self._order: list[NDArray[np.int32]] = []  # the numbers in order of first appearance
        self._first_file = first_file
        self._files: list[FileStatistics] = []
        self._skipped: list[tuple[int, int, int, int]] = []
        self._skipped_words = self._bytes_read = 0
        self._spelled_out: Counter[str] = Counter()

    @property
    def files(self) -> Sequence[FileStatistics]:
        """What was read of the first file and of those that follow, without their names."""
        return self._files

    def lines_of(self, file: int) -> int:
        """Return how many lines of a file there are so far."""
        number = file - self._first_file
        if number >= len(self._files):
            return 0
        return self._files[number].lines + self._files[number].skipped_lines

    def add_part(self, part: PartCounts, file: int, lines_before: int) -> None:
        """Add a part, whose words have the same numbers as here.

        `lines_before` is how many lines of its file there were before its segment, see `lines_of`.
        """
        words, distinct = self._add_words(part.numbers, part.counts, part.numbers, file)
        self._add_file(file, dataclasses.replace(part.read, name="", words=words, distinct_words=distinct))
        self._add_notes(part)
        self._add_skipped([(file, lines_before + word.line, word.byte, word.length) for word in part.skipped])

    def add(self, counts: MergeableCounts) -> None:
        """Add what comes next in the corpus."""
        first, last = counts.first_file, counts.first_file + len(counts.files) - 1
        lines_before = self.lines_of(first)
        rows = self._numbers.numbers_of(counts.words, counts.ends)
        _, distinct = self._add_words(rows, counts.counts, rows[counts.places & IN_FIRST != 0], first)
        self._last_files[rows[counts.places & IN_LAST != 0]] = last + 1
        for number, file in enumerate(counts.files, start=first):
            self._add_file(number, dataclasses.replace(file, distinct_words=distinct) if number == first else file)
        self._add_notes(counts)
        self._add_skipped(
            [(file, line + lines_before * (file == first), byte, length) for file, line, byte, length in counts.skipped]
        )

    def result(self) -> MergeableCounts:
        """Return what was added."""
        order = self._ordered()
        return self._with_words(order, *self._spelled(order))

    def word_counts(self, pipeline: Pipeline, names: Sequence[str], **others: Any) -> WordCounts:
        """Return what was added as `MergeableCounts.word_counts` does, without spelling out the words for it."""
        order = self._ordered()
        counts = self._with_words(order, b"", np.zeros(0, dtype=np.int64))
        return counts.word_counts(pipeline, names, self._numbers.words_of(order), **others)

    def _ordered(self) -> NDArray[np.int32]:
        return np.concatenate(self._order) if self._order else np.zeros(0, dtype=np.int32)

    def _with_words(self, order: NDArray[np.int32], words: bytes, ends: NDArray[np.int64]) -> MergeableCounts:
        last_file = self._first_file + len(self._files)
        places = IN_FIRST * self._is_in_first[order] + IN_LAST * (self._last_files[order] == last_file)
        return MergeableCounts(
            words,
            ends,
            self._counts[order],
            places.astype(np.uint8),
            self._first_file,
            tuple(self._files),
            tuple(self._skipped),
            self._skipped_words,
            dict(self._spelled_out),
            self._bytes_read,
        )

    def _spelled(self, order: NDArray[np.int32]) -> tuple[bytes, NDArray[np.int64]]:
        if self._numbers.are_in_order(order):
            return self._numbers.spelled(0)
        return spelled_out(self._numbers.words_of(order))

    def _add_words(
        self, rows: NDArray[np.int32], counts: NDArray[np.int64], in_first: NDArray[np.int32], first: int
    ) -> tuple[int, int]:
        """Add words by their numbers, of which those `in_first` are in the file `first`.

        Return how many they are, repetitions counted, and how many of those in the file were not in it so far.
        """
        size = len(self._numbers)
        self._counts = with_room(self._counts, size)
        self._is_in_first = with_room(self._is_in_first, size)
        self._last_files = with_room(self._last_files, size)
        new = rows[self._counts[rows] == 0]
        if len(new):
            self._order.append(new)
        self._counts[rows] += counts
        distinct = int(np.count_nonzero(self._last_files[in_first] != first + 1))
        if first == self._first_file:
            self._is_in_first[in_first] = True
        self._last_files[in_first] = first + 1
        total = int(counts.sum())
        self.total += total
        return total, distinct

    def _add_file(self, file: int, read: FileStatistics) -> None:
        number = file - self._first_file
        if number == len(self._files):
            self._files.append(read)
        else:
            self._files[number] = self._files[number].with_more(read)

    def _add_notes(self, counts: PartCounts | MergeableCounts) -> None:
        self._skipped_words += counts.skipped_words
        self._spelled_out.update(counts.spelled_out)
        self._bytes_read += counts.bytes_read

    def _add_skipped(self, skipped: Sequence[tuple[int, int, int, int]]) -> None:
        self._skipped += skipped[: MOST_SKIPPED_WORDS - len(self._skipped)]


def merged(parts: Sequence[MergeableCounts], *, is_compiled: bool = False) -> MergeableCounts:
    """Return the counts of neighbouring stretches of a corpus together.

    Parameters
    ----------
    parts
        The stretches in the order of the corpus; at least one.
    is_compiled
        Whether to merge with compiled kernels; no word may then hold a blank.
    """
    numbers: WordNumbers = PlainWordNumbers()
    if is_compiled:
        from wordpiece_studio.text.word_table import TableWordNumbers

        numbers = TableWordNumbers(max(len(part.ends) for part in parts) + 1)
    merging = Merging(numbers, parts[0].first_file)
    for part in parts:
        merging.add(part)
    return merging.result()
