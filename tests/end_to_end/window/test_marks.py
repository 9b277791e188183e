"""Breakpoints and bookmarks, set and used by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.agreement import assert_all_panes_agree
from wordpiece_studio.ui.panes.comparison.comparison_pane import Tab

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver
    from wordpiece_studio.storage.view import BreakpointKind


def set_breakpoint(driver: Driver, kind: BreakpointKind, text: str) -> None:
    """Open the list by its keys, choose a kind, type a text and add it."""
    driver.press("Ctrl+B")
    marks = driver.dialog()
    marks._kind.setCurrentIndex(marks._kind.findData(kind))
    driver.focus(marks._field)
    driver.type(text)
    driver.click(marks._add)
    driver.wait(lambda: not driver.window.session.marks.watch.is_searching)
    driver.click(marks._close)


@pytest.mark.slow
def test_a_run_halts_at_a_breakpoint(driver: Driver) -> None:
    marks = driver.window.session.marks
    for kind, text, step in (
        ("token", "chap", 13), ("pattern", "^chap.$", 14), ("word", "is", 21), ("value", "0.12", 19), ("tie", "2", 14),
        ("size", "60", 15),
    ):  # fmt: skip
        driver.model.seek(12)
        set_breakpoint(driver, kind, text)
        driver.press("Ctrl+F8")
        assert driver.model.step == step
        assert "breakpoint" in driver.window.timeline_pane.hints[0]
        assert_all_panes_agree(driver)
        marks.breakpoints.set_marks(())


def test_playing_halts_at_a_breakpoint_and_a_run_back_at_the_one_before(driver: Driver) -> None:
    set_breakpoint(driver, "token", "chapt")
    driver.window.player.set_speed(200.0)
    driver.press("F8")
    driver.wait(lambda: not driver.window.player.is_playing)
    assert driver.model.history[driver.model.step - 1].token == "chapt"
    assert_all_panes_agree(driver)
    set_breakpoint(driver, "token", "Th")
    driver.press("Ctrl+Shift+F8")
    assert driver.model.step == 9
    assert_all_panes_agree(driver)


def test_a_step_is_compared_with_a_later_one(driver: Driver) -> None:
    driver.window.setFocus()
    driver.press("Ctrl+Shift+M")
    driver.press("Shift+Right")
    assert driver.model.step == 22
    driver.press("Ctrl+4")
    driver.window.comparison_pane.show_tab(Tab.TEXT)
    table = driver.window.comparison_pane.text
    driver.wait(lambda: [each.label for each in table._steps] == ["A", "A@12"])
    assert_all_panes_agree(driver)


def test_a_step_is_kept_with_a_line_and_gone_back_to(driver: Driver) -> None:
    driver.press("Ctrl+D")
    driver.type("cha is created")
    driver.press("Return")
    driver.press("Alt+End")
    driver.press("Ctrl+Shift+D")
    driver.click_row(driver.window.step_controller.marks_window._table, 0, 1)
    assert driver.model.step == 12
    assert_all_panes_agree(driver)


def test_to_the_next_step_that_changes_the_live_text(driver: Driver) -> None:
    steps = driver.window.session.changes.steps
    for keys in ("F9", "Ctrl+Right"):
        driver.model.seek(12)
        driver.window.setFocus()
        driver.press(keys)
        assert driver.model.step == steps[steps > 12][0]
        assert_all_panes_agree(driver)
