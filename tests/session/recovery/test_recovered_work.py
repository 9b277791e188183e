"""Recovered work, damaged in every way: as much as possible is read, the rest is reported, nothing else is touched."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from tests.session.recovery.fakes import settings, trained
from tests.storage.project.making import forged
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import recovery_store
from wordpiece_studio.session.recovery_store import About, FolderLock, RecoveryStore
from wordpiece_studio.storage.project.container import ProjectStamp, is_replaced, stamp_of
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.storage.view import RunTab, View

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.session.recovery_store import Recovered

TEXT = "the text of the base"
NAMES = ("work.wpstudio", "runs-1.wpstudio", "lock")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, and a text that was edited since."""
    root = tmp_path_factory.mktemp("recovery")
    project = Project(
        settings=settings(),
        corpus=ProjectCorpus(name="mine", text=TEXT, is_edited=True),
        view=View(live_text="hugs"),
        runs=(replace(trained(random_counts(2), 7), is_of_corpus=True),),
    )
    kept = RecoveryStore(root)
    about = About(name="mine", edits=1, merges=7, runs={0: 1}, time=1000.0)
    kept.write_runs(1, project, bool)
    for text in (TEXT, TEXT + "a", TEXT + "abc"):
        kept.write(replace(project, corpus=replace(project.corpus, text=text)), about, 1)
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


def damage_part(path: Path, part: str) -> None:
    change = "UPDATE chunk SET data = x'00' WHERE id = (SELECT first FROM part WHERE name = ?)"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change, (part,)), is_sealed=False))


def test_whole_it_is_all_there(folder: Path) -> None:
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert it.project.run is not None
    assert (it.lost_run, it.lost_edits, it.is_project_another) == (None, None, False)


def test_a_run_of_the_text_before_the_last_edit_keeps_that_text(folder: Path) -> None:
    run = recovered(folder).project.run
    assert run is not None
    assert (run.is_of_corpus, run.text) == (False, TEXT)


@pytest.mark.parametrize("damage", ["cut", "nothing", "text"])
def test_with_damaged_work_what_lies_with_the_run_has_to_do(folder: Path, damage: str) -> None:
    work = folder / "work.wpstudio"
    if damage == "cut":
        work.write_bytes(work.read_bytes()[:5000])
    elif damage == "nothing":
        work.write_bytes(b"")
    else:
        damage_part(work, "corpus/text")
    it = recovered(folder)
    assert it.project.corpus.text == TEXT
    assert it.project.run is not None
    assert len(it.project.runs) == 1
    assert "work.wpstudio" in str(it.lost_edits)
    (folder / "runs-1.wpstudio").unlink()
    with pytest.raises(StudioError, match=r"work\.wpstudio"):
        recovered(folder)


def test_a_run_whose_file_is_gone_is_reported(folder: Path) -> None:
    (folder / "runs-1.wpstudio").unlink()
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert (it.project.run, it.lost_edits) == (None, None)
    assert str(it.lost_run) == "The file with the merges is missing (run A)."


def test_damaged_live_text_alone_costs_nothing_else(folder: Path) -> None:
    damage_part(folder / "work.wpstudio", "view/watched_text")
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert (it.project.view.live_text, [part for part, _ in it.project.lost]) == ("", ["the live text"])
    assert (len(it.project.runs), it.lost_run, it.lost_edits) == (1, None, None)


def test_what_an_older_version_left_is_offered_without_its_journal(folder: Path) -> None:
    """Its names are those of format 1.5; of the journal, nothing is read."""
    (folder / "work.wpstudio").rename(folder / "base-2.wpstudio")
    (folder / "runs-1.wpstudio").rename(folder / "run-3.wpstudio")
    (folder / "journal-2").write_bytes(b"changes")
    path = folder / "base-2.wpstudio"
    change = "DELETE FROM meta WHERE k = 'about'"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change)))
    os.utime(folder, (time.time() - 10_000,) * 2)
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert "an older version" in str(it.lost_edits)
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "lock"}
    (one,) = recovery_store.find_recoverable(folder.parent)
    kept = RecoveryStore(folder.parent)
    aside = kept.adopt(one)
    kept.write(it.project, it.about, 1)
    assert aside == folder.with_name(folder.name + ".damaged")
    assert {file.name: file.read_bytes() for file in aside.iterdir() if file.name != "lock"} == before
    kept.close(keeps=True)
    (again,) = recovery_store.find_recoverable(folder.parent)
    assert again.folder != folder
    again.lock.release()


