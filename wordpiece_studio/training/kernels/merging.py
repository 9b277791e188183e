"""Merging, and undoing merges."""

from __future__ import annotations

from typing import Any

from wordpiece_studio.training.kernels.columns import *
from wordpiece_studio.training.kernels.pairs import add_row, after_merge, choose, find, push
from wordpiece_studio.training.segmentation import INSIDE


@kernel(NONE(STATE, INT, INT, INT))
def name_new(s: State, new: int, token_id: int, is_new: int) -> None:
    """Record that the merge just chosen makes symbol `new` and this token; both may have existed before."""
    known, merges, symbols = s.scalars[KNOWN], s.merges, s.symbols
    left, right = s.pairs[merges[known, MERGE_ROW], LEFT], s.pairs[merges[known, MERGE_ROW], RIGHT]
    merges[known, MERGE_NEW], merges[known, MERGE_ID], merges[known, MERGE_IS_NEW] = new, token_id, is_new
    merges[known, MERGE_LEFT_ID], merges[known, MERGE_RIGHT_ID] = symbols[left, ID], symbols[right, ID]
    merges[known, MERGE_LEFT_LENGTH] = symbols[left, LENGTH]
    s.scalars[KNOWN] += 1
    s.scalars[VOCABULARY] += is_new
    if new == s.scalars[SYMBOLS]:
        s.scalars[SYMBOLS] += 1
        symbols[new, LENGTH] = symbols[left, LENGTH] + symbols[right, LENGTH]
        symbols[new, ID] = token_id
        s.frequencies[new] = symbols[new, LOWEST] = 0
        for column in range(BY_LEFT, LISTED_BY_RIGHT + 1):
            symbols[new, column] = NOTHING


@kernel(BOOL(STATE))
def _has_room(s: State) -> bool:
    """Return whether the arrays have room for the next merge in the worst case; write what it needs to `scalars`."""
    step, pairs, scalars = s.scalars[STEP], s.pairs, s.scalars
    merged = s.merges[step, MERGE_ROW]
    occurrences = int(pairs[merged, SIZE] - pairs[merged, FIRST])
    distinct = 2 * min(occurrences, scalars[SYMBOLS]) + 2
    entries = 2 * occurrences + 2
    # A symbol that existed before has pairs, whose blocks move when they grow.
    for side in range(2):
        row = s.symbols[s.merges[step, MERGE_NEW], BY_LEFT + side]
        while row != NOTHING:
            entries += pairs[row, SIZE] - pairs[row, FIRST]
            row = pairs[row, NEXT_BY_LEFT + side]
    scalars[NEEDED_PAIRS] = scalars[PAIRS] + distinct
    scalars[NEEDED_ARENA] = scalars[ARENA] + entries
    scalars[NEEDED_PLACES] = scalars[PLACES] + occurrences
    scalars[NEEDED_CHANGES] = scalars[CHANGES] + 2 * distinct
    return (
        scalars[NEEDED_PAIRS] <= len(pairs)
        and 2 * scalars[NEEDED_PAIRS] <= len(s.table)
        and scalars[NEEDED_ARENA] <= len(s.arena)
        and scalars[NEEDED_PLACES] <= len(s.places)
        and scalars[NEEDED_CHANGES] <= len(s.changes)
    )


@kernel(NONE(STATE, INT, INT))
def _change(s: State, row: int, weight: int) -> None:
    """Log a row as it is, then add `weight`, which may be negative, to its n."""
    change = s.scalars[CHANGES]
    s.scalars[CHANGES] += 1
    s.changes[change, CHANGE_ROW], s.change_weights[change] = row, weight
    for column in range(3):
        s.changes[change, CHANGE_START + column] = s.pairs[row, START + column]
    s.counts[row] += weight


@kernel(INT(STATE, INT, INT, INT, INT))
def _gain(s: State, left: int, right: int, weight: int, occurrences: int) -> int:
    """Return the row of a pair that has gained occurrences, with room for them after the old ones."""
    place = find(s.pairs, s.table, left, right)
    row, old = s.table[place], 0
    if row == NOTHING:
        row = add_row(s, place, left, right)
        s.counts[row] = weight
    else:
        _change(s, row, weight)
        old = s.pairs[row, SIZE] - s.pairs[row, FIRST]
    s.pairs[row, START], s.pairs[row, SIZE], s.pairs[row, FIRST] = s.scalars[ARENA], old, 0
    s.scalars[ARENA] += old + occurrences
    return row


@kernel(NONE(I4_2, I4_2, I4, INT))
def _interleave(pairs: Any, changes: Any, arena: Any, index: int) -> None:
    """Merge the old occurrences of a grown pair with the new ones after them; both ascend."""
    row, start = changes[index, CHANGE_ROW], changes[index, CHANGE_START]
    old, old_end = start + changes[index, CHANGE_FIRST], start + changes[index, CHANGE_SIZE]
    write, end = pairs[row, START], pairs[row, START] + pairs[row, SIZE]
    new = write + old_end - old
    while old < old_end:
        if new < end and arena[new] < arena[old]:
            arena[write] = arena[new]
            new += 1
        else:
            arena[write] = arena[old]
            old += 1
        write += 1


