"""How long a project of a million merges takes to be saved and opened, and how large its file is.

``python -m tests.benchmarks.project``. The project is a real training on a million invented words until there are a
million merges; made-up ones would be refused. Every opening and every saving is measured in a process of its own. First
rows: from the start of the imports to a row in the middle of the history, read from its file, with all columns at hand.
Words and places, which are not needed for that, have a line of their own.

``--window``: the same in the real window, see `window_project`. ``--letter``: how many bytes the store of unsaved work
writes for a letter typed beside runs that take so many megabytes, after these were kept.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.processes import run_module
from tests.benchmarks.table import Bar, Report, Row
from wordpiece_studio.storage.project.contents import RunOrigin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.storage.project.contents import Project, Run

_MODULE = "tests.benchmarks.project"
_WINDOW_MODULE = "tests.benchmarks.window_project"
_MB = 1_000_000
_SAVE_SECONDS, _OPEN_SECONDS = 3.0, 1.0
_GAP_MS = 100.0
_LETTER_MERGES = 200_000
"""Of each run beside which a letter is typed."""
_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


# ---- what is measured, in a process of its own -----------------------------------------------------------------------


def trained_run(merges: int) -> Run:
    """Return a real training of so many merges, on as many invented words of some nine letters."""
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import train

    rng = random.Random(1)
    weights = [1 / (rank + 2) for rank in range(len(_LETTERS))]
    words: dict[str, int] = {}
    while len(words) < merges:
        words["".join(rng.choices(_LETTERS, weights, k=rng.randint(4, 14)))] = 1 + merges // (1 + len(words))
    counts = WordCounts.from_pairs(words)
    run = train(counts, TrainingConfig(max_merges=merges), engine="compiled")
    return Run(counts, run.config, run.history, stop_reason=run.stop_reason, origin=RunOrigin(is_wanted=True))


def project_of(run: Run, megabytes: int = 10) -> Project:
    """Return a project with a run and a text of so many megabytes."""
    from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings
    from wordpiece_studio.storage.view import View
    from wordpiece_studio.text import normalizers, pre_tokenizers

    rng = random.Random(2)
    line = " ".join("".join(rng.choices(_LETTERS, k=rng.randint(2, 9))) for _ in range(15)) + "\n"
    settings = ProjectSettings(
        training=run.config.to_dict(),
        normalizer=normalizers.to_spec(run.counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(run.counts.pre_tokenizer),
    )
    text = line * (megabytes * _MB // len(line) + 1)
    return Project(settings=settings, corpus=ProjectCorpus(text=text), view=View(), runs=(run,))


def make(path: Path, merges: int) -> dict[str, Any]:
    """Make a project and save it, with everything in memory as after a training."""
    from wordpiece_studio.storage.project.project_file import save_project

    project = project_of(trained_run(merges))
    assert project.run is not None
    started, computed = time.perf_counter(), time.process_time()
    save_project(path, project)
    seconds, computed = time.perf_counter() - started, time.process_time() - computed
    places = project.run.history.places.until(merges).positions
    size = path.stat().st_size
    return {
        "bytes": size,
        "merges": len(project.run.history),
        "places": len(places),
        "seconds": seconds,
        "cpu": computed,
    }


def first_rows(path: Path) -> dict[str, Any]:
    """Open the project as far as rows of its history can be shown."""
    started = time.perf_counter()
    from wordpiece_studio.storage.project.project_file import open_project

    imported = time.perf_counter()
    project = open_project(path)
    opened = time.perf_counter()
    assert project.run is not None
    history = project.run.history
    middle = len(history) * 7 // 10
    assert history[middle].step == middle + 1
    assert len(history.column("value")) == len(history)
    shown = time.perf_counter()
    return {
        "imports": imported - started,
        "open": opened - imported,
        "rows": shown - started,
        "cpu": time.process_time(),
    }


def whole(path: Path) -> dict[str, Any]:
    """Open the project, and read what is not needed for the rows: words and places."""
    from wordpiece_studio.storage.project.project_file import open_project

    project = open_project(path)
    assert project.run is not None
    started = time.perf_counter()
    assert len(project.run.history.positions(0))
    return {"seconds": time.perf_counter() - started}


def check(path: Path) -> dict[str, Any]:
    """Check every byte and every part."""
    from tests.storage.project.making import check_project

    started = time.perf_counter()
    check_project(path)
    return {"seconds": time.perf_counter() - started}


def letter(path: Path, megabytes: str) -> dict[str, Any]:
    """Keep runs of so many megabytes, type a letter, and return the bytes that each wrote, and how long that took."""
    from dataclasses import replace

    from wordpiece_studio.session.recovery_store import About, RecoveryStore

    run = trained_run(_LETTER_MERGES)
    store = RecoveryStore(path)
    project = project_of(run, megabytes=0)
    project = replace(project, corpus=replace(project.corpus, text=" ".join(run.counts.words)[:_MB]))
    number = 0

    def written() -> int:
        return sum(file.stat().st_size for file in path.glob("*/*"))

    while written() < int(megabytes) * _MB:
        number += 1
        store.write_runs(number, replace(project, runs=(replace(run, number=number, counts=_again(run)),)), bool)
    kept = written()
    about = About(name="words", runs={each: each for each in range(1, number + 1)})
    store.write(project, about, number)
    before = _bytes_written()
    started = time.perf_counter()
    store.write(replace(project, corpus=replace(project.corpus, text=f"x{project.corpus.text}")), about, number)
    seconds, wrote = time.perf_counter() - started, _bytes_written() - before
    store.close(keeps=False)
    return {"kept": kept, "bytes": wrote, "seconds": seconds}


def _again(run: Run) -> Any:
    """Return equal words that are others, so that no file is known to hold the run."""
    from wordpiece_studio.corpus.counts import WordCounts

    counts = run.counts
    return WordCounts(counts.words, counts.counts, counts.normalizer, counts.pre_tokenizer)


def _bytes_written() -> int:
    """Return how much this process has written to files so far, as Linux counts it."""
    line = next(line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("wchar"))
    return int(line.split()[1])


# ---- the command -----------------------------------------------------------------------------------------------------


def probe(name: str, *arguments: object) -> dict[str, Any]:
    """Measure one thing in a process of its own."""
    return run_module(_MODULE, "--probe", name, *arguments).answer()


def computing(found: list[dict[str, Any]]) -> str:
    """Return how long the processes computed, which other work on the machine does not prolong as much."""
    return f"computing {statistics.median(each['cpu'] for each in found):.2f} s of it"


def rows(merges: int, runs: int, folder: Path) -> Iterator[Row]:
    """Yield the rows of the project."""
    path = folder / "trained.wpstudio"
    makings = [probe("make", path, merges) for _ in range(min(runs, 3))]
    made = makings[0]
    part = f"{made['merges']:,} merges, {made['places']:,} places, a text of 10 MB"
    opened = [probe("first_rows", path) for _ in range(runs)]

    def of(name: str) -> tuple[float, ...]:
        return tuple(found[name] for found in opened)

    yield Row(part, "size of the file", (made["bytes"] / _MB,), "MB")
    yield Row(part, "first rows", of("rows"), "s", Bar("≤", _OPEN_SECONDS), f"imports included; {computing(opened)}")
    yield Row(part, "of it imports", of("imports"), "s")
    saves = tuple(found["seconds"] for found in makings)
    yield Row(part, "save", saves, "s", Bar("≤", _SAVE_SECONDS), f"with fsync and reading back; {computing(makings)}")
    yield Row(part, "words and places read afterwards", (probe("whole", path)["seconds"],), "s")
    yield Row(part, "check of every byte and part", (probe("check", path)["seconds"],), "s")
    path.unlink()


def window_rows(merges: int, runs: int, folder: Path, project: Path | None) -> Iterator[Row]:
    """Yield the rows of a project that is opened and saved in the window; `project`: it, if it is made already."""
    path = folder / "trained.wpstudio" if project is None else project
    if project is None:
        probe("make", path, merges)
    found = [run_module(_WINDOW_MODULE, path, folder).answer() for _ in range(runs)]
    assert all(each["is_saved"] for each in found)
    part = f"{found[0]['merges']:,} merges in the window"

    def of(name: str) -> tuple[float, ...]:
        return tuple(each[name] for each in found)

    def own(name: str) -> str:
        return f"its own thread computed {statistics.median(of(name)):.2f} of it"

    yield Row(part, "first rows painted", of("rows"), "s", Bar("≤", _OPEN_SECONDS), own("rows_own"))
    yield Row(part, "words and places read too", of("rest"), "s")
    yield Row(part, "save", of("save"), "s", Bar("≤", _SAVE_SECONDS))
    for name, what in (("rows", "until the rows"), ("all", "until all is read"), ("save", "while it is saved")):
        yield Row(part, f"longest gap {what}, as time passed", of(f"{name}_gap"), "ms")
        yield Row(part, f"longest gap {what}, computed", of(f"{name}_gap_own"), "ms", Bar("≤", _GAP_MS))


def main() -> int:
    """Measure and print the table; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}", description=__doc__)
    parser.add_argument("--merges", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5, help="how often to measure everything (5)")
    parser.add_argument("--window", action="store_true", help="measure the real window")
    parser.add_argument("--project", type=Path, help="with --window: a project that is there already")
    parser.add_argument("--letter", type=int, metavar="MB", help="measure a letter beside so many megabytes of runs")
    parser.add_argument("--probe", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        probes: dict[str, Callable[..., dict[str, Any]]] = {
            "make": lambda path, merges: make(path, int(merges)),
            "first_rows": first_rows,
            "whole": whole,
            "check": check,
            "letter": letter,
        }
        name, path, *others = arguments.probe
        print(json.dumps(probes[name](Path(path), *others)))  # noqa: T201 - the answer to the process that asked
        return 0
    report = Report()
    with tempfile.TemporaryDirectory(prefix="wordpiece-studio-benchmarks-") as folder:
        if arguments.letter:
            found = probe("letter", Path(folder) / "recovery", arguments.letter)
            part = f"a letter in a text of 1 MB beside {found['kept'] / _MB:,.0f} MB of runs"
            report.rows.append(Row(part, "written", (found["bytes"] / _MB,), "MB", Bar("≤", 1.0)))
            report.rows.append(Row(part, "it takes", (found["seconds"],), "s", Bar("≤", 1.0)))
        elif arguments.window:
            report.rows += window_rows(arguments.merges, arguments.runs, Path(folder), arguments.project)
        else:
            report.rows += rows(arguments.merges, arguments.runs, Path(folder))
    report.print()
    return int(any(row.is_met is False for row in report.rows))


if __name__ == "__main__":
    sys.exit(main())
