"""The value curve of the timeline as numbers: logarithmic heights, and at most two for each pixel column.

It paints nothing and knows no Qt: 300,000 steps become about 2,000 numbers in a few milliseconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Heights = NDArray[np.float64]


def log_heights(values: NDArray[np.generic]) -> Heights:
    """Heights between 0 (smallest) and 1 (largest) on a logarithmic scale.

    Parameters
    ----------
    values
        One value per merge, shape (n_merges,), any real dtype.

    Returns
    -------
    float64, shape (n_merges,). Values that have no logarithm (zero and below, which `likelihood` can give) lie at 0.
    When all values are equal they lie in the middle, at 0.5.
    """
    numbers = np.asarray(values, dtype=np.float64)
    heights = np.zeros(len(numbers), dtype=np.float64)
    positive = np.isfinite(numbers) & (numbers > 0)
    if not positive.any():
        return heights
    logs = np.log(numbers[positive])
    low, high = float(logs.min()), float(logs.max())
    heights[positive] = (logs - low) / (high - low) if high > low else 0.5
    return heights


def curve_columns(heights: Heights, columns: int) -> tuple[Heights, Heights, Heights]:
    """The smallest and the largest height in each pixel column, for a curve with more merges than pixels.

    Parameters
    ----------
    heights
        One height per merge, shape (n_merges,); merge i belongs to the moment i + 1.
    columns
        Width of the plot in pixels.

    Returns
    -------
    The moment in the middle of each column, the lowest and the highest point of the curve in it: float64, shape
    (n_columns,), n_columns at most `columns`. Neighbouring columns touch, as the curve does.
    """
    count = len(heights)
    starts = np.unique(np.arange(columns, dtype=np.int64) * count // columns)
    ends = np.append(starts[1:], count)
    lows, highs = np.minimum.reduceat(heights, starts), np.maximum.reduceat(heights, starts)
    coming_from = heights[np.maximum(starts - 1, 0)]
    return (starts + ends + 1) / 2, np.minimum(lows, coming_from), np.maximum(highs, coming_from)


def marked_columns(is_marked: NDArray[np.bool_], columns: int) -> NDArray[np.float64]:
    """The moments at which a mark is to be drawn: those of the marked merges, at most one for each pixel column.

    Parameters
    ----------
    is_marked
        One flag per merge, shape (n_merges,).
    columns
        Width of the plot in pixels.

    Returns
    -------
    float64 moments in ascending order.
    """
    marked = np.flatnonzero(is_marked) + 1
    if len(marked) <= columns:
        return marked.astype(np.float64)
    column = marked * columns // max(len(is_marked), 1)
    _, firsts = np.unique(column, return_index=True)
    return marked[firsts].astype(np.float64)
