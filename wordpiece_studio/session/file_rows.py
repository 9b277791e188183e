"""A file of the corpus as the window shows it: how it is read, what is known about it, how far its count is.

Plain records; `corpus_files` has the list of them, and its table. A child process lists and describes files, and reads
any part of one for a preview: foreign files may be huge, broken or hostile, and guessing an encoding is pure Python. It
imports this module, and has no window: Qt and pipelines must not be imported here.
"""

from __future__ import annotations

import dataclasses
import json
import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.corpus.files import CorpusFile, check_agreed, kind_of_name
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child_process import lower_priority
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import CorpusStatistics, FileStatistics
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import FileKind
    from wordpiece_studio.corpus.inspection import Preview
    from wordpiece_studio.system.child_process import ParentConnection

_BATCH_SECONDS = 0.1
_FIELDS = tuple(field.name for field in dataclasses.fields(CorpusFile))

EncodingKnown = Literal["", "byte order mark", "valid", "guess", "mixed", "chosen"]


class FileState(Enum):
    """How far the count of a file is.

    `PARTLY`: the count was stopped in this file and kept. `CHANGED`: the file has changed since it was counted.
    `OUTSIDE`: a project names it, outside its folder, and the user has not agreed to reading it.
    """

    WAITING = "waiting"
    COUNTING = "counting"
    DONE = "done"
    PARTLY = "partly"
    CHANGED = "changed"
    FAULT = "fault"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of the corpus.

    Attributes
    ----------
    file
        The file and how it is read.
    size
        Bytes on disk.
    compression
        ``"gz"`` and so on; empty if not compressed.
    encoding, known
        The encoding that the file is read in, and how it is known: ``"guess"`` from the content alone, ``"chosen"`` by
        the user; empty if irrelevant, as in parquet.
    is_kind_guess
        Whether the file is read as words and their counts only because it looks like it.
    columns
        The columns or fields that can be chosen as the one with the text.
    state, statistics, error
        How far the count is, its result, and what is wrong.
    """

    file: CorpusFile
    size: int = 0
    compression: str = ""
    encoding: str = "utf-8"
    known: EncodingKnown = ""
    columns: tuple[str, ...] = ()
    is_kind_guess: bool = False
    state: FileState = FileState.WAITING
    statistics: FileStatistics | None = None
    error: StudioError | None = None

    @property
    def name(self) -> str:
        """The file's path as shown in messages."""
        return display_name(self.file.path)

    @property
    def shown_state(self) -> FileState:
        """The state as the window shows it."""
        return FileState.OUTSIDE if self.file.unagreed else self.state

    @property
    def kinds(self) -> tuple[FileKind, ...]:
        """The kinds that the file can be read as."""
        if self.file.kind == "parquet" or self.file.path.lower().endswith(".parquet"):
            return ("parquet", "word-counts")
        return ("text", "jsonl", "csv", "tsv", "word-counts")

    def read_as(
        self,
        encoding: str | None = None,
        column: str | None = None,
        errors: ErrorHandling | None = None,
        kind: FileKind | None = None,
    ) -> FileRow:
        """Return the row with the file read in another way; None, or an impossible kind, changes nothing."""
        file, known, shown = self.file, self.known, self.encoding
        is_kind_guess = self.is_kind_guess and kind is None
        if kind in self.kinds and kind != file.kind:
            file = replace(file, kind=kind, column=None)  # to be detected again
        if encoding is not None:
            file, known, shown = replace(file, encoding=encoding), "chosen", encoding
        if column is not None:
            file = replace(file, column=column)
        if errors is not None:
            file = replace(file, errors=errors)
        return replace(self, file=file, encoding=shown, known=known, is_kind_guess=is_kind_guess).uncounted()

    def as_text(self) -> FileRow:
        """Return the row with what only looked like words and their counts read as a text, from its first row on."""
        kind = kind_of_name(self.file.path) or "text"
        has_header = not any(cell.strip().isdecimal() for cell in self.columns)
        return self.read_as(kind=kind, column=None if has_header or kind not in ("csv", "tsv") else "1")

    def uncounted(self) -> FileRow:
        """Return the row as it is before a count."""
        return replace(self, state=FileState.WAITING, statistics=None, error=None)


def counted_rows(rows: Sequence[FileRow], statistics: CorpusStatistics) -> list[FileRow]:
    """Return the rows with the results of a count; if it is partial, the last file is counted only in part."""
    found = statistics.files
    counted = [
        replace(row, state=FileState.DONE, statistics=of_file, error=None)
        for row, of_file in zip(rows, found, strict=False)
    ]
    if statistics.is_partial and counted:
        counted[-1] = replace(counted[-1], state=FileState.PARTLY)
    return counted + [row.uncounted() for row in rows[len(found) :]]


