"""Pairs: their values, their rows, the blocks that list their occurrences, and the shortlist with the best of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordpiece_studio.training import reference
from wordpiece_studio.training.kernels.columns import *

ln = kernel(FLOAT(FLOAT))(reference.ln)


@kernel(FLOAT(INT, INT, INT, INT, INT))
def pair_value(objective: int, n: int, left: int, right: int, total: int) -> float:
    """Return the value of a pair, with the operations of :mod:`~wordpiece_studio.training.reference` in its order."""
    if objective == COUNT:
        return float(n)
    if objective == SCORE:
        return float(n) / (float(left) * float(right))
    return float(n) * ln((float(n) * float(total)) / (float(left) * float(right)))


@kernel(INT(INT, INT, INT), inline=True)
def home_of(left: int, right: int, mask: int) -> int:
    """Return the place of a table where a pair is looked for first."""
    mixed = np.uint64(left) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(right)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return int(mixed >> np.uint64(32)) & mask


@kernel(INT(I4_2, I4, INT, INT))
def find(pairs: Any, table: Any, left: int, right: int) -> int:
    """Return the place of a pair in `table`, or the empty place where it belongs."""
    mask = len(table) - 1
    place = home_of(left, right, mask)
    while True:
        row = table[place]
        if row == NOTHING or (pairs[row, LEFT] == left and pairs[row, RIGHT] == right):
            return place
        place = (place + 1) & mask


@kernel(BOOL(I8, INT, INT))
def _is_forbidden(forbidden: Any, left: int, right: int) -> bool:
    key, low, high = (left << 32) | right, 0, len(forbidden)
    while low < high:
        middle = (low + high) // 2
        if forbidden[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(forbidden) and forbidden[low] == key


@kernel(INT(STATE, INT, INT, INT))
def add_row(s: State, place: int, left: int, right: int) -> int:
    """Add a row for a pair at an empty place of the table and return it."""
    row, pairs, symbols = s.scalars[PAIRS], s.pairs, s.symbols
    s.scalars[PAIRS] += 1
    s.table[place] = row
    s.counts[row] = 0
    pairs[row, LEFT], pairs[row, RIGHT] = left, right
    pairs[row, START] = pairs[row, SIZE] = pairs[row, FIRST] = 0
    is_short = symbols[left, LENGTH] + symbols[right, LENGTH] <= s.scalars[LONGEST]
    pairs[row, SLOT] = NOTHING if is_short and not _is_forbidden(s.forbidden, left, right) else EXCLUDED
    pairs[row, NEXT_BY_LEFT], pairs[row, NEXT_BY_RIGHT] = symbols[left, BY_LEFT], symbols[right, BY_RIGHT]
    symbols[left, BY_LEFT] = symbols[right, BY_RIGHT] = row
    return row


@kernel(NONE(I4_2, I4, INT))
def rehash(pairs: Any, table: Any, rows: int) -> None:
    """Enter all rows into an empty `table` in order, so that they can be popped in reverse order."""
    for row in range(rows):
        table[find(pairs, table, pairs[row, LEFT], pairs[row, RIGHT])] = row


@kernel(INT(STATE, INT, I4, I4))
def count_pairs(s: State, cell: int, lengths: Any, rows: Any) -> int:
    """Count f, N, and the n and occurrences of every pair from `cell` on; return the cell where room ran out.

    `lengths` has those of the symbols. `rows` receives the row of the pair that starts at each cell; where none does,
    it keeps NOTHING.
    """
    pairs, table, mask, total = s.pairs, s.table, len(s.table) - 1, 0
    while cell < len(s.cells):
        left = s.cells[cell]
        length = 1
        if left >= 0:
            length = lengths[left]
            weight = s.weights[cell]
            right = s.cells[cell + length]
            if right >= 0:
                row = table[home_of(left, right, mask)]
                if row == NOTHING or pairs[row, LEFT] != left or pairs[row, RIGHT] != right:
                    place = find(pairs, table, left, right)
                    row = table[place]
                    if row == NOTHING:
                        if s.scalars[PAIRS] == len(pairs) or 2 * s.scalars[PAIRS] >= len(table):
                            break
                        row = add_row(s, place, left, right)
                s.counts[row] += weight
                pairs[row, SIZE] += 1
                rows[cell] = row
            s.frequencies[left] += weight
            total += weight
        cell += length
    s.scalars[TOTAL] += total
    return cell


@kernel(NONE(I4_2, I4, INT, INT))
def push(pairs: Any, arena: Any, row: int, cell: int) -> None:
    """Append an occurrence to the block of a pair, which must have room."""
    arena[pairs[row, START] + pairs[row, SIZE]] = cell
    pairs[row, SIZE] += 1


@kernel(INT(I4_2, I4, I4, INT))
def fill_blocks(pairs: Any, arena: Any, rows: Any, count: int) -> int:
    """Give each of the `count` pairs its block and fill it; return the number of entries used."""
    used = 0
    for row in range(count):
        pairs[row, START] = used
        used += pairs[row, SIZE]
        pairs[row, SIZE] = 0
    for cell in range(len(rows)):
        row = rows[cell]
        if row != NOTHING:
            arena[pairs[row, START] + pairs[row, SIZE]] = cell
            pairs[row, SIZE] += 1
    return used


# The best pair: exact values on the shortlist, bounds for all other pairs.

# In units of n, more than rounding can change a value under likelihood: see *Rounding* on the kernels' page.
_ROUNDING = 1e-12


@kernel(NONE(STATE, I8, F8))
def values_of(s: State, rows: Any, values: Any) -> None:
    """Write the exact value of each pair in `rows` into `values`; -inf if it is not a candidate."""
    objective, least, total = s.scalars[OBJECTIVE], s.scalars[MIN_FREQUENCY], s.scalars[TOTAL]
    pairs, counts, frequencies = s.pairs, s.counts, s.frequencies
    for index in range(len(rows)):
        row = rows[index]
        values[index] = -np.inf
        if counts[row] >= least and pairs[row, SLOT] != EXCLUDED:
            left, right = frequencies[pairs[row, LEFT]], frequencies[pairs[row, RIGHT]]
            values[index] = pair_value(objective, counts[row], left, right, total)


@kernel(FLOAT(INT, INT, INT, INT))
def listed_value(objective: int, n: int, left: int, right: int) -> float:
    """Return the value of a pair; under likelihood, what it would be if log N were 0."""
    if objective == LIKELIHOOD:
        return float(n) * ln(pair_value(SCORE, n, left, right, 0))
    return pair_value(objective, n, left, right, 0)


@kernel(NONE(STATE, INT))
def _revalue(s: State, symbol: int) -> None:
    """Update the listed values of a symbol's pairs after its f changed."""
    shortlist, values, frequencies = s.shortlist, s.shortlist_values, s.frequencies
    objective, least = s.scalars[OBJECTIVE], s.scalars[MIN_FREQUENCY]
    for side in range(2):
        slot = s.symbols[symbol, LISTED_BY_LEFT + side]
        while slot != NOTHING:
            if shortlist[slot, LISTED_N] >= least:
                left, right = frequencies[shortlist[slot, LISTED_LEFT]], frequencies[shortlist[slot, LISTED_RIGHT]]
                values[slot] = listed_value(objective, shortlist[slot, LISTED_N], left, right)
            slot = shortlist[slot, LISTED_NEXT_BY_LEFT + side]


