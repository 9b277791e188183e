"""Where the chips of some words lie: a flow of rows, words kept whole where they fit.

Pure arithmetic: it knows widths, not fonts, tokens or painters. All lengths are in device-independent pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class FlowSpacing:
    """Distances of the flow: between chips of a word, between words, and from one row's top to the next."""

    chip_gap: float
    word_gap: float
    row_height: float


class PlacedChip(NamedTuple):
    """A chip and its place: index of the word, index of the chip in the word, left edge, top edge, width."""

    word: int
    chip: int
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """The chips of one block in reading order, and the height of the block."""

    chips: list[PlacedChip]
    height: float


def lay_out(words: Sequence[Sequence[float]], width: float, spacing: FlowSpacing) -> PlacedBlock:
    """Put the chips of the words into rows of the given width.

    A word goes to the next row when it does not fit into the rest of this one; a word that is wider than a whole row
    is broken between its chips; a chip that is wider than a row is cut off by whoever paints it.

    >>> lay_out([[10, 10], [30]], 40, FlowSpacing(2, 5, 20)).height
    40
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


def estimated_height(chips: int, width: float, spacing: FlowSpacing, mean_chip_width: float = 44.0) -> float:
    """About how high a block of so many chips will be: for the scroll bar, before the block is laid out."""
    rows = -(-chips * (mean_chip_width + spacing.chip_gap) // max(width, 1.0))
    return max(rows, 1.0) * spacing.row_height if chips else 0.0
