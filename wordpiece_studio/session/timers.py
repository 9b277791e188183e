"""Timers that call a method once: a little later, unless their owner is gone by then, or each time they are started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable


def single_shot(owner: QObject, slot: Callable[[], object], interval_ms: int = 0) -> QTimer:
    """Return a timer that calls `slot` once each time it is started, after `interval_ms` unless told otherwise then."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    timer.timeout.connect(slot)
    return timer


def later(owner: QObject, delay_ms: int, slot: Callable[[], None]) -> None:
    """Call `slot`, a method of `owner` or of a child of it, in `delay_ms` milliseconds; never after `owner` is deleted.

    ``QTimer.singleShot`` does not watch the owner of a Python method: it calls it even after its window is gone.
    """
    timer = single_shot(owner, slot, delay_ms)
    timer.timeout.connect(timer.deleteLater)
    timer.start()
