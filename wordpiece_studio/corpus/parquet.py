"""Text from one column of a parquet file, read in small batches.

A repeated text is stored once, so a small file may expand greatly: how many rows are read at a time depends on the
longest of these texts, and a file that expands to a thousand times its size is rejected, like compressed ones. Needs
pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.compression import LARGEST_RATIO, UNSUSPICIOUS_BYTES
from wordpiece_studio.corpus.decoding import LONGEST_STRETCH_BYTES, ErrorHandling, TextPiece, checked_error_handling
from wordpiece_studio.corpus.files import FileOnDisk, is_url, open_binary
from wordpiece_studio.corpus.rows import SKIP_ADVICE, RowCollector, chosen_column, listed_names, no_column
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


_BATCH_BYTES, _MOST_BATCH_ROWS = 8 << 20, 8192
_PIECE_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 20
_LARGEST_FOOTER_PART = 64 << 20
_DAMAGED_ADVICE = "Get a new copy; the file is damaged or incomplete."


class ParquetTexts(FileOnDisk):
    """The texts in one column of a parquet file, to be read once; its pieces have row numbers, from 1, for lines."""

    def __init__(self, path: str | os.PathLike[str], column: str | None, errors: ErrorHandling) -> None:
        self._errors = checked_error_handling(errors)
        super().__init__(path)
        load_pyarrow(self.name)
        self._column = column
        self._characters_out = 0

    def pieces(self) -> Iterator[TextPiece]:
        self.bytes_read = 0
        for piece, row, rows in self.pieces_from(0):
            self.bytes_read = self.size * min(row, rows) // max(rows, 1)
            yield piece
        self.bytes_read = self.size

    def pieces_from(self, first: int) -> Iterator[tuple[TextPiece, int, int]]:
        """Yield pieces from the row `first` on, the row before which each ends, and how many there are."""
        with opened_parquet(self.path) as file:
            column = _found_column(file.schema_arrow, self._column, self.name)
            metadata = file.metadata
            row = 0
            for group in range(metadata.num_row_groups):
                rows_in_group = metadata.row_group(group).num_rows
                if row + rows_in_group <= first:
                    row += rows_in_group
                    continue
                for texts in self._batches(file, group, column):
                    passed_over = max(0, min(first - row, len(texts)))
                    for start, length in self._slices(texts, passed_over):
                        piece = self._piece(texts.slice(start, length), row + start, group, column)
                        yield piece, row + start + length, metadata.num_rows
                    row += len(texts)

    def _batches(self, file: Any, group: int, column: str) -> Iterator[Any]:
        arrow = load_pyarrow(self.name)
        import pyarrow

        try:
            batch_rows = self.batch_rows(file.metadata.row_group(group), column, group)
            for batch in file.iter_batches(batch_rows, row_groups=[group], columns=[column], use_threads=False):
                texts = batch.column(column)  # a field of another column may have the same name
                _check_indices(texts)
                yield texts.cast(pyarrow.large_string()) if texts.type == pyarrow.string_view() else texts
        except (arrow.ArrowException, OSError, MemoryError, ValueError, IndexError, KeyError) as error:
            what = '{path}: the column "{column}" of row group {group} cannot be read: {reason}'
            raise StudioError(
                what, _DAMAGED_ADVICE, path=self.name, column=printable(column), group=group, reason=reason_of(error)
            ) from error

    def batch_rows(self, group: Any, column: str, number: int) -> int:
        # More is known about each column, but if that is damaged pyarrow crashes the whole process.
        size: int = group.total_byte_size
        rows: int = group.num_rows
        if size > LONGEST_STRETCH_BYTES and size > LARGEST_RATIO * self.size:
            raise self._bomb(column, number, size)
        longest = max(size // max(rows, 1), self._longest_repeated(column, number))
        return max(1, min(_MOST_BATCH_ROWS, _BATCH_BYTES // max(longest, 1)))

    def _longest_repeated(self, column: str, group: int) -> int:
        from pyarrow import compute

        with opened_parquet(self.path, column) as file:
            first = next(file.iter_batches(1, row_groups=[group], columns=[column], use_threads=False), None)
            texts = () if first is None else getattr(first.column(column), "dictionary", ())
            return compute.max(compute.binary_length(texts)).as_py() or 0 if len(texts) else 0

    def _slices(self, texts: Any, start: int) -> Iterator[tuple[int, int]]:
        """Yield (first index, length) of parts of an array from an index on, each with enough text for a piece."""
        import numpy as np
        from pyarrow import compute

        values = texts.dictionary if hasattr(texts, "dictionary") else texts
        lengths = compute.fill_null(compute.binary_length(values), 0).to_numpy(zero_copy_only=False)
        if hasattr(texts, "dictionary"):
            indices = compute.fill_null(texts.indices, 0).to_numpy(zero_copy_only=False)
            lengths = lengths[indices] if len(lengths) else np.zeros(len(indices), np.int64)
        ends = np.cumsum(lengths, dtype=np.int64)
        before = int(ends[start - 1]) if start else 0
        while start < len(ends):
            end = max(start + 1, int(np.searchsorted(ends, before + _PIECE_BYTES, side="right")))
            yield start, end - start
            start, before = end, int(ends[end - 1])

    def _piece(self, texts: Any, row: int, group: int, column: str) -> TextPiece:
        collector = RowCollector(self.name, "utf-8", self._errors, has_lines=False)
        for number, value in enumerate(self._values(texts), start=row + 1):
            if isinstance(value, str):
                collector.add(value, number, 0)
            elif self._errors == "replace" and isinstance(value, bytes):
                text = value.decode("utf-8", "replace")
                collector.replaced += text.count("\ufffd") - value.decode("utf-8", "ignore").count("\ufffd")
                collector.add(text, number, 0)
            elif self._errors == "skip-line":
                collector.skipped += 1
            else:
                what = '{path}, row group {group}, row {row}: the column "{column}" contains bytes that are not UTF-8'
                if value is None:
                    what = '{path}, row group {group}, row {row}: there is no text in the column "{column}"'
                place = {"path": self.name, "group": group, "row": number, "column": printable(column)}
                raise StudioError(what, SKIP_ADVICE, **place)
        piece = collector.piece(row + 1, 0, 0)
        self._characters_out += len(piece.text)
        if self._characters_out > UNSUSPICIOUS_BYTES and self._characters_out > LARGEST_RATIO * self.size:
            raise self._bomb(column, group, self._characters_out)
        return piece

    def _values(self, texts: Any) -> list[str | bytes | None]:
        """Return the texts, as bytes where they are not UTF-8, and None where there is no text."""
        import pyarrow

        if hasattr(texts, "dictionary"):
            texts = texts.dictionary.take(texts.indices)
        try:
            return texts.to_pylist()  # type: ignore[no-any-return]
        except UnicodeDecodeError:
            return list(map(_decoded, texts.cast(pyarrow.large_binary()).to_pylist()))

    def _bomb(self, column: str, group: int, size: int) -> StudioError:
        return StudioError(
            '{path}: the column "{column}" claims to hold {n} MB in row group {group} of a {size} KB file, which is '
            "implausible for text",
            "Convert the file yourself if you trust it.",
            path=self.name,
            column=printable(column),
            n=size >> 20,
            group=group,
            size=max(self.size >> 10, 1),
        )


def load_pyarrow(name: str) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise StudioError(
            "{path} is a Parquet file, which needs pyarrow", "Install it: pip install pyarrow", path=name
        ) from None
    return pyarrow.lib


def opened_parquet(path: str | os.PathLike[str], column: str | None = None) -> Any:
    """Return pyarrow's reader of a file, a context manager; the texts of `column` are dictionary-encoded."""
    file = FileOnDisk(path)
    arrow = load_pyarrow(file.name)
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(
            open_binary(path) if is_url(file.name) else path,
            read_dictionary=[column] if column else None,
            buffer_size=_BUFFER_BYTES,
            pre_buffer=False,
            thrift_string_size_limit=_LARGEST_FOOTER_PART,
            thrift_container_size_limit=_LARGEST_FOOTER_PART,
        )
    except (arrow.ArrowException, OSError, MemoryError, ValueError, KeyError) as error:
        what = "{path} cannot be read as a Parquet file: {reason}"
        raise StudioError(what, _DAMAGED_ADVICE, path=file.name, reason=reason_of(error)) from error


