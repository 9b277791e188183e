"""The merges as a table for Qt's views: a thin adapter over the columns of the history.

Sorting and filtering are index arrays (`history_rows.py`); no row is an object. Colors and fonts are up to the view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal

from wordpiece_studio.session.history_rows import (
    NUMBER_COLUMNS,
    TOKEN_COLUMNS,
    HistoryColumn,
    HistoryFilter,
    HistoryOrdering,
    HistoryRows,
    RowsWanted,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.history_rows import RowsFound
    from wordpiece_studio.session.trainer_model import TrainerModel

    Index = QModelIndex | QPersistentModelIndex


_NOT_YET = "…"
"""For a run that was opened and is still being read."""

if TYPE_CHECKING:
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory


class HistoryCells:
    """The values of the cells of one history."""

    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._words_by_step: dict[int, int] = {}

    def value(self, step: int, column: HistoryColumn) -> str | int | float:
        """Return the value of a cell: a token, a number, or a bool."""
        history = self._history
        if column in TOKEN_COLUMNS:
            return history.token(int(history.column(TOKEN_COLUMNS[column])[step - 1]))
        if column in NUMBER_COLUMNS:
            value: int | float = history.column(NUMBER_COLUMNS[column])[step - 1].item()
            return value
        if column is HistoryColumn.VOCABULARY:
            return history.vocabulary_size(step)
        if column is HistoryColumn.SYMBOLS:
            return history.symbols_after(step)
        if column is HistoryColumn.WORDS:
            return self._words_touched(step) if history.is_whole else _NOT_YET
        return bool(history.column("is_new")[step - 1]) if column is HistoryColumn.IS_NEW else step

    def extremes(self, count: int) -> dict[HistoryColumn, tuple[float, float]]:
        """Return the bounds of each number column over the first `count` merges; empty if there are none."""
        if not count:
            return {}
        history = self._history
        found: dict[HistoryColumn, tuple[float, float]] = {}
        for column, name in NUMBER_COLUMNS.items():
            values = history.column(name)[:count]
            found[column] = (values.min().item(), values.max().item())
        found[HistoryColumn.STEP] = (1, count)
        found[HistoryColumn.VOCABULARY] = (history.vocabulary_size(1), history.vocabulary_size(count))
        found[HistoryColumn.SYMBOLS] = (history.symbols_after(count), history.symbols_after(1))
        found[HistoryColumn.WORDS] = (0, history.word_count)  # finding the actual maximum takes too long
        return found

    def _words_touched(self, step: int) -> int:
        found = self._words_by_step.get(step)
        if found is None:
            found = self._words_by_step[step] = int(self._history.words_touched_counts(step - 1, step)[0])
        return found


class HistoryWords(QObject):
    """The texts of the table: titles, their explanations, and formatted values."""

    def titles(self, config: TrainingConfig | None) -> tuple[str, ...]:
        """Return the titles of the columns; the value column's title depends on the objective."""
        values = {"score": self.tr("score"), "likelihood": self.tr("gain"), "count": self.tr("count")}
        return (
            self.tr("step"),
            self.tr("left"),
            self.tr("right"),
            self.tr("new token"),
            self.tr("n(ab)"),
            self.tr("n(a)"),
            self.tr("n(b)"),
            values[config.objective if config is not None else "score"],
            self.tr("ties"),
            self.tr("vocabulary"),
            self.tr("symbols"),
            self.tr("words"),
            self.tr("is new"),
        )

    def explanations(self) -> tuple[str, ...]:
        """Return a sentence about each column."""
        return (
            self.tr("The number of the merge, from 1"),
            self.tr("The left symbol of the pair"),
            self.tr("The right symbol of the pair"),
            self.tr("The token that the pair became"),
            self.tr("How often the pair occurred in the corpus before this merge"),
            self.tr("How often the left symbol occurred in the corpus before this merge"),
            self.tr("How often the right symbol occurred in the corpus before this merge"),
            self.tr("The pair's value under the objective; the best pair is merged"),
            self.tr("How many pairs had the best value, including this one; a dot means no other pair"),
            self.tr("How many tokens the vocabulary had after this merge"),
            self.tr("How many symbols the corpus consisted of after this merge, N"),
            self.tr("How many distinct words this merge changed"),
            self.tr("Whether the token was not in the vocabulary before"),
        )

    def text(self, value: str | int | float, locale: QLocale) -> str:
        """Return a formatted value: integers with grouped digits, floats with four significant digits."""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return self.tr("yes") if value else self.tr("no")
        if isinstance(value, int):
            return f"{value:,}".replace(",", locale.groupSeparator())
        return f"{value:.4g}".replace(".", locale.decimalPoint())


