"""Reading a project file from an unknown source: nothing in it is trusted before it has been checked.

Checked on opening: that it is a complete regular file in a known format, as far as its bytes show before SQLite sees
any of them; its tables, which must be exactly ours; the database's own structure; the records and the list of parts
against their hash; and how much memory its parts would take, before any is read. A part is checked when it is read. A
journal beside the file is ignored: no project has one, and the hashes would reveal any change made by a foreign one.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sqlite3
import stat
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import zstandard

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.contents import PackedPart
from wordpiece_studio.storage.project.layout import (
    APPLICATION_ID,
    CODEC,
    ITEM_BYTES,
    MAJOR,
    PAGE_BYTES,
    PART,
    PROGRAM,
    ROOT,
    ROWS_PER_CHUNK,
    SCHEMA,
    TEXT,
    TEXT_BYTES_PER_CHUNK,
    TRAILER_BYTES,
    TRAILER_MAGIC,
    Part,
    SourceRow,
    chunk_hash,
    damaged,
    not_a_project,
    part_hash,
    root_hash,
)
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


_MAGIC = b"SQLite format 3\0"
_NOT_AS_MANY = "{path} is damaged at {part}: there are not {n:,} of them"
_TOO_MUCH = "{path} is damaged at {part}: they would take {needed:,} bytes, more than any genuine ones"
_HEADER_BYTES = 100
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class _Head:
    """The content of a file's first bytes. `version`: 1000 times the major number plus the minor one."""

    version: int
    size: int
    is_whole: bool

    @property
    def major(self) -> int:
        """The major number of the version."""
        return self.version // 1000

    @property
    def minor(self) -> int:
        """The minor number of the version."""
        return self.version % 1000


