from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import course_project
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.project import contents
from wordpiece_studio.storage.project.container import SourceRow
from wordpiece_studio.storage.project.contents import ProjectCorpus, found_inside, located_file, note_agreed, placed
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    from wordpiece_studio.storage.project.contents import Project


def project_with(*files: CorpusFile, origin: CorpusFile | None = None) -> Project:
    references = tuple(CorpusReference(file, 5, 1_700_000_000_123_456_789, "0f" * 32) for file in files)
    corpus = ProjectCorpus(text=None, files=references, origin=origin and CorpusReference(origin))
    return dataclasses.replace(course_project(run=None), corpus=corpus)


def test_how_files_are_read_comes_back(tmp_path: Path) -> None:
    files = [
        CorpusFile(str(tmp_path / "a.txt"), encoding="detect", errors="skip-line"),
        CorpusFile(str(tmp_path / "b.jsonl.zst"), "jsonl", "meta.text"),
        CorpusFile("https://example.org/c.csv", "csv", "3", "cp1252", "replace"),
        CorpusFile(str(tmp_path / "d.parquet"), "parquet"),
    ]
    project = project_with(*files, origin=CorpusFile(str(tmp_path / "text.txt")))
    save_project(tmp_path / "p.wpstudio", project)
    assert open_project(tmp_path / "p.wpstudio").corpus == project.corpus


def test_files_that_moved_with_the_project_are_found_once_they_may_be(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "texts").mkdir(parents=True)
    (old / "projects").mkdir()
    (old / "texts" / "a.txt").write_text("a")
    save_project(old / "projects" / "p.wpstudio", project_with(CorpusFile(str(old / "texts" / "a.txt"))))
    shutil.copytree(old, new)

    def found() -> CorpusFile:
        return open_project(new / "projects" / "p.wpstudio").corpus.files[0].file

    assert found().unagreed == (str(new / "texts" / "a.txt"), str(old / "texts" / "a.txt"))
    assert found().agreed().path == str(new / "texts" / "a.txt")
    (new / "texts" / "a.txt").unlink()
    assert found().agreed().path == str(old / "texts" / "a.txt")
    shutil.rmtree(old)
    assert found().agreed().path == str(old / "texts" / "a.txt")  # a reference still, though there is no such file


def test_saving_keeps_both_places_of_a_file_that_is_not_agreed_to(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    save_project(tmp_path / "old" / "p.wpstudio", project_with(CorpusFile(str(tmp_path / "texts" / "a.txt"))))
    (tmp_path / "new" / "projects").mkdir(parents=True)
    path = (tmp_path / "old" / "p.wpstudio").rename(tmp_path / "new" / "projects" / "p.wpstudio")
    project = open_project(path)
    (file,) = (reference.file for reference in project.corpus.files)
    assert file.unagreed == (str(tmp_path / "new" / "texts" / "a.txt"), str(tmp_path / "texts" / "a.txt"))
    (tmp_path / "other").mkdir()
    for other in (path, tmp_path / "other" / "q.wpstudio"):
        save_project(other, project)
        assert open_project(other).corpus.files[0].file.unagreed == file.unagreed
    note_agreed(path, project.corpus)
    assert open_project(path).corpus.files[0].file.unagreed == ()


@pytest.mark.skipif(os.name != "posix", reason="these are no names of files elsewhere")
def test_names_that_are_absolute_paths_elsewhere_can_be_saved(tmp_path: Path) -> None:
    names = ["c:x.txt", "\\a.txt", "\\\\?\\x", "NUL.txt"]
    for name in names:
        (tmp_path / name).write_text("a")
    save_project(tmp_path / "p.wpstudio", project_with(*(CorpusFile(str(tmp_path / name)) for name in names)))
    files = [reference.file for reference in open_project(tmp_path / "p.wpstudio").corpus.files]
    assert [(file.path, file.unagreed) for file in files] == [(str(tmp_path / name), ()) for name in names]


@pytest.mark.skipif(os.name != "posix", reason="making links takes a privilege elsewhere")
def test_files_in_a_folder_that_is_reached_through_a_link_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save_project(tmp_path / "link" / "p.wpstudio", project_with(CorpusFile(str(tmp_path / "link" / "a.txt"))))
    (tmp_path / "link").unlink()
    (tmp_path / "real").rename(tmp_path / "new")
    file = open_project(tmp_path / "new" / "p.wpstudio").corpus.files[0].file
    assert (file.path, file.unagreed) == (str(tmp_path / "new" / "a.txt"), ())


def test_files_in_the_folder_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "old" / "texts").mkdir(parents=True)
    (tmp_path / "old" / "texts" / "a.txt").write_text("a")
    save_project(tmp_path / "old" / "p.wpstudio", project_with(CorpusFile(str(tmp_path / "old" / "texts" / "a.txt"))))
    (tmp_path / "old").rename(tmp_path / "new")
    file = open_project(tmp_path / "new" / "p.wpstudio").corpus.files[0].file
    assert (file.path, file.unagreed) == (str(tmp_path / "new" / "texts" / "a.txt"), ())


