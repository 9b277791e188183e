"""Pairs: their values, their rows, and the blocks of their occurrences."""

from __future__ import annotations

import math

import numpy as np

from wordpiece_studio.core.training.kernels.state import *


@kernel(FLOAT(INT, INT, INT, INT, INT))
def pair_value(objective: int, n: int, left: int, right: int, total: int) -> float:
    """Return the value of a pair; operation by operation as in :mod:`~wordpiece_studio.core.training.objectives`."""
    if objective == COUNT:
        return float(n)
    if objective == SCORE:
        return float(n) / (float(left) * float(right))
    return float(n) * math.log((float(n) * float(total)) / (float(left) * float(right)))


@kernel(INT(INT, INT, INT))
def _hash(left: int, right: int, mask: int) -> int:
    mixed = np.uint64(left) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(right)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return int(np.int64(mixed >> np.uint64(32)) & mask)


@kernel(INT(STATE, INT, INT))
def find(s: State, left: int, right: int) -> int:
    """Return the place in `table` where the pair is, or the empty one where it belongs."""
    mask = len(s.table) - 1
    place = _hash(left, right, mask)
    while True:
        row = s.table[place]
        if row == NOTHING or (s.pairs[row, LEFT] == left and s.pairs[row, RIGHT] == right):
            return place
        place = (place + 1) & mask


@kernel(INT(STATE, INT, INT, INT))
def add_row(s: State, place: int, left: int, right: int) -> int:
    """Add a row for a pair at an empty place of the table and return it."""
    row = s.scalars[PAIRS]
    s.scalars[PAIRS] += 1
    s.table[place] = row
    pair = s.pairs[row]
    pair[LEFT], pair[RIGHT], pair[SLOT] = left, right, NOTHING
    pair[N] = pair[START] = pair[SIZE] = pair[FIRST] = 0
    pair[NEXT_BY_LEFT], pair[NEXT_BY_RIGHT] = s.symbols[left, BY_LEFT], s.symbols[right, BY_RIGHT]
    s.symbols[left, BY_LEFT] = s.symbols[right, BY_RIGHT] = row
    return row


@kernel(NONE(STATE))
def rehash(s: State) -> None:
    """Enter all rows into an empty `table`, in their order, so that they can be popped in the opposite one."""
    for row in range(s.scalars[PAIRS]):
        s.table[find(s, s.pairs[row, LEFT], s.pairs[row, RIGHT])] = row


@kernel(INT(STATE, INT))
def count_pairs(s: State, cell: int) -> int:
    """Count f, N, and n and occurrences of every pair from `cell` on; return the cell at which there was no room."""
    while cell < len(s.cells):
        left = s.cells[cell]
        length = 1
        if left >= 0:
            length = s.symbols[left, LENGTH]
            weight = s.weights[cell]
            right = s.cells[cell + length]
            if right >= 0:
                place = find(s, left, right)
                row = s.table[place]
                if row == NOTHING:
                    if s.scalars[PAIRS] == len(s.pairs) or 2 * s.scalars[PAIRS] >= len(s.table):
                        return cell
                    row = add_row(s, place, left, right)
                s.pairs[row, N] += weight
                s.pairs[row, SIZE] += 1
            s.symbols[left, F] += weight
            s.scalars[TOTAL] += weight
        cell += length
    return cell


@kernel(NONE(STATE, INT, INT))
def push(s: State, row: int, cell: int) -> None:
    """Write an occurrence behind the others of a pair; there must be room."""
    s.arena[s.pairs[row, START] + s.pairs[row, SIZE]] = cell
    s.pairs[row, SIZE] += 1


@kernel(NONE(STATE))
def fill_blocks(s: State) -> None:
    """Give every counted pair its block and write the occurrences into it."""
    for row in range(s.scalars[PAIRS]):
        s.pairs[row, START] = s.scalars[ARENA]
        s.scalars[ARENA] += s.pairs[row, SIZE]
        s.pairs[row, SIZE] = 0
    cell = 0
    while cell < len(s.cells):
        left = s.cells[cell]
        length = 1
        if left >= 0:
            length = s.symbols[left, LENGTH]
            right = s.cells[cell + length]
            if right >= 0:
                push(s, s.table[find(s, left, right)], cell)
        cell += length
