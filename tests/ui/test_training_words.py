"""What the window says about the fast engine while it is compiled, and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.run import TrainerState

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

PREPARING = "Preparing the fast engine (first start only)…"


def test_it_is_said_that_the_engine_is_prepared_and_then_that_it_is_ready(studio: Studio) -> None:
    window = studio.window
    bar, status = window.bar, window.session.warm_up.status_changed
    usual = bar.progress_text
    status.emit("compiling")
    assert bar.progress_text == f"{PREPARING} · {usual}"
    assert "reparing the fast engine" in bar.progress_label.text()
    status.emit("loading")
    assert bar.progress_text == f"{PREPARING} · {usual}"
    status.emit("ready")
    assert bar.progress_text == f"The fast engine is ready · {usual}"
    timer = window.training_controller.engine._timer
    assert timer.isActive()
    timer.setInterval(0)
    studio.wait(lambda: bar.progress_text == usual)


def test_it_is_said_in_a_small_window_too(studio: Studio) -> None:
    studio.window.resize(studio.window.minimumSize())
    studio.window.session.warm_up.status_changed.emit("compiling")
    assert "reparing the fast" in studio.window.bar.progress_label.text()


def test_nothing_is_said_if_the_engine_was_already_there(studio: Studio) -> None:
    usual = studio.window.bar.progress_text
    for status in ("loading", "ready"):
        studio.window.session.warm_up.status_changed.emit(status)
        assert studio.window.bar.progress_text == usual


def test_an_unavailable_engine_is_no_longer_prepared(studio: Studio) -> None:
    usual = studio.window.bar.progress_text
    studio.window.session.warm_up.status_changed.emit("compiling")
    studio.window.session.warm_up.status_changed.emit("failed")
    assert studio.window.bar.progress_text == usual


def test_a_training_that_waits_for_it_says_so(studio: Studio) -> None:
    window = studio.window
    window.session.take_corpus("another one")
    window.session.warm_up.status_changed.emit("compiling")
    window.actions_.train.trigger()
    assert window.model.state is TrainerState.TRAINING
    assert window.bar.progress_text == "Preparing the fast engine…"
    window.session.warm_up.status_changed.emit("ready")
    studio.wait_finished()
    assert window.bar.progress_text.startswith("The fast engine is ready · ")


def test_a_training_that_does_not_wait_for_it_just_gets_ready(studio: Studio) -> None:
    studio.window.session.take_corpus("another one")
    studio.window.actions_.train.trigger()
    assert studio.window.bar.progress_text == "Getting ready…"
    studio.wait_finished()
