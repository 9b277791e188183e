"""The best pair: exact values of the hot pairs in a winner tree, bounds for all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordpiece_studio.core.training.kernels.pairs import pair_value
from wordpiece_studio.core.training.kernels.state import *


@kernel(BOOL(STATE, INT))
def is_candidate(s: State, row: int) -> bool:
    """Tell whether a pair occurs often enough and is short enough to be merged."""
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    if s.pairs[row, N] < s.rules[MIN_FREQUENCY]:
        return False
    return s.symbols[left, LENGTH] + s.symbols[right, LENGTH] <= s.rules[LONGEST]


@kernel(FLOAT(STATE, INT, INT))
def value_of(s: State, row: int, column: int) -> float:
    """Return the value of a row with f (column F) or with its lower bound (LOWEST); -inf if it is no candidate."""
    if not is_candidate(s, row):
        return -np.inf
    left, right = s.symbols[s.pairs[row, LEFT], column], s.symbols[s.pairs[row, RIGHT], column]
    return pair_value(s.rules[OBJECTIVE], s.pairs[row, N], left, right, s.scalars[TOTAL])


@kernel(INT(STATE, INT))
def first_place(s: State, row: int) -> int:
    """Return the first cell where the pair stands; it must stand somewhere."""
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    length = s.symbols[left, LENGTH]
    entry = s.pairs[row, START] + s.pairs[row, FIRST]
    while s.cells[s.arena[entry]] != left or s.cells[s.arena[entry] + length] != right:
        entry += 1
    s.pairs[row, FIRST] = entry - s.pairs[row, START]
    return s.arena[entry]


@kernel(NONE(I4, I4, F8, I8, I8, INT))
def _play(winners: Any, ties: Any, values: Any, ids: Any, places: Any, node: int) -> None:
    """Decide a node of the winner tree from its two children; equal values go to the smaller ids, then places."""
    child = 2 * node
    one, other = winners[child], winners[child + 1]
    if values[one] == values[other]:
        is_other = ids[other] < ids[one] or (ids[other] == ids[one] and places[other] < places[one])
        winners[node] = other if is_other else one
        ties[node] = ties[child] + ties[child + 1]
    else:
        child += values[one] < values[other]
        winners[node], ties[node] = winners[child], ties[child]


@kernel(NONE(STATE))
def _play_marked(s: State) -> None:
    """Bring the winner tree up to date: path by path where few slots changed, else level by level."""
    winners, ties, values, ids, places = s.winners, s.winner_ties, s.hot_values, s.hot_ids, s.hot_places
    capacity = len(values)
    if s.scalars[MARKED] <= len(s.marked):
        for index in range(s.scalars[MARKED]):
            node = (capacity + s.marked[index]) // 2
            while node:
                _play(winners, ties, values, ids, places, node)
                node //= 2
    else:
        first, last = capacity // 2, (capacity + s.scalars[HOT]) // 2
        while first:
            for node in range(first, min(last + 1, 2 * first)):
                _play(winners, ties, values, ids, places, node)
            first, last = first // 2, last // 2
    s.scalars[MARKED] = 0


@kernel(NONE(STATE, INT))
def _mark(s: State, slot: int) -> None:
    """Note that a slot's key changed; beyond a few, their number is enough."""
    if s.scalars[MARKED] < len(s.marked):
        s.marked[s.scalars[MARKED]] = slot
    s.scalars[MARKED] += 1


@kernel(NONE(STATE, INT))
def _set_key(s: State, slot: int) -> None:
    """Write down everything about a slot's pair that decides how good it is."""
    row = s.hot_rows[slot]
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    s.hot_pairs[0, slot], s.hot_pairs[1, slot], s.hot_counts[slot] = left, right, s.pairs[row, N]
    if s.rules[TIE_BY_IDS]:
        s.hot_ids[slot] = (s.symbols[left, ID] << 32) | s.symbols[right, ID]
    s.hot_values[slot] = value_of(s, row, F)
    if s.hot_values[slot] > -np.inf:
        s.hot_places[slot] = first_place(s, row)


@kernel(NONE(STATE, INT, INT))
def revalue(s: State, left: int, right: int) -> None:
    """Bring the hot pairs that share a symbol with (left, right) up to date; NOTHING stands for all pairs."""
    objective, total, least = s.rules[OBJECTIVE], s.scalars[TOTAL], s.rules[MIN_FREQUENCY]
    lefts, rights, counts, values = s.hot_pairs[0], s.hot_pairs[1], s.hot_counts, s.hot_values
    symbols, marked, marks = s.symbols, s.marked, s.scalars[MARKED]
    for slot in range(s.scalars[HOT]):
        one, other = lefts[slot], rights[slot]
        if one == left or one == right or other == left or other == right or left == NOTHING:
            if counts[slot] >= least:
                values[slot] = pair_value(objective, counts[slot], symbols[one, F], symbols[other, F], total)
            if marks < len(marked):
                marked[marks] = slot
            marks += 1
    s.scalars[MARKED] = marks


