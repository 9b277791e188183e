"""Records parts of a checkout in a process of its own, in which ``tests`` and the program are that checkout's.

This package alone is the one of the checkout that compares, so that both are recorded by the same means.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

_BOOTSTRAP = """
import importlib.util, sys
import tests
name, folder = "tests.unchanged", sys.argv[1]
found = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
module = importlib.util.module_from_spec(found)
sys.modules[name] = tests.unchanged = module
found.loader.exec_module(module)
from tests.unchanged.recorder import record
record(*sys.argv[2:])
"""


def record(part: str, output: str, folder: str) -> None:
    """Record a part of the checkout that this process runs in."""
    from tests.unchanged import records

    if part in _NEED_QT:
        from PySide6.QtWidgets import QApplication

        application = QApplication([])
        application.setQuitOnLastWindowClosed(False)
        from tests.unchanged import window

        found = {"keys": window.keys, "merges": window.merges, "charts": window.charts, "texts": window.texts}
        recorded = found[part](Path(folder))
    elif part == "commands":
        from tests.unchanged import commands

        recorded = commands.record(Path(folder))
    else:
        from tests.unchanged import exports

        recorded = exports.record(Path(folder))
    records.save(recorded, Path(output))


_NEED_QT = ("keys", "merges", "charts", "texts")


def run(checkout: Path, *command: str) -> None:
    """Run Python in a checkout: with its own packages, if it has any, and with settings of nobody.

    Raises
    ------
    SystemExit
        If it fails.
    """
    with tempfile.TemporaryDirectory(prefix="unchanged-") as scratch:
        for name in ("config", "data", "state", "work"):
            Path(scratch, name).mkdir()
        changes = {
            "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0", "COLUMNS": "100", "LINES": "40", "TERM": "dumb",
            "NO_COLOR": "1", "TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HF_HUB_OFFLINE": "1",
            "XDG_CONFIG_HOME": f"{scratch}/config", "XDG_DATA_HOME": f"{scratch}/data",
            "XDG_STATE_HOME": f"{scratch}/state", "TOKENIZERS_PARALLELISM": "false",
        }  # fmt: skip
        environment = {"QT_QPA_PLATFORM": "offscreen"} | os.environ | changes
        done = subprocess.run(
            [str(_python_of(checkout)), *command, *([f"{scratch}/work"] if command[0] == "-P" else [])],
            cwd=f"{scratch}/work", env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="backslashreplace",
        )  # fmt: skip
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "This plugin does not support" not in line]
        raise SystemExit("\n".join(["", *lines[-60:], f"{checkout} cannot be recorded: exit code {done.returncode}"]))


def record_part(checkout: Path, part: str, output: Path) -> None:
    """Record a part of a checkout into a file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    run(checkout, "-P", "-c", _BOOTSTRAP, str(Path(__file__).parent), part, str(output))


def _python_of(checkout: Path) -> Path:
    own = checkout / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return own if own.exists() else Path(sys.executable)
