"""The candidates of a step while the training goes on: found beside it, from the history alone.

The engine that learns is never moved for it: another one is begun at the step asked for, in a thread of its own, and
let go with the answer (:mod:`~wordpiece_studio.training.candidates`). Where there is not enough memory for a second
one, no candidates are available.
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
    """See `candidates_at`; None is also the answer where there is not enough memory."""

_MARGIN = 2
"""So many times the memory it takes must be free: the training takes more and more."""


@dataclass(frozen=True, slots=True)
class _Wish:
    history: MergeHistory
    step: int
    limit: int


class CandidatesBeside(QObject):
    """Finds candidates, one wish at a time: the latest wins.

    Signals
    -------
    found(Candidates)
        The answer to the latest wish, even if it is that none are available; none after `drop`.
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
        """Find the best `limit` pairs after `step` merges."""
        self._step = step
        self._job.begin(_Wish(history, step, limit))

    def drop(self) -> None:
        """Have no one wait for candidates any more."""
        self._job.stop()

    def close(self) -> None:
        """End the thread and wait for it."""
        self._job.close()

    def _find(self, wish: _Wish, stop: threading.Event, _report: Report) -> Candidates:
        """Do the work; in the thread."""
        found = self._finder(wish.history, wish.step, wish.limit, stop.is_set)
        return Candidates(wish.step, tuple(found or ()), available=found is not None)

    def _on_job_failed(self, _error: StudioError) -> None:
        self.found.emit(Candidates(self._step, (), available=False))


def find_where_there_is_room(
    history: MergeHistory, step: int, limit: int, should_stop: Callable[[], bool]
) -> list[Candidate] | None:
    """Return the candidates, or None if there is not enough memory. Imported here: the window opens first."""
    from wordpiece_studio.training.candidates import candidates_at, candidates_memory

    free = available_memory()
    if free is not None and _MARGIN * candidates_memory(history) > free:
        return None
    return candidates_at(history, step, limit, should_stop)
