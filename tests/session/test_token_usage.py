"""The figures of the current step: when they are counted, cached and dropped, and that they are right."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject

from tests.session.conftest import random_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.evaluation.usage import count_usage
from wordpiece_studio.session import token_usage
from wordpiece_studio.session.token_usage import TokenUsage, TokenWords, WordGrowth, growth_of_word, words_of_token
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.trainer_model import TrainerModel


def train(qtbot: QtBot, model: TrainerModel, counts: WordCounts | None = None, merges: int = 40) -> None:
    model.start(counts or random_counts(3), TrainingConfig(max_merges=merges))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=20_000)
    model.last()


@pytest.fixture
def usage(qtbot: QtBot, model: TrainerModel) -> Iterator[TokenUsage]:
    train(qtbot, model)
    usage = TokenUsage(model)
    yield usage
    usage.task.close()


@pytest.fixture
def widget() -> QObject:
    return QObject()


def expected(model: TrainerModel) -> list[int]:
    tokenizer = model.tokenizer_at(model.step)
    assert tokenizer is not None
    assert model.counts is not None
    found = count_usage(tokenizer, model.counts)
    return found.frequencies.tolist()


def test_nothing_is_counted_unless_someone_looks(qtbot: QtBot, model: TrainerModel, usage: TokenUsage) -> None:
    model.seek(3)
    qtbot.wait(30)
    assert (usage.step, usage.is_counting, usage.is_current) == (None, False, False)
    assert len(usage.frequencies) == len(usage.word_counts) == len(usage.dead) == 0
    assert usage.reason(0) is None


def test_the_figures_follow_the_step(qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject) -> None:
    usage.set_wanted(widget, True)
    assert usage.is_counting
    for step in (40, 7, 0, 25):
        model.seek(step)
        assert not usage.is_current
        qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
        assert usage.step == step
        assert usage.frequencies.tolist() == expected(model)
        assert len(usage.dead) == model.history.vocabulary_size(step)
        assert usage.in_use.tolist() == [len(model.history.tokens_in_use(each)) for each in range(len(usage.in_use))]
        assert len(usage.in_use) == model.merge_count + 1
        assert not usage.is_counting
    assert usage.dead.any()
    for token_id in usage.dead.nonzero()[0].tolist():
        assert usage.reason(token_id) is not None
    assert usage.reason(0) is None
    assert usage.reason(10**6) is None


def test_steps_shown_before_are_known_at_once(
    qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject
) -> None:
    usage.set_wanted(widget, True)
    qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
    model.seek(10)
    qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
    model.last()
    assert usage.is_current
    assert usage.frequencies.tolist() == expected(model)


def test_a_late_answer_is_dropped(
    qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, may_go_on = token_usage.count_usage, threading.Event()
    steps: list[int] = []

    def slow(*arguments: object) -> object:
        may_go_on.wait(5)
        return counted(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(token_usage, "count_usage", slow)
    usage.changed.connect(lambda: steps.append(usage.step))
    usage.set_wanted(widget, True)
    model.seek(5)
    qtbot.wait(20)
    model.seek(6)
    qtbot.wait(20)
    may_go_on.set()
    qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
    assert (usage.step, 5 in steps) == (6, False)


def test_it_waits_until_the_step_rests(
    qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_usage, "_FEW_WORDS", 1)
    usage.set_wanted(widget, True)
    for step in range(30, 38):
        model.seek(step)
        qtbot.wait(15)
    qtbot.waitUntil(lambda: usage.step == 37, timeout=5000)
    assert list(usage.kept) == [37]


def test_no_one_looks_anymore(qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject) -> None:
    usage.set_wanted(widget, True)
    usage.set_wanted(widget, False)
    qtbot.wait(30)
    assert (usage.step, usage.is_counting) == (None, False)


def test_another_run_has_other_figures(qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject) -> None:
    usage.set_wanted(widget, True)
    qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
    train(qtbot, model, WordCounts.from_pairs([("hug", 10), ("hugs", 5)]), merges=2)
    qtbot.waitUntil(lambda: usage.is_current, timeout=5000)
    assert usage.frequencies.tolist() == expected(model)
    model.forget()
    assert (usage.step, len(usage.frequencies)) == (None, 0)


def test_words_of_a_token(qtbot: QtBot, model: TrainerModel) -> None:
    train(qtbot, model, WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]), 3)
    vocabulary = model.vocabulary_at(3)
    assert vocabulary is not None
    token_id = vocabulary.id_of("##u")
    assert token_id is not None
    words = (("pun", 12), ("hug", 10), ("pug", 5), ("hugs", 5), ("bun", 4))
    assert words_of_token(model.history, token_id, 0) == TokenWords(words, 5, None)


def test_how_a_word_grew(qtbot: QtBot, model: TrainerModel) -> None:
    train(qtbot, model, WordCounts.from_pairs([("hug", 10), ("pug", 5), ("hugs", 5), ("x", 1)]))
    history = model.history
    growth = growth_of_word(history, "hugs", len(history))
    tokens = [history.segmentation("hugs", step) for step in range(len(history) + 1)]
    assert growth.steps == tuple(step for step in range(1, len(tokens)) if tokens[step] != tokens[step - 1])
    assert (growth.count, growth.is_whole) == (5, len(tokens[-1]) == 1)
    early = growth_of_word(history, "hugs", 1)
    assert early.steps == tuple(step for step in growth.steps if step <= 1)
    assert not early.is_whole
    assert growth_of_word(history, "x", 1) == WordGrowth(3, 1, (), True)
    assert growth_of_word(history, "not there", 1) == WordGrowth()


def test_closing_waits_and_ends_it(qtbot: QtBot, model: TrainerModel, usage: TokenUsage, widget: QObject) -> None:
    usage.set_wanted(widget, True)
    qtbot.wait(5)
    usage.task.close()
    usage.set_wanted(widget, True)
    model.seek(1)
    qtbot.wait(20)
    assert usage.step != 1
