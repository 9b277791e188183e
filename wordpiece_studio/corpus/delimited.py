"""The rows of csv and tsv files, and the text in one of their columns.

Rows are read strictly: a row whose width differs from the first one's is an error. Quoting is as spreadsheets write it,
and cells may contain line breaks. An unclosed quote swallows at most the longest cell, and when faulty rows are
skipped, reading resumes in the next line. Many programs do not quote in tsv files: a line with invalid quoting is taken
literally if that gives the right number of cells. Not here: how bytes become text (`files`, `decoding`).
"""

from __future__ import annotations

import csv
from collections import deque
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from wordpiece_studio.corpus.rows import SKIP_ADVICE, RowCollector, chosen_column, no_column
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece


_LONGEST_CELL = 16 << 20
"""Characters; a longer one is probably an unclosed quote."""

_DELIMITERS = ",;\t|"
QUOTE_ADVICE = (
    "Correct it: a quoted cell ends with its quote, and a quote in it is doubled. Or ask for such lines to be skipped."
)
_SNIFFED_LINES, _SNIFFED_CHARACTERS = 100, 1 << 16


class Row(NamedTuple):
    """A row of cells, and its position in the file."""

    cells: list[str]
    line: int
    byte: int
    end_byte: int


class DelimitedRows:
    """The rows of a csv or tsv file, including the header.

    Without a delimiter, that of `_DELIMITERS` is taken that fits the first rows best. With ``"skip-line"`` faulty rows
    are left out and counted. A line with invalid quoting may be taken as it stands: split at its delimiters only.
    """

    def __init__(
        self,
        name: str,
        pieces: Iterator[TextPiece],
        delimiter: str | None,
        errors: ErrorHandling,
        *,
        takes_quotes_as_they_stand: bool = False,
    ) -> None:
        # For the whole process, unfortunately; nothing else here reads csv.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        self._name = name
        self._errors = errors
        self._lines = _Lines(pieces)
        self._literal = takes_quotes_as_they_stand
        self._delimiter = delimiter
        self._width: int | None = None
        self._skipped = 0

    @property
    def encoding(self) -> str:
        """The file's encoding, once a row has been read."""
        return self._lines.encoding

    def losses(self) -> tuple[int, int]:
        """Return how many places were replaced and how many rows left out since the last call."""
        lines = self._lines
        losses = lines.replaced, lines.skipped + self._skipped
        lines.replaced = lines.skipped = self._skipped = 0
        return losses

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows that have cells."""
        lines = self._lines
        delimiter = self._delimiter or sniffed_delimiter(lines.ahead())
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line, byte = lines.begin_row()
            try:
                cells = next(reader, None)
                fault = None if cells is None else self._wrong_width(cells, line, byte)
            except csv.Error as error:
                cells, fault = [], self._fault(error, line, byte, delimiter)
            if cells is None:
                return
            if fault is not None and self._literal:
                as_it_stands = lines.row[0].rstrip("\r\n").split(delimiter)
                if self._width in (None, len(as_it_stands)):
                    lines.give_back_all_but_first()
                    cells, fault = as_it_stands, None
            if fault is not None:
                if self._errors != "skip-line":
                    raise fault
                self._skipped += 1
                lines.give_back_all_but_first()
            elif cells:
                self._width = self._width or len(cells)
                yield Row(cells, line, byte, lines.byte)

    def _wrong_width(self, cells: Sequence[str], line: int, byte: int) -> StudioError | None:
        if not cells or self._width in (None, len(cells)):
            return None
        what = "{path}, line {line}, byte {byte}: the number of cells is {n}, not {expected} as in the first row"
        return self._error(what, line, byte, n=len(cells), expected=self._width)

    def _error(self, what: str, line: int, byte: int, advice: str = SKIP_ADVICE, **values: object) -> StudioError:
        return StudioError(what, advice, path=self._name, line=line, byte=byte, **values)

    def _fault(self, error: csv.Error, line: int, byte: int, delimiter: str) -> StudioError:
        row = "".join(self._lines.row)
        opened = _open_quote(row, delimiter)
        if opened is None and "new-line character" in str(error):
            return self._error(
                "{path}, line {line}, byte {byte}: there is a CR without an LF after it; lines must end with LF or "
                "CR LF, and cells with line ends need quotes",
                line,
                byte,
            )
        if opened is None:
            return self._error(
                "{path}, line {line}, byte {byte}: the row cannot be read ({reason})", line, byte, reason=error
            )
        before = row[:opened]
        return self._error(
            "{path}, line {line}, byte {byte}: the quote that opens here is not closed correctly ({reason})",
            line + before.count("\n"),
            byte + len(before.encode(self.encoding, "replace")),
            QUOTE_ADVICE,
            reason=error,
        )


def sniffed_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits the most lines into as many cells as the first line; a comma if none does.

    >>> sniffed_delimiter(["id;text", "1;one, two", "2;three"])
    ';'
    """
    best, best_fit = ",", (0.0, 1)
    for delimiter in _DELIMITERS:
        widths = []
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        with suppress(csv.Error, StopIteration):
            while True:
                if cells := next(reader):
                    widths.append(len(cells))
        if widths and widths[0] > 1:
            fit = widths.count(widths[0]) / len(widths), widths[0]
            best, best_fit = (delimiter, fit) if fit > best_fit else (best, best_fit)
    return best


class _Line(NamedTuple):
    """A line with its end, its number from 1, and the bytes of the file where it begins and ends."""

    text: str
    number: int
    byte: int
    end_byte: int


