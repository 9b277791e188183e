"""The selection commands in the whole window: find a token, go to its birth, clear the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from wordpiece_studio.storage.view import Selection

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


def test_escape_clears_the_selection(studio: Studio) -> None:
    window = studio.window
    activate(studio, window.history_pane.view)
    assert not window.actions_.clear_selection.isEnabled()
    window.model.set_selection(FULLY)
    assert window.actions_.clear_selection.isEnabled()
    type_escape(studio)
    assert window.model.selection is None
    assert not window.actions_.clear_selection.isEnabled()


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


def test_to_the_birth(studio: Studio) -> None:
    window = studio.window
    assert not window.actions_.go_to_birth.isEnabled()
    for selection, step in ((FULLY, 8), (Selection("pair", left="Hug", right="##g"), 18)):
        window.model.set_selection(selection)
        assert window.actions_.go_to_birth.isEnabled()
        window.actions_.go_to_birth.trigger()
        assert window.model.step == step
    for selection in (Selection("token", text="##h"), Selection("token", text="[UNK]"), Selection("word", text="is")):
        window.model.set_selection(selection)
        assert not window.actions_.go_to_birth.isEnabled()
