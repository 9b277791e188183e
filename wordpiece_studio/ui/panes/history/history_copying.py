"""Puts rows of the merge history on the clipboard: few at once, many from a thread beside the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob, Report
from wordpiece_studio.session.pacing import Turn
from wordpiece_studio.storage.merge_table import MERGE_COLUMNS, NotWanted, merge_parts
from wordpiece_studio.ui.widgets.exact_text import copy_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_AT_ONCE = 256
"""Rows; some milliseconds."""


def history_tsv(
    history: MergeHistory, steps: NDArray[np.int64], should_stop: Callable[[], bool] = lambda: False
) -> str:
    """Return one line for each step, below a line of titles; numbers are exact and the same in every language.

    Parameters
    ----------
    steps
        Steps from 1, shape (n_rows,), in the order wanted.

    Raises
    ------
    NotWanted
        If `should_stop` says so.
    """
    lines, turn = ["\t".join(MERGE_COLUMNS)], Turn()
    for columns in merge_parts(history, steps, should_stop):
        for name in ("left", "right", "token"):
            columns[name] = [token.translate(_ESCAPES) for token in columns[name]]
        lines += ["\t".join(map(str, row)) for row in zip(*(columns[name] for name in MERGE_COLUMNS), strict=True)]
        turn.give()
    return "\n".join(lines) + "\n"


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
