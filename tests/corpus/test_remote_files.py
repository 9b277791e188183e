from __future__ import annotations

import bz2
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import CorpusFile, FileOnDisk, is_url, open_url
from wordpiece_studio.corpus.inspection import preview
from wordpiece_studio.corpus.linter.finding import sample_of_files
from wordpiece_studio.corpus.listing import listed_files
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

fsspec = pytest.importorskip("fsspec")

FILES = {
    "a2.txt": b"one two\n",
    "a10.txt.gz": gzip.compress(b"three one\n"),
    "deep/b.jsonl.bz2": bz2.compress(json.dumps({"text": "four one"}).encode()),
    "deep/.hidden.txt": b"five",
    "c.log": b"six",
    "empty.txt": b"",
}


@pytest.fixture
def memory() -> Iterator[Any]:
    """Return a file system that is nowhere but in this process, with some files in the folder ``texts``."""
    system = fsspec.filesystem("memory")
    for name, content in FILES.items():
        system.pipe_file(f"/texts/{name}", content)
    yield system
    system.rm("/texts", recursive=True)


def test_which_paths_are_urls() -> None:
    assert all(map(is_url, ["s3://b/a.txt", "file:///a", "simplecache::https://h/a.txt"]))
    assert not any(map(is_url, ["a.txt", "C:\\a.txt", "C:/a.txt", "/a://b", "s3:/b", "a::b", ""]))


@pytest.mark.usefixtures("memory")
def test_folders_patterns_and_files() -> None:
    def names(*paths: str) -> list[str]:
        return [file.path for file in listed_files(paths)]

    in_folder = [f"memory:///texts/{name}" for name in ("a2.txt", "a10.txt.gz", "deep/b.jsonl.bz2", "empty.txt")]
    assert sorted(names("memory:///texts")) == sorted(in_folder)
    assert names("memory:///texts/a*") == in_folder[:2]
    assert names("memory:///texts/c.log") == ["memory:///texts/c.log"]
    assert [file.kind for file in listed_files("memory:///texts/**/b.*")] == ["jsonl"]
    assert names("memory:///texts/a2.txt", "memory:///texts/a*") == in_folder[:2]


@pytest.mark.usefixtures("memory")
def test_counting() -> None:
    counts = count_words(["memory://texts/a2.txt", "memory://texts/a10.txt.gz", "memory://texts/deep/b.jsonl.bz2"])
    assert counts.items() == [("one", 3), ("two", 1), ("three", 1), ("four", 1)]
    assert [file.words for file in counts.statistics.files] == [2, 2, 2]
    assert counts.statistics.changed_files == ()


@pytest.mark.usefixtures("memory")
def test_a_preview() -> None:
    assert preview(CorpusFile("memory://texts/a2.txt"), 0, 100).text == "one two\n"


def test_what_the_linter_looks_at(memory: Any) -> None:
    memory.pipe_file("/texts/many.txt.gz", gzip.compress(b"some words\n" * 10_000))
    files = [CorpusFile(f"memory://texts/{name}") for name in ("a2.txt", "many.txt.gz")]
    sample = sample_of_files(files, 1000)
    assert [(part.text[:10], part.source, part.first_line) for part in sample.parts] == [
        ("one two\n", "memory://texts/a2.txt", 1),
        ("some words", "memory://texts/many.txt.gz", 1),
    ]


def test_a_change_is_seen(memory: Any) -> None:
    file = FileOnDisk("memory://texts/a2.txt")
    assert (file.size, file.has_changed()) == (8, False)
    memory.pipe_file("/texts/a2.txt", b"longer than before")
    assert file.has_changed()
    memory.rm("/texts/a2.txt")
    assert file.has_changed()


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({"text": ["one two", "one"]}), tmp_path / "a.parquet")
    assert count_words((tmp_path / "a.parquet").as_uri()).items() == [("one", 2), ("two", 1)]


def test_any_place_can_be_read(memory: Any) -> None:
    memory.pipe_file("/texts/long.txt", bytes(range(256)) * 20_000)
    with open_url("memory://texts/long.txt") as file:
        file.seek(3_000_000)
        assert file.read(3) == bytes([192, 193, 194])
        assert file.seek(0, 2) == 5_120_000


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://texts/none.txt", "memory://texts/none.txt does not exist. Check the name."),
        ("memory://none/*.txt", "No file matches memory://none/*.txt. Check the pattern."),
        ("memory://texts/lonely", "The folder memory://texts/lonely contains no files that end in .txt"),
        ("nosuch://x/a.txt", "nosuch://x/a.txt cannot be read: Protocol not known: nosuch"),
    ],
)
def test_faults(memory: Any, url: str, message: str) -> None:
    memory.pipe_file("/texts/lonely/a.log", b"one")
    with pytest.raises(StudioError) as raised:
        count_words(url)
    assert str(raised.value).startswith(message)


def test_what_fails_while_it_is_read(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def read(self, _: int) -> bytes:
            raise RuntimeError("the line is down")

        def seekable(self) -> bool:
            return True

        def close(self) -> None:
            pass

    monkeypatch.setattr(type(memory), "open", lambda *_, **__: Broken())
    with pytest.raises(StudioError, match=r"a2\.txt cannot be read: the line is down"):
        count_words("memory://texts/a2.txt")


@pytest.mark.usefixtures("memory")
def test_files_left_out_of_a_folder_are_counted() -> None:
    statistics = count_words("memory://texts").statistics
    assert (statistics.left_out_files, statistics.left_out_example) == (1, "memory:///texts/c.log")


def test_what_reads_such_urls_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(StudioError, match=r"Install s3fs to access S3\. Install the missing package"):
        count_words("s3://bucket/a.txt")
