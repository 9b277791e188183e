"""What all charts have in common: a canvas, a line of figures below it, and a name and description for screen readers.

For papers and slides, charts are drawn again at the size of the picture: PNG at twice the pixels, or SVG, always dark
on white, with a title. pyqtgraph's own SVG exporter is not used: it fails with Qt 6.12. Texts are drawn by the painter
and are plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFont, QImage, QImageWriter, QPaintDevice, QPainter, QPaintEvent, QPen
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.charts.canvas import Canvas
from wordpiece_studio.ui.widgets.colors import LIGHT
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.chart_source import ChartSource
    from wordpiece_studio.ui.widgets.colors import Colors

_SIDE = 6
_LEAST_LINES, _LOW_LINES = 4, 6
"""In lines of text: the minimum height of a chart, and the height from which it shows its line of figures."""
_ONE = QSize(960, 600)
_SEVERAL = QSize(720, 470)
_MARGIN = 24
_PIXEL_RATIO = 2


class Chart(QWidget):
    """One chart. Subclasses define what it shows; the pane decides when.

    Signals
    -------
    step_chosen(int), token_chosen(str)
        The user chose this step or this token.
    """

    step_chosen = Signal(object)
    token_chosen = Signal(object)

    follows_step = False
    """Whether the curves themselves, not only their marks, depend on the current step."""

    def __init__(
        self, source: ChartSource, colors: Colors, parent: QWidget | None = None, *, line_scale: float = 1.0
    ) -> None:
        super().__init__(parent)
        self.source = source
        self.hovered: float | None = None
        self._drawn: object = None
        self._figures = ""
        self.canvas = Canvas(colors, self, line_scale=line_scale)
        self._title = plain_label(self.title(), self, role="heading")
        self._sentence = plain_label("", self, role="hint", wrap=True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._readout = plain_label("", self, role="hint")
        self._readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        layout = self._layout = QVBoxLayout(self)
        layout.setContentsMargins(_SIDE, 4, _SIDE, 4)
        layout.setSpacing(2)
        for part, stretch in ((self._title, 0), (self.canvas, 1), (self._sentence, 1), (self._readout, 0)):
            layout.addWidget(part, stretch)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.title())
        self._make_items()
        self._restyle_items()
        self.canvas.pointed.connect(self._on_canvas_pointed)
        self.canvas.pressed.connect(self._on_canvas_pressed)
        self.canvas.left.connect(self._on_canvas_left)
        self.canvas.resized.connect(self._on_canvas_resized)

    # -- for subclasses to implement

    def title(self) -> str:
        """Return the name of the chart."""
        raise NotImplementedError

    def key(self) -> object:
        """Return what the curves depend on within one run; None if there is nothing to draw (`missing` says why)."""
        raise NotImplementedError

    def missing(self) -> str:
        """Return the sentence shown where there is nothing to draw."""
        history = self.source.model.history
        if history is not None and not history.has_steps:
            return self.tr("This run was trained with another library, which does not record merges.")
        if history is not None:
            return self.tr("No merges yet. The charts appear here after the first one.")
        return self.tr("Nothing has been trained yet. Train to see the charts here.")

    def draw(self) -> None:
        """Draw the curves and axes."""
        raise NotImplementedError

    def draw_marks(self) -> None:
        """Place the marks of the step, the selection and the pointer."""
        raise NotImplementedError

    def figures(self) -> str:
        """Return the figures at the pointer, or at the current step, in one line."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the description for screen readers, including the figures at the step."""
        raise NotImplementedError

    def _make_items(self) -> None:
        raise NotImplementedError

    def _restyle_items(self) -> None:
        raise NotImplementedError

    def _choose(self, x: float) -> None:
        """Respond to a press at this place on the horizontal axis."""

    # -- for the pane

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
            self._say()

    def restyle(self, colors: Colors) -> None:
        """Apply new colors."""
        self.canvas.restyle(colors)
        self._restyle_items()
        self._drawn = None
        self.update()

    def set_title_visible(self, visible: bool) -> None:
        """Show or hide the name above the chart."""
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
    def readout(self) -> str:
        """The full line of figures below the chart, which may be elided on screen."""
        return self._figures

    @property
    def sentence(self) -> str:
        """The sentence shown where there is nothing to draw; empty otherwise."""
        return "" if self._sentence.isHidden() else self._sentence.text()

    def _say(self) -> None:
        self._figures = self.figures()
        self.setAccessibleDescription(self.summary())
        self._cut_readout()

    def _cut_readout(self) -> None:
        room = max(self.width() - 2 * _SIDE - 2, 0)
        cut = self._readout.fontMetrics().elidedText(self._figures, Qt.TextElideMode.ElideRight, room)
        set_plain_text(self._readout, cut)
        set_plain_tooltip(self._readout, self._figures if cut != self._figures else "")

    # -- events

    def minimumSizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(14 * line, _LEAST_LINES * line)

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def _on_canvas_pointed(self, x: float, _y: float) -> None:
        self._point_at(x)

    def _on_canvas_left(self) -> None:
        self._point_at(None)

    def _on_canvas_pressed(self, x: float, _y: float) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.hovered = None
        self._choose(x)

    def _on_canvas_resized(self) -> None:
        if self._drawn is not None and self.isVisible():
            self.refresh()

    def _point_at(self, x: float | None) -> None:
        if x != self.hovered:
            self.hovered = x
            self.mark()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.hasFocus():
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self.canvas.colors.accent, 1))
                painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), 4, 4)


