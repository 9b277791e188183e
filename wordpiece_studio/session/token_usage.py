"""How tokens are used on the corpus: how often each at the current step, the words with one, the growth of a word."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.usage import (
    DeadReason,
    DeadTokens,
    Usage,
    WordTexts,
    count_usage,
    tokens_in_use_at,
    usage_as_trained,
)
from wordpiece_studio.session.task import Task
from wordpiece_studio.storage.project.contents import tokenizer_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory


SHOWN_WORDS = 20


@dataclass(frozen=True, slots=True)
class TokenWords:
    words: tuple[tuple[str, int], ...]  # the most frequent ones, with their counts
    total: int  # of distinct words
    spelled: int | None  # in how many the characters of a dead token occur; None if the token is not dead


def words_of_token(history: MergeHistory, token_id: int, step: int, reasons: DeadTokens | None = None) -> TokenWords:
    """Return the words that contain a token at a step; `reasons` adds the count `TokenWords.spelled`."""
    words = history.words_with_token(token_id, step, SHOWN_WORDS)
    total = len(words) if len(words) < SHOWN_WORDS else history.number_of_words(token_id, step)
    return TokenWords(tuple(words), total, reasons.number_of_words(token_id) if reasons is not None else None)


@dataclass(frozen=True, slots=True)
class WordGrowth:
    index: int | None = None  # in the training; None if it is not in it
    count: int = 0
    steps: tuple[int, ...] = ()  # the merges that changed it, ascending, among those made by the time of the request
    is_whole: bool = False  # it is one token after the last of them


def growth_of_word(history: MergeHistory, word: str, end: int) -> WordGrowth:
    try:
        index = history.places.index_of(word)
    except StudioError:
        return WordGrowth()
    start, length = int(history.input.word_starts[index]), int(history.input.word_lengths[index])
    inner = history.places.boundary_steps[start + 1 : start + length]
    steps = sorted({step for step in inner.tolist() if 0 < step <= end})
    return WordGrowth(index, int(history.input.weights[index]), tuple(steps), bool((inner <= end).all()))


_DEBOUNCE_MS = 150
_FEW_WORDS = 2000  # this many are counted within a frame, so there is no need to wait for the step to settle
_KEPT = 8
_NO_NUMBERS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Figures:
    step: int | None
    usage: Usage
    dead: NDArray[np.bool_]
    reasons: DeadTokens | None


_NO_FIGURES = _Figures(None, Usage(_NO_NUMBERS, _NO_NUMBERS, 0, 0, 0, 0, 0), np.empty(0, dtype=np.bool_), None)


class _RunUsage:
    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._texts = WordTexts(history)
        self.in_use = _NO_NUMBERS

    def at(self, step: int, counts: WordCounts, can_explain: bool, should_stop: Callable[[], bool]) -> _Figures:
        """Return the figures of a step.

        `can_explain`: whether the tokens are those of its tokenizer, not those of the words as they were trained.
        """
        history = self._history
        special = len(history.config.reserved_tokens)
        if not can_explain:
            as_trained = usage_as_trained(history, step)
            self.in_use = tokens_in_use_at(history)
            return _Figures(step, as_trained, as_trained.dead(special), None)
        # Its own tokenizer: the window's caches every word that it has split.
        usage = count_usage(tokenizer_at(history, counts, step), counts, should_stop)
        dead = usage.dead(special)
        reasons = DeadTokens(history, step, dead, tokenizer_at(history, counts, step), self._texts, should_stop)
        if not should_stop() and len(self.in_use) != len(history) + 1:
            self.in_use = tokens_in_use_at(history)
        return _Figures(step, usage, dead, reasons)


class TokenUsage(QObject):
    """What tokenizing makes of the training corpus, token by token; with other libraries, the words as trained.

    The figures are of `step`, which may differ from the current one; None if there are none. `frequencies`,
    `word_counts` and `unknown_words` are those of `Usage`; `dead` says which learned or alphabet tokens are never
    produced, bool by id, and `reasons` why, if known. `in_use` is how many different tokens the corpus consists of, as
    it is merged, after each step: as far as known.
    """

    changed = Signal()  # the figures have changed or are gone, or counting began

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._run: _RunUsage | None = None
        self._set_figures(_NO_FIGURES)
        self.kept: OrderedDict[int, _Figures] = OrderedDict()  # those found last are last
        self.in_use = _NO_NUMBERS
        self._wanting: set[QObject] = set()
        self.task = Task(
            _RunUsage.at, "The tokens in the corpus cannot be counted", self, debounce_ms=_DEBOUNCE_MS,
            on_answer=self._take_figures, on_error=self._drop_figures,
        )  # fmt: skip
        model.step_changed.connect(self._find)
        model.run_reset.connect(self._on_model_run_reset)

    # Results.

    @property
    def is_current(self) -> bool:
        return self.step == self._model.step

    @property
    def is_counting(self) -> bool:
        """Whether figures for the current step are being counted, or will be as soon as it settles."""
        return self.task.is_running

    def reason(self, token_id: int) -> DeadReason | None:
        is_dead = 0 <= token_id < len(self.dead) and self.dead[token_id]
        return self.reasons.reason(token_id) if is_dead and self.reasons is not None else None

    # Demand.

    def set_wanted(self, widget: QObject, is_wanted: bool) -> None:
        if is_wanted and widget not in self._wanting:
            self._wanting.add(widget)
            self._find()
        elif not is_wanted:
            self._wanting.discard(widget)
            if not self._wanting:
                self.task.stop()

    # Updating.

    def _find(self) -> None:
        model, step = self._model, self._model.step
        if step in self.kept:
            self.task.stop()
            self._show(step, self.kept[step])
        elif self._wanting and model.history is not None and model.counts is not None:
            if self._run is None:
                self._run = _RunUsage(model.history)
            tokenizer, was_counting = model.tokenizer_at(model.merge_count), self.is_counting
            can_explain = tokenizer is not None and tokenizer.can_explain
            self.task.ask(self._run, step, model.counts, can_explain, at_once=len(model.counts) <= _FEW_WORDS)
            if not was_counting:
                self.changed.emit()

    def _show(self, step: int, figures: _Figures) -> None:
        self.kept[step] = figures
        self.kept.move_to_end(step)
        while len(self.kept) > _KEPT:
            self.kept.popitem(last=False)
        if figures.usage.frequencies is not self.frequencies:
            self._set_figures(figures)
            self.changed.emit()

    def _set_figures(self, figures: _Figures) -> None:
        self.step, self.dead, self.reasons = figures.step, figures.dead, figures.reasons
        self.frequencies, self.word_counts = figures.usage.frequencies, figures.usage.word_counts
        self.unknown_words = figures.usage.unknown_words, figures.usage.unknown_occurrences

    def _take_figures(self, figures: _Figures) -> None:
        assert self.task.answered is not None
        run, step, *_others = self.task.answered
        self.in_use = run.in_use
        self._show(step, figures)

    def _drop_figures(self) -> None:
        self._set_figures(_NO_FIGURES)  # the log has the error; the window continues without the figures
        self.changed.emit()

    def _on_model_run_reset(self) -> None:
        self.task.forget()
        self.kept.clear()
        self._run, self.in_use = None, _NO_NUMBERS
        self._drop_figures()
        self._find()
