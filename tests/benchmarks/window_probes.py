"""What `window` measures inside a process: ``python -m tests.benchmarks.window_probes NAME ARGUMENTS`` prints JSON.

Each is a fresh process with the real window. Times are milliseconds unless the key says otherwise.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.window_project import runs

if TYPE_CHECKING:
    from tests.benchmarks.window_watch import PaintNotes, WatchedWindow

_KEYS = 25  # at each of the three places
_MOVES, _JUMPS = 150, 60
_WATCHED_BYTES = 10_000
_HEAVY = ("numba", "llvmlite", "pyqtgraph", "pyarrow")


def start(started: str) -> dict[str, Any]:
    """Open the program as its command does; tell the seconds since `started`, a ``time.time()`` of the parent."""
    from PySide6.QtCore import QEvent

    from wordpiece_studio import cli
    from wordpiece_studio.ui import studio

    found: dict[str, Any] = {}

    class StartedWindow(studio.MainWindow):
        def event(self, event: QEvent) -> bool:
            is_done = super().event(event)
            if event.type() == QEvent.Type.UpdateRequest and not found and self.model.merge_count:
                panes = (self.history_pane, self.scoreboard_pane, self.tokenization_pane, self.timeline_pane)
                if not any(pane.is_stale for pane in panes):
                    found["seconds"] = time.time() - float(started)
                    found["own_seconds"] = time.process_time()
                    found["merges"] = self.model.merge_count
                    found["imported"] = sorted(set(_HEAVY) & set(sys.modules))
                    self.leave_at_once()
            return is_done

    studio.MainWindow = StartedWindow  # type: ignore[misc]
    cli.run([])
    return found


def training(corpus: str, size: str, layout: str) -> dict[str, Any]:
    """Train with all panes of a layout shown; then, in the same process, look back at any step, and type."""
    from tests.benchmarks.window_watch import rest, studio, wait_for
    from wordpiece_studio.session.training_job import TrainerState

    with studio(layout, corpus) as (window, probe):
        wait_for(lambda: window.session.counting.counts is not None)
        window.session.settings.set_values(objective="score", min_frequency=0)  # as in the figures of earlier versions
        window.session.settings.set_target_size(int(size))
        rest(1.0)
        probe.restart()
        started = time.perf_counter()
        window.actions_.train.trigger()
        wait_for(lambda: window.model.state is TrainerState.FINISHED)
        seconds = time.perf_counter() - started
        rest(0.5)  # the last repaints belong to it
        gaps = sorted(probe.gaps_ms)
        found = {
            "seconds": seconds,
            "merges": window.model.merge_count,
            "gaps_p50": gaps[len(gaps) // 2],
            "gaps_p99": gaps[len(gaps) * 99 // 100],
            "gaps_longest": gaps[-1],
            "shown": [pane.title for pane in _panes(window)],
        }
        rest(2.0)
        found.update(_memory())
        if layout != "engineer":
            text = Path(corpus).read_bytes()[:_WATCHED_BYTES].decode("utf-8", "ignore")
            found["moves"] = _dragging(window, probe)
            found["jumps"] = _jumping(window, probe)
            found["keys"] = _typing(window, text)
        return found


def typing(size: str) -> dict[str, Any]:
    """Type into 10 KB of live text after the training of the sample."""
    from tests.benchmarks.live import LANGUAGES, corpus
    from tests.benchmarks.window_watch import studio

    del size
    with studio() as (window, _):
        return {"keys": _typing(window, corpus(LANGUAGES[0], _WATCHED_BYTES // 1000))}


def million(rows: str) -> dict[str, Any]:
    """Sort, filter and scroll a history of so many made-up rows."""
    from tests.benchmarks.million import million_history, show_history
    from tests.benchmarks.window_watch import rest, studio

    history = million_history(int(rows))
    with studio() as (window, _):
        show_history(window.model, history)
        rest(2.0)
        return {"sort": _sorting(window), "filter": _filtering(window), "scroll": _scrolling(window)}


# ---- parts -----------------------------------------------------------------------------------------------------------


def _panes(window: WatchedWindow) -> list[Any]:
    from wordpiece_studio.ui.widgets.pane import Pane

    return [pane for pane in window.findChildren(Pane) if pane.isVisible()]


def _memory() -> dict[str, float]:
    """Return the memory of this process in megabytes, where the system tells: resident, its share, and its most."""
    found: dict[str, float] = {}
    for path, names in (("smaps_rollup", {"Rss": "rss", "Pss": "pss"}), ("status", {"VmHWM": "peak"})):
        file = Path("/proc/self") / path
        for line in file.read_text().splitlines() if file.is_file() else ():
            name, _, rest = line.partition(":")
            if name in names:
                found[f"{names[name]}_mb"] = int(rest.split()[0]) * 1024 / 1e6
    return found


def _typing(window: WatchedWindow, text: str) -> list[float]:
    """Type single keys at the beginning, in the middle and at the end; return the time of each to its chips."""
    from PySide6.QtCore import QEvent, Qt
    from PySide6.QtGui import QKeyEvent
    from PySide6.QtWidgets import QApplication

    from tests.benchmarks.window_watch import PaintNotes, milliseconds_to, rest

    pane = window.tokenization_pane
    edit = pane.edit
    edit.set_text(text)
    rest(1.0)
    notes = PaintNotes(chips=pane.chips)
    letters = itertools.cycle("the tokens of this text ")
    found = []
    for place in (0, len(text) // 2, len(text)):
        cursor = edit.textCursor()
        cursor.setPosition(min(place, edit.document().characterCount() - 1))
        edit.setTextCursor(cursor)
        rest(0.5)
        for letter in itertools.islice(letters, _KEYS):
            key = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier, letter)

            def is_followed(began: float, place: int = place) -> bool:
                """Return whether all is shown; chips at the end of a long text are out of view, and not painted."""
                is_there = not pane.is_stale and pane.live.text == edit.text
                return is_there and (place > 0 or notes.began["chips"] > began)

            found.append(milliseconds_to(window, lambda key=key: QApplication.sendEvent(edit, key), is_followed))
            rest(0.1)
    return found


def _notes(window: WatchedWindow) -> PaintNotes:
    from tests.benchmarks.window_watch import PaintNotes

    scoreboard, text = window.scoreboard_pane, window.tokenization_pane
    return PaintNotes(
        history=window.history_pane.view,
        formula=scoreboard.formula,
        chips=text.chips,
        changes=text.changes_view,
        plot=window.timeline_pane.plot,
        candidates=scoreboard,
    )


def _is_followed(window: WatchedWindow, notes: PaintNotes, began: float, *, is_dragged: bool = False) -> bool:
    """Tell whether history, formula, chips and changes show the step and were painted since `began`.

    Chips and changes that are the same at both steps are not painted again; they must have been made for it. The
    formula follows a step that is dragged ten times a second: some frames have it, others not.
    """
    panes = [window.history_pane, window.tokenization_pane, window.timeline_pane]
    panes += [] if is_dragged else [window.scoreboard_pane]
    if any(pane.is_stale for pane in panes):
        return False
    return all(notes.began[name] >= began for name in ("history", "plot", *([] if is_dragged else ["formula"])))


def _dragging(window: WatchedWindow, probe: Any) -> dict[str, Any]:
    """Drag the slider all over the run as a hand does, sixty times a second."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    from tests.benchmarks.window_watch import milliseconds_to, rest

    plot, notes, chance = window.timeline_pane.plot, _notes(window), random.Random(3)
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton

    def send(kind: QEvent.Type, step: int, button: Qt.MouseButton) -> None:
        at = QPointF(plot.x_of(step), plot.height() / 2)
        QApplication.sendEvent(plot, QMouseEvent(kind, at, plot.mapToGlobal(at), button, left, plot_modifiers))

    plot_modifiers = Qt.KeyboardModifier.NoModifier
    send(QEvent.Type.MouseButtonPress, plot.maximum() // 2, left)
    rest(1.0)
    probe.restart()
    times = []
    for _ in range(_MOVES):
        step = chance.randrange(plot.maximum())
        times.append(
            milliseconds_to(
                window,
                lambda step=step: send(QEvent.Type.MouseMove, step, none),
                lambda began: _is_followed(window, notes, began, is_dragged=True),
            )
        )
        rest(max(0.0, 0.016 - times[-1] / 1000))
    send(QEvent.Type.MouseButtonRelease, plot.value(), left)
    return {"times": times, "own": [time.own for time in times], "gaps": sorted(probe.gaps_ms)}


def _jumping(window: WatchedWindow, probe: Any) -> dict[str, Any]:
    """Jump to steps anywhere, and wait each time for the panes, and then for candidates and touched words."""
    from tests.benchmarks.window_watch import milliseconds_to, rest
    from wordpiece_studio.session.task import Task

    notes, chance, model = _notes(window), random.Random(5), window.model
    scoreboard = window.scoreboard_pane
    jobs = scoreboard.findChildren(Task)  # they look for the words
    rest(1.0)
    probe.restart()
    at_once, with_candidates = [], []

    def has_candidates(began: float) -> bool:
        candidates = scoreboard.candidates
        is_known = candidates is not None and candidates.available and candidates.step == scoreboard.shown_step - 1
        return is_known and not any(job.is_running for job in jobs) and notes.began["candidates"] >= began

    for _ in range(_JUMPS):
        step = chance.randrange(1, model.merge_count)
        began = time.perf_counter()
        at_once.append(
            milliseconds_to(
                window, lambda step=step: model.seek(step), lambda began: _is_followed(window, notes, began)
            )
        )
        milliseconds_to(window, scoreboard.update, has_candidates)
        with_candidates.append((window.painted_at - began) * 1000)
        rest(0.1)
    own = [time.own for time in at_once]
    return {"times": at_once, "own": own, "candidates": with_candidates, "gaps": sorted(probe.gaps_ms)}


def _sorting(window: WatchedWindow) -> dict[str, list[float]]:
    """Sort by every column, both ways, by its title."""
    from PySide6.QtCore import Qt

    pane = window.history_pane
    header = pane.view.horizontalHeader()
    found: dict[str, list[float]] = {}
    for column in range(pane.rows.columnCount()):
        name = str(pane.rows.headerData(column, Qt.Orientation.Horizontal))
        orders = (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder)
        found[name] = [
            _until_shown(window, lambda c=column, o=order: header.setSortIndicator(c, o)) for order in orders
        ]
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    return found


def _filtering(window: WatchedWindow) -> dict[str, list[float]]:
    """Filter by texts, by an expression and by ties, and show all again."""
    pane = window.history_pane
    pane.open_filter()
    row = pane.filter_row
    found: dict[str, list[float]] = {}
    again = []
    for text, is_pattern in (("abc", False), ("##a", False), ("zzz", False), ("^abc", True), ("a(b|c)+e$", True)):
        row.is_pattern.setChecked(is_pattern)
        name = f"/{text}/" if is_pattern else text
        found[name] = [_until_shown(window, lambda text=text: row._text.setText(text))]
        again.append(_until_shown(window, row._text.clear))
    for name, toggle in (("only ties", row.only_ties), ("only changes", row.only_live)):
        found[name] = [_until_shown(window, lambda toggle=toggle: toggle.setChecked(True))]
        again.append(_until_shown(window, lambda toggle=toggle: toggle.setChecked(False)))
    return {**found, "all again": again}


def _scrolling(window: WatchedWindow) -> dict[str, list[float]]:
    """Scroll to places anywhere in the table."""
    bar, chance = window.history_pane.view.verticalScrollBar(), random.Random(7)
    places = [chance.randrange(bar.maximum()) for _ in range(50)]
    return {"to any place": [_until_shown(window, lambda place=place: bar.setValue(place)) for place in places]}


def _until_shown(window: WatchedWindow, act: Any) -> float:
    """Return the time from an act to the table painted with what it asks for."""
    from tests.benchmarks.window_watch import PaintNotes, milliseconds_to, rest

    pane = window.history_pane
    notes = PaintNotes(history=pane)

    def is_ready() -> bool:
        return not (pane.is_stale or pane.rows.task.is_running)

    found = milliseconds_to(window, act, lambda began: is_ready() and notes.began["history"] >= began)
    rest(0.1)
    return found


PROBES: dict[str, Any] = {probe.__name__: probe for probe in (start, training, typing, million, runs)}


def main() -> None:
    """Run the probe that is asked for."""
    name, *arguments = sys.argv[1:]
    print(json.dumps(PROBES[name](*arguments)))  # noqa: T201 - the answer to the parent


if __name__ == "__main__":
    main()
