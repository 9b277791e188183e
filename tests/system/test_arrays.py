"""Slices give what one call gives; and what two texts have in common."""

from __future__ import annotations

import numpy as np
import pytest

from wordpiece_studio.system import arrays
from wordpiece_studio.system.arrays import SLICE, code_points_of, common_length, hashes_of, lengths_of, repeated, slices

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
