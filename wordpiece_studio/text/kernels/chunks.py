"""The table of distinct byte strings, and the scan that puts a text's chunks into it.

A chunk is a non-empty stretch between blanks and line ends (U+0020 and U+000A, no other white space). Bytes are loaded
and masked eight at once, as a number whose lowest byte is the first, a lane; blanks are found 64 at once.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from wordpiece_studio.compiled.kernels import (
    BYTES,
    I4,
    I8,
    I8_2,
    INT,
    NONE,
    U1,
    U8,
    UNSIGNED,
    Arrays,
    ArraysType,
    Intrinsic,
    kernel,
)

_ZERO, _ONE = np.uint64(0), np.uint64(1)

# Lanes. These functions run only while kernels are compiled, so they import what they need then.

LANE = 8
SPAN = 64

_ONES, _HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_BLANKS, _LINE_ENDS = np.uint64(0x2020202020202020), np.uint64(0x0A0A0A0A0A0A0A0A)
_TOP_BYTE, _TOP_BIT = np.uint64(56), np.uint64(7)


def _lane(context: Any, array: Any, index: Any) -> Any:
    """Return the eight bytes of `array` from `index` on, which must exist; numba has no unaligned load."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = builder.load(_place(context, builder, signature, arguments), align=1)
        return loaded if sys.byteorder == "little" else builder.bswap(loaded)

    return types.uint64(array, types.int64), generate


def _put_lane(context: Any, array: Any, index: Any, bytes_: Any) -> Any:
    """Write eight bytes into `array` from `index` on, where there must be room for them."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        written = arguments[2] if sys.byteorder == "little" else builder.bswap(arguments[2])
        builder.store(written, _place(context, builder, signature, arguments), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


def _prefetch(context: Any, array: Any, index: Any) -> Any:
    """Make the processor fetch the entry at a flat index of `array`, which will be needed soon."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, flag = _place(context, builder, signature, arguments), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, flag(0), flag(3), flag(1)])  # to read, again and again; data
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _separators(context: Any, array: Any, index: Any) -> Any:
    """Return a bit for each of the SPAN bytes of `array` from `index` on: 1 for a blank or a line end."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(ir.IntType(8), SPAN)
        place = builder.bitcast(_place(context, builder, signature, arguments), kind.as_pointer())
        loaded = builder.load(place, align=1)
        found = [builder.icmp_unsigned("==", loaded, ir.Constant(kind, [byte] * SPAN)) for byte in b" \n"]
        bits = builder.bitcast(builder.or_(*found), ir.IntType(SPAN))
        return bits if sys.byteorder == "little" else builder.bitreverse(bits)

    return types.uint64(array, types.int64), generate


def _lowest_bit(context: Any, bits: Any) -> Any:
    """Return the place of the lowest set bit, from 0; at least one must be set."""
    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return a pointer to eight bytes at an index, the second argument, of an array, the first."""
    from llvmlite import ir

    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())


lane: Any = Intrinsic(_lane)
put_lane: Any = Intrinsic(_put_lane)
prefetch: Any = Intrinsic(_prefetch)
separators: Any = Intrinsic(_separators)
lowest_bit: Any = Intrinsic(_lowest_bit)


@kernel(UNSIGNED(INT), inline=True)
def mask_of(length: int) -> Any:
    """Return a mask of the first `length` bytes; of all eight if `length` is larger; of none if it is below one."""
    if length >= 8:
        return ~_ZERO
    if length <= 0:
        return _ZERO
    return (_ONE << np.uint64(8 * length)) - _ONE


@kernel(INT(UNSIGNED), inline=True)
def bytes_before_blank(bytes_: Any) -> Any:
    """Return how many of eight bytes come before the first blank or line end."""
    blanks, line_ends = bytes_ ^ _BLANKS, bytes_ ^ _LINE_ENDS
    # The lowest bit found marks the first zero byte of the two; only above it may there be false ones.
    found = ((blanks - _ONES) & ~blanks | (line_ends - _ONES) & ~line_ends) & _HIGHS
    if found == _ZERO:
        return 8
    below = ((found & (~found + _ONE)) >> _TOP_BIT) - _ONE
    return np.int64(((below & _ONES) * _ONES) >> _TOP_BYTE)


# The table.

BLANK, LINE_END = 32, 10

PENDING = 96  # chunks being processed; a span of bytes adds at most half as many as it has bytes
_ENOUGH = PENDING - SPAN // 2

