"""A user's own regular expression: its words, its faults, one that would run for years, and looking for tokens."""

from __future__ import annotations

import pickle
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import Unchanged
from wordpiece_studio.text.patterns import (
    PatternPreTokenizer,
    SearchPattern,
    Split,
    pattern_finder,
    text_finder,
)
from wordpiece_studio.text.pipeline import PatternOverrunError, Pipeline
from wordpiece_studio.text.pre_tokenizers import ByteLevel, PreTokenizerSequence, WhitespaceSplit, resolve_pre_tokenizer

RUNAWAY = r"(?:\w|\w\w)+!"
LINE = "x" * 40 + " !"


@pytest.mark.parametrize(
    ("pattern", "text", "words"),
    [
        (r"\w+", "ab cd", ["ab", "cd"]),
        (r"(a)|(b)c", "a bc", ["a", "bc"]),
        (r"(?:\d{2})?", "12 x 34", ["12", "34"]),
        (r"(?i)[[:upper:]]+|\+", "aB+c", ["aB", "+", "c"]),
        (r"\p{Han}|\p{Hangul}+", "中文 한국", ["中", "文", "한국"]),
        ("x", "", []),
        (r"(?r)\w+", "ab cd", ["ab", "cd"]),
    ],
)
def test_the_matches_are_the_words(pattern: str, text: str, words: list[str]) -> None:
    pre_tokenizer = resolve_pre_tokenizer(f"pattern:{pattern}")
    assert pre_tokenizer == PatternPreTokenizer(pattern)
    assert pre_tokenizer.split(text) == words == [span.text for span in pre_tokenizer.spans(text)]
    assert all(text[span.start : span.end] == span.text for span in pre_tokenizer.spans(text))


def test_the_pattern_goes_on_to_the_end_of_the_name() -> None:
    pre_tokenizer = resolve_pre_tokenizer("whitespace-split+pattern:[a-z]+|pattern:+")
    assert pre_tokenizer == PreTokenizerSequence([WhitespaceSplit(), PatternPreTokenizer("[a-z]+|pattern:+")])
    assert pre_tokenizer.name == "whitespace-split+pattern:[a-z]+|pattern:+"
    with pytest.raises(StudioError, match="Put the pattern last"):
        PreTokenizerSequence([PatternPreTokenizer("a"), WhitespaceSplit()])


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("", "empty"),
        (r"\w+(", "at character 5, missing \\)"),
        ("ab[c", "at character 5, unterminated character set"),
        ("*", "at character 1, nothing to repeat"),
        (r"\p{Elvish}", "unknown property"),
        ("\x1b[", r'"\\x1b\["'),
        ("(" * 3000 + ")" * 3000, "nested too deeply"),
        ("(?:" * 30 + "a" + ")+" * 30, "too many repetitions"),
        ("(?:(?:a[]+{]{99}){99}){9999}", "too many repetitions"),
        ("a" * 10_001, "too long: 10,001 characters"),
        ("a{1000000000}", "too many repetitions"),
        ("a{0" + "9" * 5000 + ",}", "too many repetitions"),
        (r"(?u)(?a)\w", "not a valid regular expression: ASCII, LOCALE and UNICODE flags"),
    ],
)
def test_invalid_patterns_are_reported_at_once(pattern: str, told: str) -> None:
    started = time.process_time()
    with pytest.raises(StudioError, match=told) as caught:
        resolve_pre_tokenizer(f"pattern:{pattern}")
    assert len(str(caught.value)) < 500
    assert time.process_time() - started < 50


@pytest.mark.parametrize(
    "pattern", [r"\p{L}{1,100}\d{1,99}[,.]{1,3}" * 9, "(((((a+)b+)c+)d+)e+)", r"(?:\+{9}[{9}+]\\){99}"]
)
def test_large_patterns_that_are_harmless(pattern: str) -> None:
    assert PatternPreTokenizer(pattern).split("-") == []


def test_a_runaway_pattern_is_stopped_and_its_line_reported() -> None:
    pipeline = Pipeline(Unchanged(), PatternPreTokenizer(RUNAWAY, timeout=0.05))
    assert pipeline.words(f"a!\n{LINE[:9]}!") == ["a!", "xxxxxxxxx!"]
    for cut in (pipeline.words, pipeline.aligned_words):
        started = time.process_time()
        with pytest.raises(PatternOverrunError, match=r"in line 2") as caught:
            cut(f"a!\n{LINE}\n")
        assert time.process_time() - started < 5
        assert RUNAWAY in str(caught.value)
        assert "possessive" in str(caught.value)
        assert "in line 7 of a.txt: " in str(caught.value.in_line(7, "a.txt"))


def test_a_pattern_that_holds_itself_ends() -> None:
    with pytest.raises(PatternOverrunError):
        PatternPreTokenizer("(?R)?a|(?R)", timeout=0.05).split("aaaa" * 99)


