"""Cases 13, 39, 42, 62 and 68: days on which something goes wrong and nothing may be lost."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QStringListModel, QThread, QTimer
from PySide6.QtWidgets import QListView, QMessageBox, QWidget

from tests.ui.conftest import Studio
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.files import TextOnDisk
from wordpiece_studio.session import recovery_keeper, recovery_store, watched_files
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.controllers.project_controller import recovery_folder
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.training_bar import outcome_words
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtGui import QPaintEvent
    from pytestqt.qtbot import QtBot

    from tests.cases.program import Program

    Told = Callable[[object], str]

pytestmark = pytest.mark.slow


@pytest.fixture
def studio(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    """A shown window on the sample corpus, trained, which keeps unsaved work without waiting."""
    monkeypatch.setattr(recovery_keeper, "CHANGE_DELAY_MS", 30)
    monkeypatch.setattr(recovery_keeper, "EDIT_DELAY_MS", 10)
    monkeypatch.setattr(recovery_keeper, "RETRY_MS", (50,))
    window = MainWindow(SettingsStore(tmp_path / "settings"), Theme("light"))
    window.open_first()
    window.show()
    studio = Studio(window, qtbot)
    studio.wait_finished()
    yield studio
    window.leave_at_once()
    window.take_down()


def left_text(studio: Studio) -> str | None:
    """Return the text that the next start would offer if the window were killed now."""
    studio.wait(lambda: studio.window.recovery.keeper.is_idle, 10_000)
    studio.window.leave_at_once()
    found = recovery_store.find_recoverable(recovery_folder())
    for one in found:
        one.lock.release()
    return recovery_store.recover(found[0]).project.corpus.text if found else None


# -- 13: a file that changes while it is read


@pytest.mark.case(13)
def test_a_file_that_grows_while_it_is_counted(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line says so, and the vocabulary is written."""
    name = program.file("a.txt", "hugs and pugs\n" * 1000)
    path = program.folder / name
    pieces = TextOnDisk.pieces

    def growing(file: TextOnDisk) -> object:
        yield from pieces(file)
        with path.open("a", encoding="utf-8") as more:
            more.write("and more\n")

    monkeypatch.setattr(TextOnDisk, "pieces", growing)
    assert "a.txt changed while it was read." in program.trains(name, "--vocab-size", 30)


