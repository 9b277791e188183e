"""What a user marks on the steps of a training: bookmarks and breakpoints.

Bookmarks outlive their run: each records the merge it was made at, so that their table, a model for Qt's views, can
show whether the current run has the same merge there. The step of a bookmark can be compared, like a run of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal

from wordpiece_studio.session.breakpoint_watch import BreakpointRun, BreakpointWatch
from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectView


COMPARE = 2
"""The column of check boxes."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A bookmarked step.

    Attributes
    ----------
    step
        The number of merges made.
    text
        One line.
    token
        The token that the step's merge made; empty before the first merge.
    run
        The number of the run whose step is compared; None if none is.
    """

    step: int
    text: str
    token: str = ""
    run: int | None = None


class Bookmarks(RecordTableModel["Bookmark"]):
    """The notes in order of step; three columns: step, text, which is editable, and a check box that compares the step.

    Signals
    -------
    changed()
        `notes`, or which of them belong to the current run, has changed.
    run_compared(Run)
        The user has a step of this run compared.
    """

    changed = Signal()
    run_compared = Signal(object)

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._notes: list[Bookmark] = []
        self.set_records(self._notes)
        self._columns = (
            TableColumn(self.tr("Step"), lambda notes, row: notes[row].step, align=LEFT, entry="step"),
            TableColumn(self.tr("Note"), lambda notes, row: notes[row].text, align=LEFT),
            TableColumn(self.tr("Compare"), lambda _notes, _row: "", align=LEFT, entry="comparison"),
        )
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def notes(self) -> tuple[Bookmark, ...]:
        return tuple(self._notes)

    def set_notes(self, notes: Iterable[Bookmark]) -> None:
        """Replace all notes."""
        self._notes = sorted(notes, key=lambda note: note.step)
        self.set_records(self._notes)
        self.changed.emit()

    def keep(self, text: str, step: int | None = None) -> int:
        """Bookmark a step (None: the current one) with this line of text; return its row."""
        history = self._model.history
        step = self._model.step if step is None else step
        token = history[step - 1].token if history is not None and step else ""
        row = bisect_right([note.step for note in self._notes], step)
        self.beginInsertRows(QModelIndex(), row, row)
        self._notes.insert(row, Bookmark(step, one_line(text), token))
        self.endInsertRows()
        self.changed.emit()
        return row

    def set_text(self, row: int, text: str) -> None:
        """Change the text of the note in `row`."""
        self._change(row, replace(self._notes[row], text=one_line(text)))

    def set_compared(self, row: int, is_compared: bool) -> None:
        """Compare the step of the note in `row`, which belongs to the current run, or do so no longer."""
        run = self._model.run
        number = run.number if is_compared and run is not None else None
        self._change(row, replace(self._notes[row], run=number))
        if number is not None:
            self.run_compared.emit(run)

    def can_compare(self, row: int) -> bool:
        """Return whether the note in `row` has a step that is compared, or could be."""
        return self._notes[row].run is not None or self.is_of_run(self._notes[row])

    def remove(self, row: int) -> None:
        """Remove the note in `row`."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._notes[row]
        self.endRemoveRows()
        self.changed.emit()

    def is_of_run(self, note: Bookmark, run: Run | None = None) -> bool:
        """Return whether a run has the note's merge at its step; None is the current one."""
        current, step = self._model.run, note.step
        run = run or current
        if run is None or step > (self._model.merge_count if run is current else len(run.history)):
            return False
        return (run.history[step - 1].token if step else "") == note.token

    def steps(self) -> list[int]:
        """Return the steps of the notes that belong to the current run, ascending."""
        return [note.step for note in self._notes if self.is_of_run(note)]

    # Editing in the table.

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if role == Qt.ItemDataRole.CheckStateRole and self._is_checkable(index):
            is_compared = self._notes[index.row()].run is not None
            return Qt.CheckState.Checked if is_compared else Qt.CheckState.Unchecked
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Qt's name
        """Change the text of a note, or compare its step."""
        if role == Qt.ItemDataRole.CheckStateRole and self._is_checkable(index):
            self.set_compared(index.row(), Qt.CheckState(value) is Qt.CheckState.Checked)
            return True
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or index.column() != 1:
            return False
        self.set_text(index.row(), str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the item flags of a cell."""
        flags = super().flags(index)
        if index.isValid() and index.column() == 1:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags | Qt.ItemFlag.ItemIsUserCheckable if self._is_checkable(index) else flags

    def _is_checkable(self, index: Index) -> bool:
        return index.isValid() and index.column() == COMPARE and self.can_compare(index.row())

    def _change(self, row: int, note: Bookmark) -> None:
        self._notes[row] = note
        self._emit_changed(row, row)
        self.changed.emit()

    # Signals of the trainer.

    def _on_run_changed(self) -> None:
        if self._notes:
            self._emit_changed(0, len(self._notes) - 1)
            self.changed.emit()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if any(first < note.step <= last + 1 for note in self._notes):
            self._on_run_changed()


def one_line(text: str) -> str:
    """Return `text` on one line, with runs of white space replaced by single spaces."""
    return " ".join(text.split())


class StepMarks(QObject):
    """The marks as attributes.

    Attributes
    ----------
    breakpoints, watch, run
        The breakpoints, the steps at which they are hit, and running to them.
    bookmarks
        Bookmarked steps.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.bookmarks = Bookmarks(model, self)

    def restore(self, view: ProjectView) -> None:
        """Replace all marks by those of a project, whose run must already be shown."""
        self.breakpoints.set_all(breakpoints_of(view))
        runs = chain(view.note_runs, repeat(None))
        self.bookmarks.set_notes(
            Bookmark(note.step, one_line(note.text), note.token, run)
            for note, run in zip(view.notes, runs, strict=False)
        )


def breakpoints_of(view: ProjectView) -> list[Breakpoint]:
    """Return the breakpoints that a project holds."""
    return [Breakpoint(each.kind, each.text, each.number, each.is_enabled) for each in view.breakpoints]
