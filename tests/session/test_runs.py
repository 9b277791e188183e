"""Several runs of a session: one is shown, kept ones stay, and each has a letter of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.records import TrainerState
from wordpiece_studio.session.runs import Runs
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.run import Run

COUNTS = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])


@pytest.fixture
def model(qapp: object) -> Iterator[TrainerModel]:
    model = TrainerModel()
    yield model
    model.close()


@pytest.fixture
def runs(model: TrainerModel) -> Runs:
    return Runs(model)


def trained(qtbot: QtBot, model: TrainerModel, objective: str) -> Run:
    model.start(COUNTS, TrainingConfig(objective=objective))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    assert model.run is not None
    return model.run


def test_a_training_replaces_the_run_that_was_not_kept(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    assert (runs.all, runs.current) == ((), None)
    first = trained(qtbot, model, "score")
    assert (runs.all, runs.current, first.letter) == ((first,), first, "A")
    second = trained(qtbot, model, "count")
    assert (runs.all, runs.current, second.letter) == ((second,), second, "A")


def test_kept_runs_stay_and_are_shown_again(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score")
    merges = list(first.history)
    with qtbot.waitSignal(runs.changed):
        runs.keep(first)
    second = trained(qtbot, model, "count")
    assert runs.all == (first, second)
    assert [run.letter for run in runs.all] == ["A", "B"]
    with qtbot.waitSignal(model.run_reset):
        runs.show(first, 3)
    assert (runs.current, model.step, model.merge_count) == (first, 3, len(merges))
    assert list(model.history) == merges
    assert model.config == first.config
    assert runs.all == (first, second)  # though the second was not kept: nothing was trained
    third = trained(qtbot, model, "likelihood")
    assert runs.all == (first, third)
    assert third.letter == "B"  # free again


def test_closing_the_shown_run_shows_its_neighbor(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    made = []
    for objective in ("score", "count", "likelihood"):
        made.append(trained(qtbot, model, objective))
        runs.keep(made[-1])
    runs.show(made[1])
    runs.close(made[1])
    assert (runs.all, runs.current) == ((made[0], made[2]), made[2])
    assert model.step == len(made[2].history)
    runs.close(made[0])
    assert (runs.all, runs.current) == ((made[2],), made[2])
    runs.close(made[2])
    assert (runs.all, runs.current, model.state) == ((), None, TrainerState.IDLE)


def test_a_run_that_is_shown_again_can_be_trained_further(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    model.start(COUNTS, TrainingConfig(objective="count", max_merges=2))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    first = model.run
    runs.keep(first)
    trained(qtbot, model, "score")
    runs.show(first, 2)
    model.train_further(max_merges=4)
    qtbot.waitUntil(lambda: model.merge_count == 4)
    assert (runs.current, first.config.max_merges) == (first, 4)


def test_a_training_that_was_left_is_paused_when_it_is_shown_again(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    first = trained(qtbot, model, "score")
    runs.keep(first)
    model.start(COUNTS, TrainingConfig(objective="count"), paused=True)
    qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    second = model.run
    runs.show(first)
    assert model.state is TrainerState.FINISHED
    runs.show(second)
    assert model.state is TrainerState.PAUSED
    model.resume()
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    assert model.merge_count == len(second.history) > 0
