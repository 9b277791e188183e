"""Charts as pictures for papers and slides: PNG with twice the pixels, or SVG; always dark on white, with a title.

The charts are drawn once more in the size of the picture. pyqtgraph's own SVG exporter is not used: it fails with
Qt 6.12. Texts go through the painter and are plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QImageWriter, QPaintDevice, QPainter, QPen
from PySide6.QtSvg import QSvgGenerator

from wordpiece_studio.ui.widgets.colors import LIGHT
from wordpiece_studio.ui.widgets.plain import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.panes.charts.chart import Chart

_ONE = QSize(960, 600)
_SEVERAL = QSize(720, 470)
_MARGIN = 24
_PIXEL_RATIO = 2


class ChartPicture:
    """A picture of some charts, two in a row."""

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
        generator.setTitle(", ".join(chart.title() for chart in self._charts))
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
        copy.canvas.grab()  # lets it take its size, which a widget that is not shown puts off
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
