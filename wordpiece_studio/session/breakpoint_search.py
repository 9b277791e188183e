"""The steps at which a breakpoint is hit: NumPy over the columns of a history, continued as it grows.

Plain Python: no Qt. A regular expression searches a million tokens a few thousand at a time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.patterns import SearchPattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.session.breakpoints import Breakpoint
    from wordpiece_studio.training.history import MergeHistory

    Steps = NDArray[np.int64]

_CHUNK = 512  # tokens searched at once
_NONE: Steps = np.empty(0, dtype=np.int64)


class BreakpointSearch:
    """The hits of one breakpoint in one history.

    Attributes
    ----------
    known
        How many merges have been searched.
    steps
        The steps from 1 to `known` at which the breakpoint is hit, ascending; int64, shape (n,).
    fault
        Why the search was abandoned, or None. From then on nothing is found.
    """

    def __init__(self, breakpoint_: Breakpoint, history: MergeHistory) -> None:
        self.known = 0
        self.steps: Steps = _NONE
        self.fault: StudioError | None = None
        self._breakpoint = breakpoint_
        self._history = history
        finders: dict[str, Callable[[int, int], Steps]] = {
            "token": self._births,
            "pattern": self._matches,
            "word": self._wholes,
            "value": self._falls,
            "tie": self._ties,
            "size": self._sizes,
        }
        self._find = finders[breakpoint_.kind]
        self._is_slow = breakpoint_.kind == "pattern"
        self._deadline, self._end = float("inf"), 0
        self._word: int | None = None  # its index in the corpus, -1 if it is not there, None if not looked up yet
        self._pattern = SearchPattern(breakpoint_.text) if self._is_slow else None

    @property
    def is_waiting(self) -> bool:
        """Whether the words of the history still have to be read, which happens in the background."""
        history = self._history
        return self._breakpoint.kind == "word" and not (history.is_whole or history.is_damaged)

    def advance(self, count: int, deadline: float = float("inf")) -> None:
        """Search the merges up to `count`, or as far as `deadline` allows, but at least one.

        Does nothing while `is_waiting`. `deadline` is a `perf_counter` time.
        """
        if self.is_waiting:
            return
        found: list[Steps] = []
        self._deadline = deadline
        while self.known < count:
            self._end = min(count, self.known + _CHUNK) if self._is_slow else count
            if self.fault is None:
                found.append(self._find(self.known, self._end))
            self.known = self._end
            if time.perf_counter() > deadline:
                break
        if any(map(len, found)):
            self.steps = np.concatenate((self.steps, *found))

    # Each returns the hits among the steps `first` + 1 to `end`.

    def _births(self, first: int, end: int) -> Steps:
        return self._birth_of(self._breakpoint.text, first, end)

    def _birth_of(self, token: str, first: int, end: int) -> Steps:
        token_id = self._history.vocabulary(end).id_of(token)
        return _NONE if token_id is None else _within(self._history.birth_step(token_id), first, end)

    def _matches(self, first: int, end: int) -> Steps:
        """Stop at the deadline: a regular expression may take long even for a single token."""
        history, pattern = self._history, self._pattern
        assert pattern is not None  # set for this kind of breakpoint
        found = []
        for index in (np.flatnonzero(history.column("is_new")[first:end]) + first).tolist():
            try:
                if pattern.is_in(history.token(int(history.column("new_id")[index]))):
                    found.append(index + 1)
            except StudioError as error:
                self.fault = error
                self.steps = _NONE
                return _NONE
            if time.perf_counter() > self._deadline:
                self._end = index + 1
                break
        return np.array(found, dtype=np.int64)

    def _wholes(self, first: int, end: int) -> Steps:
        """A word of the corpus is whole when its last boundary is gone; any other word, when its token is born."""
        history, word = self._history, self._breakpoint.text
        if self._word is None and history.is_damaged:
            self._word = -1
        if self._word is None:
            try:
                self._word = history.input.words.index(word)
            except ValueError:
                self._word = -1
        if self._word < 0:
            return self._birth_of(word + (history.config.end_of_word_suffix or ""), first, end)
        start = int(history.input.word_starts[self._word])
        inside = history.segmentations.boundary_steps[start + 1 : start + int(history.input.word_lengths[self._word])]
        return _within(int(inside.max()), first, end) if len(inside) else _NONE

    def _falls(self, first: int, end: int) -> Steps:
        values = self._history.column("value")
        before = values[first - 1] if first else np.inf
        was_above = np.concatenate(([before], values[first : end - 1])) >= self._breakpoint.number
        return np.flatnonzero(was_above & (values[first:end] < self._breakpoint.number)) + first + 1

    def _ties(self, first: int, end: int) -> Steps:
        return np.flatnonzero(self._history.column("ties")[first:end] >= self._breakpoint.number) + first + 1

    def _sizes(self, first: int, end: int) -> Steps:
        before, wanted = self._history.vocabulary_size(first), self._breakpoint.number
        reached = first + 1 + int(np.searchsorted(self._history.vocabulary_sizes()[first:end], wanted))
        return _within(reached, first, end) if before < wanted else _NONE


def _within(step: int, first: int, end: int) -> Steps:
    return np.array([step], dtype=np.int64) if first < step <= end else _NONE
