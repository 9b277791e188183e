"""The vocabulary of a step as a table for Qt's views: an item is the id of a token.

The order is that of all tokens of the training, cut down to those of the step at almost no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PySide6.QtCore import QCoreApplication

from wordpiece_studio.session.table_model import LEFT, SortedItems, SortedTableModel, TableColumn
from wordpiece_studio.system.arrays import lengths_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from PySide6.QtCore import QObject

    from wordpiece_studio.session.runs import ComparedStep, Comparison
    from wordpiece_studio.session.table_model import RowsWanted, ShouldStop
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.training.history import MergeHistory

Kind = Literal["all", "special", "alphabet", "learned", "dead", "only"]
SPECIAL_BIRTH = -1  # the birth step of special tokens
NEVER = np.iinfo(np.int64).max  # the birth step of a token in a run that does not have it
_MOST_COUNTED = 40_000  # tokens; those that only one run has are not counted in larger vocabularies


_tr = partial(QCoreApplication.translate, "VocabularyTableModel")


VocabularyColumn = IntEnum("VocabularyColumn", "TOKEN ID BORN RUNS SCORE FREQUENCY WORDS LENGTH REASON", start=0)


# The columns about how tokens are used, which are known a little later than the others.
BY_USAGE = (VocabularyColumn.FREQUENCY, VocabularyColumn.WORDS, VocabularyColumn.REASON)


@dataclass(frozen=True, slots=True)
class VocabularyFilter:
    """Which tokens to show; the case of a text matters only if it has capitals."""

    text: str = ""
    is_pattern: bool = False
    kind: Kind = "all"

    def __bool__(self) -> bool:
        return bool(self.text) or self.kind != "all"


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    """How many tokens there are of each kind; `dead` and `only` are None while unknown."""

    special: int
    alphabet: int
    learned: int
    dead: int | None
    only: int | None = None

    @property
    def all(self) -> int:
        return self.special + self.alphabet + self.learned


class VocabularyItems(SortedItems):
    """The tokens of one training, and how often they are used; tokens not counted yet are sorted last."""

    def __init__(self, history: MergeHistory, usage: TokenUsage, *, is_unigram: bool = False) -> None:
        super().__init__()
        self.history = history
        self.is_unigram = is_unigram  # its scores are logarithms of probabilities
        self.usage = usage
        self.special = len(history.config.reserved_tokens)
        self.initial = history.first_size() if history.has_steps else self.special  # required ones are not in it
        self.scores = history.scores
        self.others: tuple[ComparedStep, ...] = ()  # the compared runs, each at its step
        self._births: dict[tuple[Run, int], NDArray[np.int64]] = {}  # by run and number of its merges
        self._lengths = np.empty(0, dtype=np.int64)

    def numbers(self, size: int) -> TokenNumbers:
        dead = int(np.count_nonzero(self.usage.dead)) if self.usage.is_current else None
        only = int(np.count_nonzero(self.only_here(size))) if self.others and size <= _MOST_COUNTED else None
        return TokenNumbers(self.special, self.initial - self.special, size - self.initial, dead, only)

    def is_quick(self, wanted: RowsWanted) -> bool:
        return not wanted.filter.is_pattern

    def matching(self, wanted: RowsWanted, should_stop: ShouldStop) -> NDArray[np.bool_]:
        size, chosen = wanted.count, wanted.filter
        if chosen.kind == "dead":
            mask = _padded(self.usage.dead, size) > 0
        elif chosen.kind == "only":
            mask = self.only_here(size)
        else:
            first = {"alphabet": self.special, "learned": self.initial}.get(chosen.kind, 0)
            end = {"special": self.special, "alphabet": self.initial}.get(chosen.kind, size)
            mask = np.zeros(size, dtype=np.bool_)
            mask[first:end] = True
        if chosen.text:
            tokens = self.history.vocabulary(len(self.history)).tokens
            mask &= self.search.found(tokens, chosen.text, chosen.is_pattern, should_stop)[:size]
        return mask

    def birth(self, token_id: int) -> int:
        return SPECIAL_BIRTH if token_id < self.special else self.history.birth_step(token_id)

    def length(self, token_id: int) -> int:
        return len(self._bare_tokens([self.history.token(token_id)], int(token_id < self.special))[0])

    def score(self, token_id: int) -> float | None:
        return None if self.scores is None else self.scores[token_id]

    def birth_text(self, token_id: int) -> str:
        born = self.birth(token_id)
        if born > 0:
            return f"{born:,}"
        if born == SPECIAL_BIRTH:
            return _tr("Special")
        if self.history.token(token_id) in self.history.config.required_tokens:
            return _tr("Required")
        return _tr("Alphabet") if self.history.has_steps else ""

    # The other runs.

    def set_others(self, others: tuple[ComparedStep, ...]) -> bool:
        runs = {other.run for other in others}
        are_new = runs != {other.run for other in self.others}
        self.others = others
        if are_new:
            self._births = {key: births for key, births in self._births.items() if key[0] in runs}
            self.forget_order()
        return are_new

    def births_of(self, token_id: int) -> list[int]:
        """Return the step that made a token in each of the other runs; 0 if it is there from the start, or NEVER."""
        token, births = self.history.token(token_id), []
        for history in (other.run.history for other in self.others):
            found = history.vocabulary(len(history)).id_of(token)
            births.append(NEVER if found is None else history.birth_step(found))
        return births

    def runs_text(self, token_id: int) -> str:
        said = []
        for other, born in zip(self.others, self.births_of(token_id), strict=True):
            text = f"{other.label} {born:,}" if born and other.bookmark is None else other.label
            if born <= other.step:
                said.append(text)
            elif born != NEVER and other.bookmark is None:
                said.append(f"({text})")
        return " ".join(said) if said or not self.others else _tr("Only in this run")

    def only_here(self, size: int) -> NDArray[np.bool_]:
        """Return which of the first `size` tokens no other run has at its step: bool, shape (size,)."""
        is_there = np.zeros(size, dtype=np.bool_)
        for other in self.others:
            is_there |= self._births_in(other.run, size) <= other.step
        return ~is_there

    def first_births(self, size: int, _stop: ShouldStop) -> NDArray[np.int64]:
        """Return the first step at which another run makes each of the first `size` tokens, or a later one."""
        later = max((len(other.run.history) for other in self.others), default=0) + 1
        births = [self._births_in(other.run, size) for other in self.others]
        first: NDArray[np.int64] = np.minimum.reduce([np.full(size, later, dtype=np.int64), *births])
        return first

    def _births_in(self, run: Run, size: int) -> NDArray[np.int64]:
        history, key = run.history, (run, len(run.history))
        if history is self.history:  # which may be growing
            return _births_of(np.arange(size), history)
        known = self._births.get(key, np.empty(0, dtype=np.int64))
        if len(known) < size:
            find = history.vocabulary(len(history)).id_of
            found = [find(token) for token in self._all_tokens(size)[len(known) :]]
            ids = np.array([-1 if each is None else each for each in found], dtype=np.int64)
            known = self._births[key] = np.concatenate((known, _births_of(ids, history)))
        return known[:size]

    # Keys to sort by, for the first `size` tokens.

    def token_ranks(self, size: int, _stop: ShouldStop) -> NDArray[np.int64]:
        return self.search.ranks(self._all_tokens(size))

    def lengths(self, size: int, _stop: ShouldStop) -> NDArray[np.int64]:
        if len(self._lengths) != size:
            self._lengths = lengths_of(self._bare_tokens(self._all_tokens(size), self.special))
        return self._lengths

    def _all_tokens(self, size: int) -> list[str]:
        return self.history.vocabulary(len(self.history)).tokens[:size]

    def _bare_tokens(self, tokens: list[str], special: int) -> list[str]:
        """Return tokens without prefix and suffix, unless one is special or consists of nothing else."""
        config = self.history.config
        prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
        return tokens[:special] + [
            (bare := token.removeprefix(prefix)).removesuffix(suffix) or bare or token for token in tokens[special:]
        ]


def _births_of(ids: NDArray[np.int64], history: MergeHistory) -> NDArray[np.int64]:
    """Return the steps that made tokens, by their ids in `history`, where -1 stands for a token it does not have."""
    births = np.searchsorted(history.vocabulary_sizes(), ids, side="right") + 1
    births[ids < history.vocabulary_size(0)] = 0
    births[ids < 0] = NEVER
    return births


def _padded(numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the numbers of the first `size` tokens, -1 for unknown ones."""
    padded = np.full(size, -1, dtype=np.int64)
    padded[: len(numbers)] = numbers[:size]
    return padded


