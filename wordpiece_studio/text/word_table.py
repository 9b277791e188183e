"""The distinct chunks of a text and how often each was seen, and the words in them and how often each occurred.

A chunk is a non-empty stretch of UTF-8 between blanks and line ends (U+0020 and U+000A, no other white space): the
smallest part of a text that a local pipeline can process alone. Each distinct one is normalized and split once: by
kernels if the pipeline works character by character, else by the pipeline itself. These kernels use a table of what the
pipeline does with every code point, found out from the normalizer and pre-tokenizer themselves, so that the rules exist
only once. Chunks and words are numbered in order of first appearance. Importing this module loads the kernels.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import BEHIND_BLOCK, with_room
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.word_numbers import JoinedWords, PlainWordNumbers, WordNumbers, spelled_out

load_kernels("text")  # from the user's cache; the imports below then find them
from wordpiece_studio.text.kernels import chunks as chunk_kernels  # noqa: E402
from wordpiece_studio.text.kernels import words as word_kernels  # noqa: E402
from wordpiece_studio.text.kernels.chunks import LANE  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Pipeline


rename = word_kernels.rename
_CHUNKS_AT_ONCE = 20_000
_LAST_CONTINUATION = np.int8(-65)  # bytes 0x80 to 0xBF, at most this as signed numbers, continue a character
_SPELLED_BYTES, _SPELLED_WORDS = 1 << 16, 1 << 13


def likely_words(size: int) -> int:
    """Return how many distinct words a text of `size` bytes may have, and half as many as it may have chunks.

    Texts in many scripts have one distinct chunk for every 80 bytes, those in one script fewer. Room that is not used
    takes no memory, except in the hash table, which would be three quarters full.
    """
    return 3 << min(max((size // 160).bit_length(), 12), 20) - 2


class ChunkTable:
    def __init__(self, *, capacity: int = 1 << 12) -> None:
        self._capacity = capacity
        self.arrays = chunk_kernels.Table(
            entries=np.zeros((capacity + 1, chunk_kernels.ENTRY_COLUMNS), dtype=np.int64),
            store=np.empty(24 * capacity + 2 * LANE, dtype=np.uint8),
            slots=np.zeros(_slots_for(capacity), dtype=np.uint64),
            touched=np.zeros(capacity + 1, dtype=np.int32),
            pending=np.zeros((chunk_kernels.PENDING, 3), dtype=np.int64),
            key=np.frombuffer(secrets.token_bytes(16), dtype=np.uint64) | np.uint64(1),
            scalars=np.zeros(chunk_kernels.SCALARS, dtype=np.int64),
        )

    def clear(self) -> None:
        self.arrays.entries[: len(self) + 1] = 0
        self.arrays.slots[:] = 0
        self.arrays.scalars[:] = 0

    def __len__(self) -> int:
        return int(self.arrays.scalars[chunk_kernels.SIZE])

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each entry was seen: int64, shape ``(n_entries,)``; a view, until something is added."""
        counts: NDArray[np.int64] = self.arrays.entries[: len(self), chunk_kernels.COUNT]
        return counts

    def begins_from(self, row: int) -> NDArray[np.int64]:
        """Return where each entry from `row` on begins in `joined`, and where the next new one would: int64."""
        begins: NDArray[np.int64] = (
            self.arrays.entries[row : len(self) + 1, chunk_kernels.SHAPE] >> chunk_kernels.LENGTH_BITS
        )
        return begins

    @property
    def joined(self) -> NDArray[np.uint8]:
        """All entries one after the other, a blank after each: uint8, shape ``(n_bytes,)``; a view."""
        joined: NDArray[np.uint8] = self.arrays.store[: self.begin_of(len(self))]
        return joined

    def begin_of(self, row: int) -> int:
        return int(self.arrays.entries[row, chunk_kernels.SHAPE]) >> chunk_kernels.LENGTH_BITS

    def __getitem__(self, row: int) -> bytes:
        entry: NDArray[np.uint8] = self.arrays.store[self.begin_of(row) : self.begin_of(row + 1) - 1]
        return entry.tobytes()

    def add(self, block: bytes, count: int = 1) -> None:
        for _ in self.add_watching(_padded(block), len(block), len(block), count):
            pass  # no chunk is longer

    def add_watching(
        self, block: NDArray[np.uint8], size: int, longest: int, count: int = 1
    ) -> Iterator[tuple[int, int]]:
        """Add the chunks of the first `size` bytes of `block`, which must be followed by `BEHIND_BLOCK` more.

        Yields (row, begin) of each chunk of more than `longest` characters, after adding it.
        """
        self.arrays.scalars[chunk_kernels.POSITION] = 0
        record = np.empty(0, dtype=np.int32)
        while (answer := chunk_kernels.scan(self.arrays, block, size, count, longest, record)) != chunk_kernels.DONE:
            if answer == chunk_kernels.FULL:
                self.make_room()
            else:
                row, begin = self.arrays.scalars[[chunk_kernels.LONG_ROW, chunk_kernels.LONG_BEGIN]].tolist()
                yield row, begin

    def add_recording(self, block: bytes) -> NDArray[np.int32]:
        """Add the chunks of `block` and return the row of each, in their order: int32, shape ``(n_occurrences,)``."""
        padded, record = _padded(block), np.empty(len(block) // 5 + 1, dtype=np.int32)
        self.arrays.scalars[[chunk_kernels.POSITION, chunk_kernels.RECORDED]] = 0
        while (
            answer := chunk_kernels.scan(self.arrays, padded, len(block), 1, len(block), record)
        ) != chunk_kernels.DONE:
            if answer == chunk_kernels.FULL:
                self.make_room()
            else:
                record = np.concatenate([record, np.empty_like(record)])
        return record[: self.arrays.scalars[chunk_kernels.RECORDED]]

    def rows_of(self, source: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the rows of strings stored one after the other, adding rows for new ones; counts do not change.

        `BEHIND_BLOCK` more bytes follow `source`; `ends`: where each string ends: int64, shape ``(n_strings,)``.
        """
        rows, done = np.empty(len(ends), dtype=np.int32), 0
        while (done := chunk_kernels.add_all(self.arrays, source, ends, done, rows)) < len(ends):
            self.make_room()
        return rows

    def make_room(self) -> None:
        arrays = self.arrays
        if len(self) + 2 > len(arrays.entries):
            self._capacity *= 2
            slots = np.zeros(_slots_for(self._capacity), dtype=np.uint64)
            chunk_kernels.rehash(arrays.slots, slots)
            entries = with_room(arrays.entries, self._capacity + 1)
            arrays = arrays._replace(entries=entries, slots=slots, touched=with_room(arrays.touched, len(entries)))
        needed = self.begin_of(len(self)) + int(arrays.scalars[chunk_kernels.NEEDED]) + 2 * LANE + 1
        self.arrays = arrays._replace(store=with_room(arrays.store, needed))


def keys_of(
    joined: bytes, words: int, continues: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return a key for each character of words that a blank each follows, -1 before, between and after the words.

    And the length of each word, and the keys that occur, ascending. A key is the code point times 4, plus `continues`
    unless the character begins a word.
    """
    text = np.frombuffer(joined, dtype=np.uint8)
    keys = np.empty(1 + np.count_nonzero(text.view(np.int8) > _LAST_CONTINUATION), dtype=np.int32)
    lengths, occurs = np.empty(words, dtype=np.int64), np.zeros(4 * _CODE_POINTS, dtype=np.uint8)
    word_kernels.spell_out(text, continues, keys, lengths, occurs)
    return keys, lengths, np.flatnonzero(occurs)


def _padded(block: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(block + bytes(BEHIND_BLOCK), dtype=np.uint8)


def _slots_for(capacity: int) -> int:
    return 1 << ((4 * capacity + 2) // 3 - 1).bit_length()


class WordTable(ABC):
    """The words that a local pipeline splits the chunks of a table into, except those longer than `longest`."""

    numbers: WordNumbers

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

    @abstractmethod
    def long_words(self, chunks: ChunkTable, row: int) -> list[int]: ...

    def cut(self, chunks: ChunkTable, check_stop: Callable[[], None] | None = None) -> Iterator[int]:
        """Split the chunks of UTF-8 that are not split yet; yield the row of each word that is left out."""
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
        self._tallied = word_kernels.tally(chunks.arrays, self._words, self._chunk_ends, *tallied, self._tallied)

    def take_tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the tallied words, in order of first appearance, and their counts; reset the tally."""
        numbers = self._tallied_numbers[: self._tallied].copy()
        counts = self._tallied_counts[: self._tallied].copy()
        self._places[numbers] = 0
        self._tallied = 0
        return numbers, counts

    def forget_chunks(self) -> None:
        self.rows = 0

    @abstractmethod
    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]: ...

    def _words_of(self, chunk: bytes) -> Iterator[str]:
        return self._pipeline.iterate(chunk.decode("utf-8", "surrogatepass"))


class PlainWordTable(WordTable):
    def __init__(self, pipeline: Pipeline, longest: int) -> None:
        super().__init__(pipeline, longest)
        self.numbers: PlainWordNumbers = PlainWordNumbers()
        self._used = 0

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        return [len(word) for word in self._words_of(chunks[row]) if len(word) > self._longest]

    def forget_chunks(self) -> None:
        super().forget_chunks()
        self._used = 0

    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        found: list[int] = []
        for row in range(first, last):
            for word in self._words_of(chunks[row]):
                if len(word) <= self._longest:
                    found.append(self.numbers.number(word))
                else:
                    yield row
            self._chunk_ends[row + 1] = self._used + len(found)
        self._words = with_room(self._words, self._used + len(found))
        self._words[self._used : self._used + len(found)] = found
        self._used += len(found)


class TableWordNumbers(WordNumbers):
    """The words in a table of the kernels, to which several threads may add; no word may hold a blank."""

    def __init__(self, capacity: int) -> None:
        self.table = ChunkTable(capacity=capacity)
        self._adding = threading.Lock()

    def __len__(self) -> int:
        return len(self.table)

    def words(self) -> list[str]:
        return JoinedWords(self.table.joined.tobytes())()

    def words_of(self, numbers: NDArray[np.int32]) -> JoinedWords:
        if self.are_in_order(numbers):
            return JoinedWords(self.table.joined.tobytes())
        begins = self.table.begins_from(0)
        joined = np.empty(int((begins[1:] - begins[:-1])[numbers].sum()) + LANE, dtype=np.uint8)
        size = chunk_kernels.join(self.table.arrays, numbers, joined)
        return JoinedWords(joined[:size].tobytes())

    def spelled(self, first: int) -> tuple[bytes, NDArray[np.int64]]:
        begins = self.table.begins_from(first)
        joined = self.table.joined[begins[0] :]
        ends = np.diff(begins - np.arange(len(begins))).cumsum()
        return joined[joined != ord(" ")].tobytes(), ends

    def numbers_of(self, spelled: bytes, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        return self.rows_of(np.frombuffer(spelled + bytes(BEHIND_BLOCK), dtype=np.uint8), ends)

    def rows_of(self, source: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int32]:
        with self._adding:
            return self.table.rows_of(source, ends)


class CompiledWordTable(WordTable):
    """A table for pipelines that work character by character; others may use the same `numbers`."""

    def __init__(self, pipeline: Pipeline, longest: int, numbers: TableWordNumbers | None = None) -> None:
        super().__init__(pipeline, longest)
        self.numbers: TableWordNumbers = TableWordNumbers(1 << 12) if numbers is None else numbers
        self._actions = CharacterActions.shared(pipeline)
        self._spelled = np.zeros(_SPELLED_BYTES + BEHIND_BLOCK, dtype=np.uint8)
        self._ends = np.zeros(_SPELLED_WORDS, dtype=np.int64)
        self._cursor = np.zeros(word_kernels.CURSOR, dtype=np.int64)

    def long_words(self, chunks: ChunkTable, row: int) -> list[int]:
        self._chunk_ends = with_room(self._chunk_ends, len(chunks) + 1)
        cursor = np.zeros(word_kernels.CURSOR, dtype=np.int64)
        return [length for _, length in self._answers(chunks, row, row + 1, cursor, is_dry=True)]

    def forget_chunks(self) -> None:
        super().forget_chunks()
        self._cursor[word_kernels.BASE] = 0

    def _cut(self, chunks: ChunkTable, first: int, last: int) -> Iterator[int]:
        yield from (row for row, _ in self._answers(chunks, first, last, self._cursor, is_dry=False))
        self._enter()

    def _answers(
        self, chunks: ChunkTable, first: int, last: int, cursor: NDArray[np.int64], *, is_dry: bool
    ) -> Iterator[tuple[int, int]]:
        """Spell out the words of chunks, unless `is_dry`; yield (row, length) of those that are too long."""
        cursor[[word_kernels.ROW, word_kernels.POSITION, word_kernels.WORDS]] = first, chunks.begin_of(first), 0
        while (answer := self._go_on(chunks, last, is_dry, cursor)) != word_kernels.DONE:
            if answer == word_kernels.FULL and self._cursor[word_kernels.SPELLED]:
                self._enter()
            elif answer == word_kernels.FULL:  # a single word is longer
                self._spelled = with_room(self._spelled, 2 * len(self._spelled))
            elif answer == word_kernels.UNKNOWN:
                self._actions.find_out(int(cursor[word_kernels.CODE_POINT]))
            elif answer == word_kernels.LONG:
                yield int(cursor[word_kernels.ROW]), int(cursor[word_kernels.LENGTH])
            else:
                yield from self._cut_by_hand(chunks, is_dry, cursor)

    def _go_on(self, chunks: ChunkTable, last: int, is_dry: bool, cursor: NDArray[np.int64]) -> int:
        rules = (self._actions.actions, self._actions.texts, self._longest)
        room = (self._spelled[:-BEHIND_BLOCK], self._ends, cursor, self._chunk_ends)
        return int(word_kernels.cut(chunks.arrays, last, *rules, *room, is_dry))

    def _enter(self) -> None:
        size, used = self._cursor[[word_kernels.SPELLED, word_kernels.BASE]].tolist()
        self._words = with_room(self._words, used + size)
        self._words[used : used + size] = self.numbers.rows_of(self._spelled, self._ends[:size])
        self._cursor[[word_kernels.SPELLED, word_kernels.BASE]] = 0, used + size

    def _cut_by_hand(self, chunks: ChunkTable, is_dry: bool, cursor: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Do the work of `_answers` for the rest of the current chunk."""
        row, done = cursor[[word_kernels.ROW, word_kernels.WORDS]].tolist()
        words: list[str] = []
        for word in itertools.islice(self._words_of(chunks[row]), done, None):
            if len(word) > self._longest:
                yield row, len(word)
            else:
                words.append(word)
        if not is_dry:
            self._enter()
            numbers = self.numbers.numbers_of(*spelled_out(words))
            used = int(cursor[word_kernels.BASE])
            self._words = with_room(self._words, used + len(words))
            self._words[used : used + len(words)] = numbers
            cursor[word_kernels.BASE] = self._chunk_ends[row + 1] = used + len(words)
        cursor[[word_kernels.ROW, word_kernels.POSITION, word_kernels.WORDS]] = row + 1, chunks.begin_of(row + 1), 0


_CODE_POINTS = 0x110000
_PAGE = 32
_LETTER = "a"  # neither white space nor punctuation for any pre-tokenizer


class CharacterActions:
    """The table of what a pipeline does with each character; several threads may use it, and add to it.

    `actions` says it of every code point: int64, see :mod:`~wordpiece_studio.text.kernels.words`. `texts` is what code
    points become, in UTF-8, with padding after the last.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        # Neither moves, as a kernel may be reading them; they take memory only where they are written to.
        self.actions = np.zeros(_CODE_POINTS, dtype=np.int64)
        self.texts = np.zeros((_CODE_POINTS + 1) * word_kernels.LONGEST_TEXT, dtype=np.uint8)
        self._used = 0
        self._adding = threading.Lock()

    @classmethod
    def shared(cls, pipeline: Pipeline) -> CharacterActions:
        """Return the table that others use now for an equal pipeline, if there is one and the pipeline is built in."""
        try:
            key = repr((normalizers.to_spec(pipeline.normalizer), pre_tokenizers.to_spec(pipeline.pre_tokenizer)))
        except StudioError:
            return cls(pipeline)
        with _sharing:
            return _in_use.get(key) or _in_use.setdefault(key, cls(pipeline))

    def find_out(self, code_point: int) -> None:
        first = code_point // _PAGE * _PAGE
        with self._adding:
            if self.actions[code_point] != word_kernels.UNKNOWN:  # another thread was faster
                return
            found = self._actions_of(list(map(chr, range(first, first + _PAGE))))
            actions, added = [], bytearray()
            for kind, text in found:
                data = text.encode("utf-8", "surrogatepass")
                if len(data) > word_kernels.LONGEST_TEXT:
                    actions.append(word_kernels.HARD)
                    continue
                place = (self._used + len(added)) << word_kernels.TEXT_SHIFT
                lengths = len(text) << word_kernels.CHARACTERS_SHIFT | len(data) << word_kernels.BYTES_SHIFT
                actions.append(kind | lengths | place)
                added += data
            self.texts[self._used : self._used + len(added)] = added
            self._used += len(added)
        with self._adding:  # again, so that every processor sees the texts before what refers to them
            self.actions[first : first + _PAGE] = actions

    def _actions_of(self, characters: list[str]) -> list[tuple[int, str]]:
        normalizer, split = self._pipeline.normalizer, self._pipeline.pre_tokenizer.split
        between = [f"{_LETTER}{normalizer.normalize(character)}{_LETTER}" for character in characters]
        # Nearly always white space alone separates words, and one check of all shows that.
        words = [text.split() for text in between]
        if split(" ".join(between)) != [word for parts in words for word in parts]:
            words = [split(text) for text in between]
        return [
            (word_kernels.HARD, "") if normalizer.regards_neighbours(character) else _action_of(parts)
            for character, parts in zip(characters, words, strict=True)
        ]


_in_use: WeakValueDictionary[str, CharacterActions] = WeakValueDictionary()
_sharing = threading.Lock()


def _action_of(words: list[str]) -> tuple[int, str]:
    """Return what happens to a character that produced these words when placed between two letters."""
    match words:
        case [word]:
            return word_kernels.LETTERS if len(word) > 2 else word_kernels.NOTHING, word[1:-1]
        case [word, other] if word == other == _LETTER:
            return word_kernels.BLANK, ""
        case [before, word, after] if before == after == _LETTER:
            return word_kernels.ALONE, word
    return word_kernels.HARD, ""
