"""Blocks of text to ids with compiled kernels. Importing this module loads them, so it is imported only when needed.

A block's chunks, its stretches between blanks and line ends, become rows of a table. Each new row is normalized, split
and matched once, and the block's ids are then assembled from those of its rows. Not here: the way without numba
(`corpus_encoding`), which gives the same ids.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.system.arrays import with_room
from wordpiece_studio.tokenizer.encoding import EncodedBlock
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

load_kernels("text")  # from the user's cache; the imports below then find them
from wordpiece_studio.text.kernels import longest_match  # noqa: E402
from wordpiece_studio.text.kernels.chunks import LANE  # noqa: E402
from wordpiece_studio.text.kernels.words import DONE, FULL, LONGEST_TEXT  # noqa: E402
from wordpiece_studio.text.word_table import CharacterActions, ChunkTable  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary


class CompiledVocabulary:
    """Longest match of words of UTF-8 over a vocabulary, which must have no end-of-word suffix."""

    def __init__(self, vocabulary: Vocabulary, longest_word: int) -> None:
        parts = [token.encode("utf-8", "surrogatepass") for token in vocabulary.pieces]
        parts.append(vocabulary.continuing_subword_prefix.encode("utf-8", "surrogatepass"))
        self._tokens = np.frombuffer(b"".join([*parts, b" "]), np.uint8)
        self._begins = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=self._begins[1:])
        self._slots = np.zeros(1 << (2 * len(parts)).bit_length(), np.uint64)
        characters = sum(map(len, vocabulary.pieces))
        self._beginnings = np.zeros(1 << (characters // 8).bit_length(), np.uint64)  # 8 to 16 bits per character
        longest_match.index_tokens(self._tokens, self._begins, self._slots, self._beginnings)
        self._longest_word = longest_word
        unknown = vocabulary.id_of(vocabulary.unk_token)
        self._unknown = NO_ID if unknown is None else unknown

    def match(self, words: NDArray[np.uint8], size: int, rows: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of the words in the first `size` bytes, and their number up to the end of each row.

        A blank ends a word and a line end a row; there must be `rows` rows. An unknown word has the id of the
        unknown token, or NO_ID.
        """
        ids, ends = np.empty(size, np.int32), np.empty(rows, np.int64)
        vocabulary = (self._tokens, self._begins, self._slots, self._beginnings)
        limits = (self._longest_word, self._unknown)
        count = longest_match.match_words(words, size, *vocabulary, *limits, ids, ends)
        return ids[:count], ends


class CompiledEncoder:
    """Encodes blocks of text with a tokenizer, which must be local.

    When the distinct chunks take more than `most_chunk_bytes` they are forgotten: in text without blanks few recur.
    """

    def __init__(self, tokenizer: Tokenizer, *, most_chunk_bytes: int = 64 << 20, capacity: int = 1 << 12) -> None:
        self._tokenizer = tokenizer
        is_matched = tokenizer.pipeline.is_by_character and not tokenizer.vocabulary.end_of_word_suffix
        self._matcher = _matchers.get(tokenizer)
        if self._matcher is None and is_matched:
            self._matcher = _matchers[tokenizer] = _Matcher(tokenizer)
        # Where some are sought in normalized text, the pipeline is not by character, and there is no matcher.
        spellings = (token.content.encode("utf-8", "surrogatepass") for token in tokenizer.vocabulary.added_tokens)
        pattern = b"|".join(map(re.escape, spellings))
        self._added = re.compile(pattern) if pattern else None
        self._most_chunk_bytes = most_chunk_bytes
        self._table = ChunkTable(capacity=capacity)
        self._rows = self._used = 0
        self._spans = np.empty((capacity, 2), np.int64)  # where a row's ids begin and end
        self._ids = np.empty(capacity, np.int32)

    def encode_lines(self, block: bytes) -> EncodedBlock:
        if len(self._table.joined) > self._most_chunk_bytes:
            self._table.clear()
            self._rows = self._used = 0
        record = self._table.add_recording(block)
        self._encode_new_rows()
        begins, ends = self._spans[: self._rows].T
        ids = np.empty(int((ends - begins)[record].sum()), np.int32)
        line_ends = np.empty(block.count(b"\n"), np.int64)
        source = np.frombuffer(block + b" " * LANE, np.uint8)
        longest_match.gather(source, record, self._spans, self._ids, ids, line_ends)
        return EncodedBlock(ids, line_ends, not block.endswith(b"\n"))

    def _encode_new_rows(self) -> None:
        first, last = self._rows, len(self._table)
        self._rows = last
        self._spans = with_room(self._spans, last)
        begins = self._table.begins_from(first)
        chunks = self._table.joined[begins[0] :]
        begins = begins[:-1] - begins[0]
        by_hand = np.ones(last - first, np.uint8)
        if self._matcher is not None:
            ids, ends = self._matcher.match(chunks, by_hand)
            self._spans[first:last, 1] = self._used + ends
            self._spans[first:last, 0] = self._used + np.append(0, ends)[:-1]
            self._append(ids)
        if self._added is not None:
            places = [match.start() for match in self._added.finditer(chunks.data)]
            by_hand[np.searchsorted(begins, places, side="right") - 1] = 1
        for row in (np.flatnonzero(by_hand) + first).tolist():
            text = self._table[row].decode("utf-8", "surrogatepass")
            begin = self._used
            self._append(np.array(self._tokenizer.ids(text), np.int32))
            self._spans[row] = begin, self._used

    def _append(self, ids: NDArray[np.int32]) -> None:
        self._ids = with_room(self._ids, self._used + len(ids))
        self._ids[self._used : self._used + len(ids)] = ids
        self._used += len(ids)


class _Matcher:
    """Longest match by kernel, for a tokenizer that works character by character and has no suffix."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._actions = CharacterActions.shared(tokenizer.pipeline)
        self._index = CompiledVocabulary(tokenizer.vocabulary, tokenizer.max_word_length)

    def match(
        self, chunks: NDArray[np.uint8], is_hard: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of chunks, and their number up to the end of each; the ids of hard chunks are wrong.

        A blank follows each chunk. `is_hard` receives 1 for a chunk that the tokenizer itself must encode, else 0.
        """
        is_hard[:] = 0
        words = np.empty(2 * len(chunks) + LONGEST_TEXT + 2, np.uint8)
        cursor = np.zeros(longest_match.CURSOR, np.int64)
        rules = (self._actions.actions, self._actions.texts)
        while (answer := longest_match.spell(chunks, len(chunks), *rules, words, is_hard, cursor)) != DONE:
            if answer == FULL:
                words = with_room(words, 2 * len(words))
            else:
                self._actions.find_out(int(cursor[longest_match.CODE_POINT]))
        return self._index.match(words, int(cursor[longest_match.SPELLED]), len(is_hard))


_matchers: WeakKeyDictionary[Tokenizer, _Matcher] = WeakKeyDictionary()  # those of the tokenizers in use
