"""The observable trainer: its signals, their order, and what its commands do."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from tests.session.fakes import FakeTrainer, Recorder
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import Candidates, TrainerState, candidates_beside
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training import history as merge_history
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.training.trainer import Trainer, train

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts

    MakeModel = Callable[..., TrainerModel]

TRAINING, PAUSED, FINISHED = TrainerState.TRAINING, TrainerState.PAUSED, TrainerState.FINISHED
IDLE, FAILED = TrainerState.IDLE, TrainerState.FAILED


def reach(qtbot: QtBot, model: TrainerModel, state: TrainerState) -> None:
    qtbot.waitUntil(lambda: model.state is state and not model.is_busy, timeout=20_000)


def one_candidate(step: int) -> Candidates:
    return Candidates(step, (Candidate("a", "##b", str(step), 1, 1, 1, 1.0, False),), available=True)


def no_candidates(step: int) -> Candidates:
    return Candidates(step, (), available=False)


def trained(qtbot: QtBot, model: TrainerModel, counts: WordCounts, **config: Any) -> TrainerModel:
    model.start(counts, TrainingConfig(**config))
    reach(qtbot, model, FINISHED)
    return model


def test_signals_come_in_strict_order(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    signals = [
        model.state_changed, model.run_reset, model.merged, model.merged, model.merged, model.merges_appended,
        model.step_changed, model.state_changed, model.progress_changed,
    ]  # fmt: skip
    with qtbot.waitSignals(signals, order="strict"):
        model.start(hugs, TrainingConfig(max_merges=3))


def test_each_signal_says_the_new_value(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    recorder = Recorder(model)
    trained(qtbot, model, hugs, max_merges=2)
    assert recorder.log == [
        ("state", TRAINING), ("reset",), ("merged", 1), ("merged", 2), ("appended", 0, 1), ("step", 2),
        ("state", FINISHED),
    ]  # fmt: skip
    assert model.stop_reason == "max_merges"
    assert model.merge_count == model.step == len(model.history) == 2


@pytest.mark.parametrize("seed", range(5))
def test_each_merge_is_reported_once_and_in_order(qtbot: QtBot, model: TrainerModel, seed: int) -> None:
    counts = random_counts(seed)
    recorder = Recorder(model)
    trained(qtbot, model, counts)
    assert recorder.merges == list(train(counts).history)
    appended = [entry[1:] for entry in recorder.log if entry[0] == "appended"]
    assert [first for first, _ in appended] == [0, *(last + 1 for _, last in appended[:-1])]
    assert appended[-1][1] == model.merge_count - 1


@pytest.mark.slow
def test_twenty_thousand_merges(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    """PySide6 6.12.0 aborts the interpreter on Python 3.11 long before."""
    model = make_model(seconds_per_merge=0.0)
    recorder = Recorder(model)
    trained(qtbot, model, hugs, max_merges=20_000)
    assert [merge.step for merge in recorder.merges] == list(range(1, 20_001))


def test_the_worker_does_not_run_ahead_of_the_window(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.0)
    model.start(hugs, TrainingConfig(max_merges=10**6))
    qtbot.waitUntil(lambda: model.merge_count > 0, timeout=60_000)
    time.sleep(0.3)  # the window is busy
    assert len(model.history) - model.merge_count <= 6 * 256


@pytest.mark.slow
def test_progress_comes_at_most_twenty_times_a_second(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    recorder = Recorder(model)
    began = time.monotonic()
    trained(qtbot, model, hugs, max_merges=400)
    assert 2 <= len(recorder.progress) <= 20 * (time.monotonic() - began) + 2
    assert recorder.progress[-1] == model.progress
    assert model.progress.merges == 400
    assert model.run.seconds > 0.4
    first = recorder.progress[1]
    assert first.seconds_left is not None
    # A merge takes a millisecond or, on a busy machine, longer.
    assert 0.00099 <= first.seconds_left / (400 - first.merges) <= model.run.seconds


@pytest.mark.parametrize("merges", [1, 2, 5, 20, 80])
def test_pause_and_resume_change_nothing(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, merges: int) -> None:
    model = make_model(held_at=merges)
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=100))
    qtbot.waitUntil(lambda: model.history is not None and len(model.history) == merges)
    model.pause()
    reach(qtbot, model, PAUSED)
    assert model.merge_count == len(model.history) == merges
    model.resume()
    reach(qtbot, model, FINISHED)
    assert [merge.step for merge in recorder.merges] == list(range(1, 101))


def test_the_worker_leaves_the_index_of_words_to_the_window(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts
) -> None:
    trained(qtbot, model, hugs)
    assert "_hashes" in vars(model.history.places)  # of a million words it takes long to make


def test_pause_and_resume_at_once(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.0005)
    model.start(hugs, TrainingConfig(max_merges=300))
    for delay in range(20):
        model.pause()
        qtbot.wait(delay % 4)
        model.resume()
        qtbot.wait(1)
    reach(qtbot, model, FINISHED)
    assert model.merge_count == 300


@pytest.mark.parametrize("delay_ms", [0, 1, 5, 20, 60])
def test_stop_keeps_what_was_learned(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, delay_ms: int) -> None:
    model = make_model(seconds_per_merge=0.002)
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=10_000), paused=False)
    qtbot.waitUntil(lambda: model.history is not None)
    qtbot.wait(delay_ms)
    model.stop()
    reach(qtbot, model, FINISHED)
    assert model.stop_reason == "user"
    assert len(recorder.merges) == model.merge_count == len(model.history)


def test_stop_while_paused(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    model.start(hugs, TrainingConfig(max_merges=10_000))
    model.pause()
    reach(qtbot, model, PAUSED)
    model.stop()
    assert (model.state, model.stop_reason) == (FINISHED, "user")


def test_stop_before_anything_has_begun(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.start(hugs, TrainingConfig())
    model.stop()
    qtbot.waitUntil(lambda: model.state is not TRAINING)
    assert model.state in (IDLE, FINISHED)


class SlowSemaphore(threading.Semaphore):
    """Whoever waits for it goes on before the one that released it."""

    def release(self, n: int = 1) -> None:
        super().release(n)
        time.sleep(0.1)


def test_a_paused_start_learns_nothing_however_slow_the_window_is(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Semaphore", SlowSemaphore)
    model.start(hugs, TrainingConfig(max_merges=3), paused=True)
    reach(qtbot, model, PAUSED)
    assert len(model.history) == 0  # type: ignore[arg-type]
    model.resume()
    reach(qtbot, model, FINISHED)
    assert model.merge_count == 3


@pytest.mark.parametrize("command", ["stop", "forget"])
def test_a_training_ended_as_its_beginning_is_told_never_begins(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts, command: str
) -> None:
    def end(state: TrainerState) -> None:
        if state is TRAINING:
            getattr(model, command)()

    model.state_changed.connect(end)
    model.start(hugs, TrainingConfig(max_merges=3))
    assert model.state is IDLE
    with qtbot.assertNotEmitted(model.run_reset, wait=200):
        pass


def test_a_training_continued_as_another_begins_goes_on(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, max_merges=2)
    run = model.run
    assert run is not None

    def go_back(state: TrainerState) -> None:
        if state is TRAINING:
            model.state_changed.disconnect(go_back)
            model.open_run(run)
            model.train_further(max_merges=4)

    model.state_changed.connect(go_back)
    model.start(hugs, TrainingConfig(max_merges=3), paused=True)
    reach(qtbot, model, FINISHED)
    assert model.run is run
    assert model.merge_count == 4


def test_start_paused_learns_one_merge_at_a_time(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.start(hugs, TrainingConfig(objective="score"), paused=True)
    reach(qtbot, model, PAUSED)
    assert model.merge_count == 0
    for step in range(1, 4):
        model.next_merge()
        qtbot.waitUntil(lambda step=step: model.step == step)
    assert model.state is PAUSED
    assert [merge.token for merge in model.history] == ["##gs", "hu", "hugs"]


def test_next_merge_stops_at_the_limit(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, max_merges=2)
    model.next_merge()
    reach(qtbot, model, FINISHED)
    assert (model.merge_count, model.stop_reason) == (2, "max_merges")


def test_next_merge_after_a_stop_learns_exactly_one(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    model.start(hugs, TrainingConfig(max_merges=10_000))
    qtbot.waitUntil(lambda: model.merge_count > 3)
    model.stop()
    reach(qtbot, model, FINISHED)
    learned = model.merge_count
    model.last()
    model.next_merge()
    reach(qtbot, model, PAUSED)
    assert model.merge_count == model.step == learned + 1


def test_next_merge_only_moves_behind_the_head(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, max_merges=3)
    model.seek(0)
    model.next_merge()
    assert (model.step, model.is_busy) == (1, False)


def test_the_step_follows_only_from_the_head(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    model.start(hugs, TrainingConfig(max_merges=300))
    qtbot.waitUntil(lambda: model.step > 5)
    model.seek(2)
    learned = model.merge_count
    qtbot.waitUntil(lambda: model.merge_count > learned + 20)
    assert model.step == 2
    model.next_merge()
    assert model.step == 3
    model.last()
    reach(qtbot, model, FINISHED)
    assert model.step == 300


def test_seeking_stays_within_the_history(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, max_merges=3)
    model.seek(99)
    assert model.step == 3
    model.seek(0)
    model.seek(model.step - 1)
    assert model.step == 0


def test_train_further_continues_the_same_history(qtbot: QtBot, model: TrainerModel) -> None:
    counts = random_counts(7)
    history = trained(qtbot, model, counts, max_merges=10).history
    recorder = Recorder(model)
    model.seek(4)
    model.train_further(max_merges=40)
    reach(qtbot, model, FINISHED)
    assert model.history is history
    assert model.config.max_merges == 40
    assert model.step == 4
    assert [merge.step for merge in recorder.merges] == list(range(11, 41))
    assert list(history) == list(train(counts, TrainingConfig(max_merges=40)).history)


def test_a_new_start_replaces_the_run(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts) -> None:
    model = make_model(seconds_per_merge=0.001)
    recorder = Recorder(model)
    for _ in range(5):
        model.start(hugs, TrainingConfig(max_merges=10_000))
        qtbot.wait(10)
    recorder.log.clear()
    recorder.merges.clear()
    model.start(hugs, TrainingConfig(max_merges=50))
    reach(qtbot, model, FINISHED)
    since_reset = recorder.names()[recorder.names().index("reset") :]
    assert since_reset.count("merged") == 50
    assert "merged" not in recorder.names()[: recorder.names().index("reset")]


def test_a_refused_start_keeps_the_old_run(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    history = trained(qtbot, model, hugs, max_merges=3).history
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(vocab_size=3))
    reach(qtbot, model, FAILED)
    assert "12" in str(recorder.errors[0])  # five special tokens, seven symbols
    assert model.history is history
    model.train_further(max_merges=4)
    reach(qtbot, model, FINISHED)
    assert model.merge_count == 4


@pytest.mark.expects_log
@pytest.mark.parametrize(
    ("error", "words"), [(MemoryError(), "memory"), (ZeroDivisionError("float"), "ZeroDivisionError")]
)
def test_a_broken_engine_is_reported_in_words(
    qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, error: Exception, words: str
) -> None:
    model = make_model(broken_at=7, error=error)
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=20))
    reach(qtbot, model, FAILED)
    assert isinstance(recorder.errors[0], StudioError)
    assert words in str(recorder.errors[0])
    assert model.merge_count == len(recorder.merges) == 7
    model.last()
    model.next_merge()
    qtbot.waitUntil(lambda: len(recorder.errors) == 2)
    assert "Train again" in str(recorder.errors[1])
    assert not model.is_busy


@pytest.mark.expects_log
def test_candidates_are_found_though_the_engine_is_gone(qtbot: QtBot, hugs: WordCounts) -> None:
    found: list[str] = []
    factory = partial(FakeTrainer, broken_at=7, error=MemoryError())
    model = TrainerModel(trainer_factory=factory, candidates_finder=held(found=found))  # type: ignore[arg-type]
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=20))
    reach(qtbot, model, FAILED)
    with qtbot.waitSignal(model.candidates_changed):
        model.request_candidates()
    assert recorder.candidates[-1].pairs[0].token == "7"
    model.close()


def test_a_training_that_ran_out_of_memory_can_go_on(
    qtbot: QtBot, model: TrainerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [True]

    def with_room(array: Any, size: int, growth: float) -> Any:
        if full[0] and size > 64:
            raise MemoryError
        return whole(array, size, growth)

    whole = merge_history.with_room
    monkeypatch.setattr(merge_history, "with_room", with_room)
    recorder = Recorder(model)
    model.start(random_counts(3), TrainingConfig(max_merges=100))
    reach(qtbot, model, FAILED)
    assert "not enough memory for more than" in str(recorder.errors[0])
    known = model.merge_count
    assert known == len(model.history) < 100
    with qtbot.waitSignal(model.candidates_changed):
        model.request_candidates(1)
    full[0] = False
    model.train_further(max_merges=100)
    reach(qtbot, model, FINISHED)
    assert recorder.candidates[-1].pairs[0].token == model.history[known].token
    assert model.merge_count == 100


def test_who_starts_a_training_here_has_asked_about_memory(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wordpiece_studio.training.trainer.available_memory", lambda: 0)
    trained(qtbot, model, hugs, max_merges=3)
    assert model.merge_count == 3


def test_candidates_are_those_of_the_step(qtbot: QtBot, model: TrainerModel) -> None:
    counts = random_counts(3)
    trained(qtbot, model, counts, max_merges=30)
    recorder = Recorder(model)
    trainer = Trainer(counts, TrainingConfig(max_merges=30))
    for step in (30, 0, 17, 16, 29):
        trainer.seek(step)
        model.seek(step)
        with qtbot.waitSignal(model.candidates_changed):
            model.request_candidates(5)
        assert recorder.candidates[-1] == Candidates(step, tuple(trainer.top(5)), available=True)


def test_candidates_of_the_step_before(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    trained(qtbot, model, hugs, max_merges=3)
    with qtbot.waitSignal(model.candidates_changed) as caught:
        model.request_candidates(1, step=2)
    assert caught.args[0].step == 2
    assert caught.args[0].pairs[0].token == model.history[2].token


def test_only_the_latest_candidates_are_reported(qtbot: QtBot, model: TrainerModel) -> None:
    trained(qtbot, model, random_counts(3), max_merges=30)
    recorder = Recorder(model)
    for step in range(30):
        model.seek(step)
        model.request_candidates()
    model.seek(5)
    model.request_candidates()
    qtbot.waitUntil(lambda: len(recorder.candidates) > 0)
    qtbot.wait(30)
    assert [candidates.step for candidates in recorder.candidates] == [5]


def held(*, found: list[str]) -> Callable[..., Candidates]:
    """Return a finder of candidates that records the steps requested; it finds none at step 1."""

    def find(_history: object, step: int, _limit: int) -> Candidates:
        found.append(f"{step} in {threading.current_thread().name}")
        return no_candidates(step) if step == 1 else one_candidate(step)

    return find


def test_while_training_the_candidates_are_found_beside_it(qtbot: QtBot, hugs: WordCounts) -> None:
    found: list[str] = []
    factory = partial(FakeTrainer, seconds_per_merge=0.001)
    model = TrainerModel(trainer_factory=factory, candidates_finder=held(found=found))  # type: ignore[arg-type]
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=10_000))
    qtbot.waitUntil(lambda: model.merge_count > 5)
    for step, is_available in ((3, True), (1, False), (4, True)):
        model.seek(step)
        with qtbot.waitSignal(model.candidates_changed):
            model.request_candidates(5)
        answer = recorder.candidates[-1]
        assert (answer.step, answer.available) == (step, is_available)
        assert [candidate.token for candidate in answer.pairs] == [str(step)] * is_available
    assert model.state is TRAINING
    assert len(found) == 3
    assert not any("MainThread" in entry for entry in found)
    model.pause()
    reach(qtbot, model, PAUSED)
    with qtbot.waitSignal(model.candidates_changed):
        model.request_candidates()  # of the engine itself
    assert len(found) == 3
    model.close()


def test_candidates_found_late_are_not_reported(qtbot: QtBot, hugs: WordCounts) -> None:
    gate, asked = threading.Event(), threading.Event()

    def find(_history: object, step: int, _limit: int) -> Candidates:
        asked.set()
        gate.wait(5)
        return one_candidate(step)

    factory = partial(FakeTrainer, seconds_per_merge=0.001)
    model = TrainerModel(trainer_factory=factory, candidates_finder=find)  # type: ignore[arg-type]
    recorder = Recorder(model)
    model.start(hugs, TrainingConfig(max_merges=10_000))
    qtbot.waitUntil(lambda: model.merge_count > 5)
    model.seek(3)
    model.request_candidates()
    qtbot.waitUntil(asked.is_set)
    model.seek(2)  # no one asks for its candidates
    gate.set()
    qtbot.wait(40)
    assert not recorder.candidates
    model.close()


def test_the_candidates_beside_a_training_are_those_of_a_trainer_there(qtbot: QtBot, model: TrainerModel) -> None:
    counts = random_counts(5, words=4000, letters="abcdefghijk")
    reference = Trainer(counts, TrainingConfig(), engine="compiled")
    reference.run(300)
    recorder = Recorder(model)
    model.start(counts, TrainingConfig())
    qtbot.waitUntil(lambda: model.merge_count > 300, timeout=10_000)
    for step in (250, 3, 0):
        assert model.state is TRAINING
        reference.seek(step)
        model.seek(step)
        with qtbot.waitSignal(model.candidates_changed):
            model.request_candidates(100)
        assert recorder.candidates[-1] == Candidates(step, tuple(reference.top(100)), available=True)
    model.seek(2)
    model.next_merge()  # behind the head it moves, and nothing is learned for it
    assert model.step == 3
    model.stop()
    reach(qtbot, model, FINISHED)


def test_without_memory_for_another_engine_there_are_no_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    history = train(random_counts(3), TrainingConfig(max_merges=30)).history
    assert candidates_beside(history, 3, 5, should_stop=lambda: False).pairs
    monkeypatch.setattr("wordpiece_studio.session.training_job.available_memory", lambda: 1000)
    assert candidates_beside(history, 3, 5, should_stop=lambda: False) == no_candidates(3)


def test_training_continues_from_the_head_after_candidates(qtbot: QtBot, model: TrainerModel) -> None:
    counts = random_counts(11)
    trained(qtbot, model, counts, max_merges=20)
    model.seek(3)
    with qtbot.waitSignal(model.candidates_changed):
        model.request_candidates()
    model.train_further(max_merges=35)
    reach(qtbot, model, FINISHED)
    assert list(model.history) == list(train(counts, TrainingConfig(max_merges=35)).history)


def test_the_selection_is_shared_and_lost_with_the_run(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.set_selection(Selection("token", text="hug"))
    assert model.selection is None  # nothing is trained yet
    trained(qtbot, model, hugs)
    recorder = Recorder(model)
    model.set_selection(Selection("token", text="hug"))
    model.set_selection(Selection("token", text="hug"))
    assert recorder.log == [("selection", Selection("token", text="hug"))]
    trained(qtbot, model, hugs)
    assert model.selection is None
    model.set_selection(Selection("token", text="hug"))
    model.forget()
    model.set_selection(Selection("token", text="hug"))  # by a pane that still shows the run
    assert model.selection is None


def test_vocabulary_and_tokenizer_of_a_step(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    assert model.vocabulary_at(0) is None
    assert model.tokenizer_at(0) is None
    trained(qtbot, model, hugs, objective="score")
    assert len(model.vocabulary_at(2)) == 14
    assert model.tokenizer_at(2).encode("hugs").tokens == ["hu", "##gs"]
    assert model.tokenizer_at(3).encode("hugs").tokens == ["hugs"]
    assert model.tokenizer_at(2) is model.tokenizer_at(2)


@pytest.mark.parametrize("state", ["idle", "preparing", "training", "paused", "finished", "candidates", "step"])
@pytest.mark.parametrize("times", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_close_in_every_state(qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, state: str, times: int) -> None:
    for _ in range(times):
        model = make_model(seconds_per_merge=0.0002)
        if state != "idle":
            model.start(hugs, TrainingConfig(max_merges=5 if state in ("finished", "candidates") else 10**6))
        if state in ("training", "paused", "step"):
            qtbot.waitUntil(lambda model=model: model.merge_count > 0)
        if state in ("paused", "step"):
            model.pause()
            reach(qtbot, model, PAUSED)
        if state in ("finished", "candidates"):
            reach(qtbot, model, FINISHED)
            model.request_candidates()
        if state == "step":
            model.next_merge()
        recorder = Recorder(model)
        model.close()
        model.close()
        qtbot.wait(0)
        assert not recorder.log


def test_commands_after_close_do_nothing(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    model.close()
    model.start(hugs, TrainingConfig())
    model.next_merge()
    model.train_further()
    model.resume()
    assert model.state is IDLE


def test_a_run_that_is_forgotten_is_gone_and_a_new_one_can_start(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts
) -> None:
    trained(qtbot, model, hugs)
    model.forget()
    assert (model.history, model.merge_count, model.step, model.state) == (None, 0, 0, TrainerState.IDLE)
    assert model.tokenizer_at(0) is None
    model.start(hugs, TrainingConfig())
    model.forget()  # while it begins
    qtbot.wait(50)
    assert model.history is None
    trained(qtbot, model, hugs)
    assert model.merge_count


def test_nothing_is_left_of_a_model_that_no_one_has(qtbot: QtBot, hugs: WordCounts) -> None:
    model = trained(qtbot, TrainerModel(), hugs, max_merges=3)
    model.close()
    known = weakref.ref(model)
    del model
    gc.collect()
    assert known() is None
