"""How time and memory grow with the corpus, from 1 MB to 1 GB, ours and the libraries'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.libraries import SETTINGS
from tests.benchmarks.table import Bar, Row

if TYPE_CHECKING:
    from tests.benchmarks.bench import Bench

SIZES = (1, 3, 10, 30, 100, 300, 1000)
LIBRARY_RUNS_UP_TO = 100

_GROWTH_BAR = Bar("≤", 3)


def measure(bench: Bench, sizes: tuple[int, ...] = SIZES, libraries_up_to: int = LIBRARY_RUNS_UP_TO) -> None:
    """Train once on each size; the corpora take as much room on the disk as the sizes say."""
    microseconds: dict[int, float] = {}
    bench.probe("loading")
    for size in sizes:
        corpus = bench.generated(size)
        found = bench.probe("growth", corpus.path, bench.merges)
        part = f"{size:,} MB in many scripts: {found['bytes']:,} bytes, {found['distinct_words']:,} distinct words"
        for key, name in (("count", "counting"), ("build", "made ready"), ("train", f"{found['merges']:,} merges")):
            bench.add(Row(part, name, (found[key],), "s"))
        microseconds[size] = found["train"] / max(1, found["merges"]) * 1e6
        bench.add(Row(part, "one merge", (microseconds[size],), "µs"))
        bench.add(Row(part, "peak memory", (found["peak_bytes"] / 1e6,) if found["peak_bytes"] else (), "MB"))
        for library in bench.libraries(*SETTINGS) if size <= libraries_up_to else ():
            run = bench.program(library, corpus, bench.merges, 0)
            peak = f"whole process; peak {run.peak_bytes / 1e6:,.0f} MB" if run.peak_bytes else "whole process"
            bench.add(Row(part, library, (run.seconds,), "s", note=peak))
    for small, large in ((size, 10 * size) for size in sizes if 10 * size in sizes):
        ratio = microseconds[large] / microseconds[small]
        name = f"one merge at {large:,} MB, as many times that at {small:,} MB"
        bench.add(Row("Growth of the time per merge", name, (ratio,), "×", bench.bar(_GROWTH_BAR)))
