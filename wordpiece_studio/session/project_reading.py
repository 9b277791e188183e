"""Reading beside the window what is large in a project that was opened, before a pane asks for it in the window's turn.

The rows of the history are there at once, and are painted first; the words and the places of the merges are read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.counts_with_figures import CountsWithFigures, corpus_figures, let_go_slowly

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.storage.project.contents import Project

_DELAY_MS = 250
"""So long the window has both its own thread and the processor to show what is there, where that is much."""

_FEW = 20_000
"""Merges and words: so many are read in no time."""


@dataclass(frozen=True, slots=True)
class ReadRest:
    """What came of it: the word counts of the corpus with their figures, and why something cannot be read, if so.

    A run of which that is so keeps its rows, and is never whole.
    """

    counts: WordCounts | None
    error: StudioError | None = None


class ProjectReading(QObject):
    """Reads the rest of one project at a time, a little after it was told to.

    Signals
    -------
    rest_read(ReadRest)
        All of it that can be read is in memory.
    """

    rest_read = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(read_rest, "The reading of the project", self)
        self._job.finished.connect(self.rest_read)
        self._job.failed.connect(self._on_job_failed)
        self._project: Project | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def is_running(self) -> bool:
        """Whether something is being read, or will be."""
        return self._project is not None or self._job.is_running

    def begin(self, project: Project) -> None:
        """Read what `project` has left in its file."""
        self._job.stop()
        self._project = project
        self._timer.start(0 if _is_small(project) else _DELAY_MS)

    def stop(self) -> None:
        """Give up what is being read."""
        self._timer.stop()
        self._project = None
        self._job.stop()

    def close(self) -> None:
        """Give up what is being read and wait for the thread to end."""
        self.stop()
        self._job.close()

    def _on_job_failed(self, error: StudioError) -> None:
        self.rest_read.emit(ReadRest(None, error))  # of memory that ran out, say

    def _on_timer_timeout(self) -> None:
        project, self._project = self._project, None
        self._job.begin(project)


def _is_small(project: Project) -> bool:
    run = project.run
    return run is not None and len(run.history) <= _FEW and run.history.word_count <= _FEW


def read_rest(project: Project, stop: threading.Event, _report: Report) -> ReadRest | None:
    """Read the words and places of a project, as far as they can be read; None if it is given up."""
    run, counts = project.run, project.counts
    if counts is None and run is not None and run.is_of_corpus:
        counts = run.counts
    known, error = None, None
    try:
        known = None if counts is None else _with_figures(counts)
    except StudioError as found:
        error = found
    if stop.is_set():
        return None
    try:
        if run is not None:
            len(run.history.input.words)  # has the words and places read, and checked
    except StudioError as found:
        error = found
    return None if stop.is_set() else ReadRest(known, error)


def _with_figures(counts: WordCounts) -> CountsWithFigures:
    if isinstance(counts, CountsWithFigures):
        return counts
    words = counts.words
    known = CountsWithFigures(
        words, counts.counts, counts.normalizer, counts.pre_tokenizer, counts.statistics, counts.skipped
    )
    known.figures = corpus_figures(counts)
    let_go_slowly(known)
    return known
