"""Forged or damaged files: each is refused with a message, quickly, and nothing is written."""

from __future__ import annotations

import json
import random
import sqlite3
import struct
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zstandard

from tests.reliability import mutations_project
from tests.storage.project.making import (
    COURSE,
    check_every_byte,
    check_project,
    course_project,
    forged,
    open_whole,
    put_part,
)
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import TRAILER_BYTES, trailer
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "p.wpstudio"
    save_project(path, course_project())
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.wpstudio"


def refusal(path: Path, data: bytes) -> str:
    """Return what is reported about a project with this content, which must take less than a second."""
    path.write_bytes(data)
    started = time.process_time()
    with pytest.raises(StudioError) as caught:
        check_project(path)
    assert time.process_time() - started < 1
    assert str(caught.value)
    return str(caught.value)


def execute(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def change(database: sqlite3.Connection) -> None:
        for statement in statements:
            database.execute(statement)

    return change


# ---- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("bit", [0x01, 0x80])
def test_no_byte_can_change_unnoticed(path: Path, whole: bytes, bit: int) -> None:
    """All bytes of the header and the end, a sample of the others: `check` covers unused ones too."""
    rng = random.Random(bit)
    places = {*range(100), *range(len(whole) - TRAILER_BYTES, len(whole)), *rng.sample(range(len(whole)), 60)}
    assert_each_is_noticed(path, whole, sorted(places), bit)


@pytest.mark.parametrize(
    "step", [pytest.param(23, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)]
)
def test_every_byte_is_noticed_and_what_is_opened_all_the_same_is_the_same(path: Path, whole: bytes, step: int) -> None:
    """Whatever changed: the check finds it. Without it either the opening does, or the byte is one that is not used."""
    path.write_bytes(whole)
    original, noticed, unused = everything(path), 0, 0
    with path.open("r+b", buffering=0) as file:
        for place in range(0, len(whole), step):
            byte = whole[place]
            file.seek(place)
            file.write(bytes([byte ^ 0x10]))
            with pytest.raises(StudioError):
                check_every_byte(path)
            if place % (8 * step) == 0:
                try:
                    assert everything(path) == original, place
                    unused += 1
                except StudioError:
                    noticed += 1
            file.seek(place)
            file.write(bytes([byte]))
    assert noticed + unused == -(-len(whole) // (8 * step))
    assert min(noticed, unused) > 500 // step


def everything(path: Path) -> tuple[Any, ...]:
    """Return all that can be read of a project."""
    project = open_whole(path)
    run = project.run
    assert run is not None
    places = [run.history.positions(index).tolist() for index in range(len(run.history))]
    return project.settings, project.corpus, project.view, list(run.history), places, run.counts, run.config


def assert_each_is_noticed(path: Path, whole: bytes, places: Any, bit: int) -> None:
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= bit
        path.write_bytes(changed)
        with pytest.raises(StudioError):
            check_project(path)


def test_content_that_changed_is_noticed_when_it_is_opened(path: Path, whole: bytes) -> None:
    """Without the hash of all bytes, which is only used when a whole project is checked."""
    database = sqlite3.connect(":memory:")
    database.deserialize(whole[:-TRAILER_BYTES])
    blobs = [data for (data,) in database.execute("SELECT data FROM chunk")]
    texts = [text.encode() for (text,) in database.execute("SELECT v FROM meta")]
    database.close()
    assert len(blobs) > 15
    for content in [*blobs, *texts]:
        start = content[:40]  # the rest may be on another page
        place = whole.index(start) + len(start) // 2
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(StudioError, match=r"damaged at"):  # noqa: PT012 - whichever reads it
            run = open_whole(path).run
            assert run is not None
            _ = run.counts.words, run.history.places


def test_a_file_that_is_cut_off(path: Path, whole: bytes) -> None:
    for size in range(100, len(whole), 97):
        assert "damaged at its end" in refusal(path, whole[:size])
    for size in range(1, 100):
        assert "is not a WordPiece Studio project" in refusal(path, whole[:size])
    assert "damaged at its end" in refusal(path, whole + b"\0")


# ---- malice: every hash is right -------------------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x, x FROM t"


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE meta", f"CREATE VIEW meta AS {ENDLESS}"],
        ["CREATE TRIGGER a AFTER INSERT ON meta BEGIN SELECT 1; END"],
        ["CREATE INDEX a ON chunk(n)"],
        ["CREATE TABLE more(x)"],
        ["ALTER TABLE chunk ADD COLUMN x GENERATED ALWAYS AS (zeroblob(900000000))"],
        ["CREATE VIRTUAL TABLE more USING fts5(x)"],
        ["DROP TABLE part", "CREATE TABLE part (name TEXT, kind TEXT, n INT, first INT, chunks INT, hash BLOB)"],
        ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE TABLE meta(k, v)' WHERE name = 'meta'"],
    ],
    ids=lambda statements: statements[-1][:30],
)
def test_other_tables_are_refused(path: Path, whole: bytes, statements: list[str]) -> None:
    data = forged(whole, execute(*statements), is_sealed=False)
    assert "damaged at its tables" in refusal(path, data)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("UPDATE meta SET v = x'00' WHERE k = 'view'", "its records"),
        ("UPDATE meta SET v = 1.5 WHERE k = 'view'", "its records"),
        ("DELETE FROM meta WHERE k = 'settings'", "its records"),
        ("UPDATE meta SET v = '[]' WHERE k = 'settings'", "its records"),
        ("UPDATE meta SET v = '{' WHERE k = 'corpus'", "its records"),
        ("UPDATE meta SET v = printf('%.*c', 100000, '[') WHERE k = 'view'", "its records"),
        ("UPDATE meta SET v = replace(printf('%.*c', 5000000, '['), '[', '[],') WHERE k = 'view'", "its records"),
        ("UPDATE meta SET v = replace(v, '\"score\"', '\"best\"') WHERE k = 'settings'", "its records"),
        ("UPDATE meta SET v = replace(v, '\"bert\"', '\"__class__\"') WHERE k = 'runs'", "its records"),
        ("UPDATE meta SET v = replace(v, '\"word_count\": 5', '\"word_count\": 9') WHERE k = 'runs'",
         "runs/0/words/counts"),
        ("UPDATE meta SET v = replace(v, '\"initial_size\": 12', '\"initial_size\": 0') WHERE k = 'runs'",
         "runs/0/tokens"),
        ("UPDATE meta SET v = replace(v, '\"[UNK]\"', '\"[UNKNOWN]\"') WHERE k = 'runs'", "runs/0/tokens"),
        ("UPDATE part SET n = -1 WHERE name = 'runs/0/merges/value'", "the list of parts"),
        ("UPDATE part SET n = 1000000000000000 WHERE name = 'runs/0/merges/value'", "the list of parts"),
        ("UPDATE part SET n = 60000 WHERE name = 'runs/0/merges/value'", "runs/0/merges/value"),
        ("UPDATE part SET n = 5 WHERE name = 'runs/0/merges/value'", "runs/0/merges/value"),
        ("UPDATE part SET n = 0, chunks = 0 WHERE name = 'runs/0/merges/value'", "the list of parts"),
        ("UPDATE part SET first = 0 WHERE name = 'runs/0/merges/value'", "the list of parts"),
        ("UPDATE part SET kind = '<i4' WHERE name = 'runs/0/merges/value'", "runs/0/merges/value"),
        ("UPDATE part SET kind = 'text' WHERE name = 'runs/0/merges/left_id'", "runs/0/merges/left_id"),
        ("UPDATE part SET kind = '|O' WHERE name = 'runs/0/merges/left_id'", "the list of parts"),
        ("UPDATE part SET name = 'runs/0/merges/other' WHERE name = 'runs/0/merges/left_id'", "runs/0/merges/left_id"),
        ("UPDATE part SET n = 'many' WHERE name = 'runs/0/merges/value'", "its records"),
        ("UPDATE chunk SET n = 4611686018427387904 WHERE id = 5", "runs/0/merges/"),
        ("UPDATE chunk SET n = 'x' WHERE id = 5", "runs/0/merges/"),
        ("UPDATE chunk SET codec = 'raw' WHERE id = 5", "runs/0/merges/"),
        ("UPDATE chunk SET data = zeroblob(30000000) WHERE id = 5", "runs/0/merges/"),
        ("UPDATE chunk SET data = zeroblob(0) WHERE id = 5", "runs/0/merges/"),
        ("DELETE FROM chunk WHERE id = 5", "the list of parts"),
        ("UPDATE chunk SET id = 99 WHERE id = 5", "runs/0/merges/"),
        ("INSERT INTO chunk SELECT 99, n, codec, hash, data FROM chunk WHERE id = 5", "the list of parts"),
        ("INSERT INTO source VALUES (1, 'x', x'2f78', 'text', '{}')", "its list of files"),
        ("INSERT INTO source VALUES (1, 'x', x'2f78', NULL, '{}')", "its records"),
        ("INSERT INTO source VALUES (1, 'x', x'2f0078', NULL, '{\"role\": \"file\"}')", "its records"),
        ("INSERT INTO source VALUES (1, 'x', x'2f78', NULL, '{\"role\": \"file\", \"encoding\": \"zip\"}')",
         "its records"),
    ],
)  # fmt: skip
def test_other_values_are_refused(path: Path, whole: bytes, statement: str, place: str) -> None:
    data = forged(whole, lambda database: seal_after(database, statement), is_sealed=False)
    assert f"damaged at {place}" in refusal(path, data)


