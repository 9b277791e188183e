"""What goes into files that others read: vocabularies, tables of merges, pictures of charts.

Each export asks what and where; nothing is replaced without asking, and a file is written completely or not at all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob, Report, Turn
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.timers import later
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.exports import Exported, manifest_of
from wordpiece_studio.storage.manifest import Origin
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export_dialog import ExportChoice, ExportDialog
from wordpiece_studio.ui.dialogs.export_work import (
    ExportOrder,
    InspectionOrder,
    InTheWay,
    LibraryExport,
    export,
    export_library,
    inspect,
    usage_lines,
)
from wordpiece_studio.ui.dialogs.file_questions import place_dialog
from wordpiece_studio.ui.messages import add_button, plain_box
from wordpiece_studio.ui.panes.history.history_export import HistoryExportChoice, HistoryExportDialog
from wordpiece_studio.ui.widgets.plain import copy_text
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    import threading

    from numpy.typing import NDArray

    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.dialogs.export_work import Inspection
    from wordpiece_studio.ui.workspace import Workspace

_MOST_NAMES = 6
_TABLE_KINDS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}
_PATIENCE_MS = 500  # before the banner says that something is being written
_REPORT_SECONDS = 0.1
_CHART_KINDS = ("png", "svg")


class ExportController(QObject):
    """The three exports, as attributes."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self.vocabulary = VocabularyExport(window)
        self.history = HistoryExport(window)
        self.chart = ChartExport(window)

    def close(self) -> None:
        """Cancel what is running and wait for the threads to end; files are written completely or not at all."""
        self.vocabulary.close()
        self.history.close()


@dataclass(frozen=True, slots=True)
class _Question:
    """The training that the dialog is about, and the steps that it offers: see `ExportDialog`."""

    project: Project
    steps: tuple[tuple[int, int], ...]


