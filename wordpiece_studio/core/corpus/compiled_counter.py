"""The compiled way to count the words of large corpora. The plain one stands in `word_counters`.

Importing this module loads kernels, and with them numba; nothing imports it before it is needed.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.corpus.word_counters import WordCounter
from wordpiece_studio.core.text.chunk_table import ChunkTable
from wordpiece_studio.core.text.word_table import CompiledWordTable, PlainWordTable
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.core.corpus.decoding import TextPiece
    from wordpiece_studio.core.text.pipeline import Pipeline
    from wordpiece_studio.core.text.word_table import WordTable


class CompiledCounter(WordCounter):
    """Counts distinct chunks, and makes words of them from time to time; for local pipelines.

    Parameters
    ----------
    pipeline, longest, check_stop
        As for `WordCounter`.
    block_bytes
        About how many bytes of text are scanned at once.
    most_chunk_bytes
        When the distinct chunks take more than this they are made words of and forgotten: where there are no blanks,
        hardly one comes twice.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        longest: int,
        check_stop: Callable[[], None],
        *,
        block_bytes: int = 1 << 20,
        most_chunk_bytes: int = 32 << 20,
    ) -> None:
        super().__init__(pipeline, longest, check_stop)
        self._block_bytes = block_bytes
        self._most_chunk_bytes = most_chunk_bytes
        self._held: list[TextPiece] = []
        self._held_bytes = 0
        self._chunks = ChunkTable()
        kind = CompiledWordTable if pipeline.is_by_character else PlainWordTable
        self._words: WordTable = kind(pipeline, longest)
        # Of the chunks that are long enough to hold some, the lengths of the words that are too long.
        self._long_words: dict[int, list[int]] = {}
        self._spelled_out = dict.fromkeys(BERT_SPECIAL_TOKENS, 0)

    def add(self, piece: TextPiece) -> None:
        """Count a piece, at once or with those to come."""
        self._held.append(piece)
        self._held_bytes += piece.end_byte - piece.byte
        if self._held_bytes >= self._block_bytes:
            self._scan()

    def result(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the words and their counts."""
        self._scan()
        self._forget_chunks()
        return self._words.words(), self._words.counts()

    def spelled_out(self) -> dict[str, int]:
        """Return how often each special token was written out."""
        return {token: count for token, count in self._spelled_out.items() if count}

    def _scan(self) -> None:
        """Count the chunks of what is held."""
        pieces, self._held, self._held_bytes = self._held, [], 0
        texts = [piece.utf8 for piece in pieces]
        old_rows = len(self._chunks)
        long_ones = list(self._chunks.add_watching(b"\n".join(texts), self._longest_stretch))
        if long_ones:
            self._look_for_long_words(long_ones, old_rows, pieces, texts)
        if len(self._chunks.joined) > self._most_chunk_bytes:
            self._forget_chunks()

    def _look_for_long_words(
        self, long_ones: list[tuple[int, int]], old_rows: int, pieces: list[TextPiece], texts: list[bytes]
    ) -> None:
        """Note the words that are too long while it is known where they are.

        `long_ones` are the chunks that may hold some: row, from `old_rows` on seen for the first time, and first byte
        in the block, which is made of the `texts` of `pieces`.
        """
        for row in {row for row, _ in long_ones if row >= old_rows}:
            if lengths := self._words.long_words(self._chunks, row):
                self._long_words[row] = lengths
        if not self._long_words:
            return
        begins = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for row, begin in long_ones:
            for length in self._long_words.get(row, ()):
                number = bisect_right(begins, begin) - 1
                before = texts[number][: begin - begins[number]] if self._is_listing else b""
                self._skip(length, pieces[number], len(before.decode("utf-8", "surrogatepass")))

    def _forget_chunks(self) -> None:
        """Make words of all chunks."""
        for row in self._words.take(self._chunks, self._check_stop):
            if row not in self._long_words:
                self.skipped_words += int(self._chunks.counts[row])
        self._long_words.clear()
        joined = self._chunks.joined.tobytes()
        for token in BERT_SPECIAL_TOKENS:
            self._spelled_out[token] += self._occurrences(joined, token.encode())
        self._chunks.clear()

    def _occurrences(self, joined: bytes, token: bytes) -> int:
        """Return how often a token, which holds no blank, stood in the text; `joined` are the distinct chunks."""
        places = []
        place = joined.find(token)
        while place >= 0:
            places.append(place)
            place = joined.find(token, place + len(token))
        rows = np.searchsorted(self._chunks.begins, places, side="right") - 1
        return int(self._chunks.counts[rows].sum())
