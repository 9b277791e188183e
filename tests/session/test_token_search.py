"""Searching tokens and the order of their code points: right, quick, and never at the mercy of an expression."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import table_model
from wordpiece_studio.session.table_model import (
    OrderingCanceled,
    TokenSearch,
    ends_soon,
    pattern_finder,
    token_ranks,
    tokens_found,
)
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

HOSTILE = "(?:a|b|ab|#)+[^ab]$"
LETTERS = st.characters(codec="utf-32-be", include_characters="#ab\0가\U0010ffff")
TOKENS = ["[UNK]", "ab", "AB", "##ing", "ring", "a" * 42]


@pytest.mark.parametrize(
    ("text", "is_pattern", "expected"),
    [
        ("ab", False, [1, 2]),
        ("AB", False, [2]),
        ("ing$", False, []),
        ("ing$", True, [3, 4]),
        ("^##", True, [3]),
        (r"\p{Lu}", True, [0, 2]),
    ],
)
def test_the_search(text: str, is_pattern: bool, expected: list[int]) -> None:
    index, half = TokenSearch(), Vocabulary(TOKENS[:3])
    assert index.found(half, text, is_pattern, lambda: False).nonzero()[0].tolist() == [n for n in expected if n < 3]
    found = index.found(Vocabulary(TOKENS), text, is_pattern, lambda: False)  # a vocabulary that has grown
    assert found.nonzero()[0].tolist() == expected


def test_a_search_that_takes_too_long_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_model, "_MOST_SECONDS", -1.0)
    with pytest.raises(StudioError, match="takes too long"):
        tokens_found(TOKENS, lambda tokens: [True] * len(tokens))


def test_canceled_searches_are_not_answered() -> None:
    with pytest.raises(OrderingCanceled):
        TokenSearch().found(Vocabulary(TOKENS), "a", False, lambda: True)


@pytest.mark.slow
@example([chr(0x4E00 + n) for n in range(2000)] + ["b" * 7 + end for end in "xyz"])  # one group is left at the end
@settings(max_examples=60)
@given(st.lists(st.text(LETTERS, max_size=70), max_size=20))
def test_ranks_are_the_places_in_the_order_of_the_code_points(tokens: list[str]) -> None:
    distinct = sorted(set(tokens))
    assert token_ranks(tokens).tolist() == [distinct.index(token) for token in tokens]


@pytest.mark.parametrize("pattern", ["a", "^##.*ing$", "[^ab]c", "(?:a|b)c", "a.*b", r"\.", "x{2,3}"])
def test_usual_expressions_are_known_to_end_soon(pattern: str) -> None:
    assert ends_soon(pattern, 30)


@pytest.mark.parametrize("pattern", [HOSTILE, "(a+)+$", "(?:a|aa)*b", r"(a)\1", "(?=a)", "a*a*a*a*a*b", "(a|a)" * 25])
def test_hostile_expressions_are_not(pattern: str) -> None:
    assert not ends_soon(pattern, 30)


def test_a_hostile_expression_is_abandoned() -> None:
    began = time.process_time()
    with pytest.raises(StudioError, match="takes too long"):
        tokens_found(["ok", "ab" * 30], pattern_finder(HOSTILE, 60))
    assert time.process_time() - began < 10


def test_an_expression_that_only_the_one_library_knows_is_searched_with_it() -> None:
    tokens = ["가나", "ab", "a{2}{3}"]
    assert tokens_found(tokens, pattern_finder(r"\p{Hangul}", 9)).tolist() == [True, False, False]
    assert tokens_found(["aaaaaa", "aaa"], pattern_finder("^(?:a{2}){3}$", 9)).tolist() == [True, False]


@given(
    st.lists(st.text(st.sampled_from("abc#\n\r\u2028"), max_size=6), max_size=20),
    st.sampled_from(["a(b|c)+$", "^(a|b)*c", "(ab|c)+", "^(#)+a?$", "(a|b)*", "(.)+b", "^(a.)+$"]),
)
def test_tokens_searched_as_lines_are_found_as_each_on_its_own_is(tokens: list[str], pattern: str) -> None:
    expected = [regex.search(pattern, token) is not None for token in tokens]
    assert tokens_found(tokens, pattern_finder(pattern, 6)).tolist() == expected
