"""The steps that change the live text, against tokenizing it at every step; and how they grow with text and run."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.session.test_live_text import COURSE, tokenizer_at
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session import run as runs
from wordpiece_studio.session.live_changes import ChangesFinder, ComparedChanges, LiveChanges
from wordpiece_studio.session.live_text import TextChange, TextSummary, TextTimeline, word_timeline
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun, bpe_tokenizer, train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.training.config import EndOfWord

MANY_WORDS = " ".join("".join(random.Random(number).choices("abcdefgh", k=7)) for number in range(3000))


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return train(count_texts(COURSE), TrainingConfig(objective="score", vocab_size=70), engine="plain")


def expected_rows(run: TrainingRun, text: str, merges: int | None = None) -> list[tuple[int, str, int, int]]:
    """Tokenize at every step."""
    tokens = [tokenizer_at(run, step).encode(text).tokens for step in range((merges or len(run.history)) + 1)]
    return [
        (step, run.history[step - 1].token, len(tokens[step]), len(tokens[step]) - len(tokens[step - 1]))
        for step in range(1, len(tokens))
        if tokens[step] != tokens[step - 1]
    ]


def found_rows(timeline: TextTimeline) -> list[tuple[int, str, int, int]]:
    assert timeline.advance(10)
    return [(row.step, row.token, row.tokens, row.change) for row in timeline.rows()]


def timeline_of(run: TrainingRun, text: str, merges: int | None = None) -> TextTimeline:
    timeline = TextTimeline(run.history, len(run.history) if merges is None else merges, tokenizer_at(run, 0))
    timeline.set_lines(text.splitlines(keepends=True))
    return timeline


@pytest.mark.parametrize(
    "text",
    [
        "This is the Hugging Face course!", "Hopefully tokenization tokenization", "x", "", "[CLS] This\nThis [SEP]",
        "a" * 101,
    ],
)  # fmt: skip
def test_the_steps_are_what_tokenizing_at_every_step_finds(run: TrainingRun, text: str) -> None:
    timeline = timeline_of(run, text)
    assert found_rows(timeline) == expected_rows(run, text)
    words = tokenizer_at(run, 0).tokenize_words(text)
    tokens = sum(len(word.pieces) for word in words)
    assert timeline.start == TextSummary(len(words), tokens, sum(word.unknown is not None for word in words))


@pytest.mark.parametrize("settings", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": ""}])
def test_other_marks_at_the_ends_of_words(settings: dict[str, str]) -> None:
    run = train(count_texts(COURSE), TrainingConfig(vocab_size=80, **settings), engine="plain")
    text = "This chapter shows tokens"
    assert found_rows(timeline_of(run, text)) == expected_rows(run, text)
    grown = timeline_of(run, text, merges=0)
    assert found_rows(grown) == []
    grown.grow(len(run.history))
    assert found_rows(grown) == expected_rows(run, text)


words = st.text("abc", min_size=1, max_size=8)


@pytest.mark.parametrize("end_of_word", ["symbol", "attached"])
@given(
    counts=st.dictionaries(words, st.integers(1, 4), min_size=1, max_size=6),
    texts=st.lists(words | st.just("dab")),
    special_tokens=st.sampled_from([(), ("[UNK]",)]),
)
@example(counts={"bb": 1}, texts=["bab"], special_tokens=())  # the letters of a new token are not side by side
def test_byte_pair_encoding_is_followed_by_its_merges(
    end_of_word: EndOfWord, counts: dict[str, int], texts: list[str], special_tokens: tuple[str, ...]
) -> None:
    config = TrainingConfig(
        objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>", end_of_word=end_of_word,
        special_tokens=special_tokens,
    )  # fmt: skip
    counted = WordCounts.from_pairs(counts, "none", "whitespace-split")
    history = train(counted, config, engine="plain").history
    text, steps = " ".join([*texts, *counts]), range(len(history) + 1)
    tokenizers = [runs.tokenizer_at(history, counted, step) for step in steps]
    found = [tokenizer.encode(text) for tokenizer in tokenizers]
    for step, encoding in enumerate(found):
        expected = bpe_tokenizer(history, counted, step).encode(text)
        if special_tokens:
            assert encoding == expected
        else:  # what is not known is left out, except for the window if nothing of a word is known
            assert [number for number in encoding.ids if number != NO_ID] == expected.ids
    text_words = tuple(tokenizers[0].tokenize_words(text))
    for earlier, tokenizer in pairwise(tokenizers):
        text_words = tokenizer.retokenized(text_words, earlier)
        assert list(text_words) == tokenizer.tokenize_words(text)
    timeline = TextTimeline(history, 0, tokenizers[0])
    timeline.set_lines([text])
    for merges in (len(history) // 2, len(history)):
        timeline.grow(merges)
        lengths = [len(encoding) for encoding in found[: merges + 1]]
        changes = [(step, lengths[step], lengths[step] - lengths[step - 1]) for step in steps[1 : merges + 1]]
        rows = [(step, tokens, change) for step, _, tokens, change in found_rows(timeline)]
        assert rows == [change for change in changes if change[2]]
        assert timeline.start.tokens == lengths[0]


@pytest.mark.parametrize("words", ["##a ##a ##b", "# ## ### ####", "##", "a## ##a# ###a", "#a#a ##a#"])
def test_words_that_hold_the_prefix_itself(words: str) -> None:
    run = train(count_texts([words], pre_tokenizer="whitespace-split"), TrainingConfig(vocab_size=60), engine="plain")
    text = "##a # ## ### ##a# a## b##"
    grown = timeline_of(run, text, merges=0)
    assert grown.advance(10)
    for merges in range(1, len(run.history) + 1):  # one token at a time, with the words known already
        grown.grow(merges)
        assert found_rows(grown) == expected_rows(run, text, merges)


def test_growing_and_typing_in_any_order_end_the_same(run: TrainingRun) -> None:
    chance = random.Random(5)
    timeline = timeline_of(run, "", merges=0)
    words = " ".join(COURSE).split()
    for merges in range(0, len(run.history) + 1, 3):
        text = "\n".join(chance.choices(words, k=12))
        if merges:
            timeline.grow(merges)
        timeline.set_lines(text.splitlines(keepends=True))
        if chance.random() < 0.5:
            timeline.advance(0)  # a part of it only
        else:
            assert found_rows(timeline) == expected_rows(run, text, merges or 0) if merges else True
    timeline.grow(len(run.history))
    assert found_rows(timeline) == expected_rows(run, text)


def test_only_the_words_that_spell_a_new_token_are_looked_at_again(
    run: TrainingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = timeline_of(run, "chapter shows the Face", merges=12)
    timeline.advance(10)
    looked: list[str] = []

    def noting(word: str, *rest: object) -> object:
        looked.append(word)
        return word_timeline(word, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("wordpiece_studio.session.live_text.word_timeline", noting)
    assert run.history[12].token == "chap"
    timeline.grow(13)
    timeline.advance(10)
    assert looked == ["chapter"]


def test_a_slice_takes_about_the_time_it_is_given(run: TrainingRun) -> None:
    timeline = timeline_of(run, MANY_WORDS)
    slices = []
    is_done = False
    while not is_done:
        start = time.thread_time()
        is_done = timeline.advance(0.002)
        slices.append(time.thread_time() - start)
    assert len(slices) > 5
    assert sorted(slices)[len(slices) // 2] < 0.008


def test_the_nearest_steps_and_the_text_at_a_step() -> None:
    changes = LiveChanges()
    rows = [TextChange(3, "Fa", 26), TextChange(9, "Th", 24)]
    changes.set_rows(rows, start=TextSummary(7, 27, 1))
    assert [changes.next_after(step) for step in (0, 3, 9)] == [3, 9, None]
    assert [changes.previous_before(step) for step in (3, 9, 20)] == [None, 3, 9]
    assert [changes.summary_at(step).tokens for step in (0, 2, 3, 8, 9, 30)] == [27, 27, 26, 26, 24, 24]
    assert changes.steps.dtype == np.int64


@pytest.fixture
def model(qtbot: QtBot) -> Iterator[TrainerModel]:
    model = TrainerModel()
    yield model
    model.close()


def test_the_finder_follows_text_and_training(qtbot: QtBot, model: TrainerModel, run: TrainingRun) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes, ComparedChanges())
    finder.set_lines(["This is the Hugging Face Course."])
    assert not changes.is_known
    expected = [row[0] for row in expected_rows(run, "This is the Hugging Face Course.")]
    model.start(count_texts(COURSE), run.config)
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED and changes.steps.tolist() == expected)
    assert changes.is_known
    finder.set_lines(["chapter"])  # short: known at once
    assert [row.token for row in changes.rows] == [row[1] for row in expected_rows(run, "chapter")]
    assert changes.is_known
    model.forget()
    assert not changes.is_known
    assert not changes.rows


def test_what_is_found_again_to_be_so_is_known_again(
    qtbot: QtBot, model: TrainerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes, ComparedChanges())
    model.start(count_texts(COURSE), TrainingConfig(vocab_size=70))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED and changes.is_known)
    monkeypatch.setattr("wordpiece_studio.session.live_changes._FIRST_SLICE", 0.0)
    finder.set_lines([" \n"] * 40)
    finder.set_lines([" "])
    qtbot.waitUntil(lambda: changes.is_known)
    finder.set_lines([" \n" * number for number in range(2, 40)])  # takes a moment, and has no words either
    assert not changes.is_known
    qtbot.waitUntil(lambda: changes.is_known, timeout=1000)


def test_the_finder_takes_a_long_text_in_turns(qtbot: QtBot, model: TrainerModel) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes, ComparedChanges())
    model.start(count_texts(COURSE), TrainingConfig(vocab_size=70))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    finder.set_lines([MANY_WORDS])
    assert not changes.is_known
    qtbot.waitUntil(lambda: changes.is_known)
    assert changes.summary_at(0).words == 3000
    assert len(finder.unknown_words) == 3
    tokenizer = model.tokenizer_at(0)
    assert isinstance(tokenizer, Tokenizer)
    assert changes.summary_at(0).tokens == len(tokenizer.encode(MANY_WORDS))
