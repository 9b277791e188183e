"""Collects Python's garbage in the window's thread only.

Python collects reference cycles in whichever thread happens to allocate. If that is a worker and the cycle holds a
dialog, Qt destroys a widget outside the window's thread and the program crashes (seen with PySide6 6.11: segmentation
fault). So the automatic collection is switched off, and a timer does the same work where it does no harm.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QCoreApplication, QObject, QTimer

INTERVAL_MS = 200
_FULL_COLLECTION_SECONDS = 10.0  # a full one looks at every object, so it must not come often


class GarbageCollector(QObject):
    """Takes Python's collection over from `start` to `stop`. One for a program, made in the window's thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next_full = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def start(self) -> None:
        """Switch the automatic collection off and collect from now on."""
        gc.disable()
        self._next_full = time.monotonic() + _FULL_COLLECTION_SECONDS
        self._timer.start()
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.stop)

    def stop(self) -> None:
        """Give the collection back to Python."""
        self._timer.stop()
        gc.enable()

    def _on_timer_timeout(self) -> None:
        # The thresholds are Python's own: objects made, then collections of the younger generation.
        due = [count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        now = time.monotonic()
        if due[2] and now >= self._next_full:
            self._next_full = now + _FULL_COLLECTION_SECONDS
            gc.collect(2)
        elif due[1]:
            gc.collect(1)
        elif due[0]:
            gc.collect(0)
