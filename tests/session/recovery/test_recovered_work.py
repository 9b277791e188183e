"""Recovered work, damaged in every way: as much as possible is read, the rest is reported, nothing else is touched."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from tests.session.recovery.fakes import settings, trained
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import recovery_store
from wordpiece_studio.session.recovery_store import About, FolderLock, RecoveryStore, readable
from wordpiece_studio.storage.project.container import ProjectStamp, is_replaced, stamp_of
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.storage.view import View

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.session.recovery_store import Recovered

TEXT = "the text of the base"
NAMES = ("base-1.wpstudio", "journal-1", "run-1.wpstudio", "lock")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base, three edits and a training."""
    root = tmp_path_factory.mktemp("recovery")
    project = Project(
        settings=settings(),
        corpus=ProjectCorpus(name="mine", text=TEXT, is_edited=True),
        view=View(),
        runs=(replace(trained(random_counts(2), 7), is_of_corpus=True),),
    )
    kept = RecoveryStore(root)
    about = About(name="mine", edits=1, merges=7, run=1, is_edited=True, time=1000.0)
    kept.write_run(1, project, bool)
    kept.write(project, about)
    for text in (TEXT + "a", TEXT + "ab", TEXT + "abc"):
        kept.write(replace(project, corpus=replace(project.corpus, text=text)), about)
    assert kept.folder is not None
    assert sorted(path.name for path in kept.folder.iterdir()) == sorted(NAMES)
    kept.close(keeps=True)
    return kept.folder or next(root.iterdir())


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of it, in a recovery folder of its own."""
    return shutil.copytree(whole, tmp_path / "recovery" / whole.name)


def recovered(folder: Path) -> Recovered:
    (one,) = recovery_store.find_recoverable(folder.parent)
    try:
        return recovery_store.recover(one)
    finally:
        one.lock.release()


def test_whole_it_is_all_there(folder: Path) -> None:
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert it.project.run is not None
    assert (it.lost_run, it.lost_edits, it.is_project_another) == (None, None, False)


@pytest.mark.slow
def test_a_journal_cut_anywhere_costs_the_latest_edits_and_that_is_reported(folder: Path) -> None:
    journal = folder / "journal-1"
    content = journal.read_bytes()
    texts = []
    for length in (*range(0, len(content), 11), len(content)):
        journal.write_bytes(content[:length])
        it = recovered(folder)
        text = it.project.corpus.text
        assert text in (TEXT, TEXT + "a", TEXT + "ab", TEXT + "abc")
        assert it.project.corpus.is_edited
        assert it.project.run is not None
        texts.append(text)
    assert texts == sorted(texts)
    assert len(set(texts)) == 4
    journal.write_bytes(content[:-1])
    assert "journal-1 is damaged from byte" in str(recovered(folder).lost_edits)


@pytest.mark.slow
def test_a_journal_with_a_changed_byte_is_reported(folder: Path) -> None:
    journal = folder / "journal-1"
    content = journal.read_bytes()
    for place in range(0, len(content), 13):
        journal.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        it = recovered(folder)
        assert it.lost_edits is not None
        assert (it.project.corpus.text or "").startswith(TEXT)


def test_with_a_journal_that_ends_early_the_training_is_still_found(folder: Path) -> None:
    (folder / "run-1.wpstudio").rename(folder / "run-2.wpstudio")
    it = recovered(folder)
    assert it.project.run is not None
    assert it.about.run == 2


def test_without_its_journal_a_base_is_still_offered(folder: Path) -> None:
    (folder / "journal-1").unlink()
    os.utime(folder, (time.time() - 10_000,) * 2)
    it = recovered(folder)
    assert it.project.corpus.text == TEXT
    assert it.project.corpus.is_edited
    assert it.about.name == "mine"
    assert "does not exist" in str(it.lost_edits)


@pytest.mark.parametrize("damage", ["cut", "nothing", "folder"])
def test_with_a_damaged_base_what_lies_with_the_training_has_to_do(folder: Path, damage: str) -> None:
    base = folder / "base-1.wpstudio"
    if damage == "cut":
        base.write_bytes(base.read_bytes()[:5000])
    elif damage == "nothing":
        base.write_bytes(b"")
    else:
        shutil.copy(base, folder / "base-2.wpstudio")
        (folder / "base-2.wpstudio").write_bytes(b"no project")
    it = recovered(folder)
    assert it.project.corpus.text == TEXT
    assert it.project.run is not None
    assert "base-" in str(it.lost_edits)
    (folder / "run-1.wpstudio").unlink()
    with pytest.raises(StudioError, match="base-"):
        recovered(folder)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe", "nothing"])
@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_nothing_outside_is_read_written_or_waited_for(folder: Path, tmp_path: Path, name: str, kind: str) -> None:
    outside = tmp_path / "precious"
    outside.write_text("of someone else", encoding="utf-8")
    (folder / name).unlink()
    if "link" in kind:
        (folder / name).symlink_to(outside if kind == "link" else tmp_path / "none")
    elif kind == "folder":
        (folder / name).mkdir()
        (folder / name / "in it").touch()
    elif kind == "pipe":
        os.mkfifo(folder / name)
    for one in recovery_store.find_recoverable(folder.parent):
        it = recovery_store.recover(one)
        assert (it.project.corpus.text or "").startswith(TEXT)
        kept = RecoveryStore(folder.parent)
        kept.adopt(one.folder, one.lock, one.newest("base"), it.about.run)
        for number in (2, 3):
            kept.write_run(number, it.project, bool)
            kept.write(it.project, it.about)
        kept.close(keeps=False)
    shutil.rmtree(folder, ignore_errors=True)
    assert outside.read_text(encoding="utf-8") == "of someone else"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious", "recovery"]


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_to_a_folder_elsewhere_is_not_followed(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / ("0" * 16)
    shutil.copytree(folder, elsewhere)
    (elsewhere / "lock").unlink()
    (folder.parent / elsewhere.name).symlink_to(elsewhere)
    shutil.rmtree(folder)
    assert recovery_store.find_recoverable(folder.parent) == []
    assert not (elsewhere / "lock").exists()


def test_folders_that_no_studio_made_are_left_alone(folder: Path) -> None:
    for name in ("my own backup", folder.name + ".damaged"):
        other = folder.with_name(name)
        other.mkdir()
        (other / "kept by hand.txt").touch()
        os.utime(other, (0, 0))
    (one,) = recovery_store.find_recoverable(folder.parent)
    recovery_store.remove(one)
    assert sorted(path.name for path in folder.parent.iterdir()) == sorted(["my own backup", folder.name + ".damaged"])


def test_a_fault_while_looking_lets_go_of_the_lock(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(_folder: object) -> object:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(recovery_store, "numbered_files", fault)
        assert recovery_store.find_recoverable(folder.parent) == []
    lock = FolderLock(folder)
    assert lock.take()
    lock.release()


def test_adopted_again_and_again_it_does_not_grow(folder: Path) -> None:
    for _ in range(3):
        (one,) = recovery_store.find_recoverable(folder.parent)
        it = recovery_store.recover(one)
        kept = RecoveryStore(folder.parent)
        kept.adopt(one.folder, one.lock, one.newest("base"), it.about.run)
        (folder / ".base-9.wpstudio.123-0-ab.tmp").touch()  # of a save that was killed
        number = it.about.run + 1
        kept.write_run(number, it.project, bool)
        kept.write(it.project, replace_run(it.about, number))
        kept.close(keeps=True)
    (one,) = recovery_store.find_recoverable(folder.parent)
    kept = RecoveryStore(folder.parent)
    kept.adopt(one.folder, one.lock, one.newest("base"), one.about.run)
    assert len(list(folder.iterdir())) == 4
    kept.close(keeps=False)
    assert not folder.exists()


def replace_run(about: About, run: int) -> About:
    return About(name=about.name, run=run, is_edited=True, time=about.time + 1)


def test_a_store_that_someone_has_deleted_is_made_again(folder: Path, tmp_path: Path) -> None:
    it = recovered(folder)
    kept = RecoveryStore(tmp_path / "state")
    kept.write(it.project, it.about)
    assert kept.folder is not None
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(StudioError, match="cannot be backed up to"):
        kept.write(replace(it.project, corpus=replace(it.project.corpus, text="x")), it.about)
    kept.write(it.project, it.about)
    kept.close(keeps=True)
    (one,) = recovery_store.find_recoverable(tmp_path / "state")
    assert recovery_store.recover(one).project.corpus.text == TEXT + "abc"
    one.lock.release()


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_for_no_one_elses_eyes(folder: Path, tmp_path: Path) -> None:
    it = recovered(folder)
    old = os.umask(0)
    try:
        kept = RecoveryStore(tmp_path / "state")
        kept.write_run(1, it.project, bool)
        kept.write(it.project, it.about)
    finally:
        os.umask(old)
    assert kept.folder is not None
    assert kept.folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in kept.folder.iterdir()} == dict.fromkeys(
        NAMES, "0o600"
    )
    kept.close(keeps=False)


def test_merges_that_find_no_room_are_reported_as_such(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = recovered(folder)
    monkeypatch.setattr(recovery_store, "LEAST_FREE", 1e30)
    kept = RecoveryStore(folder.parent)
    with pytest.raises(StudioError, match=r"The merges cannot be backed up .* MB are free") as told:
        kept.write_run(1, replace(it.project, runs=(trained(random_counts(3), 7),)), bool)
    assert "Text and settings are backed up" in told.value.advice
    kept.write_run(2, it.project, bool)  # in a file already: its second name takes no room
    assert kept.folder is not None
    assert [path.name for path in kept.folder.glob("run-*")] == ["run-2.wpstudio"]
    kept.close(keeps=False)


@pytest.mark.parametrize("time_", ["NaN", "Infinity", "1e400", '"now"', "[]"])
def test_a_time_that_is_none_is_refused(time_: str) -> None:
    assert readable(b'{"time": %s}' % time_.encode(), About) is None


def test_a_project_file_that_someone_has_saved_since_is_noticed(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.wpstudio"
    path.write_bytes(b"as it was")
    about = About(project_path=str(path), stamp=stamp_of(path))
    assert not is_replaced(about.project_path, about.stamp)
    path.write_bytes(b"as someone has saved it")
    assert is_replaced(about.project_path, about.stamp)
    path.unlink()
    assert not is_replaced(about.project_path, about.stamp)
    assert not is_replaced("a\0b", ProjectStamp(3))


def test_where_no_training_was_kept_that_of_the_project_file_is_there(tmp_path: Path) -> None:
    saved = tmp_path / "mine.wpstudio"
    project = Project(
        settings=settings(),
        corpus=ProjectCorpus(name="mine", text=TEXT),
        view=View(),
        runs=(replace(trained(random_counts(2), 7), is_of_corpus=True),),
    )
    save_project(saved, project)
    kept = RecoveryStore(tmp_path / "recovery")
    kept.write(
        replace(project, corpus=replace(project.corpus, text=TEXT + "!"), runs=()),
        About(
            name="mine", project_path=str(saved), stamp=stamp_of(saved)._replace(end=""), edits=1, time=1000.0,
            is_edited=True,
        ),
    )  # fmt: skip
    folder = kept.folder
    assert folder is not None
    kept.close(keeps=True)
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "!"
    assert it.project.run is not None
    assert (len(it.project.run.history), it.project.run.is_of_corpus, it.lost_run) == (7, False, None)
    os.utime(saved)
    it = recovered(folder)
    assert (it.project.run, it.is_project_another, it.lost_run) == (None, True, None)
