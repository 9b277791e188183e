"""Does what a user would do to bring the window into a state, and then ends it. Runs in `studio_child`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMessageBox

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.dialogs.export_dialog import ExportDialog
from wordpiece_studio.ui.dialogs.file_questions import RecoveryDialog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wordpiece_studio.ui.main_window import MainWindow

    Until = Iterator[Callable[[], object]]
    """Each step yields what has to come about before the next."""

_Dialog = TypeVar("_Dialog", bound=QDialog)
_POLL_MS = 5
_PATIENCE_SECONDS = 120.0


class StudioHand(QObject):
    """The hand of a user; every method ``_state`` brings about one of `processes.STATES`."""

    def __init__(self, window: MainWindow, state: str, end: str, folder: Path) -> None:
        super().__init__(window)
        self._window = window
        self._state = state
        self._end = end
        self._folder = folder
        self._began = time.monotonic()
        self._steps: Until = getattr(self, f"_{state}")()
        self._until: Callable[[], object] = lambda: True
        self._is_ready = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._timer.start(_POLL_MS)

    def _on_timer_timeout(self) -> None:
        if self._is_ready:
            self._give_up_what_is_asked()
        elif time.monotonic() - self._began > _PATIENCE_SECONDS:
            sys.stderr.write("the state never came about\n")
            self._timer.stop()
            self._window.leave_at_once()
        elif self._until():
            step = next(self._steps, None)
            if step is not None:
                self._until = step
            else:
                self._finish()

    def _finish(self) -> None:
        self._is_ready = True
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if self._end == "quit":
            self._window.actions_.quit.trigger()
        elif self._end == "close":
            self._window.close()
            self._window.close()

    def _give_up_what_is_asked(self) -> None:
        """Press Discard where the window asks whether to save, and cancel what else is asked."""
        if self._end == "wait":
            return
        for widget in QApplication.topLevelWidgets():
            if not isinstance(widget, QDialog) or not widget.isVisible():
                continue
            discard = widget.button(QMessageBox.StandardButton.Discard) if isinstance(widget, QMessageBox) else None
            if discard is not None:
                discard.click()
            else:
                widget.reject()
                self._window.actions_.quit.trigger()

    def _shown_dialog(self, kind: type[_Dialog]) -> _Dialog | None:
        dialogs = self._window.findChildren(kind)
        return next((dialog for dialog in dialogs if dialog.isVisible()), None)

    # -- the beginning

    def _starting(self) -> Until:
        yield lambda: True

    def _shown(self) -> Until:
        yield lambda: self._window.isVisible() and self._window.model.state is TrainerState.FINISHED

    def _compiling(self) -> Until:
        yield lambda: self._window.session.warm_up.progress == "compiling"

    def _recovery(self) -> Until:
        yield lambda: self._shown_dialog(RecoveryDialog)

    # -- the corpus

    def _reading(self) -> Until:
        yield from self._shown()
        self._window.corpus_controller.open_paths([self._folder / "small.txt"])
        yield lambda: True  # it may be over before the window looks again

    def _listing(self) -> Until:
        yield from self._shown()
        self._window.corpus_controller.open_paths([self._folder / "many"])
        yield lambda: self._window.session.opening.is_running

    def _linting(self) -> Until:
        yield from self._counted("middle.txt")
        yield lambda: self._window.corpus_pane.lint_controller.task.is_running

    def _counting(self) -> Until:
        yield from self._shown()
        self._window.corpus_controller.open_paths([self._folder / "large.txt"])
        yield lambda: self._window.session.document.is_files
        yield lambda: self._window.session.counting.is_running

    def _counted(self, name: str) -> Until:
        yield from self._shown()
        self._window.corpus_controller.open_paths([self._folder / name])
        yield lambda: self._window.session.document.path is not None or self._window.session.document.is_files
        yield lambda: not self._window.session.opening.is_running
        yield lambda: not self._window.session.counting.is_running and self._window.session.counting.counts is not None
        self._window.session.settings.set_target_size(0)  # no limit: a training that takes a while

    # -- the training

    def _preparing(self) -> Until:
        yield from self._counted("middle.txt")
        self._window.actions_.train.trigger()
        yield lambda: self._window.model.state is TrainerState.TRAINING

    def _trained(self, name: str) -> Until:
        yield from self._counted(name)
        before = self._window.model.history
        self._window.actions_.train.trigger()
        yield lambda: self._window.model.history is not before and self._window.model.merge_count > 25

    def _training(self) -> Until:
        yield from self._trained("small.txt")

    def _paused(self, name: str = "small.txt") -> Until:
        yield from self._trained(name)
        self._window.actions_.pause.trigger()
        yield lambda: self._window.model.state is not TrainerState.TRAINING

    def _playing(self) -> Until:
        yield from self._shown()
        self._window.actions_.play.trigger()
        yield lambda: True

    def _vocabulary(self) -> Until:
        """The token usage is being counted."""
        yield from self._paused()
        self._window.docks.bring("vocabulary")
        yield lambda: True

    # -- files that are written

    def _table(self) -> Until:
        """The merge history is being exported."""
        yield from self._paused("middle.txt")
        self._window.export_controller.history.write(str(self._folder / "merges.csv"))
        yield lambda: True

    def _exporting(self) -> Until:
        yield from self._paused("middle.txt")
        self._window.actions_.save_vocabulary.trigger()
        yield lambda: self._shown_dialog(ExportDialog)
        dialog = self._shown_dialog(ExportDialog)
        assert dialog is not None
        dialog.place_edit.setText(str(self._folder / "exported"))
        yield lambda: dialog.export.isEnabled()
        dialog.export.click()
        task = self._window.export_controller.vocabulary.exporting
        yield lambda: task.is_running or (self._folder / "exported").exists()

    def _saving(self) -> Until:
        yield from self._paused("middle.txt")
        self._window.actions_.save_project.trigger()
        yield lambda: self._shown_dialog(QFileDialog)
        dialog = self._shown_dialog(QFileDialog)
        assert dialog is not None
        place = self._folder / "work.wpstudio"
        dialog.selectFile(str(place))
        dialog.accept()
        yield lambda: self._window.project_controller.saving.is_running or place.exists()

    # -- questions

    def _dialog(self) -> Until:
        yield from self._shown()
        self._window.actions_.open_file.trigger()
        yield lambda: any(isinstance(each, QDialog) for each in QApplication.topLevelWidgets())

    def _question(self) -> Until:
        yield from self._edited()
        self._window.actions_.quit.trigger()
        yield lambda: self._shown_dialog(QMessageBox)

    def _edited(self) -> Until:
        yield from self._shown()
        self._window.session.document.set_text("hug pug hugs " * 200)
        yield lambda: True
