"""What a user marks on the steps of a training: bookmarks and breakpoints.

Bookmarks outlive their run: each records the merge it was made at, so that their table, a model for Qt's views, can
show whether the current run has the same merge there. The step of a bookmark can be compared, like a run of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints, BreakpointWatch, MarksModel
from wordpiece_studio.session.player import BreakpointRun
from wordpiece_studio.session.table_model import LEFT, TableColumn

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
    """A bookmarked step, with a line of text and the token that the step's merge made; empty before the first merge."""

    step: int
    text: str
    token: str = ""
    run: int | None = None  # the number of the run whose step is compared


class Bookmarks(MarksModel["Bookmark"]):
    """The notes in order of step; three columns: step, text, which is editable, and a check box that compares the step.

    Signals
    -------
    run_compared(Run)
        The user has a step of this run compared.
    """

    run_compared = Signal(object)
    check_column = COMPARE

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._columns = (
            TableColumn(self.tr("Step"), lambda notes, row: notes[row].step, align=LEFT, entry="step"),
            TableColumn(self.tr("Note"), lambda notes, row: notes[row].text, align=LEFT),
            TableColumn(self.tr("Compare"), lambda _notes, _row: "", align=LEFT, entry="comparison"),
        )
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def notes(self) -> tuple[Bookmark, ...]:
        return tuple(self._marks)

    def set_notes(self, notes: Iterable[Bookmark]) -> None:
        self.set_marks(sorted(notes, key=lambda note: note.step))

    def keep(self, text: str, step: int | None = None) -> int:
        """Bookmark a step (None: the current one) with this line of text; return its row."""
        history = self._model.history
        step = self._model.step if step is None else step
        token = history[step - 1].token if history is not None and step else ""
        row = bisect_right([note.step for note in self._marks], step)
        self.insert(row, Bookmark(step, one_line(text), token))
        return row

    def set_text(self, row: int, text: str) -> None:
        self.replace(row, replace(self._marks[row], text=one_line(text)))

    def set_compared(self, row: int, is_compared: bool) -> None:
        """Compare the step of the note in `row`, which belongs to the current run, or do so no longer."""
        run = self._model.run
        number = run.number if is_compared and run is not None else None
        self.replace(row, replace(self._marks[row], run=number))
        if number is not None:
            self.run_compared.emit(run)

    def is_checked(self, row: int) -> bool | None:
        note = self._marks[row]
        return note.run is not None if note.run is not None or self.is_of_run(note) else None

    def set_checked(self, row: int, is_checked: bool) -> None:
        self.set_compared(row, is_checked)

    def is_of_run(self, note: Bookmark, run: Run | None = None) -> bool:
        """Return whether a run has the note's merge at its step; None is the current one."""
        current, step = self._model.run, note.step
        run = run or current
        if run is None or step > (self._model.merge_count if run is current else len(run.history)):
            return False
        return (run.history[step - 1].token if step else "") == note.token

    def steps(self) -> list[int]:
        """Return the steps of the notes that belong to the current run, ascending."""
        return [note.step for note in self._marks if self.is_of_run(note)]

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Qt's name
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or index.column() != 1:
            return super().setData(index, value, role)
        self.set_text(index.row(), str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() and index.column() == 1 else flags

    # Signals of the trainer.

    def _on_run_changed(self) -> None:
        if self._marks:
            self._emit_changed(0, len(self._marks) - 1)
            self.changed.emit()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if any(first < note.step <= last + 1 for note in self._marks):
            self._on_run_changed()


def one_line(text: str) -> str:
    """Return `text` on one line, with runs of white space replaced by single spaces."""
    return " ".join(text.split())


class StepMarks(QObject):
    """The breakpoints, the steps at which they are hit, running to them, and the bookmarked steps."""

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.bookmarks = Bookmarks(model, self)

    def restore(self, view: ProjectView) -> None:
        """Replace all marks by those of a project, whose run must already be shown."""
        self.breakpoints.set_marks(breakpoints_of(view))
        runs = chain(view.note_runs, repeat(None))
        self.bookmarks.set_notes(
            Bookmark(note.step, one_line(note.text), note.token, run)
            for note, run in zip(view.notes, runs, strict=False)
        )


def breakpoints_of(view: ProjectView) -> list[Breakpoint]:
    return [Breakpoint(each.kind, each.text, each.number, each.is_enabled) for each in view.breakpoints]
