"""Layouts: switched by key, changed by hand, and there again after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.agreement import assert_all_panes_agree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.driver import Driver

_SEEN = {
    "Ctrl+1": {"corpus", "token details", "scoreboard", "history", "tokenization", "timeline"},
    "Ctrl+2": {"corpus", "token details", "history", "charts", "tokenization", "timeline"},
    "Ctrl+3": {"scoreboard", "tokenization", "timeline"},
    "Ctrl+4": {"comparison"},
    "Ctrl+5": {"sizes", "tokenization"},
}


def seen(driver: Driver) -> set[str]:
    """Return the names of the panes that are in front."""
    window = driver.window
    panes = {
        "corpus": window.corpus_pane, "token details": window.token_details_pane, "scoreboard": window.scoreboard_pane,
        "history": window.history_pane, "vocabulary": window.vocabulary_pane, "charts": window.charts_pane,
        "tokenization": window.tokenization_pane, "timeline": window.timeline_pane,
        "comparison": window.comparison_pane, "sizes": window.sizes_pane,
    }  # fmt: skip
    return {name for name, pane in panes.items() if not pane.visibleRegion().isEmpty()}


def test_a_key_shows_a_layout_whose_panes_agree(driver: Driver) -> None:
    for keys in _SEEN:
        driver.press(keys)
        assert seen(driver) == _SEEN[keys]
        assert_all_panes_agree(driver)


@pytest.mark.slow
def test_a_layout_is_there_again_after_a_restart(start: Callable[[], Driver]) -> None:
    driver = start()
    for keys in _SEEN:
        driver.press(keys)
        driver = start()
        assert seen(driver) == _SEEN[keys]
        assert_all_panes_agree(driver)


@pytest.mark.slow
def test_there_and_back_leaves_no_trace(driver: Driver) -> None:
    before, height = driver.window.docks.changed_by_hand(), driver.window.timeline_pane.height()
    for keys in ("Ctrl+2", "Ctrl+3", "Ctrl+4", "Ctrl+1"):
        driver.press(keys)
    assert seen(driver) == _SEEN["Ctrl+1"]
    assert driver.window.docks.changed_by_hand() == before
    assert driver.window.timeline_pane.height() == height
    assert not driver.window.isFullScreen()


@pytest.mark.slow
def test_a_pane_closed_by_hand_stays_closed_until_the_layout_is_reset(start: Callable[[], Driver]) -> None:
    start().click_menu("View", "Panes", "Token details")
    again = start()
    assert "token details" not in seen(again)
    again.click_menu("View", "Reset layout")
    assert seen(again) == _SEEN["Ctrl+1"]


def test_the_keyboard_stays_in_the_text_as_panels_move_behind_each_other(driver: Driver) -> None:
    """As they do when a notice below takes the height that they need side by side."""
    editor, area = driver.window.corpus_pane.editor, driver.window.docks
    driver.focus(editor)
    before = area._columns
    driver.window.resize(1366, 600)
    driver.wait(lambda: area._columns != before)
    driver.settle()
    assert editor.hasFocus()
