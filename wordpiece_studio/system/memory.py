"""How much memory this process can use, and the errors raised when it is not enough.

Asks the system itself: Linux (with the limits of control groups), Windows and macOS; elsewhere only a limit on the
address space is known. Not here: how much a training needs (`training.forecast`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

ADVICE = "Train on a part of the text or to a smaller size, or close other programs."

_HOST_VM_INFO64, _VM_COUNTERS = 4, 38  # macOS: what to request, and how many 32-bit numbers it returns
_FREE, _INACTIVE = 0, 2  # which of them
_DATA_PAGES = 5  # index into /proc/self/statm
_LEAST_ROOM = 512 << 20
_QUERY_LIMITED_INFORMATION = 0x1000  # Windows
_FOOTPRINT = 9  # macOS: index into `rusage_info_v0` as 64-bit numbers


def available_memory() -> int | None:
    """Return the bytes that this process can still take without anything being swapped out; None if unknown.

    The smallest of what the system has free and what the control groups and a limit on the address space allow.

    >>> available_memory() is None or available_memory() >= 0
    True
    """
    found = []
    for ask in (_system_memory, _address_space):
        try:
            found.append(ask())
        except Exception:  # whatever an unusual system raises: not knowing is no reason to fail
            found.append(None)
    return min((max(0, number) for number in found if number is not None), default=None)


def memory_of(process: int) -> int | None:
    """Return the bytes that another process of this user holds; None if unknown, as for one that has ended.

    On Windows and macOS also what is paged out or compressed: what grows without end soon is.

    >>> memory_of(os.getpid()) != 0
    True
    """
    systems = {"linux": _linux_memory_of, "win32": _windows_memory_of, "darwin": _macos_memory_of}
    try:
        return systems[sys.platform](process)
    except Exception:  # whatever an unusual system raises
        return None


def check_memory(needed: int, available: float | None) -> None:
    """Raise if a training that needs `needed` bytes does not fit into the available ones; None means unknown."""
    if available is not None and needed > available:
        raise StudioError(
            "This run needs about {needed} of memory, but only {available} is free",
            ADVICE,
            needed=memory_text(needed),
            available=memory_text(available),
        )


def limit_memory(most: int) -> None:
    """Make this process fail if it takes more than `most` further bytes, or more than are available; only on Linux.

    It may always take half a gigabyte: with next to nothing a program does not fail but hangs. Code that aborts for
    want of memory leaves no core file.
    """
    if sys.platform != "linux":
        return
    import resource

    pages = _text(Path("/proc/self/statm")).split()
    held = int(pages[_DATA_PAGES]) * resource.getpagesize() if pages else 0
    available = available_memory()
    room = most if available is None else min(most, max(available, _LEAST_ROOM))
    limit, last = held + room, resource.getrlimit(resource.RLIMIT_DATA)[1]
    if last != resource.RLIM_INFINITY:
        limit = min(limit, last)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, last))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def out_of_memory() -> StudioError:
    """Return the error for memory that ran out nevertheless."""
    return StudioError("There is not enough memory for this run", ADVICE)


def memory_text(size: float) -> str:
    """Return a number of bytes as short readable text.

    >>> memory_text(83_000), memory_text(419_800_000), memory_text(1_260_000_000), memory_text(23_400_000_000)
    ('1 MB', '420 MB', '1.3 GB', '23 GB')
    """
    megabytes = max(1, round(size / 1e6))
    if megabytes < 1000:
        return f"{megabytes} MB"
    gigabytes = size / 1e9
    return f"{gigabytes:.1f} GB" if gigabytes < 9.95 else f"{gigabytes:,.0f} GB"


def _system_memory() -> int | None:
    systems = {"linux": lambda: _linux_memory(Path("/")), "win32": _windows_memory, "darwin": _macos_memory}
    ask = systems.get(sys.platform)
    return None if ask is None else ask()


def _linux_memory(root: Path) -> int | None:
    """Return what /proc/meminfo reports, or what a control group leaves if less; `root` is / except in tests."""
    fields = _fields(root / "proc/meminfo")
    free = [fields["MemAvailable"] * 1024] if "MemAvailable" in fields else []
    return min([*free, *_group_rooms(root)], default=None)


def _group_rooms(root: Path) -> Iterator[int]:
    """Yield what is left of the limit of each control group above this process, of version 1 and 2."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, limit, used, idle = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            top, limit, used = "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            idle = "total_inactive_file"
        else:
            continue
        # In a container the path may be one outside it; then only its parents, in the end the root, are visible here.
        group = Path(path.lstrip("/"))
        for level in (group, *group.parents):
            folder = root / top / level
            most, now = _text(folder / limit).strip(), _text(folder / used).strip()
            if most.isdigit() and now.isdigit():  # "max" is no limit
                # Inactive file pages count as used, but are reclaimed first.
                yield int(most) - int(now) + _fields(folder / "memory.stat").get(idle, 0)


def _windows_memory() -> int | None:
    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "total_commit", "free_commit")),
            *((name, ctypes.c_ulonglong) for name in ("total_address", "free_address", "free_extended")),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel: ctypes.CDLL = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(min(status.free, status.free_commit, status.free_address))


def _macos_memory() -> int | None:
    library = ctypes.CDLL("/usr/lib/libSystem.B.dylib")
    library.mach_host_self.restype = ctypes.c_uint
    counters, number = (ctypes.c_uint * _VM_COUNTERS)(), ctypes.c_uint(_VM_COUNTERS)
    host = ctypes.c_uint(library.mach_host_self())
    if library.host_statistics64(host, _HOST_VM_INFO64, ctypes.byref(counters), ctypes.byref(number)):
        return None
    return (counters[_FREE] + counters[_INACTIVE]) * os.sysconf("SC_PAGE_SIZE")


def _linux_memory_of(process: int) -> int | None:
    pages = _text(Path(f"/proc/{process}/statm")).split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if pages else None


class _ProcessCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of Windows."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("faults", ctypes.c_uint32),
        *((name, ctypes.c_size_t) for name in ("peak_working_set", "working_set")),
        *((name, ctypes.c_size_t) for name in ("peak_paged", "paged", "peak_not_paged", "not_paged")),
        *((name, ctypes.c_size_t) for name in ("committed", "peak_committed")),
    )


def _windows_memory_of(process: int) -> int | None:
    kernel: ctypes.CDLL = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
    kernel.OpenProcess.restype = ctypes.c_void_p
    opened = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, process)
    if not opened:
        return None
    try:
        counters = _ProcessCounters(length=ctypes.sizeof(_ProcessCounters))
        is_known = kernel.K32GetProcessMemoryInfo(ctypes.c_void_p(opened), ctypes.byref(counters), counters.length)
    finally:
        kernel.CloseHandle(ctypes.c_void_p(opened))
    return int(counters.committed) if is_known else None


def _macos_memory_of(process: int) -> int | None:
    usage = (ctypes.c_uint64 * 64)()  # `rusage_info_v0` has 12
    library = ctypes.CDLL("/usr/lib/libSystem.B.dylib")
    return None if library.proc_pid_rusage(process, 0, ctypes.byref(usage)) else int(usage[_FOOTPRINT])


def _address_space() -> int | None:
    """Return what a limit on the address space leaves; None if there is no such limit."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _text(Path("/proc/self/statm")).split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _fields(path: Path) -> dict[str, int]:
    """Return the numbers of a file with a name and a number in each line."""
    words = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {line[0]: int(line[1]) for line in words if len(line) >= 2 and line[1].isdigit()}


def _text(path: Path) -> str:
    """Return the contents of a small file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
