"""The merge history: selection, columns, expressions, and the menu for those without a mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup

from tests.ui.panes.conftest import changes_at
from tests.ui.panes.test_history_pane import click_row
from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.history_pane import HistoryPane
from wordpiece_studio.ui.widgets.table import Measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMenu

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.panes.history_pane import HistoryMenu


@pytest.fixture
def pane(bench: Bench) -> Iterator[HistoryPane]:
    pane = bench.show(HistoryPane, width=900, height=200)
    yield pane
    pane.close_jobs()


# The selection.


@pytest.mark.parametrize("column", ["LEFT", "RIGHT", "TOKEN"])
def test_a_click_on_a_token_selects_it_and_keeps_the_step(bench: Bench, pane: HistoryPane, column: str) -> None:
    bench.seek(3)
    click_row(bench, pane, 7, HistoryColumn[column])
    merge = bench.model.history[7]
    token = {"LEFT": merge.left, "RIGHT": merge.right, "TOKEN": merge.token}[column]
    assert bench.model.selection == Selection("token", text=token)
    assert bench.model.step == 3


@pytest.mark.parametrize(
    ("selection", "step"),
    [
        (Selection("token", text="##ful"), 6),
        (Selection("pair", left="##fu", right="##l"), 6),
        (Selection("pair", left="##l", right="##fu"), 0),
        (Selection("pair", left="no such", right="##fu"), 0),
        (Selection("token", text="T"), 0),
        (Selection("token", text="no such token"), 0),
        (Selection("word", text="This"), 0),
        (None, 0),
    ],
)
def test_the_row_of_the_selection_is_marked_and_in_view(
    bench: Bench, pane: HistoryPane, selection: Selection | None, step: int
) -> None:
    bench.model.set_selection(Selection("token", text="Th"))
    pane.view.scrollToBottom()
    bench.model.set_selection(selection)
    assert pane.view.selection_step == step
    if step:
        top = pane.view.rowViewportPosition(pane.rows.row_of_step(step))
        assert 0 <= top < pane.view.viewport().height()
    pane.view.grab()


def test_the_mark_is_drawn_round_the_row(bench: Bench, pane: HistoryPane) -> None:
    bench.seek(1)
    before = pane.view.grab().toImage()
    bench.model.set_selection(Selection("token", text=bench.model.history[1].token))
    after = pane.view.grab().toImage()
    assert before != after


def test_a_token_that_is_clicked_here_does_not_move_the_table(bench: Bench, pane: HistoryPane) -> None:
    pane.view.scrollToBottom()
    before = pane.view.verticalScrollBar().value()
    click_row(bench, pane, 24, HistoryColumn.LEFT)  # born far above
    assert pane.view.verticalScrollBar().value() == before


def test_a_token_born_while_selected_is_marked_then(bench: Bench, pane: HistoryPane) -> None:
    bench.model.train_further(vocab_size=71)
    bench.wait(lambda: bench.model.merge_count == 26)
    token = bench.model.history[25].token
    bench.train()
    bench.model.set_selection(Selection("token", text=token))
    assert pane.view.selection_step == 0
    bench.model.train_further(vocab_size=71)
    bench.wait(lambda: pane.view.selection_step == 26)


# The live text, and expressions.


def test_only_the_changes_of_the_live_text(bench: Bench) -> None:
    changes = LiveChanges()
    pane = HistoryPane(bench.model, bench.theme, changes=changes)
    bench.panes.append(pane)
    pane.show()
    pane.filter_row.only_live.setChecked(True)
    bench.settle()
    assert "Still finding" in pane.empty.text
    changes.set_rows(changes_at((4, -1), (9, -1)))
    assert (pane.rows.shown_items() + 1).tolist() == [4, 9]


def test_an_expression_filters_and_its_error_is_shown_below(bench: Bench, pane: HistoryPane) -> None:
    pane.open_filter()
    bench.qtbot.mouseClick(pane.filter_row.is_pattern, Qt.MouseButton.LeftButton)
    pane.filter_row._text.setText("^##f.l$")
    bench.wait(lambda: pane.rows.rowCount() == 2)
    pane.filter_row._text.setText("^##f(")
    bench.wait(lambda: bool(pane.filter_row.error))
    assert "not a valid regular expression" in pane.filter_row.error
    assert pane.rows.rowCount() == 2
    pane.filter_row._text.setText("^##f")
    assert not pane.filter_row.error


def test_escape_closes_the_filter_and_shows_all(bench: Bench, pane: HistoryPane) -> None:
    pane.open_filter()
    bench.qtbot.keyClicks(pane.filter_row._text, "full")
    assert pane.rows.hidden_count
    bench.qtbot.keyClick(pane.filter_row._text, Qt.Key.Key_Escape)
    assert not pane.rows.hidden_count
    assert pane.filter_row.isHidden()
    assert not pane._controls.filter.isChecked()


def test_the_button_says_what_the_filter_lets_through(bench: Bench, pane: HistoryPane) -> None:
    button, row = pane._controls.filter, pane.filter_row
    assert button.text() == "All"
    row._text.setText("##f")
    assert button.text() == "Text"
    row.only_ties.setChecked(True)
    row.only_live.setChecked(True)
    assert button.text() == "Text + Ties + Changes"


# Columns.


def menu_of(pane: HistoryPane) -> HistoryMenu:
    menu = pane._controls.columns.menu()
    menu.aboutToShow.emit()
    return menu


def action(menu: QMenu, text: str) -> QAction:
    return next(one for one in menu.actions() if one.text().replace("&", "") == text)


def test_the_menu_has_one_group_of_orders_however_often_it_is_opened(pane: HistoryPane) -> None:
    for _ in range(3):
        menu = menu_of(pane)
    (group,) = menu.findChildren(QActionGroup)
    assert len(group.actions()) == 14
    assert group.checkedAction().text() == "&None (in step order)"


def test_the_columns_are_as_many_as_fit(bench: Bench, pane: HistoryPane) -> None:
    for width in (1100, 660, 420):
        pane.resize(width, 300)
        bench.settle()
        shown = pane.view.shown_columns()
        assert pane._controls.columns.text() == f"{len(shown)}/13"
        assert pane.view.horizontalScrollBar().maximum() == 0
    assert {HistoryColumn.STEP, HistoryColumn.TOKEN, HistoryColumn.VALUE} <= shown
    assert HistoryColumn.SYMBOLS not in shown
    assert f"{len(shown)} of 13 columns are shown; " in pane._controls.columns.toolTip()
    pane.view.choose_columns(frozenset([HistoryColumn.TOKEN]))
    assert "1 of 13 columns is shown; " in pane._controls.columns.toolTip()


def test_chosen_columns_stay_and_the_table_scrolls(bench: Bench, pane: HistoryPane) -> None:
    pane.resize(420, 300)
    with bench.qtbot.waitSignal(pane.columns_chosen) as caught:
        action(menu_of(pane), "Symbols").trigger()
    bench.settle()
    assert HistoryColumn.SYMBOLS in pane.view.shown_columns()
    assert pane.view.horizontalScrollBar().maximum() > 0
    assert "symbols" in caught.args[0]
    assert "-is_new" in caught.args[0]
    action(menu_of(pane), "As many as fit").trigger()
    assert pane.view.horizontalScrollBar().maximum() == 0


def test_sorting_changes_no_column(bench: Bench, pane: HistoryPane) -> None:
    measure = Measure(pane.view)
    needed = sum(measure.width(place, column.width) for place, column in enumerate(pane.rows.columns))
    pane.resize(needed, 300)  # the scroll bar leaves too little for the last one
    bench.settle()
    shown, widths = pane.view.shown_columns(), [pane.view.columnWidth(column) for column in HistoryColumn]
    assert HistoryColumn.IS_NEW not in shown
    pane.view.sortByColumn(HistoryColumn.VALUE, Qt.SortOrder.DescendingOrder)
    assert not pane.rows.is_plain
    assert pane.view.shown_columns() == shown
    assert [pane.view.columnWidth(column) for column in HistoryColumn] == widths
    assert pane.view.horizontalScrollBar().maximum() == 0


def test_the_last_column_cannot_be_hidden(pane: HistoryPane) -> None:
    pane.view.choose_columns(frozenset({HistoryColumn.TOKEN}))
    assert not action(menu_of(pane), "New token").isEnabled()
    assert action(menu_of(pane), "Step").isEnabled()


def test_choice_and_order_are_restored(bench: Bench, pane: HistoryPane) -> None:
    pane.view.choose_columns(frozenset({HistoryColumn.STEP, HistoryColumn.WORDS, HistoryColumn.TOKEN}))
    with bench.qtbot.waitSignal(pane.columns_chosen) as caught:
        pane.view.horizontalHeader().moveSection(int(HistoryColumn.WORDS), 0)
    other = bench.show(HistoryPane, width=900)
    other.view.take_column_names(caught.args[0])
    assert other.view.shown_columns() == pane.view.shown_columns()
    assert other.view.first_column == HistoryColumn.WORDS
    assert other.view.column_names() == caught.args[0]
    other.view.take_column_names(("no such column", "-step"))
    assert other.view.first_column == HistoryColumn.WORDS


def test_rows_are_sorted_by_the_menu(bench: Bench, pane: HistoryPane) -> None:
    action(menu_of(pane).sorting, "Score").trigger()
    action(menu_of(pane).sorting, "Largest first").trigger()
    values = bench.model.history.column("value")[pane.rows.shown_items()]
    assert values.tolist() == sorted(values, reverse=True)
    action(menu_of(pane).sorting, "None (in step order)").trigger()
    assert pane.rows.is_plain


def test_every_control_has_a_name_and_takes_the_keyboard_focus(pane: HistoryPane) -> None:
    controls = pane._controls
    buttons = [controls.filter, controls.step, controls.step, controls.columns, controls.export]
    row = pane.filter_row
    for control in [*buttons, row._text, row.is_pattern, row.only_ties, row.only_live, row._step]:
        assert control.accessibleName()
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
        assert control.toolTip() or control is row._text


def test_the_row_of_the_step_keeps_rows_around_it_when_the_table_grows(bench: Bench, pane: HistoryPane) -> None:
    bench.seek(12)
    for height in (60, 130, 300):
        pane.resize(900, height)
        bench.settle()
    assert pane.view.rowViewportPosition(11) >= 3 * pane.view.verticalHeader().defaultSectionSize()
