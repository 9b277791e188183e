"""The candidates at a step, from an engine that is at this step or from one that starts there.

A trainer ranks candidates at the step of its engine. While that engine trains, it must not be moved. But the history
has the segmentation of every word at every step, and an engine that starts with these symbols finds the same
candidates, and would find the same merges. Making it takes as long as starting a training, whatever the step; it is
discarded afterwards.

>>> from wordpiece_studio.corpus.counts import WordCounts
>>> from wordpiece_studio.training.config import TrainingConfig
>>> from wordpiece_studio.training.trainer import train
>>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
>>> run = train(counts, TrainingConfig(objective="score"))
>>> [candidate.token for candidate in candidates_at(run.history, 2, 2)]
['hugs', 'hug']
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_loaded
from wordpiece_studio.training.engine import Candidate, PairList
from wordpiece_studio.training.initial_state import INSIDE, Symbol
from wordpiece_studio.training.oracle import PlainEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.training.engine import Engine
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.initial_state import TrainingInput

_BYTES_A_CELL = 48  # cells and all arrays of an engine before its first merge
_BYTES_A_MERGE = 500  # a symbol and its token, as text, in lists and dictionaries, and a row in the engine


def candidates(engine: Engine, history: MergeHistory, step: int, k: int) -> PairList[Candidate]:
    """Return the best `k` candidates of an engine that is at `step`, the next merge first.

    `history` supplies their tokens.
    """
    ranked = engine.ranked(max(k, 2))
    prefix = history.config.continuing_subword_prefix
    tied = len(ranked) > 1 and ranked[0].value == ranked[1].value
    symbols, objective = history.symbols_after(step), history.config.objective
    found: PairList[Candidate] = PairList()
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
                symbols,
                objective,
            )
        )
    return found


def candidates_at(
    history: MergeHistory, step: int, k: int, should_stop: Callable[[], bool] | None = None
) -> PairList[Candidate] | None:
    """Return the best `k` candidates after `step` merges; another thread may append to the history meanwhile.

    The result is exactly that of the trainer at this step. None if `should_stop` returned true on the way.
    """
    input_ = input_at(history, step, should_stop)
    if input_ is None or (should_stop is not None and should_stop()):
        return None
    return candidates(_engine(input_), history, step, k)


def candidates_memory(history: MergeHistory) -> int:
    """Return how many bytes `candidates_at` needs for a step; an estimate that errs on the high side."""
    return _BYTES_A_CELL * len(history.input.cells) + _BYTES_A_MERGE * (len(history) + len(history.input.symbols))


def input_at(history: MergeHistory, step: int, should_stop: Callable[[], bool] | None = None) -> TrainingInput | None:
    """Return the state after `step` merges as an initial state; None if `should_stop` returned true."""
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
    """Return all symbols after `step` merges, their vocabulary ids, and the symbol that each merge made.

    Most merges make a new symbol; a merge whose token is not new may make a symbol that existed before.
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
    """Return the fast engine if its kernels are loaded; if they are not, the corpus is small."""
    if not kernels_are_loaded("training"):
        return PlainEngine.of(input_)
    from wordpiece_studio.training.numba_engine import CompiledEngine

    return CompiledEngine(input_)
