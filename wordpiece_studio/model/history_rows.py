"""Which merges a table shows, and in which order: index arrays made with NumPy, hundreds of thousands in no time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.core.training.history import MergeHistory


class HistoryColumn(IntEnum):
    """The columns of the table, left to right."""

    STEP = 0
    LEFT = 1
    RIGHT = 2
    TOKEN = 3
    PAIR_FREQUENCY = 4
    LEFT_FREQUENCY = 5
    RIGHT_FREQUENCY = 6
    VALUE = 7
    TIES = 8
    VOCABULARY = 9
    SYMBOLS = 10


TOKEN_COLUMNS = {
    HistoryColumn.LEFT: "left_id",
    HistoryColumn.RIGHT: "right_id",
    HistoryColumn.TOKEN: "new_id",
}
NUMBER_COLUMNS = {
    HistoryColumn.PAIR_FREQUENCY: "pair_frequency",
    HistoryColumn.LEFT_FREQUENCY: "left_frequency",
    HistoryColumn.RIGHT_FREQUENCY: "right_frequency",
    HistoryColumn.VALUE: "value",
    HistoryColumn.TIES: "ties",
}


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which merges to show.

    Attributes
    ----------
    text
        A piece of one of the three tokens; capitals and small letters count only if it has capitals.
    only_ties
        Only merges at which other pairs were as good.
    """

    text: str = ""
    only_ties: bool = False

    def __bool__(self) -> bool:
        return bool(self.text) or self.only_ties


class HistoryRows:
    """Sorts and filters the merges of one history; keeps the alphabetical order of the tokens, which is dear."""

    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._ranks = np.empty(0, dtype=np.int64)

    def ordered(
        self, count: int, wanted: HistoryFilter, column: HistoryColumn, *, descending: bool
    ) -> NDArray[np.int64]:
        """Return the indices, from 0, of the merges to show among the first `count`: int64, shape (n_rows,).

        Equal values stand in the order of their steps.
        """
        rows = np.flatnonzero(self._mask(count, wanted)) if wanted else np.arange(count)
        if column is not HistoryColumn.STEP:
            keys = self._keys(count, column)[rows]
            rows = rows[np.argsort(-keys if descending else keys, kind="stable")]
        elif descending:
            rows = rows[::-1]
        return rows.astype(np.int64, copy=False)

    def _mask(self, count: int, wanted: HistoryFilter) -> NDArray[np.bool_]:
        mask = np.ones(count, dtype=np.bool_)
        if wanted.only_ties:
            mask &= self._column("ties", count) > 1
        if wanted.text:
            found = self._tokens_with(wanted.text, count)
            mask &= (
                found[self._column("left_id", count)]
                | found[self._column("right_id", count)]
                | found[self._column("new_id", count)]
            )
        return mask

    def _tokens_with(self, text: str, count: int) -> NDArray[np.bool_]:
        """Return for each token id whether the token contains `text`: bool, shape (n_tokens,)."""
        tokens = self._history.vocabulary(count).tokens
        if text == text.lower():
            found = (text in token.lower() for token in tokens)
        else:
            found = (text in token for token in tokens)
        return np.fromiter(found, dtype=np.bool_, count=len(tokens))

    def _keys(self, count: int, column: HistoryColumn) -> NDArray[Any]:
        if column in TOKEN_COLUMNS:
            ranks: NDArray[Any] = self._token_ranks(count)[self._column(TOKEN_COLUMNS[column], count)]
            return ranks
        if column is HistoryColumn.VOCABULARY:
            sizes: NDArray[Any] = self._history.vocabulary_sizes()
            return sizes[:count]
        if column is HistoryColumn.SYMBOLS:  # fewer after every merge, as before it
            return self._column("symbols_before", count)
        return self._column(NUMBER_COLUMNS[column], count)

    def _token_ranks(self, count: int) -> NDArray[np.int64]:
        """Return the place of each token in the order of the code points, by token id: int64, shape (n_tokens,)."""
        tokens = self._history.vocabulary(count).tokens
        if len(self._ranks) != len(tokens):
            order = sorted(range(len(tokens)), key=tokens.__getitem__)
            self._ranks = np.empty(len(tokens), dtype=np.int64)
            self._ranks[order] = np.arange(len(tokens))
        return self._ranks

    def _column(self, name: str, count: int) -> NDArray[Any]:
        column: NDArray[Any] = self._history.column(name)[:count]
        return column
