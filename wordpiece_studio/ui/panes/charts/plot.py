"""The one plot: two axes with a few ticks, a thin grid and any shapes; and the widget and the images that show a chart.

All text is plain. For papers and slides, charts are drawn again at the size of the image; not by pyqtgraph's own SVG
exporter, which fails with Qt 6.12. No other module imports pyqtgraph: it is loaded with the first chart, as it takes a
fifth of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QBuffer, QByteArray, QEvent, QIODevice, QMargins, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QImageWriter, QMouseEvent, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.charts.chart import (
    BAR_WIDTH,
    Axis,
    Band,
    Bars,
    Dots,
    Drawing,
    Label,
    Line,
    Room,
    Rule,
    Stroke,
)
from wordpiece_studio.ui.widgets.fields import is_alone, keep_keys
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import FittingLabel, plain_label, set_plain_text, set_plain_tooltip, shown
from wordpiece_studio.ui.widgets.theme import LIGHT, bold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent

    from wordpiece_studio.session.chart_source import ChartSource
    from wordpiece_studio.ui.panes.charts.chart import Chart, Shape
    from wordpiece_studio.ui.widgets.theme import Colors

graph: Any = pyqtgraph  # the module; it has no type hints
_GAP = 6
_RIGHT = 16.0
_LEAST = 40
_LOW_LINES = 9
_SIDE = 6
# In lines of text: the minimum height of a chart, and the height from which it shows its line of figures.
_LEAST_LINES, _READOUT_LINES = 4, 6
_LONG = 200
_MARKS = 100  # how high marks lie above shapes
# How many of a shape's fields are data; the others say how it looks.
_DATA = {Line: 1, Band: 1, Dots: 2, Bars: 3, Rule: 1, Label: 5}


class _Layer:
    """The items of pyqtgraph that show shapes; while these look the same, items only move, which costs less."""

    def __init__(self, plot: Plot, height: int) -> None:
        self._plot, self._height = plot, height
        self.items: list[Any] = []
        self._looks: list[tuple[object, ...]] = []
        self.shapes: Sequence[Shape] = ()

    def show(self, shapes: Sequence[Shape]) -> None:
        looks = [(type(shape), *shape[_DATA[type(shape)] :]) for shape in shapes]
        if looks != self._looks:
            self.clear()
            self._looks = looks
            for height, shape in enumerate(shapes, self._height):
                item = self._made(shape)
                item.setZValue(height)
                self._plot.box.addItem(item, ignoreBounds=True)
                self.items.append(item)
        self.shapes = shapes
        for item, shape in zip(self.items, shapes, strict=True):
            _move(item, shape)

    def clear(self) -> None:
        for item in self.items:
            self._plot.box.removeItem(item)
        self.items, self._looks, self.shapes = [], [], ()

    def _made(self, shape: Shape) -> Any:
        pen, color = self._plot.pen, self._plot.color
        match shape:
            case Line():
                return graph.PlotCurveItem(pen=pen(shape.stroke))
            case Band():
                return graph.PlotCurveItem(pen=None, brush=color(shape.color), fillLevel="enclosed")
            case Rule():
                return graph.InfiniteLine(angle=90, pen=pen(shape.stroke))
            case Label():
                label = graph.TextItem(color=color(shape.color), fill=color("surface"))
                label.setFont(self._plot.font())
                return label
        looks = {"pen": pen(shape.edge), "brush": graph.mkBrush(color(shape.color))}
        if isinstance(shape, Dots):
            return graph.ScatterPlotItem(**looks, symbol=shape.symbol, size=shape.size, useCache=False, antialias=True)
        return graph.BarGraphItem(**looks, x=[], height=[], width=BAR_WIDTH)


def _move(item: Any, shape: Shape) -> None:
    match shape:
        case Line((x, y, is_columns), stroke):
            # An antialiased polyline of a thousand points takes Qt 20 ms, its segments one by one 3 ms; a polyline of
            # few points has neater corners. Hundreds of vertical lines would be slow if antialiased.
            is_long = len(x) > _LONG and stroke.style is Qt.PenStyle.SolidLine
            item.setSegmentedLineMode("on" if is_long else "off")
            item.setVisible(len(x) > 1)  # a line of one point would be an empty path in an SVG file
            item.setData(x, y, connect="pairs" if is_columns else "all", antialias=not is_columns)
        case Band((x, y, _)):
            item.setData(x, y)
        case Dots(x, y):
            item.setData(x=x, y=y)
        case Bars(x, bottoms, heights):
            item.setOpts(x=x, y0=bottoms, height=heights)
        case Rule(x):
            item.setPos(x)
        case Label(text):
            item.setText(text)


class Plot(graph.GraphicsView):  # type: ignore[misc]
    """A pair of axes with shapes; lines are `line_scale` times as wide, for an image that is painted larger."""

    pointed = Signal(object)  # the pointer is over this place on the horizontal axis (float), or has left (None)
    pressed = Signal(object)  # the pointer was pressed at, or dragged to, this place (float)

    def __init__(self, colors: Colors, parent: QWidget | None = None, *, line_scale: float = 1.0) -> None:
        super().__init__(parent, background=None)
        self._line_scale = line_scale
        self._x, self._y = Axis(""), Axis("")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setMouseTracking(True)
        self.setMinimumSize(1, 1)
        self.box = graph.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0)
        self._grid = graph.PlotCurveItem(connect="pairs", antialias=False)
        self._left = graph.AxisItem("left", linkView=self.box, maxTickLength=0)
        self._bottom = graph.AxisItem("bottom", linkView=self.box, maxTickLength=0)
        self.centralLayout.setSpacing(0)
        self.centralLayout.addItem(self._left, 0, 0)
        self.centralLayout.addItem(self.box, 0, 1)
        self.centralLayout.addItem(self._bottom, 1, 1)
        for axis, overlap in ((self._left, 12), (self._bottom, 60)):
            axis.setStyle(hideOverlappingLabels=overlap, tickTextOffset=4, maxTextLevel=0, tickAlpha=0)
        self.box.addItem(self._grid, ignoreBounds=True)
        self._left.setWidth(4 * _GAP)  # until there are numbers
        self._drawing, self._marks = _Layer(self, 0), _Layer(self, _MARKS)
        self.restyle(colors)

    # -- contents

    @property
    def shapes(self) -> Sequence[Shape]:
        return (*self._drawing.shapes, *self._marks.shapes)

    @property
    def room(self) -> Room:
        plot, metrics = self.plot_rect(), self.fontMetrics()
        columns, rows = (max(int(pixels), _LEAST) for pixels in (plot.width(), plot.height()))
        return Room(columns, rows, metrics.height(), metrics.horizontalAdvance)

    def draw(self, drawing: Drawing) -> None:
        room = drawing.room
        self._x, self._y = drawing.x, drawing.y
        self._drawing.show(drawing.shapes)
        self.box.setRange(xRange=self._x.range, yRange=self._y.range, padding=0, disableAutoRange=True)
        self._bottom.setTicks([self._x.ticks(max(2, int(room.columns // (3.6 * room.line))))])
        y_ticks = self._y.ticks(max(2, int(room.rows // (1.7 * room.line))))
        self._left.setTicks([y_ticks])
        widest = max((QFontMetricsF(self.font()).horizontalAdvance(text) for _, text in y_ticks), default=10.0)
        self._left.setWidth(int(widest + 2 * _GAP + 2))
        self._arrange()
        inside = [place for place, _ in y_ticks if self._y.range[0] <= place <= self._y.range[1]]
        self._grid.setData(np.tile(self._x.range, len(inside)), np.repeat(np.array(inside, dtype=np.float64), 2))
        self._place_labels()
        self.viewport().update()

    def mark(self, marks: Sequence[Shape]) -> None:
        self._marks.show(marks)
        self._place_labels()

    def restyle(self, colors: Colors) -> None:
        """Apply new colors and the current font to all but the shapes, which are gone until they are drawn again."""
        self._colors = colors
        for layer in (self._drawing, self._marks):
            layer.clear()
        self.setBackground(QColor(colors.surface))
        self._grid.setPen(self.pen(Stroke("line")))
        for axis in (self._left, self._bottom):
            axis.setPen(self.pen(Stroke("border")))
            axis.setTextPen(graph.mkPen(colors.muted))
            axis.setStyle(tickFont=self.font())
        self._left.setPen(graph.mkPen(None))  # the grid is enough
        self._arrange()

    def color(self, name: str) -> QColor:
        return QColor(name if name.startswith("#") else getattr(self._colors, name))

    def pen(self, stroke: Stroke | None) -> Any:
        """Return a pen for a line on the axes, as wide whatever their range; for None one that draws nothing."""
        if stroke is None:
            return graph.mkPen(None)
        return graph.mkPen(self.color(stroke.color), width=stroke.width * self._line_scale, style=stroke.style)

    # -- geometry

    def plot_rect(self) -> QRectF:
        return QRectF(self.box.geometry())

    def place_of(self, x: float, y: float) -> QPointF:
        """Return a point of the axes in pixels from the upper left corner."""
        return QPointF(self.box.mapViewToScene(QPointF(x, y)))

    @property
    def _line(self) -> float:
        return QFontMetricsF(self.font()).height()

    @property
    def _is_low(self) -> bool:
        """Whether there is no room for a caption below the horizontal axis; it then stands above the plot."""
        return bool(self.height() < _LOW_LINES * self._line)

    def _arrange(self) -> None:
        self._bottom.setHeight(self._line + _GAP)
        self.centralLayout.setContentsMargins(0, int(self._line) + _GAP, _RIGHT, 0 if self._is_low else int(self._line))
        self.centralLayout.activate()  # otherwise it happens only after the next paint

    def _place_labels(self) -> None:
        plot = self.plot_rect()
        labelled = zip(self._marks.shapes, self._marks.items, strict=True)
        for label, item in ((shape, item) for shape, item in labelled if isinstance(shape, Label)):
            edge = item.textItem.document().documentMargin()  # no letter reaches into it
            text, place = item.textItem.boundingRect(), self.place_of(label.x, label.y)
            corner = place - QPointF(label.across * text.width(), label.down * text.height())
            room = QRectF(corner, text.size()).adjusted(edge, edge, -edge, -edge)
            room.moveLeft(min(max(room.left(), plot.left()), plot.right() - room.width()))
            room.moveTop(min(max(room.top(), plot.top()), plot.bottom() - room.height()))
            item.setVisible(plot.contains(room))
            offset = place - room.topLeft() + QPointF(edge, edge)
            item.setAnchor((offset.x() / text.width(), offset.y() / text.height()))
            item.setPos(label.x, label.y)

    # -- painting

    def drawForeground(self, painter: QPainter, _rect: QRectF) -> None:
        line = int(self._line)
        painter.setFont(self.font())
        painter.setPen(QPen(self._colors.muted))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        room = self.rect() - QMargins(_GAP, 0, int(_RIGHT), 0)
        upper = QRect(room.left(), 0, room.width(), line + _GAP)
        lower = upper if self._is_low else QRect(room.left(), self.height() - line, room.width(), line)
        x_text = f"{self._x.caption} →" if self._is_low else self._x.caption
        painter.drawText(lower, int(flags | Qt.AlignmentFlag.AlignRight), x_text)
        metrics = QFontMetricsF(self.font())
        left = room.width() - (metrics.horizontalAdvance(x_text) + 2 * _GAP if self._is_low else 0)
        y_text = metrics.elidedText(self._y.caption, Qt.TextElideMode.ElideRight, left)
        painter.drawText(upper, int(flags | Qt.AlignmentFlag.AlignLeft), y_text)

    # -- events

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if event is not None:  # not while it is made
            self._arrange()

    def viewportEvent(self, event: QEvent) -> bool:
        """Keep mouse events from pyqtgraph, which would pan, zoom and open menus."""
        if event.type() == QEvent.Type.Leave:
            self.pointed.emit(None)
        elif isinstance(event, QMouseEvent):
            x = self.box.mapSceneToView(event.position()).x()
            if event.buttons() & Qt.MouseButton.LeftButton:
                self.pressed.emit(x)
            elif event.type() == QEvent.Type.MouseMove:
                self.pointed.emit(x)
            return True
        elif event.type() in (QEvent.Type.Wheel, QEvent.Type.ContextMenu):
            event.ignore()  # for the scroll area around the pane
            return True
        return bool(super().viewportEvent(event))


class ChartView(QWidget):
    """One chart; the pane decides when it is drawn."""

    def __init__(self, chart: Chart, source: ChartSource, colors: Colors, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart, self.source = chart, source
        self.hovered: float | None = None
        self.drawing: Drawing | None = None  # None: there is nothing, or it has to be drawn again
        self._drawn: object = None  # what the drawing was made from
        self.readout = ""  # the full line of figures, which may be elided on screen
        self._colors = colors
        self.plot = Plot(colors, self)
        self.title = plain_label(chart.title, self, role="heading")
        self.sentence = plain_label("", self, role="hint", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._readout = FittingLabel(self, role="hint")
        self._readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        parts = self.title, (self.plot, 1), (self.sentence, 1), self._readout
        self._layout = fill(QVBoxLayout(self), *parts, margins=(_SIDE, 4, _SIDE, 4), spacing=2)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        keep_keys(self, *chart.kept_keys)
        self.setAccessibleName(chart.title)
        self.plot.pointed.connect(self.point_at)
        self.plot.pressed.connect(self._press)

    # -- for the pane

    def refresh(self) -> None:
        """Show the current state; redraw the curves only if they have changed."""
        state = self.chart.state(self.source)
        is_there = state is not None
        self.plot.setVisible(is_there)
        self._readout.setVisible(is_there and self.height() >= _READOUT_LINES * self.fontMetrics().height())
        self.sentence.setVisible(not is_there)
        if not is_there:
            self.forget()
            missing = self.chart.missing(self.source)
            set_plain_text(self.sentence, missing)
            self.setAccessibleDescription(missing)
            return
        self._layout.activate()
        drawn = state, self.source.edition, self.plot.size()
        if self.drawing is None or drawn != self._drawn:
            self._drawn = drawn
            self._draw()
        self.mark()

    def _draw(self) -> None:
        for _ in range(2):  # the numbers at the axes and the captions take some of the room
            room = self.plot.plot_rect()
            self.drawing = self.chart.draw(self.source, self.plot.room)
            self.plot.draw(self.drawing)
            if self.plot.plot_rect() == room:
                break

    def forget(self) -> None:
        """Redraw everything the next time; nothing is drawn any more that could be pressed or pointed at."""
        self.drawing = self.hovered = None

    def mark(self) -> None:
        if (drawing := self._usable) is not None:
            self.plot.mark(self.chart.marks(self.source, drawing, self.hovered))
            self.readout = self.chart.readout(self.source, drawing, self.hovered)
            self.setAccessibleDescription(self.chart.summary(self.source, drawing))
            self._readout.show_forms(self.readout)
            set_plain_tooltip(self._readout, self.readout if self._readout.text() != self.readout else "")

    @property
    def _usable(self) -> Drawing | None:
        return None if self.chart.state(self.source) is None else self.drawing

    def restyle(self, colors: Colors) -> None:
        self._colors = colors
        self.plot.restyle(colors)
        self.forget()
        self.update()

    # -- events

    def minimumSizeHint(self) -> QSize:
        return QSize(14, _LEAST_LINES) * self.fontMetrics().height()

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.drawing is not None and self.isVisible():
            self.refresh()

    def point_at(self, place: float | None) -> None:
        if place != self.hovered:
            self.hovered = place
            self.mark()

    def _press(self, place: float) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.hovered = None
        if (drawing := self._usable) is not None:
            self.chart.press(self.source, drawing, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        drawing = self._usable if is_alone(event) else None
        if drawing is None or not self.chart.move(self.source, drawing, Qt.Key(event.key())):
            event.ignore()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.hasFocus():
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self._colors.accent, 1))
                painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), 4, 4)


_ONE = QSize(960, 600)
_SEVERAL = QSize(720, 470)
_MARGIN = 24
_PIXEL_RATIO = 2


def chart_picture(views: Sequence[ChartView], kind: str) -> bytes:
    """Return an image of one or more charts, two in a row, as the content of a file, ``"png"`` or ``"svg"``."""
    cell = _ONE if len(views) == 1 else _SEVERAL
    size = QSize(cell.width() * min(len(views), 2), cell.height() * ((len(views) + 1) // 2))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    device: QSvgGenerator | QImage
    if kind == "svg":
        device, line_scale = QSvgGenerator(), 1
        device.setOutputDevice(buffer)
        device.setSize(size)
        device.setViewBox(QRectF(0, 0, size.width(), size.height()))
        device.setResolution(views[0].logicalDpiX())
        device.setTitle(" · ".join(view.chart.title for view in views))
        device.setDescription("")
    else:
        device, line_scale = QImage(size * _PIXEL_RATIO, QImage.Format.Format_RGB32), _PIXEL_RATIO
        device.setDevicePixelRatio(_PIXEL_RATIO)
    with QPainter(device) as painter:
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), Qt.GlobalColor.white)
        for index, view in enumerate(views):
            corner = QPointF(index % 2 * cell.width() + _MARGIN, index // 2 * cell.height() + _MARGIN)
            _paint_chart(painter, view, QRectF(corner, cell.shrunkBy(QMargins(*[_MARGIN] * 4))), line_scale)
    if isinstance(device, QImage):
        QImageWriter(buffer, QByteArray(b"png")).write(device)
    return bytes(buffer.data().data())


def _paint_chart(painter: QPainter, view: ChartView, place: QRectF, line_scale: int) -> None:
    chart, source, font, line = view.chart, view.source, view.font(), view.fontMetrics().height()
    head = int(line * 3.2)
    plot = Plot(LIGHT, line_scale=line_scale)
    plot.setFont(font)
    plot.resize(int(place.width()), int(place.height()) - head)
    plot.grab()  # applies its size, which Qt puts off for a hidden widget
    drawing = chart.draw(source, plot.room)
    plot.draw(drawing)
    plot.mark(chart.marks(source, drawing, None))
    plot.grab()  # the first time, pyqtgraph paints the background of a label where it would be in a window
    flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
    for height, text, text_font, color in (
        (0, chart.title, bold(font), LIGHT.text),
        (line * 1.3, chart.readout(source, drawing, None), font, LIGHT.muted),
    ):
        painter.setFont(text_font)
        painter.setPen(QPen(color))
        text_place = QRectF(place.x() + 6, place.y() + height, place.width(), line * 1.3)
        painter.drawText(text_place, flags, shown(text, 300))
    source_rect = plot.viewport().rect()
    plot.render(painter, place.adjusted(0, head, 0, 0), source_rect, Qt.AspectRatioMode.IgnoreAspectRatio)
    plot.deleteLater()
