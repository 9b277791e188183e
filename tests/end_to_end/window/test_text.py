"""The live text: why a boundary is where it is, why a word is unknown, and the steps that changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.agreement import assert_all_panes_agree
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace

if TYPE_CHECKING:
    from tests.end_to_end.driver import Driver

_HUGGING, _UNKNOWN = 3, 6  # words of "This is the Hugging Face course!", as the trainer splits it


def test_why_here_tells_of_a_boundary_an_unknown_word_and_the_birth_of_a_token(driver: Driver) -> None:
    pane = driver.window.tokenization_pane
    driver.click_chip(ChipPlace(0, _HUGGING, 1), boundary=True)
    assert "Hugging" in pane.why.title
    assert "split after character 2" in pane.why.title
    assert [row[1] for row in pane.why.rows][-1] == "✓"
    assert {row[1] for row in pane.why.rows[:-1]} == {"✗"}
    assert driver.model.selection == Selection("token", text="##u")

    driver.click_chip(ChipPlace(0, _UNKNOWN, 0))
    assert "nothing matches from character 1" in pane.why.title
    assert "the symbol ! does not occur" in pane.unknown_box.text()
    assert {row[1] for row in pane.why.rows} <= {"✗"}
    assert_all_panes_agree(driver)

    driver.press("Alt+End")
    born = pane.live[0].words[_HUGGING].pieces[0].token
    driver.click_chip(ChipPlace(0, _HUGGING, 0))
    step = [merge.token for merge in driver.model.history].index(born) + 1
    assert pane.why.rows[-1][0] == born
    assert f"step {step}" in pane.why.rows[-1][2]


@pytest.mark.slow
def test_a_click_on_the_changes_goes_to_the_step(driver: Driver) -> None:
    changes = driver.window.tokenization_pane.changes_view
    for row, text_change in enumerate(list(changes.rows)):
        driver.click_row(changes._table, row)
        assert driver.model.step == text_change.step
        assert_all_panes_agree(driver)


def test_typing_a_text_shows_its_chips_and_its_changes(driver: Driver) -> None:
    pane = driver.window.tokenization_pane
    driver.focus(pane.edit)
    driver.press("Ctrl+A")
    driver.type("chapter")
    assert pane.text == "chapter"
    assert_all_panes_agree(driver)
    assert {row.token for row in pane.changes_view.rows} >= {"ch", "cha"}


def test_arrow_keys_walk_through_the_chips_and_not_in_time(driver: Driver) -> None:
    driver.click_chip(ChipPlace(0, _HUGGING, 0))
    driver.press("Right")
    assert driver.model.step == 12
    assert driver.window.tokenization_pane.chips.current == ChipPlace(0, _HUGGING, 1)
