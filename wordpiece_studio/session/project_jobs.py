"""Opening and saving a project in the background: the work of the thread, its orders and its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.storage.project.contents import Project


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project and its file: to be written, already written, or read."""

    path: Path
    project: Project


def save_work(order: ProjectFile, stop: threading.Event, report: Report) -> ProjectFile:
    """Write the project; each report is a pair: how much is done, and the total.

    Raises
    ------
    StudioError
        If it cannot be written; an existing file is unchanged.
    """
    from wordpiece_studio.storage.project.project_file import save_project

    def report_pair(done: int, total: int) -> None:
        report((done, total))

    save_project(order.path, order.project, report=report_pair, should_stop=stop.is_set)
    return order


def open_work(path: Path, _stop: threading.Event, _report: Report) -> ProjectFile:
    """Read the part of the project at `path` that is needed to show it at once. The result is ready to be shown.

    Raises
    ------
    StudioError
        If the file is not a project, or is damaged.
    """
    from wordpiece_studio.session.step_marks import breakpoints_of
    from wordpiece_studio.storage.project.layout import damaged
    from wordpiece_studio.storage.project.project_file import open_project

    project = open_project(path)
    try:
        breakpoints_of(project.view)
    except StudioError as error:
        raise damaged(path, "its breakpoints", error.what) from error
    return ProjectFile(path, project)
