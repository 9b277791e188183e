"""Several runs of a session: every training adds one, previews make room, and what is closed can be brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QUndoStack

from tests.session.fakes import Recorder
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.runs import COLORS, Runs
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

COUNTS = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
USERS = RunOrigin(is_wanted=True)


@pytest.fixture
def model(qapp: object) -> Iterator[TrainerModel]:
    model = TrainerModel()
    yield model
    model.close()


@pytest.fixture
def undo_stack(qapp: object) -> Iterator[QUndoStack]:
    stack = QUndoStack()
    yield stack
    stack.clear()


@pytest.fixture
def runs(model: TrainerModel, undo_stack: QUndoStack) -> Iterator[Runs]:
    runs = Runs(model, undo_stack)
    yield runs
    runs.places.close()


def trained(qtbot: QtBot, model: TrainerModel, objective: str, origin: RunOrigin = USERS) -> Run:
    model.start(COUNTS, TrainingConfig(objective=objective), origin=origin)
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    assert model.run is not None
    return model.run


def previewed(qtbot: QtBot, model: TrainerModel, objective: str) -> Run:
    with qtbot.waitSignal(model.run_reset):
        model.replace(COUNTS, TrainingConfig(objective=objective))
    assert model.run is not None
    return model.run


@pytest.mark.usefixtures("long_runs")
def test_every_training_adds_a_run(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    assert (runs.all, runs.current) == ((), None)
    first, second = trained(qtbot, model, "score"), trained(qtbot, model, "score")
    assert (runs.all, runs.current) == ((first, second), second)
    assert [(run.letter, run.color, run.is_kept) for run in runs.all] == [("A", 0, True), ("B", 1, True)]
    assert runs.unsaved_merges == 2 * len(first.history)
    saved = [Run(run.counts, run.config, run.history) for run in runs.all]
    third = trained(qtbot, model, "score")  # while the others are being saved
    runs.note_saved(saved)
    assert runs.unsaved_merges == len(third.history)
    assert [run.is_unsaved for run in runs.all] == [False, False, True]


def test_a_run_that_no_one_asked_for_makes_room_for_the_same_that_was(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    trained(qtbot, model, "score", RunOrigin())
    second = trained(qtbot, model, "score")
    assert (runs.all, second.letter) == ((second,), "A")


def test_a_run_from_elsewhere_is_shown_unless_a_training_is_in_progress(
    qtbot: QtBot, model: TrainerModel, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = trained(qtbot, model, "score")
    second, third = (Run(COUNTS, first.config, first.history, stop_reason="peer", origin=USERS) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(TrainerModel, "is_busy", True)
        runs.add(second)
    assert (runs.all, runs.current, second.letter) == ((first, second), first, "B")
    runs.add(third)
    assert (runs.all, runs.current, third.letter) == ((first, second, third), third, "C")


def test_there_is_one_preview_and_kept_runs_stay(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score", RunOrigin())
    second = previewed(qtbot, model, "count")
    assert (runs.all, second.is_kept, second.letter) == ((first, second), False, "B")
    third = previewed(qtbot, model, "likelihood")
    assert (runs.all, third.letter, third.color) == ((first, third), "B", 1)
    runs.keep(third)
    assert (third.is_kept, third.origin.is_wanted) == (True, True)
    fourth = previewed(qtbot, model, "count")
    assert (runs.all, fourth.letter) == ((first, third, fourth), "C")


def test_training_what_is_previewed_keeps_its_place(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score")
    previewed(qtbot, model, "count")
    second = trained(qtbot, model, "count")
    assert (runs.all, second.letter) == ((first, second), "B")
    third = previewed(qtbot, model, "likelihood")
    fourth = trained(qtbot, model, "score")
    assert runs.all == (first, second, third, fourth)


@pytest.mark.parametrize("change", ["rename", "recolor", "keep_all"])
def test_what_the_user_changes_is_kept(qtbot: QtBot, model: TrainerModel, runs: Runs, change: str) -> None:
    run = previewed(qtbot, model, "count")
    with qtbot.waitSignal(runs.changed):
        {
            "rename": lambda: runs.rename(run, " the  better\none "),
            "recolor": lambda: runs.recolor(run, COLORS + 3),
            "keep_all": runs.keep_all,
        }[change]()
    assert run.is_kept
    assert run.name == ("the better one" if change == "rename" else "")
    assert run.color == (3 if change == "recolor" else 0)


def test_all_runs_are_compared_at_once(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    for objective in ("count", "score", "likelihood"):
        trained(qtbot, model, objective)
    for is_wanted in (True, False):
        told = []
        runs.changed.connect(lambda told=told: told.append(runs.compared))
        runs.compare_all(is_wanted)
        assert told == [runs.all if is_wanted else ()]
        assert len({run.color for run in runs.all}) == 3
        runs.changed.disconnect()


def test_colors_differ_until_there_are_more_runs_than_colors(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score")
    runs.recolor(first, 1)
    for _ in range(COLORS):
        trained(qtbot, model, "score")
    assert sorted(run.color for run in runs.all[:COLORS]) == list(range(COLORS))
    assert len(runs.all) == COLORS + 1


def test_a_run_is_shown_again_where_it_was_left(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score")
    merges = list(first.history)
    model.seek(3)
    second = trained(qtbot, model, "count")
    recorder = Recorder(model)
    with qtbot.waitSignals([runs.chosen, model.run_reset, runs.shown], order="strict"):
        runs.show(first)
    assert (runs.current, model.step, model.merge_count) == (first, 3, len(merges))
    names = [name for name in recorder.names() if name != "merged"]
    assert names == ["reset", "appended", "step", "state"]
    assert recorder.merges == merges
    runs.show_next()
    assert (runs.current, model.step) == (second, len(second.history))
    runs.show_next()
    assert runs.current is first
    runs.show_next(-1)
    assert runs.current is second


def test_merged_is_emitted_once_for_each_merge_of_the_run_that_learns(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    trained(qtbot, model, "score")
    recorder = Recorder(model)
    second = trained(qtbot, model, "count")
    assert recorder.merges == list(second.history)
    steps = [entry[1] for entry in recorder.log if entry[0] == "merged"]
    assert steps == list(range(1, len(second.history) + 1))


def test_a_closed_run_comes_back_with_its_place_and_step(
    qtbot: QtBot, model: TrainerModel, runs: Runs, undo_stack: QUndoStack
) -> None:
    first, second, third = (trained(qtbot, model, objective) for objective in ("score", "count", "likelihood"))
    runs.show(second)
    model.seek(2)
    runs.close(second)
    assert (runs.all, runs.current, model.step) == ((first, third), third, len(third.history))
    undo_stack.undo()
    assert (runs.all, runs.current, model.step) == ((first, second, third), second, 2)
    undo_stack.redo()
    assert runs.all == (first, third)
    runs.close(first)
    assert (runs.all, runs.current) == ((third,), third)
    runs.close(third)
    assert (runs.all, runs.current, model.state) == ((), None, TrainerState.IDLE)
    for _ in range(3):
        undo_stack.undo()
    assert runs.all == (first, second, third)
    assert [run.letter for run in runs.all] == ["A", "B", "C"]


def test_a_letter_that_was_given_away_is_not_taken_back(
    qtbot: QtBot, model: TrainerModel, runs: Runs, undo_stack: QUndoStack
) -> None:
    first = trained(qtbot, model, "score")
    runs.close(first)
    second = trained(qtbot, model, "count")
    assert second.letter == "A"
    undo_stack.undo()
    assert [run.letter for run in runs.all] == ["B", "A"]


def test_what_was_not_asked_for_is_dropped(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first = trained(qtbot, model, "score")
    previewed(qtbot, model, "count")
    runs.discard_previews()
    assert (runs.all, runs.current) == ((first,), first)


def test_a_run_that_is_shown_again_can_be_trained_further(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    model.start(COUNTS, TrainingConfig(objective="count", max_merges=2))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    first = model.run
    trained(qtbot, model, "score")
    runs.show(first)
    model.train_further(max_merges=4)
    qtbot.waitUntil(lambda: model.merge_count == 4)
    assert (runs.current, first.config.max_merges) == (first, 4)


def test_a_training_that_was_left_is_paused_when_it_is_shown_again(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    first = trained(qtbot, model, "score")
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


def test_places_of_runs_not_shown_for_long_are_dropped_and_made_again(
    qtbot: QtBot, model: TrainerModel, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = trained(qtbot, model, "score")
    size = first.history.bytes_of_places
    positions = [first.history.positions(index).tolist() for index in range(len(first.history))]
    monkeypatch.setattr("wordpiece_studio.session.runs.KEPT_BYTES", size * 3 // 2)
    second, third = trained(qtbot, model, "count"), trained(qtbot, model, "likelihood")
    assert [run.history.is_whole for run in runs.all] == [False, True, True]
    assert first.history.is_read
    symbols = first.history.symbols_after(len(first.history))
    assert not first.history.is_whole
    runs.show(first)
    assert [run.history.is_whole for run in (second, third)] == [False, True]
    qtbot.waitUntil(lambda: first.history.is_whole)
    assert [first.history.positions(index).tolist() for index in range(len(first.history))] == positions
    assert first.history.symbols_after(len(first.history)) == symbols


def test_the_step_is_looked_at_again_when_places_are_there(
    qtbot: QtBot, model: TrainerModel, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = trained(qtbot, model, "score")
    monkeypatch.setattr("wordpiece_studio.session.runs.KEPT_BYTES", 0)
    trained(qtbot, model, "count")
    runs.show(first)
    seen = []
    model.step_changed.connect(lambda _step: seen.append(first.history.is_whole))
    qtbot.waitUntil(lambda: seen == [True])


def test_a_run_is_compared_no_longer_once_the_last_other_compared_run_is_closed(
    qtbot: QtBot, model: TrainerModel, runs: Runs, undo_stack: QUndoStack
) -> None:
    first, second, third = (trained(qtbot, model, objective) for objective in ("score", "count", "likelihood"))
    runs.show(first)
    runs.set_compared(second, True)
    runs.close(third)
    assert runs.compared == (first, second)
    runs.close(second)
    assert runs.compared == ()
    undo_stack.undo()
    assert runs.compared == (first, second)


def test_a_closed_run_does_not_keep_its_places(
    qtbot: QtBot, model: TrainerModel, runs: Runs, undo_stack: QUndoStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(qtbot, model, "count")
    run = trained(qtbot, model, "score")
    monkeypatch.setattr("wordpiece_studio.session.runs._FEW_BYTES", 0)
    runs.close(run)
    assert not run.history.is_whole
    undo_stack.undo()
    assert runs.current is run
    qtbot.waitUntil(lambda: run.history.is_whole)
