"""The faults of `faults` for what is written from C, as SQLite does. Not a command of its own.

Two ways: a library that is loaded before the system's own and lets chosen calls fail (`shim.c`: Linux with a C
compiler), and a limit to how large a file may become, which is a disk that is full at that place (POSIX).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.fault_layer import SHORT
from tests.reliability.faults import CODES, GOOD, Report, contents, note_state, outcome_of
from tests.reliability.saves import NEW, OLD, saves
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from tests.reliability.saves import Save

_SOURCE = Path(__file__).with_name("shim.c")
_PAGE = 4096
_MOST_LIMITS = 200


def swept_in_c(save: Save, folder: Path) -> dict[str, Report]:
    """Return what became of faults in all calls from C, by the name of the way."""
    found = {"full": full_at_each_page(save, folder)}
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        return found
    with tempfile.TemporaryDirectory() as name:
        library = Path(name) / "shim.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"], check=True)
        for way in ("fail", "kill"):
            command = [sys.executable, "-m", __name__, save.name, way]
            environment = os.environ | {"LD_PRELOAD": str(library), "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                found[f"C {way}"] = Report(faults=[f"the harness failed: {done.stderr[-2000:]}"])
                continue
            points, outcomes, faults, messages = json.loads(done.stdout)
            found[f"C {way}"] = Report(points, Counter(outcomes), faults, set(messages))
    return found


def full_at_each_page(save: Save, folder: Path) -> Report:
    """Save where no file may become larger than 0, 1, 2, … pages, until it goes well."""
    import resource

    save.write(folder, NEW)
    largest = max(path.stat().st_size for path in folder.iterdir()) + _PAGE
    limits = list(range(0, largest + _PAGE, max(_PAGE, largest // _MOST_LIMITS // _PAGE * _PAGE)))
    report = Report(points=len(limits))
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in limits:
        save.write(folder, OLD)
        before = contents(folder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
        try:
            told = _told(save, folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        _note(report, save, folder, before, told, f"a disk full after {limit} bytes")
    if not report.outcomes["old"]:
        report.faults.append("the limit never struck")
    return report


def _told(save: Save, folder: Path) -> Exception | None:
    try:
        save.write(folder, NEW)
    except Exception as error:
        return error
    return None


def _note(
    report: Report, save: Save, folder: Path, before: dict[str, bytes], told: Exception | None, where: str
) -> None:
    after = contents(folder)
    left = sorted(after.keys() - before.keys())
    if told is not None and not isinstance(told, StudioError):
        outcome = f"not told ({type(told).__name__})"
    else:
        outcome = outcome_of(save, folder, before, after, told)
    if told is not None:
        report.messages.add(str(told))
    if left and outcome != "kept":
        outcome = "left behind"
    report.outcomes[outcome] += 1
    if outcome not in GOOD:
        report.faults.append(f"{where}: {outcome} {left}; told: {told}")
    for name in left:
        (folder / name).unlink()


class _Shim:
    """The library that was loaded before all others."""

    def __init__(self, folder: Path) -> None:
        self._library = ctypes.CDLL(None)
        self._library.shim_calls.restype = ctypes.c_long
        self._folder = os.fsencode(folder) + b"/"

    def tried(self, save: Save, folder: Path, number: int, code: int, for_good: bool, kills: bool) -> Exception | None:
        is_short = code == SHORT
        error = CODES["ENOSPC"] if is_short else code
        self._library.shim_arm(self._folder, ctypes.c_long(number), error, for_good, is_short, kills)
        try:
            return _told(save, folder)
        finally:
            self.calls = int(self._library.shim_calls())
            self._library.shim_disarm()


def _swept(save: Save, folder: Path) -> Report:
    shim = _Shim(folder)
    save.write(folder, OLD)
    shim.tried(save, folder, 0, 0, False, False)
    report = Report(points=shim.calls)
    for name, code in CODES.items():
        for for_good in (False, True):
            for number in range(1, report.points + 1):
                save.write(folder, OLD)
                before = contents(folder)
                told = shim.tried(save, folder, number, code, for_good, False)
                where = f"call {number} {name} {'for good' if for_good else 'once'}"
                _note(report, save, folder, before, told, where)
    return report


def _killed(save: Save, folder: Path) -> Report:
    shim = _Shim(folder)
    save.write(folder, OLD)
    shim.tried(save, folder, 0, 0, False, False)
    report = Report(points=shim.calls)
    names = {path.name for path in folder.iterdir()}
    for number in range(1, report.points + 1):
        save.write(folder, OLD)
        if left := {path.name for path in folder.iterdir()} - names:
            report.faults.append(f"the next save left behind {sorted(left)}")
        pid = os.fork()
        if pid == 0:
            try:
                shim.tried(save, folder, number, 0, False, True)
            finally:
                os._exit(1)
        os.waitpid(pid, 0)
        note_state(report, save, folder, len(names) > 1, f"killed before call {number}")
    return report


def _child(name: str, way: str) -> None:
    (save,) = (each for each in saves(400) if each.name == name)
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "files"
        folder.mkdir()
        report = (_swept if way == "fail" else _killed)(save, folder)
    print(json.dumps([report.points, report.outcomes, report.faults[:20], sorted(report.messages)]))  # noqa: T201


if __name__ == "__main__":
    _child(*sys.argv[1:3])
