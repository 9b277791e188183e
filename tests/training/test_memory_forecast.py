"""The forecast against the arrays there are, and against what trainings take."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.training import memory_forecast
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.initial_state import prepare
from wordpiece_studio.training.kernels import columns as columns
from wordpiece_studio.training.memory_forecast import MemoryForecaster, forecast_memory
from wordpiece_studio.training.numba_engine import CompiledEngine

if TYPE_CHECKING:
    from wordpiece_studio.training.config import Objective

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


def test_what_the_corpus_decides_is_exact(counts: wps.WordCounts) -> None:
    config = wps.TrainingConfig(max_merges=0)
    input_ = prepare(counts, config)
    forecast = forecast_memory(counts, config)
    columns_of_words = (input_.word_starts, input_.word_lengths, input_.symbol_counts)
    kept = input_.cells.nbytes + 8 * len(input_.words) + sum(column.nbytes for column in columns_of_words)
    assert forecast.input == kept
    assert forecast.history == MergeHistory(input_).segmentations.boundary_steps.nbytes
    state = CompiledEngine(input_)._state
    arena = 4 * int(state.scalars[columns.ARENA])
    assert forecast.engine == state.cells.nbytes + state.weights.nbytes + state.table.nbytes + arena


@pytest.mark.parametrize("suffix", ["symbol", "attached"])
def test_a_suffix_makes_more_cells(counts: wps.WordCounts, suffix: str) -> None:
    config = wps.TrainingConfig(max_merges=0, end_of_word_suffix="</w>", end_of_word=suffix)  # type: ignore[arg-type]
    input_ = prepare(counts, config)
    forecast = forecast_memory(counts, config)
    assert forecast.history == 4 * len(input_.cells)
    state = CompiledEngine(input_)._state
    arena = 4 * int(state.scalars[columns.ARENA])
    assert forecast.engine == state.cells.nbytes + state.weights.nbytes + state.table.nbytes + arena


def test_entries_are_as_wide_as_those_of_the_arrays(counts: wps.WordCounts) -> None:
    input_ = prepare(counts, wps.TrainingConfig())
    state, history = CompiledEngine(input_)._state, MergeHistory(input_)

    def width(*arrays: object) -> int:
        return sum(array[:1].nbytes for array in arrays)  # type: ignore[index]

    assert width(state.pairs, state.counts) == memory_forecast._PAIR
    assert width(state.changes, state.change_weights) == memory_forecast._CHANGE
    assert width(state.merges, state.values) == memory_forecast._MERGE
    assert width(state.symbols, state.frequencies) == memory_forecast._SYMBOL
    assert width(state.cells) == memory_forecast._CELL
    assert width(state.weights) == memory_forecast._WEIGHT
    assert width(state.places) == width(state.arena) == width(history.places._places) == memory_forecast._PLACE
    record = width(*history._columns.values(), history._sizes, history.places._offsets, history.places._left_lengths)
    assert record == memory_forecast._RECORD


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_takes_more(counts: wps.WordCounts, objective: Objective) -> None:
    def peak(config: wps.TrainingConfig, words: wps.WordCounts = counts) -> int:
        return forecast_memory(words, config).peak

    config = wps.TrainingConfig(objective=objective, min_frequency=2)
    by_size = [peak(replace(config, max_merges=merges)) for merges in (0, 100, 1000, 10_000, 10**6)]
    assert by_size == sorted(by_size)
    assert by_size[-1] == peak(config)  # no more merges than the corpus has
    least = wps.minimum_vocab_size(counts, config)
    assert peak(replace(config, vocab_size=least + 1000)) == peak(replace(config, max_merges=1000))
    assert peak(replace(config, min_frequency=50)) < peak(config)
    assert peak(config, many_words(40_000)) > 1.5 * peak(config)


def test_what_is_still_to_come_is_less_than_the_whole(counts: wps.WordCounts) -> None:
    short, middle, long = (forecast_memory(counts, wps.TrainingConfig(max_merges=n)) for n in (100, 5000, 9000))
    assert 0 < long.beyond(middle) < long.beyond(short) < long.peak
    assert long.beyond(long) == long.passing


def test_count_touches_more_than_the_score(counts: wps.WordCounts) -> None:
    score, count = (
        forecast_memory(counts, wps.TrainingConfig(objective=objective, max_merges=500, min_frequency=2))
        for objective in ("score", "count")
    )
    assert score.input == count.input
    assert score.engine < count.engine
    assert score.history < count.history


def test_of_many_words_some_are_looked_at(counts: wps.WordCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    config = wps.TrainingConfig(max_merges=1000)
    exact = forecast_memory(counts, config).peak
    monkeypatch.setattr(memory_forecast, "_SAMPLE", 500)
    forecaster = MemoryForecaster(counts)
    assert len(forecaster._lengths) < 1100
    assert forecaster.forecast(config).peak == pytest.approx(exact, rel=0.02)


def test_no_words_and_single_letters_need_nothing_to_speak_of() -> None:
    for pairs in ([], [("a", 3)]):
        assert forecast_memory(wps.WordCounts.from_pairs(pairs), wps.TrainingConfig()).peak < 100_000


MEASURE = """
    import ctypes, gc, re, sys
    from pathlib import Path
    import wordpiece_studio as wps
    from tests.training.test_memory_forecast import many_words
    from wordpiece_studio.training import numba_engine as compiled
    from wordpiece_studio.training.memory_forecast import forecast_memory

    def kilobytes(field):
        return int(re.search(field + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))

    counts = many_words(300_000)
    config = wps.TrainingConfig(objective=sys.argv[1], max_merges=30_000, min_frequency=2)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what the counting left must not serve the training
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    trainer = wps.Trainer(counts, config)
    trainer.run()
    assert len(trainer.vocabulary.tokens) > 30_000
    print(1024 * (kilobytes("VmHWM") - before), forecast_memory(counts, config).peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures with /proc")
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_forecast_is_a_little_more_than_is_taken(objective: Objective) -> None:
    order = [sys.executable, "-c", textwrap.dedent(MEASURE), objective]
    result = subprocess.run(order, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    peak, forecast = map(int, result.stdout.split())
    assert 0.9 <= forecast / peak <= 1.6
