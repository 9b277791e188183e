"""The benchmarks run and say what they found. How fast anything is belongs to a benchmark, not to a test."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tests.benchmarks import engine
from tests.benchmarks.corpus import write_corpus
from tests.benchmarks.processes import run_module
from tests.benchmarks.table import Bar, Report, Row

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("--quick", "--parts", "whole", "training", "walking", "counting", "encoding")


@pytest.mark.parametrize(
    ("runs", "bar", "verdict"),
    [
        ((1.0, 9.0, 2.0), Bar("≤", 2), "met"),
        ((1.0, 9.0, 2.1), Bar("≤", 2), "MISSED by 1.05 ×"),
        ((10.0,), Bar("≥", 10), "met"),
        ((8.0,), Bar("≥", 10), "MISSED by 1.25 ×"),
        ((), Bar("≥", 10), ""),
        ((9.9,), None, ""),
    ],
)
def test_a_row_says_whether_its_median_meets_the_bar(runs: tuple[float, ...], bar: Bar | None, verdict: str) -> None:
    assert Row("part", "name", runs, "s", bar).verdict() == verdict


def test_a_report_is_printed_and_written_with_every_measurement(tmp_path: Path) -> None:
    report = Report([Row("Training", "count", (0.7, 0.9, 0.8), "s", Bar("≤", 0.8)), Row("Training", "other", (), "s")])
    report.measurements.append({"program": "ours", "seconds": 0.7})
    output = io.StringIO()
    report.print(Console(file=output, width=200))
    assert "0.800 s" in output.getvalue()
    assert "met" in output.getvalue()
    report.write(tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written["rows"][0]["runs"] == [0.7, 0.9, 0.8]
    assert written["rows"][0]["is_met"] is True
    assert written["measurements"] == report.measurements
    assert written["machine"]["cores"] >= 1


@pytest.mark.slow
def test_a_process_is_measured(tmp_path: Path) -> None:
    run = run_module("tests.benchmarks.corpus", 0.01, tmp_path / "tiny.txt", "--only-write")
    assert run.output.startswith(str(tmp_path))
    assert run.seconds > 0
    assert run.peak_bytes is None or run.peak_bytes > 10_000_000


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="no_such_module"):
        run_module("no_such_module")


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_quick_run_fills_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_QUICK_MERGES", 1000)
    write_corpus(tmp_path / "tiny.txt", 50_000)
    report = engine.run(engine.parse([*QUICK, "--corpus", str(tmp_path / "tiny.txt")]))
    without_value = [row for row in report.rows if row.value is None]
    assert all("not installed" in row.note for row in without_value)
    assert not any("OTHER RESULT" in row.note for row in report.rows)
    parts = {row.part.split(":")[0].split(",")[0] for row in report.rows}
    assert len(parts) == 1 + len(QUICK) - 2
    assert len(report.rows) > 40


@pytest.mark.exhaustive
@pytest.mark.slow
def test_the_growth_curve_compares_sizes(tmp_path: Path) -> None:
    for size in (1, 10):  # they are found there, and not made
        write_corpus(tmp_path / f"many-{size}.txt", 50_000 * size)
    options = ["--quick", "--growth", "--sizes", "1", "10", "--libraries-up-to", "0", "--folder", str(tmp_path)]
    report = engine.run(engine.parse(options))
    assert report.rows[-1].part == "Growth of the time per merge"
    assert report.rows[-1].value is not None
