"""Programs run as processes of their own, with their time and their peak memory.

The memory is what the system counted for the process when it ended (wait4); where it has children of its own, the
largest sum of all of them that was seen in /proc, pages they share counted more than once. It starts from the peak of
the process that starts it, which must therefore stay small: nothing here loads numpy or a corpus.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """One run of a program.

    Attributes
    ----------
    seconds, cpu_seconds
        From start to end, and computed in on all cores.
    peak_bytes
        The largest memory it held; None where the system does not tell.
    output
        What it printed.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    output: str

    def answer(self) -> dict[str, Any]:
        """Return what a program of ours found out and printed as JSON."""
        found: dict[str, Any] = json.loads(self.output)
        return found


def run_module(module: str, *arguments: object, environment: dict[str, str] | None = None) -> ProcessRun:
    """Run a module with this Python; raise `RuntimeError` with what it said if it fails."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        started = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=complaints, env={**os.environ, **(environment or {})}
        )
        peak_of_tree, cpu_seconds, peak = _wait(child)
        seconds = time.perf_counter() - started
        output.seek(0)
        complaints.seek(0)
        if child.returncode:
            said = complaints.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}:\n{said}")
        return ProcessRun(seconds, cpu_seconds, max(peak_of_tree, peak) or None, output.read().decode())


def _wait(child: subprocess.Popen[bytes]) -> tuple[int, float, int]:
    """Wait for the end; return the peak seen with children, the CPU seconds and the peak the system counted."""
    if not hasattr(os, "wait4"):
        child.wait()
        return 0, float("nan"), 0
    over = threading.Event()
    peaks = [0]
    watcher = threading.Thread(target=_watch, args=(child.pid, over, peaks))
    watcher.start()
    _, status, usage = os.wait4(child.pid, 0)
    over.set()
    watcher.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return peaks[0], usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def _watch(pid: int, over: threading.Event, peaks: list[int]) -> None:
    while not over.wait(_POLL_SECONDS):
        children = _descendants(pid)
        if children:
            peaks[0] = max(peaks[0], sum(map(_resident_bytes, [pid, *children])))


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_descendants(child)]
    except OSError:  # it ended meanwhile, or there is no /proc
        pass
    return found


def _resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
