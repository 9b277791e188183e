"""What can be done with the selection in the whole window, by commands, keys and context menus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget

from wordpiece_studio.storage.view import Breakpoint, Selection
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

FULLY = Selection("token", text="##fully")


def type_escape(studio: Studio) -> None:
    """Press Escape where the keyboard is."""
    widget = QApplication.focusWidget() or studio.window
    studio.qtbot.keyClick(widget, Qt.Key.Key_Escape)


def activate(studio: Studio, widget: QWidget | None = None) -> None:
    window = studio.window
    window.activateWindow()
    studio.wait(window.isActiveWindow)
    (widget or window).setFocus()


def test_escape_clears_the_selection_and_a_key_goes_to_its_birth(studio: Studio) -> None:
    window = studio.window
    activate(studio, window.history_pane.view)
    assert not window.actions_.clear_selection.isEnabled()
    window.model.set_selection(FULLY)
    assert window.actions_.clear_selection.isEnabled()
    type_escape(studio)
    assert window.model.selection is None
    assert not window.actions_.clear_selection.isEnabled()
    assert not window.actions_.go_to_birth.isEnabled()
    for selection, step in ((FULLY, 8), (Selection("pair", left="Hug", right="##g"), 18)):
        window.model.set_selection(selection)
        assert window.actions_.go_to_birth.isEnabled()
        window.actions_.go_to_birth.trigger()
        assert window.model.step == step
    for selection in (Selection("token", text="##h"), Selection("token", text="[UNK]"), Selection("word", text="is")):
        window.model.set_selection(selection)
        assert not window.actions_.go_to_birth.isEnabled()


def test_escape_in_a_field_is_the_fields_own(studio: Studio) -> None:
    window = studio.window
    window.model.set_selection(FULLY)
    activate(studio)
    window.actions_.find_token.trigger()
    field = window.vocabulary_pane.controls._field
    studio.wait(field.hasFocus)
    studio.qtbot.keyClicks(field, "ful")
    type_escape(studio)
    assert (field.text(), window.model.selection) == ("", FULLY)
    window.actions_.find.trigger()
    studio.wait(lambda: isinstance(QApplication.focusWidget(), QLineEdit) and not field.hasFocus())
    bar = QApplication.focusWidget()
    type_escape(studio)
    assert not bar.isVisible()
    assert window.model.selection == FULLY


def test_find_a_token_shows_the_vocabulary_wherever_it_is(studio: Studio) -> None:
    window, pane = studio.window, studio.window.vocabulary_pane
    window.docks.close_panel("vocabulary")
    activate(studio)
    window.actions_.find_token.trigger()
    studio.wait(lambda: pane.isVisible() and pane.controls._field.hasFocus())


def context_menu(studio: Studio, ground: QWidget, place: QPoint) -> QMenu:
    """Press the right button, and return the menu that opens."""
    studio.qtbot.mousePress(ground, Qt.MouseButton.RightButton, pos=place)
    QApplication.sendEvent(ground, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, ground.mapToGlobal(place)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def do(menu: QMenu, name: str) -> None:
    action = next(action for action in menu.actions() if action.text().replace("&", "").startswith(name))
    assert action.isEnabled()
    menu.close()
    action.trigger()


def test_a_context_menu_is_about_the_chip_under_the_pointer(studio: Studio) -> None:
    window = studio.window
    chips = window.tokenization_pane.chips
    menu = context_menu(studio, chips.viewport(), chips.rect_of(ChipPlace(0, 0, 0)).center().toPoint())
    assert window.model.selection == Selection("token", text="Th")
    do(menu, "Copy")
    assert QGuiApplication.clipboard().text() == "Th"
    do(menu, "Stop at this token or word")
    assert window.session.marks.breakpoints.records == (Breakpoint("token", "Th"),)
    window.actions_.switch_breakpoint.trigger()
    assert window.session.marks.breakpoints.records == (Breakpoint("token", "Th", is_enabled=False),)
    assert not window.actions_.switch_breakpoint.isChecked()
    window.actions_.switch_breakpoint.trigger()
    assert window.session.marks.breakpoints.records == (Breakpoint("token", "Th"),)
    window.actions_.switch_breakpoint.trigger()
    window.vocabulary_pane.controls._field.setText("nothing like it")
    do(menu, "Show in vocabulary")
    view = window.vocabulary_pane.view
    studio.wait(lambda: view.isVisible() and view.selected_row >= 0)
    assert view.rows.text(int(view.selected_items()[0]), 0) == "Th"
    do(menu, "Go to the step that created the token")
    assert window.model.step == 9
    window.model.seek(8)
    assert not window.actions_.show_in_vocabulary.isEnabled()


def test_rows_have_a_context_menu_and_are_copied(studio: Studio) -> None:
    window = studio.window
    history, candidates = window.history_pane.view, window.scoreboard_pane.candidates_view
    history.scrollTo(history.rows.index(9, 0))
    place = history.visualRect(history.rows.index(9, 0)).center()
    do(context_menu(studio, history.viewport(), place), "Copy")
    assert QGuiApplication.clipboard().text().splitlines()[1].startswith("10\tc\t##h")
    assert (window.model.step, window.model.selection) == (10, Selection("token", text="ch"))
    studio.wait(lambda: window.scoreboard_pane.candidates is not None)
    place = candidates.visualRect(candidates.rows.index(1, 1)).center()
    context_menu(studio, candidates.viewport(), place).close()
    assert window.model.selection.kind == "pair"
    candidates.setFocus()
    studio.qtbot.keyClick(candidates, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text().rstrip().split("\t")
    assert copied[:2] == ["2", f"{window.model.selection.left} {window.model.selection.right}"]


def test_the_selection_is_copied_where_no_field_takes_the_key(studio: Studio) -> None:
    window = studio.window
    window.model.set_selection(FULLY)
    activate(studio, window.tokenization_pane.chips)
    studio.qtbot.keyClick(window.tokenization_pane.chips, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "##fully"
    window.corpus_pane.show_tab(CorpusTab.WORDS)
    for table in (window.scoreboard_pane.candidates_view, window.history_pane.view, window.corpus_pane.words_tab.view):
        table.clearSelection()
        table.setFocus()
        QGuiApplication.clipboard().setText("what was there")
        studio.qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == "##fully"  # no row is selected


def test_a_step_of_the_timeline_has_a_context_menu(studio: Studio) -> None:
    plot = studio.window.timeline_pane.plot
    menu = context_menu(studio, plot, QPoint(round(plot.x_of(7)), plot.height() // 2))
    assert studio.window.model.step == 7
    do(menu, "Compare with this step")
    assert studio.window.session.marks.bookmarks.records[0].step == 7


def click_chip(studio: Studio, number: int) -> None:
    chips = studio.window.tokenization_pane.chips
    place = chips.rect_of(ChipPlace(0, 0, number)).center().toPoint()
    studio.qtbot.mouseClick(chips.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_token_details_come_to_the_front_but_not_over_what_was_clicked(studio: Studio) -> None:
    window = studio.window
    window.resize(1366, 768)
    studio.wait(lambda: not window.token_details_pane.isVisible())
    click_chip(studio, 0)
    assert window.token_details_pane.isVisible()
    assert window.docks.changed_by_hand() is None
    window.actions_.clear_selection.trigger()
    assert window.corpus_pane.isVisible()
    window.corpus_pane.show_tab(CorpusTab.WORDS)
    words = window.corpus_pane.words_tab.view
    words.setFocus()
    studio.wait(words.rows.rowCount)
    words.item_chosen.emit(0)
    assert window.model.selection.kind == "word"
    assert window.corpus_pane.isVisible()  # it was clicked


def test_a_hint_goes_once_it_was_followed(studio: Studio) -> None:
    window = studio.window
    lines = [window.docks.panels[name].title_bar._hint_label for name in ("tokenization", "timeline")]

    def said() -> list[str]:
        studio.wait(studio.rests)
        return [line.accessibleName().partition(":")[0].partition(" · ")[0] for line in lines]

    window.model.set_selection(FULLY)  # as a restored view does
    assert said() == ["Click a token", "Drag along the curve to go through the merges"]
    click_chip(studio, 0)
    assert said()[0] == "Double-click a token to open its word"
    window.tokenization_pane.chips.word_chosen.emit(ChipPlace(0, 0, 0))
    plot = window.timeline_pane.plot
    studio.qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=QPoint(round(plot.x_of(7)), plot.height() // 2))
    assert said() == ["Merge 7 of 25", "Step 7 of 25"]
    assert window.settings.values.gestures == ("click", "open", "drag")
