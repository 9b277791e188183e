"""The normalizers of SentencePiece, as the `tokenizers` library repeats them: Precompiled and Nmt."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import regex

from wordpiece_studio.peers.expressions import NEWER, UNKNOWN
from wordpiece_studio.text.character_tables import CharacterMap, CodePoints
from wordpiece_studio.text.pipeline import AlignedText, CharacterNormalizer, Normalizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.peers.character_table import CharacterTable

_MOST_BYTES = 5  # of a grapheme that is looked up as a whole
_MOST_KNOWN = 200_000
_REMOVED = CodePoints("0001-0008 000B 000E-001F 007F 008F 009F")
_BLANK = CodePoints("0009-000A 000C-000D 1680 200B-200F 2028-2029 2581 FEFF FFFD")


@dataclass(frozen=True, slots=True)
class Precompiled(Normalizer):
    """Replaces characters, and graphemes of few bytes, by what a table has for them.

    A grapheme whose first bytes alone are in the table is replaced as a whole, so what else it consists of is lost;
    and where the first characters of a text are removed, the others count as if they stood earlier. So it is done
    there.
    """

    table: CharacterTable
    _known: dict[str, tuple[tuple[int, str], ...] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def name(self) -> str:
        """``"precompiled"``."""
        return "precompiled"

    @property
    def growth(self) -> int:
        """As much as the longest text in the table."""
        return max(self.table.longest, 1)

    def align(self, text: str) -> AlignedText:
        """Return the text with everything replaced, aligned with `text`."""
        parts: list[str] = []
        positions: list[int] = []
        at = 0  # so many characters of `text` are done
        is_extra = False  # whether the last new character stands for no old one
        for grapheme in _graphemes(text):
            changes = self._known[grapheme] if grapheme in self._known else self._changes(grapheme)
            if changes is None:
                parts.append(grapheme)
                positions += range(at, at + len(grapheme))
                at, is_extra = at + len(grapheme), False
                continue
            for old, new in changes:
                kept = min(old, len(new))
                positions += range(at, at + kept)
                at += kept
                if new:
                    parts.append(new)
                    positions += [at - 1] * (len(new) - kept)
                    is_extra = len(new) > old
                if kept < old and positions:
                    if is_extra:
                        positions[-1] = at
                    at, is_extra = at + old - kept, False
        return AlignedText("".join(parts), positions, [position + 1 for position in positions])

    def normalize(self, text: str) -> str:
        """Return the text with everything replaced."""
        known = self._known
        parts = []
        for grapheme in _graphemes(text):
            changes = known[grapheme] if grapheme in known else self._changes(grapheme)
            parts.append(grapheme if changes is None else "".join([new for _, new in changes]))
        return "".join(parts)

    def _changes(self, grapheme: str) -> tuple[tuple[int, str], ...] | None:
        """Return the parts of a grapheme, how many characters each had and what it becomes; None if nothing changes."""
        whole = None
        if len(grapheme) <= _MOST_BYTES and len(grapheme.encode("utf-8", "surrogatepass")) <= _MOST_BYTES:
            whole = self.table.find(grapheme)
        if whole is not None:
            found: tuple[tuple[int, str], ...] = ((len(grapheme), whole),)
        else:
            news = [(character, self.table.find(character)) for character in grapheme]
            found = tuple((1, character if new is None else new) for character, new in news)
        changes = None if "".join(new for _, new in found) == grapheme else found
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[grapheme] = changes
        return changes


@dataclass(frozen=True, slots=True)
class Nmt(CharacterNormalizer):
    """Removes control characters, and puts a blank in the place of other white space."""

    @property
    def name(self) -> str:
        """``"nmt"``."""
        return "nmt"

    @property
    def growth(self) -> int:
        """One."""
        return 1

    def regards_neighbours(self, character: str) -> bool:
        """Return False."""
        return False

    def align(self, text: str) -> AlignedText:
        """Return the text with fewer characters, aligned with `text`."""
        positions = [position for position, character in enumerate(text) if ord(character) not in _REMOVED]
        return AlignedText(self.normalize(text), positions, [position + 1 for position in positions])

    def normalize(self, text: str) -> str:
        """Return the text with fewer characters."""
        return text.translate(_nmt_map())


@cache
def _nmt_map() -> CharacterMap:
    def rule(code_point: int) -> str:
        return "" if code_point in _REMOVED else " " if code_point in _BLANK else chr(code_point)

    return CharacterMap(rule)


@cache
def _without_newer() -> CharacterMap:
    def rule(code_point: int) -> str:
        is_newer = code_point in NEWER and not _PICTURE.match(
            chr(code_point)
        )  # those were so before they were assigned
        return UNKNOWN if is_newer else chr(code_point)

    return CharacterMap(rule)


def _graphemes(text: str) -> Iterator[str]:
    """Yield the graphemes of a text, where that matters: Unicode's extended ones, as the library has them.

    The `regex` module joins a consonant to any linker before it; it should only if a consonant stands before that.
    """
    if text.isascii():
        yield from text if "\r\n" not in text else regex.findall(r"\r\n|(?s:.)", text)
        return
    done = 0
    for known in regex.findall(r"\X", text.translate(_without_newer())):
        grapheme = text[done : done + len(known)]
        done += len(known)
        start = 0
        for place in range(1, len(known)):
            if _CONSONANT.match(known, place) and _JOINING.match(known, place - 1):
                before = place - 1
                while before >= 0 and _JOINING.match(known, before):
                    before -= 1
                if before < 0 or not _CONSONANT.match(known, before):
                    yield grapheme[start:place]
                    start = place
        yield grapheme[start:] if start else grapheme


_CONSONANT = regex.compile(r"\p{InCB=Consonant}")
_JOINING = regex.compile(r"[\p{InCB=Extend}\p{InCB=Linker}]")
_PICTURE = regex.compile(r"\p{ExtPict}")
