"""The three parts of the live tokenization, one below the other: text with chips, "Why here?", changes.

It shares the height among them until the user drags an edge; what the parts show is up to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMargins, Qt
from PySide6.QtWidgets import QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.ui.panes.tokenization.compared_texts import MOST_ROWS

if TYPE_CHECKING:
    from wordpiece_studio.ui.panes.tokenization.changes_view import ChangesView
    from wordpiece_studio.ui.panes.tokenization.compared_texts import ComparedTexts
    from wordpiece_studio.ui.panes.tokenization.live_chips import LiveChips
    from wordpiece_studio.ui.panes.tokenization.live_field import LiveField
    from wordpiece_studio.ui.panes.tokenization.why_here import UnknownBox, WhyHere

_LEAST_HEIGHT = 40
_RUNGS, _LOW_RUNGS, _CHANGES_ROWS = 6, 4, 2
_LEAST_ROWS, _LEAST_ROWS_ASKED = 3, 2
"""Rows of chips."""
_SIDES, _SPACING = QMargins(14, 10, 12, 2), 6
_NO_LIMIT = 16_777_215
"""Qt's value for "no maximum height" (``QWIDGETSIZE_MAX``)."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The height in pixels that shows everything, and the smallest useful one; 0 if there is nothing to show."""

    all: int
    least: int


