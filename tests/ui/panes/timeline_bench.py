"""The timeline pane with everything its buttons need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from wordpiece_studio.session.live_changes import LiveChanges
from wordpiece_studio.session.player import Player
from wordpiece_studio.session.step_marks import StepMarks
from wordpiece_studio.ui.actions import Actions
from wordpiece_studio.ui.controllers.marks_controller import MarksController
from wordpiece_studio.ui.controllers.step_controller import StepController
from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.widgets.theme import Theme


class Timeline:
    """The pane with the controllers that its buttons need."""

    def __init__(self, bench: Bench) -> None:
        self.window = QWidget()
        bench.panes.append(self.window)
        self.marks = StepMarks(bench.model, self.window)
        self.player = Player(bench.model, self.window, watch=self.marks.watch)
        self.changes = LiveChanges(self.window)
        self.actions = Actions(bench.theme, self.window)
        self.pane = bench.show(self.make, 1100, 180)
        self.steps = StepController(bench.model, self.player, self.changes, self.actions, self.window)
        self.controller = MarksController(
            self.window, bench.model, self.player, self.marks, self.pane, self.actions, bench.theme
        )

    def make(self, model: TrainerModel, theme: Theme) -> TimelinePane:
        return TimelinePane(model, self.actions, self.marks, theme, player=self.player, changes=self.changes)


def at(pane: TimelinePane, step: int) -> QPoint:
    return QPoint(round(pane.plot.x_of(step)), pane.plot.height() // 2)


def click(bench: Bench, pane: TimelinePane, name: str) -> None:
    bench.qtbot.mouseClick(pane.findChild(QToolButton, f"timeline_{name}"), Qt.MouseButton.LeftButton)
