"""Text files: which may be read at all, and how they are named in messages.

Not here: how their bytes become text (`decoding`), and what becomes of the text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.decoding import (
    PIECE_BYTES,
    checked_error_handling,
    decoded_pieces,
    known_encoding,
)
from wordpiece_studio.core.text.printable import printable
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.core.corpus.decoding import ErrorHandling, TextPiece


class TextFile:
    """A text file to be read once, from start to end.

    Parameters
    ----------
    path
        Where it is.
    encoding
        Its encoding, or None for UTF-8 or what its byte order mark says.
    errors
        What to do about bytes that cannot be decoded and about NUL characters: ``"strict"`` raises,
        ``"replace"`` puts U+FFFD in their place, ``"skip-line"`` leaves the line out.
    splits_at_blanks
        Whether a piece may end at a blank too, when there is no line end for long.

    Raises
    ------
    StudioError
        If there is no such file, or it is not a regular file, or there is no such encoding.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        encoding: str | None = None,
        errors: ErrorHandling = "strict",
        splits_at_blanks: bool = False,
    ) -> None:
        self._errors = checked_error_handling(errors)
        self.path = os.fspath(path)
        self.name = display_name(self.path)
        self._status = regular_file_status(self.path)
        self._given_encoding = None if encoding is None else known_encoding(encoding)
        self._splits_at_blanks = splits_at_blanks

    @property
    def size(self) -> int:
        """The size in bytes, when it was first looked at."""
        return self._status.st_size

    def pieces(self, piece_bytes: int = PIECE_BYTES) -> Iterator[TextPiece]:
        """Yield the text in pieces of about `piece_bytes`, each ending at a line end or with the file.

        Raises
        ------
        StudioError
            If the file cannot be read, or, with ``errors="strict"``, cannot be decoded; the message says where.
        """
        try:
            with open(self.path, "rb") as file:
                yield from decoded_pieces(
                    file.read,
                    file.read(max(piece_bytes, 4)),
                    self.name,
                    encoding=self._given_encoding,
                    errors=self._errors,
                    splits_at_blanks=self._splits_at_blanks,
                    piece_bytes=piece_bytes,
                )
        except OSError as error:
            raise unreadable(self.path, error) from error

    def has_changed(self) -> bool:
        """Return whether the file is no longer what it was when it was first looked at."""
        try:
            now = os.stat(self.path)
        except OSError:
            return True
        return (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns)


def listed_paths(paths: object) -> list[str]:
    """Return one path or several as a list.

    Raises
    ------
    StudioError
        If there is none, or something that is no path.
    """
    one_or_many = [paths] if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable) else paths
    listed: list[str] = []
    for path in one_or_many:
        if not isinstance(path, str | bytes | os.PathLike):
            raise StudioError("Files are expected, not {value}", "Give their paths.", value=repr(path)[:100])
        listed.append(os.fsdecode(path))
    if not listed:
        raise StudioError("There is no file to read", "Name at least one.")
    return listed


def display_name(path: str | os.PathLike[str]) -> str:
    r"""Return a path as it can be shown; line breaks and bytes that are no text appear as backslash escapes.

    >>> display_name("two\nlines.txt")
    'two\\nlines.txt'
    """
    return printable(os.fsdecode(os.fspath(path))) or '""'


def regular_file_status(path: str | os.PathLike[str]) -> os.stat_result:
    """Return size, times and so on of a regular file, without opening it.

    Raises
    ------
    StudioError
        If there is none, or it is a folder, a pipe or a device.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if stat.S_ISREG(status.st_mode):
        return status
    if stat.S_ISDIR(status.st_mode):
        raise StudioError("{path} is a folder", "Choose files.", path=display_name(path))
    raise StudioError("{path} is not a regular file", "Choose a file on a disk.", path=display_name(path))


def unreadable(path: str | os.PathLike[str], error: Exception) -> StudioError:
    """Return what to tell the user about a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return StudioError("{path} does not exist", "Check the name.", path=display_name(path))
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return StudioError("{path} cannot be read: {reason}", path=display_name(path), reason=reason)
