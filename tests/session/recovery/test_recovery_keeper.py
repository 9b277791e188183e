from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import random_counts
from tests.session.recovery.fakes import settings, trained
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import recovery_keeper, recovery_store
from wordpiece_studio.session.document import TextFile
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery_store import About, FolderLock, RecoveryStore
from wordpiece_studio.storage.project.container import stamp_of
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Bookmark, RunTab, View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.session.recovery.conftest import Kept
    from wordpiece_studio.storage.project.contents import Project


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
    kept.show_course()
    kept.state.change(run=replace(trained(random_counts(1), 5), origin=RunOrigin()))
    kept.wait()
    assert kept.store.folder is None
    assert not kept.folder.exists()


def test_what_was_typed_is_there_after_a_crash(kept: Kept) -> None:
    kept.show_course()
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


def test_undo_counts_too(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "ab")
    kept.document.set_text("all new")
    kept.wait()
    kept.document.undo_stack.undo()
    kept.wait()
    text = kept.document.text
    assert text.endswith("ab")
    assert kept.recovered().corpus.text == text


def test_undone_to_the_saved_text_nothing_is_kept(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "a")
    kept.wait()
    kept.document.undo_stack.undo()
    kept.wait()
    assert not kept.keeper.is_kept
    kept.crash()
    assert not kept.found()


def test_another_text_between_two_edits_is_no_edit_of_the_first(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "a")
    kept.wait()
    kept.document.take_text(TextFile("another text"), None, is_modified=True)
    type_text(kept, "!")
    kept.wait()
    assert kept.recovered().corpus.text == "another text!"


def test_settings_view_and_live_text_come_back(kept: Kept) -> None:
    kept.show_course()
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
    kept.show_course()
    run = trained(random_counts(2), 30)
    kept.state.change(run=run)
    kept.wait()
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 30
    assert project.run.history[7] == run.history[7]
    assert project.run.is_of_corpus


def test_a_run_of_the_text_before_an_edit_is_not_of_the_text(kept: Kept) -> None:
    kept.show_course()
    trainer = Trainer(random_counts(2), TrainingConfig(max_merges=40))
    trainer.run(30)
    run = Run(trainer.counts, trainer.config, trainer.history, origin=RunOrigin(is_wanted=True), is_of_corpus=True)
    kept.state.change(run=run)
    kept.wait()
    kept.keeper.run_due = time.monotonic() + 100
    type_text(kept, "x")
    trainer.run(1)
    kept.qtbot.waitUntil(lambda: kept.keeper.is_idle)
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 30
    assert not project.run.is_of_corpus


def test_only_merges_that_are_kept_are_promised(kept: Kept) -> None:
    kept.keeper.run_due = time.monotonic() + 100  # nothing is kept of the training yet
    kept.show_course()
    type_text(kept, "a")
    kept.state.change(run=trained(random_counts(2), 5))
    kept.qtbot.waitUntil(lambda: kept.keeper.is_idle)
    kept.crash()
    (recoverable,) = kept.found()
    assert recoverable.about.merges == 0


def test_old_trainings_go(kept: Kept) -> None:
    kept.show_course()
    for merges in (5, 10, 15):
        kept.state.change(run=trained(random_counts(2), merges))
        kept.wait()
    assert kept.store.folder is not None
    (name,) = (path.name for path in kept.store.folder.glob("runs-*"))
    assert name == "runs-3.wpstudio"
    project = kept.recovered()
    assert project.run is not None
    assert len(project.run.history) == 15


def test_a_damaged_training_costs_the_training_only(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "keep me")
    kept.state.change(run=trained(random_counts(2), 30))
    kept.wait()
    assert kept.store.folder is not None
    (file,) = kept.store.folder.glob("runs-*")
    text = kept.document.text
    kept.crash()
    file.write_bytes(file.read_bytes()[:1000])
    (recoverable,) = kept.found()
    recovered = recovery_store.recover(recoverable)
    assert recovered.project.corpus.text == text
    assert recovered.project.run is None
    assert recovered.lost_run is not None


def test_what_was_saved_is_not_kept_until_it_changes(kept: Kept, tmp_path: Path) -> None:
    kept.show_course()
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
    kept.show_course()
    type_text(kept, "a")
    kept.state.path = tmp_path / "my.wpstudio"
    kept.state.saved.emit()
    kept.wait()
    assert not kept.keeper.is_kept
    kept.state.change(is_file_another=True)
    kept.wait()
    assert kept.keeper.is_kept


def test_closing_keeps_what_was_not_forgotten(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "typed in the last step")
    text = kept.document.text
    kept.keeper.close()
    (recoverable,) = kept.found()
    assert recovery_store.recover(recoverable).project.corpus.text == text


def test_forgotten_and_closed_nothing_is_left(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "a")
    kept.wait()
    type_text(kept, "b")
    kept.keeper.forget()
    kept.keeper.close()
    assert list(kept.folder.iterdir()) == []


def test_the_living_ones_work_is_not_offered(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "a")
    kept.wait()
    assert kept.found() == []
    kept.crash()
    assert len(kept.found()) == 1


def test_what_is_restored_goes_on_being_kept(kept: Kept) -> None:
    kept.show_course()
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


def test_a_finished_run_is_written_once_beside_others(kept: Kept) -> None:
    kept.show_course()
    first, second = (replace(trained(random_counts(2), merges), number=merges) for merges in (20, 30))
    kept.state.change(run=first)
    kept.wait()
    kept.state.change(run=second, others=(first,))
    kept.wait()
    assert kept.store.folder is not None
    assert sorted(path.name for path in kept.store.folder.glob("runs-*")) == ["runs-1.wpstudio", "runs-2.wpstudio"]
    assert [run.number for run in open_project(kept.store.folder / "runs-2.wpstudio").runs] == [30]
    assert sorted(len(run.history) for run in kept.recovered().runs) == [20, 30]


