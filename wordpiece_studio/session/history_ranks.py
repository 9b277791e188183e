"""The order of tokens by code points, found without blocking other threads, as Python's own sort of a million would.

As many characters as fit are packed into one 64-bit number. Tokens are sorted by their first characters; those still
equal by the next ones, and so on. The characters of a language need few bits each, so there are few rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.system.arrays import code_points_of, lengths_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CODE_POINTS = 0x110000


def token_ranks(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each token in code point order: int64, shape (n_tokens,).

    Equal tokens have equal ranks.

    >>> token_ranks(["b", "##a", "ab", "a", "b"]).tolist()
    [3, 0, 2, 1, 3]
    """
    lengths = lengths_of(tokens)
    letters, bits = _numbered(code_points_of(tokens, lengths))
    letters = np.append(letters, np.zeros(64, dtype=letters.dtype))  # read past the end of the last token
    starts = np.cumsum(lengths) - lengths
    ranks = np.zeros(len(tokens), dtype=np.int64)
    # Tokens still tied, with the numbers of their groups; a group's rank is the place of its first token.
    tied, groups, bases = np.arange(len(tokens)), np.zeros(len(tokens), dtype=np.int64), np.zeros(1, dtype=np.int64)
    offset = 0
    while len(tied):
        keys, places, left = groups, starts[tied] + offset, lengths[tied] - offset
        packed = min((63 - len(bases).bit_length()) // bits, max(int(left.max()), 1))
        for place in range(packed):
            keys = keys << bits | np.where(left > place, letters[places + place], 0)
        order = np.argsort(keys)
        tied, groups, keys = tied[order], groups[order], keys[order]
        offset += packed
        is_first = np.diff(keys, prepend=-1) != 0
        if len(tied) == len(tokens) and is_first.all():  # as in the vocabularies of most languages
            ranks[tied] = np.arange(len(tied))
            return ranks
        first_of_old = np.searchsorted(groups, np.arange(len(bases)))
        firsts = np.flatnonzero(is_first)
        bases = bases[groups[firsts]] + firsts - first_of_old[groups[firsts]]
        groups = np.cumsum(is_first) - 1
        ranks[tied] = bases[groups]
        is_tied = (np.diff(firsts, append=len(tied)) > 1)[groups] & (lengths[tied] >= offset)
        tied, groups = tied[is_tied], groups[is_tied]
        is_left = np.bincount(groups, minlength=len(bases)) > 0
        bases, groups = bases[is_left], (np.cumsum(is_left) - 1)[groups]
    return _dense(ranks)


def _numbered(code_points: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Replace code points by numbers from 1 in the same order; return them and the bit length of the largest."""
    used = np.zeros(_CODE_POINTS, dtype=np.bool_)
    used[code_points] = True
    numbers = np.cumsum(used, dtype=np.int32)
    return numbers[code_points], max(int(numbers[-1]).bit_length(), 1)


def _dense(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.zeros(len(ranks), dtype=np.int64)
    used[ranks] = 1
    result: NDArray[np.int64] = (np.cumsum(used) - 1)[ranks]
    return result