def seal_after(database: sqlite3.Connection, statement: str) -> None:
    from tests.storage.project.making import seal

    assert database.execute(statement).rowcount
    try:
        seal(database)
    except (TypeError, AttributeError, ValueError):  # what has no hash needs none
        pass


def test_the_statements_above_change_something(whole: bytes) -> None:
    database = sqlite3.connect(":memory:")
    database.deserialize(whole[:-TRAILER_BYTES])
    (run,) = database.execute("SELECT v FROM meta WHERE k = 'runs'").fetchone()
    names = [name for (name,) in database.execute("SELECT name FROM part WHERE first = 5")]
    database.close()
    assert '"word_count": 5' in run
    assert '"initial_size": 12' in run
    assert names[0].startswith("runs/0/merges/")


def ints(kind: str, *numbers: int) -> bytes:
    return np.array(numbers, dtype=kind).tobytes()


@pytest.mark.parametrize(
    ("name", "raw", "n", "kind"),
    [
        ("runs/0/merges/left_id", ints("<i8", *[2**40] * 9), 9, "<i8"),
        ("runs/0/merges/left_id", ints("|i1", *[-1] * 9), 9, "|i1"),
        ("runs/0/merges/right_id", ints("|i1", *[100] * 9), 9, "|i1"),
        ("runs/0/merges/new_id", ints("|i1", *[0] * 9), 9, "|i1"),
        ("runs/0/merges/is_new", b"\2" * 9, 9, "|b1"),
        ("runs/0/merges/is_new", b"\0" * 9, 9, "|b1"),
        ("runs/0/merges/value", struct.pack("<8d", *range(8)), 8, "<f8"),
        ("runs/0/words/counts", ints("<i8", *[2**62] * 5), 5, "<i8"),
        ("runs/0/words/counts", ints("|i1", 0, 1, 1, 1, 1), 5, "|i1"),
        ("runs/0/words/counts", ints("|i1", 1), 1, "|i1"),
        ("runs/0/words/statistics", b"{}", 2, None),
        ("runs/0/words/statistics", b'{"statistics": {"lines": "x"}, "skipped": []}', 45, None),
        ("runs/0/words/text", b"hug\npug\n", 8, None),
        ("runs/0/words/text", b"\n\n\n\n\n", 5, None),
        ("runs/0/words/text", b"\xff\n\n\n\n\n", 6, None),
        ("runs/0/tokens/text", b"a\n" * 21, 42, None),
        ("runs/0/tokens/text", b"x", 1, None),
        ("view/watched_text", b"\xff\xfe", 2, None),
        ("runs/0/places/positions", ints("<i8", *[2**40] * 3), 3, "<i8"),
        ("runs/0/places/positions", ints("<i4", *[2**31 - 1] * 3), 3, "<i4"),
        ("runs/0/places/positions", ints("<i4", *[-5] * 3), 3, "<i4"),
        ("runs/0/places/counts", ints("<i8", *[2**62] * 9), 9, "<i8"),
        ("runs/0/places/counts", ints("|i1", *[1] * 8), 8, "|i1"),
        ("runs/0/places/left_lengths", ints("<i8", *[2**62] * 9), 9, "<i8"),
        ("runs/0/places/left_lengths", ints("|i1", *[0] * 9), 9, "|i1"),
    ],
)
def test_other_contents_are_refused(path: Path, whole: bytes, name: str, raw: bytes, n: int, kind: str | None) -> None:
    assert refusal(path, forged(whole, lambda database: put_part(database, name, raw, n, kind)))


