"""Prepares the compiled kernels while the window is already open.

On the first start on a machine they must be compiled, which takes long and would stall the window from a thread, so
child processes compile them into the cache. Then, and whenever the cache is warm, a thread of this process loads them.
Until then, small corpora are trained without them.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.kernel_child import compile_kernels

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts

_log = logging.getLogger(__name__)

_TRIAL_WORDS, _TRIAL_MERGES = 4000, 2000
_TRIAL_SECONDS = 0.006  # the trial's time where the figures of `forecast` were measured
_TRIALS = 3
_SLOWEST = 50.0


class KernelWarmup(QObject):
    """Loads the kernels once.

    Signals
    -------
    ready(float)
        The kernels are loaded; the seconds it took.
    failed(StudioError)
        The kernels are unavailable; large corpora cannot be trained.
    status_changed(str)
        "idle", "compiling", "loading", "ready" or "failed".
    """

    ready = Signal(object)
    failed = Signal(object)
    status_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._status = "idle"
        self._thread: _WarmupThread | None = None
        self.pace = 1.0
        """How many times longer training takes here than where the forecast was calibrated."""

    @property
    def status(self) -> str:
        """The current status, as in `status_changed`."""
        return self._status

    def start(self) -> None:
        """Start; call it after the first paint."""
        if self._thread is not None:
            return
        self._thread = _WarmupThread()
        self._thread.stage_reached.connect(self._on_thread_stage_reached)
        self._thread.ended.connect(self._on_thread_ended)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)
        self._thread.start(QThread.Priority.LowPriority)

    def close(self) -> None:
        """Stop, and wait for what cannot be interrupted."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop.set()
            thread.wait()

    def _on_thread_stage_reached(self, stage: str) -> None:
        self._set_status(stage)

    def _on_thread_ended(self, outcome: float | StudioError | None) -> None:
        if isinstance(outcome, StudioError):
            self._set_status("failed")
            self.failed.emit(outcome)
        elif outcome is not None:
            self.pace = self._thread.pace if self._thread is not None else 1.0
            self._set_status("ready")
            self.ready.emit(outcome)

    def _set_status(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self.status_changed.emit(status)


class _WarmupThread(QThread):
    """Does the work; the object itself lives in the window's thread, so its signals arrive there."""

    stage_reached = Signal(object)
    ended = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("warm-up")
        self.stop = threading.Event()
        self.pace = 1.0

    def run(self) -> None:
        """Compile in children if need be, then load; Qt calls this in the thread."""
        try:
            self.ended.emit(self._warm_up())
        except StudioError as error:
            self.ended.emit(error)
        except Exception as error:
            _log.exception("The compiled kernels cannot be loaded")
            self.ended.emit(
                StudioError(
                    "The fast engine cannot be loaded: {kind}: {message}",
                    "Small corpora can be trained without it; the log has the details.",
                    kind=type(error).__name__,
                    message=error,
                )
            )

    def _warm_up(self) -> float | None:
        """Return the seconds it took; None if stopped."""
        from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, kernels_are_cached, load_kernels

        began = time.perf_counter()
        if not kernels_are_cached():
            self.stage_reached.emit("compiling")
            compile_kernels(self.stop)
        if self.stop.is_set():
            return None
        self.stage_reached.emit("loading")
        for package in KERNEL_PACKAGES:
            if self.stop.is_set():
                return None
            load_kernels(package)
        seconds = time.perf_counter() - began
        if self.stop.is_set():
            return None
        self.pace = measured_pace()
        return seconds


def measured_pace() -> float:
    """Run a short fixed training and return how many times longer it took here than where the forecast was calibrated.

    Takes a tenth of a second, and loads the kernels if they are not.
    """
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import Trainer

    counts = _trial_counts()
    config = TrainingConfig(objective="score", max_merges=_TRIAL_MERGES)
    fastest = float("inf")
    for _ in range(_TRIALS):
        began = time.perf_counter()
        Trainer(counts, config, engine="compiled").run()
        fastest = min(fastest, time.perf_counter() - began)
    return min(fastest / _TRIAL_SECONDS, _SLOWEST)


def _trial_counts() -> WordCounts:
    from wordpiece_studio.corpus.counts import WordCounts

    rng = random.Random(2012)
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    words = ("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(_TRIAL_WORDS))
    return WordCounts.from_pairs((word, 1 + int(1000 / (rank + 1))) for rank, word in enumerate(words))
