"""A text as chips that are clicked and walked through by arrow keys; how they look is in `chip_canvas.py`.

It shows what it is given and says which chip, boundary or word was chosen; it tokenizes nothing and knows no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from wordpiece_studio.ui.panes.tokenization.chip_blocks import ChipPlace, FlowLines
from wordpiece_studio.ui.panes.tokenization.chip_canvas import MARGIN, ROW_GAP, Captions, ChipCanvas
from wordpiece_studio.ui.panes.tokenization.chip_walk import kept_place, place_for_key
from wordpiece_studio.ui.widgets.kept_keys import keep
from wordpiece_studio.ui.widgets.plain import tooltip_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.ui.widgets.theme import Theme

_BOUNDARY_REACH = 4.0
_WALKS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)


class ChipFlow(ChipCanvas):
    """Chips in rows, with lines of small text below each.

    Parameters
    ----------
    captions
        Returns the lines of text under a chip; they are asked for again after :meth:`captions_changed`.
    describe
        Returns what a screen reader says of a chip.
    """

    chip_chosen = Signal(object)
    """The :class:`ChipPlace` that was clicked or walked to; None after a click beside all chips and after Escape."""
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

    # -- the keyboard's cursor

    def set_lines(self, lines: FlowLines) -> None:
        """Show these lines; the cursor stays in its word."""
        super().set_lines(lines)
        self._current = kept_place(lines, self._current)
        self._tell_accessibility()

    @property
    def current(self) -> ChipPlace | None:
        """The chip under the keyboard's cursor."""
        return self._current

    def set_current(self, place: ChipPlace | None) -> None:
        """Put the keyboard's cursor on a chip and bring it into view."""
        self._current = place
        self._scroll_to_current()
        self.viewport().update()
        self._tell_accessibility()

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

    # -- the user's hand

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
        """Return the chip that ends at the boundary inside a word at a point of the viewport, or None."""
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
        """Say of the chip under the pointer what a screen reader would."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            chip = self.chip_at(QPointF(event.pos()))
            told = self.tr("Click: this token. Double-click: the whole word. Between two chips: why here?")
            text = f"{self._describe(chip)}\n{told}" if chip is not None else ""
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
        """Keep the keys that walk through the chips: in the window they move the step."""
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
        place = place_for_key(Qt.Key(event.key()), self._blocks, self._lines, self._current)
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
        self._tell_accessibility()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def _tell_accessibility(self) -> None:
        """A screen reader hears the chip under the cursor as the description of this widget."""
        text = self._describe(self._current) if self._current is not None else ""
        if text == self.accessibleDescription():
            return
        self.setAccessibleDescription(text)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