@pytest.mark.slow
def test_a_bomb_is_not_set_off(path: Path, whole: bytes) -> None:
    """A chunk that says of itself that it is half a gigabyte, and one that does not say it but is."""
    honest = zstandard.ZstdCompressor().compress(bytes(1 << 29))
    silent = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 28))
    assert len(honest) < 200_000

    for bomb in (honest, silent):

        def plant(database: sqlite3.Connection, bomb: bytes = bomb) -> None:
            chunk = database.execute("SELECT first FROM part WHERE name = 'corpus/text'").fetchone()[0]
            database.execute("UPDATE chunk SET data = ? WHERE id = ?", (bomb, chunk))

        assert "damaged at corpus/text" in refusal(path, forged(whole, plant))


def test_parts_that_would_take_too_much_memory(path: Path, whole: bytes) -> None:
    """Every chunk is small and right; there are too many of them for so small a file."""

    def multiply(database: sqlite3.Connection) -> None:
        first = 1 + database.execute("SELECT count(*) FROM chunk").fetchone()[0]
        data = zstandard.ZstdCompressor().compress(bytes(1 << 20))
        rows = ((first + number, 1 << 20, "zstd", b"", data) for number in range(200))
        database.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?, ?)", rows)
        database.execute("DELETE FROM part WHERE name = 'corpus/text'")
        database.execute("INSERT INTO part VALUES ('corpus/text', 'text', ?, ?, 200, x'')", (200 << 20, first))

    assert "the list of parts" in refusal(path, forged(whole, multiply))


