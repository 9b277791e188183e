"""The unsaved work of a Studio that ended unexpectedly: finding it, reading it, removing it.

Only `remove` removes work; besides, folders in which nothing was ever kept are removed.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.recovery_store import (
    ABOUT,
    EDIT,
    LIVE_TEXT,
    SETTINGS,
    VIEW,
    About,
    FolderLock,
    from_json,
    is_own_folder,
    numbered_files,
    read_journal,
    remove_folder,
    text_after,
)
from wordpiece_studio.storage.project.container import is_replaced
from wordpiece_studio.storage.project.contents import ProjectSettings, checked_settings
from wordpiece_studio.storage.project.project_file import open_project
from wordpiece_studio.storage.view import View
from wordpiece_studio.system.printable import file_error

if TYPE_CHECKING:
    from wordpiece_studio.storage.project.contents import Project, ProjectRun

_log = logging.getLogger(__name__)

DAMAGED = ".damaged"
_EMPTY_SECONDS = 3600.0  # a folder without a base: its Studio has just created it, or died doing so


@dataclass(frozen=True, slots=True)
class Recoverable:
    """The folder of a Studio that is gone, and its lock, held here until the user has decided."""

    folder: Path
    lock: FolderLock
    files: dict[tuple[str, int], Path]  # see `numbered_files`
    about: About

    def newest(self, kind: str) -> int:
        """Return the number of the latest file of a kind; 0 if there is none."""
        return max((number for other, number in self.files if other == kind), default=0)

    def file(self, kind: str, number: int) -> Path:
        if (kind, number) not in self.files:
            raise file_error(self.folder / f"{kind}-{number}", "{path} does not exist")
        return self.files[kind, number]


@dataclass(frozen=True, slots=True)
class Recovered:
    """Recovered work, opened."""

    project: Project  # as last kept
    about: About
    lost_run: StudioError | None = None  # why the training could not be read, if there was one
    lost_edits: StudioError | None = None  # why the latest changes could not be read, if so
    is_project_another: bool = False  # whether someone has saved the project's file since


def find_recoverable(folder: Path) -> list[Recoverable]:
    """Return what dead Studios have left in the recovery folder, latest first, with their locks held.

    The work of running Studios is ignored. A folder that cannot be read is skipped.
    """
    found = []
    try:
        folders = [path for path in folder.iterdir() if is_own_folder(path)]
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            _log.info("unsaved work cannot be searched for: %s", error)
        return []
    for path in folders:
        try:
            recoverable = _recoverable(path)
        except OSError as error:
            _log.info("a folder of unsaved work is skipped: %s", error)
            continue
        if recoverable is not None:
            found.append(recoverable)
    return sorted(found, key=lambda each: each.about.time, reverse=True)


def recover(recoverable: Recoverable) -> Recovered:
    """Open the work: the last base plus all later changes in the journal. The folder is left untouched.

    If the base cannot be read, the older state kept with the training is used instead.
    """
    try:
        base = open_project(recoverable.file("base", recoverable.newest("base")))
    except StudioError as error:
        return _without_base(recoverable, error)
    project, about, lost_edits = _replayed(base, recoverable)
    if about is None:  # the journal is damaged from its first record on
        about = msgspec.structs.replace(recoverable.about, name=base.corpus.name, run=recoverable.newest("run"))
    elif about.run and ("run", about.run) not in recoverable.files:  # the record is from when an older run was valid
        about = msgspec.structs.replace(about, run=recoverable.newest("run") or about.run)
    is_another = is_replaced(about.project_path, about.stamp)
    path = recoverable.files.get(("run", about.run))
    if not about.run and about.project_path and not is_another:
        path = Path(about.project_path)  # later merges were not kept, but the saved ones are still there
    runs, lost_run = _runs_of(project, path)
    project = replace(project, runs=tuple(runs))
    return Recovered(project, about, lost_run if about.run else None, lost_edits, is_another)


def remove(recoverable: Recoverable) -> None:
    """Remove the work, at the user's request."""
    recoverable.lock.release()
    remove_folder(recoverable.folder)


def set_aside(recoverable: Recoverable) -> Path:
    """Set unreadable work aside, so that it does not hinder further starts; return its new path."""
    recoverable.lock.release()
    aside = recoverable.folder.with_name(recoverable.folder.name + DAMAGED)
    try:
        return recoverable.folder.rename(aside)
    except OSError as error:
        _log.info("the damaged work stays where it is: %s", error)
        return recoverable.folder


