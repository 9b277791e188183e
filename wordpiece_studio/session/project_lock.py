"""Who has a project open: a file beside it that says so, and is taken over when its owner is gone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from PySide6.QtCore import QLockFile

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has it open: the number of the process, 0 if unknown, and the machine."""

    pid: int = 0
    host: str = ""


class ProjectLock:
    """The lock of at most one project. Where its folder cannot be written to there is none: no one can save there."""

    def __init__(self) -> None:
        self._file: QLockFile | None = None
        self._path: Path | None = None

    def take(self, path: Path) -> Holder | None:
        """Lock the project at `path` in the place of the one before; return who has it if that is someone else."""
        target = Path(os.path.realpath(path))
        if target == self._path:
            return None
        file = QLockFile(str(lock_path(target)))
        file.setStaleLockTime(0)  # only the end of its owner makes a lock worthless, not its age
        if not file.tryLock(0) and file.error() is QLockFile.LockError.LockFailedError:
            return _holder(file)
        self.release()
        if file.isLocked():
            self._file, self._path = file, target
        return None

    def release(self) -> None:
        """Let others have the project."""
        if self._file is not None:
            self._file.unlock()
        self._file = self._path = None


def lock_path(path: Path) -> Path:
    """Return where the lock of the project at `path` is."""
    return path.with_name(f".{path.name}.lock")


def _holder(file: QLockFile) -> Holder:
    info = cast("tuple[object, ...]", file.getLockInfo())  # pid, machine, program; empty if it cannot be read
    match info:
        case (int(pid), str(host), *_):
            return Holder(pid, host)
    return Holder()


def is_writable(path: Path) -> bool:
    """Return whether the project at `path` can be replaced by a new one."""
    target = Path(os.path.realpath(path))
    return os.access(target, os.W_OK) and os.access(target.parent, os.W_OK)


def is_open_elsewhere(path: Path, holder: Holder, advice: str) -> StudioError:
    """Return what to tell of a project that someone else has open."""
    if not holder.pid:
        return StudioError("The project {path} is open in another window", advice, path=display_name(path))
    return StudioError(
        "The project {path} is open in another window: process {pid} on {host}",
        advice,
        path=display_name(path),
        pid=holder.pid,
        host=holder.host or "this machine",
    )
