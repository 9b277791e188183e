"""A text as chips that respond to clicks and arrow keys; `chip_canvas.py` draws them.

It reports which chip, boundary or word was chosen; nothing here tokenizes or has access to a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from wordpiece_studio.ui.panes.tokenization.chip_blocks import ChipBlocks, ChipPlace, FlowLines
from wordpiece_studio.ui.panes.tokenization.chip_canvas import MARGIN, ROW_GAP, Captions, ChipCanvas
from wordpiece_studio.ui.widgets.kept_keys import keep
from wordpiece_studio.ui.widgets.plain import tooltip_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.ui.widgets.theme import Theme

_BOUNDARY_REACH = 4.0
_WALKS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)


def first_place(lines: FlowLines) -> ChipPlace | None:
    """Return the first chip, or None if there is none."""
    return _seek(lines, 0, 1)


def last_place(lines: FlowLines) -> ChipPlace | None:
    """Return the last chip, or None if there is none."""
    return _seek(lines, len(lines) - 1, -1)


def next_place(lines: FlowLines, place: ChipPlace) -> ChipPlace | None:
    """Return the chip after this one in reading order."""
    words = lines[place.line].words
    if place.chip + 1 < len(words[place.word].pieces):
        return place._replace(chip=place.chip + 1)
    for word in range(place.word + 1, len(words)):
        if words[word].pieces:
            return ChipPlace(place.line, word, 0)
    return _seek(lines, place.line + 1, 1)


def previous_place(lines: FlowLines, place: ChipPlace) -> ChipPlace | None:
    """Return the chip before this one in reading order."""
    if place.chip > 0:
        return place._replace(chip=place.chip - 1)
    words = lines[place.line].words
    for word in range(place.word - 1, -1, -1):
        if words[word].pieces:
            return ChipPlace(place.line, word, len(words[word].pieces) - 1)
    return _seek(lines, place.line - 1, -1)


def place_in_row(blocks: ChipBlocks, lines: FlowLines, place: ChipPlace, down: bool) -> ChipPlace | None:
    """Return the chip above or below this one: the one in the adjacent row whose middle is nearest."""
    here = blocks.rect_of(place)
    if here is None:
        return None
    middle = here[0] + here[2] / 2
    y_in_block = here[1] - float(blocks.tops[place.line])
    rows = {chip.y for chip in blocks.block(place.line).chips}
    beyond = [y for y in rows if (y > y_in_block if down else y < y_in_block)]
    line = place.line
    if beyond:
        row = min(beyond) if down else max(beyond)
    else:
        other = _seek(lines, line + 1, 1) if down else _seek(lines, line - 1, -1)
        if other is None:
            return None
        line = other.line
        rows = {chip.y for chip in blocks.block(line).chips}
        row = min(rows) if down else max(rows)
    chips = [chip for chip in blocks.block(line).chips if chip.y == row]
    nearest = min(chips, key=lambda chip: abs(chip.x + chip.width / 2 - middle))
    return ChipPlace(line, nearest.word, nearest.chip)


def _place_for_key(key: Qt.Key, blocks: ChipBlocks, lines: FlowLines, here: ChipPlace | None) -> ChipPlace | None:
    """Return the chip to which a key moves from `here`, or None if it moves nowhere."""
    walking = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return)
    if key == Qt.Key.Key_Home or (here is None and (key in walking or key == Qt.Key.Key_Space)):
        return first_place(lines)
    if key == Qt.Key.Key_End:
        return last_place(lines)
    if here is None:
        return None
    if key == Qt.Key.Key_Left:
        return previous_place(lines, here) or here
    if key == Qt.Key.Key_Right:
        return next_place(lines, here) or here
    if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        return place_in_row(blocks, lines, here, key == Qt.Key.Key_Down) or here
    return here if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) else None


def kept_place(lines: FlowLines, place: ChipPlace | None) -> ChipPlace | None:
    """Return the chip now at the cursor's place, or the last chip of that word, or None if the word is gone."""
    if place is None or place.line >= len(lines) or place.word >= len(lines[place.line].words):
        return None
    pieces = lines[place.line].words[place.word].pieces
    return place._replace(chip=min(place.chip, len(pieces) - 1)) if pieces else None


def _seek(lines: FlowLines, line: int, direction: int) -> ChipPlace | None:
    while 0 <= line < len(lines):
        filled = [index for index, word in enumerate(lines[line].words) if word.pieces]
        if filled:
            word = filled[0] if direction > 0 else filled[-1]
            return ChipPlace(line, word, 0 if direction > 0 else len(lines[line].words[word].pieces) - 1)
        line += direction
    return None


