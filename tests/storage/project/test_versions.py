from __future__ import annotations

import dataclasses
import json
import sqlite3
from typing import TYPE_CHECKING

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from tests.storage.project.making import check_project, course_project, forged, put_part
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Bookmark, View

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "p.wpstudio"
    save_project(path, course_project())
    return path


def newer_minor(database: sqlite3.Connection) -> None:
    """What a program of a later minor version might write: a record, a field, parts of known and unknown kinds."""
    database.execute("PRAGMA user_version = 1007")
    database.execute("INSERT INTO meta VALUES ('colors', '{\"a\": 1}')")
    view = json.loads(database.execute("SELECT v FROM meta WHERE k = 'view'").fetchone()[0])
    database.execute("UPDATE meta SET v = ? WHERE k = 'view'", (json.dumps({**view, "zoom": [2]}),))
    put_part(database, "sounds/a", b"\1\0\2\0", 2, "<i2")
    put_part(database, "sounds/b", b"not for us", 3, "<c16")


def test_what_a_newer_minor_version_added_is_kept(path: Path, tmp_path: Path) -> None:
    path.write_bytes(forged(path.read_bytes(), newer_minor))
    check_project(path)
    project = open_project(path)
    assert project.view.live_text == "hugs bugs"
    assert project.unknown is not None
    changed = dataclasses.replace(project, view=View(live_text="other"))
    copy = tmp_path / "copy.wpstudio"
    save_project(copy, changed)
    check_project(copy)
    again = open_project(copy)
    assert again.unknown == project.unknown
    assert again.view.live_text == "other"
    database = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
    assert database.execute("PRAGMA user_version").fetchone() == (1007,)
    assert json.loads(database.execute("SELECT v FROM meta WHERE k = 'view'").fetchone()[0])["zoom"] == [2]
    assert database.execute("SELECT n, kind FROM part WHERE name = 'sounds/b'").fetchone() == (3, "<c16")
    database.close()


def test_a_field_too_many_in_our_own_version_is_damage(path: Path) -> None:
    def add_field(database: sqlite3.Connection) -> None:
        newer_minor(database)
        database.execute("PRAGMA user_version = 1000")

    path.write_bytes(forged(path.read_bytes(), add_field))
    with pytest.raises(StudioError, match="damaged at its records: Object contains unknown field `zoom`"):
        open_project(path)


def test_a_project_with_the_markers_of_an_older_version_opens_without_them(path: Path) -> None:
    def age(database: sqlite3.Connection) -> None:
        view = json.loads(database.execute("SELECT v FROM meta WHERE k = 'view'").fetchone()[0])
        del view["note_runs"], view["note_owners"]
        view["markers"] = {"A": 2, "B": 3}
        database.execute("UPDATE meta SET v = ? WHERE k = 'view'", (json.dumps(view),))
        database.execute("PRAGMA user_version = 1002")

    path.write_bytes(forged(path.read_bytes(), age))
    check_project(path)
    project = open_project(path)
    assert project.unknown is None
    notes = (Bookmark(1, "the first", "##gs"),)
    assert replace(project.view, markers=UNSET) == replace(course_project().view, notes=notes)


def test_a_version_that_never_was(path: Path) -> None:
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute("PRAGMA user_version = 3")))
    with pytest.raises(StudioError, match="damaged at its version: there was never a format 0"):
        open_project(path)
