"""The best pair: exact values of the hot pairs, bounds for all others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wordpiece_studio.training.kernels.columns import *
from wordpiece_studio.training.kernels.pairs import pair_value

# By how much a value computed from logarithms may be wrong, in units of n: some thirty times more than it is.
_LOGARITHM_ERROR = 1e-12


@kernel(NONE(STATE, I8, F8))
def values_of(s: State, rows: Any, values: Any) -> None:
    """Write the exact value of each of the pairs in `rows` into `values`; -inf if it is no candidate."""
    objective, least, total = s.scalars[OBJECTIVE], s.scalars[MIN_FREQUENCY], s.scalars[TOTAL]
    pairs, counts, frequencies = s.pairs, s.counts, s.frequencies
    for index in range(len(rows)):
        row = rows[index]
        values[index] = -np.inf
        if counts[row] >= least and pairs[row, SLOT] != TOO_LONG:
            left, right = frequencies[pairs[row, LEFT]], frequencies[pairs[row, RIGHT]]
            values[index] = pair_value(objective, counts[row], left, right, total)


@kernel(FLOAT(INT, INT, INT, INT))
def _base(objective: int, n: int, left: int, right: int) -> float:
    """Return the value of a pair, under likelihood what it would be if log N were 0."""
    if objective == LIKELIHOOD:
        return float(n) * (math.log(float(n)) - math.log(float(left)) - math.log(float(right)))
    return pair_value(objective, n, left, right, 0)


@kernel(NONE(STATE, INT))
def _revalue(s: State, symbol: int) -> None:
    """Bring the hot pairs of a symbol up to date after its f changed."""
    hot, values, frequencies = s.hot, s.hot_values, s.frequencies
    objective, least = s.scalars[OBJECTIVE], s.scalars[MIN_FREQUENCY]
    for side in range(2):
        slot = s.symbols[symbol, HOT_BY_LEFT + side]
        while slot != NOTHING:
            if hot[slot, HOT_N] >= least:
                left, right = frequencies[hot[slot, HOT_LEFT]], frequencies[hot[slot, HOT_RIGHT]]
                values[slot] = _base(objective, hot[slot, HOT_N], left, right)
            slot = hot[slot, HOT_NEXT_BY_LEFT + side]


@kernel(INT(I4_2, I4, I4, INT, INT))
def _first_place(pairs: Any, arena: Any, cells: Any, row: int, length: int) -> int:
    """Return the first cell where a pair with a left symbol of `length` stands; it must stand somewhere."""
    left, right, entry = pairs[row, LEFT], pairs[row, RIGHT], pairs[row, START] + pairs[row, FIRST]
    while cells[arena[entry]] != left or cells[arena[entry] + length] != right:
        entry += 1
    pairs[row, FIRST] = entry - pairs[row, START]
    return arena[entry]


@kernel(NONE(STATE, INT))
def _heat(s: State, row: int) -> None:
    """Make a pair hot, or bring it up to date with its n if it is; all hot ones become invalid if there is no room."""
    slot, hot, symbols = s.pairs[row, SLOT], s.hot, s.symbols
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    if slot == NOTHING:
        slot = s.scalars[HOT]
        if slot == len(hot):
            s.scalars[HOT_IS_VALID] = 0
            return
        s.scalars[HOT] += 1
        s.pairs[row, SLOT] = slot
        hot[slot, HOT_ROW], hot[slot, HOT_LEFT], hot[slot, HOT_RIGHT] = row, left, right
        hot[slot, HOT_IDS] = ((symbols[left, ID] << 32) | symbols[right, ID]) * s.scalars[TIE_BY_IDS]
        hot[slot, HOT_NEXT_BY_LEFT] = symbols[left, HOT_BY_LEFT]
        hot[slot, HOT_NEXT_BY_RIGHT] = symbols[right, HOT_BY_RIGHT]
        symbols[left, HOT_BY_LEFT] = symbols[right, HOT_BY_RIGHT] = slot
    n = s.counts[row]
    hot[slot, HOT_N] = n
    s.hot_values[slot], s.hot_slopes[slot] = -np.inf, 0.0
    if n >= s.scalars[MIN_FREQUENCY]:
        hot[slot, HOT_PLACE] = _first_place(s.pairs, s.arena, s.cells, row, symbols[left, LENGTH])
        s.hot_values[slot] = _base(s.scalars[OBJECTIVE], n, s.frequencies[left], s.frequencies[right])
        if s.scalars[OBJECTIVE] == LIKELIHOOD:
            s.hot_slopes[slot] = float(n)
            s.reals[STEEPEST] = max(s.reals[STEEPEST], float(n))


@kernel(NONE(STATE, I8))
def heat_all(s: State, rows: Any) -> None:
    """Make exactly `rows` hot: all candidates whose upper bound reaches the threshold; none may be hot before."""
    for symbol in range(s.scalars[SYMBOLS]):
        s.symbols[symbol, LOWEST] = s.frequencies[symbol] - s.frequencies[symbol] // s.scalars[MARGIN]
        s.symbols[symbol, HOT_BY_LEFT] = s.symbols[symbol, HOT_BY_RIGHT] = NOTHING
    s.scalars[HOT], s.scalars[HOT_IS_VALID], s.reals[STEEPEST] = 0, 1, 0.0
    for row in rows:
        _heat(s, row)


@kernel(BOOL(STATE, INT))
def _may_be_best(s: State, row: int) -> bool:
    """Tell whether a pair is hot or its upper bound is not below the threshold."""
    n, slot = s.counts[row], s.pairs[row, SLOT]
    if slot != NOTHING:
        return slot != TOO_LONG
    left, right = s.symbols[s.pairs[row, LEFT], LOWEST], s.symbols[s.pairs[row, RIGHT], LOWEST]
    if n < s.scalars[MIN_FREQUENCY]:
        return False
    return pair_value(s.scalars[OBJECTIVE], n, left, right, s.scalars[TOTAL]) >= s.reals[THRESHOLD]


@kernel(NONE(STATE, INT))
def _frequency_fell(s: State, symbol: int) -> None:
    """Look at all pairs of a symbol if its f fell so far that more of them may be the best."""
    frequency = s.frequencies[symbol]
    if frequency >= s.symbols[symbol, LOWEST]:
        return
    s.symbols[symbol, LOWEST] = frequency - frequency // s.scalars[MARGIN]
    for side in range(2):
        row = s.symbols[symbol, BY_LEFT + side]
        while row != NOTHING:
            if s.pairs[row, SLOT] == NOTHING and _may_be_best(s, row):
                _heat(s, row)
            row = s.pairs[row, NEXT_BY_LEFT + side]


@kernel(NONE(STATE, INT, INT, INT, INT, INT))
def after_merge(s: State, left: int, right: int, new: int, changes_before: int, pairs_before: int) -> None:
    """Bring the hot pairs up to date with everything that a merge changed."""
    if s.symbols[new, LOWEST] == 0:
        s.symbols[new, LOWEST] = s.frequencies[new] - s.frequencies[new] // s.scalars[MARGIN]
    if s.scalars[OBJECTIVE] != COUNT:
        for symbol in (left, right, new):  # the new one can have been there before, and its f has risen
            _revalue(s, symbol)
            _frequency_fell(s, symbol)
    changes = s.scalars[CHANGES] - changes_before
    falls = s.scalars[OBJECTIVE] != LIKELIHOOD or s.reals[THRESHOLD] > 0.0
    for index in range(changes + s.scalars[PAIRS] - pairs_before):
        row = pairs_before + index - changes
        if index < changes:
            row = s.changes[changes_before + index, CHANGE_ROW]
        # What loses n loses value, unless that is negative: then the pairs that are not hot may come to be the best.
        if index < changes and falls and s.pairs[row, SLOT] == NOTHING and s.change_weights[changes_before + index] < 0:
            continue
        if _may_be_best(s, row):
            _heat(s, row)


@kernel(FLOAT(STATE, FLOAT))
def _floor(s: State, log_total: float) -> float:
    """Return what the value of the best hot pair as `choose` computes it first cannot be below."""
    best = -np.inf
    if s.scalars[OBJECTIVE] == LIKELIHOOD:
        for slot in range(s.scalars[HOT]):
            best = max(best, s.hot_values[slot] + s.hot_slopes[slot] * log_total)
        return best - s.reals[STEEPEST] * _LOGARITHM_ERROR
    key = np.int64(-1)  # all values are positive, and as integers they are compared four at a time
    for slot in range(s.scalars[HOT]):
        key = max(key, s.hot_keys[slot])
    for slot in range(s.scalars[HOT]):
        if s.hot_keys[slot] == key:
            return s.hot_values[slot]
    return best


@kernel(INT(STATE, INT, FLOAT))
def choose(s: State, size_limit: int, lowest_value: float) -> int:
    """Write the best pair into the next row of `merges`; answer DONE, or why there is none to be merged now."""
    if s.scalars[VOCABULARY] >= size_limit:
        return STOP_SIZE
    if not s.scalars[HOT_IS_VALID]:
        return REBUILD
    hot, total, objective = s.hot, s.scalars[TOTAL], s.scalars[OBJECTIVE]
    log_total = math.log(float(total))
    floor = _floor(s, log_total)
    best, winner, ties = -np.inf, 0, 0
    for slot in range(s.scalars[HOT]):
        value = s.hot_values[slot] + s.hot_slopes[slot] * log_total
        if value < floor or value == -np.inf:
            continue
        if objective == LIKELIHOOD:
            left, right = s.frequencies[hot[slot, HOT_LEFT]], s.frequencies[hot[slot, HOT_RIGHT]]
            value = pair_value(objective, hot[slot, HOT_N], left, right, total)
        if value > best:
            best, winner, ties = value, slot, 1
        elif value == best:
            ties += 1
            ids, best_ids = hot[slot, HOT_IDS], hot[winner, HOT_IDS]
            if ids < best_ids or (ids == best_ids and hot[slot, HOT_PLACE] < hot[winner, HOT_PLACE]):
                winner = slot
    if best < s.reals[THRESHOLD]:
        return REBUILD
    if ties == 0:
        return STOP_NONE
    if best < lowest_value:
        return STOP_VALUE
    known, merges = s.scalars[KNOWN], s.merges
    merges[known, MERGE_ROW], merges[known, MERGE_N] = hot[winner, HOT_ROW], hot[winner, HOT_N]
    merges[known, MERGE_LEFT_F] = s.frequencies[hot[winner, HOT_LEFT]]
    merges[known, MERGE_RIGHT_F] = s.frequencies[hot[winner, HOT_RIGHT]]
    merges[known, MERGE_TOTAL], merges[known, MERGE_TIES], s.values[known] = total, ties, best
    return DONE