class ChipFlow(ChipCanvas):
    """Chips in rows, with lines of small text below each.

    Parameters
    ----------
    captions
        Returns the lines of text under a chip; it is called again after :meth:`captions_changed`.
    describe
        Returns the text about a chip for screen readers.
    """

    chip_chosen = Signal(object)
    """The :class:`ChipPlace` that was clicked or reached by key; None after a click beside all chips or Escape."""
    boundary_chosen = Signal(object)
    """The :class:`ChipPlace` of the chip that ends at the boundary that was clicked."""
    word_chosen = Signal(object)
    """A :class:`ChipPlace` in the word that was double-clicked, or on which Shift+Enter was pressed."""

    def __init__(
        self,
        theme: Theme,
        captions: Captions,
        describe: Callable[[ChipPlace], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, captions, parent)
        self._describe = describe
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)

    # -- the keyboard cursor

    def set_lines(self, lines: FlowLines) -> None:
        """Show these lines; the cursor stays in its word."""
        super().set_lines(lines)
        self._current = kept_place(lines, self._current)
        self._update_accessibility()

    @property
    def current(self) -> ChipPlace | None:
        """The chip under the keyboard cursor."""
        return self._current

    def set_current(self, place: ChipPlace | None) -> None:
        """Move the keyboard cursor to a chip and scroll to it."""
        self._current = place
        self._scroll_to_current()
        self.viewport().update()
        self._update_accessibility()

    def _scroll_to_current(self) -> None:
        rect = self._blocks.rect_of(self._current) if self._current is not None else None
        if rect is None:
            return
        self._update_scroll_bar()
        bar = self.verticalScrollBar()
        top, bottom = int(rect[1]), int(rect[1] + self._spacing.row_height + 2 * MARGIN)
        if top < bar.value():
            bar.setValue(top)
        elif bottom > bar.value() + self.viewport().height():
            bar.setValue(bottom - self.viewport().height())

    # -- user input

    def chip_at(self, point: QPointF) -> ChipPlace | None:
        """Return the chip at a point of the viewport, captions included, or None."""
        y = point.y() + self.verticalScrollBar().value() - MARGIN
        x = point.x() - MARGIN
        for index, top, block in self._blocks.between(y, y + 1):
            for chip in block.chips:
                below = y - top - chip.y
                if 0 <= below < self._spacing.row_height - ROW_GAP + 2 and chip.x <= x < chip.x + chip.width:
                    return ChipPlace(index, chip.word, chip.chip)
        return None

    def boundary_at(self, point: QPointF) -> ChipPlace | None:
        """Return the chip that ends at a boundary within a word at a point of the viewport, or None."""
        left = self.chip_at(point - QPointF(_BOUNDARY_REACH, 0))
        right = self.chip_at(point + QPointF(_BOUNDARY_REACH, 0))
        if left is None or right is None or left == right:
            return None
        return left if (left.line, left.word) == (right.line, right.word) else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        boundary = self.boundary_at(event.position())
        chip = boundary or self.chip_at(event.position())
        if chip is None:
            self._choose_none()
            return
        self.set_current(chip)
        if boundary is not None:
            self.boundary_chosen.emit(boundary)
        else:
            self.chip_chosen.emit(chip)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        chip = self.chip_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and chip is not None:
            self.word_chosen.emit(chip)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the screen reader's text for the chip under the pointer as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            chip = self.chip_at(QPointF(event.pos()))
            hint = self.tr("Click: this token. Double-click: the whole word. Between two chips: why here?")
            text = f"{self._describe(chip)}\n{hint}" if chip is not None else ""
            QToolTip.showText(event.globalPos(), tooltip_text(text))
            return True
        return super().viewportEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        boundary = self.boundary_at(event.position())
        if boundary != self._hovered_boundary:
            self._hovered_boundary = boundary
            self.viewport().update()
        over = boundary is not None or self.chip_at(event.position()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move through the chips: in the window they move the step."""
        return keep(event, _WALKS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        chooses = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if chooses and event.modifiers() == Qt.KeyboardModifier.ShiftModifier and self._current is not None:
            self.word_chosen.emit(self._current)
            return
        if event.modifiers() not in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
            event.ignore()
            return
        if event.key() == Qt.Key.Key_Escape and self._current is not None:
            self._choose_none()
            return
        place = _place_for_key(Qt.Key(event.key()), self._blocks, self._lines, self._current)
        if place is None:
            super().keyPressEvent(event)
            return
        self.set_current(place)
        self.chip_chosen.emit(place)

    def _choose_none(self) -> None:
        self.set_current(None)
        self.chip_chosen.emit(None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()
        self._update_accessibility()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def _update_accessibility(self) -> None:
        """Describe the chip under the cursor to screen readers, as the description of this widget."""
        text = self._describe(self._current) if self._current is not None else ""
        if text == self.accessibleDescription():
            return
        self.setAccessibleDescription(text)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