# Columns of `entries`. One row more than there are entries is in use: its SHAPE is where the next entry begins.
SHAPE, COUNT, FIRST_LANE, SECOND_LANE, ENTRY_COLUMNS = range(5)
# SHAPE: where the entry begins, and in the lowest bits its length, all set if it is that long or longer.
LENGTH_BITS = 20
LENGTHS = (1 << LENGTH_BITS) - 1
# Entries of `scalars`.
(
    SIZE,  # entries in the table
    NEEDED,  # bytes of the entry for which there was no room
    POSITION,  # where in the block to continue
    RECORDED,  # occurrences recorded
    TOUCHED,  # entries in `touched`
    LONG_BEGIN,  # where in the block the long chunk begins
    LONG_ROW,  # its entry
    SCALARS,
) = range(8)
# What a scan returns.
DONE, FULL, RECORD_FULL, LONG = range(4)

_HALF, _LOWER_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)


class _Table(NamedTuple):
    entries: Any  # int64 (capacity + 1, ENTRY_COLUMNS)
    store: Any  # uint8 (capacity in bytes + 2 * LANE,)
    slots: Any  # uint64 (power of two, at least 4/3 of the capacity,)
    touched: Any  # int32 (capacity + 1,): the rows whose count is not 0, in the order in which it became so
    pending: Any  # int64 (PENDING, 3): begin, length and tag of the chunks being processed
    key: Any  # uint64 (2,): what hashes start from, and an odd factor
    scalars: Any  # int64 (SCALARS,)


class Table(_Table, Arrays):
    """The arrays of a table."""


TABLE = ArraysType((I8_2, U1, U8, I4, I8_2, U8, I8), Table)


@kernel(UNSIGNED(U8, BYTES, INT, INT), inline=True)
def tag_of(key: Any, source: Any, begin: int, length: int) -> Any:
    """Return 32 bits of the hash of the bytes ``source[begin:begin + length]``."""
    factor = key[1]
    hashed = (key[0] ^ lane(source, begin) & mask_of(length)) * factor
    hashed ^= hashed >> _HALF
    hashed = (hashed ^ lane(source, begin + LANE) & mask_of(length - LANE)) * factor
    hashed ^= hashed >> _HALF
    for index in range(2 * LANE, length, LANE):
        hashed = (hashed ^ lane(source, begin + index) & mask_of(length - index)) * factor
        hashed ^= hashed >> _HALF
    return ((hashed ^ np.uint64(length)) * factor) >> _HALF


@kernel(INT(TABLE, BYTES, INT, INT, UNSIGNED), inline=True)
def row_of(t: Table, source: Any, begin: int, length: int, tag: Any) -> Any:
    """Return the row of the entry with the bytes ``source[begin:begin + length]``, adding it if there is none.

    Returns -1 if there is no room for it; `scalars` then holds its length.
    """
    mask = np.uint64(t.slots.size - 1)
    short = min(length, LENGTHS)
    first_lane = np.int64(lane(source, begin) & mask_of(length))
    second_lane = np.int64(lane(source, begin + LANE) & mask_of(length - LANE))
    slot = tag & mask
    while t.slots[slot] != _ZERO:
        if t.slots[slot] >> _HALF == tag:
            row = np.int64(t.slots[slot] & _LOWER_HALF) - 1
            shape = t.entries[row, SHAPE]
            is_alike = (shape & LENGTHS == short) & (t.entries[row, FIRST_LANE] == first_lane)
            if is_alike & (t.entries[row, SECOND_LANE] == second_lane):
                first = shape >> LENGTH_BITS
                if short == LENGTHS and (t.entries[row + 1, SHAPE] >> LENGTH_BITS) - first != length + 1:
                    length_differs = _ONE
                else:
                    length_differs = _ZERO
                index, differing = 2 * LANE, length_differs
                while index < length and differing == _ZERO:
                    differing = (lane(t.store, first + index) ^ lane(source, begin + index)) & mask_of(length - index)
                    index += LANE
                if differing == _ZERO:
                    return row
        slot = (slot + _ONE) & mask
    row = t.scalars[SIZE]
    first = t.entries[row, SHAPE] >> LENGTH_BITS
    if row + 1 >= t.entries.shape[0] or first + length + 2 * LANE >= t.store.size:
        t.scalars[NEEDED] = length
        return -1
    t.scalars[SIZE] += 1
    t.slots[slot] = tag << _HALF | np.uint64(row + 1)
    for index in range(0, length, LANE):
        put_lane(t.store, first + index, lane(source, begin + index))
    t.store[first + length] = BLANK
    t.entries[row, SHAPE] = first << LENGTH_BITS | short
    t.entries[row, FIRST_LANE], t.entries[row, SECOND_LANE] = first_lane, second_lane
    t.entries[row + 1, SHAPE] = (first + length + 1) << LENGTH_BITS
    return row


@kernel(NONE(U8, U8))
def rehash(slots: Any, larger: Any) -> None:
    """Copy the entries of `slots` into `larger`, which is empty."""
    mask = np.uint64(larger.size - 1)
    for entry in slots:
        if entry != _ZERO:
            slot = entry >> _HALF & mask
            while larger[slot] != _ZERO:
                slot = (slot + _ONE) & mask
            larger[slot] = entry


