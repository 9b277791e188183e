"""The markers A and B in words: a button for each that goes there, and what lies between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from wordpiece_studio.ui.panes.timeline.mark_words import distance_words
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from wordpiece_studio.session.markers import Markers
    from wordpiece_studio.ui.actions.actions import Actions


class MarkerLine(QWidget):
    """Empty as long as nothing is marked."""

    def __init__(self, markers: Markers, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markers = markers
        self._a = self._button("A", actions.go_to_marker_a, actions)
        self._b = self._button("B", actions.go_to_marker_b, actions)
        self._label = plain_label("", self, role="caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._a, self._b, self._label):
            layout.addWidget(widget)
        self.refresh()

    def refresh(self) -> None:
        """Show where the markers are now."""
        for name, button, step in (("A", self._a, self._markers.a), ("B", self._b, self._markers.b)):
            button.setVisible(step is not None)
            if step is not None:
                button.setText(f"{name} {number_text(step)}")
        distance = self._markers.distance()
        set_plain_text(self._label, distance_words(distance) if distance is not None else "")

    def _button(self, name: str, action: QAction, actions: Actions) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"timeline_go_to_{name.lower()}")
        button.setProperty("role", "button")
        button.setStyleSheet("padding: 0px 5px;")
        button.setAccessibleName(action.text().replace("&", ""))
        set_plain_tooltip(button, actions.usual_tip(action))
        button.clicked.connect(action.trigger)
        return button
