"""The merges as a table for Qt's views: a thin adapter over the columns of the history.

Sorting and filtering are index arrays (`history_rows.py`); no row is an object. Colours and fonts are the view's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer

from wordpiece_studio.model.history_rows import (
    NUMBER_COLUMNS,
    TOKEN_COLUMNS,
    HistoryColumn,
    HistoryFilter,
    HistoryRows,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.model.trainer_model import TrainerModel

    Index = QModelIndex | QPersistentModelIndex

RAW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The value itself: a token, an int or a float."""

STEP_ROLE = RAW_ROLE + 1
"""The step of the row, from 1."""

IS_MOMENT_ROLE = RAW_ROLE + 2
"""True for the row of the last merge of the moment shown."""

IS_FUTURE_ROLE = RAW_ROLE + 3
"""True for merges that the moment shown has not seen yet."""

_REARRANGE_INTERVAL_MS = 250
_NO_INDEX = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class HistoryTableModel(QAbstractTableModel):
    """One row a merge; the columns are those of `HistoryColumn`.

    `DisplayRole` is text for reading (four significant digits), `RAW_ROLE` the value; see the other roles above. While
    training, rows come in batches; where they are sorted or filtered they fall into place a few times a second.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None, *, locale: QLocale | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._locale = locale if locale is not None else QLocale()
        self._history = model.history
        self._rows = HistoryRows(model.history) if model.history is not None else None
        self._known = model.merge_count  # merges that the rows are made of
        self._moment = model.moment
        self._filter = HistoryFilter()
        self._column = HistoryColumn.STEP
        self._descending = False
        # Merge index by row, int64; None stands for 0, 1, 2, …, to which rows are added for nothing.
        self._order: NDArray[np.int64] | None = None
        self._row_of_merge: NDArray[np.int64] | None = None  # the inverse of `_order`, made when asked for
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REARRANGE_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.moment_changed.connect(self._on_model_moment_changed)

    # Rows and steps.

    def step_of_row(self, row: int) -> int:
        """Return the step, from 1, that stands in `row`."""
        return (row if self._order is None else int(self._order[row])) + 1

    def row_of_step(self, step: int) -> int:
        """Return the row of a step, from 1; -1 if it is not shown."""
        if not 1 <= step <= self._known:
            return -1
        if self._order is None:
            return step - 1
        if self._row_of_merge is None:
            self._row_of_merge = np.full(self._known, -1, dtype=np.int64)
            self._row_of_merge[self._order] = np.arange(len(self._order))
        return int(self._row_of_merge[step - 1])

    @property
    def hidden_count(self) -> int:
        """Number of merges that the filter hides."""
        return self._known - self.rowCount()

    @property
    def filter(self) -> HistoryFilter:
        """Which merges are shown."""
        return self._filter

    def extremes(self) -> dict[HistoryColumn, tuple[float, float]]:
        """Return the smallest and the largest number of each column of numbers; empty if there is no row."""
        history, count = self._history, self._model.merge_count  # rows that are sorted come in later
        if history is None or history is not self._model.history or not count:
            return {}
        found: dict[HistoryColumn, tuple[float, float]] = {}
        for column, name in NUMBER_COLUMNS.items():
            values = history.column(name)[:count]
            found[column] = (values.min().item(), values.max().item())
        found[HistoryColumn.STEP] = (1, count)
        found[HistoryColumn.VOCABULARY] = (history.vocabulary_size(1), history.vocabulary_size(count))
        found[HistoryColumn.SYMBOLS] = (history.symbols_after(count), history.symbols_after(1))
        return found

    def set_filter(self, wanted: HistoryFilter) -> None:
        """Show only the merges that `wanted` lets through."""
        if wanted != self._filter:
            self.beginResetModel()
            self._filter = wanted
            self._known = self._model.merge_count
            self._set_order(self._wanted_order())
            self.endResetModel()

    # What Qt asks.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of merges shown."""
        if parent.isValid():
            return 0
        return self._known if self._order is None else len(self._order)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(HistoryColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a cell says for `role`."""
        if not index.isValid() or self._history is None:
            return None
        column = HistoryColumn(index.column())
        step = self.step_of_row(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(self._value(step, column))
        if role == RAW_ROLE:
            return self._value(step, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column in TOKEN_COLUMNS else _RIGHT
        if role == IS_FUTURE_ROLE:
            return step > self._moment
        if role == IS_MOMENT_ROLE:
            return step == self._moment
        return step if role == STEP_ROLE else None

    def headerData(  # Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column, or how it is aligned."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(HistoryColumn):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles()[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if HistoryColumn(section) in TOKEN_COLUMNS else _RIGHT
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 is the order of the steps."""
        self._column = HistoryColumn(column) if column >= 0 else HistoryColumn.STEP
        self._descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        self._take_up_new()
        self._rearrange()

    # What the trainer says.

    def _on_model_run_reset(self) -> None:
        self.beginResetModel()
        self._timer.stop()
        self._history = self._model.history
        self._rows = HistoryRows(self._history) if self._history is not None else None
        self._known = self._moment = 0
        self._set_order(self._wanted_order())
        self.endResetModel()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if self._order is not None:
            if not self._timer.isActive():
                self._timer.start()
        elif last >= self._known:
            self.beginInsertRows(QModelIndex(), self._known, last)
            self._known = last + 1
            self.endInsertRows()

    def _on_model_moment_changed(self, moment: int) -> None:
        before, self._moment = self._moment, moment
        last = self.rowCount() - 1
        if last < 0:
            return
        if self._order is None:
            first, last = max(0, min(before, moment) - 1), min(last, max(before, moment) - 1)
        else:
            first = 0
        if first <= last:
            changed = [IS_MOMENT_ROLE, IS_FUTURE_ROLE]
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(HistoryColumn) - 1), changed)

    def _on_timer_timeout(self) -> None:
        began = time.perf_counter()
        self._take_up_new()
        self._rearrange()
        # A long history takes longer: never spend more than a twentieth of the time on it.
        cost_ms = 1000 * (time.perf_counter() - began)
        self._timer.setInterval(max(_REARRANGE_INTERVAL_MS, round(20 * cost_ms)))

    # Order.

    def _take_up_new(self) -> None:
        """Append the merges that were learned meanwhile at the end, if the filter lets them through."""
        count = self._model.merge_count
        if self._order is None or self._rows is None or count <= self._known:
            return
        shown = self._rows.ordered(count, self._filter, HistoryColumn.STEP, descending=False)
        new = shown[np.searchsorted(shown, self._known) :]
        first = len(self._order)
        if len(new):
            self.beginInsertRows(QModelIndex(), first, first + len(new) - 1)
        self._known = count
        self._set_order(np.concatenate((self._order, new)))
        if len(new):
            self.endInsertRows()

    def _rearrange(self) -> None:
        """Put the rows in order; selected and current rows stay on their merges."""
        wanted = self._wanted_order()
        if wanted is None and self._order is None:
            return
        if wanted is not None and self._order is not None and np.array_equal(wanted, self._order):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        steps = [self.step_of_row(index.row()) for index in before]
        self._set_order(wanted)
        after = [self.index(self.row_of_step(step), old.column()) for step, old in zip(steps, before, strict=True)]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _wanted_order(self) -> NDArray[np.int64] | None:
        is_plain = self._column is HistoryColumn.STEP and not self._descending and not self._filter
        if is_plain or self._rows is None:
            return None
        return self._rows.ordered(self._known, self._filter, self._column, descending=self._descending)

    def _set_order(self, order: NDArray[np.int64] | None) -> None:
        self._order = order
        self._row_of_merge = None

    # Cells.

    def _value(self, step: int, column: HistoryColumn) -> str | int | float:
        history = self._history
        assert history is not None  # `data` has looked
        if column in TOKEN_COLUMNS:
            return history.token(int(history.column(TOKEN_COLUMNS[column])[step - 1]))
        if column in NUMBER_COLUMNS:
            value: int | float = history.column(NUMBER_COLUMNS[column])[step - 1].item()
            return value
        if column is HistoryColumn.VOCABULARY:
            return history.vocabulary_size(step)
        return history.symbols_after(step) if column is HistoryColumn.SYMBOLS else step

    def _shown(self, value: str | int | float) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            return f"{value:,}".replace(",", self._locale.groupSeparator())
        return f"{value:.4g}".replace(".", self._locale.decimalPoint())

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("step"),
            self.tr("left"),
            self.tr("right"),
            self.tr("new token"),
            self.tr("n(ab)"),
            self.tr("n(a)"),
            self.tr("n(b)"),
            self._value_title(),
            self.tr("ties"),
            self.tr("vocabulary"),
            self.tr("symbols"),
        )

    def _value_title(self) -> str:
        names = {"score": self.tr("score"), "likelihood": self.tr("gain"), "count": self.tr("count")}
        config = self._model.config
        return names[config.objective if config is not None else "score"]