@pytest.mark.case(13)
def test_a_file_of_the_list_that_changes_after_it_was_counted(
    studio: Studio, tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window says which, and offers to count again; counts and merges stay meanwhile."""
    monkeypatch.setattr(watched_files, "SETTLE_MS", 20)
    paths = [tmp_path / name for name in ("one.txt", "two.txt")]
    for path in paths:
        path.write_text("hugs and pugs\n" * 20, encoding="utf-8")
    window = studio.window
    studio.open(*paths)
    studio.wait(lambda: window.session.counting.counts is not None, 20_000)
    watch = window.session.watch
    studio.wait(lambda: len(watch.stamps) == 2 and None not in watch.stamps.values())
    counts = window.session.counting.counts
    paths[1].write_text("something else\n", encoding="utf-8")
    studio.wait(lambda: "changed on disk" in window.notices.files.text)
    message = told(window.notices.files.text)
    assert "two.txt" in message
    assert "one.txt" not in message
    assert window.session.counting.counts is counts


# -- 39: what was learned before stays when something else is stopped


@pytest.mark.case(39)
def test_a_training_stopped_at_any_moment_keeps_what_was_learned(studio: Studio, told: Told) -> None:
    """Stopped before the new training has begun: the old run is whole. Stopped in it: its merges are there."""
    model = studio.window.model
    old, merges = model.history, model.merge_count
    words = WordCounts.from_pairs([(f"word{number}x{number * 7919}", number % 97 + 1) for number in range(10_000)])
    for delay_s in (0.0, 0.05, 0.3):
        model.start(words, TrainingConfig(vocab_size=20_000))
        began = time.monotonic()
        while time.monotonic() - began < delay_s:
            studio.qtbot.wait(1)
        model.stop()
        studio.wait(lambda: model.state is not TrainerState.TRAINING, 20_000)
        assert model.state is TrainerState.FINISHED
        assert model.history is not None
        is_old = model.history is old
        assert model.merge_count == (merges if is_old else len(model.history))
        old, merges = model.history, model.merge_count
    told(outcome_words(model))


# -- 42: sleep, and a clock that jumps


@pytest.mark.case(42)
def test_a_clock_that_jumps_in_training(studio: Studio, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock goes back a year and a sleep of ten hours ends: the same merges, and no figure out of its mind."""
    model = studio.window.model
    words = WordCounts.from_pairs([(f"w{number * 7919}", number % 97 + 1) for number in range(5000)])
    config = TrainingConfig(vocab_size=2500)
    model.start(words, config)
    studio.wait_finished(30_000)
    assert model.history is not None
    tokens = model.history.vocabulary(model.merge_count)
    jump, real_time, real_monotonic = [0.0], time.time, time.monotonic
    monkeypatch.setattr(time, "time", lambda: real_time() - 366 * 86_400 * bool(jump[0]))
    monkeypatch.setattr(time, "monotonic", lambda: real_monotonic() + jump[0])
    model.start(words, config)
    studio.wait(lambda: model.merge_count > 0)
    jump[0] = 36_000.0
    studio.wait_finished(30_000)
    assert model.history.vocabulary(model.merge_count) == tokens
    seconds = model.progress.seconds_left
    assert seconds is None or 0 <= seconds < 3600
    message = told(outcome_words(model))
    assert "2,500 tokens" in message
    studio.window.session.document.edit(0, 0, "typed after the sleep ")
    assert (left_text(studio) or "").startswith("typed after the sleep ")


# -- 62: no room for the recovery store


@pytest.mark.case(62)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_no_room_for_unsaved_work(
    studio: Studio, told: Told, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:  # fmt: skip
    """Editing goes on, one warning, and it is kept again when there is room."""
    window, warnings = studio.window, []
    window.recovery.keeper.failed.connect(warnings.append)
    tries = []

    def no_room(*_arguments: object, **_options: object) -> object:
        tries.append(code)
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(recovery_store, "_save", no_room)
        for letter in "still typing":
            window.session.document.edit(0, 0, letter)
            studio.qtbot.wait(10)
        studio.wait(lambda: len(tries) > 1)
    message = told(window.notices.training.text)
    assert os.strerror(code) in message
    assert str(recovery_folder()) in message
    assert len(warnings) == 1
    assert window.session.document.text.startswith("gnipyt llits")
    assert (left_text(studio) or "").startswith("gnipyt llits")


@pytest.mark.case(62)
def test_the_disk_is_full_in_the_middle_of_the_work(
    studio: Studio, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept before stays whole, and the rest follows when there is room."""
    window = studio.window
    window.session.document.edit(0, 0, "first ")
    studio.wait(lambda: window.recovery.keeper.is_kept and window.recovery.keeper.is_idle, 10_000)
    real, is_full = os.fsync, threading.Event()

    def fsync(descriptor: int) -> None:
        if is_full.is_set():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(recovery_store.os, "fsync", fsync)
    is_full.set()
    window.session.document.edit(0, 0, "second ")
    studio.wait(lambda: "cannot be backed up to" in window.notices.training.text)
    told(window.notices.training.text)
    window.session.document.edit(0, 0, "third ")
    studio.qtbot.wait(100)
    is_full.clear()
    assert (left_text(studio) or "").startswith("third second first ")


@pytest.mark.case(62)
def test_the_recovery_folder_cannot_be_made(studio: Studio, told: Told) -> None:
    """A file lies in its way."""
    recovery_folder().parent.mkdir(parents=True, exist_ok=True)
    recovery_folder().touch()
    studio.window.session.document.edit(0, 0, "typed ")
    studio.wait(lambda: bool(studio.window.notices.training.text))
    assert str(recovery_folder()) in told(studio.window.notices.training.text)
    assert studio.window.session.document.text.startswith("typed ")


# -- 68: a fault of the program


class Faulty(QObject):
    """Raises in a slot."""

    def fail(self) -> None:
        raise RuntimeError("a fault of the program")


class FaultyModel(QStringListModel):
    """Raises for every cell that is shown, from some moment on."""

    is_faulty = False

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        if self.is_faulty:
            raise RuntimeError("a fault of the program")
        return super().data(index, role)


class FaultyPainting(QWidget):
    """Raises whenever it is painted."""

    def paintEvent(self, event: QPaintEvent) -> None:
        raise RuntimeError("a fault of the program")


class FaultyThread(QThread):
    """Raises in a thread of Qt."""

    def run(self) -> None:
        raise RuntimeError("a fault of the program")


def fail_in(place: str, studio: Studio) -> None:
    """Have something raise in the place of that name."""
    window = studio.window
    if place == "slot":
        faulty = Faulty(window)
        timer = QTimer(faulty, interval=1)
        timer.timeout.connect(faulty.fail)
        timer.start()
        studio.box()
        timer.stop()
    elif place == "model":
        view = QListView(window)
        model = FaultyModel(["cell"] * 100, view)
        view.setModel(model)
        view.show()
        model.is_faulty = True
        view.viewport().update()
        studio.box()
        model.is_faulty = False
    elif place == "painting":
        painting = FaultyPainting(window)
        painting.resize(100, 100)
        painting.show()
        studio.box()
        painting.hide()
    elif place == "thread":
        thread = threading.Thread(target=Faulty().fail)
        thread.start()
        thread.join()
    else:
        qt_thread = FaultyThread(window)
        qt_thread.start()
        assert qt_thread.wait(5000)


@pytest.mark.case(68)
@pytest.mark.expects_log
@pytest.mark.qt_log_ignore("Error calling Python override", extend=True)
@pytest.mark.parametrize("place", ["slot", "model", "painting", "thread", "thread of Qt"])
def test_a_fault_of_the_program_costs_no_work(
    studio: Studio, told: Told, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """One dialog; text and merges are there, editing goes on, and all of it is kept."""
    window = studio.window
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    window.session.document.edit(0, 0, "before ")
    with studio.qtbot.captureExceptions():
        window.messages.catch_faults()
        fail_in(place, studio)
        box = studio.box()
    assert "RuntimeError: a fault of the program" in box.detailedText()
    told(f"{box.text()} {box.informativeText()}")
    box.button(QMessageBox.StandardButton.Ok).click()
    studio.qtbot.wait(50)
    assert not studio.has_box()
    window.session.document.edit(0, 0, "after ")
    assert window.model.history is not None
    assert (left_text(studio) or "").startswith("after before ")
