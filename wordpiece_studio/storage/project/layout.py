"""The layout of a project file: an SQLite database of four tables, followed by a hash of all its bytes.

``meta``    records as JSON, and the *root*: a hash of everything in this table and the next two.
``source``  the files of the corpus, one row each.
``part``    what is too large for a record, one row each: text, or an array. Its hash is that of its chunks.
``chunk``   a piece of a part, compressed, with a hash of its own.

A file is built once and never changed, so there is never a journal beside it. Numbers are little-endian; array types
have NumPy's names. The version is in the database's ``user_version``, 1000 times the major number plus the minor one: a
new minor number adds records, fields of records, or parts, which an older program preserves without reading them; a new
major number means that an older program must not read the file.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

SUFFIX = ".wpstudio"
MAJOR, MINOR = 1, 4
# 1.1: the word counts of a corpus not trained; 1.2: several runs; 1.3: compared bookmarks; 1.4: the longest
# token first, and what other libraries trained
APPLICATION_ID = 0x57505374  # "WPSt"
PAGE_BYTES = 4096

SCHEMA = {
    "meta": "CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID",
    "source": (
        "CREATE TABLE source (id INTEGER PRIMARY KEY, path TEXT NOT NULL, absolute BLOB NOT NULL, relative BLOB,"
        " about TEXT NOT NULL)"
    ),
    "part": (
        "CREATE TABLE part (name TEXT PRIMARY KEY, kind TEXT NOT NULL, n INTEGER NOT NULL, first INTEGER NOT NULL,"
        " chunks INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID"
    ),
    "chunk": (
        "CREATE TABLE chunk (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, codec TEXT NOT NULL, hash BLOB NOT NULL,"
        " data BLOB NOT NULL)"
    ),
}
ROOT = "root"
PROGRAM = "program"

TEXT = "text"
"""The kind of a part that is UTF-8, lone surrogates allowed; `n` counts bytes. Other kinds are arrays."""
ITEM_BYTES = {TEXT: 1, "|b1": 1, "|i1": 1, "<i2": 2, "<i4": 4, "<i8": 8, "<f8": 8}
CODEC = "zstd"
ROWS_PER_CHUNK = 1 << 16
TEXT_BYTES_PER_CHUNK = 1 << 20

_LONGEST_REASON = 300
"""In characters: a reason may quote the file."""

TRAILER_MAGIC = b"WPSt end sha256:"
TRAILER_BYTES = len(TRAILER_MAGIC) + 32


@dataclass(frozen=True, slots=True)
class Part:
    """A row of the table ``part``.

    Attributes
    ----------
    name
        Such as ``"merges/left_id"``.
    kind
        `TEXT`, or NumPy's name of an array's type.
    n
        Number of bytes of text, or of numbers.
    first, chunks
        The number of its first chunk, and the number of chunks, which are consecutive.
    hash
        See `part_hash`.
    """

    name: str
    kind: str
    n: int
    first: int
    chunks: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of the table ``source``.

    Attributes
    ----------
    path
        The file as it can be shown.
    absolute, relative
        Its absolute path, and its path relative to the project's folder, with slashes; None if there is none. In UTF-8,
        lone surrogates allowed: a name need not be text.
    about
        The rest as JSON.
    """

    path: str
    absolute: bytes
    relative: bytes | None
    about: str


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
    for part in sorted(parts, key=lambda part: part.name):
        numbers = f"{part.n} {part.first} {part.chunks}".encode()
        fields += [b"part", part.name.encode(), part.kind.encode(), numbers, part.hash]
    for field in fields:
        result.update(len(field).to_bytes(8, "little") + field)
    return result.hexdigest()


def not_a_project(path: str | os.PathLike[str]) -> StudioError:
    """Return the error for a file that is not a project."""
    return StudioError(
        "{path} is not a WordPiece Studio project",
        "Choose a file that was saved as a project, with a name ending in {suffix}.",
        path=display_name(path),
        suffix=SUFFIX,
    )


PART = "{path} is damaged at {part}: it is not what was saved"
"""The error for a damaged part, or one that is not of the expected kind."""


def damaged(path: str | os.PathLike[str], what: str, **values: object) -> StudioError:
    """Return the error for a damaged project: a template, such as `PART`, and the values of its fields."""
    reason = str(values.get("reason", ""))
    if len(reason) > _LONGEST_REASON:
        values["reason"] = f"{reason[:_LONGEST_REASON]}…"
    return StudioError(
        what, "The file was left as it is. Open a copy of it from a backup.", path=display_name(path), **values
    )
