"""Noticing when other programs change or remove files that are open, and what these were like when they were last read.

The system's own notifications are quick but not available for every file (network drives, very many files), so files
are also checked periodically. That is done in the background, where a network that does not answer delays no one. A
file with the same bytes has not changed, whatever its modification time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from wordpiece_studio.corpus.files import CorpusFile, CorpusReference, is_url
from wordpiece_studio.session.task import Task, single_shot

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

LOOK_MS = 5_000  # the interval of periodic checks
SETTLE_MS = 300  # the delay of a check after a notification: the file may still be being written or replaced
LARGEST_READ = 20_000_000  # in bytes; for a larger file, only size and time are compared
MOST_READ = 60_000_000  # the most bytes that one check reads; beyond that, only size and time are compared
MOST_NOTICED = 500  # the most files to request notifications for; the system limits them
_MOST_ENTRIES = 500_000  # the most files and folders to go through in search of moved files

FileNews = Literal["changed", "gone", "back"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What identifies the content of a file; the digest is None if it is too large or could not be read."""

    size: int
    modified_ns: int
    digest: bytes | None = None


class FileWatch(QObject):
    # The file (Path) has "changed": its bytes differ from what was last read, or from when this was last emitted. Or it
    # is "gone". Or it is "back": it was missing and has reappeared with the same bytes, or is taken as it is now.
    noticed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stamps: dict[Path, FileStamp | None] = {}  # at the last look; None if that is not known yet
        self.gone: set[Path] = set()  # they do not exist, or their folder cannot be reached
        self.changed: set[Path] = set()  # their bytes are not what was last read
        self._read: dict[Path, CorpusReference] = {}  # what they were like when they were last read
        self._expected: set[Path] = set()  # should be like their stamps; not looked at yet
        self._missed: set[Path] = set()  # missed by one check; after the second they are gone
        self._noticed: set[Path] = set()
        self.is_stale = False  # files were added during a check
        self._watcher: QFileSystemWatcher | None = None
        self.task = Task(_look, "The files cannot be checked for changes", self, on_answer=self._take_looks)
        self._timer = single_shot(self, self.check)

    @property
    def is_pending(self) -> bool:
        """Whether there are files of which it is not known yet what they are like, or that they do not exist."""
        is_unknown = any(stamp is None and path not in self.gone for path, stamp in self.stamps.items())
        return is_unknown or bool(self._expected)

    def reference(self, file: CorpusFile) -> CorpusReference:
        known = self._read.get(Path(file.path))
        return CorpusReference(file) if known is None else replace(known, file=file)

    def watch(self, paths: Iterable[Path]) -> None:
        self.stamps = {path: self.stamps.get(path) for path in paths}
        for known in (self.gone, self.changed, self._expected, self._missed, self._noticed):
            known.intersection_update(self.stamps)
        self._forget_notices()
        self.check()

    def expect(self, references: Iterable[CorpusReference]) -> None:
        """Watch files that were like this when they were last read; what else was read is forgotten."""
        self.changed.clear()
        self._read = {Path(reference.file.path): reference for reference in references}
        for path, reference in self._read.items():
            if not reference.file.unagreed and not is_url(reference.file.path):
                is_known = reference.size >= 0
                self.stamps[path] = FileStamp(reference.size, reference.modified_ns) if is_known else None
                self._expected.add(path)
        self.check()

    def take(self, *paths: Path) -> None:
        """Accept files as they are now: they were written or reread here."""
        news = [path for path in paths if path in self.gone or path in self.changed]
        for path in self.stamps.keys() & paths:
            self.stamps[path] = None
        for known in (self.gone, self.changed, self._expected):
            known.difference_update(paths)
        self.check()
        for path in news:
            self.noticed.emit(path, "back")

    def move(self, places: Mapping[Path, Path]) -> None:
        """Watch files at new places, given by the old ones: they are the same files."""
        self.stamps = {places.get(path, path): stamp for path, stamp in self.stamps.items()}
        self._read = {places.get(path, path): reference for path, reference in self._read.items()}
        self._expected.update(places.values())
        for known in (self.gone, self._missed):
            known.difference_update(places)

    def check(self) -> None:
        """Check all files now, as when the window is activated; `noticed` follows a little later."""
        self._timer.stop()
        if not self.stamps:
            return
        self.is_stale = self.task.is_running
        if not self.is_stale:
            self.task.run(dict(self.stamps), frozenset(self._noticed | self._expected))
            self._noticed.clear()

    def _take_looks(self, seen: dict[Path, tuple[FileStamp | None, FileStamp | None]]) -> None:
        for path, (before, now) in seen.items():
            if path in self.stamps and self.stamps[path] is before:
                self._take_look(path, before, now)
        self._ask_for_notices()
        if self.is_stale:
            self.check()
        else:
            self._timer.start(SETTLE_MS if self._missed - self.gone else LOOK_MS)

    def _take_look(self, path: Path, before: FileStamp | None, now: FileStamp | None) -> None:
        is_missed, was_gone = path in self._missed or path in self._expected, path in self.gone
        self._expected.discard(path)
        if now is None:
            self._missed.add(path)
            if is_missed and not was_gone:
                self.gone.add(path)
                self.noticed.emit(path, "gone")
            return
        self._missed.discard(path)
        self.gone.discard(path)
        self.stamps[path] = now
        if before is None:
            self._read[path] = CorpusReference(CorpusFile(str(path)), now.size, now.modified_ns)
        elif _differs(before, now):
            self.changed.add(path)
            self.noticed.emit(path, "changed")
            return
        if was_gone:
            self.noticed.emit(path, "back")

    # The system's notifications.

    def _ask_for_notices(self) -> None:
        """Request them only for files that were just found: for one that cannot be reached, it may take long."""
        wanted = {os.fspath(path) for path in list(self.stamps)[:MOST_NOTICED] if path not in self._missed}
        if self._watcher is None:
            if not wanted:
                return
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._on_watcher_file_changed)
        if new := sorted(wanted.difference(self._watcher.files())):
            self._watcher.addPaths(new)

    def _forget_notices(self) -> None:
        watcher, wanted = self._watcher, {os.fspath(path) for path in self.stamps}
        if watcher is not None and (old := [path for path in watcher.files() if path not in wanted]):
            watcher.removePaths(old)

    def _on_watcher_file_changed(self, name: str) -> None:
        self._noticed.update(path for path in self.stamps if os.fspath(path) == name)
        self._timer.start(SETTLE_MS)


