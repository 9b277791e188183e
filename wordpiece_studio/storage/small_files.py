"""Files that are read at once: of limited size and, if they are text, in UTF-8.

A corpus, in contrast, is read piece by piece (`corpus.files`).
"""

from __future__ import annotations

import os
from pathlib import Path

from wordpiece_studio.corpus.files import regular_file_status, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import file_error

TOO_LARGE_TOKENIZER = "{path} is {n} MB, too large for a tokenizer"


def checked_path(path: object) -> Path:
    """Return the path that a text or a path object stands for."""
    if not isinstance(path, str | os.PathLike):
        raise StudioError("{value} is not a path", "Pass a string or a pathlib.Path.", value=repr(path)[:100])
    return Path(path)


def small_file_bytes(
    path: str | os.PathLike[str], most_bytes: int, too_large: str, advice: str = "Choose another file."
) -> bytes:
    """Return all bytes of a file.

    Parameters
    ----------
    path
        The path of the file.
    most_bytes
        The largest size.
    too_large, advice
        The error for a larger file: a template with ``{path}`` and ``{n}``, its size in MB, and what to do.
    """
    size = regular_file_status(path).st_size
    if size <= most_bytes:
        try:
            with open(path, "rb") as file:
                data = file.read(size + 1)  # allocates as much memory as it is asked to read
                if len(data) > size:  # it has grown, or the system generates it on reading
                    data += file.read(most_bytes + 1 - len(data))
        except OSError as error:
            raise unreadable(path, error) from error
        size = len(data)
    if size > most_bytes:
        raise file_error(path, too_large, advice, n=size >> 20)
    return data


def utf8_text(data: bytes, path: str | os.PathLike[str]) -> str:
    """Return the text of `data`, the content of the file at `path`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise file_error(
            path,
            "{path}, line {line}: the byte {value} at offset {byte} is not valid UTF-8",
            "Save it as UTF-8.",
            line=data.count(b"\n", 0, error.start) + 1,
            value=f"{data[error.start]:02X}",
            byte=error.start,
        ) from None
