"""Moving in time by key, menu, button and slider: one step, which every pane shows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint

from tests.end_to_end.agreement import assert_all_panes_agree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.driver import Driver


def test_the_first_start_shows_a_trained_sample_of_one_mind_and_play_walks_on(driver: Driver) -> None:
    shown = assert_all_panes_agree(driver)
    assert set(shown.steps) >= {"scoreboard heading", "tokenization heading", "slider", "history row"}
    assert set(shown.steps.values()) == {12}
    assert shown.tokens["formula"] == "cha"
    assert shown.tokens["best candidate"] == "cha"
    driver.window.player.set_speed(50.0)
    driver.window.setFocus()
    driver.press("Space")
    driver.wait(lambda: driver.model.step > 14)
    driver.press("Space")
    held = assert_all_panes_agree(driver).steps["slider"]
    assert driver.model.step == held
    assert not driver.window.player.is_playing


@pytest.mark.slow
def test_every_pane_follows_the_keys_and_a_walk_to_every_step(driver: Driver) -> None:
    moves = {
        "Right": 13, "Left": 11, "Alt+Right": 13, "Alt+Left": 11, "F10": 13, "Shift+F10": 11, "Home": 0, "End": 25,
        "Alt+Home": 0, "Alt+End": 25, "Shift+Right": 22, "Shift+Left": 2, "Alt+PgDown": 22, "Alt+PgUp": 2,
    }  # fmt: skip
    for keys, step in moves.items():
        driver.model.seek(12)
        driver.window.setFocus()
        driver.press(keys)
        assert driver.model.step == step, keys
        assert_all_panes_agree(driver)
    driver.press("Alt+Home")
    for step in range(1, 26):
        driver.press("Alt+Right")
        assert driver.model.step == step
        assert_all_panes_agree(driver)


def test_every_pane_follows_the_menu_and_the_slider_as_it_is_dragged(driver: Driver) -> None:
    moves = {
        "Next merge": 13, "Ten merges forward": 23, "Ten merges back": 13, "Previous merge": 12,
        "Go to the beginning": 0, "Next change to the text": 3, "Go to the last merge": 25,
        "Previous change to the text": 21,
    }  # fmt: skip
    for command, step in moves.items():
        driver.click_menu("Step", command)
        assert driver.model.step == step, command
        assert_all_panes_agree(driver)
    plot = driver.window.timeline_pane.plot
    places = [QPoint(round(plot.x_of(step)), plot.height() // 2) for step in (21, 5, 19)]
    driver.drag(plot, *places)
    assert driver.model.step == 19
    assert_all_panes_agree(driver)


def test_a_jump_by_number_and_next_at_the_last_merge(driver: Driver) -> None:
    driver.press("Ctrl+G")
    driver.type("7")
    driver.press("Return")
    assert driver.model.step == 7
    assert_all_panes_agree(driver)
    driver.press("Alt+End")
    driver.press("Alt+Right")
    assert "vocabulary size reached" in driver.window.notices.training.text  # why there is none
    assert driver.model.step == 25


def test_train_anew_and_step_on_by_the_menu(driver: Driver) -> None:
    driver.click_menu("Training", "Train")
    driver.wait_finished()
    driver.click_menu("Step", "Previous merge")
    assert driver.model.step == 24
    assert_all_panes_agree(driver)


def test_every_pane_follows_typing_into_the_corpus(driver: Driver) -> None:
    driver.focus(driver.window.corpus_pane.editor)
    before = driver.model.history
    driver.press("Ctrl+End")
    driver.type(" tokens")
    driver.wait(lambda: driver.model.history is not before and not driver.model.is_replacing)
    assert_all_panes_agree(driver)


def test_a_restart_shows_the_sample_again(start: Callable[[], Driver]) -> None:
    start().press("Alt+End")
    assert set(assert_all_panes_agree(start()).steps.values()) == {12}


@pytest.mark.slow
def test_every_pane_follows_jumps_in_a_training_of_some_size(driver: Driver, tmp_path: Path) -> None:
    path, chance = tmp_path / "corpus.txt", random.Random(2)
    words = ("".join(chance.choices("abcdefgh", k=chance.randint(2, 9))) for _ in range(9000))
    path.write_text("\n".join(words), encoding="utf-8")
    driver.window.corpus_controller.open_paths([path])
    driver.wait(
        lambda: driver.window.session.document.path == path and driver.window.session.counting.counts is not None
    )
    driver.click_menu("Training", "Train")
    driver.model.seek(driver.model.merge_count // 2)
    assert driver.model.merge_count > 100
    assert_all_panes_agree(driver)
    for step in (3, driver.model.merge_count, 0, driver.model.merge_count // 3):
        driver.model.seek(step)
        assert_all_panes_agree(driver)
