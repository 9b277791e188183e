"""Which tokens of a vocabulary a table shows, and in which order; and the search for a text or an expression in them.

The orders are index arrays made with NumPy for the whole vocabulary of a training and cut to that of a step, which
costs next to nothing. The search runs beside the window, and the latest one wins; an expression of the user's own may
take for ever on a token: it is given up after a moment, and the search as a whole after some seconds.
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
from wordpiece_studio.session.history_search import GivenUp, pattern_finder, text_finder, tokens_found
from wordpiece_studio.system.in_slices import lengths_of
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
"""What stands for the birth step of a special token where tokens are put in order."""


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
    """How many tokens there are of each kind; `dead` is None as long as it is not known."""

    special: int
    alphabet: int
    learned: int
    dead: int | None

    @property
    def all(self) -> int:
        """How many there are in all."""
        return self.special + self.alphabet + self.learned


class VocabularyRows:
    """Sorts and filters the tokens of one training; keeps what is dear about them.

    Parameters
    ----------
    history
        The training.
    usage
        Tells how often tokens are used; what it does not know yet comes last.
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

        Equal tokens stand in the order of their ids. `found` tells of the tokens whether the search found them, None
        that nothing is sought.
        """
        ids = np.flatnonzero(self._mask(size, kind, found))
        if column is VocabularyColumn.ID or column is VocabularyColumn.BORN:  # the order of birth is that of the ids
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
    """Return a token without prefix and suffix, unless nothing else is in it."""
    bare = token.removeprefix(prefix)
    return (bare.removesuffix(suffix) or bare) if bare else token


def _padded(numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the numbers of the first `size` tokens, -1 for those that are not known."""
    padded = np.full(size, -1, dtype=np.int64)
    padded[: len(numbers)] = numbers
    return padded


_PART = 1 << 12
_CAREFUL_PART = 64  # tokens on which an expression may take its time
_MOST_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class SoughtText:
    """What is sought: a text, for which capitals count only if it has some, or an expression of the `regex` module."""

    text: str = ""
    is_pattern: bool = False

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class FoundTokens:
    """In which tokens something was found: bool, shape (n_tokens,), by id."""

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
        What the latest search found.
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
        """Search these tokens; what is under way is given up. An expression that is invalid fails at once."""
        if sought.is_pattern:
            try:
                SearchPattern(sought.text)
            except StudioError as error:
                self._job.stop()
                self.failed.emit(error)
                return
        self._job.begin(_Order(sought, tokens))

    def stop(self) -> None:
        """Give up what is under way; nothing more is heard of it."""
        self._job.stop()

    def close(self) -> None:
        """Give up what is under way and wait for the thread to end."""
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
        except GivenUp:
            return None
        if time.monotonic() > end:
            raise StudioError("The search takes too long", "Write an expression that is simpler.")
    return FoundTokens(sought, found)
