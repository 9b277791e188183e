"""The live text as chips, of which only those in view are painted.

A block of chips is a line of the text. Within it, chips flow in rows; words stay in one row where they fit. In a long
text, a block is laid out when it comes into view, and has an estimated height before. All lengths are in
device-independent pixels.

The chips report which chip, boundary or word was chosen; nothing here tokenizes or has access to a model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from wordpiece_studio.session.live_text import LiveLine, LiveText
from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
from wordpiece_studio.ui.widgets.chips import ChipArea, ChipLook, FlowSpacing, lay_out
from wordpiece_studio.ui.widgets.fields import is_alone
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.widgets.theme import Theme

_CHARACTERS_A_CHIP, _CHIP_WIDTH = 3.0, 44.0  # rough averages, for the heights of lines that are not laid out yet
_SHORT_TEXT = 5000  # a text of fewer characters is laid out at once, so that its scroll bar is exact


class PlacedChip(NamedTuple):
    """A chip and its place: index of the word, index of the chip within it; its height is that of its row."""

    word: int
    chip: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """The words of one line, and their chips in reading order."""

    words: Sequence[TokenizedWord]
    chips: list[PlacedChip]
    height: float


class ChipPlace(NamedTuple):
    """Identifies a chip: index of the line, of the word in the line, of the chip in the word."""

    line: int
    word: int
    chip: int


class ChipBlocks:
    """The blocks of some lines in a column; a block stays until the words or the width of its chips are others.

    `chip_widths` returns the widths of the chips of a line, one list per word.
    """

    def __init__(self, chip_widths: Callable[[LiveLine], list[list[float]]]) -> None:
        self._chip_widths = chip_widths
        self.lines = LiveText()
        self._keys: Sequence[object] = ()  # of the lines: their text, and what else the widths of their chips depend on
        self._known: dict[object, PlacedBlock] = {}
        self._heights: NDArray[np.float64] = np.zeros(0)
        self._tops: NDArray[np.float64] | None = None

    def lay_out(self, width: float, spacing: FlowSpacing, *, hold_places: bool = False) -> None:
        """Forget all blocks; lines must be set afterwards. `hold_places`: widths depend on where a line starts."""
        self._width, self._spacing, self._hold_places = width, spacing, hold_places
        self._known.clear()

    def set_lines(self, lines: LiveText) -> None:
        is_same = bool(self._known) and lines.texts is self.lines.texts
        self.lines = lines
        if not is_same:
            self._guess_heights()
        if len(lines.text) < _SHORT_TEXT:
            for index in range(len(lines)):
                self.block(index)

    def _guess_heights(self) -> None:
        """Guess the heights of the lines: of those laid out before it is known, although their words may be others."""
        lines = self.lines
        self._keys = list(zip(lines.texts, lines.starts, strict=True) if self._hold_places else lines.texts)
        self._known = {key: self._known[key] for key in self._keys if key in self._known}
        self._heights, self._tops = np.fromiter(map(self._height_of, self._keys, lines.texts), np.float64), None

    def _height_of(self, key: object, text: str) -> float:
        if key in self._known:
            return self._known[key].height
        chips = len(text) / _CHARACTERS_A_CHIP if len(text) > 1 else 0.0  # a single character is a line end
        rows = ceil(chips * (_CHIP_WIDTH + self._spacing.chip_gap) / max(self._width, 1.0))
        return rows * self._spacing.row_height

    @property
    def height(self) -> float:
        return float(self.tops[-1])

    @property
    def tops(self) -> NDArray[np.float64]:
        """The top edge of each block in pixels, and the bottom edge of the last one: shape (n_lines + 1,)."""
        if self._tops is None:
            self._tops = np.concatenate(([0.0], np.cumsum(self._heights)))
        return self._tops

    def block(self, index: int) -> PlacedBlock:
        line, key = self.lines[index], self._keys[index]
        block = self._known.get(key)
        if block is None or block.words is not line.words:
            block = self._known[key] = self._laid_out(line)
        if block.height != self._heights[index]:
            self._heights[index] = block.height
            self._tops = None
        return block

    def between(self, top: float, bottom: float) -> Iterator[tuple[int, float, PlacedBlock]]:
        index = max(min(int(np.searchsorted(self.tops, top, side="right")) - 1, len(self.lines) - 1), 0)
        y = float(self.tops[index])
        while index < len(self.lines) and y < bottom:
            block = self.block(index)
            yield index, y, block
            y += block.height
            index += 1

    def rect_of(self, place: ChipPlace) -> QRectF | None:
        chip = self._chip(place)
        return None if chip is None else QRectF(chip.x, float(self.tops[place.line]) + chip.y, chip.width, chip.height)

    def _chip(self, place: ChipPlace) -> PlacedChip | None:
        if not 0 <= place.line < len(self.lines):
            return None
        chips = self.block(place.line).chips
        return next((chip for chip in chips if (chip.word, chip.chip) == place[1:]), None)

    # -- moving through the chips

    def next_to(self, place: ChipPlace | None, direction: int) -> ChipPlace | None:
        """Return the chip after (1) or before (-1) a chip in reading order; with None, the first or the last one."""
        return next((there for there, _ in self._walk(place, direction)), None)

    def in_next_row(self, place: ChipPlace, direction: int) -> ChipPlace | None:
        """Return the chip below (1) or above (-1) a chip: the one in the adjacent row whose middle is nearest."""
        here = self._chip(place)
        if here is None:
            return None
        for row, chips in groupby(self._walk(place, direction), lambda each: (each[0].line, each[1].y)):
            if row != (place.line, here.y):
                return min((abs(chip.x + chip.width / 2 - here.x - here.width / 2), there) for there, chip in chips)[1]
        return None

    def _walk(self, place: ChipPlace | None, direction: int) -> Iterator[tuple[ChipPlace, PlacedChip]]:
        start = 0 if direction > 0 else len(self.lines) - 1
        line = start if place is None else place.line
        while 0 <= line < len(self.lines):
            for chip in self.block(line).chips[::direction]:
                there = ChipPlace(line, chip.word, chip.chip)
                if place is None or (there > place if direction > 0 else there < place):
                    yield there, chip
            line += direction

    # -- layout

    def _laid_out(self, line: LiveLine) -> PlacedBlock:
        widths = self._chip_widths(line)
        names = [(word, chip) for word, each in enumerate(widths) for chip in range(len(each))]
        spots = lay_out(widths, self._width, self._spacing)
        row, more = self._spacing.row_height, self._spacing.unknown_height
        unknown = {place for place, word in enumerate(line.words) if is_unknown(word)}
        higher = sorted({y for (word, _), (_, y, _) in zip(names, spots, strict=True) if word in unknown})
        chips = [
            PlacedChip(*name, x, y + more * bisect_left(higher, y), width, row + more * (name[0] in unknown))
            for name, (x, y, width) in zip(names, spots, strict=True)
        ]
        height = spots[-1][1] + row + more * len(higher) if spots else 0.0
        return PlacedBlock(line.words, chips, height)


def is_unknown(word: TokenizedWord) -> bool:
    return word.unknown is not None and word.word is not None


_MARGIN = 2.0
_ROW_GAP, _CHIP_GAP, _WORD_GAP = 9.0, 4.0, 15.0
_BOUNDARY_REACH = 4.0
_LONGEST_UNKNOWN = 16  # characters of an unknown word below its chip; its tooltip has all of it

Rings = Callable[[TokenizedWord], Container[int]]  # returns which chips of a word are selected
# Returns the lines of text under the chip of a piece in a line.
Captions = Callable[["LiveLine", Piece], tuple[str, ...]]


def kept_place(lines: LiveText, place: ChipPlace | None) -> ChipPlace | None:
    """Return the chip now at the cursor's place, or the last chip of that word, or None if the word is gone."""
    word = lines.word_at(*place[:2]) if place is not None else None
    if place is None or word is None or not word.pieces:
        return None
    return place._replace(chip=min(place.chip, len(word.pieces) - 1))