class VocabularyExport(QObject):
    """Writes vocabularies and word counts; a failure leads back to the dialog."""

    saved = Signal(object)
    """Everything learned so far is in a file; a sentence that says which, a str."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = window.session.model
        self._action = window.actions_.save_vocabulary
        self._banner = window.export_banner
        self._folder: Path | None = None
        self._asked: _Question | None = None
        self._order: ExportOrder | None = None
        self._in_the_way: InTheWay | None = None
        self._lines = ""  # what the banner's button copies; empty while the button cancels
        self._dialog: ExportDialog | None = None
        self._inspecting = BackgroundJob(inspect, "The export cannot be previewed", self)
        self._inspecting.finished.connect(self._on_inspecting_finished)
        self._inspecting.failed.connect(window.messages.show_error)
        self._exporting = BackgroundJob(export, "The files cannot be exported", self)
        self._exporting.finished.connect(self._on_exporting_finished)
        self._exporting.failed.connect(self._on_exporting_failed)
        self._exporting.running_changed.connect(self._enable)
        self._exporting_library = BackgroundJob(export_library, "The library's own file cannot be exported", self)
        self._exporting_library.finished.connect(self._on_exporting_library_finished)
        self._exporting_library.failed.connect(window.messages.show_error)
        self._banner.action_requested.connect(self._on_banner_action_requested)
        self._action.triggered.connect(self.ask)
        self._model.run_reset.connect(self._enable)
        self._model.state_changed.connect(self._enable)
        self._enable()

    @property
    def is_running(self) -> bool:
        """Whether files are being written."""
        return self._exporting.is_running

    def ask(self) -> None:
        """Ask what to export and where; the project is taken as it is now."""
        project = self._window.project.capture()
        if project.run is None:
            return
        if project.run.library_run is not None:
            self._ask_where(project, project.run.library_run.file_name)
            return
        shown, last = self._model.step, self._model.merge_count
        history = project.run.history
        steps = [(step, history.vocabulary_size(step)) for step in dict.fromkeys((last, shown))]
        self._open(_Question(project, tuple(steps)))

    def _ask_where(self, project: Project, name: str) -> None:
        title, mode = self.tr("Export the library’s own file"), QFileDialog.AcceptMode.AcceptSave
        dialog = place_dialog(self._window, title, mode, self._proposed_folder(), name)
        dialog.fileSelected.connect(partial(self.write_library_run, project))
        dialog.open()

    def write_library_run(self, project: Project, place: str) -> None:
        """Write the file of another library, whose run the project shows, and its manifest."""
        if project.run is not None:
            self._exporting_library.begin(LibraryExport(project, project.run, Path(place)))

    def _on_exporting_library_finished(self, order: LibraryExport) -> None:
        self._folder = order.place.parent
        size, path = order.run.history.vocabulary_size(order.run.merge_count), display_name(order.place)
        text = plural(size, "Exported 1 token to {path}", "Exported {size} tokens to {path}")
        text = text.format(size=number_text(size), path=path)
        self._banner.show_message(text)
        if order.run.history is self._model.history:
            self.saved.emit(text)

    def _open(self, question: _Question, before: ExportChoice | None = None, trouble: str = "") -> None:
        self._asked = question
        dialog = ExportDialog(question.steps, self._proposed_folder(), self._window.theme.mono_font(-1), self._window)
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
        self._exporting_library.close()

    def _proposed_folder(self) -> Path:
        if self._folder is not None:
            return self._folder
        path = self._window.session.document.path
        return path.parent if path is not None else Path.home()

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
            size = len(run.counts)
            text = plural(size, "Exported 1 distinct word to {path}", "Exported {size} distinct words to {path}")
        else:
            size = run.history.vocabulary_size(result.step)
            text = plural(
                size,
                "Exported 1 token, the vocabulary after merge {step}, to {path}",
                "Exported {size} tokens, the vocabulary after merge {step}, to {path}",
            )
        text = text.format(size=number_text(size), step=number_text(result.step), path=place)
        self._lines = usage_lines(result.kind, result.place)
        self._banner.show_message(text, action=self.tr("Copy loading code"), needs_answer=False)
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
            self.tr("Replace files in “{name}”?").format(name=display_name(place.name)),
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

    def _enable(self) -> None:
        self._action.setEnabled(self._model.history is not None and not self._exporting.is_running)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Steps of a history, counted from 1, and the file they go to; `is_whole` if these are all steps in order."""

    path: Path
    history: MergeHistory
    steps: NDArray[np.int64]
    project: Project
    is_whole: bool


