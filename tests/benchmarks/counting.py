"""How fast words are counted, ours and Hugging Face's: ``python -m tests.benchmarks.counting`` prints a table.

Everything is measured in the same run, each time in a fresh process, all in turn; a speed is the median. The library is
asked for a vocabulary so small that it needs no merges; its word-level trainer does nothing but count. `--parity`
compares the words and their order instead, `--large FILE` shows what a large file takes, `--distinct` how the number of
distinct words grows with the text.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.benchmarks.bench import SHARED, Bench
from tests.benchmarks.processes import run_module
from tests.benchmarks.table import Bar, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPORA = ("many-100", "english-26mb")
DISTINCT_SIZES = (1, 3, 10, 30, 100)
_PROBES = "tests.benchmarks.counting_probes"
_ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
_SPEED_BAR, _SECOND_BAR, _MEMORY_BAR = Bar("≥", 10), Bar("≥", 1.3), Bar("≤", 600)

# What is measured: its name, the probe and its first arguments, the environment.
_WAYS: tuple[tuple[str, tuple[object, ...], dict[str, str]], ...] = (
    ("tokenizers, all threads", ("tokenizers", "WordPieceTrainer"), {}),
    ("tokenizers, one thread", ("tokenizers", "WordPieceTrainer"), _ONE_THREAD),
    ("tokenizers, words alone", ("tokenizers", "WordLevelTrainer"), {}),
    ("ours, 1 thread", ("ours", 1), {}),
    ("ours, 2 threads", ("ours", 2), {}),
)


def measure_speed(bench: Bench, name: str, paths: Sequence[Path]) -> None:
    """Count some files in each way, in turn, and put down speeds, ratios and memory."""
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    part = f"Counting {name}, {megabytes:.1f} MB"
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way, _, _ in _WAYS}
    for _ in range(bench.runs):
        for way, probe, environment in _WAYS:
            runs[way].append(_probe(bench, way, *probe, *paths, environment=environment))
    for way, found in runs.items():
        distinct = found[0].get("distinct_words")
        note = f"{found[0]['words']:,} words, {distinct:,} of them distinct" if distinct else ""
        bench.add(Row(part, way, tuple(megabytes / run["seconds"] for run in found), "MB/s", note=note))
    theirs, alone, one, two = (
        [run["seconds"] for run in runs[way]]
        for way in ("tokenizers, all threads", "tokenizers, words alone", "ours, 1 thread", "ours, 2 threads")
    )
    same = len({run["digest"] for way in ("ours, 1 thread", "ours, 2 threads") for run in runs[way]}) == 1
    is_large = name == "many-100"
    for row, ratios, bar, note in (
        ("1 thread, × faster than tokenizers", _ratios(theirs, one), _SPEED_BAR, "all threads"),
        ("1 thread, × faster than words alone", _ratios(alone, one), None, "its WordLevelTrainer, all threads"),
        ("2 threads, × faster than 1", _ratios(one, two), _SECOND_BAR, "same result" if same else "OTHER RESULT"),
    ):
        bench.add(Row(part, row, ratios, "×", bench.bar(bar if is_large else None), note))
    whole = {way: median(run["process_seconds"] for run in found) for way, found in runs.items()}
    texts = [f"{way} {seconds:.2f} s" for way, seconds in whole.items()]
    bench.add(Row(part, "whole processes, starts included", (), "s", note=", ".join(texts)))
    for way, found in runs.items():
        peaks = tuple(run["peak_bytes"] / 1e6 for run in found if run["peak_bytes"])
        bar = bench.bar(_MEMORY_BAR if is_large and way.startswith("ours") else None)
        bench.add(Row(part, f"peak memory, {way}", peaks, "MB", bar, "of all processes together"))


def measure_parity(bench: Bench, corpora: Sequence[tuple[str, Path]]) -> None:
    """Compare the words and their order with the library's, line by line."""
    part = "Words and order of first appearance, 1 and 2 threads, against the library line by line"
    for name, path in corpora:
        found = _probe(bench, name, "parity", path)
        same = "the same" if found["same_words"] and found["same_order"] else "OTHERS"
        note = f"{found['words']:,} words, {found['distinct_words']:,} distinct: {same}"
        if found["left_out"]:
            note += f"; {found['left_out']} longer than 1,000 characters left out of both"
        bench.add(Row(part, name, (float(found["same_words"] and found["same_order"]),), "", Bar("≥", 1), note))


