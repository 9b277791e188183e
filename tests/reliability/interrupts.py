"""Ctrl-C at random moments of the commands: `python -m tests.reliability.interrupts [--rounds 100]`.

`train`, `count`, `encode` and `verify` get SIGINT at a moment drawn evenly between the program's first own line and the
command's end: as a first run (a home of its own, nothing compiled) and as a second one (the kernels are compiled). Each
must end with 130 and one line on its standard error, and leave no file but in its cache, and no process. A command that
ended before the signal, with its results in place, is repeated with an earlier moment. One that ends well although the
signal came before its results were there has swallowed it. POSIX with /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.processes import make_texts
from tests.reliability.studio_process import MarkedProcess
from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, load_kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "train": ["train", "{texts}/middle.txt", "--processes", "2", "--vocab-size", "4000", "--with-counts",
              "--history", "merges.csv", "-o", "out"],
    "count": ["count", "{texts}/middle.txt", "--processes", "2", "-o", "counts.tsv"],
    "encode": ["encode", "{texts}/middle.txt", "--vocab", "{texts}/made", "-o", "ids.npy", "--offsets", "ends.npy"],
    "verify": ["verify", "{texts}/made", "{texts}/small.txt"],
}  # fmt: skip
RUNS = ("first", "second")
LINE = "wordpiece-studio: Stopped.\n"
LAUNCHER = """
import os, runpy, sys
os.environ["HOME"] = os.getcwd()
own = os.path.join("wordpiece_studio", "__main__.py")
def hear(event, arguments):
    if event == "exec" and arguments[0].co_filename.endswith(own):
        os.write(1, b"ready\\n")
sys.addaudithook(hear)
runpy.run_module("wordpiece_studio", run_name="__main__", alter_sys=True)
"""
"""Runs the program as ``python -m`` does, and says so when its first own line is to be run."""

_MIDDLE_BYTES = 2_000_000
_GONE_SECONDS = 2.0
_NOT_RESULTS = {"cache", "stderr.txt", "temporary"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended that got a signal.

    Attributes
    ----------
    code
        Its exit code.
    had_ended
        Whether its results were there when the signal came.
    files
        What it left.
    fault
        What else was wrong; empty if nothing was.
    seconds
        From the signal to the end.
    """

    code: int
    had_ended: bool
    files: tuple[str, ...] = ()
    fault: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Tally:
    """What became of the rounds of one command."""

    codes: Counter[int] = field(default_factory=Counter)
    repeated: int = 0
    with_files: int = 0
    swallowed: int = 0
    longest: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        """Whether anything went wrong."""
        return set(self.codes) != {130} or bool(self.with_files or self.swallowed or self.faults)

    def note(self, outcome: Outcome) -> None:
        """Take in how a round ended."""
        self.codes[outcome.code] += 1
        self.with_files += bool(outcome.files)
        self.swallowed += outcome.code == 0
        self.longest = max(self.longest, outcome.seconds)
        if outcome.fault or outcome.files:
            self.faults.append(f"{outcome.fault} {' '.join(outcome.files)}".strip())


