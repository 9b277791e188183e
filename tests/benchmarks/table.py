"""The rows of a benchmark, their bars, and the two ways of showing them: a printed table and JSON."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
import statistics
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.benchmarks.libraries import installed

if TYPE_CHECKING:
    from rich.console import Console

Unit = Literal["s", "ms", "µs", "MB", "MB/s", "×", ""]


@dataclass(frozen=True, slots=True)
class Bar:
    """What a value must reach: at most, or at least, this much."""

    kind: Literal["≤", "≥"]
    limit: float

    def is_met(self, value: float) -> bool:
        """Tell whether `value` reaches it."""
        return value <= self.limit if self.kind == "≤" else value >= self.limit

    def missed_by(self, value: float) -> float:
        """Return how many times as good a value would have to be to reach it."""
        return value / self.limit if self.kind == "≤" else self.limit / value


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    part, name
        Its heading and what was measured.
    runs
        Every measurement; none if it could not be made, and `note` says why.
    unit
        Of the runs and the bar.
    bar
        What the median must reach, if anything.
    note
        What else a reader must know.
    """

    part: str
    name: str
    runs: tuple[float, ...]
    unit: Unit
    bar: Bar | None = None
    note: str = ""

    @property
    def value(self) -> float | None:
        """The median of the runs."""
        return statistics.median(self.runs) if self.runs else None

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None without a bar or a value."""
        return None if self.bar is None or self.value is None else self.bar.is_met(self.value)

    def verdict(self) -> str:
        """Return in words whether the bar is met, and if not, by how much."""
        if self.bar is None or self.value is None:
            return ""
        return "met" if self.is_met else f"MISSED by {self.bar.missed_by(self.value):.2f} ×"


def machine_facts() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown",
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {**{name: version(name) for name in ("numpy", "numba")}, **installed()},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


@dataclass(slots=True)
class Report:
    """All that one run of the benchmarks found out.

    Attributes
    ----------
    rows
        The table.
    measurements
        What each single process reported, in the order in which they ran.
    """

    rows: list[Row] = field(default_factory=list)
    measurements: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=machine_facts)

    def print(self, console: Console | None = None) -> None:
        """Print the machine and the table."""
        # Only now: what is in memory while a child is started counts as the child's (see `processes`).
        from rich.console import Console
        from rich.table import Table

        console = console or Console(width=None if os.isatty(1) else 170)
        console.print(self.heading(), markup=False, highlight=False)
        table = Table(show_edge=False)
        table.add_column("", no_wrap=True)
        for name in ("median", "bar", "", "least to most"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("note", overflow="fold")
        part = None
        for row in self.rows:
            if row.part != part:
                table.add_section()
                table.add_row(f"[bold]{row.part}[/bold]")
                part = row.part
            table.add_row(*_cells(row))
        console.print(table)
        verdicts = [row.is_met for row in self.rows if row.is_met is not None]
        if verdicts:
            console.print(f"{sum(verdicts)} of {len(verdicts)} bars met", highlight=False)

    def heading(self) -> str:
        """Return the machine facts in two lines."""
        facts = self.facts
        versions = ", ".join(f"{name} {number or 'not installed'}" for name, number in facts["versions"].items())
        machine = f"{facts['processor']}, {facts['cores']} cores, load {facts['load']}"
        return f"{facts['date']} · {machine} · {facts['system']}\nPython {facts['python']}, {versions}"

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        rows = [{**dataclasses.asdict(row), "value": row.value, "is_met": row.is_met} for row in self.rows]
        content = {"machine": self.facts, "rows": rows, "measurements": self.measurements}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _cells(row: Row) -> tuple[str, ...]:
    if row.value is None:
        return row.name, "–", _with_unit(row.bar, row.unit), "", "", row.note
    spread = f"{_number(min(row.runs))} – {_number(max(row.runs))}" if len(row.runs) > 1 else ""
    color = {None: "", True: "green", False: "bold red"}[row.is_met]
    verdict = f"[{color}]{row.verdict()}[/{color}]" if color else ""
    return row.name, f"{_number(row.value)} {row.unit}", _with_unit(row.bar, row.unit), verdict, spread, row.note


def _with_unit(bar: Bar | None, unit: str) -> str:
    return "" if bar is None else f"{bar.kind} {bar.limit:g} {unit}"


def _number(value: float) -> str:
    """Return three significant digits, and all those before the point."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 if abs(value) >= 1 else 3}f}" if abs(value) < 10 else f"{value:.1f}"
