"""The text size of single panes: by command for the pane that is meant, or by the wheel over a pane.

Each pane has a theme of its own: the window's colours, and its fonts in the pane's size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QCursor, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from wordpiece_studio.ui.widgets.panel import PanelDock
from wordpiece_studio.ui.widgets.theme import Theme, pass_font_on, scaled_font

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QFont

    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.dock_area import DockArea

_STEP, _LEAST, _MOST, _USUAL = 10, 60, 300, 100  # percent
_WHEEL_STEP = 120
"""What a wheel reports for one notch, in eighths of a degree."""


class PaneTheme(Theme):
    """Follows `base` in everything but the text size."""

    def __init__(self, base: Theme, parent: QObject | None = None) -> None:
        super().__init__(base.choice, parent)
        self._base = base
        self._zoom = 1.0
        self._look = base.look
        base.changed.connect(self._on_base_changed)

    @property
    def zoom(self) -> float:
        """How large the pane's text is: 1 is as large as the window's."""
        return self._zoom

    def set_zoom(self, zoom: float) -> None:
        """Make the pane's text `zoom` times as large as the window's, and emit `changed`."""
        if zoom != self._zoom:
            self._zoom = zoom
            self.changed.emit()

    @property
    def scale(self) -> float:
        """How large the pane's text is: 1 is the system's size."""
        return self._base.scale * self._zoom

    def font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the pane's font, `points` larger (or smaller) before it is zoomed."""
        return scaled_font(super().font(points, bold), self._zoom)

    def mono_font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the system's font of fixed width in the pane's size."""
        return scaled_font(super().mono_font(points, bold), self._zoom)

    def _on_base_changed(self) -> None:
        self._look = self._base.look
        self.changed.emit()

    def _on_system_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        """Do nothing: the window's theme handles that."""


class PaneZoom(QObject):
    """Makes the text of a pane larger or smaller than the window's."""

    def __init__(
        self, window: QWidget, docks: DockArea, theme: Theme, pane_themes: Mapping[str, PaneTheme], actions: Actions
    ) -> None:
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._themes = pane_themes
        self._turned = 0
        actions.larger_pane.triggered.connect(self._on_larger_triggered)
        actions.smaller_pane.triggered.connect(self._on_smaller_triggered)
        actions.normal_pane.triggered.connect(self._on_normal_triggered)
        theme.changed.connect(self._on_theme_changed)
        window.installEventFilter(self)

    @property
    def zooms(self) -> dict[str, int]:
        """The zoom in percent, by pane name, of the panes whose text is not as large as the window's."""
        percents = {name: round(theme.zoom * 100) for name, theme in self._themes.items()}
        return {name: percent for name, percent in percents.items() if percent != _USUAL}

    def set_zooms(self, zooms: Mapping[str, int]) -> None:
        """Give these panes these text sizes in percent, and all others the window's."""
        for name in self._themes:
            self.set_zoom(name, zooms.get(name, _USUAL))

    def set_zoom(self, name: str, percent: int) -> None:
        """Give the pane called `name` this text size."""
        percent = max(_LEAST, min(_MOST, percent))
        theme = self._themes[name]
        if round(theme.zoom * 100) != percent:
            self._set_font(name, percent / 100)
            theme.set_zoom(percent / 100)

    def pane_meant(self) -> str:
        """Return the name of the pane with the focus, else of the one under the pointer; "" if there is none."""
        for widget in (QApplication.focusWidget(), QApplication.widgetAt(QCursor.pos())):
            if name := _pane_of(widget):
                return name
        return ""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Ctrl+wheel before the pane under it, which would scroll."""
        if event.type() == QEvent.Type.Show and watched is self._window:
            self._window.windowHandle().installEventFilter(self)
        elif event.type() == QEvent.Type.Wheel and isinstance(event, QWheelEvent):
            if event.modifiers() == Qt.KeyboardModifier.ControlModifier and watched is not self._window:
                return self._turn(event)
        return super().eventFilter(watched, event)

    def _turn(self, event: QWheelEvent) -> bool:
        name = _pane_of(self._window.childAt(event.position().toPoint()))
        if not name:
            return False
        self._turned += event.angleDelta().y()
        notches = int(self._turned / _WHEEL_STEP)
        self._turned -= notches * _WHEEL_STEP
        if notches:
            self._change(name, notches * _STEP)
        return True

    def _change(self, name: str, percent: int) -> None:
        if name in self._themes:
            self.set_zoom(name, round(self._themes[name].zoom * 100) + percent)

    def _set_font(self, name: str, zoom: float) -> None:
        pass_font_on(self._docks.panel(name).content, scaled_font(QGuiApplication.font(), zoom))

    def _on_larger_triggered(self) -> None:
        self._change(self.pane_meant(), _STEP)

    def _on_smaller_triggered(self) -> None:
        self._change(self.pane_meant(), -_STEP)

    def _on_normal_triggered(self) -> None:
        self.set_zooms({})

    def _on_theme_changed(self) -> None:
        for name, percent in self.zooms.items():  # the window's text may be larger now
            self._set_font(name, percent / 100)


def _pane_of(widget: QWidget | None) -> str:
    while widget is not None and not isinstance(widget, PanelDock):
        widget = widget.parentWidget()
    return widget.objectName() if widget is not None else ""
