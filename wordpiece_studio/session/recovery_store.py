"""The folder in which a running Studio keeps its unsaved work, and what the next start finds of it after a crash.

In the user's recovery folder, each running Studio has a folder of its own, with these files:

``lock``                     held while the Studio runs (`FolderLock`)
``base-<n>.wpstudio``        everything but the training; a project file
``journal-<n>``              the changes since then, one a line, each forced to disk
``run-<m>.wpstudio``         all runs, in a project file; the journal says which one is valid

A new base replaces base and journal: its journal is created first, so that a base always has its journal, and the old
files are removed last. A training is written once for each number of merges; if a file of the user's holds it already,
that file gets a second name here. Only `close` and `adopt` are called in the window's thread.

A line of the journal is a checksum and a `Change`. If a kill or a power cut leaves the last line incomplete, reading
ends before it. Only `remove` removes work that was found; besides, folders in which nothing was ever kept are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
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
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.view_text import common_ends
from wordpiece_studio.storage.project.container import SUFFIX, ProjectStamp, is_replaced
from wordpiece_studio.storage.project.contents import ProjectSettings, checked_settings
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.storage.view import View
from wordpiece_studio.system.atomic_write import is_gone
from wordpiece_studio.system.printable import decodable, file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.storage.project.contents import Project, ProjectRun

_log = logging.getLogger(__name__)
_Kind = TypeVar("_Kind")
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_SUM = 16
"""The length of a checksum."""


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is told about the work without opening it, and which of the files kept belong together."""

    name: str = ""  # of the corpus or the project
    project_path: str = ""  # the file that the work belongs to; empty if it was never saved as a project
    stamp: ProjectStamp = ProjectStamp()  # of that file, as it was last opened or saved
    time: Annotated[float, msgspec.Meta(ge=-1e11, le=1e11)] = 0.0  # when this was written, in seconds since 1970
    edits: _Count = 0  # unsaved ones
    merges: _Count = 0  # that are kept; the training may have had more
    run: _Count = 0  # the number of the file with the runs; 0 if there is none
    is_edited: bool = False  # whether the text has edits that are not in any file


@decodable
class TextEdit(msgspec.Struct, frozen=True, array_like=True):
    """In a text of `length` code points, `inserted` replaces so many `removed` ones at `position`."""

    length: _Count
    position: _Count
    removed: _Count
    inserted: str

    @classmethod
    def between(cls, before: str, after: str) -> TextEdit:
        start, end = common_ends(before, after)
        return cls(len(before), start, len(before) - end - start, after[start : len(after) - end])

    def made_in(self, text: str) -> str:
        end = self.position + self.removed
        if self.length != len(text) or end > len(text):
            raise StudioError("An edit in the journal belongs to a different text")
        return text[: self.position] + self.inserted + text[end:]