def saved_project(kept: Kept, path: Path) -> tuple[Run, ...]:
    """Return the two runs of a project that was saved, and is shown."""
    kept.show_course()
    runs = tuple(replace(trained(random_counts(2), merges), number=number) for number, merges in enumerate((20, 30)))
    kept.state.view = View(tabs=tuple(map(RunTab, range(3))))
    kept.state.change(run=runs[0], others=runs[1:])
    save_project(path, kept.state.capture())
    kept.state.path, kept.state.stamp = path, stamp_of(path)
    kept.state.saved.emit()
    kept.wait()
    return runs


def lengths(kept: Kept) -> dict[int, int]:
    """Crash, and return how many merges come back, by the numbers of the runs."""
    return {run.number: len(run.history) for run in kept.recovered().runs}


@pytest.mark.parametrize("is_replaced", [False, True])
def test_saved_runs_come_back_beside_one_trained_since(kept: Kept, tmp_path: Path, is_replaced: bool) -> None:
    runs = saved_project(kept, tmp_path / "my.wpstudio")
    kept.state.change(run=replace(trained(random_counts(3), 15), number=2), others=runs)
    kept.wait()
    if is_replaced:
        save_project(tmp_path / "my.wpstudio", replace(kept.state.capture(), runs=()))
    assert lengths(kept) == {0: 20, 1: 30, 2: 15}


@pytest.mark.parametrize("is_linked", [False, True])
def test_saved_runs_are_kept_before_a_training_goes_on(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_linked: bool
) -> None:
    """The pause after them is short; if they cannot be kept, it is the turn of the training."""
    path, keeper = tmp_path / "my.wpstudio", kept.keeper
    runs = saved_project(kept, path)
    if not is_linked:
        write_runs = kept.store.write_runs

        def fail_for_saved(number: int, project: Project, should_stop: Callable[[], bool]) -> None:
            if project.runs[0].number < 2:
                raise StudioError("No room for the saved ones")
            write_runs(number, project, should_stop)

        monkeypatch.setattr(keeper.run_job, "_work", fail_for_saved)
    monkeypatch.setattr(recovery_keeper, "RUN_SECONDS", (100.0, 0.05) if is_linked else (0.05, 0.05))
    kept.state.change(run=replace(trained(random_counts(3), 15), number=2), others=runs)
    kept.qtbot.waitUntil(lambda: 2 in about(kept).runs, timeout=10_000)
    assert about(kept).runs == ({0: 1, 1: 1, 2: 2} if is_linked else {2: 1})
    assert about(kept).saved == (() if is_linked else (0, 1))
    if is_linked:
        path.unlink()
    monkeypatch.setattr(recovery_keeper, "RUN_SECONDS", (100.0, 100.0))
    kept.qtbot.waitUntil(lambda: keeper.is_idle)
    assert lengths(kept) == {0: 20, 1: 30, 2: 15}


def about(kept: Kept) -> About:
    return kept.keeper._about(kept.state.capture())


def test_of_a_saved_run_that_went_on_the_saved_merges_come_back(kept: Kept, tmp_path: Path) -> None:
    trainer = Trainer(random_counts(2), TrainingConfig(max_merges=40))
    trainer.run(20)
    run = Run(trainer.counts, trainer.config, trainer.history, origin=RunOrigin(is_wanted=True), is_of_corpus=True)
    path = tmp_path / "my.wpstudio"
    kept.state.view = View(tabs=(RunTab(0),))
    kept.state.change(run=run)
    save_project(path, kept.state.capture())
    kept.state.path, kept.state.stamp = path, stamp_of(path)
    kept.state.saved.emit()
    kept.wait()
    kept.keeper.run_due = time.monotonic() + 100
    kept.keeper._latest = run.history
    trainer.run(5)
    type_text(kept, "x")
    kept.qtbot.waitUntil(lambda: kept.keeper.is_kept and kept.keeper.is_idle)
    assert lengths(kept) == {0: 20}


def test_a_closed_run_goes(kept: Kept) -> None:
    kept.show_course()
    first, second = (replace(trained(random_counts(2), merges), number=merges) for merges in (20, 30))
    kept.state.change(run=first, others=(second,))
    kept.wait()
    kept.state.change(run=second, others=())
    kept.wait()
    assert [run.number for run in kept.recovered().runs] == [30]


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


def test_damaged_work_is_reported_and_set_aside(kept: Kept) -> None:
    kept.show_course()
    type_text(kept, "a")
    kept.wait()
    kept.crash()
    (recoverable,) = recovery_store.find_recoverable(kept.folder)
    recoverable.work.write_bytes(b"nothing of the kind")
    with pytest.raises(StudioError, match=r"work\.wpstudio"):
        recovery_store.recover(recoverable)
    aside = recovery_store.set_aside(recoverable)
    assert aside.name.endswith(".damaged")
    assert (aside / "work.wpstudio").exists()
    assert kept.found() == []


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
    kept.show_course()
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
    kept.show_course()
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
    assert recoverable.about.stamp == (5, b"saved".hex())
    assert not recovery_store.recover(recoverable).is_project_another
    path.write_bytes(b"saved by someone")
    assert recovery_store.recover(recoverable).is_project_another
    recoverable.lock.release()
