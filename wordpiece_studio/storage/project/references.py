"""Where the files of a corpus are: from the project's folder on, so that both can move together, and absolutely.

Nothing is opened here. A file that is in neither place keeps its absolute one, and can be looked for.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath, PureWindowsPath

from wordpiece_studio.corpus.remote_files import is_url
from wordpiece_studio.storage.project.layout import SourceRow
from wordpiece_studio.system.printable import display_name

_LONGEST = 1 << 16  # no system knows longer paths


def placed(path: str, folder: str, about: str) -> SourceRow:
    """Return the row of a file, of a project that will be in `folder`."""
    if is_url(path):
        return SourceRow(display_name(path), _bytes(path), None, about)
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return SourceRow(display_name(absolute), _bytes(absolute), None, about)
    return SourceRow(display_name(absolute), _bytes(absolute), _bytes(relative), about)


def located(row: SourceRow, folder: str) -> str:
    """Return where the file of a row is, of a project that is in `folder`: from there on, if there is such a file.

    Raises
    ------
    ValueError
        If what the row holds is no path.
    """
    absolute = _text(row.absolute)
    if row.relative is None:
        return absolute
    relative = _text(row.relative)
    # Whoever made the file must not have us knock at another computer's door: Windows says then who we are.
    if is_url(relative) or PurePosixPath(relative).is_absolute() or PureWindowsPath(relative).anchor:
        raise ValueError(row.path)
    from_folder = os.path.normpath(os.path.join(folder, relative))
    return from_folder if os.path.exists(from_folder) else absolute


def _bytes(path: str) -> bytes:
    """Return a path as bytes: bytes that are no text are halves of surrogate pairs in `path`, and let through."""
    return path.encode("utf-8", "surrogatepass")


def _text(path: bytes) -> str:
    if not 0 < len(path) <= _LONGEST or b"\0" in path:
        raise ValueError(f"a path of {len(path)} bytes")
    return path.decode("utf-8", "surrogatepass")
