"""What can be said of a project file from its bytes, before SQLite sees any of them.

Not here: what is in the database (`container_reading`).
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.layout import (
    APPLICATION_ID,
    PAGE_BYTES,
    TRAILER_BYTES,
    TRAILER_MAGIC,
    damaged,
    not_a_project,
)
from wordpiece_studio.system.printable import display_name

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Head:
    """What the first bytes of a file say. `version`: 1000 times the major number plus the minor one."""

    version: int
    size: int
    is_whole: bool

    @property
    def major(self) -> int:
        """The major number of the version."""
        return self.version // 1000

    @property
    def minor(self) -> int:
        """The minor number of the version."""
        return self.version % 1000


def read_head(path: str | os.PathLike[str]) -> Head:
    """Read the first and the last bytes of a project; nothing of a device, a pipe or a folder.

    Raises
    ------
    StudioError
        If there is no such file, or it is no project.
    """
    regular_file_status(path)
    try:
        # Whatever may have taken its place meanwhile: it is not waited for.
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise not_a_project(path)
            head = file.read(_HEADER_BYTES)
            if not head:
                raise StudioError("{path} is empty", "Open a copy of it from a backup.", path=display_name(path))
            file.seek(max(0, status.st_size - TRAILER_BYTES))
            tail = file.read(TRAILER_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(head) < _HEADER_BYTES or head[:16] != _MAGIC or _number(head, 68) != APPLICATION_ID:
        raise not_a_project(path)
    is_whole = (
        _number(head, 16, 2) == PAGE_BYTES
        and head[18:20] == b"\x01\x01"  # written without a log beside it
        and _number(head, 28) * PAGE_BYTES + TRAILER_BYTES == status.st_size
        and tail.startswith(TRAILER_MAGIC)
    )
    return Head(_number(head, 60), status.st_size, is_whole)


def head_of(image: bytes) -> Head:
    """Return what the first bytes of a database say that is not in a file yet."""
    return Head(_number(image, 60), len(image), is_whole=True)


def _number(head: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(head[at : at + size], "big")


def check_every_byte(path: str | os.PathLike[str]) -> None:
    """Check a project against the hash at its end.

    Raises
    ------
    StudioError
        If the file cannot be read, or a byte is another.
    """
    result, last = hashlib.sha256(), b""
    try:
        with open(path, "rb") as file:
            while piece := file.read(_READ_AT_ONCE):
                last += piece
                result.update(last[:-TRAILER_BYTES])
                last = last[-TRAILER_BYTES:]
    except OSError as error:
        raise unreadable(path, error) from error
    if last != TRAILER_MAGIC + result.digest():
        raise damaged(path, "some place", "its bytes are not those that were saved")