@kernel(INT(I4_2, I4, I4, INT, INT))
def _first_place(pairs: Any, arena: Any, cells: Any, row: int, length: int) -> int:
    """Return the first cell where a pair starts, its left symbol being of `length`; the pair must occur."""
    left, right, entry = pairs[row, LEFT], pairs[row, RIGHT], pairs[row, START] + pairs[row, FIRST]
    while cells[arena[entry]] != left or cells[arena[entry] + length] != right:
        entry += 1
    pairs[row, FIRST] = entry - pairs[row, START]
    return arena[entry]


@kernel(NONE(STATE, INT))
def _enlist(s: State, row: int) -> None:
    """Put a pair on the shortlist, or update it there after its n changed; a full shortlist becomes invalid."""
    slot, shortlist, symbols = s.pairs[row, SLOT], s.shortlist, s.symbols
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    if slot == NOTHING:
        slot = s.scalars[LISTED]
        if slot == len(shortlist):
            s.scalars[SHORTLIST_IS_VALID] = 0
            return
        s.scalars[LISTED] += 1
        s.pairs[row, SLOT] = slot
        shortlist[slot, LISTED_ROW], shortlist[slot, LISTED_LEFT], shortlist[slot, LISTED_RIGHT] = row, left, right
        shortlist[slot, LISTED_IDS] = ((symbols[left, ID] << 32) | symbols[right, ID]) * s.scalars[TIE_BY_IDS]
        shortlist[slot, LISTED_NEXT_BY_LEFT] = symbols[left, LISTED_BY_LEFT]
        shortlist[slot, LISTED_NEXT_BY_RIGHT] = symbols[right, LISTED_BY_RIGHT]
        symbols[left, LISTED_BY_LEFT] = symbols[right, LISTED_BY_RIGHT] = slot
    n = s.counts[row]
    shortlist[slot, LISTED_N] = n
    s.shortlist_values[slot], s.shortlist_slopes[slot] = -np.inf, 0.0
    if n >= s.scalars[MIN_FREQUENCY]:
        shortlist[slot, LISTED_PLACE] = _first_place(s.pairs, s.arena, s.cells, row, symbols[left, LENGTH])
        s.shortlist_values[slot] = listed_value(s.scalars[OBJECTIVE], n, s.frequencies[left], s.frequencies[right])
        if s.scalars[OBJECTIVE] == LIKELIHOOD:
            s.shortlist_slopes[slot] = float(n)
            s.reals[STEEPEST] = max(s.reals[STEEPEST], float(n))


