"""Writing a file so that it is either the new one, whole, or the old one, untouched.

Qt's QSaveFile is not used: on a full disk it replaces a good file by a truncated one and reports success.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from wordpiece_studio.core.corpus.files import display_name
from wordpiece_studio.errors import StudioError


def atomic_write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to the file at `path`, in one step that cannot be seen half done.

    A new file is made beside the target, written, forced to the disk and put in the target's place. A symbolic link
    stays, and what it points to is replaced. The file keeps its permissions.

    Raises
    ------
    StudioError
        If that fails at any point; the target is then what it was, and nothing else is left behind.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_of_regular_file(target)
        temporary = target.with_name(f".{target.name[:100]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        try:
            _write_new_file(temporary, data, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        _force_folder_to_disk(target.parent)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise StudioError(
            "{path} cannot be written: {reason}",
            "What was there before is unchanged.",
            path=display_name(path),
            reason=reason,
        ) from error


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Make the folder at `path`, and those above it, unless they exist.

    Raises
    ------
    StudioError
        If that fails.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise StudioError("{path} is a file, not a folder", "Choose another.", path=display_name(path)) from None
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise StudioError(
            "The folder {path} cannot be made: {reason}", path=display_name(path), reason=reason
        ) from error
    return folder


def check_folder(path: str | os.PathLike[str]) -> None:
    """Check that files can probably be written into the folder at `path`, which need not be there yet.

    Raises
    ------
    StudioError
        If it is a file or cannot be written to. Better now than after an hour of training.
    """
    folder = Path(path)
    existing = next((place for place in (folder, *folder.absolute().parents) if os.path.lexists(place)), None)
    if existing is None or not existing.is_dir():
        raise StudioError("{path} is not a folder", "Choose another.", path=display_name(existing or folder))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StudioError("The folder {path} cannot be written to", "Choose another.", path=display_name(existing))


def _mode_of_regular_file(target: Path) -> int | None:
    """Return the permissions of the file that is there, or None."""
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise StudioError(
            "{path} is not a regular file", "Choose another name to save under.", path=display_name(target)
        )
    return stat.S_IMODE(mode)


def _write_new_file(path: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # What replaces a file is for nobody else's eyes before it has that file's permissions.
    descriptor = os.open(path, flags, 0o666 if mode is None else 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _force_folder_to_disk(folder: Path) -> None:
    """Force the new name to the disk; the file is in its place already, so a failure changes nothing."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
