"""The parts of the window that handle the project, and how they are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from wordpiece_studio.session.corpus_references import CorpusReferences
from wordpiece_studio.session.file_watch import FileWatch
from wordpiece_studio.session.project_state import ProjectState
from wordpiece_studio.ui.controllers.disk_controller import DiskController
from wordpiece_studio.ui.controllers.leave_controller import LeaveController
from wordpiece_studio.ui.controllers.project_controller import ProjectController
from wordpiece_studio.ui.dialogs.project.unsaved_work import UnsavedWorkFinder

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QMainWindow

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_fields import ProjectFields
    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.session.step_marks import StepMarks
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.controllers.counting_controller import CountingController
    from wordpiece_studio.ui.controllers.file_controller import FileController
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.panes.training_bar.run_record import RunRecord
    from wordpiece_studio.ui.widgets.banner import Banner


class ProjectParts(QObject):
    """The parts as attributes.

    Attributes
    ----------
    state, controller
        What the project holds and where it is; saving and opening it.
    leave
        The question before something is lost.
    disk, references, watch
        Files of the corpus that are gone or changed.
    """

    def __init__(
        self, window: QMainWindow, document: Document, model: TrainerModel, marks: StepMarks, fields: ProjectFields,
        counting: CountingController, files: FileController, record: RunRecord, settings: SettingsStore, actions:
        Actions, messages: Messages, banners: tuple[Banner, Banner],
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._record = record
        self.references = CorpusReferences(self)
        self.watch = FileWatch(self)
        self.state = ProjectState(document, model, marks, fields, self.references, self)
        finder = UnsavedWorkFinder(self.state, document, model, marks, record)
        self.controller = ProjectController(
            window, self.state, document, finder, settings, actions, messages, banners[0]
        )
        self.leave = LeaveController(window, finder, self.controller, files)
        self.disk = DiskController(
            window, document, counting, self.references, self.watch, actions, banners[1], messages
        )  # fmt: skip
        files.set_guard(self.leave.when_safe)
        files.replaced.connect(self.state.detach)
        files.new_begun.connect(self.state.clear)
        files.project_wanted.connect(self.controller.open)
        files.text_saved.connect(self.disk.note_written)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self.watch.check)  # such as when the user returns to the window
        self.controller.saved.connect(self._on_controller_saved)
        self.controller.opened.connect(self._on_controller_saved)

    def close(self) -> None:
        """Stop everything that is running and wait for it to end."""
        self.controller.close()
        self.state.close()
        self.references.close()
        self.watch.close()

    def _on_controller_saved(self, _path: Path) -> None:
        self._record.note_saved()
