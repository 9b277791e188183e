"""Means over folds and intervals of differences, against published tables."""

from __future__ import annotations

import math
import statistics

import pytest

from wordpiece_studio.evaluation.folds import difference, spread, t_quantile

# From the table of Student's t for two-sided intervals of 95% and 99%, by degrees of freedom.
TABLE = {
    1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 4: (2.776, 4.604), 5: (2.571, 4.032), 6: (2.447, 3.707),
    7: (2.365, 3.499), 8: (2.306, 3.355), 9: (2.262, 3.250), 10: (2.228, 3.169), 15: (2.131, 2.947), 29: (2.045, 2.756),
    60: (2.000, 2.660), 120: (1.980, 2.617),
}  # fmt: skip


def test_quantiles_are_those_of_the_table() -> None:
    for degrees, found in TABLE.items():
        assert tuple(round(t_quantile(level, degrees), 3) for level in (0.975, 0.995)) == found
    assert t_quantile(0.5, 4) == pytest.approx(0, abs=1e-12)


def test_a_paired_difference_has_the_corrected_interval() -> None:
    first, second = [1.31, 1.28, 1.40, 1.22, 1.35], [1.30, 1.29, 1.36, 1.20, 1.33]
    found = difference(first, second)
    apart = [a - b for a, b in zip(first, second, strict=True)]
    # One block in five is judged by, four are trained on.
    error = math.sqrt((1 / 5 + 1 / 4) * statistics.variance(apart))
    assert found.mean == pytest.approx(statistics.mean(apart))
    assert (found.high - found.mean, found.mean - found.low) == pytest.approx((2.7764451 * error,) * 2)
    assert found.may_be_zero
    assert not difference([a + 1 for a in first], second).may_be_zero
    assert not difference([a - 1 for a in first], second).may_be_zero
    assert difference(first, first).may_be_zero
    assert spread(first).deviation == pytest.approx(statistics.stdev(first))
