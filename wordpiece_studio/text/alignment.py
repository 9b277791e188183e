"""A text after normalization, and the way back to the text that it came from.

Positions are code points, as Python counts them. Not here: how a text is normalized.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A normalized text in which every character knows the stretch of the original that it came from.

    A character that normalization removed belongs to no one; characters that one original character was
    turned into all carry that character's stretch.

    Attributes
    ----------
    text
        The normalized text.
    starts, ends
        For each character of `text` the first original position, and the one after the last.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def identity(cls, text: str) -> Self:
        """Return `text` aligned with itself."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def then(self, later: AlignedText) -> AlignedText:
        """Return `later`, a normalization of this text, aligned with this text's original.

        >>> first = AlignedText("ab", [0, 2], [1, 3])         # "a b" with its space removed
        >>> first.then(AlignedText("b", [1], [2])).starts     # then the "a" removed
        [2]
        """
        starts = [self.starts[start] for start in later.starts]
        ends = [self.ends[end - 1] for end in later.ends]
        return AlignedText(later.text, starts, ends)
