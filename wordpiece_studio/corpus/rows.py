"""The texts of rows as pieces of text: jsonl, csv and tsv, and what the reader of parquet shares with these.

Each row is one text or, if it contains line breaks, several lines; no word extends from one row into the next.

In jsonl a JSON object is in every line, with the text in one of its fields; memory depends on the texts only. If a
field occurs twice in an object, the last one counts; NaN and Infinity are accepted, because many programs write them.
Empty lines are not rows.

The rows of csv and tsv are read strictly: one whose width differs from the first one's is an error. Quoting is as
spreadsheets write it, and cells may contain line breaks. An unclosed quote swallows at most the longest cell, and when
faulty rows are skipped, reading resumes in the next line. Many programs do not quote in tsv files: a line with invalid
quoting is taken literally if that gives the right number of cells.
"""

from __future__ import annotations

import csv
import json
import re
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from wordpiece_studio.corpus.decoding import ErrorHandling, Rows, TextPiece
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    ColumnKind = Literal["field", "column"]

NAME_COLUMN_ADVICE = "Specify the one to read."
SKIP_ADVICE = "Correct it, or ask for such lines to be skipped."
CHARACTERS_ADVICE = "Ask for such characters to be replaced or such lines to be skipped."

USUAL_COLUMNS = ("text", "content", "contents", "body", "sentence", "document", "article", "raw_content")

_FIRST_ROWS = 20  # which show where the text is
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass
class RowCollector:
    """Joins the texts of some rows, which have numbers if they have no lines, into one piece."""

    name: str
    encoding: str
    errors: ErrorHandling
    has_lines: bool = True
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    replaced: int = 0
    skipped: int = 0

    def add(self, text: str, line: int, byte: int) -> None:
        self.texts.append(text)
        self.lines.append(line)
        self.bytes.append(byte)

    def piece(self, line: int, byte: int, end_byte: int) -> TextPiece:
        """Return all that was added as a piece, which represents the file from `byte` to `end_byte`."""
        text, data = "\n".join([*self.texts, ""]), b"\0"
        with suppress(UnicodeEncodeError):  # faster than looking for surrogates
            data = text.encode()
        if b"\0" in data:
            self._repair()
            text = "\n".join([*self.texts, ""])
            data = text.encode()
        starts = list(accumulate((len(text) + 1 for text in self.texts), initial=0))[:-1]
        rows = Rows(starts, self.lines, self.bytes)
        return TextPiece(text, self.name, line, byte, end_byte, self.encoding, self.replaced, self.skipped, data, rows)

    def _repair(self) -> None:
        rows = list(zip(self.texts, self.lines, self.bytes, strict=True))
        self.texts, self.lines, self.bytes = [], [], []
        for text, line, byte in rows:
            repaired, faults = _NO_TEXT.subn("\ufffd", text)
            if faults and self.errors == "strict":
                raise self._fault(text, line, byte)
            if faults and self.errors == "skip-line":
                self.skipped += 1
            else:
                self.replaced += faults
                self.add(repaired, line, byte)

    def _fault(self, text: str, line: int, byte: int) -> StudioError:
        bad = _NO_TEXT.findall(text)[0]
        what = "{path}, line {line}, byte {byte}: " if self.has_lines else "{path}, row {line}: "
        what += "the text contains "
        what += "a NUL character" if bad == "\0" else "an unpaired surrogate (U+{code:04X})"
        return StudioError(what, CHARACTERS_ADVICE, path=self.name, line=line, byte=byte, code=ord(bad))


def chosen_column(columns: Sequence[str], name: str, kind: ColumnKind, every: Sequence[str] = ()) -> str:
    """Return which of the columns with text, out of `every`, is the text: the only one, or one with a usual name."""
    found = proposed_column(columns)
    if found is not None:
        return found
    if not columns:
        advice = "Available: {columns}. Choose a file with text." if every else "Choose a file with text."
        raise StudioError(f"{{path}} has no {kind} with text", advice, path=name, columns=listed_names(every))
    what = f"{{path}} has more than one {kind} that may be the text: {{columns}}"
    raise StudioError(what, NAME_COLUMN_ADVICE, path=name, columns=listed_names(columns))


