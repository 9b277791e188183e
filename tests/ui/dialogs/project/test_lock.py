"""A project that someone else has open, or that cannot be written where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLockFile
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.storage.project.project_file import open_project
from wordpiece_studio.ui.controllers.project_controller import ProjectLock, lock_path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects

_SAVE, _CANCEL = QMessageBox.StandardButton.Save, QMessageBox.StandardButton.Cancel


def test_a_lock_is_for_one_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.wpstudio"
    mine, other = ProjectLock(), ProjectLock()
    assert mine.take(path) is None
    assert mine.take(path) is None  # again
    holder = other.take(path)
    assert holder is not None
    assert holder[0] == os.getpid()
    mine.release()
    assert other.take(path) is None
    assert other.take(tmp_path / "b.wpstudio") is None
    assert not lock_path(path).exists()
    other.release()
    assert not list(tmp_path.iterdir())


def test_the_lock_of_a_process_that_is_gone_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.wpstudio"
    code = (
        "import os, sys; from PySide6.QtCore import QLockFile; "
        "lock = QLockFile(sys.argv[1]); assert lock.tryLock(0); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(lock_path(path))], check=False)
    assert lock_path(path).exists()
    lock = ProjectLock()
    assert lock.take(path) is None
    assert ProjectLock().take(path) == (os.getpid(), _host(path))
    lock.release()


def _host(path: Path) -> str:
    return str(QLockFile(str(lock_path(path))).getLockInfo()[1])


@pytest.mark.slow
def test_a_project_opened_twice_is_read_only(projects: Projects) -> None:
    window = projects.window
    path = projects.save()
    window.actions_.new_corpus.trigger()
    other = ProjectLock()
    assert other.take(path) is None
    projects.open(path)
    assert f"process {os.getpid()}" in window.notices.project.text
    assert window.windowTitle().startswith("hugs (read-only)[*]")
    assert window.model.merge_count == 25
    before = path.read_bytes()
    window.session.document.edit(0, 0, "x")
    window.actions_.save_project.trigger()
    projects.choose(path)  # where it is not to be had
    assert "open in another window" in projects.studio.box().text()
    projects.studio.answer(_SAVE)
    projects.choose(projects.path("mine"))
    projects.wait_saved()
    assert path.read_bytes() == before
    assert open_project(projects.path("mine")).corpus.text.startswith("x")
    assert window.windowTitle().startswith("mine[*]")
    other.release()
