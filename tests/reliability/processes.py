"""The window ended in every state, and its child processes: `python -m tests.reliability.processes [--rounds 200]`.

The window is ended by the quit action, by closing it twice and by SIGTERM and SIGINT, while it starts, reads, counts,
trains, plays, exports, saves and asks. The exit code must be 0, or 128 + the signal; nothing may be on its standard
error; no process, temporary file or lock may be left. Then it is killed (kill -9) while it has child processes, and so
are the commands that have some: all must be gone within 2 s. POSIX with /proc.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.studio_process import MarkedProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

STATES = (
    "starting", "shown", "compiling", "recovery", "reading", "listing", "counting", "linting", "preparing", "training",
    "paused", "playing", "vocabulary", "table", "exporting", "saving", "dialog", "question", "edited",
)  # fmt: skip
ENDS = ("quit", "SIGTERM", "close", "SIGINT")
KILLED_STATES = ("counting", "training", "compiling", "saving", "exporting", "linting", "listing")
COMMANDS = {
    "count": ["count", "large.txt", "--processes", "3", "-o", "counts.tsv"],
    "train": ["train", "large.txt", "--processes", "3", "--vocab-size", "30000", "-o", "vocab"],
}
GONE_SECONDS = 2.0
_LARGE_BYTES = 60_000_000
_MIDDLE_BYTES = 4_000_000
_SMALL_WORDS = 20_000
_FILES = 3000
_IN_HAND = ("quit", "close")  # what the child does itself


@dataclass(frozen=True, slots=True)
class Ended:
    """How one process ended: what was wrong, if anything, and how long it took from the order to the end."""

    seconds: float
    fault: str = ""
    children: int = 0


@dataclass(slots=True)
class _Tally:
    """What became of all that were ended in the same way."""

    faults: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    children: int = 0

    def note(self, ended: Ended) -> None:
        self.faults[ended.fault] += 1
        self.seconds.append(ended.seconds)
        self.children += ended.children


def opened(folder: Path, texts: Path, state: str, end: str) -> MarkedProcess:
    """Begin a window that brings itself into a state, and then ends itself by `end`, if that is not ``wait``."""
    folder.mkdir()
    for text in texts.iterdir():
        if text.name != "unsaved":
            (folder / text.name).symlink_to(text)
        elif state == "recovery":
            shutil.copytree(text, folder / "state")
    arguments = ["-m", "tests.reliability.studio_child", state, end, str(folder)]
    return MarkedProcess(folder, arguments, has_kernels=state != "compiling")


def ended_once(folder: Path, texts: Path, state: str, end: str, delay: float) -> Ended:
    """Bring a window into a state, end it after `delay` seconds, and say how that went."""
    studio = opened(folder, texts, state, end if end in _IN_HAND else "wait")
    is_ready = studio.wait_ready()
    began = time.monotonic()
    wanted, children = 0, 0
    if end not in _IN_HAND:
        time.sleep(delay)
        children = len(studio.family()) - 1
        began = time.monotonic()
        number = signal.Signals[end]
        studio.process.send_signal(number)
        wanted = 128 + number
    code = studio.wait()
    seconds = time.monotonic() - began
    alone = studio.seconds_until_alone(GONE_SECONDS)
    faults = [
        "" if is_ready else "the state never came about",
        "" if code == wanted else f"exit code {code}, not {wanted}",
        f"on standard error: {studio.errors()[-3000:]!r}" if studio.errors() else "",
        f"processes left for {alone:.1f} s" if alone >= GONE_SECONDS else "",
        f"files left: {studio.left_behind()}" if studio.left_behind() else "",
    ]
    shutil.rmtree(folder, ignore_errors=True)
    return Ended(seconds, "; ".join(filter(None, faults)), children)


def killed_once(folder: Path, texts: Path, state: str, delay: float) -> Ended:
    """Kill a window in a state and measure until its child processes are gone."""
    studio = opened(folder, texts, state, "wait")
    is_ready = studio.wait_ready()
    time.sleep(delay)
    said = studio.errors()[-1500:]
    ended = _killed(studio)
    return ended if is_ready else Ended(ended.seconds, f"the state never came about: {said!r}")


def killed_command(folder: Path, texts: Path, name: str, delay: float) -> Ended:
    """Kill a command `delay` seconds after it has helpers, and measure until they are gone."""
    folder.mkdir()
    for text in texts.glob("*.txt"):
        (folder / text.name).symlink_to(text)
    command = MarkedProcess(folder, ["-m", "wordpiece_studio", *COMMANDS[name]])
    while command.process.poll() is None and len(command.family()) < 2:
        time.sleep(0.01)
    time.sleep(delay)
    has_ended, said = command.process.poll() is not None, command.errors()[-1500:]
    ended = _killed(command)
    return Ended(ended.seconds, f"it ended before it was killed: {said!r}") if has_ended else ended


def _killed(killed: MarkedProcess) -> Ended:
    children = len(killed.family()) - 1
    began = time.monotonic()
    killed.process.kill()
    killed.wait()
    killed.seconds_until_alone(4 * GONE_SECONDS)
    seconds = time.monotonic() - began
    shutil.rmtree(killed.folder, ignore_errors=True)
    return Ended(seconds, f"still there after {seconds:.2f} s" if seconds > GONE_SECONDS else "", children)


def make_texts(folder: Path, large_bytes: int = _LARGE_BYTES) -> None:
    """Write texts that take a while to be trained, to be counted and to be saved, many files, and a vocabulary."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklm", k=rng.randint(3, 12))) for _ in range(_SMALL_WORDS)]
    text = "\n".join(" ".join(words[start : start + 12]) for start in range(0, len(words), 12)) + "\n"
    (folder / "small.txt").write_text(text, encoding="utf-8")
    for name, size in (("middle.txt", min(_MIDDLE_BYTES, large_bytes)), ("large.txt", large_bytes)):
        with (folder / name).open("w", encoding="utf-8") as file:
            for number in range(size // len(text) + 1):
                file.write(text.replace("a", chr(0x100 + number)))
    tokens = ["[UNK]", *"abcdefghijklm", *(f"##{letter}" for letter in "abcdefghijklm")]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    (folder / "many").mkdir()
    for number in range(_FILES):
        (folder / "many" / f"{number}.txt").write_text(words[number], encoding="utf-8")


def leave_unsaved_work(texts: Path, folder: Path) -> None:
    """Keep, as ``unsaved`` among the texts, what a window that was killed leaves."""
    studio = opened(folder, texts, "edited", "wait")
    studio.wait_ready()
    kept = folder / "state" / "wordpiece-studio" / "recovery"
    while not list(kept.glob("*/work.wpstudio")) and studio.process.poll() is None:
        time.sleep(0.05)
    time.sleep(1)
    studio.process.kill()
    studio.wait()
    shutil.copytree(folder / "state", texts / "unsaved")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="how often the window is ended")
    parser.add_argument("--kills", type=int, default=20, help="how often it is killed in each state, and each command")
    parser.add_argument("--at-once", type=int, default=2, help="how many windows at the same time")
    parser.add_argument("--state", choices=STATES, help="only this one")
    given = parser.parse_args(arguments)
    states = [given.state] if given.state else STATES
    killed_states = [state for state in KILLED_STATES if state in states]
    commands = [] if given.state else list(COMMANDS)
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(given.at_once) as pool:
        root, texts = Path(name), Path(name) / "texts"
        texts.mkdir()
        make_texts(texts)
        if "recovery" in states:
            leave_unsaved_work(texts, root / "unsaved")
        cases = list(islice(cycle(product(states, ENDS)), given.rounds))
        ends = [
            pool.submit(ended_once, root / f"end{number}", texts, *case, rng.uniform(0, 0.3))
            for number, case in enumerate(cases)
        ]
        kills = {
            (kind, number): pool.submit(function, root / f"{kind}{number}", texts, kind, rng.uniform(0, longest))
            for number in range(given.kills)
            for function, kinds, longest in ((killed_once, killed_states, 0.5), (killed_command, commands, 0.3))
            for kind in kinds
        }
        ended: dict[tuple[str, str], _Tally] = {case: _Tally() for case in cases}
        for case, future in zip(cases, ends, strict=True):
            result = future.result()
            ended[case].note(result)
            if result.fault:
                print(*case, result.fault, flush=True)  # noqa: T201
        bad = _print_ends(ended)
        killed = {kind: _Tally() for kind in (*killed_states, *commands)}
        for (kind, _), future in kills.items():
            killed[kind].note(future.result())
    bad += _print_kills(killed)
    print("FAILED" if bad else f"passed: {given.rounds} ends, {len(kills)} kills, no fault")  # noqa: T201
    return int(bool(bad))


