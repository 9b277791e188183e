"""The search for a text or an expression in the tokens of a vocabulary, beside the window; the latest one wins.

An expression of the user's own may take for ever on a token: it is given up after a moment, and the search as a whole
after some seconds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.history_search import GivenUp, pattern_finder, text_finder, tokens_found
from wordpiece_studio.text.search_pattern import SearchPattern

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
