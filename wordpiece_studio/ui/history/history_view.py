"""The table of merges: the moment's row marked, later ones pale, rows copied as tab-separated text.

It shows a :class:`~wordpiece_studio.model.history_table.HistoryTableModel` and decides nothing about moments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from wordpiece_studio.model.history_rows import TOKEN_COLUMNS, HistoryColumn
from wordpiece_studio.model.history_table import (
    RAW_ROLE,
    STEP_ROLE,
    HistoryTableModel,
)
from wordpiece_studio.ui.look.quiet_table import QuietTable
from wordpiece_studio.ui.look.token_text import token_text, value_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.ui.look.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_LETTERS = {HistoryColumn.LEFT: 7, HistoryColumn.RIGHT: 7, HistoryColumn.TOKEN: 10}
"""Least widths of the columns of tokens in digits; columns of numbers are as wide as their longest number."""
_LEFT_OUT_FIRST = (
    HistoryColumn.SYMBOLS,
    HistoryColumn.VOCABULARY,
    HistoryColumn.RIGHT_FREQUENCY,
    HistoryColumn.LEFT_FREQUENCY,
    HistoryColumn.TIES,
)
"""What a narrow table leaves out, so that the other columns stand there whole."""
_ROWS_AROUND = 3
_PADDING = 6


class HistoryDelegate(QStyledItemDelegate):
    """Draws a cell: bold at the moment, pale after it; a dot where there was no tie.

    It paints by itself: Qt's own way asks the model seven times for each cell, and a table that follows a training
    is painted sixty times a second.
    """

    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.moment = 0
        """The moment shown."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        step = self._model.step_of_row(index.row())
        cell = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if step == self.moment or is_selected:
            painter.fillRect(cell, self._theme.accent_soft)
        if step == self.moment and index.column() == HistoryColumn.STEP:
            painter.fillRect(QRectF(cell.left(), cell.top(), 3.5, cell.height()), self._theme.accent)
        font = QFont(option.font)
        font.setBold(step == self.moment)
        painter.setFont(font)
        painter.setPen(self._theme.faint if step > self.moment else self._theme.text)
        text = self._text(index)
        side = Qt.AlignmentFlag.AlignRight
        if index.column() in TOKEN_COLUMNS:  # a number is never cut: its column is wide enough
            side = Qt.AlignmentFlag.AlignLeft
            text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, cell.width() - 2 * _PADDING)
        inner = cell.adjusted(_PADDING, 0, -_PADDING, 0)
        painter.drawText(inner, int(side | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)

    def _text(self, index: _Index) -> str:
        column = index.column()
        if column == HistoryColumn.VALUE:
            return value_text(self._model.data(index, RAW_ROLE))
        text = str(self._model.data(index))
        if column in TOKEN_COLUMNS:
            return token_text(text)
        return "·" if column == HistoryColumn.TIES and text == "1" else text


class HistoryView(QuietTable):
    """The merges in rows of one height."""

    step_walked_to = Signal(object)
    """The step (int) to whose row an arrow key went."""
    copy_requested = Signal()
    """The selected rows are wanted on the clipboard."""

    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history_model = model
        self._wanted_widths: dict[int, int] = {}
        self._number_widths: dict[int, int] = {}  # below these a number would be cut
        self._is_spreading = False
        self._was_at_end = True
        self._shown_step = 0
        self._shown_at = 0
        self.setModel(model)
        self._delegate = HistoryDelegate(model, theme, self)
        self.setItemDelegate(self._delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAccessibleName(self.tr("Merge history"))
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionsMovable(True)
        # At the right, where Qt puts it, the arrow lies on the title.
        header.setStyleSheet(
            "QHeaderView::up-arrow, QHeaderView::down-arrow"
            "{ subcontrol-position: top center; width: 9px; height: 6px; top: 1px; }"
        )
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self.restyle()
        header.sectionResized.connect(self._on_header_section_resized)
        header.sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        model.rowsAboutToBeInserted.connect(self._on_model_rows_about_to_be_inserted)
        model.rowsInserted.connect(self._on_model_rows_inserted)
        model.layoutChanged.connect(self._on_model_layout_changed)
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        self._wanted_widths = {column: self._least_width(column) for column in range(len(HistoryColumn))}
        self.fit_numbers()
        self._spread_columns()

    def fit_numbers(self) -> None:
        """Make columns wider whose numbers have grown too long for them."""
        font = QFont(self.font())
        font.setBold(True)  # as at the moment
        metrics, has_grown = QFontMetrics(font), False
        for column, (least, most) in self._history_model.extremes().items():
            texts = _longest_texts(column, least, most)
            needed = max(map(metrics.horizontalAdvance, texts)) + 2 * _PADDING + 2
            self._number_widths[column] = needed
            if needed > self._wanted_widths[column]:
                self._wanted_widths[column], has_grown = needed, True
        if has_grown:
            self._spread_columns()

    def _least_width(self, column: int) -> int:
        digit = self.fontMetrics().horizontalAdvance("0")
        title = str(self._history_model.headerData(column, Qt.Orientation.Horizontal))
        least = self.horizontalHeader().fontMetrics().horizontalAdvance(title) + 18
        return max(digit * _LETTERS.get(HistoryColumn(column), 0), least)

    def _spread_columns(self) -> None:
        """Give each column its width, and all of them their share of what is left over; leave out what has no room."""
        self._is_spreading = True
        left_out = self._left_out()
        for column in self._wanted_widths:
            self.setColumnHidden(column, column in left_out)
        share = self._share()
        for column, width in self._wanted_widths.items():
            if column not in left_out:
                self.setColumnWidth(column, max(int(width * share), self._number_widths.get(column, 0)))
        self._is_spreading = False
        self.updateGeometries()  # Qt would leave the table scrolled sideways for a while, with numbers cut

    def _left_out(self) -> set[int]:
        over = sum(self._wanted_widths.values()) - self.viewport().width()
        left_out: set[int] = set()
        for column in _LEFT_OUT_FIRST:
            if over > 0:
                left_out.add(column)
                over -= self._wanted_widths[column]
        return left_out

    def _share(self) -> float:
        shown = sum(width for column, width in self._wanted_widths.items() if not self.isColumnHidden(column))
        return max(self.viewport().width() / max(shown, 1), 1.0)

    # -- where it stands

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.verticalHeader().defaultSectionSize()

    def set_moment(self, moment: int) -> None:
        """Mark the row of this moment; rows after it are pale."""
        self._delegate.moment = moment
        self.viewport().update()

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
        self._shown_step, self._shown_at = step, self.verticalScrollBar().value()

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
        """Keep the moment's row in view, unless the user has scrolled away from it."""
        was_there = self.verticalScrollBar().value() == self._shown_at
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._spread_columns()
        if was_there and self._shown_step:
            self.show_step(self._shown_step, select=False)

    def is_one_row_selected(self) -> bool:
        """Whether no row or one row is selected: a selection that moving the moment may take along."""
        ranges = self.selectionModel().selection().toList()
        return sum(part.height() for part in ranges) <= 1

    def selected_steps(self) -> NDArray[np.int64]:
        """Return the steps of the selected rows from top to bottom: int64, shape (n_rows,)."""
        ranges = [np.arange(part.top(), part.bottom() + 1) for part in self.selectionModel().selection().toList()]
        rows = np.unique(np.concatenate(ranges)) if ranges else np.empty(0, dtype=np.int64)
        return np.array([self._history_model.step_of_row(row) for row in rows.tolist()], dtype=np.int64)

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

    def _on_header_section_resized(self, column: int, _before: int, width: int) -> None:
        """Remember a width that was drawn by hand; a number keeps the room it needs."""
        if self._is_spreading or column not in self._wanted_widths or self.isColumnHidden(column):
            return
        least = max(self._number_widths[column], self._least_width(column)) if column in self._number_widths else 1
        self._wanted_widths[column] = max(int(width / self._share()), least)
        if width < least:
            self._is_spreading = True
            self.setColumnWidth(column, least)
            self._is_spreading = False

    def _on_header_sort_indicator_changed(self, _column: int, _order: Qt.SortOrder) -> None:
        """Show the best rows of the new order, or the moment's own where it is the one selected."""
        selected = self.selected_steps().tolist() if self.is_one_row_selected() else []
        if selected == [self._delegate.moment]:
            self.show_step(self._delegate.moment, select=False)
        else:
            self.scrollToTop()

    def _on_model_layout_changed(self) -> None:
        """Hide columns anew: after sorting Qt's header counts the hidden ones into its length, and scrolls sideways."""
        hidden = [column for column in self._wanted_widths if self.isColumnHidden(column)]
        self._is_spreading = True
        for column in hidden:
            self.setColumnHidden(column, False)
        self._is_spreading = False
        if hidden:
            self._spread_columns()

    # -- while rows come in

    def _on_model_rows_about_to_be_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        self._was_at_end = self.is_at_end

    def _on_model_rows_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        if self._was_at_end:
            self.scrollToBottom()


def _longest_texts(column: HistoryColumn, least: float, most: float) -> list[str]:
    """Return texts at least as long as any number between these two in this column."""
    if column is not HistoryColumn.VALUE:
        return [f"{int(most):,}"]
    texts = [value_text(least), value_text(most)]
    if not (float(most).is_integer() and float(least).is_integer()):
        texts += ["0.0000000"] if least < 0.01 else ["0.00000"]
        texts += [value_text(int(most) + 0.5)] if most >= 1000 else []
    return texts