def row_at_fault(rows: Sequence[FileRow], error: StudioError) -> int | None:
    """Return the index of the file that an error names; None if it names none of these files.

    Of several files with that name, the first that is not done.
    """
    named = {str(value) for key, value in error.values.items() if key in ("path", "source", "name", "file")}
    found = [index for index, row in enumerate(rows) if row.name in named]
    return next((index for index in found if rows[index].state is not FileState.DONE), found[0] if found else None)


def written_file(file: CorpusFile) -> dict[str, Any]:
    """Return a file as plain data for a child, which reads it.

    `dataclasses.asdict` takes ten times as long, and there may be thousands.
    """
    check_agreed(file)
    return {name: getattr(file, name) for name in _FIELDS}


def written_row(row: FileRow) -> dict[str, Any]:
    """Return a row not counted yet as plain data, for a message of a child process."""
    error = row.error
    return {
        "file": written_file(row.file),
        "size": row.size,
        "compression": row.compression,
        "encoding": row.encoding,
        "known": row.known,
        "columns": list(row.columns),
        "is_kind_guess": row.is_kind_guess,
        "error": None if error is None else [error.what_template, error.advice_template, _plain(error.values)],
    }


def read_row(values: dict[str, Any]) -> FileRow:
    """Return the row that `written_row` wrote."""
    error = values["error"]
    return FileRow(
        CorpusFile(**values["file"]),
        values["size"],
        values["compression"],
        values["encoding"],
        values["known"],
        tuple(values["columns"]),
        values["is_kind_guess"],
        FileState.WAITING if error is None else FileState.FAULT,
        error=None if error is None else StudioError(error[0], error[1], **error[2]),
    )


def written_rows(rows: Sequence[FileRow]) -> bytes:
    return json.dumps([written_row(row) for row in rows]).encode()


def read_rows(content: bytes) -> list[FileRow]:
    """Return the rows that `written_rows` wrote."""
    return [read_row(values) for values in json.loads(content)]


def _plain(values: dict[str, object]) -> dict[str, object]:
    return {name: value if isinstance(value, (int, float)) else str(value) for name, value in values.items()}


def describe_in_child(connection: ParentConnection, order: str) -> None:
    """List the files that the paths in `order`, a JSON list, refer to, and send batches of described rows.

    Message kinds: ``n`` the number of files, ``f`` a batch of them, see `file_rows.written_rows`.
    """
    from wordpiece_studio.corpus.listing import listed_files

    lower_priority()
    files = listed_files(json.loads(order))
    connection.send_bytes(b"n" + str(len(files)).encode())
    batch: list[FileRow] = []
    due = time.monotonic()
    for file in files:
        batch.append(described_row(file))
        if time.monotonic() >= due:
            connection.send_bytes(b"f" + written_rows(batch))
            batch, due = [], time.monotonic() + _BATCH_SECONDS
    connection.send_bytes(b"f" + written_rows(batch))


def described_row(file: CorpusFile) -> FileRow:
    """Return a file with what its beginning reveals about it; never raises a `StudioError`."""
    from wordpiece_studio.corpus.inspection import described

    try:
        found = described(file.path)
    except StudioError as error:
        return FileRow(file, state=FileState.FAULT, error=error)
    return FileRow(
        found.file, found.size, found.compression or "", found.encoding or "", found.how or "", found.columns,
        found.is_kind_guess,
    )  # fmt: skip


def preview_in_child(connection: ParentConnection) -> None:
    """Answer orders forever, each with a part of a file; an order is JSON with the file, the place and the size.

    Message kinds: ``v`` the part as JSON, ``x`` an error, as JSON with the two templates and the values.
    """
    from wordpiece_studio.corpus.inspection import preview

    while True:
        wanted = json.loads(connection.recv_bytes())
        try:
            part = preview(CorpusFile(**wanted["file"]), wanted["at"], wanted["size"])
        except StudioError as error:
            values = {name: str(value) for name, value in error.values.items()}
            connection.send_bytes(b"x" + json.dumps([error.what_template, error.advice_template, values]).encode())
        else:
            connection.send_bytes(b"v" + json.dumps(dataclasses.asdict(part)).encode())


def written_preview_order(file: CorpusFile, at: int, size: int) -> bytes:
    """Return the order for a part of a file as JSON."""
    return json.dumps({"file": written_file(file), "at": at, "size": size}).encode()


def read_preview(content: bytes) -> Preview:
    """Return the part that a message of kind ``v`` holds."""
    from wordpiece_studio.corpus.inspection import Preview

    return Preview(**json.loads(content))
