"""The marks of the axes: round, few, and written as people write them."""

from __future__ import annotations

import pytest

from wordpiece_studio.ui.panes.charts.chart import linear_ticks, log_ticks, power_text, short_text


@pytest.mark.parametrize(
    ("low", "high", "most", "texts"),
    [
        (0, 25, 6, "0 5 10 15 20 25"),
        (0, 29_792, 4, "0 10_k 20_k"),
        (139.6, 172.4, 4, "140 150 160 170"),
        (3.7, 4.4, 4, "3.8 4.0 4.2 4.4"),
        (16_000_000, 22_400_000, 4, "16_M 18_M 20_M 22_M"),
    ],
)
def test_linear_marks(low: float, high: float, most: int, texts: str) -> None:
    ticks = linear_ticks(low, high, most)
    assert [text.replace(" ", "_") for _, text in ticks] == texts.split()
    assert all(low <= place <= high for place, _ in ticks)


def test_whole_numbers_are_never_divided() -> None:
    assert [text for _, text in linear_ticks(1, 3, 9, whole=True)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("low", "high", "most", "texts"),
    [
        (-9, -1, 5, ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01"]),
        (-1.1, -0.25, 5, ["0.1", "0.2", "0.3", "0.5"]),
        (0, 3, 4, ["1", "10", "100", "1,000"]),
        (0.31, 0.45, 4, ["2.2", "2.4", "2.6", "2.8"]),
    ],
)
def test_logarithmic_marks(low: float, high: float, most: int, texts: list[str]) -> None:
    assert [text for _, text in log_ticks(low, high, most)] == texts


@pytest.mark.parametrize("most", [2, 3, 5, 9])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 7), (-12, -3), (0.2, 0.21), (5, 9.7)])
def test_there_are_never_too_many_marks(low: float, high: float, most: int) -> None:
    for ticks in (linear_ticks(low, high, most), log_ticks(low, high, most)):
        assert len(ticks) <= most
        assert [place for place, _ in ticks] == sorted(place for place, _ in ticks)


def test_numbers_in_few_characters() -> None:
    assert [short_text(value) for value in (0, 950, 9_000, 20_000, 2_500_000)] == ["0", "950", "9,000", "20 k", "2.5 M"]
    assert [power_text(exponent) for exponent in (0, 3, -2, 12, -7)] == ["1", "1,000", "0.01", "10¹²", "10⁻⁷"]
