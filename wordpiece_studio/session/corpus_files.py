"""The corpus as a list of files, and its edits, each of them one undo command.

The list itself is a `FileTable`; `corpus_opening` finds the files of a folder and what is in them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand

from wordpiece_studio.session.file_rows import FileRow, FileState
from wordpiece_studio.session.file_table import FileTable
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from PySide6.QtGui import QUndoStack

    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusFile, FileKind
    from wordpiece_studio.storage.project.contents import CorpusReference

    Rows = tuple[FileRow, ...]


class CorpusFiles(QObject):
    """The files, in the order in which they are read.

    Signals
    -------
    changed()
        Files, their order or how one is read have changed: the counts no longer apply.
    places_wanted(list[int])
        The new rows of moved or changed files: a view should select them.
    """

    changed = Signal()
    places_wanted = Signal(object)

    def __init__(self, undo_stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._undo_stack = undo_stack
        self._is_listing = False
        self.table = FileTable(self)

    @property
    def rows(self) -> Rows:
        """The files as the window shows them."""
        return self.table.rows

    @property
    def files(self) -> list[CorpusFile]:
        """The files as they are read."""
        return [row.file for row in self.rows]

    @property
    def name(self) -> str:
        """The name of the corpus: that of its only file, or of the folder that all files are in."""
        rows = self.rows
        if len(rows) == 1:
            return display_name(os.path.basename(rows[0].file.path))
        number = self.tr("{number:,} files").format(number=len(rows))
        shared = _shared_folder([row.file.path for row in rows])
        return f"{shared} · {number}" if shared else number

    @property
    def is_listing(self) -> bool:
        """Whether files are still being listed: the list is incomplete."""
        return self._is_listing

    def begin_listing(self) -> None:
        """Announce that rows will be appended to the table until `end_listing`."""
        self._is_listing = True

    def end_listing(self, rows: Sequence[FileRow] = ()) -> None:
        """Mark the list as complete; `rows`, at its end, become an edit that can be undone."""
        self._is_listing = False
        if rows:
            self.add(rows)
        else:
            self.changed.emit()

    def take_references(self, references: Iterable[CorpusReference]) -> None:
        """Replace the list by the files of a project; they are not read yet."""
        self.table.set_rows([_row_of(reference) for reference in references])
        self.changed.emit()

    # Edits, all of which can be undone.

    def add(self, rows: Sequence[FileRow]) -> None:
        """Append files; they may already be at the end of the table."""
        before = self.rows[: len(self.rows) - len(rows)] if self.rows[-len(rows) :] == tuple(rows) else self.rows
        self._push((*before, *rows), before, list(range(len(before), len(before) + len(rows))))

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove files from the list; the files themselves stay where they are."""
        gone = set(numbers)
        left = tuple(row for number, row in enumerate(self.rows) if number not in gone)
        place = min(gone, default=0)
        if gone:
            self._push(left, self.rows, [min(place, len(left) - 1)] if left else [])

    def move(self, numbers: Iterable[int], by: int) -> None:
        """Move files up (`by` is -1) or down (1) by one place, together."""
        chosen = sorted(set(numbers), reverse=by > 0)
        rows = list(self.rows)
        moved = []
        for number in chosen:
            place = number + by
            if not 0 <= place < len(rows) or place in moved:
                place = number
            else:
                rows[number], rows[place] = rows[place], rows[number]
            moved.append(place)
        if moved != chosen:
            self._push(tuple(rows), self.rows, sorted(moved))

    def read_as(
        self, numbers: Iterable[int], encoding: str | None = None, column: str | None = None,
        errors: ErrorHandling | None = None, kind: FileKind | None = None,
    ) -> None:  # fmt: skip
        """Change how files are read; None leaves a setting unchanged."""
        chosen = set(numbers)
        rows = tuple(
            row.read_as(encoding, column, errors, kind) if number in chosen else row
            for number, row in enumerate(self.rows)
        )
        if [row.file for row in rows] != self.files:
            self._push(rows, self.rows, sorted(chosen))

    def move_files(self, places: Mapping[str, str]) -> None:
        """Change the paths of files, given by old path; the files are the same."""
        rows = tuple(
            replace(row, file=replace(row.file, path=places[row.file.path]), state=FileState.WAITING, error=None)
            if row.file.path in places
            else row
            for row in self.rows
        )
        if rows != self.rows:
            self._push(rows, self.rows, [number for number, row in enumerate(self.rows) if row.file.path in places])

    def _push(self, after: Rows, before: Rows, places: list[int]) -> None:
        self._undo_stack.push(FilesCommand(self._show, before, after, places))

    def _show(self, rows: Rows, places: list[int]) -> None:
        if rows != self.rows:
            self.table.set_rows(rows)
        self.places_wanted.emit(places)
        self.changed.emit()


class FilesCommand(QUndoCommand):
    """Replaces the list of files."""

    def __init__(self, show: Callable[[Rows, list[int]], None], before: Rows, after: Rows, places: list[int]) -> None:
        super().__init__()
        self._show = show
        self._before = before
        self._after = after
        self._places = places

    def redo(self) -> None:
        """Show the new list."""
        self._show(self._after, self._places)

    def undo(self) -> None:
        """Show the old list."""
        self._show(self._before, [place for place in self._places if place < len(self._before)])


def _row_of(reference: CorpusReference) -> FileRow:
    file = reference.file
    return FileRow(
        file, max(0, reference.size), encoding=file.encoding or "utf-8", known="chosen" if file.encoding else ""
    )


def _shared_folder(paths: list[str]) -> str:
    """Return the name of the deepest folder that holds all paths; empty if there is none but the root."""
    try:
        return display_name(os.path.basename(os.path.commonpath(paths))).strip('"')
    except ValueError:  # none, or on several drives
        return ""
