"""A project file: an SQLite database of four tables, followed by a hash of all its bytes.

``meta``    records as JSON, and the *root*: a hash of everything in this table and the next two.
``source``  the files of the corpus, one row each.
``part``    what is too large for a record, one row each: text, or an array. Its hash is that of its chunks.
``chunk``   a piece of a part, compressed, with a hash of its own.

A file is built once, in memory, and never changed, so there is never a journal beside it; one that lies there is
ignored, since the hashes would reveal any change made by it. Numbers are little-endian; array types have NumPy's names.
The version is in the database's ``user_version``, 1000 times the major number plus the minor one. A newer one is
refused.

Nothing in a file from an unknown source is trusted before it has been checked. Checked on opening: that it is a
complete regular file in a known format, as far as its bytes show before SQLite sees any of them; its tables, which must
be exactly ours; the database's own structure; the records and the list of parts against their hash; and how much memory
its parts would take, before any is read. A part is checked when it is read.
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
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import numpy as np
import zstandard

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import file_error, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Chunk = tuple[int, bytes]
    """The number of entries, and their compressed bytes."""

SUFFIX = ".wpstudio"
MAJOR, MINOR = 2, 1
# 1.1: the word counts of a corpus not trained; 1.2: several runs; 1.3: compared bookmarks; 1.4: the longest
# token first, and what other libraries trained; 1.5: the run of each bookmark; 2.0: all runs are stored alike;
# 2.1: whether what is shown is before or after the merge, and is predicted
APPLICATION_ID = 0x57505374  # "WPSt"
PAGE_BYTES = 4096

SCHEMA = {
    "meta": "CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID",
    "source": "CREATE TABLE source (id INTEGER PRIMARY KEY, path TEXT NOT NULL, absolute BLOB NOT NULL, relative BLOB,"
              " about TEXT NOT NULL)",
    "part": "CREATE TABLE part (name TEXT PRIMARY KEY, kind TEXT NOT NULL, n INTEGER NOT NULL, first INTEGER NOT NULL,"
            " chunks INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID",
    "chunk": "CREATE TABLE chunk (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, codec TEXT NOT NULL, hash BLOB NOT NULL,"
             " data BLOB NOT NULL)",
}  # fmt: skip
ROOT = "root"
PROGRAM = "program"

TEXT = "text"  # the kind of a part that is UTF-8, lone surrogates allowed; `n` counts bytes. Other kinds are arrays.
ITEM_BYTES = {TEXT: 1, "|b1": 1, "|i1": 1, "<i2": 2, "<i4": 4, "<i8": 8, "<f8": 8}
CODEC = "zstd"
ROWS_PER_CHUNK = 1 << 16
TEXT_BYTES_PER_CHUNK = 1 << 20

TRAILER_MAGIC = b"WPSt end sha256:"
TRAILER_BYTES = len(TRAILER_MAGIC) + 32

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_READ_AT_ONCE = 1 << 20
_LONGEST_VALUE = 64 << 20  # bytes of one text or blob in the database
# Limits of SQLite's virtual machine: calls of so many steps each, plus one per page. Genuine files need few.
_STEPS_AT_ONCE, _MOST_CALLS, _BYTES_PER_CALL = 10_000, 1_000, 4096
_SMALL = 128 << 20
# Parts may take this many bytes plus this many times the file size; genuine ones take less than ten times it.
_MOST_EXPANSION = 100
_STRING_BYTES = 80  # the memory of a short string besides its text
_LEVEL = 1  # higher levels take several times as long and save a tenth
_LONGEST_REASON = 300  # characters: a reason may quote the file
_NOT_AS_MANY = "{path} is damaged at {part}: there are not {n:,} of them"
_TOO_MUCH = "{path} is damaged at {part}: they would take {needed:,} bytes, more than any genuine ones"


class Part(NamedTuple):
    """A row of the table ``part``: a text of `n` bytes, or an array of `n` numbers, in consecutive chunks."""

    name: str
    kind: str
    n: int
    first: int
    chunks: int
    hash: bytes


class SourceRow(NamedTuple):
    """A row of the table ``source``: a file as it can be shown, where it is, and the rest as JSON.

    Its absolute path, and the one relative to the project's folder, with slashes, if there is one, are UTF-8, lone
    surrogates allowed: a name need not be text.
    """

    path: str
    absolute: bytes
    relative: bytes | None
    about: str


@dataclass(frozen=True, slots=True)
class PackedPart:
    """A part with its compressed chunks, which may be made only when they are asked for."""

    name: str
    kind: str
    n: int
    chunks: Iterable[Chunk]


class SavingStopped(StudioError):
    def __init__(self) -> None:
        super().__init__("Saving was stopped", "Any existing file is unchanged.")


def damaged(
    path: str | os.PathLike[str], what: str = "{path} is damaged at {part}: it is not what was saved", **values: object
) -> StudioError:
    """Return the error for a damaged project: a template, and the values of its fields, such as `part`."""
    reason = str(values.get("reason", ""))
    if len(reason) > _LONGEST_REASON:
        values["reason"] = f"{reason[:_LONGEST_REASON]}…"
    return file_error(path, what, "The file was left as it is. Open a copy of it from a backup.", **values)


def _not_a_project(path: str | os.PathLike[str]) -> StudioError:
    what = "{path} is not a WordPiece Studio project"
    advice = "Choose a file that was saved as a project, with a name ending in {suffix}."
    return file_error(path, what, advice, suffix=SUFFIX)


# Hashes.


def chunk_hash(name: str, kind: str, number: int, n: int, data: bytes) -> bytes:
    """Return the hash of chunk `number` (from 0) of a part: of its `n` compressed entries and of its place."""
    return hashlib.sha256(f"{name}\0{kind}\0{number}\0{n}\0{CODEC}\0".encode() + data).digest()


def part_hash(name: str, kind: str, n: int, chunk_hashes: Iterable[bytes]) -> bytes:
    return hashlib.sha256(f"{name}\0{kind}\0{n}\0".encode() + b"".join(chunk_hashes)).digest()


def root_hash(version: int, meta: Mapping[str, str], sources: Sequence[SourceRow], parts: Iterable[Part]) -> str:
    """Return the hash, in hexadecimal, of a project's content except the chunks, which the hashes of parts cover."""
    result = hashlib.sha256(f"{version}\0".encode())
    fields: list[bytes] = []
    for key in sorted(meta.keys() - {ROOT}):
        fields += [b"meta", key.encode(), meta[key].encode()]
    for source in sources:
        relative = b"-" if source.relative is None else b"+" + source.relative
        fields += [b"source", source.path.encode(), source.absolute, relative, source.about.encode()]
    for part in sorted(parts):
        numbers = f"{part.n} {part.first} {part.chunks}".encode()
        fields += [b"part", part.name.encode(), part.kind.encode(), numbers, part.hash]
    for field in fields:
        result.update(len(field).to_bytes(8, "little") + field)
    return result.hexdigest()


