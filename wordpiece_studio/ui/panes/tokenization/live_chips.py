"""The live text as chips, which may be thousands of lines long: only what is in view is laid out and painted.

A block of chips is a line of the text, laid out when it comes into view. Within it, chips flow in rows; words stay in
one row where they fit. Blocks not laid out yet have an estimated height. All lengths are in device-independent pixels.

The chips report which chip, boundary or word was chosen; nothing here tokenizes or has access to a model.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from wordpiece_studio.session.live_text import LiveText
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
from wordpiece_studio.ui.widgets.chips import ChipArea, ChipLook, FlowSpacing, lay_out
from wordpiece_studio.ui.widgets.fields import is_alone
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.live_text import LiveLine
    from wordpiece_studio.ui.widgets.theme import Theme

_CHARACTERS_A_CHIP, _CHIP_WIDTH = 3.0, 44.0
"""Rough averages, for the heights of lines that are not laid out yet."""
_SHORT_TEXT, _CHIPS_AT_ONCE = 5000, 150
"""In a text of fewer characters, this many chips are laid out at once, so that a short text never moves by itself."""
_CHIPS_LATER = 3000
"""This many are laid out bit by bit, so that the scroll bar of an ordinary text comes to rest."""
_WORDS_COMPARED = 600
_EXTRA = (-1, -1)
"""In place of the word and the chip of an extra chip."""


class PlacedChip(NamedTuple):
    """A chip and its place: index of the word, index of the chip within it, left edge, top edge, width."""

    word: int
    chip: int
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """The chips of one block in reading order, its height, and any extra chip that is not part of the text."""

    chips: list[PlacedChip]
    height: float
    extra: PlacedChip | None = None


class ChipPlace(NamedTuple):
    """Identifies a chip: index of the line, of the word in the line, of the chip in the word."""

    line: int
    word: int
    chip: int


class Inserted(NamedTuple):
    """A chip that is not part of the text: it stands before `place`, within its word or as a separate word."""

    place: ChipPlace
    is_in_word: bool
    width: float


ChipWidths = Callable[["LiveLine"], list[list[float]]]
"""Returns the widths of the chips of a line, one list per word."""
KnownBlocks = dict[str, "tuple[Sequence[TokenizedWord], PlacedBlock]"]
"""By the text of a line: its words and their layout."""


class ChipBlocks:
    """The blocks of some lines in a column of a given width.

    Parameters
    ----------
    known
        Blocks already laid out with the same width and spacing: typing changes one line, and the others keep their
        chips. If the words have changed meanwhile, the old height is still the best guess.
    inserted
        An extra chip, or None.
    """

    def __init__(
        self,
        lines: LiveText,
        width: float,
        spacing: FlowSpacing,
        chip_widths: ChipWidths,
        known: KnownBlocks | None = None,
        inserted: Inserted | None = None,
    ) -> None:
        self._lines = lines
        self._width = width
        self._spacing = spacing
        self._chip_widths = chip_widths
        self._inserted = inserted
        self._known = known or {}
        self._blocks: dict[int, PlacedBlock] = {}
        self._words: dict[int, Sequence[TokenizedWord]] = {}
        texts = lines.texts
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        chips = np.where(lengths > 1, lengths / _CHARACTERS_A_CHIP, 0.0)  # a single character is a line end
        self._heights = np.ceil(chips * (_CHIP_WIDTH + spacing.chip_gap) / max(width, 1.0)) * spacing.row_height
        if self._known:
            guesses = [(index, self._known[text][1].height) for index, text in enumerate(texts) if text in self._known]
            for index, height in guesses:
                self._heights[index] = height
        self._tops: NDArray[np.float64] | None = None
        self._next = self.chips = 0  # the line to lay out next, and the chips laid out before it
        is_short = int(lengths.sum()) < _SHORT_TEXT
        while is_short and self._next < len(lines) and self.chips < _CHIPS_AT_ONCE:
            self._lay_out_next()

    @property
    def height(self) -> float:
        return float(self.tops[-1])

    @property
    def tops(self) -> NDArray[np.float64]:
        """The top edge of each block in pixels, and the bottom edge of the last one: shape (n_lines + 1,)."""
        if self._tops is None:
            self._tops = np.concatenate(([0.0], np.cumsum(self._heights)))
        return self._tops

    def known(self) -> KnownBlocks:
        texts = self._lines.texts
        skipped = self._inserted.place.line if self._inserted is not None else -1
        return {texts[at]: (self._words[at], block) for at, block in self._blocks.items() if at != skipped}

    def take_same(self, lines: LiveText) -> bool:
        """Take lines of the same text if all words laid out so far are the very same; return whether they are.

        If many are laid out, looking at them all would take longer than laying out those in view.
        """
        is_quick = lines.texts is self._lines.texts and sum(map(len, self._words.values())) <= _WORDS_COMPARED
        is_same = is_quick and all(lines[index].words is words for index, words in self._words.items())
        if is_same:
            self._lines = lines
        return is_same

    def has_token(self, token_ids: Collection[int | None]) -> bool:
        laid_out = (word for words in self._words.values() for word in words)
        return any(piece.id in token_ids for word in laid_out for piece in word.pieces)

    @property
    def is_settled(self) -> bool:
        return self._next >= len(self._lines) or self.chips >= _CHIPS_LATER

    def settle(self, seconds: float) -> None:
        """Lay out more of the first blocks for about this long."""
        end = time.perf_counter() + seconds
        while not self.is_settled and time.perf_counter() <= end:
            self._lay_out_next()

    def block(self, index: int) -> PlacedBlock:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = self._laid_out(index)
            if block.height != self._heights[index]:
                self._heights[index] = block.height
                self._tops = None
        return block

    def line_at(self, y: float) -> int:
        """Return the index of the line at a height; beyond the ends, the nearest one."""
        return max(min(int(np.searchsorted(self.tops, y, side="right")) - 1, len(self._lines) - 1), 0)

    def between(self, top: float, bottom: float) -> Iterator[tuple[int, float, PlacedBlock]]:
        """Yield the index, top edge and chips of each block visible between two heights."""
        if not len(self._lines):
            return
        index = self.line_at(top)
        y = float(self.tops[index])
        while index < len(self._lines) and y < bottom:
            block = self.block(index)
            yield index, y, block
            y += block.height
            index += 1

    def rect_of(self, place: ChipPlace) -> QRectF | None:
        chip = self._chip(place)
        if chip is None:
            return None
        rect = self._rect(place.line, chip)
        if is_unknown(self._lines[place.line].words[place.word]):
            rect.setHeight(rect.height() + self._spacing.unknown_height)
        return rect

    def height_of_rows(self, count: int) -> float:
        for _index, top, block in self.between(0, inf):
            for y, _row in groupby(block.chips, lambda chip: chip.y):
                if not count:
                    return float(top + y)
                count -= 1
        return self.height

    def inserted_rect(self) -> QRectF | None:
        if self._inserted is None or not len(self._lines):
            return None
        line = self._inserted.place.line
        extra = self.block(line).extra
        return self._rect(line, extra) if extra is not None else None

    def _rect(self, line: int, chip: PlacedChip) -> QRectF:
        return QRectF(chip.x, float(self.tops[line]) + chip.y, chip.width, self._spacing.row_height)

    def _chip(self, place: ChipPlace) -> PlacedChip | None:
        if not 0 <= place.line < len(self._lines):
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
        start = 0 if direction > 0 else len(self._lines) - 1
        line = start if place is None else place.line
        while 0 <= line < len(self._lines):
            for chip in self.block(line).chips[::direction]:
                there = ChipPlace(line, chip.word, chip.chip)
                if place is None or (there > place if direction > 0 else there < place):
                    yield there, chip
            line += direction

    # -- layout

    def _lay_out_next(self) -> None:
        self.chips += len(self.block(self._next).chips)
        self._next += 1

    def _laid_out(self, index: int) -> PlacedBlock:
        line = self._lines[index]
        words = self._words[index] = line.words
        inserted = self._inserted if self._inserted is not None and self._inserted.place.line == index else None
        known = self._known.get(line.text) if inserted is None else None
        if known is not None and known[0] is words:
            return known[1]
        widths = self._chip_widths(line)
        names = [(word, chip) for word, each in enumerate(widths) for chip in range(len(each))]
        if inserted is not None:
            names.insert(_insert(inserted, widths), _EXTRA)
        spots = lay_out(widths, self._width, self._spacing)
        chips = [PlacedChip(*name, *spot) for name, spot in zip(names, spots, strict=True)]
        height = chips[-1].y + self._spacing.row_height if chips else 0.0
        unknown = {place for place, word in enumerate(words) if is_unknown(word)}
        if unknown and self._spacing.unknown_height:
            higher = sorted({chip.y for chip in chips if chip.word in unknown})
            more = self._spacing.unknown_height
            chips = [chip._replace(y=chip.y + more * bisect_left(higher, chip.y)) for chip in chips]
            height += more * len(higher)
        extra = chips.pop(names.index(_EXTRA)) if inserted is not None else None
        return PlacedBlock(chips, height, extra)


def is_unknown(word: TokenizedWord) -> bool:
    return word.unknown is not None and word.word is not None


def _insert(inserted: Inserted, widths: list[list[float]]) -> int:
    """Add the width of an extra chip to those of its line; return the number of chips before it."""
    _, word, chip = inserted.place
    before = sum(map(len, widths[:word])) + chip
    if inserted.is_in_word:
        widths[word].insert(chip, inserted.width)
    else:
        widths.insert(word, [inserted.width])
    return before


def place_at(line: LiveLine, index: int, position: int) -> tuple[ChipPlace, bool]:
    """Return the place before which a caret stands (in code points from the line start), and whether in a word."""
    for word_index, word in enumerate(line.words):
        if not word.pieces or position > word.pieces[-1].end:
            continue
        if position < word.pieces[0].start:
            return ChipPlace(index, word_index, 0), False
        chip = bisect_right([piece.end for piece in word.pieces], position)
        is_inside = chip < len(word.pieces) and word.pieces[chip].start < position
        return ChipPlace(index, word_index, chip + is_inside), True
    return ChipPlace(index, len(line.words), 0), False


_MARGIN = 2.0
_ROW_GAP, _CHIP_GAP, _WORD_GAP = 9.0, 4.0, 15.0
_BOUNDARY_REACH = 4.0
_REST_MS, _SETTLE_MS, _SETTLE_SECONDS = 60, 8, 0.004
"""What is out of view is laid out in slices once nothing has changed for a while, not at each step of a drag."""
_MOST_WIDTHS = 100_000  # offsets in a long text never repeat
_LONGEST_UNKNOWN = 16
"""Characters of an unknown word below its chip; its tooltip has all of it."""
_COMPOSED = ChipLook(faded=True)

Rings = Callable[[TokenizedWord], Container[int]]
"""Returns which chips of a word are selected."""
Captions = Callable[["LiveLine", Piece], tuple[str, ...]]
"""Returns the lines of text under the chip of a piece in a line."""


def kept_place(lines: LiveText, place: ChipPlace | None) -> ChipPlace | None:
    """Return the chip now at the cursor's place, or the last chip of that word, or None if the word is gone."""
    word = lines.word_at(*place[:2]) if place is not None else None
    if place is None or word is None or not word.pieces:
        return None
    return place._replace(chip=min(place.chip, len(word.pieces) - 1))


