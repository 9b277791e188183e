"""The forecast of time: more takes more, and it is about right."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

import wordpiece_studio as wps
from tests.training.test_memory_forecast import many_words
from wordpiece_studio.training.memory_forecast import MemoryForecaster
from wordpiece_studio.training.time_forecast import forecast_seconds, measured_pace


@pytest.fixture(scope="module")
def counts() -> wps.WordCounts:
    return many_words(20_000)


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_more_takes_longer(counts: wps.WordCounts, objective: wps.Objective) -> None:
    def seconds(config: wps.TrainingConfig, words: wps.WordCounts = counts, pace: float = 1.0) -> float:
        return forecast_seconds(MemoryForecaster(words).extent(config), config, pace)

    config = wps.TrainingConfig(objective=objective, min_frequency=2)
    by_size = [seconds(replace(config, max_merges=merges)) for merges in (0, 100, 1000, 10_000, 10**6)]
    assert by_size == sorted(by_size)
    assert by_size[0] > 0
    assert by_size[-1] == seconds(config)
    assert seconds(config, many_words(40_000)) > 1.5 * seconds(config)
    assert seconds(config, pace=3.0) == pytest.approx(3 * seconds(config), rel=0.1)
    assert seconds(replace(config, max_seconds=0.001)) == 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "size"), [("score", 2000), ("score", None), ("count", 2000)])
def test_it_is_about_right(counts: wps.WordCounts, objective: wps.Objective, size: int | None) -> None:
    config = wps.TrainingConfig(objective=objective, vocab_size=size, min_frequency=2)
    wps.Trainer(counts, replace(config, max_merges=1), engine="compiled").run()  # the kernels are loaded then
    ratios = []
    for _ in range(5):
        expected = forecast_seconds(MemoryForecaster(counts).extent(config), config, measured_pace())
        began = time.process_time()
        wps.Trainer(counts, config, engine="compiled").run()
        ratios.append((time.process_time() - began) / expected)
    assert 1 / 4 < sorted(ratios)[2] < 4  # within two where the machine is quiet: see the benchmark


def test_the_pace_is_found_out_soon() -> None:
    measured_pace()
    began = time.process_time()
    assert 0.05 < measured_pace() < 20
    assert time.process_time() - began < 5
