"""Files that are watched: changed, gone, back, moved; and what they were like when they were last read."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.session import watched_files
from wordpiece_studio.session.watched_files import FileWatch, moved_files

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def expect(self, *references: CorpusReference) -> None:
        """Expect files to be like this, and wait until it is known whether they are."""
        self.watch.expect(references)
        self.qtbot.waitUntil(lambda: not self.watch.is_pending)

    def look(self) -> None:
        """Check the files and wait for the result."""
        self.watch.check()
        self.qtbot.waitUntil(lambda: not self.watch.task.is_running)

    def wait(self, *said: tuple[str, str]) -> None:
        self.qtbot.waitUntil(lambda: self.said == list(said), timeout=3000)


@pytest.fixture
def watched(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(watched_files, "SETTLE_MS", 20)
    watched = Watched(qtbot)
    yield watched
    watched.watch.watch(())
    watched.watch.task.close()


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
    monkeypatch.setattr(watched_files, "MOST_NOTICED", 0)
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
    monkeypatch.setattr(watched_files, "LARGEST_READ", 3)
    watched.begin(file)
    stamp = watched.watch.stamps[file]
    assert stamp is not None
    assert stamp.digest is None
    os.utime(file, (1, 1))
    watched.look()
    assert watched.said == [("changed", "corpus.txt")]


def test_one_look_reads_only_so_much(watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_files, "MOST_READ", 15)
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
    assert watched.watch.stamps == {}


def test_what_is_no_file_is_not_read(watched: Watched, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no FIFOs here")
    os.mkfifo(tmp_path / "fifo")
    watched.begin(tmp_path / "fifo")
    watched.look()
    assert watched.said == []


# -- what they were like when they were last read


def reference(path: Path, size: int | None = None) -> CorpusReference:
    status = path.stat()
    return CorpusReference(CorpusFile(str(path)), status.st_size if size is None else size, status.st_mtime_ns)


def test_gone_and_changed_files_are_reported_and_unknown_ones_are_not(watched: Watched, tmp_path: Path) -> None:
    same, changed, gone, unknown = (tmp_path / name for name in ("a", "b", "c", "d"))
    for path in (same, changed, gone, unknown):
        path.write_text("hug")
    known = *map(reference, (same, changed, gone)), CorpusReference(CorpusFile(str(unknown)))
    changed.write_text("hugs")
    gone.unlink()
    watched.expect(*known, CorpusReference(CorpusFile(str(tmp_path / "e"), unagreed=("e",)), 5, 5))
    assert sorted(watched.said) == [("changed", "b"), ("gone", "c")]
    assert (watched.watch.changed, watched.watch.gone) == ({changed}, {gone})
    watched.watch.take(changed)
    watched.look()
    assert watched.watch.changed == set()
    assert watched.watch.reference(CorpusFile(str(changed))) == reference(changed)


def test_what_is_behind_a_url_is_only_remembered(watched: Watched) -> None:
    known = CorpusReference(CorpusFile("s3://bucket/e"), 5, 5)
    watched.watch.expect([known])
    assert watched.watch.stamps == {}
    assert watched.watch.reference(known.file) == known


def test_a_file_touched_since_it_was_read_has_changed(watched: Watched, file: Path) -> None:
    known = reference(file)
    os.utime(file, ns=(1, 1))
    watched.expect(known)
    assert watched.said == [("changed", "corpus.txt")]
    assert watched.watch.reference(known.file) == known  # not what it is like now


def test_a_change_is_forgotten_when_files_are_expected_anew(watched: Watched, file: Path) -> None:
    os.utime(file, ns=(1, 1))
    known = reference(file)
    watched.expect(known)
    file.write_text("three", encoding="utf-8")
    watched.look()
    assert watched.watch.changed == {file}
    watched.expect(reference(file))
    assert watched.watch.changed == set()


def test_a_file_is_remembered_as_it_was_read_and_where_it_is_now(watched: Watched, file: Path, tmp_path: Path) -> None:
    read = CorpusFile(str(file), encoding="utf-8")
    assert watched.watch.reference(read) == CorpusReference(read)
    watched.begin(file)
    known = watched.watch.reference(read)
    assert (known.file, known.size, known.modified_ns) == (read, 7, file.stat().st_mtime_ns)
    new = tmp_path / "new.txt"
    file.rename(new)
    watched.wait(("gone", "corpus.txt"))
    watched.watch.move({file: new})
    watched.look()
    assert watched.watch.gone == watched.watch.changed == set()
    moved = CorpusFile(str(new))
    assert watched.watch.reference(moved) == CorpusReference(moved, known.size, known.modified_ns)


# -- files that were moved


def go_on() -> bool:
    return False


def test_of_several_files_of_a_name_the_most_similar_one_is_taken(tmp_path: Path) -> None:
    for folder, text in (("x/en", "hugs"), ("x/ko", "hugs"), ("y/en", "other")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.txt").write_text(text)
    old, lost = (CorpusReference(CorpusFile(str(tmp_path / "old" / name)), 4) for name in ("ko/a.txt", "b.txt"))
    moved = {old.file.path: str(tmp_path / "x" / "ko" / "a.txt")}
    assert moved_files(str(tmp_path), (old, lost), should_stop=go_on) == (moved, [lost.file.path])
    other = CorpusReference(old.file, 99)
    assert moved_files(str(tmp_path), (other,), should_stop=go_on) == (moved, [])


def test_a_search_can_be_canceled(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hug")
    lost = CorpusReference(CorpusFile("a"))
    assert moved_files(str(tmp_path), [lost], should_stop=lambda: True) == ({}, ["a"])
