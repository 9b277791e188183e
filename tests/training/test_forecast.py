"""The forecasts against the arrays there are, and against what trainings take of memory and time."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.training import forecast
from wordpiece_studio.training.forecast import Forecaster, MemoryForecast
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.kernels import columns as columns
from wordpiece_studio.training.numba_engine import CompiledEngine
from wordpiece_studio.training.segmentation import prepare

if TYPE_CHECKING:
    from wordpiece_studio.training.config import EndOfWord, Objective

OBJECTIVES: list[Objective] = ["score", "likelihood", "count"]


def many_words(number: int) -> wps.WordCounts:
    """Distinct words that share syllables, the first of them frequent."""
    syllables = [first + second for first in "bcdfghklmnprst" for second in "aeiou"]
    words = []
    for index in range(number):
        digits, rest = [], index * 7 + 11
        while rest:
            rest, digit = divmod(rest, len(syllables))
            digits.append(syllables[digit])
        words.append(("".join(digits) + "s" * (index % 2), 1 + 100_000 // (index + 1)))
    return wps.WordCounts.from_pairs(dict(words))


@pytest.fixture(scope="module")
def counts() -> wps.WordCounts:
    return many_words(20_000)


def memory(words: wps.WordCounts, config: wps.TrainingConfig) -> MemoryForecast:
    return Forecaster(words).memory(config)


@pytest.mark.parametrize("suffix", [None, "symbol", "attached"])
def test_memory_held_is_at_least_that_of_the_arrays(counts: wps.WordCounts, suffix: EndOfWord | None) -> None:
    config = wps.TrainingConfig(max_merges=0)
    if suffix is not None:
        config = replace(config, end_of_word_suffix="</w>", end_of_word=suffix)
    input_ = prepare(counts, config)
    state, history = CompiledEngine(input_)._state, MergeHistory(input_)
    arrays = (
        *(input_.cells, input_.word_starts, input_.word_lengths, input_.symbol_counts),
        *(state.cells, state.weights, state.table, history.places.boundary_steps),
    )
    taken = sum(array.nbytes for array in arrays) + 4 * int(state.scalars[columns.ARENA]) + 8 * len(input_.words)
    assert 1 < memory(counts, config).held / taken < 2


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_work_needs_more_memory(counts: wps.WordCounts, objective: Objective) -> None:
    def peak(config: wps.TrainingConfig, words: wps.WordCounts = counts) -> int:
        return memory(words, config).peak

    config = wps.TrainingConfig(objective=objective, min_frequency=2)
    by_size = [peak(replace(config, max_merges=merges)) for merges in (0, 100, 1000, 10_000, 10**6)]
    assert by_size == sorted(by_size)
    assert by_size[-1] == peak(config)  # no more merges than the corpus has
    least = wps.minimum_vocab_size(counts, config)
    assert peak(replace(config, vocab_size=least + 1000)) == peak(replace(config, max_merges=1000))
    assert peak(replace(config, min_frequency=50)) < peak(config)
    assert peak(config, many_words(40_000)) > 1.5 * peak(config)


def test_continuing_needs_less_than_starting(counts: wps.WordCounts) -> None:
    short, middle, long = (memory(counts, wps.TrainingConfig(max_merges=n)) for n in (100, 5000, 9000))
    assert 0 < long.beyond(middle) < long.beyond(short) < long.peak
    assert long.beyond(long) == long.passing


def test_count_touches_more_than_the_score(counts: wps.WordCounts) -> None:
    score, count = (
        memory(counts, wps.TrainingConfig(objective=objective, max_merges=500, min_frequency=2))
        for objective in ("score", "count")
    )
    assert score.held < count.held


def test_of_many_words_a_sample_is_read(counts: wps.WordCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    config = wps.TrainingConfig(max_merges=1000)
    exact = memory(counts, config).peak
    monkeypatch.setattr(forecast, "_SAMPLE", 500)
    forecaster = Forecaster(counts)
    assert len(forecaster._lengths) < 1100
    assert forecaster.memory(config).peak == pytest.approx(exact, rel=0.02)


def test_no_words_and_single_letters_need_almost_nothing() -> None:
    for pairs in ([], [("a", 3)]):
        assert memory(wps.WordCounts.from_pairs(pairs), wps.TrainingConfig()).peak < 100_000


MEASURE = """
    import ctypes, gc, re, sys
    from pathlib import Path
    import wordpiece_studio as wps
    from tests.training.test_forecast import many_words
    from wordpiece_studio.training import numba_engine as compiled
    from wordpiece_studio.training.forecast import Forecaster

    def kilobytes(field):
        return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))

    counts = many_words(150_000)
    config = wps.TrainingConfig(objective=sys.argv[1], max_merges=15_000, min_frequency=2)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that counting freed must not be reused by the training
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    trainer = wps.Trainer(counts, config)
    trainer.run()
    assert len(trainer.vocabulary.tokens) > 15_000
    print(1024 * (kilobytes("VmHWM") - before), Forecaster(counts).memory(config).peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures with /proc")
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_forecast_is_slightly_above_what_is_used(objective: Objective) -> None:
    order = [sys.executable, "-c", textwrap.dedent(MEASURE), objective]
    result = subprocess.run(order, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    peak, forecast = map(int, result.stdout.split())
    assert 0.9 <= forecast / peak <= 1.6


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_more_work_takes_longer(counts: wps.WordCounts, objective: wps.Objective) -> None:
    def seconds(config: wps.TrainingConfig, words: wps.WordCounts = counts, pace: float = 1.0) -> float:
        return Forecaster(words).seconds(config, pace)

    config = wps.TrainingConfig(objective=objective, min_frequency=2)
    by_size = [seconds(replace(config, max_merges=merges)) for merges in (0, 100, 1000, 10_000, 10**6)]
    assert by_size == sorted(by_size)
    assert by_size[0] > 0
    assert by_size[-1] == seconds(config)
    assert seconds(config, many_words(40_000)) > 1.5 * seconds(config)
    assert seconds(config, pace=3.0) == pytest.approx(3 * seconds(config), rel=0.1)
    assert seconds(replace(config, max_seconds=0.001)) == 0.001
