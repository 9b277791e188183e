"""The palette: what is typed and what matches it, and the palette in the window, by key and by mouse."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit, QToolButton
from shiboken6 import delete

from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.dialogs import palette as palette_module
from wordpiece_studio.ui.dialogs.palette import Entry, entry_model, fit, folded, matching_entries, step_entry

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.dialogs.palette import Palette

ENTRIES = [
    Entry("Save vocabulary…", "File", "Ctrl+S", "Save the vocabulary at the step shown"),
    Entry("Vocabulary", "View › Panes"),
    Entry("Breakpoints…", "Step", "Ctrl+B", "Choose where playing and running stop"),
    Entry("Größerer Text", "View › Text size", "Ctrl++"),
    Entry("한국어 예문", "File › Sample corpora"),
]
_KEY = Qt.Key


def titles(text: str) -> list[str]:
    return [entry.title for entry in matching_entries(ENTRIES, text)]


@pytest.mark.slow
def test_the_examples_hold() -> None:
    assert not doctest.testmod(palette_module).failed


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("voc", "Vocabulary"),
        ("SAVE", "Save vocabulary…"),
        ("voc sav", "Save vocabulary…"),
        ("grosser", "Größerer Text"),
        ("brkp", "Breakpoints…"),
        ("ctrl+b", "Breakpoints…"),
        ("stop playing", "Breakpoints…"),
        ("panes", "Vocabulary"),
        ("예문", "한국어 예문"),
        ("한구", "한국어 예문"),
    ],
)
def test_the_best_match_comes_first(text: str, first: str) -> None:
    assert titles(text)[:1] == [first]


def test_every_word_must_match_and_nothing_typed_shows_everything() -> None:
    assert titles("save xyz") == []
    assert titles("  ") == [entry.title for entry in ENTRIES]


def test_letters_match_only_from_the_beginning_of_a_word() -> None:
    assert fit("rkp", folded("Breakpoints")) == 0
    assert fit("bp", folded("Breakpoints")) > 0


@pytest.mark.parametrize(
    ("text", "step"), [("12", 12), ("1,200", 1200), ("step 7", 7), ("٣", 3), ("a", None), ("-5", None)]
)
def test_a_number_is_a_step(text: str, step: int | None) -> None:
    entry = step_entry(text, 5000)
    assert (entry.step if entry is not None else None) == step


def test_a_step_that_is_not_learned_says_so() -> None:
    assert step_entry("26", 25).reason == "This run has only 25 merges"
    assert not step_entry("25", 25).reason


@pytest.fixture
def palette(studio: Studio) -> Palette:
    studio.window.activateWindow()
    studio.window.corpus_pane.editor.setFocus()
    studio.window.actions_.command_palette.trigger()
    return studio.window.help_controller.palette


def shown(palette: Palette) -> list[str]:
    return [palette.model.records[row].title for row in range(palette.model.rowCount())]


def enter(studio: Studio, text: str) -> None:
    palette = studio.window.help_controller.palette
    QTest.keyClicks(palette.field, text)
    QTest.keyClick(palette.field, _KEY.Key_Return)
    studio.qtbot.wait(20)


def test_the_model(qtmodeltester: ModelTester) -> None:
    model = entry_model()
    model.set_records([Entry("A", "File", "Ctrl+A"), Entry("B", refusal="not now")])
    qtmodeltester.check(model)
    assert model.data(model.index(1, 0), Qt.ItemDataRole.AccessibleTextRole) == "B, not now"
    model.set_records([])
    assert model.rowCount() == 0


def test_it_finds_every_command_of_the_menus_and_opens_with_its_button(studio: Studio, palette: Palette) -> None:
    placed = [action for _, action in studio.window.actions_.placed() if action.isVisible()]
    assert len(shown(palette)) == len(placed) - 1  # without itself
    palette.leave()
    buttons = studio.window.bar.findChildren(QToolButton)
    next(each for each in buttons if each.property("role") == "search").click()
    assert palette.isVisible()


def test_enter_does_the_command_and_gives_the_focus_back(studio: Studio, palette: Palette) -> None:
    assert palette.field.hasFocus()
    enter(studio, "to the last")
    assert studio.window.model.step == 25
    assert not palette.isVisible()
    assert studio.window.corpus_pane.editor.hasFocus()


def test_arrows_move_and_escape_closes(studio: Studio, palette: Palette) -> None:
    QTest.keyClicks(palette.field, "merge")
    QTest.keyClick(palette.field, _KEY.Key_Up)
    assert palette.list.currentIndex().row() == palette.model.rowCount() - 1
    QTest.keyClick(palette.field, _KEY.Key_Down)
    assert palette.list.currentIndex().row() == 0
    studio.window.model.set_selection(Selection("token", text="cha"))
    QTest.keyClick(palette.field, _KEY.Key_Escape)
    assert not palette.isVisible()
    assert studio.window.model.selection == Selection("token", text="cha")


def test_a_command_that_cannot_be_done_says_why_and_stays(studio: Studio, palette: Palette) -> None:
    QTest.keyClicks(palette.field, "run to the next")
    assert palette.model.records[0].reason == "No breakpoint is set"
    enter(studio, "")
    assert palette.isVisible()
    assert palette._note.text() == "No breakpoint is set"


def test_a_step_a_token_and_a_pane_are_gone_to(studio: Studio, palette: Palette) -> None:
    enter(studio, "7")
    assert studio.window.model.step == 7
    studio.window.model.seek(12)
    studio.window.actions_.command_palette.trigger()
    QTest.keyClicks(palette.field, "token ch")
    assert shown(palette) == ["Select the token ch", "Select the token cha"]
    enter(studio, "a")
    assert studio.window.model.selection == Selection("token", text="cha")
    assert studio.window.docks.panels["token_details"].isVisible()
    studio.window.actions_.command_palette.trigger()
    enter(studio, "vocabulary panes")
    assert studio.window.docks.panels["vocabulary"].isVisible()


def test_recent_files_are_found(studio: Studio, tmp_path: Path, palette: Palette) -> None:
    palette.leave()
    studio.window.settings.remember_files([tmp_path / "old.txt", tmp_path / "older.txt"])
    studio.window.actions_.command_palette.trigger()
    QTest.keyClicks(palette.field, "old.txt")
    assert shown(palette) == ["old.txt and 1 more"]


def test_words_that_people_use_are_found_and_tab_stays_in_the_field(palette: Palette) -> None:
    wanted = {
        "layout": {"Teaching", "Engineering", "Presenting", "Comparing", "Sizes"},
        "zoom": {"Larger text", "Smaller text"},
        "exit": {"Quit"},
    }
    for word, titles in wanted.items():
        palette.field.clear()
        QTest.keyClicks(palette.field, word)
        assert titles <= set(shown(palette))
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        QTest.keyClick(palette.field, _KEY.Key_Backtab if modifier.value else _KEY.Key_Tab, modifier)
        assert palette.isVisible()
        assert palette.field.hasFocus()


def test_what_can_be_done_is_asked_when_it_is_chosen(studio: Studio, palette: Palette) -> None:
    QTest.keyClicks(palette.field, "run to the next")
    studio.window.actions_.run_to_breakpoint.setEnabled(True)
    assert not palette.model.records[0].reason
    studio.window.actions_.run_to_breakpoint.setEnabled(False)
    QTest.keyClick(palette.field, _KEY.Key_Return)
    assert palette.isVisible()


def test_what_can_be_done_by_now_is_done_when_it_is_clicked(studio: Studio, palette: Palette) -> None:
    QTest.keyClicks(palette.field, "clear the selection")
    clear = studio.window.actions_._commands["clear_selection"].entries[0].action  # no button has asked for it
    row = next(row for row, entry in enumerate(palette.model.records) if entry.action is clear)
    assert palette.model.records[row].reason
    studio.window.model.set_selection(Selection("token", text="cha"))
    place = palette.list.visualRect(palette.model.index(row, 0)).center()
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    studio.qtbot.wait(20)
    assert studio.window.model.selection != Selection("token", text="cha")
    assert not palette.isVisible()


def test_what_had_the_focus_may_be_gone_when_it_closes(studio: Studio, palette: Palette) -> None:
    palette.leave()
    button = QToolButton(studio.window.centralWidget())
    button.show()
    button.setFocus()
    studio.window.actions_.command_palette.trigger()
    delete(button)
    QTest.keyClick(palette.field, _KEY.Key_Escape)
    assert not palette.isVisible()


def test_it_closes_when_another_control_gets_the_focus(studio: Studio, palette: Palette) -> None:
    studio.window.tokenization_pane.setFocus()
    studio.window.timeline_pane.plot.setFocus()
    assert not palette.isVisible()
    assert studio.window.timeline_pane.plot.hasFocus()


def test_its_key_deletes_nothing_in_a_text(studio: Studio) -> None:
    window = studio.window
    window.activateWindow()
    for pane in ("corpus_pane", "tokenization_pane"):
        field = getattr(window, pane).findChild(QPlainTextEdit)
        before = field.toPlainText()
        field.setFocus()
        field.moveCursor(QTextCursor.MoveOperation.Start)
        wanted = QKeyEvent(QEvent.Type.ShortcutOverride, _KEY.Key_K, Qt.KeyboardModifier.ControlModifier)
        wanted.accept()  # as a field does where the key deletes the rest of the line
        assert window.view_controller.eventFilter(field, wanted)
        assert not wanted.isAccepted()
        QTest.keyClick(field, _KEY.Key_K, Qt.KeyboardModifier.ControlModifier)
        assert field.toPlainText() == before != ""
        assert window.help_controller.palette.isVisible()
        window.help_controller.palette.leave()
