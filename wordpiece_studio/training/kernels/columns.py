"""The arrays that the kernels work on: what stands in which column, and their types."""

from __future__ import annotations

from typing import Any, NamedTuple

from wordpiece_studio.compiled.kernels import *

NOTHING = -1
TOO_LONG = -2  # in SLOT: the pair is no candidate, ever

# Objectives.
SCORE, LIKELIHOOD, COUNT = 0, 1, 2

# Columns of `pairs`.
LEFT, RIGHT, START, SIZE, FIRST, NEXT_BY_LEFT, NEXT_BY_RIGHT, SLOT, PAIR_COLUMNS = range(9)
# Columns of `symbols`.
(
    LENGTH,
    ID,
    LOWEST,  # a lower bound of f
    BY_LEFT,  # the last row whose left symbol it is, from which NEXT_BY_LEFT leads to the others
    BY_RIGHT,
    HOT_BY_LEFT,  # the same for hot pairs
    HOT_BY_RIGHT,
    LEFT_WEIGHT,  # as a left neighbour in the merge in hand: weight and occurrences, and the row of the new pair
    LEFT_COUNT,
    LEFT_ROW,
    RIGHT_WEIGHT,  # as a right neighbour
    RIGHT_COUNT,
    RIGHT_ROW,
    NEAR_LEFT,  # not of this symbol: these two columns list the neighbours of the merge in hand
    NEAR_RIGHT,
    SYMBOL_COLUMNS,
) = range(16)
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
    MERGE_ID,  # of the token, and those of its parts
    MERGE_LEFT_ID,
    MERGE_RIGHT_ID,
    MERGE_LEFT_LENGTH,
    MERGE_COUNT,  # of places
    MERGE_PLACES,  # where what the merge logged begins
    MERGE_CHANGES,
    MERGE_PAIRS,
    MERGE_ARENA,
    MERGE_COLUMNS,
) = range(18)
# Columns of `changes`: what to write back into a pair's row.
CHANGE_ROW, CHANGE_START, CHANGE_SIZE, CHANGE_FIRST, CHANGE_COLUMNS = range(5)
# Columns of `hot`: a copy of what decides how good a pair is.
HOT_ROW, HOT_LEFT, HOT_RIGHT, HOT_N, HOT_IDS, HOT_PLACE, HOT_NEXT_BY_LEFT, HOT_NEXT_BY_RIGHT, HOT_COLUMNS = range(9)
# Entries of `scalars`; the first six are fixed for a training.
(
    OBJECTIVE,
    TIE_BY_IDS,
    MIN_FREQUENCY,
    LONGEST,
    NAMES_COLLIDE,
    MARGIN,  # one part in how many a symbol's f may fall before all its pairs are looked at again
    TOTAL,  # N: symbols in the corpus
    PAIRS,  # rows in use
    SYMBOLS,
    ARENA,  # entries in use
    PLACES,
    CHANGES,
    STEP,  # merges carried out
    KNOWN,  # merges ever found
    VOCABULARY,  # tokens
    HOT,  # slots in use
    HOT_IS_VALID,
    NEARS_LEFT,  # of the merge in hand: distinct neighbours on either side
    NEARS_RIGHT,
    BETWEEN,  # and new symbols that stand side by side, weighted and not
    BETWEEN_COUNT,
    NEEDED_PAIRS,  # capacities the next merge could need
    NEEDED_ARENA,
    NEEDED_PLACES,
    NEEDED_CHANGES,
    SCALARS,
) = range(26)
# Entries of `reals`.
THRESHOLD, STEEPEST, REALS = range(3)  # every pair that is not hot is worth less; the largest slope of a hot pair

# What `advance` answers.
DONE, GROW, REBUILD, NAME, STOP_SIZE, STOP_NONE, STOP_VALUE = range(7)


class State(NamedTuple):
    """All arrays of an engine; the comments give their shapes."""

    cells: Any  # int32 (n_cells,)
    weights: Any  # int64 (n_cells,): of the word that a cell is in
    pairs: Any  # int32 (capacity, PAIR_COLUMNS)
    counts: Any  # int64 (capacity of pairs,): n
    table: Any  # int32 (power of two): hash of a pair → row
    arena: Any  # int32 (capacity,): start cells
    symbols: Any  # int64 (capacity, SYMBOL_COLUMNS)
    frequencies: Any  # int64 (capacity of symbols,): f
    merges: Any  # int64 (capacity, MERGE_COLUMNS)
    values: Any  # float64 (capacity of merges,)
    places: Any  # int32 (capacity,)
    changes: Any  # int32 (capacity, CHANGE_COLUMNS)
    change_weights: Any  # int64 (capacity of changes,): what was added to n
    hot: Any  # int64 (capacity, HOT_COLUMNS)
    hot_values: Any  # float64 (capacity of hot,): the value, -inf if no candidate; under likelihood where log N is 0
    hot_keys: Any  # int64 (capacity of hot,): the same memory; positive floats are in the order of their bits
    hot_slopes: Any  # float64 (capacity of hot,): how the value grows with log N
    scalars: Any  # int64 (SCALARS,)
    reals: Any  # float64 (REALS,)


STATE = types.NamedTuple(  # type: ignore[no-untyped-call]
    (I4, I8, I4_2, I8, I4, I4, I8_2, I8, I8_2, F8, I4, I4_2, I8, I8_2, F8, I8, F8, I8, F8),
    State,
)
