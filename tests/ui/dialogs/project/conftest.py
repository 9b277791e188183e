"""A window and a folder for projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QFileDialog

from wordpiece_studio.storage.project.container import SUFFIX

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.main_window import MainWindow


class Projects:
    """Ways in which a test saves and opens projects in a window."""

    def __init__(self, studio: Studio, folder: Path) -> None:
        self.studio = studio
        self.folder = folder

    @property
    def window(self) -> MainWindow:
        return self.studio.window

    def path(self, name: str = "hugs") -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def choose(self, *paths: Path) -> None:
        """Choose these in the file dialog that is open."""
        dialog = next(each for each in self.window.findChildren(QFileDialog) if each.isVisible())
        dialog.fileSelected.emit(str(paths[0]))
        dialog.filesSelected.emit([str(path) for path in paths])
        dialog.done(1)

    def has_dialog(self) -> bool:
        return any(each.isVisible() for each in self.window.findChildren(QFileDialog))

    def close_dialogs(self) -> None:
        """Leave the file dialogs that are open."""
        for dialog in self.window.findChildren(QFileDialog):
            dialog.reject()

    def save(self, name: str = "hugs") -> Path:
        """Press Save, give a name if one is asked for, and wait until it is saved."""
        self.window.actions_.save_project.trigger()
        if self.has_dialog():
            self.choose(self.path(name))
        self.wait_saved()
        return self.path(name)

    def wait_saved(self) -> None:
        self.studio.wait(lambda: not self.window.project_controller.saving.is_running)

    def open(self, path: Path) -> None:
        """Open a project, and wait until all of it is read."""
        self.window.corpus_controller.open_paths([path])
        self.wait_opened()

    def wait_opened(self) -> None:
        controller, state = self.window.project_controller, self.window.project
        self.studio.wait(lambda: not controller.opening.is_running and not state.reading.is_running, 20_000)
        self.studio.wait(lambda: not self.window.session.watch.is_pending)

    def train(self) -> None:
        with self.studio.qtbot.waitSignal(self.window.model.run_reset):
            self.window.actions_.train.trigger()
        self.studio.wait_finished()


@pytest.fixture
def projects(studio: Studio, tmp_path: Path) -> Projects:
    return Projects(studio, tmp_path)
