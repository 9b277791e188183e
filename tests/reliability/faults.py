"""Saves whose every call to the system fails, one after the other: `python -m tests.reliability.faults`.

For each format a good old file is saved over while the 1st, 2nd, … call fails (writes, fsync, close, renames, all that
changes names), once, for good, and for good with what removes files; with ENOSPC, EIO, EACCES and a short write after
which the disk is full. Then the process is killed before each of the calls. After each the old files must be there,
unchanged, or the save must have ended well; no temporary file may be left where removing works; what is raised must be
a `StudioError`. SQLite writes from C: there the faults are planted by a library that is loaded before the system's
(`shim`), and by a limit to the size of files.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.fault_layer import SHORT, Faults, planted
from tests.reliability.saves import NEW, OLD, Save, saves
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

CODES = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES, "short": SHORT}
_DEEDS = {"once": (False, True), "for good": (True, True), "all for good": (True, False)}
GOOD = ("old", "saved", "kept")
_ALL_AT_MOST = 200


@dataclass(slots=True)
class Report:
    """What became of the faults of one format.

    Attributes
    ----------
    points
        How many calls a clean save makes.
    outcomes
        "old": refused, the old files are unchanged; "saved": it ended well all the same, the files are the new ones;
        "kept": what could not be put back is in copies that the message names; "noticed": the reader says that the
        files are of two saves; all others are bad.
    faults
        What was bad, in words.
    messages
        What a user is told, each once.
    """

    points: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files in a folder by their names."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def calls_of(save: Save, folder: Path) -> list[str]:
    """Return the names of the calls that a clean save over a good old file makes."""
    save.write(folder, OLD)
    with planted(Faults()) as faults:
        save.write(folder, NEW)
    return faults.calls


def points_of(calls: Sequence[str], every: int = 1, first: int = 0) -> list[int]:
    """Return which calls to fail: all, or a sample; of a long row of writes the first, the last and some between."""
    step = max(1, len(calls) // _ALL_AT_MOST)
    found = []
    for number, name in enumerate(calls, start=1):
        near_the_end = min(number, len(calls) - number) < 20
        if name != "write" or near_the_end or number % step == 0:
            found.append(number)
    return found[first % every :: every]


def swept(save: Save, folder: Path, codes: Sequence[str] = tuple(CODES), every: int = 1) -> Report:
    """Let every call of a save fail, in every way, and return what became of it.

    With `every` each call fails in one of so many ways, another one than the call before it.
    """
    calls = calls_of(save, folder)
    report = Report(points=len(calls))
    for code in codes:
        for way, (deed, (for_good, spares_cleaning)) in enumerate(_DEEDS.items(), start=list(CODES).index(code)):
            for number in points_of(calls, every, way):
                if code == "short" and (calls[number - 1] != "write" or not for_good):
                    continue
                where = f"{calls[number - 1]} (call {number}) {code} {deed}"
                faults = Faults(number, CODES[code], for_good, spares_cleaning)
                outcome = _tried(save, folder, faults, report, where)
                report.outcomes[outcome] += 1
    return report


def _tried(save: Save, folder: Path, faults: Faults, report: Report, where: str) -> str:
    save.write(folder, OLD)
    before = contents(folder)
    told: StudioError | None = None
    try:
        with planted(faults):
            save.write(folder, NEW)
    except StudioError as error:
        told = error
        report.messages.add(str(error))
    except Exception as error:
        report.faults.append(f"{where}: {type(error).__name__}: {error}")
        return "not told"
    after = contents(folder)
    left = sorted(after.keys() - before.keys())
    outcome = outcome_of(save, folder, before, after, told)
    if left and outcome != "kept" and faults.spares_cleaning:
        outcome = "left behind"
    if outcome not in GOOD:
        report.faults.append(f"{where}: {outcome} {left}; told: {told}")
    for name in left:
        (folder / name).unlink()
    return outcome


def outcome_of(
    save: Save, folder: Path, before: dict[str, bytes], after: dict[str, bytes], told: Exception | None
) -> str:
    """Return in a word what became of a save, by the files before and after it and by what was told."""
    if told is None:
        return "saved" if _which(save, folder) == NEW else "nothing told"
    changed = [name for name, data in before.items() if after.get(name) != data]
    if not changed:
        return "old"
    copies = [name for name, data in after.items() if name.endswith(".tmp") and name in str(told)]
    found = {after[name] for name in copies}
    return "kept" if all(before[name] in found for name in changed) else "changed"


def _which(save: Save, folder: Path) -> int | None:
    try:
        return save.which(folder)
    except (StudioError, AssertionError):
        return None


def killed_at_each_call(save: Save, folder: Path, every: int = 1) -> Report:
    """Kill a save before each of its calls; the files must be the old or the new ones, or be known to be mixed."""
    calls = calls_of(save, folder)
    names = {path.name for path in folder.iterdir()}
    report = Report(points=len(calls))
    for number in points_of(calls, every):
        save.write(folder, OLD)
        if left := {path.name for path in folder.iterdir()} - names:
            report.faults.append(f"the next save left behind {sorted(left)}")
            report.outcomes["left behind"] += 1
        pid = os.fork()
        if pid == 0:
            try:
                with planted(Faults(number, on_fault=lambda: os.kill(os.getpid(), signal.SIGKILL))):
                    save.write(folder, NEW)
            finally:
                os._exit(1)
        os.waitpid(pid, 0)
        note_state(report, save, folder, len(names) > 1, f"killed before {calls[number - 1]} (call {number})")
    save.write(folder, OLD)
    return report


def note_state(report: Report, save: Save, folder: Path, are_several: bool, where: str) -> None:
    """Note what a killed save has left: a reader may find out that several files are of two saves, and say so."""
    try:
        outcome = ("old", "new")[save.which(folder)]
    except (StudioError, AssertionError) as error:
        outcome = "noticed" if are_several and isinstance(error, StudioError) else "torn"
        report.messages.add(str(error))
        if outcome == "torn":
            report.faults.append(f"{where}: {error}")
    report.outcomes[outcome] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    from tests.reliability.c_faults import swept_in_c

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--format", default="", help="only formats whose names hold this")
    parser.add_argument("--size", type=int, default=400, help="distinct words of the contents")
    parser.add_argument("--messages", action="store_true", help="print what the user is told")
    parser.add_argument("--in-c", action="store_true", help="plant faults below C for all formats")
    given = parser.parse_args(arguments)
    is_bad, tried = False, 0
    print(f"{'format':22}{'what':10}{'calls':>6}{'faults':>8}  outcomes")  # noqa: T201
    for save in (each for each in saves(given.size) if given.format in each.name):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "files"
            folder.mkdir()
            start = time.perf_counter()
            rows = {"fail": swept(save, folder), "kill": killed_at_each_call(save, folder)}
            if save.in_c or given.in_c:
                rows |= swept_in_c(save, folder)
            seconds = time.perf_counter() - start
        for what, report in rows.items():
            tried += sum(report.outcomes.values())
            outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.outcomes.items()))
            print(f"{save.name:22}{what:10}{report.points:6}{sum(report.outcomes.values()):8}  {outcomes}"  # noqa: T201
                  + (f"  ({seconds:.1f} s)" if what == "fail" else ""), flush=True)  # fmt: skip
            for fault in report.faults[:8]:
                print(f"    {fault}")  # noqa: T201
            if given.messages:
                print(*(f"    told: {message}" for message in sorted(report.messages)), sep="\n")  # noqa: T201
            is_bad |= bool(report.faults)
    print(f"{tried:,} faults. " + ("FAILED" if is_bad else "passed: the old file was there each time"))  # noqa: T201
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
