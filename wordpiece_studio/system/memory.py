"""How much memory this process can use, and the errors raised when it is not enough.

Linux is asked here, with the limits of control groups; for other systems psutil is, which takes a while to load.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

ADVICE = "Train on a part of the text or to a smaller size, or close other programs."

_DATA_PAGES = 5  # index into /proc/self/statm
_LEAST_ROOM = 512 << 20


def available_memory() -> int | None:
    """Return the bytes that this process can still take without anything being swapped out; None if unknown.

    The smallest of what the system has free and what the control groups and a limit on the address space allow.

    >>> available_memory() is None or available_memory() >= 0
    True
    """
    found = []
    for ask in (_system_memory, _address_space):
        with suppress(Exception):  # whatever an unusual system raises: not knowing is no reason to fail
            found.append(ask())
    return min((max(0, number) for number in found if number is not None), default=None)


def memory_of(process: int) -> int | None:
    """Return the bytes that a process of this user holds, on Windows with what is paged out; None if unknown.

    >>> import os
    >>> memory_of(os.getpid()) != 0
    True
    """
    import psutil

    try:
        held = psutil.Process(process).memory_info()
    except psutil.Error:
        return None
    return int(max(held.rss, getattr(held, "private", 0)))


def check_memory(needed: int, available: float | None) -> None:
    if available is not None and needed > available:
        what = "This run needs about {needed} of memory, but only {available} is free"
        raise StudioError(what, ADVICE, needed=memory_text(needed), available=memory_text(available))


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
    if sys.platform != "linux":
        import psutil

        return int(psutil.virtual_memory().available)
    return _linux_memory(Path("/"))


def _linux_memory(root: Path) -> int | None:
    """Return what /proc/meminfo reports, or what a control group leaves if less; `root` is / except in tests."""
    fields = _fields(root / "proc/meminfo")
    free = [fields["MemAvailable"] * 1024] if "MemAvailable" in fields else []
    return min([*free, *_group_rooms(root)], default=None)


def _group_rooms(root: Path) -> Iterator[int]:
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


def _address_space() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = _text(Path("/proc/self/statm")).split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _fields(path: Path) -> dict[str, int]:
    words = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {line[0]: int(line[1]) for line in words if len(line) >= 2 and line[1].isdigit()}


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
