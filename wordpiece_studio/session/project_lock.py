"""Locking an open project: a file beside it names the owner, and is taken over once that process has ended."""

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
        """Release the lock."""
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
    return StudioError(
        "The project {path} is open in another window: process {pid} on {host}",
        advice,
        path=display_name(path),
        pid=holder.pid,
        host=holder.host or "this machine",
    )
