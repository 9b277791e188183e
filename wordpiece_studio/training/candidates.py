"""The candidates at a step: those of an engine that stands there, or of one that is made to begin there.

A trainer names the candidates of the step that its engine stands at. While that engine is learning it must not be
moved; but a history knows the segmentation of every word at every step, and an engine that begins with these symbols
finds the same candidates, and would learn the same merges. It takes as long as to begin a training, wherever the step
is, and nothing is left of it afterwards.

>>> from wordpiece_studio.corpus.counts import WordCounts
>>> from wordpiece_studio.training.trainer import train
>>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
>>> [candidate.token for candidate in candidates_at(train(counts).history, 2, 2)]
['hugs', 'hug']
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_loaded
from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.training.initial_state import INSIDE, Symbol
from wordpiece_studio.training.oracle import PlainEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.training.engine import Engine
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.initial_state import TrainingInput

_BYTES_A_CELL = 48  # of the cells and of all arrays of an engine that has merged nothing
_BYTES_A_MERGE = 500  # a symbol and its token, as text, in lists and dictionaries, and a row of the engine's


def candidates(engine: Engine, history: MergeHistory, k: int) -> list[Candidate]:
    """Return the best `k` candidates at the step of `engine`, the next merge first.

    `history` spells their tokens out.
    """
    ranked = engine.ranked(max(k, 2))
    prefix = history.config.continuing_subword_prefix
    tied = len(ranked) > 1 and ranked[0].value == ranked[1].value
    found = []
    for pair in ranked[: max(k, 0)]:
        left, right = history.token(pair.left_id), history.token(pair.right_id)
        found.append(
            Candidate(
                left,
                right,
                left + right.removeprefix(prefix),
                pair.pair_frequency,
                pair.left_frequency,
                pair.right_frequency,
                pair.value,
                tied and pair.value == ranked[0].value,
            )
        )
    return found


def candidates_at(
    history: MergeHistory, step: int, k: int, should_stop: Callable[[], bool] | None = None
) -> list[Candidate] | None:
    """Return the best `k` candidates after `step` merges; another thread may append to the history meanwhile.

    Exactly what the trainer of the history names there. None if `should_stop` said so on the way.

    Raises
    ------
    StudioError
        If there is no such step.
    MemoryError
        If memory runs out.
    """
    input_ = input_at(history, step, should_stop)
    if input_ is None or (should_stop is not None and should_stop()):
        return None
    return candidates(_engine(input_), history, k)


def candidates_memory(history: MergeHistory) -> int:
    """Return how many bytes `candidates_at` takes for a step, rather too many than too few."""
    return _BYTES_A_CELL * len(history.input.cells) + _BYTES_A_MERGE * (len(history) + len(history.input.symbols))


def input_at(history: MergeHistory, step: int, should_stop: Callable[[], bool] | None = None) -> TrainingInput | None:
    """Return the state after `step` merges as if it were that before the first one; None if it was to stop.

    Raises
    ------
    StudioError
        If there is no such step.
    """
    initial, vocabulary = history.input, history.vocabulary(step)
    symbols, symbol_ids, made_by = _symbols_at(history, step)
    cells, numbers = initial.cells.copy(), initial.symbol_counts.copy()
    for block in history.segmentations.blocks_at(step):
        if should_stop is not None and should_stop():
            return None
        standing, merged = cells[block.begins], block.makers > 0
        standing[merged] = made_by[block.makers[merged] - 1]
        cells[block.insides] = INSIDE
        cells[block.begins] = cells[block.ends - 1] = standing
        numbers[block.words] = block.symbol_counts
    return dataclasses.replace(
        initial,
        cells=cells,
        symbol_counts=numbers,
        symbols=symbols,
        vocabulary_tokens=vocabulary.tokens,
        symbol_ids=symbol_ids,
    )


def _symbols_at(history: MergeHistory, step: int) -> tuple[list[Symbol], NDArray[np.int64], NDArray[np.int32]]:
    """Return all symbols there are after `step` merges, their vocabulary ids, and the symbol that each merge made.

    Most merges make a symbol that there was not before; one whose token is not new may make one there was.
    """
    initial, tokens = history.input, history.vocabulary(step).tokens
    bare = len(initial.config.continuing_subword_prefix)
    first = initial.cells[history.first_places(step)]
    continues = np.array([symbol.continues for symbol in initial.symbols])[first].tolist()
    new_ids = history.column("new_id")[:step]
    made = [
        Symbol(tokens[new_id][bare:] if is_inside else tokens[new_id], is_inside)
        for new_id, is_inside in zip(new_ids.tolist(), continues, strict=True)
    ]
    if history.column("is_new")[:step].all():
        symbols = initial.symbols + made
        made_by = np.arange(len(initial.symbols), len(symbols), dtype=np.int32)
    else:
        index_of = {symbol: index for index, symbol in enumerate(initial.symbols)}
        made_by = np.array([index_of.setdefault(symbol, len(index_of)) for symbol in made], dtype=np.int32)
        symbols = list(index_of)
    ids = np.empty(len(symbols), dtype=np.int64)
    ids[: len(initial.symbols)] = initial.symbol_ids
    ids[made_by] = new_ids
    return symbols, ids, made_by


def _engine(input_: TrainingInput) -> Engine:
    """Return the engine that is there: where the kernels are not loaded, there is little to do."""
    if not kernels_are_loaded("training"):
        return PlainEngine.of(input_)
    from wordpiece_studio.training.numba_engine import CompiledEngine

    return CompiledEngine(input_)
