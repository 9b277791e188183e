"""Opening a corpus beside the window: one small text is read, all else is listed. The caller does the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.files import kind_of_name
from wordpiece_studio.corpus.inspection import described_files
from wordpiece_studio.session.corpus_files import described_row
from wordpiece_studio.session.document import LARGEST_EDITED, TextFile, read_text_file
from wordpiece_studio.session.task import Task

if TYPE_CHECKING:
    from wordpiece_studio.corpus.decoding import ErrorHandling


_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PAR1")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; an encoding of None means UTF-8, or what the byte order mark says."""

    encoding: str | None = None
    errors: ErrorHandling = "strict"


class CorpusOpening(QObject):
    """Opens one thing at a time, the latest.

    Attributes
    ----------
    paths, reading, as_list
        What was opened last.

    Signals
    -------
    text_read(Path, TextFile)
        It was one small text.
    files_found(list[FileRow], int)
        It is a list: some of its files, and how many there will be in all.
    files_listed()
        There are no more of them.
    failed(StudioError)
        It could not be opened.
    ended()
        Nothing is being opened any more, for whatever reason; comes first.
    """

    text_read = Signal(object, object)
    files_found = Signal(object, object)
    files_listed = Signal()
    failed = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.paths: tuple[str, ...] = ()
        self.reading = Reading()
        self.as_list = False
        self._text = Task(small_text, "The files cannot be opened", self)
        self._text.finished.connect(self._on_text_finished)
        self._list = Task(described_files, "The files cannot be listed", self, in_child=True)
        self._list.part_ready.connect(self._on_list_part_ready)
        self._list.finished.connect(self._on_list_finished)
        for task in (self._text, self._list):
            task.failed.connect(self._on_failed)

    @property
    def is_running(self) -> bool:
        return self._text.is_running or self._list.is_running

    def open(self, paths: tuple[str, ...], reading: Reading | None = None, *, as_list: bool = False) -> None:
        """Open something; cancel what is being opened. With `as_list`, even one small text becomes a list."""
        self.stop()
        self.paths, self.reading, self.as_list = paths, reading or Reading(), as_list
        if as_list or len(paths) > 1:
            self._list.run(paths)
        else:
            self._text.run(paths[0], self.reading)

    def stop(self) -> None:
        was_running = self.is_running
        self._text.stop()
        self._list.stop()
        if was_running:
            self.ended.emit()

    def close(self) -> None:
        self._text.close()
        self._list.close()

    def _on_text_finished(self, file: TextFile | None) -> None:
        if file is None:
            self._list.run(self.paths)
        else:
            self.ended.emit()
            self.text_read.emit(Path(self.paths[0]), file)

    def _on_list_part_ready(self, part: tuple[int, list[object]]) -> None:
        number, found = part
        self.files_found.emit([described_row(each) for each in found], number)  # type: ignore[arg-type]

    def _on_list_finished(self) -> None:
        self.ended.emit()
        self.files_listed.emit()

    def _on_failed(self, error: object) -> None:
        self.ended.emit()
        self.failed.emit(error)


def small_text(path: str, reading: Reading) -> TextFile | None:
    """Return the content of a small text; None if it is something else, to be listed."""
    return read_text_file(Path(path), reading.encoding, reading.errors) if is_small_text(path) else None


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
