"""The state of the corpus files when they were last read, and whether they have changed since.

Checking files may take long if they are on another machine, so it is done in the background.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.remote_files import is_url
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.storage.project.contents import CorpusReference

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.session.background_job import Report

_MOST_ENTRIES = 500_000
"""The most files and folders to go through in search of moved files."""

Signature = tuple[int, int]
"""Size in bytes, and time of the last change in nanoseconds since 1970."""


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The paths of files that no longer exist, and of files that have changed since they were read."""

    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MovedFiles:
    """New paths of files by old path, and the files that were not found."""

    places: dict[str, str]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Search:
    folder: str
    gone: tuple[str, ...]
    sizes: dict[str, int]


class CorpusReferences(QObject):
    """Remembers the size and modification time of files by path.

    Signals
    -------
    checked(ChangedFiles)
        The answer to the latest `check`.
    found(MovedFiles)
        The answer to the latest `search`.
    """

    checked = Signal(object)
    found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[str, CorpusReference] = {}
        self._noting = BackgroundJob(signatures, "The look at the files", self)
        self._noting.finished.connect(self._on_noting_finished)
        self._checking = BackgroundJob(changed_files, "The look at the files", self)
        self._checking.finished.connect(self.checked)
        self._searching = BackgroundJob(moved_files, "The search", self)
        self._searching.finished.connect(self.found)

    @property
    def is_running(self) -> bool:
        """Whether files are being checked."""
        return self._noting.is_running or self._checking.is_running or self._searching.is_running

    def of(self, file: CorpusFile) -> CorpusReference:
        """Return what is known about a file."""
        known = self._known.get(file.path)
        return CorpusReference(file) if known is None else replace(known, file=file)

    def note_read(self, paths: Iterable[str]) -> None:
        """Remember the state of these files, which are being read now."""
        self._noting.begin(tuple(paths))

    def take(self, references: Iterable[CorpusReference]) -> None:
        """Replace all references, and check them."""
        self._noting.stop()
        self._known = {reference.file.path: reference for reference in references}
        self.check()

    def check(self) -> None:
        """Find out which files are gone or changed; `checked` has the answer."""
        self._checking.begin(tuple(self._known.values()))

    def search(self, folder: str, gone: Iterable[str]) -> None:
        """Search a folder and its subfolders for files of the same names; `found` has the answer."""
        sizes = {path: reference.size for path, reference in self._known.items()}
        self._searching.begin(_Search(folder, tuple(gone), sizes))

    def move(self, places: dict[str, str]) -> None:
        """Change the paths of files, given by old path: they are the same files."""
        for old, new in places.items():
            known = self._known.pop(old, None)
            if known is not None:
                self._known[new] = replace(known, file=replace(known.file, path=new))

    def close(self) -> None:
        """Cancel what runs and wait for it to end."""
        for job in (self._noting, self._checking, self._searching):
            job.close()

    def _on_noting_finished(self, found: dict[str, CorpusReference]) -> None:
        self._known = found


def signatures(paths: tuple[str, ...], stop: threading.Event, _report: Report) -> dict[str, CorpusReference] | None:
    """Return the present state of the files at `paths`, without those that cannot be inspected."""
    from wordpiece_studio.corpus.corpus_file import CorpusFile

    found = {}
    for path in paths:
        if stop.is_set():
            return None
        signature = signature_of(path)
        if signature is not None:
            found[path] = CorpusReference(CorpusFile(path), *signature)
    return found


def changed_files(
    references: tuple[CorpusReference, ...], stop: threading.Event, _report: Report
) -> ChangedFiles | None:
    """Return which files are gone or have changed."""
    gone, changed = [], []
    for reference in references:
        if stop.is_set():
            return None
        path = reference.file.path
        if is_url(path):
            continue
        signature = signature_of(path)
        if signature is None:
            gone.append(path)
        elif reference.size >= 0 and signature != (reference.size, reference.modified_ns):
            changed.append(path)
    return ChangedFiles(tuple(gone), tuple(changed))


def moved_files(search: _Search, stop: threading.Event, _report: Report) -> MovedFiles | None:
    """Find for each missing file one of the same name below a folder, preferably of the same size."""
    wanted: dict[str, list[str]] = {}
    for path in search.gone:
        wanted.setdefault(os.path.basename(path), []).append(path)
    candidates: dict[str, list[str]] = {name: [] for name in wanted}
    seen = 0
    for folder, _, names in os.walk(search.folder):
        seen += len(names) + 1
        if stop.is_set():
            return None
        if seen > _MOST_ENTRIES:
            break
        for name in wanted.keys() & set(names):
            candidates[name].append(os.path.join(folder, name))
    places: dict[str, str] = {}
    for name, olds in wanted.items():
        for old in olds:
            new = _most_similar(old, search.sizes.get(old, -1), candidates[name])
            if new is not None:
                places[old] = new
    missing = tuple(path for path in search.gone if path not in places)
    return MovedFiles(places, missing)


def _most_similar(old: str, size: int, candidates: list[str]) -> str | None:
    """Return the candidate, preferably of that size, whose path shares the most trailing parts with the old one."""

    def similarity(path: str) -> tuple[bool, int]:
        shared = 0
        for one, other in zip(reversed(Path(path).parts), reversed(Path(old).parts), strict=False):
            if one != other:
                break
            shared += 1
        return ((signature_of(path) or (-1, 0))[0] == size, shared)

    return max(candidates, key=similarity, default=None)


def signature_of(path: str) -> Signature | None:
    """Return the size and modification time of a file; None if it cannot be inspected."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns
