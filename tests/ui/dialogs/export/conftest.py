"""The export without the whole window: a small trained run, the controller, and what it needs around it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from tests.storage.project.making import course_project, run_of
from wordpiece_studio.session.document import Document
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.ui.actions import Actions
from wordpiece_studio.ui.controllers.export_controller import VocabularyExport
from wordpiece_studio.ui.dialogs.export_dialog import ExportDialog
from wordpiece_studio.ui.messages import Messages, Notices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.storage.exports import ExportKind
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.ui.widgets.theme import Theme

SHOWN = 3  # the step shown


class Window(QWidget):
    """What the export needs of a window."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme, self.actions_, self.messages = theme, Actions(theme, [VocabularyExport], self), Messages(self)
        self.notices = Notices(theme, self)
        self.session = SimpleNamespace(model=TrainerModel(self), document=Document(self))
        self.project = SimpleNamespace(capture_run=course_project)


class Exporting:
    """The controller on a window with nothing but a banner, and the ways in which a test acts on it."""

    def __init__(self, qtbot: QtBot, theme: Theme) -> None:
        self.qtbot = qtbot
        self.window = Window(theme)
        qtbot.addWidget(self.window)
        self.model, self.document = self.window.session.model, self.window.session.document
        self.banner, self.actions = self.window.notices.export, self.window.actions_
        self.project = course_project()
        self.window.project.capture_run = self._capture
        self.saved: list[str] = []
        self.controller = VocabularyExport(self.window)
        self.controller.saved.connect(lambda: self.saved.append(self.banner.text))
        self.window.resize(1000, 660)
        self.window.show()

    def open(self, run: Run, step: int = SHOWN) -> None:
        """Show a run at a step."""
        self.project = replace(self.project, runs=(replace(run, is_of_corpus=True),))
        self.model.open_run(Run(run.counts, run.config, run.history, stop_reason="no_pair"), step)

    def _capture(self) -> Project:
        return self.project

    def wait(self, condition: object) -> None:
        self.qtbot.waitUntil(condition, timeout=10_000)

    @property
    def dialog(self) -> ExportDialog:
        """The dialog, when it knows what can be exported."""
        self.wait(lambda: bool(self._dialogs()))
        dialog = self._dialogs()[-1]
        self.wait(lambda: dialog.inspection is not None)
        return dialog

    def _dialogs(self) -> list[ExportDialog]:
        return [dialog for dialog in self.window.findChildren(ExportDialog) if dialog.isVisible()]

    def ask(self) -> ExportDialog:
        self.actions.save_vocabulary.trigger()
        return self.dialog

    def ask_for_shown(self) -> ExportDialog:
        """Open the dialog, and choose the step shown in place of the last one."""
        self.ask()._steps.button(SHOWN).click()
        return self.dialog

    @property
    def last(self) -> int:
        """The last step of the run."""
        return self.model.merge_count

    def export(self, kind: ExportKind, place: Path) -> None:
        """Answer the question with a kind and a place."""
        dialog = self.ask()
        dialog.kinds.choose(kind)
        dialog.place_edit.setText(str(place))
        assert dialog.place == place
        dialog.accept()

    def export_whole(self, kind: ExportKind, place: Path) -> None:
        """Export, and wait until it is written."""
        self.export(kind, place)
        self.wait_exported(place)

    def wait_exported(self, place: Path) -> None:
        self.wait(lambda: self.banner.text.startswith("Exported") and str(place) in self.banner.text)

    def box(self) -> QMessageBox:
        self.wait(lambda: any(box.isVisible() for box in self.window.findChildren(QMessageBox)))
        return next(box for box in self.window.findChildren(QMessageBox) if box.isVisible())

    def answer(self, button: QMessageBox.StandardButton) -> None:
        self.box().button(button).click()


@pytest.fixture
def unfilled(qtbot: QtBot, theme: Theme) -> Iterator[Exporting]:
    """Before anything was trained."""
    exporting = Exporting(qtbot, theme)
    yield exporting
    exporting.controller.close()
    exporting.model.close()
    exporting.document.close()


@pytest.fixture
def exporting(unfilled: Exporting) -> Exporting:
    """A trained run at an early step."""
    unfilled.open(run_of())
    return unfilled
