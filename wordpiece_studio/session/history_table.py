"""The merges as a table for Qt's views, over the columns of the history: an item is the index of a merge, from 0."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.session.table_model import (
    LEFT,
    OrderingCanceled,
    SortedItems,
    SortedTableModel,
    TableColumn,
    TokenSearch,
)
from wordpiece_studio.system.arrays import slices

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtCore import QObject

    from wordpiece_studio.session.table_model import RowsWanted, ShouldStop
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory


class HistoryColumn(IntEnum):
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


TOKEN_COLUMNS = (HistoryColumn.LEFT, HistoryColumn.RIGHT, HistoryColumn.TOKEN)
_NUMBER_COLUMNS = ("pair_frequency", "left_frequency", "right_frequency", "value", "ties")
"""Those of the history, from `HistoryColumn.PAIR_FREQUENCY` on."""
_NO_STEPS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which merges to show: those that meet all conditions."""

    text: str = ""  # a part of one of the three tokens; case matters only if it has capitals
    is_pattern: bool = False  # whether `text` is a regular expression, in which case always matters
    only_ties: bool = False
    only_live: bool = False  # only merges that changed how the live text is tokenized

    def __bool__(self) -> bool:
        return bool(self.text) or self.only_ties or self.only_live


class HistoryItems(SortedItems):
    """The merges of one history.

    Attributes
    ----------
    live_steps
        The steps that changed the live text, from 1, ascending: int64.
    """

    def __init__(self, history: MergeHistory, live_steps: NDArray[np.int64] = _NO_STEPS) -> None:
        super().__init__()
        self.history = history
        self.live_steps = live_steps
        self._tokens = TokenSearch()
        self._words = _NO_STEPS
        self._words_by_index: dict[int, int] = {}

    def is_quick(self, wanted: RowsWanted) -> bool:
        needs_places = wanted.column.keys is HistoryItems.all_words_touched
        return (self.history.is_whole or not needs_places) and not wanted.filter.is_pattern

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        count, chosen = wanted.count, wanted.filter
        mask = np.ones(count, dtype=np.bool_)
        if chosen.only_ties:
            mask &= self.column("ties", count) > 1
        if chosen.only_live:
            changed, steps = np.zeros(count + 1, dtype=np.bool_), self.live_steps
            changed[steps[steps <= count]] = True
            mask &= changed[1:]
        if chosen.text:
            vocabulary = self.history.vocabulary(count)
            found = self._tokens.found(vocabulary, chosen.text, chosen.is_pattern, should_stop)
            has_token = found[self.column("left_id", count)]
            has_token |= found[self.column("right_id", count)]
            has_token |= found[self.column("new_id", count)]
            mask &= has_token
        return mask

    # Keys to sort by, for the first `count` merges.

    def column(self, name: str, count: int) -> NDArray[Any]:
        column: NDArray[Any] = self.history.column(name)[:count]
        return column

    def token_ranks(self, name: str, count: int) -> NDArray[np.int64]:
        """Return the places of a column's tokens in code point order."""
        ranks: NDArray[np.int64] = self._tokens.ranks(self.history.vocabulary(count).tokens)[self.column(name, count)]
        return ranks

    def all_words_touched(self, count: int, should_stop: ShouldStop) -> NDArray[np.int64]:
        """Return how many distinct words each merge changed; only counts merges not counted before."""
        parts = [self._words]
        known = len(parts[0])
        for part in slices(count - known):
            if should_stop():
                raise OrderingCanceled
            parts.append(self.history.words_touched_counts(known + part.start, known + part.stop))
        self._words = words = np.concatenate(parts)
        return words[:count]

    # Values of a merge.

    def token(self, name: str, index: int) -> str:
        return self.history.token(int(self.history.column(name)[index]))

    def words_touched(self, index: int) -> int | None:
        """Return how many distinct words a merge changed; None while a run that was opened is still being read."""
        if not self.history.is_whole:
            return None
        found = self._words_by_index.get(index)
        if found is None:
            found = self._words_by_index[index] = int(self.history.words_touched_counts(index, index + 1)[0])
        return found

    def extremes(self, count: int) -> dict[HistoryColumn, tuple[float, float]]:
        """Return the bounds of each number column over the first `count` merges; empty if there are none."""
        if not count:
            return {}
        history = self.history
        found: dict[HistoryColumn, tuple[float, float]] = {}
        for column, name in enumerate(_NUMBER_COLUMNS, HistoryColumn.PAIR_FREQUENCY):
            values = self.column(name, count)
            found[HistoryColumn(column)] = (values.min().item(), values.max().item())
        found[HistoryColumn.STEP] = (1, count)
        found[HistoryColumn.VOCABULARY] = (history.vocabulary_size(1), history.vocabulary_size(count))
        found[HistoryColumn.SYMBOLS] = (history.symbols_after(count), history.symbols_after(1))
        found[HistoryColumn.WORDS] = (0, history.word_count)  # finding the actual maximum takes too long
        return found