def trailer(image: bytes) -> bytes:
    """Return the bytes that follow the database: a hash of all its bytes, including those that SQLite does not use."""
    return TRAILER_MAGIC + hashlib.sha256(image).digest()


# What a file is like now.


class ProjectStamp(NamedTuple):
    """The size of a project's file in bytes, and in hexadecimal its end, a hash of all the rest; -1, empty: unknown."""

    size: int = -1
    end: str = ""


def stamp_of(path: str | os.PathLike[str] | None) -> ProjectStamp:
    """Return what the file at `path` is like now; unknown if it cannot be read, or is no regular file."""
    with contextlib.suppress(OSError, ValueError):
        if path is not None and stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - TRAILER_BYTES))
                return ProjectStamp(size, file.read(TRAILER_BYTES).hex())
    return ProjectStamp()


def is_replaced(path: str | os.PathLike[str], before: ProjectStamp) -> bool:
    """Return whether a file has another content than before; False if it is not there, or nothing was known."""
    now = stamp_of(path)
    return now.size >= 0 and before.size >= 0 and now != before


# Building a file.


def text_part(name: str, text: str) -> PackedPart:
    data = text.encode("utf-8", "surrogatepass")
    return _packed(name, TEXT, memoryview(data), len(data), TEXT_BYTES_PER_CHUNK)


def array_part(name: str, values: NDArray[Any]) -> PackedPart:
    if values.dtype.kind in "iu":
        values = values.astype(_narrowest(values), copy=False)
    elif values.dtype.kind == "f":
        values = values.astype("<f8", copy=False)
    values = np.ascontiguousarray(values)
    data = values.data.cast("B") if len(values) else memoryview(b"")
    return _packed(name, values.dtype.str, data, len(values), ROWS_PER_CHUNK)


