"""Writing files so that each is either completely new or unchanged; several together, or none.

Qt's QSaveFile is not used: on a full disk it replaces a good file by a truncated one and reports success.

A save first writes to a temporary file beside the target, whose name tells which process made it and on which
computer. So a later save can tell a file that will never be put in place from one that another program is writing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import secrets
import stat
import tempfile
import time
import zlib
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import finished, results_are_there, undisturbed, undo_if_stopped
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Content = bytes | Callable[[BinaryIO], None]
    WrittenTogether = Callable[
        [str | os.PathLike[str], Callable[[BinaryIO], object]], Mapping[str | os.PathLike[str], Content]
    ]
    """From a file's path and its writer, everything that is written with it, the file itself included."""
    Check = Callable[[str | os.PathLike[str]], None]

# How long to wait before retrying a replacement that another program blocks.
_RETRY_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)
_IN_USE_WINDOWS = {5, 32, 33}  # access denied, sharing violation, lock violation
_UNCHANGED = "Any existing file is unchanged."
_ADVICE = {
    errno.ENOSPC: f"{_UNCHANGED} Free some space, or save to another location.",
    getattr(errno, "EDQUOT", errno.ENOSPC): f"{_UNCHANGED} Free some space, or save to another location.",
    errno.EROFS: f"{_UNCHANGED} Save to another location.",
    errno.EACCES: f"{_UNCHANGED} Save to another location.",
}


@dataclass(frozen=True, slots=True)
class _Replacement:
    name: str  # as shown to the user
    target: Path
    new: Path  # where the new content is until it is put in place
    old: Path  # where the old content is kept meanwhile
    mode: int | None  # the permissions of the existing file; None if there is none


@dataclass(slots=True)
class _Pending:
    """What is written but not yet in place: files, the folders made for them, and copies of lost originals."""

    replacements: list[_Replacement] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    check: Check | None = None


