"""The folder in which a running Studio keeps its unsaved work; `recoverable_work` reads it back.

In the user's recovery folder, each running Studio has a folder of its own, with these files:

``lock``                     held while the Studio runs (`FolderLock`)
``base-<n>.wpstudio``        everything but the training; a project file
``journal-<n>``              the changes since then (`journal`)
``run-<m>.wpstudio``         everything, including the training; the journal says which one is valid

A new base replaces base and journal: its journal is created first, so that a base always has its journal, and the old
files are removed last. Only `close` and `adopt` are called in the window's thread.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.recovery.about import to_json
from wordpiece_studio.session.recovery.journal import ABOUT, JournalWriter, edit_record
from wordpiece_studio.storage.project.layout import SUFFIX
from wordpiece_studio.system.atomic_write import is_gone
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wordpiece_studio.session.commands import Edit
    from wordpiece_studio.session.recovery.about import About
    from wordpiece_studio.session.recovery.journal import Record
    from wordpiece_studio.storage.project.contents import Project

    SaveProject = Callable[..., None]


LOCK_FILE = "lock"


class FolderLock:
    """The lock of one folder.

    The system itself holds it, and releases it when the process ends, for whatever reason. Qt's lock file names a
    process instead: where process ids recur, as in a container, a dead process would pass for a living one.

    Parameters
    ----------
    folder
        The folder of the lock file.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._descriptor = -1

    @property
    def is_taken(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor >= 0

    def take(self) -> bool:
        """Take the lock; False if another has it.

        Raises
        ------
        OSError
            If the lock file cannot be created.
        """
        if self._descriptor >= 0:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            is_free = _lock(descriptor)
        except OSError:  # a file system without locks: fall back on the process id
            is_free = _is_abandoned(descriptor)
        if not is_free:
            os.close(descriptor)
            return False
        with contextlib.suppress(OSError):  # on a full disk the process id is missing, and only the lock counts
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                _unlock(descriptor)  # closing is not enough while a process just being started shares it
            os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    text = os.read(descriptor, 20).strip()
    return not text.isdigit() or is_gone(int(text))


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 20  # locked bytes cannot be read by others, so lock one far past the process id

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


LEAST_FREE = 200_000_000
"""Bytes to leave free on the disk: a training is not kept if it would use them up."""
_NUMBERED = re.compile(r"(base|journal|run)-(\d{1,9})(\.wpstudio)?")
_FOLDER = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Order:
    """What to keep next.

    Attributes
    ----------
    about
        A description of the work.
    base
        Everything but the training, if a new base must be written.
    edits
        Otherwise, the edits since the last order, each with the length of the text after it in code points.
    parts
        Other changes since then, as records.
    """

    about: About
    base: Project | None = None
    edits: tuple[tuple[Edit, int], ...] = ()
    parts: tuple[Record, ...] = ()


class RecoveryStore:
    """Writes into a folder within `folder`, created when there is something to write.

    Parameters
    ----------
    folder
        The user's recovery folder.
    save
        The function that writes a project file; None for `save_project`.
    """

    def __init__(self, folder: Path, save: SaveProject | None = None) -> None:
        self._root = folder
        self._save = save
        self._making = threading.Lock()
        self._writing = threading.RLock()  # `adopt` may be called while the thread writes
        self._own: Path | None = None
        self._lock: FolderLock | None = None
        self._journal: JournalWriter | None = None
        self._number = 0
        self._held: set[str] = set()  # files that may still be read from

    @property
    def folder(self) -> Path | None:
        """The folder of this Studio; None until something is kept."""
        return self._own

    @property
    def journal_size(self) -> int:
        """The size of the journal in bytes."""
        return self._journal.size if self._journal is not None else 0

    def write(self, order: Order) -> int:
        """Write `order` to disk, and return the size of the journal in bytes.

        Raises
        ------
        StudioError
            If it cannot be written: the next order must include a base. What was kept before is still there.
        """
        with self._writing:
            try:
                if order.base is not None or self._journal is None:
                    self._write_base(order)
                else:
                    edits = [edit_record(edit, length) for edit, length in order.edits]
                    self._journal.append([*edits, *order.parts, (ABOUT, to_json(order.about))])
            except OSError as error:
                self._drop_journal()
                raise self._error(error.strerror or str(error)) from error
            except StudioError as error:
                self._drop_journal()
                raise self._error(error.what) from error
            self._remove_but(order.about.run)
            return self.journal_size

    def write_run(self, number: int, project: Project, should_stop: Callable[[], bool]) -> None:
        """Keep a project with its training as number `number`; it becomes valid once an order says so.

        Raises
        ------
        StudioError
            If it cannot be written, or would leave too little free space on the disk.
        """
        try:
            path = self._folder() / f"run-{number}{SUFFIX}"
            free = shutil.disk_usage(path.parent).free
            if free >= LEAST_FREE:
                self._save_project(path, project, should_stop=should_stop)
        except OSError as error:
            raise self._run_error(error.strerror or str(error)) from error
        except StudioError as error:
            raise self._run_error(error.what) from error
        if free < LEAST_FREE:
            raise self._run_error(f"only {free / 1e6:,.0f} MB are free on the disk")

    def wipe(self) -> None:
        """Remove everything kept; what cannot be removed does no harm."""
        with self._writing:
            self._drop_journal()
            if self._own is not None:
                for name, _, _ in self._files():
                    if name.startswith("base"):  # first: without it, the rest is ignored
                        self._remove(name)
                self._remove_but(0, 0)

    def adopt(self, folder: Path, lock: FolderLock, number: int, run: int) -> None:
        """Continue with what another Studio left in `folder`, whose `lock` is held.

        What was kept here before is removed, and so is everything in the folder except base and journal `number` and
        the training `run`: what a kill left unfinished, and foreign files.
        """
        with self._writing:
            self.close(keeps=False)
            self._own, self._lock = folder, lock
            self._number = number
            files = numbered_files(folder)
            wanted = {files[key].name for key in (("base", number), ("journal", number), ("run", run)) if key in files}
            for name in _names(folder) - wanted - {LOCK_FILE}:
                self._remove(name)
            self._number = max((number, *(other for _, _, other in self._files())))  # of what could not be removed
            self._held = {f"run-{run}{SUFFIX}"}

    def close(self, *, keeps: bool) -> None:
        """Release the folder, and remove it unless the next start is to offer its content (`keeps`)."""
        with self._writing:
            self._drop_journal()
            own, lock, self._own, self._lock = self._own, self._lock, None, None
            self._held = set()
        if lock is not None:
            lock.release()
        if own is not None and not keeps:
            remove_folder(own)

    def _write_base(self, order: Order) -> None:
        if order.base is None:
            raise StudioError("A journal is useless without its base")
        self._drop_journal()
        folder = self._folder()
        self._number += 1
        journal = JournalWriter(folder / f"journal-{self._number}")
        try:
            journal.append([*order.parts, (ABOUT, to_json(order.about))])
            self._save_project(folder / f"base-{self._number}{SUFFIX}", replace(order.base, run=None, counts=None))
        except BaseException:
            journal.close()
            raise
        self._journal = journal

    def _folder(self) -> Path:
        """Return the folder of this Studio, created and locked if there is none."""
        with self._making:  # two threads may both be first
            if self._own is not None and not self._own.is_dir():  # someone has cleaned up
                if self._lock is not None:
                    self._lock.release()
                self._own = self._lock = None
            while self._own is None:
                self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
                own = self._root / secrets.token_hex(8)
                own.mkdir(mode=0o700)
                lock = FolderLock(own)
                if lock.take():
                    self._own, self._lock = own, lock
            return self._own

    def _save_project(self, path: Path, project: Project, should_stop: Callable[[], bool] | None = None) -> None:
        save = self._save or _project_saver()
        save(path, project, should_stop=should_stop)
        with contextlib.suppress(OSError):
            path.chmod(0o600)

    def _drop_journal(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _files(self) -> list[tuple[str, str, int]]:
        """Return the name, kind and number of each file kept."""
        found = numbered_files(self._own) if self._own is not None else {}
        return [(path.name, kind, number) for (kind, number), path in found.items()]

    def _remove_but(self, run: int, newest: int | None = None) -> None:
        """Remove what the newest base and the training `run` have superseded; a newer training stays."""
        base = self._number if newest is None else -1
        for name, kind, number in self._files():
            if (kind != "run" and number != base) or (kind == "run" and (number < run or newest is not None)):
                self._remove(name)

    def _remove(self, name: str) -> None:
        if self._own is not None and name not in self._held:
            with contextlib.suppress(OSError):
                (self._own / name).unlink()

    def _run_error(self, reason: object) -> StudioError:
        return StudioError(
            "The merges cannot be kept for a restart, in {path}: {reason}",
            "Text and settings are kept. Save the project to keep the merges too.",
            path=display_name(self._own or self._root),
            reason=reason,
        )

    def _error(self, reason: object) -> StudioError:
        return StudioError(
            "Unsaved work cannot be kept for a restart, in {path}: {reason}",
            "Save what you need yourself. The Studio will keep trying.",
            path=display_name(self._own or self._root),
            reason=reason,
        )


def _project_saver() -> SaveProject:
    """Return the function that writes project files, imported only when needed, to keep the start fast."""
    from wordpiece_studio.storage.project.project_file import save_project

    return save_project


def numbered_files(folder: Path) -> dict[tuple[str, int], Path]:
    """Return the files of a folder by their kind, ``base``, ``journal`` or ``run``, and number.

    Links, pipes and the like are ignored, so that nothing outside is read and nothing blocks. Raises nothing: an
    unreadable folder has no files.
    """
    found: dict[tuple[str, int], Path] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NUMBERED.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False):
                found[match[1], int(match[2])] = folder / entry.name
    return found


def is_own_folder(folder: Path) -> bool:
    """Return whether this is a folder that a Studio creates for itself, not a link to one."""
    here = os.path.join(os.path.realpath(folder.parent), folder.name)
    return bool(_FOLDER.fullmatch(folder.name)) and folder.is_dir() and os.path.realpath(folder) == here


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, bases first; what cannot be removed stays."""
    for (kind, _), path in numbered_files(folder).items():
        if kind == "base":
            with contextlib.suppress(OSError):
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