@kernel(INT(STATE, INT, INT, INT))
def _join(s: State, row: int, new: int, left: int) -> int:
    """Write the new symbol wherever the pair occurs; return the weight that was merged.

    What the pairs of each neighbor lose and gain is added up in `symbols`, adjacent new symbols in `scalars`. Longer
    than a function should be, because it is one loop over the places.
    """
    cells, symbols, right = s.cells, s.symbols, s.pairs[row, RIGHT]
    left_length, length = symbols[left, LENGTH], symbols[new, LENGTH]
    merged = between = between_count = 0
    lefts = rights = 0  # distinct neighbors
    places = s.scalars[PLACES]
    end_of_last = NOTHING
    for entry in range(s.pairs[row, START] + s.pairs[row, FIRST], s.pairs[row, START] + s.pairs[row, SIZE]):
        cell = s.arena[entry]
        if cells[cell] != left or cells[cell + left_length] != right:
            continue
        weight = s.weights[cell]
        before, after = cells[cell - 1], cells[cell + length]
        if cell == end_of_last:
            between += weight
            between_count += 1
        elif before >= 0:
            if not symbols[before, LEFT_COUNT]:
                symbols[lefts, NEAR_LEFT] = before
                lefts += 1
            symbols[before, LEFT_WEIGHT] += weight
            symbols[before, LEFT_COUNT] += 1
        # If the right neighbor is about to be merged itself, it counts what is between the two.
        if after >= 0 and not (after == left and cells[cell + length + left_length] == right):
            if not symbols[after, RIGHT_COUNT]:
                symbols[rights, NEAR_RIGHT] = after
                rights += 1
            symbols[after, RIGHT_WEIGHT] += weight
            symbols[after, RIGHT_COUNT] += 1
        cells[cell + left_length - 1] = cells[cell + left_length] = INSIDE
        cells[cell] = cells[cell + length - 1] = new
        s.places[places] = cell
        places += 1
        merged += weight
        end_of_last = cell + length
    s.scalars[PLACES], s.scalars[NEARS_LEFT], s.scalars[NEARS_RIGHT] = places, lefts, rights
    s.scalars[BETWEEN], s.scalars[BETWEEN_COUNT] = between, between_count
    return merged


@kernel(NONE(STATE, INT, INT))
def _lose(s: State, left: int, right: int) -> None:
    """Subtract from the pairs of both symbols what the merge took from them."""
    if s.scalars[BETWEEN_COUNT]:
        _change(s, s.table[find(s.pairs, s.table, right, left)], -s.scalars[BETWEEN])
    for index in range(s.scalars[NEARS_LEFT]):
        symbol = s.symbols[index, NEAR_LEFT]
        _change(s, s.table[find(s.pairs, s.table, symbol, left)], -s.symbols[symbol, LEFT_WEIGHT])
    for index in range(s.scalars[NEARS_RIGHT]):
        symbol = s.symbols[index, NEAR_RIGHT]
        _change(s, s.table[find(s.pairs, s.table, right, symbol)], -s.symbols[symbol, RIGHT_WEIGHT])


@kernel(INT(STATE, INT))
def _gain_all(s: State, new: int) -> int:
    """Give the pairs of the new symbol their rows and room; return the row of (new, new), or NOTHING."""
    symbols = s.symbols
    # If the new symbol existed before, it may also be its own neighbor.
    between = s.scalars[BETWEEN] + symbols[new, LEFT_WEIGHT] + symbols[new, RIGHT_WEIGHT]
    count = s.scalars[BETWEEN_COUNT] + symbols[new, LEFT_COUNT] + symbols[new, RIGHT_COUNT]
    between_row = _gain(s, new, new, between, count) if count else NOTHING
    for index in range(s.scalars[NEARS_LEFT]):
        near = symbols[index, NEAR_LEFT]
        symbols[near, LEFT_ROW] = between_row
        if near != new:
            symbols[near, LEFT_ROW] = _gain(s, near, new, symbols[near, LEFT_WEIGHT], symbols[near, LEFT_COUNT])
    for index in range(s.scalars[NEARS_RIGHT]):
        near = symbols[index, NEAR_RIGHT]
        symbols[near, RIGHT_ROW] = between_row
        if near != new:
            symbols[near, RIGHT_ROW] = _gain(s, new, near, symbols[near, RIGHT_WEIGHT], symbols[near, RIGHT_COUNT])
    return between_row


