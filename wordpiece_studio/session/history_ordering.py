"""Finds the rows that a table of merges is to show: at once where they are few, else in a thread beside the window."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.history_search import GivenUp

if TYPE_CHECKING:
    import threading

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.session.history_rows import HistoryRows, RowsWanted

_AT_ONCE = 40_000
"""Merges; some milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsFound:
    """What was wanted, the indices of the merges in order (int64; None: all, as they came), and what it took."""

    wanted: RowsWanted
    order: NDArray[np.int64] | None
    seconds: float = 0.0


class HistoryOrdering(QObject):
    """Answers the latest question; those before it are given up.

    Signals
    -------
    found(RowsFound)
        The answer, maybe before `ask` returns.
    failed(StudioError)
        The expression of the filter is invalid, or takes too long.
    busy_changed(bool)
        Whether an answer is being looked for.
    """

    found = Signal(object)
    failed = Signal(object)
    busy_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(_work, self.tr("The search in the merge history"), self)
        self._job.finished.connect(self.found)
        self._job.failed.connect(self.failed)
        self._job.running_changed.connect(self.busy_changed)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is being looked for."""
        return self._job.is_running

    def ask(self, rows: HistoryRows, wanted: RowsWanted) -> None:
        """Find the rows that are wanted."""
        if wanted.is_plain:
            self._job.stop()
            self.found.emit(RowsFound(wanted, None))
        elif wanted.count <= _AT_ONCE and rows.is_quick(wanted):
            self._job.stop()
            self.found.emit(_found(rows, wanted))
        else:
            self._job.begin((rows, wanted))

    def drop(self) -> None:
        """Give up what is being looked for."""
        self._job.stop()

    def close(self) -> None:
        """Give up, and wait for the thread to end."""
        self._job.close()


def _work(order: Any, stop: threading.Event, _report: Report) -> RowsFound | None:
    rows, wanted = order
    try:
        return _found(rows, wanted, stop)
    except GivenUp:
        return None


def _found(rows: HistoryRows, wanted: RowsWanted, stop: threading.Event | None = None) -> RowsFound:
    began = time.perf_counter()
    order = rows.ordered(wanted) if stop is None else rows.ordered(wanted, stop.is_set)
    return RowsFound(wanted, order, time.perf_counter() - began)
