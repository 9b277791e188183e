"""The state of the corpus files: gone, changed, moved."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.session.corpus_references import CorpusReferences, changed_files, moved_files, signature_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


def reference(path: Path) -> CorpusReference:
    return CorpusReference(CorpusFile(str(path)), *(signature_of(str(path)) or (-1, -1)))


def go_on() -> bool:
    return False


def test_gone_and_changed_files_are_reported_and_unknown_ones_are_not(tmp_path: Path) -> None:
    same, changed, gone, unknown = (tmp_path / name for name in ("a", "b", "c", "d"))
    for path in (same, changed, gone, unknown):
        path.write_text("hug")
    known = (*map(reference, (same, changed, gone)), CorpusReference(CorpusFile(str(unknown))),
             CorpusReference(CorpusFile("s3://bucket/e"), 5, 5))  # fmt: skip
    changed.write_text("hugs")
    gone.unlink()
    assert changed_files(known, should_stop=go_on) == ([str(gone)], [str(changed)])


def test_a_touched_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("hug")
    known = (reference(path),)
    os.utime(path, ns=(1, 1))
    assert changed_files(known, should_stop=go_on) == ([], [str(path)])


def test_of_several_files_of_a_name_the_most_similar_one_is_taken(tmp_path: Path) -> None:
    for folder, text in (("x/en", "hugs"), ("x/ko", "hugs"), ("y/en", "other")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.txt").write_text(text)
    old = str(tmp_path / "old" / "ko" / "a.txt")
    lost = str(tmp_path / "old" / "b.txt")
    moved = {old: str(tmp_path / "x" / "ko" / "a.txt")}
    assert moved_files(str(tmp_path), (old, lost), {old: 4}, should_stop=go_on) == (moved, [lost])
    assert moved_files(str(tmp_path), (old,), {old: 99}, should_stop=go_on) == (moved, [])


def test_a_search_can_be_canceled(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hug")
    assert moved_files(str(tmp_path), ["a"], {}, should_stop=lambda: True) == ({}, ["a"])
    assert changed_files([CorpusReference(CorpusFile("gone"))], should_stop=lambda: True) == ([], [])


def test_references_are_noted_checked_and_moved(qtbot: QtBot, tmp_path: Path) -> None:
    path, new = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("hug")
    references = CorpusReferences()
    file = CorpusFile(str(path), encoding="utf-8")
    assert references.of(file) == CorpusReference(file)
    references.note_read([str(path)])
    qtbot.waitUntil(lambda: not references.is_running)
    assert references.of(file) == CorpusReference(file, 3, path.stat().st_mtime_ns)
    path.rename(new)
    with qtbot.waitSignal(references.checking.finished) as told:
        references.check()
    assert told.args == [([str(path)], [])]
    references.move({str(path): str(new)})
    with qtbot.waitSignal(references.checking.finished) as told:
        references.check()
    assert told.args == [([], [])]
    references.close()
