"""A window that is used for long has no more objects than at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from wordpiece_studio.session.training_job import TrainerState

if TYPE_CHECKING:
    from tests.ui.conftest import Studio


def train_and_close(studio: Studio, size: int) -> None:
    """Train a run beside the one there is, and close that."""
    window = studio.window
    runs, old = window.session.runs, window.session.runs.current
    assert old is not None
    runs.keep(old)
    window.session.settings.set_target_size(size)
    window.actions_.train.trigger()
    studio.wait(lambda: runs.current is not old and window.model.state is TrainerState.FINISHED)
    runs.close(old)


def widgets(studio: Studio) -> int:
    return len(studio.window.findChildren(QWidget))


def test_closed_runs_leave_no_widgets_behind(studio: Studio) -> None:
    sizes = iter(range(50, 60))
    for _ in range(3):
        train_and_close(studio, next(sizes))
    studio.qtbot.wait(1)
    before = widgets(studio)
    for _ in range(5):
        train_and_close(studio, next(sizes))
    studio.wait(lambda: widgets(studio) <= before)
