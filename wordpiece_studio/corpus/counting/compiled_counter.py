"""Compiled counting of the words of large corpora; importing this loads kernels."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.counting.part_counts import WordCounter
from wordpiece_studio.corpus.counting.segments import NotPlainUtf8, RawBlock
from wordpiece_studio.system.arrays import BEHIND_BLOCK
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, Pipeline
from wordpiece_studio.text.word_table import (
    ChunkTable,
    CompiledWordTable,
    PlainWordTable,
    TableWordNumbers,
    likely_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.decoding import TextPiece
    from wordpiece_studio.text.word_table import WordTable

_SPECIAL_TOKENS = re.compile(b"|".join(re.escape(token.encode()) for token in BERT_SPECIAL_TOKENS))


class CompiledCounter(WordCounter):
    """Counts distinct chunks, and splits each once; for local pipelines.

    The tables have room for `bytes_to_come` from the start. When the distinct chunks take more than `most_chunk_bytes`
    they are forgotten: in text without blanks hardly any chunk recurs. Other counters may use the same `numbers`.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        longest: int,
        check_stop: Callable[[], None],
        *,
        block_bytes: int = 1 << 20,
        most_chunk_bytes: int = 48 << 20,
        bytes_to_come: int = 0,
        numbers: TableWordNumbers | None = None,
    ) -> None:
        super().__init__(pipeline, longest, check_stop)
        self._block_bytes = block_bytes
        self._most_chunk_bytes = most_chunk_bytes
        self._held: list[TextPiece] = []
        self._held_bytes = 0
        capacity = likely_words(bytes_to_come)
        self._chunks = ChunkTable(capacity=2 * capacity)
        self._words: WordTable
        if pipeline.is_by_character:
            self._words = CompiledWordTable(
                pipeline, longest, TableWordNumbers(capacity) if numbers is None else numbers
            )
        else:
            self._words = PlainWordTable(pipeline, longest)
        self.numbers = self._words.numbers
        # The lengths of the overlong words in each chunk that is long enough to contain any.
        self._long_words: dict[int, list[int]] = {}
        # How many overlong words other chunks contain.
        self._unseen_long_words: dict[int, int] = {}
        # How often a chunk contains special tokens.
        self._special_tokens: dict[int, dict[str, int]] = {}
        self._checked_rows = 0

    def add(self, piece: TextPiece) -> None:
        self._held.append(piece)
        self._held_bytes += piece.end_byte - piece.byte
        if self._held_bytes >= self._block_bytes:
            self._scan_held()

    def add_raw(self, block: RawBlock) -> None:
        old_rows = len(self._chunks)
        found = list(self._chunks.add_watching(block.text, block.size, self._longest_stretch))
        self._check_new_rows()
        for length, begin in self._too_long(found, old_rows):
            self._skip(length, block, begin)
        self._forget_many_chunks()

    def abandon_part(self) -> None:
        self._held, self._held_bytes = [], 0
        self._forget_notes()
        self._words.take_tally()
        self._forget_chunks()

    def _tally(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        self._scan_held()
        self._tally_chunks()
        return self._words.take_tally()

    def _scan_held(self) -> None:
        if not self._held:
            return
        pieces, self._held, self._held_bytes = self._held, [], 0
        texts = [piece.utf8 for piece in pieces]
        joined = b"\n".join([*texts, bytes(BEHIND_BLOCK - 1)])
        old_rows, size = len(self._chunks), len(joined) - BEHIND_BLOCK
        found = list(self._chunks.add_watching(np.frombuffer(joined, dtype=np.uint8), size, self._longest_stretch))
        begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for length, begin in self._too_long(found, old_rows):
            number = bisect_right(begins, begin) - 1
            before = texts[number][: begin - begins[number]] if self._is_listing else b""
            self._skip(length, pieces[number], len(before.decode("utf-8", "surrogatepass")))
        self._forget_many_chunks()

    def _too_long(self, found: list[tuple[int, int]], old_rows: int) -> Iterator[tuple[int, int]]:
        """Yield (length, begin of the chunk) of each overlong word, while its position is known.

        `found` are the chunks that may contain some: row (new if at least `old_rows`), and first byte in the block.
        """
        for row in {row for row, _ in found if row >= old_rows}:
            if lengths := self._words.long_words(self._chunks, row):
                self._long_words[row] = lengths
        for row, begin in found:
            for length in self._long_words.get(row, ()):
                yield length, begin

    def _check_new_rows(self) -> None:
        """Raise `NotPlainUtf8` if a new chunk is not valid UTF-8; any fault in the text shows in some new chunk."""
        first, self._checked_rows = self._checked_rows, len(self._chunks)
        new = self._chunks.joined[self._chunks.begin_of(first) :].tobytes()
        try:
            if not new.isascii():
                new.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotPlainUtf8 from error
        if b"\0" in new:
            raise NotPlainUtf8

    def _forget_many_chunks(self) -> None:
        if self._chunks.begin_of(len(self._chunks)) > self._most_chunk_bytes:
            self._tally_chunks()
            self._forget_chunks()

    def _forget_chunks(self) -> None:
        self._chunks.clear()
        self._words.forget_chunks()
        for known in (self._long_words, self._unseen_long_words, self._special_tokens):
            known.clear()
        self._checked_rows = 0

    def _tally_chunks(self) -> None:
        first = self._words.rows
        for row in self._words.cut(self._chunks, self._check_stop):
            if row not in self._long_words:
                self._unseen_long_words[row] = self._unseen_long_words.get(row, 0) + 1
        self._find_special_tokens(first)
        counts = self._chunks.counts
        for row, words in self._unseen_long_words.items():
            self._skipped_words += words * int(counts[row])
        for row, tokens in self._special_tokens.items():
            for token, number in tokens.items():
                self._spelled_out[token] += number * int(counts[row])
        self._words.tally(self._chunks)

    def _find_special_tokens(self, first: int) -> None:
        """Note which chunks from row `first` on contain special tokens, which contain no blanks."""
        begin = self._chunks.begin_of(first)
        text = self._chunks.joined[begin:].tobytes()
        places = [(found.start(), found[0].decode()) for found in _SPECIAL_TOKENS.finditer(text)]
        places.sort(key=lambda place: BERT_SPECIAL_TOKENS.index(place[1]))  # the order in which they are noted
        if places:
            begins = self._chunks.begins_from(first) - begin
            rows = np.searchsorted(begins, [place for place, _ in places], side="right")
            for row, (_, token) in zip((rows + first - 1).tolist(), places, strict=True):
                tokens = self._special_tokens.setdefault(row, {})
                tokens[token] = tokens.get(token, 0) + 1
