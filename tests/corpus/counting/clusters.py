"""A Dask cluster on this machine for tests: a real scheduler, and real worker processes that can be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import wordpiece_studio

_SECONDS = 30
# The workers find the very package that the tests use.
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(wordpiece_studio.__file__).parents[1])}


class LocalCluster:
    """A scheduler and its workers; `folder` is where they and the preloaded programs lie.

    A task that ended `allowed_failures` workers is not given to yet another one.
    """

    def __init__(self, folder: Path, *, allowed_failures: int = 3) -> None:
        self._folder = folder
        self._environment = {**_ENVIRONMENT, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        self.address: str = _read(file)["address"]

    def start_workers(self, count: int, *, preloaded: str = "", threads: int = 1) -> None:
        """Start workers that run a program before all else; they are there when this returns."""
        options: list[Any] = ["--no-nanny", "--no-dashboard", "--nthreads", threads, "--local-directory", self._folder]
        if preloaded:
            program = self._folder / f"preloaded_{len(self._processes)}.py"
            program.write_text(preloaded)
            options += ["--preload", program]
        self.workers += [self._start("worker", self.address, *options) for _ in range(count)]
        self._wait_for_workers()

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """End a worker at once, in the middle of whatever it does; the scheduler knows when this returns."""
        worker.kill()
        worker.wait()
        self.workers.remove(worker)
        self._wait_for_workers()

    def end(self) -> None:
        """End all processes."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _start(self, command: str, *options: object) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "dask", command, "--host", "127.0.0.1", *map(str, options)]
        with (self._folder / f"{command}-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(line, cwd=self._folder, env=self._environment, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def _wait_for_workers(self) -> None:
        deadline = time.monotonic() + _SECONDS
        while self._known_workers() != len(self.workers):
            assert time.monotonic() < deadline, "a worker did not come up, or still seems to be there"
            time.sleep(0.02)

    def _known_workers(self) -> int:
        """Ask the scheduler, without a client: one needs a thread, which a busy machine may start too late."""
        from distributed import rpc

        async def identity() -> dict[str, Any]:
            async with rpc(self.address) as scheduler:
                return dict(await scheduler.identity())

        return len(asyncio.run(identity())["workers"])


def _read(path: Path) -> dict[str, Any]:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):  # not written yet, or half
            return dict(json.loads(path.read_text()))
        time.sleep(0.02)
    raise AssertionError("the scheduler did not come up")
