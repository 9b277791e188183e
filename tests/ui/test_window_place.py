"""The window and its panels keep to the space that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QToolButton

from wordpiece_studio.ui.controllers.view_controller import fitted
from wordpiece_studio.ui.layouts import TEACH

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

SCREEN = QRect(0, 24, 1024, 676)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (QRect(10, 30, 900, 600), QRect(10, 30, 900, 600)),
        (QRect(0, 24, 1026, 727), QRect(0, 24, 1024, 676)),
        (QRect(-300, -50, 900, 600), QRect(0, 24, 900, 600)),
        (QRect(3000, 2000, 900, 600), QRect(124, 100, 900, 600)),
    ],
)
def test_a_window_is_brought_into_its_screen_with_its_frame(frame: QRect, expected: QRect) -> None:
    assert fitted(frame, SCREEN) == expected


def test_a_low_area_leaves_most_of_the_middle_to_the_history() -> None:
    bottom = TEACH.bottom_height(560, 17)
    assert bottom < 130
    assert TEACH.columns_for(560, 17)[1].upper < 0.5


def test_a_window_made_smaller_by_hand_still_shows_rows_and_chips(studio: Studio) -> None:
    window = studio.window
    window.resize(1012, 664)
    studio.qtbot.wait(80)
    view = window.history_pane.view
    assert view.viewport().height() >= 5 * view.verticalHeader().defaultSectionSize()
    chips = window.tokenization_pane._chips
    assert chips.viewport().height() >= 3 * chips._spacing.row_height - 10
    label = window.tokenization_pane._unknown_label
    assert label.height() <= 2 * label.fontMetrics().lineSpacing() + 4
    window.resize(1440, 860)
    studio.qtbot.wait(80)
    assert window.docks.panel("timeline").height() > 160


def test_a_window_of_a_larger_screen_fills_this_one(studio: Studio) -> None:
    controller, window = studio.window.view_controller, studio.window
    window.resize(700, 480)
    controller.remember(4.0)
    assert window.settings.values.window_size == (window.width(), window.height())
    window.settings.change(window_size=(9000, 5000))
    controller.restore()
    room = window.screen().availableSize()
    assert room.width() - 40 <= window.width() <= room.width()
    assert room.height() - 80 <= window.height() <= room.height()


def test_the_usual_arrangement_is_not_tied_to_this_screen(studio: Studio) -> None:
    assert studio.window.docks.changed_by_hand() is None
    studio.window.docks.panel("corpus").hide()
    assert studio.window.docks.changed_by_hand().closed == ("corpus",)


def test_buttons_without_words_keep_their_names(studio: Studio) -> None:
    studio.window.resize(1012, 664)
    studio.qtbot.wait(50)
    assert all(button.text() and button.toolTip() for button in studio.window.bar.findChildren(QToolButton))