@kernel(NONE(STATE, I8))
def make_shortlist(s: State, rows: Any) -> None:
    """Put `rows` on the empty shortlist: they must be all candidates whose upper bound reaches the threshold."""
    for symbol in range(s.scalars[SYMBOLS]):
        s.symbols[symbol, LOWEST] = s.frequencies[symbol] - s.frequencies[symbol] // s.scalars[MARGIN]
        s.symbols[symbol, LISTED_BY_LEFT] = s.symbols[symbol, LISTED_BY_RIGHT] = NOTHING
    s.scalars[LISTED], s.scalars[SHORTLIST_IS_VALID], s.reals[STEEPEST] = 0, 1, 0.0
    for row in rows:
        _enlist(s, row)


@kernel(BOOL(STATE, INT))
def _may_be_best(s: State, row: int) -> bool:
    """Return whether a candidate is on the shortlist already or its upper bound reaches the threshold."""
    n, slot = s.counts[row], s.pairs[row, SLOT]
    if slot != NOTHING:
        return slot != EXCLUDED
    left, right = s.symbols[s.pairs[row, LEFT], LOWEST], s.symbols[s.pairs[row, RIGHT], LOWEST]
    if n < s.scalars[MIN_FREQUENCY]:
        return False
    bound = pair_value(s.scalars[OBJECTIVE], n, left, right, s.scalars[TOTAL])
    if s.scalars[OBJECTIVE] == LIKELIHOOD:
        bound += n * _ROUNDING
    return bound >= s.reals[THRESHOLD]


@kernel(NONE(STATE, INT))
def _frequency_fell(s: State, symbol: int) -> None:
    """Check all pairs of a symbol against the threshold if its f fell below its lower bound."""
    frequency = s.frequencies[symbol]
    if frequency >= s.symbols[symbol, LOWEST]:
        return
    s.symbols[symbol, LOWEST] = frequency - frequency // s.scalars[MARGIN]
    for side in range(2):
        row = s.symbols[symbol, BY_LEFT + side]
        while row != NOTHING:
            if s.pairs[row, SLOT] == NOTHING and _may_be_best(s, row):
                _enlist(s, row)
            row = s.pairs[row, NEXT_BY_LEFT + side]