class LiveChips(ChipArea[ChipPlace]):
    """Chips in rows, with lines of small text below each, the last of which is the word where it is unknown.

    `chosen` is emitted with a :class:`ChipPlace` and whether the boundary at its end was clicked (bool), not the chip;
    with None after a click beside all chips or Escape.

    Parameters
    ----------
    captions
        Returns the lines of text under a chip; it is called again after :meth:`captions_changed`.
    describe
        Returns the text about a chip for screen readers.
    """

    word_chosen = Signal(object)
    """A :class:`ChipPlace` in the word that was double-clicked, or on which Shift+Enter was pressed."""
    content_height_changed = Signal(object)
    """The height in pixels (int) that all chips need at the current width."""

    walking_chooses = True

    def __init__(
        self, theme: Theme, captions: Captions, describe: Callable[[ChipPlace], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._captions = captions
        self._describe = describe
        self._caption_lines = 0
        self._captions_hold_places = False
        self._widths: dict[tuple[str, tuple[str, ...]], float] = {}
        self.lines = LiveText()
        self._blocks = ChipBlocks(self.lines, 1, self._spacing, self._chip_widths)
        self._composed, self._composed_at = "", (0, 0)
        self.rings: Rings | None = None
        self.framed: frozenset[tuple[int, int]] = frozenset()
        self._fresh_id: int | None = None
        self._hovered_boundary: ChipPlace | None = None
        self._settle_timer = single_shot(self, self._on_settle_timer_timeout)
        self.setObjectName("chips")
        self.setMinimumSize(80, 40)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    # -- contents

    def set_lines(self, lines: LiveText) -> None:
        """Show these lines; unchanged ones keep their layout, and the cursor stays in its word."""
        self.lines = lines
        if self._composed or not self._blocks.take_same(lines):
            self._lay_out_from(None if self._captions_hold_places else self._blocks.known())
        self._current = kept_place(lines, self._current)
        self._update_accessibility()

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
        self._lay_out_from(None)

    def set_rings(self, rings: Rings | None) -> None:
        self.rings = rings
        self.viewport().update()

    def set_framed(self, words: frozenset[tuple[int, int]]) -> None:
        """Draw a frame around these words, each given by its line and its place there."""
        if words != self.framed:
            self.framed = words
            self.viewport().update()

    def set_fresh(self, token_id: int | None) -> None:
        """Mark the chips of the token born at this step."""
        before, self._fresh_id = self._fresh_id, token_id
        if before != token_id and self._blocks.has_token((before, token_id)):
            self.viewport().update()

    def set_composed(self, text: str, line: int, position: int) -> None:
        """Show what an input method is composing as a pale chip; it is not a token yet.

        It stands at the caret: in this line, at this code point.
        """
        if text or self._composed:
            self._composed, self._composed_at = text, (line, position)
            self._lay_out_from(self._blocks.known())

    def composed_rect(self) -> QRectF:
        """Return the rectangle of the composed text, in pixels from the corner of the first chip."""
        rect = self._blocks.inserted_rect() or QRectF(0, 0, self._style.width(self._composed), 0)
        rect.setHeight(self._style.height)
        return rect

    # -- layout

    @property
    def row_height(self) -> int:
        """The height in pixels of a row of chips with their captions, if no word in it is unknown."""
        return int(self._spacing.row_height) + 1

    def height_of_rows(self, count: int) -> int:
        return int(self._blocks.height_of_rows(count)) + 1

    @property
    def _spacing(self) -> FlowSpacing:
        row = self._style.height + self._caption_lines * self._style.caption_height + _ROW_GAP
        return FlowSpacing(_CHIP_GAP, _WORD_GAP, row, self._style.caption_height)

    def _chip_widths(self, line: LiveLine) -> list[list[float]]:
        return [
            [self._chip_width(line, word, piece) for piece in word.pieces]
            if self._caption_lines or is_unknown(word)
            else [self._style.width(piece.token) for piece in word.pieces]
            for word in line.words
        ]

    def _captions_of(self, line: LiveLine, word: TokenizedWord, piece: Piece) -> tuple[str, ...]:
        captions = self._captions(line, piece)
        if word.word is None or not is_unknown(word):
            return captions
        return (*captions, token_text(word.word.text, _LONGEST_UNKNOWN))

    def _chip_width(self, line: LiveLine, word: TokenizedWord, piece: Piece) -> float:
        captions = self._captions_of(line, word, piece)
        width = self._widths.get((piece.token, captions))
        if width is None:
            if len(self._widths) > _MOST_WIDTHS:
                self._widths.clear()
            width = max(self._style.width(piece.token), *map(self._style.caption_width, captions))
            self._widths[piece.token, captions] = width
        return width

    def _lay_out(self) -> None:
        self._widths.clear()
        self._lay_out_from(None)

    def _lay_out_from(self, known: KnownBlocks | None) -> None:
        # The same with and without a scroll bar: unknown words side by side need less height than below each other, so
        # that a bar could make itself superfluous, again and again.
        width = self.contentsRect().width() - self.verticalScrollBar().sizeHint().width() - 2 * _MARGIN
        self._blocks = ChipBlocks(self.lines, width, self._spacing, self._chip_widths, known, self._inserted())
        self._hovered_boundary = None
        self._update_scroll_bars()
        if not self._blocks.is_settled:
            self._settle_timer.start(_REST_MS)
        self.viewport().update()

    def _inserted(self) -> Inserted | None:
        line, position = self._composed_at
        if not self._composed or line >= len(self.lines):
            return None
        return Inserted(*place_at(self.lines[line], line, position), self._style.width(self._composed))

    def _on_settle_timer_timeout(self) -> None:
        """Lay out a little more; what is in view does not move."""
        if not self.isVisible():
            return
        bar = self.verticalScrollBar()
        first = self._blocks.line_at(bar.value())
        above = bar.value() - float(self._blocks.tops[first])
        self._blocks.settle(_SETTLE_SECONDS)
        if not self._blocks.is_settled:
            self._settle_timer.start(_SETTLE_MS)
        self._update_scroll_bars()
        if bar.value():
            bar.setValue(round(float(self._blocks.tops[first]) + above))

    def _content_size(self) -> QSize:
        height = self._blocks.height
        if self._composed:
            height = max(height, self.composed_rect().top() + self._spacing.row_height)
        return QSize(0, int(max(height - _ROW_GAP, 0) + 2 * _MARGIN + 1))

    def _update_scroll_bars(self) -> None:
        self.content_height_changed.emit(self._content_size().height())
        super()._update_scroll_bars()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        same_width = event.size().width() == event.oldSize().width()
        self._lay_out_from(self._blocks.known() if same_width else None)

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
            words = line.words
            in_sight = (chip for chip in block.chips if seen.top() - row_height < top + chip.y - offset < seen.bottom())
            for number, chips in groupby(in_sight, key=lambda chip: chip.word):
                word = words[number]
                ringed = self.rings(word) if self.rings is not None else ()  # once: it looks at the whole word
                for chip in chips:
                    rect = QRectF(chip.x + _MARGIN, top + chip.y - offset, chip.width, self._style.height)
                    is_ringed = chip.chip in ringed
                    self._paint_chip(painter, ChipPlace(index, number, chip.chip), line, word, rect, is_ringed)
            if self.framed:
                self._paint_frames(painter, index, top - offset, block)
        if self._composed:
            self._style.paint(painter, self.composed_rect().translated(_MARGIN, -offset), self._composed, _COMPOSED)
        if self._blocks.height != height_before:
            self._update_scroll_bars()

    def _paint_frames(self, painter: QPainter, line: int, top: float, block: PlacedBlock) -> None:
        painter.setPen(QPen(self._theme.bookmark, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for (word, y), found in groupby(block.chips, key=lambda chip: (chip.word, chip.y)):
            if (line, word) in self.framed:
                chips = list(found)
                rect = QRectF(chips[0].x + _MARGIN, top + y, chips[-1].x + chips[-1].width - chips[0].x, 0)
                rect.setHeight(self._style.height)
                painter.drawRoundedRect(rect.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5)

    def _paint_chip(
        self, painter: QPainter, place: ChipPlace, line: LiveLine, word: TokenizedWord, rect: QRectF, is_ringed: bool
    ) -> None:
        piece = word.pieces[place.chip]
        look = ChipLook(
            unknown=isinstance(piece.token, UnknownToken),
            selected=is_ringed,
            current=place == self._current and self.hasFocus(),
            continues=place.chip > 0,
            fresh=self._fresh_id is not None and piece.id == self._fresh_id,
        )
        self._style.paint(painter, rect, piece.token, look)
        if self._caption_lines or is_unknown(word):
            self._style.paint_captions(painter, rect, self._captions_of(line, word, piece))
        if place == self._hovered_boundary:
            x = rect.right() + _CHIP_GAP / 2
            painter.setPen(QPen(self._theme.accent, 2))
            painter.drawLine(QPointF(x, rect.top() + 2), QPointF(x, rect.bottom() - 2))

    # -- user input

    def _place_at(self, point: QPointF) -> ChipPlace | None:
        x, y = point.x() - _MARGIN, point.y() - _MARGIN
        for index, _top, block in self._blocks.between(y, y + 1):
            for chip in block.chips:
                place = ChipPlace(index, chip.word, chip.chip)
                if chip.x <= x < chip.x + chip.width and (rect := self._blocks.rect_of(place)) is not None:
                    if rect.top() <= y < rect.bottom() - _ROW_GAP + 2:
                        return place
        return None

    def boundary_at(self, point: QPointF) -> ChipPlace | None:
        """Return the chip that ends at a boundary within a word at a point of the viewport, or None."""
        left = self.chip_at(point - QPointF(_BOUNDARY_REACH, 0))
        right = self.chip_at(point + QPointF(_BOUNDARY_REACH, 0))
        if left is None or right is None or left == right:
            return None
        return left if (left.line, left.word) == (right.line, right.word) else None

    def _place_for(self, key: Qt.Key) -> ChipPlace | None:
        here, blocks = self._current, self._blocks
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
        return self._describe(self._current) if self._current is not None else ""

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
        if is_enter and event.modifiers() == Qt.KeyboardModifier.ShiftModifier and self._current is not None:
            self.word_chosen.emit(self._current)
        elif event.key() == Qt.Key.Key_Escape and is_alone(event) and self._current is not None:
            self.choose_none()
        else:
            super().keyPressEvent(event)

    def choose_none(self) -> None:
        self.set_current(None)
        self.chosen.emit(None)
