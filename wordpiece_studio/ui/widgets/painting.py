"""Painting that leaves no painter in disorder, whatever happens on the way.

An exception with a painter open ends the process when Qt paints the next time. So painters are opened in a ``with``
statement only, and what is changed of one that Qt lends is given back by one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QPainter


@contextmanager
def saved(painter: QPainter) -> Iterator[None]:
    """Give the painter back as it was."""
    painter.save()
    try:
        yield
    finally:
        painter.restore()
