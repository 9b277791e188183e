"""The merge history by keyboard and mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication

from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.session.task import Task
from wordpiece_studio.storage import merge_table
from wordpiece_studio.storage.merge_table import MERGE_COLUMNS
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes import history_pane
from wordpiece_studio.ui.panes.history_pane import HistoryPane, history_tsv
from wordpiece_studio.ui.widgets.theme import scaled_font

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench

DIRECT = Qt.FindChildOption.FindDirectChildrenOnly


def click_row(bench: Bench, pane: HistoryPane, row: int, column: int = HistoryColumn.PAIR_FREQUENCY) -> None:
    view = pane.view
    view.scrollTo(pane.rows.index(row, 0))
    place = view.visualRect(pane.rows.index(row, column)).center()
    bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_it_counts_merges_and_ties(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    assert pane.hints[0] == "25 merges · 9 ties"


def test_before_training_it_says_what_to_do(empty_bench: Bench) -> None:
    pane = empty_bench.show(HistoryPane)
    assert "Train" in pane.empty.text
    assert not pane.view.isVisible()


def test_a_click_on_a_row_goes_to_its_step_and_selects_its_token(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    click_row(bench, pane, 8)
    assert bench.model.step == 9
    assert bench.model.selection == Selection("token", text=bench.model.history[8].token)


def test_the_arrow_keys_walk_through_the_steps(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    click_row(bench, pane, 8)
    pane.view.setFocus()
    bench.wait(pane.view.hasFocus)
    bench.qtbot.keyClick(pane.view, Qt.Key.Key_Down)
    assert bench.model.step == 10
    bench.qtbot.keyClick(pane.view, Qt.Key.Key_Up)
    bench.qtbot.keyClick(pane.view, Qt.Key.Key_Up)
    assert bench.model.step == 8


def test_the_row_of_the_step_is_selected_and_in_view(bench: Bench) -> None:
    pane = bench.show(HistoryPane, height=160)
    for step in (3, 24, 12):
        bench.seek(step)
        rect = pane.view.visualRect(pane.rows.index(step - 1, 0))
        assert pane.view.viewport().rect().contains(rect)
        assert pane.view.selected_steps().tolist() == [step]


def test_the_filter_finds_tokens_and_ties(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    bench.qtbot.mouseClick(pane._controls.filter, Qt.MouseButton.LeftButton)
    bench.qtbot.keyClicks(pane.filter_row._text, "##ful")
    assert {pane.rows.item_of_row(row) for row in range(pane.rows.rowCount())} == {5, 6, 7}
    assert pane._controls.filter.text() == "Text"
    pane.filter_row._text.clear()
    bench.qtbot.mouseClick(pane.filter_row.only_ties, Qt.MouseButton.LeftButton)
    assert pane.rows.rowCount() == 9
    bench.settle()
    assert pane.hints[0] == "9 of 25 merges shown"


def test_a_filter_that_finds_nothing_says_so(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    pane.open_filter()
    bench.qtbot.keyClicks(pane.filter_row._text, "no such token")
    bench.settle()
    assert "No merge matches" in pane.empty.text


def test_typing_a_step_goes_there(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    pane.activateWindow()
    bench.wait(pane.isActiveWindow)
    bench.qtbot.mouseClick(pane._controls.step, Qt.MouseButton.LeftButton)
    step = pane.filter_row._step
    bench.wait(step.hasFocus)
    bench.qtbot.keyClicks(step, "7")
    bench.qtbot.keyClick(step, Qt.Key.Key_Return)
    assert bench.model.step == 7


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [("1,2", 12), (" 1 2", 12), ("99999999999999999999", 25), ("-5abc", 5), ("0", 0), ("x", 3), ("..", 3)],
)
def test_whatever_is_typed_as_a_step(bench: Bench, typed: str, wanted: int) -> None:
    bench.model.seek(3)
    pane = bench.show(HistoryPane)
    pane.ask_for_step()
    step = pane.filter_row._step
    bench.qtbot.keyClicks(step, typed)
    bench.qtbot.keyClick(step, Qt.Key.Key_Return)
    assert bench.model.step == wanted
    assert not step.text()


def test_selected_rows_are_copied_as_tab_separated_text(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    selection = QItemSelection(pane.rows.index(11, 0), pane.rows.index(12, 10))
    pane.view.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    bench.qtbot.keyClick(pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].split("\t") == list(MERGE_COLUMNS)
    row = ["12", "ch", "##a", "cha", "1", "1", "6", str(1 / 6), "2", "57", "156", "1", "True"]
    assert lines[1].split("\t") == row
    assert len(lines) == 3


def test_many_rows_are_copied_in_the_background(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = bench.show(HistoryPane)
    pane.view.selectAll()
    pane.copy_rows()
    at_once = QGuiApplication.clipboard().text()
    QGuiApplication.clipboard().clear()
    monkeypatch.setattr(history_pane, "_AT_ONCE", 24)
    monkeypatch.setattr(merge_table, "_ROWS", 10)
    pane.copy_rows()
    assert pane.hints[0] == "Copying 25 rows…"
    bench.wait(lambda: pane.hints[0] == "25 rows copied")
    assert QGuiApplication.clipboard().text() == at_once
    assert len(at_once.splitlines()) == 26
    pane.close_jobs()


def test_what_was_copied_in_the_background_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = bench.show(HistoryPane)
    monkeypatch.setattr(history_pane, "_AT_ONCE", 24)
    pane.view.selectAll()
    pane.copy_rows()
    bench.wait(lambda: pane.hints[0] == "25 rows copied")
    kept = [(task.request, task.answered, task.answer) for task in pane.findChildren(Task, options=DIRECT)]
    assert kept == [(None, None, None)]  # else a run that is closed would stay in memory
    pane.close_jobs()


def test_a_selection_of_very_many_rows_is_dropped_on_sorting(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    pane = bench.show(HistoryPane)
    monkeypatch.setattr(history_pane, "_MOST_CARRIED", 3)
    for last, kept in ((2, 3), (3, 0), (24, 25)):
        pane.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        selection = QItemSelection(pane.rows.index(0, 0), pane.rows.index(last, 12))
        pane.view.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        pane.view.sortByColumn(HistoryColumn.VALUE, Qt.SortOrder.DescendingOrder)
        assert sorted(pane.view.selected_steps().tolist()) == list(range(1, kept + 1))


def test_many_selected_rows_stay_selected_when_the_step_moves(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    pane.view.selectAll()
    bench.seek(5)
    assert len(pane.view.selected_steps()) == 25


def test_a_header_click_sorts_and_a_third_one_brings_the_steps_back(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    header = pane.view.horizontalHeader()
    x = header.sectionViewportPosition(HistoryColumn.VALUE) + 10
    place = header.viewport().rect().center()
    place.setX(x)
    values = bench.model.history.column("value")
    for expected in (np.sort(values), np.sort(values)[::-1], values):
        bench.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
        shown = [values[pane.rows.item_of_row(row)] for row in range(25)]
        assert shown == pytest.approx(expected.tolist(), rel=0)


def test_tokens_with_tabs_do_not_break_the_copied_lines(empty_bench: Bench) -> None:
    empty_bench.train()
    text = history_tsv(empty_bench.model.history, np.array([1, 25]))
    assert [line.count("\t") for line in text.splitlines()] == [len(MERGE_COLUMNS) - 1] * 3


def test_the_view_follows_new_rows_only_at_the_end(bench: Bench) -> None:
    pane = bench.show(HistoryPane, height=160)
    pane.view.scrollToBottom()
    assert pane.view.is_at_end
    bench.model.train_further(vocab_size=90)
    bench.wait(lambda: bench.model.merge_count == 45)
    bench.settle()
    assert pane.view.is_at_end
    bench.seek(1)
    bench.model.train_further(vocab_size=100)
    bench.wait(lambda: bench.model.merge_count == 55)
    bench.settle()
    assert not pane.view.is_at_end


@pytest.mark.parametrize("step", [4, 15, 24])
def test_the_row_of_the_step_stays_in_view_when_text_gets_larger(bench: Bench, step: int) -> None:
    pane = bench.show(HistoryPane, height=260)
    view, usual = pane.view, pane.font()
    bench.seek(step)
    row = pane.rows.row_of_step(step)
    pane.setFont(scaled_font(usual, 2))
    bench.settle()
    assert 0 <= view.rowViewportPosition(row) <= view.viewport().height() - view.row_height
    bar = view.verticalScrollBar()
    bar.setValue(0 if step > 10 else bar.maximum())
    before = bar.value()
    pane.setFont(usual)
    bench.settle()
    assert bar.value() == min(before, bar.maximum()), "the user has scrolled away from it"


def test_getting_the_keyboard_focus_moves_nothing(bench: Bench) -> None:
    bench.model.seek(0)
    pane = bench.show(HistoryPane)
    pane.view.setFocus()
    bench.settle()
    assert bench.model.step == 0


@pytest.mark.parametrize(("objective", "name"), [("score", "Score"), ("likelihood", "Gain"), ("count", "Count")])
def test_the_value_column_is_named_after_the_objective(empty_bench: Bench, objective: str, name: str) -> None:
    pane = empty_bench.show(HistoryPane)
    empty_bench.train(objective=objective)
    assert pane.rows.headerData(HistoryColumn.VALUE, Qt.Orientation.Horizontal) == name


def test_no_number_is_wider_than_its_column(empty_bench: Bench) -> None:
    empty_bench.train([f"{'hug ' * 123_456}pug bun hugs " * 3], objective="likelihood")
    pane = empty_bench.show(HistoryPane, width=400)
    font = QFont(pane.view.font())
    font.setBold(True)
    assert pane.view.isColumnHidden(HistoryColumn.SYMBOLS)  # left out whole
    for column in (HistoryColumn.STEP, HistoryColumn.PAIR_FREQUENCY, HistoryColumn.VALUE):
        for row in range(pane.rows.rowCount()):
            text = pane.rows.drawn(pane.rows.item_of_row(row), column)
            assert QFontMetrics(font).horizontalAdvance(text) + 12 <= pane.view.columnWidth(column)


def test_no_next_merge_is_promised_when_no_pair_is_left(empty_bench: Bench) -> None:
    empty_bench.train(["a b c"])
    pane = empty_bench.show(HistoryPane)
    assert "no pair is left" in pane.empty.text
    assert "Next merge" not in pane.empty.text


def test_sorting_begins_at_the_top_unless_the_step_is_selected(bench: Bench) -> None:
    pane = bench.show(HistoryPane, height=160)
    pane.view.clearSelection()
    pane.view.scrollToBottom()
    pane.view.sortByColumn(HistoryColumn.TOKEN, Qt.SortOrder.DescendingOrder)
    assert pane.view.verticalScrollBar().value() == 0
    pane.show_step()
    pane.view.sortByColumn(HistoryColumn.TOKEN, Qt.SortOrder.AscendingOrder)
    row = pane.rows.row_of_step(bench.model.step)
    assert 0 <= pane.view.rowViewportPosition(row) < pane.view.viewport().height()


def test_the_row_of_the_step_is_found_despite_a_filter(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    pane.filter_row._text.setText("no such token")
    bench.settle()
    bench.qtbot.mouseClick(pane._controls.show_step, Qt.MouseButton.LeftButton)
    assert pane.view.selected_steps().tolist() == [bench.model.step]


def test_a_number_column_cannot_be_dragged_narrower_than_its_numbers(bench: Bench) -> None:
    pane = bench.show(HistoryPane)
    before = pane.view.columnWidth(HistoryColumn.SYMBOLS)
    pane.view.setColumnWidth(HistoryColumn.SYMBOLS, 5)
    assert pane.view.columnWidth(HistoryColumn.SYMBOLS) >= before


def test_a_narrow_table_is_never_scrolled_sideways(bench: Bench) -> None:
    pane = bench.show(HistoryPane, width=420)
    pane.view.sortByColumn(HistoryColumn.PAIR_FREQUENCY, Qt.SortOrder.DescendingOrder)
    bench.settle()
    assert pane.view.isColumnHidden(HistoryColumn.SYMBOLS)
    assert pane.view.horizontalScrollBar().maximum() == 0
