"""The theme of one pane: the window's colours, and its fonts in the size that the pane is shown in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.ui.widgets.theme import Theme, scaled_font

if TYPE_CHECKING:
    from PySide6.QtCore import QObject, Qt
    from PySide6.QtGui import QFont


class PaneTheme(Theme):
    """Follows `base` in all but the size of text."""

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
        """Make the pane's text `zoom` times as large as the window's, and say so."""
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
        """Leave that to the window's theme."""