@kernel(INT(TABLE, INT))
def fetch(t: Table, found: int) -> int:
    """Prefetch the entries that the first `found` of `pending` may refer to into the processor's cache."""
    mask = np.uint64(t.slots.size - 1)
    for index in range(found):
        slot = t.slots[np.uint64(t.pending[index, 2]) & mask]
        if slot != _ZERO:
            prefetch(t.entries, (np.int64(slot & _LOWER_HALF) - 1) * ENTRY_COLUMNS)
    return found


@kernel(INT(TABLE, BYTES, I8, INT, I4))
def add_all(t: Table, source: Any, ends: Any, first: int, rows: Any) -> int:
    """Enter the strings of `source` from the one numbered `first` on, and put the row of each into `rows`.

    Each string ends before one of `ends`, where the next begins. Returns the one without room, or their number.
    """
    mask = np.uint64(t.slots.size - 1)
    while first < ends.size:
        found = min(PENDING, ends.size - first)
        for index in range(found):
            begin = ends[first + index - 1] if first + index > 0 else 0
            length = ends[first + index] - begin
            tag = tag_of(t.key, source, begin, length)
            prefetch(t.slots, np.int64(tag & mask))
            t.pending[index, 0], t.pending[index, 1], t.pending[index, 2] = begin, length, np.int64(tag)
        fetch(t, found)
        for index in range(found):
            row = row_of(t, source, t.pending[index, 0], t.pending[index, 1], np.uint64(t.pending[index, 2]))
            if row < 0:
                return first + index
            rows[first + index] = row
        first += found
    return ends.size


@kernel(INT(TABLE, I4, U1))
def join(t: Table, rows: Any, joined: Any) -> int:
    """Write the entries in `rows` one after the other, a blank after each; return how many bytes that takes."""
    place = 0
    for row in rows:
        first, end = t.entries[row, SHAPE] >> LENGTH_BITS, t.entries[row + 1, SHAPE] >> LENGTH_BITS
        for index in range(0, end - first, LANE):
            put_lane(joined, place + index, lane(t.store, first + index))
        place += end - first
    return place


@kernel(INT(TABLE, BYTES, INT, INT, INT, I4))
def scan(t: Table, block: Any, size: int, count: int, longest: int, record: Any) -> int:
    """Add the chunks of the block's first `size` bytes from POSITION on, `count` each; their end ends a chunk.

    The row of each is written into `record`, unless that has no length. Returns DONE; or FULL or RECORD_FULL if there
    is no room for the next chunk; or LONG after a chunk of more than `longest` characters.
    """
    mask = np.uint64(t.slots.size - 1)
    position, begin, before = t.scalars[POSITION], 0, _ONE  # before: whether no chunk continues here
    while True:
        # Several chunks at once, each looked up in steps, so that the processor's cache is filled in the meantime.
        found = 0
        while found < _ENOUGH and position <= size:
            blanks = separators(block, position)
            if size - position < SPAN:
                blanks |= ~_ZERO << np.uint64(size - position)
            shifted = blanks << _ONE | before
            begins, ends = ~blanks & shifted, blanks & ~shifted
            if before == _ZERO or begins != _ZERO:
                if before != _ZERO:
                    begin = position + lowest_bit(begins)
                    begins &= begins - _ONE
                while ends != _ZERO:
                    length = position + lowest_bit(ends) - begin
                    ends &= ends - _ONE
                    tag = tag_of(t.key, block, begin, length)
                    prefetch(t.slots, np.int64(tag & mask))
                    t.pending[found, 0], t.pending[found, 1], t.pending[found, 2] = begin, length, np.int64(tag)
                    found += 1
                    if begins != _ZERO:
                        begin = position + lowest_bit(begins)
                        begins &= begins - _ONE
            before = blanks >> np.uint64(SPAN - 1)
            position += SPAN
        if found == 0:
            t.scalars[POSITION] = position
            return DONE
        fetch(t, found)
        for index in range(found):
            place, length = t.pending[index, 0], t.pending[index, 1]
            t.scalars[POSITION] = place
            if record.size > 0 and t.scalars[RECORDED] >= record.size:
                return RECORD_FULL
            row = row_of(t, block, place, length, np.uint64(t.pending[index, 2]))
            if row < 0:
                return FULL
            if t.entries[row, COUNT] == 0:
                t.touched[t.scalars[TOUCHED]] = row
                t.scalars[TOUCHED] += 1
            t.entries[row, COUNT] += count
            if record.size > 0:
                record[t.scalars[RECORDED]] = row
                t.scalars[RECORDED] += 1
            if length > longest:
                characters = 0
                for byte in range(place, place + length):
                    characters += block[byte] & 0xC0 != 0x80
                if characters > longest:
                    t.scalars[POSITION], t.scalars[LONG_BEGIN], t.scalars[LONG_ROW] = place + length, place, row
                    return LONG
