"""What all charts have in common: a canvas, a line of figures below it, and a name and description for screen readers.

For papers and slides, charts are drawn again at the size of the picture: PNG at twice the pixels, or SVG, always dark
on white, with a title. pyqtgraph's own SVG exporter is not used: it fails with Qt 6.12. Texts are drawn by the painter
and are plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageWriter, QPainter, QPaintEvent, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.charts.canvas import Canvas, linear_ticks
from wordpiece_studio.ui.widgets.fields import is_alone
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, shown
from wordpiece_studio.ui.widgets.theme import LIGHT, bold
from wordpiece_studio.ui.widgets.token_text import merges_text, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QColor, QKeyEvent, QPaintDevice

    from wordpiece_studio.session.chart_source import ChartSource, Curve
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.charts.canvas import Range, Ticks
    from wordpiece_studio.ui.widgets.theme import Colors

    Point = tuple[float, float]

_SIDE = 6
_LEAST_LINES, _LOW_LINES = 4, 6
"""In lines of text: the minimum height of a chart, and the height from which it shows its line of figures."""
_FEW = 60
"""Up to this many merges, each has a dot of its own."""
_LONG = 200
_TEN = 10


class Chart(QWidget):
    """One chart. Subclasses define what it shows; the pane decides when.

    Signals
    -------
    step_chosen(int), token_chosen(str)
        The user chose this step or this token.
    """

    step_chosen = Signal(object)
    token_chosen = Signal(object)

    follows_step = False  # whether the curves themselves, not only their marks, depend on the current step

    def __init__(
        self, source: ChartSource, colors: Colors, parent: QWidget | None = None, *, line_scale: float = 1.0
    ) -> None:
        super().__init__(parent)
        self.source = source
        self.hovered: float | None = None
        self._drawn: object = None
        self.readout = ""  # the full line of figures below the chart, which may be elided on screen
        self.canvas = Canvas(colors, self, line_scale=line_scale)
        self._title = plain_label(self.title(), self, role="heading")
        self._sentence = plain_label("", self, role="hint", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._readout = plain_label("", self, role="hint")
        self._readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        parts = self._title, (self.canvas, 1), (self._sentence, 1), self._readout
        self._layout = fill(QVBoxLayout(self), *parts, margins=(_SIDE, 4, _SIDE, 4), spacing=2)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.title())
        self._make_items(self.canvas, colors)
        self.canvas.pointed.connect(self._on_canvas_pointed)
        self.canvas.pressed.connect(self._on_canvas_pressed)
        self.canvas.left.connect(self._point_at)
        self.canvas.resized.connect(self._on_canvas_resized)

    # -- for subclasses to implement

    def title(self) -> str:
        raise NotImplementedError

    def key(self) -> object:
        """Return what the curves depend on within one run; None if there is nothing to draw (`missing` says why)."""
        return self.source.count or None

    def missing(self) -> str:
        """Return the sentence shown where there is nothing to draw."""
        history = self.source.model.history
        if history is not None and not history.has_steps:
            return self.tr("This run was trained with another library, which does not record merges.")
        if history is not None:
            return self.tr("No merges yet. The charts appear here after the first one.")
        return self.tr("Nothing has been trained yet. Train to see the charts here.")

    def draw(self) -> None:
        raise NotImplementedError

    def draw_marks(self) -> None:
        """Place the marks of the step, the selection and the pointer."""
        raise NotImplementedError

    def figures(self) -> str:
        """Return the figures at the pointer, or at the current step, in one line."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the description for screen readers, including the figures at the step."""
        return f"{self.title()}\n{self.figures()}"

    def _make_items(self, canvas: Canvas, colors: Colors) -> None:
        """Add what is drawn to the canvas, from bottom to top."""
        raise NotImplementedError

    def _choose(self, x: float) -> None:
        """Respond to a press at this place on the horizontal axis."""

    # -- for the pane

    @property
    def history(self) -> MergeHistory:
        history = self.source.history
        assert history is not None
        return history

    def refresh(self) -> None:
        """Show the current state; redraw the curves only if they have changed."""
        key = self.key()
        is_there = key is not None
        self.canvas.setVisible(is_there)
        self._readout.setVisible(is_there and self.height() >= _LOW_LINES * self.fontMetrics().height())
        self._sentence.setVisible(not is_there)
        if not is_there:
            self._drawn = None
            set_plain_text(self._sentence, self.missing())
            self.setAccessibleDescription(self.missing())
            return
        self._layout.activate()
        key = (key, self.canvas.size())
        if key != self._drawn:
            self._drawn = key
            room = self.canvas.plot_rect()
            self.draw()
            if self.canvas.plot_rect() != room:  # the numbers at its axes and its captions take some of it
                self.draw()
        self.mark()

    def forget(self) -> None:
        """Redraw everything the next time."""
        self._drawn = None

    def mark(self) -> None:
        """Follow the step and the selection without redrawing the curves."""
        if self._drawn is not None:
            self.draw_marks()
            self.readout = self.figures()
            self.setAccessibleDescription(self.summary())
            room = max(self.width() - 2 * _SIDE - 2, 0)
            cut = self._readout.fontMetrics().elidedText(self.readout, Qt.TextElideMode.ElideRight, room)
            set_plain_text(self._readout, cut)
            set_plain_tooltip(self._readout, self.readout if cut != self.readout else "")

    def restyle(self, colors: Colors) -> None:
        """Apply new colors; the next refresh draws the curves."""
        self.canvas.clear()
        self.canvas.restyle(colors)
        self._make_items(self.canvas, colors)
        self._drawn = None
        self.update()

    def set_title_visible(self, visible: bool) -> None:
        self._title.setVisible(visible)

    @property
    def is_drawn(self) -> bool:
        return self._drawn is not None

    @property
    def x_marks(self) -> int:
        """How many ticks the horizontal axis has room for."""
        return max(2, int(self.canvas.columns // (3.6 * self.fontMetrics().height())))

    @property
    def y_marks(self) -> int:
        """How many ticks the vertical axis has room for."""
        return max(2, int(self.canvas.rows // (1.7 * self.fontMetrics().height())))

    def top_for_text(self, low: float, high: float, place: float) -> float:
        """Return where a vertical axis from `low` must end, at least at `high`, for a text to fit above `place`."""
        rows, line = self.canvas.rows, 1.3 * self.fontMetrics().height()
        return max(high, low + (place - low) * rows / max(rows - line, rows / 3))

    @property
    def sentence(self) -> str:
        """The sentence shown where there is nothing to draw; empty otherwise."""
        return "" if self._sentence.isHidden() else self._sentence.text()

    # -- events

    def minimumSizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(14 * line, _LEAST_LINES * line)

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def _on_canvas_pointed(self, x: float, _y: float) -> None:
        self._point_at(x)

    def _on_canvas_pressed(self, x: float, _y: float) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.hovered = None
        if self.source.history is not None:
            self._choose(x)

    def _on_canvas_resized(self) -> None:
        if self._drawn is not None and self.isVisible():
            self.refresh()

    def _point_at(self, x: float | None = None) -> None:
        if x != self.hovered:
            self.hovered = x
            self.mark()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.hasFocus():
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self.canvas.colors.accent, 1))
                painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), 4, 4)


