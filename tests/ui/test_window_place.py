"""The window and its panels keep to the space that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QToolButton, QWidget

from wordpiece_studio.session.training_job import Progress, TrainerState
from wordpiece_studio.ui.controllers.view_controller import fitted
from wordpiece_studio.ui.widgets.layouts import TEACH

if TYPE_CHECKING:
    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.training_bar import TrainingBar

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


def test_the_timeline_of_a_low_area_is_low() -> None:
    assert TEACH.bottom_height(560, 17) < 100 < TEACH.bottom_height(800, 17)


def test_a_window_made_smaller_by_hand_still_shows_rows_and_chips(studio: Studio) -> None:
    window = studio.window
    window.resize(1012, 664)
    studio.qtbot.wait(80)
    view = window.history_pane.view
    assert view.viewport().height() >= 5 * view.verticalHeader().defaultSectionSize()
    chips = window.tokenization_pane.chips
    assert chips.viewport().height() >= 3 * chips._spacing.row_height - 10
    box = window.tokenization_pane.unknown_box
    assert box.contentsRect().height() <= 2 * box.fontMetrics().lineSpacing() + 4
    window.resize(1440, 860)
    studio.qtbot.wait(80)
    assert window.docks.panels["timeline"].height() > 140


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
    studio.window.docks.close_panel("corpus")
    assert studio.window.docks.changed_by_hand().closed == ("comparison", "corpus", "sizes")  # two from the start


def places(bar: TrainingBar) -> dict[str, QRect]:
    parts = (
        bar.buttons,
        *bar.settings.findChildren(QWidget),
        bar.messages_button,
        bar.export_button,
        bar.search_button,
    )
    return {f"{n} {type(part).__name__}": QRect(part.mapTo(bar, QPoint()), part.size()) for n, part in enumerate(parts)}


@pytest.mark.parametrize("width", [1366, 1024])
def test_nothing_in_the_bar_moves_when_the_state_changes(studio: Studio, width: int) -> None:
    window = studio.window
    bar, buttons = window.bar, window.bar.buttons
    window.resize(width, 768)
    studio.wait(lambda: bar.width() == width)
    before = places(bar)
    assert not buttons.train.isHidden()
    window.training_controller.learn_first_merge()
    studio.wait(lambda: window.model.state is TrainerState.PAUSED and not buttons.pause.isHidden())
    assert buttons.train.isHidden()
    assert (buttons.pause.text(), buttons.stop.text()) == ("Resume", "Stop")
    assert places(bar) == before
    bar.show_progress(Progress(12_000, 12_345, 30_000, 75.0), paused=False)
    assert places(bar) == before
    window.actions_.stop.trigger()
    studio.wait(lambda: not buttons.train.isHidden())
    assert places(bar) == before


def test_the_controls_of_the_bar_are_labelled_and_not_cut(studio: Studio) -> None:
    window, bar = studio.window, studio.window.bar
    captions = [label for label in bar.settings.findChildren(QLabel) if label.buddy() is not None]
    for width, has_captions in ((1366, True), (1024, True), (700, False)):
        window.setMinimumSize(1, 1)
        window.centralWidget().widget().setMinimumSize(1, 1)  # else it is scrolled
        window.resize(width, 768)
        studio.wait(lambda width=width: bar.width() == width)
        assert [caption.isVisible() for caption in captions] == 3 * [has_captions]
        seen = (*captions, *bar.findChildren(QAbstractButton), *bar.settings.findChildren(QComboBox))
        cut = [each for each in seen if each.isVisible() and each.width() < each.minimumSizeHint().width()]
        assert not cut
        assert all(each.mapTo(bar, each.rect().bottomRight()).x() <= width for each in seen if each.isVisible())


def test_a_second_press_upon_the_button_that_took_the_place_is_not_taken(studio: Studio) -> None:
    buttons, actions = studio.window.bar.buttons, studio.window.actions_
    studio.window.training_controller.learn_first_merge()
    studio.wait(lambda: studio.window.model.state is TrainerState.PAUSED and not buttons.pause.isHidden())
    buttons._show(is_training=False)
    buttons._show(is_training=True)
    QTest.mouseClick(buttons.stop, Qt.MouseButton.LeftButton)
    assert studio.window.model.state is TrainerState.PAUSED
    studio.wait(lambda: not buttons.fresh_timer.isActive())
    QTest.mouseClick(buttons.stop, Qt.MouseButton.LeftButton)
    studio.wait_finished()
    assert actions.train.isEnabled()


def test_the_keyboard_stays_in_the_place_of_the_buttons(studio: Studio) -> None:
    buttons = studio.window.bar.buttons
    buttons.train.setFocus()
    studio.window.training_controller.learn_first_merge()
    studio.wait(lambda: studio.window.model.state is TrainerState.PAUSED and not buttons.pause.isHidden())
    assert buttons.pause.hasFocus()
    studio.window.actions_.stop.trigger()
    studio.wait(buttons.train.hasFocus)


def test_training_further_is_at_the_right_end_of_the_timeline(studio: Studio) -> None:
    pane = studio.window.timeline_pane
    further = next(
        button for button in pane.findChildren(QToolButton)
        if button.defaultAction() is studio.window.actions_.train_further
    )  # fmt: skip
    assert further.isVisible()
    assert further.text() == "Train further"
    assert further.x() >= pane.plot.geometry().right()


def test_buttons_without_words_keep_their_names(studio: Studio) -> None:
    studio.window.resize(1012, 664)
    studio.qtbot.wait(50)
    assert all(button.text() and button.toolTip() for button in studio.window.bar.findChildren(QToolButton))
