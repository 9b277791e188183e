"""The distinct words of a table of chunks in order of first appearance, each with its count.

Each distinct chunk is normalized and cut once, however often it occurs: by compiled kernels if the pipeline goes by
character, else by the pipeline itself. Importing this module loads the kernels, and with them numba; nothing imports
it before it is needed. Not here: the chunks (`chunk_table`).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.text.character_actions import CharacterActions
from wordpiece_studio.core.text.chunk_table import ChunkTable
from wordpiece_studio.core.text.kernels import words as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.core.text.pipeline import Pipeline

_CHUNKS_AT_ONCE = 20_000


class WordTable(ABC):
    """The distinct words that a local pipeline makes of chunks.

    Parameters
    ----------
    pipeline
        What makes words of chunks; it must be local.
    longest
        Words of more characters than this are left out.
    """

    def __init__(self, pipeline: Pipeline, longest: int) -> None:
        self._pipeline = pipeline
        self._longest = longest

    @abstractmethod
    def words(self) -> list[str]:
        """Return the words, in order of first appearance."""

    @abstractmethod
    def counts(self) -> NDArray[np.int64]:
        """Return how often each occurs: int64, shape ``(n_words,)``."""

    def take(self, chunks: ChunkTable, check_stop: Callable[[], None] | None = None) -> Iterator[int]:
        """Add the words of `chunks`, which must be UTF-8, each as often as its chunk was seen.

        Yields the row of the chunk of each word that is left out. `check_stop` is called now and then.
        """
        for first in range(0, len(chunks), _CHUNKS_AT_ONCE):
            if check_stop is not None:
                check_stop()
            yield from self._take(chunks, first, min(first + _CHUNKS_AT_ONCE, len(chunks)))

    @abstractmethod
    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words of a chunk that `take` would leave out."""

    @abstractmethod
    def _take(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        """Do what `take` does with the chunks from row `first` to before row `last`."""

    def _words_of(self, chunk: bytes) -> Iterator[str]:
        return self._pipeline.iterate(chunk.decode("utf-8", "surrogatepass"))


class PlainWordTable(WordTable):
    """For every local pipeline."""

    def __init__(self, pipeline: Pipeline, longest: int) -> None:
        super().__init__(pipeline, longest)
        self._counts: dict[str, int] = {}

    def words(self) -> list[str]:
        """Return the words."""
        return list(self._counts)

    def counts(self) -> NDArray[np.int64]:
        """Return how often each occurs."""
        return np.fromiter(self._counts.values(), dtype=np.int64, count=len(self._counts))

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words that are too long."""
        return [len(word) for word in self._words_of(chunks[row]) if len(word) > self._longest]

    def _take(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        for row, count in enumerate(chunks.counts[first:last].tolist(), start=first):
            for word in self._words_of(chunks[row]):
                if len(word) <= self._longest:
                    self._counts[word] = self._counts.get(word, 0) + count
                else:
                    yield row


class CompiledWordTable(WordTable):
    """For pipelines that go by character; `capacity` is for how many words there is room at first."""

    def __init__(self, pipeline: Pipeline, longest: int, *, capacity: int = 1 << 12) -> None:
        super().__init__(pipeline, longest)
        self._table = ChunkTable(capacity=capacity)
        self._actions = CharacterActions(pipeline)

    def words(self) -> list[str]:
        """Return the words."""
        return self._table.joined.tobytes().decode("utf-8", "surrogatepass").split(" ")[:-1]

    def counts(self) -> NDArray[np.int64]:
        """Return how often each occurs."""
        return self._table.counts.copy()

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words that are too long."""
        return [length for _, length in self._cut(chunks, row, row + 1, is_dry=True)]

    def _take(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        return (row for row, _ in self._cut(chunks, first, last, is_dry=False))

    def _cut(self, chunks: ChunkTable, first: int, last: int, *, is_dry: bool) -> Iterator[tuple[int, int]]:
        """Add the words of chunks, or, if `is_dry`, do not; yield (row, length) of those that are too long."""
        cursor = np.zeros(kernels.CURSOR, dtype=np.int64)
        cursor[kernels.ROW], cursor[kernels.POSITION] = first, chunks.begins[first]
        while (answer := self._go_on(chunks, last, is_dry, cursor)) != kernels.DONE:
            if answer == kernels.FULL:
                self._table.make_room()
            elif answer == kernels.UNKNOWN:
                self._actions.find_out(int(cursor[kernels.CODE_POINT]))
            elif answer == kernels.LONG:
                yield int(cursor[kernels.ROW]), int(cursor[kernels.LENGTH])
            else:
                yield from self._cut_by_hand(chunks, is_dry, cursor)

    def _go_on(self, chunks: ChunkTable, last: int, is_dry: bool, cursor: NDArray[np.int64]) -> int:
        actions, texts = self._actions.actions, self._actions.texts
        table = self._table.arrays
        return int(kernels.cut(table, chunks.arrays, last, actions, texts, self._longest, is_dry, cursor))

    def _cut_by_hand(self, chunks: ChunkTable, is_dry: bool, cursor: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Do what `_cut` does with the chunk in hand, but for its words that are done."""
        row, done = cursor[[kernels.ROW, kernels.WORDS]].tolist()
        count = int(chunks.counts[row])
        for word in itertools.islice(self._words_of(chunks[row]), done, None):
            if len(word) > self._longest:
                yield row, len(word)
            elif not is_dry:
                self._table.add(word.encode("utf-8", "surrogatepass"), count)
        cursor[[kernels.ROW, kernels.POSITION, kernels.WORDS]] = row + 1, chunks.begins[row + 1], 0
