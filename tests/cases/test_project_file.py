"""Project files that are damaged, foreign, hostile, older or newer, or cannot be written: cases 46–51 and 53–55."""

from __future__ import annotations

import ast
import dataclasses
import errno
import os
import re
import sqlite3
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio
from tests.storage.project.making import check_project, course_project, forged, open_whole, put_part
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.contents import ProjectCorpus
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    from collections.abc import Callable

    Told = Callable[[object], str]

POSIX = pytest.mark.skipif(os.name != "posix", reason="no such file elsewhere")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "course.wpstudio"
    save_project(path, course_project())
    return path


def refusal(path: str | Path) -> str:
    """Return what is told of a project that is not opened."""
    with pytest.raises(StudioError) as caught:
        open_whole(path)
    return str(caught.value)


# ---- 46: something else ----------------------------------------------------------------------------------------------


@pytest.mark.case(46)
def test_an_empty_file(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "empty.wpstudio"
    path.touch()
    assert told(refusal(path)) == f"{path} is empty. Open a copy of it from a backup."
    assert path.stat().st_size == 0


@POSIX
@pytest.mark.case(46)
def test_a_device_and_a_pipe(tmp_path: Path, told: Told) -> None:
    os.mkfifo(tmp_path / "pipe.wpstudio")
    for path in ("/dev/null", "/dev/zero", str(tmp_path / "pipe.wpstudio")):
        assert told(refusal(path)) == f"{path} is not a regular file. Choose a file on a disk."


@pytest.mark.case(46)
def test_a_text_a_zip_and_the_database_of_another_program(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "other.wpstudio"

    def write_zip() -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", "hug" * 100)

    def write_database() -> None:
        path.unlink()
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE meta (k TEXT PRIMARY KEY, v TEXT)")
        database.close()

    for write in (lambda: path.write_text("hug pug\n" * 100), write_zip, write_database):
        write()
        before = path.read_bytes()
        assert told(refusal(path)) == (
            f"{path} is not a WordPiece Studio project."
            " Choose a file that was saved as a project, with a name ending in .wpstudio."
        )
        assert path.read_bytes() == before


@pytest.mark.case(46)
def test_a_folder_and_no_file(tmp_path: Path, told: Told) -> None:
    assert told(refusal(tmp_path)) == f"{tmp_path} is a folder. Choose files."
    assert told(refusal(tmp_path / "x.wpstudio")) == f"{tmp_path / 'x.wpstudio'} does not exist. Check the name."


# ---- 47, 48: damage --------------------------------------------------------------------------------------------------


@pytest.mark.case(47)
def test_a_file_cut_off_at_every_page(project: Path, told: Told) -> None:
    whole = project.read_bytes()
    assert len(whole) > 5 * 4096
    for size in range(4096, len(whole), 4096):
        project.write_bytes(whole[:size])
        message = refusal(project)
        assert message == (
            f"{project} is damaged at its end: it has {size:,} bytes, not as many as were saved."
            " The file was left as it is. Open a copy of it from a backup."
        )
    told(message)


@pytest.mark.slow
@pytest.mark.case(48)
def test_a_byte_that_changed(project: Path, told: Told) -> None:
    """A sample; `test_hostile_projects` has every byte of a project."""
    whole = project.read_bytes()
    messages = set()
    for place in range(0, len(whole), 211):
        project.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        with pytest.raises(StudioError) as caught:
            check_project(project)
        messages.add(str(caught.value))
    assert all(str(project) in message for message in messages)
    used = next(message for message in sorted(messages) if "its records" in message)
    assert told(used) == (
        f"{project} is damaged at its records: it is not what was saved."
        " The file was left as it is. Open a copy of it from a backup."
    )
    unused = next(message for message in messages if "is damaged: its bytes differ" in message)
    assert "its bytes differ from those that were saved" in told(unused)


# ---- 49: malice ------------------------------------------------------------------------------------------------------

ENDLESS = "CREATE VIEW meta AS WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x k, x v FROM t"


@pytest.mark.case(49)
@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE meta", ENDLESS],
        ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM part; END"],
        ["ALTER TABLE chunk ADD COLUMN x GENERATED ALWAYS AS (zeroblob(900000000))"],
    ],
    ids=["view", "trigger", "blob"],
)
def test_tables_that_are_none(project: Path, told: Told, statements: list[str]) -> None:
    def change(database: sqlite3.Connection) -> None:
        for statement in statements:
            database.execute(statement)

    project.write_bytes(forged(project.read_bytes(), change, is_sealed=False))
    assert told(refusal(project)).startswith(
        f"{project} is damaged at its tables: they are not those of a project. The file was left as it is."
    )


# ---- 50: versions ----------------------------------------------------------------------------------------------------


