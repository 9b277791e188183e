"""Creates the application and its parts, hands each what it needs, runs the window and takes it all down again."""

from __future__ import annotations

import gc
import logging
import signal
import sys
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from wordpiece_studio.session.settings import SettingsStore, default_folder
from wordpiece_studio.session.task import later
from wordpiece_studio.ui.dialogs.diagnostics import start_log, stop_log
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme, icon
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

_log = logging.getLogger(__name__)

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # no system has them all

_TURN_SECONDS = 0.001  # how long a thread may keep the window waiting; with 5 ms, Python's own, a key takes too long
COLLECTING_MS = 200
_FULL_COLLECTION_SECONDS = 10.0  # a full collection visits every object, so it must be rare


def open_studio(argv: Sequence[str]) -> int:
    application = QApplication([sys.argv[0] if sys.argv else "wordpiece-studio"])
    application.setApplicationName("wordpiece-studio")
    application.setApplicationDisplayName("WordPiece Studio")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("wordpiece-studio")
    application.setWindowIcon(icon("studio", QColor("black")))
    interrupts = InterruptWatch(application)  # before there are threads, which an exception would leave running
    start_log()
    give_turns()
    garbage = GarbageCollector(application)
    garbage.start()
    _log.info("WordPiece Studio %s starts", __version__)
    settings = SettingsStore(default_folder())
    theme = Theme(settings.values.theme)
    theme.apply_to(application)
    theme.set_scale(settings.values.font_scale / 100)
    window = MainWindow(settings, theme)
    window.messages.catch_faults()
    interrupts.watch(window)
    window.closed.connect(application.quit, Qt.ConnectionType.QueuedConnection)  # never shown, it is not Qt's last
    try:
        window.open_first(argv)
        window.show_soon()
        code = application.exec()
    finally:  # also if it fails: the interpreter would wait for the threads for ever
        interrupts.window = None  # it is being taken down
        window.messages.release_faults()
        window.take_down()
        garbage.stop()
        interrupts.stop()  # after the threads have ended: an impatient second Ctrl+C must not interrupt that
    code = interrupts.exit_code or code
    _log.info("WordPiece Studio ends, exit code %s", code)
    stop_log()
    return code


def give_turns() -> None:
    """Let the window run sooner while a worker thread computes in Python."""
    sys.setswitchinterval(_TURN_SECONDS)


class InterruptWatch(QObject):
    """Closes the window on Ctrl+C, a terminate signal or the end of the terminal, as soon as there is one.

    The first signal decides the exit code. One that was ignored from the start, as with nohup, stays ignored.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.exit_code = 0
        self.window: MainWindow | None = None  # which is closed, also on a signal that has already arrived
        present = [signal.Signals[name] for name in _SIGNALS if name in signal.Signals.__members__]
        self._numbers = [number for number in present if signal.getsignal(number) is not signal.SIG_IGN]
        self._old_fd = signal.set_wakeup_fd(-1)  # that of the command line, which a signal ends at once
        for number in self._numbers:
            signal.signal(number, self._note)

    def watch(self, window: MainWindow) -> None:
        self.window = window
        later(self, 0, self._leave)

    def stop(self) -> None:
        """Ignore the signals: everything is kept by now, and an exception would only disturb the interpreter's exit."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(self._old_fd)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.exit_code = self.exit_code or 128 + number
        later(self, 0, self._leave)

    def _leave(self) -> None:
        if self.exit_code and self.window is not None:
            self.window.leave_at_once()
            QCoreApplication.quit()  # it may have been closed before


class GarbageCollector(QObject):
    """Collects Python's garbage in the window's thread only, from `start` to `stop`.

    If a worker collects a cycle that holds a dialog, Qt destroys a widget outside the window's thread and the program
    crashes (seen with PySide6 6.11: segmentation fault).
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next_full = 0.0
        self._timer = QTimer(self, interval=COLLECTING_MS)
        self._timer.timeout.connect(self._collect)

    def start(self) -> None:
        gc.disable()
        self._next_full = time.monotonic() + _FULL_COLLECTION_SECONDS
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()
        gc.enable()

    def _collect(self) -> None:
        # Python's own thresholds: objects allocated, then collections of the younger generation.
        due = [count > threshold for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
        now = time.monotonic()
        if due[2] and now >= self._next_full:
            self._next_full = now + _FULL_COLLECTION_SECONDS
            gc.collect(2)
        elif due[1]:
            gc.collect(1)
        elif due[0]:
            gc.collect(0)