def _tokens(name: str, title: str, explanation: str, entry: str) -> TableColumn[HistoryItems]:
    return TableColumn(
        title,
        lambda items, index: items.token(name, index),
        keys=lambda items, count, _stop: items.token_ranks(name, count),
        align=LEFT,
        explanation=explanation,
        entry=entry,
    )


def _numbers(name: str, title: str, explanation: str, entry: str) -> TableColumn[HistoryItems]:
    return TableColumn(
        title,
        lambda items, index: items.history.column(name)[index].item(),
        keys=lambda items, count, _stop: items.column(name, count),
        explanation=explanation,
        entry=entry,
    )


class HistoryTableModel(SortedTableModel[HistoryItems]):
    """One row per merge; the columns are those of `HistoryColumn`. It follows the training by itself."""

    resets_when_filtered = True
    least_interval_ms = 250

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(HistoryFilter(), parent)
        self._model = model
        self._live_steps = _NO_STEPS
        self._on_model_run_reset()
        self._set_count(model.merge_count)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(self._on_model_merges_appended)

    def step_of_row(self, row: int) -> int:
        return self.item_of_row(row) + 1

    def row_of_step(self, step: int) -> int:
        return self.row_of_item(step - 1)

    def extremes(self) -> dict[HistoryColumn, tuple[float, float]]:
        """Return the smallest and the largest number of each number column; empty if there are no rows."""
        items = self._source
        if items is None or items.history is not self._model.history:
            return {}
        return items.extremes(self._model.merge_count)  # sorted rows arrive later

    def set_live_steps(self, steps: NDArray[np.int64]) -> None:
        """Set the steps, from 1 and ascending, that changed the live text; int64, shape (n,)."""
        self._live_steps = steps
        if self._source is not None:
            self._source.live_steps = steps
        if self.filter.only_live:
            self._refilter()

    def _on_model_run_reset(self) -> None:
        self._columns = self._described()
        history = self._model.history
        self._set_source(HistoryItems(history, self._live_steps) if history is not None else None)

    def _on_model_merges_appended(self, _first: int, last: int) -> None:
        self._set_count(max(self._count, last + 1))

    def _described(self) -> tuple[TableColumn[HistoryItems], ...]:
        """Return the columns; the title of the value depends on the objective."""
        config = self._model.config
        objective = config.objective if config is not None else "score"
        value = {"score": self.tr("Score"), "likelihood": self.tr("Gain"), "count": self.tr("Count")}[objective]
        return (
            TableColumn(self.tr("Step"), lambda _items, index: index + 1,
                        explanation=self.tr("The number of the merge, from 1"), entry="step"),
            _tokens("left_id", self.tr("Left"), self.tr("The left symbol of the pair"), "pair"),
            _tokens("right_id", self.tr("Right"), self.tr("The right symbol of the pair"), "pair"),
            _tokens("new_id", self.tr("New token"), self.tr("The token that the pair became"), "token"),
            _numbers("pair_frequency", self.tr("n(ab)"),
                     self.tr("How often the pair occurred in the corpus before this merge"), "pair"),
            _numbers("left_frequency", self.tr("n(a)"),
                     self.tr("How often the left symbol occurred in the corpus before this merge"), "pair"),
            _numbers("right_frequency", self.tr("n(b)"),
                     self.tr("How often the right symbol occurred in the corpus before this merge"), "pair"),
            _numbers("value", value,
                     self.tr("The pair’s merge score under the objective; the pair with the highest is merged"),
                     objective),
            _numbers("ties", self.tr("Ties"),
                     self.tr("How many pairs shared the highest merge score, including this one; a dot means no tie"),
                     "tie"),
            TableColumn(self.tr("Vocabulary"), lambda items, index: items.history.vocabulary_size(index + 1),
                        keys=lambda items, count, _stop: items.history.vocabulary_sizes()[:count],
                        explanation=self.tr("How many tokens the vocabulary had after this merge"),
                        entry="vocabulary"),
            TableColumn(self.tr("Symbols"), lambda items, index: items.history.symbols_after(index + 1),
                        keys=lambda items, count, _stop: items.column("symbols_before", count),  # the same order
                        explanation=self.tr("How many symbols the corpus consisted of after this merge, N"),
                        entry="symbol"),
            TableColumn(self.tr("Words"), HistoryItems.words_touched, keys=HistoryItems.all_words_touched,
                        explanation=self.tr("How many distinct words this merge changed"), entry="word"),
            TableColumn(self.tr("New"), lambda items, index: bool(items.history.column("is_new")[index]),
                        keys=lambda items, count, _stop: items.column("is_new", count).astype(np.int8),
                        explanation=self.tr("Whether the token was not in the vocabulary before"), entry="token"),
        )  # fmt: skip
