"""What empty panes show: a sentence, and in the middle the steps that fill them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab
from wordpiece_studio.ui.widgets.pane import EmptyState, HintLabel

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio


def steps(studio: Studio) -> list[QPushButton]:
    return studio.window.scoreboard_pane.middle.nothing.findChildren(QPushButton)


def looks(studio: Studio) -> list[tuple[str, bool, str]]:
    return [(step.text(), step.isEnabled(), step.property("role")) for step in steps(studio)]


def test_the_way_in_is_to_add_a_text_and_then_to_train(studio: Studio) -> None:
    window = studio.window
    window.actions_.train_as_you_type.trigger()  # off
    window.corpus_pane.show_tab(CorpusTab.WORDS)
    window.actions_.new_corpus.trigger()
    card = window.scoreboard_pane.middle.nothing
    studio.wait(card.isVisible)
    studio.wait(lambda: looks(studio) == [("1  Add text", True, "primary"), ("2  Train", False, "")])
    reason = "The corpus has no words. Type or open a text, then train."
    assert reason in [label.text() for label in card.findChildren(QLabel)]
    studio.wait(lambda: not window.actions_.next_merge.isEnabled())  # it would train
    title = window.docks.panels["tokenization"].title_bar
    assert "Click a token" not in title.findChild(HintLabel).text()
    studio.qtbot.mouseClick(steps(studio)[0], Qt.MouseButton.LeftButton)
    assert window.corpus_pane.tab is CorpusTab.TEXT
    assert window.corpus_pane.editor.hasFocus()
    studio.wait(lambda: not window.corpus_pane.line_view.isVisible())  # there is no line to read
    studio.qtbot.keyClicks(window.corpus_pane.editor, "hug pug")
    studio.wait(window.corpus_pane.line_view.isVisible)
    studio.wait(lambda: looks(studio) == [("1  Add text", True, ""), ("2  Train", True, "primary")])
    assert reason not in [label.text() for label in card.findChildren(QLabel)]
    assert not window.bar.export_button.isEnabled()
    studio.qtbot.mouseClick(steps(studio)[1], Qt.MouseButton.LeftButton)
    studio.wait_finished()
    assert window.bar.export_button.isEnabled()
    assert window.actions_.next_merge.property("reason") == ""
    studio.wait(lambda: "Click a token" in title.findChild(HintLabel).text())
    assert window.bar.export_button.defaultAction() is window.actions_.save_vocabulary


def test_before_a_training_one_pane_offers_to_train_and_its_button_does(empty_studio: Studio, qtbot: QtBot) -> None:
    window = empty_studio.window
    window.actions_.train_as_you_type.trigger()  # off
    empty_studio.set_text("hug hugs pug")
    window.resize(1440, 900)
    window.show()
    states = window.findChildren(EmptyState)
    qtbot.waitUntil(lambda: sum(state.isVisible() for state in states) >= 2)
    seen = [state for state in states if state.isVisible()]
    assert all("train" in state.text.lower() for state in seen)
    button = steps(empty_studio)[1]
    assert [each for state in seen for each in state.findChildren(QPushButton)] == steps(empty_studio)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.model.state is TrainerState.FINISHED)
    qtbot.waitUntil(lambda: not any(state.isVisible() for state in seen))