class _Lines:
    """The lines of a file for csv's reader, with the lines of the current row."""

    def __init__(self, pieces: Iterator[TextPiece]) -> None:
        self.encoding = "utf-8"
        self.replaced = self.skipped = 0
        self.byte = 0  # of what comes after the row
        self._coming = self._read(pieces)
        self._ahead: deque[_Line] = deque()
        self._row: list[_Line] = []

    @property
    def row(self) -> list[str]:
        """The lines of the row so far."""
        return [line.text for line in self._row]

    def begin_row(self) -> tuple[int, int]:
        """Start a row; return its line and byte."""
        self._row = []
        if not self._ahead:
            self._ahead.extend(islice(self._coming, 1))
        return (self._ahead[0].number, self._ahead[0].byte) if self._ahead else (0, self.byte)

    def give_back_all_but_first(self) -> None:
        self._ahead.extendleft(reversed(self._row[1:]))
        del self._row[1:]
        self.byte = self._row[0].end_byte

    def ahead(self) -> list[str]:
        """Return the next lines without consuming them."""
        size = 0
        for line in islice(self._coming, _SNIFFED_LINES):
            self._ahead.append(line)
            size += len(line.text)
            if size >= _SNIFFED_CHARACTERS:
                break
        return [line.text for line in self._ahead]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._ahead.popleft() if self._ahead else next(self._coming)
        self._row.append(line)
        self.byte = line.end_byte
        return line.text

    def _read(self, pieces: Iterator[TextPiece]) -> Iterator[_Line]:
        for piece in pieces:
            self.encoding = piece.encoding
            self.replaced += piece.replaced
            self.skipped += piece.skipped_lines
            byte = piece.byte
            lines = [f"{words}\n" for words in piece.text.removesuffix("\n").split("\n")] if piece.text else []
            for number, (line, size) in enumerate(zip(lines, _sizes(lines, piece), strict=True), start=piece.line):
                yield _Line(line, number, byte, byte + size)
                byte += size


def _sizes(lines: Sequence[str], piece: TextPiece) -> Iterable[int]:
    """Return how many bytes of the file each line of a piece takes."""
    if piece.raw:
        return [len(line) + 1 for line in piece.raw.removesuffix(b"\n").split(b"\n")]
    return [len(line.encode(piece.encoding, "replace")) for line in lines]


def _open_quote(row: str, delimiter: str) -> int | None:
    """Return where a quote opens that is not closed, or closed before the end of its cell; None if all are fine."""
    start = 0
    while start < len(row):
        if row[start] == '"':
            end = row.find('"', start + 1)
            while end >= 0 and row.startswith('"', end + 1):
                end = row.find('"', end + 2)
            if end < 0 or not row.startswith((delimiter, "\n", "\r"), end + 1):
                return start
            start = end + 2
        else:
            end = row.find(delimiter, start)
            if end < 0:
                return None
            start = end + 1
    return None


_PIECE_CHARACTERS = 1 << 20
_FIRST_ROWS = 20


def delimited_texts(
    pieces: Iterator[TextPiece], *, name: str, column: str | None, errors: ErrorHandling, is_tsv: bool
) -> Iterator[TextPiece]:
    """Yield the texts in one column of a csv or tsv file, each followed by a line end, in pieces of bounded size.

    The first row names the columns, unless the column is given by a number that is not one of these names: then it is
    the column with that number, from 1, and the first row is an ordinary one. Without a column, it is the only one with
    text or one with a usual name. With ``"skip-line"`` faulty rows are left out and counted.
    """
    reader = DelimitedRows(name, pieces, "\t" if is_tsv else None, errors, takes_quotes_as_they_stand=is_tsv)
    rows = iter(reader)
    first = list(islice(rows, _FIRST_ROWS))
    index, has_header = _found_column(first, column, name) if first else (0, False)
    coming = chain(first[has_header:], rows)
    line, end = (first[0].line, first[0].end_byte) if first else (1, 0)

    def collector_of_losses() -> RowCollector:
        collector = RowCollector(name, reader.encoding, errors)
        collector.replaced, collector.skipped = reader.losses()
        return collector

    while batch := list(_some(coming, index)):
        collector = collector_of_losses()
        for row in batch:
            collector.add(row.cells[index], row.line, row.byte)
        end = batch[-1].end_byte
        yield collector.piece(batch[0].line, batch[0].byte, end)
    collector = collector_of_losses()
    if collector.skipped or collector.replaced:
        yield collector.piece(line, end, end)


def _found_column(first: Sequence[Row], column: str | None, name: str) -> tuple[int, bool]:
    """Return the index of the column, from 0, and whether the first row is the header."""
    header = first[0].cells
    if column is None:
        column = chosen_column(columns_with_text(first), name, "column", header)
    if header.count(column) > 1:
        raise StudioError(
            '{path} has more than one column "{column}"',
            "Use different names in its first line.",
            path=name,
            column=printable(column),
        )
    if column in header:
        return header.index(column), True
    numbers = [str(number) for number in range(1, len(header) + 1)]
    if column in numbers:
        return numbers.index(column), False
    raise no_column(column, header, name)


def columns_with_text(rows: Sequence[Row]) -> list[str]:
    """Return those names in the first row whose columns contain letters in the other rows."""
    header, others = rows[0].cells, rows[1:]
    return [
        name
        for index, name in enumerate(header)
        if not others or any(any(map(str.isalpha, row.cells[index])) for row in others)
    ]


def _some(rows: Iterator[Row], index: int) -> Iterator[Row]:
    """Yield rows until their text in a column is enough for a piece."""
    characters = 0
    for row in rows:
        yield row
        characters += len(row.cells[index]) + 1
        if characters >= _PIECE_CHARACTERS:
            return
