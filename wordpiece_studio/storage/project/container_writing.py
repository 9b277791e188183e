"""A project file built in memory: records, parts split into compressed chunks, and the hashes of all of them.

`atomic_write` writes it, as every other file: SQLite itself never writes to a disk. `project_file` gives the records
and parts their meaning.
"""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.contents import PackedPart
from wordpiece_studio.storage.project.layout import (
    APPLICATION_ID,
    CODEC,
    ITEM_BYTES,
    MAJOR,
    PAGE_BYTES,
    ROOT,
    ROWS_PER_CHUNK,
    SCHEMA,
    TEXT,
    TEXT_BYTES_PER_CHUNK,
    TRAILER_MAGIC,
    Part,
    SourceRow,
    chunk_hash,
    part_hash,
    root_hash,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

_LEVEL = 1  # higher levels take several times as long and save a tenth


class SavingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True."""

    def __init__(self) -> None:
        super().__init__("Saving was stopped", "Any existing file is unchanged.")


@dataclass(frozen=True, slots=True)
class PartContent:
    """The content of a part: bytes of UTF-8, or an array of shape (n,)."""

    name: str
    kind: str
    data: memoryview
    n: int


def text_part(name: str, text: str) -> PartContent:
    data = text.encode("utf-8", "surrogatepass")
    return PartContent(name, TEXT, memoryview(data), len(data))


def array_part(name: str, values: NDArray[Any]) -> PartContent:
    """Return a part that is an array; integers are stored in the narrowest type that fits all of them."""
    if values.dtype.kind in "iu":
        values = values.astype(_narrowest(values), copy=False)
    elif values.dtype.kind == "f":
        values = values.astype("<f8", copy=False)
    values = np.ascontiguousarray(values)
    data = values.data.cast("B") if len(values) else memoryview(b"")
    return PartContent(name, values.dtype.str, data, len(values))


def _narrowest(values: NDArray[Any]) -> str:
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    return next(
        kind for kind in ("|i1", "<i2", "<i4", "<i8") if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max
    )


def strings_parts(name: str, strings: Sequence[str]) -> list[PartContent]:
    """Return the parts of a list of strings: its text with a line end after each, which is the fastest to split.

    If a string contains line ends, the strings are joined without any, and a second part has the lengths in characters.
    """
    text = "\n".join(strings)
    if strings and text.count("\n") == len(strings) - 1:
        return [text_part(f"{name}/text", text + "\n")]
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    return [text_part(f"{name}/text", "".join(strings)), array_part(f"{name}/lengths", lengths)]


def renamed(part: PackedPart, name: str) -> PackedPart:
    """Return a part under another name, which its hashes cover."""
    if name == part.name:
        return part
    chunks = enumerate(part.chunks)
    return replace(
        part, name=name,
        chunks=tuple((n, data, chunk_hash(name, part.kind, number, n, data)) for number, (n, data, _) in chunks),
    )  # fmt: skip


class Image:
    """A project file in memory.

    Parameters
    ----------
    minor
        The minor number of its version.
    work
        The number of bytes to compress, for `report`.
    report, should_stop
        Called after every chunk: with the bytes done and the total; and to find out whether to stop.

    Attributes
    ----------
    parts : dict[str, Part]
        The parts added so far, by name.
    """

    def __init__(
        self,
        minor: int,
        work: int = 0,
        report: Callable[[int, int], None] | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._version = MAJOR * 1000 + minor
        self._work, self._done = work, 0
        self._report, self._should_stop = report, should_stop
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.parts: dict[str, Part] = {}
        self._chunks = 0
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        self._database.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._database.execute(f"PRAGMA user_version = {self._version}")
        self._database.execute("BEGIN")
        for statement in SCHEMA.values():
            self._database.execute(statement)

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, content: PartContent | PackedPart) -> None:
        """Add a part, compressed now unless it is already."""
        if isinstance(content, PackedPart):
            self._add_chunks(content.name, content.kind, content.n, iter(content.chunks))
            return
        size = ITEM_BYTES[content.kind]
        step = (TEXT_BYTES_PER_CHUNK if content.kind == TEXT else ROWS_PER_CHUNK) * size
        pieces = (content.data[start : start + step] for start in range(0, len(content.data), step))
        self._add_chunks(content.name, content.kind, content.n, self._compressed(content, pieces))

    def _compressed(self, content: PartContent, pieces: Iterator[memoryview]) -> Iterator[tuple[int, bytes, bytes]]:
        for number, piece in enumerate(pieces):
            n, data = len(piece) // ITEM_BYTES[content.kind], self._compressor.compress(piece)
            yield n, data, chunk_hash(content.name, content.kind, number, n, data)

    def _add_chunks(self, name: str, kind: str, n: int, chunks: Iterator[tuple[int, bytes, bytes]]) -> None:
        first, hashes = self._chunks + 1, []
        for number, (entries, data, own_hash) in enumerate(chunks):
            if self._should_stop is not None and self._should_stop():
                raise SavingStopped
            hashes.append(own_hash)
            row = (first + number, entries, CODEC, own_hash, data)
            self._database.execute("INSERT INTO chunk VALUES (?, ?, ?, ?, ?)", row)
            self._done += entries * ITEM_BYTES.get(kind, 1)
            if self._report is not None:
                self._report(self._done, max(self._work, self._done))
        self._chunks += len(hashes)
        self.parts[name] = Part(name, kind, n, first, len(hashes), part_hash(name, kind, n, hashes))

    def finished(self, meta: dict[str, str], sources: Sequence[SourceRow]) -> bytes:
        """Add the records and the list of parts, and return the database."""
        meta = {**meta, ROOT: root_hash(self._version, meta, sources, self.parts.values())}
        execute = self._database.executemany
        execute("INSERT INTO meta VALUES (?, ?)", meta.items())
        rows = ((source.path, source.absolute, source.relative, source.about) for source in sources)
        execute("INSERT INTO source (path, absolute, relative, about) VALUES (?, ?, ?, ?)", rows)
        parts = ((part.name, part.kind, part.n, part.first, part.chunks, part.hash) for part in self.parts.values())
        execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", parts)
        self._database.execute("COMMIT")
        return self._database.serialize()


def trailer(image: bytes) -> bytes:
    """Return the bytes that follow the database: a hash of all its bytes, including those that SQLite does not use."""
    return TRAILER_MAGIC + hashlib.sha256(image).digest()
