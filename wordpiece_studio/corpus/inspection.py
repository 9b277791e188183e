"""A first look at a file: what it seems to be, and a part of its text from anywhere in it, in little time and memory.

Only a bounded part of a file is examined, except that a table of words and their counts is read completely. Nothing
acts on the result by itself: `CorpusFile` decides how a file is read. In the part to look at, faults are not errors:
undecodable bytes are shown as U+FFFD, faulty rows are left out.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from wordpiece_studio.corpus.compression import Compression, DecompressedStream
from wordpiece_studio.corpus.count_tables import looks_like_word_counts
from wordpiece_studio.corpus.decoding import DETECT, end_of_first, end_of_last, known_encoding, marked_encoding
from wordpiece_studio.corpus.files import (
    MAY_BE_COUNTS,
    CorpusFile,
    FileOnDisk,
    TextStream,
    check_agreed,
    compression_in,
    encoding_of,
    found_encoding,
    kind_of_name,
    reading,
    sample_of,
)
from wordpiece_studio.corpus.listing import listed_files, opened_stream
from wordpiece_studio.corpus.parquet import ParquetTexts, opened_parquet, text_columns
from wordpiece_studio.corpus.rows import (
    DelimitedRows,
    columns_with_text,
    fields_with_text,
    first_objects,
    proposed_column,
)
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.corpus.decoding import EncodingGuess, How
    from wordpiece_studio.corpus.files import FileKind

_PARQUET_MAGIC = b"PAR1"
_FIRST_ROWS = 20
_BATCH_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class FileDescription:
    """What a file seems to be; what is not known of it is None."""

    path: str
    name: str
    size: int
    kind: FileKind
    compression: Compression | None = None
    encoding: str | None = None
    how: How | None = None  # the encoding is known
    columns: tuple[str, ...] = ()  # to choose from: in csv and tsv all, elsewhere those that contain text
    column: str | None = None  # the one that is probably the text
    is_kind_guess: bool = False  # the name says nothing, but all of its content looks like words and their counts

    @property
    def file(self) -> CorpusFile:
        return CorpusFile(self.path, self.kind, self.column, self.encoding if self.how in ("guess", "valid") else None)


def described(path: str | os.PathLike[str]) -> FileDescription:
    file = FileOnDisk(path)
    compression, sample = sample_of(file)
    kind = kind_of_name(file.path) or ("parquet" if sample[0].startswith(_PARQUET_MAGIC) else "text")
    guess = None
    if kind == "parquet":
        compression = None
        with opened_parquet(file.path) as content:
            columns = tuple(text_columns(content.schema_arrow))
        column = proposed_column(columns)
    else:
        guess = encoding_of(sample)
        columns, column = _columns_of(kind, sample[0], guess)
    encoding, how = (guess.name, guess.how) if guess else (None, None)
    found = FileDescription(file.path, file.name, file.size, kind, compression, encoding, how, columns, column)
    if kind in MAY_BE_COUNTS and looks_like_word_counts(replace(found.file, column=None)):
        return replace(found, kind="word-counts", column=None, is_kind_guess=True)
    return found


def described_files(
    paths: Sequence[str],
) -> Iterator[tuple[int, list[FileDescription | tuple[CorpusFile, StudioError]]]]:
    """Yield, with the number of all files, what some seem to be or what is wrong with them, every moment."""
    files = listed_files(paths)
    batch: list[FileDescription | tuple[CorpusFile, StudioError]] = []
    due = time.monotonic()
    for file in files:
        try:
            batch.append(described(file.path))
        except StudioError as error:
            batch.append((file, error))
        if time.monotonic() >= due:
            yield len(files), batch
            batch, due = [], time.monotonic() + _BATCH_SECONDS
    yield len(files), batch


def _columns_of(kind: FileKind, head: bytes, guess: EncodingGuess | None) -> tuple[tuple[str, ...], str | None]:
    encoding = guess.name if guess and guess.how != "byte order mark" else None
    stream = TextStream(io.BytesIO(head), "", encoding=encoding, errors="replace")
    if kind == "jsonl":
        lines = (line for piece in stream.pieces() for line in piece.utf8.split(b"\n"))
        fields = fields_with_text(first_objects(lines))
        return tuple(fields), proposed_column(fields)
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else None
        rows = list(islice(DelimitedRows("", stream.pieces(), delimiter, "skip-line"), _FIRST_ROWS))
        return (tuple(rows[0].cells), proposed_column(columns_with_text(rows))) if rows else ((), None)
    return (), None


SEARCHED_BYTES = 64 << 20  # the most that is decompressed, or searched for line ends

_LONGEST_LINE_START = 256 << 10
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Preview:
    text: str
    first_line: int | None  # in the file, from 1; None if that would take long to find out
    start: int  # byte of the content, from 0, or row of a parquet file
    end: int
    total: int  # for a compressed file that was not read to its end an estimate


def preview(file: CorpusFile, at: int = 0, size: int = 65536) -> Preview:
    """Return the text of a file from the line that contains the byte `at`; of a parquet file, from the row `at`.

    The byte is one of the content, from 0; past the end, the last line is shown. In a compressed file only the first
    `SEARCHED_BYTES` can be shown. About `size` bytes are shown; the file's `errors` are ignored.
    """
    check_agreed(file)
    if file.kind == "parquet":
        return _preview_of_parquet(file, at, size)
    on_disk = FileOnDisk(file.path)
    with reading(file.path) as content:
        compression = compression_in(content)
        if compression is None:
            return _preview_of(content, on_disk.size, file, at, size)
        stream = DecompressedStream(content.read, compression, on_disk.name)
        held = stream.read(min(at + size + _BLOCK, SEARCHED_BYTES))
        is_whole = not stream.read(1)
        shown = _preview_of(io.BytesIO(held), len(held), file, at, size, is_whole=is_whole)
        if is_whole:
            return shown
        estimate = len(held) * on_disk.size // max(content.tell(), 1)
        return replace(shown, total=max(estimate, len(held) + 1))


def _preview_of(
    content: BinaryIO, total: int, file: CorpusFile, at: int, size: int, *, is_whole: bool = True
) -> Preview:
    encoding, first = _encoding(content, file)
    line_end = "\n".encode(encoding)
    if not is_whole:  # the last line is incomplete
        total = _line_start(content, line_end, first, total)
    start = _line_start(content, line_end, first, min(at, max(total - len(line_end), 0)))
    content.seek(start)
    data = content.read(min(size + _BLOCK, total - start))
    if len(data) > size:  # to the end of its last line, unless that is very long
        size -= size % len(line_end)
        data = data[: end_of_first(data, line_end, max(size - len(line_end), 0)) or size]
    text = data.decode(encoding, "replace")
    if file.kind != "text":
        content.seek(first)
        header = content.read(_BLOCK).partition(line_end)[0].decode(encoding, "replace") if start > first else ""
        text = _texts_of_rows(text, header, file)
    return Preview(text, _line_number(content, encoding, first, start), start, start + len(data), total)


def _texts_of_rows(text: str, header: str, file: CorpusFile) -> str:
    """Return the texts of the rows in a stretch of a file; the stretch itself if they cannot be found."""
    if header and file.kind in ("csv", "tsv") and not (file.column or "").isdecimal():
        text = f"{header}\n{text}"
    stream = io.BytesIO(text.replace("\0", "\ufffd").encode("utf-8", "replace"))
    try:
        source = opened_stream(stream, "", file.kind, column=file.column, encoding="utf-8", errors="skip-line")
        return "".join(piece.text for piece in source.pieces())
    except StudioError:
        return text


def _encoding(content: BinaryIO, file: CorpusFile) -> tuple[str, int]:
    given = file.encoding and known_encoding(file.encoding)
    content.seek(0)
    marked = marked_encoding(content.read(4))
    if marked and given in (None, DETECT, marked[0], marked[0].rpartition("-")[0]):
        return marked
    if given == DETECT:
        return found_encoding(file.path) or "utf-8", 0
    return ("utf-8" if given is None else f"{given}-le" if given in ("utf-16", "utf-32") else given), 0


def _line_start(content: BinaryIO, line_end: bytes, first: int, at: int) -> int:
    """Return where the line that contains a byte begins; a nearby place if the line is very long."""
    width = len(line_end)
    at = max(first, at - (at - first) % width)
    lowest = max(first, at - _LONGEST_LINE_START)
    content.seek(lowest)
    before = content.read(at - lowest)
    end = end_of_last(before, line_end, 0)
    return lowest + end if end or lowest == first else at


def _line_number(content: BinaryIO, encoding: str, first: int, start: int) -> int | None:
    """Return the number, from 1, of the line that begins at a byte; None if that is far into the file."""
    if start > SEARCHED_BYTES:
        return None
    content.seek(first)
    is_wide = encoding.startswith(("utf-16", "utf-32"))
    number = 1
    for place in range(first, start, _BLOCK):
        data = content.read(min(_BLOCK, start - place))
        number += data.decode(encoding, "replace").count("\n") if is_wide else data.count(b"\n")
    return number


def _preview_of_parquet(file: CorpusFile, at: int, size: int) -> Preview:
    texts = ParquetTexts(file.path, file.column, "skip-line")
    with opened_parquet(file.path) as content:
        total = max(0, int(content.metadata.num_rows))
    first = max(min(at, total - 1), 0)
    shown: list[str] = []
    end = first
    for piece, _, _ in texts.pieces_from(first):
        rows = piece.rows
        starts = [*rows.starts, len(piece.text)] if rows else []
        for number, row in enumerate(rows.lines if rows else ()):
            if size > 0:
                shown.append(piece.text[starts[number] : starts[number + 1]])
                size -= len(shown[-1])
                end = row
        if size <= 0:
            break
    return Preview("".join(shown), first + 1, first, end, total)
