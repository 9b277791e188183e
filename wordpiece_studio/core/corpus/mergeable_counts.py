"""Counts of neighbouring stretches of a corpus, as byte strings that can be merged anywhere, in any tree.

However a corpus is divided and whichever neighbours are merged first, the result is the same: words, order, counts, and
what is told of each file. Not here: the counting (`segment_counter`), and who merges what (`cluster`).
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wordpiece_studio.core.arrays import with_room
from wordpiece_studio.core.corpus.counts import CorpusStatistics, FileStatistics, SkippedWord, WordCounts
from wordpiece_studio.core.corpus.part_counts import MOST_SKIPPED_WORDS
from wordpiece_studio.core.text.word_numbers import PlainWordNumbers, spelled_out, words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.core.corpus.part_counts import PartCounts
    from wordpiece_studio.core.text.pipeline import Pipeline
    from wordpiece_studio.core.text.word_numbers import WordNumbers

IN_FIRST, IN_LAST = 1, 2
"""What is known of a word: whether it was in the first of the files, and whether in the last one."""

_SUMMED = ("bytes", "lines", "characters", "words", "replaced", "skipped_lines")
_HEADER_BYTES = 8  # that tell how long the header is


@dataclass(frozen=True, slots=True)
class MergeableCounts:
    """What was counted in a stretch of a corpus; at its ends files may be cut.

    Attributes
    ----------
    words
        The distinct words in order of first appearance, in UTF-8, one after the other.
    ends : numpy.ndarray
        Where each ends: int64, shape ``(n_words,)``.
    counts : numpy.ndarray
        How often each occurs: int64, shape ``(n_words,)``.
    places : numpy.ndarray
        `IN_FIRST`, `IN_LAST` or both, or 0, for each: uint8, shape ``(n_words,)``.
    first_file
        The number of the first file, from 0.
    files
        What was read of it and of those that follow.
    skipped
        The first words that were left out because they are too long: for each the number of its file, the line, the
        byte and the length. The lines of the first file are numbered from the beginning of the stretch.
    skipped_words, spelled_out, bytes_read
        As in `PartCounts`.
    rare_words, rare_occurrences
        As in `CorpusStatistics`; what has lost its rare words cannot be merged any more.
    """

    words: bytes
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.uint8]
    first_file: int
    files: tuple[FileStatistics, ...]
    skipped: tuple[tuple[int, int, int, int], ...]
    skipped_words: int
    spelled_out: dict[str, int]
    bytes_read: int
    rare_words: int = 0
    rare_occurrences: int = 0

    @classmethod
    def nothing(cls) -> Self:
        """Return the counts of nothing."""
        none = np.zeros(0, dtype=np.int64)
        return cls(b"", none, none, none.astype(np.uint8), 0, (), (), 0, {}, 0)

    def to_bytes(self) -> bytes:
        """Return this as bytes that are the same on every machine."""
        arrays = [
            self.words,
            self.ends.astype("<i8").tobytes(),
            self.counts.astype("<i8").tobytes(),
            self.places.tobytes(),
        ]
        header = {
            "sizes": [len(array) for array in arrays],
            "first_file": self.first_file,
            "files": [dataclasses.astuple(file) for file in self.files],
            "skipped": self.skipped,
            "skipped_words": self.skipped_words,
            "spelled_out": self.spelled_out,
            "bytes_read": self.bytes_read,
            "rare": [self.rare_words, self.rare_occurrences],
        }
        return with_header(header, b"".join(arrays))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote."""
        header, start = header_of(data)
        arrays = []
        for size in header["sizes"]:
            arrays.append(memoryview(data)[start : start + size])
            start += size
        return cls(
            bytes(arrays[0]),
            np.frombuffer(arrays[1], dtype="<i8").astype(np.int64),
            np.frombuffer(arrays[2], dtype="<i8").astype(np.int64),
            np.frombuffer(arrays[3], dtype=np.uint8),
            header["first_file"],
            tuple(FileStatistics(*file) for file in header["files"]),
            tuple((file, line, byte, length) for file, line, byte, length in header["skipped"]),
            header["skipped_words"],
            header["spelled_out"],
            header["bytes_read"],
            *header["rare"],
        )

    def at_least(self, count: int) -> MergeableCounts:
        """Return the words that occur `count` times or more."""
        is_common = self.counts >= count
        lengths = np.diff(self.ends, prepend=0)
        kept = np.frombuffer(self.words, dtype=np.uint8)[np.repeat(is_common, lengths)]
        rare = self.counts[~is_common]
        return dataclasses.replace(
            self,
            words=kept.tobytes(),
            ends=lengths[is_common].cumsum(),
            counts=self.counts[is_common],
            places=self.places[is_common],
            rare_words=len(rare),
            rare_occurrences=int(rare.sum()),
        )

    def word_counts(self, pipeline: Pipeline, names: Sequence[str], **others: Any) -> WordCounts:
        """Return the counts of a whole corpus whose files are called `names`; `others` are for the statistics."""
        files = tuple(dataclasses.replace(file, name=name) for file, name in zip(self.files, names, strict=True))
        statistics = CorpusStatistics.summed(
            files,
            skipped_words=self.skipped_words,
            spelled_out=self.spelled_out,
            files=files,
            rare_words=self.rare_words,
            rare_occurrences=self.rare_occurrences,
            **others,
        )
        skipped = [SkippedWord(names[file], *place) for file, *place in self.skipped]
        words = words_in(self.words, self.ends)
        return WordCounts(words, self.counts, pipeline.normalizer, pipeline.pre_tokenizer, statistics, skipped)


