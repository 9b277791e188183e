"""What is said of arrays in several places: how they grow, and what must stand behind text.

Not here: what is in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEHIND_BLOCK = 64
"""How many bytes, no matter which, must stand behind a text that compiled kernels scan; they read so many at once."""


def with_room(array: NDArray[Any], size: int, growth: float = 2) -> NDArray[Any]:
    """Return an array that begins like `array`, goes on with zeros, and has at least `size` rows.

    It is `array` itself if that has as many; else a copy with `growth` times as many, so that growing often costs no
    more than growing once. A copy: a reader in another thread may still hold the old one.
    """
    if size <= len(array):
        return array
    larger = np.zeros((max(size, int(growth * len(array))), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