@kernel(NONE(STATE, INT))
def look_at(s: State, row: int) -> None:
    """Bring a pair whose n changed up to date: its key if it is hot, else whether it becomes so."""
    slot = s.pairs[row, SLOT]
    if slot == NOTHING:
        if value_of(s, row, LOWEST) < s.threshold[0] or not is_candidate(s, row):
            return
        slot = s.scalars[HOT]
        if slot == len(s.hot_rows):
            s.scalars[HOT_IS_VALID] = 0
            return
        s.scalars[HOT] += 1
        s.hot_rows[slot] = row
        s.pairs[row, SLOT] = slot
    _set_key(s, slot)
    _mark(s, slot)


@kernel(NONE(STATE, INT))
def frequency_fell(s: State, symbol: int) -> None:
    """Look at the pairs of a symbol that are not hot, if its f fell so far that they could be."""
    frequency = s.symbols[symbol, F]
    if s.rules[OBJECTIVE] == COUNT or frequency >= s.symbols[symbol, LOWEST]:
        return
    s.symbols[symbol, LOWEST] = frequency - frequency // 8
    row = s.symbols[symbol, BY_LEFT]
    while row != NOTHING:
        if s.pairs[row, SLOT] == NOTHING:
            look_at(s, row)
        row = s.pairs[row, NEXT_BY_LEFT]
    row = s.symbols[symbol, BY_RIGHT]
    while row != NOTHING:
        if s.pairs[row, SLOT] == NOTHING:
            look_at(s, row)
        row = s.pairs[row, NEXT_BY_RIGHT]


@kernel(NONE(STATE, F8))
def all_values(s: State, values: Any) -> None:
    """Write the exact value of every pair into `values`, shape (n_pairs,); -inf for those that are no candidates."""
    for row in range(s.scalars[PAIRS]):
        values[row] = value_of(s, row, F)


@kernel(NONE(STATE, I8, I8))
def first_places(s: State, rows: Any, places: Any) -> None:
    """Write the first cell of each of `rows` into `places`, both of shape (n,)."""
    for index in range(len(rows)):
        places[index] = first_place(s, rows[index])


@kernel(NONE(STATE, I8))
def heat(s: State, rows: Any) -> None:
    """Make exactly `rows` hot: all candidates whose value is at or above the threshold."""
    for symbol in range(s.scalars[SYMBOLS]):
        s.symbols[symbol, LOWEST] = s.symbols[symbol, F]
    for row in range(s.scalars[PAIRS]):
        s.pairs[row, SLOT] = NOTHING
    capacity = len(s.hot_rows)
    for slot in range(capacity):
        s.winners[capacity + slot], s.winner_ties[capacity + slot] = slot, 1
        s.hot_values[slot] = -np.inf
    for slot in range(len(rows)):
        s.hot_rows[slot] = rows[slot]
        s.pairs[rows[slot], SLOT] = slot
        _set_key(s, slot)
    s.scalars[HOT], s.scalars[MARKED] = capacity - 1, capacity  # so that every node is played once
    _play_marked(s)
    s.scalars[HOT] = len(rows)
    s.scalars[HOT_IS_VALID] = 1


@kernel(INT(STATE, INT, FLOAT))
def choose(s: State, size_limit: int, lowest_value: float) -> int:
    """Write the best pair into the next row of `merges`; answer DONE, or why there is none to be merged now."""
    if s.scalars[VOCABULARY] >= size_limit:
        return STOP_SIZE
    if not s.scalars[HOT_IS_VALID]:
        return REBUILD
    if s.rules[OBJECTIVE] == LIKELIHOOD:
        revalue(s, NOTHING, NOTHING)  # N has changed, and with it every value
    _play_marked(s)
    slot = s.winners[1]
    value = s.hot_values[slot]
    if value < s.threshold[0]:
        return REBUILD
    if value == -np.inf:
        return STOP_NONE
    if value < lowest_value:
        return STOP_VALUE
    row = s.hot_rows[slot]
    pair = s.pairs[row]
    known = s.scalars[KNOWN]
    merge = s.merges[known]
    merge[MERGE_ROW], merge[MERGE_N], merge[MERGE_TOTAL] = row, pair[N], s.scalars[TOTAL]
    merge[MERGE_LEFT_F], merge[MERGE_RIGHT_F] = s.symbols[pair[LEFT], F], s.symbols[pair[RIGHT], F]
    merge[MERGE_TIES], s.values[known] = s.winner_ties[1], value
    return DONE
