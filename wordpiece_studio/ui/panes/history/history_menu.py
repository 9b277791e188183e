"""The menu that chooses the columns of the table of merges and the order of its rows, for those without a mouse too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from wordpiece_studio.session.history_rows import HistoryColumn
from wordpiece_studio.ui.widgets.plain import menu_text

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint

    from wordpiece_studio.ui.panes.history.history_view import HistoryView

_NO_ORDER = -1


class HistoryMenu(QMenu):
    """Columns to see, and what to sort by; also the context menu of the table's header."""

    def __init__(self, view: HistoryView, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self._sorting = QMenu(self.tr("&Sort by"), self)
        self._sorted_by = QActionGroup(self)
        self._descending = QAction(self.tr("&Largest first"), self)
        self._descending.setCheckable(True)
        self._columns = [self._checkable(column) for column in HistoryColumn]
        self._automatic = QAction(self.tr("As many as &fit"), self)
        self._automatic.setCheckable(True)
        self._put_together()
        self.aboutToShow.connect(self._on_self_about_to_show)
        self.triggered.connect(self._on_self_triggered)
        self._sorting.triggered.connect(self._on_sorting_triggered)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_context_menu_requested)

    def _put_together(self) -> None:
        for place in (_NO_ORDER, *HistoryColumn):
            action = self._checkable(place)
            self._sorted_by.addAction(action)
            self._sorting.addAction(action)
        self._sorting.addSeparator()
        self._sorting.addAction(self._descending)
        self.addMenu(self._sorting)
        self.addSeparator()
        self.addAction(self._automatic)
        self.addSeparator()
        self.addActions(self._columns)

    def _checkable(self, data: int) -> QAction:
        action = QAction(self)
        action.setCheckable(True)
        action.setData(int(data))
        return action

    def _on_self_about_to_show(self) -> None:
        model, header, columns = self._view.model(), self._view.horizontalHeader(), self._view.columns
        titles = [str(model.headerData(column, Qt.Orientation.Horizontal)) for column in HistoryColumn]
        shown = columns.shown()
        for action, column in zip(self._columns, HistoryColumn, strict=True):
            action.setText(menu_text(titles[column]))
            action.setChecked(column in shown)
            action.setEnabled(shown != {column})  # one must be left
        self._automatic.setChecked(columns.is_automatic)
        for action in self._sorted_by.actions():
            place = int(action.data())
            action.setText(menu_text(titles[place]) if place >= 0 else self.tr("&Nothing: in the order of the steps"))
            action.setChecked(place == header.sortIndicatorSection())
        self._descending.setChecked(header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder)

    def _on_self_triggered(self, action: QAction) -> None:
        columns = self._view.columns
        if action is self._automatic:
            columns.choose(None)
        elif action in self._columns:
            columns.choose(frozenset(HistoryColumn(int(a.data())) for a in self._columns if a.isChecked()))

    def _on_sorting_triggered(self, action: QAction) -> None:
        header, is_descending = self._view.horizontalHeader(), self._descending.isChecked()
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        place = header.sortIndicatorSection() if action is self._descending else int(action.data())
        header.setSortIndicator(place, order)

    def _on_header_context_menu_requested(self, place: QPoint) -> None:
        self.popup(self._view.horizontalHeader().viewport().mapToGlobal(place))
