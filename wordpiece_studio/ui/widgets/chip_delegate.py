"""Chips in a column of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from wordpiece_studio.ui.widgets.chip_style import ChipStyle, FlowItem
from wordpiece_studio.ui.widgets.painting import saved

if TYPE_CHECKING:
    from PySide6.QtWidgets import QTableView

    from wordpiece_studio.ui.widgets.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_MARGIN = 6.0
Variants = Callable[[_Index], Iterable[Sequence[FlowItem]]]
"""Returns what a cell may show, the longest first: it shows the first that fits, or else the last, cut off."""


class ChipDelegate(QStyledItemDelegate):
    """Draws the cells of one column as chips and text, and the others as usual, without a frame around the focus.

    Parameters
    ----------
    points
        How much larger the font is than the window's.
    gap
        The distance in pixels between two items.
    """

    def __init__(
        self, theme: Theme, column: int, variants: Variants, table: QTableView, *, points: float = -1, gap: float = 7
    ) -> None:
        super().__init__(table)
        self._points = points
        self._gap = gap
        self._theme = theme
        self._column = column
        self._variants = variants
        self.restyle()

    @property
    def chip_height(self) -> int:
        """The height of a chip in pixels."""
        return self._style.height

    def width(self, items: Sequence[FlowItem]) -> float:
        """Return the width in pixels of items beside each other."""
        return sum(self._style.item_width(item) + self._gap for item in items) - self._gap

    def restyle(self) -> None:
        """Apply the theme's current fonts and colors."""
        self._style = ChipStyle(self._theme, self._points)

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus
        if index.column() == self._column:
            option.text = ""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        super().paint(painter, option, index)
        if index.column() != self._column:
            return
        cell = QRectF(option.rect).adjusted(_MARGIN, 0, -_MARGIN, 0)
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(option.rect)
            rect = QRectF(cell.left(), cell.center().y() - self._style.height / 2, 0, self._style.height)
            for item in self._fitting(index, cell.width()):
                rect.setRight(min(rect.left() + self._style.item_width(item), cell.right()))
                if rect.width() > 0:
                    self._style.paint_item(painter, rect, item)
                rect.moveLeft(rect.right() + self._gap)

    def _fitting(self, index: _Index, width: float) -> Sequence[FlowItem]:
        variants = list(self._variants(index))
        return next((items for items in variants if self.width(items) <= width), variants[-1])
