"""Where the step that is shown differs from those it is compared with, found in the background while someone looks.

Every tokenizer is that of its users: longest match, by its merges, or by the library that trained it. The comparing is
`evaluation/differences.py`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.evaluation.differences import compare, divergence, overlap
from wordpiece_studio.session.background_job import BackgroundJob, Turn
from wordpiece_studio.session.timers import single_shot

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.evaluation.differences import Divergence, VocabularyOverlap, WordDifferences
    from wordpiece_studio.session.background_job import Report, Work
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import ComparedStep

_REPORT_SECONDS = 0.3
_REST_MS = 150
"""Until the step that is shown is likely to stay."""


class DifferenceSearch(QObject):
    """Answers one kind of question, the latest one; what it has answered is kept until the next answer.

    Signals
    -------
    changed()
        There is an answer or an error, or the search has got further.
    """

    changed = Signal()

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._question: tuple[Any, ...] = ()
        self._answered: tuple[tuple[Any, ...], Any] = ((), None)
        self._error: StudioError | None = None
        self._percent: int | None = None
        self._job = BackgroundJob(work, "The runs cannot be compared", self)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._job.reported.connect(self._on_job_reported)
        self._timer = single_shot(self, self._on_timer_timeout)

    @property
    def answer(self) -> Any:
        """The latest answer, perhaps to an earlier question; None if there is none."""
        return self._answered[1]

    @property
    def is_answered(self) -> bool:
        """Whether `answer` is that to the latest question."""
        return self._answered[0] == self._question

    @property
    def error(self) -> StudioError | None:
        """Why there is no answer to the latest question."""
        return self._error

    @property
    def percent(self) -> int | None:
        """How much of the work is done, as far as it is known."""
        return self._percent

    def ask(self, *question: Any, rests: bool = False) -> None:
        """Find the answer, unless this was asked last; `rests`: not before no other is asked for a while."""
        if question == self._question:
            return
        self.stop()
        self._question = question
        if question and not self.is_answered:
            self._timer.start(_REST_MS if rests else 0)

    def stop(self) -> None:
        """Ask nothing any more."""
        self._question, self._error, self._percent = (), None, None
        self._timer.stop()
        self._job.stop()

    def forget(self) -> None:
        """Ask nothing any more, and drop the answer."""
        self.stop()
        self._answered = (), None

    def close(self) -> None:
        """Ask nothing any more, and wait for the thread to end."""
        self.forget()
        self._job.close()

    def _on_timer_timeout(self) -> None:
        self._job.begin(self._question)

    def _on_job_finished(self, answer: object) -> None:
        self._answered, self._percent = (self._question, answer), None
        self.changed.emit()

    def _on_job_failed(self, error: StudioError) -> None:
        self._error, self._percent = error, None
        self.changed.emit()

    def _on_job_reported(self, percent: int) -> None:
        self._percent = percent
        self.changed.emit()


def words_apart(question: tuple[Any, ...], stop: threading.Event, report: Report) -> WordDifferences | None:
    """Return the words of the run that is shown which two steps, the first parts of the question, cut differently."""
    steps: tuple[ComparedStep, ...] = question[:2]
    counts = steps[0].run.counts
    turn, due = Turn(), time.monotonic() + _REPORT_SECONDS

    def should_stop() -> bool:
        turn.give()
        return stop.is_set()

    def note(_what: str, done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() > due:
            due = time.monotonic() + _REPORT_SECONDS
            report(100 * done // total)

    first, second = (each.run.new_tokenizer(each.step) for each in steps)
    try:
        return compare(first, second, counts, progress=note, should_stop=should_stop).differences
    except CountingStopped:
        return None


@dataclass(frozen=True, slots=True)
class Parting:
    """Where the history of another run first differs from that of the run that is shown.

    Attributes
    ----------
    shown, other
        The runs.
    divergence
        The first merge in which they differ; None if there is none, or if it is not known.
    is_known
        Whether the merges of both are known.
    """

    shown: Run
    other: Run
    divergence: Divergence | None = None
    is_known: bool = True

    @property
    def step(self) -> int | None:
        """The step at which they part; None if they do not, or if it is not known."""
        return None if self.divergence is None else self.divergence.step


def partings(question: tuple[tuple[Run, int], ...], _stop: threading.Event, _report: Report) -> tuple[Parting, ...]:
    """Return where each of the other runs parts from the first; a run comes with the number of its merges."""
    shown, *others = (run for run, _ in question)
    return tuple(_parting(shown, other) for other in others)


def _parting(shown: Run, other: Run) -> Parting:
    if not (shown.history.has_steps and other.history.has_steps):
        return Parting(shown, other, is_known=False)
    return Parting(shown, other, divergence(shown.history, other.history))


def overlaps(
    question: tuple[ComparedStep, ...], _stop: threading.Event, _report: Report
) -> tuple[VocabularyOverlap, ...]:
    """Return what the vocabulary of the first step has in common with that of each other."""
    shown, *others = (each.run.new_tokenizer(each.step) for each in question)
    return tuple(overlap(shown, other) for other in others)
