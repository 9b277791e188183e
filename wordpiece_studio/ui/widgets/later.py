"""Calling something a little later, unless its owner is gone by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from collections.abc import Callable


def later(owner: QObject, delay_ms: int, slot: Callable[[], None]) -> None:
    """Call `slot`, a method of `owner` or of a child of it, in `delay_ms` milliseconds; never after `owner` is deleted.

    ``QTimer.singleShot`` does not watch the owner of a Python method: it calls it even after its window is gone.
    """
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.timeout.connect(slot)
    timer.timeout.connect(timer.deleteLater)
    timer.start(delay_ms)
