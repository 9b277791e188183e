"""Extending a vocabulary against training one anew, each in a process of its own, in turn.

``python -m tests.benchmarks.extend FILE`` trains 30,522 tokens on FILE, extends them by 2,000 for FILE itself as domain
and trains anew, five times in turn, and prints the medians of seconds and memory.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.processes import run_module

TURNS, SIZE, BUDGET = 5, 30_522, 2_000


def main() -> None:
    corpus, console = Path(sys.argv[1]).resolve(), Console()
    table = Table(
        "", "seconds", "CPU", "MB", title=f"{corpus.name}, {SIZE:,} tokens, {BUDGET:,} more; medians of {TURNS}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = ("train", corpus, "--vocab-size", SIZE, "-o", folder / "vocabulary")
        extend = ("extend", folder / "vocabulary", "--on", corpus, "--budget", BUDGET, "-o", folder / "extended")
        runs = [tuple(run_module("wordpiece_studio", *call) for call in (train, extend)) for _ in range(TURNS)]
    for title, each in zip(("train", "extend"), zip(*runs, strict=True), strict=True):
        seconds, cpu = (statistics.median(getattr(run, name) for run in each) for name in ("seconds", "cpu_seconds"))
        memory = statistics.median(run.peak_bytes or 0 for run in each) / 1e6
        table.add_row(title, f"{seconds:.2f}", f"{cpu:.2f}", f"{memory:,.0f}")
    ratio = statistics.median(extend.cpu_seconds / train.cpu_seconds for train, extend in runs)
    console.print(table, f"extend / train, CPU: {ratio:.2f}")


if __name__ == "__main__":
    main()
