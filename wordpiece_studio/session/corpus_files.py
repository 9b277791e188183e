"""The corpus as a list of files: a table for Qt's views, whose edits are undo commands.

Colors are up to the view; `document` finds the files of a folder and what is in them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QLocale, QObject, Qt, Signal

from wordpiece_studio.corpus.files import CorpusFile, kind_of_name
from wordpiece_studio.session.commands import Command
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from PySide6.QtGui import QUndoStack

    from wordpiece_studio.corpus.counts import CorpusStatistics, CountingProgress, FileStatistics
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusReference, FileKind
    from wordpiece_studio.corpus.inspection import FileDescription
    from wordpiece_studio.errors import StudioError

    Rows = tuple["FileRow", ...]


EncodingKnown = Literal["", "byte order mark", "valid", "guess", "mixed", "chosen"]


class FileState(Enum):
    """How far the count of a file is.

    `PARTLY`: the count was stopped in this file and kept. `CHANGED`: the file has changed since it was counted.
    `OUTSIDE`: a project names it, outside its folder, and the user has not agreed to reading it.
    """

    WAITING = "waiting"
    COUNTING = "counting"
    DONE = "done"
    PARTLY = "partly"
    CHANGED = "changed"
    FAULT = "fault"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class FileRow:
    file: CorpusFile  # and how it is read
    size: int = 0  # bytes on disk
    compression: str = ""  # "gz" and so on
    encoding: str = "utf-8"  # empty if irrelevant, as in parquet
    known: EncodingKnown = ""  # how it is known: "guess" from the content alone, "chosen" by the user
    columns: tuple[str, ...] = ()  # or fields, of which one can be chosen
    is_kind_guess: bool = False  # whether the file is read as words and their counts only because it looks like it
    state: FileState = FileState.WAITING
    statistics: FileStatistics | None = None
    error: StudioError | None = None

    @property
    def name(self) -> str:
        return display_name(self.file.path)

    @property
    def shown_state(self) -> FileState:
        return FileState.OUTSIDE if self.file.unagreed else self.state

    @property
    def kinds(self) -> tuple[FileKind, ...]:
        if self.file.kind == "parquet" or self.file.path.lower().endswith(".parquet"):
            return ("parquet", "word-counts")
        return ("text", "jsonl", "csv", "tsv", "word-counts")

    def read_as(
        self, encoding: str | None = None, column: str | None = None, errors: ErrorHandling | None = None,
        kind: FileKind | None = None,
    ) -> FileRow:  # fmt: skip
        """Return the row with the file read in another way; None, or an impossible kind, changes nothing."""
        file, is_kind_guess = self.file, self.is_kind_guess and kind is None
        if kind in self.kinds and kind != file.kind:
            file = replace(file, kind=kind, column=None)  # to be detected again
        chosen: dict[str, Any] = {"encoding": encoding, "column": column, "errors": errors}
        file = replace(file, **{name: value for name, value in chosen.items() if value is not None})
        row = replace(self, file=file, is_kind_guess=is_kind_guess).uncounted()
        return row if encoding is None else replace(row, encoding=encoding, known="chosen")

    def as_text(self) -> FileRow:
        """Return the row with what only looked like words and their counts read as a text, from its first row on."""
        kind = kind_of_name(self.file.path) or "text"
        has_header = not any(cell.strip().isdecimal() for cell in self.columns)
        return self.read_as(kind=kind, column=None if has_header or kind not in ("csv", "tsv") else "1")

    def uncounted(self) -> FileRow:
        return replace(self, state=FileState.WAITING, statistics=None, error=None)


def described_row(found: FileDescription | tuple[CorpusFile, StudioError]) -> FileRow:
    if isinstance(found, tuple):
        return FileRow(found[0], state=FileState.FAULT, error=found[1])
    return FileRow(
        found.file, found.size, found.compression or "", found.encoding or "", found.how or "", found.columns,
        found.is_kind_guess,
    )  # fmt: skip


_UNKNOWN = "–"
_SIZES, _SI = QLocale.c(), QLocale.DataSizeFormat.DataSizeSIFormat
_MARKS = {
    FileState.WAITING: "·", FileState.COUNTING: "▸", FileState.DONE: "✓", FileState.PARTLY: "◐", FileState.FAULT: "✗",
    FileState.CHANGED: "≠", FileState.OUTSIDE: "⊘",
}  # fmt: skip
_STATE_INKS = {FileState.FAULT: "error", FileState.WAITING: "faint"}


FileColumn = IntEnum("FileColumn", "STATE NAME SIZE WORDS DISTINCT ENCODING LINES KIND", start=0)


class CorpusFiles(RecordTableModel["FileRow"]):
    """The files, in the order in which they are read."""

    changed = Signal()  # files, their order or how one is read: the counts no longer apply
    places_wanted = Signal(object)  # the new rows (list[int]) of moved or changed files: a view should select them

    def __init__(self, undo_stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.undo_stack = undo_stack
        self.is_listing = False  # files are still being listed, and appended
        self.columns = (
            TableColumn("", each_row(lambda row: _MARKS[row.shown_state]), align=Qt.AlignmentFlag.AlignCenter,
                        width=_letters(2), spoken=each_row(lambda row: self.state_words(row.shown_state)),
                        spoken_title=self.tr("State"),
                        ink=each_row(lambda row: _STATE_INKS.get(row.shown_state, ""))),
            # Both ends of a file name matter.
            TableColumn(self.tr("File"), each_row(lambda row: PurePath(row.name).name or row.name), align=LEFT,
                        width=_letters(28, 0), least=_letters(14, 0), stretch=1, elide=Qt.TextElideMode.ElideMiddle,
                        ink=each_row(lambda row: "error" if row.shown_state is FileState.FAULT else "")),
            TableColumn(self.tr("Size"), each_row(lambda row: _SIZES.formattedDataSize(row.size, 1, _SI)),
                        width=_letters(7), elide=Qt.TextElideMode.ElideRight),
            TableColumn(self.tr("Words"), each_row(lambda row: _counted(row, "words")), entry="word",
                        width=_letters(12)),
            TableColumn(self.tr("Distinct"), each_row(lambda row: _counted(row, "distinct_words")), entry="word",
                        width=_letters(10)),
            # There is more to say about one that is guessed.
            TableColumn(self.tr("Encoding"), each_row(lambda row: _encoding_name(row) + "?" * (row.known == "guess")),
                        align=LEFT, width=_letters(21), least=_letters(8),
                        ink=each_row(lambda row: "tie_text" if row.known == "guess" else "")),
            TableColumn(self.tr("Lines"), each_row(lambda row: _counted(row, "lines")), width=_letters(10),
                        importance=-1),
            TableColumn(self.tr("Kind"), align=LEFT, width=_letters(9), importance=-1, value=each_row(
                        lambda row: " · ".join(filter(None, (self.kind_words(row), row.compression))))),
        )  # fmt: skip
        self._files_done = 0

    @property
    def rows(self) -> Rows:
        return tuple(self.records)

    @property
    def size(self) -> int:
        return sum(row.size for row in self.records)

    @property
    def faulty(self) -> list[int]:
        return [number for number, row in enumerate(self.records) if row.state is FileState.FAULT]

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        """Show these rows; if they are the same files in the same order, the selection is preserved."""
        if [row.file.path for row in rows] == [row.file.path for row in self.records]:
            self.change_records(dict(enumerate(rows)))
        else:
            self.set_records(rows)

    def append(self, rows: Sequence[FileRow]) -> None:
        self.extend_records([*self.records, *rows])

    @property
    def files(self) -> list[CorpusFile]:
        return [row.file for row in self.rows]

    @property
    def name(self) -> str:
        """The name of the corpus: that of its only file, or of the folder that all files are in."""
        rows = self.rows
        if len(rows) == 1:
            return display_name(os.path.basename(rows[0].file.path))
        number = plural(len(rows), "1 file", "{count} files").format(count=f"{len(rows):,}")
        shared = _shared_folder([row.file.path for row in rows])
        return f"{shared} · {number}" if shared else number

    def end_listing(self, rows: Sequence[FileRow] = ()) -> None:
        """Mark the list as complete; `rows`, the last in it, become an edit that can be undone."""
        self.is_listing = False
        if rows:
            before = self.rows[: -len(rows)]
            self._push((*before, *rows), before, list(range(len(before), len(before) + len(rows))))
        else:
            self.changed.emit()

    def take_references(self, references: Iterable[CorpusReference]) -> None:
        """Replace the list by the files of a project; they are not read yet."""
        self.set_rows([_row_of(reference) for reference in references])
        self.changed.emit()

    def agree(self) -> None:
        """Note that the user agrees to reading all files; none has changed."""
        self.set_rows([replace(row, file=row.file.agreed()) for row in self.rows])

    # Edits, all of which can be undone.

    def remove(self, numbers: Iterable[int]) -> None:
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

    def read_as(self, numbers: Iterable[int], **how: Any) -> None:
        chosen = set(numbers)
        rows = tuple(row.read_as(**how) if number in chosen else row for number, row in enumerate(self.rows))
        if [row.file for row in rows] != self.files:
            self._push(rows, self.rows, sorted(chosen))

    @property
    def guessed_tables(self) -> int:
        return sum(row.is_kind_guess for row in self.rows)

    def read_tables_as_texts(self) -> None:
        rows = tuple(row.as_text() if row.is_kind_guess else row for row in self.rows)
        self._push(rows, self.rows, [number for number, row in enumerate(self.rows) if row.is_kind_guess])

    def move_files(self, places: Mapping[str, str]) -> None:
        """Change the paths of files, given by old path; the files are the same."""
        rows, moved = list(self.rows), [number for number, row in enumerate(self.rows) if row.file.path in places]
        for number in moved:
            file = replace(rows[number].file, path=places[rows[number].file.path])
            rows[number] = replace(rows[number], file=file, state=FileState.WAITING, error=None)
        if moved:
            self._push(tuple(rows), self.rows, moved)

    def _push(self, after: Rows, before: Rows, places: list[int]) -> None:
        places_before = [place for place in places if place < len(before)]
        self.undo_stack.push(Command(lambda: self._take(after, places), lambda: self._take(before, places_before)))

    def _take(self, rows: Rows, places: list[int]) -> None:
        if rows != self.rows:
            self.set_rows(rows)
        self.places_wanted.emit(places)
        self.changed.emit()

    # Results of a count.

    def begin_counting(self) -> None:
        self._files_done = 0
        self.set_rows([row.uncounted() for row in self.records])

    def take_progress(self, progress: CountingProgress) -> None:
        before, done = self._files_done, min(progress.files_done, len(self.records))
        if done < before or (
            done == before and done < len(self.records) and self.records[done].state is FileState.COUNTING
        ):
            return
        self._change(range(before, done), state=FileState.DONE)
        self._change(range(done, min(done + 1, len(self.records))), state=FileState.COUNTING)
        self._files_done = done

    def take_statistics(self, statistics: CorpusStatistics) -> None:
        rows = [row.uncounted() for row in self.records]
        found = statistics.files[: len(rows)]
        for number, of_file in enumerate(found):
            rows[number] = replace(rows[number], state=FileState.DONE, statistics=of_file)
        if statistics.is_partial and found:  # the last of these files was counted only in part
            rows[len(found) - 1] = replace(rows[len(found) - 1], state=FileState.PARTLY)
        self.set_rows(rows)

    def take_error(self, error: StudioError) -> None:
        """Show the error at the file that it names: of several with that name, at the first that is not done."""
        self.take_end()
        named = {str(value) for key, value in error.values.items() if key in ("path", "source", "name", "file")}
        found = [number for number, row in enumerate(self.records) if row.name in named]
        found.sort(key=lambda number: self.records[number].state is FileState.DONE)
        self._change(found[:1], state=FileState.FAULT, error=error)

    def mark(self, paths: Collection[str], state: FileState, errors: Mapping[str, StudioError] | None = None) -> None:
        known, wanted = errors or {}, set(paths)
        self.change_records({
            number: replace(row, state=state, error=known.get(row.file.path))
            for number, row in enumerate(self.records) if row.file.path in wanted
        })  # fmt: skip

    def take_end(self) -> None:
        counted = [number for number, row in enumerate(self.records) if row.state is FileState.COUNTING]
        self._change(counted, state=FileState.WAITING)

    def _change(self, numbers: Sequence[int], **values: Any) -> None:
        self.change_records({number: replace(self.records[number], **values) for number in numbers})

    def state_words(self, state: FileState) -> str:
        return {
            FileState.WAITING: self.tr("Not counted yet"),
            FileState.COUNTING: self.tr("Counting"),
            FileState.DONE: self.tr("Counted"),
            FileState.PARTLY: self.tr("Partly counted"),
            FileState.FAULT: self.tr("Cannot be read"),
            FileState.CHANGED: self.tr("Changed since it was counted"),
            FileState.OUTSIDE: self.tr("Outside the project’s folder, not read"),
        }[state]

    def description(self, row: FileRow) -> str:
        encoding = self.encoding_words(row) if row.encoding else ""
        return "\n".join(filter(None, (row.name, encoding, self.state_words(row.shown_state), str(row.error or ""))))

    def encoding_words(self, row: FileRow) -> str:
        name = _encoding_name(row)
        return self.tr("{encoding} (guess)").format(encoding=name) if row.known == "guess" else name

    def kind_words(self, row: FileRow) -> str:
        title = self.kind_title(row.file.kind)
        return self.tr("{kind} (guess)").format(kind=title) if row.is_kind_guess else title

    def kind_title(self, kind: str) -> str:
        named = {"word-counts": self.tr("Word counts"), "text": self.tr("Text"), "parquet": "Parquet"}
        return named.get(kind, kind.upper())


def _letters(count: int, more: int = 8) -> Callable[[Any, object], int]:
    return lambda measure, _rows: count * int(measure.letter) + more


def _counted(row: FileRow, name: str) -> int | str:
    return getattr(row.statistics, name) if row.statistics is not None else _UNKNOWN


def _encoding_name(row: FileRow) -> str:
    return row.encoding.upper().replace("_", "-") or _UNKNOWN


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
