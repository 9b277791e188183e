"""What a normalizer is. The ones that are built in stand in `normalizers`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.text.alignment import AlignedText


MOST_GROWTH = 18
"""So many characters the longest compatibility decomposition has, that of U+FDFA."""


class Normalizer(ABC):
    """Changes a text before it is cut into words: lower-cases it, strips accents, removes control characters.

    A normalizer of one's own need only define `name` and `align`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in messages and on the command line."""

    @property
    def is_local(self) -> bool:
        """Whether each stretch between blanks and line ends may be normalized by itself.

        If so, equal stretches of a corpus need be normalized only once. Leave it False when in doubt.
        """
        return False

    @property
    def is_by_character(self) -> bool:
        """Whether each character is normalized by itself, but for those of which `regards_neighbours` is true.

        If so, what becomes of each need be found out only once. Leave it False when in doubt.
        """
        return False

    @property
    def growth(self) -> int:
        """How many characters at most become of one; words that are too long are told by their lines up to that."""
        return MOST_GROWTH

    def regards_neighbours(self, character: str) -> bool:
        """Return whether what becomes of a character, or of others beside it, may depend on what stands around it."""
        return not self.is_by_character

    @abstractmethod
    def align(self, text: str) -> AlignedText:
        """Return the normalized text, aligned with `text`."""

    def normalize(self, text: str) -> str:
        """Return the normalized text; the same as ``align(text).text``, but it may be faster."""
        return self.align(text).text


class CharacterNormalizer(Normalizer):
    """One that goes by single characters and their neighbours, and never looks across a blank."""

    __slots__ = ()

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True
