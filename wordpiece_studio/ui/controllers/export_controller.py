"""Exporting a vocabulary: the dialog, the question before anything is replaced, and the background work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export.export_dialog import ExportChoice, ExportDialog
from wordpiece_studio.ui.dialogs.export.export_work import (
    ExportOrder,
    InspectionOrder,
    InTheWay,
    export,
    inspect,
    usage_lines,
)
from wordpiece_studio.ui.messages import add_button, plain_box
from wordpiece_studio.ui.widgets.later import later
from wordpiece_studio.ui.widgets.plain import copy_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.dialogs.export.export_work import Inspection
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.banner import Banner
    from wordpiece_studio.ui.widgets.theme import Theme

_MOST_NAMES = 6
_PATIENCE_MS = 500  # before the banner says that something is being written


@dataclass(frozen=True, slots=True)
class _Question:
    """The training that the dialog is about, and the steps that it offers: see `ExportDialog`."""

    project: Project
    steps: tuple[tuple[int, int], ...]


class ExportController(QObject):
    """Asks and writes; nothing is replaced without asking, and a failure leads back to the dialog.

    Parameters
    ----------
    banner
        Shows what is being written, and what was.
    capture
        Returns the project as it is now, without copying anything large.
    """

    saved = Signal(object)
    """Everything learned so far is in a file; a sentence that says which, a str."""

    def __init__(
        self, window: QWidget, document: Document, model: TrainerModel, capture: Callable[[], Project],
        actions: Actions, theme: Theme, messages: Messages, banner: Banner,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._document = document
        self._model = model
        self._capture = capture
        self._action = actions.save_vocabulary
        self._theme = theme
        self._banner = banner
        self._folder: Path | None = None
        self._asked: _Question | None = None
        self._order: ExportOrder | None = None
        self._in_the_way: InTheWay | None = None
        self._lines = ""  # what the banner's button copies; empty while the button cancels
        self._dialog: ExportDialog | None = None
        self._inspecting = BackgroundJob(inspect, self.tr("The preview of the export"), self)
        self._inspecting.finished.connect(self._on_inspecting_finished)
        self._inspecting.failed.connect(messages.show_error)
        self._exporting = BackgroundJob(export, self.tr("The export"), self)
        self._exporting.finished.connect(self._on_exporting_finished)
        self._exporting.failed.connect(self._on_exporting_failed)
        self._exporting.running_changed.connect(self._on_something_changed)
        self._banner.action_requested.connect(self._on_banner_action_requested)
        self._action.triggered.connect(self.ask)
        model.run_reset.connect(self._enable)
        model.state_changed.connect(self._on_something_changed)
        self._enable()

    @property
    def is_running(self) -> bool:
        """Whether files are being written."""
        return self._exporting.is_running

    def ask(self) -> None:
        """Ask what to export and where; the project is taken as it is now."""
        project = self._capture()
        if project.run is None:
            return
        shown, last = self._model.step, self._model.merge_count
        history = project.run.history
        steps = [(step, history.vocabulary_size(step)) for step in dict.fromkeys((shown, last))]
        self._open(_Question(project, tuple(steps)))

    def _open(self, question: _Question, before: ExportChoice | None = None, trouble: str = "") -> None:
        self._asked = question
        dialog = ExportDialog(question.steps, self._proposed_folder(), self._theme.mono_font(-1), self._window)
        dialog.chosen.connect(self._on_dialog_chosen)
        dialog.step_changed.connect(self._on_dialog_step_changed)
        dialog.finished.connect(self._on_dialog_finished)
        self._dialog = dialog
        dialog.open()
        if before is not None:
            dialog.propose(before, trouble)
        self._inspecting.begin(InspectionOrder(question.project, dialog.step))

    def _ask_again(self, order: ExportOrder, trouble: str = "") -> None:
        """Reopen the dialog with the same answers: the export did not happen."""
        if self._dialog is None and self._asked is not None:
            self._open(self._asked, ExportChoice(order.kind, order.step, order.place, order.with_counts), trouble)

    def close(self) -> None:
        """Cancel what is running and wait for the threads to end; files are written completely or not at all."""
        self._inspecting.close()
        self._exporting.close()

    def _proposed_folder(self) -> Path:
        if self._folder is not None:
            return self._folder
        return self._document.path.parent if self._document.path is not None else Path.home()

    def _on_dialog_step_changed(self, step: int) -> None:
        if self._asked is not None:
            self._inspecting.begin(InspectionOrder(self._asked.project, step))

    def _on_inspecting_finished(self, inspection: Inspection) -> None:
        if self._dialog is not None:
            self._dialog.take_inspection(inspection)

    def _on_dialog_finished(self, result: int) -> None:
        self._dialog = None
        if result != ExportDialog.DialogCode.Accepted.value:
            self._asked = None  # do not keep a training in memory for nothing
        self._inspecting.stop()

    def _on_dialog_chosen(self, choice: ExportChoice) -> None:
        if self._asked is not None:
            project = self._asked.project
            self._begin(ExportOrder(choice.kind, project, choice.step, choice.place, with_counts=choice.with_counts))

    def _begin(self, order: ExportOrder) -> None:
        self._order = order
        self._banner.clear()
        self._exporting.begin(order)
        later(self, _PATIENCE_MS, self._say_writing)

    def _say_writing(self) -> None:
        if self._exporting.is_running and self._order is not None:
            self._lines = ""
            text = self.tr("Writing {path}…").format(path=display_name(self._order.place))
            self._banner.show_message(text, action=self.tr("Cancel"))

    def _on_exporting_finished(self, result: ExportOrder | InTheWay) -> None:
        self._banner.clear()
        if isinstance(result, InTheWay):
            self._ask_to_replace(result)
            return
        self._asked = self._order = None
        run = result.project.run
        if run is None:
            return
        self._folder = result.place.parent
        is_counts, place = result.kind == "word-counts", display_name(result.place)
        if is_counts:
            text = self.tr("Exported {size:,} distinct words to {path}").format(size=len(run.counts), path=place)
        else:
            text = self.tr("Exported {size:,} tokens, the vocabulary after merge {step:,}, to {path}").format(
                size=run.history.vocabulary_size(result.step), step=result.step, path=place
            )
        self._lines = usage_lines(result.kind, result.place)
        self._banner.show_message(text, action=self.tr("Copy the code that loads it"))
        # An earlier step, the words alone, or merges from before the export began are not everything learned so far.
        if not is_counts and run.history is self._model.history and result.step == self._model.merge_count:
            self.saved.emit(text)

    def _on_exporting_failed(self, error: StudioError) -> None:
        self._banner.clear()
        if self._order is not None:
            self._ask_again(self._order, str(error))

    def _on_banner_action_requested(self) -> None:
        if self._lines:
            copy_text(self._lines)
            self._banner.show_message(self.tr("Copied: {lines}").format(lines=self._lines.replace("\n", "; ")))
        else:
            self._exporting.stop()
            self._banner.clear()
            self._asked = self._order = None

    def _ask_to_replace(self, found: InTheWay) -> None:
        self._in_the_way = found
        names = ", ".join(found.names[:_MOST_NAMES]) + (", …" if len(found.names) > _MOST_NAMES else "")
        place = found.order.place
        box = plain_box(
            self._window,
            QMessageBox.Icon.Question,
            self.tr("Replace what is in “{name}”?").format(name=display_name(place.name)),
            self.tr("These files already exist: {names}\n{path}").format(names=names, path=display_name(place)),
        )
        add_button(box, QMessageBox.StandardButton.Yes, self.tr("&Replace"))
        box.setDefaultButton(add_button(box, QMessageBox.StandardButton.Cancel))  # Enter twice replaces nothing
        box.finished.connect(self._on_replace_box_finished)
        box.open()

    def _on_replace_box_finished(self, answer: int) -> None:
        found, self._in_the_way = self._in_the_way, None
        if found is None:
            return
        if answer == QMessageBox.StandardButton.Yes.value:
            self._begin(found.order.replacing())
        else:
            self._ask_again(found.order)

    def _on_something_changed(self, _value: object) -> None:
        self._enable()

    def _enable(self) -> None:
        self._action.setEnabled(self._model.history is not None and not self._exporting.is_running)
