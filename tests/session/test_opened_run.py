"""A run that was trained earlier is shown, stepped through and trained further."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.session.fakes import Recorder
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.training.history import table_of
from wordpiece_studio.training.stored_history import restored_history

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

PAIRS = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5), ("bunbun", 3)]


@pytest.fixture
def model(qtbot: QtBot) -> Iterator[TrainerModel]:
    model = TrainerModel()
    yield model
    model.close()


@pytest.fixture
def run() -> wps.TrainingRun:
    return wps.train(wps.WordCounts.from_pairs(PAIRS))


def open_part(model: TrainerModel, run: wps.TrainingRun, end: int, stop_reason: str | None, step: int = 0) -> None:
    history = restored_history(table_of(run.history, end), lambda: (run.counts, run.history.places_until(end)))
    model.open_run(Run(run.counts, run.config, history, stop_reason=stop_reason), step)


def wait_candidates(qtbot: QtBot, model: TrainerModel, step: int) -> list[str]:
    with qtbot.waitSignal(model.candidates_changed, timeout=5000) as told:
        model.request_candidates(3, step)
    candidates = told.args[0]
    assert candidates.step == step
    return [candidate.token for candidate in candidates.pairs]


def test_it_is_shown_whole_at_its_step(qtbot: QtBot, model: TrainerModel, run: wps.TrainingRun) -> None:
    recorder = Recorder(model)
    open_part(model, run, len(run.history), "no_pair", 3)
    last = len(run.history) - 1
    named = [entry for entry in recorder.names() if entry != "merged"]
    assert named == ["reset", "appended", "step", "state"]
    assert (model.state, model.stop_reason, model.step) == (TrainerState.FINISHED, "no_pair", 3)
    assert (model.merge_count, model.history[last]) == (last + 1, run.history[last])
    assert not model.history.is_whole
    model.last()
    assert model.is_at_head
    tokens = model.tokenizer_at(last + 1).encode("hugs bun").tokens
    assert tokens == run.tokenizer().encode("hugs bun").tokens


def test_candidates_at_any_step(qtbot: QtBot, model: TrainerModel, run: wps.TrainingRun) -> None:
    open_part(model, run, len(run.history), "no_pair")
    trainer = wps.Trainer(run.counts, run.config)
    for step in (5, 0, len(run.history), 2):
        trainer.seek(step)
        assert wait_candidates(qtbot, model, step) == [candidate.token for candidate in trainer.top(3)]


@pytest.mark.parametrize("step", [0, 4])
def test_one_that_was_paused_goes_on(qtbot: QtBot, model: TrainerModel, run: wps.TrainingRun, step: int) -> None:
    open_part(model, run, 4, None, step)
    assert model.state is TrainerState.PAUSED
    model.resume()
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    assert list(model.history) == list(run.history)
    assert model.step == (len(run.history) if step == 4 else 0)


def test_one_more_merge_and_further(qtbot: QtBot, model: TrainerModel, run: wps.TrainingRun) -> None:
    open_part(model, run, 3, "max_merges", 3)
    model.next_merge()
    qtbot.waitUntil(lambda: model.merge_count == 4)
    assert model.history[3] == run.history[3]
    model.train_further(max_merges=6)
    qtbot.waitUntil(lambda: model.merge_count == 6 and model.state is TrainerState.FINISHED)
    assert list(model.history) == list(run.history)[:6]


def test_what_does_not_fit_is_reported(qtbot: QtBot, model: TrainerModel, run: wps.TrainingRun) -> None:
    other = wps.WordCounts.from_pairs([("xyz", 3)])
    history = restored_history(table_of(run.history), lambda: (other, run.history.places_until()))
    model.open_run(Run(run.counts, run.config, history))
    with qtbot.waitSignal(model.failed) as told:
        model.resume()
    assert "not learned from these words" in str(told.args[0])
    assert model.merge_count == len(run.history)


def test_no_time_is_estimated_for_a_size_out_of_reach(model: TrainerModel, run: wps.TrainingRun) -> None:
    for sure, is_sure in ((500, True), (499, False)):
        model.open_run(Run(run.counts, wps.TrainingConfig(vocab_size=500), run.history, sure))
        assert model.progress.is_target_sure is is_sure
        assert model.progress.seconds_left is None
