"""The timeline buttons: one for each command that moves or marks a step, and the playback speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QAction

    from wordpiece_studio.session.player import Player
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_SPEEDS = (0.5, 1.0, 2.0, 4.0, 10.0, 50.0, 200.0, 1000.0)
_WIDTH, _HEIGHT, _ICON = 1.82, 1.65, 0.94
"""Sizes of a button and of its icon, in lines of text."""
_GROUP_GAP = 10


class CommandButton(QToolButton):
    """A small button for a command, with its icon, its tooltip and its state."""

    def __init__(self, name: str, action: QAction, parent: QWidget, *, repeats: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName(f"timeline_{name}")
        self.setProperty("role", "button")
        self.setStyleSheet("padding: 0px;")  # the style sheet's padding is meant for text buttons
        self.setAutoRepeat(repeats)
        self.setDefaultAction(action)
        action.changed.connect(self._on_action_changed)  # after the button's own update
        self._on_action_changed()
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Grow with the font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        line = self.fontMetrics().height()
        self.setIconSize(QSize(round(_ICON * line), round(_ICON * line)))
        self.setFixedSize(round(_WIDTH * line), round(_HEIGHT * line))

    def _on_action_changed(self) -> None:
        self.setAccessibleName(self.defaultAction().text().replace("&", "").rstrip("…"))


class PlayButton(CommandButton):
    """The one button in the accent color; during playback it is pressed and shows a pause icon."""

    def __init__(self, action: QAction, theme: Theme, parent: QWidget) -> None:
        self._theme = theme
        super().__init__("play", action, parent)
        self.setProperty("role", "primary")
        theme.changed.connect(self._draw_icon)

    def _on_action_changed(self) -> None:
        super()._on_action_changed()
        self._draw_icon()

    def _draw_icon(self) -> None:
        theme, is_playing = self._theme, self.isChecked()
        color = theme.accent_ink if is_playing else theme.accent_text
        self.setIcon(icon("pause" if is_playing else "play", color, theme.faint))


class TimelineButtons(QWidget):
    """Two rows: moving through the steps, with the speed; and setting marks and going to them."""

    def __init__(self, actions: Actions, player: Player, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._player = player
        a = actions
        moves = [
            self._button("first", a.first_merge),
            self._button("ten_back", a.ten_back, repeats=True),
            self._button("previous", a.previous_merge, repeats=True),
            PlayButton(a.play, theme, self),
            # Playback shows several merges a second: the button must not swallow the second press.
            self._button("next", a.next_merge, repeats=True),
            self._button("ten_on", a.ten_on, repeats=True),
            self._button("last", a.last_merge),
        ]
        self._speed = self._speed_box()
        marks = [
            [self._button("previous_change", a.previous_change), self._button("next_change", a.next_change)],
            [
                self._button("run_back", a.run_back),
                self._button("breakpoints", a.breakpoints),
                self._button("run", a.run_to_breakpoint),
            ],
            [self._button("marker_a", a.set_marker_a), self._button("marker_b", a.set_marker_b)],
            [self._button("keep", a.keep_step), self._button("bookmarks", a.bookmarks)],
        ]
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(_row([moves, [self._speed]]))
        layout.addLayout(_row(marks))
        layout.addStretch(1)
        player.speed_changed.connect(self._on_player_speed_changed)

    def _button(self, name: str, action: QAction, *, repeats: bool = False) -> CommandButton:
        return CommandButton(name, action, self, repeats=repeats)

    def _speed_box(self) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(self.tr("Playback speed"))
        set_plain_tooltip(box, self.tr("Playback speed in merges per second"))
        for speed in _SPEEDS:
            number = value_text(speed) if speed >= 1 else "½"
            box.addItem(self.tr("{number} merges/s").format(number=number), speed)
        box.setCurrentIndex(max(box.findData(self._player.speed), 0))
        box.activated.connect(self._on_speed_activated)
        return box

    def _on_speed_activated(self, index: int) -> None:
        self._player.set_speed(self._speed.itemData(index))

    def _on_player_speed_changed(self, speed: float) -> None:
        index = self._speed.findData(speed)
        if index >= 0:
            self._speed.setCurrentIndex(index)


def _row(groups: Sequence[Sequence[QWidget]]) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(4)
    for number, group in enumerate(groups):
        if number:
            row.addSpacing(_GROUP_GAP)
        for widget in group:
            row.addWidget(widget)
    row.addStretch(1)
    return row
