"""Curves for the charts: few points, all of them from the history."""

from __future__ import annotations

import time

import numpy as np
import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.chart_source import (
    TokenLengths,
    height_curve,
    held_curve,
    median_curve,
    sampled_steps,
    spread_ranks,
    thinned,
    tie_steps,
    value_curve,
)
from wordpiece_studio.session.live_text import TextSummary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

RANDOM = np.random.default_rng(5)


def test_few_merges_are_drawn_one_by_one() -> None:
    curve = value_curve(np.array([0.5, 0.25]), 100)
    assert curve.x.tolist() == [1, 2]
    assert curve.y.tolist() == [0.5, 0.25]
    assert not curve.is_columns


def test_each_pixel_column_has_the_smallest_and_the_largest_value_in_it() -> None:
    values = RANDOM.random(1003)
    curve = value_curve(values, 100)
    assert curve.is_columns
    assert curve.x.shape == curve.y.shape == (200,)
    starts = [column * 1003 // 100 for column in range(101)]
    for column in range(100):
        inside = values[max(starts[column] - 1, 0) : starts[column + 1]]  # it begins where the one before ended
        assert curve.y[2 * column : 2 * column + 2].tolist() == [inside.min(), inside.max()]
        assert starts[column] < curve.x[2 * column] <= starts[column + 1]


def test_the_median_of_each_pixel_column_is_exact() -> None:
    values = RANDOM.random(1003)
    medians = median_curve(values, 100).y
    starts = [column * 1003 // 100 for column in range(101)]
    for column, median in enumerate(medians.tolist()):
        inside = sorted(values[starts[column] : starts[column + 1]].tolist())
        assert median == inside[len(inside) // 2]


def test_sampled_steps_have_both_ends() -> None:
    assert sampled_steps(3, 100).tolist() == [0, 1, 2, 3]
    steps = sampled_steps(1_000_000, 300)
    assert (steps[0], steps[-1]) == (0, 1_000_000)
    assert len(steps) == 600


def test_the_staircase_falls_at_the_steps_that_change_the_text() -> None:
    start = TextSummary(words=2, tokens=10, unknown=0)
    curve = held_curve(np.array([2, 5, 9]), np.array([8, 6, 5]), start, 7, 100)
    assert list(zip(curve.x.tolist(), curve.y.tolist(), strict=True)) == [
        (0, 5), (2, 5), (2, 4), (5, 4), (5, 3), (7, 3),
    ]  # fmt: skip


def test_a_text_that_thousands_of_steps_change_has_a_value_a_pixel_or_two() -> None:
    steps = np.arange(1, 30_001, 2)
    tokens = 20_000 - np.arange(15_000)
    curve = held_curve(steps, tokens, TextSummary(words=1, tokens=20_001, unknown=0), 30_000, 400)
    assert len(curve.x) <= 400
    for place, value in zip(curve.x.tolist(), curve.y.tolist(), strict=True):
        assert value == 20_001 - (int(place) + 1) // 2


def test_ranks_on_a_logarithmic_axis_have_both_ends_and_no_gap_at_the_left() -> None:
    ranks = spread_ranks(30_000, 200).tolist()
    assert ranks[:5] == [1, 2, 3, 4, 5]
    assert ranks[-1] == 30_000
    assert len(ranks) <= 200
    assert spread_ranks(0, 200).tolist() == []


@pytest.mark.parametrize("suffix", [None, "</w>"])
def test_lengths_are_those_of_the_tokens_written_out(suffix: str | None) -> None:
    config = TrainingConfig(vocab_size=80, end_of_word_suffix=suffix, objective="count")
    history = train(count_texts(["hugs pugs buns hug pug [CLS] 한국어 한국"] * 2), config).history
    lengths = TokenLengths()
    while not lengths.catch_up(history, len(history)):
        pass
    tokens = history.vocabulary(len(history)).tokens
    plain = [token.removeprefix("##").removesuffix(suffix or "") for token in tokens]
    assert lengths.first(len(tokens)).tolist() == [len(text) for text in plain]
    assert lengths.first(7).tolist() == [len(text) for text in plain[:7]]


def test_lengths_start_over_with_another_history() -> None:
    lengths = TokenLengths()
    for text in ("hug hug pug", "unaffable people"):
        history = train(count_texts([text]), TrainingConfig(vocab_size=40)).history
        assert lengths.catch_up(history, len(history))
        tokens = history.vocabulary(len(history)).tokens
        assert lengths.first(len(tokens)).tolist() == [len(token.removeprefix("##")) for token in tokens]


def test_ties_are_shown_once_a_column() -> None:
    history = train(
        count_texts(["This is the Hugging Face Course. This chapter is about tokens."]), TrainingConfig()
    ).history
    ties = [merge.step for merge in history if merge.ties > 1]
    assert tie_steps(history, len(history), 1000).tolist() == ties
    few = tie_steps(history, len(history), 4).tolist()
    assert len(few) <= 4
    assert set(few) <= set(ties)


def heights(values: list[float]) -> list[float]:
    return height_curve(np.array(values, dtype=np.float64), 900).y.tolist()


def test_heights_are_logarithmic() -> None:
    assert heights([1.0, 10.0, 100.0]) == pytest.approx([0, 0.5, 1])
    assert heights([5, 5]) == [0.5, 0.5]
    assert heights([0.0, -1.0, 8.0, 2.0, np.nan, np.inf]) == [0, 0, 1, 0, 0, 0]
    assert heights([0.0, -1.0]) == [0, 0]
    assert heights([]) == []


def test_a_long_curve_keeps_its_peaks_in_few_columns() -> None:
    values = np.ones(300_000)
    values[123_456] = 9.0
    curve = height_curve(values, 900)
    steps, lows, highs = curve.x[::2], curve.y[::2], curve.y[1::2]
    assert curve.is_columns
    assert len(steps) == len(lows) == len(highs) == 900
    assert abs(steps[int(highs.argmax())] - 123_457) < 300_000 / 900
    assert (np.diff(steps) > 0).all()
    assert (lows == 0).all()
    values[5000] = 0.0
    assert (height_curve(values, 900).y >= 0).all()


def test_adjacent_columns_touch() -> None:
    curve = height_curve(np.geomspace(9, 1, 5000), 100)
    assert (curve.y[3::2] >= curve.y[:-2:2]).all()


def test_there_is_at_most_one_mark_per_column() -> None:
    assert thinned(np.array([2, 3]), 5, 900).tolist() == [2, 3]
    marks = thinned(np.arange(1, 100_001), 100_000, 400)
    assert len(marks) <= 401
    assert (np.diff(marks) > 0).all()


def test_a_million_merges_become_a_curve_within_a_frame() -> None:
    values = RANDOM.random(1_000_000)
    times = []
    for _ in range(5):
        begun = time.process_time()
        value_curve(values, 800)
        median_curve(values, 800)
        height_curve(values, 800)
        times.append(time.process_time() - begun)
    assert min(times) < 0.05  # 16 ms are meant; another machine may be slower
