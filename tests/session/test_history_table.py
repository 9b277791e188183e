"""The table of merges: rows, order, filter and roles, equal to the plainest Python, and quick."""

from __future__ import annotations

import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt

from tests.benchmarks.million import MillionModel, million_history
from tests.session.conftest import random_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session import table_model
from wordpiece_studio.session.history_table import HistoryColumn, HistoryFilter, HistoryItems, HistoryTableModel
from wordpiece_studio.session.table_model import VALUE_ROLE, RowsWanted, TableColumn
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory

HOSTILE = "(?:a|b|ab|#)+[^ab]$"
UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


def finish(qtbot: QtBot, model: TrainerModel) -> None:
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=20_000)


@pytest.fixture
def table(qtbot: QtBot, model: TrainerModel) -> HistoryTableModel:
    model.start(random_counts(5), TrainingConfig(max_merges=60))
    finish(qtbot, model)
    return HistoryTableModel(model)


def raw(table: HistoryTableModel, column: HistoryColumn) -> list[object]:
    return [table.index(row, column).data(VALUE_ROLE) for row in range(table.rowCount())]


def test_cells_are_the_history(table: HistoryTableModel, model: TrainerModel) -> None:
    assert table.rowCount() == 60
    for row, merge in enumerate(model.history):
        values = [table.index(row, column).data(VALUE_ROLE) for column in HistoryColumn]
        assert values == [
            merge.step, merge.left, merge.right, merge.token, merge.pair_frequency, merge.left_frequency,
            merge.right_frequency, merge.value, merge.ties, model.history.vocabulary_size(merge.step),
            model.history.symbols_after(merge.step), len(model.history.words_touched(row)), merge.is_new,
        ]  # fmt: skip


def test_numbers_are_readable(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.start(hugs, TrainingConfig(objective="score", max_merges=2))
    finish(qtbot, model)
    table = HistoryTableModel(model)
    assert table.index(1, HistoryColumn.VALUE).data() == "0.02778"
    assert table.value_text(1234567) == "1,234,567"


def test_titles_and_alignment(table: HistoryTableModel) -> None:
    titles = [table.headerData(column, Qt.Orientation.Horizontal) for column in HistoryColumn]
    assert titles[:5] == ["Step", "Left", "Right", "New token", "n(ab)"]
    assert table.index(0, HistoryColumn.LEFT).data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignLeft
    assert table.index(0, HistoryColumn.STEP).data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    assert table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) is None


@pytest.mark.slow
@pytest.mark.parametrize("column", list(HistoryColumn))
@pytest.mark.parametrize("order", [UP, DOWN])
def test_every_column_sorts(
    table: HistoryTableModel, qtmodeltester: ModelTester, column: HistoryColumn, order: Qt.SortOrder
) -> None:
    qtmodeltester.check(table)
    table.sort(column, order)
    values, steps = raw(table, column), raw(table, HistoryColumn.STEP)
    pairs = sorted(zip(values, steps, strict=True), key=lambda pair: pair[1])
    expected = sorted(pairs, key=lambda pair: pair[0], reverse=order is DOWN)  # stable: equal values by step
    assert list(zip(values, steps, strict=True)) == expected
    assert [table.row_of_step(step) for step in steps] == list(range(60))
    table.sort(-1)
    assert raw(table, HistoryColumn.STEP) == list(range(1, 61))


def test_a_selected_row_stays_on_its_merge(table: HistoryTableModel) -> None:
    held = QPersistentModelIndex(table.index(7, HistoryColumn.TOKEN))
    token = held.data()
    table.sort(HistoryColumn.TOKEN, DOWN)
    assert (held.data(), table.item_of_row(held.row())) == (token, 7)
    assert held.row() == table.row_of_step(8)


def test_filter_by_text_and_ties(table: HistoryTableModel, model: TrainerModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(table)
    table.set_filter(HistoryFilter("AB".lower()))
    shown = set(raw(table, HistoryColumn.STEP))
    assert shown == {m.step for m in model.history if any("ab" in text for text in (m.left, m.right, m.token))}
    assert table.hidden_count == 60 - len(shown)
    table.set_filter(HistoryFilter(only_ties=True))
    assert set(raw(table, HistoryColumn.STEP)) == {merge.step for merge in model.history if merge.ties > 1}
    assert table.row_of_step(next(merge.step for merge in model.history if merge.ties == 1)) == -1
    table.set_filter(HistoryFilter("AB"))
    assert table.rowCount() == 0
    table.set_filter(HistoryFilter())
    assert table.rowCount() == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "column"),
    [
        (HistoryFilter(), -1),
        (HistoryFilter(), HistoryColumn.WORDS),
        (HistoryFilter("a"), -1),
        (HistoryFilter("a"), HistoryColumn.STEP),
        (HistoryFilter(only_ties=True), HistoryColumn.LEFT),
    ],
)
def test_rows_come_while_training(
    qtbot: QtBot, model: TrainerModel, qtmodeltester: ModelTester, wanted: HistoryFilter, column: int
) -> None:
    counts = random_counts(9, words=150, letters="abcdefgh")
    table = HistoryTableModel(model)
    qtmodeltester.check(table)
    table.set_filter(wanted)
    table.sort(column, DOWN)
    model.start(counts, TrainingConfig(max_merges=150))
    finish(qtbot, model)
    model.seek(100)
    qtbot.waitUntil(lambda: table.rowCount() + table.hidden_count == 150 and not table._timer.isActive())
    model.train_further(max_merges=200)
    finish(qtbot, model)
    qtbot.waitUntil(lambda: table.rowCount() + table.hidden_count == 200 and not table._timer.isActive())
    fresh = HistoryTableModel(model)
    fresh.set_filter(wanted)
    fresh.sort(column, DOWN)
    assert raw(table, HistoryColumn.STEP) == raw(fresh, HistoryColumn.STEP)


