"""How fast a training is and how long it will go on."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from wordpiece_studio.session.records import Progress

if TYPE_CHECKING:
    from wordpiece_studio.training.config import TrainingConfig

_WINDOW_SECONDS = 5.0


class ProgressMeter:
    """Keeps the time of a run and its recent speed, and says when a report is due.

    Parameters
    ----------
    interval_seconds
        Reports are due at most this often.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._next_report = 0.0
        self._samples: deque[tuple[int, float]] = deque()  # (merges, seconds of training), oldest first

    def begin_run(self) -> None:
        """Forget the run before."""
        self._samples.clear()
        self._next_report = 0.0

    def note(self, merges: int, seconds: float) -> None:
        """Take down that `merges` merges took `seconds` of training so far."""
        samples = self._samples
        samples.append((merges, seconds))
        while len(samples) > 2 and seconds - samples[0][1] > _WINDOW_SECONDS:
            samples.popleft()

    def take_turn(self) -> bool:
        """Return whether a report is due; if so, the next one is due an interval later."""
        now = time.monotonic()
        if now < self._next_report:
            return False
        self._next_report = now + self._interval_seconds
        return True

    def progress(
        self, merges: int, vocabulary_size: int, symbols: int, config: TrainingConfig | None,
        sure_size: int | None = None,
    ) -> Progress:  # fmt: skip
        """Return the report for a run that stands at `merges` merges.

        `sure_size` is the size that it reaches for certain (`reach.sure_size`); None if it reaches any.
        """
        seconds = self._samples[-1][1] if self._samples else 0.0
        target = config.vocab_size if config is not None else None
        is_sure = sure_size is None or target is None or target <= max(sure_size, vocabulary_size)
        left = self._seconds_left(merges, vocabulary_size, seconds, config) if is_sure else None
        return Progress(merges, vocabulary_size, target, symbols, seconds, left, is_sure)

    def _seconds_left(
        self, merges: int, vocabulary_size: int, seconds: float, config: TrainingConfig | None
    ) -> float | None:
        if config is None:
            return None
        estimates: list[float] = []
        if config.max_seconds is not None:
            estimates.append(config.max_seconds - seconds)
        if pace := self._seconds_per_merge():
            if config.vocab_size is not None:
                estimates.append((config.vocab_size - vocabulary_size) * pace)
            if config.max_merges is not None:
                estimates.append((config.max_merges - merges) * pace)
        return max(0.0, min(estimates)) if estimates else None

    def _seconds_per_merge(self) -> float:
        """Return the recent pace; 0.0 if it is not known."""
        if not self._samples:
            return 0.0
        (first_merges, first_seconds), (merges, seconds) = self._samples[0], self._samples[-1]
        if merges == first_merges:
            first_merges, first_seconds = 0, 0.0
        return (seconds - first_seconds) / (merges - first_merges) if merges > first_merges else 0.0
