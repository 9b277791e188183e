"""What counts as a fault, and how it is noticed: exceptions, Qt's warnings, the log, stalls, what stays behind."""

from __future__ import annotations

import ctypes
import gc
import logging
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from PySide6.QtCore import QObject, QTimer, QtMsgType, qInstallMessageHandler

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

STALL_SECONDS = 2.0
_BEAT_MS = 20
_IGNORED = ("This plugin does not support",)  # said by the offscreen platform of windows, menus and dialogs


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong: a word for its kind, the line that two faults of the same kind share, and all that is known."""

    kind: str
    line: str
    details: str = ""


class FaultWatch(QObject):
    """Hands every fault to `report`, from whichever thread it comes.

    It must be made after the window has taken the exceptions for itself, and in the window's thread.
    """

    def __init__(self, report: Callable[[Fault], None]) -> None:
        super().__init__()
        self._report = report
        self.stalls = StallWatch(self)
        self.stalls.stalled = lambda seconds, where: report(Fault("stall", f"{seconds:.1f} s", where))
        handler = _LogHandler(report)
        logging.getLogger().addHandler(handler)
        qInstallMessageHandler(self._on_qt_message)
        sys.unraisablehook = self._on_unraisable
        self.take_exceptions()

    @property
    def longest_stall(self) -> tuple[float, str]:
        """The longest stretch that the window's thread was busy, in seconds, and where it was then if known."""
        return self.stalls.longest

    def take_exceptions(self) -> None:
        """Hear of exceptions first; to be called again after a window has taken them for itself."""
        sys.excepthook = self._on_exception
        threading.excepthook = lambda found: self._on_exception(
            found.exc_type, found.exc_value or found.exc_type(), found.exc_traceback
        )

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        lines = traceback.format_exception(kind, error, trace)
        last = traceback.extract_tb(trace)[-1:] if trace is not None else []
        where = "".join(f" in {Path(each.filename).name} {each.name}" for each in last)
        self._report(Fault("exception", f"{lines[-1].strip()}{where}", "".join(lines)))

    def _on_unraisable(self, found: Any) -> None:
        self._on_exception(found.exc_type, found.exc_value, found.exc_traceback)

    def _on_qt_message(self, kind: QtMsgType, _context: object, message: str) -> None:
        if kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) or message.startswith(_IGNORED):
            return
        self._report(Fault("qt", message, "".join(traceback.format_stack())))


class _LogHandler(logging.Handler):
    def __init__(self, report: Callable[[Fault], None]) -> None:
        super().__init__(logging.WARNING)
        self._report_fault = report

    def emit(self, record: logging.LogRecord) -> None:
        self._report_fault(Fault("log", record.getMessage().splitlines()[0], self.format(record)))


class StallWatch(QObject):
    """Measures the stretches in which the window's thread does not come back to its event loop.

    What counts is its own processor time and the time that it waits for locks, the disk or Python, not the time that
    a loaded machine keeps it waiting for a processor: Linux tells that apart; elsewhere only the processor time counts.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.stalled: Callable[[float, str], None] = lambda _seconds, _where: None
        self.longest = (0.0, "")
        self._thread_id = threading.get_ident()
        self._clock = _own_clock()
        self._beat_at = time.monotonic()
        self._began = self._clock()
        self._where = ""
        self._timer = QTimer(self)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._timer.start()
        threading.Thread(target=self._look, name="stall watch", daemon=True).start()

    def _on_timer_timeout(self) -> None:
        now = self._clock()
        seconds, where = now - self._began, self._where
        self._beat_at, self._began, self._where = time.monotonic(), now, ""
        if seconds > self.longest[0]:
            self.longest = (seconds, where)
        if seconds > STALL_SECONDS:
            self.stalled(seconds, where)

    def _look(self) -> None:
        """Note now and then, from another thread, where a stretch that is long already has got to."""
        while True:
            time.sleep(0.05)
            if time.monotonic() - self._beat_at > 0.3:
                frame: FrameType | None = sys._current_frames().get(self._thread_id)
                if frame is not None and len(self._where) < 20_000:
                    stack = traceback.extract_stack(frame)[-12:]
                    self._where += "".join(traceback.format_list(stack)) + "--\n"
                time.sleep(0.2)


def _own_clock() -> Callable[[], float]:
    """Return a clock of the calling thread that stands still while it waits for a processor."""
    path = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
    if not path.exists():
        return time.thread_time

    def clock() -> float:
        waited_ns = int(path.read_text().split()[1])
        return time.monotonic() - waited_ns / 1e9

    return clock


def memory_bytes() -> int:
    """Return what the process has in memory, garbage and what the allocator keeps taken off."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_info().rss


def children() -> list[str]:
    """Return the child processes that are alive, in words."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            words = " ".join(child.cmdline())
            if child.status() != psutil.STATUS_ZOMBIE and "resource_tracker" not in words:  # which ends with us
                found.append(f"process {child.pid}: {words[:200]}")
        except psutil.Error:
            continue  # it has just ended
    return found