@decodable
class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What has changed of a project but for files and training, and what is known of it since.

    Settings and view are as another version may have written them, see `readable`.
    """

    about: About
    text: TextEdit | None = None
    settings: Any = None
    view: Any = None  # without the live text
    live_text: str | None = None

    @classmethod
    def between(cls, before: Project, now: Project, about: About) -> Change:
        text, old = now.corpus.text or "", before.corpus.text or ""
        view, seen = (msgspec.structs.replace(project.view, live_text="") for project in (now, before))
        return cls(
            about=about,
            text=TextEdit.between(old, text) if text != old else None,
            settings=now.settings if now.settings != before.settings else None,
            view=view if view != seen else None,
            live_text=now.view.live_text if now.view.live_text != before.view.live_text else None,
        )

    def line(self) -> bytes:
        """Return the change as JSON, which may contain lone surrogates, after its checksum."""
        content = json.dumps(msgspec.to_builtins(self)).encode("ascii")
        return _checksum(content) + content + b"\n"


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SUM // 2).hexdigest().encode("ascii")


def read_journal(path: Path) -> Iterator[Change]:
    """Yield the changes in a journal, up to the first incomplete line; those of another version may be left out."""
    done = 0
    try:
        with path.open("rb") as file:
            for line in file:
                content = line[_SUM:-1]
                if line[-1:] != b"\n" or line[:_SUM] != _checksum(content):
                    raise file_error(path, "{path} is damaged from byte {byte:,} onward", byte=done)
                if (change := readable(content, Change)) is not None:
                    yield change
                done += len(line)
    except OSError as error:
        raise file_error(path, "{path} cannot be read: {reason}", reason=error.strerror or error) from error


def readable(value: object, kind: type[_Kind]) -> _Kind | None:
    """Return what was read from JSON, or JSON itself, as this kind.

    None if it is none, or no training can begin with such settings.
    """
    try:
        if isinstance(value, bytes):
            value = json.loads(value, parse_constant=_refuse)
        found = msgspec.convert(value, kind)
        if isinstance(found, ProjectSettings):
            checked_settings(found)
    except (ValueError, RecursionError, StudioError, TypeError) as error:
        _log.info("a part of the journal is ignored: %s", error)
        return None
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that this program writes")


class JournalWriter:
    """Creates or truncates the journal at `path`, and appends to it."""

    def __init__(self, path: Path, first: Change) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self.size = 0
        """Bytes written so far."""
        try:
            self.append(first)
        except BaseException:
            self.close()
            raise

    def append(self, change: Change) -> None:
        """Append a change, which is on disk when this returns."""
        line = change.line()
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.stat(self._path)  # fails if someone has deleted the file: what is written to it would be lost
        self.size += len(line)

    def close(self) -> None:
        """Close the file. Failed writes are not retried."""
        with contextlib.suppress(OSError):
            self._file.close()


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
LARGEST_JOURNAL = 16_000_000
MOST_COPIED = 1_000_000_000
"""The most code points that replaying a journal may have to copy, edits times text length: about a second."""
_NUMBERED = re.compile(r"(base|journal|run)-(\d{1,9})(\.wpstudio)?")
_FOLDER = re.compile(r"[0-9a-f]{16}")
_ALL = 1 << 31
_NOT_KEPT = "Unsaved work cannot be backed up to {path}: {reason}"
_RUN_NOT_KEPT = "The merges cannot be backed up to {path}: {reason}"


class RecoveryStore:
    """Writes into a folder within `folder`, created when there is something to write."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._making = threading.Lock()
        self._writing = threading.RLock()  # `adopt` may be called while the thread writes
        self.folder: Path | None = None  # of this Studio, once something is kept
        self._lock: FolderLock | None = None
        self._journal: JournalWriter | None = None
        self._written: Project | None = None  # the content of base and journal
        self._copied = 0  # code points, see `MOST_COPIED`
        self._number = 0
        self._held: set[str] = set()  # files that may still be read from

    def write(self, project: Project | None, about: About) -> None:
        """Write to disk what has changed of `project`, except its training; without one, remove everything kept."""
        if project is None:
            with self._writing:
                self._drop_journal()
                self._tidy(_ALL, _ALL)  # what cannot be removed does no harm
            return
        project = replace(project, runs=(), counts=None)
        with self._writing, self._reported(_NOT_KEPT, "Save your project. WordPiece Studio will keep trying."):
            try:
                journal, before = self._journal, self._written
                if journal is None or before is None or self._is_long() or not _follows(before, project):
                    self._write_base(project, about)
                else:
                    self._copied += 0 if before.corpus.text == project.corpus.text else len(project.corpus.text or "")
                    journal.append(Change.between(before, project, about))
            except BaseException:
                self._drop_journal()
                raise
            self._written = project
            self._tidy(about.run, self._number)

    def write_run(self, number: int, project: Project, should_stop: Callable[[], bool]) -> None:
        """Keep a project with its training as number `number`; it becomes valid once `about` says so."""
        with self._reported(_RUN_NOT_KEPT, "Text and settings are backed up. Save the project to keep the merges too."):
            path = self._made_folder() / f"run-{number}{SUFFIX}"
            if link_copy(project.runs, path):
                return
            free = shutil.disk_usage(path.parent).free
            if free < LEAST_FREE:
                raise OSError(f"only {free / 1e6:,.0f} MB are free on the disk")
            _save(path, project, should_stop)

    def adopt(self, folder: Path, lock: FolderLock, number: int, run: int) -> None:
        """Continue with what another Studio left in `folder`, whose `lock` is held.

        What was kept here before is removed, and so is everything in the folder except base and journal `number` and
        the training `run`: what a kill left unfinished, and foreign files.
        """
        with self._writing:
            self.close(keeps=False)
            self.folder, self._lock = folder, lock
            files = numbered_files(folder)
            wanted = {files[key].name for key in (("base", number), ("journal", number), ("run", run)) if key in files}
            with contextlib.suppress(OSError):
                for name in set(os.listdir(folder)) - wanted - {LOCK_FILE}:
                    self._remove(name)
            self._number = max([number, *(other for _, other in numbered_files(folder))])  # not all can be removed
            self._held = {f"run-{run}{SUFFIX}"}

    def close(self, *, keeps: bool) -> None:
        """Release the folder, and remove it unless the next start is to offer its content (`keeps`)."""
        with self._writing:
            self._drop_journal()
            own, lock, self.folder, self._lock = self.folder, self._lock, None, None
            self._held = set()
        if lock is not None:
            lock.release()
        if own is not None and not keeps:
            remove_folder(own)

    def _is_long(self) -> bool:
        return self._copied > MOST_COPIED or (self._journal is not None and self._journal.size > LARGEST_JOURNAL)

    def _write_base(self, project: Project, about: About) -> None:
        self._drop_journal()
        folder = self._made_folder()
        self._number += 1
        journal = JournalWriter(folder / f"journal-{self._number}", Change(about=about))
        try:
            _save(folder / f"base-{self._number}{SUFFIX}", project)
        except BaseException:
            journal.close()
            raise
        self._journal, self._copied = journal, 0

    def _made_folder(self) -> Path:
        """Return the folder of this Studio, created and locked if there is none."""
        with self._making:  # two threads may both be first
            if self.folder is not None and not self.folder.is_dir():  # someone has cleaned up
                if self._lock is not None:
                    self._lock.release()
                self.folder = self._lock = None
            while self.folder is None:
                self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
                own = self._root / secrets.token_hex(8)
                own.mkdir(mode=0o700)
                lock = FolderLock(own)
                if lock.take():
                    self.folder, self._lock = own, lock
            return self.folder

    def _drop_journal(self) -> None:
        """Have the next change begin with a new base."""
        if self._journal is not None:
            self._journal.close()
            self._journal = self._written = None

    def _tidy(self, run: int, base: int) -> None:
        """Remove what the base `base` and the training `run` have superseded; a newer training stays."""
        found = numbered_files(self.folder) if self.folder is not None else {}
        for (kind, number), path in sorted(found.items()):  # the base first: without it, the rest is ignored
            if number < run if kind == "run" else number != base:
                self._remove(path.name)

    def _remove(self, name: str) -> None:
        if self.folder is not None and name not in self._held:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()

    @contextlib.contextmanager
    def _reported(self, what: str, advice: str) -> Iterator[None]:
        """Raise an error that says what it means for every error, which is the reason."""
        try:
            yield
        except (OSError, StudioError) as error:
            reason = error.what if isinstance(error, StudioError) else error.strerror or str(error)
            raise file_error(self.folder or self._root, what, advice, reason=reason) from error