class StepChart(Chart):
    """Curves over steps, with marks for the current step, the pointer and the birth of the selected token."""

    y_range: Range = (0.0, 1.0)

    def _make_items(self, canvas: Canvas, colors: Colors) -> None:
        self.curve = canvas.add_curve()
        self._make_more_items(canvas, colors)
        style = Qt.PenStyle
        self._hover_line = canvas.add_line(canvas.pen(colors.muted, 1, style.DotLine), 10)
        self.birth_line = canvas.add_line(canvas.pen(colors.accent_ink, 1, style.DashLine), 11)
        self.step_line = canvas.add_line(canvas.pen(colors.text, 1), 12)
        self._birth_dots = canvas.add_dots(colors.surface, canvas.pen(colors.accent_ink, 1.6), 13)
        self._step_dots = canvas.add_dots(colors.text, canvas.pen(colors.surface, 1.5), 14)
        self.birth_label = canvas.add_label(colors.accent_ink, self.font(), has_ground=True)

    # -- for subclasses to implement

    def _make_more_items(self, canvas: Canvas, colors: Colors) -> None:
        """Add what a subclass draws besides one curve."""

    def place_of(self, step: int) -> float:
        return float(step)

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place on the horizontal axis."""
        return min(max(round(x), 0), self.source.count)

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the points on the curves that belong to a step, in axis coordinates."""
        raise NotImplementedError

    def figures_at(self, step: int) -> str:
        raise NotImplementedError

    def is_label_low(self, across: float) -> bool:
        """Return whether the token's label stands low rather than high, for a birth at this fraction of the width."""
        return False

    # -- curves and axes

    @property
    def has_dots(self) -> bool:
        return self.source.count <= _FEW

    def draw_curve(self, item: Any, curve: Curve, color: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        """Give a curve its points; hundreds of vertical lines are not antialiased, which would be slow in Qt.

        An antialiased polyline of a thousand points takes 20 ms, its segments one by one 3 ms; a polyline of few
        points has neater corners.
        """
        is_long = len(curve.x) > _LONG and style is Qt.PenStyle.SolidLine
        item.setSegmentedLineMode("on" if is_long else "off")
        item.setVisible(len(curve.x) > 1)  # a line of one point would be an empty path in an SVG file
        pen = self.canvas.pen(color, 1 if curve.is_columns else 1.8, style)
        connect = "pairs" if curve.is_columns else "all"
        item.setData(curve.x, curve.y, pen=pen, connect=connect, antialias=not curve.is_columns)

    def draw_axes(self, y_caption: str, x_caption: str, y_ticks: Ticks) -> None:
        x_ticks = linear_ticks(self.place_of(0), self.place_of(self.source.count), self.x_marks, whole=True)
        self.canvas.set_captions(y_caption, x_caption)
        self.canvas.set_axes(self._x_range(), self.y_range, x_ticks, y_ticks)

    def _x_range(self) -> Range:
        first, last = self.place_of(0), self.place_of(self.source.count)
        margin = max((last - first) * 0.012, 1e-9)
        return first - margin, last + margin

    # -- marks

    def draw_marks(self) -> None:
        step, selected = self.source.step, self.source.selected
        self.step_line.setPos(self.place_of(step))
        dots = self.points_at(step)
        self._step_dots.setData(pos=dots, symbol=["o", "s"][: len(dots)], size=10)
        self._hover_line.setVisible(self.hovered is not None)
        if self.hovered is not None:
            self._hover_line.setPos(self.place_of(self.step_at(self.hovered)))
        is_born = selected is not None and selected.birth > 0
        for item in (self.birth_line, self._birth_dots):
            item.setVisible(is_born)
        self.birth_label.clear()
        if selected is not None and is_born:
            self._mark_birth(selected.text, selected.birth)

    def _mark_birth(self, token: str, step: int) -> None:
        x = self.place_of(step)
        self.birth_line.setPos(x)
        self._birth_dots.setData(pos=self.points_at(step), symbol="d", size=12)
        (left, right), (low, high) = self._x_range(), self.y_range
        across = (x - left) / (right - left)
        height, down = (low, 1) if self.is_label_low(across) else (high, 0)
        self.birth_label.write(token_text(token, 24), x, height, 0 if across < 0.5 else 1, down)

    # -- figures and description

    def figures(self) -> str:
        return self.figures_at(self.source.step if self.hovered is None else self.step_at(self.hovered))

    def summary(self) -> str:
        """Return the name of the chart, the figures at the step, and the step that made the selected token."""
        said = [self.title(), merges_text(self.source.count), self.figures_at(self.source.step)]
        selected = self.source.selected
        if selected is not None and selected.birth:
            created = self.tr("{token} was created at step {step}")
            said.append(created.format(token=token_text(selected.text), step=number_text(selected.birth)))
        return "\n".join(said)

    # -- user input

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
        if step is None or not is_alone(event):
            event.ignore()
        else:
            self.step_chosen.emit(min(max(step, 0), last))


_ONE = QSize(960, 600)
_SEVERAL = QSize(720, 470)
_MARGIN = 24
_PIXEL_RATIO = 2


def chart_picture(charts: Sequence[Chart], kind: str) -> bytes:
    """Return a picture of one or more charts, two in a row, as the content of a file, ``"png"`` or ``"svg"``."""
    cell = _ONE if len(charts) == 1 else _SEVERAL
    size = QSize(cell.width() * min(len(charts), 2), cell.height() * ((len(charts) + 1) // 2))
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if kind == "svg":
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(size)
        generator.setViewBox(QRectF(0, 0, size.width(), size.height()))
        generator.setResolution(charts[0].logicalDpiX())
        generator.setTitle(" · ".join(chart.title() for chart in charts))
        generator.setDescription("")
        _paint_charts(charts, generator, size, cell)
        buffer.close()
    else:
        image = QImage(size * _PIXEL_RATIO, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_PIXEL_RATIO)
        _paint_charts(charts, image, size, cell, _PIXEL_RATIO)
        QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(content.data())


def _paint_charts(charts: Sequence[Chart], device: QPaintDevice, size: QSize, cell: QSize, line_scale: int = 1) -> None:
    with QPainter(device) as painter:
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), Qt.GlobalColor.white)
        for index, chart in enumerate(charts):
            place = QPointF(index % 2 * cell.width() + _MARGIN, index // 2 * cell.height() + _MARGIN)
            copy, head = _copy(chart, cell, line_scale)
            _paint_head(painter, copy, place, cell.width() - 2 * _MARGIN)
            copy.canvas.paint_on(painter, place + QPointF(0, head))
            copy.canvas.deleteLater()
            copy.deleteLater()


def _copy(chart: Chart, cell: QSize, line_scale: int) -> tuple[Chart, int]:
    """Return a copy of a chart, drawn for a cell of a picture, and how high its title and figures are above it."""
    copy = type(chart)(chart.source, LIGHT, line_scale=line_scale)
    copy.setFont(chart.font())
    copy.canvas.setParent(None)
    copy.canvas.setFont(chart.font())
    head = int(copy.fontMetrics().height() * 3.2)
    copy.canvas.resize(cell.width() - 2 * _MARGIN, cell.height() - 2 * _MARGIN - head)
    copy.canvas.grab()  # applies its size, which Qt puts off for a hidden widget
    copy.draw()
    copy.draw_marks()
    return copy, head


def _paint_head(painter: QPainter, chart: Chart, place: QPointF, width: int) -> None:
    line = chart.fontMetrics().height()
    flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
    for height, text, font, color in (
        (0, chart.title(), bold(chart.font()), LIGHT.text),
        (line * 1.3, chart.figures(), chart.font(), LIGHT.muted),
    ):
        painter.setFont(font)
        painter.setPen(QPen(color))
        painter.drawText(QRectF(place.x() + 6, place.y() + height, width, line * 1.3), flags, shown(text, 300))
