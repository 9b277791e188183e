"""Reads the tables ``forms.json`` and ``patterns.json`` of ``resources/unicode`` off the `tokenizers` library.

``python -m tests.benchmarks.unicode_tables`` tries every code point and writes the files. Not here: the tables of
BERT's own classes, in ``bert.json``, on which these build.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.character_tables import bert_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCALARS = [*range(0xD800), *range(0xE000, 0x110000)]
_ABOUT = (
    f"Character classes of Hugging Face tokenizers {tokenizers.__version__} (NFC, NFKD, StripAccents, Whitespace), read"
    " off it for every code point by tests/benchmarks/unicode_tables.py. Hexadecimal. marks: what StripAccents removes;"
    " word: what Whitespace takes for \\w; excluded: what decomposes canonically and is not composed again; compatible:"
    " full compatibility decompositions where they differ from the canonical ones of bert.json."
)


_ABOUT_PATTERNS = (
    f"Character classes of the patterns and digits of Hugging Face tokenizers {tokenizers.__version__}, read off it for"
    " every code point by tests/benchmarks/unicode_tables.py. Hexadecimal. digit: what Digits takes for one; letter,"
    " number, unassigned: \\p{L}, \\p{N} and \\p{Cn} of its regular expressions."
)


def forms() -> dict[str, Any]:
    """Return the content of ``forms.json``."""
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


def patterns() -> dict[str, Any]:
    """Return the content of ``patterns.json``."""
    characters = map(chr, SCALARS)
    return {
        "about": _ABOUT_PATTERNS,
        "digit": _ranges(ord(c) for c in characters if len(_digits.pre_tokenize_str(f"a{c}a")) == 3),
        **{
            name: _ranges(class_members(rf"\p{{{short}}}"))
            for name, short in (("letter", "L"), ("number", "N"), ("unassigned", "Cn"))
        },
    }


def class_members(expression: str, codes: Sequence[int] = SCALARS) -> set[int]:
    """Return the code points that an expression for one character matches in the library."""
    splitter = pre_tokenizers.Split(Regex(expression), "removed", invert=True)
    texts = ("".join(map(chr, codes[start : start + 4096])) for start in range(0, len(codes), 4096))
    return {ord(word) for text in texts for word, _ in splitter.pre_tokenize_str(text)}


_whitespace, _digits = pre_tokenizers.Whitespace(), pre_tokenizers.Digits()


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
    """Write the files."""
    for name, tables in (("forms", forms()), ("patterns", patterns())):
        path = resource_path("unicode/bert.json").with_name(f"{name}.json")
        path.write_text(json.dumps(tables, indent=1) + "\n", encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