@kernel(NONE(STATE, INT, INT, INT, INT))
def _write_occurrences(s: State, new: int, between_row: int, places_before: int, gains_before: int) -> None:
    """Write the occurrences of the new pairs into their blocks, in ascending order."""
    cells, symbols, pairs, arena, places = s.cells, s.symbols, s.pairs, s.arena, s.places
    length, end = symbols[new, LENGTH], s.scalars[PLACES]
    end_of_last = NOTHING
    for index in range(places_before, end):
        cell = places[index]
        before, after = cells[cell - 1], cells[cell + length]
        if cell == end_of_last:
            push(pairs, arena, between_row, cell - length)
        elif before >= 0:
            push(pairs, arena, symbols[before, LEFT_ROW], cell - symbols[before, LENGTH])
        if after >= 0 and (index + 1 == end or places[index + 1] != cell + length):
            push(pairs, arena, symbols[after, RIGHT_ROW], cell)
        end_of_last = cell + length
    for index in range(gains_before, s.scalars[CHANGES]):
        _interleave(pairs, s.changes, arena, index)
    for index in range(s.scalars[NEARS_LEFT]):
        near = symbols[index, NEAR_LEFT]
        symbols[near, LEFT_WEIGHT] = symbols[near, LEFT_COUNT] = 0
    for index in range(s.scalars[NEARS_RIGHT]):
        near = symbols[index, NEAR_RIGHT]
        symbols[near, RIGHT_WEIGHT] = symbols[near, RIGHT_COUNT] = 0


@kernel(NONE(STATE))
def _merge(s: State) -> None:
    step, merges, scalars = s.scalars[STEP], s.merges, s.scalars
    row, new = merges[step, MERGE_ROW], merges[step, MERGE_NEW]
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    places, changes, pairs = scalars[PLACES], scalars[CHANGES], scalars[PAIRS]
    merges[step, MERGE_PLACES], merges[step, MERGE_CHANGES], merges[step, MERGE_PAIRS] = places, changes, pairs
    merges[step, MERGE_ARENA] = scalars[ARENA]
    merged = _join(s, row, new, left)
    merges[step, MERGE_COUNT] = scalars[PLACES] - places
    s.frequencies[left] -= merged
    s.frequencies[right] -= merged
    s.frequencies[new] += merged
    scalars[TOTAL] -= merged
    _change(s, row, -merged)
    _lose(s, left, right)
    gains = scalars[CHANGES]
    between_row = _gain_all(s, new)
    _write_occurrences(s, new, between_row, places, gains)
    scalars[STEP] += 1
    if scalars[SHORTLIST_IS_VALID]:
        after_merge(s, left, right, new, changes, pairs)


@kernel(INT(STATE, INT, INT, FLOAT))
def advance(s: State, step: int, size_limit: int, lowest_value: float) -> int:
    """Merge until `step`, replaying what is known; return DONE, a STOP, or what the driver has to do first.

    GROW: enlarge the arrays. REBUILD: choose a new shortlist. NAME: name the symbol and token that the merge makes.
    """
    scalars = s.scalars
    while scalars[STEP] < step:
        if scalars[STEP] == scalars[KNOWN]:
            if scalars[KNOWN] == len(s.merges) or scalars[SYMBOLS] == len(s.symbols):
                return GROW
            answer = choose(s, size_limit, lowest_value)
            if answer != DONE:
                return answer
            if scalars[NAMES_COLLIDE]:
                return NAME
            name_new(s, scalars[SYMBOLS], scalars[VOCABULARY], 1)
        if not _has_room(s):
            return GROW
        _merge(s)
    return DONE


@kernel(NONE(STATE, INT))
def retreat(s: State, target: int) -> None:
    cells, pairs, symbols, scalars = s.cells, s.pairs, s.symbols, s.scalars
    while scalars[STEP] > target:
        scalars[STEP] -= 1
        step = scalars[STEP]
        row, new = s.merges[step, MERGE_ROW], s.merges[step, MERGE_NEW]
        left, right = pairs[row, LEFT], pairs[row, RIGHT]
        left_length, length = symbols[left, LENGTH], symbols[new, LENGTH]
        merged = 0
        for index in range(s.merges[step, MERGE_PLACES], scalars[PLACES]):
            cell = s.places[index]
            cells[cell] = cells[cell + left_length - 1] = left
            cells[cell + left_length] = cells[cell + length - 1] = right
            merged += s.weights[cell]
        s.frequencies[left] += merged
        s.frequencies[right] += merged
        s.frequencies[new] -= merged
        scalars[TOTAL] += merged
        for popped in range(scalars[PAIRS] - 1, s.merges[step, MERGE_PAIRS] - 1, -1):
            left, right = pairs[popped, LEFT], pairs[popped, RIGHT]
            s.table[find(pairs, s.table, left, right)] = NOTHING
            symbols[left, BY_LEFT] = pairs[popped, NEXT_BY_LEFT]
            symbols[right, BY_RIGHT] = pairs[popped, NEXT_BY_RIGHT]
        for index in range(scalars[CHANGES] - 1, s.merges[step, MERGE_CHANGES] - 1, -1):
            row = s.changes[index, CHANGE_ROW]
            s.counts[row] -= s.change_weights[index]
            for column in range(3):
                pairs[row, START + column] = s.changes[index, CHANGE_START + column]
        scalars[PLACES], scalars[CHANGES] = s.merges[step, MERGE_PLACES], s.merges[step, MERGE_CHANGES]
        scalars[PAIRS], scalars[ARENA] = s.merges[step, MERGE_PAIRS], s.merges[step, MERGE_ARENA]
        scalars[SHORTLIST_IS_VALID] = 0
