"""The fast engine: owns and enlarges the arrays of the kernels, and names the tokens that they make.

See :mod:`~wordpiece_studio.training.kernels` for how it works. Importing this module loads the kernels.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.system.arrays import repeated, with_room
from wordpiece_studio.training.engine import MergeBatch, NotACandidateError, RankedPair, StopReason
from wordpiece_studio.training.reference import ln
from wordpiece_studio.training.segmentation import GROWTH, HistoryPlaces, Symbol, TrainingInput, stop_if_asked

load_kernels("training")  # from the user's cache; the import below then finds them
from wordpiece_studio.training.kernels import columns, merging, pairs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from wordpiece_studio.training.config import Objective, TrainingConfig

_OBJECTIVES = {"score": columns.SCORE, "likelihood": columns.LIKELIHOOD, "count": columns.COUNT}
_STOPS: dict[int, StopReason] = {columns.STOP_SIZE: "vocab_size", columns.STOP_VALUE: "min_value"}
# Columns of the history, and the columns of `merges` that hold them.
_RECORDED = {
    "left_id": columns.MERGE_LEFT_ID, "right_id": columns.MERGE_RIGHT_ID, "new_id": columns.MERGE_ID,
    "pair_frequency": columns.MERGE_N, "left_frequency": columns.MERGE_LEFT_F,
    "right_frequency": columns.MERGE_RIGHT_F, "symbols_before": columns.MERGE_TOTAL, "ties": columns.MERGE_TIES,
    "is_new": columns.MERGE_IS_NEW,
}  # fmt: skip
# Pairs on the shortlist. With more, every merge looks at more; with fewer, it is chosen anew more often.
_SHORTLIST_SIZES = {"score": 1024, "count": 2048, "likelihood": 1024}
# See MARGIN: with a smaller one, more pairs are listed and all pairs of a symbol are checked less often.
_MARGINS = {"score": 8, "count": 8, "likelihood": 3}
_FAR = 128  # merges to replay: keeping the shortlist up to date would take longer than choosing it anew
_SAMPLE = 1 << 15  # values that a threshold is estimated from
_NO_LIMIT = np.iinfo(np.int64).max
_LOW = (1 << 32) - 1  # of a pair's key: its right symbol
_CELLS_AT_ONCE = 1 << 20  # counted between two calls of `should_stop`


class CompiledEngine:
    """What :class:`~wordpiece_studio.training.plain_engine.PlainEngine` is, only faster.

    `advance` may also return early without a reason, to let its caller do other things, but never without progress.
    `capacity` is the initial length of the arrays that grow; tests make it tiny. `should_stop` is called between the
    parts of the initial work; the engine is given up when it returns true.
    """

    def __init__(
        self, input_: TrainingInput, *, capacity: int | None = None, should_stop: Callable[[], bool] | None = None
    ) -> None:
        config = input_.config
        self._input = input_
        names_collide = config.has_rules or bool(config.base_merges) or _names_collide(input_)
        stop_if_asked(should_stop)
        self._shortlist_size = min(_SHORTLIST_SIZES[config.objective], capacity or _NO_LIMIT)
        self._state = _initial_state(input_, capacity)
        scalars = self._state.scalars
        scalars[columns.OBJECTIVE] = _OBJECTIVES[config.objective]
        scalars[columns.TIE_BY_IDS] = config.tie == "ids"
        scalars[columns.MIN_FREQUENCY] = min(max(1, config.min_frequency), _NO_LIMIT)
        scalars[columns.LONGEST] = min(config.max_token_length or _NO_LIMIT, _NO_LIMIT)
        scalars[columns.NAMES_COLLIDE] = names_collide
        scalars[columns.MARGIN] = _MARGINS[config.objective]
        self._choices = config.choices
        self._forbidden = _forbidden_by_symbol(config)
        if self._forbidden:
            self._forbid_pairs_of(input_.symbols)
        self._count_pairs(should_stop)

    @property
    def current_step(self) -> int:
        return self._scalar(columns.STEP)

    @property
    def known(self) -> int:
        return self._scalar(columns.KNOWN)

    def advance(
        self, merges: int, vocab_size: int | None = None, min_value: float | None = None
    ) -> tuple[MergeBatch, StopReason | None]:
        first, start, target = self.known, self.current_step, self.current_step + merges
        self._state.scalars[columns.SHORTLIST_IS_VALID] &= min(target, first) - self.current_step < _FAR
        size = _NO_LIMIT if vocab_size is None else vocab_size
        lowest = -np.inf if min_value is None else min_value
        reason: StopReason | None = None
        while True:
            answer = merging.advance(self._state, target, size, lowest)
            if answer == columns.DONE:
                break
            if answer == columns.GROW:
                self._grow()
            elif answer == columns.REBUILD:
                self._choose_shortlist(self._shortlist_size)
            elif answer == columns.NAME:
                if self._choices and not self._choose_merge():
                    if self.current_step > start:
                        break
                    step = self._input.step + self.known + 1
                    raise NotACandidateError(step, self._choices[step])
                self._name_merge()
            else:
                reason = self._why_none() if answer == columns.STOP_NONE else _STOPS[answer]
                break
        return self._batch(first), reason

    def retreat(self, merges: int) -> None:
        merging.retreat(self._state, self.current_step - merges)

    def forget(self, known: int, vocabulary_size: int) -> None:
        state, scalars = self._state, self._state.scalars
        self.retreat(max(0, self.current_step - known))
        made = int(state.merges[:known, columns.MERGE_NEW].max(initial=-1)) + 1
        symbols = max(len(self._input.symbols), made)
        scalars[columns.KNOWN], scalars[columns.SYMBOLS] = known, symbols
        scalars[columns.VOCABULARY] = vocabulary_size
        while len(self._tokens) > vocabulary_size:
            self._tokens.popitem()
        while len(self._index) > symbols:
            self._index.popitem()
        del self._symbols[symbols:]
        if self._forbidden:
            keys = state.forbidden
            self._state = state._replace(forbidden=keys[((keys >> 32) < symbols) & ((keys & _LOW) < symbols)])

    def ranked(self, limit: int) -> list[RankedPair]:
        rows, values = self._best_rows(limit)
        lefts, rights = self._state.pairs[rows, columns.LEFT], self._state.pairs[rows, columns.RIGHT]
        ids, frequencies = self._state.symbols[:, columns.ID], self._state.frequencies
        facts = (ids[lefts], ids[rights], self._state.counts[rows], frequencies[lefts], frequencies[rights], values)
        return list(zip(*(fact.tolist() for fact in facts), strict=True))

    def _best_rows(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        limit = min(limit, self._scalar(columns.PAIRS))
        wanted = max(self._shortlist_size, 2 * limit)
        while True:
            if not self._scalar(columns.SHORTLIST_IS_VALID):
                self._choose_shortlist(wanted)
            shortlist = self._state.shortlist[: self._scalar(columns.LISTED)]
            values = self._values(shortlist[:, columns.LISTED_ROW].copy())
            threshold = self._state.reals[columns.THRESHOLD]
            best = np.flatnonzero(values >= threshold)  # below it, an unlisted pair may be better
            if len(best) >= limit or threshold == -np.inf:
                break
            self._state.scalars[columns.SHORTLIST_IS_VALID] = 0
            wanted *= 2
        shortlist, values = shortlist[best], values[best]
        order = np.lexsort((shortlist[:, columns.LISTED_PLACE], shortlist[:, columns.LISTED_IDS], -values))
        order = order[values[order] > -np.inf][:limit]
        rows, values = shortlist[order, columns.LISTED_ROW], values[order]
        chosen = self._chosen_row()
        if chosen is not None:
            others = rows != chosen
            rows = np.append(np.int64(chosen), rows[others])[:limit]
            values = np.append(self._values(rows[:1]), values[others])[:limit]
        return rows, values

    # Made when the first merge is named: an engine that only ranks the candidates of a step needs none of them.

    @cached_property
    def _symbols(self) -> list[Symbol]:
        return list(self._input.symbols)

    @cached_property
    def _index(self) -> dict[Symbol, int]:
        return {symbol: index for index, symbol in enumerate(self._input.symbols)}

    @cached_property
    def _tokens(self) -> dict[str, int]:
        return {token: index for index, token in enumerate(self._input.vocabulary_tokens)}

    # What the kernels request.

    def _grow(self) -> None:
        state, scalars = self._state, self._state.scalars
        pair_room, symbol_room = int(scalars[columns.NEEDED_PAIRS]), int(scalars[columns.SYMBOLS]) + 1
        merge_room, change_room = int(scalars[columns.KNOWN]) + 1, int(scalars[columns.NEEDED_CHANGES])
        if scalars[columns.NEEDED_ARENA] > np.iinfo(np.int32).max:
            raise MemoryError  # its entries are numbered in int32
        self._state = state._replace(
            pairs=with_room(state.pairs, pair_room, GROWTH),
            counts=with_room(state.counts, pair_room, GROWTH),
            arena=with_room(state.arena, int(scalars[columns.NEEDED_ARENA]), GROWTH),
            symbols=with_room(state.symbols, symbol_room, GROWTH),
            frequencies=with_room(state.frequencies, symbol_room, GROWTH),
            merges=with_room(state.merges, merge_room, GROWTH),
            values=with_room(state.values, merge_room, GROWTH),
            places=with_room(state.places, int(scalars[columns.NEEDED_PLACES]), GROWTH),
            changes=with_room(state.changes, change_room, GROWTH),
            change_weights=with_room(state.change_weights, change_room, GROWTH),
        )
        if _table_size(len(self._state.pairs)) > len(state.table):
            table = np.full(_table_size(len(self._state.pairs)), columns.NOTHING, dtype=np.int32)
            pairs.rehash(self._state.pairs, table, self._scalar(columns.PAIRS))
            self._state = self._state._replace(table=table)

    def _choose_shortlist(self, wanted: int) -> None:
        """Put about `wanted` of the best pairs on the shortlist, and all pairs that tie with the last of them."""
        values = self._values(np.arange(self._scalar(columns.PAIRS), dtype=np.int64))
        threshold = _threshold(values, wanted)
        if self._input.config.objective == "likelihood":
            threshold -= abs(threshold) / 64  # every merge lowers all values a little, and equal ones together
        bounds = _upper_bounds(values, self._state.counts[: len(values)], self._input.config.objective)
        rows = np.flatnonzero((bounds >= threshold) & (values > -np.inf)).astype(np.int64, copy=False)
        shortlist = self._state.shortlist[: self._scalar(columns.LISTED)]
        self._state.pairs[shortlist[:, columns.LISTED_ROW], columns.SLOT] = columns.NOTHING
        capacity = 2 * max(len(rows), wanted)
        if capacity > len(self._state.shortlist):
            self._state = self._state._replace(**_shortlist_arrays(capacity))
        self._state.reals[columns.THRESHOLD] = threshold
        pairs.make_shortlist(self._state, rows)

    def _name_merge(self) -> None:
        state = self._state
        row = int(state.merges[self.known, columns.MERGE_ROW])
        left, right = state.pairs[row, [columns.LEFT, columns.RIGHT]].tolist()
        symbol = self._symbols[left].joined(self._symbols[right])
        token = symbol.token(self._input.config.continuing_subword_prefix)
        is_new = token not in self._tokens
        token_id = self._tokens.setdefault(token, len(self._tokens))
        if symbol not in self._index:
            self._index[symbol] = len(self._symbols)
            self._symbols.append(symbol)
        merging.name_new(state, self._index[symbol], token_id, is_new)

        if self._forbidden:
            self._forbid_pairs_of([symbol])

    def _forbid_pairs_of(self, symbols: Iterable[Symbol]) -> None:
        """Add the forbidden pairs in which these symbols are, as far as both symbols exist."""
        index = self._index
        pairs = (pair for symbol in symbols for pair in self._forbidden.get(symbol, ()))
        keys = [index[left] << 32 | index[right] for left, right in pairs if left in index and right in index]
        if keys:
            forbidden = np.union1d(self._state.forbidden, np.array(keys, dtype=np.int64))
            self._state = self._state._replace(forbidden=forbidden)

    def _choose_merge(self) -> bool:
        """Replace the pair to merge by the one that is chosen for this step; return false if it is no candidate."""
        known, state = self.known, self._state
        if self._input.step + known + 1 not in self._choices:
            return True
        row = self._chosen_row()
        if row is None:
            return False
        left, right = state.pairs[row, [columns.LEFT, columns.RIGHT]].tolist()
        values = self._values(np.arange(self._scalar(columns.PAIRS), dtype=np.int64))
        merge = state.merges[known]
        merge[columns.MERGE_ROW], merge[columns.MERGE_N] = row, state.counts[row]
        merge[columns.MERGE_LEFT_F], merge[columns.MERGE_RIGHT_F] = state.frequencies[[left, right]]
        merge[columns.MERGE_TIES], state.values[known] = np.count_nonzero(values == values[row]), values[row]
        return True

    def _chosen_row(self) -> int | None:
        """Return the row of the candidate that is chosen for the next step, if one is."""
        chosen = self._choices.get(self._input.step + self.current_step + 1)
        if chosen is None:
            return None
        prefix, index, state = self._input.config.continuing_subword_prefix, self._index, self._state
        symbols = [
            (index[left], index[right])
            for left, right in itertools.product(*(_so_written(token, prefix) for token in chosen))
            if left in index and right in index
        ]
        places = (pairs.find(state.pairs, state.table, left, right) for left, right in symbols)
        rows = np.array([row for place in places if (row := int(state.table[place])) >= 0], dtype=np.int64)
        values = self._values(rows)
        best = max((value for value in values.tolist() if value > -np.inf), default=None)
        if best is None:
            return None
        best_rows: list[int] = rows[values == best].tolist()
        return min(best_rows, key=self._tie_key)

    def _tie_key(self, row: int) -> tuple[int, int]:
        """Return what decides among equal values: vocabulary ids, if the settings say so, then the first occurrence."""
        state = self._state
        left, right, start, size = state.pairs[row, :4].tolist()
        of_left, of_right = state.symbols[left], state.symbols[right]
        ids = (of_left[columns.ID] << 32 | of_right[columns.ID]) * self._scalar(columns.TIE_BY_IDS)
        cells = state.arena[start : start + size]
        standing = (state.cells[cells] == left) & (state.cells[cells + of_left[columns.LENGTH]] == right)
        return int(ids), int(cells[standing][0])

    def _why_none(self) -> StopReason:
        frequencies = self._state.counts[: self._scalar(columns.PAIRS)]
        most = int(frequencies.max(initial=0))
        if not most:
            return "no_pair"
        if most < self._input.config.min_frequency:
            return "min_frequency"
        used = self._scalar(columns.PAIRS)
        rows = self._state.pairs[:used][frequencies >= self._scalar(columns.MIN_FREQUENCY)]
        lengths = self._state.symbols[:, columns.LENGTH]
        lengths = lengths[rows[:, columns.LEFT]] + lengths[rows[:, columns.RIGHT]]
        return "max_token_length" if lengths.min() > self._scalar(columns.LONGEST) else "forbidden"

    # Reading the state.

    def _scalar(self, index: int) -> int:
        return int(self._state.scalars[index])

    def _values(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        values = np.empty(len(rows), dtype=np.float64)
        pairs.values_of(self._state, rows, values)
        return values

    def _batch(self, first: int) -> MergeBatch:
        state, known, end = self._state, self.known, self._scalar(columns.PLACES)
        merges = state.merges[first:known]
        begin = int(merges[0, columns.MERGE_PLACES]) if len(merges) else end
        facts: dict[str, NDArray[Any]] = {name: merges[:, column] for name, column in _RECORDED.items()}
        facts["value"] = state.values[first:known]
        counts, lengths = merges[:, columns.MERGE_COUNT], merges[:, columns.MERGE_LEFT_LENGTH]
        return MergeBatch(facts, HistoryPlaces(counts, lengths, state.places[begin:end]))

    def _count_pairs(self, should_stop: Callable[[], bool] | None) -> None:
        cell = 0
        rows = np.full(len(self._input.cells), columns.NOTHING, dtype=np.int32)
        lengths = self._state.symbols[:, columns.LENGTH].astype(np.int32)
        for end in _ends_of_parts(self._input):
            stop_if_asked(should_stop)
            cells = self._state.cells[:end]
            while (cell := pairs.count_pairs(self._state._replace(cells=cells), cell, lengths, rows)) < end:
                self._state.scalars[columns.NEEDED_PAIRS] = self._scalar(columns.PAIRS) + 1
                self._grow()
        stop_if_asked(should_stop)
        count = self._scalar(columns.PAIRS)
        arena = with_room(self._state.arena, int(self._state.pairs[:count, columns.SIZE].sum()), GROWTH)
        self._state.scalars[columns.ARENA] = pairs.fill_blocks(self._state.pairs, arena, rows, count)
        self._state = self._state._replace(arena=arena)


def _ends_of_parts(input_: TrainingInput) -> list[int]:
    wanted = np.arange(_CELLS_AT_ONCE, len(input_.cells), _CELLS_AT_ONCE)
    words = np.searchsorted(input_.word_starts, wanted).clip(max=len(input_.weights) - 1)
    return [*input_.word_starts[words].tolist(), len(input_.cells)]


def _threshold(values: NDArray[np.float64], wanted: int) -> float:
    """Return a value that about `wanted` of `values` reach, or -inf if there are fewer. Any value would be correct."""
    stride = max(1, min(len(values) // _SAMPLE, wanted // 64))
    sample = values[::stride]
    rank = wanted // stride
    return float(np.partition(sample, -rank)[-rank]) if rank < len(sample) else -np.inf


def _upper_bounds(values: NDArray[np.float64], counts: NDArray[np.int64], objective: Objective) -> NDArray[np.float64]:
    """Return what the values can rise to before the f of a symbol falls by more than 1 / MARGIN, or slightly more."""
    margin = 1 - 1 / _MARGINS[objective]
    if objective == "score":
        return values * (1.000001 / margin**2)
    if objective == "likelihood":
        return values + counts * (-2.000001 * ln(margin))
    return values


def _so_written(token: str, prefix: str) -> list[Symbol]:
    inside = [Symbol(token.removeprefix(prefix), True)] if prefix and token.startswith(prefix) else []
    return [Symbol(token, False), *inside]


def _forbidden_by_symbol(config: TrainingConfig) -> dict[Symbol, list[tuple[Symbol, Symbol]]]:
    """Return all forbidden pairs, by each of their symbols: a token of n characters has n - 1."""
    prefix = config.continuing_subword_prefix
    forbidden = {
        pair
        for left, right in config.forbidden_pairs
        for pair in itertools.product(_so_written(left, prefix), _so_written(right, prefix))
    }
    for token in config.forbidden_tokens:
        for text, continues in _so_written(token, prefix):
            for end in range(1, len(text)):
                forbidden.add((Symbol(text[:end], continues), Symbol(text[end:], bool(prefix))))
    by_symbol: dict[Symbol, list[tuple[Symbol, Symbol]]] = {}
    for pair in forbidden:
        for symbol in {*pair}:
            by_symbol.setdefault(symbol, []).append(pair)
    return by_symbol


def _names_collide(input_: TrainingInput) -> bool:
    """Return whether a merge could make a symbol or a token that exists already.

    With a prefix and no suffix, no two merges make the same symbol, because a span that becomes one token is segmented
    the same way everywhere. Two tokens are then written alike only if a word begins with the prefix or spells out a
    special token.
    """
    config = input_.config
    prefix = config.continuing_subword_prefix
    removes = config.alphabet_limit is not None and config.alphabet_overflow == "remove"
    if not prefix or removes or config.end_of_word_suffix is not None:
        return True
    begins = (prefix, *config.reserved_tokens)
    inside = [token.removeprefix(prefix) for token in config.reserved_tokens if token.startswith(prefix)]
    found = input_.counts.indices_with({*begins, *inside})
    return any(found[token] for token in inside) or any(
        input_.words[index].startswith(token) for token in begins for index in found[token]
    )


def _initial_state(input_: TrainingInput, capacity: int | None) -> columns.State:
    adjacent = len(input_.cells)  # slightly more than there are pairs
    # What most trainings need in the end; pages that are never written to take no memory.
    room = max(1024, adjacent // 4) if capacity is None else capacity
    merges = min(room, 1 << 16)
    count = len(input_.symbols)
    symbols = np.zeros((count + merges, columns.SYMBOL_COLUMNS), dtype=np.int64)
    symbols[:count, columns.LENGTH] = [len(symbol.text) for symbol in input_.symbols]
    symbols[:count, columns.BY_LEFT : columns.LISTED_BY_RIGHT + 1] = columns.NOTHING
    symbols[:count, columns.ID] = input_.symbol_ids
    scalars = np.zeros(columns.SCALARS, dtype=np.int64)
    scalars[columns.SYMBOLS], scalars[columns.VOCABULARY] = count, len(input_.vocabulary_tokens)
    with_separators = input_.word_lengths + 1
    with_separators[0] += 1  # the one before the first word
    return columns.State(
        cells=input_.cells.copy(),
        weights=repeated(input_.weights, with_separators),
        pairs=np.zeros((room, columns.PAIR_COLUMNS), dtype=np.int32),
        counts=np.zeros(room, dtype=np.int64),
        table=np.full(_table_size(room), columns.NOTHING, dtype=np.int32),
        arena=np.empty(room if capacity else 5 * adjacent // 2, dtype=np.int32),
        symbols=symbols,
        frequencies=np.zeros(len(symbols), dtype=np.int64),
        merges=np.zeros((merges, columns.MERGE_COLUMNS), dtype=np.int64),
        values=np.zeros(merges, dtype=np.float64),
        places=np.empty(room if capacity else adjacent, dtype=np.int32),
        changes=np.empty((room, columns.CHANGE_COLUMNS), dtype=np.int32),
        change_weights=np.empty(room, dtype=np.int64),
        scalars=scalars,
        reals=np.zeros(columns.REALS, dtype=np.float64),
        forbidden=np.empty(0, dtype=np.int64),
        **_shortlist_arrays(0),
    )


def _shortlist_arrays(capacity: int) -> dict[str, NDArray[Any]]:
    values = np.zeros(capacity, dtype=np.float64)
    return {
        "shortlist": np.zeros((capacity, columns.LISTED_COLUMNS), dtype=np.int64),
        "shortlist_values": values,
        "shortlist_keys": values.view(np.int64),
        "shortlist_slopes": np.zeros(capacity, dtype=np.float64),
    }


def _table_size(rows: int) -> int:
    return 1 << max(1, 2 * rows - 1).bit_length()
