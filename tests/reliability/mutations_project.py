"""Mutations of project files: what an accident does to bytes, and what someone does who knows the format.

The second kind has right hashes; only its content is not what a project may hold.
"""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from tests.storage.project.making import (
    check_project,
    course_project,
    forged,
    library_run_of,
    origin_of,
    put_part,
    run_of,
    seal,
)
from wordpiece_studio.storage.project.container import ITEM_BYTES, TEXT, TRAILER_BYTES, trailer
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    Change = Callable[[sqlite3.Connection], object]

_NUMBERS = (0, 1, -1, 2, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63))
_PIECES = (
    "null", "true", "[]", "{}", '""', "1e999", "NaN", "-1", "9" * 5000, '"\\ud800"', "[" * 2000, '{"a":' * 500,
    '"[UNK]"', '"nfc"', '{"type":"sequence","normalizers":[]}',
)  # fmt: skip
_VIEWS = (
    "CREATE VIEW v AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t",
    "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM part; END",
    "CREATE TABLE more(x, y AS (zeroblob(900000000)))",
    "CREATE INDEX i ON chunk(n)",
    "DROP TABLE source",
)


@cache
def seeds() -> dict[str, bytes]:
    """Return real project files: without a run, with a small one, and with some hundred merges."""
    letters = itertools.product("abcde", "xyz", "abxy")
    words = [("".join(word), 1 + number % 3) for number, word in enumerate(letters)]
    projects = {
        "no run": course_project(run=None),
        "course": course_project(),
        "libraries": course_project(others=(library_run_of(), library_run_of(2, origin=origin_of(text="hug pug")))),
        "words": course_project("text\r\n" * 300, run=run_of(words, objective="count")),
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, project in projects.items():
            path = Path(folder) / "p.wpstudio"
            save_project(path, project)
            found[name] = path.read_bytes()
    return found


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return a project file of which something is not right; rarely, of which all is."""
    if random.random() < 0.35:
        return _bytes_changed(random, seed)
    change = random.choice((_other_value, _other_content, _other_numbers, _other_json, _other_structure, _other_tables))
    try:
        return forged(seed, partial(_changed, random, change), is_sealed=False)
    except (
        sqlite3.Error,
        AttributeError,
        TypeError,
        ValueError,
        OverflowError,
    ):  # what SQLite itself does not put into a file
        return _bytes_changed(random, seed)


def read(path: Path) -> None:
    """Open a project and read all of it; then check it, if that is still needed."""
    project = open_project(path)
    for run in project.runs:
        run.history.vocabulary(len(run.history))
        _ = run.counts.words, run.history.pair_steps()
        if run.history.has_steps:  # else its library would have to cut the words
            _ = run.history.places
    check_project(path)


def _bytes_changed(random: random.Random, seed: bytes) -> bytes:
    data = bytearray(seed)
    match random.randrange(5):
        case 0:
            for _ in range(random.randint(1, 8)):
                data[random.randrange(len(data))] = random.randrange(256)
        case 1:
            del data[random.randrange(len(data)) :]
        case 2:
            start, size = random.randrange(len(data)), random.choice((1, 4, 512, 4096))
            data[start : start + size] = random.randbytes(size)
        case 3:
            page, other = (4096 * random.randrange(len(data) // 4096) for _ in range(2))
            data[page : page + 4096] = data[other : other + 4096]
        case _:
            data[random.randrange(100)] = random.randrange(256)
    if random.random() < 0.5:  # as if it had been saved so: not for the hash at the end alone to find
        image = bytes(data[:-TRAILER_BYTES])
        return image + trailer(image)
    return bytes(data)


def _changed(random: random.Random, change: Callable[[random.Random, sqlite3.Connection], object],
             database: sqlite3.Connection) -> None:  # fmt: skip
    change(random, database)
    if random.random() < 0.9:
        seal(database)


def _other_value(random: random.Random, database: sqlite3.Connection) -> None:
    """Put any value into any field."""
    table, columns = random.choice(
        (
            ("meta", ("k", "v")),
            ("part", ("name", "kind", "n", "first", "chunks")),
            ("chunk", ("id", "n", "codec", "data")),
        )
    )
    column = random.choice(columns)
    value = random.choice(
        (None, random.choice(_NUMBERS), random.uniform(-9, 9), "", "text", "words/text", "|O", random.randbytes(20))
    )
    key = random.choice(database.execute(f"SELECT {columns[0]} FROM {table}").fetchall())[0]
    database.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {columns[0]} = ?", (value, key))


def _part(random: random.Random, database: sqlite3.Connection) -> tuple[str, str, int]:
    name, kind, n = random.choice(database.execute("SELECT name, kind, n FROM part").fetchall())
    return name, kind, n


def _raw(database: sqlite3.Connection, name: str) -> bytes:
    query = "SELECT data FROM chunk WHERE id = (SELECT first FROM part WHERE name = ?)"
    found = database.execute(query, (name,)).fetchone()
    return zstandard.ZstdDecompressor().decompress(found[0]) if found else b""


def _other_content(random: random.Random, database: sqlite3.Connection) -> None:
    """Change bytes of a part's content, or how many entries it has."""
    name, kind, _ = _part(random, database)
    raw = bytearray(_raw(database, name) or b"\0" * 8)
    for _ in range(random.randint(0, 4)):
        raw[random.randrange(len(raw))] = random.choice((0, 1, 10, 127, 128, 255, random.randrange(256)))
    if random.random() < 0.3:
        raw = raw * random.randint(0, 3) + random.randbytes(random.randrange(9))
    put_part(database, name, bytes(raw), len(raw) // ITEM_BYTES[kind])


def _other_numbers(random: random.Random, database: sqlite3.Connection) -> None:
    """Give an array other numbers, of another size perhaps."""
    name, kind, n = _part(random, database)
    if kind == TEXT:
        _other_content(random, database)
        return
    kind = random.choice((kind, "|i1", "<i4", "<i8", "<f8", "|b1"))
    size = ITEM_BYTES[kind]
    numbers = [random.choice(_NUMBERS) if random.random() < 0.2 else random.randrange(30) for _ in range(n)]
    raw = b"".join((number % 256**size).to_bytes(size, "little") for number in numbers)
    put_part(database, name, raw, random.choice((n, n, n, n + 1, 10**12)), kind)


def _other_json(random: random.Random, database: sqlite3.Connection) -> None:
    """Change a record."""
    name, text = random.choice(database.execute("SELECT k, v FROM meta").fetchall())
    start = random.randrange(len(text) + 1)
    match random.randrange(3):
        case 0:
            text = text[:start] + random.choice(_PIECES) + text[start:]
        case 1:
            end = random.randrange(start, len(text) + 1)
            text = text[:start] + text[end:]
        case _:
            values = text.split(": ")
            values[random.randrange(len(values))] = random.choice(_PIECES) + random.choice((",", ""))
            text = ": ".join(values)
    database.execute("UPDATE meta SET v = ? WHERE k = ?", (text, name))


def _other_structure(random: random.Random, database: sqlite3.Connection) -> None:
    """Swap, remove or add parts and chunks."""
    name, _, _ = _part(random, database)
    other, _, _ = _part(random, database)
    match random.randrange(4):
        case 0:
            database.execute("DELETE FROM part WHERE name = ?", (name,))
        case 1:
            database.execute("UPDATE part SET name = 'x' WHERE name = ?", (name,))
            database.execute("UPDATE part SET name = ? WHERE name = ?", (name, other))
            database.execute("UPDATE part SET name = ? WHERE name = 'x'", (other,))
        case 2:
            database.execute(
                "UPDATE chunk SET data = (SELECT data FROM chunk ORDER BY random() LIMIT 1) WHERE id % 5 = 1"
            )
        case _:
            version = random.choice((0, 1, 999, 1001, 1999, 2000, 2**31 - 1))
            database.execute(f"PRAGMA user_version = {version}")


def _other_tables(random: random.Random, database: sqlite3.Connection) -> None:
    database.execute(random.choice(_VIEWS))
