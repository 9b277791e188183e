"""What all compiled kernels share: the decorator that compiles them, and numba's names of their types.

Importing this module imports numba. Not here: the kernels (`training.kernels`, `text.kernels`), and where their
compiled form is kept (`kernel_cache`).
"""

from __future__ import annotations

from typing import Any

from numba import njit, types

U1, I4, I8, U8, F8 = types.uint8[::1], types.int32[::1], types.int64[::1], types.uint64[::1], types.float64[::1]
I4_2, I8_2 = types.int32[:, ::1], types.int64[:, ::1]
BYTES = types.Array(types.uint8, 1, "C", readonly=True)
INT, UNSIGNED, FLOAT, NONE, BOOL = types.int64, types.uint64, types.float64, types.void, types.boolean

_OPTIONS: dict[str, Any] = {
    # Without it numba counts references to every array at every call, atomically; that took four fifths of the time.
    "_nrt": False,
    # A bound may divide by a lower bound of 0, and infinity is then the right answer.
    "error_model": "numpy",
}


def kernel(signature: Any, *, inline: bool = False) -> Any:
    """Compile a function for one signature. It may allocate nothing.

    With `inline` it becomes a part of the kernels that call it: for what is small and called at every turn.
    """
    return njit(signature, nogil=True, cache=True, forceinline=inline, **_OPTIONS)
