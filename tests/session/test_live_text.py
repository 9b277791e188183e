"""The live text, with lines created on demand, against the tokenizer itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.live_text import LiveText, cut_lines, segment_pattern
from wordpiece_studio.session.view_text import TEXT_UNITS, TextUnit, length_in
from wordpiece_studio.text.normalizers import BertNormalizer, Unchanged, UnicodeForm
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer, WhitespaceSplit
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun, train

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


@pytest.fixture(scope="module")
def run() -> TrainingRun:
    return train(count_texts(COURSE), TrainingConfig(vocab_size=70), engine="plain")


BERT = Pipeline(BertNormalizer(), BertPreTokenizer())
AT_BLANKS = Pipeline(Unchanged(), WhitespaceSplit())


def split_lines(text: str, pipeline: Pipeline = AT_BLANKS) -> list[str]:
    return cut_lines(text, segment_pattern(pipeline))


def tokenizer_at(run: TrainingRun, step: int) -> Tokenizer:
    return Tokenizer(run.history.vocabulary(step))


def offsets_of(watched: LiveText, unit: TextUnit = "characters") -> list[tuple[int, int]]:
    return [
        watched.offsets_in(unit, line, piece.start, piece.end)
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


@pytest.mark.parametrize(
    ("text", "pipeline", "longest"),
    [
        ("word " * 20_000, AT_BLANKS, 1005),
        ("汉字" * 10_000, BERT, 1000),
        ('{"a":1,' * 3000, BERT, 1001),
        ("汉字" * 10_000, AT_BLANKS, 20_000),
        ("a" * 20_000, BERT, 20_000),
    ],
)
def test_a_very_long_line_is_split_where_words_end(text: str, pipeline: Pipeline, longest: int) -> None:
    assert max(map(len, split_lines(text, pipeline))) == longest


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(["汉", "字", ",", "=", "\u0338", "é", "e\u0301", "a", "[", "]", "(", "가", "\ufe0f", "\t"])
    )
)
def test_a_long_line_in_stretches_has_the_words_of_the_whole(parts: list[str]) -> None:
    text = "汉" * 998 + "".join(parts) + "," * 1100
    for pipeline in (BERT, Pipeline(UnicodeForm("nfkc"), BertPreTokenizer())):
        lines = split_lines(text, pipeline)
        assert "".join(lines) == text
        assert [word for line in lines for word in pipeline.words(line)] == pipeline.words(text)


def test_a_special_token_is_not_cut(run: TrainingRun) -> None:
    watched = LiveText("," * 999 + "[MASK]" * 300)
    watched.set_tokenizer(tokenizer_at(run, 12))
    assert watched.tokens() == tokenizer_at(run, 12).encode(watched.text).tokens


@pytest.mark.parametrize("text", ["", "This is the\nHugging Face!\n\n🤗 chapter", "the " * 700, "[CLS] This"])
def test_it_says_what_the_tokenizer_says(run: TrainingRun, text: str) -> None:
    tokenizer = tokenizer_at(run, 12)
    watched = LiveText(text)
    watched.set_tokenizer(tokenizer)
    encoding = tokenizer.encode(text)
    assert watched.tokens() == encoding.tokens
    assert [piece.id for line in watched.lines for word in line.words for piece in word.pieces] == encoding.ids
    assert offsets_of(watched) == encoding.offsets


@pytest.mark.parametrize("unit", TEXT_UNITS)
@pytest.mark.parametrize("text", ["Thé 🤗\nFacé chapter🤗 the\n\nthis", "한국어 the"])
def test_offsets_in_each_unit_cut_the_same_text(run: TrainingRun, text: str, unit: TextUnit) -> None:
    watched = LiveText(text)
    watched.set_tokenizer(tokenizer_at(run, 12))
    whole = {"characters": list(text), "utf8": text.encode(), "utf16": text.encode("utf-16-le")}[unit]
    size = 2 if unit == "utf16" else 1
    for (start, end), (first, last) in zip(offsets_of(watched, unit), offsets_of(watched), strict=True):
        part = whole[start * size : end * size]
        decoded = "".join(part) if isinstance(part, list) else part.decode("utf-8" if unit == "utf8" else "utf-16-le")
        assert decoded == text[first:last]


def test_a_lone_surrogate_has_a_length() -> None:
    assert [length_in(unit, "a\ud800") for unit in TEXT_UNITS] == [2, 4, 2]


def test_nothing_is_tokenized_that_is_not_asked_for(run: TrainingRun) -> None:
    tokenizer, asked = tokenizer_at(run, 12), []
    tokenize = tokenizer.tokenize_words
    tokenizer.tokenize_words = lambda line: asked.append(line) or tokenize(line)  # type: ignore[method-assign]
    watched = LiveText("This is\nthe Course\n" * 500)
    watched.set_tokenizer(tokenizer)
    assert len(watched.lines) == 1000
    assert watched.lines[700].words[0].word.text == "This"
    assert asked == ["This is\n"]


def test_typing_keeps_the_words_of_other_lines(run: TrainingRun) -> None:
    watched = LiveText("This is\nthe Course")
    watched.set_tokenizer(tokenizer_at(run, 12))
    before = [line.words for line in watched.lines]
    watched.set_text("That is\nthe Course")
    assert watched.lines[1].words is before[1]
    assert watched.lines[0].words is not before[0]


def test_another_tokenizer_makes_other_words(run: TrainingRun) -> None:
    watched = LiveText("This chapter")
    for step in (0, 12, 25, 3):
        watched.set_tokenizer(tokenizer_at(run, step))
        assert watched.tokens() == tokenizer_at(run, step).encode("This chapter").tokens


def test_a_place_is_in_its_line(run: TrainingRun) -> None:
    watched = LiveText("ab\ncd\n")
    watched.set_tokenizer(tokenizer_at(run, 0))
    assert [watched.line_at(position) for position in range(7)] == [0, 0, 0, 1, 1, 1, 1]


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
        watched = LiveText(text)
        watched.set_tokenizer(Tokenizer(run.history.vocabulary(5), normalizer))
        assert len(watched.lines) == parts


@given(
    st.lists(st.integers(0, 25), min_size=2, max_size=6),
    st.lists(st.sampled_from(["This", "chapter", "[CLS]", "tokens", "🤗", "[UNK]ing", " ", "\n"]), max_size=12),
)
def test_at_every_step_the_words_are_those_of_its_tokenizer(
    run: TrainingRun, steps: list[int], parts: list[str]
) -> None:
    live = LiveText("".join(parts))
    for step in steps:
        tokenizer = tokenizer_at(run, step)
        live.set_tokenizer(tokenizer)
        found = [line.words for line in live.lines]
        assert found == [tuple(tokenizer.tokenize_words(text)) for text in live.line_texts]


def test_a_line_that_a_step_does_not_change_stays_the_same_object(run: TrainingRun) -> None:
    live = LiveText("This course\nchapter")
    changed = set()
    for step in range(1, 26):
        live.set_tokenizer(tokenizer_at(run, step - 1))
        before = [line.words for line in live.lines]
        live.set_tokenizer(tokenizer_at(run, step))
        now = [line.words for line in live.lines]
        for old_line, new_line in zip(before, now, strict=True):
            is_same = old_line == new_line
            assert (new_line is old_line) == is_same
            assert all((new is old) == (new == old) for old, new in zip(old_line, new_line, strict=True))
            changed.add(is_same)
    assert changed == {True, False}


def test_words_are_found_anew_for_another_pipeline_or_alphabet(run: TrainingRun) -> None:
    other = train(count_texts(["tHis"], normalizer="lowercase"), TrainingConfig(), engine="plain").history
    live = LiveText("This is")
    for tokenizer in (
        tokenizer_at(run, 9), Tokenizer(other.vocabulary(0), "lowercase", "bert"), tokenizer_at(run, 9),
        Tokenizer(other.vocabulary(0)),
    ):  # fmt: skip
        live.set_tokenizer(tokenizer)
        assert [list(line.words) for line in live.lines] == [tokenizer.tokenize_words("This is")]