def proposed_column(columns: Sequence[str]) -> str | None:
    usual = {column.lower(): column for column in reversed(columns)}
    return next((usual[name] for name in USUAL_COLUMNS if name in usual), columns[0] if len(columns) == 1 else None)


def no_column(column: str, columns: Sequence[str], name: str) -> StudioError:
    what = '{path} has no column "{column}"'
    advice = "Available: {columns}." if columns else "Choose a file with columns."
    return StudioError(what, advice, path=name, column=printable(column), columns=listed_names(columns))


def listed_names(names: Sequence[str]) -> str:
    shown = [printable(name[:60]) for name in names[:20]]
    return ", ".join(shown) + (", …" if len(names) > 20 else "")


# -- jsonl

# Python's objects for this many bytes take a few hundred megabytes if all of them are brackets.
_MOST_PARSED_BYTES = 16 << 20
_FIRST_BYTES = 256 << 10
_DEEPEST_FIELD = 3
# msgspec's messages about a row of the wrong type.
_WRONG_KIND = re.compile(r"Expected `(str|object)`, got `(\w+)`(?: - at `\$\.(.+)`)?")
_MISSING = re.compile(r"Object missing required field `(.+?)`(?: - at `\$\.(.+)`)?")
# JSON's names of Python's types, and of those that msgspec calls otherwise.
_JSON_TYPES = {
    "str": "string", "bool": "boolean", "int": "number", "float": "number", "dict": "object", "list": "array",
    "NoneType": "null",
}  # fmt: skip
_TOO_DEEP = "{path}, line {line}, byte {byte}: the JSON is nested too deeply"


@dataclass
class JsonLines:
    """Finds the texts in one field of the objects in a jsonl file or stream."""

    name: str
    column: str | None
    errors: ErrorHandling

    def texts(self, pieces: Iterator[TextPiece]) -> Iterator[TextPiece]:
        first, rows = self._first(pieces)
        decoder = self._decoder_for(rows)
        for piece in chain(first, pieces):
            lines = _utf8_lines(piece)
            decoder = decoder or self._decoder_for(first_objects(lines, self.column))
            yield self._rows_of(piece, lines, decoder or _TextDecoder(()))

    def _first(self, pieces: Iterator[TextPiece]) -> tuple[list[TextPiece], list[dict[str, Any]]]:
        """Return the first pieces, and the first objects, which do not depend on how the text is divided."""
        read: list[TextPiece] = []
        rows: list[dict[str, Any]] = []
        size = 0
        for piece in pieces:
            read.append(piece)
            for line in _utf8_lines(piece):
                if size < _FIRST_BYTES and len(rows) < _FIRST_ROWS:
                    rows += first_objects([line], self.column)
                size += len(line) + 1
            if size >= _FIRST_BYTES or len(rows) == _FIRST_ROWS:
                break
        return read, rows

    def _decoder_for(self, rows: Sequence[dict[str, Any]]) -> _TextDecoder | None:
        column = self.column
        if column is None and rows:
            every = list(dict.fromkeys(name for row in rows for name in row))
            column = chosen_column(fields_with_text(rows), self.name, "field", every)
        if column is None:
            return None
        has_such_name = any(column in row for row in rows)
        return _TextDecoder((column,) if has_such_name else tuple(column.split(".")))

    def _rows_of(self, piece: TextPiece, lines: Sequence[bytes], decoder: _TextDecoder) -> TextPiece:
        collector = RowCollector(self.name, piece.encoding, self.errors)
        collector.replaced, collector.skipped = piece.replaced, piece.skipped_lines
        starts = list(accumulate(_sizes_of_lines(piece), initial=piece.byte))
        try:
            collector.texts = decoder.texts(lines)
            collector.lines, collector.bytes = list(range(piece.line, piece.line + len(lines))), starts[:-1]
        except (msgspec.DecodeError, RecursionError):  # then one by one
            for number, (line, byte) in enumerate(zip(lines, starts, strict=False), start=piece.line):
                if not line.strip():
                    continue
                try:
                    collector.add(decoder.text(line), number, byte)
                except _FaultyRow as fault:
                    if self.errors != "skip-line":
                        byte += len(fault.before.encode(piece.encoding, "replace"))
                        place = {"path": self.name, "line": number, "byte": byte}
                        raise StudioError(fault.what, SKIP_ADVICE, **place, **fault.values) from None
                    collector.skipped += 1
        return collector.piece(piece.line, piece.byte, piece.end_byte)


