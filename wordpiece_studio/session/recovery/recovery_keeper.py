"""Keeps unsaved work in the background: edits within a second, the training within half a minute.

It listens to the document and to the state of the project, and passes changes to two threads: one for text and
settings, which is quick, and one for the training, which may take long. `store` writes the files, and
`recoverable_work` reads them back.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.recovery.about import About, is_worth_keeping, to_json
from wordpiece_studio.session.recovery.journal import LIVE_TEXT, SETTINGS, VIEW
from wordpiece_studio.session.recovery.store import Order

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from wordpiece_studio.session.commands import Edit
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectContent, ProjectState
    from wordpiece_studio.session.recovery.journal import Record
    from wordpiece_studio.session.recovery.recoverable_work import Recoverable, Recovered
    from wordpiece_studio.session.recovery.store import RecoveryStore
    from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectRun
    from wordpiece_studio.training.history import MergeHistory


def changed_parts(before: Project, now: Project) -> tuple[Record, ...]:
    """Return what has changed except text and training, as records."""
    parts = []
    if now.settings != before.settings:
        parts.append((SETTINGS, to_json(now.settings)))
    if now.view.live_text != before.view.live_text:
        parts.append((LIVE_TEXT, now.view.live_text.encode("utf-8", "surrogatepass")))
    seen, seen_before = (msgspec.structs.replace(project.view, live_text="") for project in (now, before))
    if seen != seen_before:
        parts.append((VIEW, to_json(seen)))
    return tuple(parts)


def follows(before: ProjectCorpus, now: ProjectCorpus, text: str | None) -> bool:
    """Return whether only the text of the corpus has changed, and is now `text`."""
    return now.text == text and _without_text(before) == _without_text(now)


def _without_text(corpus: ProjectCorpus) -> ProjectCorpus:
    return replace(corpus, text=None, is_edited=False)


EDIT_DELAY_MS = 250
CHANGE_DELAY_MS = 1000
RETRY_MS = (5_000, 15_000, 60_000)
RUN_SECONDS = (10.0, 25.0)
"""The pause after the training was kept: ten times as long as that took, but within these limits."""
FIRST_RUN_SECONDS = 2.0
LARGEST_JOURNAL = 16_000_000
MOST_COPIED = 1_000_000_000
"""The most code points that replaying a journal may have to copy, edits times text length: about a second."""
_UNKNOWN_STAMP = (-1, -1)


@dataclass(frozen=True, slots=True)
class _RunOrder:
    number: int
    project: Project


@dataclass(frozen=True, slots=True)
class _Wipe:
    """Remove everything kept."""


class RecoveryKeeper(QObject):
    """Keeps the content of `state` in `store`, starting with the user's first change.

    Signals
    -------
    failed(StudioError)
        The work cannot be kept. Emitted once; keeping is retried.
    """

    failed = Signal(object)

    def __init__(
        self, state: ProjectState, document: Document, store: RecoveryStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._document = document
        self._store = store
        self._saved: ProjectContent | None = None  # content that is in a file of the user's, or was discarded
        self._is_kept = self._is_begun = self._needs_base = self._has_changed = self._is_reported = False
        self._is_closed = False
        self._text = ""  # after the edits recorded so far
        self._edits: list[tuple[Edit, int]] = []
        self._edit_count = self._journal_size = self._journal_edits = self._failures = 0
        self._written: Project | None = None  # the content of base and journal
        self._run_number = self._run_merges = self._run_counts = self._kept_merges = 0
        self._run_history: MergeHistory | None = None
        self._run_due = 0.0
        self._project_stamp = _UNKNOWN_STAMP
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._run_timer = QTimer(self)
        self._run_timer.setSingleShot(True)
        self._run_timer.timeout.connect(self._on_state_changed)
        self._job = BackgroundJob(self._write, "Keeping unsaved work", self)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._run_job = BackgroundJob(self._write_run, "Keeping the training", self)
        self._run_job.finished.connect(self._on_run_job_finished)
        self._run_job.failed.connect(self._on_run_job_failed)
        document.edited.connect(self._on_document_edited)
        document.reset.connect(self._on_document_reset)
        state.saved.connect(self._on_state_saved)
        state.changed.connect(self._on_state_changed)

    @property
    def is_kept(self) -> bool:
        """Whether there is work that a start after a crash would offer."""
        return self._is_kept

    @property
    def is_idle(self) -> bool:
        """Whether all changes except the training are on disk."""
        return not (self._has_changed or self._edits or self._job.is_running)

    @property
    def is_run_kept(self) -> bool:
        """Whether keeping the training is neither under way nor scheduled."""
        return not (self._run_job.is_running or self._run_timer.isActive())

    def forget(self) -> None:
        """Treat the present content as saved or unwanted: keep nothing until it changes."""
        if self._is_closed:
            return
        self._forget(content_of(self._state.capture()))

    def _forget(self, saved: ProjectContent) -> None:
        self._saved = saved
        self._edit_count = 0
        self._run_job.stop()
        self._run_history, self._run_counts, self._kept_merges = None, 0, 0
        if self._is_begun:
            self._has_changed = True
            self._on_timer_timeout()

    def adopt(self, recoverable: Recoverable, recovered: Recovered) -> None:
        """Continue in the folder that was left, now that its content is restored."""
        about = recovered.about
        self._store.adopt(recoverable.folder, recoverable.lock, recoverable.number, about.run)
        self._saved = None
        if self._state.path is not None:
            self._project_stamp = about.project_size, about.project_modified_ns
        self._is_kept = self._is_begun = self._needs_base = True
        self._edit_count = about.edits
        self._run_number = self._run_counts = about.run
        run = recovered.project.run
        self._run_history, self._run_merges = (run.history, len(run.history)) if run is not None else (None, 0)
        self._kept_merges = self._run_merges
        self._on_state_changed()

    def close(self) -> None:
        """End. Work that was not forgotten is kept, and the next start offers it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._timer.stop()
        self._run_timer.stop()
        was_busy = not self.is_idle
        self._job.close()
        self._run_job.close()
        if was_busy:
            self._keep_now()
        self._store.close(keeps=self._is_kept)

    # Signals.

    def _on_document_edited(self, edit: Edit) -> None:
        self._text = self._document.text
        self._edits.append((edit, len(self._text)))
        self._edit_count += 1
        self._schedule(EDIT_DELAY_MS)

    def _on_state_saved(self) -> None:
        if self._is_closed:
            return
        path = self._state.path
        self._project_stamp = _stamp(path)
        # What was typed during saving is not in any file yet.
        self._forget(self._state.saved_content or content_of(self._state.capture()))

    def _on_document_reset(self) -> None:
        self._needs_base = True  # the text may have been replaced

    def _on_state_changed(self) -> None:
        self._has_changed = True
        self._schedule(CHANGE_DELAY_MS)

    def _schedule(self, delay_ms: int) -> None:
        if self._is_closed:
            return
        if self._failures:
            delay_ms = RETRY_MS[min(self._failures, len(RETRY_MS)) - 1]
            if self._timer.isActive():
                return
        if not self._timer.isActive() or self._timer.remainingTime() > delay_ms:
            self._timer.start(delay_ms)

    # Writing.

    def _on_timer_timeout(self) -> None:
        if self._job.is_running:
            return  # the next one starts when it ends
        project = self._state.capture()
        self._has_changed = False
        if not self._should_keep(project):
            self._edits.clear()
            if self._is_begun:
                self._is_begun, self._written = False, None
                self._job.begin(_Wipe())
            return
        self._is_begun = True
        self._job.begin(self._order(project))
        self._consider_run(project)

    def _should_keep(self, project: Project) -> bool:
        if self._saved is not None:
            if content_of(project) == self._saved:
                return False
            self._saved = None  # and a large text with it
        return self._state.path is not None or is_worth_keeping(project)

    def _order(self, project: Project) -> Order:
        """Return what has to be written to keep `project`."""
        run, text = project.run, project.corpus.text
        path = self._state.path
        size, modified_ns = self._project_stamp if path is not None else _UNKNOWN_STAMP
        about = About(
            name=project.corpus.name or (path.stem if path is not None else ""), project_path=str(path or ""),
            project_size=size, project_modified_ns=modified_ns, time=time.time(), edits=self._edit_count,
            merges=self._kept_merges if run is not None else 0, run=self._run_counts if run is not None else 0,
            is_edited=project.corpus.is_edited,
        )  # fmt: skip
        edits, self._edits = self._edits, []
        before, self._written = self._written, project
        self._journal_edits += len(edits)
        is_long = self._journal_size > LARGEST_JOURNAL or self._journal_edits * len(text or "") > MOST_COPIED
        if (
            before is None or self._needs_base or is_long
            or not follows(before.corpus, project.corpus, self._text if edits else before.corpus.text)
        ):  # fmt: skip
            self._needs_base, self._journal_edits = False, 0
            return Order(about, base=project)
        return Order(about, edits=tuple(edits), parts=changed_parts(before, project))

    def _consider_run(self, project: Project) -> None:
        """Start keeping the training if it has changed and was not kept very recently."""
        run = project.run
        if run is None or not len(run.history) or self._run_job.is_running or self._has_run(run):
            return
        now = time.monotonic()
        if self._run_history is not run.history and self._run_due < now:
            self._run_history, self._run_merges = run.history, 0
            self._run_due = now + FIRST_RUN_SECONDS  # skips trainings that restart at every keystroke
        if now < self._run_due:
            self._run_timer.start(int(1000 * (self._run_due - now)) + 1)
            return
        self._run_history, self._run_merges = run.history, len(run.history)
        self._run_number += 1
        self._run_job.begin(_RunOrder(self._run_number, project))

    def _has_run(self, run: ProjectRun) -> bool:
        return self._run_history is run.history and self._run_merges == len(run.history)

    # In the threads.

    def _write(self, order: object, _stop: threading.Event, _report: Callable[[object], None]) -> object:
        if isinstance(order, Order):
            return self._store.write(order)
        self._store.wipe()
        return 0

    def _write_run(self, order: object, stop: threading.Event, _report: Callable[[object], None]) -> object:
        wanted = cast("_RunOrder", order)
        began = time.monotonic()
        self._store.write_run(wanted.number, wanted.project, stop.is_set)
        return wanted.number, time.monotonic() - began

    # Outcomes.

    def _on_job_finished(self, size: object) -> None:
        self._failures = 0
        self._journal_size = cast("int", size)
        self._is_kept = self._is_begun
        self._schedule_next()

    def _on_job_failed(self, error: StudioError) -> None:
        self._needs_base = self._has_changed = True
        self._failures += 1
        self._report_failure(error)
        self._schedule_next()

    def _on_run_job_finished(self, result: object) -> None:
        number, seconds = cast("tuple[int, float]", result)
        self._run_counts, self._kept_merges = number, self._run_merges
        self._run_due = time.monotonic() + max(RUN_SECONDS[0], min(10 * seconds, RUN_SECONDS[1]))
        self._on_state_changed()  # the journal must record that this run is the valid one

    def _on_run_job_failed(self, error: StudioError) -> None:
        self._run_merges = 0
        self._run_due = time.monotonic() + RUN_SECONDS[1]
        self._report_failure(error)
        self._on_state_changed()

    def _schedule_next(self) -> None:
        if self._edits:
            self._schedule(EDIT_DELAY_MS)
        elif self._has_changed:
            self._schedule(CHANGE_DELAY_MS)

    def _report_failure(self, error: StudioError) -> None:
        if not self._is_reported:
            self._is_reported = True
            self.failed.emit(error)

    def _keep_now(self) -> None:
        """Write what has not been written yet, in this thread, because the program is ending."""
        project = self._state.capture()
        self._needs_base = True  # it is unknown how far the thread got
        try:
            if self._should_keep(project):
                self._store.write(self._order(project))
                self._is_kept = True
            else:
                self._is_kept = False
        except StudioError as error:
            self._report_failure(error)


def _stamp(path: Path | None) -> tuple[int, int]:
    """Return the size of a file in bytes and the time of its last change in nanoseconds; both -1 if unknown."""
    if path is not None:
        with contextlib.suppress(OSError):
            status = path.stat()
            return status.st_size, status.st_mtime_ns
    return _UNKNOWN_STAMP
