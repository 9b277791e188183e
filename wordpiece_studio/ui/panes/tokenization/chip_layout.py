"""Where the chips of some words lie: a flow of rows, words kept whole where they fit.

Pure arithmetic: it knows widths, not fonts, tokens or painters. All lengths are in device-independent pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_CHARACTERS_A_CHIP, _CHIP_WIDTH = 3.0, 44.0
"""About."""


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
    """The chips of one block in reading order, the height of the block, and any chip that is not part of the text."""

    chips: list[PlacedChip]
    height: float
    extra: PlacedChip | None = None


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


def estimated_heights(lengths: NDArray[np.int64], width: float, spacing: FlowSpacing) -> NDArray[np.float64]:
    """About how high the blocks of lines of so many characters will be: for the scroll bar, before they are laid out.

    Both arrays have the shape (n_lines,). A line of one character is taken for a mere line end.
    """
    chips = np.where(lengths > 1, lengths / _CHARACTERS_A_CHIP, 0.0)
    return np.ceil(chips * (_CHIP_WIDTH + spacing.chip_gap) / max(width, 1.0)) * spacing.row_height
