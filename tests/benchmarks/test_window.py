"""The table of the window's benchmark is made of what the probes find."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.benchmarks import window

if TYPE_CHECKING:
    from tests.benchmarks.table import Row

_STEPS = {"times": [9.0, 11.0], "own": [8.0, 9.0], "candidates": [50.0, 120.0], "gaps": [2.0, 30.0]}
_FOUND: dict[str, dict[str, Any]] = {
    "start": {"seconds": 0.9, "own_seconds": 0.7, "merges": 25, "imported": []},
    "typing": {"keys": [4.0, 5.0, 30.0]},
    "million": {"sort": {"step": [10.0, 20.0]}, "filter": {"abc": [300.0]}, "scroll": {"to any place": [2.0]}},
    "training": {
        "seconds": 1.2,
        "merges": 29_792,
        "gaps_p99": 12.0,
        "gaps_longest": 130.0,
        "shown": ["Timeline"],
        "rss_mb": 700.0,
        "pss_mb": 650.0,
        "peak_mb": 710.0,
        "moves": _STEPS,
        "jumps": _STEPS,
        "keys": [17.0],
    },
    "runs": {
        "memory": [{"pss_mb": 300.0, "rss_mb": 400.0}, {"pss_mb": 330.0, "rss_mb": 441.0}],
        "tabs": [60.0, 90.0],
        "tabs_own": [40.0, 55.0],
        "tab_gap_own": 20.0,
        "save": 1.5,
        "save_own": 0.5,
        "save_gap_own": 20.0,
        "bytes": 2e7,
    },
}
_OPENED = {"rows": 0.5, "rows_own": 0.2, "rest": 2.0, "all_gap_own": 20.0}  # fmt: skip


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    monkeypatch.setattr(window, "probe", lambda name, *_, **__: _FOUND[name])
    monkeypatch.setattr(window, "run_module", lambda *_: SimpleNamespace(answer=lambda: _OPENED))
    return window.measure(window.PARTS, Path("english.txt"), 1, 30_000).rows


def test_every_bar_is_in_the_table_and_judged(rows: list[Row]) -> None:
    missed = {(row.name, row.bar.limit) for row in rows if row.bar is not None and not row.is_met}
    assert missed == {
        ("filter: abc", 200), ("gaps of the event loop: longest", 100), ("memory of the process afterwards", 600),
        ("29,792 merges", 16), ("memory of a further run, resident", 40),
    }  # fmt: skip
    assert {row.bar.limit for row in rows if row.bar is not None} == {0, 1.2, 16, 40, 50, 100, 200, 600}


def test_rows_of_one_part_stand_together(rows: list[Row]) -> None:
    parts = [part for part, _ in groupby(row.part for row in rows)]
    assert len(parts) == len(set(parts))
