"""What the window says about the fast engine while it is compiled, and after."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.ui.test_run_strip import train
from wordpiece_studio.session.training_job import TrainerState

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.ui.conftest import Studio


def warm(studio: Studio, stage: str | None = None, *, is_ready: bool = False) -> None:
    """Have the engine be at a stage of its preparation, or at its end."""
    task = studio.window.session.warm_up
    task.progress, task.answer = stage, 1.0 if is_ready else None
    task.changed.emit()


PREPARING = "Preparing the fast engine (first start only)…"


def test_it_is_said_that_the_engine_is_prepared_and_then_that_it_is_ready(studio: Studio) -> None:
    window = studio.window
    bar = window.bar
    usual = bar.progress_label.forms[0]
    warm(studio, "compiling")
    assert bar.progress_label.forms[0] == f"{PREPARING} · {usual}"
    assert "reparing the fast engine" in bar.progress_label.text()
    warm(studio, "loading")
    assert bar.progress_label.forms[0] == f"{PREPARING} · {usual}"
    warm(studio, is_ready=True)
    assert bar.progress_label.forms[0] == f"The fast engine is ready · {usual}"
    timer = bar.ready_timer
    assert timer.isActive()
    timer.setInterval(0)
    studio.wait(lambda: bar.progress_label.forms[0] == usual)


def test_what_is_remarkable_in_a_corpus_is_said_once(studio: Studio) -> None:
    window, runs = studio.window, studio.window.session.runs
    banner = window.notices.training
    studio.set_text("hug [UNK] hugs")
    for objective in ("score", "count"):
        train(studio, objective)
        assert bool(banner.text) == (objective == "score")
        banner.clear()
    runs.show(runs.all[0])
    assert not banner.text


def test_what_the_engine_itself_reports_is_said(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, task, bar = threading.Event(), studio.window.session.warm_up, studio.window.bar

    def prepare(*, progress: Callable[[str], object]) -> float:
        progress("compiling")
        assert go_on.wait(10)
        return 1.0

    usual = bar.progress_label.forms[0]
    monkeypatch.setattr(task, "_work", prepare)
    task.run()
    studio.wait(lambda: bar.progress_label.forms[0] == f"{PREPARING} · {usual}")
    go_on.set()
    studio.wait(lambda: bar.progress_label.forms[0] == f"The fast engine is ready · {usual}")


def test_it_is_said_in_a_small_window_too(studio: Studio) -> None:
    studio.window.resize(studio.window.minimumSize())
    warm(studio, "compiling")
    assert "reparing the fast" in studio.window.bar.progress_label.text()


def test_nothing_is_said_if_the_engine_was_already_there(studio: Studio) -> None:
    usual = studio.window.bar.progress_label.forms[0]
    for stage, is_ready in (("loading", False), (None, True)):
        warm(studio, stage, is_ready=is_ready)
        assert studio.window.bar.progress_label.forms[0] == usual


def test_an_unavailable_engine_is_no_longer_prepared(studio: Studio) -> None:
    usual = studio.window.bar.progress_label.forms[0]
    warm(studio, "compiling")
    warm(studio)
    assert studio.window.bar.progress_label.forms[0] == usual


def test_a_training_that_waits_for_it_says_so(studio: Studio) -> None:
    window = studio.window
    window.session.take_corpus("another one")
    warm(studio, "compiling")
    window.actions_.train.trigger()
    assert window.model.state is TrainerState.TRAINING
    assert window.bar.progress_label.forms[0] == "Preparing the fast engine…"
    warm(studio, is_ready=True)
    studio.wait_finished()
    assert window.bar.progress_label.forms[0].startswith("The fast engine is ready · ")


def test_a_training_that_does_not_wait_for_it_just_gets_ready(studio: Studio) -> None:
    studio.window.session.take_corpus("another one")
    studio.window.actions_.train.trigger()
    assert studio.window.bar.progress_label.forms[0] == "Getting ready…"
    studio.wait_finished()