def text_columns(schema: Any) -> list[str]:
    return [field.name for field in schema if _is_text(field.type)]


def reason_of(error: Exception) -> str:
    return printable((str(error).splitlines() or [type(error).__name__])[0][:200]).rstrip(".")


def _found_column(schema: Any, column: str | None, name: str) -> str:
    if column is None:
        column = chosen_column(text_columns(schema), name, "column", schema.names)
    if column not in schema.names:
        raise no_column(column, schema.names, name)
    if schema.names.count(column) > 1:
        raise StudioError('{path} has more than one column "{column}"', path=name, column=printable(column))
    if not _is_text(schema.field(column).type):
        raise StudioError(
            '{path}: the column "{column}" contains {type}, not texts',
            "Columns with texts: {columns}." if text_columns(schema) else "Choose a file with text.",
            path=name,
            column=printable(column),
            type=printable(str(schema.field(column).type)[:100]),
            columns=listed_names(text_columns(schema)),
        )
    return column


def _check_indices(texts: Any) -> None:
    """Raise IndexError if indices point outside their dictionary of texts, as in a damaged file."""
    from pyarrow import compute

    if hasattr(texts, "dictionary") and texts.null_count < len(texts):
        ends = compute.min_max(texts.indices).as_py()
        if not 0 <= ends["min"] <= ends["max"] < len(texts.dictionary):
            raise IndexError("a text is missing")


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decoded(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value
