"""Which merges a table shows, and in which order: index arrays made with NumPy, fast even for a million.

Few are found at once, many in a background thread.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.history_ranks import token_ranks
from wordpiece_studio.session.history_search import SearchCanceled, pattern_finder, text_finder, tokens_found
from wordpiece_studio.system.arrays import slices

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

    ShouldStop = Callable[[], bool]


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
    WORDS = 11
    IS_NEW = 12


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
_NO_STEPS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which merges to show: those that meet all conditions.

    Attributes
    ----------
    text
        A part of one of the three tokens; case matters only if it has capitals.
    is_pattern
        Whether `text` is a regular expression, in which case always matters.
    only_ties
        Only merges at which several pairs tied.
    only_live
        Only merges that changed how the live text is tokenized.
    """

    text: str = ""
    is_pattern: bool = False
    only_ties: bool = False
    only_live: bool = False

    def __bool__(self) -> bool:
        return bool(self.text) or self.only_ties or self.only_live


@dataclass(frozen=True, slots=True, eq=False)
class RowsWanted:
    """The rows that a table should show.

    Attributes
    ----------
    count
        The number of merges, from the first.
    filter
        Which of them.
    column, descending
        The order; equal values are in order of step.
    live_steps
        The steps that changed the live text, from 1, ascending: int64.
    """

    count: int
    filter: HistoryFilter = HistoryFilter()
    column: HistoryColumn = HistoryColumn.STEP
    descending: bool = False
    live_steps: NDArray[np.int64] = field(default_factory=lambda: _NO_STEPS)

    @property
    def is_plain(self) -> bool:
        """Whether these are all merges in order of step."""
        return self.column is HistoryColumn.STEP and not self.descending and not self.filter


