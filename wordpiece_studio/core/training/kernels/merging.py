"""Merging forth and back."""

from __future__ import annotations

from wordpiece_studio.core.training.kernels.best import choose, frequency_fell, look_at, revalue
from wordpiece_studio.core.training.kernels.pairs import add_row, find, push
from wordpiece_studio.core.training.kernels.state import *
from wordpiece_studio.core.training.preparation import INSIDE


@kernel(NONE(STATE, INT, INT))
def add_symbol(s: State, row: int, token_id: int) -> None:
    """Add the symbol that a merge of the pair makes."""
    left, right = s.symbols[s.pairs[row, LEFT]], s.symbols[s.pairs[row, RIGHT]]
    new = s.symbols[s.scalars[SYMBOLS]]
    new[LENGTH] = left[LENGTH] + right[LENGTH]
    new[F] = new[LOWEST] = 0
    new[BY_LEFT] = new[BY_RIGHT] = NOTHING
    new[ID] = token_id
    s.scalars[SYMBOLS] += 1


@kernel(NONE(STATE))
def name_new(s: State) -> None:
    """Let the merge just chosen make a symbol and a token that were not there before."""
    merge = s.merges[s.scalars[KNOWN]]
    merge[MERGE_NEW], merge[MERGE_IS_NEW], merge[MERGE_ID] = s.scalars[SYMBOLS], 1, s.scalars[VOCABULARY]
    s.scalars[VOCABULARY] += 1
    add_symbol(s, merge[MERGE_ROW], merge[MERGE_ID])
    s.scalars[KNOWN] += 1


@kernel(BOOL(STATE))
def _has_room(s: State) -> bool:
    """Tell whether the next merge fits whatever it finds; if not, say in `scalars` what it could need."""
    merge = s.merges[s.scalars[MOMENT]]
    pair = s.pairs[merge[MERGE_ROW]]
    occurrences = pair[SIZE] - pair[FIRST]
    distinct = 2 * min(occurrences, s.scalars[SYMBOLS]) + 2
    entries = 2 * occurrences + 2
    # A symbol that existed before has pairs, whose blocks move to new places when they grow.
    row = s.symbols[merge[MERGE_NEW], BY_LEFT]
    while row != NOTHING:
        entries += s.pairs[row, SIZE] - s.pairs[row, FIRST]
        row = s.pairs[row, NEXT_BY_LEFT]
    row = s.symbols[merge[MERGE_NEW], BY_RIGHT]
    while row != NOTHING:
        entries += s.pairs[row, SIZE] - s.pairs[row, FIRST]
        row = s.pairs[row, NEXT_BY_RIGHT]
    s.scalars[NEEDED_PAIRS] = s.scalars[PAIRS] + distinct
    s.scalars[NEEDED_ARENA] = s.scalars[ARENA] + entries
    s.scalars[NEEDED_PLACES] = s.scalars[PLACES] + occurrences
    s.scalars[NEEDED_CHANGES] = s.scalars[CHANGES] + 2 * distinct
    return (
        s.scalars[NEEDED_PAIRS] <= len(s.pairs)
        and 2 * s.scalars[NEEDED_PAIRS] <= len(s.table)
        and s.scalars[NEEDED_ARENA] <= len(s.arena)
        and s.scalars[NEEDED_PLACES] <= len(s.places)
        and s.scalars[NEEDED_CHANGES] <= len(s.changes)
    )


@kernel(NONE(STATE, INT, INT))
def _change(s: State, row: int, weight: int) -> None:
    """Log a row as it is and add `weight`, which may be negative, to its n."""
    pair, change = s.pairs[row], s.changes[s.scalars[CHANGES]]
    s.scalars[CHANGES] += 1
    change[CHANGE_ROW], change[CHANGE_N] = row, weight
    change[CHANGE_FIRST], change[CHANGE_START], change[CHANGE_SIZE] = pair[FIRST], pair[START], pair[SIZE]
    pair[N] += weight