def test_a_new_run_empties_the_table(
    qtbot: QtBot, make_model: Callable[..., TrainerModel], hugs: WordCounts, qtmodeltester: ModelTester
) -> None:
    model = make_model()
    table = HistoryTableModel(model)
    qtmodeltester.check(table)
    for merges in (5, 2):
        model.start(hugs, TrainingConfig(max_merges=merges))
        finish(qtbot, model)
        assert table.rowCount() == merges


# Filtering and sorting, compared with the plainest Python.


@cache
def history() -> MergeHistory:
    trainer = Trainer(random_counts(5, words=80, letters="abcAB"), TrainingConfig(max_merges=120))
    trainer.run(120)
    return trainer.history


def values(history: MergeHistory, column: HistoryColumn) -> list[Any]:
    names = {
        HistoryColumn.LEFT: "left", HistoryColumn.RIGHT: "right", HistoryColumn.TOKEN: "token",
        HistoryColumn.PAIR_FREQUENCY: "pair_frequency", HistoryColumn.LEFT_FREQUENCY: "left_frequency",
        HistoryColumn.RIGHT_FREQUENCY: "right_frequency", HistoryColumn.VALUE: "value", HistoryColumn.TIES: "ties",
        HistoryColumn.STEP: "step", HistoryColumn.IS_NEW: "is_new",
    }  # fmt: skip
    if column in names:
        return [getattr(merge, names[column]) for merge in history]
    steps = range(1, len(history) + 1)
    if column is HistoryColumn.WORDS:
        return [len(history.words_touched(step - 1)) for step in steps]
    ask = history.vocabulary_size if column is HistoryColumn.VOCABULARY else history.symbols_after
    return [ask(step) for step in steps]


@cache
def columns() -> tuple[TableColumn[HistoryItems], ...]:
    return HistoryTableModel(MillionModel(history())).columns  # type: ignore[arg-type]


def let_through(chosen: HistoryFilter, count: int = 120, live_steps: Collection[int] = ()) -> list[int]:
    """Return the indices of the merges that the filter lets through, found out in the plainest way."""
    rows = []
    for index, merge in enumerate(list(history())[:count]):
        tokens = (merge.left, merge.right, merge.token)
        if chosen.is_pattern:
            is_found = any(re.search(chosen.text, token) for token in tokens)
        elif chosen.text == chosen.text.lower():
            is_found = any(chosen.text in token.lower() for token in tokens)
        else:
            is_found = any(chosen.text in token for token in tokens)
        is_change = merge.step in live_steps
        if is_found and (merge.ties > 1 or not chosen.only_ties) and (is_change or not chosen.only_live):
            rows.append(index)
    return rows


filters = st.builds(
    HistoryFilter, st.sampled_from(["", "a", "##b", "Ab", "bA", "zz"]), st.just(False), st.booleans(), st.booleans()
) | st.builds(HistoryFilter, st.sampled_from(["^##", "a.b$", "[AB]{2}", "(a|B)c", "a+#*b"]), st.just(True))


@pytest.mark.slow
@given(
    st.integers(0, 120), filters, st.sampled_from(list(HistoryColumn)), st.booleans(), st.sets(st.integers(1, 130))
)  # fmt: skip
def test_rows_are_those_of_the_plainest_python(
    qapp: object, count: int, chosen: HistoryFilter, column: HistoryColumn, descending: bool, watched: set[int]
) -> None:
    steps = np.array(sorted(watched), dtype=np.int64)
    wanted = RowsWanted(count, columns()[column], descending, chosen)
    keys = values(history(), column)
    expected = sorted(let_through(chosen, count, watched), key=keys.__getitem__, reverse=descending)
    if descending:  # Python keeps equal ones in order when it sorts the other way round, and so do we
        assert [keys[row] for row in expected] == sorted((keys[row] for row in expected), reverse=True)
    assert HistoryItems(history(), steps).ordered(wanted).tolist() == expected


