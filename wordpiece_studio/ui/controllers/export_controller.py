"""What goes into files that others read: vocabularies, tables of merges, pictures of charts.

Each export asks what and where; nothing is replaced without asking, and a file is written completely or not at all.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMessageBox, QProgressBar, QSizePolicy, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.task import Task, Turn, later
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.exports import Export, Exported, export_library_run, export_run
from wordpiece_studio.storage.manifest import Origin
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.dialogs.export_dialog import (
    ExportChoice,
    ExportDialog,
    HistoryExportChoice,
    HistoryExportDialog,
)
from wordpiece_studio.ui.dialogs.export_work import inspect, usage_lines
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.messages import add_button, ask, plain_box
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import copy_text, plain_label, set_plain_text, set_plain_tooltip, tool_button
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.dialogs.export_work import Inspection
    from wordpiece_studio.ui.workspace import Workspace

_MOST_NAMES = 6
_TABLE_KINDS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}
_PATIENCE_MS = 500  # before the banner says that something is being written
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


class VocabularyExport(QObject):
    """Writes vocabularies and word counts; a failure leads back to the dialog."""

    saved = Signal(object)
    """Everything learned so far is in a file; a sentence that says which, a str."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = window.session.model
        self._actions = window.actions_
        self._banner = window.notices.export
        self._folder: Path | None = None
        self._asked: Project | None = None  # the training that the dialog is about
        self._steps: list[tuple[int, int]] = []  # those that it offers, and their sizes
        self._choice: ExportChoice | None = None  # what was answered last
        self.dialog: ExportDialog | None = None
        self._inspecting = Task(inspect, "The export cannot be previewed", self)
        self._inspecting.finished.connect(self._on_inspecting_finished)
        self._inspecting.failed.connect(window.messages.show_error)
        self.exporting = Task(export_run, "The files cannot be exported", self)
        self.exporting.finished.connect(self._on_exporting_finished)
        self.exporting.failed.connect(self._on_exporting_failed)
        self._exporting_library = Task(export_library_run, "The library's own file cannot be exported", self)
        self._exporting_library.finished.connect(self._on_exporting_library_finished)
        self._exporting_library.failed.connect(window.messages.show_error)
        self._exporting_library.failed.connect(self._exporting_library.forget)
        self._actions.bind(self, self.exporting.changed, self._model.run_reset, self._model.state_changed)

    @property
    def is_running(self) -> bool:
        """Whether files are being written."""
        return self.exporting.is_running

    @command(
        tr("Export &vocabulary…"),
        tr("Export the final vocabulary, or the one at the current step, for use in other programs"),
        "Ctrl+Shift+E",
        when=lambda self: self._model.history is not None and not self.exporting.is_running,
    )
    def save_vocabulary(self) -> None:
        """Ask what to export and where; the project is taken as it is now."""
        project = self._window.project.capture()
        if project.run is None:
            return
        if project.run.library_run is not None:
            self._ask_where(project, project.run.library_run.file_name)
            return
        self._open(project)

    def _ask_where(self, project: Project, name: str) -> None:
        title, take = self.tr("Export the library’s own file"), partial(self.write_library_run, project)
        ask_for_place(self._window, title, "new file", take, folder=self._proposed_folder(), name=name)

    def write_library_run(self, project: Project, place: str) -> None:
        """Write the file of another library, whose run the project shows, and its manifest."""
        if project.run is not None:
            self._exporting_library.run(project, Path(place))

    def _on_exporting_library_finished(self) -> None:
        project, place = self._exporting_library.forget()
        run = project.runs[0]
        self._folder = place.parent
        size = run.history.vocabulary_size(run.merge_count)
        text = plural(size, "Exported 1 token to {path}", "Exported {size} tokens to {path}")
        text = text.format(size=number_text(size), path=display_name(place))
        self._banner.show_message(text)
        if run.history is self._model.history:
            self.saved.emit(text)

    def _open(self, project: Project, before: ExportChoice | None = None, trouble: str = "") -> None:
        if self._asked is not project:
            self._asked, history = project, project.runs[0].history
            self._steps = [
                (step, history.vocabulary_size(step))
                for step in dict.fromkeys((self._model.merge_count, self._model.step))
            ]
        dialog = ExportDialog(self._steps, self._proposed_folder(), self._window.theme.mono_font(-1), self._window)
        dialog.accepted.connect(lambda: self._take_choice(dialog.choice()))
        dialog.step_changed.connect(lambda: self._inspecting.run(project, dialog.step))
        dialog.finished.connect(self._on_dialog_finished)
        self.dialog = dialog
        dialog.open()
        if before is not None:
            dialog.propose(before, trouble)
        self._inspecting.run(project, dialog.step)

    def _ask_again(self, trouble: str = "") -> None:
        """Reopen the dialog with the same answers: the export did not happen."""
        if self.dialog is None and self._asked is not None and self._choice is not None:
            self._open(self._asked, self._choice, trouble)

    def close(self) -> None:
        """Cancel what is running and wait for the threads to end; files are written completely or not at all."""
        self._inspecting.close()
        self.exporting.close()
        self._exporting_library.close()

    def _proposed_folder(self) -> Path:
        if self._folder is not None:
            return self._folder
        path = self._window.session.document.path
        return path.parent if path is not None else Path.home()

    def _on_inspecting_finished(self, inspection: Inspection) -> None:
        if self.dialog is not None:
            self.dialog.take_inspection(inspection)

    def _on_dialog_finished(self, result: int) -> None:
        self.dialog = None
        if result != ExportDialog.DialogCode.Accepted.value:
            self._forget()
        self._inspecting.forget()

    def _forget(self) -> None:
        """Do not keep a training in memory for nothing."""
        self._asked = self._choice = None
        self.exporting.forget()

    def _take_choice(self, choice: ExportChoice) -> None:
        self._choice = choice
        self._begin(may_replace=False)

    def _begin(self, *, may_replace: bool) -> None:
        choice = self._choice
        if choice is None or self._asked is None:
            return
        self._banner.clear()
        self.exporting.run(choice.export, self._asked, choice.step, choice.with_counts, may_replace)
        later(self, _PATIENCE_MS, self._say_writing)

    def _say_writing(self) -> None:
        if self.exporting.is_running and self._choice is not None:
            text = self.tr("Writing {path}…").format(path=display_name(self._choice.export.place))
            self._banner.show_message(text, action=self.tr("Cancel"), act=self._cancel)

    def _on_exporting_finished(self, in_the_way: tuple[str, ...]) -> None:
        self._banner.clear()
        choice, project = self._choice, self._asked
        if choice is None or project is None:
            return
        if in_the_way:
            self._ask_to_replace(in_the_way, choice.export.place)
            return
        self._forget()
        run = project.runs[0]
        self._folder = choice.export.place.parent
        is_counts, place = choice.export.kind == "word-counts", display_name(choice.export.place)
        if is_counts:
            size = len(run.counts)
            text = plural(size, "Exported 1 distinct word to {path}", "Exported {size} distinct words to {path}")
        else:
            size = run.history.vocabulary_size(choice.step)
            text = plural(
                size,
                "Exported 1 token, the vocabulary after merge {step}, to {path}",
                "Exported {size} tokens, the vocabulary after merge {step}, to {path}",
            )
        text = text.format(size=number_text(size), step=number_text(choice.step), path=place)
        copy = partial(self._copy_lines, usage_lines(choice.export))
        self._banner.show_message(text, action=self.tr("Copy loading code"), act=copy, needs_answer=False)
        # An earlier step, the words alone, or merges from before the export began are not everything learned so far.
        if not is_counts and run.history is self._model.history and choice.step == self._model.merge_count:
            self.saved.emit(text)

    def _on_exporting_failed(self, error: StudioError) -> None:
        self._banner.clear()
        self._ask_again(str(error))

    def _copy_lines(self, lines: str) -> None:
        copy_text(lines)
        self._banner.show_message(self.tr("Copied: {lines}").format(lines=lines.replace("\n", "; ")))

    def _cancel(self) -> None:
        self._forget()
        self._banner.clear()
        self._actions.refresh_soon()

    def _ask_to_replace(self, found: tuple[str, ...], place: Path) -> None:
        names = ", ".join(found[:_MOST_NAMES]) + (", …" if len(found) > _MOST_NAMES else "")
        box = plain_box(
            self._window,
            QMessageBox.Icon.Question,
            self.tr("Replace files in “{name}”?").format(name=display_name(place.name)),
            self.tr("These files already exist: {names}\n{path}").format(names=names, path=display_name(place)),
        )
        add_button(box, QMessageBox.StandardButton.Yes, self.tr("&Replace"))
        box.setDefaultButton(add_button(box, QMessageBox.StandardButton.Cancel))  # Enter twice replaces nothing
        ask(box, {QMessageBox.StandardButton.Yes: partial(self._begin, may_replace=True)}, otherwise=self._ask_again)


