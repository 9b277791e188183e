"""The table of merges: the row of the step is marked, later ones are pale.

It shows a :class:`~wordpiece_studio.session.history_table.HistoryTableModel` and decides nothing about steps.
A number is never cut off: where the columns do not fit, the table hides those that matter least, unless the user has
chosen which to show; then it scrolls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QFontMetrics,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from wordpiece_studio.session.history_table import TOKEN_COLUMNS, HistoryColumn, HistoryTableModel
from wordpiece_studio.ui.widgets.plain import menu_text, tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import CELL_PADDING, SortedTable, left_out, paint_mark, paint_text
from wordpiece_studio.ui.widgets.theme import bold
from wordpiece_studio.ui.widgets.token_text import token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QTableView

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.ui.widgets.theme import Theme

_LONGEST_TOKEN = 1000
_LETTERS = {HistoryColumn.LEFT: 7, HistoryColumn.RIGHT: 7, HistoryColumn.TOKEN: 10}
"""Minimum widths of token columns, in digits; number columns are as wide as their longest number."""
_LEFT_OUT_FIRST = (
    HistoryColumn.IS_NEW,
    HistoryColumn.WORDS,
    HistoryColumn.SYMBOLS,
    HistoryColumn.VOCABULARY,
    HistoryColumn.RIGHT_FREQUENCY,
    HistoryColumn.LEFT_FREQUENCY,
    HistoryColumn.TIES,
)
"""What a narrow table hides, so that the other columns fit."""
_AUTOMATIC, _HIDDEN = "automatic", "-"
_ROWS_AROUND = 3
_MOST_CARRIED = 2000
"""Selected rows that are found again in a new order within a frame; for very many, Qt takes seconds."""


class HistoryDelegate(QStyledItemDelegate):
    """Draws a cell: bold at the step, pale after it; a dot where there was no tie.

    It does its own painting: Qt's would query the model seven times per cell, and a table that follows training is
    painted sixty times a second.
    """

    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.step = 0  # the step shown
        self.first_column = int(HistoryColumn.STEP)  # the leftmost visible column, which carries the mark of the step

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        step = self._model.step_of_row(index.row())
        cell = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if step == self.step or is_selected:
            painter.fillRect(cell, self._theme.accent_soft)
        if step == self.step and index.column() == self.first_column:
            paint_mark(painter, cell, self._theme)
        painter.setFont(bold(option.font) if step == self.step else option.font)
        painter.setPen(self._theme.faint if step > self.step else self._theme.text)
        paint_text(painter, cell, self._text(index), is_number=index.column() not in TOKEN_COLUMNS)

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        """Show the full token, which may be elided in its cell."""
        if index.column() not in TOKEN_COLUMNS:
            return False
        text = token_text(str(self._model.data(index)), _LONGEST_TOKEN)
        QToolTip.showText(event.globalPos(), tooltip_text(text))
        return True

    def _text(self, index: Index) -> str:
        item, column = self._model.item_of_row(index.row()), index.column()
        if column == HistoryColumn.VALUE:
            return value_text(self._model.value(item, column))
        text = self._model.text(item, column)
        if column in TOKEN_COLUMNS:
            return token_text(text)
        return "·" if column == HistoryColumn.TIES and text == "1" else text


class HistoryColumns(QObject):
    """The columns of a table: which are visible, in which order, and how wide.

    Signals
    -------
    changed()
        The visible columns or their order have changed.
    chosen()
        The user has chosen columns, or another order.
    """

    changed = Signal()
    chosen = Signal()

    def __init__(self, table: QTableView, model: HistoryTableModel) -> None:
        super().__init__(table)
        self._table = table
        self._model = model
        self._chosen: frozenset[HistoryColumn] | None = None  # None: as many as fit
        self.wanted_widths: dict[int, int] = {}
        self.number_widths: dict[int, int] = {}  # below these a number would be cut off
        self._is_spreading = False
        header = table.horizontalHeader()
        header.setSectionsMovable(True)
        header.sectionResized.connect(self._on_header_section_resized)
        header.sectionMoved.connect(self._on_header_section_moved)

    # -- which are visible

    @property
    def is_automatic(self) -> bool:
        """Whether as many columns as fit are shown."""
        return self._chosen is None

    @property
    def first(self) -> int:
        return next((column for column in self._in_order() if not self._table.isColumnHidden(column)), 0)

    def shown(self) -> frozenset[HistoryColumn]:
        return frozenset(column for column in HistoryColumn if not self._table.isColumnHidden(column))

    def choose(self, columns: frozenset[HistoryColumn] | None) -> None:
        """Show these columns from now on; None shows as many as fit, in their usual order."""
        self._chosen = columns
        if columns is None:
            self._move(tuple(HistoryColumn))
        self.spread()
        self.chosen.emit()

    def names(self) -> tuple[str, ...]:
        """Return the choice in a form to save: names from left to right, hidden ones with a hyphen."""
        named = [(column.name.lower(), column) for column in map(HistoryColumn, self._in_order())]
        if self._chosen is None:
            return (_AUTOMATIC, *(name for name, _ in named))
        return tuple(name if column in self._chosen else _HIDDEN + name for name, column in named)

    def take_names(self, names: Sequence[str]) -> None:
        """Restore an earlier choice; unknown names are ignored."""
        by_name = {column.name.lower(): column for column in HistoryColumn}
        found = {by_name[bare]: bare == name for name in names if (bare := name.removeprefix(_HIDDEN)) in by_name}
        shown = frozenset(column for column, is_shown in found.items() if is_shown)
        if shown:
            self._chosen = None if _AUTOMATIC in names else shown
            self._move((*found, *(column for column in HistoryColumn if column not in found)))
            self.spread()

    # -- widths

    def restyle(self) -> None:
        self.wanted_widths = {column: self._least_width(column) for column in HistoryColumn}
        self.fit_numbers()
        self.spread()

    def fit_numbers(self) -> None:
        """Widen columns whose numbers have become too long for them."""
        metrics, has_grown = QFontMetrics(bold(self._table.font())), False  # as at the step
        for column, (least, most) in self._model.extremes().items():
            texts = _longest_texts(column, least, most)
            needed = max(map(metrics.horizontalAdvance, texts)) + 2 * CELL_PADDING + 2
            self.number_widths[column] = needed
            if needed > self.wanted_widths[column]:
                self.wanted_widths[column], has_grown = needed, True
        if has_grown:
            self.spread()

    def spread(self) -> None:
        """Give each column its width and its share of the remaining space; hide columns that do not fit."""
        before = self.shown()
        self._is_spreading = True
        left_out = self._left_out()
        for column in HistoryColumn:
            self._table.setColumnHidden(column, column in left_out)
        share = self._share()
        for place, width in self.wanted_widths.items():
            column = HistoryColumn(place)
            if column not in left_out:
                self._table.setColumnWidth(column, max(int(width * share), self.number_widths.get(column, 0)))
        self._is_spreading = False
        is_whole = self._table.horizontalHeader().length() <= self._table.viewport().width()
        policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if is_whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self._table.setHorizontalScrollBarPolicy(policy)
        self._table.updateGeometry()
        self._table.updateGeometries()  # else Qt leaves the table scrolled sideways for a while, with numbers cut off
        if self.shown() != before:
            self.changed.emit()

    def _least_width(self, column: HistoryColumn) -> int:
        digit = self._table.fontMetrics().horizontalAdvance("0")
        title = str(self._model.headerData(column, Qt.Orientation.Horizontal))
        least = self._table.horizontalHeader().fontMetrics().horizontalAdvance(title) + 18
        return max(digit * _LETTERS.get(column, 0), least)

    def _left_out(self) -> frozenset[int]:
        if self._chosen is not None:
            return frozenset(HistoryColumn) - self._chosen
        return left_out(self.wanted_widths, _LEFT_OUT_FIRST, self._table.viewport().width())

    def _share(self) -> float:
        shown = sum(self.wanted_widths[column] for column in self.shown())
        return max(self._table.viewport().width() / max(shown, 1), 1.0)

    # -- order

    def _in_order(self) -> list[int]:
        header = self._table.horizontalHeader()
        return [header.logicalIndex(place) for place in range(len(HistoryColumn))]

    def _move(self, columns: Sequence[HistoryColumn]) -> None:
        header = self._table.horizontalHeader()
        self._is_spreading = True
        for place, column in enumerate(columns):
            header.moveSection(header.visualIndex(column), place)
        self._is_spreading = False
        self.changed.emit()

    # -- events

    def _on_header_section_moved(self, _column: int, _before: int, _now: int) -> None:
        if not self._is_spreading:
            self.changed.emit()
            self.chosen.emit()

    def _on_header_section_resized(self, column: int, _before: int, width: int) -> None:
        """Remember a width set by dragging; a number keeps the room it needs."""
        if self._is_spreading or column not in self.wanted_widths or self._table.isColumnHidden(column):
            return
        is_number = column in self.number_widths
        least = max(self.number_widths[column], self._least_width(HistoryColumn(column))) if is_number else 1
        self.wanted_widths[column] = max(int(width / self._share()), least)
        if width < least:
            self._is_spreading = True
            self._table.setColumnWidth(column, least)
            self._is_spreading = False


def _longest_texts(column: HistoryColumn, least: float, most: float) -> list[str]:
    """Return texts at least as long as any number in this range in this column."""
    if column is not HistoryColumn.VALUE:
        return [f"{int(most):,}"]
    texts = [value_text(least), value_text(most)]
    if not (float(most).is_integer() and float(least).is_integer()):
        texts += ["0.0000000"] if least < 0.01 else ["0.00000"]
        texts += [value_text(int(most) + 0.5)] if most >= 1000 else []
    return texts


class HistoryView(SortedTable):
    def __init__(self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._rows = model
        self._theme = theme
        self.selection_step = 0
        self._was_at_end = True
        self._shown_step = 0
        self.delegate = HistoryDelegate(model, theme, self)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName(self.tr("Merge history"))
        self.columns = HistoryColumns(self, model)
        self.restyle()
        self.columns.changed.connect(self._on_columns_changed)
        self.horizontalHeader().sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        model.rearranging.connect(self._on_model_rearranging)
        model.rowsAboutToBeInserted.connect(self._on_model_rows_about_to_be_inserted)
        model.rowsInserted.connect(self._on_model_rows_inserted)
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        self.columns.restyle()

    # -- position

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.verticalHeader().defaultSectionSize()

    def set_step(self, step: int) -> None:
        """Mark the row of this step; rows after it are pale."""
        self.delegate.step = step
        self.viewport().update()

    def set_selection_step(self, step: int) -> None:
        """Mark the row of this step as the selection; 0 for none."""
        self.selection_step = step
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, and a frame around the row of the selection."""
        super().paintEvent(event)
        row = self._rows.row_of_step(self.selection_step)
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
        """Scroll to the row of a step; with `select`, make it the only selected one."""
        row = self._rows.row_of_step(step)
        if row < 0:
            if select:
                self.clearSelection()
            if step == 0:
                self.scrollToTop()
            return
        index = self._rows.index(row, 0)
        if select:
            self.setCurrentIndex(index)
        self.bring_into_view(row, _ROWS_AROUND, is_early=True)
        self._shown_step = step

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the last row shown in view, unless the user has scrolled away from it."""
        row, height = self._rows.row_of_step(self._shown_step), event.oldSize().height()
        was_there = row >= 0 and (height < 0 or -1 <= self.rowViewportPosition(row) < height)
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.columns.spread()
        if was_there:
            self.show_step(self._shown_step, select=False)

    def selected_steps(self) -> NDArray[np.int64]:
        """Return the steps of the selected rows from top to bottom: int64, shape (n_rows,)."""
        return self.selected_items() + 1

    def _on_columns_changed(self) -> None:
        self.delegate.first_column = self.columns.first
        self.viewport().update()

    def _on_header_sort_indicator_changed(self, _column: int, _order: Qt.SortOrder) -> None:
        """Show the first rows of the new order, or the step's row if it is the one selected."""
        selected = self.selected_steps().tolist() if self.is_one_row_selected() else []
        if selected == [self.delegate.step]:
            self.show_step(self.delegate.step, select=False)
        else:
            self.scrollToTop()

    # -- while rows arrive and change places

    def _on_model_rearranging(self) -> None:
        """Drop a selection of very many rows, unless it covers all."""
        if _MOST_CARRIED < self.selected_count() < self._rows.rowCount():
            self.clearSelection()

    def _on_model_rows_about_to_be_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        self._was_at_end = self.is_at_end

    def _on_model_rows_inserted(self, _parent: QModelIndex, _first: int, _last: int) -> None:
        if self._was_at_end:
            self.scrollToBottom()


