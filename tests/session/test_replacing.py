"""A run that replaces another while the user types the corpus: all at once, and never in part."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from tests.session.fakes import Recorder
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session import training_job
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.trainer_model import TrainerModel

FINISHED = TrainerState.FINISHED
OTHER = WordCounts.from_pairs([("cat", 4), ("cats", 2), ("hat", 7), ("hats", 1)])


@pytest.fixture
def trained(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> TrainerModel:
    model.start(hugs, TrainingConfig())
    qtbot.waitUntil(lambda: model.state is FINISHED)
    return model


def replaced(qtbot: QtBot, model: TrainerModel, counts: WordCounts, config: TrainingConfig | None = None) -> None:
    with qtbot.waitSignal(model.progress_changed):
        model.replace(counts, config or TrainingConfig())


def test_the_new_run_comes_all_at_once(qtbot: QtBot, trained: TrainerModel) -> None:
    recorder = Recorder(trained)
    before = trained.history
    trained.replace(OTHER, TrainingConfig(max_merges=3))
    assert trained.is_replacing
    assert trained.state is FINISHED
    assert trained.history is before
    qtbot.waitUntil(lambda: not trained.is_replacing)
    assert recorder.log == [
        ("reset",), ("merged", 1), ("merged", 2), ("merged", 3), ("appended", 0, 2), ("step", 3), ("state", FINISHED),
    ]  # fmt: skip
    assert recorder.merges == list(train(OTHER, TrainingConfig(max_merges=3)).history)
    assert (trained.counts, trained.stop_reason, trained.merge_count) == (OTHER, "max_merges", 3)
    assert trained.run.seconds > 0


def test_if_nothing_was_trained_it_is_the_first_run(qtbot: QtBot, model: TrainerModel) -> None:
    replaced(qtbot, model, OTHER)
    assert model.state is FINISHED
    assert model.is_at_head
    assert model.merge_count


def test_the_step_stays_and_comes_back_where_a_run_was_shorter(qtbot: QtBot, trained: TrainerModel) -> None:
    trained.seek(5)
    for merges, step in ((8, 5), (3, 3), (6, 5), (5, 5), (8, 5)):
        replaced(qtbot, trained, random_counts(merges), TrainingConfig(max_merges=merges))
        assert trained.step == step
    replaced(qtbot, trained, OTHER, TrainingConfig(max_merges=3))
    trained.seek(2)
    replaced(qtbot, trained, random_counts(1), TrainingConfig(max_merges=9))
    assert trained.step == 2  # chosen since, so what was missed is forgotten


def test_a_step_at_the_head_stays_there(qtbot: QtBot, trained: TrainerModel) -> None:
    for merges in (3, 6, 4):
        replaced(qtbot, trained, random_counts(merges), TrainingConfig(max_merges=merges))
        assert trained.step == trained.merge_count == merges


def test_the_selection_stays(qtbot: QtBot, trained: TrainerModel) -> None:
    trained.set_selection(Selection("token", text="##s"))
    recorder = Recorder(trained)
    replaced(qtbot, trained, OTHER)
    assert trained.selection == Selection("token", text="##s")
    assert "selection" not in recorder.names()


def test_only_the_latest_comes_and_the_one_before_is_left_at_once(
    qtbot: QtBot, make_model: Callable[..., TrainerModel], hugs: WordCounts
) -> None:
    model = make_model(seconds_per_merge=0.01)
    recorder = Recorder(model)
    model.replace(hugs, TrainingConfig(max_merges=10_000))  # a hundred seconds
    qtbot.wait(50)
    for merges in (9000, 8000, 2):
        model.replace(hugs, TrainingConfig(max_merges=merges))
    qtbot.waitUntil(lambda: not model.is_replacing)
    assert model.merge_count == 2
    assert recorder.names().count("reset") == 1


@pytest.mark.parametrize("command", ["start", "train_further", "next_merge", "forget", "close"])
def test_a_command_to_learn_makes_it_void(
    qtbot: QtBot, make_model: Callable[..., TrainerModel], hugs: WordCounts, command: str
) -> None:
    model = make_model(seconds_per_merge=0.001)
    model.start(hugs, TrainingConfig(max_merges=4))
    qtbot.waitUntil(lambda: model.state is FINISHED)
    model.replace(OTHER, TrainingConfig(max_merges=100))
    if command == "start":
        model.start(hugs, TrainingConfig(max_merges=6))
    elif command == "train_further":
        model.train_further(max_merges=6)
    else:
        getattr(model, command)()
    assert not model.is_replacing
    qtbot.waitUntil(lambda: not model.is_busy)
    qtbot.wait(150)
    assert model.counts is (None if command == "forget" else hugs)
    assert model.merge_count == {"start": 6, "train_further": 6, "forget": 0}.get(command, 4)


def test_a_run_that_was_whole_when_it_was_canceled_is_not_continued(
    qtbot: QtBot, trained: TrainerModel, hugs: WordCounts
) -> None:
    merges = trained.merge_count
    trained.train_further(max_merges=2)
    qtbot.waitUntil(lambda: trained.state is FINISHED)
    trained.replace(OTHER, TrainingConfig())
    time.sleep(0.2)  # the worker has it ready; the window has not heard of it
    trained.train_further()
    qtbot.waitUntil(lambda: trained.state is FINISHED and not trained.is_busy)
    assert trained.counts is hugs
    assert [merge.token for merge in trained.history] == [merge.token for merge in train(hugs).history]
    assert trained.merge_count == merges


def test_candidates_steps_and_further_training_are_those_of_the_new_run(qtbot: QtBot, trained: TrainerModel) -> None:
    replaced(qtbot, trained, OTHER, TrainingConfig(max_merges=2))
    recorder = Recorder(trained)
    trained.request_candidates(3, 0)
    qtbot.waitUntil(lambda: bool(recorder.candidates))
    whole = train(OTHER).history
    assert recorder.candidates[0].pairs[0].token == whole[0].token
    trained.train_further()
    qtbot.waitUntil(lambda: trained.merge_count == len(whole))
    assert list(trained.history) == list(whole)


def test_a_corpus_that_cannot_be_trained_leaves_the_old_run(
    qtbot: QtBot, trained: TrainerModel, hugs: WordCounts
) -> None:
    recorder = Recorder(trained)
    with qtbot.waitSignal(trained.failed):
        trained.replace(OTHER, TrainingConfig(vocab_size=3))
    assert not trained.is_replacing
    assert recorder.names() == ["failed"]
    assert (trained.state, trained.counts) == (FINISHED, hugs)
    trained.request_candidates(3, 0)
    qtbot.waitUntil(lambda: bool(recorder.candidates))
    assert recorder.candidates[0].available


def test_it_does_not_wait_for_kernels_to_be_compiled(
    qtbot: QtBot, trained: TrainerModel, hugs: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_job, "must_compile_first", lambda _counts, _config: True)
    replaced(qtbot, trained, OTHER)
    assert trained.counts is hugs
    assert not trained.is_replacing


def test_not_while_a_training_runs_or_pauses(
    qtbot: QtBot, make_model: Callable[..., TrainerModel], hugs: WordCounts
) -> None:
    model = make_model(seconds_per_merge=0.005)
    model.start(hugs, TrainingConfig(max_merges=1000))
    model.replace(OTHER, TrainingConfig())
    assert not model.is_replacing
    model.pause()
    qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    model.replace(OTHER, TrainingConfig())
    assert not model.is_replacing


def test_a_listener_may_start_another_run(qtbot: QtBot, trained: TrainerModel, hugs: WordCounts) -> None:
    done = []

    def begin() -> None:
        if not done:
            done.append(True)
            trained.start(hugs, TrainingConfig(max_merges=1))

    trained.run_reset.connect(begin)
    trained.replace(OTHER, TrainingConfig())
    qtbot.waitUntil(lambda: bool(done) and trained.state is FINISHED)
    assert (trained.counts, trained.merge_count) == (hugs, 1)


def test_what_is_unusual_is_found_out_in_the_background(qtbot: QtBot, model: TrainerModel) -> None:
    counts = WordCounts.from_pairs([("hug", 1), ("##hug", 2)])
    model.start(counts, TrainingConfig(special_tokens=()))
    qtbot.waitUntil(lambda: model.state is FINISHED)
    assert [notice.values for notice in model.run.notices] == [
        {"number": 1, "prefix": "##", "word": "##hug"}, {"token": "[UNK]"},
    ]  # fmt: skip
    replaced(qtbot, model, OTHER)
    assert model.run.notices == ()  # no one asked for this run


def test_the_new_run_continues_after_a_training_that_was_canceled(qtbot: QtBot, trained: TrainerModel) -> None:
    """The worker once went on with the engine of the run before, whose merges are others."""
    for _ in range(20):
        replaced(qtbot, trained, OTHER, TrainingConfig(max_merges=2))
        trained.start(WordCounts.from_pairs([("zz", 1)]), TrainingConfig())
        trained.stop()
        if trained.state is FINISHED:
            break
        qtbot.waitUntil(lambda: trained.state is FINISHED and not trained.is_busy)  # the worker was quicker
    assert trained.merge_count == 2
    trained.train_further()
    qtbot.waitUntil(lambda: trained.merge_count > 2 and not trained.is_busy)
    wanted = train(OTHER, TrainingConfig(max_merges=trained.merge_count)).history
    assert list(trained.history) == list(wanted)
