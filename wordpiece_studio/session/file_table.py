"""The files of the corpus as a table for Qt's views, over a list of rows. Colors are up to the view."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QModelIndex, Qt

from wordpiece_studio.session.file_rows import FileRow, FileState, counted_rows, row_at_fault
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from PySide6.QtCore import QObject

    from wordpiece_studio.corpus.counts import CorpusStatistics, CountingProgress
    from wordpiece_studio.errors import StudioError

_UNKNOWN = "–"
_MARKS = {
    FileState.WAITING: "·", FileState.COUNTING: "▸", FileState.DONE: "✓", FileState.PARTLY: "◐", FileState.FAULT: "✗",
    FileState.CHANGED: "≠",
}  # fmt: skip


class FileColumn(IntEnum):
    """The columns."""

    STATE = 0
    NAME = 1
    SIZE = 2
    WORDS = 3
    DISTINCT = 4
    ENCODING = 5
    LINES = 6
    KIND = 7


class FileTable(RecordTableModel["FileRow"]):
    """One row per file, in reading order."""

    def __init__(self, parent: QObject | None = None, *, locale: QLocale | None = None) -> None:
        super().__init__(parent, locale=locale)
        self._rows: list[FileRow] = []  # always the same list
        self.set_records(self._rows)
        self._files_done = 0
        self._columns = (
            TableColumn(
                "",
                lambda rows, number: _MARKS[rows[number].state],
                align=Qt.AlignmentFlag.AlignCenter,
                spoken=lambda rows, number: self.state_words(rows[number].state),
                spoken_title=self.tr("state"),
            ),
            TableColumn(self.tr("file"), lambda rows, number: _file_name(rows[number]), align=LEFT),
            TableColumn(self.tr("size"), lambda rows, number: self._size_text(rows[number].size)),
            TableColumn(self.tr("words"), lambda rows, number: _counted(rows[number], "words")),
            TableColumn(self.tr("distinct"), lambda rows, number: _counted(rows[number], "distinct_words")),
            TableColumn(self.tr("encoding"), lambda rows, number: _encoding_mark(rows[number]), align=LEFT),
            TableColumn(self.tr("lines"), lambda rows, number: _counted(rows[number], "lines")),
            TableColumn(self.tr("kind"), lambda rows, number: self._kind_text(rows[number]), align=LEFT),
        )

    @property
    def rows(self) -> tuple[FileRow, ...]:
        """The rows."""
        return tuple(self._rows)

    def row(self, number: int) -> FileRow:
        """Return one row."""
        return self._rows[number]

    @property
    def size(self) -> int:
        """The total size of all files on disk, in bytes."""
        return sum(row.size for row in self._rows)

    @property
    def faulty(self) -> list[int]:
        """The rows of the files that cannot be read."""
        return [number for number, row in enumerate(self._rows) if row.state is FileState.FAULT]

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        """Show these rows; if they are the same files in the same order, the selection is preserved."""
        if [row.file.path for row in rows] == [row.file.path for row in self._rows]:
            self._rows[:] = rows
            self._emit_changed(0, len(rows) - 1)
        else:
            self.beginResetModel()
            self._rows[:] = rows
            self.endResetModel()
        self._files_done = 0

    def append(self, rows: Sequence[FileRow]) -> None:
        """Add rows at the end."""
        if rows:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
            self._rows += rows
            self.endInsertRows()

    # Results of a count.

    def begin_counting(self) -> None:
        """Discard the results of an earlier count."""
        self._files_done = 0
        self._rows[:] = [row.uncounted() for row in self._rows]
        self._emit_changed(0, len(self._rows) - 1)

    def take_progress(self, progress: CountingProgress) -> None:
        """Show which files have been read and which one is being read."""
        before, done = self._files_done, min(progress.files_done, len(self._rows))
        if done < before or (
            done == before and done < len(self._rows) and self._rows[done].state is FileState.COUNTING
        ):
            return
        for number in range(before, done):
            self._rows[number] = replace(self._rows[number], state=FileState.DONE)
        if done < len(self._rows):
            self._rows[done] = replace(self._rows[done], state=FileState.COUNTING)
        self._files_done = done
        self._emit_changed(before, min(done, len(self._rows) - 1))

    def take_statistics(self, statistics: CorpusStatistics) -> None:
        """Show the results of a count."""
        self._rows[:] = counted_rows(self._rows, statistics)
        self._emit_changed(0, len(self._rows) - 1)

    def take_error(self, error: StudioError) -> int | None:
        """Show that a file is at fault; return its number, or None if the error is about none of the files."""
        number = row_at_fault(self._rows, error)
        self.take_end()
        if number is not None:
            self._rows[number] = replace(self._rows[number], state=FileState.FAULT, error=error)
            self._emit_changed(number, number)
        return number

    def mark(self, paths: Collection[str], state: FileState, errors: Mapping[str, StudioError] | None = None) -> None:
        """Show the files at `paths` as `state`, with their errors."""
        for number, row in enumerate(self._rows):
            if row.file.path in paths:
                self._rows[number] = replace(row, state=state, error=(errors or {}).get(row.file.path))
                self._emit_changed(number, number)

    def take_end(self) -> None:
        """Show that nothing is being read anymore."""
        for number, row in enumerate(self._rows):
            if row.state is FileState.COUNTING:
                self._rows[number] = replace(row, state=FileState.WAITING)
                self._emit_changed(number, number)

    def state_words(self, state: FileState) -> str:
        """Return a state in words."""
        return {
            FileState.WAITING: self.tr("not counted yet"),
            FileState.COUNTING: self.tr("being counted"),
            FileState.DONE: self.tr("counted"),
            FileState.PARTLY: self.tr("counted in part"),
            FileState.FAULT: self.tr("cannot be read"),
            FileState.CHANGED: self.tr("changed since it was counted"),
        }[state]

    def encoding_words(self, row: FileRow) -> str:
        """Return the encoding of a file, marked if it is only a guess."""
        name = _encoding_name(row)
        return self.tr("guess: {encoding}").format(encoding=name) if row.known == "guess" else name

    def kind_words(self, row: FileRow) -> str:
        """Return the kind of a file in words, marked if it is only a guess."""
        title = self.kind_title(row.file.kind)
        return self.tr("guess: {kind}").format(kind=title) if row.is_kind_guess else title

    def kind_title(self, kind: str) -> str:
        """Return the name of a kind of file."""
        return {"word-counts": self.tr("word counts"), "text": self.tr("text")}.get(kind, kind)

    def _size_text(self, size: int) -> str:
        return self._locale.formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat)

    def _kind_text(self, row: FileRow) -> str:
        return " ".join(filter(None, (self.kind_words(row), row.compression)))


def _file_name(row: FileRow) -> str:
    return PurePath(row.name).name or row.name


def _counted(row: FileRow, name: str) -> int | str:
    return getattr(row.statistics, name) if row.statistics is not None else _UNKNOWN


def _encoding_name(row: FileRow) -> str:
    return row.encoding.upper().replace("_", "-") or _UNKNOWN


def _encoding_mark(row: FileRow) -> str:
    return _encoding_name(row) + ("?" if row.known == "guess" else "")
