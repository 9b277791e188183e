"""The files of the corpus as a table for Qt's views: a thin adapter over a list of rows. Colors are up to the view."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.session.file_rows import FileRow, FileState, counted_rows, row_at_fault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wordpiece_studio.corpus.counts import CorpusStatistics, CountingProgress
    from wordpiece_studio.errors import StudioError

    Index = QModelIndex | QPersistentModelIndex

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The :class:`FileRow` itself."""

_NO_INDEX = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_CENTRE = Qt.AlignmentFlag.AlignCenter
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


NUMBER_COLUMNS = {
    FileColumn.WORDS: "words", FileColumn.DISTINCT: "distinct_words", FileColumn.LINES: "lines"
}  # fmt: skip


class FileTable(QAbstractTableModel):
    """One row per file, in reading order."""

    def __init__(self, parent: QObject | None = None, *, locale: QLocale | None = None) -> None:
        super().__init__(parent)
        self._locale = locale if locale is not None else QLocale()
        self._rows: list[FileRow] = []
        self._files_done = 0

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
            self._rows = list(rows)
            self._emit_changed(0, len(rows) - 1)
        else:
            self.beginResetModel()
            self._rows = list(rows)
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
        self._rows = [row.uncounted() for row in self._rows]
        self._emit_changed(0, len(self._rows) - 1)

    def take_progress(self, progress: CountingProgress) -> None:
        """Show which files have been read and which one is being read."""
        before, done = self._files_done, min(progress.files_done, len(self._rows))
        if done < before or (done == before and done < len(self._rows) and self._is_under_way(done)):
            return
        for number in range(before, done):
            self._rows[number] = replace(self._rows[number], state=FileState.DONE)
        if done < len(self._rows):
            self._rows[done] = replace(self._rows[done], state=FileState.COUNTING)
        self._files_done = done
        self._emit_changed(before, min(done, len(self._rows) - 1))

    def take_statistics(self, statistics: CorpusStatistics) -> None:
        """Show the results of a count."""
        self._rows = counted_rows(self._rows, statistics)
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

    # The interface of Qt's item models.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of files."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:  # Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(FileColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], FileColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(column)
        if role == Qt.ItemDataRole.AccessibleTextRole and column is FileColumn.STATE:
            return self.state_words(row.state)
        return row if role == ROW_ROLE else None

    def headerData(  # Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return the title or the alignment of a column."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(FileColumn):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles()[section]
        if role == Qt.ItemDataRole.AccessibleTextRole and section == FileColumn.STATE:
            return self.tr("state")
        return _aligned(FileColumn(section)) if role == Qt.ItemDataRole.TextAlignmentRole else None

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

    # Cells.

    def _shown(self, row: FileRow, column: FileColumn) -> str:
        if column is FileColumn.STATE:
            return _MARKS[row.state]
        if column is FileColumn.NAME:
            return PurePath(row.name).name or row.name
        if column is FileColumn.SIZE:
            return self._locale.formattedDataSize(row.size, 1, QLocale.DataSizeFormat.DataSizeSIFormat)
        if column is FileColumn.ENCODING:
            return self._encoding_name(row) + ("?" if row.known == "guess" else "")
        if column is FileColumn.KIND:
            return " ".join(filter(None, (self.kind_words(row), row.compression)))
        if row.statistics is None:
            return _UNKNOWN
        number = getattr(row.statistics, NUMBER_COLUMNS[column])
        return f"{number:,}".replace(",", self._locale.groupSeparator())

    def encoding_words(self, row: FileRow) -> str:
        """Return the encoding of a file, marked if it is only a guess."""
        name = self._encoding_name(row)
        return self.tr("guess: {encoding}").format(encoding=name) if row.known == "guess" else name

    def _encoding_name(self, row: FileRow) -> str:
        return row.encoding.upper().replace("_", "-") or _UNKNOWN

    def kind_words(self, row: FileRow) -> str:
        """Return the kind of a file in words, marked if it is only a guess."""
        title = self.kind_title(row.file.kind)
        return self.tr("guess: {kind}").format(kind=title) if row.is_kind_guess else title

    def kind_title(self, kind: str) -> str:
        """Return the name of a kind of file."""
        return {"word-counts": self.tr("word counts"), "text": self.tr("text")}.get(kind, kind)

    def _titles(self) -> tuple[str, ...]:
        return (
            "", self.tr("file"), self.tr("size"), self.tr("words"), self.tr("distinct"), self.tr("encoding"),
            self.tr("lines"), self.tr("kind"),
        )  # fmt: skip

    def _is_under_way(self, number: int) -> bool:
        return self._rows[number].state is FileState.COUNTING

    def _emit_changed(self, first: int, last: int) -> None:
        if 0 <= first <= last:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(FileColumn) - 1))


def _aligned(column: FileColumn) -> Qt.AlignmentFlag:
    if column is FileColumn.STATE:
        return _CENTRE
    return _LEFT if column in (FileColumn.NAME, FileColumn.ENCODING, FileColumn.KIND) else _RIGHT
