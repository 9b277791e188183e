"""A trained model for the panes, and a way to show one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtGui import QUndoStack

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.live_text import LiveChanges, TextChanges, TextSummary
from wordpiece_studio.session.runs import Comparison, Runs
from wordpiece_studio.session.step_marks import Bookmarks
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane
from wordpiece_studio.ui.widgets.pane import Pane, Panel
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

_SOON_MS = 100
"""What is put off for longer waits for the person."""

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


class Bench:
    """A model, a theme, and the panes that a test shows."""

    def __init__(self, qtbot: QtBot, **model: Any) -> None:
        self.qtbot = qtbot
        self.model = TrainerModel(**model)
        self.theme = Theme("light")
        self.panes: list[QWidget] = []
        self.panels: list[Panel] = []

    def train(self, texts: Sequence[str] = COURSE, **config: object) -> None:
        """Train to the end and go to the last step."""
        self.model.start(count_texts(texts), TrainingConfig(**{"objective": "score", "vocab_size": 70, **config}))
        self.wait(lambda: self.model.state is TrainerState.FINISHED)
        self.model.last()

    def show(self, pane_class: Callable[..., QWidget], width: int = 660, height: int = 600) -> QWidget:
        pane = pane_class(self.model, self.theme)
        self.panes.append(pane)
        pane.resize(width, height)
        with self.qtbot.waitExposed(pane):
            pane.show()
        self.settle()
        return pane

    def show_panel(self, title: str, pane: Pane, width: int, height: int) -> Panel:
        """Show a pane under its title line."""
        panel = Panel("panel", title, pane)
        self.panels.append(panel)
        panel.resize(width, height)
        panel.show()
        self.settle()
        return panel

    def show_tokenization(self) -> TokenizationPane:
        runs, bookmarks = Runs(self.model, QUndoStack(), self.model), Bookmarks(self.model, self.model)
        comparison = Comparison(self.model, runs, bookmarks, self.model)
        changes = LiveChanges(self.model)
        pane = self.show(lambda model, theme: TokenizationPane(model, changes, comparison, theme), 430, 660)
        assert isinstance(pane, TokenizationPane)
        return pane

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=20_000)

    def settle(self) -> None:
        """Run until the panes have refreshed, and the engine has answered; while it learns they are never done."""
        self.wait(lambda: self.model.is_busy or not any(has_more_to_do(pane) for pane in self.panes))
        QCoreApplication.processEvents()

    def seek(self, step: int) -> None:
        self.model.seek(step)
        self.settle()

    def close(self) -> None:
        self.model.close()
        for part in (*self.panes, *self.panels):
            part.close()
            part.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def changes_at(*changes: tuple[int, int], start: TextSummary | None = None) -> TextChanges:
    """Return changes of a text, each given by its step and by how many tokens there are more."""
    steps, by = np.array(changes, dtype=np.int64).reshape(-1, 2).T
    return TextChanges((), steps, by, start or TextSummary())


def has_more_to_do(part: QWidget) -> bool:
    """Tell whether something has put something off for a moment, or is looking something up."""
    timers, jobs = part.findChildren(QTimer), part.findChildren(Task)
    soon = (timer for timer in timers if timer.isSingleShot() and timer.interval() <= _SOON_MS)
    return any(timer.isActive() for timer in soon) or any(job.is_running for job in jobs)


@pytest.fixture
def empty_bench(qtbot: QtBot) -> Iterator[Bench]:
    """A bench without a run."""
    bench = Bench(qtbot)
    yield bench
    bench.close()


@pytest.fixture
def bench(empty_bench: Bench) -> Bench:
    """The course example, trained to 70 tokens: 25 merges."""
    empty_bench.train()
    return empty_bench
