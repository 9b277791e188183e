"""Compared runs and bookmarked steps in the timeline, the vocabulary, the list of changes and the live text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox

from tests.ui.test_run_strip import train
from wordpiece_studio.session.runs import ComparedStep, step_of_size
from wordpiece_studio.session.vocabulary_table import NEVER, VocabularyColumn, VocabularyFilter
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.ui.panes.comparison.comparison_pane import Tab
from wordpiece_studio.ui.panes.tokenization.token_table import RUN

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester

    from tests.ui.conftest import Studio
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.panes.timeline.timeline_plot import TimelinePlot

_LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def two(studio: Studio) -> Studio:
    """A window that compares score, to 70 tokens, with likelihood, to 60; score is shown, at step 10."""
    window, runs = studio.window, studio.window.session.runs
    train(studio, "score")
    window.session.settings.set_target_size(60)
    train(studio, "likelihood")
    for run in runs.all:
        runs.set_compared(run, True)
    runs.show(runs.all[0])
    window.model.seek(10)
    studio.wait(lambda: len(window.timeline_pane.plot.lanes) == 2 and not window.timeline_pane.is_stale)
    return studio


def compared(studio: Studio) -> tuple[Run, Run]:
    score, likelihood = studio.window.session.runs.all
    return score, likelihood


# The timeline.


def settled_plot(studio: Studio) -> TimelinePlot:
    pane = studio.window.timeline_pane
    studio.wait(lambda: not pane.is_stale)
    pane.plot.grab()
    return pane.plot


def lane_steps(plot: TimelinePlot) -> list[tuple[int, str]]:
    return [(lane.step, lane.words) for lane in plot.lanes]


def test_every_compared_run_has_a_lane_in_which_a_size_is_at_the_same_place(two: Studio) -> None:
    window, (score, likelihood) = two.window, compared(two)
    plot = settled_plot(two)
    assert [(lane.run, lane.name, len(lane.values)) for lane in plot.lanes] == [
        (score, "Score", 25), (likelihood, "Likelihood", 15),
    ]  # fmt: skip
    assert lane_steps(plot) == [(10, "55 of 70 tokens"), (10, "55 of 60 tokens")]
    assert window.timeline_pane.hints[0].startswith("Step 10 of 25 · compared at the same step, 55 tokens")
    assert "B Likelihood: 55 of 60 tokens" in plot.accessibleDescription()
    window.model.last()
    assert lane_steps(settled_plot(two)) == [(25, "70 of 70 tokens"), (15, "final, 60 tokens")]
    assert "compared at 70 tokens" in window.timeline_pane.hints[0]
    places = [plot._xs_of(np.array([0, 10, 15]), lane).tolist() for lane in plot.lanes]
    assert places[0] == places[1]
    assert plot.x_of(25) > places[1][-1]
    for step in (0, 7, 25):
        two.qtbot.mouseClick(plot, _LEFT, pos=QPoint(round(plot.x_of(step)), plot.height() // 2))
        assert window.model.step == step


def test_the_lanes_stay_where_they_are_when_another_tab_is_shown(two: Studio) -> None:
    score, likelihood = compared(two)
    two.window.session.runs.show(likelihood)
    plot = settled_plot(two)
    assert [lane.run for lane in plot.lanes] == [score, likelihood]
    assert plot.lanes[1].values is plot.values
    assert plot._groove_y == plot._lane_room(1).bottom()
    two.window.session.runs.set_compared(score, False)
    two.wait(lambda: plot.lanes == ())
    assert plot.x_of(15) == plot.width() - 14


def test_four_lanes_are_drawn_in_a_low_pane(two: Studio) -> None:
    window, runs = two.window, two.window.session.runs
    for size in (50, 55, 65):
        window.session.settings.set_target_size(size)
        runs.set_compared(train(two, "count"), True)
    two.wait(lambda: len(window.timeline_pane.plot.lanes) == 4)
    window.resize(1024, 768)
    plot = settled_plot(two)
    two.wait(lambda: plot.height() >= plot.minimumSizeHint().height())
    assert runs.current in [lane.run for lane in plot.lanes]
    rooms = [plot._lane_room(number) for number in range(4)]
    assert all(room.height() > 0 for room in rooms)
    assert rooms[-1].bottom() < plot.height()
    line = QFontMetrics(plot._name_font(is_own=True)).height()
    assert line < plot.fontMetrics().height()
    assert line <= rooms[1].bottom() - rooms[0].bottom()  # the names do not touch
    assert plot._below_axis("tie") == plot._groove_y


def test_a_lane_grows_while_its_run_is_trained_further(two: Studio) -> None:
    score, likelihood = compared(two)
    two.window.session.runs.show(likelihood)
    two.window.session.settings.set_target_size(65)
    two.window.model.train_further(vocab_size=65)
    two.wait(lambda: two.window.model.merge_count == 20)
    two.wait(lambda: len(two.window.timeline_pane.plot.lanes[1].values) == 20)
    two.window.session.runs.show(score)
    two.wait(lambda: len(settled_plot(two).lanes[1].values) == 20)


# The vocabulary.


@pytest.fixture
def vocabulary(two: Studio) -> Studio:
    """The same with the vocabulary in front."""
    window = two.window
    window.docks.bring("vocabulary")
    two.wait(lambda: window.vocabulary_pane.isVisible() and not window.vocabulary_pane.is_stale)
    return two


def test_tokens_say_when_the_other_runs_made_them(vocabulary: Studio, qtmodeltester: ModelTester) -> None:
    pane, (score, likelihood) = vocabulary.window.vocabulary_pane, compared(vocabulary)
    table = pane.table
    assert not pane.view.isColumnHidden(VocabularyColumn.RUNS)
    theirs = likelihood.history.vocabulary(15)
    said = set()
    for step in (10, 5, 1):
        vocabulary.window.model.seek(step)
        vocabulary.wait(lambda: not pane.is_stale)
        for row in range(table.rowCount()):
            token = score.history.token(row)
            born = likelihood.history.birth_step(theirs.id_of(token)) if token in theirs else NEVER
            assert table.value(row, VocabularyColumn.RUNS) == [born]
            text = f"B {born}" if born <= step else f"(B {born})"
            text = "Only in this run" if born == NEVER else text if born else "B"
            assert table.text(row, VocabularyColumn.RUNS) == text
            said.add(text.split()[0])
    assert said >= {"B", "Only"}
    room = pane.view.columnWidth(VocabularyColumn.RUNS)
    assert room > pane.view.fontMetrics().horizontalAdvance("Only in this run")
    qtmodeltester.check(table)
    window = vocabulary.window
    window.model.last()
    vocabulary.wait(lambda: not pane.is_stale)
    pane.view.horizontalHeader().setSortIndicator(VocabularyColumn.RUNS, Qt.SortOrder.AscendingOrder)
    births = [pane.table.value(pane.table.item_of_row(row), VocabularyColumn.RUNS)[0] for row in range(70)]
    assert births == sorted(births)
    window.session.runs.show(compared(vocabulary)[1])
    vocabulary.wait(lambda: not pane.is_stale and pane.table.rowCount() == 60)
    births = [pane.table.value(pane.table.item_of_row(row), VocabularyColumn.RUNS)[0] for row in range(60)]
    assert births == sorted(births)


def test_tokens_of_one_run_only_are_found_at_every_step(vocabulary: Studio) -> None:
    window, (score, likelihood) = vocabulary.window, compared(vocabulary)
    pane = window.vocabulary_pane
    kinds = pane.controls.findChild(QComboBox)
    kinds.setCurrentIndex(kinds.findData("only"))
    kinds.activated.emit(kinds.currentIndex())
    for step in (10, 3, 25, 0):
        window.model.seek(step)
        vocabulary.wait(lambda: not pane.is_stale)
        size = score.history.vocabulary_size(step)
        other = likelihood.history.vocabulary(step_of_size(likelihood.history, size)[0])
        expected = [token for token in score.history.vocabulary(step).tokens if token not in other]
        shown = [pane.table.text(pane.table.item_of_row(row), 0) for row in range(pane.table.rowCount())]
        assert shown == expected
        assert kinds.currentText() == f"Only in this run  {len(expected)}"
    assert pane.empty.text == "Every token at this step is in another compared run or step too."
    window.session.runs.set_compared(likelihood, False)
    vocabulary.wait(lambda: pane.table.filter == VocabularyFilter())
    vocabulary.wait(lambda: pane.view.isColumnHidden(VocabularyColumn.RUNS))
    assert kinds.findData("only") < 0


# The changes of the text.


def test_the_changes_are_those_of_all_runs(two: Studio, qtmodeltester: ModelTester) -> None:
    window, pane = two.window, two.window.tokenization_pane
    score, likelihood = compared(two)
    pane.set_text("This chapter shows the tokenization of a course")
    view = pane.changes_view
    two.wait(lambda: not pane.is_stale and len(view.rows.runs) == 2 and pane._changes.is_known)
    expected = []
    for run in (score, likelihood):
        counts = [
            [word.pieces for word in ComparedStep(run, step).tokenizer.tokenize_words(pane.text)]
            for step in range(len(run.history) + 1)
        ]
        texts = [[[piece.token for piece in pieces] for pieces in each] for each in counts]
        changed = [step for step in range(1, len(texts)) if texts[step] != texts[step - 1]]
        expected += [(run.history.vocabulary_size(step), run.letter, step) for step in changed]
    rows = view.model
    letters = [rows.index(row, RUN).data() for row in range(rows.rowCount())]
    assert [(letter, row.step) for letter, row in zip(letters, view.rows, strict=True)] == [
        (letter, step) for _, letter, step in sorted(expected)
    ]
    assert set(letters) == {"A", "B"}
    assert not view._table.isColumnHidden(RUN)
    assert rows.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole).startswith(f"Run {letters[0]}, step ")
    qtmodeltester.check(rows)
    window.session.runs.set_compared(likelihood, False)
    two.wait(lambda: len(view.rows.runs) == 1)
    assert view._table.isColumnHidden(RUN)


def test_the_window_rests_while_runs_are_compared(two: Studio) -> None:
    for size in ((1024, 768), (1366, 768), (1920, 1080)):
        two.window.resize(*size)
        for step in (0, 3):
            two.window.model.seek(step)
            assert two.rests()


def test_the_rows_of_the_steps_compared_are_marked_and_later_ones_pale(two: Studio) -> None:
    window, view = two.window, two.window.tokenization_pane.changes_view
    two.wait(lambda: len(view.rows.runs) == 2)
    rows, table = view.model, view._table
    here = [row for row in range(rows.rowCount()) if view.run_of(row).letter == "B"][1]
    two.qtbot.mouseClick(table.viewport(), _LEFT, pos=center_of(table, here))
    step = view.rows[here].step
    assert window.model.step == window.session.comparison.shown_step(view.run_of(here), step)
    two.wait(lambda: view.look(here).ground)
    assert not view.is_future(here)
    for row in range(rows.rowCount()):
        assert view.is_future(row) == (view.rows[row].step > step)  # both began with the same tokens
        assert bool(view.look(row).ground) == (view.rows[row].step == step)


def center_of(table: object, row: int) -> QPoint:
    index = table.model().index(row, 1)
    table.scrollTo(index)
    return table.visualRect(index).center()


def test_rows_of_the_run_shown_before_are_not_taken_for_those_of_this_one(two: Studio) -> None:
    """They stay until the others are found; a shorter run does not have their steps."""
    window, view = two.window, two.window.tokenization_pane.changes_view
    two.wait(lambda: len(view.rows.runs) == 2)
    rows = window.session.changes.rows
    window.session.runs.show(compared(two)[1])
    window.session.changes.set_rows(rows, is_known=False)
    assert view.rows is rows


def test_a_token_that_only_another_run_has_is_not_selected(two: Studio) -> None:
    window, pane = two.window, two.window.tokenization_pane
    score, _ = compared(two)
    pane.set_text("This chapter shows the tokenization of a course")
    view = pane.changes_view
    two.wait(lambda: not pane.is_stale and len(view.rows.runs) == 2 and pane._changes.is_known)
    known = score.history.vocabulary(25)
    row = next(row for row, each in enumerate(view.rows) if each.token not in known)
    window.model.set_selection(Selection("word", text="course"))
    two.qtbot.mouseClick(view._table.viewport(), _LEFT, pos=center_of(view._table, row))
    assert window.model.selection == Selection("word", text="course")


# Bookmarked steps.


@pytest.fixture
def fixed(two: Studio) -> Studio:
    """The same run alone, at step 10, compared with its own step 3 and step 12 of the other, which are bookmarked."""
    window, (score, likelihood) = two.window, compared(two)
    bookmarks, runs = window.session.marks.bookmarks, window.session.runs
    for run in (score, likelihood):
        runs.set_compared(run, False)
    bookmarks.set_compared(bookmarks.keep("a tie", 3), True)
    runs.show(likelihood)
    bookmarks.set_compared(bookmarks.keep("late", 12), True)
    runs.show(score)
    window.model.seek(10)
    two.wait(lambda: not window.timeline_pane.is_stale and not window.tokenization_pane.is_stale)
    return two


def test_bookmarked_steps_have_splits_that_never_change(fixed: Studio) -> None:
    window, (score, likelihood) = fixed.window, compared(fixed)
    window.tokenization_pane.set_text("This chapter shows the tokenization of a course")
    window.actions_.choice("choose_layout", "compare").trigger()
    window.comparison_pane.show_tab(Tab.TEXT)
    table = window.comparison_pane.text
    for step in (10, 25, 0):
        window.model.seek(step)
        fixed.wait(lambda: not window.comparison_pane.is_stale)
        tokenizers = [
            Tokenizer(run.history.vocabulary(at)) for run, at in ((score, step), (score, 3), (likelihood, 12))
        ]
        assert [each.label for each in table._steps] == ["A", "A@3", "B@12"]
        for row in table.words:
            splits = [each.encode(row.word).tokens for each in tokenizers]
            assert (list(row.splits), row.is_apart) == (splits, any(each != splits[0] for each in splits))
    window.session.marks.bookmarks.remove(0)
    fixed.wait(lambda: len(table._steps) == 2)
    window.session.marks.bookmarks.set_compared(0, False)
    fixed.wait(lambda: not table._steps)


def test_two_equal_bookmarks_are_compared(fixed: Studio) -> None:
    window = fixed.window
    bookmarks = window.session.marks.bookmarks
    bookmarks.set_compared(bookmarks.keep("a tie", 3), True)
    assert bookmarks.records.count(bookmarks.records[0]) == 2
    window.actions_.choice("choose_layout", "compare").trigger()
    window.comparison_pane.show_tab(Tab.TEXT)
    table = window.comparison_pane.text
    assert [each.label for each in table._steps] == ["A", "A@3", "A@3", "B@12"]
    assert all(row.splits[1] == row.splits[2] for row in table.words)
    assert table.rows.columnCount() == 5


def test_bookmarked_steps_have_lanes_whose_mark_stays_and_changes_are_of_the_run_shown(fixed: Studio) -> None:
    window, (score, likelihood) = fixed.window, compared(fixed)
    view = window.tokenization_pane.changes_view
    fixed.wait(lambda: window.session.changes.is_known and len(view.rows) > 0)
    assert len(view.rows.runs) == 1
    for step in (10, 25, 0):
        window.model.seek(step)
        plot = settled_plot(fixed)
        size = 45 + step
        assert [(lane.run, lane.name, len(lane.values)) for lane in plot.lanes] == [
            (score, "Score", 25), (score, "@3 a tie", 25), (likelihood, "@12 late", 15),
        ]  # fmt: skip
        assert plot.own == 0
        assert lane_steps(plot) == [
            (step, f"{size} of 70 tokens"), (3, "48 of 70 tokens"), (12, "57 of 60 tokens"),
        ]  # fmt: skip
        assert f"compared at {size} tokens" in window.timeline_pane.hints[0]
    assert "\nA @3 a tie: 48 of 70 tokens\nB @12 late: 57 of 60 tokens" in plot.accessibleDescription()
    window.session.runs.show(likelihood)
    fixed.wait(lambda: [lane.name for lane in settled_plot(fixed).lanes] == ["@3 a tie", "Likelihood", "@12 late"])
    assert plot.own == 1


def test_tokens_say_whether_a_bookmarked_step_has_them(fixed: Studio) -> None:
    window, (score, _) = fixed.window, compared(fixed)
    bookmarks, pane = window.session.marks.bookmarks, window.vocabulary_pane
    bookmarks.remove(1)
    window.docks.bring("vocabulary")
    fixed.wait(lambda: pane.isVisible() and not pane.is_stale)
    said = [pane.table.text(row, VocabularyColumn.RUNS) for row in range(pane.table.rowCount())]
    assert said == ["A@3"] * 48 + ["Only in this run"] * 7
    kinds = pane.controls.findChild(QComboBox)
    kinds.setCurrentIndex(kinds.findData("only"))
    kinds.activated.emit(kinds.currentIndex())
    fixed.wait(lambda: pane.table.rowCount() == 7)
    rows = [pane.table.text(pane.table.item_of_row(row), 0) for row in range(7)]
    assert rows == [score.history[number].token for number in range(3, 10)]


def test_no_more_than_four_lanes_are_drawn(fixed: Studio) -> None:
    bookmarks = fixed.window.session.marks.bookmarks
    for step in (5, 7):
        bookmarks.set_compared(bookmarks.keep("more", step), True)
    fixed.wait(lambda: len(settled_plot(fixed).lanes) == 4)
