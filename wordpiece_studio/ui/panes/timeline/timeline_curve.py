"""The value curve of the timeline: logarithmic heights, at most two per pixel column, and how they are drawn.

A million steps become about 2,000 numbers in a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

Heights = NDArray[np.float64]
_FEW = 200
"""Up to this many merges, the curve has a point for each."""
_ABOVE_AXIS = 3.0


class ValueCurve:
    """The values of all merges on a logarithmic scale, to which those of new merges are added cheaply.

    Heights are between 0 (the smallest value) and 1 (the largest). Values without a logarithm (zero and below, which
    `likelihood` can give) lie at 0. If all values are equal, they lie in the middle, at 0.5.
    """

    def __init__(self) -> None:
        self._logs: Heights = np.empty(0, dtype=np.float64)
        self._count = 0
        self._low, self._high = np.inf, -np.inf

    def __len__(self) -> int:
        return self._count

    def extend(self, values: NDArray[np.generic]) -> None:
        """Add the values of the next merges, shape (n,), any real dtype."""
        end = self._count + len(values)
        if end > len(self._logs):
            larger = np.empty(max(end, len(self._logs) * 3 // 2), dtype=np.float64)
            larger[: self._count] = self._logs[: self._count]
            self._logs = larger
        numbers = np.asarray(values, dtype=np.float64)
        is_shown = np.isfinite(numbers) & (numbers > 0)
        logs = np.full(len(numbers), -np.inf)
        np.log(numbers, out=logs, where=is_shown)
        self._logs[self._count : end] = logs
        self._low = min(self._low, float(logs.min(where=is_shown, initial=np.inf)))
        self._high = max(self._high, float(logs.max(where=is_shown, initial=-np.inf)))
        self._count = end

    def heights(self) -> Heights:
        """Return the height of each merge, float64, shape (n_merges,)."""
        return self._scaled(self._logs[: self._count])

    def columns(self, columns: int) -> tuple[Heights, Heights, Heights]:
        """Return the lowest and highest points in each pixel column, for when there are more merges than pixels.

        Parameters
        ----------
        columns
            Width of the plot in pixels. The merge with index i belongs to step i + 1.

        Returns
        -------
        The step in the middle of each column, and the lowest and highest point of the curve in it: float64, shape
        (n_columns,), n_columns at most `columns`. Adjacent columns touch, as the curve does.
        """
        count, logs = self._count, self._logs[: self._count]
        starts = np.unique(np.arange(columns, dtype=np.int64) * count // columns)
        ends = np.append(starts[1:], count)
        lows, highs = np.minimum.reduceat(logs, starts), np.maximum.reduceat(logs, starts)
        coming_from = logs[np.maximum(starts - 1, 0)]
        lows, highs = np.minimum(lows, coming_from), np.maximum(highs, coming_from)
        return (starts + ends + 1) / 2, self._scaled(lows), self._scaled(highs)

    def _scaled(self, logs: Heights) -> Heights:
        if not self._high > self._low:
            return np.where(np.isfinite(logs), 0.5, 0.0)
        return np.maximum((logs - self._low) / (self._high - self._low), 0.0)


def thinned(steps: NDArray[np.integer], count: int, columns: int) -> NDArray[np.float64]:
    """Return the steps at which to draw a mark, at most one per pixel column.

    Parameters
    ----------
    steps
        The marked steps, ascending.
    count
        How many merges there are.
    columns
        Width of the plot in pixels.

    Returns
    -------
    float64, ascending.
    """
    if len(steps) > columns:
        column = steps * columns // max(count, 1)
        steps = steps[np.diff(column, prepend=-1) > 0]
    return steps.astype(np.float64)


class CurvePainter:
    """Draws with `painter` into `room`, whose left edge is step 0, right edge the last step, and bottom the axis."""

    def __init__(self, painter: QPainter, theme: Theme, room: QRectF) -> None:
        self._painter = painter
        self._theme = theme
        self._room = room
        self._last = 1

    def paint(self, curve: ValueCurve) -> None:
        """Draw the curve and fill the area under it."""
        painter, columns = self._painter, max(int(self._room.width()), 1)
        self._last = len(curve)
        if len(curve) > columns:
            self._paint_columns(curve, columns)
            return
        points = self._points(np.arange(1, len(curve) + 1), curve.heights())
        self._paint_ground(points)
        painter.setPen(QPen(self._theme.accent, 1.6 if len(points) <= _FEW else 1.0))
        painter.drawPolyline(QPolygonF(points))
        if len(points) == 1:
            painter.drawEllipse(points[0], 2, 2)

    def _paint_columns(self, curve: ValueCurve, columns: int) -> None:
        """Draw one vertical line per pixel column: a zigzag of thousands of points takes Qt a tenth of a second."""
        steps, lows, highs = curve.columns(columns)
        tops, bottoms = self._points(steps, highs), self._points(steps, lows)
        painter = self._painter
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_ground(tops)
        painter.setPen(QPen(self._theme.accent, 1))
        painter.drawLines([QLineF(top, bottom) for top, bottom in zip(tops, bottoms, strict=True)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _points(self, steps: NDArray[np.generic], heights: Heights) -> list[QPointF]:
        room = self._room
        xs = room.left() + room.width() * np.asarray(steps, dtype=np.float64) / self._last
        bottom = room.bottom() - _ABOVE_AXIS
        ys = bottom - (bottom - room.top()) * heights
        return [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]

    def _paint_ground(self, points: list[QPointF]) -> None:
        painter, floor = self._painter, self._room.bottom()
        left, right = QPointF(points[0].x(), floor), QPointF(points[-1].x(), floor)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.accent_soft)
        if len(points) <= _FEW:
            painter.drawPolygon(QPolygonF([left, *points, right]))
            return
        # One strip per pixel column: a polygon of a thousand points takes Qt ten times as long.
        columns = np.arange(int(left.x()), int(right.x()) + 1)
        tops = np.interp(columns + 0.5, [point.x() for point in points], [point.y() for point in points])
        strips = zip(columns.tolist(), tops.tolist(), strict=True)
        painter.drawRects([QRectF(column, top, 1, floor - top) for column, top in strips])