class Merging:
    """Puts together what comes one after the other in a corpus.

    Parameters
    ----------
    numbers
        What numbers the words.
    first_file
        The number of the first file, from 0.
    """

    def __init__(self, numbers: WordNumbers, first_file: int) -> None:
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
        places = np.full(len(part.numbers), IN_FIRST | IN_LAST, dtype=np.uint8)
        distinct = self._add_words(part.numbers, part.counts, places, file, file)
        read = dataclasses.replace(part.read, name="", words=int(part.counts.sum()))
        self._add_file(file, read, distinct)
        self._add_notes(part)
        self._add_skipped([(file, lines_before + word.line, word.byte, word.length) for word in part.skipped])

    def add(self, counts: MergeableCounts) -> None:
        """Add what comes next in the corpus."""
        first, last = counts.first_file, counts.first_file + len(counts.files) - 1
        lines_before = self.lines_of(first)
        rows = self._numbers.numbers_of(counts.words, counts.ends)
        distinct = self._add_words(rows, counts.counts, counts.places, first, last)
        for number, file in enumerate(counts.files, start=first):
            self._add_file(number, file, distinct if number == first else file.distinct_words)
        self._add_notes(counts)
        self._add_skipped(
            [(file, line + lines_before * (file == first), byte, length) for file, line, byte, length in counts.skipped]
        )

    def result(self) -> MergeableCounts:
        """Return what was added."""
        order = np.concatenate(self._order) if self._order else np.zeros(0, dtype=np.int32)
        last_file = self._first_file + len(self._files)
        places = IN_FIRST * self._is_in_first[order] + IN_LAST * (self._last_files[order] == last_file)
        return MergeableCounts(
            *self._spelled(order),
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
        if len(order) == len(self._numbers) and np.array_equal(order, np.arange(len(order))):
            return self._numbers.spelled(0)
        words = self._numbers.words()
        return spelled_out([words[number] for number in order.tolist()])

    def _add_words(
        self, rows: NDArray[np.int32], counts: NDArray[np.int64], places: NDArray[np.uint8], first: int, last: int
    ) -> int:
        """Add words by their numbers; return how many of those in the file `first` were not in it so far."""
        size = len(self._numbers)
        self._counts = with_room(self._counts, size)
        self._is_in_first = with_room(self._is_in_first, size)
        self._last_files = with_room(self._last_files, size)
        new = rows[self._counts[rows] == 0]
        if len(new):
            self._order.append(new)
        self._counts[rows] += counts
        in_first = rows[places & IN_FIRST != 0]
        distinct = int(np.count_nonzero(self._last_files[in_first] != first + 1))
        if first == self._first_file:
            self._is_in_first[in_first] = True
        self._last_files[in_first] = first + 1
        self._last_files[rows[places & IN_LAST != 0]] = last + 1
        return distinct

    def _add_file(self, file: int, read: FileStatistics, distinct: int) -> None:
        number = file - self._first_file
        if number == len(self._files):
            self._files.append(dataclasses.replace(read, distinct_words=distinct))
            return
        before = self._files[number]
        summed = {name: getattr(before, name) + getattr(read, name) for name in _SUMMED}
        self._files[number] = FileStatistics(
            before.name,
            distinct_words=before.distinct_words + distinct,
            most_line_bytes=max(before.most_line_bytes, read.most_line_bytes),
            encoding=read.encoding,
            **summed,
        )

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
        from wordpiece_studio.core.text.word_table import TableWordNumbers

        numbers = TableWordNumbers(max(len(part.ends) for part in parts) + 1)
    merging = Merging(numbers, parts[0].first_file)
    for part in parts:
        merging.add(part)
    return merging.result()


def with_header(header: dict[str, Any], content: bytes = b"") -> bytes:
    """Return plain data, and bytes behind it, as one byte string."""
    written = json.dumps(header).encode()
    return b"".join([len(written).to_bytes(_HEADER_BYTES, "little"), written, content])


def header_of(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the plain data that `with_header` wrote, and where the bytes behind it begin."""
    start = _HEADER_BYTES + int.from_bytes(data[:_HEADER_BYTES], "little")
    header: dict[str, Any] = json.loads(data[_HEADER_BYTES:start])
    return header, start
