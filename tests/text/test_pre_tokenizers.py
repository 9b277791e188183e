from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import one_example_in
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import RemoveCharacters, Unchanged, resolve_normalizer
from wordpiece_studio.text.patterns import PatternPreTokenizer, Split
from wordpiece_studio.text.pipeline import Pipeline, PreTokenizer, Span
from wordpiece_studio.text.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Digits,
    PreTokenizerSequence,
    Punctuation,
    UnicodePunctuation,
    Whitespace,
    WhitespaceSplit,
    from_spec,
    resolve_pre_tokenizer,
    text_of_letters,
    to_spec,
)

BUILT_IN = [
    BertPreTokenizer(),
    Whitespace(),
    WhitespaceSplit(),
    Punctuation(),
    UnicodePunctuation(),
    PatternPreTokenizer(r"\p{L}+|(\d)|\+"),
    PreTokenizerSequence([Punctuation(), WhitespaceSplit()]),
    PreTokenizerSequence([UnicodePunctuation(), Whitespace(), PatternPreTokenizer(".b?")]),
    Digits(),
    Digits(individual_digits=True),
    Split(r"\s+|\+", "merged_with_next", invert=True),
    PreTokenizerSequence([WhitespaceSplit(), Digits(individual_digits=True)]),
    ByteLevel(),
    ByteLevel(add_prefix_space=False, use_regex=False),
    PreTokenizerSequence([UnicodePunctuation(), Split("a+"), ByteLevel(use_regex=False)]),
    PreTokenizerSequence([ByteLevel(), Split("Ġ", "merged_with_previous"), Digits()]),
]
TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from("ab .,-'\t\n\r\x0b\x1c\x85\xa0中ひカ한。、々〇ー·")), max_size=30
)


def notebook_pre_tokenize(line: str) -> list[str]:
    """Return what the Simplified Chinese notebook returns for a line."""
    line = regex.sub(r"[\u0000-\u001F\u007F]", "", line)
    line = regex.sub(r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}])", r" \1 ", line)
    line = regex.sub(r"([\p{P}])", r" \1 ", line)
    return [word for word in regex.split(r"\s+", line.strip()) if word]


class Halves(PreTokenizer):
    name = "halves"

    def spans(self, text: str) -> list[Span]:
        middle = len(text) // 2
        return [Span(text[a:b], a, b) for a, b in ((0, middle), (middle, len(text))) if a < b]


@pytest.mark.parametrize("pre_tokenizer", BUILT_IN)
def test_names_and_specs_lead_back(pre_tokenizer: PreTokenizer) -> None:
    assert resolve_pre_tokenizer(pre_tokenizer.name) == pre_tokenizer
    assert from_spec(json.loads(json.dumps(to_spec(pre_tokenizer)))) == pre_tokenizer


@pytest.mark.parametrize("pre_tokenizer", BUILT_IN)
def test_a_subclass_of_a_built_in_one_is_not_written(pre_tokenizer: PreTokenizer) -> None:
    derived = type("Derived", (type(pre_tokenizer),), {"__slots__": ()})
    other = object.__new__(derived)
    for field in dataclasses.fields(pre_tokenizer):  # type: ignore[arg-type]
        object.__setattr__(other, field.name, getattr(pre_tokenizer, field.name))
    with pytest.raises(StudioError, match="not built in"):
        to_spec(other)


def test_unknown_names_are_rejected() -> None:
    names = "bert, whitespace, whitespace-split, punctuation, unicode-punctuation, digits, digits-single, byte-level, "
    with pytest.raises(StudioError, match=names):
        resolve_pre_tokenizer("spaces")
    for spec in (
        None,
        {"type": "spaces"},
        {"type": "bert", "more": 1},
        {"type": "pattern", "pattern": 1},
        {"type": "split", "pattern": "a", "behavior": "removed", "invert": 1},
        {"type": "sequence", "pre_tokenizers": []},
        {"type": "sequence", "pre_tokenizers": [{}]},
    ):
        with pytest.raises(StudioError, match="does not describe"):
            from_spec(spec)
    with pytest.raises(StudioError, match="halves"):
        to_spec(Halves())


@pytest.mark.parametrize("pre_tokenizer", BUILT_IN)
@given(text=TEXTS)
def test_spans_are_the_words(pre_tokenizer: PreTokenizer, text: str) -> None:
    spans = pre_tokenizer.spans(text)
    assert [span.text for span in spans] == pre_tokenizer.split(text)
    for span in spans:
        positions = span.positions or range(span.start, span.end)
        assert len(positions) == len(span.text) > 0
        assert pre_tokenizer.is_byte_level or "".join(text[position] for position in positions) == span.text
        assert (positions[0], positions[-1] + 1) == (span.start, span.end)


