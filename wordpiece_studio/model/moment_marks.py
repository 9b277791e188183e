"""All that a user marks on the steps of a training: breakpoints, markers and the notebook, made once for the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.model.breakpoint_run import BreakpointRun
from wordpiece_studio.model.breakpoint_watch import BreakpointWatch
from wordpiece_studio.model.breakpoints import Breakpoints
from wordpiece_studio.model.markers import Markers
from wordpiece_studio.model.notebook import Notebook

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel


class MomentMarks(QObject):
    """The marks as attributes.

    Attributes
    ----------
    breakpoints, watch, run
        What is waited for, at which steps it happens, and going there.
    markers
        A and B.
    notebook
        Moments that were kept.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.markers = Markers(model, self)
        self.notebook = Notebook(model, self)
