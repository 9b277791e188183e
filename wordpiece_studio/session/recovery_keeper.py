"""Keeps unsaved work in the background: edits within a second, the training within half a minute.

It listens to the document and to the state of the project, and passes changes to two threads: one for text and
settings, which is quick, and one for the training, which may take long. `recovery_store` writes and reads the files.
"""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.recovery_store import About
from wordpiece_studio.session.task import Task, single_shot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.commands import Edit
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectContent, ProjectState
    from wordpiece_studio.session.recovery_store import Recoverable, Recovered, RecoveryStore
    from wordpiece_studio.storage.project.contents import Project, ProjectRun
    from wordpiece_studio.training.history import MergeHistory


EDIT_DELAY_MS = 250
CHANGE_DELAY_MS = 1000
RETRY_MS = (5_000, 15_000, 60_000)
RUN_SECONDS = (10.0, 25.0)
"""The pause after the training was kept: ten times as long as that took, but within these limits."""
FIRST_RUN_SECONDS = 2.0


class RecoveryKeeper(QObject):
    """Keeps the content of `state` in `store`, starting with the user's first change.

    Attributes
    ----------
    is_kept
        Whether there is work that a start after a crash would offer.

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
        self.store = store
        self._saved: ProjectContent | None = None  # content that is in a file of the user's, or was discarded
        self.is_kept = self._is_begun = self._is_reported = self._is_closed = False
        self._wanted_ms: int | None = None  # how soon the changes are to be written; None: there are none
        self._edit_count = self._failures = 0
        self._written_runs = _written(())  # the runs that are kept, or being written
        self._latest: MergeHistory | None = None  # of the run that was considered last
        self._run_number = 0  # of their file
        self._kept_run = (0, 0)  # number and merges of the file that is kept
        self.run_due = self._run_began = 0.0
        self._timer = single_shot(self, self.keep)
        self.run_timer = single_shot(self, self._schedule)
        self.job = Task(
            store.write, "Unsaved work cannot be kept", self, on_answer=self._note_kept, on_error=self._retry
        )
        self.run_job = Task(
            store.write_run, "The unsaved run cannot be kept", self,
            on_answer=self._note_run_kept, on_error=self._retry_run,
        )  # fmt: skip
        document.edited.connect(self._on_document_edited)
        state.saved.connect(self._on_state_saved)
        state.changed.connect(self._schedule)

    @property
    def is_idle(self) -> bool:
        """Whether all changes except the training are on disk."""
        return self._wanted_ms is None and not self.job.is_running

    def forget(self, saved: ProjectContent | None = None) -> None:
        """Treat this content, or the present one, as saved or unwanted: keep nothing until it changes."""
        if self._is_closed:
            return
        self._saved = saved or content_of(self._state.capture())
        self._edit_count = 0
        self.run_job.forget()
        self._written_runs, self._latest, self._kept_run, self.run_due = _written(()), None, (0, 0), 0.0
        if self._is_begun:
            self._wanted_ms = CHANGE_DELAY_MS
            self.keep()

    def adopt(self, recoverable: Recoverable, recovered: Recovered) -> None:
        """Continue in the folder that was left, now that its content is restored."""
        about, runs = recovered.about, recovered.project.runs
        self.store.adopt(recoverable.folder, recoverable.lock, recoverable.newest("base"), about.run)
        self._saved = None
        if self._state.path is not None:
            self._state.stamp = about.stamp
        self.is_kept = self._is_begun = True
        self._edit_count = about.edits
        self._run_number = about.run
        if runs and about.run:
            self._written_runs = _written(runs)
            self._kept_run = about.run, sum(run.merge_count for run in runs)
        self._schedule()

    def close(self) -> None:
        """End. Work that was not forgotten is kept, and the next start offers it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._timer.stop()
        self.run_timer.stop()
        was_busy = not self.is_idle
        self.job.close()
        self.run_job.close()
        if was_busy:
            self._keep_now()
        self.store.close(keeps=self.is_kept)

    # Signals.

    def _on_document_edited(self, _edit: Edit) -> None:
        self._edit_count += 1
        self._schedule(EDIT_DELAY_MS)

    def _on_state_saved(self) -> None:
        self.forget(self._state.saved_content)  # what was typed during saving is not in any file yet

    def _schedule(self, delay_ms: int = CHANGE_DELAY_MS) -> None:
        self._wanted_ms = delay_ms if self._wanted_ms is None else min(delay_ms, self._wanted_ms)
        if self._is_closed or (self._failures and self._timer.isActive()):
            return
        if self._failures:
            delay_ms = RETRY_MS[min(self._failures, len(RETRY_MS)) - 1]
        if not self._timer.isActive() or self._timer.remainingTime() > delay_ms:
            self._timer.start(delay_ms)

    # Writing.

    def keep(self) -> None:
        if self.job.is_running:
            return  # the next one starts when it ends
        project = self._state.capture()
        self._wanted_ms = None
        if self._should_keep(project):
            self._is_begun = True
            self.job.run(project, self._about(project))
            self._consider_run(project)
        elif self._is_begun:
            self._is_begun = False
            self.job.run(None, self._about(project))

    def _should_keep(self, project: Project) -> bool:
        if self._state.is_file_another:
            self._saved = None
        if self._saved is not None:
            if content_of(project) == self._saved:
                return False
            self._saved = None  # and a large text with it
        return self._state.path is not None or is_worth_keeping(project)

    def _about(self, project: Project) -> About:
        path = self._state.path
        run, merges = self._kept_run if project.runs else (0, 0)
        return About(
            name=project.corpus.name or (path.stem if path is not None else ""), project_path=str(path or ""),
            stamp=self._state.stamp, time=time.time(), edits=self._edit_count, merges=merges, run=run,
            is_edited=project.corpus.is_edited,
        )  # fmt: skip

    def _consider_run(self, project: Project) -> None:
        """Start keeping the runs if one has changed and they were not kept very recently."""
        runs = project.runs
        changed = [run for run in runs if self._written_runs.get(run.history) != run.merge_count]
        if not any(len(run.history) or run.library_run for run in changed) or self.run_job.is_running:
            return
        now = time.monotonic()
        if self._latest is not changed[0].history and self.run_due < now:
            self._latest = changed[0].history
            self.run_due = now + FIRST_RUN_SECONDS  # skips trainings that restart at every keystroke
        if now < self.run_due:
            self.run_timer.start(int(1000 * (self.run_due - now)) + 1)
            return
        self._written_runs = _written(runs)
        self._run_number += 1
        self._run_began = now
        self.run_job.run(self._run_number, project)

    # Outcomes.

    def _note_kept(self) -> None:
        self.job.forget()
        self._failures = 0
        self.is_kept = self._is_begun
        if self._wanted_ms is not None:
            self._schedule(self._wanted_ms)

    def _retry(self, error: StudioError) -> None:
        self._failures += 1
        self._report_failure(error)
        self._schedule()

    def _note_run_kept(self) -> None:
        self.run_job.forget()
        now = time.monotonic()
        self._kept_run = self._run_number, sum(self._written_runs.values())
        self.run_due = now + max(RUN_SECONDS[0], min(10 * (now - self._run_began), RUN_SECONDS[1]))
        self._schedule()  # the journal must record that this run is the valid one

    def _retry_run(self, error: StudioError) -> None:
        self._written_runs = _written(())
        self.run_due = time.monotonic() + RUN_SECONDS[1]
        self._report_failure(error)
        self._schedule()

    def _report_failure(self, error: StudioError) -> None:
        if not self._is_reported:
            self._is_reported = True
            self.failed.emit(error)

    def _keep_now(self) -> None:
        """Write what has not been written yet, in this thread, because the program is ending."""
        project = self._state.capture()
        try:
            if self._should_keep(project):
                self.store.write(project, self._about(project))
                self.is_kept = True
            else:
                self.is_kept = False
        except StudioError as error:
            self._report_failure(error)


def _written(runs: Sequence[ProjectRun]) -> weakref.WeakKeyDictionary[MergeHistory, int]:
    """Return the number of merges of each run, as long as the run is there."""
    return weakref.WeakKeyDictionary({run.history: run.merge_count for run in runs})


def is_worth_keeping(project: Project) -> bool:
    """Return whether it holds any work of the user's: text, a list of files, a requested training, a mark."""
    corpus, view = project.corpus, project.view
    return bool(
        (corpus.text is not None and corpus.is_edited)
        or corpus.files
        or any(run.is_wanted and (len(run.history) or run.library_run) for run in project.runs)
        or view.notes
        or view.breakpoints
    )
