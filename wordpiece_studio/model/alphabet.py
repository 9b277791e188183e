"""How many different characters words begin and go on with: what the least vocabulary holds besides special tokens.

To go through the characters of a million words would stall the window, so it is done where the words are counted, and
comes along with the counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.corpus.counts import WordCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 1 << 16  # words that are looked at together, so that memory stays small
_CODE_POINTS = 0x110000


class CountsWithAlphabet(WordCounts):
    """Word counts that know the size of their alphabet.

    Attributes
    ----------
    alphabet_size : int
        What `alphabet_size` returns for the words.
    """

    __slots__ = ("alphabet_size",)

    alphabet_size: int


def alphabet_size(words: Sequence[str]) -> int:
    """Return the number of characters that begin a word plus the number of those that go on with one."""
    begins, goes_on = np.zeros(_CODE_POINTS, dtype=np.bool_), np.zeros(_CODE_POINTS, dtype=np.bool_)
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        characters = np.frombuffer("".join(block).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        lengths = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        is_first = np.zeros(len(characters), dtype=np.bool_)
        is_first[np.cumsum(lengths) - lengths] = True
        begins[characters[is_first]] = True
        goes_on[characters[~is_first]] = True
    return int(np.count_nonzero(begins) + np.count_nonzero(goes_on))