def test_a_tree_of_pages_that_goes_round_in_circles(path: Path, whole: bytes) -> None:
    """Without a check of its structure, SQLite would read the same page once per path to it."""
    page = 4096
    for number in range(1, len(whole) // page):
        start = number * page
        if whole[start] in (2, 5, 10, 13):
            for root in range(2, 6):
                inner = bytearray(whole[:-TRAILER_BYTES])
                cells = b"".join(struct.pack(">IB", root, cell) for cell in range(1, 100))
                head = struct.pack(">BHHHBI", 5, 0, 99, page - len(cells), 0, root)
                pointers = b"".join(struct.pack(">H", page - len(cells) + 5 * cell) for cell in range(99))
                inner[start : start + page] = (head + pointers).ljust(page - len(cells), b"\0") + cells
                refusal(path, bytes(inner) + trailer(bytes(inner)))


def test_a_kind_that_no_one_knows(path: Path, whole: bytes) -> None:
    statement = "UPDATE part SET kind = 'words/text' WHERE name = 'runs/0/places/counts'"
    assert "damaged at the list of parts" in refusal(path, forged(whole, execute(statement)))


def test_random_mutations_are_refused_or_read(path: Path) -> None:
    rng = random.Random(6)
    seeds = mutations_project.seeds()
    outcomes = {True: 0, False: 0}
    for _ in range(200):
        path.write_bytes(mutations_project.mutate(rng, rng.choice(list(seeds.values()))))
        try:
            mutations_project.read(path)
            outcomes[True] += 1
        except StudioError:
            outcomes[False] += 1
    assert outcomes[False] > 100, "mutations that change nothing test nothing"
    assert outcomes[True] > 3, "and those that no one can tell from a project must be read"


def test_a_journal_beside_it_is_ignored(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)
    others = {path.with_name(path.name + end): end.encode() * 999 for end in ("-journal", "-wal", "-shm")}
    for other, content in others.items():
        other.write_bytes(content)
    check_project(path)
    run = open_project(path).run
    assert run is not None
    assert run.counts.items() == COURSE
    assert {other: other.read_bytes() for other in others} == others
    assert path.read_bytes() == whole


def test_opening_writes_nothing(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)
    path.chmod(0o444)
    before = path.stat()
    check_project(path)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)
    assert json.dumps(open_project(path).view.live_text) == '"hugs bugs"'
