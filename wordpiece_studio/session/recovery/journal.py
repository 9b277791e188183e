"""The journal: the changes since the text was last written in full, as records, each forced to disk.

A record consists of its kind (one byte), its length in bytes (four), a checksum of all of it (eight) and its bytes. If
a kill or a power cut leaves the last record incomplete, reading ends before it. One kind, `About`, says what is known
about the work without opening it: its name, its time and its extent.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import struct
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import decodable, display_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Record = tuple[bytes, bytes]
    from wordpiece_studio.storage.project.contents import Project

MAGIC = b"WPSJ\x01\x00"
EDIT, SETTINGS, VIEW, LIVE_TEXT, ABOUT = b"e", b"s", b"v", b"w", b"a"

_HEAD = struct.Struct("<cI8s")
_EDIT = struct.Struct("<QQQ")


class JournalWriter:
    """Creates or truncates the journal at `path`, and appends to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self.size = 0
        """Bytes written so far."""
        try:
            self._write(MAGIC)
        except OSError:
            self.close()
            raise

    def append(self, records: Sequence[Record]) -> None:
        """Append records; they are on disk when this returns."""
        self._write(b"".join(map(written_record, records)))

    def close(self) -> None:
        """Close the file. Failed writes are not retried."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.stat(self._path)  # fails if someone has deleted the file: what is written to it would be lost
        self.size += len(data)


def written_record(record: Record) -> bytes:
    """Return a record in the journal's format."""
    kind, content = record
    return _HEAD.pack(kind, len(content), _checksum(kind, content)) + content


def read_journal(path: Path) -> Iterator[Record]:
    """Yield the records of a journal, up to the first incomplete one."""
    try:
        with path.open("rb") as file:
            size, done = os.fstat(file.fileno()).st_size, len(MAGIC)
            if file.read(len(MAGIC)) != MAGIC:
                raise StudioError("{path} is damaged at its beginning", path=display_name(path))
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                kind, length, checksum = _HEAD.unpack(head)
                if done + _HEAD.size + length > size:
                    break
                content = file.read(length)
                if len(content) < length or _checksum(kind, content) != checksum:
                    break
                yield kind, content
                done += _HEAD.size + length
            if done < size:
                raise StudioError("{path} is damaged from byte {byte:,} onward", path=display_name(path), byte=done)
    except OSError as error:
        raise StudioError(
            "{path} cannot be read: {reason}", path=display_name(path), reason=error.strerror or error
        ) from error


def edit_record(before: str, after: str) -> Record:
    """Return the record of one edit that turns a text into another."""
    start = _common(before, after)
    rest, others = before[start:], after[start:]
    end = _common(rest, others, from_end=True)
    inserted = others[: len(others) - end].encode("utf-8", "surrogatepass")
    return EDIT, _EDIT.pack(start, len(rest) - end, len(after)) + inserted


def _common(one: str, other: str, *, from_end: bool = False) -> int:
    """Return how many characters two texts have in common at the beginning, or at the end."""
    least, most = 0, min(len(one), len(other))
    while least < most:  # half of what is left is compared at once, not one character after the other
        middle = (least + most + 1) // 2
        places = [(len(text) - middle, len(text) - least) if from_end else (least, middle) for text in (one, other)]
        (begin, end), (other_begin, other_end) = places
        if one[begin:end] == other[other_begin:other_end]:
            least = middle
        else:
            most = middle - 1
    return least


def text_after(text: str, content: bytes) -> str | None:
    """Return `text` after the edit in a record's `content`; None if that is not an edit of this text."""
    try:
        position, removed, length = _EDIT.unpack_from(content)
        inserted = content[_EDIT.size :].decode("utf-8", "surrogatepass")
    except (struct.error, UnicodeDecodeError):
        return None
    if position + removed > len(text) or len(text) - removed + len(inserted) != length:
        return None
    return text[:position] + inserted + text[position + removed :]


def _checksum(kind: bytes, content: bytes) -> bytes:
    digest = hashlib.blake2b(kind + len(content).to_bytes(4, "little"), digest_size=8)
    digest.update(content)
    return digest.digest()


_log = logging.getLogger(__name__)

_Kind = TypeVar("_Kind")
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is told about the work, and which of the files kept belong together.

    Attributes
    ----------
    name
        The name of the corpus or the project.
    project_path
        The project file that the work belongs to; empty if it was never saved as one.
    project_size, project_modified_ns
        Size of that file in bytes and time of its last change in nanoseconds since 1970, as of when it was last opened
        or saved; -1 if unknown.
    project_end
        The end of that file, a hash of all the rest, in hexadecimal; empty if unknown.
    time
        When this was written, in seconds since 1970.
    edits
        Number of unsaved changes to the text.
    merges
        Number of merges kept; the training may have had more.
    run
        The number of the file with the runs; 0 if there is none.
    is_edited
        Whether the text has edits that are not in any file.
    """

    name: str = ""
    project_path: str = ""
    project_size: int = -1
    project_modified_ns: int = -1
    project_end: str = ""
    time: Annotated[float, msgspec.Meta(ge=-1e11, le=1e11)] = 0.0
    edits: _Count = 0
    merges: _Count = 0
    run: _Count = 0
    is_edited: bool = False


def to_json(value: msgspec.Struct) -> bytes:
    """Return a record as JSON, which may contain lone surrogates."""
    return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def from_json(content: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the record that `to_json` wrote; None if the content is not a record of this kind."""
    try:
        value: Any = json.loads(content, parse_constant=_refuse)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        _log.info("a record of the journal cannot be read: %s", error)
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that this program writes")


def is_worth_keeping(project: Project) -> bool:
    """Return whether it holds any work of the user's: text, a list of files, a requested training, a mark."""
    corpus, view = project.corpus, project.view
    return bool(
        (corpus.text is not None and corpus.is_edited)
        or corpus.files
        or any(run.is_wanted and (len(run.history) or run.library_run) for run in project.runs)
        or view.notes
        or view.breakpoints
    )
