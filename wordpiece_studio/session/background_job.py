"""Work beside the window, in a thread: one piece of work at a time, in slices and with turns for other threads.

A new order cancels the previous one. The work is passed in as a function. Longer work in pure Python belongs in a child
process that this function starts (`child_process`): in a thread it would stall the window. A slice is about one screen
frame.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal, Slot

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.timers import single_shot

_log = logging.getLogger(__name__)

_REPORT_MS = 60
"""Between two reports in the window, which may lay out much for each."""

Report = Callable[[object], None]
Work = Callable[[Any, threading.Event, Report], object]
"""Called in the thread with the order, an event that is set on cancellation, and a function that sends a report to the
window; returns the result, or None if canceled."""


@dataclass(frozen=True, slots=True)
class _Request:
    run: int
    order: object
    stop: threading.Event


@dataclass(frozen=True, slots=True)
class _Message:
    """What came of request number `run`: exactly one of the other fields is not None."""

    run: int
    report: object = None
    error: StudioError | None = None
    result: object = None


class _WaitingReports:
    """Reports on their way to the window, of which it is told once; put in by the thread, taken out by the window.

    Parameters
    ----------
    keeps_all
        Whether a report does not replace the one before it.
    """

    def __init__(self, *, keeps_all: bool) -> None:
        self._keeps_all = keeps_all
        self._lock = threading.Lock()
        self._waiting: list[_Message] = []

    def put(self, message: _Message) -> bool:
        """Add a report; return whether the window must be told, since no other is waiting."""
        with self._lock:
            is_first = not self._waiting
            if not self._keeps_all:
                self._waiting.clear()
            self._waiting.append(message)
            return is_first

    def take(self) -> list[_Message]:
        """Return what is waiting, the newest last."""
        with self._lock:
            taken, self._waiting = self._waiting, []
            return taken


class _Worker(QObject):
    """Lives in the thread; handles one request after another."""

    report_waits = Signal()
    ended = Signal(object)

    def __init__(self, work: Work, failure: str, reports: _WaitingReports) -> None:
        super().__init__()
        self._work = work
        self._failure = failure
        self._reports = reports

    @Slot(object)
    def do(self, request: _Request) -> None:
        """Do the work, unless it has been canceled meanwhile, and report the outcome."""
        if request.stop.is_set():
            return
        run = request.run

        def report(content: object) -> None:
            if self._reports.put(_Message(run, report=content)):
                self.report_waits.emit()

        try:
            result = self._work(request.order, request.stop, report)
        except Exception as error:
            self.ended.emit(_Message(run, error=as_studio_error(error, self._failure)))
        else:
            if result is not None:
                self.ended.emit(_Message(run, result=result))


class BackgroundJob(QObject):
    """Runs orders in the background.

    Parameters
    ----------
    work
        See `Work`.
    failure
        What is said if the work fails with anything but a `StudioError`, as in one: "The words cannot be counted".
    keeps_all_reports
        Whether each report is a part of the result. Otherwise they tell how far the work is, and only the newest
        arrives, however fast they come.

    Signals
    -------
    reported(object)
        What the work of the latest order reports while it runs; the last report always arrives.
    finished(object), failed(StudioError)
        How the latest order ended; neither after `stop`.
    running_changed(bool)
        The new value of `is_running`.
    """

    reported = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    running_changed = Signal(object)

    _requested = Signal(object)

    def __init__(
        self, work: Work, failure: str, parent: QObject | None = None, *, keeps_all_reports: bool = False
    ) -> None:
        super().__init__(parent)
        self._name = getattr(work, "__qualname__", type(work).__qualname__)  # for those who look for faults
        self._run = 0
        self._stop = threading.Event()
        self._is_running = False
        self._reports = _WaitingReports(keeps_all=keeps_all_reports)
        self._report_timer = single_shot(self, self._deliver_reports, 0 if keeps_all_reports else _REPORT_MS)
        self._worker = _Worker(work, failure, self._reports)
        self._thread: QThread | None = None  # started on first use
        self._is_closed = False
        self._requested.connect(self._worker.do)
        self._worker.report_waits.connect(self._on_worker_report_waits)
        self._worker.ended.connect(self._on_worker_ended)

    @property
    def is_running(self) -> bool:
        """Whether an order is being worked on."""
        return self._is_running

    def begin(self, order: object) -> None:
        """Start `order`; cancel the one under way."""
        if self._is_closed:
            return
        self._stop.set()
        self._stop = threading.Event()
        self._run += 1
        if self._thread is None:
            self._begin_thread()
        self._set_running(True)
        self._requested.emit(_Request(self._run, order, self._stop))

    def stop(self) -> None:
        """Cancel the order under way; it reports nothing more."""
        self._stop.set()
        self._run += 1
        self._set_running(False)

    def close(self) -> None:
        """Cancel the order under way and wait for the thread to end."""
        self._is_closed = True
        self._stop.set()
        self._run += 1
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.quit()
            thread.wait()

    def _begin_thread(self) -> None:
        self._thread = QThread()
        self._thread.setObjectName(self._name)
        self._worker.moveToThread(self._thread)
        self._thread.start()
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    def _on_worker_report_waits(self) -> None:
        if not self._report_timer.isActive():
            self._deliver_reports()

    def _deliver_reports(self) -> None:
        for message in self._reports.take():
            self._report_timer.start()  # until it ends, none is delivered, unless the work ends
            if message.run == self._run:  # not from a canceled order
                self.reported.emit(message.report)

    def _on_worker_ended(self, message: _Message) -> None:
        self._deliver_reports()
        if message.run != self._run:
            return  # from a canceled order
        self._set_running(False)
        if message.error is not None:
            self.failed.emit(message.error)
        else:
            self.finished.emit(message.result)

    def _set_running(self, is_running: bool) -> None:
        if is_running != self._is_running:
            self._is_running = is_running
            self.running_changed.emit(is_running)


def as_studio_error(error: Exception, failure: str) -> StudioError:
    """Return an error that says that something failed, and why; anything but a `StudioError` is also logged."""
    if isinstance(error, StudioError):
        return error
    _log.error("%s", failure, exc_info=error)
    if isinstance(error, MemoryError):
        return StudioError(failure, "There is not enough memory. Close other programs, or use a smaller corpus.")
    return StudioError(
        failure,
        "This is a bug in WordPiece Studio ({kind}: {message}); the log has the details.",
        kind=type(error).__name__,
        message=error,
    )


_TURN_SECONDS = 0.001
_PAUSE_SECONDS = 0.0001


class Turn:
    """Gives the window its turn from a thread that runs Python code.

    Otherwise each of Qt's hundred calls to a model per repaint would wait 5 ms for the interpreter lock.
    """

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def give(self) -> None:
        """Sleep briefly if a millisecond has passed since the last time; calling it often is cheap."""
        if time.perf_counter() - self._last > _TURN_SECONDS:
            time.sleep(_PAUSE_SECONDS)
            self._last = time.perf_counter()
