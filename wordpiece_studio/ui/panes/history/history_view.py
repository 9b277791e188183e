"""The table of merges: the row of the step is marked, later ones are pale.

It shows a :class:`~wordpiece_studio.session.history_table.HistoryTableModel` and decides nothing about steps.
A number is never cut off: where the columns do not fit, the table hides those that matter least, unless the user has
chosen which to show; then it scrolls.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from wordpiece_studio.session.history_table import TOKEN_COLUMNS, HistoryColumn, HistoryItems, HistoryTableModel
from wordpiece_studio.ui.widgets.plain import menu_text, tooltip_text
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from PySide6.QtCore import QPoint

    from wordpiece_studio.ui.widgets.table import Key
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "HistoryView")
_LONGEST_TOKEN = 1000
_AUTOMATIC, _HIDDEN = "automatic", "-"
_ROWS_AROUND = 3
_MOST_CARRIED = 2000
"""Selected rows that are found again in a new order within a frame; for very many, Qt takes seconds."""
_PLAIN, _LATER = RowLook(), RowLook(ink="faint")
_AT_STEP = RowLook("accent_soft", is_bold=True, is_marked=True)


class HistoryColumns(QObject):
    """Which columns of a table the user has chosen, and their order.

    Signals
    -------
    chosen()
        The user has chosen columns, or another order.
    """

    chosen = Signal()

    def __init__(self, table: TableView) -> None:
        super().__init__(table)
        self._table = table
        self._header = table.horizontalHeader()
        self._is_moving = False
        self._header.setSectionsMovable(True)
        self._header.sectionMoved.connect(self._on_header_section_moved)

    @property
    def is_automatic(self) -> bool:
        """Whether as many columns as fit are shown."""
        return self._table.chosen is None

    def choose(self, columns: frozenset[int] | None) -> None:
        """Show these columns from now on; None shows as many as fit, in their usual order."""
        if columns is None:
            self._move(tuple(HistoryColumn))
        self._table.choose(columns)
        self.chosen.emit()

    def names(self) -> tuple[str, ...]:
        """Return the choice in a form to save: names from left to right, hidden ones with a hyphen."""
        order = [HistoryColumn(self._header.logicalIndex(place)) for place in range(len(HistoryColumn))]
        chosen = self._table.chosen
        names = (("" if chosen is None or column in chosen else _HIDDEN) + column.name.lower() for column in order)
        return (_AUTOMATIC, *names) if chosen is None else tuple(names)

    def take_names(self, names: Sequence[str]) -> None:
        """Restore an earlier choice; unknown names are ignored."""
        by_name = {column.name.lower(): column for column in HistoryColumn}
        found = {by_name[bare]: bare == name for name in names if (bare := name.removeprefix(_HIDDEN)) in by_name}
        shown = frozenset(column for column, is_shown in found.items() if is_shown)
        if shown:
            self._move((*found, *(column for column in HistoryColumn if column not in found)))
            self._table.choose(None if _AUTOMATIC in names else shown)

    def _move(self, columns: Sequence[HistoryColumn]) -> None:
        self._is_moving = True
        for place, column in enumerate(columns):
            self._header.moveSection(self._header.visualIndex(column), place)
        self._is_moving = False

    def _on_header_section_moved(self) -> None:
        if not self._is_moving:
            self.chosen.emit()


def _token_look(name: str) -> dict[str, Callable[[HistoryItems, int], str]]:
    """Describe how a token is drawn, and its tooltip: the full token, which may be elided in its cell."""
    return {
        "drawn": lambda items, index: token_text(items.token(name, index)),
        "tip": lambda items, index: tooltip_text(token_text(items.token(name, index), _LONGEST_TOKEN)),
    }


class HistoryView(TableView):
    def __init__(
        self,
        model: HistoryTableModel,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        keys: Mapping[Key, Callable[[], object]],
    ) -> None:
        self.step = 0  # the step shown
        for column, name in zip(TOKEN_COLUMNS, ("left_id", "right_id", "new_id"), strict=True):
            model.dress(column, **_token_look(name))
        super().__init__(
            model, theme, parent, name=_tr("Merge history"), row_room=7, several=True, is_adjustable=True,
            look=self._look, keys=keys,
        )  # fmt: skip
        self._merges = model
        self._theme = theme
        self.selection_step = 0
        self._was_at_end = True
        self._shown_step = 0
        self.columns = HistoryColumns(self)
        self.horizontalHeader().sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        model.rearranging.connect(self._on_model_rearranging)
        model.rowsAboutToBeInserted.connect(self._on_model_rows_about_to_be_inserted)
        model.rowsInserted.connect(self._on_model_rows_inserted)

    def _look(self, _items: HistoryItems, index: int) -> RowLook:
        """Mark the row of the step, and make later ones pale."""
        return _PLAIN if index + 1 < self.step else _AT_STEP if index + 1 == self.step else _LATER

    # -- position

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.row_height

    def set_step(self, step: int) -> None:
        """Mark the row of this step; rows after it are pale."""
        self.step = step
        self.viewport().update()

    def set_selection_step(self, step: int) -> None:
        """Mark the row of this step as the selection; 0 for none."""
        self.selection_step = step
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows, and a frame around the row of the selection."""
        super().paintEvent(event)
        row = self._merges.row_of_step(self.selection_step)
        if row < 0:
            return
        height = self.row_height
        width = min(self.viewport().width(), self.horizontalHeader().length() - self.horizontalHeader().offset())
        frame = QRect(0, self.rowViewportPosition(row), width, height)
        if frame.intersects(event.rect()):
            with QPainter(self.viewport()) as painter:
                painter.setPen(QPen(self._theme.accent_ink, 1, Qt.PenStyle.DashLine))
                painter.drawRect(frame.adjusted(0, 0, -1, -1))

    def show_step(self, step: int, *, select: bool) -> None:
        """Scroll to the row of a step; with `select`, make it the only selected one."""
        row = self._merges.row_of_step(step)
        if row < 0:
            if select:
                self.clearSelection()
            if step == 0:
                self.scrollToTop()
            return
        index = self._merges.index(row, 0)
        if select:
            self.setCurrentIndex(index)
        self.bring_into_view(row, _ROWS_AROUND, is_early=True)
        self._shown_step = step

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the last row shown in view, unless the user has scrolled away from it."""
        row, height = self._merges.row_of_step(self._shown_step), event.oldSize().height()
        was_there = row >= 0 and (height < 0 or -1 <= self.rowViewportPosition(row) < height)
        super().resizeEvent(event)
        if was_there:
            self.show_step(self._shown_step, select=False)

    def selected_steps(self) -> NDArray[np.int64]:
        """Return the steps of the selected rows from top to bottom: int64, shape (n_rows,)."""
        return self.selected_items() + 1

    def _on_header_sort_indicator_changed(self, _column: int, _order: Qt.SortOrder) -> None:
        """Show the first rows of the new order, or the step's row if it is the one selected."""
        selected = self.selected_steps().tolist() if self.is_one_row_selected() else []
        if selected == [self.step]:
            self.show_step(self.step, select=False)
        else:
            self.scrollToTop()

    # -- while rows arrive and change places

    def _on_model_rearranging(self) -> None:
        """Drop a selection of very many rows, unless it covers all."""
        if _MOST_CARRIED < self.selected_count() < self._merges.rowCount():
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
        shown = self._view.shown_columns()
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
            columns.choose(frozenset(each.data() for each in self._columns if each.isChecked()))

    def _on_sorting_triggered(self, action: QAction) -> None:
        header, is_descending = self._view.horizontalHeader(), self._descending.isChecked()
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(header.sortIndicatorSection() if action is self._descending else action.data(), order)

    def _on_header_context_menu_requested(self, place: QPoint) -> None:
        self.popup(self._view.horizontalHeader().viewport().mapToGlobal(place))
