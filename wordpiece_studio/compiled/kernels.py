"""What all compiled kernels share: the decorator that compiles them, and what they need from numba.

Numba is imported here and nowhere else. Not here: the kernels (`training.kernels`, `text.kernels`), and where their
compiled form is stored (`kernel_cache`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

# For its colored messages, many of which no one ever sees, numba would wrap and restore sys.stdout, which another
# thread may have replaced in the meantime. Numba reads this variable when it is imported.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

import numba
from numba.core import config as config
from numba.extending import intrinsic as intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

types = numba.types
U1, I4, I8, U8, F8 = types.uint8[::1], types.int32[::1], types.int64[::1], types.uint64[::1], types.float64[::1]
I4_2, I8_2 = types.int32[:, ::1], types.int64[:, ::1]
BYTES = types.Array(types.uint8, 1, "C", readonly=True)
INT, UNSIGNED, FLOAT, NONE, BOOL = types.int64, types.uint64, types.float64, types.void, types.boolean

_OPTIONS: dict[str, Any] = {
    # Otherwise numba counts references to every array at every call, atomically; that took four fifths of the time.
    "_nrt": False,
    # A bound may divide by a lower bound of 0, for which infinity is the right answer.
    "error_model": "numpy",
}


on_ready: Callable[[], object] | None = None
"""Called after each kernel, compiled or from the cache; `kernel_cache` sets it."""


def kernel(signature: Any, *, inline: bool = False) -> Any:
    """Compile a function for one signature. It must not allocate anything.

    With `inline` it becomes part of the kernels that call it: for small functions that are called very often.
    """
    compile_ = numba.njit(signature, nogil=True, cache=True, forceinline=inline, **_OPTIONS)

    def compiled(function: Callable[..., Any]) -> Any:
        ready = compile_(function)
        if on_ready is not None:
            on_ready()
        return ready

    return compiled
