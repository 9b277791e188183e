"""Reads the character tables of ``resources/unicode/forms.json`` off the `tokenizers` library, for every code point.

``python -m tests.benchmarks.unicode_tables`` writes the file. Not here: the tables of BERT's own classes, in
``bert.json``, on which these build.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import normalizers, pre_tokenizers

from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.character_tables import bert_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

SCALARS = [code_point for code_point in range(0x110000) if not 0xD800 <= code_point <= 0xDFFF]
_ABOUT = (
    f"Character classes of Hugging Face tokenizers {tokenizers.__version__} (NFC, NFKD, StripAccents, Whitespace), read"
    " off it for every code point by tests/benchmarks/unicode_tables.py. Hexadecimal. marks: what StripAccents removes;"
    " word: what Whitespace takes for \\w; excluded: what decomposes canonically and is not composed again; compatible:"
    " full compatibility decompositions where they differ from the canonical ones of bert.json."
)


def read_off() -> dict[str, Any]:
    """Return the tables as the file holds them."""
    tables = bert_tables()
    strip, compose = normalizers.StripAccents(), normalizers.NFC()
    canonical, compatible = normalizers.NFD(), normalizers.NFKD()
    characters = list(map(chr, SCALARS))
    return {
        "about": _ABOUT,
        "marks": _ranges(ord(c) for c in characters if strip.normalize_str(c) == ""),
        "word": _ranges(ord(c) for c in characters if _is_word_character(c)),
        "excluded": _ranges(c for c in tables.decompositions if compose.normalize_str(chr(c)) != chr(c)),
        "compatible": {
            f"{ord(c):04X}": " ".join(f"{ord(part):04X}" for part in text)
            for c in characters
            if (text := compatible.normalize_str(c)) != canonical.normalize_str(c)
        },
    }


_whitespace = pre_tokenizers.Whitespace()


def _is_word_character(character: str) -> bool:
    return len(_whitespace.pre_tokenize_str(f"a{character}a")) == 1


def _ranges(code_points: Iterable[int]) -> str:
    """Return ascending code points as text, ``"0041-005A 00B5"``."""
    codes = [-1, *sorted(code_points), 0x110001]
    starts = [after for before, after in pairwise(codes) if after > before + 1][:-1]
    ends = [before for before, after in pairwise(codes) if after > before + 1][1:]
    return " ".join(
        f"{start:04X}" if start == end else f"{start:04X}-{end:04X}" for start, end in zip(starts, ends, strict=True)
    )


def main() -> None:
    """Write the file."""
    path = resource_path("unicode/bert.json").with_name("forms.json")
    path.write_text(json.dumps(read_off(), indent=1) + "\n", encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
