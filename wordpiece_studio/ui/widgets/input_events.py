"""Keys and drops that several widgets handle alike.

A control keeps the arrow keys, Home and End for itself, which the window's commands would take; files and folders
dropped on a widget are reported as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

if TYPE_CHECKING:
    from collections.abc import Collection

    from PySide6.QtCore import QMimeData

_ALONE = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)  # on a Mac arrow keys have the second
_DRAGS = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


def is_alone(event: QKeyEvent) -> bool:
    """Return whether the key was pressed without Shift, Ctrl, Alt or Meta."""
    return event.modifiers() in _ALONE


def keep(event: QEvent, keys: Collection[Qt.Key]) -> bool:
    """Accept `event` if it asks whether the control wants one of these keys, pressed alone; return whether it does."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() not in keys or not is_alone(event):
        return False
    event.accept()
    return True


class FileDrops(QObject):
    """Takes local files and folders that are dropped on a widget; the widget itself handles all other drops.

    Parameters
    ----------
    target
        The widget; for a scroll area, its viewport is used.
    """

    files_dropped = Signal(object)
    """Files or folders were dropped, a list of str."""

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self._target = target.viewport() if isinstance(target, QAbstractScrollArea) else target
        self._target.setAcceptDrops(True)
        self._target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take drags of files."""
        if watched is not self._target or event.type() not in _DRAGS or not isinstance(event, QDropEvent):
            return False
        paths = _dropped_paths(event.mimeData())
        if not paths:
            return False
        event.acceptProposedAction()
        if event.type() == QEvent.Type.Drop:
            self.files_dropped.emit(paths)
        return True


def _dropped_paths(data: QMimeData) -> list[str]:
    """Return the local files and folders being dragged or dropped."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
