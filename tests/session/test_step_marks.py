"""The bookmarks, and the step at which the selection came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from wordpiece_studio.session.step_marks import Bookmarks, step_of_selection
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import NOBODY, Bookmark, Selection
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel


def train(qtbot: QtBot, model: TrainerModel, counts: WordCounts, merges: int = 30) -> None:
    model.start(counts, TrainingConfig(vocab_size=None, max_merges=merges))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)


@pytest.fixture
def trained(qtbot: QtBot, model: TrainerModel) -> TrainerModel:
    train(qtbot, model, random_counts(5))
    return model


def replace(qtbot: QtBot, model: TrainerModel, counts: WordCounts, merges: int) -> None:
    with qtbot.waitSignal(model.run_reset):
        model.replace(counts, TrainingConfig(vocab_size=None, max_merges=merges))
    assert model.merge_count == merges


# -- the bookmarks


def test_the_bookmarks_are_in_order_of_step(trained: TrainerModel) -> None:
    bookmarks = Bookmarks(trained)
    bookmarks.set_notes([Bookmark(1200, "b"), Bookmark(3, "a")])
    assert [note.text for note in bookmarks.records] == ["a", "b"]


def test_a_step_is_kept_edited_and_deleted(qtbot: QtBot, trained: TrainerModel) -> None:
    bookmarks = Bookmarks(trained)
    for step, text in ((12, " the tie\n"), (0, "start"), (5, "five")):
        trained.seek(step)
        bookmarks.keep(text)
    tokens = ["", trained.history[4].token, trained.history[11].token]
    texts = zip((0, 5, 12), ("start", "five", "the tie"), tokens, strict=True)
    assert bookmarks.records == tuple(Bookmark(*each, owner=0) for each in texts)
    with qtbot.waitSignal(bookmarks.changed):
        bookmarks.set_text(1, "5!\n")
    bookmarks.remove(0)
    assert [note.text for note in bookmarks.records] == ["5!", "the tie"]


def test_notes_of_another_run_are_kept_and_distinguished(qtbot: QtBot, trained: TrainerModel) -> None:
    bookmarks = Bookmarks(trained)
    trained.seek(5)
    bookmarks.keep("five")
    trained.seek(30)
    bookmarks.keep("thirty")
    assert [note.step for note in bookmarks.of_run()] == [5, 30]
    replace(qtbot, trained, random_counts(5), 10)
    assert [note.step for note in bookmarks.of_run()] == [5]
    assert [bookmarks.is_of_run(note) for note in bookmarks.records] == [True, False]
    train(qtbot, trained, random_counts(6))
    assert bookmarks.of_run() == [
        note for note in bookmarks.records if note.token == trained.history[note.step - 1].token
    ]
    trained.run.number = 3  # they were made at another run, whatever this one has merged there
    assert bookmarks.of_run() == []
    assert len(bookmarks.records) == 2


def test_a_step_of_the_run_shown_is_compared(qtbot: QtBot, trained: TrainerModel) -> None:
    bookmarks = Bookmarks(trained)
    bookmarks.set_notes([Bookmark(5, "five", trained.history[4].token), Bookmark(9, "of another run", "#")])
    assert [bookmarks.is_compared(note) for note in bookmarks.records] == [False, None]
    trained.run.number = 3
    with qtbot.waitSignal(bookmarks.changed):
        bookmarks.set_compared(0, True)
    assert [note.run for note in bookmarks.records] == [3, None]
    bookmarks.set_text(0, "5!")
    assert bookmarks.records[0] == Bookmark(5, "5!", trained.history[4].token, 3)
    train(qtbot, trained, random_counts(6))  # which has another merge there: the box can still be cleared
    assert not bookmarks.is_of_run(bookmarks.records[0])
    assert bookmarks.is_compared(bookmarks.records[0])
    bookmarks.set_compared(0, False)
    assert [bookmarks.is_compared(note) for note in bookmarks.records] == [None, None]


def test_notes_of_a_run_that_is_gone_are_told_once(qtbot: QtBot, trained: TrainerModel) -> None:
    bookmarks = Bookmarks(trained)
    bookmarks.set_notes([Bookmark(3, "a", owner=1, run=1), Bookmark(5, "b", owner=0), Bookmark(9, "c", owner=1)])
    told = []
    bookmarks.changed.connect(lambda: told.append(0))
    bookmarks.disown(1)
    bookmarks.disown(7)
    assert [(note.owner, note.run) for note in bookmarks.records] == [(NOBODY, None), (0, None), (NOBODY, None)]
    assert len(told) == 1


# -- the selection


def test_the_step_of_the_selection(trained: TrainerModel) -> None:
    history, merges = trained.history, trained.merge_count
    for merge in history:
        first = next(each.step for each in history if (each.left, each.right) == (merge.left, merge.right))
        assert step_of_selection(Selection("pair", left=merge.left, right=merge.right), history, merges) == first
        if merge.is_new:
            assert step_of_selection(Selection("token", text=merge.token), history, merges) == merge.step
            assert step_of_selection(Selection("token", text=merge.token), history, merge.step - 1) is None
    letter = next(token for token in history.vocabulary(0).tokens if len(token) == 1)
    assert step_of_selection(Selection("token", text=letter), history, merges) == 0


def test_the_step_of_a_word(trained: TrainerModel) -> None:
    history = trained.history
    steps = {word: step_of_selection(Selection("word", text=word), history, 30) for word in history.input.words}
    whole = {word for word in steps if len(history.segmentation(word, 30)) == 1 < len(history.segmentation(word, 0))}
    assert {word for word, step in steps.items() if step is not None} == whole != set()
    for word in whole:
        assert len(history.segmentation(word, steps[word])) == 1 < len(history.segmentation(word, steps[word] - 1))


@pytest.mark.parametrize(
    "selection", [None, Selection("token", text="nowhere"), Selection("pair", left="x"), Selection("word")]
)
def test_what_never_came_to_be(trained: TrainerModel, selection: Selection | None) -> None:
    assert step_of_selection(selection, trained.history, trained.merge_count) is None
    assert step_of_selection(selection, None, 0) is None


def test_a_selection_is_found_when_its_step_comes(trained: TrainerModel) -> None:
    history = trained.history
    word = next(word for word in history.input.words if len(history.segmentation(word, 30)) == 1 < len(word))
    step = step_of_selection(Selection("word", text=word), history, 30)
    for selection, wanted in (
        (Selection("word", text=word), step),
        (Selection("token", text=history[14].token), 15),
        (Selection("pair", left=history[14].left, right=history[14].right), 15),
    ):
        found = [step_of_selection(selection, history, merges) for merges in (0, wanted - 1, wanted, 30, wanted - 1)]
        assert found == [None, None, wanted, wanted, None]