@kernel(INT(STATE, INT, INT, INT, INT))
def _gain(s: State, left: int, right: int, weight: int, occurrences: int) -> int:
    """Return the row of a pair that has appeared, with room for its new occurrences behind the old ones."""
    place = find(s, left, right)
    row = s.table[place]
    if row == NOTHING:
        row = add_row(s, place, left, right)
        s.pairs[row, N] = weight
    else:
        _change(s, row, weight)
    pair = s.pairs[row]
    old = pair[SIZE] - pair[FIRST]
    pair[START], pair[SIZE], pair[FIRST] = s.scalars[ARENA], old, 0
    s.scalars[ARENA] += old + occurrences
    return row


@kernel(NONE(STATE, INT))
def _interleave(s: State, index: int) -> None:
    """Merge the old occurrences of a grown pair with the new ones behind them, both ascending."""
    change = s.changes[index]
    pair = s.pairs[change[CHANGE_ROW]]
    old, old_end = change[CHANGE_START] + change[CHANGE_FIRST], change[CHANGE_START] + change[CHANGE_SIZE]
    write, end = pair[START], pair[START] + pair[SIZE]
    new = write + old_end - old
    while old < old_end:
        if new < end and s.arena[new] < s.arena[old]:
            s.arena[write] = s.arena[new]
            new += 1
        else:
            s.arena[write] = s.arena[old]
            old += 1
        write += 1


@kernel(NONE(STATE, INT, INT, INT, INT, INT))
def _after_merge(s: State, left: int, right: int, new: int, changes_before: int, pairs_before: int) -> None:
    """Bring the hot pairs up to date with everything that the merge changed."""
    if not s.scalars[HOT_IS_VALID]:
        return
    if s.symbols[new, LOWEST] == 0:
        s.symbols[new, LOWEST] = s.symbols[new, F] - s.symbols[new, F] // 8
    if s.rules[OBJECTIVE] == SCORE:
        revalue(s, left, right)
        if s.rules[NAMES_COLLIDE]:
            revalue(s, new, new)  # if it existed before, its f has risen
    frequency_fell(s, left)
    frequency_fell(s, right)
    for index in range(changes_before, s.scalars[CHANGES]):
        look_at(s, s.changes[index, CHANGE_ROW])
    for row in range(pairs_before, s.scalars[PAIRS]):
        look_at(s, row)


@kernel(INT(STATE, INT, INT, INT))
def _join(s: State, row: int, new: int, left: int) -> int:
    """Write the new symbol wherever the pair stands and return how much was merged, weighted.

    Per neighbour, what its pairs lose and gain is added up in `neighbours`; what stands between two new symbols, in
    `scalars`. One loop over the places, so it is longer than a function should be.
    """
    right = s.pairs[row, RIGHT]
    left_length, length = s.symbols[left, LENGTH], s.symbols[new, LENGTH]
    merged = between = between_count = 0
    lefts = rights = 0  # distinct neighbours
    places = s.scalars[PLACES]
    end_of_last = NOTHING
    for entry in range(s.pairs[row, START] + s.pairs[row, FIRST], s.pairs[row, START] + s.pairs[row, SIZE]):
        cell = s.arena[entry]
        if s.cells[cell] != left or s.cells[cell + left_length] != right:
            continue
        weight = s.weights[cell]
        before, after = s.cells[cell - 1], s.cells[cell + length]
        if cell == end_of_last:
            between += weight
            between_count += 1
        elif before >= 0:
            if not s.neighbours[before, LEFT_COUNT]:
                s.touched[0, lefts] = before
                lefts += 1
            s.neighbours[before, LEFT_WEIGHT] += weight
            s.neighbours[before, LEFT_COUNT] += 1
        # A right neighbour that is about to be merged itself books what is between them.
        if after >= 0 and not (after == left and s.cells[cell + length + left_length] == right):
            if not s.neighbours[after, RIGHT_COUNT]:
                s.touched[1, rights] = after
                rights += 1
            s.neighbours[after, RIGHT_WEIGHT] += weight
            s.neighbours[after, RIGHT_COUNT] += 1
        s.cells[cell + left_length - 1] = s.cells[cell + left_length] = INSIDE
        s.cells[cell] = s.cells[cell + length - 1] = new
        s.places[places] = cell
        places += 1
        merged += weight
        end_of_last = cell + length
    s.scalars[PLACES], s.scalars[LEFTS], s.scalars[RIGHTS] = places, lefts, rights
    s.scalars[BETWEEN], s.scalars[BETWEEN_COUNT] = between, between_count
    return merged


