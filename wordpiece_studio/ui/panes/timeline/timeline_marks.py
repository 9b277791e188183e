"""What the timeline draws: curves of values, marks on the axis, the legend, and their wording.

Each kind of mark has its own shape, so that nothing depends on color alone. Curves have logarithmic heights and at most
two points per pixel column: a million steps become about 2,000 numbers in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication, QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from wordpiece_studio.session.chart_source import height_curve
from wordpiece_studio.session.plural import counted
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Parting
    from wordpiece_studio.session.step_marks import Hit
    from wordpiece_studio.storage.view import Breakpoint
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "timeline_marks")

Values = NDArray[np.float64]
Places = Callable[[NDArray[np.generic]], NDArray[np.float64]]
_FEW = 200
"""Up to this many merges, the curve has a point for each."""
_ABOVE_AXIS = 3.0
MarkKind = Literal["tie", "change", "breakpoint", "note", "birth", "parting"]
_OUTLINES: dict[MarkKind, tuple[tuple[float, float], ...]] = {
    "breakpoint": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    "note": ((-3.5, -5), (3.5, -5), (3.5, 5), (0, 1.5), (-3.5, 5)),
    "birth": ((0, -4), (4.5, 4), (-4.5, 4)),
    "parting": ((0, 4), (4.5, -4), (-4.5, -4)),
}
_PARTING_MARK = "▼"
_SMALL = 2 / 3
_MANY = 200
"""More marks than this are drawn small."""
_MARK, _GAP = 13, 16
_NO_STEPS = np.empty(0, dtype=np.int64)


class PlotMarks(NamedTuple):
    """The marked steps, from 0; arrays are int64 and ascending."""

    changes: NDArray[np.int64] = _NO_STEPS  # steps that change the tokenization of the live text
    breakpoints: NDArray[np.int64] = _NO_STEPS
    notes: NDArray[np.int64] = _NO_STEPS
    birth: int | None = None  # the step that made the selection


def _mark_color(kind: MarkKind, theme: Theme) -> QColor:
    return {
        "tie": theme.tie,
        "change": theme.muted,
        "breakpoint": theme.error,
        "note": theme.bookmark,
        "birth": theme.accent_ink,
        "parting": theme.text,
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
        theme.dress(self.update)

    def set_entries(self, entries: Sequence[tuple[MarkKind | None, str]]) -> None:
        """Show these marks, each with its text; None stands for a text without a mark."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            words = " · ".join(text for _, text in entries)
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


def parting_words(found: Sequence[Parting]) -> tuple[str, ...]:
    """Return where other runs part from the one shown, and a shorter form; nothing if there are none.

    ``"▼ A and B diverge at step 7 (tie): A merges ##u + ##g, B merges h + ##ug"``, or, of several,
    ``"▼ A and B diverge at step 7 · ▼ A and C diverge at step 9"``.
    """
    parted = [each for each in found if each.step is not None]
    if len(found) == 1:
        said = _parting_sentence(found[0])
        short = _tr("{mark} Divergence at step {step}").format(mark=_PARTING_MARK, step=number_text(found[0].step or 0))
        return (said, short) if parted else (said,)
    if not parted:
        return (" · ".join(dict.fromkeys(map(_parting_sentence, found))),) if found else ()
    said = _tr("{mark} {shown} and {other} diverge at step {step}")
    places = [
        said.format(
            mark=_PARTING_MARK, shown=each.shown.letter, other=each.other.letter, step=number_text(each.step or 0)
        )
        for each in parted
    ]
    return " · ".join(places), " · ".join((*places[:1], "…"))


def _parting_sentence(parting: Parting) -> str:
    shown, other, parted = parting.shown, parting.other, parting.divergence
    names = {"mark": _PARTING_MARK, "shown": shown.letter, "other": other.letter}
    if not parting.is_known:
        unknown = other if shown.history.has_steps else shown
        return _tr("Merges of {run} not available").format(run=unknown.letter)
    if parted is None:
        return _tr("{shown} and {other} make the same merges").format(**names)
    if parted.first is None or parted.second is None:
        ends = shown if parted.first is None else other
        text = _tr("{mark} {shown} and {other} are the same up to step {step}, where {ends} ends")
        return text.format(**names, step=number_text(parted.step - 1), ends=ends.letter)
    text = _tr("{mark} {shown} and {other} diverge at step {step}: {shown} merges {here}, {other} merges {there}")
    if parted.is_tie:
        text = _tr(
            "{mark} {shown} and {other} diverge at step {step} (tie): {shown} merges {here}, {other} merges {there}"
        )
    here, there = (" + ".join(token_text(each, 20) for each in pair) for pair in (parted.first, parted.second))
    return text.format(**names, step=number_text(parted.step), here=here, there=there)


def hit_words(hit: Hit, history: MergeHistory) -> str:
    """Return why a step halts: ``"breakpoint: token ##ing is created · breakpoint: tie of 3 pairs"``."""
    merge = history[hit.step - 1]
    return " · ".join(dict.fromkeys(_hit_text(each, merge, history) for each in hit.breakpoints))


def _hit_text(each: Breakpoint, merge: Merge, history: MergeHistory) -> str:
    if each.kind == "word":
        return _tr("breakpoint: word {word} becomes one token").format(word=token_text(each.text, 30))
    if each.kind == "value":
        said = _tr("breakpoint: merge score {value} < {limit}")
        return said.format(value=value_text(merge.value), limit=value_text(each.number))
    if each.kind == "tie":
        return counted(merge.ties, "breakpoint: tie of 1 pair", "breakpoint: tie of {count} pairs")
    if each.kind == "size":
        size = history.vocabulary_size(merge.step)
        return counted(size, "breakpoint: vocabulary reaches 1 token", "breakpoint: vocabulary reaches {count} tokens")
    return _tr("breakpoint: token {token} is created").format(token=token_text(merge.token, 30))


def merge_words(step: int, history: MergeHistory | None) -> str:
    """Return the merge of a step: ``"12: ch + ##a → cha"``."""
    if history is None or not step:
        return _tr("Before the first merge")
    merge = history[step - 1]
    left, right, token = (token_text(each, 30) for each in (merge.left, merge.right, merge.token))
    return f"{left} + {right} → {token}"


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """A compared run in the plot."""

    run: Run
    name: str
    values: Values  # those of its merges, shape (n_merges,)
    sizes: NDArray[np.int64]  # the size of its vocabulary at each step, shape (n_merges + 1,)
    widest: str  # the widest of the texts about its steps, for which there is room
    tokens: tuple[str, ...] = ()  # those that its merges made, if these are few
    parting: int | None = None
    """The step at which it first differs from the run that is shown; None if there is none, or if it is not known."""


def paint_curve(painter: QPainter, room: QRectF, places: Places, pen: QPen, ground: QColor, values: Values) -> None:
    """Draw the values of merges as a curve, and fill the area under it.

    Parameters
    ----------
    room
        Its bottom is the axis.
    places
        Returns where steps lie, in pixels, given an array of them.
    """
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
