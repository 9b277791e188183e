"""The arrays that the kernels work on: what stands in which column, and their types."""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import njit, types

NOTHING = -1

# Objectives and ties.
SCORE, LIKELIHOOD, COUNT = 0, 1, 2

# Columns of `pairs`.
LEFT, RIGHT, N, START, SIZE, FIRST, NEXT_BY_LEFT, NEXT_BY_RIGHT, SLOT, PAIR_COLUMNS = range(10)
# Columns of `symbols`.
F, LOWEST, LENGTH, BY_LEFT, BY_RIGHT, ID, SYMBOL_COLUMNS = range(7)
# Columns of `merges`.
(
    MERGE_ROW,
    MERGE_NEW,
    MERGE_N,
    MERGE_LEFT_F,
    MERGE_RIGHT_F,
    MERGE_TOTAL,
    MERGE_TIES,
    MERGE_IS_NEW,
    MERGE_ID,
    MERGE_PLACES,
    MERGE_CHANGES,
    MERGE_PAIRS,
    MERGE_ARENA,
    MERGE_COLUMNS,
) = range(14)
# Columns of `changes`: what to write back into a pair's row.
CHANGE_ROW, CHANGE_N, CHANGE_FIRST, CHANGE_START, CHANGE_SIZE, CHANGE_COLUMNS = range(6)
# Columns of `neighbours`: weight, occurrences and new row per symbol left and right of a merge.
LEFT_WEIGHT, LEFT_COUNT, LEFT_ROW, RIGHT_WEIGHT, RIGHT_COUNT, RIGHT_ROW, NEIGHBOUR_COLUMNS = range(7)
# Entries of `scalars`.
(
    TOTAL,  # N: symbols in the corpus
    PAIRS,  # rows in use
    SYMBOLS,
    ARENA,  # entries in use
    PLACES,
    CHANGES,
    MOMENT,  # merges carried out
    KNOWN,  # merges ever found
    VOCABULARY,  # tokens
    HOT,  # slots in use
    HOT_IS_VALID,
    MARKED,  # slots whose keys changed since the tree was played; the first of them stand in `marked`
    LEFTS,  # of the merge in hand: distinct neighbours on either side
    RIGHTS,
    BETWEEN,  # and new symbols that stand side by side, weighted and not
    BETWEEN_COUNT,
    NEEDED_PAIRS,  # capacities the next merge could need
    NEEDED_ARENA,
    NEEDED_PLACES,
    NEEDED_CHANGES,
    SCALARS,
) = range(21)
# Entries of `rules`, fixed for a training.
OBJECTIVE, TIE_BY_IDS, MIN_FREQUENCY, LONGEST, NAMES_COLLIDE, RULES = range(6)

# What `advance` answers.
DONE, GROW, REBUILD, NAME, STOP_SIZE, STOP_NONE, STOP_VALUE = range(7)


class State(NamedTuple):
    """All arrays of an engine; the comments give their shapes."""

    cells: Any  # int32 (n_cells,)
    weights: Any  # int64 (n_cells,): of the word that a cell is in
    pairs: Any  # int64 (capacity, PAIR_COLUMNS)
    table: Any  # int32 (power of two): hash of a pair → row
    arena: Any  # int32 (capacity,): start cells
    symbols: Any  # int64 (capacity, SYMBOL_COLUMNS)
    neighbours: Any  # int64 (capacity of symbols, NEIGHBOUR_COLUMNS), all 0 between merges
    touched: Any  # int32 (2, capacity of symbols)
    merges: Any  # int64 (capacity, MERGE_COLUMNS)
    values: Any  # float64 (capacity of merges,)
    places: Any  # int32 (capacity,)
    changes: Any  # int64 (capacity, CHANGE_COLUMNS)
    hot_rows: Any  # int32 (capacity of the tree,): slot → row
    hot_pairs: Any  # int32 (2, capacity of the tree): slot → left and right symbol
    hot_counts: Any  # int64 (capacity of the tree,): n
    hot_values: Any  # float64 (capacity of the tree,): -inf if no candidate
    hot_ids: Any  # int64 (capacity of the tree,): both vocabulary ids if they decide ties, else 0
    hot_places: Any  # int64 (capacity of the tree,): first occurrence
    winners: Any  # int32 (2 × capacity of the tree,): node → slot; the leaves are the slots themselves
    winner_ties: Any  # int32 (2 × capacity of the tree,): slots below that share the winner's value
    marked: Any  # int32 (a fraction of the tree,): slots
    threshold: Any  # float64 (1,): every pair that is not hot is worth less
    scalars: Any  # int64 (SCALARS,)
    rules: Any  # int64 (RULES,)


I4, I8, F8 = types.int32[::1], types.int64[::1], types.float64[::1]
I4_2, I8_2 = types.int32[:, ::1], types.int64[:, ::1]
STATE = types.NamedTuple(  # type: ignore[no-untyped-call]
    (
        *(I4, I8, I8_2, I4, I4, I8_2, I8_2, I4_2, I8_2, F8, I4, I8_2),
        *(I4, I4_2, I8, F8, I8, I8, I4, I4, I4, F8, I8, I8),
    ),
    State,
)
INT, FLOAT, NONE, BOOL = types.int64, types.float64, types.void, types.boolean


def kernel(signature: Any) -> Any:
    """Compile a function for one signature."""
    # error_model: a bound may divide by a lower bound of 0, and infinity is then the right answer.
    return njit(signature, nogil=True, cache=True, error_model="numpy")
