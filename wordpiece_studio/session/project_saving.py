"""Opening and saving a project in the background, and the lock that tells two windows of one project apart."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QLockFile

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.storage.project.contents import Project


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A project and its file: to be written, already written, or read."""

    path: Path
    project: Project


def save_work(order: ProjectFile, stop: threading.Event, report: Report) -> ProjectFile:
    """Write the project; each report is a pair: how much is done, and the total."""
    from wordpiece_studio.storage.project.project_file import save_project

    def report_pair(done: int, total: int) -> None:
        report((done, total))

    save_project(order.path, order.project, progress=report_pair, should_stop=stop.is_set)
    return order


def open_work(path: Path, _stop: threading.Event, _report: Report) -> ProjectFile:
    """Read the part of the project at `path` that is needed to show it at once. The result is ready to be shown."""
    from wordpiece_studio.session.step_marks import breakpoints_of
    from wordpiece_studio.storage.project.container import damaged
    from wordpiece_studio.storage.project.project_file import open_project

    project = open_project(path)
    try:
        breakpoints_of(project.view)
    except StudioError as error:
        raise damaged(path, "{path} is damaged at its breakpoints: {reason}", reason=error.what) from error
    return ProjectFile(path, project)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has the project open: the process id, 0 if unknown, and the machine."""

    pid: int = 0
    host: str = ""


class ProjectLock:
    """The lock of at most one project. In a read-only folder there is no lock, since no one can save there."""

    def __init__(self) -> None:
        self._file: QLockFile | None = None
        self._path: Path | None = None

    def take(self, path: Path) -> Holder | None:
        """Lock the project at `path`, releasing the previous one; return the holder if someone else has it."""
        target = Path(os.path.realpath(path))
        if target == self._path:
            return None
        file = QLockFile(str(lock_path(target)))
        file.setStaleLockTime(0)  # a lock is stale once its owner has ended, whatever its age
        if not file.tryLock(0) and file.error() is QLockFile.LockError.LockFailedError:
            return _holder(file)
        self.release()
        if file.isLocked():
            self._file, self._path = file, target
        return None

    def release(self) -> None:
        if self._file is not None:
            self._file.unlock()
        self._file = self._path = None


def lock_path(path: Path) -> Path:
    """Return the path of the lock file of the project at `path`."""
    return path.with_name(f".{path.name}.lock")


def _holder(file: QLockFile) -> Holder:
    info = cast("tuple[object, ...]", file.getLockInfo())  # pid, machine, program; empty if it cannot be read
    match info:
        case (int(pid), str(host), *_):
            return Holder(pid, host)
    return Holder()


def is_writable(path: Path) -> bool:
    """Return whether the project at `path` can be overwritten."""
    target = Path(os.path.realpath(path))
    return os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)


def is_open_elsewhere(path: Path, holder: Holder, advice: str) -> StudioError:
    """Return the error for a project that someone else has open."""
    if not holder.pid:
        return StudioError("The project {path} is open in another window", advice, path=display_name(path))
    what = "The project {path} is open in another window: process {pid} on {host}"
    if not holder.host:
        what = "The project {path} is open in another window: process {pid} on this machine"
    return StudioError(what, advice, path=display_name(path), pid=holder.pid, host=holder.host)
