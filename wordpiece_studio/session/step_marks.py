"""Everything that a user marks on the steps of a training: breakpoints, markers and bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.session.bookmarks import Bookmark, Bookmarks, one_line
from wordpiece_studio.session.breakpoint_watch import BreakpointRun, BreakpointWatch
from wordpiece_studio.session.breakpoints import Breakpoint, Breakpoints
from wordpiece_studio.session.markers import Markers

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectView


class StepMarks(QObject):
    """The marks as attributes.

    Attributes
    ----------
    breakpoints, watch, run
        The breakpoints, the steps at which they are hit, and running to them.
    markers
        A and B.
    bookmarks
        Bookmarked steps.
    """

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.breakpoints = Breakpoints(self)
        self.watch = BreakpointWatch(model, self.breakpoints, self)
        self.run = BreakpointRun(model, self.watch, self)
        self.markers = Markers(model, self)
        self.bookmarks = Bookmarks(model, self)

    def restore(self, view: ProjectView) -> None:
        """Replace all marks by those of a project, whose run must already be shown.

        Raises
        ------
        StudioError
            If a breakpoint makes no sense, see `breakpoints_of`.
        """
        self.breakpoints.set_all(breakpoints_of(view))
        self.bookmarks.set_notes(Bookmark(note.step, one_line(note.text), note.token) for note in view.notes)
        self.markers.set_steps(view.markers)


def breakpoints_of(view: ProjectView) -> list[Breakpoint]:
    """Return the breakpoints that a project holds.

    Raises
    ------
    StudioError
        If one makes no sense.
    """
    return [Breakpoint(each.kind, each.text, each.number, each.is_enabled) for each in view.breakpoints]
