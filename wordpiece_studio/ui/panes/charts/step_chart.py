"""A chart over the steps of the training: the current step is an upright line on it, and a press moves it.

Subclasses say which curves there are. The birth of the focused token is marked with a dashed line and a diamond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from wordpiece_studio.ui.panes.charts.chart import Chart
from wordpiece_studio.ui.panes.charts.graph import graph
from wordpiece_studio.ui.panes.charts.ticks import linear_ticks
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QColor, QKeyEvent

    from wordpiece_studio.session.chart_source import Curve
    from wordpiece_studio.ui.panes.charts.canvas import Range
    from wordpiece_studio.ui.panes.charts.ticks import Ticks

    Point = tuple[float, float]

_FEW = 60
"""Up to this many merges each of them has a dot."""
_LONG = 200
_TEN = 10


class StepChart(Chart):
    """Curves over steps, the current step, the pointer and the birth of the focused token."""

    def _make_items(self) -> None:
        self._step_line = graph.InfiniteLine(angle=90, movable=False)
        self._birth_line = graph.InfiniteLine(angle=90, movable=False)
        self._hover_line = graph.InfiniteLine(angle=90, movable=False)
        self._step_dots = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._birth_dots = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._birth_label = self.canvas.add_label()
        for height, item in enumerate(self._marks(), start=10):
            item.setZValue(height)
            self.canvas.add(item)

    def _marks(self) -> tuple[Any, ...]:
        return self._hover_line, self._birth_line, self._step_line, self._birth_dots, self._step_dots

    def _restyle_items(self) -> None:
        colors = self.canvas.colors
        self._hover_line.setPen(self.canvas.pen(colors.muted, 1, Qt.PenStyle.DotLine))
        self._birth_line.setPen(self.canvas.pen(colors.accent_ink, 1, Qt.PenStyle.DashLine))
        self._step_line.setPen(self.canvas.pen(colors.text, 1))
        edge = self.canvas.pen(colors.surface, 1.5)
        self._step_dots.setBrush(graph.mkBrush(colors.text))
        self._step_dots.setPen(edge)
        self._birth_dots.setBrush(graph.mkBrush(colors.surface))
        self._birth_dots.setPen(self.canvas.pen(colors.accent_ink, 1.6))
        self._birth_label.setColor(colors.accent_ink)
        self._birth_label.fill = graph.mkBrush(colors.surface)
        self._birth_label.setFont(self.font())

    # -- what subclasses write

    def place_of(self, step: int) -> float:
        """Return where a step lies on the lower axis."""
        return float(step)

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place of the lower axis."""
        return min(max(round(x), 0), self.source.count)

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the places on the curves that belong to a step, as the axes count."""
        raise NotImplementedError

    def figures_at(self, step: int) -> str:
        """Return what the curves say of a step, in one line."""
        raise NotImplementedError

    # -- marks

    def draw_marks(self) -> None:
        """Put the lines and dots where they belong."""
        step, focused = self.source.step, self.source.focused
        self._step_line.setPos(self.place_of(step))
        dots = self.points_at(step)
        self._step_dots.setData(pos=dots, symbol=["o", "s"][: len(dots)], size=10)
        self._hover_line.setVisible(self.hovered is not None)
        if self.hovered is not None:
            self._hover_line.setPos(self.place_of(self.step_at(self.hovered)))
        is_born = focused is not None and focused.birth > 0
        for item in (self._birth_line, self._birth_dots):
            item.setVisible(is_born)
        self._birth_label.clear()
        if focused is not None and is_born:
            self._mark_birth(focused.text, focused.birth)

    def _mark_birth(self, token: str, step: int) -> None:
        x = self.place_of(step)
        self._birth_line.setPos(x)
        self._birth_dots.setData(pos=self.points_at(step), symbol="d", size=12)
        (left, right), (low, high) = self.x_range(), self.y_range()
        across = (x - left) / (right - left)
        is_low = self.is_label_low(across)
        height, down = (low, 1) if is_low else (high, 0)
        self._birth_label.write(token_text(token, 24), x, height, 0 if across < 0.5 else 1, down)

    def is_label_low(self, across: float) -> bool:
        """Tell whether the token's text stands below, for a birth at this part of the width; else above."""
        return False

    def x_range(self) -> Range:
        """Return the part of the lower axis that is shown."""
        first, last = self.place_of(0), self.place_of(self.source.count)
        margin = max((last - first) * 0.012, 1e-9)
        return first - margin, last + margin

    def y_range(self) -> Range:
        """Return the part of the upright axis that is shown."""
        raise NotImplementedError

    def x_ticks(self) -> Ticks:
        """Return the marks of the lower axis, as many as there is room for."""
        low, high = self.place_of(0), self.place_of(self.source.count)
        return linear_ticks(low, high, self.x_marks, whole=True)

    @property
    def has_dots(self) -> bool:
        """Whether each merge has a dot of its own."""
        return self.source.count <= _FEW

    def draw_curve(self, item: Any, curve: Curve, color: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        """Give a curve its points; upright lines by the hundred are not smoothed, which would take Qt long.

        A smooth polyline of a thousand points takes it 20 ms, its pieces one by one 3 ms; few points have neat corners.
        """
        is_long = len(curve.x) > _LONG and style is Qt.PenStyle.SolidLine
        item.setSegmentedLineMode("on" if is_long else "off")
        item.setVisible(len(curve.x) > 1)  # a line of one point would be an empty path in a drawing
        pen = self.canvas.pen(color, 1 if curve.is_columns else 1.8, style)
        connect = "pairs" if curve.is_columns else "all"
        item.setData(curve.x, curve.y, pen=pen, connect=connect, antialias=not curve.is_columns)

    # -- what is said

    def figures(self) -> str:
        """Return the figures of the step pointed at, or of the current step."""
        return self.figures_at(self.source.step if self.hovered is None else self.step_at(self.hovered))

    def summary(self) -> str:
        """Return the name of the chart and the figures at the step, and where the focused token was born."""
        merges = self.tr("{title}, {count} merges, now step {step}: {figures}")
        count, step = self.source.count, self.source.step
        said = merges.format(
            title=self.title(), count=number_text(count), step=number_text(step), figures=self.figures_at(step)
        )
        focused = self.source.focused
        if focused is not None and focused.birth:
            born = self.tr("{token} was born at step {step}.")
            said += ". " + born.format(token=token_text(focused.text), step=number_text(focused.birth))
        return said

    # -- the user's hand

    def _choose(self, x: float) -> None:
        self.step_chosen.emit(self.step_at(x))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        now, last = self.source.step, self.source.count
        steps = {
            Qt.Key.Key_Left: now - 1,
            Qt.Key.Key_Right: now + 1,
            Qt.Key.Key_PageUp: now - _TEN,
            Qt.Key.Key_PageDown: now + _TEN,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or event.modifiers() not in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            event.ignore()
        else:
            self.step_chosen.emit(min(max(step, 0), last))