def measure_large(bench: Bench, path: Path) -> None:
    """Count a large file once with one thread and once with two."""
    megabytes = path.stat().st_size / 1e6
    part = f"Counting {path.name}, {megabytes:,.0f} MB"
    for threads in (1, 2):
        found = _probe(bench, f"{threads} of ours", "large", threads, path)
        note = f"{found['words']:,} words, {found['distinct_words']:,} distinct"
        bench.add(Row(part, f"{threads} of ours, kernels loaded within", (found["seconds"],), "s", note=note))
        note = f"all processes together; {found['most_told'] / 1e6:,.0f} MB told as progress"
        bench.add(Row(part, f"{threads} of ours, peak memory", ((found["peak_bytes"] or 0) / 1e6,), "MB", note=note))


def measure_distinct(bench: Bench, paths: Sequence[Path]) -> None:
    """Count texts of several sizes and fit Heaps' law to their distinct words."""
    part, sizes, distinct = "Distinct words", [], []
    for path in paths:
        found = _probe(bench, path.name, "ours", 1, path)
        sizes.append(path.stat().st_size)
        distinct.append(found["distinct_words"])
        note = f"of {found['words']:,} words"
        bench.add(Row(part, f"{path.name}, {sizes[-1] / 1e6:,.1f} MB", (distinct[-1],), "", note=note))
    if len(paths) > 1:
        factor, exponent = heaps_law(sizes, distinct)
        note = f"distinct words = {factor:.3g} · bytes ^ {exponent:.3f}; at 1 TB {factor * 1e12**exponent:,.0f}"
        bench.add(Row(part, "Heaps' law", (exponent,), "", note=note))


def heaps_law(sizes: Sequence[int], distinct: Sequence[int]) -> tuple[float, float]:
    """Return the factor and the exponent with which ``factor * size ** exponent`` comes nearest, in logarithms.

    >>> factor, exponent = heaps_law([100, 10_000], [20, 200])
    >>> round(factor, 6), round(exponent, 6)
    (2.0, 0.5)
    """
    xs, ys = [math.log(size) for size in sizes], [math.log(words) for words in distinct]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)
    return math.exp(mean_y - slope * mean_x), slope


def _probe(bench: Bench, name: str, *arguments: object, environment: dict[str, str] | None = None) -> dict[str, Any]:
    run = run_module(_PROBES, *arguments, environment=environment)
    found = {**run.answer(), "process_seconds": run.seconds, "cpu_seconds": run.cpu_seconds}
    found["peak_bytes"] = run.peak_bytes
    bench.note({"measured": name, "arguments": [str(argument) for argument in arguments], **found})
    return found


def _ratios(slower: Sequence[float], faster: Sequence[float]) -> tuple[float, ...]:
    return tuple(a / b for a, b in zip(slower, faster, strict=True))


def _corpora(bench: Bench, names: Sequence[str]) -> list[tuple[str, Path]]:
    return [(corpus.name, corpus.path) for name in names if (corpus := bench.corpus(name))]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.counting", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how often to measure everything (3)")
    parser.add_argument("--quick", action="store_true", help="small and once, to see that it works; no bars")
    parser.add_argument("--corpus", nargs="+", help="names, many-N for N generated megabytes, or files")
    parser.add_argument("--parity", action="store_true", help="instead, compare the words with the library's")
    parser.add_argument("--large", type=Path, metavar="FILE", help="instead, what a large file takes")
    parser.add_argument("--distinct", nargs="*", metavar="FILE", help="instead, how distinct words grow")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every single measurement")
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and find them next time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wordpiece-studio-benchmarks-") as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder.resolve(), 1 if arguments.quick else arguments.runs, is_quick=arguments.quick)
        measure(bench, arguments)
    bench.report.print()
    if arguments.json:
        bench.report.write(arguments.json)


def measure(bench: Bench, arguments: argparse.Namespace) -> None:
    """Measure what is asked for."""
    course = sorted(SHARED.glob("course-*.txt"))
    if arguments.large:
        measure_large(bench, arguments.large)
    elif arguments.distinct is not None:
        paths = [Path(name) for name in arguments.distinct]
        measure_distinct(bench, paths or [bench.generated(size).path for size in DISTINCT_SIZES])
    elif arguments.parity:
        named = _corpora(bench, arguments.corpus or ("many-1", "english-26mb"))
        measure_parity(bench, [*named, *((path.stem, path) for path in course)])
    else:
        for name, path in _corpora(bench, arguments.corpus or (("many-1",) if arguments.quick else CORPORA)):
            measure_speed(bench, name, [path])
        if course and not arguments.quick:
            measure_speed(bench, "all course files", course)


if __name__ == "__main__":
    main()
