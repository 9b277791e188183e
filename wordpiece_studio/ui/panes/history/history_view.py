"""The table of merges: the step's row marked, later ones pale, rows copied as tab-separated text.

It shows a :class:`~wordpiece_studio.session.history_table.HistoryTableModel` and decides nothing about steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from wordpiece_studio.session.history_table import STEP_ROLE, HistoryTableModel
from wordpiece_studio.ui.panes.history.history_columns import HistoryColumns
from wordpiece_studio.ui.panes.history.history_delegate import HistoryDelegate
from wordpiece_studio.ui.widgets.quiet_table import QuietTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.ui.widgets.theme import Theme

_ROWS_AROUND = 3
_MOST_CARRIED = 2000
"""Selected rows that are looked for in a new order, in a frame; for very many Qt takes seconds."""


class HistoryView(QuietTable):
    """The merges in rows of one height."""

    step_walked_to = Signal(object)
    """The step (int) to whose row an arrow key went."""
    copy_requested = Signal()
    """The selected rows are wanted on the clipboard."""

    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history_model = model
        self._theme = theme
        self._focus_step = 0
        self._was_at_end = True
        self._shown_step = 0
        self.setModel(model)
        self._delegate = HistoryDelegate(model, theme, self)
        self.setItemDelegate(self._delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAccessibleName(self.tr("Merge history"))
        header = self.horizontalHeader()
        # At the right, where Qt puts it, the arrow lies on the title.
        header.setStyleSheet(
            "QHeaderView::up-arrow, QHeaderView::down-arrow"
            "{ subcontrol-position: top center; width: 9px; height: 6px; top: 1px; }"
        )
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self._columns = HistoryColumns(self, model)
        self.restyle()
        self._columns.changed.connect(self._on_columns_changed)
        header.sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        model.rearranging.connect(self._on_model_rearranging)
        model.rowsAboutToBeInserted.connect(self._on_model_rows_about_to_be_inserted)
        model.rowsInserted.connect(self._on_model_rows_inserted)
        theme.changed.connect(self.on_theme_changed)

    @property
    def columns(self) -> HistoryColumns:
        """Which columns are shown, in which order and how wide."""
        return self._columns

    def restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        self._columns.restyle()

    # -- where it stands

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.verticalHeader().defaultSectionSize()

    def set_step(self, step: int) -> None:
        """Mark the row of this step; rows after it are pale."""
        self._delegate.step = step
        self.viewport().update()

    def set_focus_step(self, step: int) -> None:
        """Mark the row of this step as the one that is looked at; 0 for none."""
        self._focus_step = step
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, and a frame round the one that is looked at."""
        super().paintEvent(event)
        row = self._history_model.row_of_step(self._focus_step)
        if row < 0:
            return
        height = self.verticalHeader().defaultSectionSize()
        width = min(self.viewport().width(), self.horizontalHeader().length() - self.horizontalHeader().offset())
        frame = QRect(0, self.rowViewportPosition(row), width, height)
        if frame.intersects(event.rect()):
            with QPainter(self.viewport()) as painter:
                painter.setPen(QPen(self._theme.accent_ink, 1, Qt.PenStyle.DashLine))
                painter.drawRect(frame.adjusted(0, 0, -1, -1))

    def show_step(self, step: int, *, select: bool) -> None:
        """Bring the row of a step into view; with `select` make it the only selected one."""
        row = self._history_model.row_of_step(step)
        if row < 0:
            if select:
                self.clearSelection()
            if step == 0:
                self.scrollToTop()
            return
        index = self._history_model.index(row, 0)
        if select:
            self.setCurrentIndex(index)
        self._scroll_to_row(row)
        self._shown_step = step

    def _scroll_to_row(self, row: int) -> None:
        """Bring a row into view with some rows around it; a far one into the middle."""
        height, room = self.verticalHeader().defaultSectionSize(), self.viewport().height()
        bar, top = self.verticalScrollBar(), self.rowViewportPosition(row)
        margin = min(_ROWS_AROUND * height, max(room - height, 0) // 2)
        if top < -4 * height or top > room + 4 * height:
            bar.setValue(bar.value() + top - (room - height) // 2)
        elif top < margin:
            bar.setValue(bar.value() + top - margin)
        elif top + height > room - margin:
            bar.setValue(bar.value() + top + height - room + margin)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the row that was shown last in view, unless the user has scrolled away from it."""
        row, height = self._history_model.row_of_step(self._shown_step), event.oldSize().height()
        was_there = row >= 0 and (height < 0 or -1 <= self.rowViewportPosition(row) < height)
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._columns.spread()
        if was_there:
            self.show_step(self._shown_step, select=False)

    def is_one_row_selected(self) -> bool:
        """Whether no row or one row is selected: a selection that moving the step may take along."""
        return self._selected_count() <= 1

    def _selected_count(self) -> int:
        return sum(part.height() for part in self.selectionModel().selection().toList())

    def selected_steps(self) -> NDArray[np.int64]:
        """Return the steps of the selected rows from top to bottom: int64, shape (n_rows,)."""
        is_selected = np.zeros(self._history_model.rowCount(), dtype=np.bool_)
        for part in self.selectionModel().selection().toList():
            is_selected[part.top() : part.bottom() + 1] = True
        return self._history_model.shown_merges()[is_selected] + 1

    def step_at(self, index: QModelIndex) -> int:
        """Return the step of a row's index."""
        return int(index.data(STEP_ROLE))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
            return
        before = self.currentIndex().row()
        super().keyPressEvent(event)
        # Not currentRowChanged: Qt makes the first row current when the table gets the keyboard.
        now = self.currentIndex()
        if now.isValid() and now.row() != before and self.is_one_row_selected():
            self.step_walked_to.emit(self.step_at(now))

    def _on_columns_changed(self) -> None:
        self._delegate.first_column = self._columns.first
        self.viewport().update()

    def _on_header_sort_indicator_changed(self, _column: int, _order: Qt.SortOrder) -> None:
        """Show the best rows of the new order, or the step's own where it is the one selected."""
        selected = self.selected_steps().tolist() if self.is_one_row_selected() else []
        if selected == [self._delegate.step]:
            self.show_step(self._delegate.step, select=False)
        else:
            self.scrollToTop()

    # -- while rows come in and change places

    def _on_model_rearranging(self) -> None:
        """Give up a selection of very many rows, unless it is of all."""
        if _MOST_CARRIED < self._selected_count() < self._history_model.rowCount():
            self.clearSelection()

    def _on_model_rows_about_to_be_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        self._was_at_end = self.is_at_end

    def _on_model_rows_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        if self._was_at_end:
            self.scrollToBottom()
