"""The list of all keyboard shortcuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from wordpiece_studio.ui.dialogs.help_window import KeyLine, KeysWindow, command_lines, matching_lines, pane_lines

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

LINES = [
    KeyLine("File", "Öffnen", "Ctrl+O"),
    KeyLine("File", "Save", "Ctrl+S"),
    KeyLine("Help", "Keys", "F1", "All keys"),
]


@pytest.mark.usefixtures("qapp")
def test_the_rows(qtbot: QtBot, qtmodeltester: ModelTester, theme: Theme) -> None:
    window = KeysWindow(LINES, theme)
    qtbot.addWidget(window)
    model = window.lines
    qtmodeltester.check(model)
    assert [model.data(model.index(row, 0)) for row in range(model.rowCount())] == [
        "File", "Öffnen", "Save", "Help", "Keys",
    ]  # fmt: skip
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable


def test_lines_are_found_by_what_they_do_their_keys_and_their_group() -> None:
    def found(text: str) -> list[str]:
        return [line.title for line in matching_lines(LINES, text) if line.keys]

    assert found("offnen") == ["Öffnen"]
    assert found("ctrl+s") == ["Save"]
    assert found("help all") == ["Keys"]
    assert found("nothing") == []


def test_every_command_with_a_key_is_in_the_list(empty_studio: Studio) -> None:
    window = empty_studio.window
    told = {key for line in command_lines(window.actions_.placed()) for key in line.keys.split("   ")}
    assert {key.toString() for action in window.actions_.all() for key in action.shortcuts()} <= told
    assert all(line.keys and line.title for line in pane_lines())
    groups = [line.group for line in matching_lines(command_lines(window.actions_.placed()), "") if not line.keys]
    assert len(groups) == len(set(groups))


def test_it_stays_beside_the_work_and_is_searched(studio: Studio) -> None:
    studio.window.actions_.shortcuts.trigger()
    keys = studio.window.help_controller.keys
    assert keys.isVisible()
    assert not keys.isModal()
    QTest.keyClicks(keys.field, "bookmark this")
    shown = [keys.lines.data(keys.lines.index(row, 0)) for row in range(keys.lines.rowCount())]
    assert shown == ["Step", "Bookmark this step…"]
    QTest.keyClick(keys.field, Qt.Key.Key_Escape)
    assert not keys.isVisible()
    studio.window.actions_.shortcuts.trigger()
    assert studio.window.help_controller.keys is keys
    assert not keys.field.text()