def read_head(path: str | os.PathLike[str]) -> _Head:
    """Read the first and the last bytes of a project, but nothing from a device, a pipe or a folder."""
    regular_file_status(path)
    try:
        # Never block, whatever may have replaced the file in the meantime.
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise not_a_project(path)
            head = file.read(_HEADER_BYTES)
            if not head:
                raise StudioError("{path} is empty", "Open a copy of it from a backup.", path=display_name(path))
            file.seek(max(0, status.st_size - TRAILER_BYTES))
            tail = file.read(TRAILER_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(head) < _HEADER_BYTES or head[:16] != _MAGIC or _number(head, 68) != APPLICATION_ID:
        raise not_a_project(path)
    is_whole = (
        _number(head, 16, 2) == PAGE_BYTES
        and head[18:20] == b"\x01\x01"  # written without a write-ahead log
        and _number(head, 28) * PAGE_BYTES + TRAILER_BYTES == status.st_size
        and tail.startswith(TRAILER_MAGIC)
    )
    return _Head(_number(head, 60), status.st_size, is_whole)


def _head_of(image: bytes) -> _Head:
    """Return the head of a database that is not in a file yet."""
    return _Head(_number(image, 60), len(image), is_whole=True)


def _number(head: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(head[at : at + size], "big")


@dataclass(frozen=True, slots=True)
class ProjectStamp:
    """What a project's file is like: its size in bytes, the time of its last change, and in hexadecimal its end.

    The end is a hash of all the rest. -1 and empty: unknown.
    """

    size: int = -1
    modified_ns: int = -1
    end: str = ""


def stamp_of(path: str | os.PathLike[str] | None) -> ProjectStamp:
    """Return what the file at `path` is like now; all unknown if it cannot be read, or is no regular file."""
    try:
        if path is not None and stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                file.seek(max(0, status.st_size - TRAILER_BYTES))
                return ProjectStamp(status.st_size, status.st_mtime_ns, file.read(TRAILER_BYTES).hex())
    except (OSError, ValueError):
        pass
    return ProjectStamp()


def is_replaced(path: str | os.PathLike[str], before: ProjectStamp) -> bool:
    """Return whether a file has another content than before; one that only has another time has not.

    Of a file that is not there, or of which nothing was known, it cannot be said: False.
    """
    now = stamp_of(path)
    if now.size < 0 or before.size < 0:
        return False
    if (now.size, now.modified_ns) == (before.size, before.modified_ns) and before.end in ("", now.end):
        return False
    if (now.size, now.end) != (before.size, before.end):
        return True
    if now.size > _LARGEST_COMPARED:
        return False
    try:
        check_every_byte(path)
    except StudioError:
        return True
    return False


def check_every_byte(path: str | os.PathLike[str]) -> None:
    """Check a project against the hash at its end."""
    result, last = hashlib.sha256(), b""
    try:
        with open(path, "rb") as file:
            while piece := file.read(_READ_AT_ONCE):
                last += piece
                result.update(last[:-TRAILER_BYTES])
                last = last[-TRAILER_BYTES:]
    except OSError as error:
        raise unreadable(path, error) from error
    if last != TRAILER_MAGIC + result.digest():
        raise damaged(path, "{path} is damaged: its bytes differ from those that were saved")


_LARGEST_COMPARED = 20_000_000
"""In bytes; of a larger project, its end says whether it is the same."""
_LONGEST_VALUE = 64 << 20  # bytes of one text or blob in the database
_STEPS_AT_ONCE, _MOST_CALLS, _BYTES_PER_CALL = 10_000, 1_000, 4096
"""Limits of SQLite's virtual machine: calls of so many steps each, plus one per page. Genuine files need few."""
_SMALL = 128 << 20
_MOST_EXPANSION = 100
"""Parts may take this many bytes plus this many times the file size; genuine ones take less than ten times it."""
_STRING_BYTES = 80  # the memory of a short string besides its text


class Container:
    """The records and parts of a project.

    Parameters
    ----------
    path
        The path of the file.
    image
        The content to use instead of the file's, without the hash at its end; None to read the file.

    Attributes
    ----------
    path : str
        The path of the file.
    major, minor : int
        The version of its format.
    meta : dict[str, str]
        The records as JSON, by name.
    sources : list[SourceRow]
        The files of the corpus.
    parts : dict[str, Part]
        The parts by name.
    """

    def __init__(self, path: str | os.PathLike[str], image: bytes | None = None) -> None:
        self.path = os.fspath(path)
        head = read_head(path) if image is None else _head_of(image)
        self._size, self.major, self.minor = head.size, head.major, head.minor
        if head.major > MAJOR:
            raise self._too_new(head)
        if not head.is_whole:
            raise damaged(
                path, "{path} is damaged at its end: it has {size:,} bytes, not as many as were saved", size=head.size
            )
        self._lock = threading.Lock()
        with self._connected(image), self._guarded("{path} is damaged at its tables: it is not what was saved"):
            self._check_database()
            self._read_lists(head.version)

    def close(self) -> None:
        """Close the file. Parts can no longer be read."""
        self._close()

    # The database.

    @contextlib.contextmanager
    def _connected(self, image: bytes | None = None) -> Iterator[None]:
        """Open the database; if what follows fails, close it."""
        name = quote(os.fsencode(Path(self.path).absolute().as_posix()))
        where = f"file://{'' if name.startswith('/') else '/'}{name}?mode=ro&immutable=1"
        where = where if image is None else "file::memory:"
        try:
            self._database = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
            if image is not None:
                self._database.deserialize(image)
        except sqlite3.Error as error:
            raise unreadable(self.path, error) from error
        self._close = weakref.finalize(self, self._database.close)
        database, calls = self._database, itertools.count(1)  # not self, which could then never be freed
        most = _MOST_CALLS + self._size // _BYTES_PER_CALL
        database.set_progress_handler(lambda: next(calls) > most, _STEPS_AT_ONCE)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _guarded(self, what: str, **values: object) -> Iterator[None]:
        """Report every error as damage of the file; as for `damaged`."""
        try:
            yield
        except StudioError:
            raise
        except (sqlite3.Error, zstandard.ZstdError, ValueError, TypeError, OverflowError) as error:
            raise damaged(self.path, what, **values) from error

    def _check_database(self) -> None:
        execute = self._database.execute
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "query_only = ON"):
            execute(f"PRAGMA {pragma}").fetchall()
        rows = execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 5").fetchall()
        if sorted(rows) != sorted(("table", name, name, sql) for name, sql in SCHEMA.items()):
            raise damaged(self.path, "{path} is damaged at its tables: they are not those of a project")
        if execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise damaged(self.path, "{path} is damaged at its tables: it is not what was saved")

    def _read_lists(self, version: int) -> None:
        self.meta = dict(self._rows("SELECT k, v FROM meta", (str, str)))
        sources = self._rows("SELECT path, absolute, relative, about FROM source ORDER BY id", (str, bytes, None, str))
        self.sources = [SourceRow(*row) for row in sources]
        if not all(source.relative is None or isinstance(source.relative, bytes) for source in self.sources):
            raise damaged(self.path, "{path} is damaged at its list of files: it is not what was saved")
        types = (str, str, int, int, int, bytes)
        rows = self._rows("SELECT name, kind, n, first, chunks, hash FROM part ORDER BY name", types)
        self.parts = {row[0]: Part(*row) for row in rows}
        if root_hash(version, self.meta, self.sources, self.parts.values()) != self.meta.get(ROOT):
            raise damaged(self.path, "{path} is damaged at its records: it is not what was saved")
        self._check_parts()

    def _rows(self, query: str, types: tuple[type | None, ...], *values: str) -> Iterator[tuple[Any, ...]]:
        for row in self._database.execute(query, values):
            if not all(wanted is None or type(value) is wanted for value, wanted in zip(row, types, strict=True)):
                raise damaged(self.path, "{path} is damaged at its records: it is not what was saved")
            yield row

    def _check_parts(self) -> None:
        """Check that the parts cover exactly all chunks, and how much memory they would take."""
        next_chunk, needed = 1, 0
        for part in sorted(self.parts.values(), key=lambda part: (part.first, part.chunks)):
            most = TEXT_BYTES_PER_CHUNK if part.kind == TEXT else ROWS_PER_CHUNK
            if part.first != next_chunk or not 0 <= part.n or not 0 <= part.chunks:
                raise damaged(self.path, "{path} is damaged at the list of parts: it is not what was saved")
            if part.kind in ITEM_BYTES:
                if part.chunks != -(-part.n // most):
                    raise damaged(self.path, "{path} is damaged at the list of parts: it is not what was saved")
                needed += part.n * ITEM_BYTES[part.kind]
            next_chunk += part.chunks
        if self._database.execute("SELECT count(*) FROM chunk").fetchone() != (next_chunk - 1,):
            raise damaged(self.path, "{path} is damaged at the list of parts: it is not what was saved")
        self._check_memory(
            "{path} is damaged at the list of parts: they would take {needed:,} bytes, more than any genuine ones",
            needed,
        )

    def _check_memory(self, what: str, needed: int, **values: object) -> None:
        if needed > _SMALL + _MOST_EXPANSION * self._size:
            raise damaged(self.path, what, needed=needed, **values)

    def _too_new(self, head: _Head) -> StudioError:
        program = ""
        with contextlib.suppress(sqlite3.Error, StudioError), self._connected():
            rows = self._rows("SELECT v FROM meta WHERE k = ?", (str,), PROGRAM)
            program = next(rows, ("",))[0]
            self.close()
        what = "{path} was saved by {program}, in the format {format}, which this version does not know"
        if not program:
            what = "{path} has the format {format}, which this version does not know"
        return StudioError(
            what,
            "Install a newer version of WordPiece Studio to open it. The file was left as it is.",
            path=display_name(self.path),
            program=printable(program)[:60],
            format=f"{head.major}.{head.minor}",
        )

    # Parts.

    def array(self, name: str, kinds: str) -> NDArray[Any]:
        """Return a part that is an array of one of NumPy's `kinds`: ``"i"``, ``"f"``, ``"b"``."""
        part = self._part(name)
        if part.kind not in ITEM_BYTES or part.kind == TEXT or np.dtype(part.kind).kind not in kinds:
            raise damaged(self.path, PART, part=name)
        values = np.empty(part.n, dtype=part.kind)
        target, start = values.data.cast("B") if part.n else memoryview(bytearray()), 0
        for piece in self._pieces(part):
            target[start : start + len(piece)] = piece
            start += len(piece)
        if part.kind == "|b1" and part.n and values.view(np.uint8).max() > 1:
            raise damaged(self.path, PART, part=name)
        return values

    def text(self, name: str) -> str:
        """Return a part that is a text."""
        part = self._part(name)
        if part.kind != TEXT:
            raise damaged(self.path, PART, part=name)
        with self._guarded(PART, part=name):
            return b"".join(self._pieces(part)).decode("utf-8", "surrogatepass")

    def strings(self, name: str, n: int) -> list[str]:
        """Return a list of `n` strings, see `strings_parts`."""
        self._check_memory(_TOO_MUCH, _STRING_BYTES * n, part=f"{name}/text")
        text = self.text(f"{name}/text")
        if f"{name}/lengths" not in self.parts:
            if text.count("\n") != n or not text.endswith("\n"):
                raise damaged(self.path, _NOT_AS_MANY, part=f"{name}/text", n=n)
            return text[:-1].split("\n")
        lengths = self.array(f"{name}/lengths", "i").astype(np.int64)
        if len(lengths) != n or (n and (lengths.min() < 0 or lengths.max() > len(text))):
            raise damaged(self.path, _NOT_AS_MANY, part=f"{name}/lengths", n=n)
        ends = np.cumsum(lengths)
        if (int(ends[-1]) if n else 0) != len(text):
            raise damaged(self.path, PART, part=f"{name}/lengths")
        return [text[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]

    def packed(self, name: str) -> PackedPart:
        """Return a part as it is stored."""
        part = self._part(name)
        return PackedPart(name, part.kind, part.n, tuple(self._checked_chunks(part)))

    def _part(self, name: str) -> Part:
        if name not in self.parts:
            raise damaged(self.path, "{path} is damaged at {part}: it is missing", part=name)
        return self.parts[name]

    def _pieces(self, part: Part) -> Iterator[bytes]:
        """Yield the content of the chunks of a part."""
        most = TEXT_BYTES_PER_CHUNK if part.kind == TEXT else ROWS_PER_CHUNK
        decompressor, total = zstandard.ZstdDecompressor(), 0
        with self._guarded(PART, part=part.name):
            for n, data, _ in self._checked_chunks(part):
                expected = n * ITEM_BYTES[part.kind]
                total += n
                # The size stated in the data is what would be allocated.
                if not 1 <= n <= most or total > part.n or zstandard.frame_content_size(data) != expected:
                    raise damaged(self.path, PART, part=part.name)
                yield decompressor.decompress(data, max_output_size=expected)
            if total != part.n:
                raise damaged(self.path, PART, part=part.name)

    def _checked_chunks(self, part: Part) -> Iterator[tuple[int, bytes, bytes]]:
        hashes = []
        for number in range(part.chunks):
            row = self._chunk_row(part.first + number, part.name)
            n, codec, own_hash, data = row
            if [type(value) for value in row] != [int, str, bytes, bytes] or codec != CODEC:
                raise damaged(self.path, PART, part=part.name)
            if chunk_hash(part.name, part.kind, number, n, data) != own_hash:
                raise damaged(self.path, PART, part=part.name)
            hashes.append(own_hash)
            yield n, data, own_hash
        if part_hash(part.name, part.kind, part.n, hashes) != part.hash:
            raise damaged(self.path, PART, part=part.name)

    def _chunk_row(self, number: int, part: str) -> tuple[Any, ...]:
        with self._lock, self._guarded(PART, part=part):
            query = "SELECT n, codec, hash, data FROM chunk WHERE id = ?"
            row: tuple[Any, ...] | None = self._database.execute(query, (number,)).fetchone()
        if row is None:
            raise damaged(self.path, PART, part=part)
        return row
