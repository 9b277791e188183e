"""Waiting in scripts that run the window themselves; tests have pytest-qt's ``qtbot`` for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_SECONDS = 300


def wait(until: Callable[[], bool], also: Callable[[], None] = lambda: None) -> None:
    """Run the event loop until something holds."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while not until():
        if time.monotonic() > end:
            raise SystemExit(f"nothing happened within {_PATIENCE_SECONDS} s")
        QApplication.processEvents()
        also()
        time.sleep(0.0005)