RAW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The value itself: a token, an int or a float."""

STEP_ROLE = RAW_ROLE + 1
"""The step of the row, from 1."""

IS_CURRENT_STEP_ROLE = RAW_ROLE + 2
"""True for the row of the last merge at the current step."""

IS_FUTURE_ROLE = RAW_ROLE + 3
"""True for merges after the current step."""

_REARRANGE_INTERVAL_MS = 250
_NO_INDEX = QModelIndex()
_ROWS_ONLY = QAbstractTableModel.LayoutChangeHint.VerticalSortHint
"""Without it, Qt remembers a selection cell by cell, and its header recomputes column widths."""
_HINTED = "QList<QPersistentModelIndex>,QAbstractItemModel::LayoutChangeHint"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class HistoryTableModel(QAbstractTableModel):
    """One row per merge; the columns are those of `HistoryColumn`.

    `DisplayRole` is formatted text (four significant digits), `RAW_ROLE` the value; see the other roles above. During
    training, rows arrive in batches; sorted or filtered rows are rearranged a few times a second. The rows of a long
    history are ordered in a thread and appear a little later.

    Signals
    -------
    filter_failed(StudioError)
        The filter's regular expression is invalid or takes too long; the rows stay as they were.
    busy_changed(bool)
        The new value of `is_busy`.
    rearranging()
        The rows are about to move; selected rows move with their merges.
    """

    rearranging = Signal()
    filter_failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None, *, locale: QLocale | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._locale = locale if locale is not None else QLocale()
        self._words = HistoryWords(self)
        self._take_history()
        self._known = model.merge_count  # merges that the rows cover
        self._step = model.step
        self._filter = HistoryFilter()
        self._column = HistoryColumn.STEP
        self._descending = False
        self._live_steps = np.empty(0, dtype=np.int64)
        self._shown = RowsWanted(0)  # the request that the rows answer
        self._ordering = HistoryOrdering(self)
        self._ordering.found.connect(self._on_ordering_found)
        self._ordering.failed.connect(self.filter_failed)
        self._ordering.busy_changed.connect(self.busy_changed)
        # Merge index by row, int64; None stands for 0, 1, 2, …, to which appending rows costs nothing.
        self._order: NDArray[np.int64] | None = None
        self._row_of_merge: NDArray[np.int64] | None = None  # the inverse of `_order`, computed on demand
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REARRANGE_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.step_changed.connect(self._on_model_step_changed)

    # Rows and steps.

    def step_of_row(self, row: int) -> int:
        """Return the step, from 1, shown in `row`."""
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

    def shown_merges(self) -> NDArray[np.int64]:
        """Return the indices, from 0, of the merges in the rows, from top to bottom: int64, shape (n_rows,)."""
        return np.arange(self._known) if self._order is None else self._order

    @property
    def is_plain(self) -> bool:
        """Whether all merges are shown in order of step."""
        return self._order is None

    @property
    def hidden_count(self) -> int:
        """Number of merges that the filter hides."""
        return self._known - self.rowCount()

    @property
    def is_busy(self) -> bool:
        """Whether rows are being sorted or filtered in the background."""
        return self._ordering.is_busy

    def close(self) -> None:
        """Wait for the thread, if any, to end."""
        self._timer.stop()
        self._ordering.close()

    @property
    def filter(self) -> HistoryFilter:
        """Which merges are shown."""
        return self._filter

    def extremes(self) -> dict[HistoryColumn, tuple[float, float]]:
        """Return the smallest and the largest number of each number column; empty if there are no rows."""
        if self._cells is None or self._history is not self._model.history:
            return {}
        return self._cells.extremes(self._model.merge_count)  # sorted rows arrive later

    def set_filter(self, wanted: HistoryFilter) -> None:
        """Show only the merges that match `wanted`."""
        if wanted != self._filter:
            self._filter = wanted
            self._ask()

    def set_live_steps(self, steps: NDArray[np.int64]) -> None:
        """Set the steps, from 1 and ascending, that changed the live text; int64, shape (n,)."""
        self._live_steps = steps
        if self._filter.only_live:
            self._ask()

    # The interface of Qt's item models.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of merges shown."""
        if parent.isValid():
            return 0
        return self._known if self._order is None else len(self._order)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(HistoryColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if not index.isValid() or self._cells is None:
            return None
        column = HistoryColumn(index.column())
        step = self.step_of_row(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words.text(self._cells.value(step, column), self._locale)
        if role == RAW_ROLE:
            return self._cells.value(step, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column in TOKEN_COLUMNS else _RIGHT
        if role == IS_FUTURE_ROLE:
            return step > self._step
        if role == IS_CURRENT_STEP_ROLE:
            return step == self._step
        return step if role == STEP_ROLE else None

    def headerData(  # Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title, the tooltip or the alignment of a column."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(HistoryColumn):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words.titles(self._model.config)[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._words.explanations()[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if HistoryColumn(section) in TOKEN_COLUMNS else _RIGHT
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 means order of step."""
        self._column = HistoryColumn(column) if column >= 0 else HistoryColumn.STEP
        self._descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        self._ask()

    # Signals of the trainer.

    def _take_history(self) -> None:
        self._history = history = self._model.history
        self._rows = HistoryRows(history) if history is not None else None
        self._cells = HistoryCells(history) if history is not None else None

    def _on_model_run_reset(self) -> None:
        self.beginResetModel()
        self._timer.stop()
        self._ordering.drop()
        self._take_history()
        self._known = self._step = 0
        wanted = RowsWanted(0, self._filter, self._column, self._descending, self._live_steps)
        self._shown = wanted
        self._set_order(None if wanted.is_plain else np.empty(0, dtype=np.int64))
        self.endResetModel()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if self._order is not None:
            if not self._timer.isActive():
                self._timer.start()
        elif last >= self._known:
            self.beginInsertRows(QModelIndex(), self._known, last)
            self._known = last + 1
            self.endInsertRows()

    def _on_model_step_changed(self, step: int) -> None:
        before, self._step = self._step, step
        last = self.rowCount() - 1
        if last < 0:
            return
        if self._order is None:
            first, last = max(0, min(before, step) - 1), min(last, max(before, step) - 1)
        else:
            first = 0
        if first <= last:
            changed = [IS_CURRENT_STEP_ROLE, IS_FUTURE_ROLE]
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(HistoryColumn) - 1), changed)

    def _on_timer_timeout(self) -> None:
        if self._ordering.is_busy:
            self._timer.start()
        else:
            self._ask()

    # Order.

    def _ask(self) -> None:
        """Request the rows for the present filter and order."""
        if self._rows is not None:
            count = self._model.merge_count
            self._ordering.ask(
                self._rows, RowsWanted(count, self._filter, self._column, self._descending, self._live_steps)
            )

    def _on_ordering_found(self, found: RowsFound) -> None:
        """Show the rows found: as an extension and reordering of the present rows if possible, else as a reset."""
        wanted, before = found.wanted, self._shown
        self._shown = wanted
        is_other_text = wanted.filter.only_live and wanted.live_steps is not before.live_steps
        if wanted.filter != before.filter or is_other_text or wanted.count < self._known:
            self.beginResetModel()
            self._known = wanted.count
            self._set_order(found.order)
            self.endResetModel()
        elif found.order is not None or self._order is not None:
            self._append_new(found)
            self._rearrange(found.order)
        # Sorting a long history takes longer: never spend more than a twentieth of the time on it.
        self._timer.setInterval(max(_REARRANGE_INTERVAL_MS, round(20_000 * found.seconds)))
        if self._known < self._model.merge_count:
            self._timer.start()

    def _append_new(self, found: RowsFound) -> None:
        """Append the merges learned meanwhile, as far as they are among the rows found."""
        known, count = self._known, found.wanted.count
        if count <= known:
            return
        new = np.arange(known, count) if found.order is None else np.sort(found.order[found.order >= known])
        first = self.rowCount()
        if len(new):
            self.beginInsertRows(QModelIndex(), first, first + len(new) - 1)
        self._known = count
        self._set_order(np.concatenate((np.arange(known) if self._order is None else self._order, new)))
        if len(new):
            self.endInsertRows()

    def _rearrange(self, wanted: NDArray[np.int64] | None) -> None:
        """Reorder the rows; selected and current rows stay on their merges."""
        if wanted is not None and self._order is not None and np.array_equal(wanted, self._order):
            return
        self.rearranging.emit()
        begins: Any = self.layoutAboutToBeChanged  # the stubs do not cover overloaded signals
        ends: Any = self.layoutChanged
        begins[_HINTED].emit([], _ROWS_ONLY)
        before = self.persistentIndexList()
        steps = [self.step_of_row(index.row()) for index in before]
        self._set_order(wanted)
        after = [self.index(self.row_of_step(step), old.column()) for step, old in zip(steps, before, strict=True)]
        self.changePersistentIndexList(before, after)
        ends[_HINTED].emit([], _ROWS_ONLY)

    def _set_order(self, order: NDArray[np.int64] | None) -> None:
        self._order = order
        self._row_of_merge = None
