"""The value curve as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.ui.panes.timeline.timeline_marks import ValueCurve, thinned


def curve_of(*parts: object) -> ValueCurve:
    curve = ValueCurve()
    for part in parts:
        curve.extend(np.asarray(part))
    return curve


def test_heights_are_logarithmic() -> None:
    assert curve_of([1.0, 10.0, 100.0]).heights().tolist() == pytest.approx([0, 0.5, 1])
    assert curve_of([5, 5]).heights().tolist() == [0.5, 0.5]
    assert curve_of([0.0, -1.0, 8.0, 2.0]).heights().tolist() == [0, 0, 1, 0]
    assert len(curve_of().heights()) == 0


@given(st.lists(st.lists(st.floats(-1, 1e9), max_size=50), max_size=5))
def test_a_curve_grown_in_parts_equals_one_made_at_once(parts: list[list[float]]) -> None:
    grown, whole = curve_of(*parts), curve_of([value for part in parts for value in part])
    assert grown.heights().tolist() == whole.heights().tolist()


def test_a_long_curve_keeps_its_peaks_in_few_columns() -> None:
    values = np.ones(300_000)
    values[123_456] = 9.0
    steps, lows, highs = curve_of(values).columns(900)
    assert len(steps) == len(lows) == len(highs) == 900
    assert abs(steps[int(highs.argmax())] - 123_457) < 300_000 / 900
    assert (np.diff(steps) > 0).all()
    assert (lows == 0).all()


def test_adjacent_columns_touch() -> None:
    _, lows, highs = curve_of(np.geomspace(9, 1, 5000)).columns(100)
    assert (highs[1:] >= lows[:-1]).all()


def test_there_is_at_most_one_mark_per_column() -> None:
    assert thinned(np.array([2, 3]), 5, 900).tolist() == [2, 3]
    marks = thinned(np.arange(1, 100_001), 100_000, 400)
    assert len(marks) <= 401
    assert (np.diff(marks) > 0).all()
