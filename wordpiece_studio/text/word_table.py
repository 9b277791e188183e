"""The words of a table of chunks: which words each chunk contains, as numbers, and how often each word occurred.

Each distinct chunk is normalized and split once, however often it occurs: by compiled kernels if the pipeline works
character by character, else by the pipeline itself. The kernels use a table of what the pipeline does with every code
point, found out page by page from the normalizer and pre-tokenizer themselves, so that the rules exist only once.
Importing this module loads the kernels, and with them numba; nothing imports it before it is needed. Not here: the
chunks (`chunk_table`).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.system.arrays import BEHIND_BLOCK, with_room
from wordpiece_studio.text.chunk_table import ChunkTable
from wordpiece_studio.text.kernels import words as kernels
from wordpiece_studio.text.word_numbers import PlainWordNumbers, WordNumbers, spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Pipeline


_CHUNKS_AT_ONCE = 20_000
_SPELLED_BYTES, _SPELLED_WORDS = 1 << 16, 1 << 13


class WordTable(ABC):
    """The words that a local pipeline splits the chunks of a table into.

    Parameters
    ----------
    pipeline
        What splits chunks into words; it must be local.
    longest
        Words of more characters than this are left out.

    Attributes
    ----------
    rows
        How many chunks have been split.
    """

    def __init__(self, pipeline: Pipeline, longest: int) -> None:
        self._pipeline = pipeline
        self._longest = longest
        # Chunk i consists of the words with the numbers ``_words[_chunk_ends[i]:_chunk_ends[i + 1]]``.
        self._words = np.zeros(0, dtype=np.int32)
        self._chunk_ends = np.zeros(1, dtype=np.int64)
        self.rows = 0
        # The tally: the numbers in order of first appearance, their counts, and the place of each number there, from 1.
        self._tallied = 0
        self._tallied_numbers = np.zeros(0, dtype=np.int32)
        self._tallied_counts = np.zeros(0, dtype=np.int64)
        self._places = np.zeros(0, dtype=np.int32)

    @property
    @abstractmethod
    def numbers(self) -> WordNumbers:
        """The words and their numbers."""

    @abstractmethod
    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words of a chunk that `cut` leaves out."""

    def cut(self, chunks: ChunkTable, check_stop: Callable[[], None] | None = None) -> Iterator[int]:
        """Split the chunks, which must be UTF-8, that are not split yet; yield the row of each word that is left out.

        `check_stop` is called now and then.
        """
        self._chunk_ends = with_room(self._chunk_ends, len(chunks) + 1)
        while self.rows < len(chunks):
            if check_stop is not None:
                check_stop()
            first, self.rows = self.rows, min(self.rows + _CHUNKS_AT_ONCE, len(chunks))
            yield from self._cut(chunks, first, self.rows)

    def tally(self, chunks: ChunkTable) -> None:
        """Tally the words of the chunks counted since the last call, and reset the counts of the chunks to 0."""
        size = len(self.numbers)
        self._places = with_room(self._places, size)
        self._tallied_numbers = with_room(self._tallied_numbers, size)
        self._tallied_counts = with_room(self._tallied_counts, size)
        tallied = (self._places, self._tallied_numbers, self._tallied_counts)
        self._tallied = kernels.tally(chunks.arrays, self._words, self._chunk_ends, *tallied, self._tallied)

    def take_tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the tallied words, in order of first appearance, and their counts; reset the tally."""
        numbers = self._tallied_numbers[: self._tallied].copy()
        counts = self._tallied_counts[: self._tallied].copy()
        self._places[numbers] = 0
        self._tallied = 0
        return numbers, counts

    def forget_chunks(self) -> None:
        """Forget the words of the chunks, because the chunks will be replaced."""
        self.rows = 0
        self._begin_again()

    @abstractmethod
    def _begin_again(self) -> None:
        """Forget how many words the chunks have."""

    @abstractmethod
    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        """Do the work of `cut` for the chunks from row `first` to before row `last`."""

    def _words_of(self, chunk: bytes) -> Iterator[str]:
        return self._pipeline.iterate(chunk.decode("utf-8", "surrogatepass"))


class PlainWordTable(WordTable):
    """A table for any local pipeline."""

    def __init__(self, pipeline: Pipeline, longest: int) -> None:
        super().__init__(pipeline, longest)
        self._numbers = PlainWordNumbers()
        self._used = 0

    @property
    def numbers(self) -> PlainWordNumbers:
        """The words and their numbers."""
        return self._numbers

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words that are too long."""
        return [len(word) for word in self._words_of(chunks[row]) if len(word) > self._longest]

    def _begin_again(self) -> None:
        self._used = 0

    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        found: list[int] = []
        for row in range(first, last):
            for word in self._words_of(chunks[row]):
                if len(word) <= self._longest:
                    found.append(self._numbers.number(word))
                else:
                    yield row
            self._chunk_ends[row + 1] = self._used + len(found)
        self._words = with_room(self._words, self._used + len(found))
        self._words[self._used : self._used + len(found)] = found
        self._used += len(found)


