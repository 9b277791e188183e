"""Keeps unsaved work in the background: edits within a second, the training within half a minute.

It passes changes to two threads: one for text and settings, which is quick, and one for runs, which may take long.
`recovery_store` writes and reads the files.
"""

from __future__ import annotations

import os
import time
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.recovery_store import About
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.storage.project.stored_run import copy_of, last_copy_of

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.session.commands import Edit
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectContent, ProjectState
    from wordpiece_studio.session.recovery_store import Recoverable, Recovered, RecoveryStore
    from wordpiece_studio.storage.project.contents import Project, Run
    from wordpiece_studio.training.history import MergeHistory


EDIT_DELAY_MS = 250
CHANGE_DELAY_MS = 1000
RETRY_MS = (5_000, 15_000, 60_000)
RUN_SECONDS = (10.0, 25.0)  # limits of the pause after keeping the training, of ten times as long as that took
FIRST_RUN_SECONDS = 2.0
PAUSES = 4  # how many times as long as writing a change took, the next one waits, within `CHANGE_DELAY_MS`


class _KeptRun(NamedTuple):
    merges: int
    number: int
    file: int  # the number of the file that it is in


class RecoveryKeeper(QObject):
    """Keeps the content of `state` in `store`, starting with the user's first change."""

    failed = Signal(object)  # the work cannot be kept, as this `StudioError` says. Emitted once; keeping is retried.

    def __init__(
        self, state: ProjectState, document: Document, store: RecoveryStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._state = state
        self.store = store
        self._saved: ProjectContent | None = None  # content that is in a file of the user's, or was discarded
        self.is_kept = False  # whether there is work that a start after a crash would offer
        self._is_begun = self._is_reported = self._is_closed = False
        self._wanted_ms: int | None = None  # how soon the changes are to be written; None: there are none
        self._edit_count = self._failures = 0
        self._kept_runs: weakref.WeakKeyDictionary[MergeHistory, _KeptRun] = weakref.WeakKeyDictionary()
        self._latest: MergeHistory | None = None  # of the run that was considered last
        self._are_saved_first = True  # of the runs; changes with each failure
        self._is_place_new = True  # of the runs being kept: they are in no file yet
        self._newest_file = 0  # with runs that are kept
        self.run_due = self._run_began = self._began = 0.0
        self._pause_ms = 0  # before the next change is written
        self._timer = single_shot(self, self.keep)
        self.run_timer = single_shot(self, self._schedule)
        self.job = Task(
            store.write, "Unsaved work cannot be kept", self, on_answer=self._note_kept, on_error=self._retry
        )
        self.run_job = Task(
            store.write_runs, "The unsaved run cannot be kept", self,
            on_answer=self._note_run_kept, on_error=self._retry_run,
        )  # fmt: skip
        document.edited.connect(self._on_document_edited)
        state.saved.connect(lambda: self.forget(state.saved_content))  # later typing is not in any file yet
        state.changed.connect(self._schedule)

    @property
    def is_idle(self) -> bool:
        return self._wanted_ms is None and not self.job.is_running

    def forget(self, saved: ProjectContent | None = None) -> None:
        """Treat this content, or the present one, as saved or unwanted: keep nothing until it changes."""
        if self._is_closed:
            return
        self._saved = saved or content_of(self._state.capture())
        self._edit_count = 0
        self.run_job.forget()
        self._kept_runs.clear()
        self._latest, self.run_due = None, 0.0
        if self._is_begun:
            self._wanted_ms = CHANGE_DELAY_MS
            self.keep()

    def adopt(self, recoverable: Recoverable, recovered: Recovered) -> Path | None:
        """Continue in the folder that was left, now that its content is restored; see `RecoveryStore.adopt`."""
        about, files = recovered.about, recoverable.run_files()
        aside = self.store.adopt(recoverable)
        self._saved = None
        if self._state.path is not None:
            self._state.stamp = about.stamp
        self.is_kept = self._is_begun = True
        self._edit_count = about.edits
        self._newest_file = max(about.runs.values(), default=0)
        for run in recovered.project.runs:
            if run.number in files and copy_of(run) == os.path.realpath(recoverable.folder / files[run.number]):
                self._kept_runs[run.history] = _KeptRun(run.merge_count, run.number, about.runs[run.number])
        self._schedule(CHANGE_DELAY_MS if aside is None else 0)  # nothing that a start would offer is left then
        return aside

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._timer.stop()
        self.run_timer.stop()
        was_busy = not self.is_idle
        self.job.close()
        self.run_job.close()
        if was_busy:  # write what has not been written yet in this thread, because the program is ending
            project = self._state.capture()
            try:
                self.is_kept = self._should_keep(project)
                if self.is_kept:
                    self.store.write(project, self._about(project), self._newest_file)
            except StudioError as error:
                self._report(error)
        self.store.close(keeps=self.is_kept)

    # Signals.

    def _on_document_edited(self, _edit: Edit) -> None:
        self._edit_count += 1
        self._schedule(EDIT_DELAY_MS)

    def _schedule(self, delay_ms: int | None = None) -> None:
        delay_ms = CHANGE_DELAY_MS if delay_ms is None else delay_ms
        self._wanted_ms = delay_ms if self._wanted_ms is None else min(delay_ms, self._wanted_ms)
        if self._is_closed or (self._failures and self._timer.isActive()):
            return
        delay_ms = max(delay_ms, self._pause_ms)
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
            self._began = time.monotonic()
            self.job.run(project, self._about(project), self._newest_file)
            self._consider_runs(project)
        elif self._is_begun:
            self._is_begun = False
            self.job.run(None, self._about(project), self._newest_file)

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
        kept = [(run.number, self._kept_runs[run.history]) for run in project.runs if run.history in self._kept_runs]
        return About(
            name=project.corpus.name or (path.stem if path is not None else ""), project_path=str(path or ""),
            stamp=self._state.stamp, time=time.time(), edits=self._edit_count,
            merges=sum(each.merges for _, each in kept),
            runs={number: each.file for number, each in kept if number == each.number},
            saved=tuple(
                run.number for run in project.runs if run.history not in self._kept_runs and last_copy_of(run)
            ),
        )  # fmt: skip

    def _consider_runs(self, project: Project) -> None:
        """Start keeping the runs that have changed, if none was kept very recently."""
        changed = [run for run in project.runs if (len(run.history) or run.library_run) and not self._is_kept(run)]
        if not changed or self.run_job.is_running:
            return
        now = time.monotonic()
        if self._latest is not changed[0].history and self.run_due < now:
            self._latest = changed[0].history
            self.run_due = now + FIRST_RUN_SECONDS  # skips trainings that restart at every keystroke
        if now < self.run_due:
            self.run_timer.start(int(1000 * (self.run_due - now)) + 1)
            return
        # Those in a file of the user's are not written again, and come first, because it may be replaced.
        place = copy_of(changed[0])
        if self._are_saved_first:
            place = next(filter(None, map(copy_of, changed)), None)
        runs = tuple(run for run in changed if copy_of(run) == place)
        self._run_began, self._is_place_new = now, place is None
        self.run_job.run(self._newest_file + 1, replace(project, runs=runs, counts=None))

    def _is_kept(self, run: Run) -> bool:
        kept = self._kept_runs.get(run.history)
        return kept is not None and kept[:2] == (run.merge_count, run.number)

    # Outcomes.

    def _note_kept(self) -> None:
        self.job.forget()
        self._pause_ms = min(int(PAUSES * 1000 * (time.monotonic() - self._began)), CHANGE_DELAY_MS)
        self._failures = 0
        self.is_kept = self._is_begun
        if self._wanted_ms is not None:
            self._schedule(self._wanted_ms)

    def _retry(self, error: StudioError) -> None:
        self._failures += 1
        self._report(error)
        self._schedule()

    def _note_run_kept(self) -> None:
        self._newest_file, project = self.run_job.forget()[:2]
        for run in project.runs:
            self._kept_runs[run.history] = _KeptRun(run.merge_count, run.number, self._newest_file)
        now = time.monotonic()
        least = RUN_SECONDS[0] if self._is_place_new else 0.0
        self.run_due = now + max(least, min(10 * (now - self._run_began), RUN_SECONDS[1]))
        self._schedule()  # the work must say where these runs are

    def _retry_run(self, error: StudioError) -> None:
        self.run_due = time.monotonic() + RUN_SECONDS[1]
        self._are_saved_first = not self._are_saved_first
        self._report(error)
        self._schedule()

    def _report(self, error: StudioError) -> None:
        if not self._is_reported:
            self._is_reported = True
            self.failed.emit(error)


def is_worth_keeping(project: Project) -> bool:
    """Return whether it holds any work of the user's: text, a list of files, a requested training, a mark."""
    corpus, view = project.corpus, project.view
    return bool(
        (corpus.text is not None and corpus.is_edited)
        or corpus.files
        or any(run.origin.is_wanted and (len(run.history) or run.library_run) for run in project.runs)
        or view.notes
        or view.breakpoints
    )
