"""The slider of the timeline, drawn over the value curve of all merges, with marks on its axis.

A real ``QAbstractSlider``: range, value, keys and accessibility come from Qt; painting and mouse handling are ours. It
is given arrays and reports the step chosen; it has no access to model or history. The curve has logarithmic heights and
at most two per pixel column: a million steps become about 2,000 numbers in a few milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from wordpiece_studio.ui.panes.timeline.timeline_marks import PlotMarks, flag_rect, paint_box, paint_flag, paint_marks

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from wordpiece_studio.ui.widgets.theme import Theme

    MarkerName = Literal["A", "B"]

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


_SIDE = 14.0
_TOP = 17.0
_GROOVE_FROM_BOTTOM = 24.0
_NOTE_BELOW_TOP = 5.0  # so that flags do not hide bookmarks
_TIES_BELOW, _CHANGES_BELOW, _BIRTH_BELOW = 8.0, 17.0, 14.0
_JITTER = 3.0  # a press on a flag that moves no farther than this, in pixels, is a click and goes to its step
_BACKGROUND_EVENTS = (QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.EnabledChange)


class TimelinePlot(QAbstractSlider):
    """A slider from 0 to the number of merges, with the value of each merge as a curve and ties as dots below.

    Parameters
    ----------
    describe
        Returns the line of text shown while the pointer is over a step, given the step's number.
    """

    step_chosen = Signal(object)
    """The user chose this step (int) by mouse, wheel or key."""
    marker_moved = Signal(object, object)
    """The user drags the marker "A" or "B" to a step (int)."""

    def __init__(self, theme: Theme, describe: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._describe = describe
        self._curve = ValueCurve()
        self._ties: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._marks = PlotMarks()
        self._callout = ""
        self._background: QPixmap | None = None
        self._layer: QPixmap | None = None  # the numerous marks
        self._hovered: int | None = None
        self._drawn: MarkerName | None = None  # the marker being dragged
        self._was_drawn = False
        self._pressed_x = 0.0
        self._wheel = 0
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setMaximum(0)
        self.setPageStep(10)
        theme.changed.connect(self._redraw)

    # -- contents

    def set_curve(self, values: NDArray[np.generic], ties: NDArray[np.generic]) -> None:
        """Show these merges.

        Parameters
        ----------
        values
            The value of each merge, shape (n_merges,).
        ties
            How many pairs shared it, shape (n_merges,); 1 means no tie.
        """
        self._curve = ValueCurve()
        self._ties = np.empty(0, dtype=np.int64)
        self.extend_curve(values, ties)

    def extend_curve(self, values: NDArray[np.generic], ties: NDArray[np.generic]) -> None:
        """Append these merges to those shown; the parameters are those of `set_curve`."""
        new_ties = np.flatnonzero(np.asarray(ties) > 1) + len(self._curve) + 1
        self._ties = np.concatenate((self._ties, new_ties))
        self._curve.extend(values)
        self.blockSignals(True)  # a shorter range would move the value, which the user did not ask for
        self.setMaximum(len(self._curve))
        self.blockSignals(False)
        self._redraw()

    @property
    def curve_length(self) -> int:
        """How many merges are shown."""
        return len(self._curve)

    def set_step(self, step: int) -> None:
        """Move the handle to this step without emitting a signal."""
        self.blockSignals(True)
        self.setValue(step)
        self.blockSignals(False)
        self.update()

    @property
    def hovered(self) -> int | None:
        """The step under the pointer."""
        return self._hovered

    @property
    def marks(self) -> PlotMarks:
        """The marked steps."""
        return self._marks

    def set_marks(self, marks: PlotMarks) -> None:
        """Mark these steps."""
        old, self._marks = self._marks, marks
        pairs = ((old.changes, marks.changes), (old.breakpoints, marks.breakpoints), (old.notes, marks.notes))
        if not all(before is now or np.array_equal(before, now) for before, now in pairs):
            self._layer = None
        self.update()

    @property
    def callout(self) -> str:
        """The text beside the handle, or in its place."""
        return self._callout

    def set_callout(self, text: str) -> None:
        """Show this beside the handle, or in the middle if there are no merges; an empty text shows nothing."""
        if text != self._callout:
            self._callout = text
            self.update()

    # -- geometry

    def sizeHint(self) -> QSize:
        return QSize(600, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 66)

    def x_of(self, step: float) -> float:
        """Return where a step lies, in pixels from the left edge."""
        return _SIDE + (self.width() - 2 * _SIDE) * step / max(self.maximum(), 1)

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place, in pixels from the left edge."""
        width = max(self.width() - 2 * _SIDE, 1.0)
        step = round((x - _SIDE) / width * self.maximum())
        return int(min(max(step, 0), self.maximum()))

    @property
    def _groove_y(self) -> float:
        return self.height() - _GROOVE_FROM_BOTTOM

    def _markers(self) -> list[tuple[MarkerName, int]]:
        steps: tuple[tuple[MarkerName, int | None], ...] = (("A", self._marks.a), ("B", self._marks.b))
        return [(name, step) for name, step in steps if step is not None and step <= self.maximum()]

    def _marker_at(self, place: QPointF) -> MarkerName | None:
        for name, step in reversed(self._markers()):
            if flag_rect(self.x_of(step)).adjusted(-4, -2, 2, 4).contains(place):
                return name
        return None

    # -- user input

    def _choose(self, step: int) -> None:
        step = min(max(step, 0), self.maximum())
        if step != self.value():
            self.set_step(step)
            self.step_chosen.emit(step)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self._drawn, self._was_drawn = self._marker_at(event.position()), False
        self._pressed_x = event.position().x()
        if self._drawn is None:
            self.setSliderDown(True)
            self._choose(self.step_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        step = self.step_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            if self._drawn is None:
                self._choose(step)
            elif self._was_drawn or abs(event.position().x() - self._pressed_x) > _JITTER:
                self._was_drawn = True
                self.marker_moved.emit(self._drawn, step)
        elif self._markers():
            is_over = self._marker_at(event.position()) is not None
            self.setCursor(Qt.CursorShape.SizeHorCursor if is_over else Qt.CursorShape.ArrowCursor)
        if step != self._hovered:
            self._hovered = step
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            if self._drawn is not None and not self._was_drawn:
                self._choose(dict(self._markers()).get(self._drawn, self.value()))
            self._drawn = None
            self.setSliderDown(False)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = None
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """One notch is one step, ten with Ctrl; up and right move to later steps, as in every Qt slider."""
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
            Qt.Key.Key_PageUp: -self.pageStep(),  # unlike Qt's sliders: down is forward, as in the history
            Qt.Key.Key_PageDown: self.pageStep(),
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
        with QPainter(self) as painter:
            if self._background is None:
                self._background = self._painted(QColor(self._theme.surface), self._paint_background)
            if self._layer is None:
                self._layer = self._painted(QColor(Qt.GlobalColor.transparent), self._paint_layer)
            painter.drawPixmap(0, 0, self._background)
            painter.drawPixmap(0, 0, self._layer)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.maximum():
                self._paint_birth(painter)
                for name, step in self._markers():
                    paint_flag(painter, name, self.x_of(step), self._groove_y, self._theme)
                painter.setFont(self.font())
                self._paint_handle(painter)
                if self._callout:
                    self._paint_box(painter, self.value(), self._callout)
                if self._hovered is not None and self.isEnabled():
                    self._paint_hover(painter, self._hovered)
            elif self._callout:
                painter.setPen(self._theme.muted)
                flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                painter.drawText(self.rect(), int(flags), self._callout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._redraw()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in _BACKGROUND_EVENTS:
            self._redraw()
        super().changeEvent(event)

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        """Forget steps that no longer exist when the range shrinks."""
        super().sliderChange(change)
        if change == QAbstractSlider.SliderChange.SliderRangeChange:
            if self._hovered is not None and self._hovered > self.maximum():
                self._hovered = None
            if self._drawn not in dict(self._markers()):
                self._drawn = None

    def _redraw(self) -> None:
        self._background = self._layer = None
        self.update()

    def _painted(self, ground: QColor, paint: Callable[[QPainter], None]) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(ground)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint(painter)
        return pixmap

    def _paint_background(self, painter: QPainter) -> None:
        if len(self._curve):
            room = QRectF(_SIDE, _TOP, self.width() - 2 * _SIDE, self._groove_y - _TOP)
            CurvePainter(painter, self._theme, room).paint(self._curve)
        groove = QRectF(_SIDE, self._groove_y - 1.5, self.width() - 2 * _SIDE, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.border)
        painter.drawRoundedRect(groove, 1.5, 1.5)
        if len(self._curve):
            paint_marks(painter, "tie", self._places(self._ties), self._groove_y + _TIES_BELOW, self._theme)

    def _paint_layer(self, painter: QPainter) -> None:
        marks, groove, theme = self._marks, self._groove_y, self._theme
        paint_marks(painter, "change", self._places(marks.changes), groove + _CHANGES_BELOW, theme)
        paint_marks(painter, "breakpoint", self._places(marks.breakpoints), groove, theme)
        paint_marks(painter, "note", self._places(marks.notes), _TOP + _NOTE_BELOW_TOP, theme)

    def _places(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where these steps lie, at most one for every second pixel: float64, ascending."""
        steps = steps[: np.searchsorted(steps, self.maximum(), side="right")]
        columns = max(self.width() - int(2 * _SIDE), 2) // 2
        thin = thinned(steps, self.maximum(), columns)
        return _SIDE + (self.width() - 2 * _SIDE) * thin / max(self.maximum(), 1)

    def _paint_birth(self, painter: QPainter) -> None:
        birth = self._marks.birth
        if birth is None or birth > self.maximum():
            return
        x = self.x_of(birth)
        painter.setPen(QPen(self._theme.accent_ink, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, _TOP), QPointF(x, self._groove_y))
        paint_marks(painter, "birth", np.array([x]), self._groove_y + _BIRTH_BELOW, self._theme)

    def _paint_handle(self, painter: QPainter) -> None:
        x = self.x_of(self.value())
        color = self._theme.text if self.isEnabled() else self._theme.faint
        painter.setPen(QPen(color, 1.6))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self._groove_y))
        painter.setPen(QPen(self._theme.surface, 1.5))
        painter.setBrush(color)
        painter.drawEllipse(QPointF(x, self._groove_y), 7.5, 7.5)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(x, self._groove_y), 9.5, 9.5)

    def _paint_hover(self, painter: QPainter, step: int) -> None:
        x = self.x_of(step)
        painter.setPen(QPen(self._theme.muted, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self._groove_y))
        self._paint_box(painter, step, self._describe(step))

    def _paint_box(self, painter: QPainter, step: int, text: str) -> None:
        paint_box(painter, QPointF(self.x_of(step), _TOP - 3), text, self.width(), self._theme)
