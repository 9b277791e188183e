"""Switches commands on and off, with the reason below the tooltip of one that is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from wordpiece_studio.ui.actions.actions import Actions


class ActionReasons:
    """Remembers what was said of each command: they are asked whenever a training goes on."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._said: dict[QAction, str] = {}

    def set_reason(self, action: QAction, reason: str) -> None:
        """Disable `action` and say why; with an empty reason enable it."""
        if self._said.get(action) != reason:
            self._said[action] = reason
            action.setEnabled(not reason)
            usual = self._actions.usual_tip(action)
            set_plain_tooltip(action, f"{usual}\n{reason}" if reason else usual)
