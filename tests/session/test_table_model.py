"""What all tables that sort and filter have in common, with numbers as the items."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import table_model
from wordpiece_studio.session.table_model import (
    RecordTableModel,
    RowsWanted,
    ShouldStop,
    SortedItems,
    SortedTableModel,
    TableColumn,
    TableModel,
    TokenSearch,
    each_row,
    stable_order,
    tokens_found,
)
from wordpiece_studio.system.child import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
COUNT = 60


class Numbers(SortedItems):
    """The remainders of numbers by seven; a filter is the least one to show."""

    may_go_on = threading.Event()
    may_go_on.set()

    def is_quick(self, wanted: RowsWanted) -> bool:
        return True

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        return np.arange(wanted.count) % 7 >= wanted.filter

    def remainders(self, count: int, _stop: ShouldStop) -> NDArray[np.int64]:
        assert self.may_go_on.wait(10)
        return np.arange(count) % 7


class NumbersTable(SortedTableModel[Numbers]):
    def __init__(self) -> None:
        super().__init__(
            (
                TableColumn("number", lambda _items, item: item),
                TableColumn("remainder", lambda _items, item: item % 7, keys=Numbers.remainders),
            ),
            0,
        )
        self._set_source(Numbers())

    def expected(self, limit: int) -> list[int]:
        """Return the items to show, found out in the plainest way."""
        items = [item for item in range(limit) if item % 7 >= self.filter]
        return sorted(items, key=lambda item: item % 7 if self._column == 1 else item, reverse=self._descending)


@pytest.fixture
def table(qtbot: QtBot, qtmodeltester: ModelTester) -> Iterator[NumbersTable]:
    table = NumbersTable()
    qtmodeltester.check(table)
    table._set_count(COUNT)
    yield table
    table.task.close()


def test_an_order_by_keys_that_have_changed_meanwhile_is_not_kept() -> None:
    class Changing(Numbers):
        sign = 1

        def signed(self, count: int, _stop: ShouldStop) -> NDArray[np.int64]:
            keys = np.arange(count) * self.sign
            if self.sign > 0:
                self.sign = -1
                self.forget_order()  # as the window does while a thread sorts
            return keys

    items = Changing()
    wanted = RowsWanted(3, TableColumn("", lambda _items, item: item, keys=Changing.signed))
    assert items.ordered(wanted).tolist() == [0, 1, 2]
    assert items.ordered(wanted).tolist() == [2, 1, 0]


@pytest.mark.parametrize("resets", [False, True])
def test_rows_come_go_and_move_with_their_items(
    qtbot: QtBot, table: NumbersTable, resets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NumbersTable, "resets_when_filtered", resets)
    chance, limit = random.Random(3), COUNT
    for _ in range(200):
        held = [(QPersistentModelIndex(table.index(row, 1)), table.item_of_row(row)) for row in range(table.rowCount())]
        change = chance.randrange(3)
        if change == 0:
            table.sort(chance.randrange(-1, 2), chance.choice([UP, DOWN]))
        elif change == 1:
            table.set_filter(chance.choice([0, 0, 3, 6, 7]))
        else:
            limit = chance.randrange(COUNT + 1)
            table._set_count(COUNT, limit)
        shown = [table.item_of_row(row) for row in range(table.rowCount())]
        assert shown == table.shown_items().tolist() == table.expected(limit)
        assert [table.row_of_item(item) for item in shown] == list(range(len(shown)))
        if change != 1 or not resets:
            for index, item in held:
                assert index.isValid() == (item in shown)
                assert not index.isValid() or (shown[index.row()], index.column()) == (item, 1)


def test_items_that_come_while_others_are_sorted_find_their_places(
    qtbot: QtBot, table: NumbersTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_model, "_AT_ONCE", 0)
    monkeypatch.setattr(Numbers, "may_go_on", threading.Event())
    table.sort(1, DOWN)
    assert table.task.is_running
    table._set_count(COUNT + 10)
    assert table.rowCount() == COUNT + 10  # in order of their numbers until the answer comes
    Numbers.may_go_on.set()
    qtbot.waitUntil(lambda: table.shown_items().tolist() == table.expected(COUNT + 10))
    table._set_count(COUNT + 20)
    assert table.rowCount() == COUNT + 10
    qtbot.waitUntil(lambda: table.shown_items().tolist() == table.expected(COUNT + 20))


def test_the_latest_request_wins(qtbot: QtBot, table: NumbersTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_model, "_AT_ONCE", 0)
    monkeypatch.setattr(Numbers, "may_go_on", threading.Event())
    found: list[bool] = []
    table.rows_found.connect(found.append)
    table.sort(1, DOWN)
    table.set_filter(3)
    table.sort(1, UP)
    Numbers.may_go_on.set()
    qtbot.waitUntil(lambda: not table.task.is_running)
    assert found == [True]
    assert table.shown_items().tolist() == table.expected(COUNT)
    table.sort(-1)
    table.set_filter(0)
    assert table.is_plain


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-3, 3), max_size=30), st.sampled_from([np.int64, np.int8]))
def test_the_order_of_whole_numbers_is_stable(numbers: list[int], dtype: type[np.signedinteger[Any]]) -> None:
    values = np.array(numbers, dtype=np.int64).astype(dtype)
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()


def test_records_are_rows_and_their_columns_describe_the_cells(qtmodeltester: ModelTester) -> None:
    columns = (
        TableColumn("word", each_row(lambda word: word[0])),
        TableColumn("count", each_row(lambda word: word[1]), explanation="how often it occurs"),
    )
    words: RecordTableModel[tuple[str, int]] = RecordTableModel(columns)
    assert isinstance(words, TableModel)
    qtmodeltester.check(words)
    words.set_records([("hug", 10), ("pun", 12_000)])
    qtmodeltester.check(words)
    assert (words.rowCount(), words.columnCount()) == (2, 2)
    texts = [[words.index(row, column).data() for column in (0, 1)] for row in (0, 1)]
    assert texts == [["hug", "10"], ["pun", "12,000"]]
    assert words.headerData(1, Qt.Orientation.Horizontal) == "count"
    words.set_records([])
    assert words.rowCount() == 0


TOKENS = ["[UNK]", "ab", "AB", "##ing", "ring", "a" * 42]


@pytest.mark.parametrize(
    ("text", "is_pattern", "expected"),
    [
        ("ab", False, [1, 2]),
        ("AB", False, [2]),
        ("ing$", False, []),
        ("ing$", True, [3, 4]),
        ("^##", True, [3]),
        (r"\p{Lu}", True, [0, 2]),
    ],
)
def test_tokens_are_searched(text: str, is_pattern: bool, expected: list[int]) -> None:
    search = TokenSearch()
    half = search.found(TOKENS[:3], text, is_pattern, lambda: False)
    assert half.nonzero()[0].tolist() == [n for n in expected if n < 3]
    found = search.found(TOKENS, text, is_pattern, lambda: False)  # there are more now
    assert found.nonzero()[0].tolist() == expected


def test_a_search_that_takes_too_long_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_model, "_MOST_SECONDS", -1.0)
    with pytest.raises(StudioError, match="takes too long"):
        tokens_found(TOKENS, lambda tokens: [True] * len(tokens))


def test_canceled_searches_are_not_answered() -> None:
    with pytest.raises(Stopped):
        TokenSearch().found(TOKENS, "a", False, lambda: True)