class _FaultyRow(Exception):
    def __init__(self, what: str, before: str = "", **values: object) -> None:
        super().__init__(what)
        self.what = what
        self.before = before
        self.values = values


class _TextDecoder:
    """Decodes the text in one field of a row; `path` leads to it through the enclosing objects."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path
        kind: Any = str
        try:
            for name in reversed(path):
                kind = msgspec.defstruct("Row", [("value", kind)], rename={"value": name})
            self._decode = msgspec.json.Decoder(kind).decode
        except ValueError:  # a name that must be escaped
            self._decode = msgspec.json.Decoder(type(None)).decode  # which fails for every row

    def texts(self, lines: Iterable[bytes]) -> list[str]:
        values = list(map(self._decode, lines))
        for _ in self._path:
            values = [value.value for value in values]
        return values

    def text(self, line: bytes) -> str:
        try:
            return self.texts([line])[0]
        except RecursionError:
            raise _FaultyRow(_TOO_DEEP) from None
        except msgspec.DecodeError as error:
            if len(line) > _MOST_PARSED_BYTES:
                raise _fault_in_long(str(error)) from None
        value = parsed(line)
        for depth, name in enumerate(self._path):
            if not isinstance(value, dict):
                raise _wrong_type("object", self._path[:depth], _JSON_TYPES[type(value).__name__])
            if name not in value:
                raise _missing(name, self._path[:depth], list(value))
            value = value[name]
        if not isinstance(value, str):
            raise _wrong_type("str", self._path, _JSON_TYPES[type(value).__name__])
        return value


def parsed(line: bytes) -> Any:
    """Return the content of a line of JSON, except for exact numbers."""
    text = line.decode()
    try:
        # Integers of more than 4300 digits would be rejected.
        return json.loads(text, parse_int=len)
    except json.JSONDecodeError as error:
        what, column = "{path}, line {line}, column {column}, byte {byte}: this is not JSON ({reason})", error.pos + 1
        raise _FaultyRow(what, text[: error.pos], column=column, reason=error.msg) from None
    except RecursionError:
        raise _FaultyRow(_TOO_DEEP) from None


def first_objects(lines: Iterable[bytes], column: str | None = None) -> list[dict[str, Any]]:
    """Return the objects in the first lines that contain one; of very long ones only `column` and the usual fields."""
    found: list[dict[str, Any]] = []
    for line in lines:
        with suppress(_FaultyRow, msgspec.DecodeError, RecursionError):
            row = parsed(line) if len(line) <= _MOST_PARSED_BYTES else _fields_of_long(line, column)
            found += [row] if isinstance(row, dict) else []
        if len(found) == _FIRST_ROWS:
            break
    return found


def fields_with_text(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the fields that are a text in any of the rows; ``"meta.text"`` is one within another."""
    return list({name: None for row in rows for name in _text_fields(row)})


def _text_fields(row: dict[str, Any], depth: int = 0) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, str):
            yield name
        elif isinstance(value, dict) and depth < _DEEPEST_FIELD:
            yield from (f"{name}.{inner}" for inner in _text_fields(value, depth + 1))


def _fields_of_long(line: bytes, column: str | None) -> dict[str, str | None]:
    """Return which of `column` and the usual fields an object has, with an empty text for those that are texts."""
    names = [name for name in {*USUAL_COLUMNS, column} if name and name.isidentifier()]
    fields = [(name, msgspec.Raw, msgspec.Raw()) for name in names]
    row = msgspec.json.decode(line, type=msgspec.defstruct("Row", fields))
    found = {name: bytes(memoryview(getattr(row, name))[:1]) for name in names}
    return {name: "" if first == b'"' else None for name, first in found.items() if first}


def _utf8_lines(piece: TextPiece) -> list[bytes]:
    return piece.utf8.removesuffix(b"\n").split(b"\n")


