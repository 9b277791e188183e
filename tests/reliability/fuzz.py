"""Spoiled files of every format, read: `python -m tests.reliability.fuzz [--inputs 100000] [--format WORD]`.

Each format has a module ``mutations_….py`` with ``seeds() -> {file name: content}``, real ones; ``mutate(random, seed)
-> bytes``; and ``read(path)``, which reads the file as the program does. The inputs are shared out to processes whose
memory is limited to 500 MB above what they hold at the start. An input is a fault if the process dies, if reading takes
more than a second of the processor or does not end, or if anything but a `StudioError` is raised (`MemoryError` too).
Every input can be made again by its number: ``--format WORD --only NUMBER`` writes it to a file and reads it.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing.pool
import os
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

SLOWEST_SECONDS = 1.0
MOST_MEMORY = 500 << 20
_HANG_SECONDS = 30.0
_TOLD_EVERY = 50
_HERE = Path(__file__).parent
_SHARES = {"project": 20, "tokenizer": 35, "word_counts": 20, "corpus": 10, "manifest": 10, "settings": 5}


@dataclass(slots=True)
class Share:
    """What became of inputs `first` to `last` of a format; memory in bytes above that at the start."""

    name: str
    first: int
    last: int
    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    slowest_input: int = -1
    memory: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """How many were tried."""
        return self.last - self.first

    def add(self, other: Share) -> None:
        """Take in another share of the same format."""
        self.last += other.inputs
        self.read += other.read
        self.refused += other.refused
        if other.slowest > self.slowest:
            self.slowest, self.slowest_input = other.slowest, other.slowest_input
        self.memory = max(self.memory, other.memory)
        self.faults += other.faults


def formats() -> list[str]:
    """Return the names of the formats whose modules are there."""
    return sorted(path.stem.removeprefix("mutations_") for path in _HERE.glob("mutations_*.py"))


def module_of(name: str) -> Any:
    """Return the module of a format."""
    return importlib.import_module(f"tests.reliability.mutations_{name}")


def made(module: Any, name: str, number: int) -> tuple[str, bytes]:
    """Return the input of this number: its file name and its content."""
    rng = random.Random(f"{name} {number}")
    file_name = rng.choice(sorted(module.seeds()))
    return file_name, module.mutate(rng, module.seeds()[file_name])


def placed(folder: Path, file_name: str, data: bytes) -> Path:
    """Write an input into a folder and return its path."""
    path = folder / (file_name if "." in file_name else "input")
    path.write_bytes(data)
    return path


def tried(module: Any, path: Path, share: Share, number: int) -> None:
    """Read an input and note what became of it."""
    began = time.process_time()
    try:
        module.read(path)
    except StudioError as error:
        share.refused += 1
        str(error)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__}: {str(error)[:200]} ({where.name}, {Path(where.filename).name}:{where.lineno})"
        share.faults.append(f"{number}: {kind}")
    else:
        share.read += 1
    seconds = time.process_time() - began
    if seconds > share.slowest:
        share.slowest, share.slowest_input = seconds, number
    if seconds > SLOWEST_SECONDS:
        share.faults.append(f"{number}: took {seconds:.2f} s")


def _work(connection: Connection, share: Share) -> None:
    """Try inputs in a child; tells the number of each before it is tried, and what became of all at the end."""
    warnings.simplefilter("ignore")
    module = module_of(share.name)
    with tempfile.TemporaryDirectory(dir=_quick_folder()) as name:
        folder = Path(name)
        for file_name, seed in sorted(module.seeds().items()):  # what is loaded once belongs to the start
            try:
                module.read(placed(folder, file_name, seed))
            except StudioError:
                continue  # one that is no file yet
        before = _held()
        limit = _memory_limit()
        for number in range(share.first, share.last):
            if number % _TOLD_EVERY == 0:
                connection.send(number)
            path = placed(folder, *made(module, share.name, number))
            resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            tried(module, path, share, number)
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            path.unlink(missing_ok=True)
        share.memory = _held() - before
    connection.send(asdict(share))


def _quick_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _held() -> int:
    """Return the most memory that this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _memory_limit() -> int:
    """Return how large this process may become, in bytes; no limit where that cannot be known."""
    if sys.platform != "linux":
        return resource.RLIM_INFINITY
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize() + MOST_MEMORY