def _print_ends(ended: dict[tuple[str, str], _Tally]) -> int:
    print(f"{'state':14}" + "".join(f"{end:>18}" for end in ENDS) + "    (ended well / times, longest end)")  # noqa: T201
    bad = 0
    for state in dict.fromkeys(state for state, _ in ended):
        row = ""
        for end in ENDS:
            tally = ended.get((state, end), _Tally())
            times = tally.faults.total()
            row += f"{tally.faults['']:>5} /{times:3}{max(tally.seconds, default=0):6.2f} s"
            bad += times - tally.faults[""]
        print(f"{state:14}{row}")  # noqa: T201
    _print_faults({" ".join(case): tally for case, tally in ended.items()})
    return bad


def _print_kills(killed: dict[str, _Tally]) -> int:
    print(f"{'killed':14}{'times':>6}{'processes below':>17}{'until all are gone: median, most':>34}")  # noqa: T201
    for kind, tally in killed.items():
        if seconds := sorted(tally.seconds):
            median, most = seconds[len(seconds) // 2], seconds[-1]
            print(f"{kind:14}{len(seconds):6}{tally.children:17}{median:24.3f} s{most:8.3f} s")  # noqa: T201
    _print_faults(killed)
    return sum(tally.faults.total() - tally.faults[""] for tally in killed.values())


def _print_faults(tallies: dict[str, _Tally]) -> None:
    for kind, tally in tallies.items():
        for fault, times in tally.faults.items():
            if fault:
                print(f"    {kind}, {times} times: {fault}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
