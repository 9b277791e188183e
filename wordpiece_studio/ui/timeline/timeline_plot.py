"""The slider of the timeline, drawn over the value curve of all merges.

A real ``QAbstractSlider``: range, value, keys and what a screen reader hears come from Qt; painting and the mouse are
ours. It is handed arrays and says which moment was chosen; it knows no model and no history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from wordpiece_studio.ui.timeline.timeline_curve import Heights, curve_columns, log_heights, marked_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.ui.look.theme import Theme

_SIDE = 14.0
_TOP = 8.0
_GROOVE_FROM_BOTTOM = 22.0
_FEW = 200
"""Up to this many merges the curve shows a point for each."""


class TimelinePlot(QAbstractSlider):
    """A slider from 0 to the number of merges, with the value of each merge as a curve and ties as dots below.

    Parameters
    ----------
    describe
        Returns the line of text that is shown when the pointer is over a moment (its step number is given).
    """

    moment_chosen = Signal(object)
    """The user asks for this moment (int), by mouse, wheel or key."""

    def __init__(self, theme: Theme, describe: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._describe = describe
        self._heights: Heights = np.empty(0, dtype=np.float64)
        self._is_tie: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._background: QPixmap | None = None
        self._hovered: int | None = None
        self._wheel = 0
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setMaximum(0)
        self.setPageStep(10)
        theme.changed.connect(self._on_theme_changed)

    # -- what is shown

    def set_curve(self, values: NDArray[np.generic], ties: NDArray[np.generic]) -> None:
        """Show these merges.

        Parameters
        ----------
        values
            The value of each merge, shape (n_merges,).
        ties
            How many pairs shared it, shape (n_merges,); 1 means no tie.
        """
        self._heights = log_heights(values)
        self._is_tie = np.asarray(ties) > 1
        self.blockSignals(True)  # a shorter range would move the value, and that is not the user's wish
        self.setMaximum(len(self._heights))
        self.blockSignals(False)
        self._redraw()

    def set_moment(self, moment: int) -> None:
        """Put the handle at this moment without asking for it."""
        self.blockSignals(True)
        self.setValue(moment)
        self.blockSignals(False)
        self.update()

    # -- geometry

    def sizeHint(self) -> QSize:
        return QSize(600, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 64)

    def x_of(self, moment: float) -> float:
        """Return where a moment lies, in pixels from the left edge."""
        return _SIDE + (self.width() - 2 * _SIDE) * moment / max(self.maximum(), 1)

    def moment_at(self, x: float) -> int:
        """Return the moment nearest to a place, in pixels from the left edge."""
        width = max(self.width() - 2 * _SIDE, 1.0)
        moment = round((x - _SIDE) / width * self.maximum())
        return int(min(max(moment, 0), self.maximum()))

    @property
    def _groove_y(self) -> float:
        return self.height() - _GROOVE_FROM_BOTTOM

    # -- the user's hand

    def _choose(self, moment: int) -> None:
        moment = min(max(moment, 0), self.maximum())
        if moment != self.value():
            self.set_moment(moment)
            self.moment_chosen.emit(moment)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._choose(self.moment_at(event.position().x()))
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moment = self.moment_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(moment)
        if moment != self._hovered:
            self._hovered = moment
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(False)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """One notch is one step, ten with Ctrl; up and right are later, as in every slider of Qt."""
        turned = event.angleDelta()
        self._wheel += turned.y() if turned.y() else -turned.x()
        notches, self._wheel = int(self._wheel / 120), self._wheel - int(self._wheel / 120) * 120
        ten = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        self._choose(self.value() + notches * (10 if ten else 1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Down: -1,
            Qt.Key.Key_Up: 1,
            Qt.Key.Key_PageDown: -self.pageStep(),
            Qt.Key.Key_PageUp: self.pageStep(),
            Qt.Key.Key_Home: -self.maximum(),
            Qt.Key.Key_End: self.maximum(),
        }
        move = moves.get(Qt.Key(event.key()))
        # With Ctrl or Alt the keys belong to the window's actions.
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if move is None or not plain:
            event.ignore()
            return
        self._choose(self.value() + move)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._background is None:
            self._background = self._painted_background()
        painter.drawPixmap(0, 0, self._background)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.maximum():
            self._paint_handle(painter)
            self._paint_hover(painter)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._background = None
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.EnabledChange):
            self._redraw()
        super().changeEvent(event)

    def _on_theme_changed(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        self._background = None
        self.update()

    def _painted_background(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(self._theme.surface))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if len(self._heights):
            self._paint_curve(painter)
            self._paint_ties(painter)
        groove = QRectF(_SIDE, self._groove_y - 1.5, self.width() - 2 * _SIDE, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.border)
        painter.drawRoundedRect(groove, 1.5, 1.5)
        painter.end()
        return pixmap

    def _paint_curve(self, painter: QPainter) -> None:
        columns = max(self.width() - int(2 * _SIDE), 1)
        if len(self._heights) > columns:
            self._paint_columns(painter, columns)
            return
        moments = np.arange(1, len(self._heights) + 1)
        points = self._points(moments, self._heights)
        self._paint_ground(painter, points)
        painter.setPen(QPen(self._theme.accent, 1.6 if len(points) <= _FEW else 1.0))
        painter.drawPolyline(QPolygonF(points))
        if len(points) == 1:
            painter.drawEllipse(points[0], 2, 2)

    def _paint_columns(self, painter: QPainter, columns: int) -> None:
        """Draw one upright line for each pixel column: a zigzag of thousands of points takes Qt a tenth of a second."""
        moments, lows, highs = curve_columns(self._heights, columns)
        tops, bottoms = self._points(moments, highs), self._points(moments, lows)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_ground(painter, tops)
        painter.setPen(QPen(self._theme.accent, 1))
        painter.drawLines([QLineF(top, bottom) for top, bottom in zip(tops, bottoms, strict=True)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _points(self, moments: NDArray[np.generic], heights: Heights) -> list[QPointF]:
        xs = _SIDE + (self.width() - 2 * _SIDE) * np.asarray(moments, dtype=np.float64) / max(self.maximum(), 1)
        bottom = self._groove_y - 3
        ys = bottom - (bottom - _TOP) * heights
        return [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]

    def _paint_ground(self, painter: QPainter, points: list[QPointF]) -> None:
        left, right = QPointF(points[0].x(), self._groove_y), QPointF(points[-1].x(), self._groove_y)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.accent_soft)
        if len(points) <= _FEW:
            painter.drawPolygon(QPolygonF([left, *points, right]))
            return
        # A strip for each pixel column: a polygon of a thousand points takes Qt ten times as long.
        columns = np.arange(int(left.x()), int(right.x()) + 1)
        tops = np.interp(columns + 0.5, [point.x() for point in points], [point.y() for point in points])
        floor = self._groove_y
        strips = zip(columns.tolist(), tops.tolist(), strict=True)
        painter.drawRects([QRectF(column, top, 1, floor - top) for column, top in strips])

    def _paint_ties(self, painter: QPainter) -> None:
        marks = marked_columns(self._is_tie, max(self.width() - int(2 * _SIDE), 1) // 2)
        y = self._groove_y + 8
        painter.setBrush(self._theme.tie)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = 2.5 if len(marks) <= _FEW else 1.2
        for moment in marks.tolist():
            painter.drawEllipse(QPointF(self.x_of(moment), y), radius, radius)

    def _paint_handle(self, painter: QPainter) -> None:
        x = self.x_of(self.value())
        color = self._theme.text if self.isEnabled() else self._theme.faint
        painter.setPen(QPen(color, 1.6))
        painter.drawLine(QPointF(x, _TOP - 6), QPointF(x, self._groove_y))
        painter.setPen(QPen(self._theme.surface, 1.5))
        painter.setBrush(color)
        painter.drawEllipse(QPointF(x, self._groove_y), 7.5, 7.5)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(x, self._groove_y), 9.5, 9.5)

    def _paint_hover(self, painter: QPainter) -> None:
        if self._hovered is None or not self.isEnabled():
            return
        text = self._describe(self._hovered)
        metrics = painter.fontMetrics()
        box = QRectF(0, _TOP - 5, metrics.horizontalAdvance(text) + 14, metrics.height() + 6)
        x = self.x_of(self._hovered)
        box.moveLeft(min(max(x + 8, 2), max(self.width() - box.width() - 2, 2)))
        painter.setPen(QPen(self._theme.muted, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self._groove_y))
        painter.setPen(QPen(self._theme.border, 1))
        painter.setBrush(self._theme.raised)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(self._theme.text)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