class HistoryRows:
    """Sorts and filters the merges of one history; caches expensive results."""

    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._ranks = np.empty(0, dtype=np.int64)
        self._found: tuple[tuple[str, bool], NDArray[np.bool_]] = (("", False), np.empty(0, dtype=np.bool_))
        self._sorted: tuple[tuple[int, HistoryColumn, bool], NDArray[np.int64]] | None = None
        self._words = _NO_STEPS

    def is_quick(self, wanted: RowsWanted) -> bool:
        """Whether these rows need no reading and no regular expression of the user's, which may take long."""
        is_there = wanted.column is not HistoryColumn.WORDS or self._history.is_whole
        return is_there and not wanted.filter.is_pattern

    def ordered(self, wanted: RowsWanted, should_stop: ShouldStop = lambda: False) -> NDArray[np.int64]:
        """Return the indices, from 0, of the merges to show, in order: int64, shape (n_rows,).

        Raises
        ------
        StudioError
            If the filter's expression is invalid or takes too long.
        SearchCanceled
            If `should_stop` returns True.
        """
        mask = self._mask(wanted, should_stop) if wanted.filter else None
        if wanted.column is HistoryColumn.STEP:
            rows = np.arange(wanted.count) if mask is None else np.flatnonzero(mask)
            return rows[::-1] if wanted.descending else rows
        rows = self._sorted_rows(wanted, should_stop)
        return rows if mask is None else rows[mask[rows]]

    # Filtering.

    def _mask(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        count, chosen = wanted.count, wanted.filter
        mask = np.ones(count, dtype=np.bool_)
        if chosen.only_ties:
            mask &= self._column("ties", count) > 1
        if chosen.only_live:
            changed = np.zeros(count + 1, dtype=np.bool_)
            changed[wanted.live_steps[wanted.live_steps <= count]] = True
            mask &= changed[1:]
        if chosen.text:
            found = self._tokens_found(chosen, count, should_stop)
            has_token = found[self._column("left_id", count)]
            has_token |= found[self._column("right_id", count)]
            has_token |= found[self._column("new_id", count)]
            mask &= has_token
        return mask

    def _tokens_found(self, chosen: HistoryFilter, count: int, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return for each token id whether the filter's text occurs in the token: bool, shape (n_tokens,)."""
        vocabulary = self._history.vocabulary(count)
        tokens, key = vocabulary.tokens, (chosen.text, chosen.is_pattern)
        before, found = self._found
        if before != key:
            found = found[:0]
        if len(found) < len(tokens):
            finder = pattern_finder(chosen.text, vocabulary.longest) if chosen.is_pattern else text_finder(chosen.text)
            found = np.concatenate((found, tokens_found(tokens[len(found) :], finder, should_stop)))
            self._found = (key, found)
        return found

    # Sorting.

    def _sorted_rows(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.int64]:
        key = (wanted.count, wanted.column, wanted.descending)
        if self._sorted is None or self._sorted[0] != key:
            values = self._keys(wanted.count, wanted.column, should_stop)
            if should_stop():
                raise SearchCanceled
            self._sorted = (key, _stable_order(-values if wanted.descending else values))
        return self._sorted[1]

    def _keys(self, count: int, column: HistoryColumn, should_stop: ShouldStop) -> NDArray[Any]:
        if column in TOKEN_COLUMNS:
            ranks: NDArray[Any] = self._token_ranks(count)[self._column(TOKEN_COLUMNS[column], count)]
            return ranks
        if column is HistoryColumn.VOCABULARY:
            sizes: NDArray[Any] = self._history.vocabulary_sizes()
            return sizes[:count]
        if column is HistoryColumn.SYMBOLS:  # sorted as the symbols after each merge would be
            return self._column("symbols_before", count)
        if column is HistoryColumn.WORDS:
            return self._all_words_touched(count, should_stop)
        if column is HistoryColumn.IS_NEW:
            return self._column("is_new", count).astype(np.int8)
        return self._column(NUMBER_COLUMNS[column], count)

    def _token_ranks(self, count: int) -> NDArray[np.int64]:
        """Return the place of each token in code point order, by token id: int64, shape (n_tokens,)."""
        tokens = self._history.vocabulary(count).tokens
        if len(self._ranks) != len(tokens):
            self._ranks = token_ranks(tokens)
        return self._ranks

    def _all_words_touched(self, count: int, should_stop: ShouldStop) -> NDArray[np.int64]:
        """Return how many distinct words each merge changed; only counts merges not counted before."""
        parts = [self._words]
        known = len(parts[0])
        for part in slices(count - known):
            if should_stop():
                raise SearchCanceled
            parts.append(self._history.words_touched_counts(known + part.start, known + part.stop))
        self._words = words = np.concatenate(parts)
        return words[:count]

    def _column(self, name: str, count: int) -> NDArray[Any]:
        column: NDArray[Any] = self._history.column(name)[:count]
        return column


def _stable_order(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the result of ``np.argsort(values, kind="stable")``.

    Integers take a tenth of its time if each is packed with its index into one number and these are sorted.
    """
    bits = len(values).bit_length()
    if len(values) and values.dtype.kind == "i":
        least = int(values.min())
        if (int(values.max()) - least) >> (63 - bits) == 0:
            packed = (values.astype(np.int64) - least) << bits | np.arange(len(values))
            packed.sort()
            places: NDArray[np.int64] = packed & ((1 << bits) - 1)
            return places
    return np.argsort(values, kind="stable")


_AT_ONCE = 40_000
"""Merges; takes a few milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsFound:
    """The request, the indices of the merges in order (int64; None: all, in order of step), and the time taken."""

    wanted: RowsWanted
    order: NDArray[np.int64] | None
    seconds: float = 0.0


class HistoryOrdering(QObject):
    """Answers the latest request; cancels earlier ones.

    Signals
    -------
    found(RowsFound)
        The answer, possibly before `ask` returns.
    failed(StudioError)
        The expression of the filter is invalid, or takes too long.
    busy_changed(bool)
        The new value of `is_busy`.
    """

    found = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(_work, self.tr("The search in the merge history"), self)
        self._job.finished.connect(self.found)
        self._job.failed.connect(self.failed)
        self._job.running_changed.connect(self.busy_changed)

    @property
    def is_busy(self) -> bool:
        """Whether a request is being worked on."""
        return self._job.is_running

    def ask(self, rows: HistoryRows, wanted: RowsWanted) -> None:
        """Request rows."""
        if wanted.is_plain:
            self._job.stop()
            self.found.emit(RowsFound(wanted, None))
        elif wanted.count <= _AT_ONCE and rows.is_quick(wanted):
            self._job.stop()
            self.found.emit(_found(rows, wanted))
        else:
            self._job.begin((rows, wanted))

    def drop(self) -> None:
        """Cancel the request."""
        self._job.stop()

    def close(self) -> None:
        """Cancel the request and wait for the thread to end."""
        self._job.close()


def _work(order: Any, stop: threading.Event, _report: Report) -> RowsFound | None:
    rows, wanted = order
    try:
        return _found(rows, wanted, stop)
    except SearchCanceled:
        return None


def _found(rows: HistoryRows, wanted: RowsWanted, stop: threading.Event | None = None) -> RowsFound:
    began = time.perf_counter()
    order = rows.ordered(wanted) if stop is None else rows.ordered(wanted, stop.is_set)
    return RowsFound(wanted, order, time.perf_counter() - began)