@kernel(NONE(STATE, INT, INT, INT, INT, INT))
def after_merge(s: State, left: int, right: int, new: int, changes_before: int, pairs_before: int) -> None:
    if s.symbols[new, LOWEST] == 0:
        s.symbols[new, LOWEST] = s.frequencies[new] - s.frequencies[new] // s.scalars[MARGIN]
    if s.scalars[OBJECTIVE] != COUNT:
        for symbol in (left, right, new):  # the new one may have existed before; then its f has risen
            _revalue(s, symbol)
            _frequency_fell(s, symbol)
    changes = s.scalars[CHANGES] - changes_before
    falls = s.scalars[OBJECTIVE] != LIKELIHOOD or s.reals[THRESHOLD] > 0.0
    for index in range(changes + s.scalars[PAIRS] - pairs_before):
        row = pairs_before + index - changes
        if index < changes:
            row = s.changes[changes_before + index, CHANGE_ROW]
        # A pair that loses n loses value, unless its value is negative: then an unlisted pair may become the best.
        if index < changes and falls and s.pairs[row, SLOT] == NOTHING and s.change_weights[changes_before + index] < 0:
            continue
        if _may_be_best(s, row):
            _enlist(s, row)


@kernel(FLOAT(STATE, FLOAT))
def _floor(s: State, log_total: float) -> float:
    """Return the least listed value that the best pair can have, rounding allowed for; pairs below it cannot win."""
    best = -np.inf
    if s.scalars[OBJECTIVE] == LIKELIHOOD:
        for slot in range(s.scalars[LISTED]):
            best = max(best, s.shortlist_values[slot] + s.shortlist_slopes[slot] * log_total)
        return best - s.reals[STEEPEST] * _ROUNDING
    key = np.int64(-1)  # all values are positive; compared as integers, four at a time
    for slot in range(s.scalars[LISTED]):
        key = max(key, s.shortlist_keys[slot])
    for slot in range(s.scalars[LISTED]):
        if s.shortlist_keys[slot] == key:
            return s.shortlist_values[slot]
    return best


@kernel(INT(STATE, INT, FLOAT))
def choose(s: State, size_limit: int, lowest_value: float) -> int:
    """Write the best pair into the next row of `merges`; return DONE, or why no pair can be merged now."""
    if s.scalars[VOCABULARY] >= size_limit:
        return STOP_SIZE
    if not s.scalars[SHORTLIST_IS_VALID]:
        return REBUILD
    shortlist, total, objective = s.shortlist, s.scalars[TOTAL], s.scalars[OBJECTIVE]
    log_total = ln(float(total))
    floor = _floor(s, log_total)
    best, winner, ties = -np.inf, 0, 0
    for slot in range(s.scalars[LISTED]):
        value = s.shortlist_values[slot] + s.shortlist_slopes[slot] * log_total
        if value < floor or value == -np.inf:
            continue
        if objective == LIKELIHOOD:
            left, right = s.frequencies[shortlist[slot, LISTED_LEFT]], s.frequencies[shortlist[slot, LISTED_RIGHT]]
            value = pair_value(objective, shortlist[slot, LISTED_N], left, right, total)
        if value > best:
            best, winner, ties = value, slot, 1
        elif value == best:
            ties += 1
            ids, best_ids = shortlist[slot, LISTED_IDS], shortlist[winner, LISTED_IDS]
            if ids < best_ids or (ids == best_ids and shortlist[slot, LISTED_PLACE] < shortlist[winner, LISTED_PLACE]):
                winner = slot
    if best < s.reals[THRESHOLD]:
        return REBUILD
    if ties == 0:
        return STOP_NONE
    if best < lowest_value:
        return STOP_VALUE
    known, merges = s.scalars[KNOWN], s.merges
    merges[known, MERGE_ROW], merges[known, MERGE_N] = shortlist[winner, LISTED_ROW], shortlist[winner, LISTED_N]
    merges[known, MERGE_LEFT_F] = s.frequencies[shortlist[winner, LISTED_LEFT]]
    merges[known, MERGE_RIGHT_F] = s.frequencies[shortlist[winner, LISTED_RIGHT]]
    merges[known, MERGE_TOTAL], merges[known, MERGE_TIES], s.values[known] = total, ties, best
    return DONE
