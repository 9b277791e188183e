"""The candidates of a step while training continues: found in the background, from the history alone.

The training engine is never moved: a second engine starts at the requested step, in a thread of its own, and is
discarded with the answer (:mod:`~wordpiece_studio.training.candidates`). If there is not enough memory for it, no
candidates are available.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.records import Candidates
from wordpiece_studio.system.memory import available_memory

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory

    CandidatesFinder = Callable[[MergeHistory, int, int, Callable[[], bool]], list[Candidate] | None]
    """See `candidates_at`; also returns None if there is not enough memory."""

_MARGIN = 2
"""This multiple of the memory needed must be free, since the training keeps growing."""


@dataclass(frozen=True, slots=True)
class _Request:
    history: MergeHistory
    step: int
    limit: int


class CandidatesBeside(QObject):
    """Finds candidates, one request at a time: the latest wins.

    Signals
    -------
    found(Candidates)
        The answer to the latest request, even if none are available; not emitted after `drop`.
    """

    found = Signal(object)

    def __init__(self, finder: CandidatesFinder, parent: QObject) -> None:
        super().__init__(parent)
        self._finder = finder
        self._step = 0
        self._job = BackgroundJob(self._find, "The search for candidates", self)
        self._job.finished.connect(self.found)
        self._job.failed.connect(self._on_job_failed)

    def find(self, history: MergeHistory, step: int, limit: int) -> None:
        """Request the best `limit` pairs after `step` merges."""
        self._step = step
        self._job.begin(_Request(history, step, limit))

    def drop(self) -> None:
        """Cancel the request."""
        self._job.stop()

    def close(self) -> None:
        """End the thread and wait for it."""
        self._job.close()

    def _find(self, request: _Request, stop: threading.Event, _report: Report) -> Candidates:
        """Do the work; in the thread."""
        found = self._finder(request.history, request.step, request.limit, stop.is_set)
        return Candidates(request.step, tuple(found or ()), available=found is not None)

    def _on_job_failed(self, _error: StudioError) -> None:
        self.found.emit(Candidates(self._step, (), available=False))


def find_if_memory_allows(
    history: MergeHistory, step: int, limit: int, should_stop: Callable[[], bool]
) -> list[Candidate] | None:
    """Return the candidates, or None if there is not enough memory."""
    from wordpiece_studio.training.candidates import candidates_at, candidates_memory  # late: the window opens first

    free = available_memory()
    if free is not None and _MARGIN * candidates_memory(history) > free:
        return None
    return candidates_at(history, step, limit, should_stop)
