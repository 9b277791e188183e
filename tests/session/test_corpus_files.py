"""The list of files: as a table for Qt, its edits, and the results of a count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QUndoStack

from wordpiece_studio.corpus.counts import CorpusStatistics, CountingProgress, FileStatistics
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.inspection import FileDescription
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import CorpusFiles, FileColumn, FileRow, FileState, described_row

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot


def row(name: str, **known: object) -> FileRow:
    return FileRow(CorpusFile(f"/corpus/{name}"), **known)  # type: ignore[arg-type]


def names(files: CorpusFiles) -> list[str]:
    return [each.file.path.rpartition("/")[2] for each in files.rows]


@pytest.fixture
def stack(qapp: object) -> QUndoStack:
    return QUndoStack()


@pytest.fixture
def files(stack: QUndoStack) -> CorpusFiles:
    files = CorpusFiles(stack)
    files.set_rows([row(name, size=1000) for name in "abcd"])
    return files


def shown(table: CorpusFiles, number: int, column: FileColumn) -> str:
    return str(table.index(number, column).data())


def test_the_table_keeps_the_rules_of_qt(qtmodeltester: ModelTester, files: CorpusFiles) -> None:
    qtmodeltester.check(files)
    files.append([row("e"), row("f")])
    files.take_progress(CountingProgress(10, 100, files_done=2, files_total=6))
    files.move([1, 2], 1)
    files.remove([0, 5])
    files.set_rows([])
    qtmodeltester.check(files)


def test_what_is_not_known_is_a_dash_and_a_guess_is_called_one(files: CorpusFiles) -> None:
    table = files
    table.set_rows(
        [
            row("a.txt", size=1_234_567, encoding="cp1252", known="guess"),
            row("b.txt", encoding="utf-8", known="valid", statistics=FileStatistics("b.txt", 5, 1, 12_345, 7)),
        ]
    )
    assert shown(table, 0, FileColumn.WORDS) == shown(table, 0, FileColumn.LINES) == "–"
    assert shown(table, 0, FileColumn.SIZE) == "1.2 MB"
    assert shown(table, 0, FileColumn.ENCODING).endswith("?")
    assert table.encoding_words(table.rows[0]).endswith(" (guess)")
    assert shown(table, 1, FileColumn.ENCODING) == "UTF-8"
    assert shown(table, 1, FileColumn.WORDS) == "12,345"
    assert table.rows[1].statistics.distinct_words == 7
    assert table.index(0, FileColumn.STATE).data(Qt.ItemDataRole.AccessibleTextRole) == "Not counted yet"


def test_files_are_moved_removed_and_all_of_it_undone(qtbot: QtBot, files: CorpusFiles, stack: QUndoStack) -> None:
    files.move([1, 2], 1)
    assert names(files) == ["a", "d", "b", "c"]
    files.move([0], -1)  # is first already
    files.move([2, 3], 1)  # are last already
    assert names(files) == ["a", "d", "b", "c"]
    assert stack.count() == 1
    with qtbot.waitSignals([files.changed, files.places_wanted], timeout=100):
        files.remove([0, 2])
    assert names(files) == ["d", "c"]
    stack.undo()
    stack.undo()
    assert names(files) == ["a", "b", "c", "d"]
    stack.redo()
    assert names(files) == ["a", "d", "b", "c"]


def test_another_way_of_reading_makes_what_was_counted_unknown(files: CorpusFiles, stack: QUndoStack) -> None:
    counted = CorpusStatistics(files=tuple(FileStatistics(name, words=3) for name in "abcd"))
    files.take_statistics(counted)
    files.read_as([1, 2], encoding="cp949")
    assert [each.file.encoding for each in files.rows] == [None, "cp949", "cp949", None]
    assert [each.known for each in files.rows] == ["", "chosen", "chosen", ""]
    assert [each.state for each in files.rows[:2]] == [FileState.DONE, FileState.WAITING]
    files.read_as([1, 2], encoding="cp949")
    assert stack.count() == 1  # the same again is no edit
    files.read_as([0], errors="skip-line", column="text")
    assert (files.rows[0].file.errors, files.rows[0].file.column) == ("skip-line", "text")


def test_added_files_can_be_taken_back(files: CorpusFiles, stack: QUndoStack) -> None:
    new = [row("e"), row("f")]
    files.is_listing = True
    files.append(new)
    files.take_progress(CountingProgress(4, 4, files_done=4, files_total=4))  # the count of those before ends meanwhile
    files.end_listing(new)
    assert names(files) == list("abcdef")
    stack.undo()
    assert names(files) == list("abcd")
    stack.redo()
    assert names(files) == list("abcdef")


def test_the_name_tells_the_folder_and_how_many(files: CorpusFiles) -> None:
    assert files.name == "corpus · 4 files"
    files.set_rows([row("part 1/a"), row("part 2/b")])
    assert files.name == "corpus · 2 files"
    files.set_rows([row("a.txt")])
    assert files.name == "a.txt"


def test_a_counting_is_followed_file_by_file(files: CorpusFiles) -> None:
    table = files
    table.begin_counting()
    for done, expected in ((0, "▸···"), (0, "▸···"), (2, "✓✓▸·"), (1, "✓✓▸·"), (4, "✓✓✓✓")):
        table.take_progress(CountingProgress(done, 4, files_done=done, files_total=4))
        assert "".join(shown(table, number, FileColumn.STATE) for number in range(4)) == expected
    partial = CorpusStatistics(files=(FileStatistics("a", words=1), FileStatistics("b")), is_partial=True)
    table.take_statistics(partial)
    assert "".join(shown(table, number, FileColumn.STATE) for number in range(4)) == "✓◐··"
    assert [shown(table, number, FileColumn.WORDS) for number in range(3)] == ["1", "0", "–"]


def test_a_fault_is_shown_at_its_file(files: CorpusFiles) -> None:
    table = files
    table.take_progress(CountingProgress(1, 4, files_done=1, files_total=4))
    table.take_error(StudioError("{path} is no text", path="/corpus/c"))
    assert table.faulty == [2]
    assert [each.state for each in files.rows] == [
        FileState.DONE, FileState.WAITING, FileState.FAULT, FileState.WAITING,
    ]  # fmt: skip
    table.take_error(StudioError("The words cannot be counted"))
    assert table.faulty == [2]
    table.begin_counting()
    assert table.faulty == []


def test_files_are_rows_of_what_is_known_of_them() -> None:
    found = FileDescription("/x.csv", "x.csv", 3, "csv", columns=("id", "body"), column="body")
    assert described_row(found) == FileRow(CorpusFile("/x.csv", "csv", "body"), 3, encoding="", columns=("id", "body"))
    guessed = described_row(FileDescription("/a.txt", "a.txt", 7, "text", "gz", "cp1252", "guess"))
    assert (guessed.compression, guessed.encoding, guessed.known) == ("gz", "cp1252", "guess")
    error = StudioError("{path} is gone", path="/gone")
    broken = described_row((CorpusFile("/gone"), error))
    assert (broken.state, broken.error) == (FileState.FAULT, error)
