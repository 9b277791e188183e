"""Normalizers that only files of other programs ask for; the others are those of `text.normalizers`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from wordpiece_studio.peers.pieces import part_of, with_prefix
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.text.pipeline import AlignedText, Normalizer

if TYPE_CHECKING:
    from wordpiece_studio.peers.expressions import Expression


@dataclass(frozen=True, slots=True)
class Replace(Normalizer):
    """Puts one text in the place of another, or of the matches of an expression.

    The new characters belong where the last of the old ones belonged.
    """

    pattern: str | Expression
    content: str

    @property
    def name(self) -> str:
        """``"replace"``."""
        return "replace"

    def align(self, text: str) -> AlignedText:
        """Return the text with everything replaced, aligned with `text`."""
        parts: list[str] = []
        positions: list[int] = []
        done = 0
        for start, end in self._matches(text):
            parts += text[done:start], self.content
            positions += range(done, start)
            positions += [end - 1] * len(self.content)
            done = end
        positions += range(done, len(text))
        return AlignedText("".join([*parts, text[done:]]), positions, [position + 1 for position in positions])

    def _matches(self, text: str) -> list[tuple[int, int]]:
        if not isinstance(self.pattern, str):
            return list(self.pattern.matches(text))
        found, start = [], text.find(self.pattern)
        while start >= 0:
            found.append((start, start + len(self.pattern)))
            start = text.find(self.pattern, found[-1][1])
        return found


@dataclass(frozen=True, slots=True)
class Prepend(Normalizer):
    """Puts a text before a text that is not empty."""

    content: str

    @property
    def name(self) -> str:
        """``"prepend"``."""
        return "prepend"

    def align(self, text: str) -> AlignedText:
        """Return the longer text, aligned with `text`."""
        return with_prefix(AlignedText.identity(text), self.content)


@dataclass(frozen=True, slots=True)
class Strip(Normalizer):
    """Removes white space at either end."""

    is_left: bool
    is_right: bool

    @property
    def name(self) -> str:
        """``"strip"``."""
        return "strip"

    def align(self, text: str) -> AlignedText:
        """Return the shorter text, aligned with `text`."""
        start, end = 0, len(text)
        whitespace = bert_tables().whitespace
        while self.is_left and start < end and ord(text[start]) in whitespace:
            start += 1
        while self.is_right and start < end and ord(text[end - 1]) in whitespace:
            end -= 1
        return part_of(AlignedText.identity(text), start, end)


@dataclass(frozen=True, slots=True)
class ByteCharacters(Normalizer):
    """Puts a printable character in the place of each byte of the text in UTF-8, as GPT-2 does."""

    @property
    def name(self) -> str:
        """``"bytes"``."""
        return "bytes"

    def align(self, text: str) -> AlignedText:
        """Return the characters of the bytes, aligned with `text`."""
        table = byte_characters()
        data = [character.encode("utf-8", "surrogatepass") for character in text]
        starts = [index for index, encoded in enumerate(data) for _ in encoded]
        return AlignedText(
            "".join(table[byte] for encoded in data for byte in encoded), starts, [start + 1 for start in starts]
        )


@cache
def byte_characters() -> list[str]:
    """Return the character that GPT-2 writes for each of the 256 bytes.

    >>> "".join(byte_characters()[byte] for byte in b" a")
    'Ġa'
    """
    itself = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in itself]
    return [chr(byte) if byte in itself else chr(256 + others.index(byte)) for byte in range(256)]
