"""The folder in which a running Studio keeps its unsaved work, and what the next start finds of it after a crash.

In the user's recovery folder, each running Studio has a folder of its own, with these files:

``lock``                     held while the Studio runs (`FolderLock`)
``work.wpstudio``            everything but the runs, and what is said of it (`About`); a project file
``runs-<n>.wpstudio``        some runs, with the corpus that they belong to then, in a project file

The work is written anew with each change. A run is written once for each number of merges; if a file of the user's
holds it already, that file gets a second name here. The work says which file has which run. Only `close` and `adopt`
are called in the window's thread. Only `remove` removes work that was found; besides, folders in which nothing was ever
kept are removed.
"""

from __future__ import annotations

import codecs
import contextlib
import logging
import os
import re
import secrets
import shutil
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import platformdirs

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import SUFFIX, ProjectStamp, is_replaced
from wordpiece_studio.storage.project.project_file import open_project, read_about, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.storage.view import run_letter
from wordpiece_studio.system.atomic_write import is_gone
from wordpiece_studio.system.printable import decodable, file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.storage.project.contents import Project, Run

_log = logging.getLogger(__name__)
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is told about the work without opening it, and which of the files kept belong together."""

    name: str = ""  # of the corpus or the project
    project_path: str = ""  # the file that the work belongs to; empty if it was never saved as a project
    stamp: ProjectStamp = ProjectStamp()  # of that file, as it was last opened or saved
    time: Annotated[float, msgspec.Meta(ge=-1e11, le=1e11)] = 0.0  # when this was written, in seconds since 1970
    edits: _Count = 0  # unsaved ones
    merges: _Count = 0  # that are kept; the training may have had more
    runs: dict[_Count, _Count] = {}  # the number of the file that has the run, by its number
    saved: tuple[_Count, ...] = ()  # the other runs that were in a file of the user's, by number


LOCK_FILE = "lock"


class FolderLock:
    """The lock of one folder.

    The system itself holds it, and releases it when the process ends, for whatever reason. Qt's lock file names a
    process instead: where process ids recur, as in a container, a dead process would pass for a living one.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_FILE
        self._descriptor = -1

    def take(self) -> bool:
        """Take the lock; False if another has it."""
        if self._descriptor >= 0:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            is_free = _lock(descriptor)
        except OSError:  # a file system without locks: fall back on the process id
            text = os.read(descriptor, 20).strip()
            is_free = not text.isdigit() or is_gone(int(text))
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
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                _unlock(descriptor)  # closing is not enough while a process just being started shares it
            os.close(descriptor)


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


def recovery_folder() -> Path:
    """Return the folder in which this user's unsaved work is kept; never beside a file of the user's."""
    return platformdirs.user_state_path("wordpiece-studio", appauthor=False) / "recovery"


WORK = f"work{SUFFIX}"
LEAST_FREE = 200_000_000  # bytes to leave free on the disk: a run is not kept if it would use them up
_RUNS_FILE = f"runs-{{}}{SUFFIX}"
# The last two are what programs before format 2.0 left, beside a journal of the changes since.
_RUNS, _OLDER_WORK, _OLDER_RUNS = (re.compile(rf"{name}-(\d{{1,9}})\.\w+") for name in ("runs", "base", "run"))
_FOLDER = re.compile(r"[0-9a-f]{16}")
_NOT_KEPT = "Unsaved work cannot be backed up to {path}: {reason}"
_MISSING = "The file with the merges is missing"
_RUN_NOT_KEPT = "The merges cannot be backed up to {path}: {reason}"


