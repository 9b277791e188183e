"""How much to do at a time: slices of work that last about one frame of the screen, and turns for other threads."""

from __future__ import annotations

import time

SLICE_SECONDS = 0.016
"""One frame at 60 Hz: no one sees anything shorter."""

MAX_BATCH = 256
"""Merges that are sent at once at most."""

_GROWTH = 4.0


class Pacer:
    """Adapts the number of steps in a slice so that a slice lasts about `SLICE_SECONDS`.

    >>> pacer = Pacer()
    >>> pacer.note(1, 0.004)
    >>> pacer.size
    4
    """

    def __init__(self, largest: int = MAX_BATCH) -> None:
        self.size = 1
        self._largest = largest

    def note(self, steps: int, seconds: float) -> None:
        """Learn from a slice of `steps` steps that took `seconds`."""
        if steps <= 0:
            return
        fitting = steps * SLICE_SECONDS / max(seconds, 1e-6)
        self.size = max(1, min(self._largest, int(min(fitting, self.size * _GROWTH))))


_TURN_SECONDS = 0.001
_PAUSE_SECONDS = 0.0001


class Turn:
    """Gives the window its turn, from a thread that works in Python.

    Else each of the hundred times that Qt asks a model for one painting would wait for Python's lock, 5 ms each.
    """

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def give(self) -> None:
        """Wait a moment, if it has been a millisecond since the last time; call it as often as you like."""
        if time.perf_counter() - self._last > _TURN_SECONDS:
            time.sleep(_PAUSE_SECONDS)
            self._last = time.perf_counter()