def _sizes_of_lines(piece: TextPiece) -> list[int]:
    if piece.encoding == "utf-8":
        return [len(line) + 1 for line in _utf8_lines(piece)]
    return [len(f"{line}\n".encode(piece.encoding, "replace")) for line in piece.text.removesuffix("\n").split("\n")]


def _fault_in_long(message: str) -> _FaultyRow:
    """Return the fault that msgspec's message reports in a row that is too long to be parsed again.

    >>> _fault_in_long("Expected `str`, got `int` - at `$.text`").values
    {'field': 'text', 'type': 'number'}
    """
    if wrong := _WRONG_KIND.fullmatch(message):
        wanted, found, path = wrong.groups()
        return _wrong_type(wanted, path.split(".") if path else (), _JSON_TYPES.get(found, found))
    if missing := _MISSING.fullmatch(message):
        name, path = missing.groups()
        return _missing(name, path.split(".") if path else ())
    return _FaultyRow("{path}, line {line}, byte {byte}: this is not JSON ({reason})", reason=message)


def _wrong_type(wanted: str, path: Sequence[str], found: str) -> _FaultyRow:
    what = "{path}, line {line}, byte {byte}: " + ('the field "{field}"' if path else "the row")
    what += f" is not {'an object' if wanted == 'object' or not path else 'a text'} (JSON type: {{type}})"
    return _FaultyRow(what, field=".".join(path), type=found)


def _missing(name: str, path: Sequence[str], others: Sequence[str] = ()) -> _FaultyRow:
    what = "{path}, line {line}, byte {byte}: " + ('the field "{field}"' if path else "the row")
    what += ' has no field "{name}"' + ("; it has: {names}" if others else "")
    return _FaultyRow(what, field=".".join(path), name=name, names=listed_names(others))


# -- csv and tsv

_LONGEST_CELL = 16 << 20  # characters; a longer one is probably an unclosed quote

_DELIMITERS = ",;\t|"
QUOTE_ADVICE = (
    "Correct it: a quoted cell ends with its quote, and a quote in it is doubled. Or ask for such lines to be skipped."
)
_SNIFFED_LINES, _SNIFFED_CHARACTERS = 100, 1 << 16


class Row(NamedTuple):
    cells: list[str]
    line: int
    byte: int
    end_byte: int


class DelimitedRows:
    """The rows of a csv or tsv file, including the header.

    Without a delimiter, that of `_DELIMITERS` is taken that fits the first rows best. A line with invalid quoting may
    be taken as it stands: split at its delimiters only.
    """

    def __init__(
        self,
        name: str,
        pieces: Iterator[TextPiece],
        delimiter: str | None,
        errors: ErrorHandling,
        *,
        is_literal: bool = False,
    ) -> None:
        # For the whole process, unfortunately; nothing else here reads csv.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
        self._name = name
        self._errors = errors
        self._lines = _Lines(pieces)
        self._literal = is_literal
        self._delimiter = delimiter
        self._width: int | None = None

    @property
    def encoding(self) -> str:
        return self._lines.encoding

    def losses(self) -> tuple[int, int]:
        """Return how many places were replaced and how many rows left out since the last call."""
        lines = self._lines
        losses = lines.replaced, lines.skipped
        lines.replaced = lines.skipped = 0
        return losses

    def __iter__(self) -> Iterator[Row]:
        lines = self._lines
        delimiter = self._delimiter or sniffed_delimiter(lines.ahead())
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line, byte = lines.begin_row()
            try:
                cells, fault = next(reader, None), None
                if cells and self._width not in (None, len(cells)):
                    what = "the number of cells is {n}, not {expected} as in the first row"
                    fault = self._error(what, line, byte, n=len(cells), expected=self._width)
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
                lines.skipped += 1
                lines.give_back_all_but_first()
            elif cells:
                self._width = self._width or len(cells)
                yield Row(cells, line, byte, lines.byte)

    def _error(self, what: str, line: int, byte: int, advice: str = SKIP_ADVICE, **values: object) -> StudioError:
        what = "{path}, line {line}, byte {byte}: " + what
        return StudioError(what, advice, path=self._name, line=line, byte=byte, **values)

    def _fault(self, error: csv.Error, line: int, byte: int, delimiter: str) -> StudioError:
        row = "".join(self._lines.row)
        opened = _open_quote(row, delimiter)
        if opened is not None:
            what, before = "the quote that opens here is not closed correctly ({reason})", row[:opened]
            line += before.count("\n")
            byte += len(before.encode(self.encoding, "replace"))
            return self._error(what, line, byte, QUOTE_ADVICE, reason=error)
        what = "the row cannot be read ({reason})"
        if "new-line character" in str(error):
            what = "there is a CR without an LF after it; lines must end with LF or CR LF, and cells with line ends "
            what += "need quotes"
        return self._error(what, line, byte, reason=error)


