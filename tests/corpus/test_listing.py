from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wordpiece_studio.corpus.files import CorpusFile, kind_of_name
from wordpiece_studio.corpus.listing import listed_files, listing
from wordpiece_studio.errors import StudioError

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files at several depths, hidden ones and ones with other endings."""
    names = [
        "10.txt", "9.txt", "a/b/c.jsonl.gz", "a/1.csv", ".hidden.txt", ".git/x.txt", "picture.png", "README", "B.TXT",
        "table.parquet", "a/2.tsv.zst", "notes.text", "settings.json",
    ]  # fmt: skip
    for name in names:
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path / "texts"


def names_in(folder: Path, *paths: object) -> list[str]:
    return [Path(file.path).relative_to(folder).as_posix() for file in listed_files(paths)]  # type: ignore[arg-type]


def test_a_folder_is_listed_in_natural_order_without_what_is_hidden_or_unknown(folder: Path) -> None:
    expected = [
        "9.txt", "10.txt", "B.TXT", "a/1.csv", "a/2.tsv.zst", "a/b/c.jsonl.gz", "notes.text", "table.parquet"
    ]  # fmt: skip
    assert names_in(folder, folder) == expected
    kinds = [file.kind for file in listed_files(folder)]
    assert kinds == ["text", "text", "text", "csv", "tsv", "jsonl", "text", "parquet"]


def test_files_left_out_of_a_folder_are_counted(folder: Path) -> None:
    found = listing(folder)
    assert (found.left_out_files, found.left_out_example) == (3, str(folder / "README"))
    found = listing([folder, folder, folder / "README"])
    assert (found.left_out_files, found.left_out_example) == (2, str(folder / "picture.png"))
    for paths in (folder / "a", f"{folder}/*", folder / "README"):
        assert (listing(paths).left_out_files, listing(paths).left_out_example) == (0, "")


def test_files_keep_their_order_and_may_come_twice_but_a_folder_adds_only_others(folder: Path) -> None:
    assert names_in(folder, folder / "10.txt", folder / "picture.png", folder / "10.txt")[2] == "10.txt"
    assert names_in(folder, folder / "10.txt", folder)[:3] == ["10.txt", "9.txt", "B.TXT"]
    assert names_in(folder, folder, folder / "9.txt").count("9.txt") == 2


def test_patterns(folder: Path) -> None:
    assert names_in(folder, str(folder / "*.txt")) == ["9.txt", "10.txt"]
    assert names_in(folder, f"{folder}/**/*.*z*") == ["a/2.tsv.zst", "a/b/c.jsonl.gz"]
    assert names_in(folder, str(folder / "READM?")) == ["README"]
    with pytest.raises(StudioError, match=r"No file matches .*/\*\.log"):
        listed_files(str(folder / "*.log"))


@POSIX
def test_a_file_whose_name_looks_like_a_pattern_is_that_file(folder: Path) -> None:
    (folder / "[1].txt").write_bytes(b"x")
    (folder / "1.txt").write_bytes(b"x")
    assert names_in(folder, str(folder / "[1].txt")) == ["[1].txt"]


def test_a_corpus_file_stays_as_it_is_and_bytes_are_names(folder: Path) -> None:
    file = CorpusFile(str(folder / "9.txt"), "jsonl", column="x")
    assert listed_files([file, os.fsencode(folder / "10.txt")]) == [file, CorpusFile(str(folder / "10.txt"))]
    assert listed_files(file) == [file]


def test_what_cannot_be_listed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for paths, message in [
        ([], "There is no file to read"),
        (3, "Files are expected, not 3"),
        ([None], "Files are expected, not None"),
        (tmp_path / "empty", r"empty contains no files that end in \.txt"),
        (folder / "no.txt", r"no\.txt does not exist"),
        ("", '"" does not exist'),
    ]:
        with pytest.raises(StudioError, match=message):
            listed_files(paths)  # type: ignore[arg-type]


@POSIX
def test_links_are_followed_once_and_never_in_a_circle(folder: Path) -> None:
    os.symlink(folder, folder / "a" / "up")
    os.symlink(folder / "a", folder / "z")
    os.symlink(folder / "nowhere", folder / "dangling.txt")
    os.symlink("itself.txt", folder / "itself.txt")
    assert names_in(folder, folder / "a") == ["a/1.csv", "a/2.tsv.zst", "a/b/c.jsonl.gz", *(
        f"a/up/{name}" for name in ("9.txt", "10.txt", "B.TXT", "notes.text", "table.parquet")
    )]  # fmt: skip
    assert len(names_in(folder, folder)) == 8


@POSIX
def test_pipes_in_a_folder_are_left_out_and_refused_by_name(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    assert "pipe.txt" not in names_in(folder, folder)
    with pytest.raises(StudioError, match="not a regular file"):
        listed_files(folder / "pipe.txt")


@POSIX
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "a").chmod(0)
    try:
        with pytest.raises(StudioError, match="a cannot be read"):
            listed_files(folder)
    finally:
        (folder / "a").chmod(0o700)


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_undecodable_names(folder: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.txt")
    (folder / "a" / name).write_bytes(b"x")
    assert Path(listed_files(folder / "a")[-1].path).name == name


def test_thousands_of_files_are_listed_fast(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / f"{number}.txt").touch()
    assert [Path(file.path).stem for file in listed_files(tmp_path)] == list(map(str, range(2000)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.txt", "text"), ("A.JSONL", "jsonl"), ("x.csv.bz2", "csv"), ("x.gz", None), ("x", None), (".txt", None)],
)
def test_the_kind_is_in_the_name(name: str, kind: str | None) -> None:
    assert kind_of_name(name) == kind
