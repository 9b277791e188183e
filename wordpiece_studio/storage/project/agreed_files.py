"""Which files outside its folder a project may touch: those that this user has agreed to, or has saved it with, here.

A project comes from anywhere, and a file that it names may be on another computer, which would learn of the user; or a
device, or a pipe. Files in its folder are its own, unless they are reached through a link.

What was agreed to is remembered as one hash for each project's folder and the places outside it, in the folder of the
user's state: neither can be read from it, and a project that names one place more is asked about anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
from typing import TYPE_CHECKING

import platformdirs

from wordpiece_studio.corpus.files import is_relative, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import ProjectCorpus

_MOST_KEPT = 2000
_LINE_BYTES = 65  # a hash in hexadecimal, and the line end
_LINK_TAGS = {getattr(stat, "IO_REPARSE_TAG_SYMLINK", -1), getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)}
_writing = threading.Lock()


def found_inside(path: str, folder: str) -> bool | None:
    """Return whether a regular file at `path` is in the folder; None if that is another place, and not looked at.

    A link in the folder leads to another place.
    """
    if is_url(path):
        return None
    beginning = os.path.join(folder, "")
    if os.path.normpath(path) != path or not path.startswith(beginning):
        return None
    inside = path[len(beginning) :]
    if not inside or not is_relative(inside):
        return None
    place = folder
    parts = inside.split(os.sep)
    for number, part in enumerate(parts, 1):
        place = os.path.join(place, part)
        try:
            status = os.lstat(place)
        except (OSError, ValueError):
            return False
        if getattr(status, "st_reparse_tag", 0) in _LINK_TAGS:
            return None
        if number < len(parts) and not stat.S_ISDIR(status.st_mode):
            return None if stat.S_ISLNK(status.st_mode) else False
    return True if stat.S_ISREG(status.st_mode) else None


def are_agreed(folder: str, places: Iterable[str]) -> bool:
    """Return whether the user has agreed that a project in `folder` touches all these places, or there are none."""
    digest = _digest(folder, places)
    return digest is None or digest in _known()


def note_agreed(project: str | os.PathLike[str], corpus: ProjectCorpus) -> None:
    """Remember that a project that was just saved or agreed to may touch its files.

    Where it cannot be remembered, the user is asked again.
    """
    folder = os.path.dirname(os.path.realpath(project))
    files = [reference.file for reference in corpus.references]
    paths = [place for file in files for place in file.unagreed or (_absolute(file.path),)]
    digest = _digest(folder, [path for path in paths if found_inside(path, folder) is None])
    with _writing:
        known = _known()
        if digest is None or digest in known:
            return
        kept = [*known, digest][-_MOST_KEPT:]
        with contextlib.suppress(OSError, StudioError):
            _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic_write(_file(), "".join(f"{each}\n" for each in kept).encode())


def _absolute(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)


def _digest(folder: str, places: Iterable[str]) -> str | None:
    """Return a hash of the folder and the places, whatever their order; None without places."""
    known = sorted({place.encode("utf-8", "surrogatepass") for place in places})
    if not known:
        return None
    return hashlib.sha256(b"\0".join([folder.encode("utf-8", "surrogatepass"), *known])).hexdigest()


def _known() -> list[str]:
    try:
        with open(_file(), "rb") as file:
            return file.read(_LINE_BYTES * _MOST_KEPT).decode("ascii").split()
    except (OSError, ValueError):
        return []


def _file() -> Path:
    return platformdirs.user_state_path("wordpiece-studio", appauthor=False) / "agreed-files"