def sniffed_delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits the most lines into as many cells as the first line; a comma if none does.

    >>> sniffed_delimiter(["id;text", "1;one, two", "2;three"])
    ';'
    """
    best, best_fit = ",", (0.0, 1)
    for delimiter in _DELIMITERS:
        widths = []
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        with suppress(csv.Error):
            for cells in reader:
                widths += [len(cells)] if cells else []
        if widths and widths[0] > 1:
            fit = widths.count(widths[0]) / len(widths), widths[0]
            best, best_fit = (delimiter, fit) if fit > best_fit else (best, best_fit)
    return best


class _Line(NamedTuple):
    text: str  # with its end
    number: int
    byte: int
    end_byte: int


class _Lines:
    def __init__(self, pieces: Iterator[TextPiece]) -> None:
        self.encoding = "utf-8"
        self.replaced = self.skipped = 0
        self.byte = 0  # of what comes after the row
        self._coming = self._read(pieces)
        self._ahead: deque[_Line] = deque()
        self._row: list[_Line] = []

    @property
    def row(self) -> list[str]:
        return [line.text for line in self._row]

    def begin_row(self) -> tuple[int, int]:
        self._row = []
        if not self._ahead:
            self._ahead.extend(islice(self._coming, 1))
        return (self._ahead[0].number, self._ahead[0].byte) if self._ahead else (0, self.byte)

    def give_back_all_but_first(self) -> None:
        self._ahead.extendleft(reversed(self._row[1:]))
        del self._row[1:]
        self.byte = self._row[0].end_byte

    def ahead(self) -> list[str]:
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
            lines = piece.text.removesuffix("\n").split("\n") if piece.text else []
            byte = piece.byte
            for number, (line, size) in enumerate(zip(lines, _sizes_of_lines(piece), strict=False), start=piece.line):
                yield _Line(f"{line}\n", number, byte, byte + size)
                byte += size


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


def delimited_texts(
    pieces: Iterator[TextPiece], *, name: str, column: str | None, errors: ErrorHandling, is_tsv: bool
) -> Iterator[TextPiece]:
    """Yield the texts in one column of a csv or tsv file, each followed by a line end, in pieces of bounded size.

    The first row names the columns, unless the column is given by a number that is not one of these names: then it is
    the column with that number, from 1, and the first row is an ordinary one.
    """
    reader = DelimitedRows(name, pieces, "\t" if is_tsv else None, errors, is_literal=is_tsv)
    rows = iter(reader)
    first = list(islice(rows, _FIRST_ROWS))
    index, has_header = _found_column(first, column, name) if first else (0, False)
    coming = chain(first[has_header:], rows)
    line, end = (first[0].line, first[0].end_byte) if first else (1, 0)

    while True:
        batch = list(_some(coming, index))
        collector = RowCollector(name, reader.encoding, errors)
        collector.replaced, collector.skipped = reader.losses()
        if not batch:
            break
        for row in batch:
            collector.add(row.cells[index], row.line, row.byte)
        end = batch[-1].end_byte
        yield collector.piece(batch[0].line, batch[0].byte, end)
    if collector.skipped or collector.replaced:
        yield collector.piece(line, end, end)


def _found_column(first: Sequence[Row], column: str | None, name: str) -> tuple[int, bool]:
    """Return the index of the column, from 0, and whether the first row is the header."""
    header = first[0].cells
    if column is None:
        column = chosen_column(columns_with_text(first), name, "column", header)
    if header.count(column) > 1:
        what = '{path} has more than one column "{column}"'
        raise StudioError(what, "Use different names in its first line.", path=name, column=printable(column))
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