@kernel(NONE(STATE, INT, INT))
def _lose(s: State, left: int, right: int) -> None:
    """Take from the pairs of both symbols what the merge took."""
    if s.scalars[BETWEEN_COUNT]:
        _change(s, s.table[find(s, right, left)], -s.scalars[BETWEEN])
    for index in range(s.scalars[LEFTS]):
        symbol = s.touched[0, index]
        _change(s, s.table[find(s, symbol, left)], -s.neighbours[symbol, LEFT_WEIGHT])
    for index in range(s.scalars[RIGHTS]):
        symbol = s.touched[1, index]
        _change(s, s.table[find(s, right, symbol)], -s.neighbours[symbol, RIGHT_WEIGHT])


@kernel(INT(STATE, INT))
def _gain_all(s: State, new: int) -> int:
    """Give the pairs of the new symbol their rows and room; return the row of (new, new) if there is one."""
    # Where the new symbol existed before it may also be its own neighbour.
    between = s.scalars[BETWEEN] + s.neighbours[new, LEFT_WEIGHT] + s.neighbours[new, RIGHT_WEIGHT]
    count = s.scalars[BETWEEN_COUNT] + s.neighbours[new, LEFT_COUNT] + s.neighbours[new, RIGHT_COUNT]
    between_row = _gain(s, new, new, between, count) if count else NOTHING
    for index in range(s.scalars[LEFTS]):
        symbol = s.touched[0, index]
        near = s.neighbours[symbol]
        near[LEFT_ROW] = between_row
        if symbol != new:
            near[LEFT_ROW] = _gain(s, symbol, new, near[LEFT_WEIGHT], near[LEFT_COUNT])
    for index in range(s.scalars[RIGHTS]):
        symbol = s.touched[1, index]
        near = s.neighbours[symbol]
        near[RIGHT_ROW] = between_row
        if symbol != new:
            near[RIGHT_ROW] = _gain(s, new, symbol, near[RIGHT_WEIGHT], near[RIGHT_COUNT])
    return between_row


@kernel(NONE(STATE, INT, INT, INT, INT))
def _write_occurrences(s: State, new: int, between_row: int, places_before: int, gains_before: int) -> None:
    """Write the places of the new pairs into their blocks; they come out in order."""
    length = s.symbols[new, LENGTH]
    end_of_last = NOTHING
    for index in range(places_before, s.scalars[PLACES]):
        cell = s.places[index]
        before, after = s.cells[cell - 1], s.cells[cell + length]
        if cell == end_of_last:
            push(s, between_row, cell - length)
        elif before >= 0:
            push(s, s.neighbours[before, LEFT_ROW], cell - s.symbols[before, LENGTH])
        is_last = index + 1 == s.scalars[PLACES]
        if after >= 0 and (is_last or s.places[index + 1] != cell + length):
            push(s, s.neighbours[after, RIGHT_ROW], cell)
        end_of_last = cell + length
    for index in range(gains_before, s.scalars[CHANGES]):
        _interleave(s, index)


