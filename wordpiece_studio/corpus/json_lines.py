"""Text from jsonl: a JSON object in every line, with the text in one of its fields.

The other fields are not kept, so that memory depends on the texts only. If a field occurs twice in an object, the last
one counts; NaN and Infinity are accepted, because many programs write them. Empty lines are not rows.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.corpus.rows import (
    SKIP_ADVICE,
    USUAL_COLUMNS,
    RowCollector,
    chosen_column,
    listed_names,
)
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece

# Python's objects for this many bytes take a few hundred megabytes if all of them are brackets.
_MOST_PARSED_BYTES = 16 << 20
_FIRST_ROWS, _FIRST_BYTES = 20, 256 << 10  # which show where the text is
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
    """Finds the texts in one field of the objects in a jsonl file or stream.

    Without a column, it is the only one with text or one with a usual name. With ``"skip-line"`` faulty rows are left
    out and counted.
    """

    name: str
    column: str | None
    errors: ErrorHandling

    def texts(self, pieces: Iterator[TextPiece]) -> Iterator[TextPiece]:
        """Yield the texts of the rows, each followed by a line end, in pieces of bounded size."""
        first, rows = self._first(pieces)
        decoder = self._decoder_for(rows)
        for piece in chain(first, pieces):
            lines = _lines_of(piece)
            decoder = decoder or self._decoder_for(first_objects(lines, self.column))
            yield self._rows_of(piece, lines, decoder or _TextDecoder(()))

    def _first(self, pieces: Iterator[TextPiece]) -> tuple[list[TextPiece], list[dict[str, Any]]]:
        """Return the first pieces, and the first objects, which do not depend on how the text is divided."""
        read: list[TextPiece] = []
        rows: list[dict[str, Any]] = []
        size = 0
        for piece in pieces:
            read.append(piece)
            for line in _lines_of(piece):
                if size < _FIRST_BYTES and len(rows) < _FIRST_ROWS:
                    rows += first_objects([line], self.column)
                size += len(line) + 1
            if size >= _FIRST_BYTES or len(rows) == _FIRST_ROWS:
                break
        return read, rows

    def _decoder_for(self, rows: Sequence[dict[str, Any]]) -> _TextDecoder | None:
        """Return a decoder of rows; None if no row shows which field is the text."""
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
        starts = list(accumulate(_sizes(lines, piece.encoding), initial=piece.byte))
        try:
            collector.extend(decoder.texts(lines), range(piece.line, piece.line + len(lines)), starts[:-1])
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
    """A row without a text; `before` is the part before the place where it stops being JSON.

    `what` is the template of the error, `values` are those of its fields that do not say where the row is.
    """

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
        """Return the texts of faultless rows; raises msgspec's errors for others."""
        values = list(map(self._decode, lines))
        for _ in self._path:
            values = [value.value for value in values]
        return values

    def text(self, line: bytes) -> str:
        """Return the text of a row, or raise `_FaultyRow`."""
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
    return list(islice(_objects(lines, column), _FIRST_ROWS))


def fields_with_text(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the fields that are a text in any of the rows; ``"meta.text"`` is one within another."""
    return list({name: None for row in rows for name in _text_fields(row)})


def _text_fields(row: dict[str, Any], depth: int = 0) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, str):
            yield name
        elif isinstance(value, dict) and depth < _DEEPEST_FIELD:
            yield from (f"{name}.{inner}" for inner in _text_fields(value, depth + 1))


def _objects(lines: Iterable[bytes], column: str | None) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            row = parsed(line) if len(line) <= _MOST_PARSED_BYTES else _fields_of_long(line, column)
        except (_FaultyRow, msgspec.DecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _fields_of_long(line: bytes, column: str | None) -> dict[str, str | None]:
    """Return which of `column` and the usual fields an object has, with an empty text for those that are texts."""
    names = [name for name in {*USUAL_COLUMNS, column} if name and name.isidentifier()]
    fields = [(name, msgspec.Raw, msgspec.Raw()) for name in names]
    row = msgspec.json.decode(line, type=msgspec.defstruct("Row", fields))
    found = {name: bytes(memoryview(getattr(row, name))[:1]) for name in names}
    return {name: "" if first == b'"' else None for name, first in found.items() if first}


def _lines_of(piece: TextPiece) -> list[bytes]:
    return piece.utf8.removesuffix(b"\n").split(b"\n")


def _sizes(lines: Sequence[bytes], encoding: str) -> Iterator[int]:
    """Yield how many bytes of the file each line takes."""
    if encoding == "utf-8":
        return (len(line) + 1 for line in lines)
    return (len(f"{line.decode()}\n".encode(encoding, "replace")) for line in lines)


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
    """Return the fault of a row, or of the field in it at `path`, whose JSON type `found` is not the wanted one."""
    if not path:
        return _FaultyRow("{path}, line {line}, byte {byte}: the row is not an object (JSON type: {type})", type=found)
    what = '{path}, line {line}, byte {byte}: the field "{field}" is not a text (JSON type: {type})'
    if wanted == "object":
        what = '{path}, line {line}, byte {byte}: the field "{field}" is not an object (JSON type: {type})'
    return _FaultyRow(what, field=".".join(path), type=found)


def _missing(name: str, path: Sequence[str], others: Sequence[str] = ()) -> _FaultyRow:
    """Return the fault of a row, or of the field in it at `path`, without the field `name`, with those that it has."""
    if path:
        what = '{path}, line {line}, byte {byte}: the field "{field}" has no field "{name}"'
        if others:
            what = '{path}, line {line}, byte {byte}: the field "{field}" has no field "{name}"; it has: {names}'
    else:
        what = '{path}, line {line}, byte {byte}: the row has no field "{name}"'
        if others:
            what = '{path}, line {line}, byte {byte}: the row has no field "{name}"; it has: {names}'
    return _FaultyRow(what, field=".".join(path), name=name, names=listed_names(others))
