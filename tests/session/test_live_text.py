"""The live text against the tokenizer itself; the steps that change it, and how they grow with text and run."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.live_text import (
    ChangesFinder,
    LiveChanges,
    LiveText,
    TextChanges,
    TextSummary,
    TextTimeline,
    word_timeline,
)
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import bpe_tokenizer, train

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.training.config import EndOfWord

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


MANY_WORDS = " ".join("".join(random.Random(number).choices("abcdefgh", k=7)) for number in range(3000))


def trained(counts: WordCounts, config: TrainingConfig) -> Run:
    return Run(counts, config, train(counts, config, engine="plain").history)


@pytest.fixture(scope="module")
def run() -> Run:
    return trained(count_texts(COURSE), TrainingConfig(objective="score", vocab_size=70))


def tokenizer_at(run: Run, step: int) -> Tokenizer:
    return Tokenizer(run.history.vocabulary(step))


def offsets_of(watched: LiveText) -> list[tuple[int, int]]:
    return [
        (line.start + piece.start, line.start + piece.end)
        for line in watched
        for word in line.words
        for piece in word.pieces
    ]


def tokens_of(watched: LiveText) -> list[str]:
    return [piece.token for piece in watched.pieces()]


@given(st.text(alphabet="aT his\n\r\tx.é🤗가", max_size=60))
def test_lines_joined_are_the_text(run: Run, text: str) -> None:
    assert "".join(LiveText(text, tokenizer_at(run, 0)).texts) == text


@pytest.mark.parametrize("text", ["", "This is the\nHugging Face!\n\n🤗 chapter", "the " * 700, "[CLS] This"])
def test_it_says_what_the_tokenizer_says(run: Run, text: str) -> None:
    tokenizer = tokenizer_at(run, 12)
    watched = LiveText(text, tokenizer)
    encoding = tokenizer.encode(text)
    assert tokens_of(watched) == encoding.tokens
    assert [piece.id for line in watched for word in line.words for piece in word.pieces] == encoding.ids
    assert offsets_of(watched) == encoding.offsets


def test_nothing_is_tokenized_that_is_not_asked_for(run: Run) -> None:
    tokenizer, asked = tokenizer_at(run, 12), []
    tokenize = tokenizer.tokenize_words
    tokenizer.tokenize_words = lambda line: asked.append(line) or tokenize(line)  # type: ignore[method-assign]
    watched = LiveText("This is\nthe Course\n" * 500, tokenizer)
    assert len(watched) == 1000
    assert watched[700].words[0].word.text == "This"
    assert asked == ["This is\n"]


def test_typing_keeps_the_words_of_other_lines(run: Run) -> None:
    watched = LiveText("This is\nthe Course", tokenizer_at(run, 12))
    before = [line.words for line in watched]
    watched = watched.updated("That is\nthe Course", watched.tokenizer)
    assert watched[1].words is before[1]
    assert watched[0].words is not before[0]


def test_another_tokenizer_makes_other_words(run: Run) -> None:
    watched = LiveText("This chapter")
    for step in (0, 12, 25, 3):
        watched = watched.updated(watched.text, tokenizer_at(run, step))
        assert tokens_of(watched) == tokenizer_at(run, step).encode("This chapter").tokens


@given(
    st.lists(st.integers(0, 25), min_size=2, max_size=6),
    st.lists(st.sampled_from(["This", "chapter", "[CLS]", "tokens", "🤗", "[UNK]ing", " ", "\n"]), max_size=12),
)
def test_at_every_step_the_words_are_those_of_its_tokenizer(run: Run, steps: list[int], parts: list[str]) -> None:
    live = LiveText("".join(parts))
    for step in steps:
        tokenizer = tokenizer_at(run, step)
        live = live.updated(live.text, tokenizer)
        found = [line.words for line in live]
        assert found == [tuple(tokenizer.tokenize_words(text)) for text in live.texts]


def test_a_line_that_a_step_does_not_change_stays_the_same_object(run: Run) -> None:
    live = LiveText("This course\nchapter")
    changed = set()
    for step in range(1, 26):
        live = live.updated(live.text, tokenizer_at(run, step - 1))
        before = [line.words for line in live]
        live = live.updated(live.text, tokenizer_at(run, step))
        now = [line.words for line in live]
        for old_line, new_line in zip(before, now, strict=True):
            is_same = old_line == new_line
            assert (new_line is old_line) == is_same
            assert all((new is old) == (new == old) for old, new in zip(old_line, new_line, strict=True))
            changed.add(is_same)
    assert changed == {True, False}


def test_words_are_found_anew_for_another_pipeline_or_alphabet(run: Run) -> None:
    other = train(count_texts(["tHis"], normalizer="lowercase"), TrainingConfig(), engine="plain").history
    live = LiveText("This is")
    for tokenizer in (
        tokenizer_at(run, 9), Tokenizer(other.vocabulary(0), "lowercase", "bert"), tokenizer_at(run, 9),
        Tokenizer(other.vocabulary(0)),
    ):  # fmt: skip
        live = live.updated(live.text, tokenizer)
        assert [list(line.words) for line in live] == [tokenizer.tokenize_words("This is")]


# The steps that change it.


def expected_rows(run: Run, text: str, merges: int | None = None) -> list[tuple[int, str, int, int]]:
    """Tokenize at every step."""
    tokens = [run.tokenizer_at(step).encode(text).tokens for step in range((merges or len(run.history)) + 1)]
    return [
        (step, run.history[step - 1].token, len(tokens[step]), len(tokens[step]) - len(tokens[step - 1]))
        for step in range(1, len(tokens))
        if tokens[step] != tokens[step - 1]
    ]


def found_rows(timeline: TextTimeline) -> list[tuple[int, str, int, int]]:
    return [(row.step, row.token, row.tokens, row.change) for row in timeline.rows]


def timeline_of(run: Run, text: str, merges: int | None = None) -> TextTimeline:
    timeline = TextTimeline(run)
    assert timeline.update(text.splitlines(keepends=True), len(run.history) if merges is None else merges)
    return timeline


@pytest.mark.parametrize(
    "text",
    [
        "This is the Hugging Face course!", "Hopefully tokenization tokenization", "x", "", "[CLS] This\nThis [SEP]",
        "a" * 101,
    ],
)  # fmt: skip
def test_the_steps_are_what_tokenizing_at_every_step_finds(run: Run, text: str) -> None:
    timeline = timeline_of(run, text)
    assert found_rows(timeline) == expected_rows(run, text)
    words = tokenizer_at(run, 0).tokenize_words(text)
    tokens = sum(len(word.pieces) for word in words)
    assert timeline.rows.start == TextSummary(len(words), tokens, sum(word.unknown is not None for word in words))


@pytest.mark.parametrize("settings", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": ""}])
def test_other_marks_at_the_ends_of_words(settings: dict[str, str]) -> None:
    run = trained(count_texts(COURSE), TrainingConfig(vocab_size=80, **settings))
    text = "This chapter shows tokens"
    assert found_rows(timeline_of(run, text)) == expected_rows(run, text)
    grown = timeline_of(run, text, merges=0)
    assert found_rows(grown) == []
    assert grown.update([text], len(run.history))
    assert not grown.update([text], len(run.history))
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
    run = trained(counted, config)
    history = run.history
    text, steps = " ".join([*texts, *counts]), range(len(history) + 1)
    tokenizers = [run.tokenizer_at(step) for step in steps]
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
    timeline = TextTimeline(run)
    for merges in (0, len(history) // 2, len(history)):
        timeline.update([text], merges)
        lengths = [len(encoding) for encoding in found[: merges + 1]]
        changes = [(step, lengths[step], lengths[step] - lengths[step - 1]) for step in steps[1 : merges + 1]]
        rows = [(step, tokens, change) for step, _, tokens, change in found_rows(timeline)]
        assert rows == [change for change in changes if change[2]]
        assert timeline.rows.start.tokens == lengths[0]
        is_unknown = [any(isinstance(piece.token, UnknownToken) for piece in word.pieces) for word in text_words]
        assert timeline.rows.start.unknown == sum(is_unknown)


@pytest.mark.parametrize("words", ["##a ##a ##b", "# ## ### ####", "##", "a## ##a# ###a", "#a#a ##a#"])
def test_words_that_hold_the_prefix_itself(words: str) -> None:
    run = trained(count_texts([words], pre_tokenizer="whitespace-split"), TrainingConfig(vocab_size=60))
    text = "##a # ## ### ##a# a## b##"
    grown = timeline_of(run, text, merges=0)
    for merges in range(1, len(run.history) + 1):  # one token at a time, with the words known already
        grown.update([text], merges)
        assert found_rows(grown) == expected_rows(run, text, merges)


def test_growing_and_typing_in_any_order_end_the_same(run: Run) -> None:
    chance = random.Random(5)
    timeline = timeline_of(run, "", merges=0)
    words = " ".join(COURSE).split()
    for merges in range(0, len(run.history) + 1, 3):
        text = "\n".join(chance.choices(words, k=12))
        timeline.update(text.splitlines(keepends=True), merges)
        assert found_rows(timeline) == (expected_rows(run, text, merges) if merges else [])
    timeline.update(text.splitlines(keepends=True), len(run.history))
    assert found_rows(timeline) == expected_rows(run, text)


def test_only_the_words_that_spell_a_new_token_are_looked_at_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = timeline_of(run, "chapter shows the Face", merges=12)
    looked: list[str] = []

    def noting(word: str, *rest: object) -> object:
        looked.append(word)
        return word_timeline(word, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("wordpiece_studio.session.live_text.word_timeline", noting)
    assert run.history[12].token == "chap"
    timeline.update(["chapter shows the Face"], 13)
    assert looked == ["chapter"]


def test_the_nearest_steps_and_the_text_at_a_step() -> None:
    changes = LiveChanges()
    changes.set_rows(TextChanges((), np.array([3, 9]), np.array([-1, -2]), TextSummary(7, 27, 1)))
    assert [changes.next_after(step) for step in (0, 3, 9)] == [3, 9, None]
    assert [changes.previous_before(step) for step in (3, 9, 20)] == [None, 3, 9]
    assert [changes.summary_at(step).tokens for step in (0, 2, 3, 8, 9, 30)] == [27, 27, 26, 26, 24, 24]
    assert changes.steps.dtype == np.int64


@pytest.fixture
def model(qtbot: QtBot) -> Iterator[TrainerModel]:
    model = TrainerModel()
    yield model
    model.close()


def test_the_finder_follows_text_and_training(qtbot: QtBot, model: TrainerModel, run: Run) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes)
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


def test_what_is_known_first_of_an_opened_run_has_its_steps(model: TrainerModel, run: Run) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes)
    known: list[tuple[bool, int]] = []
    changes.changed.connect(lambda: known.append((changes.is_known, len(changes.rows))))
    model.open_run(run)
    finder.set_lines(["This is the Hugging Face Course."])
    assert known == [(True, len(expected_rows(run, "This is the Hugging Face Course.")))]


def test_the_finder_takes_a_long_text(qtbot: QtBot, model: TrainerModel) -> None:
    changes = LiveChanges()
    finder = ChangesFinder(model, changes)
    model.start(count_texts(COURSE), TrainingConfig(vocab_size=70))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    finder.set_lines([MANY_WORDS])
    assert changes.is_known
    assert changes.summary_at(0).words == 3000
    assert changes.summary_at(0).unknown > 3
    assert changes.rows.unknown_word in MANY_WORDS.split()
    tokenizer = model.tokenizer_at(0)
    assert isinstance(tokenizer, Tokenizer)
    assert changes.summary_at(0).tokens == len(tokenizer.encode(MANY_WORDS))
