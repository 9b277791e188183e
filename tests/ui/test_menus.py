"""The menus hold every command once, and no two of them answer to the same key."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu

from wordpiece_studio.ui.widgets.plain import plain_title

if TYPE_CHECKING:
    from tests.ui.conftest import Studio


def letter(text: str) -> str:
    found = re.search(r"&([^&\s])", text.replace("&&", ""))
    return found[1].casefold() if found else ""


def doubles(values: list[str]) -> list[str]:
    return [value for value, count in Counter(value for value in values if value).items() if count > 1]


def test_every_command_is_in_a_menu_once_and_no_letter_stands_for_two_entries(empty_studio: Studio) -> None:
    window = empty_studio.window
    placed = [action for _, action in window.actions_.placed()]
    missing = [action.text() for action in window.actions_.all() if action not in placed]
    assert not missing
    assert len(placed) == len(set(map(id, placed)))
    assert all(path for path, _ in window.actions_.placed())
    for menu in (window.menuBar(), *window.findChildren(QMenu)):
        texts = [action.text() for action in menu.actions()]
        assert not doubles([letter(text) for text in texts]), texts


def test_every_key_means_one_thing_and_those_of_text_fields_are_left_to_them(empty_studio: Studio) -> None:
    window = empty_studio.window
    keys = [key.toString() for action in window.actions_.all() for key in action.shortcuts()]
    keys += [key.toString() for _, action in window.actions_.placed() for key in action.shortcuts()
             if action not in window.actions_.all()]  # fmt: skip
    keys += [f"Alt+{letter(action.text()).upper()}" for action in window.menuBar().actions()]
    texts = [button.text() for button in window.findChildren(QAbstractButton)]
    texts += [label.text() for label in window.findChildren(QLabel) if label.buddy() is not None]
    keys += [f"Alt+{letter(text).upper()}" for text in texts if letter(text)]
    assert not doubles(keys)
    standard = QKeySequence.StandardKey
    taken = {
        key.toString()
        for kind in (standard.Cut, standard.Copy, standard.Paste, standard.SelectAll)
        for key in QKeySequence.keyBindings(kind)
    }
    assert taken.isdisjoint(keys)


def test_a_title_is_read_without_its_marks(empty_studio: Studio) -> None:
    assert [plain_title(text) for text in ("&Open files…", "R&&D", "Cu&t\tCtrl+X")] == ["Open files…", "R&D", "Cut"]
    assert "View › Panes" in {path for path, _ in empty_studio.window.actions_.placed()}


def test_the_step_menu_fits_on_a_small_screen_at_the_usual_size_of_text(empty_studio: Studio) -> None:
    window = empty_studio.window
    menu = next(action.menu() for action in window.menuBar().actions() if letter(action.text()) == "s")
    rows = sum(not action.isSeparator() for action in menu.actions())
    assert rows * 27 < 640  # with the style sheet, beside the bars of a system, of 768 pixels
