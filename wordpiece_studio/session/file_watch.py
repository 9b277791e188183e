"""Noticing when other programs change or remove files that are open here.

The system's own notifications are quick but not available for every file (network drives, very many files), so files
are also checked periodically in the background, where a network that does not answer delays no one. A file with the
same bytes has not changed, whatever its modification time.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from wordpiece_studio.session.background_job import BackgroundJob

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable
    from pathlib import Path

LOOK_MS = 5_000
"""The interval of periodic checks."""
SETTLE_MS = 300
"""The delay of a check after a notification: the file may still be being written or replaced."""
LARGEST_READ = 20_000_000
"""In bytes; for a larger file, only size and time are compared."""
MOST_READ = 60_000_000
"""The most bytes that one check reads; beyond that, only size and time are compared."""
MOST_NOTICED = 500
"""The most files to request notifications for; the system limits them."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What identifies the content of a file.

    Attributes
    ----------
    size
        In bytes.
    modified_ns
        Time of the last change, in nanoseconds since 1970.
    digest
        Digest of its bytes; None if the file is too large or could not be read.
    """

    size: int
    modified_ns: int
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """Files to check: their last stamps (None: not stamped yet), and which of them to read unconditionally."""

    stamps: dict[Path, FileStamp | None]
    noticed: frozenset[Path]


class FileWatch(QObject):
    """Watches open files.

    Signals
    -------
    changed(Path)
        The file's bytes differ from when it was passed to `watch` or `take`, or from when this was last emitted.
    gone(Path)
        The file no longer exists, or its folder cannot be reached.
    back(Path)
        A missing file has reappeared with the same bytes.
    """

    changed = Signal(object)
    gone = Signal(object)
    back = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stamps: dict[Path, FileStamp | None] = {}
        self._missed: set[Path] = set()  # missed by one check; after the second they are gone
        self._gone: set[Path] = set()
        self._noticed: set[Path] = set()
        self._is_stale = False  # files were added during a check
        self._watcher: QFileSystemWatcher | None = None
        self._job = BackgroundJob(_look, "Looking at the files", self)
        self._job.finished.connect(self._on_job_finished)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.check)

    @property
    def paths(self) -> list[Path]:
        """The watched files."""
        return list(self._stamps)

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch exactly these files; those already watched keep their stamps."""
        self._stamps = {path: self._stamps.get(path) for path in paths}
        self._missed &= self._stamps.keys()
        self._gone &= self._stamps.keys()
        self._noticed &= self._stamps.keys()
        self._forget_notices()
        self.check()

    def take(self, path: Path) -> None:
        """Accept the file as it is now: it was written or reread here."""
        if path in self._stamps:
            self._stamps[path] = None
            self._gone.discard(path)
            self.check()

    def check(self) -> None:
        """Check all files now, as when the window is activated; `changed` and `gone` follow a little later."""
        self._timer.stop()
        if not self._stamps:
            return
        self._is_stale = self._job.is_running
        if not self._is_stale:
            self._job.begin(_Look(dict(self._stamps), frozenset(self._noticed)))
            self._noticed.clear()

    def close(self) -> None:
        """Stop watching and wait for a check to end."""
        self._timer.stop()
        self._stamps = {}
        self._forget_notices()
        self._job.close()

    def _on_job_finished(self, result: object) -> None:
        seen = cast("dict[Path, tuple[FileStamp | None, FileStamp | None]]", result)
        for path, (before, now) in seen.items():
            if path in self._stamps and self._stamps[path] is before:
                self._take_look(path, before, now)
        self._ask_for_notices()
        is_hasty = self._is_stale or bool(self._missed - self._gone)
        self._timer.start(SETTLE_MS if is_hasty else LOOK_MS)

    def _take_look(self, path: Path, before: FileStamp | None, now: FileStamp | None) -> None:
        if now is None:
            if path in self._missed and path not in self._gone:
                self._gone.add(path)
                self.gone.emit(path)
            self._missed.add(path)
            return
        was_gone = path in self._gone
        self._missed.discard(path)
        self._gone.discard(path)
        self._stamps[path] = now
        if before is not None and _differs(before, now):
            self.changed.emit(path)
        elif was_gone:
            self.back.emit(path)

    # The system's notifications.

    def _ask_for_notices(self) -> None:
        """Request them only for files that were just found: for one that cannot be reached, it may take long."""
        wanted = {os.fspath(path) for path in list(self._stamps)[:MOST_NOTICED] if path not in self._missed}
        if self._watcher is None:
            if not wanted:
                return
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._on_watcher_file_changed)
        if new := sorted(wanted.difference(self._watcher.files())):
            self._watcher.addPaths(new)

    def _forget_notices(self) -> None:
        watcher, wanted = self._watcher, {os.fspath(path) for path in self._stamps}
        if watcher is not None and (old := [path for path in watcher.files() if path not in wanted]):
            watcher.removePaths(old)

    def _on_watcher_file_changed(self, name: str) -> None:
        self._noticed.update(path for path in self._stamps if os.fspath(path) == name)
        self._timer.start(SETTLE_MS)


def _look(order: object, stop: threading.Event, _report: Callable[[object], None]) -> object:
    """Return the old and the new stamp of each file; the new one is None if the file does not exist."""
    look = cast("_Look", order)
    seen: dict[Path, tuple[FileStamp | None, FileStamp | None]] = {}
    budget = MOST_READ
    for path, before in look.stamps.items():
        if stop.is_set():
            return None
        now: FileStamp | None
        try:
            now = _stamp(path, before, is_read=before is None or path in look.noticed, budget=budget)
            budget -= now.size if now is not before and now.digest is not None else 0
        except OSError:
            now = None
        seen[path] = before, now
    return seen


def _stamp(path: Path, before: FileStamp | None, *, is_read: bool, budget: int) -> FileStamp:
    """Return the current stamp of a file; an `OSError` means it does not exist. `budget`: bytes that may be read."""
    status = path.stat()
    size, modified = status.st_size, status.st_mtime_ns
    if before is not None and (size, modified) == (before.size, before.modified_ns) and not is_read:
        return before
    digest = None
    if size <= min(budget, LARGEST_READ) and stat.S_ISREG(status.st_mode):
        digest = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    return FileStamp(size, modified, digest)


def _differs(before: FileStamp, now: FileStamp) -> bool:
    if before.size != now.size:
        return True
    if before.digest is not None and now.digest is not None:
        return before.digest != now.digest
    return before.modified_ns != now.modified_ns
