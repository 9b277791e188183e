"""What files were like when they were last read, and noticing when other programs change or remove them.

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


_MOST_ENTRIES = 500_000
"""The most files and folders to go through in search of moved files."""


class CorpusReferences(QObject):
    """Remembers the size and modification time of files by path.

    Attributes
    ----------
    checking, searching
        The tasks that answer the latest `check`: the files that are gone, and those that have changed since they were
        read; and the latest `search`: new paths of files by old path, and the files that were not found.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[str, CorpusReference] = {}
        failure = "The files cannot be checked for changes"
        self._noting = Task(signatures, failure, self, on_answer=self._take_read)
        self.checking = Task(changed_files, failure, self)
        self.searching = Task(moved_files, "The missing files cannot be searched for", self)

    @property
    def is_running(self) -> bool:
        return self._noting.is_running or self.checking.is_running or self.searching.is_running

    def of(self, file: CorpusFile) -> CorpusReference:
        known = self._known.get(file.path)
        return CorpusReference(file) if known is None else replace(known, file=file)

    def note_read(self, paths: Iterable[str]) -> None:
        """Remember the state of these files, which are being read now."""
        self._noting.run(tuple(paths))

    def take(self, references: Iterable[CorpusReference]) -> None:
        """Replace all references, and check them."""
        self._noting.stop()
        self._known = {reference.file.path: reference for reference in references}
        self.check()

    def check(self) -> None:
        """Find out which files are gone or changed; `checking` has the answer."""
        self.checking.run(tuple(self._known.values()))

    def search(self, folder: str, gone: Iterable[str]) -> None:
        """Search a folder and its subfolders for files of the same names; `searching` has the answer."""
        sizes = {path: reference.size for path, reference in self._known.items()}
        self.searching.run(folder, tuple(gone), sizes)

    def move(self, places: dict[str, str]) -> None:
        """Change the paths of files, given by old path: they are the same files."""
        for old, new in places.items():
            known = self._known.pop(old, None)
            if known is not None:
                self._known[new] = replace(known, file=replace(known.file, path=new))

    def close(self) -> None:
        for task in (self._noting, self.checking, self.searching):
            task.close()

    def _take_read(self, found: dict[str, CorpusReference]) -> None:
        self._known = found


def signatures(paths: Iterable[str], *, should_stop: Callable[[], bool]) -> dict[str, CorpusReference]:
    """Return the present state of the files at `paths`, without those that cannot be inspected."""
    found = {}
    for path in paths:
        if should_stop():
            break
        signature = signature_of(path)
        if signature is not None:
            found[path] = CorpusReference(CorpusFile(path), *signature)
    return found


def changed_files(
    references: Iterable[CorpusReference], *, should_stop: Callable[[], bool]
) -> tuple[list[str], list[str]]:
    gone, changed = [], []
    for reference in references:
        path = reference.file.path
        if should_stop():
            break
        if is_url(path) or reference.file.unagreed:
            continue
        signature = signature_of(path)
        if signature is None:
            gone.append(path)
        elif reference.size >= 0 and signature != (reference.size, reference.modified_ns):
            changed.append(path)
    return gone, changed


def moved_files(
    folder: str, gone: Sequence[str], sizes: Mapping[str, int], *, should_stop: Callable[[], bool]
) -> tuple[dict[str, str], list[str]]:
    """Find for each missing file one of the same name below a folder, preferably of the same size."""
    candidates: dict[str, list[str]] = {os.path.basename(path): [] for path in gone}
    seen = 0
    for place, _, names in os.walk(folder):
        seen += len(names) + 1
        if should_stop() or seen > _MOST_ENTRIES:
            break
        for name in candidates.keys() & set(names):
            candidates[name].append(os.path.join(place, name))
    found = {old: _most_similar(old, sizes.get(old, -1), candidates[os.path.basename(old)]) for old in gone}
    places = {old: new for old, new in found.items() if new is not None}
    return places, [path for path in gone if path not in places]