class ChartPicture:
    """A picture of one or more charts, two in a row."""

    def __init__(self, charts: Sequence[Chart]) -> None:
        self._charts = charts
        self._cell = _ONE if len(charts) == 1 else _SEVERAL
        self._size = QSize(self._cell.width() * min(len(charts), 2), self._cell.height() * ((len(charts) + 1) // 2))

    def png(self) -> bytes:
        """Return the content of a PNG file."""
        image = QImage(self._size * _PIXEL_RATIO, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_PIXEL_RATIO)
        self._paint_on(image, line_scale=_PIXEL_RATIO)
        content, buffer = _buffer()
        QImageWriter(buffer, QByteArray(b"png")).write(image)
        return bytes(content.data())

    def svg(self) -> bytes:
        """Return the content of an SVG file."""
        content, buffer = _buffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(self._size)
        generator.setViewBox(self._rect)
        generator.setResolution(self._charts[0].logicalDpiX())
        generator.setTitle(" · ".join(chart.title() for chart in self._charts))
        generator.setDescription("")
        self._paint_on(generator)
        buffer.close()
        return bytes(content.data())

    @property
    def _rect(self) -> QRectF:
        return QRectF(0, 0, self._size.width(), self._size.height())

    def _paint_on(self, device: QPaintDevice, line_scale: float = 1.0) -> None:
        with QPainter(device) as painter:
            painter.fillRect(self._rect, Qt.GlobalColor.white)
            for index, chart in enumerate(self._charts):
                place = QPointF(index % 2 * self._cell.width() + _MARGIN, index // 2 * self._cell.height() + _MARGIN)
                copy = self._copy(chart, line_scale)
                self._paint_head(painter, copy, place)
                copy.canvas.paint_on(painter, place + QPointF(0, self._head_height(copy)))
                copy.canvas.deleteLater()
                copy.deleteLater()

    def _copy(self, chart: Chart, line_scale: float) -> Chart:
        copy = type(chart)(chart.source, LIGHT, line_scale=line_scale)
        copy.setFont(chart.font())
        copy.canvas.setParent(None)
        copy.canvas.setFont(chart.font())
        height = self._cell.height() - 2 * _MARGIN - self._head_height(copy)
        copy.canvas.resize(self._cell.width() - 2 * _MARGIN, height)
        copy.canvas.grab()  # applies its size, which Qt puts off for a hidden widget
        copy.draw()
        copy.draw_marks()
        return copy

    def _head_height(self, chart: Chart) -> int:
        return int(chart.fontMetrics().height() * 3.2)

    def _paint_head(self, painter: QPainter, chart: Chart, place: QPointF) -> None:
        line = chart.fontMetrics().height()
        width = self._cell.width() - 2 * _MARGIN
        font = QFont(chart.font())
        font.setBold(True)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        for height, text, face, color in (
            (0, chart.title(), font, LIGHT.text),
            (line * 1.3, chart.figures(), chart.font(), LIGHT.muted),
        ):
            painter.setFont(face)
            painter.setPen(QPen(color))
            painter.drawText(QRectF(place.x() + 6, place.y() + height, width, line * 1.3), flags, shown(text, 300))


def _buffer() -> tuple[QByteArray, QBuffer]:
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return content, buffer
