"""How much memory there is, on systems made up of files, and what is said when it is not enough."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system import memory

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"


def system(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def meminfo(available: int) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal: 99999999 kB\nMemFree: 5 kB\nMemAvailable: {available // 1024} kB\n"}


def group(folder: str, limit: str, used: int, idle: int = 0) -> dict[str, str]:
    """A control group of version 2, or 1 if it is in the folder of that."""
    if folder.startswith(V1):
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", f"total_inactive_file {idle}\n")
    else:
        names = ("memory.max", "memory.current", f"anon 1\ninactive_file {idle}\n")
    limits = {f"{folder}/{names[0]}": f"{limit}\n", f"{folder}/{names[1]}": f"{used}\n"}
    return limits | {f"{folder}/memory.stat": names[2]}


def test_without_control_groups_it_is_what_the_system_says(tmp_path: Path) -> None:
    assert memory._linux_memory(system(tmp_path, **meminfo(8 << 30))) == 8 << 30


@pytest.mark.parametrize(
    ("line", "groups", "left"),
    [
        ("0::/a/b", group(f"{V2}/a/b", str(2 * GB), GB), GB),
        ("0::/a/b", group(f"{V2}/a", str(3 * GB), GB) | group(f"{V2}/a/b", "max", GB), 2 * GB),
        ("0::/a", group(f"{V2}/a", str(2 * GB), 2 * GB, idle=GB // 2), GB // 2),
        ("0::/../outside", group(V2, str(2 * GB), GB), GB),
        ("0::/not/seen/here", group(V2, str(2 * GB), GB), GB),
        ("0::/a", group(f"{V2}/a", str(GB), 2 * GB), -GB),
        ("4:cpu,memory:/c", group(f"{V1}/c", str(GB), GB // 4), GB * 3 // 4),
        ("4:memory:/c", group(f"{V1}/c", str(2**63 - 4096), GB), None),
        ("3:cpu:/c", group(f"{V1}/c", str(GB), 0), None),
    ],
)
def test_the_tightest_control_group_counts(tmp_path: Path, line: str, groups: dict[str, str], left: int | None) -> None:
    files = meminfo(8 << 30) | {"proc/self/cgroup": f"9:name=systemd:/x\n{line}\n"} | groups
    assert memory._linux_memory(system(tmp_path, **files)) == (8 << 30 if left is None else left)


def test_a_system_that_reports_nothing_is_unknown(tmp_path: Path) -> None:
    assert memory._linux_memory(tmp_path) is None


def test_errors_of_the_system_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(memory, "_system_memory", broken)
    monkeypatch.setattr(memory, "_address_space", lambda: 5)
    assert memory.available_memory() == 5
    monkeypatch.setattr(memory, "_address_space", broken)
    assert memory.available_memory() is None
    monkeypatch.setattr(memory, "_address_space", lambda: -5)  # more was taken than allowed
    assert memory.available_memory() == 0


@pytest.mark.skipif(sys.platform not in ("linux", "win32", "darwin"), reason="asks only these systems")
def test_this_machine_has_some_memory() -> None:
    available = memory.available_memory()
    assert available is not None
    assert 10**6 < available < 10**15


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="asks the system another way")
def test_no_more_is_free_than_there_is() -> None:
    there_is = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert (memory.available_memory() or 0) <= there_is


def test_too_little_is_an_error_with_both_figures() -> None:
    memory.check_memory(GB, GB)
    memory.check_memory(GB, None)
    with pytest.raises(StudioError, match=r"needs about 2\.0 GB of memory, but only 960 MB is free\. Train on"):
        memory.check_memory(2 * GB, 960 * 10**6)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_process_that_limits_itself_takes_no_more() -> None:
    code = """
from wordpiece_studio.system.memory import limit_memory
limit_memory(64 << 20)
held = bytearray(32 << 20)
try:
    more = bytearray(64 << 20)
except MemoryError:
    print("no more")
"""
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "no more\n"
    )


class Kernel:
    """Windows' kernel32, for one process of which a handle is a large number."""

    HANDLE = 0xFFFF_FFFF_FFF0 if ctypes.sizeof(ctypes.c_void_p) == 8 else 0xFFF0

    def __init__(self) -> None:
        self.closed: list[int | None] = []
        self.is_broken = False
        self.OpenProcess = _Function(lambda access, inherit, process: self.HANDLE if process == 7 else None)

    def K32GetProcessMemoryInfo(self, handle: ctypes.c_void_p, place: Any, size: int) -> int:
        assert handle.value == self.HANDLE
        assert size == 8 + 8 * ctypes.sizeof(ctypes.c_size_t)
        if self.is_broken:
            raise OSError("access violation")
        place._obj.working_set, place._obj.committed = 5, 12345
        return 1

    def CloseHandle(self, handle: ctypes.c_void_p) -> int:
        self.closed.append(handle.value)
        return 1


class _Function:
    def __init__(self, function: Any) -> None:
        self.restype: Any = None
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        assert self.restype is ctypes.c_void_p  # a handle has 64 bits
        return self._function(*arguments)


def test_windows_is_asked_for_another_process_and_its_handle_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert memory.memory_of(7) == 12345
    assert memory.memory_of(8) is None
    kernel.is_broken = True
    assert memory.memory_of(7) is None
    assert kernel.closed == [Kernel.HANDLE] * 2


def test_macos_is_asked_for_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(process: int, version: int, place: Any) -> int:
        place._obj[8], place._obj[9] = 5, 12345  # resident; with what is compressed
        return 0 if (process, version) == (7, 0) else -1

    monkeypatch.setattr(ctypes, "CDLL", lambda path: SimpleNamespace(proc_pid_rusage=usage))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory.memory_of(7) == 12345
    assert memory.memory_of(8) is None
