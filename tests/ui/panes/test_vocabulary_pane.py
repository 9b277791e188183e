"""The vocabulary by keyboard and mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QToolButton

from tests.ui.panes.looking import Looking
from wordpiece_studio.session.vocabulary_table import VocabularyColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.vocabulary_pane import VocabularyPane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.panes.conftest import Bench


@pytest.fixture
def looking(bench: Bench) -> Iterator[Looking]:
    looking = Looking(bench)
    yield looking
    looking.close()


def place_of(pane: VocabularyPane, token_id: int) -> QPoint:
    index = pane.table.index(pane.table.row_of_item(token_id), 0)
    pane.view.scrollTo(index)
    return pane.view.visualRect(index).center()


def tokens(pane: VocabularyPane) -> list[str]:
    rows = range(pane.table.rowCount())
    return [str(pane.table.value(pane.table.item_of_row(row), VocabularyColumn.TOKEN)) for row in rows]


def search(pane: VocabularyPane, looking: Looking, text: str) -> None:
    field = pane.findChild(QLineEdit)
    field.clear()
    looking.bench.qtbot.keyClicks(field, text)
    looking.bench.wait(lambda: not pane.table.task.is_running)
    looking.settle()


def test_the_line_of_numbers(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    assert pane.hints[0] == "70 tokens · 5 special · 40 alphabet · 25 learned · 44 in use (+1) · 21 unused"
    looking.bench.model.seek(10)
    looking.settle()
    assert pane.hints[0].startswith("55 tokens · 5 special · 40 alphabet · 10 learned · ")
    assert pane.table.rowCount() == 55
    hints, panel = [], looking.bench.show_panel("Vocabulary", pane, 1000, pane.height())
    for width in range(1000, 150, -10):
        panel.resize(width, pane.height())
        looking.settle()
        hints.append(panel.title_bar._hint_label.text())
    assert hints[-1] == ""
    assert not [hint for hint in hints if hint.endswith("…")]
    assert hints.index("40 in use (±0)") < hints.index("55 tokens")  # what nothing else says goes last but one


def test_before_training_it_says_what_to_do(empty_bench: Bench) -> None:
    looking = Looking(empty_bench)
    pane = looking.show(VocabularyPane)
    assert "Train" in pane.empty.text
    assert not pane.view.isVisible()
    looking.close()


def test_a_click_sets_the_selection_and_a_double_click_goes_to_the_birth(looking: Looking) -> None:
    pane, model, qtbot = looking.show(VocabularyPane), looking.bench.model, looking.bench.qtbot
    place = place_of(pane, 52)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (model.selection, model.step) == (Selection("token", text="##fully"), 25)
    qtbot.mouseDClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (model.selection, model.step) == (Selection("token", text="##fully"), 8)


def test_keys(looking: Looking) -> None:
    pane, model, qtbot = looking.show(VocabularyPane), looking.bench.model, looking.bench.qtbot
    model.set_selection(Selection("token", text="##full"))
    assert pane.view.selected_items().tolist() == [51]
    qtbot.keyClick(pane.view, Qt.Key.Key_Down)
    assert model.selection == Selection("token", text="##fully")
    qtbot.keyClick(pane.view, Qt.Key.Key_Return)
    assert model.step == 8


def test_home_and_end_move_through_the_rows_not_the_steps(looking: Looking) -> None:
    pane, model = looking.show(VocabularyPane, height=260), looking.bench.model
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier)
    override.ignore()
    assert QApplication.sendEvent(pane.view, override)
    assert override.isAccepted()
    looking.bench.qtbot.keyClick(pane.view, Qt.Key.Key_End)
    assert (model.selection, model.step) == (Selection("token", text=tokens(pane)[-1]), 25)
    looking.bench.qtbot.keyClick(pane.view, Qt.Key.Key_Home)
    assert pane.view.selected_items().tolist() == [0]


def test_the_scroll_position_stays_when_the_step_moves(looking: Looking) -> None:
    pane, model = looking.show(VocabularyPane, height=260), looking.bench.model
    model.set_selection(Selection("token", text="[UNK]"))
    bar = pane.view.verticalScrollBar()
    bar.setSliderPosition(300)  # as the wheel and the hand do
    looking.bench.seek(24)
    looking.settle()
    assert bar.value() == 300
    model.set_selection(Selection("token", text="##a"))
    model.set_selection(Selection("token", text="[UNK]"))
    assert bar.value() < 100


def test_rows_selected_for_copying_stay_selected_when_the_step_moves(looking: Looking) -> None:
    pane, model, qtbot = looking.show(VocabularyPane), looking.bench.model, looking.bench.qtbot
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=place_of(pane, 1))
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, shift, place_of(pane, 4))
    assert model.selection == Selection("token", text="[UNK]")
    looking.bench.seek(24)
    looking.settle()
    assert pane.view.selected_items().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("selection", [Selection("token", text="chap"), Selection("pair", left="cha", right="##p")])
def test_the_selection_of_other_panes_is_selected_and_in_view(looking: Looking, selection: Selection) -> None:
    pane = looking.show(VocabularyPane, height=260)
    looking.bench.model.set_selection(selection)
    row = pane.table.row_of_item(57)
    assert pane.view.selected_items().tolist() == [57]
    assert pane.view.viewport().rect().contains(pane.view.visualRect(pane.table.index(row, 0)).center())
    looking.bench.model.set_selection(None)
    assert not len(pane.view.selected_items())


def test_the_selected_token_is_selected_again_when_it_is_born(looking: Looking) -> None:
    pane, model = looking.show(VocabularyPane), looking.bench.model
    model.set_selection(Selection("token", text="chap"))
    looking.bench.seek(5)
    assert not len(pane.view.selected_items())
    looking.bench.seek(20)
    assert pane.view.selected_items().tolist() == [57]


def test_search(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    search(pane, looking, "##fu")
    assert tokens(pane) == ["##fu", "##ful", "##full", "##fully"]
    assert "dead" not in pane.hints[0].split(":")[0]  # they are not four of them, but of all tokens
    assert pane.hints[0].startswith("4 of 70 tokens")
    looking.bench.seek(6)
    assert tokens(pane) == ["##fu", "##ful"]
    search(pane, looking, "no such token")
    assert "matches" in pane.empty.text
    looking.bench.qtbot.keyClick(pane.findChild(QLineEdit), Qt.Key.Key_Escape)
    assert pane.table.rowCount() == 51


def test_search_with_expressions(looking: Looking) -> None:
    pane, qtbot = looking.show(VocabularyPane), looking.bench.qtbot
    pattern = next(each for each in pane.findChildren(QToolButton) if each.text() == ".*")
    qtbot.mouseClick(pattern, Qt.MouseButton.LeftButton)
    search(pane, looking, "^[^#]{2}$")
    assert tokens(pane) == ["ab", "Fa", "Th", "ch", "Hu", "sh", "th", "is"]
    search(pane, looking, "(ab")
    assert "missing )" in pane.controls.error.text()
    assert pane.controls.error.isVisible()
    assert pane.table.rowCount() == 0
    assert "Correct the regular expression" in pane.empty.text
    search(pane, looking, "(ab)")
    assert not pane.controls.error.isVisible()
    assert tokens(pane) == ["ab"]


def test_kinds(looking: Looking) -> None:
    pane, qtbot = looking.show(VocabularyPane), looking.bench.qtbot
    kinds = pane.findChild(QComboBox)
    assert [kinds.itemText(index) for index in range(5)] == [
        "All  70", "Special  5", "Alphabet  40", "Learned  25", "Unused  21",
    ]  # fmt: skip
    kinds.setFocus()
    qtbot.keyClick(kinds, Qt.Key.Key_End)
    kinds.activated.emit(kinds.currentIndex())
    looking.settle()
    assert pane.table.rowCount() == 21
    assert "##fully" not in tokens(pane)
    looking.bench.model.seek(0)
    looking.settle()
    assert "No unused tokens" in pane.empty.text


def test_a_header_click_sorts(looking: Looking) -> None:
    pane, qtbot = looking.show(VocabularyPane), looking.bench.qtbot
    header = pane.view.horizontalHeader()
    place = header.viewport().rect().center()
    place.setX(header.sectionViewportPosition(VocabularyColumn.FREQUENCY) + 10)
    for _ in range(2):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert pane.table.item_of_row(0) == int(looking.usage.frequencies.argmax())
    looking.bench.model.seek(0)
    looking.settle()
    assert pane.table.item_of_row(0) == int(looking.usage.frequencies.argmax())


def test_selected_rows_are_copied_as_tab_separated_text(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    selection = QItemSelection(pane.table.index(51, 0), pane.table.index(52, 6))
    pane.view.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
    looking.bench.qtbot.keyClick(pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "token\tid\tborn\tfrequency\twords\tlength\tdead"
    assert lines[1].split("\t") == ["##full", "51", "7", "0", "0", "4", "merged"]
    assert lines[2].split("\t") == ["##fully", "52", "8", "1", "1", "5", ""]
    pane.view.selectionModel().select(pane.table.index(0, 0), QItemSelectionModel.SelectionFlag.ClearAndSelect)
    pane.copy_rows()
    assert QGuiApplication.clipboard().text().splitlines()[1].split("\t")[:3] == ["[PAD]", "0", ""]


def test_figures_of_another_step_are_not_copied(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    looking.bench.model.set_selection(Selection("token", text="##ful"))
    looking.bench.model.seek(20)  # the figures known are those of step 25
    pane.copy_rows()
    copied = QGuiApplication.clipboard().text().splitlines()[1].split("\t")
    assert copied == ["##ful", "50", "6", "", "", "3", ""]


def test_the_reason_is_shown_in_a_column_and_a_tooltip(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    index = pane.table.index(51, VocabularyColumn.REASON)
    assert index.data() == "All merged into ##fully at step 8"
    tip = index.data(Qt.ItemDataRole.ToolTipRole)
    assert "Every occurrence was merged into ##fully at step 8, as in “Hopefully”" in tip


def test_a_narrow_pane_hides_columns(looking: Looking) -> None:
    pane = looking.show(VocabularyPane, width=260)
    hidden = {column for column in VocabularyColumn if pane.view.isColumnHidden(column)}
    assert VocabularyColumn.TOKEN not in hidden
    assert VocabularyColumn.LENGTH in hidden
    assert sum(pane.view.columnWidth(column) for column in set(VocabularyColumn) - hidden) <= 260
    pane.resize(900, 400)
    looking.settle()
    hidden = {column for column in VocabularyColumn if pane.view.isColumnHidden(column)}
    assert hidden == {VocabularyColumn.RUNS, VocabularyColumn.SCORE}  # nothing is compared, and nothing has scores


def test_nothing_is_counted_while_it_is_hidden(looking: Looking) -> None:
    pane = looking.show(VocabularyPane)
    pane.hide()
    looking.bench.seek(3)
    assert looking.usage.step == 25
    pane.show()
    looking.settle()
    assert looking.usage.step == 3


def test_it_follows_training(looking: Looking) -> None:
    pane, model = looking.show(VocabularyPane), looking.bench.model
    search(pane, looking, "##")
    before = pane.table.rowCount()
    model.train_further(vocab_size=90)
    looking.bench.wait(lambda: model.merge_count == 45)
    model.last()
    looking.settle()
    looking.bench.wait(lambda: pane.table.rowCount() > before)
    looking.settle()
    assert pane.hints[0].startswith(f"{pane.table.rowCount()} of 90 tokens")


@pytest.mark.parametrize("look", ["light", "dark", "contrast"])
def test_it_paints_in_all_themes(looking: Looking, look: str) -> None:
    looking.bench.theme.set_choice(look)  # type: ignore[arg-type]
    pane = looking.show(VocabularyPane)
    assert not pane.grab().isNull()


def test_no_horizontal_bar_when_the_vertical_one_comes_back(looking: Looking) -> None:
    pane = looking.show(VocabularyPane, 530, 300)
    assert pane.view.verticalScrollBar().isVisible()
    for text in ("zzzz", ""):
        search(pane, looking, text)
    assert pane.view.verticalScrollBar().isVisible()
    assert pane.view.horizontalScrollBar().maximum() == 0
