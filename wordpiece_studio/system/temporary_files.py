"""The files beside a target that a save writes first: their names, and what a killed save left of them.

A name says which process made the file and on which computer, so that a later save can tell what no one will ever
put in place from what another program is just writing.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import sys
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def temporary_path(target: Path) -> Path:
    """Return a new name beside `target`."""
    return target.with_name(f"{_beginning(target)}{os.getpid()}-{_host()}-{secrets.token_hex(4)}.tmp")


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files beside `target` whose process is gone; those of which it is not sure stay.

    No failure is reported: they are in no one's way.
    """
    name = re.compile(re.escape(_beginning(target)) + rf"(\d{{1,10}})-{_host()}-[0-9a-f]{{8}}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            found = name.fullmatch(entry.name)
            if found and is_gone(int(found[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    def is_gone(pid: int) -> bool:
        """Return whether it is certain that there is no process of this number."""
        # os.kill(pid, 0) would send it Ctrl-C.
        query, synchronize, no_such_process, is_over = 0x1000, 0x100000, 87, 0
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
        kernel.OpenProcess.restype = wintypes.HANDLE
        kernel.WaitForSingleObject.argtypes = (wintypes.HANDLE, wintypes.DWORD)
        kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
        process = kernel.OpenProcess(query | synchronize, False, pid)
        if not process:
            return ctypes.get_last_error() == no_such_process
        try:
            # An ended process is still there as long as anyone holds it.
            return bool(kernel.WaitForSingleObject(process, 0) == is_over)
        finally:
            kernel.CloseHandle(process)

else:

    def is_gone(pid: int) -> bool:
        """Return whether it is certain that there is no process of this number."""
        try:
            os.kill(pid, 0)  # sends nothing
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return False


def _beginning(target: Path) -> str:
    return f".{target.name[:40]}."  # a file's whole name may have 255 bytes


def _host() -> str:
    """Return what tells this computer from others that write to the same network folder."""
    return f"{zlib.crc32(platform.node().encode('utf-8', 'replace')):08x}"
