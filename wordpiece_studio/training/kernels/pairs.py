"""Pairs: their values, their rows, and the blocks that list their occurrences."""

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
    pairs[row, SLOT] = NOTHING if is_short else TOO_LONG
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
