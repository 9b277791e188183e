"""Tables for Qt's views, described by their columns; and such tables that sort and filter up to a million rows.

A row shows an *item*, known by its number from 0: a merge, a token, a file. A column says what it makes of an item, and
is asked only about the rows in view. The order of the rows is an index array made with NumPy, in a thread if there are
many items. Colors and fonts are up to the view.

Which tokens contain a text or match a regular expression is found here, too, and their order by code points: a million
takes a few tenths of a second, sliced to give other threads their turn, which Python's own sort would not.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import Task, Turn, single_shot
from wordpiece_studio.system.arrays import code_points_of, lengths_of
from wordpiece_studio.text.patterns import SearchPattern, compiled_pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

    Finder = Callable[[Sequence[str]], list[bool]]

Index = QModelIndex | QPersistentModelIndex
ShouldStop = Callable[[], bool]
SourceT = TypeVar("SourceT")
RecordT = TypeVar("RecordT")
ValueT = TypeVar("ValueT")

VALUE_ROLE = int(Qt.ItemDataRole.UserRole)
"""The value of a cell itself, not its text."""

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ANSWERED = frozenset({
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.TextAlignmentRole, VALUE_ROLE,
    Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.CheckStateRole,
})  # fmt: skip
"""Qt asks for several other roles of every cell that it paints."""
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[SourceT]):
    """A column of a table. Its functions take the table's source and the number of an item, unless it says otherwise.

    Attributes
    ----------
    title, explanation
        The heading, which may depend on the source (None: there is none), and its tooltip.
    value
        Returns a cell's value; None if it is unknown.
    text
        Returns a cell's text; None: the value, as `value_text` writes it.
    keys
        Returns what the first n items (the number) are sorted by: shape (n,). None: by their numbers.
    align
        Where cells and heading stand.
    spoken, spoken_title
        What a screen reader says in place of the text and of the title.
    entry
        The key of the entry of the glossary that explains it, which may depend on the source too; empty: the one
        that explains the table.
    tip
        Returns the tooltip of a cell, where it has another one than its row.
    check, switch
        Return whether the box in a cell is checked, None if it has none; and check it or clear it, as a bool says.
    edit
        Takes the text that the user has typed into a cell.
    drawn
        Returns what is drawn in place of the text.
    chips, chips_below
        Return what is drawn in place of text, in one line or two: variants, of which the first is drawn that fits.
    sign
        Returns a letter to be seen after the chips, however little room there is.
    indent
        So many pixels stand before the chips.
    ink
        The name of a color of the theme, or returns it or a color; empty: that of the row.
    bold
        Returns whether the text is bold.
    width
        The width in pixels, as text and font decide, of which it returns what they need (from a `Measure` and the
        source); or a text that fits; None: what the others leave.
    least
        What it can do with where there is little room, said as `width` is; None: no less.
    stretch
        Columns with the largest number that is not 0 share the room that is left.
    importance
        What is hidden first where there is too little room: 1, then 2 and so on, never 0; what is negative lies out of
        view rather than take room from others.
    elide
        Which end of a text is left out where it does not fit; None: the right one, and none of what stands at the
        right: a number is never cut off.
    is_there
        Returns whether there is such a column for a source at all; None: always.
    """

    title: str | Callable[[Any], str]
    value: Callable[[SourceT, int], Any]
    text: Callable[[SourceT, int], str] | None = None
    keys: Callable[[SourceT, int, ShouldStop], NDArray[Any]] | None = None
    align: Qt.AlignmentFlag = RIGHT
    explanation: str | None = None
    spoken: Callable[[SourceT, int], str] | None = None
    spoken_title: str | None = None
    entry: str | Callable[[Any], str] = ""
    tip: Callable[[SourceT, int], str] | None = None
    check: Callable[[SourceT, int], bool | None] | None = None
    switch: Callable[[SourceT, int, bool], None] | None = None
    edit: Callable[[SourceT, int, str], None] | None = None
    drawn: Callable[[SourceT, int], str] | None = None
    chips: Callable[[SourceT, int], Iterable[Sequence[Any]]] | None = None
    chips_below: Callable[[SourceT, int], Iterable[Sequence[Any]] | None] | None = None
    sign: Callable[[SourceT, int], str] | None = None
    indent: int = 0
    ink: str | Callable[[SourceT, int], Any] = ""
    bold: Callable[[SourceT, int], bool] | None = None
    width: str | Callable[[Any, SourceT], float] | None = None
    least: str | Callable[[Any, SourceT], float] | None = None
    stretch: int = 0
    importance: int = 0
    elide: Qt.TextElideMode | None = None
    is_there: Callable[[SourceT], bool] | None = None


class TableModel(QAbstractTableModel, Generic[SourceT]):
    """One row per item of a source.

    Parameters
    ----------
    source
        What the functions of the columns take, with as many rows as it is long; None if there is nothing yet.
    tip
        Returns the tooltip of an item's row, as HTML.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn[SourceT]],
        source: SourceT | None,
        parent: QObject | None = None,
        *,
        tip: Callable[[SourceT, int], str] | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._source = source
        self.tip = tip

    @property
    def source(self) -> SourceT | None:
        return self._source

    def item_of_row(self, row: int) -> int:
        return row

    def shown_items(self) -> NDArray[np.int64]:
        """Return the items in the rows, from top to bottom: int64, shape (n_rows,)."""
        return np.arange(self.rowCount())

    def value(self, item: int, column: int) -> Any:
        return self.columns[column].value(self._source, item)  # type: ignore[arg-type]  # no item without a source

    def text(self, item: int, column: int) -> str:
        described = self.columns[column]
        if described.text is not None:
            return described.text(self._source, item)  # type: ignore[arg-type]
        return self.value_text(self.value(item, column))

    def drawn(self, item: int, column: int) -> str:
        """Return what is drawn as the text of a cell."""
        drawn = self.columns[column].drawn
        return self.text(item, column) if drawn is None else drawn(self._source, item)  # type: ignore[arg-type]

    def value_text(self, value: object) -> str:
        """Return a formatted value: integers with grouped digits, floats with four significant digits."""
        if isinstance(value, bool):
            return self.tr("Yes") if value else self.tr("No")
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, float):
            return f"{value:.4g}"
        return "…" if value is None else str(value)

    def title(self, column: int) -> str:
        return self._said(self.columns[column].title)

    def entry(self, column: int) -> str:
        return self._said(self.columns[column].entry)

    def _said(self, text: str | Callable[[SourceT | None], str]) -> str:
        return text if isinstance(text, str) else text(self._source)

    def dress(self, column: int, **how: Any) -> None:
        """Describe more of a column: how its cells are drawn."""
        self.columns = tuple(
            replace(each, **how) if number == column else each for number, each in enumerate(self.columns)
        )

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in _ANSWERED or not index.isValid() or self._source is None:
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.align
        item = self.item_of_row(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self.text(item, index.column())
        if role == VALUE_ROLE:
            return column.value(self._source, item)
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = column.tip or self.tip
            return tip(self._source, item) if tip is not None else None
        if role == Qt.ItemDataRole.AccessibleTextRole and column.spoken is not None:
            return column.spoken(self._source, item)
        if role == Qt.ItemDataRole.CheckStateRole and (is_checked := self.is_checked(index)) is not None:
            return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked
        return None

    def is_checked(self, index: Index) -> bool | None:
        """Return whether the box in a cell is checked; None if it has no box."""
        check = self.columns[index.column()].check if index.isValid() else None
        return None if check is None or self._source is None else check(self._source, self.item_of_row(index.row()))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.explanation
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return column.spoken_title
        return column.align if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _emit_changed(self, first: int, last: int, left: int = 0, right: int | None = None) -> None:
        """Report that the cells of these rows and columns have changed; all columns unless told otherwise."""
        if 0 <= first <= last:
            right = len(self.columns) - 1 if right is None else right
            self.dataChanged.emit(self.index(first, left), self.index(last, right))


def each_row(get: Callable[[Any], ValueT]) -> Callable[[Any, int], ValueT]:
    """Return a function of a column that asks the record in the row."""
    return lambda records, row: get(records[row])


class RecordTableModel(TableModel[Sequence[RecordT]]):
    """One row per record of a sequence, with boxes to check and texts to edit where the columns say so.

    Parameters
    ----------
    is_selectable
        Returns whether a row can be selected; None: all can.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn[Any]] = (),
        parent: QObject | None = None,
        *,
        tip: Callable[[Any, int], str] | None = None,
        is_selectable: Callable[[Any, int], bool] | None = None,
    ) -> None:
        self.records: Sequence[RecordT] = ()
        super().__init__(columns, self.records, parent, tip=tip)
        self._is_selectable = is_selectable
        self._unsorted: Sequence[RecordT] = self.records
        self._sorted_by = -1, Qt.SortOrder.AscendingOrder

    def set_records(self, records: Sequence[RecordT], columns: Sequence[TableColumn[Any]] | None = None) -> None:
        """Show these records, in other columns if there are some, and in the order that the user has chosen, if any."""
        self._unsorted = records
        self.beginResetModel()
        self.columns = self.columns if columns is None else tuple(columns)
        self._source = self.records = self._in_order(records)
        self.endResetModel()

    def extend_records(self, records: Sequence[RecordT]) -> None:
        """Show these records, which begin with those shown; rows are only added."""
        has_more = len(records) > len(self.records)
        if has_more:
            self.beginInsertRows(QModelIndex(), len(self.records), len(records) - 1)
        self._source = self.records = self._unsorted = records
        if has_more:
            self.endInsertRows()

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Qt's name
        column = self.columns[index.column()] if index.isValid() else None
        if role == Qt.ItemDataRole.EditRole and column is not None and column.edit is not None:
            column.edit(self.records, index.row(), str(value))
        elif role == Qt.ItemDataRole.CheckStateRole and column is not None and self.is_checked(index) is not None:
            assert column.switch is not None
            column.switch(self.records, index.row(), Qt.CheckState(value) is Qt.CheckState.Checked)
        else:
            return False
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:  # not of all tables: Qt asks for those of every cell that it paints
        flags = super().flags(index)
        if not index.isValid():
            return flags
        if self.is_checked(index) is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        if self.columns[index.column()].edit is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        if self._is_selectable is not None and not self._is_selectable(self.records, index.row()):
            flags &= ~Qt.ItemFlag.ItemIsSelectable
        return flags

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by the values of a column, with unknown ones last; -1: as they come."""
        self._sorted_by = column, order
        self.set_records(self._unsorted)

    def _in_order(self, records: Sequence[RecordT]) -> Sequence[RecordT]:
        column, order = self._sorted_by
        if column < 0:
            return records
        values = [self.columns[column].value(records, row) for row in range(len(records))]
        known = [row for row, value in enumerate(values) if value is not None]
        known.sort(key=values.__getitem__, reverse=order == Qt.SortOrder.DescendingOrder)
        return [records[row] for row in [*known, *(row for row, value in enumerate(values) if value is None)]]

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.records)


