"""Counting words beside the window: small texts in a thread, large ones and files in a child process.

Pure Python work in a thread stalls the window, so a thread is used only where the work is over at once; a child
process can besides be ended at any moment. What counts, and what the counts are, is the core's affair.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal, Slot

from wordpiece_studio.errors import StudioError
from wordpiece_studio.model.child_process import ChildProcess
from wordpiece_studio.model.counting_child import TEXT_PIECE, count_in_child, joined_parts, written_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer

_log = logging.getLogger(__name__)

LARGEST_IN_THREAD = 200_000
"""Characters; a longer text is counted in a child process."""


@dataclass(frozen=True, slots=True)
class CountingProgress:
    """How far a counting is, in bytes."""

    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class CountRequest:
    """What to count: `text`, or, if it is None, the files `paths`."""

    run: int
    stop: threading.Event
    text: str | None
    paths: tuple[str, ...]
    normalizer: str | Normalizer | None
    pre_tokenizer: str | PreTokenizer
    encoding: str | None


@dataclass(frozen=True, slots=True)
class CountReport:
    """What came of the request with the number `run`: one of the others is not None."""

    run: int
    counts: WordCounts | None = None
    error: StudioError | None = None
    progress: CountingProgress | None = None


class CountingWorker(QObject):
    """Lives in the counting thread; one request after the other."""

    reported = Signal(object)

    @Slot(object)
    def count(self, request: CountRequest) -> None:
        """Count what was asked for, unless it was given up meanwhile, and report."""
        if request.stop.is_set():
            return
        try:
            counts = self._counted(request)
        except StudioError as error:
            self.reported.emit(CountReport(request.run, error=error))
        except Exception as error:
            self.reported.emit(CountReport(request.run, error=_as_studio_error(error)))
        else:
            if counts is not None:
                self.reported.emit(CountReport(request.run, counts=counts))

    def _counted(self, request: CountRequest) -> WordCounts | None:
        """Return the counts; None if stopped."""
        from wordpiece_studio.core.corpus.counting import CountingStopped, count_texts, count_words
        from wordpiece_studio.core.text.normalizers import resolve_normalizer
        from wordpiece_studio.core.text.pre_tokenizers import resolve_pre_tokenizer

        normalizer, pre_tokenizer = resolve_normalizer(request.normalizer), resolve_pre_tokenizer(request.pre_tokenizer)
        is_small = request.text is not None and len(request.text) <= LARGEST_IN_THREAD
        if not is_small:
            try:
                order = written_order(
                    normalizer, pre_tokenizer, list(request.paths) if request.text is None else None, request.encoding
                )
            except StudioError:  # a pipeline of somebody's own cannot be sent: count it here, slower for the window
                is_small = True
        stopped = request.stop.is_set
        try:
            if not is_small:
                return self._counted_in_child(order, request, normalizer, pre_tokenizer)
            if request.text is not None:
                return count_texts([request.text], normalizer, pre_tokenizer, should_stop=stopped)
            return count_words(request.paths, normalizer, pre_tokenizer, encoding=request.encoding, should_stop=stopped)
        except CountingStopped:
            return None

    def _counted_in_child(
        self, order: str, request: CountRequest, normalizer: Normalizer, pre_tokenizer: PreTokenizer
    ) -> WordCounts | None:
        parts: dict[bytes, bytes] = {}
        child = ChildProcess(count_in_child, order, name="The counting")
        try:
            for kind, content in child.messages(request.stop):
                if kind == b"p":
                    done, total = json.loads(bytes(content))
                    self.reported.emit(CountReport(request.run, progress=CountingProgress(done, total)))
                elif kind == b"?":
                    _send_text(child, request.text or "", request.stop)
                else:
                    parts[kind] = bytes(content)
        finally:
            child.end()
        if request.stop.is_set():
            return None
        return joined_parts(parts, normalizer, pre_tokenizer)


class CountingJob(QObject):
    """Counts words; the latest request wins, and the ones before are given up.

    Signals
    -------
    finished(WordCounts), failed(StudioError)
        How the latest request ended; neither after `stop`.
    progress(CountingProgress)
        At most about 20 times a second, for large texts and files.
    running_changed(bool)
        What is so now.
    """

    finished = Signal(object)
    failed = Signal(object)
    progress = Signal(object)
    running_changed = Signal(object)

    _requested = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = 0
        self._stop = threading.Event()
        self._is_running = False
        self._worker = CountingWorker()
        self._thread: QThread | None = None  # begun when it is needed first
        self._is_closed = False
        self._requested.connect(self._worker.count)
        self._worker.reported.connect(self._on_worker_reported)

    @property
    def is_running(self) -> bool:
        """Whether a counting runs."""
        return self._is_running

    def count_text(
        self, text: str, normalizer: str | Normalizer | None = "bert-cased", pre_tokenizer: str | PreTokenizer = "bert"
    ) -> None:
        """Count the words of `text`."""
        self._request(text, (), normalizer, pre_tokenizer, None)

    def count_files(
        self,
        paths: Sequence[str | os.PathLike[str]],
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        *,
        encoding: str | None = None,
    ) -> None:
        """Count the words of files, in the order given."""
        self._request(None, tuple(os.fspath(path) for path in paths), normalizer, pre_tokenizer, encoding)

    def stop(self) -> None:
        """Give up what runs; nothing more is heard of it."""
        self._stop.set()
        self._run += 1
        self._set_running(False)

    def close(self) -> None:
        """Give up what runs and wait for the thread, and the child process if there is one, to end."""
        self._is_closed = True
        self._stop.set()
        self._run += 1
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.quit()
            thread.wait()

    def _request(
        self,
        text: str | None,
        paths: tuple[str, ...],
        normalizer: str | Normalizer | None,
        pre_tokenizer: str | PreTokenizer,
        encoding: str | None,
    ) -> None:
        if self._is_closed:
            return
        self._stop.set()
        self._stop = threading.Event()
        self._run += 1
        if self._thread is None:
            self._begin_thread()
        self._set_running(True)
        self._requested.emit(CountRequest(self._run, self._stop, text, paths, normalizer, pre_tokenizer, encoding))

    def _begin_thread(self) -> None:
        self._thread = QThread()
        self._thread.setObjectName("counting")
        self._worker.moveToThread(self._thread)
        self._thread.start()
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    def _on_worker_reported(self, report: CountReport) -> None:
        if report.run != self._run:
            return  # of a request that was given up
        if report.progress is not None:
            self.progress.emit(report.progress)
            return
        self._set_running(False)
        if report.error is not None:
            self.failed.emit(report.error)
        else:
            self.finished.emit(report.counts)

    def _set_running(self, is_running: bool) -> None:
        if is_running != self._is_running:
            self._is_running = is_running
            self.running_changed.emit(is_running)


def _send_text(child: ChildProcess, text: str, stop: threading.Event) -> None:
    """Send a text in pieces, and an empty one to end it."""
    for start in range(0, len(text), TEXT_PIECE):
        if stop.is_set():
            return
        child.send(text[start : start + TEXT_PIECE].encode("utf-8", "surrogatepass"))
    child.send(b"")


def _as_studio_error(error: Exception) -> StudioError:
    _log.error("The counting failed", exc_info=error)
    if isinstance(error, MemoryError):
        return StudioError(
            "There is not enough memory to count these words", "Close other programs, or take a smaller corpus."
        )
    return StudioError(
        "The counting failed: {kind}: {message}",
        "This is a fault of the program; the log holds the details.",
        kind=type(error).__name__,
        message=error,
    )
