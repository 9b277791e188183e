"""What every part of the benchmarks works with: its corpora, how thorough to be, and where to put what it finds."""

from __future__ import annotations

import lzma
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.libraries import installed
from tests.benchmarks.processes import ROOT, ProcessRun, run_module
from tests.benchmarks.table import Bar, Report, Row

if TYPE_CHECKING:
    from tests.benchmarks.table import Unit

SHARED = ROOT.parent / "shared" / "corpora"
"""Where real corpora are found; those that are not there are left out."""

OURS = {f"wordpiece-studio, {objective}": objective for objective in ("score", "likelihood", "count")}
"""Our program by the objective it trains with; the libraries know none but count."""

_SETTINGS = ("--normalizer", "bert-uncased", "--min-frequency", 2)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A file to measure with."""

    name: str
    path: Path

    @property
    def megabytes(self) -> float:
        """Its size in millions of bytes."""
        return self.path.stat().st_size / 1e6


@dataclass(slots=True)
class Bench:
    """One run of the benchmarks.

    Attributes
    ----------
    folder
        For corpora and vocabularies.
    runs
        How often everything is measured.
    merges
        How many to learn, and how many tokens a whole process is to write.
    is_quick
        Whether this is only to see that everything works; no bar is shown then.
    """

    folder: Path
    runs: int = 3
    merges: int = 30_000
    is_quick: bool = False
    report: Report = field(default_factory=Report)

    def corpus(self, name: str) -> Corpus | None:
        """Return a corpus by its name, ``many-N`` being generated, or a file; None if it is not there."""
        if name.startswith("many-"):
            return self.generated(int(name.removeprefix("many-")))
        if Path(name).is_file():
            return Corpus(Path(name).stem, Path(name).resolve())
        for path in (SHARED / f"{name}.txt", SHARED / f"{name}.txt.xz"):
            if path.is_file():
                return Corpus(name, self._unpacked(path) if path.suffix == ".xz" else path)
        self.add(Row("Corpora", name, (), "", note=f"not found in {SHARED.parent.name}/{SHARED.name}"))
        return None

    def generated(self, megabytes: int) -> Corpus:
        """Return the corpus in many scripts, made unless it is there."""
        path = self.folder / f"many-{megabytes}.txt"
        if not path.is_file():
            run_module("tests.benchmarks.corpus", megabytes, path, "--only-write")
        return Corpus(path.stem, path)

    def program(self, name: str, corpus: Corpus, size: int, run: int) -> ProcessRun:
        """Train with one program, one of `OURS` or a library, as a user would, and note what it took."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        if name in OURS:
            limit = ("--vocab-size", size) if size else ("--max-merges", 0)
            arguments = ("train", corpus.path, "-o", folder, *_SETTINGS, "--objective", OURS[name], *limit)
            result = run_module("wordpiece_studio", *arguments)
        else:
            result = run_module("tests.benchmarks.libraries", name, corpus.path, folder, size)
        times = {"seconds": result.seconds, "cpu_seconds": result.cpu_seconds, "peak_bytes": result.peak_bytes}
        self.note({"program": name, "corpus": corpus.name, "size": size, "run": run, **times})
        return result

    def probe(self, name: str, *arguments: object, environment: dict[str, str] | None = None) -> dict[str, Any]:
        """Measure something inside a fresh process and return what it found."""
        result = run_module("tests.benchmarks.probes", name, *arguments, environment=environment)
        answer = {**result.answer(), "cpu_seconds": result.cpu_seconds, "peak_bytes": result.peak_bytes}
        self.note({"probe": name, "arguments": [str(argument) for argument in arguments], **answer})
        return answer

    def libraries(self, *names: str) -> list[str]:
        """Return those of the libraries that are installed."""
        versions = installed()
        return [name for name in names if versions[name] is not None]

    def add(self, row: Row) -> None:
        """Put a row into the table."""
        self.report.rows.append(row)

    def add_missing(self, part: str, name: str, library: str) -> None:
        """Put a row into the table that says that a library is not installed."""
        self.add(Row(part, name, (), "", note=f"{library} is not installed"))

    def add_spread(
        self, part: str, name: str, spread: dict[str, float], unit: Unit, bar: Bar | None = None, note: str = ""
    ) -> None:
        """Put a row into the table of many quick measurements, of which only the median and the ends are kept."""
        tail = f"99 of 100 within {spread['p99']:.3g} {unit}"
        self.add(Row(part, name, (spread["median"],), unit, self.bar(bar), f"{tail}; {note}" if note else tail))

    def bar(self, bar: Bar | None) -> Bar | None:
        """Return the bar, if this run can be held against it."""
        return None if self.is_quick else bar

    def _unpacked(self, path: Path) -> Path:
        target = self.folder / path.stem
        if not target.is_file():
            with lzma.open(path) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
        return target

    def note(self, measurement: dict[str, Any]) -> None:
        """Keep a measurement and say so."""
        self.report.measurements.append(measurement)
        words = {key: value for key, value in measurement.items() if not isinstance(value, (list, dict))}
        sys.stderr.write(" ".join(f"{key}={_short(value)}" for key, value in words.items()) + "\n")


def _short(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
