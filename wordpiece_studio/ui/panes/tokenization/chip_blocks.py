"""The geometry of a long text of chips: one block per line of text, laid out only when it comes into view.

Within a block, chips flow in rows; words stay in one row where they fit. Blocks not laid out yet have an estimated
height. Nothing here paints or scrolls; it works with widths, not fonts. All lengths are in device-independent pixels.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QRectF

from wordpiece_studio.ui.widgets.chip_area import FlowSpacing, lay_out

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.live_text import LiveLine, LiveLines
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord

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
        lines: LiveLines,
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
        self._next = self._chips = 0  # the line to lay out next, and the chips laid out before it
        is_short = int(lengths.sum()) < _SHORT_TEXT
        while is_short and self._next < len(lines) and self._chips < _CHIPS_AT_ONCE:
            self._lay_out_next()

    @property
    def height(self) -> float:
        """The height of all blocks in pixels, estimated for those not laid out yet."""
        return float(self.tops[-1])

    @property
    def tops(self) -> NDArray[np.float64]:
        """The top edge of each block in pixels, and the bottom edge of the last one: shape (n_lines + 1,)."""
        if self._tops is None:
            self._tops = np.concatenate(([0.0], np.cumsum(self._heights)))
        return self._tops

    def known(self) -> KnownBlocks:
        """Return the blocks laid out so far, by the text of their line."""
        texts = self._lines.texts
        skipped = self._inserted.place.line if self._inserted is not None else -1
        return {texts[at]: (self._words[at], block) for at, block in self._blocks.items() if at != skipped}

    def take_same(self, lines: LiveLines) -> bool:
        """Take lines of the same text if all words laid out so far are the very same; return whether they are.

        If many are laid out, looking at them all would take longer than laying out those in view.
        """
        is_quick = lines.texts is self._lines.texts and sum(map(len, self._words.values())) <= _WORDS_COMPARED
        is_same = is_quick and all(lines[index].words is words for index, words in self._words.items())
        if is_same:
            self._lines = lines
        return is_same

    def has_token(self, token_ids: Collection[int | None]) -> bool:
        """Return whether one of these tokens is among the words laid out so far."""
        laid_out = (word for words in self._words.values() for word in words)
        return any(piece.id in token_ids for word in laid_out for piece in word.pieces)

    @property
    def is_settled(self) -> bool:
        """Whether all of the first blocks are laid out."""
        return self._next >= len(self._lines) or self._chips >= _CHIPS_LATER

    def settle(self, seconds: float) -> None:
        """Lay out more of the first blocks for about this long."""
        end = time.perf_counter() + seconds
        while not self.is_settled and time.perf_counter() <= end:
            self._lay_out_next()

    def block(self, index: int) -> PlacedBlock:
        """Return the chips of a line, laid out now if not before; positions below may change."""
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
        """Return the rectangle of a chip with its captions, or None if there is no such chip."""
        chip = self._chip(place)
        if chip is None:
            return None
        rect = self._rect(place.line, chip)
        if is_unknown(self._lines[place.line].words[place.word]):
            rect.setHeight(rect.height() + self._spacing.unknown_height)
        return rect

    def height_of_rows(self, count: int) -> float:
        """Return the height of the first `count` rows in pixels, or of all if there are fewer."""
        for _index, top, block in self.between(0, inf):
            for y, _row in groupby(block.chips, lambda chip: chip.y):
                if not count:
                    return float(top + y)
                count -= 1
        return self.height

    def inserted_rect(self) -> QRectF | None:
        """Return the rectangle of the extra chip, or None if there is none."""
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
        self._chips += len(self.block(self._next).chips)
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
    """Return whether this is a word of the text that became the unknown token."""
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
