"""Commands of the merge history: go to a step, show the step's row, export; and the columns that are remembered."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.pacing import Turn
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.exports import Exported, manifest_of
from wordpiece_studio.storage.manifest import Origin
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.ui.panes.history.history_export import HistoryExportChoice, HistoryExportDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.panes.history.history_pane import HistoryPane
    from wordpiece_studio.ui.widgets.dock_area import DockArea

_REPORT_SECONDS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class _Export:
    """Steps of a history, counted from 1, and the file they go to; `is_whole` if these are all steps in order."""

    path: Path
    history: MergeHistory
    steps: NDArray[np.int64]
    project: Project
    is_whole: bool


class HistoryController(QObject):
    """Connects the pane to the commands and the settings, and writes tables in the background."""

    exported = Signal(object)
    """A sentence that says what was exported and where, a str."""

    def __init__(
        self, window: QWidget, docks: DockArea, model: TrainerModel, pane: HistoryPane, actions: Actions,
        settings: SettingsStore, messages: Messages, capture: Callable[[], Project],
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._docks = docks
        self._model = model
        self._pane = pane
        self._action = actions.export_history
        self._settings = settings
        self._messages = messages
        self._capture = capture
        self._choice = HistoryExportChoice(True, "csv")
        self._job = BackgroundJob(_work, self.tr("The export"), self)
        actions.go_to_step.triggered.connect(self._on_go_to_step_triggered)
        actions.show_step_row.triggered.connect(self._on_show_step_row_triggered)
        actions.export_history.triggered.connect(self.export)
        pane.export_requested.connect(self.export)
        pane.columns_chosen.connect(self._on_pane_columns_chosen)
        pane.export_bar.stop_requested.connect(self.stop)
        self._job.reported.connect(self._on_job_reported)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._job.running_changed.connect(self._on_something_changed)
        model.run_reset.connect(self._enable)
        model.merges_appended.connect(self._on_model_merges_appended)
        pane.take_columns(settings.values.history_columns)
        self._enable()

    def export(self) -> None:
        """Ask which merges to export and where, and write them."""
        if not self._action.isEnabled():
            return
        rows = self._pane.rows
        shown = None if rows.is_plain else rows.rowCount()
        dialog = HistoryExportDialog(self._model.merge_count, shown, self._window)
        dialog.chosen.connect(self._on_dialog_chosen)
        dialog.open()

    def stop(self) -> None:
        """Cancel the export."""
        self._job.stop()
        self._pane.export_bar.hide()

    def close(self) -> None:
        """Cancel the export and wait for all threads to end."""
        self._job.close()
        self._pane.close_jobs()

    def _on_go_to_step_triggered(self) -> None:
        self._docks.bring("history")
        self._pane.ask_for_step()

    def _on_show_step_row_triggered(self) -> None:
        self._docks.bring("history")
        self._pane.show_step()

    def _on_dialog_chosen(self, choice: HistoryExportChoice) -> None:
        self._choice = choice
        title = self.tr("Export merge history")
        dialog = QFileDialog(self._window, title, "", f"{choice.kind} (*.{choice.kind})")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(choice.kind)
        dialog.selectFile(f"merges.{choice.kind}")
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def export_to(self, place: str) -> None:
        """Write the chosen merges to the file at `place`."""
        history, path = self._model.history, Path(place)
        if history is None:
            return
        try:
            check_merge_table_place(path)
        except StudioError as error:
            self._messages.show_error(error)
            return
        is_whole = self._choice.all_merges
        rows = np.arange(self._model.merge_count) if is_whole else self._pane.rows.shown_merges()
        self._pane.export_bar.begin(path.name)
        self._job.begin(_Export(path, history, rows + 1, self._capture(), is_whole))

    def _on_job_reported(self, progress: tuple[int, int]) -> None:
        self._pane.export_bar.show_progress(*progress)

    def _on_job_finished(self, export: _Export) -> None:
        self._pane.export_bar.hide()
        sentence = self.tr("Exported {rows} merges to {path}")
        self.exported.emit(sentence.format(rows=number_text(len(export.steps)), path=export.path))

    def _on_job_failed(self, error: StudioError) -> None:
        self._pane.export_bar.hide()
        self._messages.show_error(error)

    def _on_pane_columns_chosen(self, names: tuple[str, ...]) -> None:
        try:
            self._settings.change(history_columns=names)
        except StudioError as error:
            self._messages.show_error(error)

    def _on_something_changed(self, _value: object) -> None:
        self._enable()

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        if not self._action.isEnabled():
            self._enable()

    def _enable(self) -> None:
        is_possible = self._model.merge_count > 0 and not self._job.is_running
        self._action.setEnabled(is_possible)
        self._pane.set_export_enabled(is_possible)


def _work(order: Any, stop: threading.Event, report: Report) -> _Export | None:
    turn, reported = Turn(), time.monotonic()

    def relay(written: int, rows: int) -> None:
        nonlocal reported
        turn.give()
        if time.monotonic() - reported > _REPORT_SECONDS:
            reported = time.monotonic()
            report((written, rows))

    is_written = write_merge_table(
        order.path, order.history, order.steps, manifest=_manifest(order, stop), report=relay, should_stop=stop.is_set
    )
    return order if is_written else None


def _manifest(order: _Export, stop: threading.Event) -> Manifest | None:
    """Return how the merges came about; None if their run has been replaced since."""
    run = order.project.run
    if run is None or run.history is not order.history:
        return None
    step = int(order.steps.max()) if len(order.steps) else 0
    origin = Origin(merges=step, corpus=record_of_project(order.project, stop.is_set))
    exported = Exported(run.counts, run.config, run.history, step, origin)
    parts: Literal["all", "some"] = "all" if order.is_whole else "some"
    return manifest_of("merges", exported, order.path.name, parts=parts, folder=order.path.parent)
