"""The pace of the machine, and the time forecast that uses it."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

import wordpiece_studio as wps
from tests.training.test_forecast import many_words
from wordpiece_studio.session.kernel_warmup import measured_pace
from wordpiece_studio.training.forecast import Forecaster


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize(("objective", "size"), [("score", 2000), ("score", None), ("count", 2000)])
def test_it_is_about_right(objective: wps.Objective, size: int | None) -> None:
    counts = many_words(20_000)
    config = wps.TrainingConfig(objective=objective, vocab_size=size, min_frequency=2)
    wps.Trainer(counts, replace(config, max_merges=1), engine="compiled").run()  # the kernels are loaded then
    ratios = []
    for _ in range(5):
        expected = Forecaster(counts).seconds(config, measured_pace())
        began = time.process_time()
        wps.Trainer(counts, config, engine="compiled").run()
        ratios.append((time.process_time() - began) / expected)
    assert 1 / 4 < sorted(ratios)[2] < 4  # within two where the machine is quiet: see the benchmark


def test_the_pace_is_found_out_soon() -> None:
    measured_pace()
    began = time.process_time()
    assert 0.05 < measured_pace() < 20
    assert time.process_time() - began < 5
