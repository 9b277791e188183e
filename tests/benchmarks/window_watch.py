"""A window whose paintings can be waited for, and the waiting: for `window_probes`."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QEvent, QEventLoop, QObject
from PySide6.QtWidgets import QApplication, QWidget

from tests.benchmarks.event_loop import GapProbe
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.studio import GarbageCollector, give_turns
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_SECONDS = 120
_SETTLED_SECONDS = 0.4


class WatchedWindow(MainWindow):
    """The real window, which notes when it has painted what was asked for."""

    painted_at = 0.0
    painted_own = 0.0  # the processor time of this thread until then

    def event(self, event: QEvent) -> bool:
        is_done = super().event(event)
        if event.type() == QEvent.Type.UpdateRequest:  # all widgets that ask for it are painted in this one event
            self.painted_at, self.painted_own = time.perf_counter(), time.thread_time()
        return is_done


class PaintNotes(QObject):
    """Notes when each of some widgets, or anything inside it, was last painted; the inner ones are named first."""

    def __init__(self, **widgets: QWidget) -> None:
        super().__init__()
        self.began = dict.fromkeys(widgets, 0.0)
        self._names: dict[int, str] = {}
        for name, widget in widgets.items():
            for each in (widget, *widget.findChildren(QWidget)):
                self._names.setdefault(shiboken6.getCppPointer(each)[0], name)
                each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and (name := self._names.get(shiboken6.getCppPointer(watched)[0])):
            self.began[name] = time.perf_counter()
        return False


@contextmanager
def studio(layout: str = "", *paths: str) -> Iterator[tuple[WatchedWindow, GapProbe]]:
    """Open the window as the program does, on files or the trained sample, in a layout, and load the kernels."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    give_turns()
    garbage = GarbageCollector(application)
    garbage.start()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder  # nothing that another window left is asked about
        theme = Theme("light")
        theme.apply_to(application)
        window = WatchedWindow(SettingsStore(Path(folder)), theme)
        window.open_first(paths)
        window.resize(1440, 900)
        window.show()
        probe = GapProbe()  # its ticks also end the waiting for events
        wait_for(lambda: bool(paths) or window.model.state is TrainerState.FINISHED)
        window.session.warm_up.ask()
        wait_for(lambda: window.session.warm_up.answer is not None)
        if layout:
            window.actions_.choice("choose_layout", layout).trigger()
        rest(_SETTLED_SECONDS)
        yield window, probe
        window.leave_at_once()
        probe.deleteLater()
        window.take_down()


def wait_for(condition: Callable[[], bool]) -> None:
    """Run the event loop, as the program runs it, until something holds; some timer must tick."""
    end = time.perf_counter() + _PATIENCE_SECONDS
    while not condition():
        if time.perf_counter() > end:
            raise SystemExit(f"nothing happened within {_PATIENCE_SECONDS} s")
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)


def rest(seconds: float) -> None:
    """Let the window run for a while."""
    end = time.perf_counter() + seconds
    wait_for(lambda: time.perf_counter() >= end)


class Milliseconds(float):
    """A time that passed, with what of it this thread computed; the rest other threads and programs had."""

    own: float = 0.0


def milliseconds_to(window: WatchedWindow, act: Callable[[], object], is_done: Callable[[float], bool]) -> Milliseconds:
    """Return the time from an act to the end of the painting after which `is_done` (given when it began) holds."""
    began, own = time.perf_counter(), time.thread_time()
    act()
    wait_for(lambda: window.painted_at > began and is_done(began))
    found = Milliseconds((window.painted_at - began) * 1000)
    found.own = (window.painted_own - own) * 1000
    return found
