"""A large corpus in the window: ``python -m tests.benchmarks.big_corpus [--file FILE] [--files 2000]``.

Drives the real window, without a screen unless there is one, on one large generated file and on a folder of many files
of every kind: opens, counts, holds, goes on, gives up, counts to the end. Prints the gaps of the event loop, how long
pause and stop took to be seen and to be obeyed by every process, whether the progress only grew and reached its end,
and the memory of the window and of the processes that count. Processes are looked at in /proc.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.corpus import write_corpus
from tests.benchmarks.mixed_folder import write_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.ui.main_window import MainWindow

_SAMPLE_SECONDS = 0.02
_STILL_SECONDS = 0.6
_HERE = os.getpid()


@dataclass
class Figures:
    """What was measured of one corpus; milliseconds, seconds and megabytes."""

    name: str
    files: int = 0
    megabytes: float = 0.0
    listing_seconds: float = 0.0
    counting_seconds: float = 0.0
    distinct_words: int = 0
    gaps_ms: list[float] = field(default_factory=list)
    own_ms: list[float] = field(default_factory=list)
    pause_seen_ms: float = 0.0
    pause_obeyed_ms: float = 0.0
    stop_seen_ms: float = 0.0
    stop_obeyed_ms: float = 0.0
    keep_seen_ms: float = 0.0
    keep_ms: float = 0.0
    kept: str = ""
    is_monotonic: bool = True
    reached_total: bool = False
    window_memory_mb: float = 0.0
    children_memory_mb: float = 0.0
    children: int = 0


def descendants(parent: int = _HERE) -> list[int]:
    """Return the processes below one."""
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            found += [int(pid) for pid in task.read_text().split()]
        except OSError:
            continue
    return found + [pid for child in found for pid in descendants(child)]


def cpu_ticks(pids: list[int]) -> int:
    """Return the processor time that processes took so far, in hundredths of a second."""
    return sum(sum(map(int, fields[11:13])) for pid in pids if len(fields := _stat(pid)) > 13)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def memory_mb(pid: int) -> float:
    """Return what a process holds that is its own, in megabytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("RssAnon")), 0.0)


class Watch:
    """Runs the event loop of a window and notes what its processes take."""

    def __init__(self, window: MainWindow, figures: Figures) -> None:
        from tests.benchmarks.event_loop import GapProbe

        self.window = window
        self.figures = figures
        self.probe = GapProbe()
        self.progress: list[CountingProgress] = []
        self._next_sample = 0.0
        window.session.counting.task.progressed.connect(self._on_progress)

    def until(self, condition: object) -> float:
        """Run until something holds; return the milliseconds that it took."""
        from tests.event_loop import wait

        began = time.perf_counter()
        wait(condition, self._sample)  # type: ignore[arg-type]
        return 1000 * (time.perf_counter() - began)

    def run(self, seconds: float) -> None:
        """Run for some time."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def until_still(self) -> float:
        """Run until the processes below take no processor time; return the milliseconds until they took the last."""
        began = last = time.perf_counter()
        pids = descendants()
        ticks = cpu_ticks(pids)
        while time.perf_counter() - last < _STILL_SECONDS and time.perf_counter() - began < 10:
            self.run(_SAMPLE_SECONDS)
            now = cpu_ticks(pids)
            if now != ticks:
                ticks, last = now, time.perf_counter()
        return 1000 * (last - began)

    def check_progress(self) -> None:
        """Take down whether the progress since the last call only grew, and whether it reached its end."""
        done = [(each.bytes_done, each.files_done, each.words) for each in self.progress]
        self.figures.is_monotonic &= all(
            all(one <= other for one, other in zip(before, after, strict=True)) for before, after in pairwise(done)
        )
        last = self.progress[-1] if self.progress else None
        self.figures.reached_total = last is not None and last.bytes_done == last.bytes_total
        self.progress.clear()

    def _on_progress(self, progress: CountingProgress) -> None:
        self.progress.append(progress)

    def _sample(self) -> None:
        if self.window.session.counting.error is not None:
            raise SystemExit(str(self.window.session.counting.error))
        now = time.monotonic()
        if now >= self._next_sample:
            self._next_sample = now + 10 * _SAMPLE_SECONDS
            children = descendants()
            figures = self.figures
            figures.window_memory_mb = max(figures.window_memory_mb, memory_mb(_HERE))
            figures.children_memory_mb = max(figures.children_memory_mb, sum(map(memory_mb, children)))
            figures.children = max(figures.children, len(children))


def measure(path: Path, name: str) -> Figures:
    """Open a file or a folder in a window of its own and measure."""
    figures = Figures(name)
    for window in _window():
        watch = Watch(window, figures)
        _count_with_interruptions(watch, path)
        figures.gaps_ms, figures.own_ms = sorted(watch.probe.gaps_ms), sorted(watch.probe.own_ms)
    return figures


def _window() -> Iterator[MainWindow]:
    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.main_window import MainWindow
    from wordpiece_studio.ui.widgets.theme import Theme

    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(SettingsStore(Path(folder)), Theme("light"))
        window.resize(1440, 900)
        window.show()
        yield window
        window.leave_at_once()
        window.take_down()


def _count_with_interruptions(watch: Watch, path: Path) -> None:
    window, figures = watch.window, watch.figures
    bar, counting = window.corpus_pane.counting_bar, window.session.counting
    watch.run(0.3)
    watch.probe.restart()
    window.corpus_controller.open_paths([path])
    figures.listing_seconds = watch.until(lambda: counting.is_running) / 1000
    figures.files = len(window.session.document.files.rows)
    figures.megabytes = window.session.document.files.size / 1e6

    def part(share: float) -> bool:
        return bool(watch.progress) and watch.progress[-1].bytes_done >= share * watch.progress[-1].bytes_total

    watch.until(lambda: part(0.1))
    bar.pause_button.click()
    figures.pause_seen_ms = watch.until(lambda: bar.text.startswith("Paused"))
    figures.pause_obeyed_ms = watch.until_still()
    bar.pause_button.click()
    watch.until(lambda: part(0.2))
    bar.keep_button.click()
    figures.keep_seen_ms = watch.until(lambda: "Finishing the count" in bar.text)
    figures.keep_ms = watch.until(lambda: counting.counts is not None)
    figures.kept = window.corpus_pane.hints[0]
    watch.check_progress()
    counting.count_again()
    watch.until(lambda: part(0.3))
    bar.stop_button.click()
    figures.stop_seen_ms = watch.until(lambda: "stopped" in bar.text)
    figures.stop_obeyed_ms = figures.stop_seen_ms + watch.until(lambda: not _counting_processes())
    watch.check_progress()
    bar.again_button.click()
    figures.counting_seconds = watch.until(lambda: counting.counts is not None) / 1000
    watch.run(1.0)  # what comes after the counts belongs to it
    watch.check_progress()
    figures.distinct_words = len(counting.counts) if counting.counts is not None else 0


def _counting_processes() -> list[int]:
    """Return the processes below that take processor time; the one of the preview only waits."""
    pids = descendants()
    before = {pid: cpu_ticks([pid]) for pid in pids}
    time.sleep(0.03)
    return [pid for pid in pids if cpu_ticks([pid]) > before[pid]]


def print_table(all_figures: list[Figures]) -> None:
    """Print what was measured, a column a corpus."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="A large corpus in the window")
    table.add_column("")
    for figures in all_figures:
        table.add_column(figures.name, justify="right")
    for caption, words in _ROWS:
        table.add_row(caption, *(words(figures) for figures in all_figures))
    Console().print(table)


