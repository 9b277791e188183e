"""Loading and masking eight bytes at once, as a number whose lowest byte is the first; finding blanks, 64 at once.

The first functions run only while kernels are compiled, so they import what they need then.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from wordpiece_studio.compiled.kernels import INT, UNSIGNED, Intrinsic, kernel

LANE = 8
SPAN = 64

_ZERO, _ONE = np.uint64(0), np.uint64(1)
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