def test_with_damaged_work_of_an_older_version_what_lies_with_its_run_has_to_do(folder: Path) -> None:
    (folder / "work.wpstudio").rename(folder / "base-2.wpstudio")
    (folder / "runs-1.wpstudio").rename(folder / "run-3.wpstudio")
    damage_part(folder / "base-2.wpstudio", "corpus/text")
    it = recovered(folder)
    assert (it.project.corpus.text, len(it.project.runs), it.lost_run) == (TEXT, 1, None)
    assert "an older version" in str(it.lost_edits)


def test_a_folder_that_is_gone_or_may_not_be_read_ends_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it = recovered(folder)
    (one,) = recovery_store.find_recoverable(folder.parent)
    kept = RecoveryStore(folder.parent)
    with monkeypatch.context() as patch:
        patch.setattr("os.listdir", fault)
        kept.adopt(one)
        kept.write(it.project, it.about, 1)
    shutil.rmtree(folder)
    kept.write(None, it.about, 1)
    kept.close(keeps=False)


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
        kept.adopt(one)
        for number in (2, 3):
            if it.project.runs:
                kept.write_runs(number, it.project, bool)
            kept.write(it.project, it.about, number)
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


def fault(_folder: object) -> object:
    raise PermissionError(13, "Permission denied")


def test_a_fault_while_looking_lets_go_of_the_lock(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(recovery_store, "_is_file", fault)
        assert recovery_store.find_recoverable(folder.parent) == []
    lock = FolderLock(folder)
    assert lock.take()
    lock.release()


def test_adopted_again_and_again_it_does_not_grow(folder: Path) -> None:
    for _ in range(3):
        (one,) = recovery_store.find_recoverable(folder.parent)
        it = recovery_store.recover(one)
        kept = RecoveryStore(folder.parent)
        kept.adopt(one)
        (folder / ".work.wpstudio.123-0-ab.tmp").touch()  # of a save that was killed
        number = it.about.runs[0] + 1
        kept.write_runs(number, it.project, bool)
        kept.write(it.project, About(name=it.about.name, runs={0: number}, time=it.about.time + 1), number)
        kept.close(keeps=True)
    (one,) = recovery_store.find_recoverable(folder.parent)
    kept = RecoveryStore(folder.parent)
    kept.adopt(one)
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "runs-4.wpstudio", "work.wpstudio"]
    kept.close(keeps=False)
    assert not folder.exists()


def test_a_store_that_someone_has_deleted_is_made_again(folder: Path, tmp_path: Path) -> None:
    it = recovered(folder)
    kept = RecoveryStore(tmp_path / "state")
    kept.write(it.project, it.about, 1)
    assert kept.folder is not None
    shutil.rmtree(tmp_path / "state")
    kept.write(it.project, it.about, 0)
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
        kept.write_runs(1, it.project, bool)
        kept.write(it.project, it.about, 1)
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
        kept.write_runs(1, replace(it.project, runs=(trained(random_counts(3), 7),)), bool)
    assert "Text and settings are backed up" in told.value.advice
    kept.write_runs(2, it.project, bool)  # in a file already: its second name takes no room
    assert kept.folder is not None
    assert [path.name for path in kept.folder.glob("runs-*")] == ["runs-2.wpstudio"]
    kept.close(keeps=False)