class Commands:
    """One of the commands, run again and again in folders of its own.

    Parameters
    ----------
    name, run
        Which of `COMMANDS`, and of `RUNS`.
    texts
        What `make_material` made.
    root
        Where the folders are to be.
    """

    def __init__(self, name: str, run: str, texts: Path, root: Path, launcher: str = LAUNCHER) -> None:
        self._arguments = ["-c", launcher, *(part.format(texts=texts) for part in COMMANDS[name])]
        self._is_first = run == "first"
        self._root = root
        self.seconds = 0.0
        """How long the longest run took that was not interrupted."""

    def measure(self, number: int) -> None:
        """Run it without a signal."""
        folder, command = self._begun(f"whole{number}")
        began = time.monotonic()
        code = command.wait()
        self.seconds = max(self.seconds, time.monotonic() - began)
        assert code == 0, command.errors()
        shutil.rmtree(folder)

    def interrupted(self, number: int, seed: object) -> tuple[Outcome, int]:
        """Interrupt one; return how it ended, and how often it had ended before the signal came."""
        rng = random.Random(str(seed))
        latest = self.seconds
        for repeated in range(100):
            latest = rng.uniform(0, latest)
            outcome = self._interrupted_at(f"{number}-{repeated}", latest)
            if not (outcome.had_ended and outcome.code == 0):
                return outcome, repeated
        raise AssertionError("it always ends before the signal")

    def _begun(self, name: str) -> tuple[Path, MarkedProcess]:
        folder = self._root / name
        command = MarkedProcess(folder, self._arguments, has_kernels=not self._is_first)
        assert command.wait_ready(), command.errors()
        return folder, command

    def _interrupted_at(self, name: str, moment: float) -> Outcome:
        folder, command = self._begun(name)
        time.sleep(moment)
        began = time.monotonic()
        command.process.send_signal(signal.SIGINT)
        had_ended = bool(_results(folder) or select.select([command.process.stdout], [], [], 0)[0])
        code = command.wait()
        seconds = time.monotonic() - began
        files = tuple(_results(folder) + command.left_behind()) if code else ()
        faults = ["" if command.errors() == LINE or not code else f"it said {command.errors()[-1000:]!r}"]
        if command.seconds_until_alone(_GONE_SECONDS) >= _GONE_SECONDS:
            faults.append("a process was left")
        shutil.rmtree(folder, ignore_errors=True)
        fault = "; ".join(filter(None, faults))
        return Outcome(code, had_ended, files, f"after {moment:.3f} s: {fault}" if fault else "", seconds)


def _results(folder: Path) -> list[str]:
    """Return the files that a command has put in place."""
    places = [path for path in folder.iterdir() if path.name not in _NOT_RESULTS]
    files = [file for path in places for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return [str(file.relative_to(folder)) for file in files if not file.name.endswith(".tmp")]


def make_material(folder: Path) -> None:
    """Write the texts and the vocabulary that the commands read, and compile the kernels for the second runs."""
    # As it is for users: what was loaded once need not be translated again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "pycache")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs behind it; children inherit
        signal.signal(signal.SIGINT, signal.default_int_handler)
    make_texts(folder, _MIDDLE_BYTES)
    for package in KERNEL_PACKAGES:
        load_kernels(package)
    made = MarkedProcess(folder / "making", ["-m", "wordpiece_studio", "train", str(folder / "small.txt"),
                                             "--vocab-size", "3000", "-o", str(folder / "made")])  # fmt: skip
    assert made.wait() == 0, made.errors()


def interrupted(commands: Commands, rounds: int, workers: int, seed: str) -> Tally:
    """Interrupt a command so many times, and return what became of it."""
    tally = Tally()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(commands.measure, range(workers)))
        for outcome, repeated in pool.map(
            lambda number: commands.interrupted(number, f"{seed} {number}"), range(rounds)
        ):  # fmt: skip
            tally.note(outcome)
            tally.repeated += repeated
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100, help="signals for each command and run")
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="how many commands at the same time")
    given = parser.parse_args(arguments)
    is_bad = False
    print(f"{'command':10}{'run':8}{'seconds':>8}{'rounds':>8}{'ended before':>14}{'with files':>12}{'swallowed':>11}"  # noqa: T201
          f"{'longest end':>13}  exit codes")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        texts = Path(name) / "texts"
        texts.mkdir()
        make_material(texts)
        for run in given.runs:
            for command in given.commands:
                root = Path(name) / f"{command} {run}"
                root.mkdir()
                commands = Commands(command, run, texts, root)
                tally = interrupted(commands, given.rounds, given.workers, f"{given.seed} {command} {run}")
                codes = ", ".join(f"{times} × {code}" for code, times in sorted(tally.codes.items()))
                print(f"{command:10}{run:8}{commands.seconds:8.1f}{tally.codes.total():8}{tally.repeated:14}"  # noqa: T201
                      f"{tally.with_files:12}{tally.swallowed:11}{tally.longest:11.2f} s  {codes}",
                      flush=True)  # fmt: skip
                for fault in tally.faults[:5]:
                    print(f"    {fault}", flush=True)  # noqa: T201
                is_bad |= tally.is_bad
    print("ended before: repeated with an earlier moment, as the results were there when the signal came")  # noqa: T201
    print("FAILED" if is_bad else "passed: 130, one line and no file each time")  # noqa: T201
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
