"""The text of a file of any kind, to be read once in pieces: one way in for all that reads a corpus.

Not here: how each kind is read (`files`, `json_lines`, `delimited`, `parquet`), and what becomes of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from wordpiece_studio.corpus.files import TextOnDisk, TextStream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

    from wordpiece_studio.corpus.corpus_file import CorpusFile, FileKind
    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece
    from wordpiece_studio.corpus.rows import RowSource

Text = TypeVar("Text", TextOnDisk, TextStream)


class Source(Protocol):
    """Where text comes from, to be read once."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def size(self) -> int:
        """Its size on the disk in bytes, when it was first looked at; 0 for a stream."""
        ...

    @property
    def bytes_read(self) -> int:
        """How many of these bytes were read so far."""
        ...

    def pieces(self) -> Iterator[TextPiece]:
        """Yield the text in pieces of bounded size, each ending at a line end or with the source.

        Raises
        ------
        StudioError
            If something cannot be read; the message says where.
        """
        ...

    def has_changed(self) -> bool:
        """Return whether the source is no longer what it was when it was first looked at."""
        ...


def opened(file: CorpusFile, *, splits_at_blanks: bool = False) -> Source:
    """Return what reads a file; it is opened when its text is asked for.

    Parameters
    ----------
    file
        The file, and how it is read.
    splits_at_blanks
        Whether a piece may end at a blank too, when there is no line end for long.

    Raises
    ------
    StudioError
        If there is no such file, or it is not a regular file, or it cannot be read as `file` says.
    """
    if file.kind == "parquet":
        from wordpiece_studio.corpus.parquet import ParquetTexts

        return ParquetTexts(file.path, file.column, file.errors)
    if file.kind == "word-counts":
        raise StudioError(
            "{path} is a table of words and their counts, not a text",
            "Only counting and training take it. If it is none, say of what kind it is.",
            path=display_name(file.path),
        )
    text = TextOnDisk(
        file.path,
        encoding=file.encoding,
        errors=file.errors,
        splits_at_blanks=splits_at_blanks and file.kind == "text",
        decompresses=True,
    )
    return _texts_in(text, file.kind, file.column, file.errors)


def opened_stream(
    stream: BufferedIOBase,
    name: str,
    kind: FileKind = "text",
    *,
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    splits_at_blanks: bool = False,
) -> TextStream | RowSource:
    """Return what reads a stream of bytes, such as standard input, as `opened` does a file.

    Raises
    ------
    StudioError
        If there is no such encoding or error handling, or what is in it can only be read from a file.
    """
    if kind in ("parquet", "word-counts"):
        raise StudioError(
            "A file of the kind {kind} cannot be read from {name}", "Name it.", kind=kind, name=name
        )  # fmt: skip
    splits = splits_at_blanks and kind == "text"
    text = TextStream(stream, name, encoding=encoding, errors=errors, splits_at_blanks=splits)
    return _texts_in(text, kind, column, errors)


def _texts_in(text: Text, kind: FileKind, column: str | None, errors: ErrorHandling) -> Text | RowSource:
    """Return what reads the texts in a file or stream of some kind."""
    if kind == "jsonl":
        from wordpiece_studio.corpus.json_lines import JsonLines

        return JsonLines(text, column, errors)
    if kind in ("csv", "tsv"):
        from wordpiece_studio.corpus.delimited import DelimitedTexts

        return DelimitedTexts(text, column, errors, "tsv" if kind == "tsv" else "csv")
    return text
