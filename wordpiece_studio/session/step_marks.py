"""What a user marks on the steps of a training: bookmarks, the markers A and B, breakpoints.

Bookmarks outlive their run: each records the merge it was made at, so that their table, a model for Qt's views, can
show whether the current run has the same merge there.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal

from wordpiece_studio.session.breakpoint_watch import BreakpointRun, BreakpointWatch
from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectView


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
    """

    step: int
    text: str
    token: str = ""


class Bookmarks(RecordTableModel["Bookmark"]):
    """The notes in order of step; two columns, step and text; the text is editable.

    Signals
    -------
    changed()
        `notes`, or which of them belong to the current run, has changed.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._notes: list[Bookmark] = []
        self.set_records(self._notes)
        self._columns = (
            TableColumn(self.tr("step"), lambda notes, row: notes[row].step, align=LEFT),
            TableColumn(self.tr("what is worth seeing"), lambda notes, row: notes[row].text, align=LEFT),
        )
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def notes(self) -> tuple[Bookmark, ...]:
        """All notes."""
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
        self._notes[row] = replace(self._notes[row], text=one_line(text))
        self._emit_changed(row, row)
        self.changed.emit()

    def remove(self, row: int) -> None:
        """Remove the note in `row`."""
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._notes[row]
        self.endRemoveRows()
        self.changed.emit()

    def is_of_run(self, note: Bookmark) -> bool:
        """Return whether the current run has the note's merge at its step."""
        history, step = self._model.history, note.step
        if history is None or step > self._model.merge_count:
            return False
        return (history[step - 1].token if step else "") == note.token

    def steps(self) -> list[int]:
        """Return the steps of the notes that belong to the current run, ascending."""
        return [note.step for note in self._notes if self.is_of_run(note)]

    # Editing in the table.

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # Qt's name
        """Change the text of a note."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or index.column() != 1:
            return False
        self.set_text(index.row(), str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the item flags of a cell."""
        editable = index.isValid() and index.column() == 1
        return super().flags(index) | (Qt.ItemFlag.ItemIsEditable if editable else Qt.ItemFlag.NoItemFlags)

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


MarkerName = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Distance:
    """What changes from one step to another, the second minus the first.

    Attributes
    ----------
    merges
        Number of merges.
    tokens
        Tokens in the vocabulary.
    symbols
        Symbols that the corpus consists of, weighted.
    """

    merges: int
    tokens: int
    symbols: int


class Markers(QObject):
    """The marked steps.

    They belong to the run. When another run replaces it, as the corpus is edited, they stay if the new run has the
    step; when a new run starts, they are removed.

    Signals
    -------
    changed()
        `a` or `b` has changed.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._steps: dict[MarkerName, int] = {}
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def a(self) -> int | None:
        """The step marked A."""
        return self._steps.get("A")

    @property
    def b(self) -> int | None:
        """The step marked B."""
        return self._steps.get("B")

    def step(self, name: MarkerName) -> int | None:
        """Return the step with this marker."""
        return self._steps.get(name)

    def set_step(self, name: MarkerName, step: int | None) -> None:
        """Mark a step of the run, or the nearest one it has; None removes the marker."""
        if step is None or self._model.history is None:
            self._steps.pop(name, None)
        else:
            self._steps[name] = max(0, min(step, self._model.merge_count))
        self.changed.emit()

    def set_steps(self, steps: Mapping[MarkerName, int]) -> None:
        """Mark exactly these steps, skipping those that the run does not have."""
        last = self._model.merge_count if self._model.history is not None else -1
        self._steps = {name: step for name, step in steps.items() if 0 <= step <= last}
        self.changed.emit()

    def toggle(self, name: MarkerName) -> None:
        """Mark the current step, or remove the marker if it is already there."""
        step = self._model.step
        self.set_step(name, None if self._steps.get(name) == step else step)

    def distance(self) -> Distance | None:
        """Return what changes from A to B; None unless both are set."""
        history, a, b = self._model.history, self.a, self.b
        if history is None or a is None or b is None or max(a, b) > self._model.merge_count:
            return None
        return Distance(
            b - a,
            history.vocabulary_size(b) - history.vocabulary_size(a),
            history.symbols_after(b) - history.symbols_after(a),
        )

    def _on_model_run_reset(self) -> None:
        history = self._model.history
        # A new run is training at first; a run that replaces another is complete.
        last = len(history) if history is not None and self._model.state is TrainerState.FINISHED else -1
        kept: dict[MarkerName, int] = {name: step for name, step in self._steps.items() if step <= last}
        if kept != self._steps:
            self._steps = kept
            self.changed.emit()


class StepMarks(QObject):
    """The marks as attributes.

    Attributes
    ----------
    breakpoints, watch, run
        The breakpoints, the steps at which they are hit, and running to them.
    markers
        A and B.
    bookmarks
        Bookmarked steps.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.markers = Markers(model, self)
        self.bookmarks = Bookmarks(model, self)

    def restore(self, view: ProjectView) -> None:
        """Replace all marks by those of a project, whose run must already be shown.

        Raises
        ------
        StudioError
            If a breakpoint makes no sense, see `breakpoints_of`.
        """
        self.breakpoints.set_all(breakpoints_of(view))
        self.bookmarks.set_notes(Bookmark(note.step, one_line(note.text), note.token) for note in view.notes)
        self.markers.set_steps(view.markers)


def breakpoints_of(view: ProjectView) -> list[Breakpoint]:
    """Return the breakpoints that a project holds.

    Raises
    ------
    StudioError
        If one makes no sense.
    """
    return [Breakpoint(each.kind, each.text, each.number, each.is_enabled) for each in view.breakpoints]
