"""What a file seems to be: its kind, compression and encoding, and which of its columns is the text.

Only a bounded part of a file is examined, except that a table of words and their counts is read completely. Nothing
acts on the result by itself: `CorpusFile` decides how a file is read. Not here: distinguishing encodings (`encodings`).
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.count_tables import looks_like_word_counts
from wordpiece_studio.corpus.files import (
    MAY_BE_COUNTS,
    CorpusFile,
    FileOnDisk,
    TextStream,
    encoding_of,
    kind_of_name,
    sample_of,
)

if TYPE_CHECKING:
    import os

    from wordpiece_studio.corpus.compression import Compression
    from wordpiece_studio.corpus.encodings import EncodingGuess, How
    from wordpiece_studio.corpus.files import FileKind

_PARQUET_MAGIC = b"PAR1"
_FIRST_ROWS = 20


@dataclass(frozen=True, slots=True)
class FileDescription:
    """What a file seems to be.

    Attributes
    ----------
    path, name
        Where it is, and its name as shown to the user.
    size
        Its size on disk in bytes.
    kind
        The kind that its suffix indicates, or text.
    compression
        How it is compressed; None if it is not.
    encoding, how
        Its encoding, and how that is known; None if none fits, and for parquet.
    columns
        The fields or columns to choose from; in csv and tsv all, elsewhere those that contain text.
    is_kind_guess
        Whether the kind is not from the name: all of its content looks like words and their counts.
    column
        The column that is probably the text; None if that cannot be determined.
    """

    path: str
    name: str
    size: int
    kind: FileKind
    compression: Compression | None = None
    encoding: str | None = None
    how: How | None = None
    columns: tuple[str, ...] = ()
    column: str | None = None
    is_kind_guess: bool = False

    @property
    def file(self) -> CorpusFile:
        """The file, to be read as described."""
        return CorpusFile(self.path, self.kind, self.column, self.encoding if self.how in ("guess", "valid") else None)


def described(path: str | os.PathLike[str]) -> FileDescription:
    """Return what a file seems to be; a bounded part of it is read, unless it is a table of words and their counts.

    Raises
    ------
    StudioError
        If there is no such file, or it cannot be read.
    """
    found = _described(path)
    if found.kind in MAY_BE_COUNTS and looks_like_word_counts(replace(found.file, column=None)):
        return replace(found, kind="word-counts", columns=(), column=None, is_kind_guess=True)
    return found


def _described(path: str | os.PathLike[str]) -> FileDescription:
    file = FileOnDisk(path)
    sample = sample_of(file)
    head = sample.parts[0]
    kind = kind_of_name(file.path) or ("parquet" if head.startswith(_PARQUET_MAGIC) else "text")
    if kind == "parquet":
        columns, column = _columns_of_parquet(file.path)
        return FileDescription(file.path, file.name, file.size, kind, None, None, None, columns, column)
    guess = encoding_of(sample)
    columns, column = _columns_of(kind, head, guess)
    return FileDescription(
        file.path,
        file.name,
        file.size,
        kind,
        sample.compression,
        guess.name if guess else None,
        guess.how if guess else None,
        columns,
        column,
    )


def _columns_of(kind: FileKind, head: bytes, guess: EncodingGuess | None) -> tuple[tuple[str, ...], str | None]:
    """Return the names of the columns, and which of them is probably the text."""
    from wordpiece_studio.corpus.rows import proposed_column

    encoding = guess.name if guess and guess.how != "byte order mark" else None
    stream = TextStream(io.BytesIO(head), "", encoding=encoding, errors="replace")
    if kind == "jsonl":
        from wordpiece_studio.corpus.json_lines import fields_with_text, first_objects

        lines = (line for piece in stream.pieces() for line in piece.utf8.split(b"\n"))
        fields = fields_with_text(first_objects(lines))
        return tuple(fields), proposed_column(fields)
    if kind in ("csv", "tsv"):
        from wordpiece_studio.corpus.delimited import DelimitedRows, columns_with_text

        rows = list(islice(DelimitedRows(stream, "\t" if kind == "tsv" else None, "skip-line"), _FIRST_ROWS))
        return (tuple(rows[0].cells), proposed_column(columns_with_text(rows))) if rows else ((), None)
    return (), None


def _columns_of_parquet(path: str) -> tuple[tuple[str, ...], str | None]:
    from wordpiece_studio.corpus.parquet import opened_parquet, text_columns
    from wordpiece_studio.corpus.rows import proposed_column

    with opened_parquet(path) as file:
        columns = text_columns(file.schema_arrow)
    return tuple(columns), proposed_column(columns)
