"""Collects Python's garbage in the window's thread only.

Python collects reference cycles in whichever thread happens to allocate. If that is a worker and the cycle holds a
dialog, Qt destroys a widget outside the window's thread and the program crashes (seen with PySide6 6.11: segmentation
fault). So automatic collection is switched off, and a timer does the same work in the window's thread. Long lists of
words are freed in slices, in a thread of their own.
"""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts

INTERVAL_MS = 200
_FULL_COLLECTION_SECONDS = 10.0  # a full collection visits every object, so it must be rare
_FREED_AT_ONCE, _FREED_SLICE, _FREEING_PAUSE_SECONDS = 300_000, 20_000, 0.002


class GarbageCollector(QObject):
    """Takes over Python's collection from `start` to `stop`. One per program, created in the window's thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next_full = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def start(self) -> None:
        """Switch automatic collection off and start the timer."""
        gc.disable()
        self._next_full = time.monotonic() + _FULL_COLLECTION_SECONDS
        self._timer.start()
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.stop)

    def stop(self) -> None:
        """Switch automatic collection back on."""
        self._timer.stop()
        gc.enable()

    def _on_timer_timeout(self) -> None:
        # Python's own thresholds: objects allocated, then collections of the younger generation.
        due = [count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        now = time.monotonic()
        if due[2] and now >= self._next_full:
            self._next_full = now + _FULL_COLLECTION_SECONDS
            gc.collect(2)
        elif due[1]:
            gc.collect(1)
        elif due[0]:
            gc.collect(0)


def free_words_slowly(counts: WordCounts) -> None:
    """Have the words freed little by little once no one needs the counts: all at once would stall the window."""
    if len(counts) > _FREED_AT_ONCE:
        weakref.finalize(counts, _start_freeing, counts.words).atexit = False


def _start_freeing(words: list[str]) -> None:
    # A copy, since the list itself may still be in use; it costs a hundredth of freeing the words.
    threading.Thread(target=_free, args=(words.copy(),), daemon=True).start()


def _free(words: list[str]) -> None:
    while words:
        del words[-_FREED_SLICE:]
        time.sleep(_FREEING_PAUSE_SECONDS)
