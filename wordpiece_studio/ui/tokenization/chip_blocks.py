"""The geometry of a long text of chips: one block per line of text, laid out only when it comes into view.

Blocks that were not seen yet have an estimated height. It neither paints nor scrolls.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wordpiece_studio.ui.tokenization.chip_layout import FlowSpacing, PlacedBlock, estimated_height, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EXACT_CHIPS = 2000
"""So many chips are laid out at once, so that the scroll bar of an ordinary text does not move by itself."""


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
    """One word in its tokens; ``unknown`` is the reason when it is out of the vocabulary, else None."""

    @property
    def pieces(self) -> Sequence[FlowPiece]: ...
    @property
    def unknown(self) -> object | None: ...


class FlowLine(Protocol):
    """One line of the text: where it starts (code points) and its words."""

    @property
    def start(self) -> int: ...
    @property
    def words(self) -> Sequence[FlowWord]: ...


class ChipPlace(NamedTuple):
    """Which chip: index of the line, of the word in the line, of the chip in the word."""

    line: int
    word: int
    chip: int


class ChipWidths(Protocol):
    """Returns the widths of the chips of a line, a list for each word."""

    def __call__(self, line: FlowLine, /) -> list[list[float]]: ...


class ChipBlocks:
    """The blocks of some lines in a column of a given width.

    Parameters
    ----------
    known
        Blocks that were laid out before with the same width and spacing, by the identity of the line's words: typing
        changes one line and the others keep their chips.
    """

    def __init__(
        self,
        lines: Sequence[FlowLine],
        width: float,
        spacing: FlowSpacing,
        chip_widths: ChipWidths,
        known: dict[int, PlacedBlock] | None = None,
    ) -> None:
        self._lines = lines
        self._width = width
        self._spacing = spacing
        self._chip_widths = chip_widths
        known = known or {}
        self._blocks: list[PlacedBlock | None] = [known.get(id(line.words)) for line in lines]
        budget = _EXACT_CHIPS
        for index, line in enumerate(lines):
            chips = sum(len(word.pieces) for word in line.words)
            if self._blocks[index] is None and chips <= budget:
                self._blocks[index] = self._laid_out(index)
                budget -= chips
        self._heights = [
            block.height if block else self._estimate(line) for block, line in zip(self._blocks, lines, strict=True)
        ]
        self._tops: list[float] | None = None

    @property
    def height(self) -> float:
        """Height of all blocks in pixels, estimated where they were not laid out yet."""
        return self.tops[-1]

    @property
    def tops(self) -> list[float]:
        """Top edge of each block in pixels, and the lower edge of the last one: shape (n_lines + 1,)."""
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0.0))
        return self._tops

    def known(self) -> dict[int, PlacedBlock]:
        """Return the blocks that were laid out, by the identity of the words of their line."""
        return {
            id(line.words): block for line, block in zip(self._lines, self._blocks, strict=True) if block is not None
        }

    def block(self, index: int) -> PlacedBlock:
        """Return the chips of a line, laid out now if they were not yet; heights below may change."""
        block = self._blocks[index]
        if block is None:
            block = self._blocks[index] = self._laid_out(index)
            if block.height != self._heights[index]:
                self._heights[index] = block.height
                self._tops = None
        return block

    def between(self, top: float, bottom: float) -> Iterator[tuple[int, float, PlacedBlock]]:
        """Return the index, the top edge and the chips of each block that is seen between two heights."""
        if not self._lines:
            return
        index = max(bisect_right(self.tops, top) - 1, 0)
        y = self.tops[index]
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
                return chip.x, self.tops[place.line] + chip.y, chip.width
        return None

    def _laid_out(self, index: int) -> PlacedBlock:
        return lay_out(self._chip_widths(self._lines[index]), self._width, self._spacing)

    def _estimate(self, line: FlowLine) -> float:
        return estimated_height(sum(len(word.pieces) for word in line.words), self._width, self._spacing)
