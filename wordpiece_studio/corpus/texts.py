"""Texts that a program has in memory: checked one by one, and cut into pieces.

They come in lists, tuples and iterators, as columns of Arrow and pandas, and in NumPy arrays. None of these libraries
is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.decoding import TextPiece
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE_CHARACTERS = 1 << 20
_ARROW_ROWS = 4096  # that become Python objects at once
_MISSING = {"None", "nan", "NaT", "<NA>"}  # also those of pandas, as text


def checked_texts(texts: Any) -> Iterator[str]:
    """Return an iterator over the texts of a list, an iterator, an Arrow or pandas column or a NumPy array.

    >>> list(checked_texts(["hug", "pug"]))
    ['hug', 'pug']
    >>> list(checked_texts(["hug", b"pug"]))
    Traceback (most recent call last):
    wordpiece_studio.errors.StudioError: Text 2 is not a string: b'pug'. Decode it first.
    """
    if isinstance(texts, str):
        raise StudioError("One text was given where several are expected", "Put it into a list.")
    if isinstance(texts, bytes | bytearray):
        raise StudioError("Bytes were given where texts are expected", "Decode them, and put the text into a list.")
    if isinstance(texts, Mapping):
        raise StudioError(
            "A mapping was given where texts are expected", "For words with counts, use WordCounts.from_pairs."
        )
    if hasattr(type(texts), "columns"):
        raise StudioError("A table was given where texts are expected", 'Pass one of its columns: table["text"].')
    if not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) == 0:
        raise StudioError("Texts are expected, not {value}", "Pass a list of strings.", value=repr(texts)[:100])
    return _checked(texts)


def _checked(texts: Iterable[Any]) -> Iterator[str]:
    for number, text in enumerate(_arrow_items(texts) if hasattr(type(texts), "to_pylist") else texts, start=1):
        if not isinstance(text, str):
            raise _not_a_text(text, number)
        yield text if type(text) is str else str(text)  # NumPy has a type of its own


def _arrow_items(column: Any) -> Iterator[Any]:
    """Yield the items of an Arrow array as Python's own, which those that it yields itself are not."""
    for start in range(0, len(column), _ARROW_ROWS):
        yield from column.slice(start, _ARROW_ROWS).to_pylist()


def _not_a_text(item: object, number: int) -> StudioError:
    if str(item) in _MISSING:
        advice = "Leave it out, or put an empty text in its place."
    elif isinstance(item, bytes | bytearray):
        advice = "Decode it first."
    elif isinstance(item, Iterable):
        advice = "Pass the texts themselves, one by one."
    else:
        advice = "Make it a text first."
    return StudioError("Text {number} is not a string: {item}", advice, number=number, item=repr(item)[:100])


def size_of_text(text: str, number: int) -> int:
    """Return the size of a text in UTF-8; `number` is for the message."""
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise StudioError(
            "Text {number} contains an unpaired surrogate (U+{code:04X}) at position {position}",
            "Read it again with the right encoding.",
            number=number,
            code=ord(text[error.start]),
            position=error.start,
        ) from None


def text_pieces(text: str, source: str) -> Iterator[TextPiece]:
    """Yield a text in pieces that end at a line end."""
    start, line, byte = 0, 1, 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARACTERS) + 1 or len(text)
        part = text[start:end]
        end_byte = byte + len(part.encode("utf-8"))
        yield TextPiece(part, source, line, byte, end_byte, "utf-8")
        start, line, byte = end, line + part.count("\n"), end_byte
