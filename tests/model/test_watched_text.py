"""The watched text and its film strip against the tokenizer at every step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.core.corpus.counting.counting import count_texts
from wordpiece_studio.core.encoder import Tokenizer
from wordpiece_studio.core.text.normalizers import Unchanged
from wordpiece_studio.core.training.config import TrainingConfig
from wordpiece_studio.core.training.trainer import TrainingRun, train
from wordpiece_studio.model.film_strip import StripRow, film_strip
from wordpiece_studio.model.watched_text import TextSummary, WatchedText, split_lines

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return train(count_texts(COURSE), TrainingConfig(vocab_size=70), engine="plain")


def tokenizer_at(run: TrainingRun, step: int) -> Tokenizer:
    return Tokenizer(run.history.vocabulary(step))


def tokens_of(watched: WatchedText) -> list[str]:
    return [piece.token for line in watched.lines for word in line.words for piece in word.pieces]


def offsets_of(watched: WatchedText) -> list[tuple[int, int]]:
    return [
        (line.start + piece.start, line.start + piece.end)
        for line in watched.lines
        for word in line.words
        for piece in word.pieces
    ]


@given(st.text(alphabet="aT his\n\tx.é🤗가", max_size=60))
def test_lines_joined_are_the_text(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(st.text(alphabet="ab \t", min_size=0, max_size=6000))
def test_long_lines_are_split_at_blanks(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert [word for line in lines for word in line.split()] == text.split()


def test_a_very_long_line_is_split() -> None:
    assert max(map(len, split_lines("word " * 20_000))) < 1100


@pytest.mark.parametrize("text", ["", "This is the\nHugging Face!\n\n🤗 chapter", "the " * 700, "[CLS] This"])
def test_it_says_what_the_tokenizer_says(run: TrainingRun, text: str) -> None:
    tokenizer = tokenizer_at(run, 12)
    watched = WatchedText(text)
    watched.set_tokenizer(tokenizer)
    encoding = tokenizer.encode(text)
    assert tokens_of(watched) == encoding.tokens
    assert offsets_of(watched) == encoding.offsets
    assert watched.summary.tokens == len(encoding)


def test_typing_keeps_the_words_of_other_lines(run: TrainingRun) -> None:
    watched = WatchedText("This is\nthe Course")
    watched.set_tokenizer(tokenizer_at(run, 12))
    before = watched.lines
    watched.set_text("That is\nthe Course")
    assert watched.lines[1].words is before[1].words
    assert watched.lines[0].words is not before[0].words


def test_another_tokenizer_keeps_lines_that_spell_no_changed_token(run: TrainingRun) -> None:
    watched = WatchedText("shows\nchapter")
    watched.set_tokenizer(tokenizer_at(run, 12))
    before = watched.lines
    watched.set_tokenizer(tokenizer_at(run, 13), ["chap"])
    assert run.history[12].token == "chap"
    assert watched.lines[0].words is before[0].words
    assert tokens_of(watched) == tokenizer_at(run, 13).encode("shows\nchapter").tokens


def test_the_summary(run: TrainingRun) -> None:
    watched = WatchedText("the the !")
    assert watched.summary == TextSummary(0, 0, 0)
    watched.set_tokenizer(tokenizer_at(run, 0))
    assert watched.summary == TextSummary(3, 7, 1)
    assert watched.summary.fertility == pytest.approx(7 / 3)
    assert watched.word_counts() == {"the": 2, "!": 1}
    assert [word.word.text for word in watched.unknown_words(5)] == ["!"]


@pytest.mark.parametrize("text", ["This is the Hugging Face course!", "Hopefully tokenization tokenization", "x"])
def test_the_film_strip_is_what_tokenizing_at_every_step_finds(run: TrainingRun, text: str) -> None:
    watched = WatchedText(text)
    watched.set_tokenizer(tokenizer_at(run, 0))
    encodings = [tokenizer_at(run, step).encode(text).tokens for step in range(len(run.history) + 1)]
    expected = [
        StripRow(step, run.history[step - 1].token, len(encodings[step]))
        for step in range(1, len(encodings))
        if encodings[step] != encodings[step - 1]
    ]
    found = film_strip(watched.word_counts(), run.history, len(run.history), lambda step: tokenizer_at(run, step))
    assert found == expected


def test_a_long_line_stays_whole_where_words_may_reach_over_blanks(run: TrainingRun) -> None:
    class Reversed(Unchanged):
        """Not local: the words of a line depend on all of it."""

        @property
        def is_local(self) -> bool:
            return False

        def normalize(self, text: str) -> str:
            return text[::-1]

    text = "ab cd " * 1000
    for normalizer, parts in ((Unchanged(), 6), (Reversed(), 1)):
        watched = WatchedText(text)
        watched.set_tokenizer(Tokenizer(run.history.vocabulary(5), normalizer))
        assert len(watched.lines) == parts
