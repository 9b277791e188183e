"""A megabyte on the clipboard does not hold up any field of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QDialog, QDialogButtonBox, QLineEdit, QStyleOptionComboBox, QWidget

from wordpiece_studio.ui.training_bar import SpecialTokensDialog
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, MOST_CHARACTERS, combo_box, line_field, offer
from wordpiece_studio.ui.widgets.plain import copy_text

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio

_MEGABYTE = "a" * 1_000_000


def test_every_line_of_the_window_has_a_limit(studio: Studio) -> None:
    window, actions = studio.window, studio.window.actions_
    for action in (actions.keep_step, actions.bookmarks, actions.shortcuts, actions.find):
        action.trigger()
    lines = [line for line in window.findChildren(QLineEdit) if not isinstance(line.parent(), QAbstractSpinBox)]
    assert len(lines) > 6
    copy_text(_MEGABYTE)
    for line in lines:
        line.selectAll()
        line.paste()
        assert len(line.text()) <= LONGEST_LIST, line.accessibleName()
    for dialog in window.findChildren(QDialog):
        dialog.reject()


def test_a_line_that_is_longer_already_stays_whole(qtbot: QtBot) -> None:
    field = line_field(None, "\U0001f917" * 2000)
    qtbot.addWidget(field)
    assert len(field.text()) == 2000


def test_a_note_that_is_edited_takes_a_line(studio: Studio) -> None:
    studio.window.session.marks.bookmarks.keep("a tie", 3)
    studio.window.actions_.bookmarks.trigger()
    dialog = studio.window.step_controller.marks_window
    dialog.select_row(0)
    QTest.keyClick(dialog._table, Qt.Key.Key_F2)
    (line,) = dialog._table.findChildren(QLineEdit)
    assert line.maxLength() == 1000
    dialog.reject()


@pytest.mark.parametrize("text", [_MEGABYTE, "ab\n" * 400_000])
def test_special_tokens_have_room_for_so_much_and_say_so(qtbot: QtBot, text: str) -> None:
    dialog = SpecialTokensDialog(("[UNK]",))
    qtbot.addWidget(dialog)
    copy_text(text)
    dialog.editor.selectAll()
    dialog.editor.paste()
    assert len(dialog.editor.text) == MOST_CHARACTERS
    left_out = f"{len(text) - MOST_CHARACTERS:,} left out."
    assert dialog.problem_label.text().endswith(f"There is room for 100,000 characters; {left_out}")
    dialog.editor.set_text("[UNK]")
    assert not dialog.problem_label.text()
    assert dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).isEnabled()


def test_special_tokens_that_are_there_are_never_cut(qtbot: QtBot) -> None:
    tokens = tuple(f"[unused{number}]" for number in range(10_000))
    dialog = SpecialTokensDialog(tokens)
    qtbot.addWidget(dialog)
    assert dialog.tokens == tokens


def test_a_choice_that_is_too_long_ends_in_an_ellipsis(qtbot: QtBot) -> None:
    parent = QWidget()
    box = combo_box(parent, "Answer")
    qtbot.addWidget(parent)
    offer(box, [("Short", "a"), ("A choice of many words " * 5, "b")], "a")
    box.resize(120, 30)

    def shown() -> str:
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        return option.currentText

    assert shown() == "Short"
    box.setCurrentIndex(1)
    assert shown().startswith("A choice")
    assert shown().endswith("…")
    assert box.currentText() == "A choice of many words " * 5
