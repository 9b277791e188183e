"""Where the cards lie: corpus left, scoreboard over merge history, live tokenization right, timeline at the bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, Qt
from PySide6.QtWidgets import QMainWindow, QWidget

from wordpiece_studio.ui.look.later import later

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QResizeEvent, QShowEvent

    from wordpiece_studio.ui.look.card import CardDock

_AREA = Qt.DockWidgetArea
_LEFT_PART, _WIDE_LEFT_PART, _RIGHT_PART = 0.225, 0.295, 0.29  # of the width
_SIDES, _ROWS = ("corpus", "tokenization"), ("scoreboard", "timeline")
_LEAST_LEFT, _LEAST_RIGHT = 235, 330
_GAP = 8
_LOW_LINES = 36
"""An area of fewer lines of text is low: there the merge history comes before the curve and the formula."""
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
        self._is_usual = True  # no edge was drawn by hand
        self._left_part = _LEFT_PART
        self._parts: tuple[float, ...] = ()  # of width (left, right) and height (scoreboard, timeline), drawn by hand
        self._pressed_sizes: tuple[int, ...] = ()

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
        self._is_usual = True
        self._spread()

    def set_wide_left(self, is_wide: bool) -> None:
        """Give the card at the left more room, as a table needs, or its usual room; not against the user's hand."""
        part = _WIDE_LEFT_PART if is_wide else _LEFT_PART
        if part != self._left_part:
            self._left_part = part
            if self._is_arranged and self._is_usual:
                self._spread()

    def state(self) -> str:
        """Return the arrangement as base64; empty if it is the usual one, which another screen may have otherwise."""
        if self._is_usual and not any(card.isHidden() for card in self._cards.values()):
            return ""
        return self.saveState(_STATE_VERSION).toBase64().toStdString()

    def restore(self, state: str) -> None:
        """Take the arrangement `state`; an empty or foreign one leaves the usual."""
        if state and self.restoreState(QByteArray.fromBase64(state.encode()), _STATE_VERSION):
            self._is_arranged, self._is_usual = True, False

    def showEvent(self, event: QShowEvent) -> None:
        """Arrange the cards when their room is known for the first time."""
        super().showEvent(event)
        if not self._is_arranged:
            self._is_arranged = True
            self.arrange()

    def event(self, event: QEvent) -> bool:
        """Notice when an edge between two cards is drawn: from then on the user's proportions are kept."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self._pressed_sizes = self._sizes()
        is_handled = super().event(event)
        if event.type() == QEvent.Type.MouseButtonRelease and self._sizes() != self._pressed_sizes:
            self._is_usual = False
            self._note_parts()
        return is_handled

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the proportions; Qt would take everything from the middle."""
        super().resizeEvent(event)
        if self._is_arranged and self.isVisible():
            if not self._is_usual and not self._parts:
                self._note_parts()
            self._spread()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self._is_arranged and self._is_usual:
            later(self, 0, self._spread)  # when the cards have their new font too

    def _sizes(self) -> tuple[int, ...]:
        return (
            *(self._cards[name].width() for name in _SIDES),
            *(self._cards[name].height() for name in _ROWS),
        )

    def _note_parts(self) -> None:
        room = (self.width(), self.width(), self.height(), self.height())
        self._parts = tuple(size / max(whole, 1) for size, whole in zip(self._sizes(), room, strict=True))

    def _spread(self) -> None:
        width, height = self.width(), self.height()
        if self._is_usual or not self._parts:
            sides = (max(_LEAST_LEFT, round(width * self._left_part)), max(_LEAST_RIGHT, round(width * _RIGHT_PART)))
            rows = usual_rows(height, self.fontMetrics().height())
        else:
            left, right, top, bottom = self._parts
            sides, rows = (round(width * left), round(width * right)), (round(height * top), round(height * bottom))
        self.resizeDocks([self._cards[name] for name in _SIDES], sides, Qt.Orientation.Horizontal)
        self.resizeDocks([self._cards[name] for name in _ROWS], rows, Qt.Orientation.Vertical)


def usual_rows(height: int, line: int) -> tuple[int, int]:
    """Return the usual heights of scoreboard and timeline in an area of `height` pixels with lines of `line` pixels.

    >>> usual_rows(760, 17), usual_rows(575, 17)
    ((327, 179), (204, 124))
    """
    if height >= _LOW_LINES * line:
        return round(height * 0.43), round(height * 0.235)
    bottom = max(round(6.6 * line), 124)
    return round((height - bottom - _GAP) * 0.46), bottom
