"""The slider of the timeline, drawn over the value curve of all merges, with marks on its axis.

Compared runs have a lane each, one below the other, along one axis of vocabulary sizes. Each kind of mark has its own
shape, so that nothing depends on color alone. Range, value, keys and accessibility are those of ``QAbstractSlider``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from wordpiece_studio.session.chart_source import height_curve, thinned
from wordpiece_studio.ui.widgets.fields import chooses, is_alone
from wordpiece_studio.ui.widgets.theme import run_line
from wordpiece_studio.ui.widgets.token_text import paint_run_disc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QWheelEvent

    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.widgets.theme import Theme

Values = NDArray[np.float64]
Steps = NDArray[np.int64]
Places = Callable[[NDArray[np.generic]], NDArray[np.float64]]
MarkKind = Literal["tie", "change", "breakpoint", "note", "birth", "divergence"]
_INKS: dict[MarkKind, str] = {
    "tie": "tie", "change": "muted", "breakpoint": "error", "note": "bookmark", "birth": "accent_ink",
    "divergence": "text",
}  # fmt: skip
_OUTLINES: dict[MarkKind, tuple[tuple[float, float], ...]] = {
    "breakpoint": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    "note": ((-3.5, -5), (3.5, -5), (3.5, 5), (0, 1.5), (-3.5, 5)),
    "birth": ((0, -4), (4.5, 4), (-4.5, 4)),
    "divergence": ((0, 4), (4.5, -4), (-4.5, -4)),
}
_NO_STEPS: Steps = np.empty(0, dtype=np.int64)


class PlotMarks(NamedTuple):
    """The marked steps, from 0, ascending."""

    changes: Steps = _NO_STEPS  # steps that change the tokenization of the live text
    breakpoints: Steps = _NO_STEPS
    notes: Steps = _NO_STEPS
    birth: int | None = None  # the step that made the selection


def paint_marks(painter: QPainter, kind: MarkKind, xs: NDArray[np.float64], y: float, theme: Theme) -> None:
    is_small = len(xs) > 200  # more marks than this are drawn small
    radius, width, size = (1.2, 1.0, 2 / 3) if is_small else (2.5, 1.5, 1.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(getattr(theme, _INKS[kind]))
    for x in xs.tolist():
        if kind == "tie":
            painter.drawEllipse(QPointF(x, y), radius, radius)
        elif kind == "change":
            painter.drawRect(QRectF(x - 0.75, y - 3.5, width, 7))
        else:
            outline = [QPointF(x + size * right, y + size * down) for right, down in _OUTLINES[kind]]
            painter.drawPolygon(QPolygonF(outline))


@dataclass(slots=True, eq=False)
class Lane:
    run: Run
    name: str
    step: int
    words: str  # what its vocabulary is at the step
    values: Values  # those of its merges, shape (n_merges,)
    sizes: Steps  # the size of its vocabulary at each step, shape (n_merges + 1,)
    widest: str  # the widest of the texts about its steps, for which there is room
    # The step at which it first differs from the run that is shown; None if there is none, or if it is not known.
    diverges_at: int | None = None


_FEW = 200  # up to this many merges, the curve has a point for each
_ABOVE_AXIS = 3.0


def paint_curve(painter: QPainter, room: QRectF, places: Places, pen: QPen, ground: QColor, values: Values) -> None:
    curve = height_curve(values, max(int(room.width()), 1))
    bottom = room.bottom() - _ABOVE_AXIS
    ys = bottom - (bottom - room.top()) * curve.y
    points = [QPointF(x, y) for x, y in zip(places(curve.x).tolist(), ys.tolist(), strict=True)]
    if curve.is_columns:  # one vertical line each: a zigzag of thousands of points takes Qt a tenth of a second
        lows, highs = points[::2], points[1::2]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        _paint_ground(painter, highs, room.bottom(), ground)
        painter.setPen(QPen(pen.color(), 1))
        painter.drawLines([QLineF(high, low) for high, low in zip(highs, lows, strict=True)])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        return
    _paint_ground(painter, points, room.bottom(), ground)
    pen.setWidthF(1.6 if len(points) <= _FEW else 1.0)
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF(points))
    if len(points) == 1:
        painter.drawEllipse(points[0], 2, 2)


def _paint_ground(painter: QPainter, points: list[QPointF], floor: float, ground: QColor) -> None:
    left, right = QPointF(points[0].x(), floor), QPointF(points[-1].x(), floor)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    if len(points) <= _FEW:
        painter.drawPolygon(QPolygonF([left, *points, right]))
        return
    # One strip per pixel column: a polygon of a thousand points takes Qt ten times as long.
    columns = np.arange(int(left.x()), int(right.x()) + 1)
    tops = np.interp(columns + 0.5, [point.x() for point in points], [point.y() for point in points])
    strips = zip(columns.tolist(), tops.tolist(), strict=True)
    painter.drawRects([QRectF(column, top, 1, floor - top) for column, top in strips])


_SIDE = 14.0
# What is above the curves, and in a plot lower than this; there a box lies over them.
_TOP, _LOW_TOP, _LOW = 17.0, 5.0, 80
_GROOVE_FROM_BOTTOM = 22.0
_NOTE_BELOW_TOP = 5.0
# Pixels from the axis down to marks, where there are no lanes and in a lane.
_BELOW_AXIS: dict[MarkKind, tuple[float, float]] = {"tie": (8.0, 4.0), "change": (17.0, 7.5), "birth": (14.0, 7.0)}
_BELOW_LANE, _BELOW_LOW_LANE = 11.0, 4.0  # pixels below the axis
# In lines of text: how high a lane must be for names of the usual size, and for room for the marks below its axis.
_CROWDED, _ROOMY = 1.17, 1.4
_DIVERGENCE_ABOVE = 5.0
_GAP, _WIDEST_NAME = 6.0, 0.2
_SHORTEST_LANE = 60  # pixels; where that much is not left, a lane has no words beside it
_BEYOND = 11.0  # what the handle, or a mark, takes beyond the end of a lane
_BACKGROUND_EVENTS = (
    QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.EnabledChange, QEvent.Type.Resize,
)  # fmt: skip


class TimelinePlot(QAbstractSlider):
    """A slider from 0 to the number of merges, with the value of each merge as a curve and ties as dots below.

    `describe` returns the text that is shown while the pointer is over a step.
    """

    def __init__(self, theme: Theme, describe: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._describe = describe
        self.values: Values = np.empty(0, dtype=np.float64)  # those of the merges shown, shape (n_merges,)
        self.ties = _NO_STEPS
        self.lanes: tuple[Lane, ...] = ()  # the compared runs, from top to bottom; empty if nothing is compared
        self.own = 0  # the lane of the run whose step is the value
        self.marks = PlotMarks()
        self.callout = ""  # the text beside the handle, or in the middle if there are no merges
        self._background: QPixmap | None = None
        self.hovered: int | None = None  # the step under the pointer
        self._wheel = 0
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.setMaximum(0)
        self.setPageStep(10)
        theme.changed.connect(self._redraw)

    # -- contents

    def set_curve(self, values: Values, ties: NDArray[Any]) -> None:
        """Show merges by the value of each, and by how many pairs shared it: 1 means no tie; both (n_merges,)."""
        self.values, self.ties = values, np.flatnonzero(ties > 1) + 1
        with QSignalBlocker(self):  # a shorter range would move the value, which the user did not ask for
            self.setMaximum(len(values))
        if self.hovered is not None and self.hovered > len(values):
            self.hovered = None
        self._redraw()

    def set_lanes(self, lanes: Sequence[Lane], own: int) -> None:
        """Draw these runs one below the other; a vocabulary size is at the same place in all."""
        before, self.lanes, self.own = len(self.lanes), tuple(lanes), own
        if len(lanes) != before:
            self.updateGeometry()
        self._redraw()

    def set_step(self, step: int) -> None:
        with QSignalBlocker(self):
            self.setValue(step)

    # -- geometry

    def sizeHint(self) -> QSize:
        return QSize(600, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, max(52, int(_LOW_TOP) + QFontMetrics(self._theme.font(-2)).height() * len(self.lanes)))

    def x_of(self, step: float) -> float:
        return float(self._xs_of(np.array([step]))[0])

    def step_at(self, x: float) -> int:
        left, right = self._edges
        place = (x - left) / max(right - left, 1.0)
        if self.lanes:
            lane, (first, last) = self.lanes[self.own], self._extent
            step = int(np.searchsorted(lane.sizes, round(first + place * (last - first)), side="right")) - 1
        else:
            step = round(place * self.maximum())
        return int(min(max(step, 0), self.maximum()))

    @cached_property  # measuring texts takes longer than all else at each place that is asked for
    def _edges(self) -> tuple[float, float]:
        """Where the axis begins and ends; beside it are the names of the lanes and what is said about them."""
        if not self.lanes:
            return _SIDE, self.width() - _SIDE
        bold, plain = (QFontMetrics(self._name_font(is_own=is_own)) for is_own in (True, False))
        widest = max(bold.horizontalAdvance(lane.name) for lane in self.lanes)
        text = max(plain.horizontalAdvance(lane.widest) for lane in self.lanes)
        left = _SIDE + bold.height() + min(widest, self.width() * _WIDEST_NAME) + 3 * _GAP
        right = self.width() - text - 2 * _GAP - _BEYOND
        return left, right if right > left + _SHORTEST_LANE else max(self.width() - _SIDE, left + 1)

    def _name_font(self, *, is_own: bool) -> QFont:
        font = QFont(self._theme.font(-2) if self._is_crowded else self.font())
        font.setBold(is_own)
        return font

    @property
    def _line(self) -> int:
        return QFontMetrics(self._name_font(is_own=True)).height()

    @property
    def _is_crowded(self) -> bool:
        return self.height() - self._top < _CROWDED * self.fontMetrics().height() * len(self.lanes)

    @property
    def _top(self) -> float:
        return _TOP if self.height() >= _LOW else _LOW_TOP

    @property
    def _extent(self) -> tuple[int, int]:
        """The vocabulary sizes at both ends of the lanes' axis."""
        return min(int(each.sizes[0]) for each in self.lanes), max(int(each.sizes[-1]) for each in self.lanes)

    def _xs_of(self, steps: NDArray[np.generic], lane: Lane | None = None) -> NDArray[np.float64]:
        """Return where steps lie; those of the run whose step is the value, or of another lane."""
        left, right = self._edges
        first, last = 0, self.maximum()
        places = np.asarray(steps, dtype=np.float64)
        if self.lanes:
            lane = self.lanes[self.own] if lane is None else lane
            first, last = self._extent
            whole = places.astype(np.int64)
            sizes, later = lane.sizes[whole], lane.sizes[np.minimum(whole + 1, len(lane.sizes) - 1)]
            places = sizes.astype(np.float64) + (places - whole) * (later - sizes)
        return left + (right - left) * (places - first) / max(last - first, 1)

    @property
    def _groove_y(self) -> float:
        return self._lane_room(self.own).bottom()

    def _lane_room(self, number: int) -> QRectF:
        """Return the room of the curve of a lane, or of the only curve; its bottom is the axis."""
        left, right = self._edges
        if not self.lanes:
            return QRectF(left, self._top, right - left, self.height() - _GROOVE_FROM_BOTTOM - self._top)
        top = _LOW_TOP if self._is_crowded else self._top
        high = (self.height() - top) / len(self.lanes)
        below = _BELOW_LANE if high >= _ROOMY * self.fontMetrics().height() else _BELOW_LOW_LANE
        return QRectF(left, top + number * high, right - left, high - below)

    # -- user input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if chooses(event, self):
            self.setValue(self.step_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        step = self.step_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.setValue(step)
        if step != self.hovered:
            self.hovered = step
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered = None
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """One notch is one step, ten with Ctrl; up and right move to later steps, as in every Qt slider."""
        turned = event.angleDelta()
        self._wheel += turned.y() if turned.y() else -turned.x()
        notches = int(self._wheel / 120)
        self._wheel -= notches * 120
        ten = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        self.setValue(self.value() + notches * (10 if ten else 1))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        pages = {  # unlike Qt's sliders: down is forward, as in the history
            Qt.Key.Key_PageUp: QAbstractSlider.SliderAction.SliderPageStepSub,
            Qt.Key.Key_PageDown: QAbstractSlider.SliderAction.SliderPageStepAdd,
        }
        if not is_alone(event):  # with Ctrl or Alt the keys belong to the window's actions
            event.ignore()
        elif (action := pages.get(Qt.Key(event.key()))) is not None:
            self.triggerAction(action)
        else:
            super().keyPressEvent(event)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.drawPixmap(0, 0, self._painted_background())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.lanes:
                self._paint_line(painter, self.value(), QPen(self._ink, 1.6))
                self._paint_lane_steps(painter)
            if self.maximum():
                self._paint_birth(painter)
                painter.setFont(self.font())
                self._paint_handle(painter)
                if self.callout:
                    self._paint_box(painter, self.value(), self.callout)
                if self.hovered is not None and self.isEnabled():
                    self._paint_line(painter, self.hovered, QPen(self._theme.muted, 1, Qt.PenStyle.DotLine))
                    self._paint_box(painter, self.hovered, self._describe(self.hovered))
            elif self.callout:
                painter.setPen(self._theme.muted)
                flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                painter.drawText(self.rect(), int(flags), self.callout)

    def event(self, event: QEvent) -> bool:
        if event.type() in _BACKGROUND_EVENTS:
            self._redraw()
        return super().event(event)

    def _redraw(self) -> None:
        self._background = None
        self.__dict__.pop("_edges", None)
        self.update()

    def _painted_background(self) -> QPixmap:
        if self._background is None:
            ratio = self.devicePixelRatioF()
            self._background = QPixmap(self.size() * ratio)
            self._background.setDevicePixelRatio(ratio)
            self._background.fill(self._theme.surface)
            with QPainter(self._background) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._paint_background(painter)
        return self._background

    def _paint_background(self, painter: QPainter) -> None:
        theme, marks, own = self._theme, self.marks, self._lane_room(self.own)
        for number, lane in enumerate(self.lanes):
            self._paint_lane(painter, lane, self._lane_room(number))
        if not self.lanes and self.maximum():  # else a text stands there
            paint_curve(painter, own, self._xs_of, QPen(theme.accent), theme.accent_soft, self.values)
            self._paint_groove(painter, own.bottom())
        paint_marks(painter, "tie", self._places(self.ties), self._below_axis("tie"), theme)
        paint_marks(painter, "change", self._places(marks.changes), self._below_axis("change"), theme)
        paint_marks(painter, "breakpoint", self._places(marks.breakpoints), own.bottom(), theme)
        paint_marks(painter, "note", self._places(marks.notes), own.top() + _NOTE_BELOW_TOP, theme)

    def _paint_groove(self, painter: QPainter, y: float) -> None:
        left, right = self._edges
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.border)
        painter.drawRect(QRectF(left, y - 0.5, right - left, 1))  # thin: marks on it must stand out

    def _paint_lane(self, painter: QPainter, lane: Lane, room: QRectF) -> None:
        color = self._theme.run_color(lane.run.color)
        ground = QColor(color)
        ground.setAlphaF(0.18)  # how opaque the area below the curve of a lane is
        if len(lane.values):
            xs = self._xs_of(np.array([0, len(lane.values)]), lane)
            curve_room = QRectF(xs[0], room.top(), xs[1] - xs[0], room.height())
            pen = QPen(color, 1, run_line(lane.run.color))
            paint_curve(painter, curve_room, lambda steps: self._xs_of(steps, lane), pen, ground, lane.values)
        self._paint_groove(painter, room.bottom())
        if lane.diverges_at is not None:
            xs = self._xs_of(np.array([min(lane.diverges_at, len(lane.values))]), lane)
            paint_marks(painter, "divergence", xs, room.bottom() - _DIVERGENCE_ABOVE, self._theme)
        line = self._line
        across = min(line, room.height() + 2)
        disc = QRectF(_SIDE, room.bottom() + 2 - across, across, across)
        paint_run_disc(painter, lane.run, disc, self._theme, QFont(self.font()))
        painter.setFont(self._name_font(is_own=lane is self.lanes[self.own]))
        painter.setPen(self._theme.text)
        place = QRectF(disc.right() + _GAP, disc.bottom() - line, room.left() - disc.right() - 2 * _GAP, line)
        name = painter.fontMetrics().elidedText(lane.name, Qt.TextElideMode.ElideRight, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), name)

    def _paint_lane_steps(self, painter: QPainter) -> None:
        theme = self._theme
        for number, lane in enumerate(self.lanes):
            room, is_own = self._lane_room(number), number == self.own
            if not is_own:
                painter.setPen(QPen(theme.surface, 1.5))
                painter.setBrush(theme.run_color(lane.run.color))
                x, across = float(self._xs_of(np.array([lane.step]), lane)[0]), 4 if self._is_crowded else 5.5
                painter.drawEllipse(QPointF(x, room.bottom()), across, across)
            painter.setPen(theme.text if is_own else theme.muted)
            painter.setFont(self._name_font(is_own=False))
            line, left = self._line, room.right() + _GAP
            said = QRectF(left, room.bottom() - line + 2, self.width() - left - _GAP, line)
            if painter.fontMetrics().horizontalAdvance(lane.words) <= said.width() + _GAP:
                painter.drawText(said, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), lane.words)

    def _below_axis(self, kind: MarkKind) -> float:
        """Return where marks below the axis lie: in a lane closer to it, and on it where it is full."""
        alone, in_lane = _BELOW_AXIS[kind]
        if not self.lanes:
            return self._groove_y + alone
        return self._groove_y + (0 if self._is_crowded else in_lane)

    def _places(self, steps: Steps) -> NDArray[np.float64]:
        """Return where these steps lie, at most one for every second pixel: float64, ascending."""
        steps = steps[: np.searchsorted(steps, self.maximum(), side="right")]
        ends = self._xs_of(np.array([0, self.maximum()]))
        columns = max(int(ends[1] - ends[0]), 2) // 2
        return self._xs_of(thinned(steps, self.maximum(), columns))

    def _paint_birth(self, painter: QPainter) -> None:
        birth = self.marks.birth
        if birth is None or birth > self.maximum():
            return
        x, room = self.x_of(birth), self._lane_room(self.own)
        painter.setPen(QPen(self._theme.accent_ink, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        paint_marks(painter, "birth", np.array([x]), self._below_axis("birth"), self._theme)

    @property
    def _ink(self) -> QColor:
        return self._theme.text if self.isEnabled() else self._theme.faint

    def _paint_line(self, painter: QPainter, step: int, pen: QPen) -> None:
        foot = self._lane_room(len(self.lanes) - 1).bottom() if self.lanes else self._groove_y
        painter.setPen(pen)
        painter.drawLine(QPointF(self.x_of(step), self._top - 4), QPointF(self.x_of(step), foot))

    def _paint_handle(self, painter: QPainter) -> None:
        x, color = self.x_of(self.value()), self._ink
        if not self.lanes:
            self._paint_line(painter, self.value(), QPen(color, 1.6))
        painter.setPen(QPen(self._theme.surface, 1.5))
        painter.setBrush(self._theme.run_color(self.lanes[self.own].run.color) if self.lanes else color)
        across = 6.0 if self.height() < _LOW else 7.5
        painter.drawEllipse(QPointF(x, self._groove_y), across, across)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(x, self._groove_y), across + 2, across + 2)

    def _paint_box(self, painter: QPainter, step: int, text: str) -> None:
        x, metrics = self.x_of(step), painter.fontMetrics()
        box = QRectF(0, self._top - 3, metrics.horizontalAdvance(text) + 14, metrics.height() + 6)
        fits = x + 8 + box.width() < self.width()
        box.moveLeft(max(x + 8 if fits else x - 8 - box.width(), 2))
        painter.setPen(QPen(self._theme.border, 1))
        painter.setBrush(self._theme.raised)
        painter.drawRect(box)
        painter.setPen(self._theme.text)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