def watched(share: Share) -> Share:
    """Try a share in a child process and return it filled; a child that dies or hangs is a fault, and is gone on after.

    Where exactly it died is known to `_TOLD_EVERY` inputs; these are tried again one by one.
    """
    context = multiprocessing.get_context("spawn")
    total = Share(share.name, share.first, share.first)
    open_ = [(share.first, share.last)]
    while open_:
        first, last = open_.pop()
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(theirs, Share(share.name, first, last)))
        child.start()
        theirs.close()
        at, result = first, None
        try:
            while ours.poll(_HANG_SECONDS + (60 if at == first else 0)):
                message = ours.recv()
                if isinstance(message, dict):
                    result = Share(**message)
                    break
                at = message
        except EOFError:
            pass
        is_hanging = result is None and child.is_alive()
        if is_hanging:
            child.join(1)
            child.kill()
        child.join()
        ours.close()
        if result is None:
            print(f"{share.name} {first} to {last}: the process ended with {child.exitcode} near {at}", flush=True)  # noqa: T201
        if result is not None:
            total.add(result)
        elif last - first == 1:
            total.add(Share(share.name, first, last, faults=[f"{first}: the process ended with {child.exitcode}"]))
        else:
            middle = min(at + _TOLD_EVERY, last)
            open_ += [(middle, last)] if middle < last else []
            if first < at:
                open_ += [(first, at)]
            open_ += [(number, number + 1) for number in range(at, middle)]
    return total


def shares(inputs: int, names: Sequence[str], processes: int) -> list[Share]:
    """Share `inputs` out to the formats, and each format's to processes."""
    weights = {name: _SHARES.get(name, 10) for name in names}
    found = []
    for name, weight in weights.items():
        number = inputs * weight // sum(weights.values()) + 1
        edges = [number * part // processes for part in range(processes + 1)]
        found += [Share(name, first, last) for first, last in pairwise(edges) if last > first]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--format", default="", help="only formats whose names hold this")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", type=int, help="read only the input of this number, and let its error be seen")
    given = parser.parse_args(arguments)
    names = [name for name in formats() if given.format in name]
    if given.only is not None:
        return _shown(names[0], given.only)
    began = time.monotonic()
    totals: dict[str, Share] = {name: Share(name, 0, 0) for name in names}
    header = f"{'inputs':>9}{'read':>9}{'refused':>9}{'faults':>8}{'slowest s':>11}{'memory MB':>11}"
    print(f"{'format':16}{header}")  # noqa: T201
    with multiprocessing.pool.ThreadPool(given.processes) as pool:
        for part in pool.imap_unordered(watched, shares(given.inputs, names, given.processes)):
            totals[part.name].add(part)
    for name, total in totals.items():
        print(f"{name:16}{total.inputs:9,}{total.read:9,}{total.refused:9,}{len(total.faults):8}"  # noqa: T201
              f"{total.slowest:11.3f}{total.memory / (1 << 20):11.0f}", flush=True)  # fmt: skip
        for fault in total.faults[:10]:
            print(f"    {fault}")  # noqa: T201
    inputs, faults = (sum(values) for values in zip(*((t.inputs, len(t.faults)) for t in totals.values()), strict=True))
    print(f"{inputs:,} inputs in {time.monotonic() - began:.0f} s: "  # noqa: T201
          + (f"FAILED, {faults} faults" if faults else "passed, no crash, no hang, every refusal a StudioError"))  # fmt: skip  # noqa: E501
    return int(bool(faults))


def _shown(name: str, number: int) -> int:
    module = module_of(name)
    folder = Path(tempfile.mkdtemp())
    path = placed(folder, *made(module, name, number))
    print(path)  # noqa: T201
    module.read(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