def newer(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA user_version = 3003")
    database.execute("UPDATE meta SET v = 'WordPiece Studio 7.1\x1b[2J' WHERE k = 'program'")


@pytest.mark.case(50)
def test_a_newer_format(project: Path, told: Told) -> None:
    project.write_bytes(forged(project.read_bytes(), newer))
    assert told(refusal(project)) == (
        f"{project} was saved by WordPiece Studio 7.1\\x1b[2J, in the format 3.3, which this version does not know."
        " Install a newer version of WordPiece Studio to open it. The file was left as it is."
    )


@pytest.mark.case(50)
def test_a_newer_format_that_would_never_end(project: Path, told: Told) -> None:
    def change(database: sqlite3.Connection) -> None:
        database.execute("DROP TABLE meta")
        database.execute(ENDLESS.replace("SELECT x k, x v FROM t", "SELECT x k, x v FROM t WHERE x < 0"))
        database.execute("PRAGMA user_version = 3000")

    project.write_bytes(forged(project.read_bytes(), change, is_sealed=False))
    assert "has the format 3.0, which this version does not know" in told(refusal(project))


@pytest.mark.case(50)
def test_a_format_that_never_was(project: Path, told: Told) -> None:
    project.write_bytes(forged(project.read_bytes(), lambda database: database.execute("PRAGMA user_version = 7")))
    assert "is damaged at its version: there was never a format 0" in told(refusal(project))


# ---- 51: what lies beside --------------------------------------------------------------------------------------------


@pytest.mark.case(51)
def test_a_journal_beside_it(project: Path, told: Told) -> None:
    whole = project.read_bytes()
    for end in ("-journal", "-wal", "-shm"):
        project.with_name(project.name + end).write_bytes(whole[:5000])
    assert open_project(project).corpus.text == "hug pug pun bun hugs\n"
    check_project(project)
    told("opened as it was saved; what lies beside it is neither read nor changed")
    assert project.read_bytes() == whole
    assert all(project.with_name(project.name + end).read_bytes() == whole[:5000] for end in ("-journal", "-wal"))


# ---- 53: nowhere to write --------------------------------------------------------------------------------------------


@pytest.mark.case(53)
@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS], ids=["folder", "file system"])
def test_a_folder_and_a_disk_that_are_read_only(
    project: Path, told: Told, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The system's refusal is made up: for an administrator, no folder is read-only."""
    before, really = project.read_bytes(), os.open

    def refuse(path: str, flags: int, *others: int, **named: int | None) -> int:
        if flags & os.O_CREAT:
            raise OSError(code, os.strerror(code), str(path))
        return really(path, flags, *others, **named)  # type: ignore[arg-type]

    opened = open_project(project)
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StudioError) as caught:
        save_project(project, opened)
    assert told(caught.value) == (
        f"{project} cannot be written: {os.strerror(code)}. Any existing file is unchanged. Save to another location."
    )
    assert project.read_bytes() == before


@pytest.mark.case(53)
def test_a_file_that_is_write_protected(project: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    project.chmod(0o444)
    opened = open_project(project)
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)  # for an administrator everything may be
    with pytest.raises(StudioError) as caught:
        save_project(project, opened)
    assert told(caught.value) == f"{project} is write-protected. Choose another name to save under."
    project.chmod(0o644)
    check_project(project)


# ---- 54: moved -------------------------------------------------------------------------------------------------------


@pytest.mark.case(54)
def test_a_project_that_was_moved(tmp_path: Path, told: Told) -> None:
    home = tmp_path / "old"
    home.mkdir()
    (home / "a.txt").write_text("hug")
    corpus = ProjectCorpus(text=None, files=(CorpusReference(CorpusFile(str(home / "a.txt"))),))
    save_project(home / "p.wpstudio", dataclasses.replace(course_project(run=None), corpus=corpus))

    def file_of(project: Path) -> str:
        return open_project(project).corpus.files[0].file.path

    moved = home.rename(tmp_path / "new")
    assert file_of(moved / "p.wpstudio") == str(moved / "a.txt")  # both moved
    (tmp_path / "alone").mkdir()
    alone = (moved / "p.wpstudio").rename(tmp_path / "alone" / "p.wpstudio")
    assert file_of(alone) == str(home / "a.txt")  # which is not there: for the window to ask where it is
    moved.rename(home)
    assert file_of(alone) == str(home / "a.txt")  # the project alone moved
    told("its files are found from its own folder on, else where they were; one that is in neither place is kept")


# ---- 55: no code -----------------------------------------------------------------------------------------------------

RUNS_CODE = {"pickle", "cPickle", "_pickle", "marshal", "dill", "cloudpickle", "shelve", "joblib", "jsonpickle"}
RUNS_CODE_WORD = re.compile(rf"\b({'|'.join(RUNS_CODE)}|eval|exec)\b")


@pytest.mark.case(55)
def test_nothing_that_is_read_is_code(told: Told) -> None:
    package = Path(wordpiece_studio.__file__).parent
    files = list(package.rglob("*.py"))
    assert len(files) > 100
    # One module sends pickles, to and from our own child processes.
    read = [path for path in files if path.relative_to(package) != Path("system", "child.py")]
    suspects = [path for path in read if RUNS_CODE_WORD.search(path.read_text("utf-8"))]
    for path in suspects:  # most of which only say that they do not
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not RUNS_CODE & {name.partition(".")[0] for name in names}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path
    told("no module of the program that reads a file imports pickle, marshal or the like")


@pytest.mark.case(55)
def test_a_pickle_in_a_project_is_not_unpacked(project: Path, tmp_path: Path, told: Told) -> None:
    trap = tmp_path / "trap"
    pickled = b"cos\nsystem\n(S'touch " + os.fsencode(trap) + b"'\ntR."
    for name, kind in (
        ("runs/0/words/statistics", "text"),
        ("runs/0/merges/left_id", "|O"),
        ("view/watched_text", "pickle"),
    ):
        data = forged(
            project.read_bytes(),
            lambda database, name=name, kind=kind: put_part(database, name, pickled, len(pickled), kind),
        )
        (tmp_path / "other.wpstudio").write_bytes(data)
        message = refusal(tmp_path / "other.wpstudio")
        assert "is damaged at" in message
    told(message)
    assert not trap.exists()
