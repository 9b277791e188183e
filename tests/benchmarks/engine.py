"""How fast the engine is, ours and the libraries': ``python -m tests.benchmarks.engine [--json FILE]`` prints a table.

Every row has its bar, where there is one, and whether it is met. What a figure means and how it is measured stands in
the modules of the parts: `whole_process`, `inside`, `growth`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import growth, inside, whole_process
from tests.benchmarks.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.benchmarks.bench import Corpus
    from tests.benchmarks.table import Report

CORPORA = ("shakespeare", "english-26mb", "many-100")
PARTS: dict[str, Callable[[Bench, list[Corpus]], None]] = {
    "whole": whole_process.measure,
    "training": inside.measure_training,
    "walking": inside.measure_walking,
    "counting": inside.measure_counting,
    "encoding": inside.measure_encoding,
    "kernels": inside.measure_kernels,
}

_QUICK_CORPORA, _QUICK_MERGES = ("many-1",), 5_000


def measure(bench: Bench, arguments: argparse.Namespace) -> None:
    """Measure all that is asked for."""
    if arguments.growth:
        growth.measure(bench, tuple(arguments.sizes), arguments.libraries_up_to)
        return
    names = arguments.corpus or (_QUICK_CORPORA if arguments.quick else CORPORA)
    corpora = [corpus for name in names if (corpus := bench.corpus(name))]
    for part in arguments.parts:
        PARTS[part](bench, corpora)


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.engine", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and once, to see that it works; no bars")
    parser.add_argument("--runs", type=int, default=3, help="how often to measure everything (3)")
    parser.add_argument("--corpus", nargs="+", help="names, many-N for N generated megabytes, or files")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these")
    parser.add_argument("--growth", action="store_true", help="instead, the curves from 1 MB to 1 GB")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(growth.SIZES), help="of --growth, in megabytes")
    parser.add_argument(
        "--libraries-up-to", type=int, default=growth.LIBRARY_RUNS_UP_TO, metavar="MB", help="of --growth"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every single measurement")
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and find them next time")
    return parser.parse_args(words)


def run(arguments: argparse.Namespace) -> Report:
    """Measure, in a folder that is given or will be gone."""
    with tempfile.TemporaryDirectory(prefix="wordpiece-studio-benchmarks-") as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder.resolve(), arguments.runs, is_quick=arguments.quick)
        if arguments.quick:
            bench.runs, bench.merges = 1, _QUICK_MERGES
        measure(bench, arguments)
        return bench.report


def main() -> None:
    """Measure, print the table and write the JSON."""
    arguments = parse()
    report = run(arguments)
    report.print()
    if arguments.json:
        report.write(arguments.json)


if __name__ == "__main__":
    main()
