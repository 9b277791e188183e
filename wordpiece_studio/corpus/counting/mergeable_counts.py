"""Counts of a stretch of a corpus, as a byte string that can be sent anywhere and merged with those of its neighbours.

Not here: the counting (`segment_counter`), and the merging (`merging`).
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from wordpiece_studio.corpus.counts import CorpusStatistics, FileStatistics, SkippedWord, WordCounts
from wordpiece_studio.text.word_numbers import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Pipeline

IN_FIRST, IN_LAST = 1, 2
"""What is known of a word: whether it was in the first of the files, and whether in the last one."""

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

    def word_counts(
        self, pipeline: Pipeline, names: Sequence[str], words: list[str] | None = None, **others: Any
    ) -> WordCounts:
        """Return the counts of a whole corpus, or of its beginning.

        Parameters
        ----------
        pipeline
            What made the words.
        names
            What the files are called, those too that were not come to.
        words
            The words, if they are at hand as texts.
        others
            What more the statistics tell.
        """
        read = [dataclasses.replace(file, name=name) for file, name in zip(self.files, names, strict=False)]
        files = (*read, *map(FileStatistics, names[len(read) :]))
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
        if words is None:
            words = words_in(self.words, self.ends)
        return WordCounts(words, self.counts, pipeline.normalizer, pipeline.pre_tokenizer, statistics, skipped)


def with_header(header: dict[str, Any], content: bytes = b"") -> bytes:
    """Return plain data, and bytes behind it, as one byte string."""
    written = json.dumps(header).encode()
    return b"".join([len(written).to_bytes(_HEADER_BYTES, "little"), written, content])


def header_of(data: bytes | memoryview) -> tuple[dict[str, Any], int]:
    """Return the plain data that `with_header` wrote, and where the bytes behind it begin."""
    start = _HEADER_BYTES + int.from_bytes(data[:_HEADER_BYTES], "little")
    header: dict[str, Any] = json.loads(bytes(data[_HEADER_BYTES:start]))
    return header, start
