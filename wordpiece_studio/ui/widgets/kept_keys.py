"""Keys that a control keeps for itself: the window's commands would take the arrow keys, Home and End from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from collections.abc import Collection

_ALONE = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)  # on a Mac arrow keys have the second


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
