"""Noticing that files which are open here were changed, or are gone, by someone else.

The system's own notice is quick but not to be had for every file and folder (network drives, very many files), so they
are also looked at now and then, beside the window: a network that does not answer holds no one up. A file whose bytes
are the same was not changed, whatever its time says.
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
"""How often the files are looked at without a reason."""
SETTLE_MS = 300
"""How long after a notice a file is looked at: it may still be written, or be put in place of another."""
LARGEST_READ = 20_000_000
"""Bytes; of a larger file size and time alone are compared."""
MOST_READ = 60_000_000
"""Bytes that one look reads; of what lies beyond, size and time alone are compared."""
MOST_NOTICED = 500
"""Files for which the system's notice is asked; it gives a limited number."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What a file is known by.

    Attributes
    ----------
    size
        Its bytes.
    modified_ns
        When it was changed last, in nanoseconds since 1970.
    digest
        Of its bytes; None if it is too large or could not be read.
    """

    size: int
    modified_ns: int
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """Files to be looked at: what they were known by, None if by nothing yet, and which are read in any case."""

    stamps: dict[Path, FileStamp | None]
    noticed: frozenset[Path]


class FileWatch(QObject):
    """Watches files that are open.

    Signals
    -------
    changed(Path)
        The file has other bytes than it had when it was named to `watch` or `take`, or when this was emitted last.
    gone(Path)
        The file is not there any more, or its folder cannot be reached.
    back(Path)
        A file that was gone is there again, with the same bytes.
    """

    changed = Signal(object)
    gone = Signal(object)
    back = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stamps: dict[Path, FileStamp | None] = {}
        self._missed: set[Path] = set()  # at one look; at the second they are gone
        self._gone: set[Path] = set()
        self._noticed: set[Path] = set()
        self._is_stale = False  # files were named while others were looked at
        self._watcher: QFileSystemWatcher | None = None
        self._job = BackgroundJob(_look, "Looking at the files", self)
        self._job.finished.connect(self._on_job_finished)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.check)

    @property
    def paths(self) -> list[Path]:
        """The files that are watched."""
        return list(self._stamps)

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch these files from now on, and no others; those that were watched already are known by what they were."""
        self._stamps = {path: self._stamps.get(path) for path in paths}
        self._missed &= self._stamps.keys()
        self._gone &= self._stamps.keys()
        self._noticed &= self._stamps.keys()
        self._forget_notices()
        self.check()

    def take(self, path: Path) -> None:
        """Take the file as it is now: it was written or read again here."""
        if path in self._stamps:
            self._stamps[path] = None
            self._gone.discard(path)
            self.check()

    def check(self) -> None:
        """Look at all files now, as when the window is come back to; `changed` and `gone` follow a little later."""
        self._timer.stop()
        if not self._stamps:
            return
        self._is_stale = self._job.is_running
        if not self._is_stale:
            self._job.begin(_Look(dict(self._stamps), frozenset(self._noticed)))
            self._noticed.clear()

    def close(self) -> None:
        """Watch nothing any more and wait for a look to end."""
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

    # The system's notices.

    def _ask_for_notices(self) -> None:
        """Ask for those files that were just there: asking for one that cannot be reached may take long."""
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
    """Return of each file what it was known by and what it is known by now, None if it is not there."""
    look = cast("_Look", order)
    seen: dict[Path, tuple[FileStamp | None, FileStamp | None]] = {}
    room = MOST_READ
    for path, before in look.stamps.items():
        if stop.is_set():
            return None
        now: FileStamp | None
        try:
            now = _stamp(path, before, is_read=before is None or path in look.noticed, room=room)
            room -= now.size if now is not before and now.digest is not None else 0
        except OSError:
            now = None
        seen[path] = before, now
    return seen


def _stamp(path: Path, before: FileStamp | None, *, is_read: bool, room: int) -> FileStamp:
    """Return what a file is known by now; an `OSError` says that it is not there. `room`: bytes that may be read."""
    status = path.stat()
    size, modified = status.st_size, status.st_mtime_ns
    if before is not None and (size, modified) == (before.size, before.modified_ns) and not is_read:
        return before
    digest = None
    if size <= min(room, LARGEST_READ) and stat.S_ISREG(status.st_mode):
        digest = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
    return FileStamp(size, modified, digest)


def _differs(before: FileStamp, now: FileStamp) -> bool:
    if before.size != now.size:
        return True
    if before.digest is not None and now.digest is not None:
        return before.digest != now.digest
    return before.modified_ns != now.modified_ns