def _recoverable(folder: Path) -> Recoverable | None:
    lock = FolderLock(folder)
    if not lock.take():
        return None
    recoverable = None
    try:
        found = Recoverable(folder, lock, numbered_files(folder), About())
        if number := found.newest("base"):
            recoverable = replace(found, about=_about(found.files.get(("journal", number)), folder))
        elif time.time() - folder.stat().st_mtime > _EMPTY_SECONDS:
            remove_folder(folder)
    finally:
        if recoverable is None:
            lock.release()
    return recoverable


def _replayed(base: Project, recoverable: Recoverable) -> tuple[Project, About | None, StudioError | None]:
    """Return the project after the last change in its journal, what is known of it, and why changes are missing.

    Unknown records, and settings that no training can begin with, are ignored.
    """
    text, settings, view, live_text = base.corpus.text, base.settings, base.view, base.view.live_text
    about, lost = None, None
    try:
        for kind, content in read_journal(recoverable.file("journal", recoverable.newest("base"))):
            if kind == EDIT:
                after = None if text is None else text_after(text, content)
                if after is None:
                    raise StudioError("An edit in the journal belongs to a different text")
                text = after
            elif kind == SETTINGS:
                settings = _settings(content) or settings
            elif kind == VIEW:
                view = from_json(content, View) or view
            elif kind == LIVE_TEXT:
                live_text = content.decode("utf-8", "surrogatepass")
            elif kind == ABOUT:
                about = from_json(content, About) or about
    except StudioError as error:
        lost = error
    is_edited = base.corpus.is_edited if about is None else about.is_edited or text != base.corpus.text
    corpus = replace(base.corpus, text=text, is_edited=is_edited)
    view = view.with_texts(live_text, view.notes)
    return replace(base, settings=settings, corpus=corpus, view=view), about, lost


def _without_base(recoverable: Recoverable, reason: StudioError) -> Recovered:
    """Return the state kept with the training; raise `reason` if that cannot be read either."""
    about = recoverable.about
    number = about.run or recoverable.newest("run")
    try:
        project = open_project(recoverable.file("run", number))
    except StudioError:
        raise reason from None
    about = msgspec.structs.replace(about, name=about.name or project.corpus.name, run=number)
    project = replace(project, corpus=replace(project.corpus, is_edited=project.corpus.is_edited or about.is_edited))
    return Recovered(project, about, None, reason, is_replaced(about.project_path, about.stamp))


def _about(journal: Path | None, folder: Path) -> About:
    """Return the latest entry; if the journal cannot be read, only its time."""
    about = None
    try:
        for kind, content in read_journal(journal) if journal is not None else ():
            if kind == ABOUT:
                about = from_json(content, About) or about
    except StudioError as error:
        _log.info("the journal cannot be read to its end; the user will be told: %s", error)
    return about or About(time=(journal or folder).stat().st_mtime)


def _runs_of(project: Project, path: Path | None) -> tuple[list[ProjectRun], StudioError | None]:
    """Return the runs in the file at `path` that `project` still has, the one that it shows first.

    They are marked whether they belong to its text and files.
    """
    if path is None:
        return [], StudioError("The file with the merges is missing")
    try:
        kept = open_project(path)
    except StudioError as error:
        return [], error
    if kept.run is None:
        return [], file_error(path, "{path} contains no merges")
    corpus, other, view = project.corpus, kept.corpus, project.view
    is_same = corpus.text == other.text and [one.file for one in corpus.files] == [one.file for one in other.files]
    numbers = {tab.number for tab in view.tabs} or {run.number for run in kept.runs}
    runs = [
        replace(
            run, is_of_corpus=run.is_of_corpus and is_same,
            text=other.text if run.is_of_corpus and not is_same else run.text,
        )
        for run in kept.runs
        if run.number in numbers
    ]  # fmt: skip
    return sorted(runs, key=lambda run: run.number != view.current), None


def _settings(content: bytes) -> ProjectSettings | None:
    """Return the settings of a record; None if they cannot start a training, such as those of a newer version."""
    settings = from_json(content, ProjectSettings)
    try:
        return None if settings is None else checked_settings(settings)
    except (StudioError, TypeError) as error:
        _log.info("settings in the journal are ignored: %s", error)
        return None