def _shared_room(room: int, top: _Wanted, why: _Wanted, changes: _Wanted) -> tuple[int, int, int]:
    """Return the heights of the three parts, `room` pixels in total.

    The chips grow into what the parts below do not need. While an answer is shown, it takes precedence over the list
    of changes, which is left out (0) if its least height would cut into that of the chips or the answer; also if all
    chips are visible only without it. No part is lower than its least, except the chips if all else is left out.

    >>> _shared_room(560, _Wanted(230, 120), _Wanted(0, 0), _Wanted(900, 160))
    (230, 0, 330)
    >>> _shared_room(560, _Wanted(700, 120), _Wanted(0, 0), _Wanted(100, 90))
    (470, 0, 90)
    >>> _shared_room(560, _Wanted(530, 120), _Wanted(0, 0), _Wanted(900, 90))
    (560, 0, 0)
    >>> _shared_room(560, _Wanted(230, 120), _Wanted(300, 180), _Wanted(900, 90))
    (230, 240, 90)
    >>> _shared_room(260, _Wanted(700, 200), _Wanted(0, 0), _Wanted(900, 90))
    (260, 0, 0)
    >>> _shared_room(260, _Wanted(700, 200), _Wanted(300, 90), _Wanted(900, 90))
    (170, 90, 0)
    """
    if not why.all:
        below = min(max(room * 3 // 10, changes.least), changes.all)
        if top.all > room - below:
            below = min(changes.least, changes.all)
            if room - below < top.all <= room:
                return room, 0, 0  # without the list of changes, everything above it fits
        high = max(min(top.all, room - below), min(top.least, room))
        return (high, 0, room - high) if room - high >= min(changes.least, changes.all) else (room, 0, 0)
    has_changes = bool(changes.all) and room - top.least - why.least >= changes.least
    below = why.least + (changes.least if has_changes else 0)
    high = max(min(top.all, room - below), min(top.least, room))
    high = min(high, max(room - why.least, 0))
    rest = room - high
    if not has_changes:
        return high, rest, 0
    answer = max(why.least, min(why.all, rest - changes.least))
    return high, answer, rest - answer


class PaneParts(QSplitter):
    """Field, chips or table, the lines about the text, the unknown box; below them the ladder and the changes."""

    def __init__(
        self,
        field: LiveField,
        shown: QStackedWidget,
        chips: LiveChips,
        labels: tuple[QLabel, QLabel],
        unknown_box: UnknownBox,
        why: WhyHere,
        changes: ChangesView,
        compared: ComparedTexts | None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._field, self._shown, self._chips, self._unknown_box = field, shown, chips, unknown_box
        self._summary, self._ask = labels
        self._why, self._changes_view, self._compared = why, changes, compared
        self._is_low = False
        self._is_shared_by_hand = self._can_ask = False
        self._timer = single_shot(self, self.share_room)
        top = QWidget(self)
        above = QVBoxLayout(top)
        above.setContentsMargins(_SIDES)
        above.setSpacing(_SPACING)
        above.addWidget(field)
        if compared is not None:
            above.addWidget(compared.heading)
        above.addWidget(shown, 1)
        if compared is not None:
            above.addWidget(compared)
        for widget in (self._summary, self._ask, unknown_box):
            above.addWidget(widget)
        above.addStretch(0)
        for part in (top, why, changes):
            self.addWidget(part)
        self.setSizes([420, 120, 120])
        for index, stretch in enumerate((3, 1, 1)):
            self.setStretchFactor(index, stretch)
        self.setCollapsible(0, False)
        why.hide()
        changes.rows_changed.connect(self.share_later)
        self.splitterMoved.connect(self._on_self_splitter_moved)

    def set_low(self, is_low: bool) -> None:
        """Save height, or show everything."""
        self._is_low = is_low

    def set_shown_height(self, height: int | None) -> None:
        """Limit chips to the height they need, so that notes stand right below them; None: no limit, for a table."""
        self._shown.setMaximumHeight(_NO_LIMIT if height is None else max(height, _LEAST_HEIGHT))
        self.share_later()

    def show_answer(self) -> None:
        """Show the ladder instead of the hint on how to ask for it."""
        self._why.show()
        self.share_later()

    def show_question(self, can_ask: bool) -> None:
        """Hide the ladder, and show the hint if `can_ask`."""
        self._why.hide()
        self._changes_view.show()
        self._can_ask = can_ask
        self.share_later()

    def share_later(self) -> None:
        """Share the height once all current changes are complete."""
        self._timer.start()

    def share_room(self) -> None:
        """Give the parts the height they need, unless the user has dragged an edge."""
        self._timer.stop()
        why = self._wanted_why()
        top = self._wanted_top(why.least)
        if self._is_shared_by_hand:
            return
        sizes = _shared_room(self._room, top, why, self._wanted_changes())
        self._changes_view.setVisible(sizes[2] > 0)
        self.setSizes(list(sizes))

    @property
    def _is_comparing(self) -> bool:
        """Whether there are headings, which say what the summary says."""
        return self._compared is not None and not self._compared.isHidden()

    @property
    def _room(self) -> int:
        return self.height() - 2 * self.handleWidth()

    def _wanted_top(self, least_below: int) -> _Wanted:
        """Hide notes that do not fit rather than cut them off, and return the height that the rest wants."""
        is_asked = not self._why.isHidden()
        can_ask = self._can_ask and not self._is_low and not is_asked
        says = self._unknown_box.is_wanted
        room = self._room - least_below
        for has_summary, has_box, rows in (
            (True, says, MOST_ROWS), (False, says, MOST_ROWS), (False, False, MOST_ROWS),
            (False, says, 2), (False, says, 1), (False, False, 1),
        ):  # fmt: skip
            labels = [(self._summary, has_summary and not self._is_comparing), (self._ask, can_ask and has_summary)]
            there = [label for label, is_there in labels if is_there]
            wanted = self._wanted_with(there, has_box=has_box, compared_rows=rows)
            if wanted.least <= room:
                break
        if self._compared is not None:
            self._compared.set_rows(rows)
        for label, is_there in labels:
            label.setVisible(is_there)
        self._unknown_box.give_way(not has_box)
        return wanted

    def _wanted_with(self, labels: list[QLabel], *, has_box: bool, compared_rows: int) -> _Wanted:
        width = self.width() - _SIDES.left() - _SIDES.right()
        heights = [self._field.sizeHint().height(), self._shown.maximumHeight()]
        heights += [max(label.heightForWidth(width), 0) for label in labels]
        if self._compared is not None and self._is_comparing:
            heights += [self._compared.heading.sizeHint().height(), self._compared.needed_height(compared_rows)]
        if has_box:
            heights.append(self._unknown_box.needed_height(width))
        whole = sum(heights) + (len(heights) - 1) * _SPACING + _SIDES.top() + _SIDES.bottom()
        rows = _LEAST_ROWS if self._why.isHidden() else _LEAST_ROWS_ASKED
        return _Wanted(whole, min(whole, whole - heights[1] + rows * self._chips.row_height))

    def _wanted_why(self) -> _Wanted:
        if self._why.isHidden():
            return _Wanted(0, 0)
        return _Wanted(self._why.needed_height(), self._why.needed_height(_LOW_RUNGS if self._is_low else _RUNGS))

    def _wanted_changes(self) -> _Wanted:
        if self._is_low and not self._why.isHidden():
            return _Wanted(0, 0)
        return _Wanted(
            self._changes_view.needed_height(), self._changes_view.needed_height(1 if self._is_low else _CHANGES_ROWS)
        )

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.share_later()

    def _on_self_splitter_moved(self, _position: int, _index: int) -> None:
        self._is_shared_by_hand = True
