"""The texts of rows as pieces of text: what the readers of jsonl, csv and parquet have in common.

Each row is one text or, if it contains line breaks, several lines; no word extends from one row into the next.
Not here: finding the rows (`json_lines`, `delimited`, `parquet`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.corpus.decoding import Rows, TextPiece
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.decoding import ErrorHandling

    ColumnKind = Literal["field", "column"]

NAME_COLUMN_ADVICE = "Specify the one to read."
SKIP_ADVICE = "Correct it, or ask for such lines to be skipped."
CHARACTERS_ADVICE = "Ask for such characters to be replaced or such lines to be skipped."

USUAL_COLUMNS = ("text", "content", "contents", "body", "sentence", "document", "article", "raw_content")

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass
class RowCollector:
    """Joins the texts of some rows into one piece.

    `errors` says what to do about a row with a lone surrogate or a NUL character in its text. Without lines, rows only
    have numbers.
    """

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
        """Add the text of a row that begins in the given line and at the given byte of the file."""
        self.texts.append(text)
        self.lines.append(line)
        self.bytes.append(byte)

    def extend(self, texts: Sequence[str], lines: Sequence[int], bytes_: Sequence[int]) -> None:
        """Add the texts of several rows."""
        self.texts += texts
        self.lines += lines
        self.bytes += bytes_

    def piece(self, line: int, byte: int, end_byte: int) -> TextPiece:
        """Return all that was added as a piece, which represents the file from `byte` to `end_byte`."""
        text = self._joined()
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = b"\0"
        if b"\0" in data:
            self._repair()
            text = self._joined()
            data = text.encode()
        starts = list(accumulate((len(text) + 1 for text in self.texts), initial=0))[:-1]
        return TextPiece(
            text,
            self.name,
            line,
            byte,
            end_byte,
            self.encoding,
            self.replaced,
            self.skipped,
            data,
            Rows(starts, self.lines, self.bytes),
        )

    def _joined(self) -> str:
        return "\n".join([*self.texts, ""])

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
        if bad == "\0":
            in_line = "{path}, line {line}, byte {byte}: the text contains a NUL character"
            in_row = "{path}, row {line}: the text contains a NUL character"
        else:
            in_line = "{path}, line {line}, byte {byte}: the text contains an unpaired surrogate (U+{code:04X})"
            in_row = "{path}, row {line}: the text contains an unpaired surrogate (U+{code:04X})"
        what, place = in_line if self.has_lines else in_row, {"path": self.name, "line": line, "byte": byte}
        return StudioError(what, CHARACTERS_ADVICE, **place, code=ord(bad))


def chosen_column(columns: Sequence[str], name: str, kind: ColumnKind, every: Sequence[str] = ()) -> str:
    """Return the column with text to read when none is named: the only one, or one with a usual name.

    `columns` are those with text, `every` all of them, `name` is the file's name in messages.
    """
    found = proposed_column(columns)
    if found is not None:
        return found
    if not columns:
        advice = "Available: {columns}. Choose a file with text." if every else "Choose a file with text."
        what = "{path} has no field with text" if kind == "field" else "{path} has no column with text"
        raise StudioError(what, advice, path=name, columns=listed_names(every))
    what = "{path} has more than one column that may be the text: {columns}"
    if kind == "field":
        what = "{path} has more than one field that may be the text: {columns}"
    raise StudioError(what, NAME_COLUMN_ADVICE, path=name, columns=listed_names(columns))


def proposed_column(columns: Sequence[str]) -> str | None:
    """Return which of the columns with text is probably the text to read; None if that cannot be determined."""
    usual = {column.lower(): column for column in reversed(columns)}
    return next((usual[name] for name in USUAL_COLUMNS if name in usual), columns[0] if len(columns) == 1 else None)


def no_column(column: str, columns: Sequence[str], name: str) -> StudioError:
    """Return the error for a column that does not exist."""
    return StudioError(
        '{path} has no column "{column}"',
        "Available: {columns}." if columns else "Choose a file with columns.",
        path=name,
        column=printable(column),
        columns=listed_names(columns),
    )


def listed_names(names: Sequence[str]) -> str:
    """Return the names of columns as one printable string of limited length."""
    shown = [printable(name[:60]) for name in names[:20]]
    return ", ".join(shown) + (", …" if len(names) > 20 else "")
