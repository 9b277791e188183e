"""Patterns for many tokens; what a pipeline does with user tokens is tested where words are counted."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from wordpiece_studio.text.pipeline import one_of

TOKENS = st.lists(st.text("ab.", min_size=1, max_size=7), min_size=8, max_size=40, unique=True)


@given(TOKENS, st.text("ab.", max_size=60))
@example(["a" * length for length in range(1, 50)], "a" * 70 + "b" + "a" * 30)
def test_the_longest_of_many_tokens_is_found(tokens: list[str], text: str) -> None:
    longest_first = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))
    assert one_of(tuple(tokens)).findall(text) == re.findall(longest_first, text)
