"""A process that is to be ended, with folders of its own; and what it left behind when it had ended. POSIX with /proc.

Every process that it begins, and those that these begin, is known by a mark in its environment, so none is overlooked
that was begun late or has lost its parent.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import platformdirs

PATIENCE_SECONDS = 180.0
_MARK = "WORDPIECE_STUDIO_TEST_MARK"
_SAYING_SECONDS = 1.0


class MarkedProcess:
    """A process whose settings, state, counts and temporary files are in folders of its own.

    Parameters
    ----------
    folder
        Made here; the process works in it.
    arguments
        Of the interpreter.
    has_kernels
        Whether the compiled kernels that are in the user's cache are in its own too; else it has to compile them.
    """

    def __init__(self, folder: Path, arguments: list[str], *, has_kernels: bool = True) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._mark = uuid.uuid4().hex
        self._temporary = folder / "temporary"
        self._temporary.mkdir()
        own = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "DATA", "CACHE")}
        own |= {_MARK: self._mark, "TMPDIR": str(self._temporary), "QT_QPA_PLATFORM": "offscreen"}
        own["PYTHONPATH"] = os.pathsep.join(path for path in (os.getcwd(), *sys.path) if path)
        if has_kernels:
            _hand_on_kernels(folder / "cache")
        self._errors = folder / "stderr.txt"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *arguments], cwd=folder, env=os.environ | own, stdout=subprocess.PIPE, stderr=errors
            )
        self._patience = threading.Timer(PATIENCE_SECONDS, self._lose_patience)
        self._patience.daemon = True
        self._patience.start()

    def wait_ready(self) -> bool:
        """Wait until it says that it is ready; False if it does not."""
        assert self.process.stdout is not None
        return self.process.stdout.readline() == b"ready\n"

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        assert self.process.stdout is not None
        code = self.process.wait()
        self._patience.cancel()
        self.process.stdout.close()
        return code

    def family(self) -> list[int]:
        """Return the processes that live of it and of all that came from it: one that has ended is none."""
        mark = f"{_MARK}={self._mark}".encode()
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _has(entry, mark)]

    def seconds_until_alone(self, patience: float) -> float:
        """Wait until none of them lives, and return how long that took; those that outlive the patience are killed."""
        began = time.monotonic()
        while left := self.family():
            if time.monotonic() - began > patience:
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.01)
        return time.monotonic() - began

    def errors(self) -> str:
        """Return what it said on its standard error."""
        return "".join(
            line for line in self._errors.read_text("utf-8", "replace").splitlines(keepends=True)
            if "This plugin does not support" not in line  # said by the offscreen platform itself
        )  # fmt: skip

    def left_behind(self) -> list[str]:
        """Return the temporary files and the locks that lie about in its folders."""
        found = list(self._temporary.rglob("*"))
        found += [path for path in self.folder.rglob(".*") if path.is_file()]
        return [str(path.relative_to(self.folder)) for path in found if not path.is_dir()]

    def _lose_patience(self) -> None:
        """Have it say what it is doing, and kill it."""
        self.process.send_signal(signal.SIGUSR1)
        time.sleep(_SAYING_SECONDS)
        self.process.kill()


def _has(entry: Path, mark: bytes) -> bool:
    try:
        return mark in (entry / "environ").read_bytes()  # of one that has ended there is none
    except OSError:
        return False


def _hand_on_kernels(cache: Path) -> None:
    kernels = platformdirs.user_cache_path("wordpiece-studio", appauthor=False) / "kernels"
    if kernels.is_dir():
        shutil.copytree(kernels, cache / "wordpiece-studio" / "kernels", copy_function=os.symlink)  # on any file system
