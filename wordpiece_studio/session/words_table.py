"""The words of the run shown as a table for Qt's views: an item is the index of a word among those trained on.

Each word has its count and its split before or after the merge of the step shown, made only for the rows in view. The
words that this merge changes come first, in the order of the others. Before a training, they are those of the corpus,
split into symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, Qt

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.table_model import LEFT, SortedItems, SortedTableModel, TableColumn
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.segmentation import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.table_model import RowsWanted, ShouldStop
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import TrainingConfig

    Counted = tuple[WordCounts, TrainingConfig]


_tr = partial(QCoreApplication.translate, "RunWordsModel")


WordColumn = IntEnum("WordColumn", "WORD COUNT SPLIT", start=0)


@dataclass(frozen=True, slots=True)
class WordsFilter:
    text: str = ""  # case matters only if it has capitals
    token: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.token)


_NONE = np.empty(0, dtype=np.int64)


class RunWords(SortedItems):
    """The words of one history, with their splits after `step` merges; `weights` are their counts (int64).

    `merge` is the step whose merge is looked at, the same one or the next. Without a history, they are those counted,
    with settings that say their symbols.
    """

    def __init__(self, history: MergeHistory | None, counted: Counted | None = None) -> None:
        super().__init__()
        self.step = self.merge = 0
        self.counted = counted
        self._trained = history

    def is_of(self, history: MergeHistory | None, counted: Counted | None) -> bool:
        return self._trained is history and (self.counted and self.counted[0]) is (counted and counted[0])

    @cached_property
    def history(self) -> MergeHistory:
        """The merges; before a training, none. Asked for by a thread first, since laying out many words takes time."""
        if self._trained is None:
            assert self.counted is not None
            counts, config = self.counted
            return MergeHistory(prepare(counts, replace(config, vocab_size=None)))
        return self._trained

    @cached_property
    def words(self) -> Sequence[str]:
        return self.history.input.words

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        return self.history.input.weights

    @cached_property
    def word_count(self) -> int:
        return len(self.counted[0]) if self.counted is not None else self.history.word_count

    def is_quick(self, wanted: RowsWanted) -> bool:
        return self._trained is not None and self._trained.is_whole

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        chosen = wanted.filter
        mask = np.ones(len(self.words), dtype=np.bool_)
        if chosen.token:
            token_id = self.history.vocabulary(self.step).id_of(chosen.token)
            mask = np.zeros_like(mask) if token_id is None else self.history.holds_token(token_id, self.step)
        if chosen.text:
            mask &= self.search.found(self.words, chosen.text, False, should_stop)
        return mask

    def index_of(self, word: str) -> int:
        try:
            return self.history.places.index_of(word)
        except StudioError:
            return -1

    def changed(self) -> NDArray[np.int64]:
        """Return the words that the merge changes, ascending: int64."""
        if not self.merge:
            return _NONE
        return self.history.places.distinct_words_at(self.history.positions(self.merge - 1))

    def marked(self, index: int) -> tuple[list[bool], list[bool]]:
        """Return which tokens of a word that the merge changes it will join, and which it has made; one is empty."""
        before, after = (self.history.places.tokens(index, step) for step in (self.merge - 1, self.merge))
        is_merged, is_made = changed_tokens(before, after)
        return ([], is_made) if self.step == self.merge else (is_merged, [])

    def split(self, index: int) -> tuple[str, ...]:
        return tuple(self.history.places.tokens(index, self.step))

    def counts(self, _count: int, _stop: ShouldStop) -> NDArray[np.int64]:
        self.history.places.prepare()  # here, because it would hold up the window when a word is looked up
        return self.weights

    def split_lengths(self, _count: int, should_stop: ShouldStop) -> NDArray[np.int64]:
        parts = [_NONE]
        for block in self.history.places.blocks_at(self.step):
            if should_stop():
                raise Stopped
            parts.append(block.symbol_counts)
        return np.concatenate(parts)


def _split_title(words: RunWords | None) -> str:
    if words is None:
        return _tr("Split")
    text = _tr("After merge {step}") if words.step == words.merge else _tr("Before merge {step}")
    return filled(text if words.merge else _tr("At step {step}"), step=words.merge)


def changed_tokens(before: Sequence[str], after: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Return, per token before a merge, whether it was merged, and per token after, whether the merge made it.

    >>> changed_tokens(("a", "##a", "##b"), ("aa", "##b"))
    ([True, True, False], [True, False])
    """
    is_merged: list[bool] = []
    is_made: list[bool] = []
    for token in after:
        same = len(is_merged) < len(before) and before[len(is_merged)] == token
        is_made.append(not same)
        is_merged += [False] if same else [True, True]
    return is_merged, is_made


# With keys, so that words are laid out in the background; their numbers are in the order of the text.
_TEXT_ORDER: TableColumn[RunWords] = TableColumn(
    "", lambda _words, item: item, keys=lambda words, count, stop: np.arange(len(words.counts(count, stop)))
)


