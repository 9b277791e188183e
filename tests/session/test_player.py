"""Playing: the steps go by, in every state of the training."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session import step_marks
from wordpiece_studio.session.step_marks import WHOLE_RUN, Player, StepMarks
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel

    MakeModel = Callable[..., TrainerModel]


def trained(qtbot: QtBot, model: TrainerModel, counts: WordCounts, merges: int) -> TrainerModel:
    model.start(counts, TrainingConfig(max_merges=merges))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    return model


def steps_of(model: TrainerModel) -> list[int]:
    seen: list[int] = []
    model.step_changed.connect(lambda step: seen.append(step))
    return seen


def test_it_plays_every_step_and_stops_at_the_end(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, 5)
    seen = steps_of(model)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(50)
    with qtbot.waitSignals([player.changed, player.changed]):
        player.play()
    assert seen == [0, 1, 2, 3, 4, 5]
    assert not player.is_playing


def test_it_goes_on_from_where_it_stands(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, 5)
    model.seek(3)
    seen = steps_of(model)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.toggle()
    player.set_speed(50)
    qtbot.waitUntil(lambda: not player.is_playing)
    assert seen == [4, 5]


def test_a_fast_player_leaps(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = trained(qtbot, make_model(seconds_per_merge=0.0), hugs, 300)
    model.seek(0)
    seen = steps_of(model)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(5000)
    assert player.speed == 1000
    player.play()
    qtbot.waitUntil(lambda: not player.is_playing)
    assert seen[-1] == 300
    assert len(seen) < 30


def test_a_whole_run_takes_half_a_minute(
    qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = trained(qtbot, make_model(seconds_per_merge=0.0), hugs, 300)
    model.seek(0)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(WHOLE_RUN)
    assert (player.speed, player.rate) == (WHOLE_RUN, 10)
    monkeypatch.setattr(step_marks, "_WHOLE_RUN_SECONDS", 0.3)
    assert player.rate == 1000
    seen, began = steps_of(model), time.perf_counter()
    player.play()
    qtbot.waitUntil(lambda: not player.is_playing)
    assert seen[-1] == 300
    assert time.perf_counter() - began > 0.25


def test_a_whole_run_that_grows_is_played_faster(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = trained(qtbot, make_model(seconds_per_merge=0.0), hugs, 300)
    model.seek(0)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(WHOLE_RUN)
    player.play()
    assert player._timer.interval() == 100
    model.train_further(None, 600)
    qtbot.waitUntil(lambda: player._timer.interval() == 50)
    assert player.is_playing
    player.stop()


def test_a_paused_training_learns_as_it_plays(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.start(hugs, TrainingConfig(max_merges=4), paused=True)
    qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(50)
    player.play()
    qtbot.waitUntil(lambda: not player.is_playing)
    assert (model.step, model.merge_count) == (4, 4)


def test_it_waits_for_a_training_that_runs(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    model.start(hugs, TrainingConfig(max_merges=150))
    qtbot.waitUntil(lambda: model.history is not None)
    player = Player(model, watch=StepMarks(model, model).watch)
    player.set_speed(1000)
    player.play()
    qtbot.wait(40)
    assert player.is_playing
    qtbot.waitUntil(lambda: not player.is_playing)
    assert model.step == 150


@pytest.mark.parametrize("when", ["nothing trained", "stopped", "new run"])
def test_it_stands_still(qtbot: QtBot, model: TrainerModel, hugs: WordCounts, when: str) -> None:
    player = Player(model, watch=StepMarks(model, model).watch)
    if when != "nothing trained":
        trained(qtbot, model, hugs, 5)
    player.play()
    if when == "stopped":
        player.stop()
    if when == "new run":
        trained(qtbot, model, hugs, 2)
    assert not player.is_playing
