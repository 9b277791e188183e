"""What the window says about memory: before a large training, and when it is too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.forecast import Forecaster
from wordpiece_studio.ui.controllers import training_controller

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

Yes, Cancel = QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.Cancel
GB = 10**9


class Machine:
    """How much memory is free."""

    def __init__(self) -> None:
        self.free: int | None = 18 * GB


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(training_controller, "available_memory", lambda: machine.free)
    return machine


@pytest.fixture
def large(studio: Studio, machine: Machine, tmp_path: Path) -> Studio:
    """A window in which a file of more than a megabyte was opened."""
    open_large(studio, tmp_path)
    return studio


def open_large(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    lines = (f"hug{number % 20_000} pug hug{(number + 1) % 20_000} pug" for number in range(0, 120_000, 2))
    path.write_text("\n".join(lines), encoding="utf-8")
    studio.open(path)
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    studio.window.notices.training.clear()  # it says what was discarded


def needed(studio: Studio) -> int:
    counts = studio.window.session.counting.counts
    assert counts is not None
    return Forecaster(counts).memory(studio.window.session.settings.config()).peak


def test_nothing_is_said_about_a_small_text(studio: Studio, machine: Machine) -> None:
    machine.free = 1
    studio.set_text("hug pug\n" * 10_000)
    assert "About" not in studio.window.bar.progress_label.forms[0]
    assert studio.window.notices.training.text == ""


@pytest.mark.slow
def test_a_large_text_says_what_it_needs_and_what_there_is(large: Studio, machine: Machine) -> None:
    bar = large.window.bar
    megabytes = round(needed(large) / 1e6)
    figures = f"About {megabytes} MB of 18 GB free, under 1 s"
    assert bar.progress_label.forms[0] == figures
    suggested = "Suggested for this corpus: Likelihood · size 16,000 · min. frequency 2"
    assert f"{figures}\n{suggested}" in bar.progress_label.toolTip()
    assert bar.progress_label.text() in (figures, f"About {megabytes} MB, under 1 s")
    large.window.resize(large.window.minimumSize())
    assert str(megabytes) in bar.progress_label.text()
    assert "…" not in bar.progress_label.text()
    large.window.session.settings.set_target_size(0)  # no longer what was suggested
    assert bar.progress_label.forms[0].startswith("About")
    assert round(needed(large) / 1e6) > megabytes
    machine.free = None
    large.window.session.settings.set_target_size(16_000)
    assert bar.progress_label.forms[0] == f"About {megabytes} MB, under 1 s"
    large.window.session.settings.set_target_size(17_000)
    large.set_text("hug")
    large.wait(lambda: "About" not in bar.progress_label.forms[0])


@pytest.mark.slow
def test_nothing_is_said_once_it_is_trained(large: Studio) -> None:
    large.window.session.settings.set_target_size(100)
    large.window.actions_.train.trigger()
    large.wait_finished()
    assert large.window.bar.progress_label.forms[0].startswith("100 tokens")
    assert "About" not in large.window.bar.progress_label.forms[0]
    large.window.session.settings.set_target_size(200)
    text = large.window.bar.progress_label.forms[0]
    assert text.startswith("About")
    assert "\nSettings changed since this run" in large.window.bar.progress_label.toolTip()


@pytest.mark.slow
def test_it_is_said_beside_the_merges_of_another_corpus(studio: Studio, machine: Machine, tmp_path: Path) -> None:
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.corpus_controller.open_sample("korean.txt")
    studio.wait_finished()
    studio.window.actions_.train.trigger()  # the user's own run is kept when another corpus is opened
    studio.wait_finished()
    open_large(studio, tmp_path)
    bar = studio.window.bar
    assert bar.progress_label.forms[0].startswith("About")
    for width in (2400, 1440, studio.window.minimumWidth()):
        studio.window.resize(width, 900)
        assert bar.progress_label.text().startswith(("About", f"{round(needed(studio) / 1e6)} MB, under 1 s"))
    studio.window.resize(2400, 900)
    assert bar.progress_label.text().endswith("of 18 GB free, under 1 s")


@pytest.mark.slow
def test_a_warning_stays_as_long_as_too_much_is_needed(large: Studio, machine: Machine) -> None:
    settings, banner = large.window.session.settings, large.window.notices.training
    machine.free = needed(large) * 10 // 7
    settings.set_target_size(8001)
    assert banner.text == ""
    machine.free = needed(large) * 10 // 9
    settings.set_target_size(8000)
    assert banner.text.startswith("This run needs about ")
    assert banner.property("kind") == "warning"
    first = banner.text
    machine.free = needed(large) * 9 // 10
    settings.set_target_size(8001)
    assert banner.text.startswith("This run needs about ")
    assert banner.text != first
    banner.clear()
    settings.set_target_size(8002)  # it was put away, and nothing is worse than before
    assert banner.text == ""
    machine.free = 18 * GB
    settings.set_target_size(8003)
    machine.free = needed(large)
    settings.set_target_size(8000)
    assert banner.text.startswith("This run needs about ")
    machine.free = 18 * GB
    settings.set_target_size(8001)
    assert banner.text == ""


@pytest.mark.slow
def test_what_does_not_fit_is_asked_about_and_not_started(large: Studio, machine: Machine) -> None:
    machine.free = needed(large) - 1
    large.window.actions_.train.trigger()
    box = large.box()
    assert "This run needs about " in box.text()
    assert box.defaultButton() is box.button(Cancel)
    large.answer(Cancel)
    assert large.window.model.state is not TrainerState.TRAINING
    assert large.window.model.history is None
    assert large.window.actions_.train.isEnabled()
    large.window.session.settings.set_target_size(50)
    machine.free = 1
    large.window.actions_.train.trigger()
    large.answer(Yes)
    large.wait_finished()
    assert large.window.model.progress.vocabulary_size == 50


@pytest.mark.slow
def test_going_on_asks_for_what_is_still_to_come(large: Studio, machine: Machine) -> None:
    window = large.window
    window.session.settings.set_target_size(50)
    window.actions_.train.trigger()
    large.wait_finished()
    machine.free = 1
    window.training_controller._confirm_further(60)
    large.answer(Cancel)
    assert window.model.progress.vocabulary_size == 50
    window.training_controller._confirm_further(60)
    large.answer(Yes)
    large.wait_finished()
    assert window.model.progress.vocabulary_size == 60
    machine.free = needed(large) // 2  # less than the whole would need
    window.training_controller._confirm_further(70)
    large.wait_finished()
    assert window.model.progress.vocabulary_size == 70
