"""The canvas of a chart: two axes with a few ticks, a thin grid and room for curves; mouse events in axis coordinates.

It is independent of training. All text is plain: captions are painted here, axis ticks by pyqtgraph with the painter,
and labels beside curves are made by :meth:`Canvas.add_label`. Nothing here takes HTML.

No other module imports pyqtgraph: importing it takes a fifth of a second, so it is loaded with the first chart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QEvent, QMargins, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from wordpiece_studio.ui.widgets.theme import saved
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from wordpiece_studio.ui.widgets.theme import Colors

graph: Any = pyqtgraph
"""The module; it has no type hints."""
_GAP = 6
_RIGHT = 16.0
_LEAST = 40
_LOW_LINES = 9
_LABELS = 30
"""How high labels lie."""

Range = tuple[float, float]


class Label(graph.TextItem):  # type: ignore[misc]
    """A plain-text label kept inside the plot: it is moved to fit, and hidden where there is no room.

    It gives way to labels made before it, unless its own background lets it lie on top of them.
    """

    def __init__(self, canvas: Canvas) -> None:
        super().__init__()
        self._canvas = canvas
        self._wanted: tuple[float, float, float, float] | None = None
        self.rect = QRectF()  # where the letters are, in canvas pixels; empty while hidden
        self.hide()

    def write(self, text: str, x: float, y: float, across: float, down: float) -> None:
        """Write `text` at a point of the axes; `across` and `down` (0 to 1) say which part of the text lies there."""
        self.setText(text)
        self._wanted = x, y, across, down
        self.fit()

    def clear(self) -> None:
        self._wanted, self.rect = None, QRectF()
        self.hide()

    def fit(self) -> None:
        """Move into the plot at its current size."""
        if self._wanted is None:
            return
        x, y, across, down = self._wanted
        edge = self.textItem.document().documentMargin()  # no letter reaches into it
        text = self.textItem.boundingRect()
        place = self._canvas.place_of(x, y)
        corner = place - QPointF(across * text.width(), down * text.height())
        self.rect = self._free_room(QRectF(corner, text.size()).adjusted(edge, edge, -edge, -edge))
        self.setVisible(not self.rect.isEmpty())
        offset = place - self.rect.topLeft() + QPointF(edge, edge)
        self.setAnchor((offset.x() / text.width(), offset.y() / text.height()))
        self.setPos(x, y)

    def _free_room(self, wanted: QRectF) -> QRectF:
        """Return the free place nearest to the one wanted, or above labels already there; empty if there is none."""
        plot, has_ground = self._canvas.plot_rect(), self.fill.style() != Qt.BrushStyle.NoBrush
        taken = [] if has_ground else self._canvas.taken_before(self)
        left = min(max(wanted.left(), plot.left()), plot.right() - wanted.width())
        inside = min(max(wanted.top(), plot.top()), plot.bottom() - wanted.height())
        for top in (inside, *(each.top() - wanted.height() for each in taken)):
            room = QRectF(QPointF(left, top), wanted.size())
            if plot.contains(room) and not any(room.intersects(each) for each in taken):
                return room
        return QRectF()


class Canvas(QWidget):
    """A pair of axes that holds pyqtgraph items.

    Parameters
    ----------
    line_scale
        Factor for line widths, which do not grow by themselves when a picture is painted larger.

    Signals
    -------
    pointed(x, y), pressed(x, y)
        The pointer is over, or was pressed or dragged to, a point of the axes (float, float).
    left()
        The pointer has left.
    resized()
        The number of pixel columns has changed.
    """

    pointed = Signal(object, object)
    pressed = Signal(object, object)
    left = Signal()
    resized = Signal()

    def __init__(self, colors: Colors, parent: QWidget | None = None, *, line_scale: float = 1.0) -> None:
        super().__init__(parent)
        self.colors = colors
        self._line_scale = line_scale
        self._captions = ("", "")
        self._x_range: Range = (0.0, 1.0)
        self._y_range: Range = (0.0, 1.0)
        self._y_ticks: Ticks = []
        self._axis_width = 0.0
        self._items: list[Any] = []
        self._view = graph.GraphicsView(self, background=None)
        viewport = self._view.viewport()
        for part in (self._view, viewport):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        viewport.setMouseTracking(True)
        viewport.installEventFilter(self)
        self.box = graph.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0)
        self._grid = graph.PlotCurveItem(connect="pairs", antialias=False)
        self._left = graph.AxisItem("left", linkView=self.box, maxTickLength=0)
        self._bottom = graph.AxisItem("bottom", linkView=self.box, maxTickLength=0)
        layout = self._view.centralLayout
        layout.setSpacing(0)
        layout.setContentsMargins(0, 0, _RIGHT, 0)
        layout.addItem(self._left, 0, 0)
        layout.addItem(self.box, 0, 1)
        layout.addItem(self._bottom, 1, 1)
        for axis in (self._left, self._bottom):
            axis.setStyle(hideOverlappingLabels=60, tickTextOffset=4, maxTextLevel=0, tickAlpha=0)
        self._left.setStyle(hideOverlappingLabels=12)
        self.box.addItem(self._grid, ignoreBounds=True)
        self.restyle(colors)

    # -- contents

    @property
    def columns(self) -> int:
        """The width of the plot in pixels."""
        return max(int(self.plot_rect().width()), _LEAST)

    @property
    def rows(self) -> int:
        """The height of the plot in pixels."""
        return max(int(self.plot_rect().height()), _LEAST)

    def pen(self, color: QColor, width: float = 1, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> Any:
        """Return a pen for a line on the axes, `width` pixels wide whatever their range."""
        return graph.mkPen(color, width=width * self._line_scale, style=style)

    def add(self, item: Any, height: int = 0) -> Any:
        """Add an item to the axes, above those that lie lower, without changing their range; return it."""
        item.setZValue(height)
        self.box.addItem(item, ignoreBounds=True)
        self._items.append(item)
        return item

    def add_curve(self, height: int = 0) -> Any:
        return self.add(graph.PlotCurveItem(), height)

    def add_line(self, pen: Any, height: int) -> Any:
        return self.add(graph.InfiniteLine(angle=90, movable=False, pen=pen), height)

    def add_dots(self, color: QColor, pen: Any = None, height: int = 0) -> Any:
        dots = graph.ScatterPlotItem(useCache=False, antialias=True)
        dots.setBrush(graph.mkBrush(color))
        dots.setPen(graph.mkPen(pen))
        return self.add(dots, height)

    def add_bars(self, width: float, color: QColor, pen: Any = None) -> Any:
        bars = graph.BarGraphItem(x=[], height=[], width=width, brush=graph.mkBrush(color), pen=graph.mkPen(pen))
        return self.add(bars)

    def add_label(self, color: QColor, font: QFont, *, has_ground: bool = False) -> Label:
        label = Label(self)
        label.setColor(color)
        label.setFont(font)
        if has_ground:
            label.fill = graph.mkBrush(self.colors.surface)
        self.add(label, _LABELS)
        return label

    def taken_before(self, label: Label) -> list[QRectF]:
        """Return the rectangles of the labels made before this one."""
        labels = self._labels()
        return [each.rect for each in labels[: labels.index(label)]]

    def _labels(self) -> list[Label]:
        return [item for item in self._items if isinstance(item, Label)]

    def clear(self) -> None:
        for item in self._items:
            self.box.removeItem(item)
        self._items.clear()

    def set_captions(self, y: str, x: str) -> None:
        """Set the captions: above the vertical axis, and below the right end of the horizontal one."""
        if (y, x) != self._captions:
            self._captions = (y, x)
            self.update()

    def set_axes(self, x_range: Range, y_range: Range, x_ticks: Ticks, y_ticks: Ticks) -> None:
        self._x_range, self._y_range, self._y_ticks = x_range, y_range, y_ticks
        self.box.setRange(xRange=x_range, yRange=y_range, padding=0, disableAutoRange=True)
        self._bottom.setTicks([x_ticks])
        self._left.setTicks([y_ticks])
        self._fit_axes()
        inside = [place for place, _ in y_ticks if y_range[0] <= place <= y_range[1]]
        self._grid.setData(np.tile(x_range, len(inside)), np.repeat(np.array(inside, dtype=np.float64), 2))
        for label in self._labels():
            label.fit()

    def restyle(self, colors: Colors) -> None:
        """Apply new colors and the current font to all but the items."""
        self.colors = colors
        self._view.setBackground(QColor(colors.surface))
        self._grid.setPen(self.pen(colors.line))
        for axis in (self._left, self._bottom):
            axis.setPen(self.pen(colors.border))
            axis.setTextPen(graph.mkPen(colors.muted))
            axis.setStyle(tickFont=self.font())
        self._left.setPen(graph.mkPen(None))  # the grid is enough
        self._fit_axes()
        self._place_view()
        self.update()

    # -- geometry

    def plot_rect(self) -> QRectF:
        """Return the plot area, in pixels from the upper left corner."""
        top, bottom = self._strip_heights()
        height = self.height() - top - bottom - self._axis_height()
        return QRectF(self._axis_width, top, max(self.width() - self._axis_width - _RIGHT, 1.0), max(height, 1.0))

    def place_of(self, x: float, y: float) -> QPointF:
        """Return a point of the axes in pixels from the upper left corner."""
        rect = self.plot_rect()
        across = (x - self._x_range[0]) / (self._x_range[1] - self._x_range[0])
        up = (y - self._y_range[0]) / (self._y_range[1] - self._y_range[0])
        return QPointF(rect.left() + rect.width() * across, rect.bottom() - rect.height() * up)

    def _at(self, point: QPointF) -> tuple[float, float]:
        rect = self.plot_rect()
        across = (point.x() - rect.left()) / rect.width()
        up = (rect.bottom() - point.y()) / rect.height()
        x_range, y_range = self._x_range, self._y_range
        return x_range[0] + across * (x_range[1] - x_range[0]), y_range[0] + up * (y_range[1] - y_range[0])

    def _strip_heights(self) -> tuple[int, int]:
        line = int(QFontMetricsF(self.font()).height())
        return line + _GAP, 0 if self._is_low else line

    @property
    def _is_low(self) -> bool:
        """Whether there is no room for a caption below the horizontal axis; it then stands above the plot."""
        return self.height() < _LOW_LINES * QFontMetricsF(self.font()).height()

    def _axis_height(self) -> float:
        return QFontMetricsF(self.font()).height() + _GAP

    def _fit_axes(self) -> None:
        metrics = QFontMetricsF(self.font())
        width = max((metrics.horizontalAdvance(text) for _, text in self._y_ticks), default=10.0) + 2 * _GAP + 2
        if width != self._axis_width:
            self._axis_width = float(int(width))
            self._left.setWidth(self._axis_width)
        self._bottom.setHeight(self._axis_height())
        self._view.centralLayout.activate()  # otherwise it happens only after the next paint

    def _place_view(self) -> None:
        top, bottom = self._strip_heights()
        self._view.setGeometry(0, top, self.width(), max(self.height() - top - bottom, 1))

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._paint_captions(painter)

    def paint_on(self, painter: QPainter, place: QPointF) -> None:
        """Paint everything with another painter (for a picture), with the upper left corner at `place`."""
        with saved(painter):
            painter.translate(place)
            painter.setFont(self.font())
            self._paint_captions(painter)
            source = self._view.viewport().rect()
            self._view.render(painter, QRectF(self._view.geometry()), source, Qt.AspectRatioMode.IgnoreAspectRatio)

    def _paint_captions(self, painter: QPainter) -> None:
        top, bottom = self._strip_heights()
        y_caption, x_caption = self._captions
        painter.setPen(QPen(self.colors.muted))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        room = self.rect() - QMargins(_GAP, 0, int(_RIGHT), 0)
        upper = QRect(room.left(), 0, room.width(), top)
        lower = upper if self._is_low else QRect(room.left(), self.height() - bottom, room.width(), bottom)
        x_text = f"{x_caption} →" if self._is_low else x_caption
        painter.drawText(lower, int(flags | Qt.AlignmentFlag.AlignRight), x_text)
        metrics = QFontMetricsF(self.font())
        left = room.width() - (metrics.horizontalAdvance(x_text) + 2 * _GAP if self._is_low else 0)
        y_text = metrics.elidedText(y_caption, Qt.TextElideMode.ElideRight, left)
        painter.drawText(upper, int(flags | Qt.AlignmentFlag.AlignLeft), y_text)

    # -- events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_view()
        self.resized.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep mouse events from pyqtgraph, which would pan, zoom and open menus."""
        kind = event.type()
        if kind == QEvent.Type.Leave:
            self.left.emit()
        elif isinstance(event, QMouseEvent):
            place = self._at(event.position() + QPointF(self._view.pos()))
            if event.buttons() & Qt.MouseButton.LeftButton:
                self.pressed.emit(*place)
            elif kind == QEvent.Type.MouseMove:
                self.pointed.emit(*place)
            return True
        if kind in (QEvent.Type.Wheel, QEvent.Type.ContextMenu):
            event.ignore()  # for the scroll area around the pane
            return True
        return False


