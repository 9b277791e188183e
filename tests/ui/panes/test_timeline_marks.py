"""The marks of the timeline: changes of the text, breakpoints, bookmarks, and the selection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit

import wordpiece_studio as wps
from tests.ui.panes.conftest import changes_at
from tests.ui.panes.timeline_bench import Timeline, click
from wordpiece_studio.session.runs import RunDivergence
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.storage.view import Bookmark, Breakpoint, Selection
from wordpiece_studio.ui.panes.timeline.marks_dialogs import MarksDialog, MarksTable
from wordpiece_studio.ui.panes.timeline.timeline_pane import divergences_text
from wordpiece_studio.ui.widgets.fields import LineDialog
from wordpiece_studio.ui.widgets.table import CELL_PADDING

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.widgets.table import TableView


@pytest.fixture
def timeline(bench: Bench) -> Timeline:
    return Timeline(bench)


# -- steps that change the live text


def test_from_change_to_change(bench: Bench, timeline: Timeline) -> None:
    bench.seek(5)
    timeline.changes.set_rows(changes_at((3, -1), (9, -1), (14, -1)))
    bench.settle()
    assert timeline.pane.plot.marks.changes.tolist() == [3, 9, 14]
    for name, wanted in (("next", 9), ("next", 14), ("previous", 9), ("previous", 3)):
        click(bench, timeline.pane, f"{name}_change")
        assert bench.model.step == wanted
    assert not timeline.actions.previous_change.isEnabled()
    assert "No step in this direction" in timeline.actions.previous_change.toolTip()
    assert "changes the live text" in timeline.pane._describe_step(9)


# -- breakpoints


def test_playing_halts_and_says_why(bench: Bench, timeline: Timeline) -> None:
    bench.seek(0)
    timeline.marks.breakpoints.add(Breakpoint("token", "cha"))
    timeline.player.set_speed(1000)
    with bench.qtbot.waitSignal(timeline.player.halted) as halted:
        click(bench, timeline.pane, "play")
    assert halted.args[0].step == 12
    assert bench.model.step == 12
    assert timeline.pane.hints[0] == "Step 12 of 25 · breakpoint: token cha is created"
    assert timeline.pane.plot.callout == "breakpoint: token cha is created"
    bench.seek(13)
    assert timeline.pane.plot.callout == ""
    assert "breakpoint" not in timeline.pane.hints[0]
    timeline.marks.breakpoints.add(Breakpoint("tie", number=2))
    assert timeline.pane._describe_step(12).endswith(" · breakpoint: token cha is created · breakpoint: tie of 2 pairs")


def test_running_on_and_back_by_command(bench: Bench, timeline: Timeline) -> None:
    bench.seek(0)
    assert not timeline.actions.run_to_breakpoint.isEnabled()
    timeline.marks.breakpoints.add(Breakpoint("tie", number=2))
    ties = [merge.step for merge in bench.model.history if merge.ties > 1]
    for step in ties[:3]:
        timeline.actions.run_to_breakpoint.trigger()
        assert bench.model.step == step
    timeline.actions.run_back.trigger()
    assert bench.model.step == ties[1]
    bench.settle()
    assert timeline.pane.plot.marks.breakpoints.tolist() == ties
    bench.seek(25)
    timeline.actions.run_to_breakpoint.trigger()
    assert timeline.pane.hints[0] == "Step 25 of 25 · no more breakpoints are hit"


def open_marks(bench: Bench, timeline: Timeline) -> MarksDialog:
    timeline.actions.bookmarks.trigger()
    return timeline.controller.marks_window


def test_a_breakpoint_is_added_refused_edited_and_removed(bench: Bench, timeline: Timeline) -> None:
    dialog, marks = open_marks(bench, timeline), timeline.marks.breakpoints
    qtbot, kinds = bench.qtbot, dialog._kind
    kinds.setCurrentIndex(kinds.findData("pattern"))
    qtbot.keyClicks(dialog._field, "(")
    assert "not a valid regular expression" in dialog.problem.text()
    assert not dialog._add.isEnabled()
    qtbot.keyClicks(dialog._field, "^ch)")
    qtbot.keyClick(dialog._field, Qt.Key.Key_Return)
    assert marks.records == (Breakpoint("pattern", "(^ch)"),)
    bench.wait(lambda: dialog._found.text() == "Steps hit in this run: 4")
    kinds.setCurrentIndex(kinds.findData("value"))
    qtbot.keyClicks(dialog._field, "much")
    assert "not a number" in dialog.problem.text()
    dialog._field.setText("0.2")
    qtbot.mouseClick(dialog._add, Qt.MouseButton.LeftButton)
    assert marks.records[1] == Breakpoint("value", number=0.2)
    edit_row(bench, dialog, 1, "0.3")
    bench.wait(lambda: marks.records[1] == Breakpoint("value", number=0.3))
    edit_row(bench, dialog, 1, "little")
    bench.wait(lambda: "not a number" in dialog.problem.text())
    assert marks.records[1] == Breakpoint("value", number=0.3)
    assert dialog._field.accessibleDescription() == ""  # nothing is wrong there
    edit_row(bench, dialog, 1, "0.4")
    bench.wait(lambda: marks.records[1] == Breakpoint("value", number=0.4))
    assert dialog.problem.text() == ""
    dialog.select_row(0)
    qtbot.keyClick(dialog._table, Qt.Key.Key_Space)
    assert not marks.records[0].is_enabled
    qtbot.keyClick(dialog._table, Qt.Key.Key_Delete)
    assert marks.records == (Breakpoint("value", number=0.4),)


def test_a_row_that_is_edited_keeps_what_was_typed_while_other_marks_change(bench: Bench, timeline: Timeline) -> None:
    bookmarks = timeline.marks.bookmarks
    bookmarks.set_notes([Bookmark(3, "three"), Bookmark(5, "five")])
    dialog = open_marks(bench, timeline)
    dialog.select_row(1)
    bench.qtbot.keyClick(dialog._table, Qt.Key.Key_F2)
    field = dialog._table.indexWidget(dialog.rows.index(1, 1))
    field.setText("typed")
    bookmarks.changed.emit()
    bookmarks.set_text(0, "3")
    assert (field.text(), dialog.rows.records[0].text) == ("typed", "3")
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)
    bench.wait(lambda: dialog.rows.records[1].text == "typed")


def edit_row(bench: Bench, dialog: MarksDialog, row: int, text: str) -> None:
    """Type a text into a row by the button, and press Enter."""
    dialog.select_row(row)
    bench.qtbot.mouseClick(dialog._edit, Qt.MouseButton.LeftButton)
    bench.qtbot.keyClick(dialog._table, Qt.Key.Key_F2)  # a row that is edited is not edited again
    field = dialog._table.indexWidget(dialog.rows.index(row, 1))
    assert isinstance(field, QLineEdit)
    field.setText(text)
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)


def test_bookmarks_and_breakpoints_are_one_table(bench: Bench, timeline: Timeline, qtmodeltester: ModelTester) -> None:
    marks = timeline.marks
    marks.bookmarks.set_notes([Bookmark(1200, "b"), Bookmark(3, "a", bench.model.history[2].token)])
    marks.breakpoints.set_marks([Breakpoint("token", "##ing"), Breakpoint("value", number=0.0025, is_enabled=False)])
    refused: list[str] = []
    table = MarksTable(marks, refused.append)
    qtmodeltester.check(table)

    def shown(column: int) -> list[str]:
        return [table.index(row, column).data() for row in range(table.rowCount())]

    assert shown(0) == ["Step 3", "Step 1,200", "Token is created", "Merge score falls below"]
    assert shown(1) == ["a", "b", "##ing", "0.0025"]
    boxes = [[table.is_checked(table.index(row, column)) for row in range(4)] for column in (2, 3)]
    assert boxes == [[False, None, None, None], [None, None, True, False]]
    with bench.qtbot.assertNotEmitted(table.modelReset):  # which would end what is typed into a row
        marks.breakpoints.remove(0)
        marks.bookmarks.keep("now", 12)
        marks.bookmarks.remove(0)
        marks.breakpoints.add(Breakpoint("tie", number=2))
    assert shown(1) == ["now", "b", "0.0025", "2"]
    table.setData(table.index(3, 1), "1")
    assert "at least two pairs" in refused[0]


# -- the bookmarks


def test_a_step_is_bookmarked_and_returned_to(bench: Bench, timeline: Timeline) -> None:
    bench.seek(12)
    click(bench, timeline.pane, "keep_step")
    dialog = timeline.window.findChild(LineDialog)
    assert dialog.field.text() == "ch + ##a → cha"
    bench.qtbot.keyClicks(dialog.field, "the first tie")
    bench.qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    bench.seek(3)
    assert timeline.pane.plot.marks.notes.tolist() == [12]
    assert "“the first tie”" in timeline.pane._describe_step(12)
    table = open_marks(bench, timeline)._table
    bench.qtbot.keyClick(table, Qt.Key.Key_Down)
    bench.qtbot.keyClick(table, Qt.Key.Key_Return)
    assert bench.model.step == 12
    bench.qtbot.keyClick(table, Qt.Key.Key_Delete)
    assert not timeline.marks.bookmarks.records


def test_the_heading_of_the_steps_is_whole(bench: Bench, timeline: Timeline) -> None:
    timeline.marks.bookmarks.set_notes([Bookmark(3, "a")])
    table = open_marks(bench, timeline)._table
    heading = table.fontMetrics().horizontalAdvance(table.rows.title(0))
    bench.qtbot.waitUntil(lambda: table.columnWidth(0) >= heading + 2 * CELL_PADDING)


def test_a_note_is_said_where_one_arrives_at_its_step_in_its_run(bench: Bench, timeline: Timeline) -> None:
    said, long = timeline.window.notices.step, "a note that is said to its end " * 10
    timeline.marks.bookmarks.set_notes([Bookmark(12, long, "cha", owner=0), Bookmark(3, "other", "Fa", owner=1)])
    for step, text in ((11, ""), (12, long.strip()), (3, ""), (12, long.strip())):
        bench.seek(step)
        assert said.text == text
    assert timeline.pane.plot.marks.notes.tolist() == [12]
    assert "other" not in timeline.pane._describe_step(3)
    timeline.player.play()
    bench.seek(11)
    timeline.player.stop()
    bench.seek(5)
    timeline.actions.compare_step.trigger()  # a note that says no more than the merge
    assert said.text == ""


def test_a_step_is_compared_by_command(bench: Bench, timeline: Timeline) -> None:
    bookmarks = timeline.marks.bookmarks
    bench.seek(12)
    timeline.actions.compare_step.trigger()
    assert [(note.step, note.text, note.run) for note in bookmarks.records] == [(12, "ch + ##a → cha", 0)]
    timeline.actions.compare_step.trigger()
    assert [(note.step, note.run) for note in bookmarks.records] == [(12, None)]
    timeline.actions.compare_step.trigger()  # the bookmark that is there
    assert [(note.step, note.run) for note in bookmarks.records] == [(12, 0)]
    bench.seek(13)
    timeline.actions.compare_step.trigger()
    assert [(note.step, note.run) for note in bookmarks.records] == [(12, 0), (13, 0)]


# -- the selection


def test_the_birth_of_the_selection_is_marked(bench: Bench, timeline: Timeline) -> None:
    for selection, step in (
        (Selection("token", text="cha"), 12),
        (Selection("pair", left="ch", right="##a"), 12),
        (Selection("token", text="no"), None),
    ):
        bench.model.set_selection(selection)
        assert timeline.pane.plot.marks.birth == step


@pytest.fixture
def dialog(bench: Bench, timeline: Timeline) -> MarksDialog:
    """Two bookmarks and a breakpoint, none of them selected."""
    timeline.marks.bookmarks.keep("the first tie", 12)
    timeline.marks.bookmarks.keep("the end", 25)
    timeline.marks.breakpoints.add(Breakpoint("token", "cha"))
    return open_marks(bench, timeline)


def test_the_headings_of_the_marks_are_whole(dialog: MarksDialog) -> None:
    header = dialog._table.horizontalHeader()
    assert all(header.sectionSize(at) >= header.sectionSizeHint(at) for at in range(header.count()))


def test_a_note_is_edited(bench: Bench, timeline: Timeline, dialog: MarksDialog) -> None:
    edit_row(bench, dialog, 0, "a tie")
    bench.wait(lambda: [note.text for note in timeline.marks.bookmarks.records] == ["a tie", "the end"])


def test_a_note_is_deleted_while_its_line_is_edited(bench: Bench, timeline: Timeline, dialog: MarksDialog) -> None:
    dialog.select_row(0)
    bench.qtbot.mouseClick(dialog._edit, Qt.MouseButton.LeftButton)
    bench.qtbot.mouseClick(dialog._remove, Qt.MouseButton.LeftButton)
    assert [note.text for note in timeline.marks.bookmarks.records] == ["the end"]


def test_a_tick_compares_a_step_and_does_not_go_there(bench: Bench, timeline: Timeline, dialog: MarksDialog) -> None:
    table, notes = dialog._table, timeline.marks.bookmarks
    bench.seek(3)
    option = table.visualRect(dialog.rows.index(0, 2))
    place = QPoint(option.left() + 12, option.center().y())
    bench.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [note.run for note in notes.records] == [0, None]
    assert bench.model.step == 3
    dialog.select_row(1)
    for run in (0, None):
        bench.qtbot.keyClick(table, Qt.Key.Key_Space)
        assert [note.run for note in notes.records] == [0, run]
    assert bench.model.step == 3
    notes.set_notes([Bookmark(3, "of another run", "#")])
    dialog.select_row(0)
    bench.qtbot.keyClick(table, Qt.Key.Key_Space)
    assert notes.records[0].run is None


@pytest.mark.parametrize("row", [1, 2])
def test_nothing_is_done_to_a_mark_not_visibly_selected(bench: Bench, dialog: MarksDialog, row: int) -> None:
    assert not dialog._edit.isEnabled()
    assert not dialog._remove.isEnabled()
    dialog.select_row(row)
    assert dialog._edit.isEnabled()
    unselect(bench, dialog._table)
    assert not dialog._edit.isEnabled()
    assert not dialog._remove.isEnabled()
    bench.qtbot.keyClick(dialog._table, Qt.Key.Key_Delete)
    assert dialog.rows.rowCount() == 3


def unselect(bench: Bench, table: TableView) -> None:
    """Ctrl+click the current row."""
    place = table.visualRect(table.currentIndex()).center()
    held = Qt.KeyboardModifier.ControlModifier
    bench.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, held, place)
    assert table.currentIndex().isValid()


def test_where_histories_diverge_is_said_in_a_sentence() -> None:
    counts = wps.count_texts(["hug hugs " * 5 + "pun " * 4])
    trained = [
        (merges, wps.train(counts, wps.TrainingConfig(objective=objective, max_merges=merges)))
        for objective, merges in (("count", 3), ("count", 3), ("count", 1), ("score", 3))
    ]
    runs = [Run(counts, run.config, run.history, number=number) for number, (_, run) in enumerate(trained)]
    ends = [RunDivergence(runs[0], other, wps.divergence(runs[0].history, other.history)) for other in runs]
    assert divergences_text(ends[1:2]) == ("A and B make the same merges",)
    assert divergences_text(ends[2:3])[0] == "▼ A and C diverge at step 2: A merges hu + ##g, C ends"
    assert divergences_text(ends[3:]) == (
        "▼ A and D diverge at step 1: A merges h + ##u, D merges ##g + ##s",
        "▼ Divergence at step 1",
    )
    tie = replace(ends[3], divergence=replace(ends[3].divergence, is_tie=True))
    assert divergences_text([tie])[0].endswith("D merges ##g + ##s (tie)")
    assert divergences_text(ends[1:]) == (
        "▼ A and C diverge at step 2 · ▼ A and D diverge at step 1",
        "▼ A and C diverge at step 2 · …",
    )
    unknown = RunDivergence(runs[0], runs[1], is_known=False)
    for found in ([unknown], [unknown, unknown]):
        assert divergences_text(found) == ("Merges of B not available",)
    assert divergences_text([]) == ()
