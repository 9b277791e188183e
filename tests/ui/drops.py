"""Dropping files on a widget, as a file manager does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget


def drop(target: QWidget, *paths: Path) -> None:
    """Drag these into the middle of `target` and let them fall there."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place = QPoint(target.width() // 2, target.height() // 2)
    action, button, modifier = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(place, action, data, button, modifier)
    QApplication.sendEvent(target, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(target, QDropEvent(QPointF(place), action, data, button, modifier))
