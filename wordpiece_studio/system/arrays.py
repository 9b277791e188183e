"""Arrays: growing them, the order of words, the padding after text, and long operations over all words in slices.

Python switches threads only between two of its own instructions: a single call that goes through a million words
freezes a window for a tenth of a second, even from another thread. Slices have no measurable cost.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


SLICE = 1 << 15  # words; some milliseconds


def slices(count: int) -> Iterator[slice]:
    """Yield the slices of a sequence of `count` items, in order.

    >>> list(slices(3))
    [slice(0, 3, None)]
    """
    for start in range(0, count, SLICE):
        yield slice(start, min(start + SLICE, count))


def first_after(numbers: NDArray[np.int64], number: int) -> int | None:
    """Return the first of ascending numbers that is greater; None if there is none."""
    index = int(np.searchsorted(numbers, number, side="right"))
    return int(numbers[index]) if index < len(numbers) else None


def last_before(numbers: NDArray[np.int64], number: int) -> int | None:
    """Return the last of ascending numbers that is less; None if there is none."""
    index = int(np.searchsorted(numbers, number)) - 1
    return int(numbers[index]) if index >= 0 else None


def lengths_of(words: Sequence[str]) -> NDArray[np.int64]:
    return _mapped(len, words)


def hashes_of(words: Sequence[str]) -> NDArray[np.int64]:
    return _mapped(hash, words)


def code_points_of(words: Sequence[str], lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    code_points = np.empty(int(lengths.sum()), dtype=np.int32)
    end = 0
    for part in slices(len(words)):
        found = np.frombuffer("".join(words[part]).encode("utf-32-le", "surrogatepass"), dtype="<i4")
        code_points[end : end + len(found)] = found
        end += len(found)
    return code_points


def repeated(values: NDArray[Any], times: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """Return the same as ``np.repeat(values, times)``."""
    result = np.empty(int(times.sum()), dtype=values.dtype)
    end = 0
    for part in slices(len(values)):
        found = np.repeat(values[part], times[part])
        result[end : end + len(found)] = found
        end += len(found)
    return result


def ranks_of(words: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each word in the order of code points: int64, shape (n_words,); equal words have equal ones.

    As many characters as fit are packed into one 64-bit number; words are sorted by their first characters, those still
    equal by the next ones, and so on. Python's own sort would not let other threads have their turn.

    >>> ranks_of(["b", "##a", "ab", "a", "b"]).tolist()
    [3, 0, 2, 1, 3]
    """
    lengths = lengths_of(words)
    letters, bits = _numbered(code_points_of(words, lengths))
    letters = np.append(letters, np.zeros(64, dtype=letters.dtype))  # read past the end of the last word
    starts = np.cumsum(lengths) - lengths
    ranks = np.zeros(len(words), dtype=np.int64)  # the place of the first of those that are equal so far
    tied, offset = np.arange(len(words)), 0
    while len(tied):
        keys, places, left = ranks[tied], starts[tied] + offset, lengths[tied] - offset
        packed = min((63 - int(keys.max()).bit_length()) // bits, max(int(left.max()), 1))
        for place in range(packed):
            keys = keys << bits | np.where(left > place, letters[places + place], 0)
        order = np.argsort(keys)
        tied, keys = tied[order], keys[order]
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        before, sizes = keys[firsts] >> (packed * bits), np.diff(firsts, append=len(tied))
        ranks[tied] = np.repeat(before + firsts - firsts[np.searchsorted(before, before)], sizes)
        offset += packed
        tied = tied[np.repeat(sizes > 1, sizes) & (lengths[tied] >= offset)]
    used = np.zeros(len(ranks), dtype=np.int64)
    used[ranks] = 1
    dense: NDArray[np.int64] = (np.cumsum(used) - 1)[ranks]
    return dense


def _numbered(code_points: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Return numbers from 1 in the order of the code points, and the bit length of the largest."""
    used = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    used[code_points] = True
    numbers = np.cumsum(used, dtype=np.int32)
    return numbers[code_points], max(int(numbers[-1]).bit_length(), 1)


def _mapped(function: Callable[[str], int], words: Sequence[str]) -> NDArray[np.int64]:
    numbers = np.empty(len(words), dtype=np.int64)
    for part in slices(len(words)):
        some = words[part]
        numbers[part] = np.fromiter(map(function, some), dtype=np.int64, count=len(some))
    return numbers


# How many bytes, of any value, must follow a text that compiled kernels scan; they read that many at once.
BEHIND_BLOCK = 64


def with_room(array: NDArray[Any], size: int, growth: float = 2) -> NDArray[Any]:
    """Return an array that starts with `array`, continues with zeros, and has at least `size` rows.

    It is `array` itself if that is long enough; else a copy, as a reader in another thread may still hold the old one.
    """
    if size <= len(array):
        return array
    larger = np.zeros((max(size, int(growth * len(array))), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def common_length(one: str | bytes, other: str | bytes, *, from_end: bool = False) -> int:
    """Return how much two texts, or two contents of files, have in common at the beginning, or at the end.

    >>> common_length(b"hug", b"hub"), common_length("hug", "hugs"), common_length("hugs", "bugs", from_end=True)
    (2, 3, 3)
    """
    least, most = 0, min(len(one), len(other))
    while least < most:  # half of what is left is compared at once, not one item after the other
        middle = (least + most + 1) // 2
        begins = (len(one) - middle, len(other) - middle) if from_end else (least, least)
        size = middle - least
        if one[begins[0] : begins[0] + size] == other[begins[1] : begins[1] + size]:
            least = middle
        else:
            most = middle - 1
    return least
