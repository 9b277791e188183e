"""Tables for Qt's views, described by their columns; and such tables that sort and filter up to a million rows.

A row shows an *item*, known by its number from 0: a merge, a token, a file. A column is asked only about the rows in
view. The order of the rows is an index array, made in a thread if there are many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import Task, Turn, single_shot
from wordpiece_studio.system.arrays import ranks_of
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.text.patterns import pattern_finder, text_finder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.text.patterns import Finder

Index = QModelIndex | QPersistentModelIndex
ShouldStop = Callable[[], bool]
SourceT = TypeVar("SourceT")
RecordT = TypeVar("RecordT")
ValueT = TypeVar("ValueT")

VALUE_ROLE = int(Qt.ItemDataRole.UserRole)  # the value of a cell itself, not its text

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
# Qt asks for several other roles of every cell that it paints.
_ANSWERED = frozenset({
    Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.TextAlignmentRole, VALUE_ROLE,
    Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.CheckStateRole,
})  # fmt: skip
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[SourceT]):
    """A column of a table. Its functions take the table's source and the number of an item, unless it says otherwise.

    A heading, a glossary entry and a width may depend on the source, None while there is none. Widths are in pixels, as
    text and font decide: a function returns what they need, from a `Measure` and the source; a text, what it needs.
    """

    title: str | Callable[[Any], str]
    value: Callable[[SourceT, int], Any]  # None if it is unknown
    text: Callable[[SourceT, int], str] | None = None  # None: the value, as `value_text` writes it
    # What the first n items (the number) are sorted by, of shape (n,); None: by their numbers.
    keys: Callable[[SourceT, int, ShouldStop], NDArray[Any]] | None = None
    align: Qt.AlignmentFlag = RIGHT
    explanation: str | None = None  # the tooltip of the heading
    # What a screen reader says in place of the text and of the title.
    spoken: Callable[[SourceT, int], str] | None = None
    spoken_title: str | None = None
    entry: str | Callable[[Any], str] = ""  # of the glossary; empty: the one that explains the table
    tip: Callable[[SourceT, int], str] | None = None  # where a cell has another one than its row
    # Whether the box in a cell is checked, None if it has none; and what checks it or clears it.
    check: Callable[[SourceT, int], bool | None] | None = None
    switch: Callable[[SourceT, int, bool], None] | None = None
    edit: Callable[[SourceT, int, str], None] | None = None  # takes what the user has typed into a cell
    # What is drawn in place of the text: another one, or lines of chips, each in variants of which the first is drawn
    # that fits, so many pixels from the left; after them, however little room there is, a letter.
    drawn: Callable[[SourceT, int], str] | None = None
    chips: Callable[[SourceT, int], Iterable[Iterable[Sequence[Any]]]] | None = None
    indent: int = 0
    run: Callable[[SourceT, int], Any] | None = None  # whose disc stands before the text, if it is of one
    sign: Callable[[SourceT, int], str] | None = None
    ink: str | Callable[[SourceT, int], str] = ""  # the name of a color of the theme; empty: that of the row
    bold: Callable[[SourceT, int], bool] | None = None
    width: str | Callable[[Any, SourceT], float] | None = None  # None: what the others leave
    least: str | Callable[[Any, SourceT], float] | None = None  # where there is little room; None: no less
    stretch: int = 0  # columns with the largest number that is not 0 share the room that is left
    # What is hidden first where there is too little room: 1, then 2 and so on, never 0; what is negative lies out of
    # view rather than take room from others.
    importance: int = 0
    # Which end of a text is left out where it does not fit; None: the right one, and none of what stands at the right:
    # a number is never cut off.
    elide: Qt.TextElideMode | None = None
    is_there: Callable[[SourceT], bool] | None = None  # whether a source has such a column; None: always


class TableModel(QAbstractTableModel, Generic[SourceT]):
    """One row per item of a source, which is None if there is nothing yet; `tip` returns that of a row, as HTML."""

    def __init__(
        self, columns: Sequence[TableColumn[SourceT]], source: SourceT | None, parent: QObject | None = None, *,
        tip: Callable[[SourceT, int], str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.columns = tuple(columns)
        self.source = source
        self.tip = tip

    def item_of_row(self, row: int) -> int:
        return row

    def shown_items(self) -> NDArray[np.int64]:
        """Return the items in the rows, from top to bottom: int64, shape (n_rows,)."""
        return np.arange(self.rowCount())

    def value(self, item: int, column: int) -> Any:
        return self.columns[column].value(self.source, item)  # type: ignore[arg-type]  # no item without a source

    def text(self, item: int, column: int) -> str:
        described = self.columns[column]
        if described.text is not None:
            return described.text(self.source, item)  # type: ignore[arg-type]
        return self.value_text(self.value(item, column))

    def drawn(self, item: int, column: int) -> str:
        drawn = self.columns[column].drawn
        return self.text(item, column) if drawn is None else drawn(self.source, item)  # type: ignore[arg-type]

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
        return text if isinstance(text, str) else text(self.source)

    def dress(self, column: int, **how: Any) -> None:
        """Describe more of a column: how its cells are drawn."""
        self.columns = tuple(
            replace(each, **how) if number == column else each for number, each in enumerate(self.columns)
        )

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in _ANSWERED or not index.isValid() or self.source is None:
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.align
        item = self.item_of_row(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self.text(item, index.column())
        if role == VALUE_ROLE:
            return column.value(self.source, item)
        if role == Qt.ItemDataRole.ToolTipRole:
            tip = column.tip or self.tip
            return tip(self.source, item) if tip is not None else None
        if role == Qt.ItemDataRole.AccessibleTextRole and column.spoken is not None:
            return column.spoken(self.source, item)
        if role == Qt.ItemDataRole.CheckStateRole and (is_checked := self.is_checked(index)) is not None:
            return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked
        return None

    def is_checked(self, index: Index) -> bool | None:
        check = self.columns[index.column()].check if index.isValid() else None
        return None if check is None or self.source is None else check(self.source, self.item_of_row(index.row()))

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
    return lambda records, row: get(records[row])


class RecordTableModel(TableModel[Sequence[RecordT]]):
    """One row per record of a sequence, with boxes to check and texts to edit where the columns say so.

    `is_selectable` returns whether a row can be selected; None: all can.
    """

    def __init__(
        self, columns: Sequence[TableColumn[Any]] = (), parent: QObject | None = None, *,
        tip: Callable[[Any, int], str] | None = None, is_selectable: Callable[[Any, int], bool] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(columns, (), parent, tip=tip)
        self._is_selectable = is_selectable
        self._unsorted: Sequence[RecordT] = ()
        self._sorted_by = -1, Qt.SortOrder.AscendingOrder

    @property
    def records(self) -> Sequence[RecordT]:
        return () if self.source is None else self.source

    def set_records(self, records: Sequence[RecordT], columns: Sequence[TableColumn[Any]] | None = None) -> None:
        """Show these records, in other columns if there are some, and in the order that the user has chosen, if any."""
        self._unsorted = records
        self.beginResetModel()
        self.columns = self.columns if columns is None else tuple(columns)
        self.source = self._in_order(records)
        self.endResetModel()

    def extend_records(self, records: Sequence[RecordT]) -> None:
        """Show these records, which begin with those shown; rows are only added."""
        self._insert(len(self.records), len(records) - len(self.records), records)

    # The following two are for tables that nobody sorts.

    def update_records(self, new: list[RecordT]) -> None:
        """Show these records; if one is added or removed, the other rows stay as they are, even one being edited."""
        old, more = list(self.records), len(new) - len(self.records)
        pairs = enumerate(zip(new, old, strict=False))
        at = next((at for at, (one, other) in pairs if one != other), min(len(new), len(old)))
        if not more:
            self.change_records({row: record for row, record in enumerate(new) if record != old[row]})
        elif more == 1 and new[at + 1 :] == old[at:]:
            self._insert(at, 1, new)
        elif more == -1 and new[at:] == old[at + 1 :]:
            self.beginRemoveRows(QModelIndex(), at, at)
            self.source = self._unsorted = new
            self.endRemoveRows()
        else:
            self.set_records(new)

    def change_records(self, changed: Mapping[int, RecordT]) -> None:
        records = list(self.records)
        for row, record in changed.items():
            records[row] = record
        self.source = self._unsorted = records
        self._emit_changed(min(changed, default=-1), max(changed, default=-1))

    def _insert(self, row: int, count: int, records: Sequence[RecordT]) -> None:
        if count:
            self.beginInsertRows(QModelIndex(), row, row + count - 1)
        self.source = self._unsorted = records
        if count:
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


@dataclass(frozen=True, slots=True, eq=False)
class RowsWanted:
    """Which of the first `count` items a table should show, and in which order; equal ones in that of their numbers."""

    count: int
    column: TableColumn[Any]
    descending: bool = False
    filter: Any = None  # false if all

    @property
    def is_plain(self) -> bool:
        return self.column.keys is None and not self.descending and not self.filter


class SortedItems:
    """The items of a table that sorts and filters; a thread may read them. Keeps the last order."""

    def __init__(self) -> None:
        self.search = TokenSearch()
        self._edition = 0  # of the keys; a thread may still sort by those of an earlier one
        self._sorted: tuple[tuple[int, int, TableColumn[Any], bool], NDArray[np.int64]] | None = None

    def is_quick(self, wanted: RowsWanted) -> bool:
        """Whether an answer needs no reading and no regular expression of the user's, which may take long."""
        raise NotImplementedError

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return which of the items wanted the filter lets through: bool, shape (count,)."""
        raise NotImplementedError

    def forget_order(self) -> None:
        """Drop the order kept, since the keys of a column have changed."""
        self._edition += 1
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
        key, kept = (self._edition, wanted.count, wanted.column, wanted.descending), self._sorted
        if kept is not None and kept[0] == key:
            return kept[1]
        assert wanted.column.keys is not None
        values = wanted.column.keys(self, wanted.count, should_stop)
        if should_stop():
            raise Stopped
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


_AT_ONCE = 40_000  # items; takes a few milliseconds
_HINTED = "QList<QPersistentModelIndex>,QAbstractItemModel::LayoutChangeHint"
# Without it, Qt remembers a selection cell by cell, and its header recomputes column widths.
_ROWS_ONLY = QAbstractTableModel.LayoutChangeHint.VerticalSortHint
ItemsT = TypeVar("ItemsT", bound=SortedItems)


class SortedTableModel(TableModel[ItemsT]):
    """A table that sorts and filters; the latest request wins, and `task` fails if a filter cannot be used.

    New items appear at once while all are shown by their numbers, otherwise a little later. Those selected stay so.
    """

    rows_found = Signal(object)  # the rows are those last requested; whether (bool) they are the first for a filter
    rearranging = Signal()  # the rows are about to move; selected rows move with their items

    resets_when_filtered: ClassVar[bool] = False  # else another filter removes and adds rows
    least_interval_ms: ClassVar[int] = 0  # how long new items wait for their places, at least

    def __init__(self, columns: Sequence[TableColumn[ItemsT]], filter_: object, parent: QObject | None = None) -> None:
        super().__init__(columns, None, parent)
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
        self._timer = single_shot(self, self._catch_up, self.least_interval_ms)
        self.task = Task(
            _found_rows, "The table cannot be sorted and filtered", self,
            on_answer=self._take_found, on_error=self._timer.stop,
        )  # fmt: skip

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

    # What subclasses call.

    def _set_source(self, source: ItemsT | None) -> None:
        self.beginResetModel()
        self._timer.stop()
        self.task.forget()
        self.source = source
        self._count = self.limit = self._known = 0
        self._found = None if self._wanted().is_plain else np.empty(0, dtype=np.int64)
        self._is_refiltered = False
        self._set_rows(self._found, 0)
        self.endResetModel()

    def _set_count(self, count: int, limit: int | None = None) -> None:
        self._count, self.limit = count, count if limit is None else limit
        if self._found is None:
            self._known = count
        self._show_found()
        if self._known == count or self._timer.isActive() or self.task.is_running:
            return
        if self._known:
            self._timer.start()
        else:
            self._ask()

    def _refilter(self) -> None:
        self._is_refiltered = True
        self._ask()

    # Finding the rows.

    def _wanted(self) -> RowsWanted:
        column = self.columns[self._column] if self._column >= 0 else _BY_NUMBER
        return RowsWanted(self._count, column, self._descending, self.filter)

    def _ask(self) -> None:
        source, wanted = self.source, self._wanted()
        if source is None:
            return
        if not wanted.is_plain and (wanted.count > _AT_ONCE or not source.is_quick(wanted)):
            self.task.run(source, wanted)
        else:
            self.task.stop()
            self._take_found(_found_rows(source, wanted))

    def _take_found(self, found: tuple[int, NDArray[np.int64] | None, float]) -> None:
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

    def _catch_up(self) -> None:
        if self.is_behind and not self.task.is_running:
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
        order, count = self._below_limit()
        if order is self._order:
            self._cut_to(count)
            self._add(order, count)
            return
        before, after = self.shown_items(), np.arange(count) if order is None else order
        are_all = len(before) == len(after) == self._known > before.max(initial=-1)  # only their order is another
        if not are_all:
            stays = _is_among(before, after)
            kept, comes = before[stays], after[~_is_among(after, before)]
            self._move(np.concatenate((kept, before[~stays])))
            self._cut_to(len(kept))
            self._add(np.concatenate((kept, comes)), count)
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
        if np.array_equal(self.shown_items(), np.arange(self._row_count) if order is None else order):
            self._set_rows(order, self._row_count)
            return
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
_MOST_SECONDS = 20.0


class TokenSearch:
    """The order of a growing vocabulary's tokens, and those that the last search found; both grow with it."""

    def __init__(self) -> None:
        self._ranks = np.empty(0, dtype=np.int64)
        self._found: tuple[tuple[str, bool], NDArray[np.bool_]] = (("", False), np.empty(0, dtype=np.bool_))

    def ranks(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of each token in code point order, by token id: int64, shape (n_tokens,)."""
        if len(self._ranks) != len(tokens):
            self._ranks = ranks_of(tokens)
        return self._ranks

    def found(self, tokens: Sequence[str], text: str, is_pattern: bool, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return for each token whether a text or an expression occurs in it: bool, by token id."""
        sought, found = self._found
        if sought != (text, is_pattern):
            found = found[:0]
        if len(found) < len(tokens):
            finder = pattern_finder(text) if is_pattern else text_finder(text)
            found = np.concatenate((found, tokens_found(tokens[len(found) :], finder, should_stop)))
            self._found = ((text, is_pattern), found)
        return found


def tokens_found(tokens: Sequence[str], finder: Finder, should_stop: ShouldStop = lambda: False) -> NDArray[np.bool_]:
    found = np.empty(len(tokens), dtype=np.bool_)
    turn, end = Turn(), time.monotonic() + _MOST_SECONDS
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        found[start : start + len(part)] = finder(part)
        if should_stop():
            raise Stopped
        turn.give()
        if time.monotonic() > end:
            raise StudioError("The search takes too long", "Write a simpler expression.")
    return found
