"""How long the window does not answer while it trains: ``python -m tests.benchmarks.event_loop FILE [--size 8000]``.

Opens the real window on FILE, loads the kernels, trains, and measures the gaps between the ticks of a 2 ms timer: once
left alone, once with the slider dragged all over what is learned so far. The median of several runs and the worst.
With ``--by all``, or the names of some, other libraries train instead.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication
from rich.console import Console
from rich.table import Table

from tests.event_loop import wait
from wordpiece_studio.libraries.library_training import LibraryTrainer
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.controllers import project_controller
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.studio import GarbageCollector, give_turns
from wordpiece_studio.ui.widgets.theme import Theme

_TICK_MS, _DRAG_MS = 2, 30


class GapProbe(QObject):
    """Notes the time between the ticks of a timer in the window's thread."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps_ms: list[float] = []
        self.own_ms: list[float] = []  # the processor time that the window's thread took in each
        self._last, self._last_own = time.perf_counter(), time.thread_time()
        timer = QTimer(self)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(self._on_timer_timeout)
        timer.start(_TICK_MS)

    def restart(self) -> None:
        """Forget what was measured."""
        self.gaps_ms.clear()
        self.own_ms.clear()
        self._last, self._last_own = time.perf_counter(), time.thread_time()

    def _on_timer_timeout(self) -> None:
        now, own = time.perf_counter(), time.thread_time()
        self.gaps_ms.append((now - self._last) * 1000)
        self.own_ms.append((own - self._last_own) * 1000)
        self._last, self._last_own = now, own


def measure(path: Path, size: int, drags: bool = False, by: str = "") -> tuple[float, list[float], int]:
    """Train once, by a library if one is named; return its seconds, the gaps in milliseconds and how many merges."""
    with tempfile.TemporaryDirectory() as folder:
        theme = Theme("light")
        project_controller.recovery_folder = lambda: Path(folder) / "recovery"  # none of what is trained is offered
        window = MainWindow(SettingsStore(Path(folder)), theme)
        window.open_first([path])
        window.resize(1440, 900)
        window.show()
        wait(lambda: window.session.counting.counts is not None)
        window.session.warm_up.ask()
        wait(lambda: window.session.warm_up.answer is not None)
        window.session.settings.set_target_size(size)
        probe = GapProbe()
        next_drag = 0.0

        def drag() -> None:
            nonlocal next_drag
            if drags and time.monotonic() > next_drag and window.model.merge_count:
                next_drag = time.monotonic() + _DRAG_MS / 1000
                window.model.seek(int(time.monotonic() * 7919) % window.model.merge_count)

        actions = window.actions_
        train = actions.choice("train_with_library", by) if by else actions.train
        libraries, is_done = window.session.library_job, lambda: window.model.state is TrainerState.FINISHED
        probe.restart()
        started = time.perf_counter()
        train.trigger()
        wait((lambda: not libraries.is_running) if by else is_done, drag)
        seconds = time.perf_counter() - started
        settled = time.monotonic() + 0.4  # the last repaints belong to it
        wait(lambda: time.monotonic() > settled)
        merges = window.model.merge_count
        window.leave_at_once()
        window.deleteLater()
        wait(lambda: True)
        return seconds, sorted(probe.gaps_ms), merges


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", type=int, default=8000, help="tokens to train to")
    parser.add_argument("--runs", type=int, default=3)
    libraries = get_args(LibraryTrainer)
    parser.add_argument("--by", nargs="+", choices=("all", *libraries), default=[], metavar="LIBRARY")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    give_turns()
    garbage = GarbageCollector(application)
    garbage.start()
    table = Table(title=f"Event-loop gaps while {arguments.file.name} is trained to {arguments.size:,} tokens, ms")
    for column in ("", "merges", "seconds", "p50", "p99", "longest", "longest of all runs"):
        table.add_column(column, justify="right")
    cases: list[tuple[str, bool, str]] = [("left alone", False, ""), ("slider dragged", True, "")]
    if arguments.by:
        cases = [(name, False, name) for name in libraries if {name, "all"} & {*arguments.by}]
    for name, drags, by in cases:
        runs = [measure(arguments.file, arguments.size, drags, by) for _ in range(arguments.runs)]
        median = statistics.median
        table.add_row(
            name,
            f"{runs[0][2]:,}",
            f"{median(seconds for seconds, _, _ in runs):.2f}",
            *(f"{median(gaps[int(len(gaps) * part)] for _, gaps, _ in runs):.1f}" for part in (0.5, 0.99)),
            f"{median(gaps[-1] for _, gaps, _ in runs):.1f}",
            f"{max(gaps[-1] for _, gaps, _ in runs):.1f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
