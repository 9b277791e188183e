"""The slider of the timeline, drawn over the value curve of all merges, with marks on its axis.

Compared runs have a lane each, one below the other, along one axis of vocabulary sizes.

A real ``QAbstractSlider``: range, value, keys and accessibility come from Qt; painting and mouse handling are ours. It
is given arrays, and ``valueChanged`` reports the step that the user chose; it has no access to model or history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QWidget

from wordpiece_studio.session.chart_source import thinned
from wordpiece_studio.ui.panes.timeline.timeline_marks import (
    PlotMarks,
    paint_box,
    paint_curve,
    paint_marks,
)
from wordpiece_studio.ui.widgets.fields import is_alone
from wordpiece_studio.ui.widgets.theme import run_line
from wordpiece_studio.ui.widgets.token_text import paint_run_disc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from wordpiece_studio.ui.panes.timeline.timeline_marks import Lane, Values
    from wordpiece_studio.ui.widgets.theme import Theme

_SIDE = 14.0
_TOP = 17.0
_GROOVE_FROM_BOTTOM = 24.0
_NOTE_BELOW_TOP = 5.0
_TIES_BELOW, _CHANGES_BELOW, _BIRTH_BELOW = 8.0, 17.0, 14.0
_BELOW_LOW_LANE, _LEAST_CURVE, _LEAST_LANE = 5.0, 15.0, 14
_CROWDED, _CROWDED_TOP = 20.0, 8.0
"""In lanes lower than this, names are small and marks lie on the axis: else those of two lanes would touch."""
_TIES_BELOW_LANE, _CHANGES_BELOW_LANE, _BIRTH_BELOW_LANE = 4.0, 7.5, 7.0
_BETWEEN_TOKENS = 5.0
_PARTING_ABOVE = 5.0
_DISC, _GAP, _WIDEST_NAME = 16.0, 6.0, 0.2
_GROUND = 0.18  # how opaque the area below the curve of a lane is
_BACKGROUND_EVENTS = (QEvent.Type.FontChange, QEvent.Type.PaletteChange, QEvent.Type.EnabledChange)


class TimelinePlot(QAbstractSlider):
    """A slider from 0 to the number of merges, with the value of each merge as a curve and ties as dots below.

    Parameters
    ----------
    describe
        Returns the line of text shown while the pointer is over a step, given the step's number.
    """

    def __init__(self, theme: Theme, describe: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._describe = describe
        self.values: Values = np.empty(0, dtype=np.float64)  # those of the merges shown, shape (n_merges,)
        self.ties: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.lanes: tuple[Lane, ...] = ()  # the compared runs, from top to bottom; empty if nothing is compared
        self.own = 0  # the lane of the run whose step is the value
        self.lane_steps: tuple[tuple[int, str], ...] = ()  # that of each lane, and what its vocabulary is there
        self._is_stretched = False
        self._beside: tuple[float, float] | None = None  # the room for names and texts beside the lanes
        self._token_line: float | None = None  # how high the names of tokens below a lane are
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
        self.blockSignals(True)  # a shorter range would move the value, which the user did not ask for
        self.setMaximum(len(values))
        self.blockSignals(False)
        self._redraw()

    def set_lanes(self, lanes: Sequence[Lane], own: int, *, is_stretched: bool) -> None:
        """Draw these runs one below the other.

        Parameters
        ----------
        own
            The lane of the run whose step is the value; its values are `values`.
        is_stretched
            Whether each lane ends at the right edge; otherwise a vocabulary size is at the same place in all.
        """
        before, self.lanes = len(self.lanes), tuple(lanes)
        self.own, self._is_stretched = own, is_stretched
        if len(lanes) != before:
            self.updateGeometry()
        self._redraw()

    def set_step(self, step: int) -> None:
        """Move the handle to this step without emitting a signal."""
        self.blockSignals(True)
        self.setValue(step)
        self.blockSignals(False)

    # -- geometry

    def sizeHint(self) -> QSize:
        return QSize(600, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, max(66, int(_TOP) + _LEAST_LANE * len(self.lanes)))

    def x_of(self, step: float) -> float:
        """Return where a step lies, in pixels from the left edge."""
        return float(self._xs_of(np.array([step]))[0])

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place, in pixels from the left edge."""
        left, right = self._edges
        place = (x - left) / max(right - left, 1.0)
        if self.lanes:
            lane = self.lanes[self.own]
            first, last = self._extent(lane)
            step = int(np.searchsorted(lane.sizes, round(first + place * (last - first)), side="right")) - 1
        else:
            step = round(place * self.maximum())
        return int(min(max(step, 0), self.maximum()))

    @property
    def _edges(self) -> tuple[float, float]:
        """Where the axis begins and ends; beside it are the names of the lanes and what is said about them."""
        if not self.lanes:
            return _SIDE, self.width() - _SIDE
        if self._beside is None:
            bold, plain = (QFontMetrics(self._name_font(is_own=is_own)) for is_own in (True, False))
            widest = max(bold.horizontalAdvance(lane.name) for lane in self.lanes)
            text = max(plain.horizontalAdvance(lane.widest) for lane in self.lanes)
            self._beside = _DISC + min(widest, self.width() * _WIDEST_NAME) + 3 * _GAP, text + 2 * _GAP
        names, texts = self._beside
        return _SIDE + names, max(self.width() - texts, _SIDE + names + 1)

    def _name_font(self, *, is_own: bool) -> QFont:
        font = QFont(self._theme.font(-2) if self._is_crowded else self.font())
        font.setBold(is_own)
        return font

    @property
    def _is_crowded(self) -> bool:
        return bool(self.lanes) and self.height() - _TOP < _CROWDED * len(self.lanes)

    def _extent(self, lane: Lane) -> tuple[int, int]:
        """Return the vocabulary sizes at the edges of the axis."""
        lanes = [lane] if self._is_stretched else self.lanes
        return min(int(each.sizes[0]) for each in lanes), max(int(each.sizes[-1]) for each in lanes)

    def _xs_of(self, steps: NDArray[np.generic], lane: Lane | None = None) -> NDArray[np.float64]:
        """Return where steps lie; those of the run whose step is the value, or of another lane."""
        left, right = self._edges
        first, last = 0, self.maximum()
        places = np.asarray(steps, dtype=np.float64)
        if self.lanes:
            lane = self.lanes[self.own] if lane is None else lane
            first, last = self._extent(lane)
            whole = places.astype(np.int64)
            sizes, later = lane.sizes[whole], lane.sizes[np.minimum(whole + 1, len(lane.sizes) - 1)]
            places = sizes.astype(np.float64) + (places - whole) * (later - sizes)
        return left + (right - left) * (places - first) / max(last - first, 1)

    @property
    def _groove_y(self) -> float:
        return self._lane_room(self.own).bottom() if self.lanes else self.height() - _GROOVE_FROM_BOTTOM

    @property
    def _top(self) -> float:
        return self._lane_room(self.own).top() if self.lanes else _TOP

    def _lane_room(self, number: int) -> QRectF:
        """Return the room of the curve of a lane, whose bottom is its axis."""
        left, right = self._edges
        top = _CROWDED_TOP if self._is_crowded else _TOP
        high = (self.height() - top) / len(self.lanes)
        return QRectF(left, top + number * high, right - left, high - self._below_lane(high))

    def _below_lane(self, high: float) -> float:
        """Return how much of a lane so high is below its axis: the names of tokens, if there is room for them."""
        if self._token_line is None:
            self._token_line = float(QFontMetrics(self._theme.font(-2)).height())
        return self._token_line if high >= _LEAST_CURVE + self._token_line else _BELOW_LOW_LANE

    # -- user input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        self.setSliderDown(True)
        self.setValue(self.step_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        step = self.step_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.setValue(step)
        if step != self.hovered:
            self.hovered = step
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(False)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered = None
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """One notch is one step, ten with Ctrl; up and right move to later steps, as in every Qt slider."""
        turned = event.angleDelta()
        self._wheel += turned.y() if turned.y() else -turned.x()
        notches, self._wheel = int(self._wheel / 120), self._wheel - int(self._wheel / 120) * 120
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
            if self._background is None:
                self._background = self._painted_background()
            painter.drawPixmap(0, 0, self._background)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.lanes:
                self._paint_cursor(painter)
                self._paint_lane_steps(painter)
            if self.maximum():
                self._paint_birth(painter)
                painter.setFont(self.font())
                self._paint_handle(painter)
                if self.callout:
                    self._paint_box(painter, self.value(), self.callout)
                if self.hovered is not None and self.isEnabled():
                    self._paint_hover(painter, self.hovered)
            elif self.callout:
                painter.setPen(self._theme.muted)
                flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                painter.drawText(self.rect(), int(flags), self.callout)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._redraw()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in _BACKGROUND_EVENTS:
            self._redraw()
        super().changeEvent(event)

    def sliderChange(self, change: QAbstractSlider.SliderChange) -> None:
        """Forget a step that no longer exists when the range shrinks."""
        super().sliderChange(change)
        is_shorter = self.hovered is not None and self.hovered > self.maximum()
        if change == QAbstractSlider.SliderChange.SliderRangeChange and is_shorter:
            self.hovered = None

    def _redraw(self) -> None:
        self._background = self._beside = self._token_line = None
        self.update()

    def _painted_background(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(self._theme.surface)
        with QPainter(pixmap) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_background(painter)
            self._paint_marks(painter)
        return pixmap

    def _paint_background(self, painter: QPainter) -> None:
        theme, left, right = self._theme, *self._edges
        for number, lane in enumerate(self.lanes):
            self._paint_lane(painter, lane, self._lane_room(number))
        if not self.lanes and len(self.values):
            room = QRectF(left, _TOP, right - left, self._groove_y - _TOP)
            paint_curve(painter, room, self._xs_of, QPen(theme.accent), theme.accent_soft, self.values)
        if not self.lanes:
            self._paint_groove(painter, self._groove_y)
        if len(self.values):
            below = self._below_axis(_TIES_BELOW, _TIES_BELOW_LANE)
            paint_marks(painter, "tie", self._places(self.ties), below, theme)

    def _paint_groove(self, painter: QPainter, y: float) -> None:
        left, right = self._edges
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.border)
        painter.drawRoundedRect(QRectF(left, y - 1.5, right - left, 3), 1.5, 1.5)

    def _paint_lane(self, painter: QPainter, lane: Lane, room: QRectF) -> None:
        color = self._theme.run_color(lane.run.color)
        ground = QColor(color)
        ground.setAlphaF(_GROUND)
        if len(lane.values):
            xs = self._xs_of(np.array([0, len(lane.values)]), lane)
            curve_room = QRectF(xs[0], room.top(), xs[1] - xs[0], room.height())
            pen = QPen(color, 1.6, run_line(lane.run.color))
            paint_curve(painter, curve_room, lambda steps: self._xs_of(steps, lane), pen, ground, lane.values)
        self._paint_groove(painter, room.bottom())
        if lane.parting is not None:
            parting = self._xs_of(np.array([min(lane.parting, len(lane.values))]), lane)
            paint_marks(painter, "parting", parting, room.bottom() - _PARTING_ABOVE, self._theme)
        across = min(_DISC, room.height() + 2)
        disc = QRectF(_SIDE, room.bottom() + 2 - across, across, across)
        paint_run_disc(painter, lane.run, disc, self._theme, QFont(self.font()))
        painter.setFont(self._name_font(is_own=lane is self.lanes[self.own]))
        painter.setPen(self._theme.text)
        place = QRectF(disc.right() + _GAP, disc.bottom() - _DISC, room.left() - disc.right() - 2 * _GAP, _DISC)
        name = painter.fontMetrics().elidedText(lane.name, Qt.TextElideMode.ElideRight, int(place.width()))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), name)

    def _paint_lane_steps(self, painter: QPainter) -> None:
        """Draw the step of each run, name the tokens below the axis, and say how large the vocabulary is."""
        theme = self._theme
        for number, (lane, (step, words)) in enumerate(zip(self.lanes, self.lane_steps, strict=False)):
            room, is_own = self._lane_room(number), number == self.own
            self._paint_tokens(painter, lane, step, room)
            if not is_own:
                painter.setPen(QPen(theme.surface, 1.5))
                painter.setBrush(theme.run_color(lane.run.color))
                x, across = float(self._xs_of(np.array([step]), lane)[0]), 4 if self._is_crowded else 5.5
                painter.drawEllipse(QPointF(x, room.bottom()), across, across)
            painter.setPen(theme.text if is_own else theme.muted)
            painter.setFont(self._name_font(is_own=False))
            said = QRectF(room.right() + _GAP, room.bottom() - _DISC + 2, self.width() - room.right() - 2 * _GAP, _DISC)
            painter.drawText(said, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), words)

    def _paint_tokens(self, painter: QPainter, lane: Lane, step: int, room: QRectF) -> None:
        if not self._names_tokens(lane):
            return
        painter.setFont(self._theme.font(-2))
        metrics, right = painter.fontMetrics(), room.left() - room.width()
        places = self._xs_of(np.arange(1, len(lane.tokens) + 1), lane).tolist()
        for born, (token, x) in enumerate(zip(lane.tokens, places, strict=True), start=1):
            width = metrics.horizontalAdvance(token)
            if x - width / 2 >= right + _BETWEEN_TOKENS:
                right = x + width / 2
                painter.setPen(self._theme.text if born <= step else self._theme.faint)
                place = QRectF(x - width / 2 - 1, room.bottom() + 1, width + 2, metrics.height())
                if born == step:  # the cursor must not strike it through
                    painter.fillRect(place.adjusted(0, 3, 0, -1), self._theme.surface)
                painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), token)

    def _names_tokens(self, lane: Lane) -> bool:
        room = self._lane_room(0)
        return bool(lane.tokens) and self._lane_room(1).top() - room.bottom() > _BELOW_LOW_LANE

    def _below_axis(self, offset: float, in_lane: float) -> float:
        """Return where marks below the axis lie: in a lane closer to it, and on it where it is full."""
        if not self.lanes:
            return self._groove_y + offset
        is_full = self._is_crowded or self._names_tokens(self.lanes[self.own])
        return self._groove_y + (0 if is_full else in_lane)

    def _paint_marks(self, painter: QPainter) -> None:
        marks, groove, theme = self.marks, self._groove_y, self._theme
        below = self._below_axis(_CHANGES_BELOW, _CHANGES_BELOW_LANE)
        paint_marks(painter, "change", self._places(marks.changes), below, theme)
        paint_marks(painter, "breakpoint", self._places(marks.breakpoints), groove, theme)
        paint_marks(painter, "note", self._places(marks.notes), self._top + _NOTE_BELOW_TOP, theme)

    def _places(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return where these steps lie, at most one for every second pixel: float64, ascending."""
        steps = steps[: np.searchsorted(steps, self.maximum(), side="right")]
        ends = self._xs_of(np.array([0, self.maximum()]))
        columns = max(int(ends[1] - ends[0]), 2) // 2
        return self._xs_of(thinned(steps, self.maximum(), columns))

    def _paint_birth(self, painter: QPainter) -> None:
        birth = self.marks.birth
        if birth is None or birth > self.maximum():
            return
        x, below = self.x_of(birth), self._below_axis(_BIRTH_BELOW, _BIRTH_BELOW_LANE)
        painter.setPen(QPen(self._theme.accent_ink, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, self._top), QPointF(x, self._groove_y))
        paint_marks(painter, "birth", np.array([x]), below, self._theme)

    @property
    def _ink(self) -> QColor:
        return self._theme.text if self.isEnabled() else self._theme.faint

    def _paint_cursor(self, painter: QPainter) -> None:
        x = self.x_of(self.value())
        painter.setPen(QPen(self._ink, 1.6))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self._foot))

    def _paint_handle(self, painter: QPainter) -> None:
        x, color = self.x_of(self.value()), self._ink
        if not self.lanes:
            self._paint_cursor(painter)
        painter.setPen(QPen(self._theme.surface, 1.5))
        painter.setBrush(self._theme.run_color(self.lanes[self.own].run.color) if self.lanes else color)
        across = 6.0 if self._is_crowded else 7.5
        painter.drawEllipse(QPointF(x, self._groove_y), across, across)
        if self.hasFocus():
            painter.setPen(QPen(self._theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(x, self._groove_y), across + 2, across + 2)

    @property
    def _foot(self) -> float:
        """Where the cursor ends: through all lanes if a size is at the same place in them."""
        is_through = self.lanes and not self._is_stretched
        return self._lane_room(len(self.lanes) - 1).bottom() if is_through else self._groove_y

    def _paint_hover(self, painter: QPainter, step: int) -> None:
        x = self.x_of(step)
        painter.setPen(QPen(self._theme.muted, 1, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, _TOP - 4), QPointF(x, self._foot))
        self._paint_box(painter, step, self._describe(step))

    def _paint_box(self, painter: QPainter, step: int, text: str) -> None:
        paint_box(painter, QPointF(self.x_of(step), _TOP - 3), text, self.width(), self._theme)
