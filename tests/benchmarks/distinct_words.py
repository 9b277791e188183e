"""How many distinct words there are in more and more text, what they cost, and what a cut-off would leave.

``python -m tests.benchmarks.distinct_words FILE`` counts the first 1, 3, 10, 30 … million bytes of a text file, each in
a process of its own, and fits Heaps' law to the numbers: words = k · bytes ** beta.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.processes import ProcessRun, run_module

SIZES = (1, 3, 10, 30, 100, 300, 1000)
CUT_OFFS = (2, 3, 5, 10, 100)
_FITTED = 4  # the largest sizes


def main() -> None:
    """Measure and print."""
    if sys.argv[1] == "--count":
        print(json.dumps(counted(sys.argv[2])))  # noqa: T201
        return
    path = Path(sys.argv[1])
    points: list[tuple[int, int]] = []
    nothing = run_module("tests.benchmarks.distinct_words", "--count", "")
    whole_size = round(path.stat().st_size / 1e6)
    for size in sorted({*SIZES, whole_size}):
        if size > whole_size:
            break
        with tempfile.NamedTemporaryFile(suffix=".txt", delete=False) as part, path.open("rb") as whole:
            part.write(whole.read(size * 1_000_000 - 1) + whole.readline())
        try:
            run = run_module("tests.benchmarks.distinct_words", "--count", part.name)
        finally:
            Path(part.name).unlink()
        found = run.answer()
        points.append((found["bytes"], found["distinct"]))
        print(row(size, run, found, nothing), flush=True)  # noqa: T201
    print(law(points[-_FITTED:]))  # noqa: T201


def counted(path: str) -> dict[str, Any]:
    """Return what is to be known of the words of a file; of no file, nothing."""
    import numpy as np

    from wordpiece_studio.compiled.kernel_cache import load_kernels
    from wordpiece_studio.corpus.counting.counting import count_words
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.forecast import Forecaster

    load_kernels("text")
    if not path:
        return {}
    counts = count_words(path, "bert-cased")
    kept = [counts.counts >= least for least in CUT_OFFS]
    return {
        "bytes": counts.statistics.bytes,
        "distinct": len(counts),
        "words": counts.total,
        "lists": sum(map(sys.getsizeof, counts.words)) + sys.getsizeof(counts.words) + counts.counts.nbytes,
        "training": Forecaster(counts).memory(TrainingConfig(vocab_size=30_000)).peak,
        "kept_words": [float(np.mean(each)) for each in kept],
        "kept_occurrences": [float(counts.counts[each].sum() / counts.total) for each in kept],
    }


def row(size: int, run: ProcessRun, found: dict[str, Any], nothing: ProcessRun) -> str:
    """Return a line on one size."""
    distinct = found["distinct"]
    peak = ((run.peak_bytes or 0) - (nothing.peak_bytes or 0)) / distinct
    kept = ", ".join(
        f"{least}: {words:.0%} ({occurrences:.2%})"
        for least, words, occurrences in zip(CUT_OFFS, found["kept_words"], found["kept_occurrences"], strict=True)
    )
    return (
        f"{size:,} MB: {found['words']:,} words, {distinct:,} distinct; bytes for each of these:"
        f" {found['lists'] / distinct:.0f} as a result, {peak:.0f} at the peak of counting,"
        f" {found['training'] / distinct:.0f} in training; kept by a cut-off at {kept}"
    )


def law(points: list[tuple[int, int]]) -> str:
    """Return Heaps' law, fitted to the logarithms, and what it says of larger corpora."""
    pairs = [(math.log(size), math.log(words)) for size, words in points]
    x, y = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    beta = sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a, _ in pairs)
    k = math.exp(y - beta * x)
    sizes = ((1e10, "10 GB"), (1e11, "100 GB"), (1e12, "1 TB"))
    larger = ", ".join(f"{k * size**beta:,.0f} at {name}" for size, name in sizes)
    return f"words = {k:.3g} · bytes ** {beta:.3f}: {larger}"


if __name__ == "__main__":
    main()
