"""Inspecting files in a child process: listing them, describing them, and reading any part for a preview.

Foreign files may be huge, broken or hostile, and guessing an encoding is pure Python: neither belongs in the window's
process. This module is imported by the child, which has no window: it must not import Qt.
"""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.file_rows import FileRow, FileState, written_file, written_rows
from wordpiece_studio.system.child_process import lower_priority

if TYPE_CHECKING:
    from wordpiece_studio.corpus.inspection import Preview
    from wordpiece_studio.system.child_process import ParentConnection

_BATCH_SECONDS = 0.1


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
