"""Which tokens of a vocabulary a table shows, and in which order; and the search for a text or an expression.

The orders are index arrays made with NumPy for the whole vocabulary of a training and cut down to that of a step, at
almost no cost. The search runs in the background, and the latest one wins; since a user's expression may take forever
on a token, it is abandoned after a moment, and the whole search after a few seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.history_ranks import token_ranks
from wordpiece_studio.session.history_search import SearchCanceled, pattern_finder, text_finder, tokens_found
from wordpiece_studio.system.arrays import lengths_of
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.training.history import MergeHistory


Kind = Literal["all", "special", "alphabet", "learned", "dead"]
SPECIAL_BIRTH = -1
"""The birth step of special tokens for sorting."""


class VocabularyColumn(IntEnum):
    """The columns of the table, left to right."""

    TOKEN = 0
    ID = 1
    BORN = 2
    FREQUENCY = 3
    WORDS = 4
    LENGTH = 5
    REASON = 6


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    """How many tokens there are of each kind; `dead` is None while unknown."""

    special: int
    alphabet: int
    learned: int
    dead: int | None

    @property
    def all(self) -> int:
        """The total number of tokens."""
        return self.special + self.alphabet + self.learned


class VocabularyRows:
    """Sorts and filters the tokens of one training; caches expensive results.

    Parameters
    ----------
    history
        The training.
    usage
        How often tokens are used; tokens not counted yet come last.
    """

    def __init__(self, history: MergeHistory, usage: TokenUsage) -> None:
        self._history = history
        self._usage = usage
        self.special = len(history.config.special_tokens)
        self.initial = history.vocabulary_size(0)
        self._ranks = np.empty(0, dtype=np.int64)
        self._lengths = np.empty(0, dtype=np.int64)

    def birth(self, token_id: int) -> int:
        """Return the step that made a token; 0 for the alphabet, SPECIAL_BIRTH for special tokens."""
        return SPECIAL_BIRTH if token_id < self.special else self._history.birth_step(token_id)

    def length(self, token_id: int) -> int:
        """Return the number of characters of a token, without prefix and end-of-word suffix."""
        config = self._history.config
        token = self._history.token(token_id)
        if token_id < self.special:
            return len(token)
        return len(_bare(token, config.continuing_subword_prefix, config.end_of_word_suffix or ""))

    def numbers(self, size: int) -> TokenNumbers:
        """Return how many of the first `size` tokens are of each kind."""
        dead = int(np.count_nonzero(self._usage.dead)) if self._usage.is_current else None
        return TokenNumbers(self.special, self.initial - self.special, size - self.initial, dead)

    def ordered(
        self, size: int, kind: Kind, found: NDArray[np.bool_] | None, column: VocabularyColumn, *, descending: bool
    ) -> NDArray[np.int64]:
        """Return the ids of the tokens to show among the first `size`: int64, shape (n_rows,).

        Equal tokens are in order of id. `found`: whether the search found each token; None if there is no search.
        """
        ids = np.flatnonzero(self._mask(size, kind, found))
        if column is VocabularyColumn.ID or column is VocabularyColumn.BORN:  # the order of birth is the order of ids
            return ids[::-1] if descending else ids
        keys = self._keys(size, column)[ids]
        return ids[np.argsort(-keys if descending else keys, kind="stable")]

    def _mask(self, size: int, kind: Kind, found: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        mask = np.zeros(size, dtype=np.bool_)
        if kind == "dead":
            dead = self._usage.dead[:size]
            mask[: len(dead)] = dead
        else:
            first, end = {
                "all": (0, size),
                "special": (0, self.special),
                "alphabet": (self.special, self.initial),
                "learned": (self.initial, size),
            }[kind]
            mask[first:end] = True
        if found is not None:
            mask[: len(found)] &= found[:size]
            mask[len(found) :] = False
        return mask

    def _keys(self, size: int, column: VocabularyColumn) -> NDArray[np.int64]:
        if column is VocabularyColumn.TOKEN:
            if len(self._ranks) != size:
                self._ranks = token_ranks(self._tokens(size))
            return self._ranks
        if column is VocabularyColumn.LENGTH:
            if len(self._lengths) != size:
                self._lengths = self._bare_lengths(size)
            return self._lengths
        if column is VocabularyColumn.REASON:
            return _padded(self._usage.dead[:size].astype(np.int64), size)
        numbers = self._usage.frequencies if column is VocabularyColumn.FREQUENCY else self._usage.word_counts
        return _padded(numbers[:size], size)

    def _bare_lengths(self, size: int) -> NDArray[np.int64]:
        config, tokens = self._history.config, self._tokens(size)
        prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
        return lengths_of(tokens[: self.special] + [_bare(token, prefix, suffix) for token in tokens[self.special :]])

    def _tokens(self, size: int) -> list[str]:
        return self._history.vocabulary(len(self._history)).tokens[:size]


def _bare(token: str, prefix: str, suffix: str) -> str:
    """Return a token without prefix and suffix, unless it consists of nothing else."""
    bare = token.removeprefix(prefix)
    return (bare.removesuffix(suffix) or bare) if bare else token


def _padded(numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the numbers of the first `size` tokens, -1 for unknown ones."""
    padded = np.full(size, -1, dtype=np.int64)
    padded[: len(numbers)] = numbers
    return padded


_PART = 1 << 12
_CAREFUL_PART = 64  # tokens per part for expressions, which may be slow
_MOST_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class SoughtText:
    """A search term: a text, whose case matters only if it has capitals, or an expression of the `regex` module."""

    text: str = ""
    is_pattern: bool = False

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class FoundTokens:
    """Which tokens match: bool, shape (n_tokens,), by id."""

    sought: SoughtText
    found: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    sought: SoughtText
    tokens: Sequence[str]


class VocabularySearch(QObject):
    """Searches tokens.

    Signals
    -------
    finished(FoundTokens)
        The result of the latest search.
    failed(StudioError)
        Its expression is invalid or takes too long.
    """

    finished = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(_found, "The search for tokens", self)
        self._job.finished.connect(self.finished)
        self._job.failed.connect(self.failed)

    def begin(self, sought: SoughtText, tokens: Sequence[str]) -> None:
        """Search these tokens, canceling an earlier search. An invalid expression fails at once."""
        if sought.is_pattern:
            try:
                SearchPattern(sought.text)
            except StudioError as error:
                self._job.stop()
                self.failed.emit(error)
                return
        self._job.begin(_Order(sought, tokens))

    def stop(self) -> None:
        """Cancel the search; it reports nothing more."""
        self._job.stop()

    def close(self) -> None:
        """Cancel the search and wait for the thread to end."""
        self._job.close()


def _found(order: _Order, stop: threading.Event, _report: Report) -> FoundTokens | None:
    sought, tokens = order.sought, order.tokens
    part = _PART
    if sought.is_pattern:
        finder = pattern_finder(sought.text, max(map(len, tokens), default=0))
        part = _CAREFUL_PART
    else:
        finder = text_finder(sought.text)
    end = time.monotonic() + _MOST_SECONDS
    found = np.zeros(len(tokens), dtype=np.bool_)
    for first in range(0, len(tokens), part):
        try:
            found[first : first + part] = tokens_found(tokens[first : first + part], finder, stop.is_set)
        except SearchCanceled:
            return None
        if time.monotonic() > end:
            raise StudioError("The search takes too long", "Write a simpler expression.")
    return FoundTokens(sought, found)
