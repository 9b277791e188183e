"""The distinct chunks of a text, in order of first appearance, each with its count; computed by compiled kernels.

A chunk is a non-empty stretch of UTF-8 between blanks and line ends (U+0020 and U+000A, no other white space): the
smallest part of a text that a local pipeline can process alone. Importing this module loads the kernels, and with them
numba; nothing imports it before it is needed. Not here: what happens to the chunks.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.system.arrays import BEHIND_BLOCK, with_room

load_kernels("text")  # from the user's cache; the import below then finds them
from wordpiece_studio.text.kernels import chunks as kernels  # noqa: E402
from wordpiece_studio.text.kernels.lanes import LANE  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class ChunkTable:
    """Distinct byte strings with their counts, in order of first appearance.

    Parameters
    ----------
    capacity
        How many entries there is room for initially; tests make it tiny.
    """

    def __init__(self, *, capacity: int = 1 << 12) -> None:
        self._capacity = capacity
        self.arrays = kernels.Table(
            entries=np.zeros((capacity + 1, kernels.ENTRY_COLUMNS), dtype=np.int64),
            store=np.empty(16 * capacity + 2 * LANE, dtype=np.uint8),
            slots=np.zeros(_slots_for(capacity), dtype=np.uint64),
            touched=np.zeros(capacity + 1, dtype=np.int32),
            pending=np.zeros((kernels.PENDING, 3), dtype=np.int64),
            key=np.frombuffer(secrets.token_bytes(16), dtype=np.uint64) | np.uint64(1),
            scalars=np.zeros(kernels.SCALARS, dtype=np.int64),
        )

    def clear(self) -> None:
        """Forget all entries, but keep the memory for them."""
        self.arrays.entries[: len(self) + 1] = 0
        self.arrays.slots[:] = 0
        self.arrays.scalars[:] = 0

    def __len__(self) -> int:
        return int(self.arrays.scalars[kernels.SIZE])

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each entry was seen: int64, shape ``(n_entries,)``; a view, until something is added."""
        counts: NDArray[np.int64] = self.arrays.entries[: len(self), kernels.COUNT]
        return counts

    def begins_from(self, row: int) -> NDArray[np.int64]:
        """Return where each entry from `row` on begins in `joined`, and where the next new one would: int64."""
        begins: NDArray[np.int64] = self.arrays.entries[row : len(self) + 1, kernels.SHAPE] >> kernels.LENGTH_BITS
        return begins

    @property
    def joined(self) -> NDArray[np.uint8]:
        """All entries one after the other, a blank after each: uint8, shape ``(n_bytes,)``; a view."""
        joined: NDArray[np.uint8] = self.arrays.store[: self.begin_of(len(self))]
        return joined

    @property
    def touched(self) -> NDArray[np.int32]:
        """The rows whose count is not 0, in the order in which it became so: int32; a view."""
        touched: NDArray[np.int32] = self.arrays.touched[: self.arrays.scalars[kernels.TOUCHED]]
        return touched

    def begin_of(self, row: int) -> int:
        """Return where an entry, or the next new one, begins in `joined`."""
        return int(self.arrays.entries[row, kernels.SHAPE]) >> kernels.LENGTH_BITS

    def __getitem__(self, row: int) -> bytes:
        entry: NDArray[np.uint8] = self.arrays.store[self.begin_of(row) : self.begin_of(row + 1) - 1]
        return entry.tobytes()

    def add(self, block: bytes, count: int = 1) -> None:
        """Add the chunks of `block`, which cuts no chunk at either end; each occurrence counts `count` times."""
        for _ in self.add_watching(_padded(block), len(block), len(block), count):
            pass  # no chunk is longer

    def add_watching(
        self, block: NDArray[np.uint8], size: int, longest: int, count: int = 1
    ) -> Iterator[tuple[int, int]]:
        """Add the chunks of the first `size` bytes of `block`, which must be followed by `BEHIND_BLOCK` more.

        Yields (row, begin) of each chunk of more than `longest` characters, after adding it.
        """
        self.arrays.scalars[kernels.POSITION] = 0
        record = np.empty(0, dtype=np.int32)
        while (answer := kernels.scan(self.arrays, block, size, count, longest, record)) != kernels.DONE:
            if answer == kernels.FULL:
                self.make_room()
            else:
                row, begin = self.arrays.scalars[[kernels.LONG_ROW, kernels.LONG_BEGIN]].tolist()
                yield row, begin

    def add_recording(self, block: bytes) -> NDArray[np.int32]:
        """Add the chunks of `block` and return the row of each, in their order: int32, shape ``(n_occurrences,)``."""
        padded, record = _padded(block), np.empty(len(block) // 5 + 1, dtype=np.int32)
        self.arrays.scalars[[kernels.POSITION, kernels.RECORDED]] = 0
        while (answer := kernels.scan(self.arrays, padded, len(block), 1, len(block), record)) != kernels.DONE:
            if answer == kernels.FULL:
                self.make_room()
            else:
                record = np.concatenate([record, np.empty_like(record)])
        return record[: self.arrays.scalars[kernels.RECORDED]]

    def rows_of(self, source: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the rows of strings stored one after the other, adding rows for new ones; counts do not change.

        Parameters
        ----------
        source
            The strings, followed by `BEHIND_BLOCK` more bytes.
        ends
            Where each ends: int64, shape ``(n_strings,)``.
        """
        rows, done = np.empty(len(ends), dtype=np.int32), 0
        while (done := kernels.add_all(self.arrays, source, ends, done, rows)) < len(ends):
            self.make_room()
        return rows

    def make_room(self) -> None:
        """Enlarge the arrays that had no room for the last entry."""
        arrays = self.arrays
        if len(self) + 2 > len(arrays.entries):
            self._capacity *= 2
            slots = np.zeros(_slots_for(self._capacity), dtype=np.uint64)
            kernels.rehash(arrays.slots, slots)
            entries = with_room(arrays.entries, self._capacity + 1)
            arrays = arrays._replace(entries=entries, slots=slots, touched=with_room(arrays.touched, len(entries)))
        needed = self.begin_of(len(self)) + int(arrays.scalars[kernels.NEEDED]) + 2 * LANE + 1
        self.arrays = arrays._replace(store=with_room(arrays.store, needed))


def _padded(block: bytes) -> NDArray[np.uint8]:
    """Return `block` followed by the padding that kernels need."""
    return np.frombuffer(block + bytes(BEHIND_BLOCK), dtype=np.uint8)


def _slots_for(capacity: int) -> int:
    """Return the power of two that keeps a hash table at most half full."""
    return 1 << (2 * capacity - 1).bit_length()
