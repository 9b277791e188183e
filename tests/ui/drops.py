"""Dropping files on a widget, as a file manager does."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QWidget


_HOW = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def drop(target: QWidget, *paths: Path) -> None:
    """Drag these into the middle of `target` and let them fall there."""
    data, place = _enter(target, paths)
    action, button, modifier = _HOW
    QApplication.sendEvent(target, QDropEvent(QPointF(place), action, data, button, modifier))


@contextmanager
def hovering(target: QWidget, *paths: Path) -> Iterator[None]:
    """Drag these into the middle of `target`, and out again at the end."""
    data, _ = _enter(target, paths)
    yield
    QApplication.sendEvent(target, QDragLeaveEvent())
    data.clear()


def _enter(target: QWidget, paths: tuple[Path, ...]) -> tuple[QMimeData, QPoint]:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place = QPoint(target.width() // 2, target.height() // 2)
    action, button, modifier = _HOW
    enter = QDragEnterEvent(place, action, data, button, modifier)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    return data, place