def _most_similar(old: str, size: int, candidates: list[str]) -> str | None:
    """Return the candidate, preferably of that size, whose path shares the most trailing parts with the old one."""

    def similarity(path: str) -> tuple[bool, int]:
        shared = 0
        for one, other in zip(reversed(Path(path).parts), reversed(Path(old).parts), strict=False):
            if one != other:
                break
            shared += 1
        return ((signature_of(path) or (-1, 0))[0] == size, shared)

    return max(candidates, key=similarity, default=None)


def signature_of(path: str) -> tuple[int, int] | None:
    """Return the size of a file and its modification time in nanoseconds; None if it cannot be inspected."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


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


FileNews = Literal["changed", "gone", "back"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What identifies the content of a file; the digest is None if it is too large or could not be read."""

    size: int
    modified_ns: int
    digest: bytes | None = None


class FileWatch(QObject):
    """Watches open files.

    Signals
    -------
    noticed(Path, FileNews)
        The file has "changed": its bytes differ from when it was passed to `watch` or `take`, or from when this was
        last emitted. Or it is "gone": it no longer exists, or its folder cannot be reached. Or it is "back": it was
        missing and has reappeared with the same bytes, or is taken as it is now.
    """

    noticed = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stamps: dict[Path, FileStamp | None] = {}
        self._missed: set[Path] = set()  # missed by one check; after the second they are gone
        self._gone: set[Path] = set()
        self._noticed: set[Path] = set()
        self.is_stale = False  # files were added during a check
        self._watcher: QFileSystemWatcher | None = None
        self.task = Task(_look, "The files cannot be checked for changes", self, on_answer=self._take_looks)
        self._timer = single_shot(self, self.check)

    @property
    def paths(self) -> list[Path]:
        return list(self.stamps)

    @property
    def is_pending(self) -> bool:
        """Whether there are files of which it is not known yet what they are like, or that they do not exist."""
        return any(stamp is None and path not in self._gone for path, stamp in self.stamps.items())

    def has_seen(self, path: Path) -> bool:
        return self.stamps.get(path) is not None

    def is_gone(self, path: Path) -> bool:
        """Whether the file has existed while it was watched, and is missing now."""
        return path in self._gone and self.has_seen(path)

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch exactly these files; those already watched keep their stamps."""
        self.stamps = {path: self.stamps.get(path) for path in paths}
        self._missed &= self.stamps.keys()
        self._gone &= self.stamps.keys()
        self._noticed &= self.stamps.keys()
        self._forget_notices()
        self.check()

    def take(self, path: Path) -> None:
        """Accept the file as it is now: it was written or reread here."""
        if path in self.stamps:
            self.stamps[path] = None
            was_gone = path in self._gone
            self._gone.discard(path)
            self.check()
            if was_gone:
                self.noticed.emit(path, "back")

    def check(self) -> None:
        """Check all files now, as when the window is activated; `noticed` follows a little later."""
        self._timer.stop()
        if not self.stamps:
            return
        self.is_stale = self.task.is_running
        if not self.is_stale:
            self.task.run(dict(self.stamps), frozenset(self._noticed))
            self._noticed.clear()

    def close(self) -> None:
        self._timer.stop()
        self.stamps = {}
        self._forget_notices()
        self.task.close()

    def _take_looks(self, seen: dict[Path, tuple[FileStamp | None, FileStamp | None]]) -> None:
        for path, (before, now) in seen.items():
            if path in self.stamps and self.stamps[path] is before:
                self._take_look(path, before, now)
        self._ask_for_notices()
        is_hasty = self.is_stale or bool(self._missed - self._gone)
        self._timer.start(SETTLE_MS if is_hasty else LOOK_MS)

    def _take_look(self, path: Path, before: FileStamp | None, now: FileStamp | None) -> None:
        if now is None:
            if path in self._missed and path not in self._gone:
                self._gone.add(path)
                self.noticed.emit(path, "gone")
            self._missed.add(path)
            return
        was_gone = path in self._gone
        self._missed.discard(path)
        self._gone.discard(path)
        self.stamps[path] = now
        if before is not None and _differs(before, now):
            self.noticed.emit(path, "changed")
        elif was_gone:
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
        with contextlib.suppress(OSError):
            now = _stamp(path, before, is_read=before is None or path in noticed, budget=budget)
            budget -= now.size if now is not before and now.digest is not None else 0
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