def test_who_has_saved_a_project_is_not_asked_about_its_files(tmp_path: Path) -> None:
    path, far = tmp_path / "own" / "p.wpstudio", tmp_path / "far.txt"
    path.parent.mkdir()
    far.write_text("a")
    save_project(path, project_with(CorpusFile(str(far))))
    project = open_project(path)
    assert project.corpus.files[0].file.unagreed == ()
    kept = contents._file()
    assert str(tmp_path) not in kept.read_text()
    before = kept.read_bytes()
    save_project(path, project)
    assert kept.read_bytes() == before
    kept.unlink()
    project = open_project(path)  # as if it came from elsewhere
    assert project.corpus.files[0].file.unagreed == (str(far),)
    save_project(path, project)
    assert not kept.exists()
    with pytest.raises(StudioError, match="is outside the project's folder and has not been read"):
        count_words([project.corpus.files[0].file])
    assert record_of_project(dataclasses.replace(project, runs=course_project().runs)).sha256 is None
    note_agreed(path, ProjectCorpus(text=None, files=(CorpusReference(CorpusFile(str(far))),)))
    assert open_project(path).corpus.files[0].file.unagreed == ()


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of POSIX")
def test_a_link_a_pipe_and_a_way_out_of_the_folder_are_other_places(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "a.txt").write_text("a")
    (folder / "far").symlink_to("/")
    (folder / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.txt")
    places = {
        "texts/a.txt": True, "texts/none.txt": False, "texts/a.txt/b": False, "x" * 300: False, "texts": None,
        "far/etc/passwd": None, "far": None, "zero.txt": None, "pipe.txt": None, "../a.txt": None, "": None,
    }  # fmt: skip
    assert {name: found_inside(os.path.join(folder, name), str(folder)) for name in places} == places
    for place in ("/dev/zero", "//host/share/a.txt", "file:///etc/passwd", f"{folder}/texts/../../a.txt", f"{folder}x"):
        assert found_inside(place, str(folder)) is None


def test_a_path_from_here_on_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_project("p.wpstudio", project_with(CorpusFile("a.txt")))
    assert open_project("p.wpstudio").corpus.files[0].file.path == str(tmp_path / "a.txt")


@pytest.mark.skipif(os.name != "posix", reason="other names are always text")
def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(bytes(tmp_path) + b"/\xff\xfe\n<b>.txt")
    Path(name).write_text("a")
    project = tmp_path / os.fsdecode(b"p\xff?#%20.wpstudio")
    save_project(project, project_with(CorpusFile(name)))
    path = open_project(project).corpus.files[0].file.path
    assert path == name
    assert Path(path).read_text() == "a"


def test_a_path_on_another_drive_has_no_way_from_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_way(*_: str) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", no_way)
    row = placed(CorpusFile("/data/a.txt"), ["/projects"], "{}")
    assert row.relative is None
    assert located_file(row, "/elsewhere") == (os.path.abspath("/data/a.txt"), (os.path.abspath("/data/a.txt"),))


@pytest.mark.parametrize(
    "relative",
    [
        "/etc/passwd",
        "//server/share/x",
        "\\\\server\\share\\x",
        "C:\\x",
        "C:x",
        "\\x",
        "https://x/y",
        "/\\server\\share\\x",
        "\\/server/share/x",
    ],
)
def test_what_is_no_way_from_the_folder_is_not_followed(relative: str) -> None:
    assert located_file(SourceRow("x", b"/x", relative.encode(), "{}"), "/folder") == ("/x", ("/x",))


@pytest.mark.parametrize("path", [b"", b"a\0b", b"x" * 70_000])
def test_what_is_no_path_is_refused(path: bytes) -> None:
    for row in (SourceRow("x", path, None, "{}"), SourceRow("x", b"/x", path, "{}")):
        with pytest.raises(ValueError, match=r"."):
            located_file(row, "/folder")
