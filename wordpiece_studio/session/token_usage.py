"""How tokens are used on the corpus: how often each at the current step, the words with one, the growth of a word.

Both are found in the background. Usage is counted only while a pane that shows the figures is visible, and only once
the step has stopped changing; `evaluation/usage.py` does the counting. Of the searches of the whole corpus for a token
or a word, the latest wins.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.metrics import tokens_in_use_at
from wordpiece_studio.evaluation.usage import DeadReason, DeadTokens, Usage, WordTexts, count_usage, usage_as_trained
from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.run import tokenizer_at
from wordpiece_studio.session.timers import single_shot

if TYPE_CHECKING:
    import threading

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory


SHOWN_WORDS = 20


@dataclass(frozen=True, slots=True)
class TokenWords:
    """The words that contain a token at a step of the training.

    Attributes
    ----------
    token_id, step
        The token and the step requested.
    words
        The most frequent words with their counts.
    total
        Number of distinct words.
    spelled
        In how many words the characters of a dead token occur; None if the token is not dead.
    """

    token_id: int
    step: int
    words: tuple[tuple[str, int], ...]
    total: int
    spelled: int | None


@dataclass(frozen=True, slots=True)
class WordGrowth:
    """How a word of the corpus was merged.

    Attributes
    ----------
    word
        The word.
    index
        Its index in the training; None if it is not in the training.
    count
        How often it occurs.
    steps
        The merges that changed it, ascending, among those made by the time of the request.
    is_whole
        Whether the word is one token after the last of them.
    """

    word: str
    index: int | None = None
    count: int = 0
    steps: tuple[int, ...] = ()
    is_whole: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _WordsOrder:
    history: MergeHistory
    token_id: int
    step: int
    reasons: DeadTokens | None


@dataclass(frozen=True, slots=True, eq=False)
class _GrowthOrder:
    history: MergeHistory
    word: str
    end: int


class TokenDetails(QObject):
    """Answers one request at a time.

    Signals
    -------
    words_found(TokenWords), growth_found(WordGrowth)
        The answer to the latest request.
    """

    words_found = Signal(object)
    growth_found = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._job = BackgroundJob(_answered, "The words with a token cannot be found", self)
        self._job.finished.connect(self._on_job_finished)

    def find_words(self, token_id: int, reasons: DeadTokens | None = None) -> None:
        """Request the words that contain a token at the current step; `reasons` adds the count `TokenWords.spelled`."""
        history = self._model.history
        if history is not None:
            self._job.begin(_WordsOrder(history, token_id, self._model.step, reasons))

    def find_growth(self, word: str) -> None:
        """Request the growth of a word."""
        history = self._model.history
        if history is not None:
            self._job.begin(_GrowthOrder(history, word, self._model.merge_count))

    def stop(self) -> None:
        """Cancel the request."""
        self._job.stop()

    def close(self) -> None:
        """Cancel the request and wait for the thread to end."""
        self._job.close()

    def _on_job_finished(self, answer: object) -> None:
        if isinstance(answer, TokenWords):
            self.words_found.emit(answer)
        else:
            self.growth_found.emit(answer)


def _answered(order: _WordsOrder | _GrowthOrder, _stop: threading.Event, _report: Report) -> TokenWords | WordGrowth:
    if isinstance(order, _GrowthOrder):
        return grown(order.history, order.word, order.end)
    history, token_id, step = order.history, order.token_id, order.step
    words = history.words_with_token(token_id, step, SHOWN_WORDS)
    total = len(words) if len(words) < SHOWN_WORDS else history.number_of_words(token_id, step)
    spelled = order.reasons.number_of_words(token_id) if order.reasons is not None else None
    return TokenWords(token_id, step, tuple(words), total, spelled)


def grown(history: MergeHistory, word: str, end: int) -> WordGrowth:
    """Return the growth of a word in the first `end` merges."""
    try:
        index = history.segmentations.index_of(word)
    except StudioError:
        return WordGrowth(word)
    start, length = int(history.input.word_starts[index]), int(history.input.word_lengths[index])
    inner = history.segmentations.boundary_steps[start + 1 : start + length]
    steps = sorted({step for step in inner.tolist() if 0 < step <= end})
    is_whole = bool((inner <= end).all())
    return WordGrowth(word, index, int(history.input.weights[index]), tuple(steps), is_whole)


_REST_MS = 150
_FEW_WORDS = 2000
"""This many are counted within a frame, so there is no need to wait for the step to settle."""
_KEPT = 8
_NO_NUMBERS = np.empty(0, dtype=np.int64)
_NO_MARKS = np.empty(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    step: int
    history: MergeHistory
    counts: WordCounts
    texts: WordTexts
    can_explain: bool
    in_use: NDArray[np.int64]  # as far as known


@dataclass(frozen=True, slots=True, eq=False)
class _Figures:
    step: int
    usage: Usage
    dead: NDArray[np.bool_]
    reasons: DeadTokens | None
    in_use: NDArray[np.int64]


class TokenUsage(QObject):
    """What tokenizing makes of the training corpus, token by token; with other libraries, the words as trained.

    Attributes
    ----------
    details : TokenDetails
        Finds the words of a token and the growth of a word.

    Signals
    -------
    changed()
        The figures have changed or are gone, or counting began or ended.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.details = TokenDetails(model, self)
        self._figures: _Figures | None = None
        self._kept: OrderedDict[int, _Figures] = OrderedDict()
        self._texts: WordTexts | None = None
        self._in_use = _NO_NUMBERS
        self._wanting: set[QObject] = set()
        self._job = BackgroundJob(_counted, "The tokens in the corpus cannot be counted", self)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._timer = single_shot(self, self._on_timer_timeout)
        model.step_changed.connect(self._on_model_step_changed)
        model.run_reset.connect(self._on_model_run_reset)

    # Results.

    @property
    def step(self) -> int | None:
        """The step of the figures, which may differ from the current step; None if there are no figures."""
        return self._figures.step if self._figures is not None else None

    @property
    def is_current(self) -> bool:
        return self._figures is not None and self._figures.step == self._model.step

    @property
    def is_counting(self) -> bool:
        """Whether figures for the current step are being counted, or will be as soon as it settles."""
        return self._job.is_running or self._timer.isActive()

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """How often each token is produced on the corpus, counting all occurrences of words: int64 by id."""
        return self._figures.usage.frequencies if self._figures is not None else _NO_NUMBERS

    @property
    def word_counts(self) -> NDArray[np.int64]:
        """In how many distinct words each token is produced: int64 by id."""
        return self._figures.usage.word_counts if self._figures is not None else _NO_NUMBERS

    @property
    def dead(self) -> NDArray[np.bool_]:
        """Which learned or alphabet tokens are never produced: bool by id. Special tokens are never dead."""
        return self._figures.dead if self._figures is not None else _NO_MARKS

    @property
    def in_use(self) -> NDArray[np.int64]:
        """How many different tokens the corpus consists of, as it is merged, after each step: as far as known."""
        return self._in_use

    @property
    def unknown_words(self) -> tuple[int, int]:
        """How many distinct words of the corpus are unknown, and how often they occur."""
        usage = self._figures.usage if self._figures is not None else None
        return (usage.unknown_words, usage.unknown_occurrences) if usage is not None else (0, 0)

    @property
    def reasons(self) -> DeadTokens | None:
        """The reasons why dead tokens are dead; None if they are not known."""
        return self._figures.reasons if self._figures is not None else None

    def reason(self, token_id: int) -> DeadReason | None:
        """Return why a token is dead; None if it is not, or if unknown."""
        figures = self._figures
        if (
            figures is None
            or figures.reasons is None
            or not 0 <= token_id < len(figures.dead)
            or not figures.dead[token_id]
        ):
            return None
        return figures.reasons.reason(token_id)

    # Demand.

    def set_wanted(self, widget: QObject, is_wanted: bool) -> None:
        """Record whether `widget`, which shows the figures, is visible."""
        if is_wanted:
            self._wanting.add(widget)
            self._find()
        else:
            self._wanting.discard(widget)
            if not self._wanting:
                self._timer.stop()
                self._job.stop()

    def close(self) -> None:
        """Cancel what runs and wait for it to end."""
        self._timer.stop()
        self._job.close()
        self.details.close()

    # Updating.

    def _find(self) -> None:
        """Use the cached figures of the current step, or schedule counting them."""
        counts, step = self._model.counts, self._model.step
        kept = self._kept.get(step)
        if kept is not None:
            self._timer.stop()
            self._job.stop()
            self._take(kept)
        elif self._wanting and counts is not None:
            self._timer.start(0 if len(counts) <= _FEW_WORDS else _REST_MS)

    def _take(self, figures: _Figures) -> None:
        self._kept[figures.step] = figures
        self._kept.move_to_end(figures.step)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        if figures is not self._figures:
            self._figures = figures
            self.changed.emit()

    def _on_model_step_changed(self, _step: object) -> None:
        self._find()

    def _on_model_run_reset(self) -> None:
        self._job.stop()
        self._timer.stop()
        self._kept.clear()
        history = self._model.history
        self._texts = WordTexts(history) if history is not None else None
        self._figures = None
        self._in_use = _NO_NUMBERS
        self.changed.emit()
        self._find()

    def _on_timer_timeout(self) -> None:
        history, counts, step = self._model.history, self._model.counts, self._model.step
        tokenizer = self._model.tokenizer_at(self._model.merge_count)
        if history is not None and counts is not None and tokenizer is not None:
            if self._texts is None:
                self._texts = WordTexts(history)
            order = _Order(step, history, counts, self._texts, tokenizer.can_explain, self._in_use)
            self._job.begin(order)
            self.changed.emit()

    def _on_job_finished(self, figures: _Figures) -> None:
        self._in_use = figures.in_use
        self._take(figures)

    def _on_job_failed(self, _error: object) -> None:
        self._figures = None  # the log has the error; the window continues without the figures
        self.changed.emit()


def _counted(order: _Order, stop: threading.Event, _report: Report) -> _Figures | None:
    """Return the figures; None if canceled."""
    history, step, counts = order.history, order.step, order.counts
    if not order.can_explain:
        as_trained = usage_as_trained(history, step)
        dead = as_trained.dead(len(history.config.reserved_tokens))
        return _Figures(step, as_trained, dead, None, tokens_in_use_at(history))
    # Its own tokenizer: the window's caches every word that it has split.
    tokenizer = tokenizer_at(history, counts, step)
    usage = count_usage(tokenizer, counts, stop.is_set)
    if usage is None:
        return None
    dead = usage.dead(len(history.config.reserved_tokens))
    tokenizer = tokenizer_at(history, counts, step)
    reasons = DeadTokens(history, step, dead, tokenizer, order.texts, stop.is_set)
    if stop.is_set():
        return None
    in_use = order.in_use if len(order.in_use) == len(history) + 1 else tokens_in_use_at(history)
    return _Figures(step, usage, dead, reasons, in_use)
