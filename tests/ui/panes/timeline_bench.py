"""The timeline pane with everything its buttons need."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import Mock

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QToolButton, QWidget

from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.session.runs import Comparison, Runs
from wordpiece_studio.session.step_marks import Player, StepMarks
from wordpiece_studio.ui.actions import Actions
from wordpiece_studio.ui.controllers.runs_controller import RunsController
from wordpiece_studio.ui.controllers.step_controller import StepController
from wordpiece_studio.ui.controllers.training_controller import TrainingController
from wordpiece_studio.ui.messages import Messages, Notices
from wordpiece_studio.ui.panes.code_pane import CodePane
from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.widgets.theme import Theme


class Window(QWidget):
    """What the controller needs of a window."""

    def take(self, timeline: Timeline, bench: Bench) -> None:
        self.session = timeline.session
        self.actions_, self.theme, self.timeline_pane = timeline.actions, bench.theme, timeline.pane
        self.is_presenting = False
        self.code_pane = CodePane(timeline.session.model, timeline.actions, bench.theme, self)
        self.notices, self.messages = Notices(bench.theme, self), Messages(self)


class Judging(QObject):
    """What a test says that the objectives make of held-out text."""

    changed = Signal()
    figures: dict[str, float] | None = None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.task = SimpleNamespace(progress=None)


class Timeline:
    """The pane with the controller that its buttons need."""

    def __init__(self, bench: Bench) -> None:
        self.window = Window()
        bench.panes.append(self.window)
        self.marks = StepMarks(bench.model, self.window)
        self.player = Player(bench.model, self.window, watch=self.marks.watch)
        self.changes = LiveChanges(self.window)
        self.judging = Judging(self.window)
        self.training = Mock()
        self.actions = Actions(bench.theme, (StepController, RunsController, TrainingController), self.window)
        self.pane = bench.show(self.make, 1100, 180)
        self.window.take(self, bench)
        self.controller = StepController(self.window, self.training)

    def make(self, model: TrainerModel, theme: Theme) -> TimelinePane:
        comparison = Comparison(model, Runs(model, QUndoStack(self.window)), self.marks.bookmarks, self.window)
        self.session = SimpleNamespace(
            model=model, player=self.player, marks=self.marks, changes=self.changes, comparison=comparison,
            judging=self.judging, counting=SimpleNamespace(counts=None), document=None,
        )  # fmt: skip
        return TimelinePane(self.session, self.actions, theme)


def at(pane: TimelinePane, step: int) -> QPoint:
    return QPoint(round(pane.plot.x_of(step)), pane.plot.height() // 2)


def click(bench: Bench, pane: TimelinePane, name: str) -> None:
    """Click a button as soon as it can be clicked."""
    button = pane.findChild(QToolButton, f"timeline_{name}")
    bench.wait(button.isEnabled)
    bench.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