class RunWordsModel(SortedTableModel[RunWords]):
    """One row per word; the columns are those of `WordColumn`. The first rows are the words that the merge changes.

    It changes only by `show_step`, `forget`, `set_filter` and `sort`.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        columns: tuple[TableColumn[RunWords], ...] = (
            TableColumn(
                _tr("Word"), lambda words, item: words.words[item], align=LEFT,
                keys=lambda words, _count, _stop: words.search.ranks(words.words),
                explanation=_tr("A third click on a title restores the order of the text"),
                spoken=self._spoken_word, bold=lambda _words, item: self.is_changed(item), width=self._word_width,
            ),
            TableColumn(
                _tr("Count"), lambda words, item: int(words.weights[item]), width=self._count_width,
                keys=lambda words, count, stop: words.counts(count, stop),
                explanation=_tr("How often the word occurs; a double click or Enter changes it"),
            ),
            TableColumn(
                _split_title,
                lambda words, item: words.split(item), lambda words, item: " ".join(words.split(item)),
                keys=lambda words, count, stop: words.split_lengths(count, stop), align=LEFT,
                explanation=_tr("The symbols of the word, before or after the merge; sorted by how many there are"),
                entry="token", stretch=1,
            ),
        )  # fmt: skip
        super().__init__(columns, WordsFilter(), parent)
        self._model = model
        self._changed: NDArray[np.int64] | None = None  # None: not looked up at this step
        self.changed_rows = 0
        self._placed: NDArray[np.int64] | None = None  # an order, and its inverse, kept from step to step
        self._places = _NONE
        self._column, self._descending = WordColumn.COUNT, True

    def forget(self) -> None:
        self._show(None)

    def _show(self, words: RunWords | None) -> None:
        if words is not self.source:
            self._changed = None
            self._set_source(words)

    def show_step(self, counted: Counted | None = None) -> None:
        """Show the words as they are split before or after the merge of the step; before a training, those counted."""
        words, steps = self._words_now(counted), (self._model.words_step, self._model.step)
        self._show(words)
        if words is None:
            return
        if (words.step, words.merge) != steps:
            (words.step, words.merge), self._changed = steps, None
            if self._column == WordColumn.SPLIT:
                words.forget_order()
            if self._count and self.filter.token:
                self._refilter()
            elif self._count and self._column == WordColumn.SPLIT:
                self._ask()
        self._set_count(words.word_count)
        self._emit_changed(0, self.rowCount() - 1)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, WordColumn.SPLIT, WordColumn.SPLIT)

    def _wanted(self) -> RowsWanted:
        wanted = super()._wanted()
        return wanted if self._column >= 0 else replace(wanted, column=_TEXT_ORDER)

    def _words_now(self, counted: Counted | None) -> RunWords | None:
        history, shown = self._model.history, self.source
        if history is not None:
            counted = None
        if history.is_damaged if history is not None else counted is None or not len(counted[0]):
            return None
        return shown if shown is not None and shown.is_of(history, counted) else RunWords(history, counted)

    def row_of_word(self, word: str) -> int:
        if self.source is None or not self._known:
            return -1
        return self.row_of_item(self.source.index_of(word))

    def is_changed(self, item: int) -> bool:
        changed = self._changed if self._changed is not None else _NONE
        at = int(changed.searchsorted(item))
        return at < len(changed) and bool(changed[at] == item)

    def _spoken_word(self, words: RunWords, item: int) -> str:
        word = words.words[item]
        return self.tr("{word}, changed by this step").format(word=word) if self.is_changed(item) else word

    def _count_width(self, measure: Any, words: RunWords | None) -> int:
        """Return the width of the largest count; the words may have to be laid out before there are rows."""
        most = int(words.weights.max()) if words is not None and self.rowCount() else 0
        return int(measure.text(f"{most:,}", self.title(WordColumn.COUNT))) + 18

    def _word_width(self, measure: Any, words: RunWords | None) -> int:
        third = (int(measure.room) - self._count_width(measure, words)) // 3
        return max(50, min(int(measure.letter) * 14 + 18, third))

    def _below_limit(self) -> tuple[NDArray[np.int64] | None, int]:
        order, count = super()._below_limit()
        self.changed_rows = 0
        if self.source is None or not count:
            return order, count
        if self._changed is None:
            self._changed = self.source.changed()
        if self._column < 0 and self.source.step < self.source.merge:
            return order, count  # before a merge, the order of the text says which of tied pairs is first
        rows = np.arange(count) if order is None else order
        if order is not None and order is not self._placed:
            self._placed, self._places = order, np.full(self._known, -1)
            self._places[order] = np.arange(count)
        places = np.sort(self._changed if order is None else self._places[self._changed])
        first = places[places >= 0]
        self.changed_rows = len(first)
        if np.array_equal(first, np.arange(len(first))):
            return order, count
        return np.concatenate((rows[first], np.delete(rows, first))), count