class ExportBar(QWidget):
    """Visible while merges are being written; work can continue meanwhile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._label = plain_label("", self, role="hint")
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Export progress"))
        tip = self.tr("Cancel without writing; an existing file stays unchanged")
        self.stop_button = tool_button(self.tr("Cancel"), tip, self, name=self.tr("Cancel the export"))
        fill(QHBoxLayout(self), (self._label, 3), (self._bar, 1), self.stop_button, margins=(12, 2, 10, 2), spacing=-1)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text() if not self.isHidden() else ""

    def begin(self, name: str) -> None:
        """Show that a file of this name is being written."""
        self._name = name
        set_plain_text(self._label, self.tr("Writing {name}…").format(name=name))
        self._bar.setRange(0, 0)
        self.show()

    def show_progress(self, written: int, rows: int) -> None:
        sentence = plural(rows, "{name}: {written} of 1 merge", "{name}: {written} of {rows} merges")
        text = sentence.format(name=self._name, written=number_text(written), rows=number_text(rows))
        set_plain_text(self._label, text)
        set_plain_tooltip(self._label, text)
        self._bar.setRange(0, max(rows, 1))
        self._bar.setValue(written)


class HistoryExport(QObject):
    """Writes the merges, or those that the history shows, as a table, in the background."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = model = window.session.model
        self._pane = pane = window.history_pane
        self._choice = HistoryExportChoice(True, "csv")
        self.job = Task(_write_table, "The merge history cannot be exported", self)
        self.export_bar = ExportBar(pane)
        pane.put_above(self.export_bar)
        self.export_bar.stop_button.clicked.connect(self._stop)
        self.job.progressed.connect(self._on_job_progressed)
        self.job.finished.connect(self._on_job_finished)
        self.job.failed.connect(self._on_job_failed)
        window.actions_.bind(self, self.job.changed, model.run_reset, model.merges_appended)
        action = window.actions_.export_history
        pane.export_button.clicked.connect(action.trigger)
        action.enabledChanged.connect(pane.export_button.setEnabled)
        pane.export_button.setEnabled(action.isEnabled())

    @command(
        tr("&Export merge history…"), tr("Save the merges as CSV, JSONL or Parquet"), "Ctrl+E",
        when=lambda self: self._model.merge_count > 0 and not self.job.is_running,
    )  # fmt: skip
    def export_history(self) -> None:
        """Ask which merges to export and where, and write them."""
        rows = self._pane.rows
        shown = None if rows.is_plain else rows.rowCount()
        dialog = HistoryExportDialog(self._model.merge_count, shown, self._window)
        dialog.accepted.connect(lambda: self._ask_where(dialog.choice))
        dialog.open()

    def close(self) -> None:
        """Cancel the export and wait for the thread to end."""
        self.job.close()

    def _stop(self) -> None:
        self.job.stop()
        self.export_bar.hide()

    def _ask_where(self, choice: HistoryExportChoice) -> None:
        self._choice = choice
        ask_for_place(
            self._window, self.tr("Export merge history"), "new file", self.write, name=f"merges.{choice.kind}",
            filters=[f"{_TABLE_KINDS[choice.kind]} (*.{choice.kind})"], suffix=choice.kind,
        )  # fmt: skip

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
        self.export_bar.begin(path.name)
        self.job.run(path, history, rows + 1, self._window.project.capture(), is_whole)

    def _on_job_progressed(self, progress: tuple[int, int]) -> None:
        self.export_bar.show_progress(*progress)

    def _on_job_finished(self) -> None:
        path, _, steps, *_ = self.job.forget()
        self.export_bar.hide()
        rows = len(steps)
        words = plural(rows, "Exported 1 merge to {path}", "Exported {rows} merges to {path}")
        self._window.notices.training.show_message(words.format(rows=number_text(rows), path=path))

    def _on_job_failed(self, error: StudioError) -> None:
        self.job.forget()
        self.export_bar.hide()
        self._window.messages.show_error(error)


