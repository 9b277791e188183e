"""The corpus as a list of files: what is done to the list, each time one command that can be undone.

The list itself is a `FileTable`; which files there are in a folder, and what is in them, is found by `corpus_opening`.
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

    from wordpiece_studio.corpus.corpus_file import CorpusFile, FileKind
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.storage.project.contents import CorpusReference

    Rows = tuple[FileRow, ...]


class CorpusFiles(QObject):
    """The files, in the order in which they are read.

    Signals
    -------
    changed()
        Other files, another order, or another way of reading one: what was counted holds no longer.
    places_wanted(list[int])
        The rows that were moved or changed are here now: a view should select them.
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
        """The files as the window knows them."""
        return self.table.rows

    @property
    def files(self) -> list[CorpusFile]:
        """The files as they are read."""
        return [row.file for row in self.rows]

    @property
    def name(self) -> str:
        """What the corpus is called: after its one file, or the folder that all are in."""
        rows = self.rows
        if len(rows) == 1:
            return display_name(os.path.basename(rows[0].file.path))
        number = self.tr("{number:,} files").format(number=len(rows))
        shared = _shared_folder([row.file.path for row in rows])
        return f"{shared} · {number}" if shared else number

    @property
    def is_listing(self) -> bool:
        """Whether more files are being looked for: the list is not whole yet."""
        return self._is_listing

    def begin_listing(self) -> None:
        """Say that rows will be appended to the table, until `end_listing`."""
        self._is_listing = True

    def end_listing(self, rows: Sequence[FileRow] = ()) -> None:
        """Say that the list is whole; `rows`, at its end, were added by an edit that can be undone."""
        self._is_listing = False
        if rows:
            self.add(rows)
        else:
            self.changed.emit()

    def take_references(self, references: Iterable[CorpusReference]) -> None:
        """Have the files of a project in the place of what there is; nothing of them is read yet."""
        self.table.set_rows([_row_of(reference) for reference in references])
        self.changed.emit()

    # Edits. All of them can be undone.

    def add(self, rows: Sequence[FileRow]) -> None:
        """Add files at the end; they may stand there already."""
        before = self.rows[: len(self.rows) - len(rows)] if self.rows[-len(rows) :] == tuple(rows) else self.rows
        self._push((*before, *rows), before, list(range(len(before), len(before) + len(rows))))

    def remove(self, numbers: Iterable[int]) -> None:
        """Take files out of the list; the files themselves stay where they are."""
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
        """Read files in another way; what is None stays as it is."""
        chosen = set(numbers)
        rows = tuple(
            row.read_as(encoding, column, errors, kind) if number in chosen else row
            for number, row in enumerate(self.rows)
        )
        if [row.file for row in rows] != self.files:
            self._push(rows, self.rows, sorted(chosen))

    def move_files(self, places: Mapping[str, str]) -> None:
        """Read files from other places, by their old ones; they are the same files."""
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
    """Another list of files in the place of the one before."""

    def __init__(self, show: Callable[[Rows, list[int]], None], before: Rows, after: Rows, places: list[int]) -> None:
        super().__init__()
        self._show = show
        self._before = before
        self._after = after
        self._places = places

    def redo(self) -> None:
        """Do it."""
        self._show(self._after, self._places)

    def undo(self) -> None:
        """Take it back."""
        self._show(self._before, [place for place in self._places if place < len(self._before)])


def _row_of(reference: CorpusReference) -> FileRow:
    file = reference.file
    return FileRow(
        file, max(0, reference.size), encoding=file.encoding or "utf-8", known="chosen" if file.encoding else ""
    )


def _shared_folder(paths: list[str]) -> str:
    """Return the name of the folder that all lie in, or somewhere below; empty if there is none but the root."""
    try:
        return display_name(os.path.basename(os.path.commonpath(paths))).strip('"')
    except ValueError:  # none, or on several drives
        return ""