def _save(path: Path, project: Project, should_stop: Callable[[], bool] = lambda: False) -> None:
    save_project(path, project, should_stop=should_stop)
    with contextlib.suppress(OSError):
        path.chmod(0o600)


def _follows(before: Project, now: Project) -> bool:
    """Return whether nothing has changed that no `Change` can say: of the corpus only the text, if anything."""
    corpora = [project.corpus for project in (before, now)]
    one, other = (replace(each, text=each.text and "", is_edited=False) for each in corpora)
    return one == other


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


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, bases first; what cannot be removed stays."""
    for (kind, _), path in numbered_files(folder).items():
        if kind == "base":
            with contextlib.suppress(OSError):
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


# What the next start finds.


DAMAGED = ".damaged"
_EMPTY_SECONDS = 3600.0  # a folder without a base: its Studio has just created it, or died doing so


@dataclass(frozen=True, slots=True)
class Recoverable:
    """The folder of a Studio that is gone, and its lock, held here until the user has decided."""

    folder: Path
    lock: FolderLock
    files: dict[tuple[str, int], Path]  # see `numbered_files`
    about: About

    def newest(self, kind: str) -> int:
        return max((number for other, number in self.files if other == kind), default=0)

    def file(self, kind: str, number: int) -> Path:
        if (kind, number) not in self.files:
            raise file_error(self.folder / f"{kind}-{number}", "{path} does not exist")
        return self.files[kind, number]


@dataclass(frozen=True, slots=True)
class Recovered:
    """Recovered work, opened."""

    project: Project  # as last kept
    about: About
    lost_run: StudioError | None = None  # why the training could not be read, if there was one
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
    """Open the work: the last base plus all later changes in the journal. The folder is left untouched.

    If the base cannot be read, the older state kept with the training is used instead.
    """
    try:
        base = open_project(recoverable.file("base", recoverable.newest("base")))
    except StudioError as error:
        return _without_base(recoverable, error)
    project, about, lost_edits = _replayed(base, recoverable)
    if about is None:  # the journal is damaged from its first record on
        about = msgspec.structs.replace(recoverable.about, name=base.corpus.name, run=recoverable.newest("run"))
    elif about.run and ("run", about.run) not in recoverable.files:  # the record is from when an older run was valid
        about = msgspec.structs.replace(about, run=recoverable.newest("run") or about.run)
    is_another = is_replaced(about.project_path, about.stamp)
    path = recoverable.files.get(("run", about.run))
    if not about.run and about.project_path and not is_another:
        path = Path(about.project_path)  # later merges were not kept, but the saved ones are still there
    runs, lost_run = _runs_of(project, path)
    project = replace(project, runs=tuple(runs))
    return Recovered(project, about, lost_run if about.run else None, lost_edits, is_another)


def remove(recoverable: Recoverable) -> None:
    """Remove the work, at the user's request."""
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
        found = Recoverable(folder, lock, numbered_files(folder), About())
        if number := found.newest("base"):
            recoverable = replace(found, about=_about(found.files.get(("journal", number)), folder))
        elif time.time() - folder.stat().st_mtime > _EMPTY_SECONDS:
            remove_folder(folder)
    finally:
        if recoverable is None:
            lock.release()
    return recoverable