def _write_table(
    path: Path,
    history: MergeHistory,
    steps: NDArray[np.int64],
    project: Project,
    is_whole: bool,
    *,
    progress: Callable[[int, int], object],
    should_stop: Callable[[], bool],
) -> None:
    """Write these steps of a history, which are all in order if `is_whole`."""
    turn, manifest, run = Turn(), None, project.run
    if run is not None and run.history is history:  # else the run has been replaced since
        last = int(steps.max()) if len(steps) else 0
        origin = Origin(merges=last, corpus=record_of_project(project, should_stop))
        exported = Exported(run.counts, run.config, history, last, origin)
        parts: Literal["all", "some"] = "all" if is_whole else "some"
        manifest = Export("merges", path).manifest(exported, parts=parts)

    def relay(written: int, rows: int) -> None:
        turn.give()
        progress(written, rows)

    write_merge_table(path, history, steps, manifest=manifest, report=relay, should_stop=should_stop)


class ChartExport(QObject):
    """Asks where to save the picture of the chart shown, and writes it there."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._model = window.session.model
        self._pane = window.charts_pane
        window.actions_.bind(self, self._model.merges_appended, self._model.run_reset)
        self._pane.save_requested.connect(window.actions_.save_chart.trigger)

    @command(
        tr("Save c&hart…"), tr("Save the current chart as a PNG or SVG image"),
        when=lambda self: self._model.merge_count > 0,
    )  # fmt: skip
    def save_chart(self) -> None:
        """Open the dialog that asks where to save."""
        dialog = ask_for_place(
            self._window, self.tr("Save chart"), "new file", self.write, suffix=_CHART_KINDS[0],
            name=f"{self._pane.file_name}.{_CHART_KINDS[0]}",
            filters=[self.tr("PNG image (*.png)"), self.tr("SVG image (*.svg)")],
        )  # fmt: skip
        dialog.filterSelected.connect(partial(self._on_dialog_filter_selected, dialog))

    def write(self, place: str) -> None:
        """Write the chart shown to a file: as SVG if the name ends in .svg, else as PNG."""
        path = Path(place)
        kind = "svg" if path.suffix.lower() == ".svg" else "png"
        try:
            atomic_write(path, self._pane.picture(kind))
        except StudioError as error:
            self._window.messages.show_error(error)
            return
        self._window.notices.training.show_message(self.tr("Saved the chart to {path}").format(path=path))

    def _on_dialog_filter_selected(self, dialog: QFileDialog, name_filter: str) -> None:
        dialog.setDefaultSuffix(next(kind for kind in _CHART_KINDS if f"*.{kind}" in name_filter))