def _width(sample: str, quarters: int = 4) -> Callable[[Any, VocabularyItems | None], int]:
    """Return what returns the width of the heading of a column, or of a text that is wider, or so many quarters."""
    return lambda measure, _items: max(measure.title + 16, measure.text(sample) + 12) * quarters // 4


def _runs_width(measure: Any, items: VocabularyItems | None) -> int:
    runs = "(B 00,000)" * (len(items.others) if items is not None else 0)
    return max(_width(each)(measure, items) for each in (runs, _tr("Only in this run")))


def _figures(
    title: str, sample: str, numbers: Callable[[TokenUsage], NDArray[np.int64]], **how: Any
) -> TableColumn[VocabularyItems]:
    def value(items: VocabularyItems, token_id: int) -> int | None:
        known = numbers(items.usage)
        return int(known[token_id]) if token_id < len(known) else None

    return TableColumn(
        title, value, keys=lambda items, size, _stop: _padded(numbers(items.usage), size), width=_width(sample),
        ink=lambda items, _token_id: "" if items.usage.is_current else "muted", **how,
    )  # fmt: skip


def vocabulary_columns() -> tuple[TableColumn[VocabularyItems], ...]:
    return (
        TableColumn(
            _tr("Token"), lambda items, token_id: items.history.token(token_id), keys=VocabularyItems.token_ranks,
            align=LEFT, entry="token", width=_width("##tokenization", 6), least=_width("##tokenization", 3), stretch=1,
        ),
        TableColumn(
            _tr("ID"), lambda _items, token_id: token_id, entry="token", width=_width("000,000"), importance=4,
        ),
        # Tokens are born in the order of their ids.
        TableColumn(
            _tr("Created"), VocabularyItems.birth, text=VocabularyItems.birth_text, entry="step",
            width=_width("alphabet"), importance=5, is_there=lambda items: items.scores is None,
        ),
        TableColumn(
            _tr("Other runs"), VocabularyItems.births_of, text=VocabularyItems.runs_text,
            keys=VocabularyItems.first_births, align=LEFT, entry="comparison", ink="muted", width=_runs_width,
            importance=6, is_there=lambda items: bool(items.others),
            explanation=_tr(
                "The compared runs that have the token, with the step at which each created it (in parentheses if "
                "that is later than the step compared), and the compared bookmarks that have it"
            ),
        ),
        TableColumn(
            lambda items: _tr("log p") if items is not None and items.is_unigram else _tr("Score"),
            VocabularyItems.score,
            text=lambda items, token_id: "" if items.scores is None else f"{items.scores[token_id]:.3f}",
            keys=lambda items, size, _stop: np.array(items.scores or np.zeros(size))[:size],
            explanation=_tr("Given by the library; for Unigram, the logarithm of its probability"),
            width=_width("-000.000"), is_there=lambda items: items.scores is not None,
        ),
        _figures(_tr("Frequency"), "00,000,000", lambda usage: usage.frequencies),
        _figures(_tr("Words"), "0,000,000", lambda usage: usage.word_counts, entry="word", importance=3),
        TableColumn(
            _tr("Length"), VocabularyItems.length, keys=VocabularyItems.lengths, width=_width("00"), importance=1
        ),
        TableColumn(
            _tr("Why unused"), lambda items, token_id: items.usage.reason(token_id),
            keys=lambda items, size, _stop: _padded(items.usage.dead, size), align=LEFT, entry="unused-token",
            ink="muted", width=_width("went into 12 others, last ##tokenization at 12,345", 2), stretch=2, importance=2,
        ),
    )  # fmt: skip


