"""A text as chips: one widget that paints the chips in view, and is walked through by arrow keys.

It shows what it is given and says which chip or boundary was chosen; it tokenizes nothing and knows no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from wordpiece_studio.ui.look.chip_style import ChipLook, ChipStyle
from wordpiece_studio.ui.tokenization.chip_blocks import ChipBlocks, ChipPlace, FlowLine, FlowPiece
from wordpiece_studio.ui.tokenization.chip_layout import FlowSpacing, PlacedBlock
from wordpiece_studio.ui.tokenization.chip_walk import kept_place, last_place, place_for_key

if TYPE_CHECKING:
    from wordpiece_studio.ui.look.theme import Theme

_MARGIN = 2.0
_CHIP_GAP = 4.0
_WORD_GAP = 15.0
_ROW_GAP = 9.0
_BOUNDARY_REACH = 4.0

Captions = Callable[[FlowLine, FlowPiece], tuple[str, ...]]


class ChipFlow(QAbstractScrollArea):
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
    content_height_changed = Signal(object)
    """Height in pixels (int) that all chips need at the present width."""
    boundary_chosen = Signal(object)
    """The :class:`ChipPlace` of the chip that ends at the boundary that was clicked."""

    def __init__(
        self,
        theme: Theme,
        captions: Captions,
        describe: Callable[[ChipPlace], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._captions = captions
        self._describe = describe
        self._caption_lines = 0
        self._captions_hold_places = False
        self._style = ChipStyle(theme)
        self._lines: Sequence[FlowLine] = ()
        self._blocks = ChipBlocks((), 1, self._spacing, self._chip_widths)
        self._current: ChipPlace | None = None
        self._composed = ""
        self._focused_tokens: frozenset[str] = frozenset()
        self._hovered_boundary: ChipPlace | None = None
        self.setObjectName("chips")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(80, 40)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        theme.changed.connect(self._on_theme_changed)

    # -- what is shown

    @property
    def lines(self) -> Sequence[FlowLine]:
        """The lines shown."""
        return self._lines

    @property
    def current(self) -> ChipPlace | None:
        """The chip under the keyboard's cursor."""
        return self._current

    def set_lines(self, lines: Sequence[FlowLine]) -> None:
        """Show these lines; lines whose words are the same objects as before keep their layout."""
        known = None if self._captions_hold_places else self._blocks.known()
        kept_alive, self._lines = self._lines, lines  # the old words live until their identities were compared
        self._lay_out(known)
        del kept_alive
        self._current = kept_place(lines, self._current)
        self._tell_accessibility()

    def captions_changed(self, lines: int, hold_places: bool) -> None:
        """Ask for the captions again.

        Parameters
        ----------
        lines
            How many lines of text stand under each chip.
        hold_places
            Whether a caption depends on where in the text its line starts.
        """
        self._caption_lines = lines
        self._captions_hold_places = hold_places
        self._lay_out(None)

    def set_focused_tokens(self, tokens: frozenset[str]) -> None:
        """Ring the chips of these tokens."""
        self._focused_tokens = tokens
        self.viewport().update()

    def set_composed(self, text: str) -> None:
        """Show behind the last chip, as a pale one, what an input method is composing; it is no token yet."""
        self._composed = text
        self._update_scroll_bar()
        self.viewport().update()

    def set_current(self, place: ChipPlace | None) -> None:
        """Put the keyboard's cursor on a chip and bring it into view."""
        self._current = place
        self._scroll_to_current()
        self.viewport().update()
        self._tell_accessibility()

    def rect_of(self, place: ChipPlace) -> QRectF | None:
        """Return where a chip lies in the viewport, in pixels, or None if there is no such chip."""
        rect = self._blocks.rect_of(place)
        if rect is None:
            return None
        return QRectF(
            rect[0] + _MARGIN, rect[1] + _MARGIN - self.verticalScrollBar().value(), rect[2], self._style.height
        )

    def content_height(self) -> int:
        """Height in pixels that all chips need at the present width."""
        height = self._blocks.height
        if self._composed:
            height = max(height, self._composed_rect().top() + self._spacing.row_height)
        return int(max(height - _ROW_GAP, 0) + 2 * _MARGIN + 1)

    def _composed_rect(self) -> QRectF:
        """Return where the composed text lies among the chips, in pixels from the first one's corner."""
        last = last_place(self._lines)
        end = self._blocks.rect_of(last) if last is not None else None
        width, height = self._style.width(self._composed), float(self._style.height)
        if end is None:
            return QRectF(0, 0, width, height)
        x = end[0] + end[2] + _WORD_GAP
        if x + width > self.viewport().width() - 2 * _MARGIN:
            return QRectF(0, end[1] + self._spacing.row_height, width, height)
        return QRectF(x, end[1], width, height)

    # -- layout

    @property
    def _spacing(self) -> FlowSpacing:
        row = self._style.height + self._caption_lines * self._style.caption_height + _ROW_GAP
        return FlowSpacing(_CHIP_GAP, _WORD_GAP, row)

    def _chip_widths(self, line: FlowLine) -> list[list[float]]:
        if not self._caption_lines:
            return [[self._style.width(piece.token) for piece in word.pieces] for word in line.words]
        return [[self._chip_width(line, piece) for piece in word.pieces] for word in line.words]

    def _chip_width(self, line: FlowLine, piece: FlowPiece) -> float:
        widths = (self._style.caption_width(caption) for caption in self._captions(line, piece))
        return max(self._style.width(piece.token), *widths)

    def _lay_out(self, known: dict[int, PlacedBlock] | None) -> None:
        width = self.viewport().width() - 2 * _MARGIN
        self._blocks = ChipBlocks(self._lines, width, self._spacing, self._chip_widths, known)
        self._hovered_boundary = None
        self._update_scroll_bar()
        self.viewport().update()

    def _update_scroll_bar(self) -> None:
        self.content_height_changed.emit(self.content_height())
        bar = self.verticalScrollBar()
        bar.setRange(0, max(self.content_height() - self.viewport().height(), 0))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(int(self._spacing.row_height / 2))

    def _scroll_to_current(self) -> None:
        rect = self._blocks.rect_of(self._current) if self._current is not None else None
        if rect is None:
            return
        self._update_scroll_bar()
        bar = self.verticalScrollBar()
        top, bottom = int(rect[1]), int(rect[1] + self._spacing.row_height + 2 * _MARGIN)
        if top < bar.value():
            bar.setValue(top)
        elif bottom > bar.value() + self.viewport().height():
            bar.setValue(bottom - self.viewport().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        same_width = event.size().width() == event.oldSize().width()
        self._lay_out(self._blocks.known() if same_width else None)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self._style = ChipStyle(self._theme)
        self._lay_out(None)

    # -- the user's hand

    def chip_at(self, point: QPointF) -> ChipPlace | None:
        """Return the chip at a point of the viewport, captions included, or None."""
        y = point.y() + self.verticalScrollBar().value() - _MARGIN
        x = point.x() - _MARGIN
        for index, top, block in self._blocks.between(y, y + 1):
            for chip in block.chips:
                below = y - top - chip.y
                if 0 <= below < self._spacing.row_height - _ROW_GAP + 2 and chip.x <= x < chip.x + chip.width:
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

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        boundary = self.boundary_at(event.position())
        if boundary != self._hovered_boundary:
            self._hovered_boundary = boundary
            self.viewport().update()
        over = boundary is not None or self.chip_at(event.position()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that walk through the chips: in the window they move the moment."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and not event.modifiers():
            walks = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
            if Qt.Key(event.key()) in walks:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
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

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        offset = self.verticalScrollBar().value()
        height_before = self._blocks.height
        row_height = self._spacing.row_height
        for index, top, block in self._blocks.between(offset - _MARGIN, offset + self.viewport().height()):
            for chip in block.chips:
                y = top + chip.y - offset + _MARGIN
                if -row_height < y < self.viewport().height():
                    place = ChipPlace(index, chip.word, chip.chip)
                    self._paint_chip(painter, place, QRectF(chip.x + _MARGIN, y, chip.width, self._style.height))
        if self._composed:
            rect = self._composed_rect().translated(_MARGIN, _MARGIN - offset)
            self._style.paint(painter, rect, self._composed, ChipLook(faded=True))
        painter.end()
        if self._blocks.height != height_before:
            self._update_scroll_bar()

    def _paint_chip(self, painter: QPainter, place: ChipPlace, rect: QRectF) -> None:
        line = self._lines[place.line]
        word = line.words[place.word]
        piece = word.pieces[place.chip]
        is_current = place == self._current and self.hasFocus()
        look = ChipLook(word.unknown is not None, piece.token in self._focused_tokens, is_current)
        self._style.paint(painter, rect, piece.token, look)
        if self._caption_lines:
            self._style.paint_captions(painter, rect, self._captions(line, piece))
        if place == self._hovered_boundary:
            x = rect.right() + _CHIP_GAP / 2
            painter.setPen(QPen(self._theme.accent, 2))
            painter.drawLine(QPointF(x, rect.top() + 2), QPointF(x, rect.bottom() - 2))
