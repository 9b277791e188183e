"""What a Studio that ended without a word has left: finding it, reading it, putting it away.

Nothing is removed here but what `remove` is asked to, and folders in which nothing was ever kept.
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
_EMPTY_SECONDS = 3600.0  # a folder without a base is of a Studio that is just beginning it, or died then


@dataclass(frozen=True, slots=True)
class Recoverable:
    """The folder of a Studio that is gone, and its lock, which is held here until the user has answered."""

    folder: Path
    lock: FolderLock
    number: int
    about: About


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was left, opened.

    Attributes
    ----------
    project
        As it was when it was kept last.
    about
        What was known of it.
    lost_run
        Why the training could not be read, if there was one.
    lost_edits
        Why the latest changes could not be read, if they could not.
    is_project_another
        Whether the project file is another than the one that the work began with: someone has saved it since.
    """

    project: Project
    about: About
    lost_run: StudioError | None = None
    lost_edits: StudioError | None = None
    is_project_another: bool = False


def find_recoverable(folder: Path) -> list[Recoverable]:
    """Return what dead Studios have left in the recovery folder, the latest first. Their locks are held then.

    What a living one keeps is not looked at. A folder that cannot be read is passed over.
    """
    found = []
    try:
        folders = [path for path in folder.iterdir() if is_own_folder(path)]
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            _log.info("what was left cannot be looked for: %s", error)
        return []
    for path in folders:
        try:
            recoverable = _recoverable(path)
        except OSError as error:
            _log.info("a folder of unsaved work is passed over: %s", error)
            continue
        if recoverable is not None:
            found.append(recoverable)
    return sorted(found, key=_time_of, reverse=True)


def recover(recoverable: Recoverable, open_: OpenProject | None = None) -> Recovered:
    """Open what was left: the last base, with all that the journal holds of what came after. The folder is untouched.

    If the base cannot be read, what was kept with the training has to do, which is older.

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
    elif about.run and ("run", about.run) not in files:  # it is of a time when another one counted
        about = msgspec.structs.replace(about, run=_newest(files, "run") or about.run)
    is_another = is_saved_by_another(about)
    path = files.get(("run", about.run))
    if not about.run and about.project_path and not is_another:
        path = Path(about.project_path)  # what was learned since was not kept, but what was saved is still there
    run, lost_run = _run_of(project, path, open_)
    return Recovered(replace(project, run=run), about, lost_run if about.run else None, lost_edits, is_another)


def is_saved_by_another(about: About) -> bool:
    """Tell whether the project file is another than the one that the work began with."""
    if about.project_size < 0:
        return False
    try:
        status = Path(about.project_path).stat()
    except (OSError, ValueError):
        return False  # nothing is written over
    return (status.st_size, status.st_mtime_ns) != (about.project_size, about.project_modified_ns)


def remove(recoverable: Recoverable) -> None:
    """Remove what was left, as the user wants it."""
    recoverable.lock.give_back()
    remove_folder(recoverable.folder)


def keep_for_later(recoverable: Recoverable) -> None:
    """Leave it as it is; the next start finds it again."""
    recoverable.lock.give_back()


def set_aside(recoverable: Recoverable) -> Path:
    """Put away what cannot be read, so that no start is hindered by it; return where it is now."""
    recoverable.lock.give_back()
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
            lock.give_back()
    return recoverable


class _Replay:
    """A project to which what a journal holds is done again, record after record."""

    def __init__(self, base: Project) -> None:
        self._base = base
        self._text = base.corpus.text
        self._settings = base.settings
        self._view = base.view
        self._live_text = base.view.live_text
        self.about: About | None = None

    def take(self, kind: bytes, content: bytes) -> None:
        """Do one record; one of a kind that is not known is passed over.

        Raises
        ------
        StudioError
            If it is an edit of another text.
        """
        if kind == EDIT:
            after = text_after(self._text, content) if self._text is not None else None
            if after is None:
                raise StudioError("An edit in the journal is of another text")
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
    """Return what was kept with the training; raise `reason` if that cannot be read either."""
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
        raise StudioError("{path} is not there", path=display_name(folder / f"{kind}-{number}"))
    return path


def _newest(files: dict[tuple[str, int], Path], kind: str) -> int:
    return max((number for other, number in files if other == kind), default=0)


def _about(journal: Path | None, folder: Path) -> About:
    """Return the last that is known; of a journal that cannot be read, its time."""
    about = None
    try:
        for kind, content in read_journal(journal) if journal is not None else ():
            if kind == ABOUT:
                about = from_json(content, About) or about
    except StudioError as error:
        _log.info("told later: %s", error)
    return about or About(time=(journal or folder).stat().st_mtime)


def _run_of(project: Project, path: Path | None, open_: OpenProject) -> tuple[ProjectRun | None, StudioError | None]:
    """Return the training in the file at `path`, and whether it is of the text and files of `project`."""
    if path is None:
        return None, StudioError("The file that held the merges is not there")
    try:
        kept = open_(path)
    except StudioError as error:
        return None, error
    if kept.run is None:
        return None, StudioError("{path} holds no merges", path=display_name(path))
    corpus, other = project.corpus, kept.corpus
    is_same = corpus.text == other.text and [one.file for one in corpus.files] == [one.file for one in other.files]
    return replace(kept.run, is_of_corpus=kept.run.is_of_corpus and is_same), None


def _settings(content: bytes) -> ProjectSettings | None:
    """Return the settings of a record; None if no training can begin with them, as with those of a newer version."""
    from wordpiece_studio.storage.project.records import checked_settings

    settings = from_json(content, ProjectSettings)
    try:
        return None if settings is None else checked_settings(settings)
    except (StudioError, TypeError) as error:
        _log.info("settings of the journal are passed over: %s", error)
        return None


def _project_opener() -> OpenProject:
    from wordpiece_studio.storage.project.project_file import open_project

    return open_project


def _time_of(recoverable: Recoverable) -> float:
    return recoverable.about.time