@kernel(NONE(STATE))
def _merge(s: State) -> None:
    """Carry out the merge that `merges` names for this moment."""
    merge = s.merges[s.scalars[MOMENT]]
    row, new = merge[MERGE_ROW], merge[MERGE_NEW]
    left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
    places, changes, pairs = s.scalars[PLACES], s.scalars[CHANGES], s.scalars[PAIRS]
    merge[MERGE_PLACES], merge[MERGE_CHANGES], merge[MERGE_PAIRS] = places, changes, pairs
    merge[MERGE_ARENA] = s.scalars[ARENA]
    merged = _join(s, row, new, left)
    s.symbols[left, F] -= merged
    s.symbols[right, F] -= merged
    s.symbols[new, F] += merged
    s.scalars[TOTAL] -= merged
    _change(s, row, -merged)
    _lose(s, left, right)
    gains = s.scalars[CHANGES]
    between_row = _gain_all(s, new)
    _write_occurrences(s, new, between_row, places, gains)
    for index in range(s.scalars[LEFTS]):
        s.neighbours[s.touched[0, index]] = 0
    for index in range(s.scalars[RIGHTS]):
        s.neighbours[s.touched[1, index]] = 0
    s.scalars[MOMENT] += 1
    _after_merge(s, left, right, new, changes, pairs)


@kernel(INT(STATE, INT, INT, FLOAT))
def advance(s: State, moment: int, size_limit: int, lowest_value: float) -> int:
    """Merge until `moment`, replaying what is known; answer DONE, a STOP, or what the driver has to do first.

    GROW: enlarge arrays. REBUILD: choose the hot pairs anew. NAME: say which symbol and token the merge makes.
    """
    while s.scalars[MOMENT] < moment:
        if s.scalars[MOMENT] == s.scalars[KNOWN]:
            if s.scalars[KNOWN] == len(s.merges) or s.scalars[SYMBOLS] == len(s.symbols):
                return GROW
            answer = choose(s, size_limit, lowest_value)
            if answer != DONE:
                return answer
            if s.rules[NAMES_COLLIDE]:
                return NAME
            name_new(s)
        if not _has_room(s):
            return GROW
        _merge(s)
    return DONE


@kernel(NONE(STATE, INT))
def retreat(s: State, moment: int) -> None:
    """Undo merges until `moment`."""
    while s.scalars[MOMENT] > moment:
        s.scalars[MOMENT] -= 1
        merge = s.merges[s.scalars[MOMENT]]
        row, new = merge[MERGE_ROW], merge[MERGE_NEW]
        left, right = s.pairs[row, LEFT], s.pairs[row, RIGHT]
        left_length, length = s.symbols[left, LENGTH], s.symbols[new, LENGTH]
        merged = 0
        for index in range(merge[MERGE_PLACES], s.scalars[PLACES]):
            cell = s.places[index]
            s.cells[cell] = s.cells[cell + left_length - 1] = left
            s.cells[cell + left_length] = s.cells[cell + length - 1] = right
            merged += s.weights[cell]
        s.symbols[left, F] += merged
        s.symbols[right, F] += merged
        s.symbols[new, F] -= merged
        s.scalars[TOTAL] += merged
        for pair_row in range(s.scalars[PAIRS] - 1, merge[MERGE_PAIRS] - 1, -1):
            pair = s.pairs[pair_row]
            s.table[find(s, pair[LEFT], pair[RIGHT])] = NOTHING
            s.symbols[pair[LEFT], BY_LEFT] = pair[NEXT_BY_LEFT]
            s.symbols[pair[RIGHT], BY_RIGHT] = pair[NEXT_BY_RIGHT]
        for index in range(s.scalars[CHANGES] - 1, merge[MERGE_CHANGES] - 1, -1):
            change = s.changes[index]
            pair = s.pairs[change[CHANGE_ROW]]
            pair[N] -= change[CHANGE_N]
            pair[FIRST], pair[START] = change[CHANGE_FIRST], change[CHANGE_START]
            pair[SIZE] = change[CHANGE_SIZE]
        s.scalars[PLACES], s.scalars[CHANGES] = merge[MERGE_PLACES], merge[MERGE_CHANGES]
        s.scalars[PAIRS], s.scalars[ARENA] = merge[MERGE_PAIRS], merge[MERGE_ARENA]
        s.scalars[HOT_IS_VALID] = 0