class OrderingCanceled(Exception):
    """The result is no longer wanted."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsWanted:
    """Which items a table should show, and in which order; equal ones are in order of their numbers.

    Attributes
    ----------
    count
        The number of items, from the first.
    column, descending
        What they are sorted by.
    filter
        Which of them; false if all.
    """

    count: int
    column: TableColumn[Any]
    descending: bool = False
    filter: Any = None

    @property
    def is_plain(self) -> bool:
        return self.column.keys is None and not self.descending and not self.filter


class SortedItems:
    """The items of a table that sorts and filters; a thread may read them. Keeps the last order."""

    def __init__(self) -> None:
        self._sorted: tuple[tuple[int, TableColumn[Any], bool], NDArray[np.int64]] | None = None

    def is_quick(self, wanted: RowsWanted) -> bool:
        """Whether an answer needs no reading and no regular expression of the user's, which may take long."""
        raise NotImplementedError

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return which of the items wanted the filter lets through: bool, shape (count,)."""
        raise NotImplementedError

    def forget_order(self) -> None:
        """Drop the order kept, since the keys of a column have changed."""
        self._sorted = None

    def ordered(self, wanted: RowsWanted, should_stop: ShouldStop = lambda: False) -> NDArray[np.int64]:
        """Return the items to show, in order: int64, shape (n_rows,)."""
        mask = self.matching(wanted, should_stop) if wanted.filter else None
        if wanted.column.keys is None:
            items = np.arange(wanted.count) if mask is None else np.flatnonzero(mask)
            return items[::-1] if wanted.descending else items
        items = self._sorted_items(wanted, should_stop)
        return items if mask is None else items[mask[items]]

    def _sorted_items(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.int64]:
        key, kept = (wanted.count, wanted.column, wanted.descending), self._sorted
        if kept is not None and kept[0] == key:
            return kept[1]
        assert wanted.column.keys is not None
        values = wanted.column.keys(self, wanted.count, should_stop)
        if should_stop():
            raise OrderingCanceled
        items = stable_order(-values if wanted.descending else values)
        self._sorted = (key, items)
        return items


def stable_order(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the result of ``np.argsort(values, kind="stable")``.

    Integers take a tenth of its time if each is packed with its index into one number and these are sorted.
    """
    bits = len(values).bit_length()
    if len(values) and values.dtype.kind == "i":
        least = int(values.min())
        if (int(values.max()) - least) >> (63 - bits) == 0:
            packed = (values.astype(np.int64) - least) << bits | np.arange(len(values))
            packed.sort()
            places: NDArray[np.int64] = packed & ((1 << bits) - 1)
            return places
    return np.argsort(values, kind="stable")


