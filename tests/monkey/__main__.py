"""The monkey: `python -m tests.monkey --minutes 60 --seed N`. Ends with 0 if it met no fault, else with 1.

It plays sessions, each in a process of its own with the next seed, until the time is over. A session opens the window,
does random actions (see `actions`), closes it, and watches for faults all the while (see `watch` and `agreement`). What
a session did is played again when it failed; if that fails too, the shortest tail of it that still does is looked for.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tests.monkey.session import FAULT_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

_SILENCE_SECONDS = 180.0
"""A session that writes nothing for so long hangs."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a session.

    Attributes
    ----------
    actions
        What was done, a line of JSON for each; the last one was under way when a fault came.
    fault
        What went wrong, in a line that is the same for the same fault; empty if nothing did.
    details
        Traceback, stack, or what the process said.
    longest_stall
        The longest stretch that the window's thread was busy, in seconds; `stall` is what was done then.
    """

    seed: int
    actions: tuple[str, ...]
    fault: str
    details: str
    longest_stall: float = 0.0
    stall: str = ""


def play(seed: int, *, actions: int = 0, seconds: float = 1e9, replay: tuple[str, ...] | None = None) -> Played:
    """Play one session in a process of its own, with random actions or with those of `replay`."""
    with tempfile.TemporaryDirectory() as name:
        log, errors, given = Path(name, "log"), Path(name, "errors"), Path(name, "given")
        command = [sys.executable, "-m", "tests.monkey.session", str(seed), str(log)]
        command += ["--actions", str(actions), "--seconds", str(seconds)]
        if replay is not None:
            given.write_text("\n".join(replay), "utf-8")
            command += ["--replay", str(given)]
        with errors.open("wb") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        hangs = _wait(process, log)
        lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
        return _played(seed, lines, process.returncode, errors.read_text("utf-8", "replace"), hangs=hangs)


def _wait(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Wait for a session to end; kill one that hangs, and return whether it did."""
    size, changed = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.1)
        now = log.stat().st_size if log.exists() else -1
        if now != size:
            size, changed = now, time.monotonic()
        if time.monotonic() - changed > _SILENCE_SECONDS:
            process.send_signal(signal.SIGABRT)  # faulthandler writes where it hangs
            process.wait()
            return True
    return False


def _played(seed: int, lines: list[str], code: int, errors: str, *, hangs: bool) -> Played:
    actions = tuple(line for line in lines if line.startswith("["))
    ends = [json.loads(line)["end"] for line in lines if line.startswith('{"end"')]
    crash = "\n".join(line for line in lines if not line.startswith(("[", '{"end"')))
    if not ends:
        how = "hangs" if hangs else f"ended with {code}"
        frames = [line.strip() for line in crash.splitlines() if line.strip().startswith("File")]
        return Played(seed, actions, f"crash: {how} {frames[0] if frames else ''}", f"{crash}\n{errors}")
    end = ends[-1]
    fault, details = "", ""
    if end["fault"] is not None:
        fault = f"{end['fault']['kind']}: {end['fault']['line']}"
        details = end["fault"]["details"]
    elif code not in (0, FAULT_CODE) or errors:
        fault, details = f"end: exit code {code}" if code else "end: something on standard error", errors
    return Played(seed, actions, fault, details, end["longest_stall"], end["stall"])


def shortest_tail(failed: Played, minutes: float = 15) -> tuple[str, ...] | None:
    """Return the shortest tail of a session's actions with which it still fails; None if the whole does not fail again.

    A tail begins with a window that is opened on the sample, and ends as the session did. After so many minutes the
    shortest that was found until then must do.
    """
    end = time.monotonic() + 60 * minutes
    opening = next((line for line in failed.actions if line.startswith('["open"')), '["open", "", {"paths": []}, 0]')

    def tail(length: int) -> tuple[str, ...]:
        actions = failed.actions[-length:]
        return actions if actions[0].startswith('["open"') else (opening, *actions)

    def fails(length: int) -> bool:
        return bool(play(failed.seed, replay=tail(length)).fault)

    whole = len(failed.actions)
    if not fails(whole):
        return None
    low, high = 0, 1
    while high < whole and time.monotonic() < end and not fails(high):
        low, high = high, 2 * high
    if time.monotonic() > end:
        high = whole
    high = min(high, whole)
    while high - low > 1 and time.monotonic() < end:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return tail(high)


def _report(played: Played) -> str:
    words = played.fault or "no fault"
    stall = f"longest stall {played.longest_stall:.2f} s"
    return f"seed {played.seed}: {len(played.actions):,} actions, {stall}, {words}"


def _explain(failed: Played) -> Iterator[str]:
    yield failed.details
    tail = shortest_tail(failed)
    if tail is None:
        yield f"played again, it does not fail; all {len(failed.actions):,} actions:"
    else:
        yield f"it fails again; the shortest tail that does has {len(tail):,} actions:"
    yield from tail if tail is not None else failed.actions


def _prepare() -> None:
    """Compile the kernels once, before sessions do it beside each other."""
    from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, kernels_are_cached, load_kernels

    for package in KERNEL_PACKAGES:
        if not kernels_are_cached(package):
            load_kernels(package)


def main() -> int:
    """Play until the time is over and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="of the first session; a fresh one if it is not given")
    parser.add_argument("--actions", type=int, default=2000, help="in a session")
    parser.add_argument("--sessions", type=int, default=0, help="stop after so many, 0 for none")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--report-only", action="store_true", help="end with 0 even if there were faults")
    parser.add_argument("--logs", type=Path, help="keep what failed sessions did in this folder")
    arguments = parser.parse_args()
    first = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    begin = time.monotonic()
    end = begin + arguments.minutes * 60
    seeds = count(first) if not arguments.sessions else iter(range(first, first + arguments.sessions))
    _prepare()
    print(f"python -m tests.monkey --seed {first} --actions {arguments.actions}", flush=True)  # noqa: T201

    def work(_worker: int) -> list[Played]:
        results = []
        while (left := end - time.monotonic()) > 1 and (seed := next(seeds, None)) is not None:
            results.append(play(seed, actions=arguments.actions, seconds=left))
            print(_report(results[-1]), flush=True)  # noqa: T201
            if arguments.logs is not None and results[-1].fault:
                arguments.logs.mkdir(exist_ok=True, parents=True)
                text = "\n".join((results[-1].fault, results[-1].details, *results[-1].actions))
                (arguments.logs / f"{seed}.log").write_text(text, "utf-8")
        return results

    with ThreadPoolExecutor(arguments.workers) as pool:
        results = [each for found in pool.map(work, range(arguments.workers)) for each in found]
    seconds = time.monotonic() - begin
    faults = [each for each in results if each.fault]
    known: set[str] = set()
    for each in faults:
        if each.fault not in known:
            known.add(each.fault)
            print(f"\n==== {_report(each)}", *_explain(each), sep="\n", flush=True)  # noqa: T201
    longest = max(results, key=lambda each: each.longest_stall, default=None)
    if longest is not None:
        print(f"\nlongest stall: {longest.longest_stall:.2f} s, seed {longest.seed}: {longest.stall}")  # noqa: T201
    done = sum(len(each.actions) for each in results)
    rate = 60 * done / seconds
    print(f"{done:,} actions in {len(results)} sessions, {len(faults)} with faults; {rate:,.0f} actions a minute")  # noqa: T201
    return 1 if faults and not arguments.report_only else 0


if __name__ == "__main__":
    sys.exit(main())
