"""The arrays that the kernels work on: their columns and types."""

from __future__ import annotations

from typing import Any, NamedTuple

from wordpiece_studio.compiled.kernels import *

NOTHING = -1
EXCLUDED = -2  # in SLOT: the pair is never a candidate, being too long or forbidden

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
    LISTED_BY_LEFT,  # the same for pairs on the shortlist
    LISTED_BY_RIGHT,
    LEFT_WEIGHT,  # as a left neighbor in the current merge: weight, occurrences, and the row of the new pair
    LEFT_COUNT,
    LEFT_ROW,
    RIGHT_WEIGHT,  # as a right neighbor
    RIGHT_COUNT,
    RIGHT_ROW,
    NEAR_LEFT,  # not about this symbol: these two columns list the neighbors in the current merge
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
    MERGE_ID,  # vocabulary ids of the token and of its parts
    MERGE_LEFT_ID,
    MERGE_RIGHT_ID,
    MERGE_LEFT_LENGTH,
    MERGE_COUNT,  # number of places
    MERGE_PLACES,  # the lengths of the logs, rows and arena before this merge
    MERGE_CHANGES,
    MERGE_PAIRS,
    MERGE_ARENA,
    MERGE_COLUMNS,
) = range(18)
# Columns of `changes`: what undo writes back into a pair's row.
CHANGE_ROW, CHANGE_START, CHANGE_SIZE, CHANGE_FIRST, CHANGE_COLUMNS = range(5)
# Columns of `shortlist`: a copy of what decides between pairs.
(
    LISTED_ROW,
    LISTED_LEFT,
    LISTED_RIGHT,
    LISTED_N,
    LISTED_IDS,
    LISTED_PLACE,
    LISTED_NEXT_BY_LEFT,
    LISTED_NEXT_BY_RIGHT,
    LISTED_COLUMNS,
) = range(9)
# Entries of `scalars`; the first six do not change during a training.
(
    OBJECTIVE,
    TIE_BY_IDS,
    MIN_FREQUENCY,
    LONGEST,
    NAMES_COLLIDE,
    MARGIN,  # a symbol's f may fall by 1 / MARGIN before all its pairs are checked again
    TOTAL,  # N: symbols in the corpus
    PAIRS,  # rows in use
    SYMBOLS,
    ARENA,  # entries in use
    PLACES,
    CHANGES,
    STEP,  # merges carried out
    KNOWN,  # merges found so far, undone ones included
    VOCABULARY,  # number of tokens
    LISTED,  # slots of the shortlist in use
    SHORTLIST_IS_VALID,
    NEARS_LEFT,  # distinct neighbors on each side in the current merge
    NEARS_RIGHT,
    BETWEEN,  # pairs of adjacent new symbols, weighted and not
    BETWEEN_COUNT,
    NEEDED_PAIRS,  # capacities that the next merge may need
    NEEDED_ARENA,
    NEEDED_PLACES,
    NEEDED_CHANGES,
    SCALARS,
) = range(26)
# Entries of `reals`.
# THRESHOLD: every pair that is not on the shortlist has a lower value. STEEPEST: the largest slope on the shortlist.
THRESHOLD, STEEPEST, REALS = range(3)

# What `advance` returns.
DONE, GROW, REBUILD, NAME, STOP_SIZE, STOP_NONE, STOP_VALUE = range(7)


class _State(NamedTuple):
    cells: Any  # int32 (n_cells,)
    weights: Any  # int64 (n_cells,): how often the word of this cell occurs
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
    shortlist: Any  # int64 (capacity, LISTED_COLUMNS)
    shortlist_values: Any  # float64 (its capacity,): -inf if no candidate; under likelihood the value where log N is 0
    shortlist_keys: Any  # int64, the same memory: positive floats are in the order of their bits
    shortlist_slopes: Any  # float64 (its capacity,): how the value grows with log N
    scalars: Any  # int64 (SCALARS,)
    reals: Any  # float64 (REALS,)
    forbidden: Any  # int64, ascending: left << 32 | right of each forbidden pair whose symbols exist


class State(_State, Arrays):
    """All arrays of an engine; see the comments above for types and shapes."""


STATE = ArraysType((I4, I8, I4_2, I8, I4, I4, I8_2, I8, I8_2, F8, I4, I4_2, I8, I8_2, F8, I8, F8, I8, F8, I8), State)
