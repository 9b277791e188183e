"""What several modules need for arrays: growing them, and the padding required after text.

Not here: their contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