Ticks = list[tuple[float, str]]
"""(position on the axis, text) in ascending order."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def linear_ticks(low: float, high: float, most: int, *, whole: bool = False) -> Ticks:
    """Return at most `most` ticks between two numbers, 1, 2 or 5 times a power of ten apart.

    `whole`: no fractions.

    >>> linear_ticks(0, 25, 6, whole=True)
    [(0.0, '0'), (5.0, '5'), (10.0, '10'), (15.0, '15'), (20.0, '20'), (25.0, '25')]
    """
    if not high > low:
        return [(low, short_text(low))]
    power = 10.0 ** (math.floor(math.log10(high - low)) - 2)
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000):
        distance = max(power * factor, 1.0) if whole else power * factor
        first, last = math.ceil(low / distance - 1e-9), math.floor(high / distance + 1e-9)
        if last - first < most:
            break
    decimals = max(0, -math.floor(math.log10(distance) + 1e-9))
    size, unit = _unit(high)
    texts = (short_text(round(n * distance, decimals) / size, decimals) + unit for n in range(first, last + 1))
    return [(n * distance, "0" if not n else text) for n, text in zip(range(first, last + 1), texts, strict=True)]


def log_ticks(low: float, high: float, most: int) -> Ticks:
    """Return at most about `most` ticks at round numbers between two powers of ten, given as exponents.

    >>> log_ticks(0, 3, 4)
    [(0.0, '1'), (1.0, '10'), (2.0, '100'), (3.0, '1,000')]
    """
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 2 or last - first + 1 >= most:
        every = max(1, math.ceil((last - first + 1) / max(most, 1)))
        return [(float(n), power_text(n)) for n in range(first, last + 1) if n % every == 0]
    for factors in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [(n + math.log10(factor), factor * 10.0**n) for n in range(first - 1, last + 1) for factor in factors]
        ticks = [(place, _round_text(value)) for place, value in values if low <= place <= high]
        if len(ticks) <= most and len(ticks) > 1:
            return ticks
    return _linear_log_ticks(low, high, most)


def _linear_log_ticks(low: float, high: float, most: int) -> Ticks:
    """Return ticks for a logarithmic axis shorter than about a decade: evenly spaced round numbers."""
    marks = linear_ticks(10.0**low, 10.0**high, most)
    return [(math.log10(value), _round_text(value)) for value, _ in marks if value > 0]


def power_text(exponent: int) -> str:
    """Return a power of ten as a plain number, or in exponent form where that would be long.

    >>> power_text(2), power_text(-2), power_text(-7)
    ('100', '0.01', '10⁻⁷')
    """
    if -3 <= exponent <= 3:
        return _round_text(10.0**exponent)
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def _round_text(value: float) -> str:
    """Return a round number without needless zeros.

    >>> _round_text(0.5), _round_text(0.02), _round_text(2000.0)
    ('0.5', '0.02', '2,000')
    """
    if value >= 1 and round(value) == value:
        return short_text(value)
    return f"{value:.6g}"


def short_text(value: float, decimals: int = 0) -> str:
    """Return a number as an axis shows it: large ones in thousands (k), millions (M) or billions (G).

    >>> short_text(9000), short_text(20000), short_text(2500000), short_text(0.5, 1)
    ('9,000', '20 k', '2.5 M', '0.5')
    """
    if decimals:
        return f"{value:.{decimals}f}"
    size, unit = _unit(value)
    if size == 1:
        return number_text(round(value)) if round(value) == value else _round_text(value)
    return _round_text(value / size) + unit


def _unit(value: float) -> tuple[float, str]:
    """Return the unit in which numbers of this size are written, and its symbol."""
    if abs(value) < 10_000:
        return 1.0, ""
    return next((size, f" {sign}") for size, sign in _UNITS if abs(value) >= size)
