"""What goes into files that others read: vocabularies, tables of merges, pictures of charts.

Each export asks what and where; nothing is replaced without asking, and a file is written completely or not at all.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMessageBox
from shiboken6 import isValid

from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.task import Task, Turn
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.exports import Export, Exported, export_run
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.dialogs.export_dialog import ExportDialog, HistoryExportDialog, inspect, usage_lines
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.messages import ask, question_box, reported
from wordpiece_studio.ui.widgets.plain import copy_text
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.training.history import MergeHistory

_MOST_NAMES = 6
_TABLE_KINDS = {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}


def _held_focus(window: Workspace) -> Callable[[], None]:
    """Disable commands whose work has begun; return what gives back the focus that a button of theirs loses thereby."""
    before = window.focusWidget()
    window.actions_.refresh()
    after = window.focusWidget()

    def give_back() -> None:
        window.actions_.refresh()
        now = window.focusWidget()
        is_there = now is after or window.notices.isAncestorOf(now)  # else the user has moved it on
        if is_there and before is not None and isValid(before):
            before.setFocus()

    return give_back


class ExportController(Controller):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self.vocabulary = VocabularyExport(window)
        self.history = HistoryExport(window)
        self._chart, self._comparison = window.charts_pane, window.comparison_pane
        self._actions.bind(self, self._model.merges_appended, self._model.run_reset)
        self._chart.save_requested.connect(self._actions.save_chart.trigger)

    def close(self) -> None:
        """Cancel what is running and wait for the threads to end; files are written completely or not at all."""
        self.vocabulary.close()
        self.history.close()

    @command(
        tr("Expor&t comparison…"), tr("Save the table that is shown, with all digits, as CSV"), button=tr("Export…"),
        when=lambda self: self._comparison.isVisible() and self._comparison.table is not None,
    )  # fmt: skip
    def export_comparison(self) -> None:
        ask_for_place(
            self._window, self.tr("Export comparison"), "new file", self.write_comparison, suffix="csv",
            name=f"{self._comparison.file_name}.csv", filters=["CSV (*.csv)"],
        )  # fmt: skip

    def write_comparison(self, place: str) -> None:
        self._write(Path(place), self._comparison.csv, self.tr("Exported the table to {path}"))

    @command(
        tr("Save c&hart…"), tr("Save the current chart as a PNG or SVG image"),
        when=lambda self: self._model.merge_count > 0,
    )  # fmt: skip
    def save_chart(self) -> None:
        dialog = ask_for_place(
            self._window, self.tr("Save chart"), "new file", self.write_chart, suffix="png",
            name=f"{self._chart.file_name}.png", filters=[self.tr("PNG image (*.png)"), self.tr("SVG image (*.svg)")],
        )  # fmt: skip
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("svg" if "*.svg" in chosen else "png"))

    def write_chart(self, place: str) -> None:
        kind = "svg" if Path(place).suffix.lower() == ".svg" else "png"
        self._write(Path(place), partial(self._chart.picture, kind), self.tr("Saved the chart to {path}"))

    def _write(self, path: Path, make: Callable[[], bytes], words: str) -> None:
        with reported(self._messages.show_error):
            atomic_write(path, make())
            self._window.notices.export.show_message(words.format(path=path))


class VocabularyExport(Controller):
    """Writes vocabularies and word counts, or another library's file; a failure leads back to the dialog."""

    saved = Signal()  # everything learned so far is in a file

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._banner = window.notices.export
        self._folder: Path | None = None
        self._give_focus_back: Callable[[], None] = lambda: None
        self.dialog: ExportDialog | None = None  # until what it asks for has been written
        self._inspecting = Task(inspect, "The export cannot be previewed", self, on_error=self._messages.show_error)
        self.exporting = Task(
            export_run, "The files cannot be exported", self,
            on_answer=self._take_result, on_error=self._take_error,
        )  # fmt: skip
        self._actions.bind(self, self.exporting.changed, self._model.run_reset, self._model.state_changed)

    @command(
        tr("Export &vocabulary…"),
        tr("Export the final vocabulary, or the one at the current step, for use in other programs"),
        "Ctrl+Shift+E",
        button=tr("Export…"),
        when=lambda self: self._model.history is not None and not self.exporting.is_running,
    )
    def save_vocabulary(self) -> None:
        project, path = self._window.project.capture_run(), self._document.path
        folder = self._folder or (Path.home() if path is None else path.parent)
        if project.run is None:
            return
        if project.run.library_run is not None:
            title, take = self.tr("Export the library’s own file"), partial(self.write_library_run, project)
            name = project.run.library_run.file_name
            ask_for_place(self._window, title, "new file", take, folder=folder, name=name)
            return
        history = project.run.history
        steps = dict.fromkeys((self._model.merge_count, self._model.step))
        sizes = [(step, history.vocabulary_size(step)) for step in steps]
        self.dialog = dialog = ExportDialog(sizes, folder, self._window.theme.mono_font(-1), self._window)
        dialog.accepted.connect(lambda: self._write(dialog.chosen, project, dialog.step, dialog.with_counts))
        self._inspecting.finished.connect(dialog.take_inspection)
        dialog.step_changed.connect(lambda: self._inspecting.run(project, dialog.step))
        dialog.rejected.connect(self._forget)
        dialog.open()
        self._inspecting.run(project, dialog.step)

    @command(
        tr("Export at this si&ze…"), tr("Export the vocabulary as it is at the current step"),
        when=lambda self: self._model.step > 0 and not self.exporting.is_running,
    )  # fmt: skip
    def export_size(self) -> None:
        self.save_vocabulary()
        if self.dialog is not None:
            self.dialog.choose_step(self._model.step)

    def write_library_run(self, project: Project, place: str) -> None:
        if project.run is not None:
            self._write(Export("library", Path(place)), project, project.run.merge_count, may_replace=True)

    def _forget(self) -> None:
        """Do not keep a training in memory for nothing."""
        self._inspecting.forget()
        self.exporting.forget()
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _write(
        self, export: Export, project: Project, step: int, with_counts: bool = False, may_replace: bool = False
    ) -> None:
        self.exporting.run(export, project, step, with_counts, may_replace)
        self._give_focus_back = _held_focus(self._window)
        text = self.tr("Writing {path}…").format(path=display_name(export.place))
        self._banner.show_message(text, action=self.tr("Cancel"), act=self._cancel)

    def _cancel(self) -> None:
        self._forget()
        self._give_focus_back()
        self._banner.clear()

    def _take_result(self, in_the_way: tuple[str, ...]) -> None:
        self._give_focus_back()
        self._banner.clear()
        assert self.exporting.request is not None
        export, project, step, with_counts, _ = self.exporting.request
        if in_the_way:
            again = partial(self._write, export, project, step, with_counts, may_replace=True)
            self._ask_to_replace(in_the_way, export.place, again)
            return
        self._forget()
        run, place = project.runs[0], display_name(export.place)
        self._folder = export.place.parent
        size = len(run.counts) if export.kind == "word-counts" else run.history.vocabulary_size(step)
        if export.kind == "word-counts":
            text = plural(size, "Exported 1 distinct word to {path}", "Exported {size} distinct words to {path}")
        elif export.kind == "library":
            text = plural(size, "Exported 1 token to {path}", "Exported {size} tokens to {path}")
        else:
            text = plural(
                size,
                "Exported 1 token, the vocabulary after merge {step}, to {path}",
                "Exported {size} tokens, the vocabulary after merge {step}, to {path}",
            )
        text = filled(text, size=size, step=step, path=place)
        if export.kind == "library":
            self._banner.show_message(text)
        else:
            copy = partial(self._copy_lines, usage_lines(export))
            self._banner.show_message(text, action=self.tr("Copy loading code"), act=copy, needs_answer=False)
        # An earlier step, the words alone, or merges from before the export began are not everything learned so far.
        is_all = run.history is self._model.history and step == self._model.merge_count
        if is_all and export.kind != "word-counts":
            self.saved.emit()

    def _take_error(self, error: StudioError) -> None:
        self._give_focus_back()
        self._banner.clear()
        self.exporting.forget()
        if self.dialog is None:
            self._messages.show_error(error)
        else:
            self.dialog.ask_again(str(error))

    def _copy_lines(self, lines: str) -> None:
        copy_text(lines)
        self._banner.show_message(self.tr("Copied: {lines}").format(lines=lines.replace("\n", "; ")))

    def _ask_to_replace(self, found: tuple[str, ...], place: Path, again: Callable[[], None]) -> None:
        dialog = self.dialog
        assert dialog is not None  # the system's own has asked already
        names = ", ".join(found[:_MOST_NAMES]) + (", …" if len(found) > _MOST_NAMES else "")
        title = self.tr("Replace files in “{name}”?").format(name=display_name(place.name))
        text = self.tr("These files already exist: {names}\n{path}").format(names=names, path=display_name(place))
        yes = QMessageBox.StandardButton.Yes  # Enter twice replaces nothing
        box = question_box(self._window, title, text, {yes: self.tr("&Replace")})
        ask(box, {yes: again}, otherwise=dialog.ask_again)


