"""A saved project opened and saved in the real window: ``python -m tests.benchmarks.project --window``.

``python -m tests.benchmarks.window_project PROJECT FOLDER`` measures once, in a process of its own, and prints JSON.
First rows: from the order to open to the end of the painting that shows the history's rows. Gaps: between the ticks of
a 2 ms timer in the window's thread, as time passed and as what that thread itself computed, which others do not
prolong as much. Rest: until words, places and word counts are in memory too, and the window is at peace.

`runs` is a probe of `window_probes`: several runs of one corpus in one session.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any


def opened_and_saved(path: str, folder: str) -> dict[str, Any]:
    """Open the project in a window that shows the sample, wait for the rest of it, and save it under another name."""
    from tests.benchmarks.window_watch import PaintNotes, rest, studio, wait_for

    with studio() as (window, probe):
        model, pane, controller, state = (
            window.model,
            window.history_pane,
            window.project_controller,
            window.project,
        )
        rest(1.0)
        notes, old = PaintNotes(history=pane.view), model.history
        probe.restart()
        began, own, all_threads = time.perf_counter(), time.thread_time(), time.process_time()

        def shows_rows() -> bool:
            is_there = model.history is not old and pane.rows.rowCount() == model.merge_count > 0
            return is_there and not pane.is_stale and notes.began["history"] > began

        window.corpus_controller.open_paths([path])
        wait_for(lambda: shows_rows() and window.painted_at >= notes.began["history"])
        found: dict[str, Any] = {
            "merges": model.merge_count,
            "rows": window.painted_at - began,
            "rows_own": window.painted_own - own,
            "rows_process": time.process_time() - all_threads,
            **_gaps("rows", probe),
        }
        wait_for(lambda: not controller.opening.is_running and not state.reading.is_running)
        found["rest"] = time.perf_counter() - began
        rest(2.0)
        found.update(_gaps("all", probe))
        probe.restart()
        began = time.perf_counter()
        controller._save_to(Path(folder) / "again.wpstudio", None)
        wait_for(lambda: not controller.saving.is_running)
        found["save"] = time.perf_counter() - began
        found.update(_gaps("save", probe))
        found["is_saved"] = state.path is not None and state.path.name == "again.wpstudio"
        return found


def _gaps(name: str, probe: Any) -> dict[str, float]:
    """Return the longest gap, in milliseconds: as time passed, and as what the window's thread computed in one."""
    return {f"{name}_gap": max(probe.gaps_ms, default=0.0), f"{name}_gap_own": max(probe.own_ms, default=0.0)}


_WAYS = [(objective, floor) for floor in (0, 2, 5, 20) for objective in ("likelihood", "score", "count")]
"""Objectives and floors."""


def runs(corpus: str, size: str, count: str, folder: str) -> dict[str, Any]:
    """Train so many runs on one corpus, change from tab to tab, and save them all as a project in the folder."""
    from tests.benchmarks.window_probes import _memory, _notes
    from tests.benchmarks.window_watch import milliseconds_to, rest, studio, wait_for

    path = Path(folder) / "runs.wpstudio"
    with studio("", corpus) as (window, probe):
        session, model, all_runs = window.session, window.model, window.session.runs
        wait_for(lambda: session.counting.counts is not None)
        memory = []

        def is_trained(wanted: int) -> bool:
            return len(all_runs.all) == wanted and not model.is_busy

        for objective, floor in _WAYS[: int(count)]:
            session.settings.set_values(objective=objective, min_frequency=floor)
            session.settings.set_target_size(int(size))
            before = len(all_runs.all)
            window.actions_.train.trigger()
            wait_for(partial(is_trained, before + 1))
            rest(1.5)
            gc.collect()
            memory.append(_memory())
        notes, changes = _notes(window), []
        panes = (window.history_pane, window.scoreboard_pane, window.tokenization_pane, window.timeline_pane)

        def is_shown(began: float) -> bool:
            painted = all(notes.began[name] > began for name in ("history", "formula", "chips", "plot"))
            return painted and all(pane.is_current for pane in panes)

        probe.restart()
        for run in 2 * all_runs.all:
            changes.append(milliseconds_to(window, partial(all_runs.show, run), is_shown))
            rest(1.0)
        found = {"merges": [len(run.history) for run in all_runs.all], "memory": memory, **_gaps("tab", probe)}
        probe.restart()
        began, own = time.perf_counter(), time.process_time()
        window.project_controller._save_to(path, None)
        wait_for(lambda: not window.project_controller.saving.is_running)
        found |= {"save": time.perf_counter() - began, "save_own": time.process_time() - own, **_gaps("save", probe)}
        rest(1.0)
        gc.collect()
        found |= {"tabs": changes, "tabs_own": [each.own for each in changes], "memory_saved": _memory()}
        return found | {"bytes": path.stat().st_size}


def main() -> None:
    """Measure once."""
    print(json.dumps(opened_and_saved(*sys.argv[1:])))  # noqa: T201 - the answer to the parent


if __name__ == "__main__":
    main()