_AT_ONCE = 40_000
"""Items; takes a few milliseconds."""
_HINTED = "QList<QPersistentModelIndex>,QAbstractItemModel::LayoutChangeHint"
_ROWS_ONLY = QAbstractTableModel.LayoutChangeHint.VerticalSortHint
"""Without it, Qt remembers a selection cell by cell, and its header recomputes column widths."""
ItemsT = TypeVar("ItemsT", bound=SortedItems)


class SortedTableModel(TableModel[ItemsT]):
    """A table that sorts and filters; the latest request wins.

    New items appear at once while all are shown in order of their numbers; otherwise, a little later. Rows in which an
    item stays keep their selection.

    Signals
    -------
    filter_failed(StudioError)
        The filter's regular expression is invalid or takes too long; the rows stay as they were.
    busy_changed(bool)
        The new value of `is_busy`.
    rows_found(bool)
        The rows are those last requested; whether they are the first for another filter.
    rearranging()
        The rows are about to move; selected rows move with their items.
    """

    filter_failed = Signal(object)
    busy_changed = Signal(object)
    rows_found = Signal(object)
    rearranging = Signal()

    resets_when_filtered: ClassVar[bool] = False
    """Whether another filter resets the model, in place of removing and adding rows."""
    least_interval_ms: ClassVar[int] = 0
    """How long new items wait for their places, at least."""

    def __init__(
        self,
        columns: Sequence[TableColumn[ItemsT]],
        filter_: object,
        parent: QObject | None = None,
        *,
        tip: Callable[[ItemsT, int], str] | None = None,
    ) -> None:
        super().__init__(columns, None, parent, tip=tip)
        self.filter: Any = filter_
        self._column, self._descending = -1, False  # -1: in order of the items' numbers
        self._is_refiltered = False  # since the rows were found
        self._count = self.limit = 0
        # The items found among the first `_known`; None stands for 0, 1, 2, …, to which adding more costs nothing.
        self._found: NDArray[np.int64] | None = None
        self._known = 0
        self._order: NDArray[np.int64] | None = None  # those below the limit, by row
        self._row_count = 0
        self._row_of_item: NDArray[np.int64] | None = None  # the inverse of `_order`, computed on demand
        self.task = Task(_found_rows, "The table cannot be sorted and filtered", self)
        self.task.finished.connect(self._on_task_finished)
        self.task.failed.connect(self._on_task_failed)
        self.task.changed.connect(self._on_task_changed)
        self._timer = single_shot(self, self._on_timer_timeout, self.least_interval_ms)

    # Rows and items.

    def item_of_row(self, row: int) -> int:
        return row if self._order is None else int(self._order[row])

    def row_of_item(self, item: int) -> int:
        if self._order is None:
            return item if 0 <= item < self._row_count else -1
        if self._row_of_item is None:
            self._row_of_item = np.full(int(self._order.max(initial=-1)) + 1, -1, dtype=np.int64)
            self._row_of_item[self._order] = np.arange(len(self._order))
        return int(self._row_of_item[item]) if 0 <= item < len(self._row_of_item) else -1

    def shown_items(self) -> NDArray[np.int64]:
        """Return the items in the rows, from top to bottom: int64, shape (n_rows,)."""
        return np.arange(self._row_count) if self._order is None else self._order

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else self._row_count

    @property
    def is_plain(self) -> bool:
        return self._order is None

    @property
    def hidden_count(self) -> int:
        """How many of the items that the rows are about are not among them."""
        return self._known - self._row_count

    @property
    def is_busy(self) -> bool:
        return self.task.is_running

    @property
    def is_behind(self) -> bool:
        """Whether the newest items are still to be sorted or filtered."""
        return self._known != self._count

    def set_filter(self, wanted: object) -> None:
        if wanted != self.filter:
            self.filter = wanted
            self._refilter()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 means order of the items' numbers."""
        self._column = column
        self._descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        self._ask()

    def close(self) -> None:
        self._timer.stop()
        self.task.close()

    # What subclasses call.

    def _set_source(self, source: ItemsT | None) -> None:
        """Show the items of another source, none so far."""
        self.beginResetModel()
        self._timer.stop()
        self.task.stop()
        self.task.answer = self.task.answered = None
        self._source = source
        self._count = self.limit = self._known = 0
        self._found = None if self._wanted().is_plain else np.empty(0, dtype=np.int64)
        self._is_refiltered = False
        self._set_rows(self._found, 0)
        self.endResetModel()

    def _set_count(self, count: int, limit: int | None = None) -> None:
        """Show the items among the first `count` that are below a limit."""
        self._count, self.limit = count, count if limit is None else limit
        if self._found is None:
            self._known = count
        self._show_found()
        if self._known == count or self._timer.isActive() or self.is_busy:
            return
        if self._known:
            self._timer.start()
        else:
            self._ask()

    def _refilter(self) -> None:
        """Find the rows anew, since the filter lets other items through."""
        self._is_refiltered = True
        self._ask()

    # Finding the rows.

    def _wanted(self) -> RowsWanted:
        column = self.columns[self._column] if self._column >= 0 else _BY_NUMBER
        return RowsWanted(self._count, column, self._descending, self.filter)

    def _ask(self) -> None:
        """Request the rows for the present filter and order."""
        source, wanted = self._source, self._wanted()
        if source is None:
            return
        if not wanted.is_plain and (wanted.count > _AT_ONCE or not source.is_quick(wanted)):
            self.task.run(source, wanted)
        else:
            self.task.stop()
            self._on_task_finished(_found_rows(source, wanted))

    def _on_task_finished(self, found: tuple[int, NDArray[np.int64] | None, float]) -> None:
        is_refiltered, self._is_refiltered = self._is_refiltered, False
        self._known, self._found, seconds = found
        if is_refiltered and self.resets_when_filtered:
            self.beginResetModel()
            self._set_rows(*self._below_limit())
            self.endResetModel()
        else:
            self._show_found()
        # Sorting many items takes longer: never spend more than a twentieth of the time on it.
        self._timer.setInterval(max(self.least_interval_ms, round(20_000 * seconds)))
        if self.is_behind:
            self._timer.start()
        self.rows_found.emit(is_refiltered)

    def _on_task_changed(self) -> None:
        self.busy_changed.emit(self.is_busy)

    def _on_task_failed(self, error: StudioError) -> None:
        self._timer.stop()
        self.filter_failed.emit(error)

    def _on_timer_timeout(self) -> None:
        if self.is_behind and not self.is_busy:
            self._ask()

    # Showing them.

    def _below_limit(self) -> tuple[NDArray[np.int64] | None, int]:
        found, limit = self._found, min(self.limit, self._known)
        if found is None:
            return None, limit
        if limit < self._known:
            found = found[found < limit]
        return found, len(found)

    def _set_rows(self, order: NDArray[np.int64] | None, count: int) -> None:
        self._order, self._row_count, self._row_of_item = order, count, None

    def _show_found(self) -> None:
        """Show the rows found by removing and adding rows at the end and moving the rest."""
        order, count = self._below_limit()
        if order is self._order:
            self._cut_to(count)
            self._add(order, count)
            return
        before, after = self.shown_items(), np.arange(count) if order is None else order
        shared = min(len(before), len(after))
        comes = after[shared:]
        are_all = len(before) == len(after) == self._known > before.max(initial=-1)  # only their order is another
        if not are_all and not np.array_equal(before[:shared], after[:shared]):
            stays = _is_among(before, after)
            shared = int(np.count_nonzero(stays))
            if shared < len(before):
                self._move(np.concatenate((before[stays], before[~stays])))
            comes = after[~_is_among(after, before)]
        self._cut_to(shared)
        if len(comes):
            self._add(np.concatenate((self.shown_items(), comes)), shared + len(comes))
        if np.array_equal(self.shown_items(), after):
            self._set_rows(order, count)
        else:
            self._move(order)

    def _cut_to(self, count: int) -> None:
        if count < self._row_count:
            self.beginRemoveRows(QModelIndex(), count, self._row_count - 1)
            self._set_rows(None if self._order is None else self._order[:count], count)
            self.endRemoveRows()

    def _add(self, order: NDArray[np.int64] | None, count: int) -> None:
        if count > self._row_count:
            self.beginInsertRows(QModelIndex(), self._row_count, count - 1)
            self._set_rows(order, count)
            self.endInsertRows()

    def _move(self, order: NDArray[np.int64] | None) -> None:
        """Put the rows in another order; selected and current rows stay on their items."""
        self.rearranging.emit()
        begins: Any = self.layoutAboutToBeChanged  # the stubs do not cover overloaded signals
        ends: Any = self.layoutChanged
        begins[_HINTED].emit([], _ROWS_ONLY)
        before = self.persistentIndexList()
        items = [self.item_of_row(index.row()) for index in before]
        self._set_rows(order, self._row_count)
        after = [self.index(self.row_of_item(item), old.column()) for item, old in zip(items, before, strict=True)]
        self.changePersistentIndexList(before, after)
        ends[_HINTED].emit([], _ROWS_ONLY)


