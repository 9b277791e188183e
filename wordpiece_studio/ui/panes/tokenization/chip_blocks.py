"""The geometry of a long text of chips: one block per line of text, laid out only when it comes into view.

Within a block, chips flow in rows; words stay in one row where they fit. Blocks not laid out yet have an estimated
height. Nothing here paints or scrolls; it works with widths, not fonts. All lengths are in device-independent pixels.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_CHARACTERS_A_CHIP, _CHIP_WIDTH = 3.0, 44.0
"""Rough averages."""
_SHORT_TEXT, _CHIPS_AT_ONCE = 5000, 150
"""In a text of fewer characters, this many chips are laid out at once, so that a short text never moves by itself."""
_CHIPS_LATER = 3000
"""This many are laid out bit by bit, so that the scroll bar of an ordinary text comes to rest."""


@dataclass(frozen=True, slots=True)
class FlowSpacing:
    """Distances: between chips of a word, between words, and from the top of one row to the next."""

    chip_gap: float
    word_gap: float
    row_height: float


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


def lay_out(words: Sequence[Sequence[float]], width: float, spacing: FlowSpacing) -> PlacedBlock:
    """Arrange the chips of the words in rows of the given width.

    A word that does not fit into the rest of a row starts the next one; a word wider than a row is broken between
    chips; a chip wider than a row is clipped when painted.

    >>> lay_out([[10, 10], [30]], 40, FlowSpacing(2, 5, 20)).height
    40.0
    """
    placed: list[PlacedChip] = []
    x = y = 0.0
    for word_index, widths in enumerate(words):
        whole = sum(widths) + spacing.chip_gap * max(len(widths) - 1, 0)
        if x and x + whole > width:
            x, y = 0.0, y + spacing.row_height
        for chip_index, chip_width in enumerate(widths):
            if x and x + chip_width > width:
                x, y = 0.0, y + spacing.row_height
            placed.append(PlacedChip(word_index, chip_index, x, y, chip_width))
            x += chip_width + spacing.chip_gap
        x += spacing.word_gap - spacing.chip_gap
    return PlacedBlock(placed, y + spacing.row_height if placed else 0.0)


def estimated_heights(lengths: NDArray[np.int64], width: float, spacing: FlowSpacing) -> NDArray[np.float64]:
    """Return the estimated block heights of lines of these lengths in characters, for the scroll bar before layout.

    Both arrays have shape (n_lines,). A line of one character is assumed to be only a line end.
    """
    chips = np.where(lengths > 1, lengths / _CHARACTERS_A_CHIP, 0.0)
    return np.ceil(chips * (_CHIP_WIDTH + spacing.chip_gap) / max(width, 1.0)) * spacing.row_height


class FlowPiece(Protocol):
    """One token of a word, at ``start`` … ``end`` (code points from the start of its line)."""

    @property
    def token(self) -> str: ...
    @property
    def id(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class FlowWord(Protocol):
    """One word as tokens; ``unknown`` is the reason if it is out of the vocabulary, else None."""

    @property
    def pieces(self) -> Sequence[FlowPiece]: ...
    @property
    def unknown(self) -> object | None: ...


class FlowLine(Protocol):
    """One line of the text, its start (code points), and its words, which may be made on request."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def words(self) -> Sequence[FlowWord]: ...


class FlowLines(Protocol):
    """The lines of a text; reading their texts makes no words."""

    @property
    def texts(self) -> Sequence[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> FlowLine: ...


class ChipPlace(NamedTuple):
    """Identifies a chip: index of the line, of the word in the line, of the chip in the word."""

    line: int
    word: int
    chip: int


class ChipWidths(Protocol):
    """Returns the widths of the chips of a line, one list per word."""

    def __call__(self, line: FlowLine, /) -> list[list[float]]: ...


class Inserted(NamedTuple):
    """A chip that is not part of the text: it stands before `place`, within its word or as a separate word."""

    place: ChipPlace
    is_in_word: bool
    width: float


KnownBlocks = dict[str, "tuple[Sequence[FlowWord], PlacedBlock]"]
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
        lines: FlowLines,
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
        self._words: dict[int, Sequence[FlowWord]] = {}
        texts = lines.texts
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self._heights = estimated_heights(lengths, width, spacing)
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

    def settle(self, seconds: float) -> bool:
        """Lay out more of the first blocks for about this long; return whether there is more to do."""
        end = time.perf_counter() + seconds
        while self._next < len(self._lines) and self._chips < _CHIPS_LATER:
            self._lay_out_next()
            if time.perf_counter() > end:
                return True
        return False

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

    def rect_of(self, place: ChipPlace) -> tuple[float, float, float] | None:
        """Return left edge, top edge and width of a chip in pixels, or None if there is no such chip."""
        if not 0 <= place.line < len(self._lines):
            return None
        for chip in self.block(place.line).chips:
            if (chip.word, chip.chip) == (place.word, place.chip):
                return chip.x, float(self.tops[place.line]) + chip.y, chip.width
        return None

    def inserted_rect(self) -> tuple[float, float, float] | None:
        """Return the place of the extra chip, in the form of `rect_of`."""
        if self._inserted is None or not len(self._lines):
            return None
        extra = self.block(self._inserted.place.line).extra
        top = float(self.tops[self._inserted.place.line])
        return (extra.x, top + extra.y, extra.width) if extra is not None else None

    def _lay_out_next(self) -> None:
        self._chips += len(self.block(self._next).chips)
        self._next += 1

    def _laid_out(self, index: int) -> PlacedBlock:
        line = self._lines[index]
        words = self._words[index] = line.words
        has_inserted = self._inserted is not None and self._inserted.place.line == index
        known = self._known.get(line.text) if self._known and not has_inserted else None
        if known is not None and known[0] is words:
            return known[1]
        widths = self._chip_widths(line)
        if self._inserted is not None and has_inserted:
            return _with_inserted(widths, self._inserted, self._width, self._spacing)
        return lay_out(widths, self._width, self._spacing)


def _with_inserted(widths: list[list[float]], inserted: Inserted, width: float, spacing: FlowSpacing) -> PlacedBlock:
    """Lay out a line with an extra chip, which counts neither as a word nor as a chip of a word."""
    _, word, chip = inserted.place
    widths = [list(each) for each in widths]
    if inserted.is_in_word:
        widths[word].insert(chip, inserted.width)
    else:
        widths.insert(word, [inserted.width])
        chip = 0
    placed = lay_out(widths, width, spacing)
    chips, extra = [], None
    for each in placed.chips:
        if (each.word, each.chip) == (word, chip):
            extra = each
        elif inserted.is_in_word:
            is_later = each.word == word and each.chip > chip
            chips.append(each._replace(chip=each.chip - 1) if is_later else each)
        else:
            chips.append(each._replace(word=each.word - 1) if each.word > word else each)
    return PlacedBlock(chips, placed.height, extra)


def place_at(line: FlowLine, index: int, position: int) -> tuple[ChipPlace, bool]:
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
