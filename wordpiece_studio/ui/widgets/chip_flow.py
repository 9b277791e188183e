"""Chips, words, steps and text in lines that wrap; items with a target can be chosen by mouse and keyboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.chip_area import ChipArea
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter, QResizeEvent

    from wordpiece_studio.ui.widgets.chip_style import FlowItem
    from wordpiece_studio.ui.widgets.theme import Theme

_LINE_GAP, _MARGIN = 4.0, 1.0
_MOST_SPOKEN = 60  # items


@dataclass(frozen=True, slots=True)
class FlowSpacing:
    """Distances: between chips of a word, between words, and from the top of one row to the next."""

    chip_gap: float
    word_gap: float
    row_height: float


def lay_out(words: Sequence[Sequence[float]], width: float, spacing: FlowSpacing) -> list[tuple[float, float, float]]:
    """Return left edge, top edge and width of chips, given by their widths, in rows of the given width.

    A word that does not fit into the rest of a row starts the next one; a word wider than a row is broken between
    chips; a chip wider than a row is clipped when painted.

    >>> lay_out([[10, 10], [30]], 40, FlowSpacing(2, 5, 20))
    [(0.0, 0.0, 10), (12.0, 0.0, 10), (0.0, 20.0, 30)]
    """
    placed: list[tuple[float, float, float]] = []
    x = y = 0.0
    for widths in words:
        whole = sum(widths) + spacing.chip_gap * max(len(widths) - 1, 0)
        if x and x + whole > width:
            x, y = 0.0, y + spacing.row_height
        for chip_width in widths:
            if x and x + chip_width > width:
                x, y = 0.0, y + spacing.row_height
            placed.append((x, y, chip_width))
            x += chip_width + spacing.chip_gap
        x += spacing.word_gap - spacing.chip_gap
    return placed


class ChipFlow(ChipArea[int]):
    """Items from left to right, in as many lines as they need; a place is the index of an item.

    Parameters
    ----------
    points
        How much larger the font is than the window's.
    gap
        The distance in pixels between two items.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, points: float = 0, gap: float = 5) -> None:
        super().__init__(theme, parent, points=points)
        self._gap = gap
        self._items: tuple[FlowItem, ...] = ()
        self._rects: list[QRectF] = []
        self._name = ""
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # until there is something to choose
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()  # while there is nothing to show

    @property
    def items(self) -> tuple[FlowItem, ...]:
        """The items shown."""
        return self._items

    def show_items(self, items: Sequence[FlowItem], name: str) -> None:
        """Show these items; `name` is their accessible name."""
        if (tuple(items), name) == (self._items, self._name):
            return
        is_same = [item.target for item in items] == [item.target for item in self._items]
        self._items, self._name = tuple(items), name
        if not is_same:
            self._current = self._place_for(Qt.Key.Key_Home)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if self._current is None else Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self._update_accessibility()
        self.setVisible(bool(items))
        self._lay_out()
        self.viewport().update()

    def set_points(self, points: float) -> None:
        """Make the font this much larger than the window's."""
        if points != self._points:
            self._points = points
            self.restyle()

    # -- geometry

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.height_of(self._items, width)

    def height_of(self, items: Sequence[FlowItem], width: int) -> int:
        """Return the height in pixels that items need at a width in pixels."""
        return int(max((rect.bottom() for rect in self._placed(items, width)), default=self._style.height) + 2)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._style.height + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rects = self._placed(self._items, self.width())

    def _lay_out(self) -> None:
        self._rects = self._placed(self._items, self.width())
        self.updateGeometry()

    def _placed(self, items: Sequence[FlowItem], width: int) -> list[QRectF]:
        room, height = max(width - 2 * _MARGIN, 20.0), self._style.height
        widths = [[min(self._style.item_width(item), room)] for item in items]
        chips = lay_out(widths, room, FlowSpacing(0, self._gap, height + _LINE_GAP))
        return [QRectF(x + _MARGIN, y + _MARGIN, chip_width, height) for x, y, chip_width in chips]

    def _content_rect(self, place: int) -> QRectF | None:
        return self._rects[place]

    def _place_at(self, point: QPointF) -> int | None:
        return next((place for place, rect in enumerate(self._rects) if rect.contains(point)), None)

    # -- items

    def _place_for(self, key: Qt.Key) -> int | None:
        choices = [place for place, item in enumerate(self._items) if item.target is not None]
        if not choices:
            return None
        at = choices.index(self._current) if self._current in choices else 0
        steps = {Qt.Key.Key_Left: at - 1, Qt.Key.Key_Up: at - 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(choices) - 1}
        return choices[max(0, min(steps.get(key, at + 1), len(choices) - 1))]

    def _target(self, place: int) -> object:
        return self._items[place].target

    def _said(self, place: int) -> str:
        item = self._items[place]
        return item.tip if item.tip.startswith(item.text) else f"{token_text(item.text)}. {item.tip}"

    def _said_of_all(self) -> str:
        return " ".join(token_text(item.text) for item in self._items[:_MOST_SPOKEN])

    def _tip(self, place: int) -> str:
        return self._items[place].tip

    def _paint(self, painter: QPainter, _seen: QRectF) -> None:
        current = self._current if self.hasFocus() else None
        for place, (item, rect) in enumerate(zip(self._items, self._rects, strict=True)):
            painter.setClipRect(rect.adjusted(-1, -1, 1, 1))  # a long one may be clipped
            self._style.paint_item(painter, rect, item, is_current=place == current)
