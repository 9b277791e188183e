"""A table that reads like a list: no grid, no row numbers, whole rows, rows of one fixed height, never edited.

In one variant the arrow keys choose, as a click does; another sorts, and lets several rows be selected and copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QStyledItemDelegate, QTableView, QWidget

from wordpiece_studio.ui.widgets.fields import is_alone, keep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QAbstractItemModel, QRect
    from PySide6.QtGui import QKeyEvent, QPainter
    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.session.table_model import SortedTableModel
    from wordpiece_studio.ui.widgets.theme import Theme

CELL_PADDING = 6
"""Pixels between the edge of a cell and its text."""
ARROWS_ABOVE = (
    "QHeaderView::up-arrow, QHeaderView::down-arrow"
    "{ subcontrol-position: top center; width: 9px; height: 6px; top: 1px; }"
)
"""The style of a header that sorts: on the right, where Qt puts it, the arrow would cover the title."""
_AT_LEFT, _AT_RIGHT = (
    int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
    for side in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
)
_ENDS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)


class QuietTable(QTableView):
    """What all tables of the panes have in common.

    Subclasses implement :meth:`restyle`, which is called after every change of fonts or colours.
    """

    row_chosen = Signal(object)
    """The row (int) of the model that was clicked, or on which Enter or the space bar was pressed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)  # Tab leaves the table: the arrow keys move inside it
        self.setCornerButtonEnabled(False)
        self.setMinimumSize(80, 48)  # Qt's own least size would make small windows scroll twice
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(20)
        self.clicked.connect(self._on_self_clicked)

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show another model.

        The header gets a selection of its own, which stays empty: to mark selected columns, Qt would ask every row
        for every column at every repaint, seven seconds for a million rows.
        """
        super().setModel(model)
        if model is not None:
            header = self.horizontalHeader()
            header.setSelectionModel(QItemSelectionModel(model, header))

    def set_up(
        self, model: QAbstractItemModel, theme: Theme, delegate: QStyledItemDelegate | None, *, stretched: int
    ) -> None:
        """Show a model in columns of fixed widths, but for one, and look as the theme says."""
        self.setModel(model)
        if delegate is not None:
            self.setItemDelegate(delegate)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    @property
    def selected_row(self) -> int:
        """The selected row, -1 if none is: a Ctrl+click clears the selection, but not the current row."""
        rows = self.selectionModel().selectedRows() if self.selectionModel() is not None else []
        return rows[0].row() if rows else -1

    def restyle(self) -> None:
        """Take row heights, column widths and fonts from the theme as it is now."""

    def event(self, event: QEvent) -> bool:
        """Keep the keys that go to the first and the last row: in the window they change the step."""
        return keep(event, _ENDS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENDS and is_alone(event):
            self._go_to_end(is_last=event.key() == Qt.Key.Key_End)
            return
        chosen = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if chosen and not event.modifiers() and self.currentIndex().isValid():
            self.row_chosen.emit(self.currentIndex().row())
            return
        super().keyPressEvent(event)

    def _go_to_end(self, *, is_last: bool) -> None:
        model, header = self.model(), self.horizontalHeader()
        count = model.rowCount() if model is not None else 0
        if count:  # in a visible column: Qt does not scroll to a hidden one
            self.setCurrentIndex(model.index(count - 1 if is_last else 0, max(header.logicalIndexAt(0), 0)))

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: Qt would ask a Python model for the text of every row, and there can be a million."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.on_theme_changed()

    def on_theme_changed(self) -> None:
        """Draw in the theme's present fonts and colours."""
        self.restyle()
        self.viewport().update()

    def bring_into_view(self, row: int, around: int = 0, *, is_early: bool = False) -> None:
        """Scroll to a row, with some rows around it; a distant row goes to the middle. The topmost row is whole.

        `is_early`: scroll as soon as there are fewer rows around it, not only once it is out of view.
        """
        self.executeDelayedItemsLayout()  # the scroll bar knows the rows
        height, room = self.verticalHeader().defaultSectionSize(), self.viewport().height()
        bar, top = self.verticalScrollBar(), self.rowViewportPosition(row)
        margin = min(around * height, max(room - height, 0) // 2)
        edge = margin if is_early else 0
        if top < -4 * height or top > room + 4 * height:
            bar.setValue(_whole_rows(bar.value() + top - (room - height) // 2, height))
        elif top < edge:
            bar.setValue(_whole_rows(bar.value() + top - margin, height))
        elif top + height > room - edge:
            bar.setValue(-_whole_rows(-(bar.value() + top + height - room + margin), height))

    def _on_self_clicked(self, index: QModelIndex) -> None:
        self.row_chosen.emit(index.row())


def _whole_rows(pixels: int, height: int) -> int:
    """Return the largest multiple of the height of a row that is no larger."""
    return pixels // height * height


def needed_height(part: QWidget, title: QLabel, table: QuietTable, rows: int) -> int:
    """Return the height in pixels of a wrapped title and this many rows of a table, if that is there, in a part."""
    layout = part.layout()
    margins = part.contentsMargins() if layout is None else layout.contentsMargins()
    width = max(part.width() - margins.left() - margins.right(), 1)
    height = max(title.heightForWidth(width), 0)
    if not table.isHidden():
        height += max(rows * table.verticalHeader().defaultSectionSize(), table.minimumHeight())
        height += layout.spacing() if layout is not None else 0
    return height + margins.top() + margins.bottom() + 4


class ChoosingTable(QuietTable):
    """Emits `row_chosen` for every row that a key moves to."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        before = self.currentIndex().row()
        super().keyPressEvent(event)
        row = self.currentIndex().row()
        if event.key() in _MOVES and row not in (before, -1):
            self.row_chosen.emit(row)

    def mark_row(self, row: int) -> None:
        """Mark a row as chosen and scroll to it; a negative number clears the mark."""
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(self.model().index(-1, 0))
        elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
            self.setCurrentIndex(self.model().index(row, 0))


class SortedTable(QuietTable):
    """Shows a `SortedTableModel`: a click on the header sorts, and several rows can be selected and copied."""

    item_walked_to = Signal(object)
    """The number (int) of the item in the row that an arrow key moved to."""
    copy_requested = Signal()
    """The user asks to copy the selected rows."""

    def __init__(self, model: SortedTableModel[Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sorted_model = model
        self.setModel(model)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStyleSheet(ARROWS_ABOVE)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)

    def selected_count(self) -> int:
        """Return the number of selected rows."""
        return sum(part.height() for part in self.selectionModel().selection().toList())

    def is_one_row_selected(self) -> bool:
        """Return whether at most one row is selected, so that the selection may follow what is shown elsewhere."""
        return self.selected_count() <= 1

    def selected_items(self) -> NDArray[np.int64]:
        """Return the items of the selected rows from top to bottom: int64, shape (n_rows,)."""
        is_selected = np.zeros(self._sorted_model.rowCount(), dtype=np.bool_)
        for part in self.selectionModel().selection().toList():
            is_selected[part.top() : part.bottom() + 1] = True
        return self._sorted_model.shown_items()[is_selected]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
            return
        before = self.currentIndex().row()
        super().keyPressEvent(event)
        now = self.currentIndex().row()
        # Not currentRowChanged: Qt makes the first row current when the table gets the keyboard.
        if now not in (before, -1) and self.is_one_row_selected():
            self.item_walked_to.emit(self._sorted_model.item_of_row(now))


def left_out(widths: Mapping[int, int], first: Sequence[int], room: int) -> frozenset[int]:
    """Return the columns to hide so that the others fit into `room` pixels: some of `first`, in this order."""
    over, hidden = sum(widths.values()) - room, set()
    for column in first:
        if over > 0:
            hidden.add(column)
            over -= widths[column]
    return frozenset(hidden)


def paint_mark(painter: QPainter, cell: QRect, theme: Theme) -> None:
    """Paint the bar at the left edge of a row that is chosen."""
    painter.fillRect(QRectF(cell.left(), cell.top(), 3.5, cell.height()), theme.accent)


def paint_text(painter: QPainter, cell: QRect, text: str, *, is_number: bool) -> None:
    """Write the text of a cell; a number is never cut off: its column is wide enough."""
    inner = cell.adjusted(CELL_PADDING, 0, -CELL_PADDING, 0)
    if not is_number:
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
    painter.drawText(inner, _AT_RIGHT if is_number else _AT_LEFT, text)