_ROWS = (
    ("files, MB", lambda f: f"{f.files:,}, {f.megabytes:,.0f}"),
    ("distinct words", lambda f: f"{f.distinct_words:,}"),
    ("looking at the files, s", lambda f: f"{f.listing_seconds:.1f}"),
    ("counting, s", lambda f: f"{f.counting_seconds:.1f}"),
    ("event-loop gaps p99, ms (bar: 50)", lambda f: f"{f.gaps_ms[int(len(f.gaps_ms) * 0.99)]:.1f}"),
    ("longest gaps, ms (bar: 100)", lambda f: " ".join(f"{gap:.0f}" for gap in f.gaps_ms[-3:])),
    ("  of these, taken by the window itself", lambda f: " ".join(f"{own:.0f}" for own in f.own_ms[-3:])),
    ("pause: seen, obeyed, ms (bar: 300)", lambda f: f"{f.pause_seen_ms:.0f}, {f.pause_obeyed_ms:.0f}"),
    ("stop: seen, obeyed, ms (bar: 300)", lambda f: f"{f.stop_seen_ms:.0f}, {f.stop_obeyed_ms:.0f}"),
    ("stop and keep: seen, counts there, ms", lambda f: f"{f.keep_seen_ms:.0f}, {f.keep_ms:.0f}"),
    ("called then", lambda f: f.kept),
    ("progress only grew, reached its end", lambda f: f"{f.is_monotonic}, {f.reached_total}"),
    ("memory of the window, MB", lambda f: f"{f.window_memory_mb:.0f}"),
    ("memory of the processes below, MB", lambda f: f"{f.children_memory_mb:.0f} in {f.children}"),
)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the one file")
    parser.add_argument("--file", type=Path, help="take this file instead of a generated one")
    parser.add_argument("--files", type=int, default=2000, help="files in the folder; 0 for none")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch:
        from PySide6.QtWidgets import QApplication

        from wordpiece_studio.ui.studio import GarbageCollector

        application = QApplication([])
        garbage = GarbageCollector(application)
        garbage.start()
        file = Path(scratch) / "corpus.txt"
        if arguments.file is not None:
            file.symlink_to(arguments.file.absolute())
        elif arguments.megabytes:
            write_corpus(file, round(arguments.megabytes * 1e6))
        measured = [measure(file, "one file")] if file.exists() else []
        if arguments.files:
            write_folder(Path(scratch) / "mixed", arguments.files)
            measured.append(measure(Path(scratch) / "mixed", "mixed folder"))
        garbage.stop()
        print_table(measured)


if __name__ == "__main__":
    main()
