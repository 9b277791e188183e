"""Where the cards lie: corpus left, scoreboard over merge history, live tokenization right, timeline at the bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QMainWindow, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QShowEvent

    from wordpiece_studio.ui.look.card import CardDock

_AREA = Qt.DockWidgetArea
_LEFT_PART, _RIGHT_PART = 0.225, 0.29  # of the width
_TOP_PART, _BOTTOM_PART = 0.40, 0.235  # of the height
_SIDES, _ROWS = ("corpus", "tokenization"), ("scoreboard", "timeline")
_LEAST_LEFT, _LEAST_RIGHT, _LEAST_TOP, _LEAST_BOTTOM = 235, 330, 265, 142
_STATE_VERSION = 1


class DockArea(QMainWindow):
    """The five cards, which may be resized and hidden."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        for corner, area in (
            (Qt.Corner.TopLeftCorner, _AREA.LeftDockWidgetArea),
            (Qt.Corner.TopRightCorner, _AREA.RightDockWidgetArea),
            (Qt.Corner.BottomLeftCorner, _AREA.BottomDockWidgetArea),
            (Qt.Corner.BottomRightCorner, _AREA.BottomDockWidgetArea),
        ):
            self.setCorner(corner, area)
        self._cards: dict[str, CardDock] = {}
        self._is_arranged = False

    def add_card(self, card: CardDock, area: Qt.DockWidgetArea) -> None:
        """Put `card` into `area`; the cards of one area lie below each other."""
        self._cards[card.objectName()] = card
        self.addDockWidget(area, card)

    def set_centre(self, widget: QWidget) -> None:
        """Put `widget` where no dock is."""
        self.setCentralWidget(widget)

    def card(self, name: str) -> CardDock:
        """Return the card called `name`."""
        return self._cards[name]

    def toggles(self) -> list[QAction]:
        """Return one checkable command for each card that hides it and brings it back."""
        return [card.toggleViewAction() for card in self._cards.values()]

    def arrange(self) -> None:
        """Show all cards in their usual sizes."""
        for card in self._cards.values():
            card.show()
        width, height = self.width(), self.height()
        parts = [max(_LEAST_LEFT, round(width * _LEFT_PART)), max(_LEAST_RIGHT, round(width * _RIGHT_PART))]
        self.resizeDocks([self._cards[name] for name in _SIDES], parts, Qt.Orientation.Horizontal)
        heights = [max(_LEAST_TOP, round(height * _TOP_PART)), max(_LEAST_BOTTOM, round(height * _BOTTOM_PART))]
        self.resizeDocks([self._cards[name] for name in _ROWS], heights, Qt.Orientation.Vertical)

    def state(self) -> str:
        """Return the arrangement as base64."""
        return self.saveState(_STATE_VERSION).toBase64().toStdString()

    def restore(self, state: str) -> None:
        """Take the arrangement `state`; an empty or foreign one leaves the usual."""
        if state:
            self._is_arranged = self.restoreState(QByteArray.fromBase64(state.encode()), _STATE_VERSION)

    def showEvent(self, event: QShowEvent) -> None:
        """Arrange the cards when their room is known for the first time."""
        super().showEvent(event)
        if not self._is_arranged:
            self._is_arranged = True
            self.arrange()