_BY_NUMBER: TableColumn[Any] = TableColumn("", lambda _source, item: item)


def _found_rows(
    source: SortedItems, wanted: RowsWanted, should_stop: ShouldStop = lambda: False
) -> tuple[int, NDArray[np.int64] | None, float]:
    """Return how many items were looked at, those found in order (None: all, by their numbers), and the time taken."""
    began = time.thread_time()  # what it takes, not how long the machine did something else
    order = None if wanted.is_plain else source.ordered(wanted, should_stop)
    return wanted.count, order, time.thread_time() - began


def _is_among(items: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which items are among others: bool, shape (n_items,)."""
    is_other = np.zeros(max(int(items.max(initial=-1)), int(others.max(initial=-1))) + 1, dtype=np.bool_)
    is_other[others] = True
    among: NDArray[np.bool_] = is_other[items]
    return among


_TOKENS = 512
_SLICE_SECONDS = 0.05
_MOST_SECONDS = 20.0
_MOST_STEPS = 1_000_000
_REPETITION = re.compile(r"[*+{]")
_CHOICE = re.compile(r"[?|]")
_COMMON = re.compile(
    r"(?:[\w# @%&=<>!~:;,'\"/.^$|()]|\\[.*+?()\[\]{}^$|\\]|\[\^?(?:\w-\w|[\w#])+\]|[*+?]|\{\d+(?:,\d*)?\})*"
)
"""Patterns that `re` and `regex` read alike: no Unicode properties, no nested sets, no fuzzy matching."""
_CODE_POINTS = 0x110000
_INTRICATE = re.compile(r"\)[*+{?]|\(\?(?!:)|\(\*|\\\d|\\[gKLNRX]")


class TokenSearch:
    """The order of a growing vocabulary's tokens, and those that the last search found; both grow with it."""

    def __init__(self) -> None:
        self._ranks = np.empty(0, dtype=np.int64)
        self._found: tuple[tuple[str, bool], NDArray[np.bool_]] = (("", False), np.empty(0, dtype=np.bool_))

    def ranks(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of each token in code point order, by token id: int64, shape (n_tokens,)."""
        if len(self._ranks) != len(tokens):
            self._ranks = token_ranks(tokens)
        return self._ranks

    def found(self, vocabulary: Vocabulary, text: str, is_pattern: bool, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return for each token whether a text or an expression occurs in it: bool, by token id."""
        tokens, (sought, found) = vocabulary.tokens, self._found
        if sought != (text, is_pattern):
            found = found[:0]
        if len(found) < len(tokens):
            finder = pattern_finder(text, vocabulary.longest) if is_pattern else text_finder(text)
            found = np.concatenate((found, tokens_found(tokens[len(found) :], finder, should_stop)))
            self._found = ((text, is_pattern), found)
        return found


def tokens_found(tokens: Sequence[str], finder: Finder, should_stop: ShouldStop | None = None) -> NDArray[np.bool_]:
    """Return for each token whether it matches: bool, shape (n_tokens,)."""
    found = np.empty(len(tokens), dtype=np.bool_)
    turn, end = Turn(), time.monotonic() + _MOST_SECONDS
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        found[start : start + len(part)] = finder(part)
        if should_stop is not None:
            if should_stop():
                raise OrderingCanceled
            turn.give()
        if time.monotonic() > end:
            raise StudioError("The search takes too long", "Write a simpler expression.")
    return found


def text_finder(text: str) -> Finder:
    """Return a finder of the tokens that contain `text`; case matters only if it has capitals."""
    if text == text.lower():
        return lambda tokens: [text in token.lower() for token in tokens]
    return lambda tokens: [text in token for token in tokens]


def pattern_finder(pattern: str, longest: int) -> Finder:
    """Return a finder of the tokens that match a regular expression; `longest`: characters in the longest token."""
    careful = SearchPattern(pattern)
    if not ends_soon(pattern, longest):
        if _COMMON.fullmatch(pattern) and "[^" not in pattern:
            return _line_finder(pattern, careful)
        return lambda tokens: [careful.is_in(token) for token in tokens]
    # Checking the clock for every token takes six times as long, and `re` is faster still.
    search: Callable[[str], object] = compiled_pattern(pattern).search
    if _COMMON.fullmatch(pattern):
        with contextlib.suppress(re.error):
            search = re.compile(pattern).search
    return lambda tokens: [search(token) is not None for token in tokens]


def _line_finder(pattern: str, careful: SearchPattern) -> Finder:
    """Return a finder that searches many tokens at once, as the lines of one text; `pattern` must match no line end.

    The timeout is set once for all of them: setting it for each takes six times as long as searching a token. If it
    expires, each token is searched on its own, with its own timeout.
    """
    lines = compiled_pattern(f"(?m){pattern}")

    def found_in(tokens: Sequence[str]) -> list[bool]:
        text = "\n".join(tokens)
        if text.count("\n") >= len(tokens):  # a token contains a line end
            return [careful.is_in(token) for token in tokens]
        found = [False] * len(tokens)
        line = at = 0
        try:
            for match in lines.finditer(text, timeout=_SLICE_SECONDS):
                line += text.count("\n", at, match.start())
                at = match.start()
                found[line] = True
        except (TimeoutError, MemoryError, RecursionError):
            return [careful.is_in(token) for token in tokens]
        return found

    return found_in


def ends_soon(pattern: str, longest: int) -> bool:
    r"""Return whether an expression certainly takes only a moment for a text of `longest` characters.

    Assumes that each repetition may begin and end anywhere in the text and that each choice may go both ways. Returns
    False for repeated groups, lookarounds and backreferences.

    >>> ends_soon("^##a.*b$", 100), ends_soon("(a|aa)+b", 100), ends_soon("a?" * 20, 100)
    (True, False, False)
    """
    if _INTRICATE.search(pattern):
        return False
    repetitions, choices = len(_REPETITION.findall(pattern)), len(_CHOICE.findall(pattern))
    steps: int = max(longest, 1) ** (1 + repetitions) * 2**choices
    return steps <= _MOST_STEPS


def token_ranks(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each token in code point order: int64, shape (n_tokens,).

    Equal tokens have equal ranks. As many characters as fit are packed into one 64-bit number; tokens are sorted by
    their first characters, those still equal by the next ones, and so on. The characters of a language need few bits
    each, so there are few rounds.

    >>> token_ranks(["b", "##a", "ab", "a", "b"]).tolist()
    [3, 0, 2, 1, 3]
    """
    lengths = lengths_of(tokens)
    letters, bits = _numbered(code_points_of(tokens, lengths))
    letters = np.append(letters, np.zeros(64, dtype=letters.dtype))  # read past the end of the last token
    starts = np.cumsum(lengths) - lengths
    ranks = np.zeros(len(tokens), dtype=np.int64)
    # Tokens still tied, with the numbers of their groups; a group's rank is the place of its first token.
    tied, groups, bases = np.arange(len(tokens)), np.zeros(len(tokens), dtype=np.int64), np.zeros(1, dtype=np.int64)
    offset = 0
    while len(tied):
        keys, places, left = groups, starts[tied] + offset, lengths[tied] - offset
        packed = min((63 - len(bases).bit_length()) // bits, max(int(left.max()), 1))
        for place in range(packed):
            keys = keys << bits | np.where(left > place, letters[places + place], 0)
        order = np.argsort(keys)
        tied, groups, keys = tied[order], groups[order], keys[order]
        offset += packed
        is_first = np.diff(keys, prepend=-1) != 0
        if len(tied) == len(tokens) and is_first.all():  # as in the vocabularies of most languages
            ranks[tied] = np.arange(len(tied))
            return ranks
        first_of_old = np.searchsorted(groups, np.arange(len(bases)))
        firsts = np.flatnonzero(is_first)
        bases = bases[groups[firsts]] + firsts - first_of_old[groups[firsts]]
        groups = np.cumsum(is_first) - 1
        ranks[tied] = bases[groups]
        is_tied = (np.diff(firsts, append=len(tied)) > 1)[groups] & (lengths[tied] >= offset)
        tied, groups = tied[is_tied], groups[is_tied]
        is_left = np.bincount(groups, minlength=len(bases)) > 0
        bases, groups = bases[is_left], (np.cumsum(is_left) - 1)[groups]
    return _dense(ranks)


def _numbered(code_points: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Replace code points by numbers from 1 in the same order; return them and the bit length of the largest."""
    used = np.zeros(_CODE_POINTS, dtype=np.bool_)
    used[code_points] = True
    numbers = np.cumsum(used, dtype=np.int32)
    return numbers[code_points], max(int(numbers[-1]).bit_length(), 1)


def _dense(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.zeros(len(ranks), dtype=np.int64)
    used[ranks] = 1
    result: NDArray[np.int64] = (np.cumsum(used) - 1)[ranks]
    return result
