"""The curves of the charts as few numbers: no more than two for each pixel column, however many merges there are.

A million merges become some thousand numbers in about a millisecond. Nothing is drawn here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.live_timeline import TextSummary
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class Curve:
    """Points to draw, float64 of shape (n,).

    Attributes
    ----------
    is_columns
        Whether each two points are the ends of one upright line, the smallest and the largest value in a pixel column;
        else the points are joined one after the other.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    is_columns: bool = False


def value_curve(values: NDArray[np.float64], columns: int) -> Curve:
    """Return the value of each merge over its step, from 1.

    Parameters
    ----------
    values
        float64, shape (n_merges,).
    columns
        How many pixels wide the curve is drawn. With more merges than that, each column has the smallest and the
        largest value in it; neighbouring columns touch, as the curve does.
    """
    count = len(values)
    if count <= columns:
        return Curve(np.arange(1, count + 1, dtype=np.float64), np.asarray(values, dtype=np.float64))
    starts, middles = _columns_of(count, columns)
    coming_from = values[np.maximum(starts - 1, 0)]
    lows = np.minimum(np.minimum.reduceat(values, starts), coming_from)
    highs = np.maximum(np.maximum.reduceat(values, starts), coming_from)
    return Curve(np.repeat(middles, 2), np.column_stack((lows, highs)).ravel(), is_columns=True)


def median_curve(values: NDArray[np.float64], columns: int) -> Curve:
    """Return the median of the values in each pixel column, the greater of the two middle ones if there are two.

    Parameters
    ----------
    values
        float64, shape (n_merges,), more than `columns` of them.
    """
    starts, middles = _columns_of(len(values), columns)
    sizes = np.diff(np.append(starts, len(values)))
    medians = np.empty(columns, dtype=np.float64)
    for size in np.unique(sizes).tolist():  # two sizes at most
        which = np.flatnonzero(sizes == size)
        block = values[starts[which][:, np.newaxis] + np.arange(size)]
        block.partition(size // 2, axis=1)
        medians[which] = block[:, size // 2]
    return Curve(middles, medians)


def _columns_of(count: int, columns: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the index of the first merge in each pixel column, and the step in its middle."""
    starts = np.arange(columns, dtype=np.int64) * count // columns
    return starts, (starts + np.append(starts[1:], count) + 1) / 2


def sampled_steps(count: int, columns: int) -> NDArray[np.int64]:
    """Return the steps 0 to `count`, or some two for each pixel column of them; enough for what only rises or falls."""
    if count + 1 <= 2 * columns:
        return np.arange(count + 1, dtype=np.int64)
    return np.unique(np.linspace(0, count, 2 * columns).round().astype(np.int64))


def tie_steps(history: MergeHistory, count: int, columns: int) -> NDArray[np.int64]:
    """Return the steps (from 1) of the first `count` whose value several pairs shared, at most one a pixel column."""
    ties = np.flatnonzero(history.column("ties")[:count] > 1)
    if len(ties) <= columns:
        return ties + 1
    column_of = ties * columns // count
    return ties[np.diff(column_of, prepend=-1) > 0] + 1


def held_curve(
    steps: NDArray[np.int64], tokens: NDArray[np.int64], start: TextSummary, count: int, columns: int
) -> Curve:
    """Return the tokens per word of the live text over the steps: a staircase that falls where a step changes it.

    Where it would have more stairs than half the pixel columns, it is the values at evenly spaced steps instead.

    Parameters
    ----------
    steps, tokens
        int64, shape (n_changes,): the steps that changed the text, ascending, and its number of tokens after each.
    start
        The text at step 0; it must have a word.
    count
        The last step shown.
    columns
        How many pixels wide the curve is drawn.
    """
    heights = np.concatenate(([start.tokens], tokens)) / start.words
    shown = int(np.searchsorted(steps, count, side="right"))
    if shown > columns // 2:
        places = sampled_steps(count, columns // 2)
        return Curve(places.astype(np.float64), heights[np.searchsorted(steps, places, side="right")])
    ends = np.concatenate(([0], steps[:shown], [count])).astype(np.float64)
    return Curve(np.repeat(ends, 2)[1:-1], np.repeat(heights[: shown + 1], 2))


def spread_ranks(count: int, columns: int) -> NDArray[np.int64]:
    """Return ranks from 1 to `count` that lie at least about a pixel apart on a logarithmic axis `columns` wide."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.geomspace(1, count, max(columns, 2)).round().astype(np.int64))
