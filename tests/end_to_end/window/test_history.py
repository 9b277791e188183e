"""The merge history: going to a step, filtering and sorting it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from tests.end_to_end.agreement import assert_all_panes_agree, row_texts
from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.storage.view import Selection

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver


def test_a_click_on_a_row_and_arrow_keys_go_to_steps_and_rows_are_copied_as_tsv(driver: Driver) -> None:
    pane = driver.window.history_pane
    driver.click_row(pane.view, pane.rows.row_of_step(16))
    assert driver.model.step == 16
    assert driver.model.selection == Selection("token", text=driver.model.history[15].token)
    assert_all_panes_agree(driver)
    driver.click_row(pane.view, pane.rows.row_of_step(3))
    driver.press("Down")
    driver.press("Down")
    assert driver.model.step == 5
    assert_all_panes_agree(driver)
    driver.click_row(pane.view, pane.rows.row_of_step(4))
    driver.press("Shift+Down")
    driver.press("Ctrl+C")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[0] for line in lines[1:]] == ["4", "5"]


def type_filter(driver: Driver, text: str) -> list[list[str]]:
    """Open the filter, type into it, and return the rows that are left."""
    pane = driver.window.history_pane
    driver.click(pane._controls.filter)
    driver.type(text)
    driver.wait(lambda: not pane.rows.task.is_running)
    return [row_texts(pane.view, row) for row in range(pane.rows.rowCount())]


def test_a_text_filters_the_rows_until_escape(driver: Driver) -> None:
    pane = driver.window.history_pane
    rows = type_filter(driver, "full")
    assert 0 < len(rows) < 25
    assert all("full" in row[HistoryColumn.TOKEN] + row[HistoryColumn.LEFT] for row in rows)
    assert_all_panes_agree(driver)
    driver.click_row(pane.view, 1)
    assert driver.model.step == int(rows[1][HistoryColumn.STEP])
    assert_all_panes_agree(driver)
    driver.focus(pane.filter_row._text)
    driver.press("Esc")
    assert pane.rows.rowCount() == 25


def test_only_the_steps_that_changed_the_live_text(driver: Driver) -> None:
    rows = type_filter(driver, "")
    driver.click(driver.window.history_pane.filter_row.only_live)
    rows = [
        row_texts(driver.window.history_pane.view, row) for row in range(driver.window.history_pane.rows.rowCount())
    ]
    assert [int(row[HistoryColumn.STEP]) for row in rows] == driver.window.session.changes.steps.tolist()


def test_a_click_on_a_title_sorts(driver: Driver) -> None:
    pane = driver.window.history_pane
    header = pane.view.horizontalHeader()
    x = header.sectionViewportPosition(HistoryColumn.VALUE) + 10
    driver.click(header.viewport(), QPoint(x, header.height() // 2))
    values = [float(row_texts(pane.view, row)[HistoryColumn.VALUE]) for row in range(pane.rows.rowCount())]
    assert values in (sorted(values), sorted(values, reverse=True))
    assert_all_panes_agree(driver)
