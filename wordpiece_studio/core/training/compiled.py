"""The fast engine: owns the arrays that the kernels work on, enlarges them, and names what the kernels merge.

Importing this module loads the kernels, and with them numba; nothing imports it before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.training.engine import Limits, RankedPair, StopReason
from wordpiece_studio.core.training.history import MergeBatch
from wordpiece_studio.core.training.kernel_cache import load_kernels
from wordpiece_studio.errors import StudioError

load_kernels()  # from the user's cache; the import below then finds them
from wordpiece_studio.core.training.kernels import best, merging, pairs  # noqa: E402
from wordpiece_studio.core.training.kernels import state as columns  # noqa: E402

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.core.training.preparation import Symbol, TrainingInput

_OBJECTIVES = {"score": columns.SCORE, "likelihood": columns.LIKELIHOOD, "count": columns.COUNT}
_STOPS: dict[int, StopReason] = {columns.STOP_SIZE: "vocab_size", columns.STOP_VALUE: "min_value"}
_HOT_PAIRS = {"score": 1024, "count": 1024, "likelihood": 256}
"""How many pairs to keep hot; under likelihood each merge revalues them all."""
_NO_LIMIT = np.iinfo(np.int64).max


class CompiledEngine:
    """See :class:`~wordpiece_studio.core.training.engine.Engine`.

    Parameters
    ----------
    input_
        The state before the first merge.
    capacity
        Initial length of the arrays that grow; tests make it tiny.
    """

    def __init__(self, input_: TrainingInput, *, capacity: int = 1024) -> None:
        config = input_.config
        self._input = input_
        self._symbols = list(input_.symbols)
        self._index = {symbol: index for index, symbol in enumerate(self._symbols)}
        self._tokens: dict[str, int] = {token: index for index, token in enumerate(input_.vocabulary_tokens)}
        self._names_collide = _names_collide(input_)
        self._hot_pairs = min(_HOT_PAIRS[config.objective], capacity)
        self._state = _initial_state(input_, capacity)
        rules = self._state.rules
        rules[columns.OBJECTIVE] = _OBJECTIVES[config.objective]
        rules[columns.TIE_BY_IDS] = config.tie == "ids"
        rules[columns.MIN_FREQUENCY] = max(1, config.min_frequency)
        rules[columns.LONGEST] = config.max_token_length or _NO_LIMIT
        rules[columns.NAMES_COLLIDE] = self._names_collide
        self._count_pairs()

    @property
    def moment(self) -> int:
        """The number of merges carried out."""
        return self._scalar(columns.MOMENT)

    @property
    def known(self) -> int:
        """The number of merges ever found."""
        return self._scalar(columns.KNOWN)

    def advance(self, merges: int, limits: Limits) -> tuple[MergeBatch, StopReason | None]:
        """Carry out at most `merges` merges."""
        first, target = self.known, self.moment + merges
        size = _NO_LIMIT if limits.vocab_size is None else limits.vocab_size
        lowest = -np.inf if limits.min_value is None else limits.min_value
        reason: StopReason | None = None
        places = self._scalar(columns.PLACES)
        while True:
            answer = merging.advance(self._state, target, size, lowest)
            if answer == columns.DONE:
                break
            if answer == columns.GROW:
                self._grow()
            elif answer == columns.REBUILD:
                self._choose_hot_pairs()
            elif answer == columns.NAME:
                self._name_merge()
            else:
                reason = self._why_none() if answer == columns.STOP_NONE else _STOPS[answer]
                break
        if first < self.known:
            places = int(self._state.merges[first, columns.MERGE_PLACES])
        return self._batch(first, places), reason

    def retreat(self, merges: int) -> None:
        """Undo the last `merges` merges."""
        merging.retreat(self._state, self.moment - merges)

    def ranked(self, limit: int) -> list[RankedPair]:
        """Return the best candidates at this moment."""
        state = self._state
        values = self._all_values()
        count = min(limit, int((values > -np.inf).sum()))
        if not count:
            return []
        worst = np.partition(values, -count)[-count]
        rows = np.flatnonzero(values >= worst)
        order = [*self._tie_keys(rows), -values[rows]]
        prefix = self._input.config.continuing_subword_prefix
        ranked = []
        for row in rows[np.lexsort(order)][:count].tolist():
            left, right, n = state.pairs[row, : columns.N + 1].tolist()
            ranked.append(
                RankedPair(
                    self._symbol(left).token(prefix),
                    self._symbol(right).token(prefix),
                    n,
                    int(state.symbols[left, columns.F]),
                    int(state.symbols[right, columns.F]),
                    float(values[row]),
                )
            )
        return ranked

    def _tie_keys(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return sort keys, the last the most important, that put equal values in the order of the tie rule."""
        places = np.empty(len(rows), dtype=np.int64)
        best.first_places(self._state, rows, places)
        if self._input.config.tie == "first":
            return [places]
        named, ids = self._state.pairs[rows], self._state.symbols[:, columns.ID]
        return [places, ids[named[:, columns.RIGHT]], ids[named[:, columns.LEFT]]]

    # What the kernels ask for.

    def _grow(self) -> None:
        """Give every array room for the next merge and as much again."""
        state, scalars = self._state, self._state.scalars
        rows = _grown(state.pairs, int(scalars[columns.NEEDED_PAIRS]))
        symbols = _grown(state.symbols, int(scalars[columns.SYMBOLS]) + 1)
        merges = _grown(state.merges, int(scalars[columns.KNOWN]) + 1)
        self._state = state._replace(
            pairs=rows,
            table=np.full(_table_size(len(rows)), columns.NOTHING, dtype=np.int32),
            arena=_grown(state.arena, int(scalars[columns.NEEDED_ARENA])),
            symbols=symbols,
            neighbours=np.zeros((len(symbols), columns.NEIGHBOUR_COLUMNS), dtype=np.int64),
            touched=np.zeros((2, len(symbols)), dtype=np.int32),
            merges=merges,
            values=_grown(state.values, len(merges)),
            places=_grown(state.places, int(scalars[columns.NEEDED_PLACES])),
            changes=_grown(state.changes, int(scalars[columns.NEEDED_CHANGES])),
        )
        pairs.rehash(self._state)

    def _choose_hot_pairs(self) -> None:
        """Make the best pairs hot, with all that tie with the last of them."""
        values = self._all_values()
        candidates = int((values > -np.inf).sum())
        if candidates <= self._hot_pairs:
            threshold, rows = -np.inf, np.flatnonzero(values > -np.inf)
        else:
            threshold = np.partition(values, -self._hot_pairs)[-self._hot_pairs]
            rows = np.flatnonzero(values >= threshold)
        capacity = max(4, 2 * len(rows), 2 * self._hot_pairs)
        capacity = 1 << (capacity - 1).bit_length()
        if capacity != len(self._state.hot_rows):
            self._state = self._state._replace(**_hot_arrays(capacity))
        self._state.threshold[0] = threshold
        best.heat(self._state, rows)

    def _name_merge(self) -> None:
        """Find out which symbol and token the merge just chosen makes: there may be one written like it."""
        state = self._state
        merge = state.merges[self.known]
        row = int(merge[columns.MERGE_ROW])
        left, right = state.pairs[row, [columns.LEFT, columns.RIGHT]].tolist()
        symbol = self._symbols[left].joined(self._symbols[right])
        token = symbol.token(self._input.config.continuing_subword_prefix)
        is_new = token not in self._tokens
        token_id = self._tokens.setdefault(token, len(self._tokens))
        if symbol not in self._index:
            self._index[symbol] = len(self._symbols)
            self._symbols.append(symbol)
            merging.add_symbol(state, row, token_id)
        merge[columns.MERGE_NEW], merge[columns.MERGE_ID] = self._index[symbol], token_id
        merge[columns.MERGE_IS_NEW] = is_new
        state.scalars[columns.VOCABULARY] = len(self._tokens)
        state.scalars[columns.KNOWN] += 1

    def _why_none(self) -> StopReason:
        frequencies = self._state.pairs[: self._scalar(columns.PAIRS), columns.N]
        most = int(frequencies.max(initial=0))
        if not most:
            return "no_pair"
        return "min_frequency" if most < self._input.config.min_frequency else "max_token_length"

    # Reading the state.

    def _scalar(self, index: int) -> int:
        return int(self._state.scalars[index])

    def _all_values(self) -> NDArray[np.float64]:
        values = np.empty(self._scalar(columns.PAIRS), dtype=np.float64)
        best.all_values(self._state, values)
        return values

    def _symbol(self, index: int) -> Symbol:
        """Return a symbol by its index; where names cannot collide they are spelled out only when asked for."""
        for merge in range(len(self._symbols) - len(self._input.symbols), self.known):
            if len(self._symbols) > index:
                break
            row = int(self._state.merges[merge, columns.MERGE_ROW])
            left, right = self._state.pairs[row, [columns.LEFT, columns.RIGHT]].tolist()
            self._symbols.append(self._symbols[left].joined(self._symbols[right]))
        return self._symbols[index]

    def _batch(self, first: int, first_place: int) -> MergeBatch:
        """Return the merges from `first` to the last one known."""
        state = self._state
        merges = state.merges[first : self.known]
        merged, symbols = state.pairs[merges[:, columns.MERGE_ROW]], state.symbols
        ends = np.append(merges[1:, columns.MERGE_PLACES], self._scalar(columns.PLACES))
        left = merged[:, columns.LEFT]
        facts: dict[str, NDArray[Any]] = {
            "left_id": symbols[left, columns.ID],
            "right_id": symbols[merged[:, columns.RIGHT], columns.ID],
            "new_id": merges[:, columns.MERGE_ID],
            "pair_frequency": merges[:, columns.MERGE_N],
            "left_frequency": merges[:, columns.MERGE_LEFT_F],
            "right_frequency": merges[:, columns.MERGE_RIGHT_F],
            "symbols_before": merges[:, columns.MERGE_TOTAL],
            "value": state.values[first : self.known],
            "ties": merges[:, columns.MERGE_TIES],
            "is_new": merges[:, columns.MERGE_IS_NEW].astype(np.bool_),
        }
        return MergeBatch(
            columns=facts,
            position_counts=ends[: len(merges)] - merges[:, columns.MERGE_PLACES],
            positions=state.places[first_place : self._scalar(columns.PLACES)] if len(merges) else state.places[:0],
            left_lengths=symbols[left, columns.LENGTH],
        )

    def _count_pairs(self) -> None:
        """Enter all pairs of the initial segmentation."""
        cell = 0
        while (cell := pairs.count_pairs(self._state, cell)) < len(self._input.cells):
            self._state.scalars[columns.NEEDED_PAIRS] = self._scalar(columns.PAIRS) + 1
            self._grow()
        state = self._state
        entries = int(state.pairs[: self._scalar(columns.PAIRS), columns.SIZE].sum())
        self._state = state._replace(arena=np.empty(entries, dtype=np.int32))
        pairs.fill_blocks(self._state)


