"""The one question before something is lost: when the window closes, or shows another corpus or project."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.ui.dialogs.project.unsaved_work import Loss, UnsavedWork, unsaved_work_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.controllers.file_controller import FileController
    from wordpiece_studio.ui.controllers.project_controller import ProjectController
    from wordpiece_studio.ui.dialogs.project.unsaved_work import UnsavedWorkFinder

_Button = QMessageBox.StandardButton


class LeaveController(QObject):
    """Asks only about what the user made: a text, a training that was asked for, notes, changes to a project."""

    agreed = Signal()
    """The window may close now."""

    def __init__(
        self, window: QWidget, finder: UnsavedWorkFinder, project: ProjectController, files: FileController
    ) -> None:
        super().__init__(window)
        self._window = window
        self._finder = finder
        self._project = project
        self._files = files
        self._then: Callable[[], None] | None = None
        self._loss = Loss.ALL
        self._box: QMessageBox | None = None

    def must_ask(self) -> bool:
        """Return whether the window must stay open for now; `agreed` is emitted when it may close."""
        if self._box is not None:
            self._box.raise_()
            return True
        if self._project.is_saving:
            self._project.when_saved(self._close_again)
            return True
        if not self._finder.unsaved_work(Loss.ALL).is_any:
            return False
        self.when_safe(self.agreed.emit)
        return True

    def when_safe(self, then: Callable[[], None], loss: Loss = Loss.ALL) -> None:
        """Call `then` at once if it loses no unsaved work, else when the user has saved that or given it up."""
        if self._box is not None:
            return
        unsaved_work = self._finder.unsaved_work(loss)
        if unsaved_work.is_any:
            self._ask(unsaved_work, then, loss)
        else:
            then()

    def _ask(self, unsaved_work: UnsavedWork, then: Callable[[], None], loss: Loss) -> None:
        self._then, self._loss = then, loss
        self._box = unsaved_work_box(self._window, unsaved_work, self._files.corpus_name, self._project.path)
        self._box.finished.connect(self._on_box_finished)
        self._box.open()

    def _on_box_finished(self, answer: int) -> None:
        then, self._then, self._box = self._then, None, None
        if then is None:
            return
        if answer == _Button.Discard.value:
            then()
        elif answer == _Button.Save.value:
            self._project.save(partial(self._when_saved, then, self._loss))

    def _when_saved(self, then: Callable[[], None], loss: Loss) -> None:
        """Call `then`, unless something was typed while the project was written; newly learned merges do not count."""
        unsaved_work = self._finder.unsaved_work(loss)
        if unsaved_work.is_anything_made and self._box is None:
            self._ask(unsaved_work, then, loss)
        else:
            then()

    def _close_again(self) -> None:
        self._window.close()
