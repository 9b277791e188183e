"""The table of distinct byte strings, and the scan that puts a text's chunks into it.

A chunk is a stretch between blanks and line ends (U+0020 and U+000A, no other white space) that is not empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from wordpiece_studio.core.kernels import BOOL, BYTES, I4, I8, I8_2, INT, NONE, U1, U8, UNSIGNED, kernel
from wordpiece_studio.core.text.kernels.lanes import LANE, bytes_before_blank, lane, mask_of, prefetch

BLANK, LINE_END = 32, 10

PENDING = 32

# Columns of `entries`. One row more than there are entries is in use: its BEGIN is where the next entry begins.
BEGIN, COUNT, ENTRY_COLUMNS = range(3)
# Entries of `scalars`.
(
    SIZE,  # entries in the table
    NEEDED,  # bytes of the entry that there was no room for
    POSITION,  # where in the block to go on
    RECORDED,  # occurrences recorded
    LONG_BEGIN,  # where in the block the long chunk begins
    LONG_ROW,  # its entry
    SCALARS,
) = range(7)
# What a scan answers.
DONE, FULL, RECORD_FULL, LONG = range(4)

_HALF, _LOWER_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class Table(NamedTuple):
    """The arrays of a table."""

    entries: Any  # int64 (capacity + 1, ENTRY_COLUMNS)
    store: Any  # uint8 (capacity in bytes + LANE,)
    slots: Any  # uint64 (power of two, at least twice the capacity,)
    pending: Any  # int64 (PENDING, 3): begin, length and hash of the chunks in hand
    key: Any  # uint64 (2,): what hashes begin with, and an odd factor
    scalars: Any  # int64 (SCALARS,)


TABLE = types.NamedTuple((I8_2, U1, U8, I8_2, U8, I8), Table)  # type: ignore[no-untyped-call]


@kernel(BOOL(TABLE, INT), inline=True)
def has_room(t: Table, length: int) -> bool:
    """Tell whether an entry of `length` bytes can be added; if not, say in `scalars` how long it is."""
    size = t.scalars[SIZE]
    if size + 1 < t.entries.shape[0] and t.entries[size, BEGIN] + length + LANE < t.store.size:
        return True
    t.scalars[NEEDED] = length
    return False


@kernel(UNSIGNED(U8, BYTES, INT, INT), inline=True)
def tag_of(key: Any, source: Any, begin: int, length: int) -> Any:
    """Return 32 bits of the hash of the bytes ``source[begin:begin + length]``."""
    hashed, factor = key[0], key[1]
    for index in range(0, length, LANE):
        hashed = (hashed ^ lane(source, begin + index) & mask_of(length - index)) * factor
        hashed ^= hashed >> _HALF
    return ((hashed ^ np.uint64(length)) * factor) >> _HALF


@kernel(INT(TABLE, BYTES, INT, INT, UNSIGNED, INT), inline=True)
def add(t: Table, source: Any, begin: int, length: int, tag: Any, count: int) -> Any:
    """Add `count` to the entry with the bytes ``source[begin:begin + length]`` and return its row.

    If there is none it is made; there must be room for it.
    """
    mask = np.uint64(t.slots.size - 1)
    slot = tag & mask
    while t.slots[slot] != _ZERO:
        if t.slots[slot] >> _HALF == tag:
            row = np.int64(t.slots[slot] & _LOWER_HALF) - 1
            first = t.entries[row, BEGIN]
            if t.entries[row + 1, BEGIN] - first == length + 1:
                index, differing = 0, _ZERO
                while index < length and differing == _ZERO:
                    differing = (lane(t.store, first + index) ^ lane(source, begin + index)) & mask_of(length - index)
                    index += LANE
                if differing == _ZERO:
                    t.entries[row, COUNT] += count
                    return row
        slot = (slot + _ONE) & mask
    row = t.scalars[SIZE]
    t.scalars[SIZE] += 1
    t.slots[slot] = tag << _HALF | np.uint64(row + 1)
    first = t.entries[row, BEGIN]
    for index in range(length):
        t.store[first + index] = source[begin + index]
    t.store[first + length] = BLANK
    t.entries[row, COUNT] = count
    t.entries[row + 1, BEGIN] = first + length + 1
    return row


@kernel(NONE(U8, U8))
def rehash(slots: Any, larger: Any) -> None:
    """Put what stands in `slots` into `larger`, which is empty."""
    mask = np.uint64(larger.size - 1)
    for entry in slots:
        if entry != _ZERO:
            slot = entry >> _HALF & mask
            while larger[slot] != _ZERO:
                slot = (slot + _ONE) & mask
            larger[slot] = entry


@kernel(INT(TABLE, BYTES, INT, INT, INT, I4))
def scan(t: Table, block: Any, size: int, count: int, longest: int, record: Any) -> int:
    """Add the chunks of the block's first `size` bytes from POSITION on, `count` each; their end ends a chunk.

    The row of each is written into `record`, unless that has no length. Answers DONE; or FULL or RECORD_FULL if there
    is no room for the next chunk; or LONG after a chunk of more than `longest` characters.
    """
    mask = np.uint64(t.slots.size - 1)
    position = t.scalars[POSITION]
    while True:
        # Several chunks at once, and each look-up in steps: what is not in the processor's cache comes meanwhile.
        found = 0
        while found < PENDING:
            while position < size and (block[position] == BLANK or block[position] == LINE_END):
                position += 1
            if position >= size:
                break
            begin, step = position, LANE
            while step == LANE and position < size:
                step = bytes_before_blank(lane(block, position))
                position += step
            position = min(position, size)
            tag = tag_of(t.key, block, begin, position - begin)
            prefetch(t.slots, np.int64(tag & mask))
            t.pending[found, 0], t.pending[found, 1], t.pending[found, 2] = begin, position - begin, np.int64(tag)
            found += 1
        if found == 0:
            t.scalars[POSITION] = position
            return DONE
        for index in range(found):
            slot = t.slots[np.uint64(t.pending[index, 2]) & mask]
            if slot != _ZERO:
                prefetch(t.entries, (np.int64(slot & _LOWER_HALF) - 1) * ENTRY_COLUMNS)
        for index in range(found):
            slot = t.slots[np.uint64(t.pending[index, 2]) & mask]
            if slot != _ZERO:
                prefetch(t.store, t.entries[np.int64(slot & _LOWER_HALF) - 1, BEGIN])
        for index in range(found):
            begin, length = t.pending[index, 0], t.pending[index, 1]
            t.scalars[POSITION] = begin
            if not has_room(t, length):
                return FULL
            if record.size > 0 and t.scalars[RECORDED] >= record.size:
                return RECORD_FULL
            row = add(t, block, begin, length, np.uint64(t.pending[index, 2]), count)
            if record.size > 0:
                record[t.scalars[RECORDED]] = row
                t.scalars[RECORDED] += 1
            if length > longest:
                characters = 0
                for place in range(begin, begin + length):
                    characters += block[place] & 0xC0 != 0x80
                if characters > longest:
                    t.scalars[POSITION], t.scalars[LONG_BEGIN], t.scalars[LONG_ROW] = begin + length, begin, row
                    return LONG
