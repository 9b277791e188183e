"""The merges as a table for Qt's views, over the columns of the history: an item is the index of a merge, from 0."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject

from wordpiece_studio.session.table_model import LEFT, SortedItems, SortedTableModel, TableColumn
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.training.engine import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.table_model import RowsWanted, ShouldStop
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory


HistoryColumn = IntEnum(
    "HistoryColumn", "STEP LEFT RIGHT TOKEN PAIR_FREQUENCY LEFT_FREQUENCY RIGHT_FREQUENCY VALUE TIES"
    " VOCABULARY SYMBOLS WORDS IS_NEW", start=0,
)  # fmt: skip


TOKEN_COLUMNS = (HistoryColumn.LEFT, HistoryColumn.RIGHT, HistoryColumn.TOKEN)
_NO_STEPS = np.empty(0, dtype=np.int64)
_tr = partial(QCoreApplication.translate, "HistoryTableModel")


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    text: str = ""  # a part of one of the three tokens; case matters only if it has capitals
    is_pattern: bool = False  # whether `text` is a regular expression, in which case always matters
    only_ties: bool = False
    only_live: bool = False  # only merges that changed how the live text is tokenized

    def __bool__(self) -> bool:
        return bool(self.text) or self.only_ties or self.only_live


class HistoryItems(SortedItems):
    """The merges of one history; `live_steps` are those, from 1 and ascending, that changed the live text: int64."""

    def __init__(self, history: MergeHistory, live_steps: NDArray[np.int64] = _NO_STEPS) -> None:
        super().__init__()
        self.history = history
        self.live_steps = live_steps
        self._words = _NO_STEPS
        self._words_by_index: dict[int, int] = {}
        self._bounds: dict[str, tuple[int, tuple[float, float]]] = {}  # by column, with the number of merges

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
            tokens = self.history.vocabulary(count).tokens
            found = self.search.found(tokens, chosen.text, chosen.is_pattern, should_stop)
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
        ranks: NDArray[np.int64] = self.search.ranks(self.history.vocabulary(count).tokens)[self.column(name, count)]
        return ranks

    def all_words_touched(self, count: int, should_stop: ShouldStop) -> NDArray[np.int64]:
        """Return how many distinct words each merge changed; only counts merges not counted before."""
        parts = [self._words]
        known = len(parts[0])
        for part in slices(count - known):
            if should_stop():
                raise Stopped
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
        if index not in self._words_by_index:
            self._words_by_index[index] = int(self.history.words_touched_counts(index, index + 1)[0])
        return self._words_by_index[index]

    def bounds(self, name: str) -> tuple[float, float]:
        """Return the least and the largest number of a column. Sorted rows arrive later."""
        values = self.history.column(name)
        if name not in self._bounds or self._bounds[name][0] != len(values):
            self._bounds[name] = len(values), (values.min().item(), values.max().item())
        return self._bounds[name][1]


_NEEDS = 18  # pixels that a heading needs beside its title


def _tokens(name: str, title: str, explanation: str, entry: str, letters: int) -> TableColumn[HistoryItems]:
    return TableColumn(
        title, lambda items, index: items.token(name, index), align=LEFT, explanation=explanation, entry=entry,
        keys=lambda items, count, _stop: items.token_ranks(name, count), stretch=1,
        width=lambda measure, _items: max(measure.text("0") * letters, measure.title + _NEEDS),
    )  # fmt: skip


def _numbers(
    title: str | Callable[[Any], str], explanation: str, entry: str | Callable[[Any], str],
    importance: int = 0, *, longest: Callable[[HistoryItems], Sequence[str]], **how: Any,
) -> TableColumn[HistoryItems]:  # fmt: skip
    """Return a column of numbers; `longest` returns texts at least as long as any of them so far."""

    def width(measure: Any, items: HistoryItems | None) -> int:
        texts = longest(items) if items is not None and len(items.history) else ()
        return int(max(measure.text(*texts, is_bold=True) + 14, measure.title + _NEEDS))

    return TableColumn(
        title, explanation=explanation, entry=entry, width=width, stretch=1, importance=importance, **how
    )


def _figures(
    name: str, *described: Any, longest: Callable[[HistoryItems], Sequence[str]] | None = None,
    **how: Any,
) -> TableColumn[HistoryItems]:  # fmt: skip
    return _numbers(
        *described, longest=longest or (lambda items: [f"{items.bounds(name)[1]:,}"]),
        value=lambda items, index: items.history.column(name)[index].item(),
        keys=lambda items, count, _stop: items.column(name, count), **how,
    )  # fmt: skip


def _longest_values(items: HistoryItems) -> list[str]:
    least, most = items.bounds("value")
    texts = [value_text(least), value_text(most)]
    if not (float(most).is_integer() and float(least).is_integer()):
        texts += ["0.0000000"] if least < 0.01 else ["0.00000"]
        texts += [value_text(int(most) + 0.5)] if most >= 1000 else []
    return texts


def _objective(items: HistoryItems | None) -> str:
    return "score" if items is None else items.history.config.objective


def value_name(objective: str) -> str:
    return {"score": _tr("Score"), "likelihood": _tr("Gain"), "count": _tr("Count")}[objective]


def history_columns() -> tuple[TableColumn[HistoryItems], ...]:
    return (
        _numbers(_tr("Step"), _tr("The number of the merge, from 1"), "step",
                 value=lambda _items, index: index + 1, longest=lambda items: [f"{len(items.history):,}"]),
        _tokens("left_id", _tr("Left"), _tr("The left symbol of the pair"), "pair", 7),
        _tokens("right_id", _tr("Right"), _tr("The right symbol of the pair"), "pair", 7),
        _tokens("new_id", _tr("New token"), _tr("The token that the pair became"), "token", 10),
        _figures("pair_frequency", _tr("n(ab)"),
                 _tr("How often the pair occurred in the corpus before this merge"), "pair", 8),
        _figures("left_frequency", _tr("n(a)"),
                 _tr("How often the left symbol occurred in the corpus before this merge"), "pair", 6),
        _figures("right_frequency", _tr("n(b)"),
                 _tr("How often the right symbol occurred in the corpus before this merge"), "pair", 5),
        _figures("value", lambda items: value_name(_objective(items)),
                 _tr("The pair’s merge score under the objective; the pair with the highest is merged"), _objective,
                 longest=_longest_values,
                 drawn=lambda items, index: value_text(items.history.column("value")[index].item())),
        _figures("ties", _tr("Ties"),
                 _tr("How many pairs shared the highest merge score, including this one; a dot means no tie"),
                 "tie", 7,
                 drawn=lambda items, index: f"{ties:,}" if (ties := items.history.column("ties")[index]) != 1 else "·"),
        _numbers(_tr("Vocabulary"), _tr("How many tokens the vocabulary had after this merge"),
                 "vocabulary", 4, value=lambda items, index: items.history.vocabulary_size(index + 1),
                 keys=lambda items, count, _stop: items.history.vocabulary_sizes()[:count],
                 longest=lambda items: [f"{items.history.vocabulary_size(len(items.history)):,}"]),
        _numbers(_tr("Symbols"), _tr("How many symbols the corpus consisted of after this merge, N"),
                 "symbol", 3, value=lambda items, index: items.history.symbols_after(index + 1),
                 keys=lambda items, count, _stop: items.column("symbols_before", count),  # the same order
                 longest=lambda items: [f"{items.history.symbols_after(1):,}"]),
        # Finding the actual maximum takes too long.
        _numbers(_tr("Words"), _tr("How many distinct words this merge changed"), "word", 2,
                 value=HistoryItems.words_touched, keys=HistoryItems.all_words_touched,
                 longest=lambda items: [f"{items.history.word_count:,}"]),
        _numbers(_tr("New"), _tr("Whether the token was not in the vocabulary before"), "token", 1,
                 value=lambda items, index: bool(items.history.column("is_new")[index]),
                 keys=lambda items, count, _stop: items.column("is_new", count).astype(np.int8),
                 longest=lambda _items: ()),
    )  # fmt: skip


class HistoryTableModel(SortedTableModel[HistoryItems]):
    """One row per merge. It follows the training by itself."""

    resets_when_filtered = True
    least_interval_ms = 250

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(history_columns(), HistoryFilter(), parent)
        self._model = model
        self._live_steps = _NO_STEPS
        self._on_model_run_reset()
        self._set_count(model.merge_count)
        model.run_reset.connect(self._on_model_run_reset)
        model.merges_appended.connect(lambda _first, last: self._set_count(max(self._count, last + 1)))

    @property
    def step(self) -> int:
        return self._model.step

    def row_of_step(self, step: int) -> int:
        return self.row_of_item(step - 1)

    def set_live_steps(self, steps: NDArray[np.int64]) -> None:
        """Set the steps, from 1 and ascending, that changed the live text; int64, shape (n,)."""
        self._live_steps = steps
        if self.source is not None:
            self.source.live_steps = steps
        if self.filter.only_live:
            self._refilter()

    def _on_model_run_reset(self) -> None:
        history = self._model.history
        self._set_source(HistoryItems(history, self._live_steps) if history is not None else None)
