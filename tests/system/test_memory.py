"""How much memory there is, on systems made up of files, and what is said when it is not enough."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
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


def test_another_process_holds_what_it_holds() -> None:
    code = "import sys; held = bytearray(64 << 20); print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert 64 << 20 < (memory.memory_of(process.pid) or 0) < 256 << 20
        process.kill()
    assert memory.memory_of(process.pid) is None


def test_other_systems_are_asked_by_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.sys, "platform", "darwin")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=GB))
    monkeypatch.setattr(psutil, "Process", lambda _: SimpleNamespace(memory_info=lambda: windows_process))
    windows_process = SimpleNamespace(rss=5, private=12345)
    assert memory.available_memory() == GB
    assert memory.memory_of(7) == 12345
