"""Compared runs are aligned by the size of their vocabulary, with a tokenizer each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QUndoStack

from tests.session.test_runs import trained
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.runs import COLORS, AlignedRun, Comparison, Runs, step_of_size
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

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
    comparison = Comparison(model, runs)
    assert comparison.aligned() == []
    score, likelihood, count = (trained(qtbot, model, name) for name in ("score", "likelihood", "count"))
    for run in (score, likelihood):
        runs.set_compared(run, True)
    runs.show(score)
    model.seek(3)
    assert comparison.aligned() == [AlignedRun(likelihood, 3, False)]
    tokenizer = comparison.tokenizer(comparison.aligned()[0])
    assert tokenizer.encode("hugs pug puns").tokens == ["hug", "##s", "p", "##ug", "p", "##un", "##s"]
    assert comparison.tokenizer(comparison.aligned()[0]) is tokenizer
    model.last()
    assert comparison.aligned() == [AlignedRun(likelihood, len(likelihood.history), True)]
    runs.show(count)  # which is not compared itself
    assert [each.run for each in comparison.aligned()] == [score, likelihood]
    with qtbot.waitSignal(comparison.changed):
        runs.set_compared(score, False)
    assert [each.run for each in comparison.aligned()] == [likelihood]


def test_at_most_four_runs_are_drawn_and_the_one_shown_is_among_them(
    qtbot: QtBot, model: TrainerModel, runs: Runs
) -> None:
    comparison = Comparison(model, runs)
    found = [trained(qtbot, model, name) for name in ("score", "likelihood", "count", "score", "likelihood")]
    for run in found:
        runs.set_compared(run, True)
    runs.set_compared(found[4], False)
    runs.show(found[4])
    model.seek(2)
    assert comparison.lanes() == [
        *(AlignedRun(run, 2, False) for run in found[:3]), AlignedRun(found[4], 2, False)
    ]  # fmt: skip
    for run in found:
        runs.set_compared(run, False)
    assert comparison.lanes() == []


def test_a_step_of_another_run_belongs_to_one_of_the_run_shown(qtbot: QtBot, model: TrainerModel, runs: Runs) -> None:
    comparison = Comparison(model, runs)
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
