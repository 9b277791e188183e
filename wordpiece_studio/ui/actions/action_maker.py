"""How a command is made: text, shortcuts, tooltip and icon in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

Shortcuts = tuple[str | QKeySequence.StandardKey, ...]


class ActionMaker(QObject):
    """Makes commands, and draws their icons in the colours of the theme."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        self._tips: dict[QAction, str] = {}
        self._primary: QAction | None = None
        theme.changed.connect(self.draw_icons)

    def all(self) -> list[QAction]:
        """Return every command once."""
        return list(dict.fromkeys(each for each in vars(self).values() if isinstance(each, QAction)))

    def usual_tip(self, action: QAction) -> str:
        """Return what the tooltip of a command says as long as there is no reason that it cannot be used."""
        return self._tips[action]

    def draw_icons(self) -> None:
        """Draw the icons in the colours of the theme."""
        for action, name in self._icons.items():
            color = self._theme.accent_text if action is self._primary else self._theme.text
            action.setIcon(icon(name, color, self._theme.faint))

    def _action(self, text: str, shortcuts: Shortcuts, tip: str, picture: str = "") -> QAction:
        action = QAction(text, self)
        keys = [each if isinstance(each, str) else QKeySequence(each) for each in shortcuts]
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        plain_text = text.replace("&", "")
        shown_key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._tips[action] = f"{tip or plain_text} ({shown_key})" if shown_key else tip or plain_text
        set_plain_tooltip(action, self._tips[action])
        action.setStatusTip(tip)
        if picture:
            self._icons[action] = picture
        return action

    def _text_action(self, text: str, key: QKeySequence.StandardKey, tip: str) -> QAction:
        shown_key = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        return self._action(f"{text}\t{shown_key}", (), tip)
