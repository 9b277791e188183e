"""Previews of parts of a file, read in a child process that stays alive for the next part."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.corpus_child import preview_in_child, read_preview, written_preview_order
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    import threading

    from PySide6.QtCore import QObject

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.preview import Preview
    from wordpiece_studio.session.background_job import Report

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
        super().__init__(self._read, "The preview", parent)
        self._child: ChildProcess | None = None  # used only in the thread

    def close(self) -> None:
        """Cancel what is under way and wait for the thread and the child to end."""
        super().close()
        self._end_child()

    def _read(self, order: PreviewOrder, stop: threading.Event, _report: Report) -> ShownPart | None:
        if self._child is None:
            self._child = ChildProcess(preview_in_child, name="The preview")
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