class HistoryExport(QObject):
    """Writes the merges, or those that the history shows, as a table, in the background."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = model = window.session.model
        self._pane = pane = window.history_pane
        self._action = window.actions_.export_history
        self._choice = HistoryExportChoice(True, "csv")
        self._job = BackgroundJob(_write_table, "The merge history cannot be exported", self)
        self._action.triggered.connect(self.ask)
        pane.export_requested.connect(self.ask)
        pane.export_bar.stop_requested.connect(self._on_bar_stop_requested)
        self._job.reported.connect(self._on_job_reported)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._job.running_changed.connect(self._enable)
        model.run_reset.connect(self._enable)
        model.merges_appended.connect(self._on_model_merges_appended)
        self._enable()

    def ask(self) -> None:
        """Ask which merges to export and where, and write them."""
        if not self._action.isEnabled():
            return
        rows = self._pane.rows
        shown = None if rows.is_plain else rows.rowCount()
        dialog = HistoryExportDialog(self._model.merge_count, shown, self._window)
        dialog.chosen.connect(self._on_dialog_chosen)
        dialog.open()

    def close(self) -> None:
        """Cancel the export and wait for the thread to end."""
        self._job.close()

    def _on_bar_stop_requested(self) -> None:
        self._job.stop()
        self._pane.export_bar.hide()

    def _on_dialog_chosen(self, choice: HistoryExportChoice) -> None:
        self._choice = choice
        title, mode = self.tr("Export merge history"), QFileDialog.AcceptMode.AcceptSave
        dialog = place_dialog(self._window, title, mode, None)
        dialog.setNameFilter(f"{_TABLE_KINDS[choice.kind]} (*.{choice.kind})")
        dialog.setDefaultSuffix(choice.kind)
        dialog.selectFile(f"merges.{choice.kind}")
        dialog.fileSelected.connect(self.write)
        dialog.open()

    def write(self, place: str) -> None:
        """Write the chosen merges to the file at `place`."""
        history, path = self._model.history, Path(place)
        if history is None:
            return
        try:
            check_merge_table_place(path)
        except StudioError as error:
            self._window.messages.show_error(error)
            return
        is_whole = self._choice.all_merges
        rows = np.arange(self._model.merge_count) if is_whole else self._pane.rows.shown_items()
        self._pane.export_bar.begin(path.name)
        project = self._window.project.capture()
        self._job.begin(_Table(path, history, rows + 1, project, is_whole))

    def _on_job_reported(self, progress: tuple[int, int]) -> None:
        self._pane.export_bar.show_progress(*progress)

    def _on_job_finished(self, table: _Table) -> None:
        self._pane.export_bar.hide()
        rows = len(table.steps)
        words = plural(rows, "Exported 1 merge to {path}", "Exported {rows} merges to {path}")
        self._window.banner.show_message(words.format(rows=number_text(rows), path=table.path))

    def _on_job_failed(self, error: StudioError) -> None:
        self._pane.export_bar.hide()
        self._window.messages.show_error(error)

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        if not self._action.isEnabled():
            self._enable()

    def _enable(self) -> None:
        is_possible = self._model.merge_count > 0 and not self._job.is_running
        self._action.setEnabled(is_possible)
        self._pane.set_export_enabled(is_possible)


def _write_table(order: Any, stop: threading.Event, report: Report) -> _Table | None:
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


def _manifest(order: _Table, stop: threading.Event) -> Manifest | None:
    """Return how the merges came about; None if their run has been replaced since."""
    run = order.project.run
    if run is None or run.history is not order.history:
        return None
    step = int(order.steps.max()) if len(order.steps) else 0
    origin = Origin(merges=step, corpus=record_of_project(order.project, stop.is_set))
    exported = Exported(run.counts, run.config, run.history, step, origin)
    parts: Literal["all", "some"] = "all" if order.is_whole else "some"
    return manifest_of("merges", exported, order.path.name, parts=parts, folder=order.path.parent)


class ChartExport(QObject):
    """Asks where to save the picture of the chart shown, and writes it there."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = window.session.model
        self._pane = window.charts_pane
        self._action = window.actions_.save_chart
        self._action.triggered.connect(self.ask)
        self._pane.save_requested.connect(self.ask)
        self._model.merges_appended.connect(self._enable)
        self._model.run_reset.connect(self._enable)
        self._enable()

    def ask(self) -> None:
        """Open the dialog that asks where to save."""
        if not self._model.merge_count:
            return
        dialog = place_dialog(self._window, self.tr("Save chart"), QFileDialog.AcceptMode.AcceptSave, None)
        dialog.setNameFilters([self.tr("PNG image (*.png)"), self.tr("SVG image (*.svg)")])
        dialog.setDefaultSuffix(_CHART_KINDS[0])
        dialog.selectFile(f"{self._pane.file_name}.{_CHART_KINDS[0]}")
        dialog.filterSelected.connect(self._on_dialog_filter_selected)
        dialog.fileSelected.connect(self.write)
        dialog.open()

    def write(self, place: str) -> None:
        """Write the chart shown to a file: as SVG if the name ends in .svg, else as PNG."""
        path = Path(place)
        kind = "svg" if path.suffix.lower() == ".svg" else "png"
        try:
            atomic_write(path, self._pane.picture(kind))
        except StudioError as error:
            self._window.messages.show_error(error)
            return
        self._window.banner.show_message(self.tr("Saved the chart to {path}").format(path=path))

    def _on_dialog_filter_selected(self, name_filter: str) -> None:
        dialog = self.sender()
        if isinstance(dialog, QFileDialog):
            dialog.setDefaultSuffix(next(kind for kind in _CHART_KINDS if f"*.{kind}" in name_filter))

    def _enable(self) -> None:
        self._action.setEnabled(bool(self._model.merge_count))
