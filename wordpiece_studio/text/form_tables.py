"""What the normalization forms, accent stripping and `Whitespace` go by, from ``resources/unicode/forms.json``.

The classes are the `tokenizers` library's, and build on those of BERT (`character_tables`); Python's `unicodedata` is
of another Unicode version, and of another one in every Python.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.character_tables import (
    FIRST_SYLLABLE,
    LAST_SYLLABLE,
    LEADING,
    LEADINGS,
    TRAILING,
    TRAILINGS,
    VOWEL,
    VOWELS,
    CodePoints,
    bert_tables,
    texts_of,
)


@dataclass(frozen=True, slots=True)
class FormTables:
    r"""The classes.

    Attributes
    ----------
    marks
        What stripping accents removes from a text that is not decomposed first; more than BERT strips.
    word
        What counts as part of a word, ``\w``.
    composites
        The character that each pair of characters is composed to; Hangul syllables are not among them.
    compatible
        The full compatibility decomposition of each character that has one of its own.
    """

    marks: CodePoints
    word: CodePoints
    composites: dict[tuple[str, str], str]
    compatible: dict[int, str]

    def compose(self, first: str, second: str) -> str | None:
        """Return the character that two characters are composed to, if there is one."""
        return self.composites.get((first, second)) or _compose_syllable(ord(first), ord(second))

    def decompose_compatibly(self, code_point: int) -> str:
        """Return the full compatibility decomposition of a character, itself if there is none."""
        return self.compatible.get(code_point) or bert_tables().decompose(code_point)

    def following(self) -> set[str]:
        """Return the characters that may be composed with one before them."""
        jamo = {chr(VOWEL + number) for number in range(VOWELS)} | {
            chr(TRAILING + number) for number in range(1, TRAILINGS)
        }
        return jamo | {second for _, second in self.composites}


def _compose_syllable(first: int, second: int) -> str | None:
    if 0 <= first - LEADING < LEADINGS and 0 <= second - VOWEL < VOWELS:
        return chr(FIRST_SYLLABLE + ((first - LEADING) * VOWELS + second - VOWEL) * TRAILINGS)
    is_open = FIRST_SYLLABLE <= first <= LAST_SYLLABLE and (first - FIRST_SYLLABLE) % TRAILINGS == 0
    return chr(first + second - TRAILING) if is_open and 0 < second - TRAILING < TRAILINGS else None


@cache
def form_tables() -> FormTables:
    """Return the tables; they are read when they are first asked for."""
    data: dict[str, Any] = json.loads(resource_path("unicode/forms.json").read_text(encoding="ascii"))
    return FormTables(
        marks=CodePoints(data["marks"]),
        word=CodePoints(data["word"]),
        composites=_composites(CodePoints(data["excluded"])),
        compatible=texts_of(data["compatible"]),
    )


def _composites(excluded: CodePoints) -> dict[tuple[str, str], str]:
    """Return what pairs are composed to: the last step of each full decomposition taken back."""
    composed: dict[str, str] = {}
    pairs: dict[tuple[str, str], str] = {}
    for code_point, parts in sorted(bert_tables().decompositions.items(), key=lambda entry: len(entry[1])):
        if code_point not in excluded:
            composed[parts] = chr(code_point)
            pairs[composed.get(parts[:-1], parts[0]), parts[-1]] = chr(code_point)
    return pairs
