"""The project: saving and opening it, the question before something is lost, and unsaved work after a crash."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QLockFile, Signal
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.project_state import UnsavedWork, unsaved_work
from wordpiece_studio.session.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery_store import (
    Recoverable,
    Recovered,
    RecoveryStore,
    find_recoverable,
    recover,
    recovery_folder,
    remove,
    set_aside,
)
from wordpiece_studio.session.task import Task, later, single_shot
from wordpiece_studio.session.watched_files import FileNews, FileWatch
from wordpiece_studio.storage.project.container import SUFFIX, is_replaced
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.system.printable import display_name, file_error
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.dialogs.file_questions import (
    RecoveryDialog,
    ask_for_place,
    changed_box,
    replace_box,
    title_of,
    unsaved_work_box,
    with_suffix,
)
from wordpiece_studio.ui.messages import add_button, ask, plain_box, sentence
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.storage.project.contents import Project

_YES, _SAVE = QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.Save
_DISCARD = QMessageBox.StandardButton.Discard
_PATIENCE_SECONDS = 0.5  # saving that takes longer shows its progress
_SHOWN_MS = 50  # how often to look whether the window is shown, before what was found is offered over it


class ProjectLock:
    """The lock of at most one project. In a read-only folder there is no lock, since no one can save there."""

    def __init__(self) -> None:
        self._file: QLockFile | None = None
        self._path: Path | None = None

    def take(self, path: Path) -> tuple[int, str] | None:
        """Lock the project at `path`, releasing the previous one, unless someone else has it.

        If so, return whose process: its id, 0 if unknown, and the machine.
        """
        target = Path(os.path.realpath(path))
        if target == self._path:
            return None
        file = QLockFile(str(lock_path(target)))
        file.setStaleLockTime(0)  # a lock is stale once its owner has ended, whatever its age
        if not file.tryLock(0) and file.error() is QLockFile.LockError.LockFailedError:
            # With the program, or nothing if it cannot be read.
            pid, host, *_ = cast("tuple[Any, ...]", file.getLockInfo()) or (0, "")
            return pid, host
        self.release()
        if file.isLocked():
            self._file, self._path = file, target
        return None

    def release(self) -> None:
        if self._file is not None:
            self._file.unlock()
        self._file = self._path = None


def lock_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def is_open_elsewhere(path: Path, holder: tuple[int, str], advice: str) -> StudioError:
    pid, host = holder
    what = "The project {path} is open in another window"
    if pid:
        what += ": process {pid} on {host}" if host else ": process {pid} on this machine"
    return file_error(path, what, advice, pid=pid, host=host)


class ProjectController(Controller):
    """Saves one project at a time, and asks before what the user made is lost: text, merges, notes, other changes."""

    agreed = Signal()  # the window may close now

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._state = window.project
        self._banner = window.notices.project
        self._lock = ProjectLock()
        self.is_read_only = False  # if so, the project can only be saved elsewhere
        self._then: Callable[[], None] | None = None  # called when the current save has finished
        self._serial = -1  # of the project that is being written
        self.box: QMessageBox | None = None
        self._waiting: list[Callable[[], object]] = []  # called when the current save has ended
        self._file = FileWatch(self)
        self._began = 0.0
        self.saving = Task(
            save_project, "The project cannot be saved", self,
            on_answer=self._on_saving_finished, on_error=self._on_saving_failed,
        )  # fmt: skip
        self.saving.progressed.connect(self._on_saving_progressed)
        self.opening = Task(
            open_project, "The project cannot be opened", self,
            on_answer=self._on_opening_finished, on_error=self._messages.show_error,
        )  # fmt: skip
        self._title_timer = single_shot(self, self._show_modified, 200)
        self._actions.bind(self)
        self._state.changed.connect(self._on_state_changed)
        self._state.path_changed.connect(self._on_state_path_changed)
        self._state.reading.failed.connect(self._messages.show_error)
        self._session.watch.noticed.connect(self._on_state_changed)
        self._file.noticed.connect(self._on_file_noticed)
        self._show_title()

    def close(self) -> None:
        self._title_timer.stop()
        super().close()
        self._lock.release()

    # -- the question before something is lost

    def must_ask(self) -> bool:
        """Return whether the window must stay open for now; `agreed` is emitted when it may close."""
        if self.box is not None:
            self.box.raise_()
            return True
        if self.saving.is_running:
            if self._window.close not in self._waiting:
                self._waiting.append(self._window.close)
            return True
        if not unsaved_work(self._session, self._state).is_any:
            self._state.bring_back()  # the window's layout, too, which is remembered
            return False
        self.when_safe(self.agreed.emit)
        return True

    def when_safe(self, then: Callable[[], None], *, keeps_run: bool = False) -> None:
        """Call `then` at once if it loses no unsaved work, else when the user has saved that or given it up."""
        if self.box is not None:
            return
        unsaved = unsaved_work(self._session, self._state, keeps_run=keeps_run)
        if unsaved.is_any:
            self._ask(unsaved, then, keeps_run)
        else:
            self._after_lesson(then)

    def _ask(self, unsaved: UnsavedWork, then: Callable[[], None], keeps_run: bool) -> None:
        aside, after = self._state.aside, self._after_lesson
        name = self._session.corpus_name if aside is None else aside.project.corpus.name
        self.box = unsaved_work_box(self._window, unsaved, name, self._state.path)
        self.box.finished.connect(lambda: setattr(self, "box", None))
        save = partial(self.save_project, partial(self._check_again, then, keeps_run))
        ask(self.box, {_DISCARD: partial(after, then), _SAVE: partial(after, save)})  # else a lesson stays open

    def _after_lesson(self, then: Callable[[], None]) -> None:
        self._state.bring_back()
        then()

    def _check_again(self, then: Callable[[], None], keeps_run: bool) -> None:
        """Call `then`, unless something was typed while the project was written; newly learned merges do not count."""
        unsaved = unsaved_work(self._session, self._state, keeps_run=keeps_run)
        if unsaved.is_anything_made and self.box is None:
            self._ask(unsaved, then, keeps_run)
        else:
            then()

    # -- saving

    def _why_not(self) -> str:
        return "" if self._state.aside is None else self.tr("Leave the lesson first.")

    @command(
        tr("&Save"), tr("Save the project: corpus, settings, merges and bookmarks in one file"), "Ctrl+S", "save",
        unless=_why_not,
    )  # fmt: skip
    def save_project(self, then: Callable[[], None] | None = None) -> None:
        path = self._state.path
        if path is None or self.is_read_only:
            self.save_project_as(then)
        elif not self.saving.is_running and is_replaced(path, self._state.stamp):
            acts = {_YES: partial(self._save_to, path, then), _SAVE: partial(self.save_project_as, then)}
            ask(changed_box(self._window, path), acts)
        else:
            self._save_to(path, then)

    @command(tr("Save &as…"), tr("Save the project under another name"), "Ctrl+Shift+S", unless=_why_not)
    def save_project_as(self, then: Callable[[], None] | None = None) -> None:
        """Ask for a name, save the project under it, and call `then` when it is saved."""
        path, document = self._state.path or self._document.path, self._document
        name = document.files.name if document.is_files else path.stem if path is not None else ""
        name = self._state.path.name if self._state.path is not None else f"{name or self.tr('project')}{SUFFIX}"
        folder = None if path is None else path.parent
        ask_for_place(
            self._window, self.tr("Save the project as"), "new file", partial(self._on_place_selected, then),
            folder=folder, name=name, suffix=SUFFIX.lstrip("."),
            filters=[self.tr("WordPiece Studio projects (*{suffix})").format(suffix=SUFFIX)],
        )  # fmt: skip

    def _on_place_selected(self, then: Callable[[], None] | None, place: str) -> None:
        path = with_suffix(Path(place))
        save = partial(self._save_to, path, then)
        if path == Path(place) or not path.exists():
            save()
        else:  # the dialog asked about another file, or none
            ask(replace_box(self._window, path), {_YES: save}, otherwise=partial(self.save_project_as, then))

    def _save_to(self, path: Path, then: Callable[[], None] | None) -> None:
        if self.saving.is_running:
            self._waiting.append(partial(self._save_to, path, then))  # what was changed meanwhile is saved too
            return
        holder = self._lock.take(path)
        if holder is not None:
            advice = "Close it there, or save under another name."
            self._refuse(is_open_elsewhere(path, holder, advice), then)
            return
        self._session.runs.keep_all()
        self._then, self._began, self._serial = then, time.monotonic(), self._state.serial
        self.saving.run(path, self._state.capture())

    def _on_saving_progressed(self, progress: tuple[int, int]) -> None:
        done, total = progress
        if time.monotonic() - self._began > _PATIENCE_SECONDS and total:
            text = self.tr("Saving the project… {percent}%").format(percent=min(99, 100 * done // total))
            self._banner.show_message(text)

    def _on_saving_finished(self) -> None:
        path, project = self.saving.forget()
        self._banner.clear()
        then, self._then = self._then, None
        is_left = self._serial != self._state.serial  # for another project, which is shown now
        is_new = is_left or path != self._state.path
        if is_left:
            self._lock_again()
            self._window.remember_files(path)
        else:
            self.is_read_only = False
            self._note_file(path, project)
        if is_new:
            self._banner.show_message(self.tr("Saved the project as {path}").format(path=display_name(path)))
        if then is not None and not is_left:
            then()
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each()

    def _lock_again(self) -> None:
        """Lock the project that is shown, and no other: what was written, or was to be, may be a different one."""
        if self._state.path is not None and not self.is_read_only:
            self._lock.take(self._state.path)
        else:
            self._lock.release()

    def _on_saving_failed(self, error: StudioError) -> None:
        self.saving.forget()
        self._banner.clear()
        self._waiting.clear()
        then, self._then = self._then, None
        self._lock_again()
        if self._serial == self._state.serial:
            self._refuse(error, then)
        else:
            self._messages.show_error(error)  # about a project that has been given up meanwhile

    def _refuse(self, error: StudioError, then: Callable[[], None] | None) -> None:
        """Say why the project is not saved there, and offer another place; everything else stays as it is."""
        advice = " ".join(filter(None, (error.advice, self.tr("Nothing is lost: your work is still open."))))
        box = plain_box(self._window, QMessageBox.Icon.Warning, sentence(error.what), advice)
        add_button(box, _SAVE, self.tr("&Save as…"))
        add_button(box, QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(_SAVE)
        ask(box, {_SAVE: partial(self.save_project_as, then)})

    # -- opening

    def open(self, path: Path) -> None:
        self.opening.run(path)

    def _on_opening_finished(self, project: Project) -> None:
        (path,) = self.opening.forget()
        if project.lost:
            self._state.restore(project)  # without a file: the damaged one is not to be replaced by what is left
            return
        holder = self._lock.take(path)
        self._state.restore(project)
        target = Path(os.path.realpath(path))
        self.is_read_only = holder is not None or not all(os.access(each, os.W_OK) for each in (target, target.parent))
        self._note_file(path, project)
        self._banner.clear()
        if holder is not None:
            words = is_open_elsewhere(
                path, holder, "It is read-only here; save it under another name to keep your changes."
            )
            self._banner.show_message(str(words), "warning", self.tr("Save as…"), self.save_project_as)

    # -- the file

    def _note_file(self, path: Path, project: Project) -> None:
        self._state.note_saved(path, project)
        self._file.take(path)
        self._show_title()
        self._window.remember_files(path)
        self._session.runs.note_saved(project.runs)

    def _on_file_noticed(self, path: Path, news: FileNews) -> None:
        if self.saving.is_running:
            return
        if news == "gone":
            words = self.tr("The project file {path} is missing. The project is still open; save it to keep it.")
            self._note_another(words, path)
        elif is_replaced(path, self._state.stamp):
            words = self.tr("Another program changed the project file {path}. Your own project is shown; saving asks "
                            "before it replaces the file.")  # fmt: skip
            self._note_another(words, path)
        elif self._state.is_file_another:
            self._state.note_file(is_another=False)
            self._banner.clear()

    def _note_another(self, words: str, path: Path) -> None:
        self._state.note_file(is_another=True)
        words = words.format(path=display_name(path))
        self._banner.show_message(words, "warning", self.tr("Save as…"), self.save_project_as)

    # -- the title

    def _on_state_path_changed(self, path: Path | None) -> None:
        if path is None:
            self._lock.release()
            self.is_read_only = False
        elif self._lock.take(path) is not None:
            self.is_read_only = True
        self._file.watch([] if path is None else [path])
        self._show_title()

    def _show_title(self) -> None:
        name = self.tr("Untitled") if self._state.path is None else self._state.path.stem
        if self.is_read_only:
            name = self.tr("{name} (read-only)").format(name=name)
        self._window.setWindowTitle(title_of(name))
        self._show_modified()

    def _show_modified(self) -> None:
        self._window.setWindowModified(unsaved_work(self._session, self._state).is_any)

    def _on_state_changed(self) -> None:
        if not self._title_timer.isActive():
            self._title_timer.start()


class RecoveryController(Controller):
    """Unsaved work: kept while the window is open, and offered at the start after a crash, a kill or a power cut."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._state = window.project
        self._banner = window.notices.training
        self._folder = recovery_folder()
        self.keeper = RecoveryKeeper(window.project, window.session.document, RecoveryStore(self._folder), self)
        self.keeper.failed.connect(lambda error: self._banner.show_message(str(error), "warning"))
        self._found: list[Recoverable] = []
        self._then: Callable[[], None] | None = None
        self.dialog: RecoveryDialog | None = None
        self.job = Task(
            recover, "The unsaved work cannot be restored", self,
            on_answer=self._on_job_finished, on_error=self._on_job_failed,
        )  # fmt: skip
        self._is_closed = False

    def offer(self, then: Callable[[], None]) -> None:
        """Ask what to do with unsaved work, if any was found; call `then` unless some was restored."""
        self._then = then
        self._found = find_recoverable(self._folder)
        self._ask_or_go_on()

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self.job.close()
        self.keeper.close()
        self._put_off()

    def _ask_or_go_on(self) -> None:
        if self._is_closed:
            return
        if not self._found:
            then, self._then = self._then, None
            if then is not None:
                then()
        elif not self._window.isVisible():
            later(self, _SHOWN_MS, self._ask_or_go_on)
        else:
            self.dialog = dialog = RecoveryDialog([one.about for one in self._found], self._window)
            dialog.finished.connect(lambda result: self._take_answer(dialog.number, result))
            dialog.open()

    def _put_off(self) -> None:
        for one in (*self._found, *self.job.forget()):
            one.lock.release()  # the next start finds it again
        self._found = []

    def _take_answer(self, number: int, result: int) -> None:
        if result == RecoveryDialog.DialogCode.Accepted.value:
            self.job.run(self._found.pop(number))
            return
        if result == RecoveryDialog.DELETED:
            remove(self._found.pop(number))
        else:
            self._put_off()
        self._ask_or_go_on()

    def _on_job_finished(self, recovered: Recovered) -> None:
        (wanted,), about = self.job.forget(), recovered.about
        try:
            self._state.restore(replace(recovered.project, lost=()))  # it is told below
        except StudioError as error:
            wanted.lock.release()  # the next start finds it again
            self._messages.show_error(error)
            self._ask_or_go_on()
            return
        # If runs are missing, saving must not replace a file that may have them.
        is_of_file = bool(about.project_path) and not recovered.is_project_another and recovered.lost_run is None
        self._state.set_path(Path(about.project_path) if is_of_file else None)
        aside = self.keeper.adopt(wanted, recovered)
        for run in self._session.runs.all:
            run.seconds = math.inf  # not known: it may have taken long
        self._then = None
        self._put_off()
        name = about.name or self.tr("Unnamed text")
        self._banner.show_message(self.tr("“{name}” was restored. It is still unsaved.").format(name=name))
        if recovered.is_project_another:
            words = self.tr("“{name}” was restored, but its file {path} has been changed by another program. Save "
                            "your work as a different project to keep both.")  # fmt: skip
            self._banner.show_message(words.format(name=name, path=display_name(about.project_path)), "warning")
        check = "Check your most recent changes." + ("" if aside is None else " What was kept is in {path}.")
        parts = recovered.project.lost if recovered.lost_edits is None else ()
        told = [
            StudioError(what, advice, reason=lost.what, path=display_name(aside or ""))
            for what, advice, lost in (
                ("The work was restored, but the latest changes are missing: {reason}", check, recovered.lost_edits),
                ("The text was restored, but not all its merges: {reason}", "Train again.", recovered.lost_run),
                *((f"The work was restored without {part}: {{reason}}", "", error) for part, error in parts),
            )
            if lost is not None
        ]
        if told:  # in one message: a second one would replace the first
            advice = " ".join(filter(None, (told[0].advice, *map(str, told[1:]))))
            self._messages.show_error(StudioError("{first}", "{more}", first=told[0].what, more=advice))

    def _on_job_failed(self, error: StudioError) -> None:
        (wanted,) = self.job.forget()
        aside = set_aside(wanted)
        what = "The unsaved work “{name}” cannot be restored: {reason}"
        said = {"name": wanted.about.name, "reason": error.what}
        self._messages.show_error(file_error(aside, what, "It was moved to {path}.", **said))
        self._ask_or_go_on()