@given(text=TEXTS)
def test_unicode_punctuation_is_the_notebooks_line_by_line(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = [word for line in lines for word in notebook_pre_tokenize(line)]
    assert UnicodePunctuation().split(text) == expected


def test_the_notebooks_own_example() -> None:
    text = "Hopefully, you will be able to understand how they are trained and generate tokens."
    words = "Hopefully , you will be able to understand how they are trained and generate tokens ."
    assert UnicodePunctuation().split(text) == words.split()


def test_dropped_controls_leave_offsets_right() -> None:
    words = Pipeline(Unchanged(), UnicodePunctuation()).aligned_words("x a\tb\x00\n中")
    assert [(word.text, word.starts, word.ends) for word in words] == [
        ("x", (0,), (1,)),
        ("ab", (2, 4), (3, 5)),
        ("中", (7,), (8,)),
    ]


def test_the_four_ways_to_split() -> None:
    text = "Don't stop... _now_ ½ हिन्दी"
    assert Whitespace().split(text) == ["Don", "'", "t", "stop", "...", "_now_", "½", "हिन्दी"]
    assert WhitespaceSplit().split(text) == text.split()
    assert Punctuation().split("a b, c") == ["a b", ",", " c"]
    assert BertPreTokenizer().split(text) == [
        *["Don", "'", "t", "stop", ".", ".", ".", "_", "now", "_", "½", "हिन्दी"]
    ]  # fmt: skip


def test_which_are_local() -> None:
    names = ["whitespace", "punctuation", "pattern:a", "punctuation+whitespace-split", "punctuation+whitespace"]
    names += ["whitespace+pattern:a", "unicode-punctuation+punctuation", "digits", "digits-single", "byte-level"]
    names += [
        "bert+digits",
        "digits-single+whitespace-split",
        "split:removed: ",
        "whitespace+split:isolated:a+byte-level",
    ]
    flags = [(it.is_local, it.is_by_character) for it in map(resolve_pre_tokenizer, names)]
    assert flags == [
        *[(True, False), (False, True), (False, False), (True, True), (False, False), (True, False), (True, True)],
        *[(False, False), (False, True), (False, False), (True, False), (True, True), (False, False), (True, False)],
    ]  # fmt: skip


@pytest.mark.parametrize("pre_tokenizer", [it for it in BUILT_IN if it.is_local])
@given(text=TEXTS)
def test_local_means_that_stretches_stand_alone(pre_tokenizer: PreTokenizer, text: str) -> None:
    alone = [word for part in text.replace("\n", " ").split(" ") for word in pre_tokenizer.split(part)]
    assert pre_tokenizer.split(text) == alone


def test_whitespace_is_unicodes_not_pythons() -> None:
    assert WhitespaceSplit().split("a\x1cb c\x85d\u3000e") == ["a\x1cb", "c", "d", "e"]


@pytest.mark.parametrize("pre_tokenizer", [*BUILT_IN, Halves()])
@one_example_in(2)
@given(
    text=TEXTS,
    normalizer=st.sampled_from(["none", "lowercase", "bert-cased", "bert-uncased", "remove:a\n", "remove:. "]),
)
def test_aligned_words_are_the_words(pre_tokenizer: PreTokenizer, text: str, normalizer: str) -> None:
    pipeline = Pipeline(resolve_normalizer(normalizer), pre_tokenizer)
    words = pipeline.aligned_words(text)
    assert [word.text for word in words] == pipeline.words(text) == list(pipeline.iterate(text))
    for word in words:
        assert len(word.text) == len(word.starts) == len(word.ends)
        assert 0 <= word.start < word.end <= len(text)


def test_a_text_is_read_line_by_line() -> None:
    pipeline = Pipeline(RemoveCharacters("\n,"), WhitespaceSplit())
    assert pipeline.words("a,\nb") == ["a", "b"]
    assert [word.start for word in pipeline.aligned_words("a,\nb")] == [0, 3]


def test_byte_letters_spell_the_text_again() -> None:
    assert ByteLevel().split("naïve  x\t\ud800") == ["ĠnaÃ¯ve", "Ġ", "Ġx", "ĉ", "íłĢ"]
    for text in ("naïve 日本\t👍 x", "".join(map(chr, range(0x300)))):
        assert text_of_letters(ByteLevel(add_prefix_space=False).split(text)) == text
    words = Pipeline(Unchanged(), ByteLevel()).aligned_words("é\n b")
    assert [(word.text, word.starts, word.ends) for word in words] == [
        ("ĠÃ©", (0, 0, 0), (1, 1, 1)),
        ("Ġb", (2, 3), (3, 4)),
    ]


@pytest.mark.parametrize("pre_tokenizer", BUILT_IN)
def test_all_can_be_copied_and_shown(pre_tokenizer: PreTokenizer) -> None:
    assert pickle.loads(pickle.dumps(pre_tokenizer)) == pre_tokenizer
    assert eval(repr(pre_tokenizer)) == pre_tokenizer
    assert len({pre_tokenizer, copy.deepcopy(pre_tokenizer)}) == 1
