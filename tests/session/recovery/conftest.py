"""A document that is kept, and what a start after a crash finds of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.session.recovery.fakes import FakeState
from wordpiece_studio.resources import resource_path
from wordpiece_studio.session import recovery_store
from wordpiece_studio.session.document import TextFile
from wordpiece_studio.session.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery_store import RecoveryStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.storage.project.contents import Project


def is_kept(keeper: RecoveryKeeper) -> bool:
    """Return whether nothing is being kept or going to be, the training included."""
    return keeper.is_idle and not (keeper.run_job.is_running or keeper.run_timer.isActive())


class Kept:
    """A document, its keeper, and a crash."""

    def __init__(self, document: Document, folder: Path, qtbot: QtBot) -> None:
        self.document = document
        self.folder = folder
        self.state = FakeState(document)
        self.store = RecoveryStore(folder)
        self.keeper = RecoveryKeeper(self.state, document, self.store)  # type: ignore[arg-type]
        self.qtbot = qtbot

    def show_course(self) -> None:
        self.document.take_text(TextFile(resource_path("samples/course-en.txt").read_text("utf-8")), None)

    def wait(self) -> None:
        """Wait until all is on the disk."""
        self.qtbot.waitUntil(lambda: is_kept(self.keeper), timeout=10_000)

    def crash(self) -> None:
        """Release the folder as a killed process does: nothing more is written, nothing is removed."""
        self.keeper._timer.stop()
        self.keeper.run_timer.stop()
        self.keeper._is_closed = True
        self.keeper.job.close()
        self.keeper.run_job.close()
        self.store.close(keeps=True)

    def found(self) -> list[recovery_store.Recoverable]:
        found = recovery_store.find_recoverable(self.folder)
        for one in found:
            one.lock.release()
        return found

    def recovered(self) -> Project:
        """Crash, and return what the next start gets."""
        self.crash()
        (recoverable,) = self.found()
        return recovery_store.recover(recoverable).project


@pytest.fixture
def kept(document: Document, tmp_path: Path, qtbot: QtBot) -> Iterator[Kept]:
    kept = Kept(document, tmp_path / "state" / "recovery", qtbot)
    yield kept
    kept.keeper.close()
