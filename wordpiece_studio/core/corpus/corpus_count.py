"""A count of a corpus in progress: the parts that were counted, put together in the order of the corpus.

Not here: where the text comes from (`segments`, `sources`), and how the words of a part are counted (`word_counters`,
`compiled_counter`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.core.arrays import with_room
from wordpiece_studio.core.corpus.counts import CorpusStatistics, FileStatistics, SkippedWord, WordCounts
from wordpiece_studio.core.corpus.part_counts import MOST_SKIPPED_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.core.corpus.part_counts import PartCounts
    from wordpiece_studio.core.text.pipeline import Pipeline
    from wordpiece_studio.core.text.word_numbers import WordNumbers

_SUMMED = ("bytes", "lines", "characters", "words", "distinct_words", "replaced", "skipped_lines")


class CorpusCount:
    """The words of the parts so far.

    Parameters
    ----------
    numbers
        The words and their numbers; parts name words by them.
    names
        What the files are called; one name for streams and texts.

    Attributes
    ----------
    words
        How many words there are, repetitions counted.
    changed_files, marked_files
        As in `CorpusStatistics`; whoever reads the files notes them.
    """

    def __init__(self, numbers: WordNumbers, names: Sequence[str]) -> None:
        self._numbers = numbers
        self._counts = np.zeros(0, dtype=np.int64)  # by the number of the word
        self._files_of_words = np.zeros(0, dtype=np.int32)  # the number, from 1, of the last file that each was in
        self._order: list[np.ndarray[Any, np.dtype[np.int32]]] = []  # the numbers in order of first appearance
        self._files = [FileStatistics(name) for name in names]
        self._skipped: list[SkippedWord] = []
        self._skipped_words = 0
        self._spelled_out: Counter[str] = Counter()
        self.words = 0
        self.changed_files: list[str] = []
        self.marked_files: dict[str, str] = {}

    def add(self, part: PartCounts, file: int = 0, lines_before: int = 0) -> None:
        """Add the part that comes next in the corpus.

        Parameters
        ----------
        part
            The part.
        file
            The number of its file, from 0.
        lines_before
            How many lines of the file come before its segment.
        """
        self._counts = with_room(self._counts, len(self._numbers))
        self._files_of_words = with_room(self._files_of_words, len(self._numbers))
        numbers = part.numbers
        new = numbers[self._counts[numbers] == 0]
        if len(new):
            self._order.append(new)
        self._counts[numbers] += part.counts
        distinct = int(np.count_nonzero(self._files_of_words[numbers] != file + 1))
        self._files_of_words[numbers] = file + 1
        words = int(part.counts.sum())
        self.words += words
        self._note(file, dataclasses.replace(part.read, words=words, distinct_words=distinct))
        self._skipped_words += part.skipped_words
        self._spelled_out.update(part.spelled_out)
        for word in part.skipped[: MOST_SKIPPED_WORDS - len(self._skipped)]:
            self._skipped.append(dataclasses.replace(word, line=lines_before + word.line))

    @property
    def files(self) -> Sequence[FileStatistics]:
        """What was read of each file so far."""
        return self._files

    def result(self, pipeline: Pipeline, *, has_files: bool, is_partial: bool = False) -> WordCounts:
        """Return the words of all parts."""
        order = np.concatenate(self._order) if self._order else np.zeros(0, dtype=np.int32)
        words = self._numbers.words()
        # Words of parts that were not added have numbers too; and in several processes the order is another one.
        if len(words) != len(order) or np.any(order != np.arange(len(order))):
            words = [words[number] for number in order.tolist()]
        statistics = CorpusStatistics.summed(
            self._files,
            skipped_words=self._skipped_words,
            changed_files=tuple(self.changed_files),
            marked_files=self.marked_files,
            spelled_out=dict(+self._spelled_out),
            files=tuple(self._files) if has_files else (),
            is_partial=is_partial,
        )
        counts = self._counts[order]
        return WordCounts(words, counts, pipeline.normalizer, pipeline.pre_tokenizer, statistics, self._skipped)

    def _note(self, file: int, read: FileStatistics) -> None:
        before = self._files[file]
        summed = {name: getattr(before, name) + getattr(read, name) for name in _SUMMED}
        longest = max(before.most_line_bytes, read.most_line_bytes)
        self._files[file] = FileStatistics(name=before.name, most_line_bytes=longest, encoding=read.encoding, **summed)
