"""What always holds in the arrays of the fast engine: a test for each invariant on the page of `training.kernels`.

Each walks through a training forward, back and forward again, one merge at a time, on random corpora and with a
shortlist so short that most pairs are not on it, and compares the columns with a fresh count of the cells.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training.test_trainer import configs, corpora
from wordpiece_studio.training import kernels, reference
from wordpiece_studio.training.kernels import columns
from wordpiece_studio.training.kernels import pairs as pair_kernels
from wordpiece_studio.training.numba_engine import CompiledEngine
from wordpiece_studio.training.plain_engine import OBJECTIVES
from wordpiece_studio.training.reference import ln
from wordpiece_studio.training.segmentation import INSIDE, SEPARATOR, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.training.segmentation import TrainingInput

ROUNDING = 760 * 2.0**-53  # of values under likelihood, in units of n: see the kernels' page


@dataclass
class Fresh:
    """A count of the cells of an engine that uses none of its other numbers but the lengths of symbols."""

    n: Counter[tuple[int, int]] = field(default_factory=Counter)
    f: Counter[int] = field(default_factory=Counter)
    places: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    symbols: list[tuple[int, int]] = field(default_factory=list)
    """(symbol, first cell) of all words."""

    @property
    def total(self) -> int:
        return sum(self.f.values())


def counted(engine: CompiledEngine) -> Fresh:
    fresh, input_, state = Fresh(), engine._input, engine._state
    for start, length, weight in zip(input_.word_starts, input_.word_lengths, input_.weights.tolist(), strict=True):
        word = list(symbols_of(state, int(start), int(start + length)))
        fresh.symbols += word
        for symbol, _ in word:
            fresh.f[symbol] += weight
        for (left, cell), (right, _) in itertools.pairwise(word):
            fresh.n[left, right] += weight
            fresh.places.setdefault((left, right), []).append(cell)
    return fresh


def symbols_of(state: columns.State, cell: int, end: int) -> Iterator[tuple[int, int]]:
    while cell < end:
        yield int(state.cells[cell]), cell
        cell += int(state.symbols[state.cells[cell], columns.LENGTH])


def engine_for(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> CompiledEngine:
    return CompiledEngine(prepare(wps.WordCounts.from_pairs(pairs), config), capacity=capacity)


def forward(engine: CompiledEngine, merges: int | None) -> Iterator[CompiledEngine]:
    """Yield the engine as it is and after each merge."""
    yield engine
    for _ in range(20 if merges is None else merges):
        if engine.advance(1)[1] is not None:
            break
        yield engine


def back(engine: CompiledEngine) -> Iterator[CompiledEngine]:
    while engine.current_step:
        engine.retreat(1)
        yield engine


def walked(engine: CompiledEngine, config: wps.TrainingConfig) -> Iterator[CompiledEngine]:
    yield from forward(engine, config.max_merges)
    yield from back(engine)
    yield from forward(engine, config.max_merges)


def rows_of(engine: CompiledEngine) -> Iterator[tuple[int, int, int]]:
    """Yield each row in use, with its two symbols."""
    used = engine._scalar(columns.PAIRS)
    for row, (left, right) in enumerate(engine._state.pairs[:used, [columns.LEFT, columns.RIGHT]].tolist()):
        yield row, left, right


def has_shortlist(engine: CompiledEngine) -> bool:
    return bool(engine._scalar(columns.SHORTLIST_IS_VALID))


def is_candidate(engine: CompiledEngine, row: int) -> bool:
    is_frequent = engine._state.counts[row] >= engine._scalar(columns.MIN_FREQUENCY)
    return bool(is_frequent and engine._state.pairs[row, columns.SLOT] != columns.EXCLUDED)


def upper_bound(engine: CompiledEngine, row: int, left: int, right: int) -> float:
    lowest = engine._state.symbols[:, columns.LOWEST]
    objective, total = engine._scalar(columns.OBJECTIVE), engine._scalar(columns.TOTAL)
    return float(
        pair_kernels.pair_value(objective, engine._state.counts[row], lowest[left], lowest[right], total)
    )  # fmt: skip


# Every value is negative, so an unlisted pair that loses n may become the best.
NEGATIVE = example(
    [("abb", 1), ("aaba", 1), ("a", 20), ("b", 1000)],
    wps.TrainingConfig(objective="likelihood", special_tokens=(), continuing_subword_prefix="", max_merges=20),
    2,
)
# The suffix is spelled out too: merges make its symbol again, and its pairs gain occurrences among the old ones.
SPELLED_OUT = example(
    [("a</w>b", 3), ("a", 5), ("ca</w>", 2)],
    wps.TrainingConfig(special_tokens=(), continuing_subword_prefix="", end_of_word_suffix="</w>", max_merges=20),
    3,
)


def invariant(test: Any) -> Any:
    on_random_corpora = given(corpora, configs, st.sampled_from([2, 3, 6, 20]))
    return settings(max_examples=40)(on_random_corpora(SPELLED_OUT(NEGATIVE(test))))


@invariant
def test_1_cells(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    input_: TrainingInput = engine._input
    texts: dict[int, str] = {}
    for _ in walked(engine, config):
        cells, lengths = engine._state.cells, engine._state.symbols[:, columns.LENGTH]
        assert ((cells == SEPARATOR) == (input_.cells == SEPARATOR)).all()
        for symbol, cell in counted(engine).symbols:
            end = cell + int(lengths[symbol])
            assert cells[end - 1] == symbol
            assert (cells[cell + 1 : end - 1] == INSIDE).all()
            text = "".join(input_.symbols[index].text for index, _ in input_.symbols_between(cell, end))
            assert texts.setdefault(symbol, text) == text
            assert len(text) == end - cell


@pytest.mark.slow
@invariant
def test_2_counts(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    for _ in walked(engine, config):
        fresh, state = counted(engine), engine._state
        assert [fresh.n[left, right] for _, left, right in rows_of(engine)] == state.counts[
            : engine._scalar(columns.PAIRS)
        ].tolist()
        symbols = engine._scalar(columns.SYMBOLS)
        assert [fresh.f[symbol] for symbol in range(symbols)] == state.frequencies[:symbols].tolist()
        assert engine._scalar(columns.TOTAL) == fresh.total


@invariant
def test_3_rows(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    for _ in walked(engine, config):
        state = engine._state
        rows = {(left, right): row for row, left, right in rows_of(engine)}
        assert len(rows) == engine._scalar(columns.PAIRS) <= len(state.table) // 2
        assert counted(engine).n.keys() <= rows.keys()
        for (left, right), row in rows.items():
            assert state.table[pair_kernels.find(state.pairs, state.table, left, right)] == row
        for side in range(2):
            reached = [row for symbol in range(engine._scalar(columns.SYMBOLS)) for row in linked(state, symbol, side)]
            assert sorted(reached) == sorted(rows.values())


def linked(state: columns.State, symbol: int, side: int) -> Iterator[int]:
    """Yield the rows that a list leads to; all must have the symbol on this side."""
    row = int(state.symbols[symbol, columns.BY_LEFT + side])
    while row != columns.NOTHING:
        assert state.pairs[row, columns.LEFT + side] == symbol
        yield row
        row = int(state.pairs[row, columns.NEXT_BY_LEFT + side])


@invariant
def test_4_blocks(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    for _ in walked(engine, config):
        fresh, state = counted(engine), engine._state
        for row, left, right in rows_of(engine):
            start, size, first = state.pairs[row, [columns.START, columns.SIZE, columns.FIRST]].tolist()
            block = state.arena[start : start + size]
            assert (np.diff(block) > 0).all()
            valid = (state.cells[block] == left) & (
                state.cells[block + state.symbols[left, columns.LENGTH]] == right
            )  # fmt: skip
            assert block[valid].tolist() == fresh.places.get((left, right), [])
            assert not valid[:first].any()


@invariant
def test_5_bounds(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    for _ in walked(engine, config):
        if has_shortlist(engine) and config.objective != "count":
            used = slice(engine._scalar(columns.SYMBOLS))
            assert (engine._state.symbols[used, columns.LOWEST] <= engine._state.frequencies[used]).all()


@pytest.mark.slow
@invariant
def test_6_shortlist(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    for _ in walked(engine, config):
        if not has_shortlist(engine):
            continue
        fresh, state = counted(engine), engine._state
        listed = state.shortlist[: engine._scalar(columns.LISTED)]
        slots = {int(row): slot for slot, row in enumerate(listed[:, columns.LISTED_ROW])}
        for row, left, right in rows_of(engine):
            slot = int(state.pairs[row, columns.SLOT])
            assert slots.get(row, slot if slot < 0 else None) == slot
            if slot < 0:
                continue
            n = fresh.n[left, right]
            assert listed[slot, columns.LISTED_LEFT : columns.LISTED_N + 1].tolist() == [left, right, n]
            if n >= engine._scalar(columns.MIN_FREQUENCY):
                assert listed[slot, columns.LISTED_PLACE] == fresh.places[left, right][0]
            assert_listed_value(engine, slot, config, (n, fresh.f[left], fresh.f[right], fresh.total))


def assert_listed_value(
    engine: CompiledEngine, slot: int, config: wps.TrainingConfig, numbers: tuple[int, int, int, int]
) -> None:
    value, slope = engine._state.shortlist_values[slot], engine._state.shortlist_slopes[slot]
    exact = OBJECTIVES[config.objective](*numbers) if numbers[0] else -np.inf
    if numbers[0] < engine._scalar(columns.MIN_FREQUENCY):
        assert (value, slope) == (-np.inf, 0)
    elif config.objective == "likelihood":
        assert value + slope * ln(float(numbers[3])) == pytest.approx(exact, rel=0, abs=ROUNDING * numbers[0])
        assert slope == numbers[0] <= engine._state.reals[columns.STEEPEST]
    else:
        assert (value, slope) == (exact, 0)


@invariant
def test_7_threshold(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    longest = engine._scalar(columns.LONGEST)
    for _ in walked(engine, config):
        state = engine._state
        for row, left, right in rows_of(engine):
            slot, length = state.pairs[row, columns.SLOT], state.symbols[[left, right], columns.LENGTH].sum()
            assert (slot == columns.EXCLUDED) == (length > longest)
            if has_shortlist(engine) and slot == columns.NOTHING and is_candidate(engine, row):
                assert upper_bound(engine, row, left, right) < state.reals[columns.THRESHOLD]


@invariant
def test_8_winner(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    before, ids = counted(engine), engine._state.symbols[:, columns.ID].copy()
    for _ in itertools.islice(forward(engine, config.max_merges), 1, None):
        state, step = engine._state, engine.current_step - 1
        objective = OBJECTIVES[config.objective]
        lengths, longest = state.symbols[:, columns.LENGTH], engine._scalar(columns.LONGEST)
        values: Any = reference.pair_values(before.n, before.f, objective, config.min_frequency)  # type: ignore[arg-type]
        values = {pair: value for pair, value in values.items() if lengths[list(pair)].sum() <= longest}
        tied = [pair for pair, value in values.items() if value == max(values.values())]
        if config.tie == "ids":
            tied.sort(key=lambda pair: ids[list(pair)].tolist())
        row = state.merges[step, columns.MERGE_ROW]
        assert state.pairs[row, [columns.LEFT, columns.RIGHT]].tolist() == list(tied[0])
        assert state.merges[step, columns.MERGE_TIES] == len(tied)
        assert state.values[step] == values[tied[0]]
        before, ids = counted(engine), state.symbols[:, columns.ID].copy()


@pytest.mark.slow
@invariant
def test_9_undo(pairs: list[tuple[str, int]], config: wps.TrainingConfig, capacity: int) -> None:
    engine = engine_for(pairs, config, capacity)
    before = [numbers_in_use(engine) for _ in forward(engine, config.max_merges)]
    before.pop()
    for _ in back(engine):
        assert numbers_in_use(engine) == before.pop()


def numbers_in_use(engine: CompiledEngine) -> list[Any]:
    """Return all that describes a step: not the shortlist, and not what is only skipped faster, FIRST."""
    state, used, symbols = engine._state, engine._scalar(columns.PAIRS), len(engine._input.symbols)
    of_pairs = [columns.LEFT, columns.RIGHT, columns.START, columns.SIZE, columns.NEXT_BY_LEFT, columns.NEXT_BY_RIGHT]
    scalars = [columns.TOTAL, columns.PAIRS, columns.ARENA, columns.PLACES, columns.CHANGES, columns.STEP]
    parts = [
        state.cells,
        state.counts[:used],
        state.frequencies[:symbols],
        state.pairs[:used, of_pairs],
        state.symbols[:symbols, [columns.BY_LEFT, columns.BY_RIGHT]],
        state.scalars[scalars],
    ]
    return [part.tolist() for part in parts]


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_the_shortlist_leaves_most_candidates_out(sample_words: Any, objective: Any) -> None:
    """The invariants of the shortlist say something only where it is valid after merges and does not hold all."""
    config = wps.TrainingConfig(objective=objective, max_merges=150)
    engine = engine_for(list(sample_words.items()), config, 20)
    unlisted = []
    for _ in forward(engine, config.max_merges):
        if has_shortlist(engine):
            candidates = sum(is_candidate(engine, row) for row, _, _ in rows_of(engine))
            unlisted.append(candidates - engine._scalar(columns.LISTED))
    assert sum(number > 100 for number in unlisted) > 50


def test_the_page_lists_the_invariants_that_are_tested() -> None:
    listed = re.findall(r"^(\d+)\. \*(\w+)\*", kernels.__doc__ or "", flags=re.MULTILINE)
    tested = [name for name in globals() if re.match(r"test_\d", name)]
    assert [f"test_{number}_{name.lower()}" for number, name in listed] == tested
