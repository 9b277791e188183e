"""What a Qt test may leave behind: threads, running timers and windows. Not a leak finder.

A child process is found by the thread that listens to it.
"""

from __future__ import annotations

import threading
import time

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QThread, QTimer
from PySide6.QtWidgets import QApplication, QWidget

# A thread that was told to stop may need a moment; one that was not will not stop in this time either.
_GRACE_SECONDS = 2.0

_KINDS = (QWidget, QTimer, QThread)


def alive() -> dict[object, str]:
    """Return what is running or shown now: a key that stays the same while it lives, and words for a person."""
    found: dict[object, str] = {}
    for thread in threading.enumerate():
        # Qt's threads appear here as "Dummy-N" for ever once they ran Python code; they are looked at below.
        if not thread.name.startswith("Dummy-"):
            found[thread] = f"thread {thread.name}"
    for wrapper in shiboken6.getAllValidWrappers():
        if isinstance(wrapper, _KINDS) and (what := _trouble(wrapper)):
            words = f"{what} {type(wrapper).__name__} {wrapper.objectName()}"
            found[shiboken6.getCppPointer(wrapper)] = words + (f" of {wrapper.parent()!r}" if what == "timer" else "")
    return found


def left_since(before: dict[object, str]) -> list[str]:
    """Return in words what is alive now and was not in `before`, after a moment to end by itself."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while True:
        if QCoreApplication.instance() is not None:
            QCoreApplication.processEvents()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        left = [words for key, words in alive().items() if key not in before]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.01)


def _trouble(wrapper: QWidget | QTimer | QThread) -> str:
    if isinstance(wrapper, QWidget):
        return "window" if wrapper.isWindow() and wrapper in QApplication.topLevelWidgets() else ""
    if isinstance(wrapper, QTimer):
        return "timer" if wrapper.isActive() else ""
    return "thread" if wrapper.isRunning() and wrapper is not QThread.currentThread() else ""