class HistoryExport(Controller):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        model = window.session.model
        self._pane = pane = window.history_pane
        self._banner = window.notices.export
        self.job = Task(_write_table, "The merge history cannot be exported", self,
                        on_answer=self._take_result, on_error=self._take_error)  # fmt: skip
        self._give_focus_back: Callable[[], None] = lambda: None
        self.job.progressed.connect(lambda progress: self._show_progress(*progress))
        self._actions.bind(self, self.job.changed, model.run_reset, model.merges_appended)
        action = self._actions.export_history
        pane.export_button.clicked.connect(action.trigger)
        action.enabledChanged.connect(pane.export_button.setEnabled)
        pane.export_button.setEnabled(action.isEnabled())

    @command(
        tr("&Export merge history…"), tr("Save the merges as CSV, JSONL or Parquet"), "Ctrl+E",
        when=lambda self: self._model.merge_count > 0 and not self.job.is_running,
    )  # fmt: skip
    def export_history(self) -> None:
        rows = self._pane.rows
        shown = None if rows.is_plain else rows.rowCount()
        dialog = HistoryExportDialog(self._model.merge_count, shown, self._window)
        dialog.accepted.connect(lambda: self._ask_where(dialog.kind, dialog.all_merges))
        dialog.open()

    def _stop(self) -> None:
        self.job.stop()
        self._end()

    def _end(self) -> None:
        self._give_focus_back()
        self._banner.clear()

    def _show_progress(self, written: int, rows: int) -> None:
        words = counted(rows, "Writing {done} of 1 merge…", "Writing {done} of {count} merges…", done=written)
        self._banner.show_message(words, action=self.tr("Cancel"), act=self._stop)

    def _ask_where(self, kind: str, all_merges: bool) -> None:
        ask_for_place(
            self._window, self.tr("Export merge history"), "new file", partial(self.write, all_merges=all_merges),
            name=f"merges.{kind}", filters=[f"{_TABLE_KINDS[kind]} (*.{kind})"], suffix=kind,
        )  # fmt: skip

    def write(self, place: str, *, all_merges: bool = True) -> None:
        history, path = self._model.history, Path(place)
        if history is None:
            return
        with reported(self._messages.show_error):
            check_merge_table_place(path)
            rows = np.arange(self._model.merge_count) if all_merges else self._pane.rows.shown_items()
            self.job.run(path, history, rows + 1, self._window.project.capture_run(), all_merges)
            self._give_focus_back = _held_focus(self._window)
            self._show_progress(0, len(rows))

    def _take_result(self, _: object) -> None:
        path, _, steps, *_ = self.job.forget()
        self._end()
        words = counted(len(steps), "Exported 1 merge to {path}", "Exported {count} merges to {path}", path=path)
        self._banner.show_message(words)

    def _take_error(self, error: StudioError) -> None:
        self.job.forget()
        self._end()
        self._messages.show_error(error)


def _write_table(
    path: Path, history: MergeHistory, steps: NDArray[np.int64], project: Project, is_whole: bool, *,
    progress: Callable[[int, int], object], should_stop: Callable[[], bool],
) -> None:  # fmt: skip
    turn, manifest, run = Turn(), None, project.run
    if run is not None and run.history is history:  # else the run has been replaced since
        last = int(steps.max()) if len(steps) else 0
        exported = Exported(run.counts, run.config, history, last, record_of_project(project, should_stop))
        parts: Literal["all", "some"] = "all" if is_whole else "some"
        manifest = Export("merges", path).manifest(exported, parts=parts)

    def relay(written: int, rows: int) -> None:
        turn.give()
        progress(written, rows)

    write_merge_table(path, history, steps, manifest=manifest, report=relay, should_stop=should_stop)
