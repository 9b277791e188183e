"""One selection: a click on what stands for a pair, a token or a word, and what every other pane makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPointF, Qt

from tests.end_to_end.agreement import assert_all_panes_agree
from tests.end_to_end.looking import assert_all_panes_look_at, marked_candidate
from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.charts.plot import Plot
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.chips import ChipFlow

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver

_LAYOUTS = ("Ctrl+1", "Ctrl+2")  # Teach and Engineer


def again(driver: Driver) -> None:
    """Go back to the step of the start, with nothing selected."""
    driver.model.seek(12)
    driver.model.set_selection(None)
    driver.settle()


@pytest.mark.slow
def test_from_cells_of_the_history_and_from_chips(driver: Driver) -> None:
    history, tokenization = driver.window.history_pane, driver.window.tokenization_pane
    for keys in _LAYOUTS:
        driver.press(keys)
        driver.click_row(history.view, history.rows.row_of_step(9), HistoryColumn.STEP)
        assert driver.model.step == 9
        assert_all_panes_look_at(driver, Selection("token", text="Th"))
        assert_all_panes_agree(driver)
        again(driver)
        driver.click_row(history.view, history.rows.row_of_step(12), HistoryColumn.LEFT)
        assert_all_panes_look_at(driver, Selection("token", text="ch"))
        assert driver.model.step == 12
        again(driver)
        driver.click_chip(ChipPlace(0, 4, 0))
        assert_all_panes_look_at(driver, Selection("token", text=tokenization.live[0].words[4].pieces[0].token))
        again(driver)


def test_from_every_candidate(driver: Driver) -> None:
    view = driver.window.scoreboard_pane.candidates_view
    for row, candidate in enumerate(view.candidates.records[:6]):
        driver.click_row(view, row)
        assert_all_panes_look_at(driver, Selection("pair", left=candidate.left, right=candidate.right))
        assert marked_candidate(driver.window) == candidate.token


def test_from_a_word_of_the_scoreboard_and_from_a_candidate_of_why_here(driver: Driver) -> None:
    driver.click_row(driver.window.scoreboard_pane._words.view, 0)
    assert_all_panes_look_at(driver, Selection("word", text="chapter"))
    again(driver)
    driver.click_chip(ChipPlace(0, 3, 0))
    why = driver.window.tokenization_pane.why
    driver.click_row(why._table, len(why.rows) - 1)
    assert_all_panes_look_at(driver, Selection("token", text=why.rows[-1][0]))


@pytest.mark.slow
def test_from_a_row_of_the_vocabulary(driver: Driver) -> None:
    driver.click_tab("Vocabulary")
    pane = driver.window.vocabulary_pane
    driver.click_row(pane.view, pane.table.rowCount() - 2)
    token = driver.model.vocabulary_at(12).tokens[pane.view.selected_items()[0]]
    assert_all_panes_look_at(driver, Selection("token", text=token))
    for keys in ("Alt+Home", "Alt+End", "Alt+Left"):
        driver.press(keys)
        assert "vocabulary rows" in assert_all_panes_agree(driver).sizes


@pytest.mark.slow
def test_from_a_chip_of_the_token_details_and_as_the_step_moves(driver: Driver) -> None:
    wanted = Selection("token", text="ch")
    for keys in _LAYOUTS:
        driver.press(keys)
        driver.model.set_selection(Selection("token", text="cha"))
        driver.settle()
        controllers = [
            controller
            for controller in driver.window.token_details_pane.findChildren(ChipFlow)
            if controller.isVisible()
        ]
        controller, at = next(
            (controller, at)
            for controller in controllers
            for at, item in enumerate(controller.items)
            if item.target == wanted
        )
        driver.click(controller.viewport(), controller.rect_of(at).center().toPoint())
        assert_all_panes_look_at(driver, wanted)
        driver.model.set_selection(Selection("pair", left="ch", right="##a"))
        for way in ("Alt+Home", "Alt+End", "Alt+Left"):
            driver.press(way)
            assert_all_panes_look_at(driver, Selection("pair", left="ch", right="##a"))
        again(driver)


def test_from_a_node_of_the_merge_tree(driver: Driver) -> None:
    driver.window.resize(1600, 1500)  # else the panel shows one line
    driver.model.set_selection(Selection("token", text="cha"))
    driver.settle()
    tree = driver.window.token_details_pane.body.tree
    tokens = [driver.model.history.token(node.tree.token_id) for node in tree.nodes]
    driver.click(tree.viewport(), tree.rect_of(tokens.index("ch")).center().toPoint())
    assert_all_panes_look_at(driver, Selection("token", text="ch"))


def test_from_a_word_of_the_corpus(driver: Driver) -> None:
    editor = driver.window.corpus_pane.editor
    cursor = editor.textCursor()
    cursor.setPosition(editor.toPlainText().index("chapter") + 2)
    driver.click(editor.viewport(), editor.cursorRect(cursor).center(), Qt.KeyboardModifier.ControlModifier)
    assert_all_panes_look_at(driver, Selection("word", text="chapter"))


def test_from_a_step_and_a_token_of_the_charts(driver: Driver) -> None:
    driver.press("Ctrl+2")
    pane = driver.window.charts_pane
    plot = pane.charts[0].findChild(Plot)
    driver.click(plot.viewport(), QPointF(plot.place_of(19, 0).x(), plot.plot_rect().center().y()).toPoint())
    assert driver.model.step == 19
    assert_all_panes_agree(driver)
    pane.choice.setFocus()
    driver.press("Z")
    driver.wait(lambda: driver.window.session.usage.is_current)
    driver.settle()
    plot = pane.charts[0].findChild(Plot)
    driver.click(plot.viewport(), plot.plot_rect().center().toPoint())
    selection = driver.model.selection
    assert selection is not None
    assert_all_panes_look_at(driver, selection)


def test_a_selection_from_elsewhere_brings_its_row_into_view_and_escape_takes_it_away(driver: Driver) -> None:
    driver.press("Alt+End")
    driver.model.set_selection(Selection("token", text=driver.model.history[0].token))
    assert_all_panes_look_at(driver, Selection("token", text=driver.model.history[0].token))
    view = driver.window.history_pane.view
    assert view.visualRect(driver.window.history_pane.rows.index(0, 0)).top() >= 0
    driver.window.setFocus()
    driver.press("Esc")
    assert_all_panes_look_at(driver, None)
