"""Puts rows of the merge history on the clipboard: few at once, many from a thread beside the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.storage.merge_table import NotWanted
from wordpiece_studio.ui.panes.history.history_tsv import history_tsv
from wordpiece_studio.ui.widgets.exact_text import copy_text

if TYPE_CHECKING:
    import threading

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_AT_ONCE = 256
"""Rows; some milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    history: MergeHistory
    steps: NDArray[np.int64]


class HistoryCopying(QObject):
    """Copies the rows asked for last.

    Signals
    -------
    copied(int)
        So many rows are on the clipboard now.
    """

    copied = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(_work, self.tr("The copying"), self)
        self._job.finished.connect(self._on_job_finished)

    @property
    def is_running(self) -> bool:
        """Whether rows are on their way to the clipboard."""
        return self._job.is_running

    def copy(self, history: MergeHistory, steps: NDArray[np.int64]) -> None:
        """Copy the merges of these steps, from 1, in this order: int64, shape (n_rows,)."""
        if len(steps) > _AT_ONCE:
            self._job.begin(_Rows(history, steps))
        else:
            self._job.stop()
            self._on_job_finished((history_tsv(history, steps), len(steps)))

    def close(self) -> None:
        """Give up, and wait for the thread to end."""
        self._job.close()

    def _on_job_finished(self, copied: tuple[str, int]) -> None:
        text, rows = copied
        copy_text(text)
        self.copied.emit(rows)


def _work(order: Any, stop: threading.Event, _report: Report) -> tuple[str, int] | None:
    try:
        return history_tsv(order.history, order.steps, stop.is_set), len(order.steps)
    except NotWanted:
        return None
