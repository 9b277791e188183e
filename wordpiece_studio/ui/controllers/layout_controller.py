"""Layout commands: switch to another layout, reset this one, full screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec
from PySide6.QtCore import QEvent, QObject, Qt

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.settings import SavedLayout
from wordpiece_studio.ui.layouts.layout import LAYOUTS, demo_text_size

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMainWindow, QWidget

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.layouts.layout import LayoutName
    from wordpiece_studio.ui.layouts.pane_zoom import PaneZoom
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.dock_area import DockArea
    from wordpiece_studio.ui.widgets.theme import Theme

_FULL = Qt.WindowState.WindowFullScreen


class LayoutController(QObject):
    """Switches between the layouts; each keeps the user's changes to it across restarts."""

    def __init__(
        self, window: QMainWindow, docks: DockArea, zoom: PaneZoom, bar: QWidget, theme: Theme, actions: Actions,
        settings: SettingsStore, messages: Messages,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._zoom = zoom
        self._bar = bar
        self._theme = theme
        self._actions = actions
        self._settings = settings
        self._messages = messages
        actions.layouts.triggered.connect(self._on_layout_triggered)
        actions.reset_layout.triggered.connect(self._on_reset_triggered)
        actions.full_screen.triggered.connect(self._on_full_screen_triggered)
        window.installEventFilter(self)

    @property
    def text_size(self) -> int:
        """The text size of this layout, in percent of the system's."""
        values = self._settings.values
        if values.layout != "demo":
            return values.font_scale
        return values.demo_scale or demo_text_size(self._window.screen().size().height())

    def restore(self) -> None:
        """Show the layout that was used last."""
        self._take()

    def remember(self) -> None:
        """Save the user's changes to this layout."""
        layout, saved, zooms = self._docks.layout_taken, self._docks.changed_by_hand(), self._zoom.zooms
        name = layout.name
        if zooms:
            usual = SavedLayout(version=layout.version, closed=tuple(sorted(layout.closed)))
            saved = msgspec.structs.replace(saved or usual, zooms=zooms)
        layouts = {key: value for key, value in self._settings.values.layouts.items() if key != name}
        if saved is not None:
            layouts[name] = saved
        if layouts != self._settings.values.layouts:
            self._change(layouts=layouts)

    def choose(self, name: LayoutName) -> None:
        """Show another layout; the demo layout switches to full screen, and leaving it switches back."""
        was_demo = self._settings.values.layout == "demo"
        self.remember()
        self._change(layout=name)
        self._take()
        if was_demo != (name == "demo"):
            self._set_full_screen(name == "demo")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the check mark in the menu in step with full screen, however that was switched."""
        if event.type() == QEvent.Type.WindowStateChange:
            self._actions.full_screen.setChecked(self._window.isFullScreen())
        return super().eventFilter(watched, event)

    def _take(self) -> None:
        values = self._settings.values
        layout = LAYOUTS[values.layout]
        self._bar.setVisible(layout.has_bar)
        self._theme.set_scale(self.text_size / 100)
        saved = values.layouts.get(layout.name)
        self._docks.take(layout, saved)
        self._zoom.set_zooms(saved.zooms if saved is not None and saved.version == layout.version else {})
        for action in self._actions.layouts.actions():
            action.setChecked(action.data() == layout.name)

    def _set_full_screen(self, is_full: bool) -> None:
        if is_full != self._window.isFullScreen():
            self._window.setWindowState(self._window.windowState() ^ _FULL)

    def _on_layout_triggered(self, action: QAction) -> None:
        self.choose(cast("LayoutName", action.data()))

    def _on_reset_triggered(self) -> None:
        self._docks.take(self._docks.layout_taken)
        self._zoom.set_zooms({})
        self.remember()

    def _on_full_screen_triggered(self) -> None:
        self._set_full_screen(not self._window.isFullScreen())

    def _change(self, **changes: object) -> None:
        try:
            self._settings.change(**changes)
        except StudioError as error:
            self._messages.show_error(error)
