"""Trainings that do not fit: refused before they start, or left intact where they were when memory ran out."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps
from tests.training.test_trainer import assert_equals_definition, contents
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import history, segmentation, trainer
from wordpiece_studio.training import numba_engine as compiled
from wordpiece_studio.training.kernels import columns as columns

if TYPE_CHECKING:
    from collections.abc import Callable

COLLIDING = {"continuing_subword_prefix": "", "end_of_word_suffix": "s", "end_of_word": "attached"}


class Failing:
    """Calls a function, but the call after `calls` others runs out of memory."""

    def __init__(self, function: Callable[..., Any], calls: int) -> None:
        self.function = function
        self.calls = calls

    def __call__(self, *arguments: Any) -> Any:
        self.calls -= 1
        if self.calls == -1:
            raise MemoryError
        return self.function(*arguments)


def begin(words: wps.WordCounts, **settings: Any) -> wps.Trainer:
    """Return a trainer with the fast engine, whose arrays have room for almost nothing."""
    begun = wps.Trainer(words, wps.TrainingConfig(max_merges=120, **settings), engine="plain")
    begun._place = 0, compiled.CompiledEngine(begun.history.input, capacity=2)
    return begun


def run_in_slices(training: wps.Trainer) -> None:
    while training.run(7):
        pass


@pytest.mark.parametrize("settings", [{}, {"objective": "count"}, COLLIDING], ids=["score", "count", "colliding"])
@pytest.mark.parametrize(
    ("module", "name", "calls"),
    [
        *((compiled, "with_room", calls) for calls in (0, 3, 14, 77, 160)),
        *((compiled, "_shortlist_arrays", calls) for calls in (0, 1, 2)),
        *((history, "with_room", calls) for calls in (0, 5, 30, 90)),
        *((segmentation, "with_room", calls) for calls in (0, 2, 12, 30)),
        (compiled, "_threshold", 1),
        (compiled, "_table_size", 3),
    ],
)
def test_training_continues_from_where_memory_ran_out(
    sample_words: Any, monkeypatch: pytest.MonkeyPatch, settings: Any, module: Any, name: str, calls: int
) -> None:
    straight, training = begin(sample_words, **settings), begin(sample_words, **settings)
    run_in_slices(straight)
    monkeypatch.setattr(module, name, Failing(getattr(module, name), calls))
    with pytest.raises(StudioError, match="not enough memory for more than") as caught:
        run_in_slices(training)
    known = len(training.history)
    assert caught.value.values == {"merges": known}
    assert training.current_step == training._engine.known == known
    assert training.vocabulary.tokens == straight.history.vocabulary(known).tokens
    straight.seek(known)
    assert training.top(5) == straight.top(5)
    training.step_back()
    training.seek(known)
    run_in_slices(training)
    run_in_slices(straight)
    assert contents(training) == contents(straight)
    assert_same_state(training, straight)


def assert_same_state(one: wps.Trainer, other: wps.Trainer) -> None:
    mine, theirs = one._engine._state, other._engine._state  # type: ignore[attr-defined]
    for scalar in (columns.PAIRS, columns.SYMBOLS, columns.ARENA, columns.PLACES, columns.VOCABULARY, columns.TOTAL):
        assert mine.scalars[scalar] == theirs.scalars[scalar]
    rows, symbols = int(mine.scalars[columns.PAIRS]), int(mine.scalars[columns.SYMBOLS])
    assert np.array_equal(mine.cells, theirs.cells)
    assert np.array_equal(mine.counts[:rows], theirs.counts[:rows])
    assert np.array_equal(mine.pairs[:rows, : columns.FIRST], theirs.pairs[:rows, : columns.FIRST])
    assert np.array_equal(mine.frequencies[:symbols], theirs.frequencies[:symbols])


@pytest.mark.parametrize("calls", [0, 1, 13])
def test_plain_engine_continues_too(sample_words: Any, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    config = wps.TrainingConfig(max_merges=40, special_tokens=("[UNK]", "##s"))
    straight, training = (wps.Trainer(sample_words, config, engine="plain") for _ in range(2))
    run_in_slices(straight)
    monkeypatch.setattr(history, "with_room", Failing(history.with_room, calls))
    with pytest.raises(StudioError, match="not enough memory"):
        run_in_slices(training)
    assert training.current_step == len(training.history)
    run_in_slices(training)
    assert contents(training) == contents(straight)


def test_ranking_candidates_out_of_memory_keeps_the_training(
    sample_words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight, training = begin(sample_words), begin(sample_words)
    for one in (straight, training):
        one.run(30)
        one.step_back()
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "_shortlist_arrays", Failing(compiled._shortlist_arrays, 0))
        with pytest.raises(StudioError, match="not enough memory for this run"):
            training.top(500)
    assert training.top(500) == straight.top(500)
    run_in_slices(training)
    run_in_slices(straight)
    assert contents(training) == contents(straight)


def test_a_trainer_that_cannot_be_made_says_so(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "prepare", Failing(segmentation.prepare, 0))
    with pytest.raises(StudioError, match="not enough memory for this run"):
        wps.Trainer(sample_words)


def test_what_does_not_fit_is_refused_before_anything_is_laid_out(
    sample_words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "prepare", None)
        for refused in (
            lambda: wps.Trainer(sample_words, memory_limit=1000),
            lambda: wps.train(sample_words, memory_limit=0),
        ):
            with pytest.raises(StudioError, match=r"needs about 1 MB of memory, but only 1 MB is free"):
                refused()
        patch.setattr(trainer, "available_memory", lambda: 1000)
        with pytest.raises(StudioError, match="needs about"):
            wps.Trainer(sample_words)
    monkeypatch.setattr(trainer, "available_memory", lambda: None)
    wps.Trainer(sample_words)
    monkeypatch.setattr(trainer, "available_memory", lambda: 0)
    assert wps.Trainer(sample_words, memory_limit=math.inf).run(3) == 3


def test_a_longer_training_that_does_not_fit_changes_nothing(
    sample_words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=10))
    training.run()
    before = training.config
    monkeypatch.setattr(trainer, "available_memory", lambda: 50_000)
    with pytest.raises(StudioError, match="needs about"):
        training.change_limits(max_merges=1000)
    assert training.config == before
    assert training.stop_reason == "max_merges"
    assert (training.current_step, training.run()) == (10, 0)
    training.change_limits(max_merges=30)
    assert training.run() == 20


# N, all n and all f are int64.


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_counts_near_the_largest_number_are_exact(objective: Any) -> None:
    pairs = [("abab", 2**60 - 1), ("aba", 2**60 + 7), ("b", 2**59), ("ba", 3)]  # N is 7.5 · 2**60
    config = wps.TrainingConfig(objective=objective, special_tokens=())
    for engine in ("plain", "compiled"):
        training = wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine=engine)
        training.run()
        assert_equals_definition(training, pairs, config)


@pytest.mark.parametrize(
    ("pairs", "suffix", "is_too_much"),
    [
        ([("abc", 2**62)], None, True),
        ([("ab", 2**62)], None, True),
        ([("ab", 2**62 - 1), ("c", 1)], None, False),
        ([("ab", 2**62 - 1), ("c", 2)], None, True),
        ([("c", 2**63 - 1)], None, False),
        ([("c", 2**62)], "</w>", True),
    ],
)
def test_more_symbols_than_can_be_counted_are_refused(
    pairs: list[tuple[str, int]], suffix: str | None, is_too_much: bool
) -> None:
    counts, config = wps.WordCounts.from_pairs(pairs), wps.TrainingConfig(end_of_word_suffix=suffix)
    if is_too_much:
        with pytest.raises(StudioError, match=r"more than 2\*\*63 - 1 characters"):
            wps.Trainer(counts, config)
    else:
        begun = wps.Trainer(counts, config, engine="compiled")
        assert begun.history.input.total_symbols == sum(len(word) * count for word, count in pairs)
        begun.run()


def test_more_characters_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = wps.WordCounts.from_pairs([("hug", 1), ("hugs", 1)])
    monkeypatch.setattr(segmentation, "MOST_CELLS", 9)
    with pytest.raises(StudioError, match="have 10 characters, more than"):
        wps.Trainer(counts)
    monkeypatch.setattr(segmentation, "MOST_CELLS", 10)
    wps.Trainer(counts)


# Where the system itself refuses memory.

LIMITED = """
    import math, resource
    from pathlib import Path
    import wordpiece_studio as wps
    from tests.training.test_forecast import many_words
    from wordpiece_studio.training.numba_engine import CompiledEngine
    from wordpiece_studio.errors import StudioError

    def taken():
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

    def limit(size):
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))

    config = wps.TrainingConfig(objective="count")
    counts = many_words(30_000)
    straight = wps.Trainer(counts, config)
    straight.run()
    training = wps.Trainer(counts, config, memory_limit=math.inf)
    training._place = 0, CompiledEngine(training.history.input, capacity=100)
    limit(taken() + (4 << 20))
    try:
        wps.Trainer(counts, config)
    except StudioError as error:
        print(error)
    try:
        training.run()
    except StudioError as error:
        print(error)
    known = len(training.history)
    assert 0 < training.current_step == known < len(straight.history), known
    try:
        print(len(training.vocabulary))
    except MemoryError:
        print("not spelled out")
    limit(resource.RLIM_INFINITY)
    assert training.vocabulary.tokens == straight.history.vocabulary(known).tokens
    training.run()
    assert training.vocabulary.tokens == straight.vocabulary.tokens
    assert training.history.column("value").tobytes() == straight.history.column("value").tobytes()
"""


@pytest.mark.slow  # where the limit is met depends on the C library
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold to the limit")
def test_a_process_at_its_memory_limit() -> None:
    order = [sys.executable, "-c", textwrap.dedent(LIMITED)]
    result = subprocess.run(order, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    refused, ran_out, _ = result.stdout.splitlines()
    assert refused.startswith("This run needs about ")
    assert ran_out.startswith("There is not enough memory for more than ")
