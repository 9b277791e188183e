"""Files that are not on a disk of this machine: URLs such as ``s3://bucket/text.jsonl``, read through fsspec.

Importing this module does not load fsspec. Not here: files on disk (`files`), and which files belong to a corpus
(`listing`).
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

_VERSION_KEYS = ("size", "mtime", "ETag", "etag", "LastModified", "last_modified", "updated", "md5Hash")
_BUFFER_BYTES = 1 << 20


def remote_state(url: str, *, is_known: bool) -> tuple[int, list[str]]:
    """Return the size of a file in bytes, 0 if unknown, and what tells its content from others.

    If that `is_known` from a listing of the folder, the file is not asked for again.
    """
    info: dict[str, Any] = _attempt(url, lambda: _checked_info(url, is_known=is_known))
    return int(info.get("size") or 0), [str(info.get(key)) for key in _VERSION_KEYS]


def open_url(url: str) -> BinaryIO:
    """Return the bytes of a file, readable from any position."""

    def opened() -> Any:
        system, path = _system_of(url)
        return system.open(path, "rb")

    return cast("BinaryIO", io.BufferedReader(_RawFile(_as_os_error(opened)), _BUFFER_BYTES))


def files_at(url: str) -> tuple[Literal["file", "folder", "pattern"], list[str]]:
    """Return what a URL stands for, and the URLs of the files there, in any order; hidden ones are left out."""
    found: tuple[Literal["file", "folder", "pattern"], list[str]] = _attempt(url, lambda: _files_at(url))
    return found


def _files_at(url: str) -> tuple[Literal["file", "folder", "pattern"], list[str]]:
    from fsspec.utils import get_protocol

    system, path = _system_of(url)
    if re.search(r"[*?\[]", path) and get_protocol(url) not in ("http", "https"):
        names = [name for name in system.glob(path) if not system.isdir(name)]
        return "pattern", [str(system.unstrip_protocol(name)) for name in names]
    if system.info(path).get("type") == "directory":
        names = [name for name in system.find(path) if not _is_hidden(name, path)]
        return "folder", [str(system.unstrip_protocol(name)) for name in names]
    return "file", [url]


def _is_hidden(name: str, folder: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix(folder).split("/"))


def _system_of(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url)
    return system, str(path)


def _checked_info(url: str, *, is_known: bool) -> dict[str, Any]:
    system, path = _system_of(url)
    if not is_known:
        system.invalidate_cache()
    info = dict(system.info(path))
    if info.get("type") == "directory":
        raise StudioError("{path} is a folder", "Choose files.", path=printable(url))
    return info


class _RawFile(io.RawIOBase):
    """A file of fsspec, whose many exceptions all become `OSError`."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        data = _as_os_error(lambda: self._file.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(_as_os_error(lambda: self._file.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _as_os_error(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (OSError, StudioError):
        raise
    except Exception as error:
        raise OSError(str(error) or type(error).__name__) from error


def _attempt(url: str, call: Callable[[], Any]) -> Any:
    """Return the result of a call, or raise the error that the user is shown instead."""
    shown = printable(url)
    try:
        return call()
    except StudioError:
        raise
    except FileNotFoundError as error:
        raise StudioError("{path} does not exist", "Check the name.", path=shown) from error
    except ImportError as error:
        raise StudioError(
            "{path} cannot be read: {reason}",
            "Install the missing package; URLs always need fsspec: pip install fsspec",
            path=shown,
            reason=printable(str(error)).rstrip("."),
        ) from error
    except Exception as error:  # each kind of file system has its own exceptions
        reason = printable(str(error)) or type(error).__name__
        raise StudioError("{path} cannot be read: {reason}", path=shown, reason=reason) from error