_pending: ContextVar[_Pending | None] = ContextVar("pending", default=None)


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to a new file, which is flushed to disk and then moved into the place of the one at `path`.

    A symbolic link stays, and what it points to is replaced; another hard link keeps the old content. Permissions are
    kept.
    """
    atomic_write_all({path: data})


def atomic_write_all(
    files: Mapping[str | os.PathLike[str], Content], *, folder: str | os.PathLike[str] | None = None
) -> None:
    """Write files that belong together, as `atomic_write` writes one: all of them or none.

    Content too large for memory is given as a function that writes it to the open file, and may read it back. The
    files are put in place only when all are on disk, immediately one after the other; if that fails for one, those
    before it are restored. Only a process killed between two of these renames leaves a mixture. Files that are
    `written_together` are put in place at the end of that block. A `folder` that does not exist yet is made for them.
    """
    pending = _pending.get()
    if pending is None:
        with written_together():
            atomic_write_all(files, folder=folder)
        return
    if folder is not None:
        make_folder(folder)
    _write(files, pending)


@contextlib.contextmanager
def written_together(*, are_results: bool = False, check: Check | None = None) -> Iterator[_Pending]:
    """Put everything that this thread writes in the block in place at its end: all files, or none if it raises.

    `are_results`: these are the results of the program, which is then finished: signals no longer end it. `check`
    raises a `StudioError` if a file must not be replaced.
    """
    pending = _Pending(check=check)
    token = _pending.set(pending)
    is_done = False
    try:
        yield pending
        with undisturbed():
            _put_in_place(pending)
            if are_results:
                results_are_there()
        is_done = True
    finally:
        _pending.reset(token)
        for leftover in (path for each in pending.replacements for path in (each.new, each.old)):
            if leftover not in pending.kept:
                _remove(leftover)
            finished(leftover)
        for folder in reversed(pending.folders):
            if not is_done:
                with contextlib.suppress(OSError):  # something else is in it by now
                    folder.rmdir()
            finished(folder)
    for folder in {replacement.target.parent for replacement in pending.replacements}:
        _force_folder_to_disk(folder)


def _write(files: Mapping[str | os.PathLike[str], Content], pending: _Pending) -> None:
    if pending.check is not None:
        for path in files:
            pending.check(path)
    for path, data in files.items():
        name, folder = display_name(path), None
        try:
            try:
                target = Path(os.path.realpath(path))
                mode = _mode_of_regular_file(target)
                _remove_leftovers(target)
                replacement = _Replacement(name, target, temporary_path(target), temporary_path(target), mode)
            except ValueError as error:  # such as a NUL in the path
                raise OSError(str(error)) from error
            folder = replacement.target.parent
            pending.replacements.append(replacement)
            undo_if_stopped(replacement.new, partial(_remove, replacement.new))
            _write_new_file(replacement.new, data, replacement.mode)
        except OSError as error:
            raise _not_written(name, folder, error) from error


def _put_in_place(pending: _Pending) -> None:
    replacements, name = pending.replacements, ""
    try:
        for replacement in replacements[:-1]:
            name = replacement.name
            _keep_old_file(replacement)
        try:
            for replacement in replacements:
                name = replacement.name
                _move(replacement.new, replacement.target, name)
        except BaseException:
            lost = _put_back(replacements)
            pending.kept = [replacement.old for replacement in lost if replacement.mode is not None]
            if lost:
                raise _not_put_back(lost, pending.kept) from None
            raise
    except OSError as error:
        raise _not_written(name, replacements[-1].target.parent, error) from error


def make_folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path)
    try:
        if (pending := _pending.get()) is not None:
            for missing in reversed([place for place in (folder, *folder.parents) if not os.path.lexists(place)]):
                pending.folders.append(missing)
                undo_if_stopped(missing, missing.rmdir)
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise StudioError("{path} is a file, not a folder", "Choose another.", path=display_name(path)) from None
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise StudioError(
            "The folder {path} cannot be created: {reason}", path=display_name(path), reason=reason
        ) from error
    return folder


def check_folder(path: str | os.PathLike[str]) -> None:
    """Check that files can probably be written to the folder at `path`, which need not exist yet."""
    folder = Path(path)
    existing = next((place for place in (folder, *folder.absolute().parents) if os.path.lexists(place)), None)
    if existing is None or not existing.is_dir():
        raise StudioError("{path} is not a folder", "Choose another.", path=display_name(existing or folder))
    try:
        with tempfile.TemporaryFile(dir=existing):
            return
    except OSError:
        what = "The folder {path} cannot be written to"
        raise StudioError(what, "Choose another.", path=display_name(existing)) from None


def _not_written(name: str, folder: Path | None, error: OSError) -> StudioError:
    if folder is not None and error.errno == errno.ENOENT and not folder.exists():
        what = "{path} cannot be written: the folder {folder} does not exist"
        return StudioError(what, "Save to another location.", path=name, folder=display_name(folder))
    advice = _ADVICE.get(error.errno or 0, f"{_UNCHANGED} Try again, or save to another location.")
    return StudioError("{path} cannot be written: {reason}", advice, path=name, reason=error.strerror or str(error))


def _mode_of_regular_file(target: Path) -> int | None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise StudioError(
            "{path} is not a regular file", "Choose another name to save under.", path=display_name(target)
        )
    if not os.access(target, os.W_OK):  # a new file could still replace it, which no one would expect
        raise StudioError("{path} is write-protected", "Choose another name to save under.", path=display_name(target))
    return stat.S_IMODE(mode)


def _write_new_file(path: Path, data: Content, mode: int | None) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # No one else may read a replacement before it has the permissions of the file it replaces.
    descriptor = os.open(path, flags, 0o666 if mode is None else 0o600)
    try:
        file = os.fdopen(descriptor, "w+b")
    except BaseException:
        os.close(descriptor)
        raise
    with file:
        if isinstance(data, bytes):
            file.write(data)
        else:
            data(file)
        file.flush()
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    """Remove a file if it exists; if two attempts fail, a later save removes it."""
    for _ in range(2):
        try:
            path.unlink()
        except FileNotFoundError:
            return
        except OSError:
            continue


def _move(source: Path, target: Path, name: str) -> None:
    """Move `source` into the place of `target`; wait a moment while another program holds that open."""
    for seconds in (*_RETRY_SECONDS, None):
        try:
            os.replace(source, target)
        except OSError as error:
            if not _is_in_use(error):
                raise
            if seconds is None:
                what = "{path} cannot be replaced: it is open in another program ({reason})"
                advice = "Close it there, or save under another name. The existing file is unchanged."
                raise StudioError(what, advice, path=name, reason=error.strerror or str(error)) from error
            time.sleep(seconds)
        else:
            return


def _is_in_use(error: OSError) -> bool:
    """Return whether a virus scanner, a program that synchronizes folders, or a viewer may be in the way.

    Windows then refuses; POSIX replaces an open file, except on some network folders.
    """
    return getattr(error, "winerror", None) in _IN_USE_WINDOWS or error.errno == errno.EBUSY


def _keep_old_file(replacement: _Replacement) -> None:
    """Give the old file a second name; copy it where there are no links."""
    if replacement.mode is None:
        return
    try:
        os.link(replacement.target, replacement.old)
    except (OSError, NotImplementedError):
        _write_new_file(replacement.old, replacement.target.read_bytes(), replacement.mode)


def _put_back(replacements: Sequence[_Replacement]) -> list[_Replacement]:
    """Restore the files that were replaced, unless all were; return those for which that failed."""
    lost: list[_Replacement] = []
    replaced = [replacement for replacement in replacements if not os.path.lexists(replacement.new)]
    for replacement in replaced if len(replaced) < len(replacements) else ():
        try:
            if replacement.mode is None:
                replacement.target.unlink()
            else:
                _move(replacement.old, replacement.target, replacement.name)
        except (OSError, StudioError):
            lost.append(replacement)
    return lost


def _not_put_back(lost: Sequence[_Replacement], kept: Sequence[Path]) -> StudioError:
    names = ", ".join(replacement.name for replacement in lost)
    if not kept:
        return StudioError("Not all files could be written, and {names} could not be removed again", names=names)
    what = "Not all files could be written, and {names} could not be restored"
    return StudioError(
        what, "The previous versions are in {copies}.", names=names, copies=", ".join(map(display_name, kept))
    )


def _force_folder_to_disk(folder: Path) -> None:
    """Flush the new name to disk; the file is already in place, so a failure changes nothing."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def temporary_path(target: Path) -> Path:
    return target.with_name(f"{_beginning(target)}{os.getpid()}-{_host()}-{secrets.token_hex(4)}.tmp")


def _remove_leftovers(target: Path) -> None:
    """Remove the temporary files beside `target` whose process is certainly gone.

    No failure is reported: they do no harm.
    """
    name = re.compile(re.escape(_beginning(target)) + rf"(\d{{1,10}})-{_host()}-[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            found = name.fullmatch(entry.name)
            if found and is_gone(int(found[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def is_gone(pid: int) -> bool:
    """Return whether there is certainly no process with this id."""
    import psutil  # takes a while to load

    try:
        return not psutil.pid_exists(pid)
    except OverflowError:  # no process of this system has such an id
        return False


def _beginning(target: Path) -> str:
    return f".{target.name[:40]}."  # a file name may have at most 255 bytes


def _host() -> str:
    """Return an id that distinguishes this computer from others that write to the same network folder."""
    return f"{zlib.crc32(platform.node().encode('utf-8', 'replace')):08x}"