def _packed(name: str, kind: str, data: memoryview, n: int, n_per_chunk: int) -> PackedPart:
    size = ITEM_BYTES[kind]

    def chunks() -> Iterator[Chunk]:
        compressor = zstandard.ZstdCompressor(level=_LEVEL)
        for start in range(0, n, n_per_chunk):
            entries = min(n_per_chunk, n - start)
            yield entries, compressor.compress(data[start * size : (start + entries) * size])

    return PackedPart(name, kind, n, chunks())


def _narrowest(values: NDArray[Any]) -> str:
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    return next(
        kind for kind in ("|i1", "<i2", "<i4", "<i8") if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max
    )


def strings_parts(name: str, strings: Sequence[str]) -> list[PackedPart]:
    """Return the parts of a list of strings: its text with a line end after each, which is the fastest to split.

    If a string contains line ends, the strings are joined without any, and a second part has the lengths in characters.
    """
    text = "\n".join(strings)
    if strings and text.count("\n") == len(strings) - 1:
        return [text_part(f"{name}/text", text + "\n")]
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    return [text_part(f"{name}/text", "".join(strings)), array_part(f"{name}/lengths", lengths)]


class Image:
    """A project file in memory, and the parts added so far by name.

    `progress` is called after every chunk with the thousandths done and their total: 1000 for each of `expected` parts.
    """

    def __init__(
        self, expected: int = 0, progress: Callable[[int, int], object] | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._version = MAJOR * 1000 + MINOR
        self._expected, self._progress, self._should_stop = expected, progress, should_stop
        self._chunks = 0
        self.parts: dict[str, Part] = {}
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self.close = self._database.close
        self._database.executescript(
            f"PRAGMA page_size = {PAGE_BYTES}; PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {self._version}; BEGIN; {'; '.join(SCHEMA.values())}"
        )

    def add(self, part: PackedPart) -> None:
        first, hashes, packed = self._chunks + 1, [], 0
        for number, (entries, data) in enumerate(part.chunks):
            if self._should_stop():
                raise SavingStopped
            own_hash = chunk_hash(part.name, part.kind, number, entries, data)
            hashes.append(own_hash)
            self._database.execute(
                "INSERT INTO chunk VALUES (?, ?, ?, ?, ?)", (first + number, entries, CODEC, own_hash, data)
            )
            packed += entries
            if self._progress is not None:
                done = len(self.parts) * 1000 + 1000 * packed // part.n
                self._progress(done, max(self._expected * 1000, done))
        self._chunks += len(hashes)
        own_hash = part_hash(part.name, part.kind, part.n, hashes)
        self.parts[part.name] = Part(part.name, part.kind, part.n, first, len(hashes), own_hash)

    def finished(self, meta: dict[str, str], sources: Sequence[SourceRow]) -> bytes:
        meta = {**meta, ROOT: root_hash(self._version, meta, sources, self.parts.values())}
        execute = self._database.executemany
        execute("INSERT INTO meta VALUES (?, ?)", meta.items())
        execute("INSERT INTO source (path, absolute, relative, about) VALUES (?, ?, ?, ?)", sources)
        execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", self.parts.values())
        self._database.execute("COMMIT")
        return self._database.serialize()


# Reading a file.


def read_head(path: str | os.PathLike[str]) -> tuple[int, int, bool]:
    """Read the first and the last bytes of a project, but nothing from a device, a pipe or a folder.

    Returns the version, the size in bytes, and whether the file is as long as its beginning says, with a hash at its
    end.
    """
    regular_file_status(path)
    try:
        # Never block, whatever may have replaced the file in the meantime.
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _not_a_project(path)
            head = file.read(_HEADER_BYTES)
            if not head:
                raise file_error(path, "{path} is empty", "Open a copy of it from a backup.")
            file.seek(max(0, status.st_size - TRAILER_BYTES))
            tail = file.read(TRAILER_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(head) < _HEADER_BYTES or head[:16] != _MAGIC or _number(head, 68) != APPLICATION_ID:
        raise _not_a_project(path)
    is_whole = (
        _number(head, 16, 2) == PAGE_BYTES
        and head[18:20] == b"\x01\x01"  # written without a write-ahead log
        and _number(head, 28) * PAGE_BYTES + TRAILER_BYTES == status.st_size
        and tail.startswith(TRAILER_MAGIC)
    )
    return _number(head, 60), status.st_size, is_whole


def _number(head: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(head[at : at + size], "big")


class Container:
    """The records, as JSON by name, the files of the corpus and the parts, by name, of a project.

    `image` is the content to use instead of the file's, without the hash at its end.
    """

    def __init__(self, path: str | os.PathLike[str], image: bytes | None = None) -> None:
        self.path = os.fspath(path)
        version, self._size, is_whole = (_number(image, 60), len(image), True) if image else read_head(path)
        self.major, self.minor = divmod(version, 1000)
        if (self.major, self.minor) > (MAJOR, MINOR):
            raise self._too_new()
        if self.major < 1:
            what = "{path} is damaged at its version: there was never a format {major}"
            raise damaged(path, what, major=self.major)
        if not is_whole:
            raise damaged(
                path, "{path} is damaged at its end: it has {size:,} bytes, not as many as were saved", size=self._size
            )
        self._lock = threading.Lock()
        self._awaited: set[str] = set()
        with self._connected(image), self._guarded("its tables"):
            self._check_database()
            self._read_lists(version)

    def expect(self, what: str) -> None:
        self._awaited.add(what)

    def close_if_read(self, what: str = "") -> None:
        """Close the file if nothing is expected but this, which was read, or is damaged."""
        self._awaited.discard(what)
        if not self._awaited:
            self.close()

    @contextlib.contextmanager
    def read_last(self, what: str) -> Iterator[None]:
        """Read what is expected; where memory runs out, it may be read another time."""
        try:
            yield
        except StudioError:
            self.close_if_read(what)
            raise
        self.close_if_read(what)

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
        self.close = weakref.finalize(self, self._database.close)
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
    def _guarded(self, part: str) -> Iterator[None]:
        """Report every error as damage of a part of the file."""
        try:
            yield
        except StudioError:
            raise
        except (sqlite3.Error, zstandard.ZstdError, ValueError, TypeError, OverflowError) as error:
            raise damaged(self.path, part=part) from error

    def _check_database(self) -> None:
        execute = self._database.execute
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "query_only = ON"):
            execute(f"PRAGMA {pragma}").fetchall()
        rows = execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 5").fetchall()
        if sorted(rows) != sorted(("table", name, name, sql) for name, sql in SCHEMA.items()):
            raise damaged(self.path, "{path} is damaged at its tables: they are not those of a project")
        if execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise damaged(self.path, part="its tables")

    def _read_lists(self, version: int) -> None:
        self.meta = dict(self._rows("SELECT k, v FROM meta", (str, str)))
        sources = self._rows("SELECT path, absolute, relative, about FROM source ORDER BY id", (str, bytes, None, str))
        self.sources = [SourceRow(*row) for row in sources]
        if not all(source.relative is None or isinstance(source.relative, bytes) for source in self.sources):
            raise damaged(self.path, part="its list of files")
        types = (str, str, int, int, int, bytes)
        rows = self._rows("SELECT name, kind, n, first, chunks, hash FROM part ORDER BY name", types)
        self.parts = {row[0]: Part(*row) for row in rows}
        if root_hash(version, self.meta, self.sources, self.parts.values()) != self.meta.get(ROOT):
            raise damaged(self.path, part="its records")
        self._check_parts()

    def _rows(self, query: str, types: tuple[type | None, ...], *values: str) -> Iterator[tuple[Any, ...]]:
        for row in self._database.execute(query, values):
            if not all(wanted is None or type(value) is wanted for value, wanted in zip(row, types, strict=True)):
                raise damaged(self.path, part="its records")
            yield row

    def _check_parts(self) -> None:
        """Check that the parts cover exactly all chunks, and how much memory they would take."""
        what = "the list of parts"
        next_chunk, needed = 1, 0
        for part in sorted(self.parts.values(), key=lambda part: (part.first, part.chunks)):
            most = TEXT_BYTES_PER_CHUNK if part.kind == TEXT else ROWS_PER_CHUNK
            is_known = part.kind in ITEM_BYTES and part.n >= 0
            if part.first != next_chunk or not is_known or part.chunks != -(-part.n // most):
                raise damaged(self.path, part=what)
            needed += part.n * ITEM_BYTES[part.kind]
            next_chunk += part.chunks
        if self._database.execute("SELECT count(*) FROM chunk").fetchone() != (next_chunk - 1,):
            raise damaged(self.path, part=what)
        self._check_memory(needed, what)

    def _check_memory(self, needed: int, part: str) -> None:
        if needed > _SMALL + _MOST_EXPANSION * self._size:
            raise damaged(self.path, _TOO_MUCH, needed=needed, part=part)

    def _too_new(self) -> StudioError:
        program = ""
        with contextlib.suppress(sqlite3.Error, StudioError), self._connected():
            rows = self._rows("SELECT v FROM meta WHERE k = ?", (str,), PROGRAM)
            program = next(rows, ("",))[0]
            self.close()
        what = "{path} was saved by {program}, in the format {format}, which this version does not know"
        if not program:
            what = "{path} has the format {format}, which this version does not know"
        advice = "Install a newer version of WordPiece Studio to open it. The file was left as it is."
        return file_error(self.path, what, advice, program=printable(program)[:60], format=f"{self.major}.{self.minor}")

    # Parts.

    def array(self, name: str, kinds: str) -> NDArray[Any]:
        """Return a part that is an array of one of NumPy's `kinds`: ``"i"``, ``"f"``, ``"b"``."""
        part = self._part(name)
        if part.kind == TEXT or np.dtype(part.kind).kind not in kinds:
            raise damaged(self.path, part=name)
        values = np.empty(part.n, dtype=part.kind)
        target, start = values.data.cast("B") if part.n else memoryview(bytearray()), 0
        for piece in self._pieces(part):
            target[start : start + len(piece)] = piece
            start += len(piece)
        if part.kind == "|b1" and part.n and values.view(np.uint8).max() > 1:
            raise damaged(self.path, part=name)
        return values

    def text(self, name: str) -> str:
        part = self._part(name)
        if part.kind != TEXT:
            raise damaged(self.path, part=name)
        with self._guarded(name):
            return b"".join(self._pieces(part)).decode("utf-8", "surrogatepass")

    def strings(self, name: str, n: int) -> list[str]:
        """Return a list of `n` strings, see `strings_parts`."""
        self._check_memory(_STRING_BYTES * n, f"{name}/text")
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
            raise damaged(self.path, part=f"{name}/lengths")
        return [text[start:end] for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)]

    def packed(self, name: str, new_name: str) -> PackedPart:
        part = self._part(name)
        return PackedPart(new_name, part.kind, part.n, tuple(self._checked_chunks(part)))

    def _part(self, name: str) -> Part:
        if name not in self.parts:
            raise damaged(self.path, "{path} is damaged at {part}: it is missing", part=name)
        return self.parts[name]

    def _pieces(self, part: Part) -> Iterator[bytes]:
        most = TEXT_BYTES_PER_CHUNK if part.kind == TEXT else ROWS_PER_CHUNK
        decompressor, total = zstandard.ZstdDecompressor(), 0
        with self._guarded(part.name):
            for n, data in self._checked_chunks(part):
                expected = n * ITEM_BYTES[part.kind]
                total += n
                # The size stated in the data is what would be allocated.
                if not 1 <= n <= most or total > part.n or zstandard.frame_content_size(data) != expected:
                    raise damaged(self.path, part=part.name)
                yield decompressor.decompress(data, max_output_size=expected)
            if total != part.n:
                raise damaged(self.path, part=part.name)

    def _checked_chunks(self, part: Part) -> Iterator[Chunk]:
        hashes = []
        for number in range(part.chunks):
            with self._lock, self._guarded(part.name):
                query = "SELECT n, codec, hash, data FROM chunk WHERE id = ?"
                row: tuple[Any, ...] | None = self._database.execute(query, (part.first + number,)).fetchone()
            if row is None or [type(value) for value in row] != [int, str, bytes, bytes] or row[1] != CODEC:
                raise damaged(self.path, part=part.name)
            n, _, own_hash, data = row
            if chunk_hash(part.name, part.kind, number, n, data) != own_hash:
                raise damaged(self.path, part=part.name)
            hashes.append(own_hash)
            yield n, data
        if part_hash(part.name, part.kind, part.n, hashes) != part.hash:
            raise damaged(self.path, part=part.name)
