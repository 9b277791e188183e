"""Slices give what one call gives; the order of words; and what two texts have in common."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wordpiece_studio.system import arrays
from wordpiece_studio.system.arrays import (
    SLICE,
    code_points_of,
    common_length,
    hashes_of,
    lengths_of,
    ranks_of,
    repeated,
    slices,
)

LETTERS = st.characters(codec="utf-32-be", include_characters="#ab\0가\U0010ffff")
WORDS = ["a", "", "bcd", "\U0001f600x", "\ud800", "토큰", "e"]


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_slices_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(arrays, "SLICE", size)
    lengths = lengths_of(WORDS)
    assert lengths.tolist() == [len(word) for word in WORDS]
    assert hashes_of(WORDS).tolist() == [hash(word) for word in WORDS]
    assert code_points_of(WORDS, lengths).tolist() == [ord(letter) for letter in "".join(WORDS)]
    for dtype in (np.int32, np.int64, np.bool_):
        values = np.arange(len(WORDS)).astype(dtype)
        result = repeated(values, lengths)
        assert result.dtype == dtype
        assert result.tolist() == np.repeat(values, lengths).tolist()


@pytest.mark.parametrize("count", [0, 1, SLICE, SLICE + 1, 5 * SLICE - 1])
def test_slices_are_all_of_it_in_order(count: int) -> None:
    covered = [index for part in slices(count) for index in range(count)[part]]
    assert covered == list(range(count))
    assert all(0 < part.stop - part.start <= SLICE for part in slices(count))


@pytest.mark.parametrize(
    ("one", "other", "length", "from_end"),
    [
        ("", "", 0, 0),
        ("a", "", 0, 0),
        ("ab", "ac", 1, 0),
        ("xab", "yab", 0, 2),
        ("aaa", "aa", 2, 2),
        ("ab", "ab", 2, 2),
    ],
)
def test_what_two_texts_have_in_common(one: str, other: str, length: int, from_end: int) -> None:
    assert common_length(one, other) == common_length(other.encode(), one.encode()) == length
    assert common_length(one, other, from_end=True) == common_length(other, one, from_end=True) == from_end


@pytest.mark.slow
@example([chr(0x4E00 + n) for n in range(2000)] + ["b" * 7 + end for end in "xyz"])  # one group is left at the end
@settings(max_examples=60)
@given(st.lists(st.text(LETTERS, max_size=70), max_size=20))
def test_ranks_are_the_places_in_the_order_of_the_code_points(words: list[str]) -> None:
    distinct = sorted(set(words))
    assert ranks_of(words).tolist() == [distinct.index(word) for word in words]
