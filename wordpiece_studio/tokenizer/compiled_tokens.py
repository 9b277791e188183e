"""The tokens of a vocabulary as the kernel of longest match takes them; importing this module loads the kernels.

Not here: what becomes of a text before (`compiled_encoder`), and what is counted afterwards (`usage`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.tokenizer.tokenizer import NO_ID

load_kernels("text")  # from the user's cache; the import below then finds them
from wordpiece_studio.text.kernels import longest_match  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary


class TokenIndex:
    """Longest match of words of UTF-8 over a vocabulary, which must have no end-of-word suffix.

    Parameters
    ----------
    vocabulary
        The tokens.
    longest_word
        A word of more characters is unknown.
    """

    def __init__(self, vocabulary: Vocabulary, longest_word: int) -> None:
        parts = [token.encode("utf-8", "surrogatepass") for token in vocabulary]
        parts.append(vocabulary.continuing_subword_prefix.encode("utf-8", "surrogatepass"))
        self._tokens = np.frombuffer(b"".join([*parts, b" "]), np.uint8)
        self._begins = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=self._begins[1:])
        self._slots = np.zeros(_power_of_two(2 * len(parts)), np.uint64)
        characters = sum(map(len, vocabulary))
        self._beginnings = np.zeros(_power_of_two(characters // 8), np.uint64)  # 8 to 16 bits a character
        longest_match.index_tokens(self._tokens, self._begins, self._slots, self._beginnings)
        self._longest_word = longest_word
        unknown = vocabulary.id_of(vocabulary.unk_token)
        self._unknown = NO_ID if unknown is None else unknown

    def match(self, words: NDArray[np.uint8], size: int, rows: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of the words in the first `size` bytes, and how many there are up to the end of each row.

        A blank ends a word and a line end a row, of which there must be `rows`. An unknown word has the id of the
        unknown token, or NO_ID.
        """
        ids, ends = np.empty(size, np.int32), np.empty(rows, np.int64)
        vocabulary = (self._tokens, self._begins, self._slots, self._beginnings)
        limits = (self._longest_word, self._unknown)
        count = longest_match.match_words(words, size, *vocabulary, *limits, ids, ends)
        return ids[:count], ends


def _power_of_two(least: int) -> int:
    return 1 << least.bit_length()
