"""The marks of the timeline: how each is drawn on the axis, the legend, their wording, and the line of markers A and B.

Each kind has its own shape, so that nothing depends on color alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QCoreApplication, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QAction

    from wordpiece_studio.session.breakpoint_watch import Hit
    from wordpiece_studio.session.breakpoints import Breakpoint
    from wordpiece_studio.session.step_marks import Distance, Markers
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.actions import Actions
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


def _tr(text: str) -> str:
    return QCoreApplication.translate("timeline_marks", text)


def hit_words(hit: Hit, history: MergeHistory) -> str:
    """Return why a step halts: ``"breakpoint: token ##ing is born; tie of 3 pairs"``."""
    return _tr("breakpoint: {reason}").format(reason=_reasons(hit, history))


def _reasons(hit: Hit, history: MergeHistory) -> str:
    merge = history[hit.step - 1]
    return "; ".join(dict.fromkeys(_reason(each, merge, history) for each in hit.breakpoints))


def _reason(each: Breakpoint, merge: Merge, history: MergeHistory) -> str:
    if each.kind == "word":
        return _tr("word {word} is one token").format(word=token_text(each.text, 30))
    if each.kind == "value":
        return _tr("value {value} < {limit}").format(value=value_text(merge.value), limit=value_text(each.number))
    if each.kind == "tie":
        return _tr("tie of {count} pairs").format(count=number_text(merge.ties))
    if each.kind == "size":
        size = number_text(history.vocabulary_size(merge.step))
        return _tr("the vocabulary has {size} tokens").format(size=size)
    return _tr("token {token} is born").format(token=token_text(merge.token, 30))


def merge_words(step: int, history: MergeHistory | None) -> str:
    """Return the merge of a step: ``"12: ch + ##a → cha"``."""
    if history is None or not step:
        return _tr("before the first merge")
    merge = history[step - 1]
    left, right, token = (token_text(each, 30) for each in (merge.left, merge.right, merge.token))
    return f"{left} + {right} → {token}"


def _distance_words(distance: Distance) -> str:
    """Return the difference between A and B: ``"13 merges, vocabulary +13, symbols −31"``."""
    return _tr("{merges} merges, vocabulary {tokens}, symbols {symbols}").format(
        merges=_signed(distance.merges) if distance.merges < 0 else number_text(distance.merges),
        tokens=_signed(distance.tokens),
        symbols=_signed(distance.symbols),
    )


def markers_words(markers: Markers) -> str:
    """Return where the markers are, and the difference between them; empty if none is set."""
    steps = [f"{name} {number_text(step)}" for name, step in (("A", markers.a), ("B", markers.b)) if step is not None]
    distance = markers.distance()
    where = " → ".join(steps)
    return f"{where}: {_distance_words(distance)}" if distance is not None else where


def _signed(number: int) -> str:
    sign = "+" if number > 0 else "−" if number < 0 else "±"
    return sign + number_text(abs(number))


class MarkerLine(QWidget):
    """The markers A and B and the difference between them; empty while no marker is set."""

    def __init__(self, markers: Markers, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markers = markers
        self._a = self._button("A", actions.go_to_marker_a, actions)
        self._b = self._button("B", actions.go_to_marker_b, actions)
        self._label = plain_label("", self, role="caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._a, self._b, self._label):
            layout.addWidget(widget)
        self.refresh()

    def refresh(self) -> None:
        """Show the current markers."""
        for name, button, step in (("A", self._a, self._markers.a), ("B", self._b, self._markers.b)):
            button.setVisible(step is not None)
            if step is not None:
                button.setText(f"{name} {number_text(step)}")
        distance = self._markers.distance()
        set_plain_text(self._label, _distance_words(distance) if distance is not None else "")

    def _button(self, name: str, action: QAction, actions: Actions) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"timeline_go_to_{name.lower()}")
        button.setProperty("role", "button")
        button.setStyleSheet("padding: 0px 5px;")
        button.setAccessibleName(action.text().replace("&", ""))
        set_plain_tooltip(button, actions.usual_tip(action))
        button.clicked.connect(action.trigger)
        return button