def test_a_split_ends_in_a_name_where_the_next_step_begins() -> None:
    parts = Split("[a-z]+digital|:", "merged_with_next", invert=True), ByteLevel(use_regex=False)
    name = "split:merged-with-next,invert:[a-z]+digital|:+byte-level:no-regex"
    assert resolve_pre_tokenizer(name) == PreTokenizerSequence(parts)
    assert PreTokenizerSequence(parts).name == name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("split:", "empty"),
        ("split:removed", "empty"),
        ("split:a", "empty"),
        ("split:cut:a", "'cut' is not a valid split behavior"),
        ("split:removed:(", "not a valid regular expression"),
    ],
)
def test_splits_that_cannot_be(name: str, told: str) -> None:
    with pytest.raises(StudioError, match=told):
        resolve_pre_tokenizer(name)


def test_a_split_whose_name_would_be_another() -> None:
    for pattern in ("a+digits", "a+digits+b", "a+split:", "a+pattern:b"):
        with pytest.raises(StudioError, match="follows a plus sign at character 2"):
            Split(pattern)
    assert Split("(?:a+)digits").split("aadigits") == ["aadigits"]
    with pytest.raises(StudioError, match="A pattern is expected, not 7"):
        Split(7)  # type: ignore[arg-type]


def test_a_split_uses_what_only_we_understand() -> None:
    assert Split(r"\b", "removed").split("a b") == ["a", " ", "b"]
    assert Split(r"(?r)\d").split("1a2") == ["1", "a", "2"]
    assert Split("x*", "isolated").split("axxb") == ["a", "xx", "b"]
    with pytest.raises(PatternOverrunError):
        Split(RUNAWAY, timeout=0.05).split(LINE)


def test_it_travels_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(PatternPreTokenizer("a+"))) == PatternPreTokenizer("a+")


@pytest.mark.parametrize(
    ("pattern", "text", "is_in"),
    [("ing", "##ting", True), ("^ing", "##ing", False), (r"^##\p{Han}$", "##中", True), ("(?i)ING", "ing", True)],
)
def test_it_is_found_anywhere(pattern: str, text: str, is_in: bool) -> None:
    assert SearchPattern(pattern).is_in(text) is is_in


@pytest.mark.parametrize(
    ("pattern", "told"), [("", "empty"), ("a(", "character"), ("(((a{900}){900}){900}", "too many")]
)
def test_invalid_search_patterns_are_rejected(pattern: str, told: str) -> None:
    with pytest.raises(StudioError, match=told):
        SearchPattern(pattern)


def test_an_endless_search_is_stopped() -> None:
    with pytest.raises(StudioError, match="takes too long"):
        SearchPattern("(a|aa)+[^a]").is_in("a" * 90)


HOSTILE = "(?:a|b|ab|#)+[^ab]$"
TOKENS = ["[UNK]", "ab", "AB", "##ing", "ring"]


@pytest.mark.parametrize(("text", "found"), [("ab", ["ab", "AB"]), ("AB", ["AB"]), ("ing$", [])])
def test_capitals_are_looked_for_only_where_there_are_some(text: str, found: list[str]) -> None:
    assert [token for token, is_found in zip(TOKENS, text_finder(text)(TOKENS), strict=True) if is_found] == found


@given(
    st.lists(st.text(st.sampled_from("abc#\n\r\u2028"), max_size=6), max_size=20),
    st.sampled_from([
        "a(b|c)+$", "^(a|b)*c", "(ab|c)+", "^(#)+a?$", "(a|b)*", "(.)+b", "^(a.)+$", "[^b]c", "^[^a#]*$", r"\bc",
        r"\w#", r"\p{L}{2}", "(?<=a)b", "c(?!#)", "[#a]", r"\p{Zl}", "(?s)a.b", r"[^\n]$", r"(a)\1", "(?i)B", r"\s",
        "a.*b.*c.*#.*a", "(?i)(A|b)+$", "[#ab]c{1,2}", r"a\n", "^a|b$",
    ]),
)  # fmt: skip
def test_tokens_searched_together_are_found_as_each_on_its_own_is(tokens: list[str], pattern: str) -> None:
    expected = [regex.search(pattern, token) is not None for token in tokens]
    assert pattern_finder(pattern)(tokens) == expected


def test_a_hostile_expression_is_abandoned() -> None:
    began = time.process_time()
    with pytest.raises(StudioError, match="takes too long"):
        pattern_finder(HOSTILE)(["ok", "ab" * 30])
    assert time.process_time() - began < 10


def test_an_expression_that_only_the_one_library_knows_is_searched_with_it() -> None:
    assert pattern_finder(r"\p{Hangul}")(["가나", "ab", "a{2}{3}"]) == [True, False, False]
    assert pattern_finder("^(?:a{2}){3}$")(["aaaaaa", "aaa"]) == [True, False]
