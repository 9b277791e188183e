"""The progress of a count of a corpus, reported now and then: at most twenty times a second, and at the end.

Not here: the counting (`counting`), and how progress is shown.
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
# No time is estimated before this much time has passed and this much of the text is read.
_FIRST_SECONDS, _FIRST_PART = 0.5, 0.01


@dataclass(frozen=True, slots=True)
class CountingProgress:
    """The progress of a count.

    Attributes
    ----------
    bytes_done, bytes_total
        Of the files on disk; for compressed ones, the compressed bytes. A file may grow while it is read: the bytes
        done never exceed the total.
    files_done, files_total
        How many files have been read to their end.
    words
        How many words have been counted so far, including repetitions; those in the current text may be missing.
    seconds_left
        How long it will take at the speed so far; None while unknown.
    memory_bytes
        The memory that this process and its workers hold; None where the system does not report it.
    """

    bytes_done: int
    bytes_total: int
    files_done: int = 0
    files_total: int = 0
    words: int = 0
    seconds_left: float | None = None
    memory_bytes: int | None = None


class ProgressMeter:
    """Reports the progress of a count to a caller, now and then.

    Parameters
    ----------
    report
        Receives the progress; None for no reports.
    bytes_total, files_total
        How much there is.
    """

    def __init__(self, report: Callable[[CountingProgress], None] | None, bytes_total: int, files_total: int) -> None:
        self._report = report
        self._bytes_total = bytes_total
        self._files_total = files_total
        self._started = self._next = time.monotonic()

    def note(self, bytes_done: int, files_done: int, words: int, memory_of_others: int = 0) -> None:
        """Report the progress, if it is time to."""
        if self._report is None:
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
        self._report(CountingProgress(done, total, files_done, self._files_total, words, left, memory))


def resident_bytes() -> int | None:
    """Return how much memory this process holds; None where the system does not report it."""
    resident = None
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    elif sys.platform == "darwin":
        import resource

        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the most it has ever held
    return resident
