"""What a pre-tokenizer is. The ones that are built in stand in `pre_tokenizers`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Span:
    """A word and where it stands in the normalized text.

    Attributes
    ----------
    text
        The word.
    start, end
        Its first code point in the normalized text, and the one after its last.
    positions
        Where each character of the word stands, if characters between them were dropped; else None.
    """

    text: str
    start: int
    end: int
    positions: tuple[int, ...] | None = None


class PreTokenizer(ABC):
    """Cuts a normalized text into words.

    A pre-tokenizer of one's own need only define `name` and `spans`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in messages and on the command line."""

    @property
    def is_local(self) -> bool:
        """Whether each stretch between blanks and line ends may be cut by itself.

        If so, equal stretches of a corpus need be cut only once. Leave it False when in doubt.
        """
        return False

    @property
    def is_by_character(self) -> bool:
        """Whether each character by itself parts words, is a word, stands in one or goes, whatever is around it.

        If so, what becomes of each need be found out only once. Leave it False when in doubt.
        """
        return False

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand, from left to right."""

    def split(self, text: str) -> list[str]:
        """Return the words alone; the same as the texts of ``spans(text)``, but it may be faster."""
        return [span.text for span in self.spans(text)]

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words alone; the same as ``split(text)``, but it may need less memory."""
        yield from self.split(text)


class CharacterPreTokenizer(PreTokenizer):
    """One to which each character is what it is, whatever stands around it, and a blank always parts words."""

    __slots__ = ()

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True