class RecoveryStore:
    """Writes into a folder within `folder`, created when there is something to write."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._making = threading.Lock()
        self._writing = threading.RLock()  # `adopt` may be called while the thread writes
        self.folder: Path | None = None  # of this Studio, once something is kept
        self._lock: FolderLock | None = None

    def write(self, project: Project | None, about: About, newest: int) -> None:
        """Keep a project, except its runs; without one, remove everything kept.

        `newest`: the latest of the files with runs that `about` may name.
        """
        with self._writing, self._reported(_NOT_KEPT, "Save your project. WordPiece Studio will keep trying."):
            if project is not None:
                _save(self._made_folder() / WORK, replace(project, runs=(), counts=None), about=about)
                self._tidy({LOCK_FILE, WORK, *map(_RUNS_FILE.format, about.runs.values())}, newest)
            elif self.folder is not None:
                self._tidy({LOCK_FILE}, sys.maxsize)

    def write_runs(self, number: int, project: Project, should_stop: Callable[[], bool]) -> None:
        """Keep the runs of a project, with its corpus, as number `number`; they are valid once `about` says so."""
        with self._reported(_RUN_NOT_KEPT, "Text and settings are backed up. Save the project to keep the merges too."):
            path = self._made_folder() / _RUNS_FILE.format(number)
            if link_copy(project.runs, path):
                return
            free = shutil.disk_usage(path.parent).free
            if free < LEAST_FREE:
                raise OSError(f"only {free / 1e6:,.0f} MB are free on the disk")
            _save(path, project, should_stop=should_stop)

    def adopt(self, recoverable: Recoverable) -> Path | None:
        """Continue with what another Studio left; what was kept here before is removed.

        So are, in its folder, what a kill left unfinished, and foreign files. What an older version left, and this one
        does not read wholly, is set aside instead: its new path is returned.
        """
        with self._writing:
            self.close(keeps=False)
            if recoverable.work.name != WORK:
                return set_aside(recoverable)
            self.folder, self._lock = recoverable.folder, recoverable.lock
            names = {LOCK_FILE, WORK, *recoverable.run_files().values()}
            for name in _names_in(recoverable.folder) - names:
                _remove(recoverable.folder / name)
        return None

    def close(self, *, keeps: bool) -> None:
        """Release the folder, and remove it unless the next start is to offer its content (`keeps`)."""
        with self._writing:
            own, lock, self.folder, self._lock = self.folder, self._lock, None, None
        if lock is not None:
            lock.release()
        if own is not None and not keeps:
            remove_folder(own)

    def _made_folder(self) -> Path:
        """Return the folder of this Studio, created and locked if there is none."""
        with self._making:  # two threads may both be first
            if self.folder is not None and not self.folder.is_dir():  # someone has cleaned up
                if self._lock is not None:
                    self._lock.release()
                self.folder = None
            if self.folder is None:
                self.folder, self._lock = _new_folder(self._root)
            return self.folder

    def _tidy(self, wanted: set[str], newest: int) -> None:
        """Remove files but the wanted ones, and runs with a higher number than `newest`: the work first.

        What cannot be removed, because it is still read from, goes another time.
        """
        assert self.folder is not None
        for name in sorted(_names_in(self.folder), reverse=True):
            number = _RUNS.fullmatch(name)
            if name not in wanted and not name.startswith(".") and (number is None or int(number[1]) <= newest):
                _remove(self.folder / name)

    @contextlib.contextmanager
    def _reported(self, what: str, advice: str) -> Iterator[None]:
        """Raise an error that says what it means for every error, which is the reason."""
        try:
            yield
        except (OSError, StudioError) as error:
            reason = error.what if isinstance(error, StudioError) else error.strerror or str(error)
            raise file_error(self.folder or self._root, what, advice, reason=reason) from error


def _new_folder(root: Path) -> tuple[Path, FolderLock]:
    """Return a new folder within `root`, and its lock, which is held."""
    while True:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = root / secrets.token_hex(8)
        own.mkdir(mode=0o700)
        lock = FolderLock(own)
        if lock.take():
            return own, lock


class KeptText:
    """A text that is too long to be edited, as a file to look into.

    It has a folder of its own, because it is not unsaved work itself: after a crash, one of the next starts removes it.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._lock: FolderLock | None = None

    def keep(self, text: str) -> tuple[Path, int]:
        """Write a text in the place of the last one, and return the path and size of its file, which is another one."""
        data = codecs.BOM_UTF8 + text.encode("utf-8", "surrogatepass")  # with the mark, nothing in it passes for one
        try:
            self.close()
            self._folder, self._lock = _new_folder(recovery_folder())
            path = self._folder / "corpus.txt"
            path.write_bytes(data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise file_error(recovery_folder(), "The text cannot be kept in {path}: {reason}", reason=reason) from error
        return path, len(data)

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
        if self._folder is not None:
            remove_folder(self._folder)
        self._folder = self._lock = None


def _save(path: Path, project: Project, **options: Any) -> None:
    save_project(path, project, **options)
    with contextlib.suppress(OSError):
        path.chmod(0o600)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _names_in(folder: Path) -> set[str]:
    with contextlib.suppress(OSError):
        return set(os.listdir(folder))
    return set()


def is_own_folder(folder: Path) -> bool:
    """Return whether this is a folder that a Studio creates for itself, not a link to one."""
    here = os.path.join(os.path.realpath(folder.parent), folder.name)
    return bool(_FOLDER.fullmatch(folder.name)) and folder.is_dir() and os.path.realpath(folder) == here


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it; what cannot be removed stays.

    The work goes first: where it is gone, the next start offers nothing, even if the rest stays.
    """
    _remove(folder / WORK)
    shutil.rmtree(folder, ignore_errors=True)


# What the next start finds.


DAMAGED = ".damaged"
_EMPTY_SECONDS = 3600.0  # a folder without work: its Studio has just created it, or died doing so


@dataclass(frozen=True, slots=True)
class Recoverable:
    """The folder of a Studio that is gone, and its lock, held here until the user has decided."""

    folder: Path
    lock: FolderLock
    about: About
    work: Path

    def run_files(self) -> dict[int, str]:
        return {number: _RUNS_FILE.format(file) for number, file in self.about.runs.items()}


@dataclass(frozen=True, slots=True)
class Recovered:
    project: Project  # as last kept
    about: About
    lost_run: StudioError | None = None  # why merges of some runs are missing, and of which, if so
    lost_edits: StudioError | None = None  # why the latest changes could not be read, if so
    is_project_another: bool = False  # whether someone has saved the project's file since


def find_recoverable(folder: Path) -> list[Recoverable]:
    """Return what dead Studios have left in the recovery folder, latest first, with their locks held.

    The work of running Studios is ignored. A folder that cannot be read is skipped.
    """
    found = []
    try:
        folders = [path for path in folder.iterdir() if is_own_folder(path)]
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            _log.info("unsaved work cannot be searched for: %s", error)
        return []
    for path in folders:
        try:
            recoverable = _recoverable(path)
        except OSError as error:
            _log.info("a folder of unsaved work is skipped: %s", error)
            continue
        if recoverable is not None:
            found.append(recoverable)
    return sorted(found, key=lambda each: each.about.time, reverse=True)


def recover(recoverable: Recoverable) -> Recovered:
    """Open the work with its runs. The folder is left untouched.

    If the work cannot be read, the older state that was kept with the runs is used instead.
    """
    about, folder = recoverable.about, recoverable.folder
    is_another = is_replaced(about.project_path, about.stamp)
    saved_in = Path(os.path.realpath(about.project_path)) if about.project_path and not is_another else None
    files: dict[int, Path | None] = dict.fromkeys(about.saved, saved_in)
    files |= {number: folder / name for number, name in recoverable.run_files().items()}
    others = [] if saved_in is None else [saved_in]  # with fewer merges, perhaps
    lost_edits = None
    try:
        project = _opened(recoverable.work)
    except StudioError as error:
        project, lost_edits = _state_with_runs(folder, error), error
    if recoverable.work.name != WORK:
        lost_edits = StudioError("They were kept by an older version, in a form that this one does not read")
    if lost_edits is not None:  # then neither is it known which file has which run
        others = [*_numbered(folder, _OLDER_RUNS), *others, *_numbered(folder, _RUNS)]
        files = {tab.number: next(iter(others), None) for tab in project.view.tabs} | files
    runs, lost_run = _runs_of(project, about, files, others)
    return Recovered(replace(project, runs=runs), about, lost_run, lost_edits, is_another)


def remove(recoverable: Recoverable) -> None:
    recoverable.lock.release()
    remove_folder(recoverable.folder)


def set_aside(recoverable: Recoverable) -> Path:
    """Set unreadable work aside, so that it does not hinder further starts; return its new path."""
    recoverable.lock.release()
    aside = recoverable.folder.with_name(recoverable.folder.name + DAMAGED)
    try:
        return recoverable.folder.rename(aside)
    except OSError as error:
        _log.info("the damaged work stays where it is: %s", error)
        return recoverable.folder


def _recoverable(folder: Path) -> Recoverable | None:
    lock = FolderLock(folder)
    if not lock.take():
        return None
    recoverable = None
    try:
        work = folder / WORK if _is_file(folder / WORK) else next(iter(_numbered(folder, _OLDER_WORK)), None)
        if work is not None:
            recoverable = Recoverable(folder, lock, _about(work), work)
        elif time.time() - folder.stat().st_mtime > _EMPTY_SECONDS:
            remove_folder(folder)
    finally:
        if recoverable is None:
            lock.release()
    return recoverable


def _is_file(path: Path) -> bool:
    """Return whether this is a file, and no link, so that nothing outside is read and nothing blocks."""
    return path.is_file() and not path.is_symlink()


def _about(work: Path) -> About:
    try:
        return msgspec.convert(read_about(work), About, str_keys=True)
    except (StudioError, ValueError, RecursionError, TypeError) as error:
        _log.info("what is said of the work cannot be read; the user will be told: %s", error)
    return About(time=work.stat().st_mtime)


def _numbered(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Return the files with such names, that with the highest number first."""
    found = [(int(match[1]), folder / name) for name in os.listdir(folder) if (match := pattern.fullmatch(name))]
    return [path for _, path in sorted(found, reverse=True) if _is_file(path)]


def _opened(path: Path) -> Project:
    """Return the project in a file whose text is whole; what else is damaged in it is left out."""
    project = open_project(path)
    if "the text" in (lost := dict(project.lost)):
        raise lost["the text"]
    return project


def _state_with_runs(folder: Path, reason: StudioError) -> Project:
    for path in (*_numbered(folder, _RUNS), *_numbered(folder, _OLDER_RUNS)):
        with contextlib.suppress(StudioError):
            return _opened(path)
    raise reason


def _runs_of(
    project: Project, about: About, files: dict[int, Path | None], others: list[Path]
) -> tuple[tuple[Run, ...], StudioError | None]:
    """Return the runs in these files, by number, that `project` still has, the one that it shows first.

    What is missing there may be in one of the others, perhaps with fewer merges; if any are missing in the end, the
    reason is returned too. The runs are marked whether they belong to its text and files.
    """
    corpus, view, runs = project.corpus, project.view, list(project.runs)
    all_wanted = files.keys() & ({tab.number for tab in view.tabs} or files.keys())
    reasons: dict[int, StudioError] = {}
    places = [(path, {each for each in files if files[each] == path}) for path in dict.fromkeys(files.values())]
    for path, numbers in [*places, *((path, files.keys()) for path in others)]:
        wanted = all_wanted & numbers - {run.number for run in runs}
        if not wanted:
            continue
        try:
            if path is None or not _is_file(path):
                raise StudioError(_MISSING)
            kept = open_project(path)
        except StudioError as error:
            reasons = dict.fromkeys(wanted, error) | reasons
            continue
        damage = dict(kept.lost)
        reasons = {each: damage[name] for each in wanted if (name := f"run {run_letter(each)}") in damage} | reasons
        other = kept.corpus
        is_same = corpus.text == other.text and [one.file for one in corpus.files] == [one.file for one in other.files]
        runs += [
            replace(
                run, is_of_corpus=run.is_of_corpus and is_same,
                origin=replace(run.origin, corpus=other) if run.is_of_corpus and not is_same else run.origin,
            )
            for run in kept.runs
            if run.number in wanted
        ]  # fmt: skip
    found = {run.number: run.merge_count for run in runs}
    whole = found.keys() - reasons.keys()
    if 0 < about.merges <= sum(found.get(each, 0) for each in about.runs):  # other files had all of these merges
        whole |= found.keys() & about.runs.keys()
    lost, reason = sorted(all_wanted - whole), None
    if lost:
        names = ", ".join(f"run {run_letter(each)}" for each in lost)
        first = next((reasons[each] for each in lost if each in reasons), StudioError(_MISSING))
        reason = StudioError("{reason} ({runs})", reason=first.what, runs=names)
    return tuple(sorted(runs, key=lambda run: run.number != view.current)), reason
