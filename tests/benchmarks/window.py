"""The speed of the window: ``python -m tests.benchmarks.window [--corpus FILE] [--runs 3] [--json FILE]``.

Every measurement is a fresh process with the real window, without a screen unless QT_QPA_PLATFORM names one. The corpus
is a file, or 26 MB are generated. What is measured, and how, is in `window_probes`; this prints it against its bars.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.benchmarks.processes import run_module
from tests.benchmarks.table import Bar, Report, Row

if TYPE_CHECKING:
    from collections.abc import Iterable

_STARTS = 5  # for each run: they are short
_MEGABYTES = 26
_START_SECONDS, _KEY_MS, _SORT_MS, _CANDIDATES_MS = 1.2, 16, 200, 100
_P99_MS, _LONGEST_MS, _MEMORY_MB = 50, 100, 600
_RUNS, _RUN_MB, _TAB_MS = 10, 40, 50
PARTS = ("start", "typing", "million", "training", "engineer", "runs")


def probe(name: str, *arguments: object, code: str = "") -> dict[str, Any]:
    """Measure something in a fresh process with settings of its own, and say so.

    `code` is a folder for Python's compiled files, which an installed program finds beside its own.
    """
    sys.stderr.write(f"{name} {' '.join(map(str, arguments))}\n")
    with tempfile.TemporaryDirectory() as folder:
        environment = {f"XDG_{kind}_HOME": folder for kind in ("CONFIG", "DATA", "STATE")}
        environment["QT_QPA_PLATFORM"] = os.environ.get("QT_QPA_PLATFORM", "offscreen")
        if code:
            environment |= {"PYTHONPYCACHEPREFIX": code, "PYTHONDONTWRITEBYTECODE": ""}
        return run_module("tests.benchmarks.window_probes", name, *arguments, environment=environment).answer()


# ---- the rows of each part -------------------------------------------------------------------------------------------


def start_rows(runs: int) -> Iterable[Row]:
    """From the start of the process to the first painting."""
    with tempfile.TemporaryDirectory() as code:
        probe("start", time.time(), code=code)  # the first one reads the files from the disk, and compiles them
        found = [probe("start", time.time(), code=code) for _ in range(_STARTS * runs)]
    times = tuple(each["seconds"] for each in found)
    merges = {each["merges"] for each in found}
    part = "First window painted, sample trained"
    note = f"{_said(merges)} merges; computing {median(each['own_seconds'] for each in found):.2f} s of it"
    yield Row(part, "from the start of the process", times, "s", Bar("≤", _START_SECONDS), note)
    imported = sorted({name for each in found for name in each["imported"]})
    counts = tuple(float(len(each["imported"])) for each in found)
    yield Row(part, "heavy libraries imported until then", counts, "", Bar("≤", 0), _said(imported) or "none")


def typing_rows(runs: int) -> Iterable[Row]:
    """Keys into a long live text, at the vocabulary of the sample."""
    times = [time for _ in range(runs) for time in probe("typing", 0)["keys"]]
    yield _key_row("sample trained", times)


def million_rows(runs: int) -> Iterable[Row]:
    """A history of a million rows."""
    found = [probe("million", 1_000_000) for _ in range(runs)]
    part = "Merge history of 1,000,000 rows"
    bar = Bar("≤", _SORT_MS)
    for what in ("sort", "filter", "scroll"):
        for name in found[0][what]:
            times = tuple(time for each in found for time in each[what][name])
            yield Row(part, f"{what}: {name}", times, "ms", bar)


def training_rows(corpus: Path, runs: int, layout: str, size: int) -> Iterable[Row]:
    """The event loop during a training, the memory after it, and, in the usual layout, the slider and keys."""
    found = [probe("training", corpus, size, layout) for _ in range(runs)]
    part = f"Training of {corpus.stem}, layout {layout.capitalize() or 'Teach'}"
    merges, seconds = found[0]["merges"], sorted(each["seconds"] for each in found)[runs // 2]
    note = f"{merges:,} merges in {seconds:.1f} s"
    yield Row(part, "gaps of the event loop: 99 of 100", _values(found, "gaps_p99"), "ms", Bar("≤", _P99_MS), note)
    longest, panes = _values(found, "gaps_longest"), f"seen: {_said(found[0]['shown'])}"
    yield Row(part, "gaps of the event loop: longest", longest, "ms", Bar("≤", _LONGEST_MS), panes)
    resident, share = (_values(found, name) for name in ("rss_mb", "pss_mb"))
    peak = max(_values(found, "peak_mb"), default=0.0)
    note = f"shared pages divided: {max(share, default=0.0):.0f} MB; the most at once: {peak:.0f} MB"
    yield Row(part, "memory of the process afterwards", resident, "MB", Bar("≤", _MEMORY_MB), note if share else "")
    if "moves" in found[0]:
        yield from _step_rows(found, merges)
        yield _key_row(f"{merges:,} merges", [time for each in found for time in each["keys"]])


def _step_rows(found: list[dict[str, Any]], merges: int) -> Iterable[Row]:
    part = f"Slider dragged to any of {merges:,} steps"
    for name, key in (("dragged", "moves"), ("jumped", "jumps")):
        times = [time for each in found for time in each[key]["times"]]
        row = f"history row, formula, chips, changes: {name}"
        own = median(time for each in found for time in each[key]["own"])
        note = f"{_tail(times)}; computing {own:.1f} ms of it"
        yield Row(part, row, tuple(times), "ms", Bar("≤", _KEY_MS), note)
    candidates = [time for each in found for time in each["jumps"]["candidates"]]
    yield Row(
        part, "candidates and touched words", tuple(candidates), "ms", Bar("≤", _CANDIDATES_MS), _tail(candidates)
    )
    for name, key in (("dragged", "moves"), ("jumped", "jumps")):
        longest = tuple(each[key]["gaps"][-1] for each in found)
        yield Row(part, f"longest gap of the event loop: {name}", longest, "ms", Bar("≤", _LONGEST_MS))


def runs_rows(corpus: Path, size: int) -> Iterable[Row]:
    """Several runs of one corpus in one session, saved as a project and opened again."""
    with tempfile.TemporaryDirectory() as folder:
        found = probe("runs", corpus, size, _RUNS, folder)
        opened = run_module("tests.benchmarks.window_project", Path(folder) / "runs.wpstudio", folder).answer()
    part = f"{len(found['memory'])} runs of {corpus.stem} in one session"
    for name, what in (("pss_mb", "shared pages divided"), ("rss_mb", "resident")):
        sizes = _values(found["memory"], name)
        if sizes:
            more = (sizes[-1] - sizes[0]) / max(1, len(sizes) - 1)
            note = f"after each run: {', '.join(f'{each:.0f}' for each in sizes)} MB"
            yield Row(part, f"memory of a further run, {what}", (more,), "MB", Bar("≤", _RUN_MB), note)
    own = f"computing at most {max(found['tabs_own']):.0f} ms of it"
    yield Row(part, "another tab, as time passed", tuple(found["tabs"]), "ms", None, own)
    yield Row(part, "another tab, computed until all is painted", tuple(found["tabs_own"]), "ms", Bar("≤", _TAB_MS))
    for name, key in (("another tab", "tab_gap_own"), ("saving", "save_gap_own")):
        yield Row(part, f"longest gap computed: {name}", (found[key],), "ms", Bar("≤", _LONGEST_MS))
    size_mb = f"{found['bytes'] / 1e6:.0f} MB; all threads computed {found['save_own']:.2f} s"
    yield Row(part, "saved as a project", (found["save"],), "s", None, size_mb)
    own = f"its own thread computed {opened['rows_own']:.2f} s of it"
    yield Row(part, "opened: first rows painted", (opened["rows"],), "s", None, own)
    yield Row(part, "opened: words and places read too", (opened["rest"],), "s")
    yield Row(part, "opened: longest gap computed", (opened["all_gap_own"],), "ms", Bar("≤", _LONGEST_MS))


def _key_row(name: str, times: list[float]) -> Row:
    part = "Key press to repainted chips, 10 KB of live text"
    return Row(part, name, tuple(times), "ms", Bar("≤", _KEY_MS), _tail(times))


def _values(found: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    return tuple(each[name] for each in found if name in each)


def _tail(times: list[float]) -> str:
    return f"99 of 100 within {sorted(times)[len(times) * 99 // 100]:.1f} ms; n = {len(times)}"


def _said(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


# ---- the command -----------------------------------------------------------------------------------------------------


def generated(folder: Path) -> Path:
    """Return a generated corpus, made unless it is there."""
    path = folder / f"many-{_MEGABYTES}.txt"
    if not path.is_file():
        run_module("tests.benchmarks.corpus", _MEGABYTES, path, "--only-write")
    return path


def measure(parts: Iterable[str], corpus: Path, runs: int, size: int) -> Report:
    """Measure what is asked for."""
    report = Report()
    makers = {
        "start": lambda: start_rows(runs),
        "typing": lambda: typing_rows(runs),
        "million": lambda: million_rows(runs),
        "training": lambda: training_rows(corpus, runs, "", size),
        "engineer": lambda: training_rows(corpus, 1, "engineer", size),
        "runs": lambda: runs_rows(corpus, size),
    }
    rows = list(itertools.chain.from_iterable(makers[part]() for part in parts))
    headings = list(dict.fromkeys(row.part for row in rows))
    report.rows += sorted(rows, key=lambda row: headings.index(row.part))
    return report


def main() -> None:
    """Measure, print the table and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.window", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a text file of some 26 MB; generated if it is not given")
    parser.add_argument("--size", type=int, default=30_000, help="tokens to train to (30,000)")
    parser.add_argument("--runs", type=int, default=3, help="how often to measure everything (3)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every single measurement")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wordpiece-studio-benchmarks-") as folder:
        needs_corpus = {"training", "engineer", "runs"} & set(arguments.parts)
        corpus = arguments.corpus or (generated(Path(folder)) if needs_corpus else Path())
        report = measure(arguments.parts, corpus.resolve(), arguments.runs, arguments.size)
    report.print()
    if arguments.json:
        report.write(arguments.json)


if __name__ == "__main__":
    main()