class LiveChips(ChipArea[ChipPlace]):
    """Chips in rows, with lines of small text below each, the last of which is the word where it is unknown.

    `chosen` is emitted with a :class:`ChipPlace` and whether the boundary at its end was clicked (bool), not the chip;
    with None after a click beside all chips or Escape. `captions` returns the lines under a chip, and is called again
    after :meth:`captions_changed`; `describe` returns what screen readers say about one.
    """

    # A :class:`ChipPlace` in the word that was double-clicked, or on which Shift+Enter was pressed.
    word_chosen = Signal(object)
    content_height_changed = Signal()  # `content_height` may have changed

    walking_chooses = True

    def __init__(
        self, theme: Theme, captions: Captions, describe: Callable[[ChipPlace], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._captions = captions
        self._describe = describe
        self._caption_lines = 0
        self._captions_hold_places = False
        self._blocks = ChipBlocks(self._chip_widths)
        self.rings: Rings | None = None
        self._fresh_id: int | None = None
        self._hovered_boundary: ChipPlace | None = None
        self.setObjectName("chips")
        self.setMinimumSize(80, 40)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()

    # -- contents

    @property
    def lines(self) -> LiveText:
        return self._blocks.lines

    def set_lines(self, lines: LiveText, fresh_id: int | None = None) -> None:
        """Show these lines, marking the chips of the token born at this step; the cursor stays in its word."""
        marked, before = {self._fresh_id, fresh_id}, self._in_view()
        self._fresh_id = fresh_id
        self._set_blocks(lines)
        seen = self._in_view()
        pieces = (piece for _, line in seen for word in line.words for piece in word.pieces)
        if seen != before or (len(marked) > 1 and any(piece.id in marked for piece in pieces)):
            self._hovered_boundary = None
            self.viewport().update()
        self.current = kept_place(lines, self.current)
        self._update_accessibility()

    def captions_changed(self, lines: int, hold_places: bool) -> None:
        """Update the captions, `lines` for each chip; `hold_places`: they depend on where their line starts."""
        self._caption_lines = lines
        self._captions_hold_places = hold_places
        self._lay_out()

    def set_rings(self, rings: Rings | None) -> None:
        self.rings = rings
        self.viewport().update()

    # -- layout

    @property
    def row_height(self) -> int:
        """The height in pixels of a row of chips with their captions, if no word in it is unknown."""
        return int(self._spacing.row_height) + 1

    @property
    def content_height(self) -> int:
        return self._content_size().height() + 2 * self.frameWidth()

    @property
    def _spacing(self) -> FlowSpacing:
        row = self._style.height + self._caption_lines * self._style.caption_height + _ROW_GAP
        return FlowSpacing(_CHIP_GAP, _WORD_GAP, row, self._style.caption_height)

    def _chip_widths(self, line: LiveLine) -> list[list[float]]:
        return [[self._chip_width(line, word, piece) for piece in word.pieces] for word in line.words]

    def _chip_width(self, line: LiveLine, word: TokenizedWord, piece: Piece) -> float:
        captions = self._captions_of(line, word, piece)
        return max([self._style.width(piece.token), *map(self._style.caption_width, captions)])

    def _captions_of(self, line: LiveLine, word: TokenizedWord, piece: Piece) -> tuple[str, ...]:
        captions = self._captions(line, piece)
        if word.word is None or not is_unknown(word):
            return captions
        return (*captions, token_text(word.word.text, _LONGEST_UNKNOWN))

    def _in_view(self) -> list[tuple[float, LiveLine]]:
        top = self.verticalScrollBar().value() - _MARGIN
        blocks = self._blocks.between(top, top + self.viewport().height())
        return [(y, self.lines[index]) for index, y, _block in blocks]

    def _lay_out(self) -> None:
        # The same with and without a scroll bar: unknown words side by side need less height than below each other, so
        # that a bar could make itself superfluous, again and again.
        width = self.contentsRect().width() - self.verticalScrollBar().sizeHint().width() - 2 * _MARGIN
        self._blocks.lay_out(width, self._spacing, hold_places=self._captions_hold_places)
        self._set_blocks(self.lines)
        self._hovered_boundary = None
        self.viewport().update()

    def _set_blocks(self, lines: LiveText) -> None:
        self._blocks.set_lines(lines)
        self._update_scroll_bars()

    def _content_size(self) -> QSize:
        return QSize(0, int(max(self._blocks.height - _ROW_GAP, 0) + 2 * _MARGIN + 1))

    def _update_scroll_bars(self) -> None:
        self.content_height_changed.emit()
        super()._update_scroll_bars()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def _content_rect(self, place: ChipPlace) -> QRectF | None:
        rect = self._blocks.rect_of(place)
        if rect is None:
            return None
        return QRectF(rect.x() + _MARGIN, rect.y() + _MARGIN, rect.width(), self._style.height)

    def _with_surroundings(self, rect: QRectF) -> QRectF:
        return QRectF(0, rect.top() - _MARGIN, 0, self._spacing.row_height + self._spacing.unknown_height + 2 * _MARGIN)

    # -- painting

    def _paint(self, painter: QPainter, seen: QRectF) -> None:
        offset = self.verticalScrollBar().value() - _MARGIN
        height_before = self._blocks.height
        row_height = self._spacing.row_height + self._spacing.unknown_height
        for index, top, block in self._blocks.between(seen.top() + offset, seen.bottom() + offset):
            line = self.lines[index]
            in_sight = (chip for chip in block.chips if seen.top() - row_height < top + chip.y - offset < seen.bottom())
            for (number, y), found in groupby(in_sight, key=lambda chip: (chip.word, chip.y)):
                chips, word = list(found), block.words[number]
                ringed = self.rings(word) if self.rings is not None else ()  # once: it looks at the whole word
                for chip in chips:
                    rect = QRectF(chip.x + _MARGIN, top + y - offset, chip.width, self._style.height)
                    place = ChipPlace(index, number, chip.chip)
                    self._paint_chip(painter, place, rect, word, is_ringed=chip.chip in ringed)
                    self._style.paint_captions(painter, rect, self._captions_of(line, word, word.pieces[chip.chip]))
        if self._blocks.height != height_before:
            self._update_scroll_bars()

    def _paint_chip(
        self, painter: QPainter, place: ChipPlace, rect: QRectF, word: TokenizedWord, *, is_ringed: bool
    ) -> None:
        piece = word.pieces[place.chip]
        look = ChipLook(
            unknown=isinstance(piece.token, UnknownToken),
            selected=is_ringed,
            current=place == self.current and self.hasFocus(),
            continues=place.chip > 0,
            fresh=self._fresh_id is not None and piece.id == self._fresh_id,
        )
        self._style.paint(painter, rect, piece.token, look)
        if place == self._hovered_boundary:
            x = rect.right() + _CHIP_GAP / 2
            painter.setPen(QPen(self._theme.accent, 2))
            painter.drawLine(QPointF(x, rect.top() + 2), QPointF(x, rect.bottom() - 2))

    # -- user input

    def _place_at(self, point: QPointF) -> ChipPlace | None:
        x, y = point.x() - _MARGIN, point.y() - _MARGIN
        for index, top, block in self._blocks.between(y, y + 1):
            for chip in block.chips:
                is_in_row = chip.y <= y - top < chip.y + chip.height - _ROW_GAP + 2
                if is_in_row and chip.x <= x < chip.x + chip.width:
                    return ChipPlace(index, chip.word, chip.chip)
        return None

    def boundary_at(self, point: QPointF) -> ChipPlace | None:
        """Return the chip that ends at a boundary within a word at a point of the viewport, or None."""
        left = self.chip_at(point - QPointF(_BOUNDARY_REACH, 0))
        right = self.chip_at(point + QPointF(_BOUNDARY_REACH, 0))
        if left is None or right is None or left == right:
            return None
        return left if (left.line, left.word) == (right.line, right.word) else None

    def _place_for(self, key: Qt.Key) -> ChipPlace | None:
        here, blocks = self.current, self._blocks
        if key == Qt.Key.Key_End:
            return blocks.next_to(None, -1)
        if here is None or key == Qt.Key.Key_Home:
            return blocks.next_to(None, 1)
        direction = 1 if key in (Qt.Key.Key_Right, Qt.Key.Key_Down) else -1
        is_across = key in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        return (blocks.next_to if is_across else blocks.in_next_row)(here, direction) or here

    def _target(self, place: ChipPlace) -> tuple[ChipPlace, bool]:
        return place, False

    def _said(self, place: ChipPlace) -> str:
        return self._describe(place)

    def _said_of_all(self) -> str:
        return self._describe(self.current) if self.current is not None else ""

    def _tip(self, place: ChipPlace) -> str:
        hint = self.tr(
            "Click to select the token. Double-click to select the whole word. Click a gap to see why the text is "
            "split there."
        )
        return f"{self._describe(place)}\n{hint}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        boundary = self.boundary_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        elif boundary is not None:
            self.set_current(boundary)
            self.chosen.emit((boundary, True))
        elif self.chip_at(event.position()) is None:
            self.choose_none()
        else:
            super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        chip = self.chip_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and chip is not None:
            self.word_chosen.emit(chip)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        boundary = self.boundary_at(event.position())
        if boundary != self._hovered_boundary:
            self._hovered_boundary = boundary
            self.viewport().update()
        if boundary is not None:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() == Qt.KeyboardModifier.ShiftModifier and self.current is not None:
            self.word_chosen.emit(self.current)
        elif event.key() == Qt.Key.Key_Escape and is_alone(event) and self.current is not None:
            self.choose_none()
        else:
            super().keyPressEvent(event)

    def choose_none(self) -> None:
        self.set_current(None)
        self.chosen.emit(None)
