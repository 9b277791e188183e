from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import course_project
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.storage.project.contents import ProjectCorpus
from wordpiece_studio.storage.project.layout import SourceRow
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.records import located, placed

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


def test_files_that_moved_with_the_project_are_found(tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "texts").mkdir(parents=True)
    (old / "projects").mkdir()
    (old / "texts" / "a.txt").write_text("a")
    save_project(old / "projects" / "p.wpstudio", project_with(CorpusFile(str(old / "texts" / "a.txt"))))
    shutil.copytree(old, tmp_path / "new")

    def found() -> str:
        return open_project(tmp_path / "new" / "projects" / "p.wpstudio").corpus.files[0].file.path

    assert found() == str(tmp_path / "new" / "texts" / "a.txt")
    (tmp_path / "new" / "texts" / "a.txt").unlink()
    assert found() == str(old / "texts" / "a.txt")
    shutil.rmtree(old)
    assert found() == str(old / "texts" / "a.txt")  # a reference still, though there is no such file


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
    row = placed("/data/a.txt", "/projects", "{}")
    assert row.relative is None
    assert located(row, "/elsewhere") == os.path.abspath("/data/a.txt")


@pytest.mark.parametrize(
    "relative",
    ["/etc/passwd", "//server/share/x", "\\\\server\\share\\x", "C:\\x", "C:x", "\\x", "https://x/y", "", "a\0b"],
)
def test_what_is_no_way_from_the_folder_is_refused(relative: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        located(SourceRow("x", b"/x", relative.encode(), "{}"), "/folder")


@pytest.mark.parametrize("absolute", [b"", b"a\0b", b"x" * 70_000])
def test_what_is_no_path_is_refused(absolute: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        located(SourceRow("x", absolute, None, "{}"), "/folder")
