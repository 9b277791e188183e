"""The whole window, with the unsaved work that another window left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.session.recovery.conftest import is_kept
from tests.storage.project.making import library_run_of
from tests.ui.conftest import Studio
from wordpiece_studio.session import recovery_keeper, recovery_store
from wordpiece_studio.session.recovery_store import About
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.ui.controllers.project_controller import recovery_folder
from wordpiece_studio.ui.dialogs.file_questions import RecoveryDialog
from wordpiece_studio.ui.main_window import MainWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.ui.widgets.theme import Theme


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_keeper, "CHANGE_DELAY_MS", 30)
    monkeypatch.setattr(recovery_keeper, "EDIT_DELAY_MS", 10)
    monkeypatch.setattr(recovery_keeper, "FIRST_RUN_SECONDS", 0.0)
    monkeypatch.setattr(recovery_keeper, "RUN_SECONDS", (0.05, 0.05))


@pytest.fixture
def start(qtbot: QtBot, tmp_path: Path, theme: Theme) -> Iterator[Callable[..., Studio]]:
    """Return a maker of windows that are shown."""
    windows: list[MainWindow] = []

    def make(*paths: Path) -> Studio:
        window = MainWindow(SettingsStore(tmp_path / "settings"), theme)
        windows.append(window)
        window.open_first(paths)
        window.resize(1200, 800)
        window.show()
        return Studio(window, qtbot)

    yield make
    for window in windows:
        window.leave_at_once()
        window.take_down()


def kept(studio: Studio) -> None:
    keeper = studio.window.recovery.keeper
    studio.wait(lambda: is_kept(keeper), 10_000)


def crash(studio: Studio) -> None:
    """Leave what a killed window leaves, and take the rest down."""
    kept(studio)
    keeper = studio.window.recovery.keeper
    keeper._is_closed = True
    keeper._timer.stop()
    keeper.run_timer.stop()
    keeper.job.close()
    keeper.run_job.close()
    keeper.store.close(keeps=True)
    studio.window.leave_at_once()


def dialog(studio: Studio) -> RecoveryDialog:
    studio.wait(lambda: bool(_dialogs(studio)))
    return _dialogs(studio)[-1]


def _dialogs(studio: Studio) -> list[RecoveryDialog]:
    return [one for one in studio.window.findChildren(RecoveryDialog) if one.isVisible()]


def press(studio: Studio, name: str) -> None:
    from PySide6.QtWidgets import QPushButton

    (button,) = (one for one in dialog(studio).findChildren(QPushButton) if one.text().replace("&", "") == name)
    button.click()


def edited(start: Callable[..., Studio]) -> str:
    """Leave an edited sample, trained, at a step, and return its text."""
    studio = start()
    studio.wait_finished()
    window = studio.window
    window.session.document.edit(0, 0, "Unsaved hugs. ")
    window.model.seek(7)
    window.tokenization_pane.set_text("watched hugs")
    studio.wait(lambda: window.recovery.keeper.is_kept, 10_000)
    crash(studio)
    return window.session.document.text


@pytest.mark.slow
def test_the_sample_alone_leaves_no_question(start: Callable[..., Studio]) -> None:
    studio = start()
    studio.wait_finished()
    crash(studio)
    assert not recovery_folder().exists()
    again = start()
    again.wait_finished()
    assert not _dialogs(again)


def test_what_was_not_saved_is_restored_with_all_that_belongs_to_it(start: Callable[..., Studio]) -> None:
    text = edited(start)
    studio = start()
    window = studio.window
    question = dialog(studio)
    assert question.list.count() == 1
    assert "1 edit" in question.list.item(0).text()
    assert window.session.document.text == ""
    press(studio, "Restore")
    studio.wait(lambda: window.session.document.text == text)
    studio.wait(lambda: window.model.history is not None)
    assert window.session.document.is_modified
    assert window.model.step == 7
    assert window.tokenization_pane.text == "watched hugs"
    assert "was restored" in window.notices.training.text
    studio.wait(window.isWindowModified)
    kept(studio)
    crash(studio)
    assert len(_left()) == 1


@pytest.mark.slow
def test_refused_it_is_deleted_and_the_sample_comes(start: Callable[..., Studio]) -> None:
    edited(start)
    studio = start()
    press(studio, "Delete")
    studio.wait_finished()
    assert _left() == []
    assert list(recovery_folder().iterdir()) == []


def test_nothing_is_done_to_work_that_is_not_visibly_selected(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QPushButton

    dialog = RecoveryDialog([About(name="a", edits=1), About(name="b", edits=2)])
    qtbot.addWidget(dialog)
    buttons = [button for button in dialog.findChildren(QPushButton) if button.text() in ("&Restore", "&Delete")]
    assert len(buttons) == 2
    assert all(button.isEnabled() for button in buttons)
    place = dialog.list.visualItemRect(dialog.list.currentItem()).center()
    left, held = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(dialog.list.viewport(), left, held, place)
    assert not any(button.isEnabled() for button in buttons)
    QTest.mouseClick(dialog.list.viewport(), left, pos=place)
    assert all(button.isEnabled() for button in buttons)


@pytest.mark.slow
def test_escape_keeps_it_for_the_next_start(start: Callable[..., Studio]) -> None:
    text = edited(start)
    studio = start()
    QTest.keyClick(dialog(studio), Qt.Key.Key_Escape)
    studio.wait_finished()
    crash(studio)
    (recoverable,) = _left()
    assert recovery_store.recover(recoverable).project.corpus.text == text


@pytest.mark.slow
def test_a_document_among_the_samples_is_no_work_of_the_users_until_it_is_edited(start: Callable[..., Studio]) -> None:
    studio = start()
    window, keeper = studio.window, studio.window.recovery.keeper
    window.corpus_controller.open_sample("spanish-course")
    studio.wait(lambda: not window.project.reading.is_running)
    kept(studio)
    assert window.session.marks.bookmarks.records
    assert not keeper.is_kept
    window.session.document.edit(0, 0, "mine ")
    studio.wait(lambda: keeper.is_kept, 10_000)


@pytest.mark.slow
def test_of_several_one_is_chosen_and_the_others_wait(start: Callable[..., Studio]) -> None:
    edited(start)
    studio = start()
    QTest.keyClick(dialog(studio), Qt.Key.Key_Escape)
    studio.wait_finished()
    studio.window.session.document.set_text("the second text")
    studio.wait(lambda: studio.window.recovery.keeper.is_kept, 10_000)
    crash(studio)
    again = start()
    assert dialog(again).list.count() == 2
    press(again, "Restore")
    again.wait(lambda: again.window.session.document.text == "the second text")
    assert len(_left()) == 1  # the other; this one is held by the living window


@pytest.mark.slow
def test_a_living_window_is_left_alone(start: Callable[..., Studio]) -> None:
    one = start()
    one.wait_finished()
    one.window.session.document.set_text("still being typed")
    one.wait(lambda: one.window.recovery.keeper.is_kept, 10_000)
    other = start()
    other.wait_finished()
    assert not _dialogs(other)


def test_closed_after_dont_save_nothing_is_left(start: Callable[..., Studio]) -> None:
    from PySide6.QtWidgets import QMessageBox

    studio = start()
    studio.wait_finished()
    studio.window.session.document.set_text("not worth it")
    studio.wait(lambda: studio.window.recovery.keeper.is_kept, 10_000)
    studio.window.close()
    studio.answer(QMessageBox.StandardButton.Discard)
    studio.wait(lambda: not studio.window.isVisible())
    assert list(recovery_folder().iterdir()) == []


def test_ended_by_a_signal_it_is_left_for_the_next_start(start: Callable[..., Studio]) -> None:
    studio = start()
    studio.wait_finished()
    studio.window.session.document.set_text("the machine shuts down now")
    studio.window.leave_at_once()
    (recoverable,) = _left()
    assert recovery_store.recover(recoverable).project.corpus.text == "the machine shuts down now"


@pytest.mark.slow
def test_damaged_it_is_reported_set_aside_and_the_start_goes_on(start: Callable[..., Studio]) -> None:
    edited(start)
    (work,) = recovery_folder().glob("*/work.wpstudio")
    work.write_bytes(work.read_bytes()[:5000])
    for run in recovery_folder().glob("*/runs-*"):
        run.unlink()
    studio = start()
    press(studio, "Restore")
    box = studio.box()
    assert "cannot be restored" in box.text()
    assert ".damaged" in box.informativeText()
    box.button(box.standardButtons()).click()
    studio.wait_finished()
    assert studio.window.session.document.text
    assert len(list(recovery_folder().glob("*.damaged/work.wpstudio"))) == 1


def crashed_project(start: Callable[..., Studio], folder: Path) -> Path:
    """Return the file of a project with unsaved edits, whose window has crashed."""
    path = folder / "mine.wpstudio"
    one = start()
    one.wait_finished()
    one.window.project_controller._save_to(path, None)
    one.wait(lambda: one.window.project.path == path)
    one.window.session.document.edit(0, 0, "Unsaved hugs. ")
    one.wait(lambda: one.window.recovery.keeper.is_kept, 10_000)
    crash(one)
    return path


@pytest.mark.slow
def test_a_project_saved_by_another_since_is_not_written_over(start: Callable[..., Studio], tmp_path: Path) -> None:
    path = crashed_project(start, tmp_path)
    content = path.read_bytes()
    path.write_bytes(content + b" saved by another")
    again = start()
    press(again, "Restore")
    again.wait(lambda: again.window.session.document.text.startswith("Unsaved hugs. "))
    again.wait(lambda: "has been changed by another program" in again.window.notices.training.text)
    assert "mine.wpstudio" in again.window.notices.training.text
    assert again.window.project.path is None


@pytest.mark.slow
def test_a_project_whose_file_has_gone_since_is_restored_and_said_to_be_missing(
    start: Callable[..., Studio], tmp_path: Path
) -> None:
    path = crashed_project(start, tmp_path)
    path.unlink()
    again = start()
    press(again, "Restore")
    again.wait(lambda: again.window.session.document.text.startswith("Unsaved hugs. "))
    again.wait(lambda: again.window.project.is_file_another, 10_000)
    assert "is missing" in again.window.notices.project.text


@pytest.mark.slow
def test_what_could_not_be_restored_is_reported(start: Callable[..., Studio]) -> None:
    edited(start)
    (work,) = recovery_folder().glob("*/work.wpstudio")
    work.rename(work.with_name("base-1.wpstudio"))
    studio = start()
    press(studio, "Restore")
    box = studio.box()
    assert "the latest changes are missing" in box.text()
    assert "They were kept by an older version" in box.text()
    box.button(box.standardButtons()).click()
    assert studio.window.session.document.text.startswith("Unsaved hugs. ")


def _left() -> list[recovery_store.Recoverable]:
    found = recovery_store.find_recoverable(recovery_folder())
    for one in found:
        one.lock.release()
    return found


@pytest.mark.slow
def test_all_runs_come_back_after_a_crash(start: Callable[..., Studio]) -> None:
    studio = start()
    studio.wait_finished()
    runs, settings = studio.window.session.runs, studio.window.session.settings
    for objective in ("score", "count", "likelihood"):
        settings.choose(objective=objective)
        with studio.qtbot.waitSignal(studio.window.model.run_reset):
            studio.window.actions_.train.trigger()
        studio.wait_finished()
    kept(studio)
    runs.show(runs.all[1])
    studio.window.model.seek(7)
    runs.rename(runs.all[2], "mine")
    runs.recolor(runs.all[2], 5)
    runs.set_compared(runs.all[2], True)
    bookmarks = studio.window.session.marks.bookmarks
    bookmarks.set_compared(bookmarks.keep("here", 5), True)
    runs.close(runs.all[0])
    crash(studio)
    again = start()
    QTest.keyClick(dialog(again), Qt.Key.Key_Return)
    found = again.window.session.runs
    again.wait(lambda: len(found.all) == 2)
    assert [(run.letter, run.name, run.color, run.config.objective) for run in found.all] == [
        ("B", "", 1, "count"), ("C", "mine", 5, "likelihood"),
    ]  # fmt: skip
    assert (found.current, again.window.model.step) == (found.all[0], 7)
    assert found.compared == tuple(found.all)  # the current run is compared with the others
    assert len(found.all[1].history) == 25
    assert [each.label for each in again.window.session.comparison.beside()] == ["C", "B@5"]


@pytest.mark.slow
def test_the_training_of_a_library_alone_is_kept(start: Callable[..., Studio]) -> None:
    studio = start()
    studio.wait_finished()
    studio.window.session.runs.add(library_run())
    studio.wait(lambda: studio.window.recovery.keeper.is_kept, 10_000)
    crash(studio)
    again = start()
    window = again.window
    press(again, "Restore")
    again.wait(lambda: window.session.runs.all and window.session.runs.current.library is not None, 10_000)
    run = window.session.runs.current
    assert run.library_run.content == library_run().library_run.content
    assert run.library.encode("hugs").tokens == ["hug", "s"]
    again.wait(window.isWindowModified)


def library_run() -> Run:
    made = library_run_of()
    return Run(made.counts, made.config, made.history, origin=RunOrigin(is_wanted=True), library_run=made.library_run)