_NO_ORDER = -1


class HistoryMenu(QMenu):
    """Which columns are visible, and the sort order; also the context menu of the table header."""

    def __init__(self, view: HistoryView, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self.sorting = QMenu(self.tr("&Sort by"), self)
        self._descending = self._checkable(text=self.tr("&Largest first"))
        self._columns = [self._checkable(column) for column in HistoryColumn]
        self._automatic = self._checkable(text=self.tr("As many as &fit"))
        self._orders = [self._checkable(place) for place in (_NO_ORDER, *HistoryColumn)]
        group = QActionGroup(self)
        for action in self._orders:
            group.addAction(action)
        self.sorting.addActions(self._orders)
        self.sorting.addSeparator()
        self.sorting.addAction(self._descending)
        self.addMenu(self.sorting)
        self.addSeparator()
        self.addAction(self._automatic)
        self.addSeparator()
        self.addActions(self._columns)
        self.aboutToShow.connect(self._on_self_about_to_show)
        self.triggered.connect(self._on_self_triggered)
        self.sorting.triggered.connect(self._on_sorting_triggered)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_context_menu_requested)

    def _checkable(self, place: int = _NO_ORDER, text: str = "") -> QAction:
        action = QAction(text, self)
        action.setCheckable(True)
        action.setData(int(place))
        return action

    def _on_self_about_to_show(self) -> None:
        model, header, columns = self._view.model(), self._view.horizontalHeader(), self._view.columns
        titles = [menu_text(str(model.headerData(column, Qt.Orientation.Horizontal))) for column in HistoryColumn]
        shown = columns.shown()
        for action, column in zip(self._columns, HistoryColumn, strict=True):
            action.setText(titles[column])
            action.setChecked(column in shown)
            action.setEnabled(shown != {column})  # one must be left
        self._automatic.setChecked(columns.is_automatic)
        for action, title in zip(self._orders, (self.tr("&None (in step order)"), *titles), strict=True):
            action.setText(title)
            action.setChecked(action.data() == header.sortIndicatorSection())
        self._descending.setChecked(header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder)

    def _on_self_triggered(self, action: QAction) -> None:
        columns = self._view.columns
        if action is self._automatic:
            columns.choose(None)
        elif action in self._columns:
            columns.choose(frozenset(HistoryColumn(each.data()) for each in self._columns if each.isChecked()))

    def _on_sorting_triggered(self, action: QAction) -> None:
        header, is_descending = self._view.horizontalHeader(), self._descending.isChecked()
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(header.sortIndicatorSection() if action is self._descending else action.data(), order)

    def _on_header_context_menu_requested(self, place: QPoint) -> None:
        self.popup(self._view.horizontalHeader().viewport().mapToGlobal(place))
