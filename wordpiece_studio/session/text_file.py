"""A text file read in full, with what is needed to write the same bytes again.

Reading is strict, see `corpus.files`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.decoding import ErrorHandling

LARGEST_EDITED = 10_000_000
"""In bytes; a larger file is read in parts and never loaded into the editor."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """The content of a file.

    Attributes
    ----------
    text
        The text, with its original line breaks, without the byte order mark.
    encoding
        The matching Python codec.
    mark
        The byte order mark; may be empty.
    original
        The bytes, if re-encoding the text would give different ones, as in some East Asian encodings; else None.
    replaced, skipped_lines
        How many undecodable sequences were replaced, and how many lines with such sequences were skipped: the text is
        then not the whole content of the file.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    original: bytes | None = None
    replaced: int = 0
    skipped_lines: int = 0

    @property
    def is_lossy(self) -> bool:
        """Whether the text is not the whole content of the file."""
        return bool(self.replaced or self.skipped_lines)


def read_text_file(path: Path, encoding: str | None = None, errors: ErrorHandling = "strict") -> TextFile:
    """Return the content of a text file; without an encoding, it is UTF-8 or what the byte order mark says.

    With `errors` other than strict, content may be lost; the text is then written as UTF-8.
    """
    from wordpiece_studio.corpus import files

    file = files.TextOnDisk(path, encoding=encoding, errors=errors)
    pieces = list(file.pieces())
    if not pieces:
        return TextFile("", encoding or "utf-8", mark=_head(path, file.size))
    text = "".join(piece.text for piece in pieces)
    codec = pieces[0].encoding
    replaced, skipped = sum(piece.replaced for piece in pieces), sum(piece.skipped_lines for piece in pieces)
    if replaced or skipped:
        return TextFile(text, replaced=replaced, skipped_lines=skipped)
    mark = _head(path, pieces[0].byte)
    original = None
    if not codec.startswith("utf-"):  # strict decoding of those is reversible
        data = path.read_bytes()
        original = data if text.encode(codec) != data[len(mark) :] else None
    return TextFile(text, codec, mark, original)


def write_text_file(path: Path, text: str, like: TextFile) -> TextFile:
    """Write `text` to `path`, encoded `like` a file; if it is that file's text, write the very same bytes."""
    from wordpiece_studio.system.atomic_write import atomic_write

    if like.original is not None and text == like.text:
        atomic_write(path, like.original)
        return like
    try:
        data = text.encode(like.encoding)
    except UnicodeEncodeError as error:
        raise StudioError(
            "The character {character!r} in line {line} cannot be written in the encoding {encoding}",
            "Remove it, or save the text as UTF-8.",
            character=text[error.start],
            line=text.count("\n", 0, error.start) + 1,
            encoding=like.encoding.upper(),
        ) from error
    atomic_write(path, like.mark + data)
    return TextFile(text, like.encoding, like.mark)


def _head(path: Path, length: int) -> bytes:
    if not length:
        return b""
    with path.open("rb") as file:
        return file.read(length)
