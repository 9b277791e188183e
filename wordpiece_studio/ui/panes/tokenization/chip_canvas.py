"""The painting of a text as chips: which chips are in view, where they lie, how they look.

Clicks and keys are handled in `chips.py`; nothing here tokenizes or has access to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from wordpiece_studio.ui.panes.tokenization.chip_blocks import (
    ChipBlocks,
    ChipPlace,
    FlowLine,
    FlowLines,
    FlowPiece,
    FlowSpacing,
    FlowWord,
    Inserted,
    KnownBlocks,
    place_at,
)
from wordpiece_studio.ui.widgets.chip_style import ChipLook, ChipStyle

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

MARGIN = 2.0
ROW_GAP = 9.0
_CHIP_GAP = 4.0
_WORD_GAP = 15.0
_REST_MS, _SETTLE_MS, _SETTLE_SECONDS = 60, 8, 0.004
"""What is out of view is laid out in slices once nothing has changed for a while, not at each step of a drag."""
_MOST_WIDTHS = 100_000  # offsets in a long text never repeat
_COMPOSED = ChipLook(faded=True)

Rings = Callable[[Any], Container[int]]
"""Returns which chips of a :class:`FlowWord` are selected."""
Captions = Callable[[Any, Any], tuple[str, ...]]
"""Returns the lines of text under the chip of a :class:`FlowPiece` in a :class:`FlowLine`."""


class ChipCanvas(QAbstractScrollArea):
    """Chips in rows, with lines of small text below each.

    Parameters
    ----------
    captions
        Returns the lines of text under a chip; it is called again after :meth:`captions_changed`.
    """

    content_height_changed = Signal(object)
    """The height in pixels (int) that all chips need at the current width."""

    def __init__(self, theme: Theme, captions: Captions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._captions = captions
        self._caption_lines = 0
        self._captions_hold_places = False
        self._style = ChipStyle(theme)
        self._widths: dict[tuple[str, tuple[str, ...]], float] = {}
        self._lines: FlowLines = _NoLines()
        self._blocks = ChipBlocks(self._lines, 1, self._spacing, self._chip_widths)
        self._current: ChipPlace | None = None  # under the keyboard's cursor
        self._composed, self._composed_at = "", (0, 0)
        self._rings: Rings | None = None
        self._fresh_id: int | None = None
        self._settle_timer = QTimer(self)
        self._settle_timer.setSingleShot(True)
        self._settle_timer.timeout.connect(self._on_settle_timer_timeout)
        self._hovered_boundary: ChipPlace | None = None
        self.setObjectName("chips")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumSize(80, 40)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._on_theme_changed)

    # -- contents

    @property
    def lines(self) -> FlowLines:
        """The lines shown."""
        return self._lines

    def set_lines(self, lines: FlowLines) -> None:
        """Show these lines; lines whose text and words are the same as before keep their layout."""
        self._lines = lines
        self._lay_out(None if self._captions_hold_places else self._blocks.known())

    def captions_changed(self, lines: int, hold_places: bool) -> None:
        """Update the captions.

        Parameters
        ----------
        lines
            The number of lines of text under each chip.
        hold_places
            Whether captions depend on where their line starts in the text.
        """
        self._caption_lines = lines
        self._captions_hold_places = hold_places
        self._lay_out(None)

    def set_rings(self, rings: Rings | None) -> None:
        """Draw rings around the selected chips."""
        self._rings = rings
        self.viewport().update()

    def set_fresh(self, token_id: int | None) -> None:
        """Mark the chips of the token born at this step."""
        self._fresh_id = token_id
        self.viewport().update()

    def set_composed(self, text: str, line: int, position: int) -> None:
        """Show what an input method is composing as a pale chip; it is not a token yet.

        It stands at the caret: in this line, at this code point.
        """
        if text or self._composed:
            self._composed, self._composed_at = text, (line, position)
            self._lay_out(self._blocks.known())

    def rect_of(self, place: ChipPlace) -> QRectF | None:
        """Return the rectangle of a chip in viewport pixels, or None if there is no such chip."""
        rect = self._blocks.rect_of(place)
        if rect is None:
            return None
        return QRectF(
            rect[0] + MARGIN, rect[1] + MARGIN - self.verticalScrollBar().value(), rect[2], self._style.height
        )

    def content_height(self) -> int:
        """Return the height in pixels that all chips need at the current width."""
        height = self._blocks.height
        if self._composed:
            height = max(height, self.composed_rect().top() + self._spacing.row_height)
        return int(max(height - ROW_GAP, 0) + 2 * MARGIN + 1)

    def composed_rect(self) -> QRectF:
        """Return the rectangle of the composed text, in pixels from the corner of the first chip."""
        x, y, width = self._blocks.inserted_rect() or (0.0, 0.0, self._style.width(self._composed))
        return QRectF(x, y, width, float(self._style.height))

    # -- layout

    @property
    def row_height(self) -> int:
        """The height in pixels of a row of chips with their captions."""
        return int(self._spacing.row_height) + 1

    @property
    def _spacing(self) -> FlowSpacing:
        row = self._style.height + self._caption_lines * self._style.caption_height + ROW_GAP
        return FlowSpacing(_CHIP_GAP, _WORD_GAP, row)

    def _chip_widths(self, line: FlowLine) -> list[list[float]]:
        if not self._caption_lines:
            return [[self._style.width(piece.token) for piece in word.pieces] for word in line.words]
        return [[self._chip_width(line, piece) for piece in word.pieces] for word in line.words]

    def _chip_width(self, line: FlowLine, piece: FlowPiece) -> float:
        captions = self._captions(line, piece)
        width = self._widths.get((piece.token, captions))
        if width is None:
            if len(self._widths) > _MOST_WIDTHS:
                self._widths.clear()
            width = max(self._style.width(piece.token), *map(self._style.caption_width, captions))
            self._widths[piece.token, captions] = width
        return width

    def _lay_out(self, known: KnownBlocks | None) -> None:
        width = self.viewport().width() - 2 * MARGIN
        self._blocks = ChipBlocks(self._lines, width, self._spacing, self._chip_widths, known, self._inserted())
        self._hovered_boundary = None
        self._update_scroll_bar()
        self._settle_timer.start(_REST_MS)
        self.viewport().update()

    def _inserted(self) -> Inserted | None:
        line, position = self._composed_at
        if not self._composed or line >= len(self._lines):
            return None
        return Inserted(*place_at(self._lines[line], line, position), self._style.width(self._composed))

    def _on_settle_timer_timeout(self) -> None:
        """Lay out a little more; what is in view does not move."""
        if not self.isVisible():
            return
        bar = self.verticalScrollBar()
        first = self._blocks.line_at(bar.value())
        above = bar.value() - float(self._blocks.tops[first])
        if self._blocks.settle(_SETTLE_SECONDS):
            self._settle_timer.start(_SETTLE_MS)
        self._update_scroll_bar()
        if bar.value():
            bar.setValue(round(float(self._blocks.tops[first]) + above))

    def _update_scroll_bar(self) -> None:
        self.content_height_changed.emit(self.content_height())
        bar = self.verticalScrollBar()
        bar.setRange(0, max(self.content_height() - self.viewport().height(), 0))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(int(self._spacing.row_height / 2))

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
        self._widths.clear()
        self._lay_out(None)

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            offset = self.verticalScrollBar().value()
            height_before = self._blocks.height
            row_height = self._spacing.row_height
            for index, top, block in self._blocks.between(offset - MARGIN, offset + self.viewport().height()):
                line = self._lines[index]
                words = line.words
                for chip in block.chips:
                    y = top + chip.y - offset + MARGIN
                    if -row_height < y < self.viewport().height():
                        place = ChipPlace(index, chip.word, chip.chip)
                        rect = QRectF(chip.x + MARGIN, y, chip.width, self._style.height)
                        self._paint_chip(painter, place, line, words[chip.word], rect)
            if self._composed:
                rect = self.composed_rect().translated(MARGIN, MARGIN - offset)
                self._style.paint(painter, rect, self._composed, _COMPOSED)
        if self._blocks.height != height_before:
            self._update_scroll_bar()

    def _paint_chip(self, painter: QPainter, place: ChipPlace, line: FlowLine, word: FlowWord, rect: QRectF) -> None:
        piece = word.pieces[place.chip]
        look = ChipLook(
            unknown=word.unknown is not None,
            selected=self._rings is not None and place.chip in self._rings(word),
            current=place == self._current and self.hasFocus(),
            continues=place.chip > 0,
            fresh=self._fresh_id is not None and piece.id == self._fresh_id,
        )
        self._style.paint(painter, rect, piece.token, look)
        if self._caption_lines:
            self._style.paint_captions(painter, rect, self._captions(line, piece))
        if place == self._hovered_boundary:
            x = rect.right() + _CHIP_GAP / 2
            painter.setPen(QPen(self._theme.accent, 2))
            painter.drawLine(QPointF(x, rect.top() + 2), QPointF(x, rect.bottom() - 2))


class _NoLines:
    """A text without lines."""

    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return 0

    def __getitem__(self, index: int, /) -> FlowLine:
        raise IndexError(index)
