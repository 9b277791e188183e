"""A lock that says that a folder is in use, for as long as the process lives that has taken it."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from wordpiece_studio.system.temporary_files import is_gone

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "lock"


class FolderLock:
    """The lock of one folder.

    The system itself holds it, and takes it back when the process is gone, however it went. Qt's lock file names a
    process instead: where the numbers of processes come again, as in a container, a dead one would pass for a living.

    Parameters
    ----------
    folder
        Where the lock's file lies, or will lie.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._descriptor = -1

    @property
    def is_taken(self) -> bool:
        """Whether it was taken here."""
        return self._descriptor >= 0

    def take(self) -> bool:
        """Take the lock; False if another has it.

        Raises
        ------
        OSError
            If there can be no lock's file.
        """
        if self._descriptor >= 0:
            return True
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o600)
        try:
            is_free = _lock(descriptor)
        except OSError:  # a file system without locks: the number of the process has to do
            is_free = _is_of_nobody(descriptor)
        if not is_free:
            os.close(descriptor)
            return False
        with contextlib.suppress(OSError):  # on a full disk the number is missing, and only the lock counts
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor = descriptor
        return True

    def give_back(self) -> None:
        """Let others have it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                _unlock(descriptor)  # closing is not enough while a process that is just being begun has it too
            os.close(descriptor)


def _is_of_nobody(descriptor: int) -> bool:
    text = os.read(descriptor, 20).strip()
    return not text.isdigit() or is_gone(int(text))


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 20  # what is locked cannot be read by others, so it is a byte far behind the number

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