@pytest.mark.parametrize("about", [{"time": float("nan")}, {"time": "now"}, {"runs": {"x": 1}}, [], None])
def test_what_cannot_be_said_of_work_is_not_believed(folder: Path, about: object) -> None:
    path = folder / "work.wpstudio"
    change = "UPDATE meta SET v = ? WHERE k = 'about'"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change, (json.dumps(about),))))
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "abc"
    assert it.about == About(time=it.about.time)
    assert abs(it.about.time - time.time()) < 1000


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
        view=View(tabs=(RunTab(0),)),
        runs=(replace(trained(random_counts(2), 7), is_of_corpus=True),),
    )
    save_project(saved, project)
    kept = RecoveryStore(tmp_path / "recovery")
    kept.write(
        replace(project, corpus=replace(project.corpus, text=TEXT + "!"), runs=()),
        About(
            name="mine", project_path=str(saved), stamp=stamp_of(saved), edits=1, time=1000.0, saved=(0,)
        ),
        0,
    )  # fmt: skip
    folder = kept.folder
    assert folder is not None
    kept.close(keeps=True)
    it = recovered(folder)
    assert it.project.corpus.text == TEXT + "!"
    assert it.project.run is not None
    assert (len(it.project.run.history), it.project.run.is_of_corpus, it.lost_run) == (7, False, None)
    save_project(saved, replace(project, corpus=ProjectCorpus(name="other")))
    it = recovered(folder)
    assert (it.project.run, it.is_project_another) == (None, True)
    assert "The file with the merges is missing" in str(it.lost_run)


_LINK = pytest.param("link", marks=pytest.mark.skipif(os.name != "posix", reason="links"))


@pytest.mark.parametrize("damage", ["none", "kept", "saved", "gone", _LINK])
def test_each_run_comes_from_the_file_that_has_it(tmp_path: Path, damage: str) -> None:
    """A run that was kept with more merges than are saved, one that is only saved, and one that was only kept."""
    saved = tmp_path / "mine.wpstudio"
    first, second, third = (replace(trained(random_counts(2), 5 + each), number=each) for each in range(3))
    project = Project(
        settings=settings(),
        corpus=ProjectCorpus(name="mine", text=TEXT),
        view=View(tabs=tuple(map(RunTab, range(4)))),
        runs=(first, second),
    )
    save_project(saved, project)
    name = saved
    if damage == "link":
        name = tmp_path / "link.wpstudio"
        name.symlink_to(saved)
    elif damage == "saved":
        damage_part(saved, "runs/1/merges/left_id")
    kept = RecoveryStore(tmp_path / "recovery")
    longer = replace(trained(random_counts(2), 9), number=0)
    kept.write_runs(1, replace(project, runs=(longer,)), bool)
    kept.write_runs(2, replace(project, runs=(third,)), bool)
    about = About(
        name="mine", project_path=str(name), stamp=stamp_of(name), time=1000.0, runs={0: 1, 2: 2}, saved=(1,)
    )  # fmt: skip
    kept.write(replace(project, runs=()), about, 2)
    folder = kept.folder
    assert folder is not None
    kept.close(keeps=True)
    if damage == "kept":
        (folder / "runs-1.wpstudio").write_bytes(b"")
    elif damage == "gone":
        saved.unlink()
    it = recovered(folder)
    lengths = {run.number: len(run.history) for run in it.project.runs}
    assert lengths == {0: 5 if damage == "kept" else 9, 2: 7} | ({} if damage in ("saved", "gone") else {1: 6})
    names = {"kept": "(run A)", "saved": "(run B)", "gone": "(run B)"}
    assert str(it.lost_run or "").endswith(f"{names[damage]}." if damage in names else "")


@pytest.mark.parametrize("merges", [7, 9])
def test_merges_that_another_file_has_too_are_not_missing(folder: Path, merges: int) -> None:
    """`merges`: that were kept."""
    shutil.copy(folder / "runs-1.wpstudio", folder.parent / "mine.wpstudio")
    (folder / "runs-1.wpstudio").write_bytes(b"")
    path, work = str(folder.parent / "mine.wpstudio"), folder / "work.wpstudio"
    about = {"project_path": path, "stamp": stamp_of(path), "merges": merges, "runs": {0: 1}}
    change = "UPDATE meta SET v = ? WHERE k = 'about'"
    work.write_bytes(forged(work.read_bytes(), lambda database: database.execute(change, (json.dumps(about),))))
    it = recovered(folder)
    assert ([len(run.history) for run in it.project.runs], it.lost_run is None) == ([7], merges == 7)
