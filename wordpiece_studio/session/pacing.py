"""How much work to do at a time: slices of about one screen frame, and turns for other threads."""

from __future__ import annotations

import time

SLICE_SECONDS = 0.016
"""One frame at 60 Hz: anything shorter is invisible."""

MAX_BATCH = 256
"""The most merges sent at once."""

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
    """Gives the window its turn from a thread that runs Python code.

    Otherwise each of Qt's hundred calls to a model per repaint would wait 5 ms for the interpreter lock.
    """

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def give(self) -> None:
        """Sleep briefly if a millisecond has passed since the last time; calling it often is cheap."""
        if time.perf_counter() - self._last > _TURN_SECONDS:
            time.sleep(_PAUSE_SECONDS)
            self._last = time.perf_counter()
