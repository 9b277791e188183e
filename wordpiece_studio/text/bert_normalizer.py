"""BERT's normalizer, exactly as Hugging Face's `BertNormalizer` computes it, with alignment to the original text.

Four steps, in this order: cleaning (control characters are removed, white space becomes a blank), a blank on either
side of Chinese characters, accent stripping (canonical decomposition, then marks are removed), lower-casing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from wordpiece_studio.text.character_tables import BertTables, CharacterMap, bert_tables, rough_pattern
from wordpiece_studio.text.pipeline import AlignedText, CharacterNormalizer
from wordpiece_studio.text.unicode_form import decomposed, positions_of, put_in_order, text_in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPTIONS = {"keep-controls": "clean_text", "keep-chinese": "handle_chinese_chars"}


@dataclass(frozen=True, slots=True)
class BertNormalizer(CharacterNormalizer):
    """BERT's normalizer with its four switches.

    Parameters
    ----------
    clean_text
        Whether control characters are removed and white space becomes a blank.
    handle_chinese_chars
        Whether Chinese characters get a blank on either side.
    strip_accents
        Whether accents are stripped; None means only if `lowercase`.
    lowercase
        Whether characters are lower-cased, each on its own.

    >>> BertNormalizer(lowercase=True).normalize("Él vio el Ñandú")
    'el vio el nandu'
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = False

    @property
    def name(self) -> str:
        """``"bert-cased"`` or ``"bert-uncased"``, followed by a colon and the differences from it, if any."""
        options = [option for option, field in _OPTIONS.items() if not getattr(self, field)]
        if self.strip_accents is not None:
            options.append("strip-accents" if self.strip_accents else "keep-accents")
        base = "bert-uncased" if self.lowercase else "bert-cased"
        return f"{base}:{','.join(options)}" if options else base

    @property
    def growth(self) -> int:
        """Four, as in the longest canonical decomposition."""
        return 4

    def regards_neighbours(self, character: str) -> bool:
        """Return whether adjacent marks may change places, and the character keeps one that shows it."""
        return character in self._maps().unsteady

    def normalize(self, text: str) -> str:
        """Return the normalized text."""
        maps = self._maps()
        if maps.decompose is not None and not text.isascii() and maps.combining.search(text):
            return maps.normalize_in_stages(text)
        return text.translate(maps.whole)

    def align(self, text: str) -> AlignedText:
        """Return the normalized text, aligned with `text`."""
        if self.normalize(text) == text:  # nothing that is removed or decomposed is ever restored
            return AlignedText.identity(text)
        maps = self._maps()
        # The characters of every stage, and the original position that each came from.
        characters, positions = _each_replaced(text, range(len(text)), maps.clean)
        if maps.decompose is not None and (
            maps.combining.search(characters) or characters.translate(maps.decompose) != characters
        ):
            items = list(put_in_order(decomposed(characters, maps.decompose)))
            positions = [positions[position] for position in positions_of(items)]
            characters = "".join(character for character, _ in items)
        if maps.finish is not None:
            characters, positions = _each_replaced(characters, positions, maps.finish)
        return AlignedText(characters, positions, [position + 1 for position in positions])

    @classmethod
    def from_name(cls, name: str) -> BertNormalizer:
        """Return the normalizer called `name`.

        Raises
        ------
        ValueError
            If there is no such normalizer.
        """
        base, _, options = name.partition(":")
        flags: dict[str, bool] = {"lowercase": ["bert-cased", "bert-uncased"].index(base) == 1}
        for option in options.split(",") if options else []:
            if option in _OPTIONS:
                flags[_OPTIONS[option]] = False
            elif option in ("strip-accents", "keep-accents"):
                flags["strip_accents"] = option == "strip-accents"
            else:
                raise ValueError(option)
        return cls(**flags)

    def _maps(self) -> _Maps:
        strips = self.lowercase if self.strip_accents is None else self.strip_accents
        return _maps(self.clean_text, self.handle_chinese_chars, strips, self.lowercase)


class _Maps:
    """The tables for one setting of the four switches, filled in as characters are met."""

    def __init__(self, clean_text: bool, handle_chinese: bool, strip: bool, lowercase: bool) -> None:
        tables = bert_tables()
        self.clean = CharacterMap(lambda code_point: _cleaned(tables, code_point, clean_text, handle_chinese))
        self.decompose = CharacterMap(tables.decompose) if strip else None
        self.finish: CharacterMap | None = None
        if strip or lowercase:
            self.finish = CharacterMap(lambda code_point: _finished(tables, code_point, strip, lowercase))
        # All stages in one table: correct unless a character combines with the one before it, which may reorder them.
        self.whole = CharacterMap(lambda code_point: self.normalize_in_stages(chr(code_point)))
        marks = rough_pattern(tables.combining)
        beginning = {chr(code) for code, text in tables.decompositions.items() if text[0] in tables.combining}
        self.combining = re.compile(f"[{rough_pattern(beginning.union(tables.combining))}]")
        self._disorder = re.compile(f"[{marks}][{marks}]+")
        # Characters that leave a combining character in the result, if combining characters are reordered at all.
        self.unsteady = frozenset(filter(self._leaves_combining, {*tables.combining, *map(chr, tables.decompositions)}))

    def normalize_in_stages(self, text: str) -> str:
        """Return the normalized text, applying one step after the other."""
        text = text.translate(self.clean)
        if self.decompose is not None:
            text = self._disorder.sub(text_in_order, text.translate(self.decompose))
        return text if self.finish is None else text.translate(self.finish)

    def _leaves_combining(self, character: str) -> bool:
        if self.decompose is None or self.finish is None:
            return False
        pieces = self.decompose[ord(character)] or ""
        return any(piece in bert_tables().combining and self.finish[ord(piece)] for piece in pieces)


def _each_replaced(text: str, positions: Sequence[int], table: CharacterMap) -> tuple[str, Sequence[int]]:
    """Return a text with each character replaced by `table`, and the position that each result came from."""
    if text.translate(table) == text:
        return text, positions
    pieces = [table[ord(character)] or "" for character in text]
    return "".join(pieces), [
        position for piece, position in zip(pieces, positions, strict=True) for _ in range(len(piece))
    ]


def _cleaned(tables: BertTables, code_point: int, clean_text: bool, handle_chinese: bool) -> str:
    if clean_text and code_point in tables.removed:
        return ""
    if clean_text and code_point in tables.to_space:
        return " "
    character = chr(code_point)
    return f" {character} " if handle_chinese and code_point in tables.chinese else character


def _finished(tables: BertTables, code_point: int, strip: bool, lowercase: bool) -> str:
    if strip and code_point in tables.marks:
        return ""
    character = chr(code_point)
    return tables.lower_case.get(code_point, character) if lowercase else character


@cache
def _maps(clean_text: bool, handle_chinese: bool, strip: bool, lowercase: bool) -> _Maps:
    return _Maps(clean_text, handle_chinese, strip, lowercase)