class VocabularyTableModel(SortedTableModel[VocabularyItems]):
    """One row per token. It changes only by `show_step`, `show_usage`, `forget`, `set_filter` and `sort`."""

    def __init__(
        self, model: TrainerModel, usage: TokenUsage, parent: QObject | None = None, *,
        comparison: Comparison | None = None,
    ) -> None:  # fmt: skip
        super().__init__(vocabulary_columns(), VocabularyFilter(), parent)
        self._model = model
        self._usage = usage
        self._comparison = comparison
        self._shown_frequencies: object = None
        self.task.failed.connect(self._show_no_token)
        self.show_step()

    def forget(self) -> None:
        self._set_source(None)

    def show_step(self) -> None:
        """Show the vocabulary of the step: remove tokens not born yet, add those born."""
        history = self._model.history
        if history is not (self.source.history if self.source is not None else None):
            library = self._model.run.library_run if self._model.run is not None else None
            is_unigram = library is not None and library.trainer.endswith("-unigram")
            items = VocabularyItems(history, self._usage, is_unigram=is_unigram) if history is not None else None
            self._set_source(items)
        if history is not None:
            self._show_others()
            known = history.vocabulary_size(self._model.merge_count)
            self._set_count(known, history.vocabulary_size(self._model.step))

    def _show_others(self) -> None:
        items, others = self.source, tuple(self._comparison.beside()) if self._comparison is not None else ()
        if items is None or others == items.others:
            return
        are_new = items.set_others(others)
        if self.filter.kind == "only" or (are_new and self._column == VocabularyColumn.RUNS):
            self._ask()
        self._emit_changed(0, self.rowCount() - 1, VocabularyColumn.RUNS, VocabularyColumn.RUNS)

    def show_usage(self) -> None:
        if self.source is not None and self._usage.frequencies is not self._shown_frequencies:
            self._shown_frequencies = self._usage.frequencies
            self.source.forget_order()
            if self.filter.kind == "dead" or self._column in BY_USAGE:
                self._ask()
        self._emit_changed(0, self.rowCount() - 1, VocabularyColumn.TOKEN, VocabularyColumn.REASON)

    def _show_no_token(self) -> None:
        self._found, self._known = np.empty(0, dtype=np.int64), self._count
        self._show_found()
