"""Saves that are killed at a random moment: `python -m tests.reliability.kills [--rounds 1000] [--format WORD]`.

A child process saves a new content over a good old one and is killed (kill -9) at a moment drawn evenly from the time
that such a save takes. Counted are the kills that hit a save: the child had begun it and not yet said that it had
ended. Afterwards the files must be exactly the old ones or exactly the new ones, by the real reader, which for a format
of several files may also have noticed that they are of two saves; and the next save must clear what was left beside
them. POSIX only: the children are forked, so that there are hundreds of kills a second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.reliability.saves import NEW, OLD, Save, saves
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TIMED_SAVES = 15
_BEGUN, _ENDED = b"b", b"e"
_OUTCOMES = ("old", "new", "noticed", "torn")


@dataclass(slots=True)
class Tally:
    """What became of the kills of one format; `faults` says what the first few torn ones were."""

    outcomes: Counter[str] = field(default_factory=Counter)
    missed: int = 0  # kills after the save had ended: not counted
    left: int = 0  # how often something was left beside the files
    still_left: int = 0  # and was still there after the next save
    save_ms: float = 0.0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take in what another process counted."""
        self.outcomes.update(other.outcomes)
        self.missed += other.missed
        self.left += other.left
        self.still_left += other.still_left
        self.save_ms = max(self.save_ms, other.save_ms)
        self.faults += other.faults


def killed(save: Save, rounds: int, folder: Path, seed: int) -> Tally:
    """Kill `rounds` saves in `folder` and return what became of them."""
    rng = random.Random(seed)
    tally = Tally()
    names, seconds = _timed(save, folder)
    tally.save_ms = 1000 * seconds
    while sum(tally.outcomes.values()) < rounds:
        save.write(folder, OLD)
        left = {path.name for path in folder.iterdir()} - names
        if left:
            tally.still_left += 1
            tally.faults.append(f"still there after the next save: {sorted(left)}")
            for name in left:
                (folder / name).unlink()
        if not _kill_one(save, folder, rng.uniform(0, seconds)):
            tally.missed += 1
            continue
        outcome = _outcome(save, folder, tally.faults)
        tally.outcomes[outcome] += 1
        tally.left += bool({path.name for path in folder.iterdir()} - names)
    return tally


def _timed(save: Save, folder: Path) -> tuple[set[str], float]:
    """Return which files a save makes, and how long it takes in a child, in seconds."""
    times = []
    for number in range(_TIMED_SAVES):
        pid, begun = _forked(partial(save.write, folder, number % 2))
        start = time.perf_counter()
        while os.read(begun, 1) != _ENDED:
            pass
        times.append(time.perf_counter() - start)
        os.close(begun)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return {path.name for path in folder.iterdir()}, median(times)


def _kill_one(save: Save, folder: Path, seconds: float) -> bool:
    """Kill a child some time after it began to save; return whether that was before it had ended."""
    pid, messages = _forked(lambda: save.write(folder, NEW))
    assert os.read(messages, 1) == _BEGUN
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(messages, "rb") as file:
        return not file.read()


def _forked(work: Callable[[], object]) -> tuple[int, int]:
    """Run `work` in a child; return its number and a pipe on which it says that it begins and that it has ended."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ours)
            os.write(theirs, _BEGUN)
            work()
            os.write(theirs, _ENDED)
            signal.pause()
        finally:
            os._exit(1)
    os.close(theirs)
    return pid, ours


def _outcome(save: Save, folder: Path, faults: list[str]) -> str:
    try:
        return "new" if save.which(folder) == NEW else "old"
    except StudioError as error:
        if sum(1 for path in folder.iterdir() if not path.name.endswith(".tmp")) > 1:
            return "noticed"
        faults.append(str(error))
    except Exception as error:
        faults.append(f"{type(error).__name__}: {error}")
    return "torn"


def on_all_cores(save: Save, rounds: int, folder: Path, processes: int) -> Tally:
    """Share the rounds out to several processes, each with a folder of its own."""
    children = []
    for number in range(processes):
        own = folder / str(number) / "files"
        own.mkdir(parents=True)
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(ours)
                share = rounds // processes + (number < rounds % processes)
                tally = killed(save, share, own, seed=number)
                with os.fdopen(theirs, "w") as file:
                    json.dump([tally.outcomes, tally.missed, tally.left, tally.still_left, tally.save_ms,
                               tally.faults[:5]], file)  # fmt: skip
                code = 0
            finally:
                os._exit(code)
        os.close(theirs)
        children.append((pid, ours))
    total = Tally()
    for pid, ours in children:
        with os.fdopen(ours) as file:
            text = file.read()
        os.waitpid(pid, 0)
        if not text:
            total.faults.append("a process of the harness failed, see above")
            continue
        outcomes, *others = json.loads(text)
        total.add(Tally(Counter(outcomes), *others))
    return total


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000, help="kills per format")
    parser.add_argument("--format", default="", help="only formats whose names hold this")
    parser.add_argument("--size", type=int, default=2000, help="distinct words of the contents")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--folder", type=Path, help="where to save; a folder of the system's temporary one if not said")
    given = parser.parse_args(arguments)
    failed = False
    print(f"{'format':22}{'kills':>7}" + "".join(f"{name:>9}" for name in _OUTCOMES)  # noqa: T201
          + f"{'left':>7}{'after':>7}{'save ms':>9}{'seconds':>9}")  # fmt: skip
    for save in (each for each in saves(given.size) if given.format in each.name):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            for each in (OLD, NEW):  # warm, for the forks
                warm = Path(folder) / "warm" / "files"
                warm.mkdir(parents=True, exist_ok=True)
                save.write(warm, each)
                save.which(warm)
            start = time.perf_counter()
            tally = on_all_cores(save, given.rounds, Path(folder), given.processes)
            seconds = time.perf_counter() - start
        kills = sum(tally.outcomes.values())
        print(f"{save.name:22}{kills:7}" + "".join(f"{tally.outcomes[name]:9}" for name in _OUTCOMES)  # noqa: T201
              + f"{tally.left:7}{tally.still_left:7}{tally.save_ms:9.1f}{seconds:9.1f}", flush=True)  # fmt: skip
        for fault in tally.faults[:5]:
            print(f"    {fault}")  # noqa: T201
        failed |= bool(tally.outcomes["torn"] or tally.still_left or kills < given.rounds)
    print("left: how often a temporary file was left beside; after: how often it was still there after the next save")  # noqa: T201
    print("FAILED" if failed else "passed: no torn file")  # noqa: T201
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
