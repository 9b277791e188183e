"""Arrays: growing them, the padding required after text, and long operations over all words done in slices.

Python switches threads only between two of its own instructions. A single call that goes through a million words
freezes a window for a tenth of a second, even from another thread. Slices have no measurable cost, and need less
memory besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


SLICE = 1 << 15
"""Words; some milliseconds."""


def slices(count: int) -> Iterator[slice]:
    """Yield the slices of a sequence of `count` items, in order.

    >>> list(slices(3))
    [slice(0, 3, None)]
    """
    for start in range(0, count, SLICE):
        yield slice(start, min(start + SLICE, count))


def lengths_of(words: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of characters of each word: int64."""
    return _mapped(len, words)


def hashes_of(words: Sequence[str]) -> NDArray[np.int64]:
    """Return Python's hash of each word: int64."""
    return _mapped(hash, words)


def code_points_of(words: Sequence[str], lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the code points of all words, one after the other: int32; `lengths` are the lengths of the words."""
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


def _mapped(function: Callable[[str], int], words: Sequence[str]) -> NDArray[np.int64]:
    numbers = np.empty(len(words), dtype=np.int64)
    for part in slices(len(words)):
        some = words[part]
        numbers[part] = np.fromiter(map(function, some), dtype=np.int64, count=len(some))
    return numbers


BEHIND_BLOCK = 64
"""How many bytes, of any value, must follow a text that compiled kernels scan; they read that many at once."""


def with_room(array: NDArray[Any], size: int, growth: float = 2) -> NDArray[Any]:
    """Return an array that starts with `array`, continues with zeros, and has at least `size` rows.

    It is `array` itself if that is long enough; else a copy `growth` times as long, so that growing often costs no
    more than growing once. A copy: a reader in another thread may still hold the old one.
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
