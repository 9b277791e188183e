"""The words of a part of a corpus: what is counted anywhere, and put together in the order of the corpus.

The result is the same however a corpus is divided into parts, and whoever counted them. Not here: the counting
(`word_counters`), and the whole (`merging`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.corpus.counts import FileStatistics, SkippedWord

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SKIPPED_WORDS = 1000
"""So many words that are too long are listed; the others are only counted."""


@dataclass(frozen=True, slots=True)
class PartCounts:
    """What was counted in a part of one file, or of one stream or text.

    Attributes
    ----------
    numbers : numpy.ndarray
        The distinct words in order of first appearance, by the numbers of whoever counted: int32, shape ``(n_words,)``.
    counts : numpy.ndarray
        How often each occurs: int64, shape ``(n_words,)``.
    read
        What was read; the words are left out, and so is the name where there is no file.
    skipped
        The first words that were left out because they are too long; lines are those of the segment, from 1.
    skipped_words
        How many there were.
    spelled_out
        How often each of BERT's special tokens is written out.
    bytes_read
        How many bytes of the file on the disk this is.
    """

    numbers: NDArray[np.int32]
    counts: NDArray[np.int64]
    read: FileStatistics
    skipped: tuple[SkippedWord, ...] = ()
    skipped_words: int = 0
    spelled_out: dict[str, int] = field(default_factory=dict)
    bytes_read: int = 0

    def renumbered(self, numbers: NDArray[np.int32]) -> PartCounts:
        """Return the same with other numbers: `numbers` gives for each old one the new one."""
        return dataclasses.replace(self, numbers=numbers[self.numbers])

    def plain_data(self) -> tuple[dict[str, Any], list[bytes]]:
        """Return this as what JSON can hold, and as bytes that are the same on every machine."""
        names = ("skipped_words", "spelled_out", "bytes_read")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        plain["read"] = dataclasses.asdict(self.read)
        plain["skipped"] = [dataclasses.astuple(word) for word in self.skipped]
        return plain, [self.numbers.astype("<i4").tobytes(), self.counts.astype("<i8").tobytes()]

    @classmethod
    def from_plain_data(cls, plain: dict[str, Any], numbers: bytes, counts: bytes) -> PartCounts:
        """Return what `plain_data` took apart."""
        return cls(
            np.frombuffer(numbers, dtype="<i4").astype(np.int32),
            np.frombuffer(counts, dtype="<i8").astype(np.int64),
            FileStatistics(**plain["read"]),
            tuple(SkippedWord(*word) for word in plain["skipped"]),
            plain["skipped_words"],
            plain["spelled_out"],
            plain["bytes_read"],
        )
