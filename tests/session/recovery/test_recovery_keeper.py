from __future__ import annotations

import shutil
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.session.conftest import random_counts
from tests.session.recovery.fakes import settings, trained
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import recovery_keeper, recovery_store
from wordpiece_studio.session.document import TextFile
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery_store import FolderLock, RecoveryStore
from wordpiece_studio.storage.project.container import stamp_of
from wordpiece_studio.storage.view import Bookmark, View

if TYPE_CHECKING:
    from pathlib import Path

    from tests.session.recovery.conftest import Kept


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nothing longer than a test can."""
    monkeypatch.setattr(recovery_keeper, "CHANGE_DELAY_MS", 20)
    monkeypatch.setattr(recovery_keeper, "EDIT_DELAY_MS", 10)
    monkeypatch.setattr(recovery_keeper, "FIRST_RUN_SECONDS", 0.0)
    monkeypatch.setattr(recovery_keeper, "RUN_SECONDS", (0.05, 0.05))
    monkeypatch.setattr(recovery_keeper, "RETRY_MS", (100,))


def type_text(kept: Kept, text: str) -> None:
    for letter in text:
        kept.document.edit(len(kept.document.text), 0, letter)


def test_an_untouched_sample_leaves_nothing(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    kept.state.change(run=replace(trained(random_counts(1), 5), is_wanted=False))
    kept.wait()
    assert kept.store.folder is None
    assert not kept.folder.exists()


def test_what_was_typed_is_there_after_a_crash(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "first")
    kept.wait()
    type_text(kept, " and second \U0001f600")
    kept.document.edit(0, 4, "")
    kept.wait()
    text = kept.document.text
    assert kept.keeper.is_kept
    project = kept.recovered()
    assert project.corpus.text == text
    assert project.corpus.is_edited
    assert project.corpus.name == "my corpus"
    (recoverable,) = kept.found()
    assert recoverable.about.edits == 19
    assert time.time() - recoverable.about.time < 60


def test_typing_goes_to_the_journal_not_to_a_new_base(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    for letter in "abcde":
        type_text(kept, letter)
        kept.wait()
    assert kept.store.folder is not None
    assert [path.name for path in kept.store.folder.glob("base-*")] == ["base-1.wpstudio"]


def test_undo_counts_too(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "ab")
    kept.document.set_text("all new")
    kept.wait()
    kept.document.undo_stack.undo()
    kept.wait()
    text = kept.document.text
    assert text.endswith("ab")
    assert kept.recovered().corpus.text == text


def test_undone_to_the_saved_text_nothing_is_kept(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.document.undo_stack.undo()
    kept.wait()
    assert not kept.keeper.is_kept
    kept.crash()
    assert not kept.found()


def test_another_text_between_two_edits_is_no_edit_of_the_first(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.document.take_text(TextFile("another text"), None, is_modified=True)
    type_text(kept, "!")
    kept.wait()
    assert kept.recovered().corpus.text == "another text!"


def test_settings_view_and_live_text_come_back(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.state.change(settings=settings(77))
    kept.wait()
    view = View(step=5, live_text="half \ud83d of a pair", notes=(Bookmark(3, "look", "##a"),))
    kept.state.change(view=view)
    kept.wait()
    project = kept.recovered()
    assert project.settings == settings(77)
    assert project.view == view


def test_a_list_of_files_comes_back(kept: Kept, tmp_path: Path) -> None:
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.session.corpus_files import FileRow

    kept.document.take_files()
    kept.document.files.set_rows([FileRow(CorpusFile(str(tmp_path / "a.txt")))])
    kept.state.changed.emit()
    kept.wait()
    (file,) = kept.recovered().corpus.files
    assert file.file.path == str(tmp_path / "a.txt")


def test_a_training_comes_back_with_the_text_of_later(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    run = trained(random_counts(2), 30)
    kept.state.change(run=run)
    kept.wait()
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 30
    assert project.run.history[7] == run.history[7]
    assert project.run.is_of_corpus


def test_a_training_of_the_text_before_an_edit_is_not_of_the_text(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    kept.state.change(run=trained(random_counts(2), 30))
    kept.wait()
    kept.keeper.run_due = time.monotonic() + 100
    type_text(kept, "x")
    kept.state.run = replace(kept.state.run, history=trained(random_counts(2), 31).history)  # type: ignore[type-var]
    kept.qtbot.waitUntil(lambda: kept.keeper.is_idle)
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 30
    assert not project.run.is_of_corpus


def test_only_merges_that_are_kept_are_promised(kept: Kept) -> None:
    kept.keeper.run_due = time.monotonic() + 100  # nothing is kept of the training yet
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.state.change(run=trained(random_counts(2), 5))
    kept.qtbot.waitUntil(lambda: kept.keeper.is_idle)
    kept.crash()
    (recoverable,) = kept.found()
    assert recoverable.about.merges == 0


def test_old_trainings_go(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    for merges in (5, 10, 15):
        kept.state.change(run=trained(random_counts(2), merges))
        kept.wait()
    assert kept.store.folder is not None
    (name,) = (path.name for path in kept.store.folder.glob("run-*"))
    assert name == "run-3.wpstudio"
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 15


@pytest.mark.parametrize("wrong", [{"vocab_size": "many"}, {"vocab_size": -1}, {"temperature": 1}])
def test_settings_that_no_training_can_begin_with_are_passed_over(kept: Kept, wrong: dict[str, object]) -> None:
    type_text(kept, "a")
    kept.wait()
    before = kept.state.settings
    kept.state.change(settings=msgspec.structs.replace(before, training={**before.training, **wrong}))
    type_text(kept, "b")
    kept.wait()
    recovered = kept.recovered()
    assert recovered.corpus.text == kept.document.text
    assert recovered.settings == before


def test_a_damaged_training_costs_the_training_only(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "keep me")
    kept.state.change(run=trained(random_counts(2), 30))
    kept.wait()
    assert kept.store.folder is not None
    (file,) = kept.store.folder.glob("run-*")
    text = kept.document.text
    kept.crash()
    file.write_bytes(file.read_bytes()[:1000])
    (recoverable,) = kept.found()
    recovered = recovery_store.recover(recoverable)
    assert recovered.project.corpus.text == text
    assert recovered.project.run is None
    assert recovered.lost_run is not None


def test_what_was_saved_is_not_kept_until_it_changes(kept: Kept, tmp_path: Path) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    assert kept.keeper.is_kept
    kept.state.path = tmp_path / "my.wpstudio"
    kept.state.saved.emit()
    kept.wait()
    assert not kept.keeper.is_kept
    kept.state.change(view=View(step=3))
    kept.wait()
    assert not kept.keeper.is_kept
    type_text(kept, "b")
    kept.wait()
    assert kept.keeper.is_kept
    kept.crash()
    (recoverable,) = kept.found()
    assert recoverable.about.project_path == str(tmp_path / "my.wpstudio")
    assert recoverable.about.edits == 1


def test_what_was_saved_is_kept_once_its_file_is_gone(kept: Kept, tmp_path: Path) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.state.path = tmp_path / "my.wpstudio"
    kept.state.saved.emit()
    kept.wait()
    assert not kept.keeper.is_kept
    kept.state.change(is_file_another=True)
    kept.wait()
    assert kept.keeper.is_kept


def test_closing_keeps_what_was_not_forgotten(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "typed in the last step")
    text = kept.document.text
    kept.keeper.close()
    (recoverable,) = kept.found()
    assert recovery_store.recover(recoverable).project.corpus.text == text


def test_forgotten_and_closed_nothing_is_left(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    type_text(kept, "b")
    kept.keeper.forget()
    kept.keeper.close()
    assert list(kept.folder.iterdir()) == []


def test_the_living_ones_work_is_not_offered(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    assert kept.found() == []
    kept.crash()
    assert len(kept.found()) == 1


def test_what_is_restored_goes_on_being_kept(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.state.change(run=trained(random_counts(2), 30))
    kept.wait()
    kept.crash()
    (recoverable,) = recovery_store.find_recoverable(kept.folder)
    recovered = recovery_store.recover(recoverable)
    kept.document.take_text(TextFile(recovered.project.corpus.text or ""), None, is_modified=True)
    kept.state.run = recovered.project.run
    kept.store = RecoveryStore(kept.folder)
    kept.keeper = RecoveryKeeper(kept.state, kept.document, kept.store)  # type: ignore[arg-type]
    kept.keeper.adopt(recoverable, recovered)
    kept.wait()
    type_text(kept, "b")
    kept.wait()
    text = kept.document.text
    project = kept.recovered()
    assert project.corpus.text == text
    assert project.run is not None
    assert len(project.run.history) == 30
    assert len(list(kept.folder.iterdir())) == 1


def test_a_long_journal_becomes_a_new_base(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_store, "LARGEST_JOURNAL", 1000)
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.document.edit(0, 0, "long " * 400)
    kept.wait()
    type_text(kept, "b")
    kept.wait()
    assert kept.store.folder is not None
    assert {path.name for path in kept.store.folder.iterdir()} == {"lock", "base-2.wpstudio", "journal-2"}
    text = kept.document.text
    assert kept.recovered().corpus.text == text


def test_a_key_press_costs_less_than_a_millisecond(kept: Kept) -> None:
    kept.document.take_text(TextFile("ten characters\n" * 60_000), None)
    type_text(kept, "a")
    kept.wait()
    keeper, edit = kept.keeper, kept.document.undo_stack.command(0).edit  # type: ignore[attr-defined]
    keeper._schedule(10_000)
    began = time.process_time()
    for _ in range(1000):
        keeper._on_document_edited(edit)
        keeper._schedule()
    assert time.process_time() - began < 5


def test_a_damaged_base_is_reported_and_set_aside(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.crash()
    (recoverable,) = recovery_store.find_recoverable(kept.folder)
    (base,) = recoverable.folder.glob("base-*")
    base.write_bytes(b"nothing of the kind")
    with pytest.raises(StudioError, match=r"base-1\.wpstudio"):
        recovery_store.recover(recoverable)
    aside = recovery_store.set_aside(recoverable)
    assert aside.name.endswith(".damaged")
    assert (aside / "base-1.wpstudio").exists()
    assert kept.found() == []


def test_a_base_that_was_never_finished_is_not_the_last(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    text = kept.document.text
    assert kept.store.folder is not None
    shutil.copy(kept.store.folder / "journal-1", kept.store.folder / "journal-2")
    assert kept.recovered().corpus.text == text


def test_an_empty_folder_of_long_ago_goes_a_new_one_stays(tmp_path: Path) -> None:
    import os

    new = "0123456789abcdef"
    for name, age in (("fedcba9876543210", 10_000), (new, 10), ("not of a Studio", 10_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    assert recovery_store.find_recoverable(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {new, "not of a Studio"}


def test_refused_it_is_gone(kept: Kept) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    kept.crash()
    (recoverable,) = recovery_store.find_recoverable(kept.folder)
    recovery_store.remove(recoverable)
    assert list(kept.folder.iterdir()) == []


def test_text_and_training_of_one_step_lie_in_one_folder(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    take = FolderLock.take

    def take_slowly(lock: FolderLock) -> bool:
        time.sleep(0.1)
        return take(lock)

    monkeypatch.setattr(FolderLock, "take", take_slowly)
    kept.state.run = trained(random_counts(2), 30)
    kept.document.set_text("both are begun at the same time")
    kept.wait()
    assert len(list(kept.folder.iterdir())) == 1


def test_what_is_typed_while_it_is_saved_is_still_kept(kept: Kept, tmp_path: Path) -> None:
    kept.document.load_sample("course-en.txt")
    type_text(kept, "a")
    kept.wait()
    being_saved = content_of(kept.state.capture())
    type_text(kept, "b")
    kept.state.path, kept.state.saved_content = tmp_path / "my.wpstudio", being_saved
    kept.state.saved.emit()
    kept.wait()
    text = kept.document.text
    assert kept.keeper.is_kept
    assert kept.recovered().corpus.text == text


def test_it_is_known_what_the_project_file_was(kept: Kept, tmp_path: Path) -> None:
    path = tmp_path / "my.wpstudio"
    path.write_bytes(b"saved")
    kept.state.path, kept.state.stamp = path, stamp_of(path)
    kept.state.saved.emit()
    type_text(kept, "b")
    kept.wait()
    kept.crash()
    (recoverable,) = recovery_store.find_recoverable(kept.folder)
    assert recoverable.about.stamp[:2] == (5, path.stat().st_mtime_ns)
    assert not recovery_store.recover(recoverable).is_project_another
    path.write_bytes(b"saved by someone")
    assert recovery_store.recover(recoverable).is_project_another
    recoverable.lock.release()