def _look(
    stamps: Mapping[Path, FileStamp | None], noticed: Collection[Path], *, should_stop: Callable[[], bool]
) -> dict[Path, tuple[FileStamp | None, FileStamp | None]]:
    """Return the last stamp of each file, None for none yet, and the new one, None if it does not exist.

    What has been `noticed` is read, even if its size and time are the same.
    """
    seen: dict[Path, tuple[FileStamp | None, FileStamp | None]] = {}
    budget = MOST_READ
    for path, before in stamps.items():
        if should_stop():
            break
        now: FileStamp | None = None
        with contextlib.suppress(OSError, ValueError):
            now = _stamp(path, before, is_read=before is None or path in noticed, budget=budget)
            budget -= now.size if now is not before and now.digest is not None else 0
        seen[path] = before, now
    return seen


def _stamp(path: Path, before: FileStamp | None, *, is_read: bool, budget: int) -> FileStamp:
    """Return the current stamp of a file; an error means it does not exist. `budget`: bytes that may be read."""
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


def moved_files(
    folder: str, gone: Sequence[CorpusReference], *, should_stop: Callable[[], bool]
) -> tuple[dict[str, str], list[str]]:
    """Find for each missing file one of the same name below a folder, preferably of the same size.

    Returns new paths by old ones, and the old ones of what was not found.
    """
    candidates: dict[str, list[str]] = {os.path.basename(reference.file.path): [] for reference in gone}
    seen = 0
    for place, _, names in os.walk(folder):
        seen += len(names) + 1
        if should_stop() or seen > _MOST_ENTRIES:
            break
        for name in candidates.keys() & set(names):
            candidates[name].append(os.path.join(place, name))
    sizes = {reference.file.path: reference.size for reference in gone}
    found = {old: _most_similar(old, size, candidates[os.path.basename(old)]) for old, size in sizes.items()}
    return {old: new for old, new in found.items() if new}, [old for old, new in found.items() if not new]


def _most_similar(old: str, size: int, candidates: list[str]) -> str | None:
    """Return the candidate, preferably of that size, whose path shares the most trailing parts with the old one."""

    def similarity(path: str) -> tuple[bool, int]:
        shared = len(os.path.commonprefix([Path(each).parts[::-1] for each in (path, old)]))  # noqa: RUF071  # of parts
        has_size = False
        with contextlib.suppress(OSError):
            has_size = os.path.getsize(path) == size
        return has_size, shared

    return max(candidates, key=similarity, default=None)
