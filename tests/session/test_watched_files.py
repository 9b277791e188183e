from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session import corpus_references
from wordpiece_studio.session.corpus_references import FileWatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


class Watched:
    """A watch and its signals."""

    def __init__(self, qtbot: QtBot) -> None:
        self.watch = FileWatch()
        self.said: list[tuple[str, str]] = []
        self.qtbot = qtbot
        self.watch.noticed.connect(lambda path, news: self.said.append((news, path.name)))

    def begin(self, *paths: Path) -> None:
        """Watch and wait for the first check."""
        self.watch.watch(paths)
        self.qtbot.waitUntil(lambda: None not in self.watch.stamps.values() and not self.watch.task.is_running)

    def look(self) -> None:
        """Check the files and wait for the result."""
        self.watch.check()
        self.qtbot.waitUntil(lambda: not self.watch.task.is_running)

    def wait(self, *said: tuple[str, str]) -> None:
        self.qtbot.waitUntil(lambda: self.said == list(said), timeout=3000)


@pytest.fixture
def watched(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(corpus_references, "SETTLE_MS", 20)
    watched = Watched(qtbot)
    yield watched
    watched.watch.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("one two", encoding="utf-8")
    return path


def test_a_change_is_noticed_at_once(watched: Watched, file: Path) -> None:
    watched.begin(file)
    file.write_text("one two three", encoding="utf-8")
    watched.wait(("changed", "corpus.txt"))


def test_a_file_put_in_its_place_is_noticed_again_and_again(watched: Watched, file: Path, tmp_path: Path) -> None:
    watched.begin(file)
    for number in range(3):
        other = tmp_path / "other"
        other.write_text(f"text {number}" * (number + 1), encoding="utf-8")
        os.replace(other, file)
        watched.wait(*[("changed", "corpus.txt")] * (number + 1))


def test_without_notices_it_is_seen_at_the_next_look(
    watched: Watched, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_references, "MOST_NOTICED", 0)
    watched.begin(file)
    file.write_text("1 2", encoding="utf-8")
    assert watched.said == []
    watched.look()
    assert watched.said == [("changed", "corpus.txt")]


def test_the_same_bytes_are_no_change(watched: Watched, file: Path) -> None:
    watched.begin(file)
    os.utime(file, (1, 1))
    watched.look()
    assert watched.said == []


def test_other_bytes_of_the_same_size_are_a_change(watched: Watched, file: Path) -> None:
    watched.begin(file)
    time_ns = file.stat().st_mtime_ns
    file.write_text("two one", encoding="utf-8")
    os.utime(file, ns=(time_ns, time_ns))  # not even the time tells
    watched.wait(("changed", "corpus.txt"))


def test_of_a_large_file_size_and_time_tell(watched: Watched, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_references, "LARGEST_READ", 3)
    watched.begin(file)
    stamp = watched.watch.stamps[file]
    assert stamp is not None
    assert stamp.digest is None
    os.utime(file, (1, 1))
    watched.look()
    assert watched.said == [("changed", "corpus.txt")]


def test_one_look_reads_only_so_much(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_references, "MOST_READ", 15)
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_bytes(b"0123456")
    watched.begin(*paths)
    stamps = [watched.watch.stamps[path] for path in paths]
    assert [stamp is not None and stamp.digest is not None for stamp in stamps] == [True, True, False]


def test_gone_and_back(watched: Watched, file: Path) -> None:
    watched.begin(file)
    data = file.read_bytes()
    file.unlink()
    watched.wait(("gone", "corpus.txt"))
    file.write_bytes(data)
    watched.look()
    watched.wait(("gone", "corpus.txt"), ("back", "corpus.txt"))
    file.unlink()
    watched.look()
    watched.look()
    file.write_bytes(b"something else")
    watched.look()
    assert watched.said[2:] == [("gone", "corpus.txt"), ("changed", "corpus.txt")]


def test_a_folder_that_vanishes_takes_its_files_along(watched: Watched, tmp_path: Path) -> None:
    folder = tmp_path / "network"
    folder.mkdir()
    for name in "ab":
        (folder / name).write_text(name, encoding="utf-8")
    watched.begin(folder / "a", folder / "b")
    folder.rename(tmp_path / "away")
    watched.look()
    watched.look()
    watched.wait(("gone", "a"), ("gone", "b"))


def test_what_was_written_here_is_no_news(watched: Watched, file: Path) -> None:
    watched.begin(file)
    file.write_text("saved here", encoding="utf-8")
    watched.watch.take(file)
    watched.look()
    watched.qtbot.wait(100)  # for a notice that comes late
    watched.look()
    assert watched.said == []


def test_watched_no_longer_nothing_is_said(watched: Watched, file: Path) -> None:
    watched.begin(file)
    watched.watch.watch([])
    file.write_text("other", encoding="utf-8")
    watched.qtbot.wait(100)
    watched.look()
    assert watched.said == []
    assert watched.watch.paths == []


def test_what_is_no_file_is_not_read(watched: Watched, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no FIFOs here")
    os.mkfifo(tmp_path / "fifo")
    watched.begin(tmp_path / "fifo")
    watched.look()
    assert watched.said == []
