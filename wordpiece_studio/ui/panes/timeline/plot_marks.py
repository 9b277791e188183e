"""The marks on the axis of the timeline, how each is drawn, and the legend that explains them.

Each kind has its own shape, so that nothing depends on color alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.ui.widgets.theme import Theme

MarkKind = Literal["tie", "change", "breakpoint", "note", "birth"]
_FLAG_WIDTH, _FLAG_HEIGHT = 15.0, 13.0
_OUTLINES: dict[MarkKind, tuple[tuple[float, float], ...]] = {
    "breakpoint": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    "note": ((-3.5, -5), (3.5, -5), (3.5, 5), (0, 1.5), (-3.5, 5)),
    "birth": ((0, -4), (4.5, 4), (-4.5, 4)),
}
_SMALL = 2 / 3
_MANY = 200
"""More marks than this are drawn small."""
_MARK, _GAP = 13, 16


def _no_steps() -> NDArray[np.int64]:
    """Return an empty array of steps."""
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PlotMarks:
    """The marked steps, from 0; arrays are int64 and ascending.

    Attributes
    ----------
    changes
        Steps that change the tokenization of the live text.
    breakpoints
        Steps at which a breakpoint is hit.
    notes
        Bookmarked steps.
    birth
        The step that made the selection; None if there is none.
    a, b
        The markers.
    """

    changes: NDArray[np.int64] = field(default_factory=_no_steps)
    breakpoints: NDArray[np.int64] = field(default_factory=_no_steps)
    notes: NDArray[np.int64] = field(default_factory=_no_steps)
    birth: int | None = None
    a: int | None = None
    b: int | None = None


def _mark_color(kind: MarkKind, theme: Theme) -> QColor:
    """Return the color in which marks of a kind are drawn."""
    return {
        "tie": theme.tie,
        "change": theme.muted,
        "breakpoint": theme.error,
        "note": theme.marker,
        "birth": theme.accent_ink,
    }[kind]


def _paint_mark(painter: QPainter, kind: MarkKind, centre: QPointF, *, is_small: bool = False) -> None:
    """Draw a mark of a kind around a point with the current brush."""
    if kind == "tie":
        radius = 1.2 if is_small else 2.5
        painter.drawEllipse(centre, radius, radius)
    elif kind == "change":
        painter.drawRect(QRectF(centre.x() - 0.75, centre.y() - 3.5, 1.0 if is_small else 1.5, 7))
    else:
        size = _SMALL if is_small else 1.0
        painter.drawPolygon(QPolygonF([centre + QPointF(x * size, y * size) for x, y in _OUTLINES[kind]]))


def paint_marks(painter: QPainter, kind: MarkKind, xs: NDArray[np.float64], y: float, theme: Theme) -> None:
    """Draw marks of a kind at these places; many of them are drawn small."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_mark_color(kind, theme))
    is_small = len(xs) > _MANY
    for x in xs.tolist():
        _paint_mark(painter, kind, QPointF(x, y), is_small=is_small)


def flag_rect(x: float) -> QRectF:
    """Return the rectangle of a marker's flag whose pole stands at `x`."""
    return QRectF(x, 1, _FLAG_WIDTH, _FLAG_HEIGHT)


def paint_flag(painter: QPainter, name: str, x: float, bottom: float, theme: Theme) -> None:
    """Draw a marker: a dashed pole down to the axis, and a flag with its letter."""
    place = flag_rect(x)
    painter.setPen(QPen(theme.marker, 1.2, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(x, place.top()), QPointF(x, bottom))
    right, middle = place.right(), place.center().y()
    corners = (x, place.top()), (right, place.top()), (right - 3, middle), (right, place.bottom()), (x, place.bottom())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.marker)
    painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
    painter.setPen(theme.surface)
    painter.setFont(theme.font(-2, bold=True))
    painter.drawText(place.adjusted(0, 0, -3, 0), int(Qt.AlignmentFlag.AlignCenter), name)


def paint_box(painter: QPainter, top: QPointF, text: str, width: int, theme: Theme) -> None:
    """Draw a text box to the right of a point, or to its left where a plot of this width has no room."""
    metrics = painter.fontMetrics()
    box = QRectF(0, top.y(), metrics.horizontalAdvance(text) + 14, metrics.height() + 6)
    fits = top.x() + 8 + box.width() < width
    box.moveLeft(max(top.x() + 8 if fits else top.x() - 8 - box.width(), 2))
    painter.setPen(QPen(theme.border, 1))
    painter.setBrush(theme.raised)
    painter.drawRoundedRect(box, 4, 4)
    painter.setPen(theme.text)
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)


class Legend(QWidget):
    """Entries from left to right; those that do not fit are left out, but the tooltip has them all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[tuple[MarkKind | None, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_entries(self, entries: Sequence[tuple[MarkKind | None, str]]) -> None:
        """Show these marks, each with its text; None stands for a text without a mark."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            words = ", ".join(text for _, text in entries)
            self.setAccessibleName(words)
            set_plain_tooltip(self, words)
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        widths = (self._width(kind, text) + _GAP for kind, text in self._entries)
        return QSize(max(sum(widths) - _GAP, 0), self.fontMetrics().height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height() + 2)

    def _width(self, kind: MarkKind | None, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + (_MARK if kind else 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            left, height = 0, self.height()
            for kind, text in self._entries:
                width = self._width(kind, text)
                if left + width > self.width():
                    continue
                if kind is not None:
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(_mark_color(kind, self._theme))
                    _paint_mark(painter, kind, QPointF(left + 5, height / 2))
                painter.setPen(self._theme.tie_text if kind == "tie" else self._theme.muted)
                place = QRect(left + (_MARK if kind else 0), 0, width, height)
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), text)
                left += width + _GAP
