"""Draws the value curve: a point for each merge as long as they are few, an upright line for each pixel column then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.ui.panes.timeline.timeline_curve import Heights, ValueCurve
    from wordpiece_studio.ui.widgets.theme import Theme

_FEW = 200
"""Up to this many merges the curve shows a point for each."""
_ABOVE_AXIS = 3.0


class CurvePainter:
    """Draws with `painter` into `room`, whose left edge is the step 0, its right the last, its bottom the axis."""

    def __init__(self, painter: QPainter, theme: Theme, room: QRectF) -> None:
        self._painter = painter
        self._theme = theme
        self._room = room
        self._last = 1

    def paint(self, curve: ValueCurve) -> None:
        """Draw the curve and the ground under it."""
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
        """Draw one upright line for each pixel column: a zigzag of thousands of points takes Qt a tenth of a second."""
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
        # A strip for each pixel column: a polygon of a thousand points takes Qt ten times as long.
        columns = np.arange(int(left.x()), int(right.x()) + 1)
        tops = np.interp(columns + 0.5, [point.x() for point in points], [point.y() for point in points])
        strips = zip(columns.tolist(), tops.tolist(), strict=True)
        painter.drawRects([QRectF(column, top, 1, floor - top) for column, top in strips])