def _replayed(base: Project, recoverable: Recoverable) -> tuple[Project, About | None, StudioError | None]:
    """Return the project after the last change in its journal, what is known of it, and why changes are missing."""
    text, settings, view, live_text = base.corpus.text, base.settings, base.view, base.view.live_text
    about, lost = None, None
    try:
        for change in read_journal(recoverable.file("journal", recoverable.newest("base"))):
            if change.text is not None:
                text = change.text.made_in(text or "")
            if change.settings is not None:
                settings = readable(change.settings, ProjectSettings) or settings
            if change.view is not None:
                view = readable(change.view, View) or view
            if change.live_text is not None:
                live_text = change.live_text
            about = change.about
    except StudioError as error:
        lost = error
    is_edited = base.corpus.is_edited if about is None else about.is_edited or text != base.corpus.text
    corpus = replace(base.corpus, text=text, is_edited=is_edited)
    view = msgspec.structs.replace(view, live_text=live_text)
    return replace(base, settings=settings, corpus=corpus, view=view), about, lost


def _without_base(recoverable: Recoverable, reason: StudioError) -> Recovered:
    """Return the state kept with the training; raise `reason` if that cannot be read either."""
    about = recoverable.about
    number = about.run or recoverable.newest("run")
    try:
        project = open_project(recoverable.file("run", number))
    except StudioError:
        raise reason from None
    about = msgspec.structs.replace(about, name=about.name or project.corpus.name, run=number)
    project = replace(project, corpus=replace(project.corpus, is_edited=project.corpus.is_edited or about.is_edited))
    return Recovered(project, about, None, reason, is_replaced(about.project_path, about.stamp))


def _about(journal: Path | None, folder: Path) -> About:
    """Return what is known last; if the journal cannot be read, only its time."""
    about = None
    try:
        for change in read_journal(journal) if journal is not None else ():
            about = change.about
    except StudioError as error:
        _log.info("the journal cannot be read to its end; the user will be told: %s", error)
    return about or About(time=(journal or folder).stat().st_mtime)


def _runs_of(project: Project, path: Path | None) -> tuple[list[ProjectRun], StudioError | None]:
    """Return the runs in the file at `path` that `project` still has, the one that it shows first.

    They are marked whether they belong to its text and files.
    """
    if path is None:
        return [], StudioError("The file with the merges is missing")
    try:
        kept = open_project(path)
    except StudioError as error:
        return [], error
    if kept.run is None:
        return [], file_error(path, "{path} contains no merges")
    corpus, other, view = project.corpus, kept.corpus, project.view
    is_same = corpus.text == other.text and [one.file for one in corpus.files] == [one.file for one in other.files]
    numbers = {tab.number for tab in view.tabs} or {run.number for run in kept.runs}
    runs = [
        replace(
            run, is_of_corpus=run.is_of_corpus and is_same,
            text=other.text if run.is_of_corpus and not is_same else run.text,
        )
        for run in kept.runs
        if run.number in numbers
    ]  # fmt: skip
    return sorted(runs, key=lambda run: run.number != view.current), None
