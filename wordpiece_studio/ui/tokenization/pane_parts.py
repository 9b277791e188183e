"""The three parts of the live tokenization, one below the other: text with chips, "Why here?", film strip.

It shares the height among them until the user draws an edge; what the parts show is no business of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.ui.tokenization.pane_room import Wanted, shared_room

if TYPE_CHECKING:
    from wordpiece_studio.ui.tokenization.film_strip_view import FilmStripView
    from wordpiece_studio.ui.tokenization.unknown_box import UnknownBox
    from wordpiece_studio.ui.tokenization.watched_field import WatchedField
    from wordpiece_studio.ui.tokenization.why_here import WhyHere

_LEAST_HEIGHT = 60
_RUNGS, _LOW_RUNGS, _STRIP_ROWS = 6, 4, 2
_ROW_HEIGHT = 42
"""Pixels: about the height of a row of chips with their ids."""
_LEAST_ROWS, _LEAST_ROWS_ASKED = 3, 2
_SPACING = 6
_NO_LIMIT = 16_777_215
"""Qt's own word for "as high as you like"."""


class PaneParts(QSplitter):
    """Field, chips or table, the lines about the text, the box of the unknown; below them the ladder and the strip."""

    def __init__(
        self,
        field: WatchedField,
        shown: QStackedWidget,
        labels: tuple[QLabel, QLabel],
        unknown_box: UnknownBox,
        why: WhyHere,
        strip: FilmStripView,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._field, self._shown, self._unknown_box = field, shown, unknown_box
        self._summary, self._ask = labels
        self._why, self._strip = why, strip
        self._is_low = False
        self._is_shared_by_hand = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.share_room)
        top = QWidget(self)
        above = QVBoxLayout(top)
        above.setContentsMargins(14, 10, 12, 2)
        above.setSpacing(_SPACING)
        above.addWidget(field)
        above.addWidget(shown, 1)
        for widget in (self._summary, self._ask, unknown_box):
            above.addWidget(widget)
        above.addStretch(0)
        for part in (top, why, strip):
            self.addWidget(part)
        self.setSizes([420, 120, 120])
        for index, stretch in enumerate((3, 1, 1)):
            self.setStretchFactor(index, stretch)
        self.setCollapsible(0, False)
        why.hide()
        strip.rows_changed.connect(self.share_later)
        self.splitterMoved.connect(self._on_self_splitter_moved)

    def set_low(self, is_low: bool) -> None:
        """Save height, or show all that there is."""
        self._is_low = is_low

    def set_shown_height(self, height: int | None) -> None:
        """Let chips be no higher than they need: what is said of the text stands right below them; None: a table."""
        self._shown.setMaximumHeight(_NO_LIMIT if height is None else max(height, _LEAST_HEIGHT))
        self.share_later()

    def show_answer(self) -> None:
        """Show the ladder instead of the hint how to ask for it."""
        self._ask.hide()
        self._why.show()
        self.share_later()

    def show_question(self, can_ask: bool) -> None:
        """Show no ladder."""
        self._why.hide()
        self._strip.show()
        self._ask.setVisible(can_ask and not self._is_low)
        self.share_later()

    def share_later(self) -> None:
        """Share the height when everything that changes now has changed."""
        self._timer.start()

    def share_room(self) -> None:
        """Give the parts what they need, unless the user drew an edge."""
        if self._is_shared_by_hand:
            return
        sizes = shared_room(self.height(), self._wanted_top(), self._wanted_why(), self._wanted_strip())
        self._strip.setVisible(sizes[2] > 0)
        self.setSizes(list(sizes))

    def _wanted_top(self) -> Wanted:
        heights = [self._field.sizeHint().height(), self._shown.maximumHeight(), self._summary.sizeHint().height()]
        if not self._unknown_box.isHidden():
            heights.append(self._unknown_box.needed_height())
        if not self._ask.isHidden():
            heights.append(self._ask.sizeHint().height())
        whole = sum(heights) + (len(heights) + 2) * _SPACING
        rows = _LEAST_ROWS if self._why.isHidden() else _LEAST_ROWS_ASKED
        return Wanted(whole, min(whole, whole - heights[1] + rows * _ROW_HEIGHT))

    def _wanted_why(self) -> Wanted:
        if self._why.isHidden():
            return Wanted(0, 0)
        return Wanted(self._why.needed_height(), self._why.needed_height(_LOW_RUNGS if self._is_low else _RUNGS))

    def _wanted_strip(self) -> Wanted:
        if self._is_low and not self._why.isHidden():
            return Wanted(0, 0)
        return Wanted(self._strip.needed_height(), self._strip.needed_height(1 if self._is_low else _STRIP_ROWS))

    def _on_self_splitter_moved(self, _position: int, _index: int) -> None:
        self._is_shared_by_hand = True
