"""The text of a file of any kind, to be read once in pieces: the one entry point for everything that reads a corpus.

Not here: how each kind is read (`files`, `json_lines`, `delimited`, `parquet`), and what happens to the text.
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
        """Its name in messages."""
        ...

    @property
    def size(self) -> int:
        """Its size on disk in bytes when this was created; 0 for a stream."""
        ...

    @property
    def bytes_read(self) -> int:
        """How many of these bytes have been read so far."""
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
        """Return whether the source has changed since this was created."""
        ...


def opened(file: CorpusFile, *, splits_at_blanks: bool = False) -> Source:
    """Return a reader of a file, which is opened when its text is requested.

    Parameters
    ----------
    file
        The file, and how it is read.
    splits_at_blanks
        Whether a piece may end at a blank instead, if there is no line end for a long stretch.

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
            "Only counting and training accept it. If it is not one, specify its kind.",
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
    """Return a reader of a stream of bytes, such as standard input, as `opened` does for a file.

    Raises
    ------
    StudioError
        If there is no such encoding or error handling, or such content can only be read from a file.
    """
    if kind in ("parquet", "word-counts"):
        raise StudioError(
            "A file of the kind {kind} cannot be read from {name}", "Give its name.", kind=kind, name=name
        )  # fmt: skip
    splits = splits_at_blanks and kind == "text"
    text = TextStream(stream, name, encoding=encoding, errors=errors, splits_at_blanks=splits)
    return _texts_in(text, kind, column, errors)


def _texts_in(text: Text, kind: FileKind, column: str | None, errors: ErrorHandling) -> Text | RowSource:
    """Return a reader of the texts in a file or stream of the given kind."""
    if kind == "jsonl":
        from wordpiece_studio.corpus.json_lines import JsonLines

        return JsonLines(text, column, errors)
    if kind in ("csv", "tsv"):
        from wordpiece_studio.corpus.delimited import DelimitedTexts

        return DelimitedTexts(text, column, errors, "tsv" if kind == "tsv" else "csv")
    return text
