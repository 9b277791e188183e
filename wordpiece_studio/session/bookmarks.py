"""Bookmarks: steps worth coming back to, each with a line of text, as a table for Qt's views.

Notes outlive their run: each records the merge it was made at, so that the table can show whether the current run has
the same merge there.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.session.trainer_model import TrainerModel

    Index = QModelIndex | QPersistentModelIndex

IS_OF_RUN_ROLE = int(Qt.ItemDataRole.UserRole)
"""True for a note whose merge occurs in the current run."""

_NO_INDEX = QModelIndex()


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


class Bookmarks(QAbstractTableModel):
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
        model.run_reset.connect(self._on_run_changed)
        model.merges_appended.connect(self._on_model_merges_appended)

    @property
    def notes(self) -> tuple[Bookmark, ...]:
        """All notes."""
        return tuple(self._notes)

    def set_notes(self, notes: Iterable[Bookmark]) -> None:
        """Replace all notes."""
        self.beginResetModel()
        self._notes = sorted(notes, key=lambda note: note.step)
        self.endResetModel()
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
        self.dataChanged.emit(self.index(row, 0), self.index(row, 1))
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

    # The interface of Qt's item models.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of notes."""
        return 0 if parent.isValid() else len(self._notes)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if not index.isValid():
            return None
        note = self._notes[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return note.text if index.column() else f"{note.step:,}".replace(",", QLocale().groupSeparator())
        return self.is_of_run(note) if role == IS_OF_RUN_ROLE else None

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

    def headerData(  # Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and 0 <= section < 2:
            return (self.tr("step"), self.tr("what is worth seeing"))[section]
        return None

    # Signals of the trainer.

    def _on_run_changed(self) -> None:
        if self._notes:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._notes) - 1, 1), [IS_OF_RUN_ROLE])
            self.changed.emit()

    def _on_model_merges_appended(self, first: int, last: int) -> None:
        if any(first < note.step <= last + 1 for note in self._notes):
            self._on_run_changed()


def one_line(text: str) -> str:
    """Return `text` on one line, with runs of white space replaced by single spaces."""
    return " ".join(text.split())
