"""The words that contain a token, and the growth of a word: searches of the whole corpus, run in the background.

The latest request wins. The figures of all tokens are in `token_usage.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob, Report

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.evaluation.usage import DeadTokens
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
        self._job = BackgroundJob(_answered, "The search for words", self)
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
