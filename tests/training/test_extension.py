"""The tokens that a vocabulary lacks, against the definition."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordpiece_studio.training import extension_reference
from wordpiece_studio.training.extension import additions
from wordpiece_studio.training.extension_reference import begun

LETTERS = "aab"
WORDS = st.dictionaries(st.text(LETTERS + "c", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=12)
TOKENS = st.sets(
    st.tuples(st.booleans(), st.text(LETTERS, min_size=1, max_size=3)).map(lambda t: ("##" if t[0] else "") + t[1])
)


def found(words: dict[str, int], vocabulary: set[str], budget: int, min_frequency: int) -> list[tuple[str, int]]:
    return list(islice(additions(begun(words, vocabulary), vocabulary, min_frequency=min_frequency), budget))


def check(words: dict[str, int], vocabulary: set[str], budget: int, min_frequency: int) -> None:
    expected = extension_reference.extend(words, vocabulary, budget, min_frequency)
    assert found(words, vocabulary, budget, min_frequency) == expected


@settings(max_examples=150, deadline=None)
@given(WORDS, TOKENS, st.integers(0, 12), st.integers(0, 6))
def test_finds_what_the_definition_says(words: dict[str, int], vocabulary: set[str], budget: int, least: int) -> None:
    check(words, vocabulary, budget, least)


@pytest.mark.exhaustive
@settings(max_examples=10_000, deadline=None)
@given(WORDS, TOKENS, st.integers(0, 30), st.integers(0, 6))
def test_finds_what_the_definition_says_in_ten_thousand_corpora(
    words: dict[str, int], vocabulary: set[str], budget: int, least: int
) -> None:
    check(words, vocabulary, budget, least)


def test_none_of_the_excluded_comes() -> None:
    words, vocabulary = {"hugs": 5, "hug": 10}, ["h", "##u"]
    found = additions(begun(words, vocabulary), vocabulary, excluded=["hug", "##ug"])
    assert list(found) == [("##g", 15), ("hu", 15), ("hugs", 10)]