class TableWordNumbers(WordNumbers):
    """The words in a table of the kernels; no word may hold a blank."""

    def __init__(self, capacity: int) -> None:
        self.table = ChunkTable(capacity=capacity)

    def __len__(self) -> int:
        return len(self.table)

    def words(self) -> list[str]:
        """Return all words."""
        return self.table.joined.tobytes().decode("utf-8", "surrogatepass").split(" ")[:-1]

    def spelled(self, first: int) -> tuple[bytes, NDArray[np.int64]]:
        """Return the words from number `first` on."""
        begins = self.table.begins_from(first)
        joined = self.table.joined[begins[0] :]
        ends = np.diff(begins - np.arange(len(begins))).cumsum()
        return joined[joined != ord(" ")].tobytes(), ends

    def numbers_of(self, spelled: bytes, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of words."""
        return self.table.rows_of(np.frombuffer(spelled + bytes(BEHIND_BLOCK), dtype=np.uint8), ends)


class CompiledWordTable(WordTable):
    """A table for pipelines that work character by character, with initial room for `capacity` words."""

    def __init__(self, pipeline: Pipeline, longest: int, *, capacity: int = 1 << 12) -> None:
        super().__init__(pipeline, longest)
        self._numbers = TableWordNumbers(capacity)
        self._actions = CharacterActions(pipeline)
        self._spelled = np.zeros(_SPELLED_BYTES + BEHIND_BLOCK, dtype=np.uint8)
        self._ends = np.zeros(_SPELLED_WORDS, dtype=np.int64)
        self._cursor = np.zeros(kernels.CURSOR, dtype=np.int64)

    @property
    def numbers(self) -> TableWordNumbers:
        """The words and their numbers."""
        return self._numbers

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        """Return the lengths of the words that are too long."""
        self._chunk_ends = with_room(self._chunk_ends, len(chunks) + 1)
        cursor = np.zeros(kernels.CURSOR, dtype=np.int64)
        return [length for _, length in self._answers(chunks, row, row + 1, cursor, is_dry=True)]

    def _begin_again(self) -> None:
        self._cursor[kernels.BASE] = 0

    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        yield from (row for row, _ in self._answers(chunks, first, last, self._cursor, is_dry=False))
        self._enter()

    def _answers(
        self, chunks: ChunkTable, first: int, last: int, cursor: NDArray[np.int64], *, is_dry: bool
    ) -> Iterator[tuple[int, int]]:
        """Spell out the words of chunks, unless `is_dry`; yield (row, length) of those that are too long."""
        cursor[[kernels.ROW, kernels.POSITION, kernels.WORDS]] = first, chunks.begin_of(first), 0
        while (answer := self._go_on(chunks, last, is_dry, cursor)) != kernels.DONE:
            if answer == kernels.FULL:
                self._enter_or_enlarge()
            elif answer == kernels.UNKNOWN:
                self._actions.find_out(int(cursor[kernels.CODE_POINT]))
            elif answer == kernels.LONG:
                yield int(cursor[kernels.ROW]), int(cursor[kernels.LENGTH])
            else:
                yield from self._cut_by_hand(chunks, is_dry, cursor)

    def _go_on(self, chunks: ChunkTable, last: int, is_dry: bool, cursor: NDArray[np.int64]) -> int:
        rules = (self._actions.actions, self._actions.texts, self._longest)
        room = (self._spelled[:-BEHIND_BLOCK], self._ends, cursor, self._chunk_ends)
        return int(kernels.cut(chunks.arrays, last, *rules, *room, is_dry))

    def _enter_or_enlarge(self) -> None:
        if self._cursor[kernels.SPELLED]:
            self._enter()
        else:  # a single word is longer
            self._spelled = with_room(self._spelled, 2 * len(self._spelled))

    def _enter(self) -> None:
        """Number the words that are spelled out."""
        size, used = self._cursor[[kernels.SPELLED, kernels.BASE]].tolist()
        self._words = with_room(self._words, used + size)
        self._words[used : used + size] = self._numbers.table.rows_of(self._spelled, self._ends[:size])
        self._cursor[[kernels.SPELLED, kernels.BASE]] = 0, used + size

    def _cut_by_hand(self, chunks: ChunkTable, is_dry: bool, cursor: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Do the work of `_answers` for the rest of the current chunk."""
        row, done = cursor[[kernels.ROW, kernels.WORDS]].tolist()
        words: list[str] = []
        for word in itertools.islice(self._words_of(chunks[row]), done, None):
            if len(word) > self._longest:
                yield row, len(word)
            else:
                words.append(word)
        if not is_dry:
            self._enter()
            numbers = self._numbers.numbers_of(*spelled_out(words))
            used = int(cursor[kernels.BASE])
            self._words = with_room(self._words, used + len(words))
            self._words[used : used + len(words)] = numbers
            cursor[kernels.BASE] = self._chunk_ends[row + 1] = used + len(words)
        cursor[[kernels.ROW, kernels.POSITION, kernels.WORDS]] = row + 1, chunks.begin_of(row + 1), 0


_CODE_POINTS = 0x110000
_PAGE = 32
_LETTER = "a"  # neither white space nor punctuation for any pre-tokenizer


class CharacterActions:
    """The table of what a pipeline does with each character.

    Attributes
    ----------
    actions : numpy.ndarray
        What happens to every code point: int64, see :mod:`~wordpiece_studio.text.kernels.words`.
    texts : numpy.ndarray
        The texts that code points become, in UTF-8: uint8, with padding after the last.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self.actions = np.zeros(_CODE_POINTS, dtype=np.int64)  # takes memory only where it is written to
        self.texts = np.zeros(0, dtype=np.uint8)
        self._used = 0

    def find_out(self, code_point: int) -> None:
        """Fill in the page of a code point."""
        first = code_point // _PAGE * _PAGE
        characters = list(map(chr, range(first, first + _PAGE)))
        added = bytearray()
        for code, (kind, text) in enumerate(self._actions_of(characters), start=first):
            data = text.encode("utf-8", "surrogatepass")
            place = (self._used + len(added)) << kernels.TEXT_SHIFT
            lengths = len(text) << kernels.CHARACTERS_SHIFT | len(data) << kernels.BYTES_SHIFT
            self.actions[code] = kind | lengths | place if len(data) <= kernels.LONGEST_TEXT else kernels.HARD
            added += data
        needed = self._used + len(added) + kernels.LONGEST_TEXT
        if needed > len(self.texts):
            self.texts = np.append(self.texts, np.zeros(needed, dtype=np.uint8))
        self.texts[self._used : self._used + len(added)] = added
        self._used += len(added)

    def _actions_of(self, characters: list[str]) -> list[tuple[int, str]]:
        """Return what happens to each character, and the text that it becomes, if any."""
        normalizer, split = self._pipeline.normalizer, self._pipeline.pre_tokenizer.split
        between = [f"{_LETTER}{normalizer.normalize(character)}{_LETTER}" for character in characters]
        # Nearly always white space alone separates words, and one check of all shows that.
        words = [text.split() for text in between]
        if split(" ".join(between)) != [word for parts in words for word in parts]:
            words = [split(text) for text in between]
        return [
            (kernels.HARD, "") if normalizer.regards_neighbours(character) else _action_of(parts)
            for character, parts in zip(characters, words, strict=True)
        ]


def _action_of(words: list[str]) -> tuple[int, str]:
    """Return what happens to a character that produced these words when placed between two letters."""
    match words:
        case [word]:
            return kernels.LETTERS if len(word) > 2 else kernels.NOTHING, word[1:-1]
        case [word, other] if word == other == _LETTER:
            return kernels.BLANK, ""
        case [before, word, after] if before == after == _LETTER:
            return kernels.ALONE, word
    return kernels.HARD, ""
