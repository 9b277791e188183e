"""The units in which a place in a text is counted: characters (code points), bytes of UTF-8, UTF-16 units.

Python, Rust and most file formats, JavaScript and Java each count another one of them.
"""

from __future__ import annotations

from typing import Literal, get_args

from wordpiece_studio.session.view_index import utf16_length

TextUnit = Literal["characters", "utf8", "utf16"]
TEXT_UNITS: tuple[TextUnit, ...] = get_args(TextUnit)


def length_in(unit: TextUnit, text: str) -> int:
    r"""Return how many of these units `text` has; a lone surrogate counts as three bytes.

    >>> [length_in(unit, "né\N{HUGGING FACE}") for unit in TEXT_UNITS]
    [3, 7, 4]
    """
    if unit == "characters" or text.isascii():
        return len(text)
    return utf16_length(text) if unit == "utf16" else len(text.encode("utf-8", "surrogatepass"))
