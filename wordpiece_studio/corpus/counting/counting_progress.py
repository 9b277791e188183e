"""How far a count of a corpus is, reported now and then: at most twenty times a second, and at the end.

Not here: whoever counts (`counting`), and how it is shown.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_INTERVAL_SECONDS = 0.05
# Before that much time and that much of the text nothing is promised.
_FIRST_SECONDS, _FIRST_PART = 0.5, 0.01


@dataclass(frozen=True, slots=True)
class CountingProgress:
    """How far a count is.

    Attributes
    ----------
    bytes_done, bytes_total
        Of the files as they lie on the disk; of compressed ones the compressed bytes. A file may grow while it is read:
        what is done never passes the total.
    files_done, files_total
        How many files were read to their end.
    words
        How many words were counted so far, repetitions counted; those in the text in hand may be missing.
    seconds_left
        How long it will take at the speed so far; None while unknown.
    memory_bytes
        What this process and its workers hold in memory; None where the system does not tell.
    """

    bytes_done: int
    bytes_total: int
    files_done: int = 0
    files_total: int = 0
    words: int = 0
    seconds_left: float | None = None
    memory_bytes: int | None = None


class ProgressMeter:
    """Tells a caller how far a count is, now and then.

    Parameters
    ----------
    tell
        Who wants to know; None if no one does.
    bytes_total, files_total
        How much there is.
    """

    def __init__(self, tell: Callable[[CountingProgress], None] | None, bytes_total: int, files_total: int) -> None:
        self._tell = tell
        self._bytes_total = bytes_total
        self._files_total = files_total
        self._started = self._next = time.monotonic()

    def note(self, bytes_done: int, files_done: int, words: int, memory_of_others: int = 0) -> None:
        """Tell how far it is, if it is time to."""
        if self._tell is None:
            return
        now = time.monotonic()
        if now < self._next and files_done < self._files_total:
            return
        self._next = now + _INTERVAL_SECONDS
        total = self._bytes_total
        done = min(bytes_done, total)
        seconds, left = now - self._started, None
        if done == total:
            left = 0.0
        elif seconds >= _FIRST_SECONDS and done >= _FIRST_PART * total:
            left = seconds * (total - done) / done
        ours = resident_bytes()
        memory = None if ours is None else ours + memory_of_others
        self._tell(CountingProgress(done, total, files_done, self._files_total, words, left, memory))


def resident_bytes() -> int | None:
    """Return how much memory this process holds; None where the system does not tell."""
    resident = None
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    elif sys.platform == "darwin":
        import resource

        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the most that it ever held
    return resident
