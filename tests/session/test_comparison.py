"""Compared runs are aligned by the size of their vocabulary, bookmarked steps are not; each has a tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QUndoStack

from tests.session.test_runs import previewed, trained
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.runs import COLORS, ComparedStep, Comparison, Runs, step_of_size, word_differences
from wordpiece_studio.session.step_marks import Bookmarks
from wordpiece_studio.storage.view import Bookmark
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.runs import DifferentWords
    from wordpiece_studio.session.trainer_model import TrainerModel


@pytest.fixture
def runs(model: TrainerModel) -> Iterator[Runs]:
    stack = QUndoStack()
    yield Runs(model, stack)
    stack.clear()


def test_the_step_is_the_last_one_no_larger(hugs: WordCounts) -> None:
    history = train(hugs, TrainingConfig(), engine="plain").history
    first, last = history.vocabulary_size(0), len(history)
    assert step_of_size(history, first - 1) == (0, False)
    for size in range(first, history.vocabulary_size(last) + 1):
        step, is_at_end = step_of_size(history, size)
        assert history.vocabulary_size(step) <= size
        assert step == last or history.vocabulary_size(step + 1) > size
        assert not is_at_end
    assert step_of_size(history, history.vocabulary_size(last) + 1) == (last, True)


def test_a_merge_that_makes_no_new_token_does_not_count() -> None:
    history = train(WordCounts.from_pairs([("aaaa", 5), ("aa", 3)]), TrainingConfig(), engine="plain").history
    sizes = history.vocabulary_sizes().tolist()
    for size in set(sizes):
        step, _ = step_of_size(history, size)
        assert sizes[step - 1] == size
        assert size not in sizes[step:]


def test_the_others_follow_the_run_that_is_shown(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    comparison = Comparison(model, runs, Bookmarks(model))
    assert comparison.aligned() == []
    score, likelihood, count = (trained(qtbot, model, name) for name in ("score", "likelihood", "count"))
    runs.show(score)
    runs.set_compared(likelihood, True)
    assert runs.compared == (score, likelihood)  # the current run always takes part
    model.seek(3)
    assert comparison.aligned() == [ComparedStep(likelihood, 3)]
    tokenizer = comparison.aligned()[0].tokenizer
    assert tokenizer.encode("hugs pug puns").tokens == ["hug", "##s", "p", "##ug", "p", "##un", "##s"]
    assert comparison.aligned()[0].tokenizer is tokenizer
    model.last()
    assert comparison.aligned() == [ComparedStep(likelihood, len(likelihood.history), True)]
    runs.show(likelihood)
    assert model.tokenizer_at(3) is tokenizer  # its words need not be matched again
    runs.show(count)  # which is not compared itself
    assert [each.run for each in comparison.aligned()] == [score, likelihood]
    with qtbot.waitSignal(comparison.changed):
        runs.set_compared(score, False)
    assert [each.run for each in comparison.aligned()] == [likelihood]


def test_at_most_four_runs_are_drawn_and_the_one_shown_is_among_them(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    comparison = Comparison(model, runs, Bookmarks(model))
    found = [trained(qtbot, model, name) for name in ("score", "likelihood", "count", "score", "likelihood")]
    for run in found:
        runs.set_compared(run, True)
    runs.set_compared(found[4], False)
    runs.show(found[4])
    model.seek(2)
    assert comparison.lanes() == [
        *(ComparedStep(run, 2) for run in found[:3]), ComparedStep(found[4], 2)
    ]  # fmt: skip
    for run in found:
        runs.set_compared(run, False)
    assert comparison.lanes() == []


def test_a_step_of_another_run_belongs_to_one_of_the_run_shown(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    comparison = Comparison(model, runs, Bookmarks(model))
    short = trained(qtbot, model, "likelihood")
    long = trained(qtbot, model, "score")
    assert comparison.shown_step(long, 9) == 9
    assert [comparison.shown_step(short, step) for step in (0, 3, 7)] == [0, 3, 7]
    runs.show(short)
    assert comparison.shown_step(long, 9) == 7  # its last


def test_compared_runs_differ_in_color(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    first, second, third = (trained(qtbot, model, name) for name in ("score", "likelihood", "count"))
    for run in (second, third):
        runs.recolor(run, first.color)
    for run in (first, second, third):
        runs.set_compared(run, True)
        assert run.is_kept
    colors = [run.color for run in runs.compared]
    assert colors[0] == 0
    assert len(set(colors)) == 3
    assert all(0 <= color < COLORS for color in colors)


def test_a_bookmarked_step_is_compared_where_it_is(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    bookmarks = Bookmarks(model)
    comparison = Comparison(model, runs, bookmarks)
    score, likelihood = (trained(qtbot, model, name) for name in ("score", "likelihood"))
    early = bookmarks.keep("early", 2)
    assert comparison.beside() == comparison.lanes() == []
    with qtbot.waitSignal(comparison.changed):
        bookmarks.set_compared(early, True)
    fixed = ComparedStep(likelihood, 2, bookmark=bookmarks.records[0])
    assert fixed.label == "B@2"
    for step in (0, 2, 5):  # never aligned, also beside its own run
        model.seek(step)
        assert comparison.aligned() == []
        assert comparison.beside() == [fixed]
        assert comparison.lanes() == [ComparedStep(likelihood, step), fixed]
    tokenizer = fixed.tokenizer
    assert list(tokenizer.vocabulary.tokens) == list(likelihood.history.vocabulary(2).tokens)
    runs.set_compared(likelihood, True)
    runs.show(score)
    model.seek(5)
    assert comparison.beside() == [ComparedStep(likelihood, 5), fixed]
    assert comparison.lanes() == [ComparedStep(score, 5), ComparedStep(likelihood, 5), fixed]
    assert comparison.aligned()[0].tokenizer is not tokenizer
    assert fixed.tokenizer is tokenizer
    runs.close(likelihood)
    assert comparison.beside() == []
    runs.undo_stack.undo()  # which shows it, beside the run that it was compared with
    assert [(each.run, each.bookmark) for each in comparison.beside()] == [(score, None), (likelihood, fixed.bookmark)]
    bookmarks.remove(early)
    assert comparison.bookmarked() == []


def test_a_preview_whose_step_is_compared_is_kept(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    bookmarks = Bookmarks(model)
    comparison = Comparison(model, runs, bookmarks)
    trained(qtbot, model, "score")
    preview = previewed(qtbot, model, "count")
    bookmarks.set_compared(bookmarks.keep("here", 3), True)
    assert (preview.is_kept, preview.is_compared) == (True, False)
    previewed(qtbot, model, "likelihood")
    assert [(each.run, each.step) for each in comparison.beside()] == [(preview, 3)]


def test_a_step_that_the_run_of_its_number_does_not_have_is_not_compared(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    bookmarks = Bookmarks(model)
    comparison = Comparison(model, runs, bookmarks)
    run = trained(qtbot, model, "score")
    token = run.history[2].token
    bookmarks.set_notes([Bookmark(3, "its own", token, 0), Bookmark(3, "other", "#", 0), Bookmark(999, "late", "#", 0)])
    assert [each.bookmark.text for each in comparison.beside()] == ["its own"]
    bookmarks.set_notes([Bookmark(3, "of no run", token, 7)])
    assert comparison.beside() == []


def test_words_apart_come_in_parts_and_the_most_frequent_first(
    qtbot: QtBot, model: TrainerModel, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wordpiece_studio.session.runs._PART_SECONDS", 0.0)
    monkeypatch.setattr("wordpiece_studio.evaluation.differences._AT_ONCE", 2)
    steps = [ComparedStep(trained(qtbot, model, name), 3) for name in ("score", "likelihood", "count")]
    counts = steps[0].run.counts
    ends = []

    def parts() -> Iterator[DifferentWords]:
        ends.append((yield from word_differences(counts, None, *steps, should_stop=lambda: False)))

    found = list(parts())
    (whole,) = ends
    assert [each.compared for each in found] == [2, 4, 5]
    assert [each.rows == whole.rows[: len(each.rows)] for each in found] == [True] * 3
    assert (whole.compared, whole.distinct_words, whole.total) == (5, 5, counts.total)
    order = sorted(counts.items(), key=lambda item: -item[1])
    splits = [[tuple(each.run.tokenizer_at(3).encode(word).tokens) for each in steps] for word, _ in order]
    expected = [(*item, split) for item, split in zip(order, splits, strict=True) if len(set(split)) > 1]
    assert whole.rows == expected != []
