"""The distinct chunks of a text, in order of first appearance, each with its count; made by compiled kernels.

A chunk is a stretch of UTF-8 between blanks and line ends (U+0020 and U+000A, no other white space) that is not empty:
the smallest part of a text that a local pipeline's words depend on. Importing this module loads the kernels, and with
them numba; nothing imports it before it is needed. Not here: what becomes of the chunks.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.kernel_cache import load_kernels

load_kernels("text")  # from the user's cache; the import below then finds them
from wordpiece_studio.core.text.kernels import chunks as kernels  # noqa: E402
from wordpiece_studio.core.text.kernels.lanes import LANE  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray


class ChunkTable:
    """Distinct byte strings with their counts, in order of first appearance.

    Parameters
    ----------
    capacity
        For how many entries there is room at first; tests make it tiny.
    """

    def __init__(self, *, capacity: int = 1 << 12) -> None:
        self._capacity = capacity
        self._key = np.frombuffer(secrets.token_bytes(16), dtype=np.uint64) | np.uint64(1)
        self.clear()

    def clear(self) -> None:
        """Forget all entries."""
        self.arrays = kernels.Table(
            entries=np.zeros((self._capacity + 1, kernels.ENTRY_COLUMNS), dtype=np.int64),
            store=np.empty(8 * self._capacity + LANE, dtype=np.uint8),
            slots=np.zeros(_slots_for(self._capacity), dtype=np.uint64),
            pending=np.zeros((kernels.PENDING, 3), dtype=np.int64),
            key=self._key,
            scalars=np.zeros(kernels.SCALARS, dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self.arrays.scalars[kernels.SIZE])

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each entry was seen: int64, shape ``(n_entries,)``; a view, until something is added."""
        counts: NDArray[np.int64] = self.arrays.entries[: len(self), kernels.COUNT]
        return counts

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each entry begins in `joined`, and where one more would: int64, shape ``(n_entries + 1,)``; a view."""
        begins: NDArray[np.int64] = self.arrays.entries[: len(self) + 1, kernels.BEGIN]
        return begins

    @property
    def joined(self) -> NDArray[np.uint8]:
        """All entries one after the other, a blank behind each: uint8, shape ``(n_bytes,)``; a view."""
        joined: NDArray[np.uint8] = self.arrays.store[: self.arrays.entries[len(self), kernels.BEGIN]]
        return joined

    def __getitem__(self, row: int) -> bytes:
        begin, end = self.begins[row : row + 2].tolist()
        return self.joined[begin : end - 1].tobytes()

    def add(self, block: bytes, count: int = 1) -> None:
        """Add the chunks of `block`, which begins and ends where chunks may; each occurrence counts `count` times."""
        for _ in self.add_watching(block, len(block), count):
            pass  # no chunk is longer

    def add_watching(self, block: bytes, longest: int, count: int = 1) -> Iterator[tuple[int, int]]:
        """Add the chunks of `block`; yield (row, begin) of each of more than `longest` characters, once added."""
        padded, record = self._begin(block), np.empty(0, dtype=np.int32)
        while (answer := kernels.scan(self.arrays, padded, len(block), count, longest, record)) != kernels.DONE:
            if answer == kernels.FULL:
                self.make_room()
            else:
                row, begin = self.arrays.scalars[[kernels.LONG_ROW, kernels.LONG_BEGIN]].tolist()
                yield row, begin

    def add_recording(self, block: bytes) -> NDArray[np.int32]:
        """Add the chunks of `block` and return the row of each, in their order: int32, shape ``(n_occurrences,)``."""
        padded, record = self._begin(block), np.empty(len(block) // 5 + 1, dtype=np.int32)
        while (answer := kernels.scan(self.arrays, padded, len(block), 1, len(block), record)) != kernels.DONE:
            if answer == kernels.FULL:
                self.make_room()
            else:
                record = np.concatenate([record, np.empty_like(record)])
        return record[: self.arrays.scalars[kernels.RECORDED]]

    def make_room(self) -> None:
        """Enlarge what was too full for the last entry."""
        arrays = self.arrays
        rows, needed = len(self) + 2, int(self.begins[-1] + arrays.scalars[kernels.NEEDED]) + LANE + 1
        if rows > len(arrays.entries):
            self._capacity *= 2
            slots = np.zeros(_slots_for(self._capacity), dtype=np.uint64)
            kernels.rehash(arrays.slots, slots)
            arrays = arrays._replace(entries=_enlarged(arrays.entries, self._capacity + 1), slots=slots)
        if needed > len(arrays.store):
            arrays = arrays._replace(store=_enlarged(arrays.store, max(needed, 2 * len(arrays.store))))
        self.arrays = arrays

    def _begin(self, block: bytes) -> NDArray[np.uint8]:
        """Return `block` with what must stand behind it, to be scanned from its start."""
        self.arrays.scalars[[kernels.POSITION, kernels.RECORDED]] = 0
        return np.frombuffer(block + bytes(LANE), dtype=np.uint8)


def _slots_for(capacity: int) -> int:
    """Return the power of two that keeps a hash table at most half full."""
    return 1 << (2 * capacity - 1).bit_length()


def _enlarged(array: NDArray[Any], length: int) -> NDArray[Any]:
    larger = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
