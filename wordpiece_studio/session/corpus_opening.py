"""Opening a corpus in the background: one small text is read, files are listed, parts of files are previewed.

The caller decides what comes next. Previews are read in a child process that stays alive for the next part.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.files import kind_of_name
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.file_rows import (
    FileRow,
    describe_in_child,
    preview_in_child,
    read_preview,
    read_rows,
    written_preview_order,
)
from wordpiece_studio.session.text_file import LARGEST_EDITED, TextFile, read_text_file
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.inspection import Preview
    from wordpiece_studio.session.background_job import Report


_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PAR1")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; an encoding of None means UTF-8, or what the byte order mark says."""

    encoding: str | None = None
    errors: ErrorHandling = "strict"


@dataclass(frozen=True, slots=True)
class OpeningOrder:
    """Open `paths`; with `as_list`, even one small text becomes a list."""

    paths: tuple[str, ...]
    reading: Reading = Reading()
    as_list: bool = False


@dataclass(frozen=True, slots=True)
class OpenedText:
    """A small text that was read, and its path."""

    path: Path
    file: TextFile


@dataclass(frozen=True, slots=True)
class OpenedFiles:
    """The end of a list, with its number of files."""

    number: int


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """More files of the list that `paths` refer to, and how many there will be in all."""

    paths: tuple[str, ...]
    rows: tuple[FileRow, ...]
    number: int


class CorpusOpening(QObject):
    """Opens one thing at a time; the latest order wins.

    Signals
    -------
    text_read(OpenedText)
        It was one small text.
    files_found(FoundFiles), files_listed(OpenedFiles)
        It is a list: batches of its files, then its end.
    failed(OpeningOrder, StudioError)
        It could not be opened.
    running_changed(bool)
        The new value of `is_running`.
    """

    text_read = Signal(object)
    files_found = Signal(object)
    files_listed = Signal(object)
    failed = Signal(object, object)
    running_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._order = OpeningOrder(())
        self._job = BackgroundJob(open_corpus, "The files cannot be opened", self, keeps_all_reports=True)
        self._job.reported.connect(self.files_found)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._job.running_changed.connect(self.running_changed)

    @property
    def is_running(self) -> bool:
        return self._job.is_running

    def open(self, order: OpeningOrder) -> None:
        """Open something; cancel what is being opened."""
        self._job.stop()
        self._order = order
        self._job.begin(order)

    def stop(self) -> None:
        """Cancel what is being opened."""
        self._job.stop()

    def close(self) -> None:
        """Cancel what is being opened and wait for the thread to end."""
        self._job.close()

    def _on_job_finished(self, result: OpenedText | OpenedFiles) -> None:
        (self.text_read if isinstance(result, OpenedText) else self.files_listed).emit(result)

    def _on_job_failed(self, error: StudioError) -> None:
        self.failed.emit(self._order, error)


def open_corpus(order: OpeningOrder, stop: threading.Event, report: Report) -> OpenedText | OpenedFiles | None:
    """Read the one small text that `order` names, or list its files; return None if canceled."""
    if not order.as_list and len(order.paths) == 1 and is_small_text(order.paths[0]):
        path = Path(order.paths[0])
        return OpenedText(path, read_text_file(path, order.reading.encoding, order.reading.errors))
    return _listed(order.paths, stop, report)


def is_small_text(path: str) -> bool:
    """Return whether a path names a file that belongs in the editor, or nothing that can be listed."""
    if kind_of_name(path) not in (None, "text") or os.path.isdir(path):
        return False
    if not os.path.isfile(path):
        return not ("*" in path or "?" in path)  # reading it will say what is wrong
    try:
        with open(path, "rb") as file:
            head = file.read(6)
    except OSError:
        return True  # as above
    return os.path.getsize(path) <= LARGEST_EDITED and not head.startswith(_COMPRESSED)


def _listed(paths: tuple[str, ...], stop: threading.Event, report: Report) -> OpenedFiles | None:
    child = ChildProcess(describe_in_child, json.dumps(paths), failure="The files cannot be listed")
    number = 0
    try:
        for kind, content in child.messages(stop):
            if kind == b"n":
                number = int(bytes(content))
            else:
                report(FoundFiles(paths, tuple(read_rows(bytes(content))), number))
    finally:
        child.end()
    return None if stop.is_set() else OpenedFiles(number)


PREVIEW_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class PreviewOrder:
    """The part of `file` that begins at the line containing byte `at`; in parquet, at row `at`."""

    file: CorpusFile
    at: int = 0


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The part requested."""

    order: PreviewOrder
    part: Preview


class PreviewJob(BackgroundJob):
    """Reads parts of files; `finished` carries a :class:`ShownPart`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(self._read, "The file cannot be previewed", parent)
        self._child: ChildProcess | None = None  # used only in the thread

    def close(self) -> None:
        """Cancel what is under way and wait for the thread and the child to end."""
        super().close()
        self._end_child()

    def _read(self, order: PreviewOrder, stop: threading.Event, _report: Report) -> ShownPart | None:
        if self._child is None:
            self._child = ChildProcess(preview_in_child, failure="The file cannot be previewed")
        child = self._child
        try:
            child.send(written_preview_order(order.file, order.at, PREVIEW_BYTES))
            for kind, content in child.messages(stop):
                if kind == b"x":
                    what, advice, values = json.loads(bytes(content))
                    raise _FileError(what, advice, **values)
                return ShownPart(order, read_preview(bytes(content)))
        except _FileError:
            raise
        except StudioError:
            self._end_child()
            raise
        self._end_child()  # it may be busy for long with a part that is no longer wanted
        return None

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


class _FileError(StudioError):
    """An error in a file, reported by the child, which stays alive."""
