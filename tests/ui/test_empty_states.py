"""What empty panes show: a sentence and the command that fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.ui.widgets.pane import EmptyState

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio


def test_before_a_training_panes_offer_to_train_and_their_button_does(empty_studio: Studio, qtbot: QtBot) -> None:
    window = empty_studio.window
    window.actions_.train_as_you_type.trigger()  # off
    empty_studio.set_text("hug hugs pug")
    window.resize(1440, 900)
    window.show()
    states = window.findChildren(EmptyState)
    qtbot.waitUntil(lambda: sum(state.isVisible() for state in states) >= 2)
    seen = [state for state in states if state.isVisible()]
    assert all("Train" in state.text for state in seen)
    button = seen[0].findChild(QPushButton)
    assert button.text() == "Train"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.model.state is TrainerState.FINISHED)
    qtbot.waitUntil(lambda: not any(state.isVisible() for state in seen))
