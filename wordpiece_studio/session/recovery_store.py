"""The folder in which a running Studio keeps its unsaved work; `recoverable_work` reads it back.

In the user's recovery folder, each running Studio has a folder of its own, with these files:

``lock``                     held while the Studio runs (`FolderLock`)
``base-<n>.wpstudio``        everything but the training; a project file
``journal-<n>``              the changes since then, as records, each forced to disk
``run-<m>.wpstudio``         all runs, in a project file; the journal says which one is valid

A new base replaces base and journal: its journal is created first, so that a base always has its journal, and the old
files are removed last. A training is written once for each number of merges; if a file of the user's holds it already,
that file gets a second name here. Only `close` and `adopt` are called in the window's thread.

A record of the journal consists of its kind (one byte), its length in bytes (four), a checksum of all of it (eight) and
its bytes. If a kill or a power cut leaves the last record incomplete, reading ends before it. One kind, `About`, says
what is known about the work without opening it: its name, its time and its extent.
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
import struct
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import SUFFIX, ProjectStamp
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.system.arrays import common_length
from wordpiece_studio.system.atomic_write import is_gone
from wordpiece_studio.system.printable import decodable, file_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project

    Record = tuple[bytes, bytes]


MAGIC = b"WPSJ\x01\x00"
EDIT, SETTINGS, VIEW, LIVE_TEXT, ABOUT = b"e", b"s", b"v", b"w", b"a"

_log = logging.getLogger(__name__)
_Kind = TypeVar("_Kind")
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_HEAD = struct.Struct("<cI8s")
_EDIT = struct.Struct("<QQQ")


class JournalWriter:
    """Creates or truncates the journal at `path`, and appends to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self.size = 0
        """Bytes written so far."""
        try:
            self._write(MAGIC)
        except OSError:
            self.close()
            raise

    def append(self, records: Sequence[Record]) -> None:
        """Append records; they are on disk when this returns."""
        self._write(b"".join(map(written_record, records)))

    def close(self) -> None:
        """Close the file. Failed writes are not retried."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.stat(self._path)  # fails if someone has deleted the file: what is written to it would be lost
        self.size += len(data)


def written_record(record: Record) -> bytes:
    """Return a record in the journal's format."""
    kind, content = record
    return _HEAD.pack(kind, len(content), _checksum(kind, content)) + content


def read_journal(path: Path) -> Iterator[Record]:
    """Yield the records of a journal, up to the first incomplete one."""
    try:
        with path.open("rb") as file:
            size, done = os.fstat(file.fileno()).st_size, len(MAGIC)
            if file.read(len(MAGIC)) != MAGIC:
                raise file_error(path, "{path} is damaged at its beginning")
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                kind, length, checksum = _HEAD.unpack(head)
                if done + _HEAD.size + length > size:
                    break
                content = file.read(length)
                if len(content) < length or _checksum(kind, content) != checksum:
                    break
                yield kind, content
                done += _HEAD.size + length
            if done < size:
                raise file_error(path, "{path} is damaged from byte {byte:,} onward", byte=done)
    except OSError as error:
        raise file_error(path, "{path} cannot be read: {reason}", reason=error.strerror or error) from error


def edit_record(before: str, after: str) -> Record:
    """Return the record of one edit that turns a text into another."""
    start = common_length(before, after)
    rest, others = before[start:], after[start:]
    end = common_length(rest, others, from_end=True)
    inserted = others[: len(others) - end].encode("utf-8", "surrogatepass")
    return EDIT, _EDIT.pack(start, len(rest) - end, len(after)) + inserted


def text_after(text: str, content: bytes) -> str | None:
    """Return `text` after the edit in a record's `content`; None if that is not an edit of this text."""
    try:
        position, removed, length = _EDIT.unpack_from(content)
        inserted = content[_EDIT.size :].decode("utf-8", "surrogatepass")
    except (struct.error, UnicodeDecodeError):
        return None
    if position + removed > len(text) or len(text) - removed + len(inserted) != length:
        return None
    return text[:position] + inserted + text[position + removed :]


def _checksum(kind: bytes, content: bytes) -> bytes:
    digest = hashlib.blake2b(kind + len(content).to_bytes(4, "little"), digest_size=8)
    digest.update(content)
    return digest.digest()


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is told about the work, and which of the files kept belong together."""

    name: str = ""  # of the corpus or the project
    project_path: str = ""  # the file that the work belongs to; empty if it was never saved as a project
    # `ProjectStamp` of that file, as of when it was last opened or saved.
    project_size: int = -1
    project_modified_ns: int = -1
    project_end: str = ""
    time: Annotated[float, msgspec.Meta(ge=-1e11, le=1e11)] = 0.0  # when this was written, in seconds since 1970
    edits: _Count = 0  # unsaved ones
    merges: _Count = 0  # that are kept; the training may have had more
    run: _Count = 0  # the number of the file with the runs; 0 if there is none
    is_edited: bool = False  # whether the text has edits that are not in any file

    @property
    def stamp(self) -> ProjectStamp:
        return ProjectStamp(self.project_size, self.project_modified_ns, self.project_end)


def to_json(value: msgspec.Struct) -> bytes:
    """Return a record as JSON, which may contain lone surrogates."""
    return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def from_json(content: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the record that `to_json` wrote; None if the content is not a record of this kind."""
    try:
        value: Any = json.loads(content, parse_constant=_refuse)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError, msgspec.ValidationError, StudioError) as error:
        _log.info("a record of the journal cannot be read: %s", error)
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that this program writes")


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
                    journal.append([*changed_parts(before, project), (ABOUT, to_json(about))])
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
        journal = JournalWriter(folder / f"journal-{self._number}")
        try:
            journal.append([(ABOUT, to_json(about))])
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


def changed_parts(before: Project, now: Project) -> list[Record]:
    """Return what has changed, except files and training, as records."""
    parts = []
    if now.corpus.text != before.corpus.text:
        parts.append(edit_record(before.corpus.text or "", now.corpus.text or ""))
    if now.settings != before.settings:
        parts.append((SETTINGS, to_json(now.settings)))
    if now.view.live_text != before.view.live_text:
        parts.append((LIVE_TEXT, now.view.live_text.encode("utf-8", "surrogatepass")))
    seen, seen_before = (msgspec.structs.replace(project.view, live_text="") for project in (now, before))
    if seen != seen_before:
        parts.append((VIEW, to_json(seen)))
    return parts


def _follows(before: Project, now: Project) -> bool:
    """Return whether nothing has changed that no record can say: of the corpus only the text, if anything."""
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
