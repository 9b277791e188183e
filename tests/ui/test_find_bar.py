"""What is sought in the corpus: found as an expression would find it, and in a moment whatever the text is."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.session.view_text import utf16_length
from wordpiece_studio.ui.panes.corpus.corpus_editor import find_places


def expected_places(text: str, sought: str) -> list[tuple[int, int]]:
    found = re.finditer(re.escape(sought), text, re.IGNORECASE)
    return [(utf16_length(text[: each.start()]), utf16_length(text[: each.end()])) for each in found]


_LETTERS = "aAiI\u0130\u0131sS\u017fßẞΣσςkK\u212aµμ\U00010400\U00010428\ufb05\ufb06"
letters = st.text(st.sampled_from(_LETTERS), max_size=8)


@given(letters, letters.filter(bool))
def test_capitals_do_not_matter_as_in_an_expression(text: str, sought: str) -> None:
    assert find_places(text, sought, case_matters=False) == expected_places(text, sought)


def test_every_letter_has_the_same_capitals_as_in_an_expression() -> None:
    for each in map(chr, range(0x20000)):
        for other in {each.lower(), each.upper(), each.casefold()}:
            if len(other) == 1 and other != each:
                assert bool(find_places(each, other, False)) == bool(expected_places(each, other)), ascii(each + other)


@pytest.mark.parametrize("case_matters", [False, True])
def test_a_text_of_one_letter_is_searched_in_a_step(case_matters: bool) -> None:
    began = time.thread_time()
    assert not find_places("a" * 1_000_000, "a" * 999 + "b", case_matters)
    assert time.thread_time() - began < 5  # it was over 20
