"""NumPy's file format for an array that is written in pieces, because it is too large to be in memory.

Not here: putting the file in its place (`atomic_write`), and reading it (`numpy.load`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike, NDArray

_HEADER_BYTES = 128


def write_npy(file: BinaryIO, pieces: Iterable[NDArray[np.generic]], dtype: DTypeLike) -> None:
    """Write the one-dimensional array that `pieces` make up to `file`, which is empty.

    Parameters
    ----------
    file
        A file open for writing, in which one can go back: the length is written when it is known.
    pieces
        One-dimensional arrays, which are converted to `dtype`.
    dtype
        What ``numpy.load`` will return.

    Raises
    ------
    OSError
        If writing fails.
    """
    kind = np.dtype(dtype)
    length = 0
    file.write(_header(kind, length))
    for piece in pieces:
        length += len(piece)
        file.write(piece.astype(kind, copy=False).tobytes())
    file.seek(0)
    file.write(_header(kind, length))


def _header(kind: np.dtype[np.generic], length: int) -> bytes:
    r"""Return the header of version 1.0: always of the same size, filled up with blanks before its line end."""
    text = f"{{'descr': {kind.str!r}, 'fortran_order': False, 'shape': ({length},), }}"
    magic = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
    return magic + text.encode("ascii").ljust(_HEADER_BYTES - len(magic) - 1) + b"\n"
