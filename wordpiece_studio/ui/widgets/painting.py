"""Painting that leaves painters in order, whatever happens on the way.

An exception with a painter open ends the process when Qt paints next. So painters are opened only in a ``with``
statement, and another restores the state of a painter that Qt lends.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QPainter


@contextmanager
def saved(painter: QPainter) -> Iterator[None]:
    """Restore the painter's state at the end."""
    painter.save()
    try:
        yield
    finally:
        painter.restore()
