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
from wordpiece_studio.session.recovery.about import About, from_json
from wordpiece_studio.session.recovery.journal import ABOUT, EDIT, LIVE_TEXT, SETTINGS, VIEW, read_journal, text_after
from wordpiece_studio.session.recovery.store import FolderLock, is_own_folder, numbered_files, remove_folder
from wordpiece_studio.storage.project.contents import ProjectSettings, ProjectView
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.storage.project.contents import Project, ProjectRun

    OpenProject = Callable[[Path], Project]

_log = logging.getLogger(__name__)

DAMAGED = ".damaged"
_EMPTY_SECONDS = 3600.0  # a folder without a base: its Studio has just created it, or died doing so


@dataclass(frozen=True, slots=True)
class Recoverable:
    """The folder of a Studio that is gone, and its lock, held here until the user has decided."""

    folder: Path
    lock: FolderLock
    number: int
    about: About


@dataclass(frozen=True, slots=True)
class Recovered:
    """Recovered work, opened.

    Attributes
    ----------
    project
        The project as last kept.
    about
        What was known about it.
    lost_run
        Why the training could not be read, if there was one.
    lost_edits
        Why the latest changes could not be read, if so.
    is_project_another
        Whether the project file is no longer the one that the work started from: someone has saved it since.
    """

    project: Project
    about: About
    lost_run: StudioError | None = None
    lost_edits: StudioError | None = None
    is_project_another: bool = False


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
    return sorted(found, key=_time_of, reverse=True)


def recover(recoverable: Recoverable, open_: OpenProject | None = None) -> Recovered:
    """Open the work: the last base plus all later changes in the journal. The folder is left untouched.

    If the base cannot be read, the older state kept with the training is used instead.

    Raises
    ------
    StudioError
        If neither can be read.
    """
    open_ = open_ or _project_opener()
    files = numbered_files(recoverable.folder)
    try:
        base = open_(_file(recoverable.folder, files, "base", recoverable.number))
    except StudioError as error:
        return _without_base(recoverable, files, open_, error)
    replay, lost_edits = _Replay(base), None
    try:
        for kind, content in read_journal(_file(recoverable.folder, files, "journal", recoverable.number)):
            replay.take(kind, content)
    except StudioError as error:
        lost_edits = error
    project, about = replay.project(), replay.about
    if about is None:  # the journal is damaged from its first record on
        about = msgspec.structs.replace(recoverable.about, name=base.corpus.name, run=_newest(files, "run"))
    elif about.run and ("run", about.run) not in files:  # the record is from when an older run was valid
        about = msgspec.structs.replace(about, run=_newest(files, "run") or about.run)
    is_another = is_saved_by_another(about)
    path = files.get(("run", about.run))
    if not about.run and about.project_path and not is_another:
        path = Path(about.project_path)  # later merges were not kept, but the saved ones are still there
    run, lost_run = _run_of(project, path, open_)
    return Recovered(replace(project, run=run), about, lost_run if about.run else None, lost_edits, is_another)


def is_saved_by_another(about: About) -> bool:
    """Return whether the project file has changed since the work started from it."""
    if about.project_size < 0:
        return False
    try:
        status = Path(about.project_path).stat()
    except (OSError, ValueError):
        return False  # there is nothing to overwrite
    return (status.st_size, status.st_mtime_ns) != (about.project_size, about.project_modified_ns)


def remove(recoverable: Recoverable) -> None:
    """Remove the work, at the user's request."""
    recoverable.lock.release()
    remove_folder(recoverable.folder)


def keep_for_later(recoverable: Recoverable) -> None:
    """Leave the work as it is; the next start finds it again."""
    recoverable.lock.release()


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
        files = numbered_files(folder)
        number = _newest(files, "base")
        if number:
            recoverable = Recoverable(folder, lock, number, _about(files.get(("journal", number)), folder))
        elif time.time() - folder.stat().st_mtime > _EMPTY_SECONDS:
            remove_folder(folder)
    finally:
        if recoverable is None:
            lock.release()
    return recoverable