def _names_collide(input_: TrainingInput) -> bool:
    """Tell whether a merge could make a symbol or a token that is written like another one.

    With a prefix and no suffix no two merges make the same symbol, because a stretch of text that becomes one token is
    segmented the same way everywhere. Tokens are then alike only if a word begins with the prefix or spells out a
    special token.
    """
    config = input_.config
    prefix = config.continuing_subword_prefix
    removes = config.alphabet_limit is not None and config.alphabet_overflow == "remove"
    if not prefix or removes or config.end_of_word_suffix is not None:
        return True
    begins = (prefix, *config.special_tokens)
    inside = [token.removeprefix(prefix) for token in config.special_tokens if token.startswith(prefix)]
    return any(word.startswith(begins) or any(text in word for text in inside) for word in input_.words)


def _initial_state(input_: TrainingInput, capacity: int) -> columns.State:
    if len(input_.cells) > np.iinfo(np.int32).max:
        raise StudioError(
            "The distinct words of this corpus have {count:,} characters, more than can be trained on",
            "Leave out the rarest words or a part of the text.",
            count=len(input_.cells),
        )
    count = len(input_.symbols)
    symbols = np.zeros((count + capacity, columns.SYMBOL_COLUMNS), dtype=np.int64)
    symbols[:count, columns.LENGTH] = [len(symbol.text) for symbol in input_.symbols]
    symbols[:count, [columns.BY_LEFT, columns.BY_RIGHT]] = columns.NOTHING
    symbols[:count, columns.ID] = input_.symbol_ids
    scalars = np.zeros(columns.SCALARS, dtype=np.int64)
    scalars[columns.SYMBOLS], scalars[columns.VOCABULARY] = count, len(input_.vocabulary_tokens)
    weights = np.zeros(len(input_.cells), dtype=np.int64)
    for_word = np.repeat(input_.weights, input_.word_lengths + 1)  # each word with the separator behind it
    weights[1:] = for_word
    return columns.State(
        cells=input_.cells.copy(),
        weights=weights,
        pairs=np.zeros((capacity, columns.PAIR_COLUMNS), dtype=np.int64),
        table=np.full(_table_size(capacity), columns.NOTHING, dtype=np.int32),
        arena=np.empty(0, dtype=np.int32),
        symbols=symbols,
        neighbours=np.zeros((len(symbols), columns.NEIGHBOUR_COLUMNS), dtype=np.int64),
        touched=np.zeros((2, len(symbols)), dtype=np.int32),
        merges=np.zeros((capacity, columns.MERGE_COLUMNS), dtype=np.int64),
        values=np.zeros(capacity, dtype=np.float64),
        places=np.zeros(capacity, dtype=np.int32),
        changes=np.zeros((capacity, columns.CHANGE_COLUMNS), dtype=np.int64),
        threshold=np.zeros(1, dtype=np.float64),
        scalars=scalars,
        rules=np.zeros(columns.RULES, dtype=np.int64),
        **_hot_arrays(4),
    )


def _hot_arrays(capacity: int) -> dict[str, NDArray[Any]]:
    return {
        "hot_rows": np.zeros(capacity, dtype=np.int32),
        "hot_pairs": np.zeros((2, capacity), dtype=np.int32),
        "hot_counts": np.zeros(capacity, dtype=np.int64),
        "hot_ids": np.zeros(capacity, dtype=np.int64),
        "hot_values": np.zeros(capacity, dtype=np.float64),
        "hot_places": np.zeros(capacity, dtype=np.int64),
        "winners": np.zeros(2 * capacity, dtype=np.int32),
        "winner_ties": np.zeros(2 * capacity, dtype=np.int32),
        "marked": np.zeros(max(1, capacity // 16), dtype=np.int32),
    }


def _table_size(rows: int) -> int:
    """Return the power of two that keeps the hash table at most half full."""
    return 1 << max(1, 2 * rows - 1).bit_length()


def _grown(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Return `array`, or a copy with at least half as much room again if `length` entries do not fit."""
    if length <= len(array):
        return array
    larger = np.zeros((max(length, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
