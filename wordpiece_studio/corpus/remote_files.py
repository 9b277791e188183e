"""Files that are not on a disk of this machine: URLs such as ``s3://bucket/text.jsonl``, read through fsspec.

Importing this module does not load fsspec. Not here: files on disk (`files`), and which of them a pattern matches
(`listing`).
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from wordpiece_studio.corpus.corpus_file import FOLDER_SUFFIXES, is_taken_from_folders, natural_order
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

_URL = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://", re.IGNORECASE)
_VERSION_KEYS = ("size", "mtime", "ETag", "etag", "LastModified", "last_modified", "updated", "md5Hash")
_BUFFER_BYTES = 1 << 20


def is_url(path: str) -> bool:
    """Return whether a path is a URL; a Windows drive is not.

    >>> is_url("s3://bucket/a.txt"), is_url("C:/a.txt"), is_url("a.txt")
    (True, False, False)
    """
    return _URL.match(path) is not None


class RemoteFile:
    """A file behind a URL, with its state when this was created.

    Attributes
    ----------
    size
        Its size in bytes; 0 if unknown.

    Raises
    ------
    StudioError
        If there is no such file, or the package that reads such URLs is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._info = _attempt(url, lambda: _checked_info(url))
        self.size = int(self._info.get("size") or 0)

    def has_changed(self) -> bool:
        """Return whether the file has changed since this was created."""
        try:
            system, path = _system_of(self._url)
            system.invalidate_cache()
            now = system.info(path)
        except Exception:  # each kind of file system has its own exceptions
            return True
        return _version(now) != _version(self._info)


def open_url(url: str) -> BinaryIO:
    """Return the bytes of a file, readable from any position.

    Raises
    ------
    OSError
        If it cannot be opened; reading from the result raises nothing else either.
    """

    def opened() -> Any:
        system, path = _system_of(url)
        return system.open(path, "rb")

    return cast("BinaryIO", io.BufferedReader(_RawFile(_as_os_error(opened)), _BUFFER_BYTES))


def listed_urls(url: str, left_out: list[str]) -> list[str]:
    """Return the files that a URL stands for: itself, or those of a folder or a pattern, in a fixed order.

    Files of a folder whose suffixes are not those of texts are added to `left_out`.

    Raises
    ------
    StudioError
        If there are none.
    """
    listed: list[str] = _attempt(url, lambda: _listed(url, left_out))
    return listed


def _listed(url: str, left_out: list[str]) -> list[str]:
    from fsspec.utils import get_protocol

    system, path = _system_of(url)
    is_pattern = bool(re.search(r"[*?\[]", path)) and get_protocol(url) not in ("http", "https")
    if is_pattern:
        names = [name for name in system.glob(path) if not system.isdir(name)]
    elif _info(url).get("type") == "directory":
        visible = [name for name in system.find(path) if not _is_hidden(name, path)]
        names = [name for name in visible if is_taken_from_folders(name)]
        others = sorted(set(visible) - set(names), key=_natural_order)
        left_out += [str(system.unstrip_protocol(name)) for name in others]
    else:
        return [url]
    if not names:
        raise StudioError(
            "No file matches {path}" if is_pattern else "There is no file in the folder {path} that ends in {suffixes}",
            "Check the pattern." if is_pattern else "Name files with other endings one by one, or by a pattern.",
            path=printable(url),
            suffixes=", ".join(FOLDER_SUFFIXES),
        )
    return [str(system.unstrip_protocol(name)) for name in sorted(names, key=_natural_order)]


def _is_hidden(name: str, folder: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix(folder).split("/"))


def _natural_order(name: str) -> list[object]:
    return [natural_order(part) for part in name.split("/")]


def _system_of(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url)
    return system, str(path)


def _info(url: str) -> dict[str, Any]:
    system, path = _system_of(url)
    return dict(system.info(path))


def _checked_info(url: str) -> dict[str, Any]:
    info = _info(url)
    if info.get("type") == "directory":
        raise StudioError("{path} is a folder", "Choose files.", path=printable(url))
    return info


def _version(info: dict[str, Any]) -> list[str]:
    return [str(info.get(key)) for key in _VERSION_KEYS]


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