class _Replay:
    """A project to which the records of a journal are applied one by one."""

    def __init__(self, base: Project) -> None:
        self._base = base
        self._text = base.corpus.text
        self._settings = base.settings
        self._view = base.view
        self._live_text = base.view.live_text
        self.about: About | None = None

    def take(self, kind: bytes, content: bytes) -> None:
        """Apply one record; unknown kinds are ignored.

        Raises
        ------
        StudioError
            If the record is an edit of a different text.
        """
        if kind == EDIT:
            after = text_after(self._text, content) if self._text is not None else None
            if after is None:
                raise StudioError("An edit in the journal belongs to a different text")
            self._text = after
        elif kind == SETTINGS:
            self._settings = _settings(content) or self._settings
        elif kind == VIEW:
            self._view = from_json(content, ProjectView) or self._view
        elif kind == LIVE_TEXT:
            self._live_text = content.decode("utf-8", "surrogatepass")
        elif kind == ABOUT:
            self.about = from_json(content, About) or self.about

    def project(self) -> Project:
        """Return the project as it is after the last record, without its training."""
        base, about = self._base, self.about
        is_edited = base.corpus.is_edited if about is None else about.is_edited or self._text != base.corpus.text
        return replace(
            base,
            settings=self._settings,
            corpus=replace(base.corpus, text=self._text, is_edited=is_edited),
            view=msgspec.structs.replace(self._view, live_text=self._live_text),
        )


def _without_base(
    recoverable: Recoverable, files: dict[tuple[str, int], Path], open_: OpenProject, reason: StudioError
) -> Recovered:
    """Return the state kept with the training; raise `reason` if that cannot be read either."""
    about = recoverable.about
    number = about.run or _newest(files, "run")
    try:
        project = open_(_file(recoverable.folder, files, "run", number))
    except StudioError:
        raise reason from None
    about = msgspec.structs.replace(about, name=about.name or project.corpus.name, run=number)
    project = replace(project, corpus=replace(project.corpus, is_edited=project.corpus.is_edited or about.is_edited))
    return Recovered(project, about, None, reason, is_saved_by_another(about))


def _file(folder: Path, files: dict[tuple[str, int], Path], kind: str, number: int) -> Path:
    path = files.get((kind, number))
    if path is None:
        raise StudioError("{path} does not exist", path=display_name(folder / f"{kind}-{number}"))
    return path


def _newest(files: dict[tuple[str, int], Path], kind: str) -> int:
    return max((number for other, number in files if other == kind), default=0)


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


def _run_of(project: Project, path: Path | None, open_: OpenProject) -> tuple[ProjectRun | None, StudioError | None]:
    """Return the training in the file at `path`, and mark whether it belongs to the text and files of `project`."""
    if path is None:
        return None, StudioError("The file with the merges is missing")
    try:
        kept = open_(path)
    except StudioError as error:
        return None, error
    if kept.run is None:
        return None, StudioError("{path} contains no merges", path=display_name(path))
    corpus, other = project.corpus, kept.corpus
    is_same = corpus.text == other.text and [one.file for one in corpus.files] == [one.file for one in other.files]
    return replace(kept.run, is_of_corpus=kept.run.is_of_corpus and is_same), None


def _settings(content: bytes) -> ProjectSettings | None:
    """Return the settings of a record; None if they cannot start a training, such as those of a newer version."""
    from wordpiece_studio.storage.project.records import checked_settings

    settings = from_json(content, ProjectSettings)
    try:
        return None if settings is None else checked_settings(settings)
    except (StudioError, TypeError) as error:
        _log.info("settings in the journal are ignored: %s", error)
        return None


def _project_opener() -> OpenProject:
    from wordpiece_studio.storage.project.project_file import open_project

    return open_project


def _time_of(recoverable: Recoverable) -> float:
    return recoverable.about.time
