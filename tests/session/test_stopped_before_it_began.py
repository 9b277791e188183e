"""A training that is stopped while it is being prepared, which takes seconds for millions of words."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.session.fakes import Recorder
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.segmentation import PreparationStopped
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts

IDLE, FINISHED, TRAINING = TrainerState.IDLE, TrainerState.FINISHED, TrainerState.TRAINING
_PATIENCE = 20.0


class Factory:
    """Makes trainers; while `is_held` the making goes on until `release`, or, `heeds_stop`, until it is stopped."""

    def __init__(self, *, heeds_stop: bool) -> None:
        self.heeds_stop = heeds_stop
        self.is_held = True
        self.release, self.asked = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def __call__(self, counts: WordCounts, config: TrainingConfig, should_stop: Callable[[], bool]) -> Trainer:
        if self.is_held:
            self.asked.set()
            end = time.monotonic() + _PATIENCE
            while time.monotonic() < end and not self.release.wait(0.001):
                if self.heeds_stop and should_stop():
                    raise PreparationStopped
            assert self.release.is_set()
            if self.error is not None:
                raise self.error
        return Trainer(counts, config)


@pytest.fixture(params=[True, False], ids=["heeds", "deaf"])
def factory(request: pytest.FixtureRequest) -> Factory:
    return Factory(heeds_stop=request.param)


@pytest.fixture
def model(qapp: object, factory: Factory) -> Iterator[TrainerModel]:
    model = TrainerModel(trainer_factory=factory)
    yield model
    factory.release.set()
    model.close()


def stopped(model: TrainerModel, factory: Factory, counts: WordCounts) -> None:
    """Have a training stopped while it is prepared."""
    factory.asked.clear()
    model.start(counts, TrainingConfig(max_merges=2))
    assert factory.asked.wait(_PATIENCE)
    model.stop()


def test_it_is_free_at_once(qtbot: QtBot, model: TrainerModel, factory: Factory, hugs: WordCounts) -> None:
    recorder = Recorder(model)
    stopped(model, factory, hugs)
    assert model.state is IDLE
    factory.release.set()
    qtbot.wait(50)
    assert recorder.log == [("state", TRAINING), ("state", IDLE)]
    assert not recorder.errors


def test_another_one_can_begin(qtbot: QtBot, model: TrainerModel, factory: Factory, hugs: WordCounts) -> None:
    stopped(model, factory, hugs)
    factory.is_held = False
    model.start(hugs, TrainingConfig(max_merges=4))
    factory.release.set()
    qtbot.waitUntil(lambda: model.state is FINISHED)
    assert model.merge_count == 4


@pytest.mark.expects_log
def test_what_fails_then_is_not_reported(qtbot: QtBot, model: TrainerModel, factory: Factory, hugs: WordCounts) -> None:
    factory.error = RuntimeError("late")
    recorder = Recorder(model)
    stopped(model, factory, hugs)
    factory.release.set()
    qtbot.wait(50)
    assert model.state is IDLE
    assert not recorder.errors


def test_the_run_before_stays_whole(qtbot: QtBot, model: TrainerModel, factory: Factory, hugs: WordCounts) -> None:
    factory.is_held = False
    model.start(hugs, TrainingConfig(max_merges=1))
    qtbot.waitUntil(lambda: model.state is FINISHED)
    history = model.history
    factory.is_held = True
    stopped(model, factory, hugs)
    assert model.state is FINISHED
    assert model.history is history
    factory.release.set()
    model.train_further(max_merges=5)
    qtbot.waitUntil(lambda: model.state is FINISHED)
    assert model.history is history
    assert model.merge_count == 5


def test_an_opened_run_that_is_stopped_can_still_go_on(
    qtbot: QtBot, hugs: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wordpiece_studio.session import training_job

    genuine, asked, times = training_job.Trainer, threading.Event(), []

    def slow(*words_and_settings: Any, should_stop: Callable[[], bool], **resumed: Any) -> Trainer:
        times.append(resumed["step"])
        if len(times) == 1:
            asked.set()
            while not should_stop():
                time.sleep(0.001)
            raise PreparationStopped
        return genuine(*words_and_settings, should_stop=should_stop, **resumed)

    monkeypatch.setattr(training_job, "Trainer", slow)
    trainer = Trainer(hugs, TrainingConfig(max_merges=3))
    trainer.run()
    model = TrainerModel()
    model.open_run(Run(hugs, trainer.config, trainer.history))
    model.train_further(max_merges=5)
    assert asked.wait(_PATIENCE)
    model.stop()
    assert model.state is FINISHED
    model.train_further(max_merges=5)
    qtbot.waitUntil(lambda: model.merge_count == 5)
    model.close()
    assert len(times) == 2


def test_closing_does_not_wait_for_it(qapp: object, hugs: WordCounts) -> None:
    factory = Factory(heeds_stop=True)
    model = TrainerModel(trainer_factory=factory)
    model.start(hugs, TrainingConfig(max_merges=2))
    assert factory.asked.wait(_PATIENCE)
    model.close()  # were it not stopped, the factory would fail in the end, and that would be logged