def test_what_was_found_is_kept_while_the_history_grows(qapp: object) -> None:
    items = HistoryItems(history())
    for count in (10, 60, 120):
        wanted = RowsWanted(count, columns()[HistoryColumn.WORDS], filter=HistoryFilter("ab"))
        assert items.ordered(wanted).tolist() == HistoryItems(history()).ordered(wanted).tolist()


def test_words_touched_are_counted_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = [len(history().words_touched(index)) for index in range(120)]
    assert history().words_touched_counts(0, 120).tolist() == one_by_one
    monkeypatch.setattr("wordpiece_studio.training.segmentation._PLACES_AT_ONCE", 7)
    assert history().words_touched_counts(5, 90).tolist() == one_by_one[5:90]
    assert history().words_touched_counts(3, 3).tolist() == []


def test_canceled_searches_are_not_answered(qapp: object) -> None:
    for chosen in (HistoryFilter("a"), HistoryFilter()):
        wanted = RowsWanted(120, columns()[HistoryColumn.VALUE], filter=chosen)
        with pytest.raises(Stopped):
            HistoryItems(history()).ordered(wanted, lambda: True)


# In the table, beside the window.


@pytest.fixture
def slow_table(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, qtmodeltester: ModelTester) -> Any:
    """A table that has all its rows found in a thread."""
    monkeypatch.setattr(table_model, "_AT_ONCE", 0)
    table = HistoryTableModel(MillionModel(history()))  # type: ignore[arg-type]
    qtmodeltester.check(table)
    yield table
    table.task.close()


def steps_of(table: HistoryTableModel) -> list[int]:
    return [table.index(row, HistoryColumn.STEP).data(VALUE_ROLE) for row in range(table.rowCount())]


def settled(qtbot: QtBot, table: HistoryTableModel, act: Callable[[], object]) -> list[int]:
    act()
    qtbot.waitUntil(lambda: not table.task.is_running)
    return steps_of(table)


def test_a_long_history_is_put_in_order_in_the_background(qtbot: QtBot, slow_table: HistoryTableModel) -> None:
    slow_table.sort(HistoryColumn.VALUE)
    assert slow_table.task.is_running
    assert steps_of(slow_table) == list(range(1, 121))
    keys = values(history(), HistoryColumn.VALUE)
    in_order = sorted(range(1, 121), key=lambda step: keys[step - 1])
    assert settled(qtbot, slow_table, lambda: None) == in_order
    few = settled(qtbot, slow_table, lambda: slow_table.set_filter(HistoryFilter("ab", only_ties=True)))
    shown = let_through(HistoryFilter("ab", only_ties=True))
    assert few == [step for step in in_order if step - 1 in shown]
    assert settled(qtbot, slow_table, lambda: slow_table.set_filter(HistoryFilter())) == in_order
    assert settled(qtbot, slow_table, lambda: slow_table.sort(-1)) == list(range(1, 121))


def test_only_the_latest_question_is_answered(qtbot: QtBot, slow_table: HistoryTableModel) -> None:
    with qtbot.waitSignal(slow_table.modelReset) as _:
        for text in ("a", "ab", "abc", "##b"):
            slow_table.set_filter(HistoryFilter(text))
    assert steps_of(slow_table) == [row + 1 for row in let_through(HistoryFilter("##b"))]


@pytest.mark.parametrize(("pattern", "message"), [("(", "not a valid regular expression"), (HOSTILE, "takes too long")])
def test_a_wrong_expression_is_told_and_changes_nothing(qtbot: QtBot, pattern: str, message: str) -> None:
    trainer = Trainer(WordCounts.from_pairs([("ab" * 30, 1)]), TrainingConfig(max_merges=100))
    merges = trainer.run(100)
    table = HistoryTableModel(MillionModel(trainer.history))  # type: ignore[arg-type]
    with qtbot.waitSignal(table.task.failed) as caught:
        table.set_filter(HistoryFilter(pattern, is_pattern=True))
    assert message in str(caught.args[0])
    assert table.rowCount() == merges
    table.task.close()


def test_rows_follow_the_live_text(qtbot: QtBot, slow_table: HistoryTableModel) -> None:
    slow_table.set_live_steps(np.array([3, 50]))
    assert settled(qtbot, slow_table, lambda: slow_table.set_filter(HistoryFilter(only_live=True))) == [3, 50]
    assert settled(qtbot, slow_table, lambda: slow_table.set_live_steps(np.array([4]))) == [4]
    assert settled(qtbot, slow_table, lambda: slow_table.set_filter(HistoryFilter())) == list(range(1, 121))


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_million_rows_sort_and_filter_in_time(qapp: object) -> None:
    million = million_history(1_000_000)
    for column in HistoryColumn:
        for chosen in (HistoryFilter(), HistoryFilter("ab"), HistoryFilter("^##a.*b$", True, only_ties=True)):
            items = HistoryItems(million)
            began = time.process_time()
            items.ordered(RowsWanted(1_000_000, columns()[column], descending=True, filter=chosen))
            assert time.process_time() - began < 5, (column, chosen)  # 0.2 s on a quiet machine
