"""Counting words in the background: small texts in a thread, large ones and files in a child process.

Pure Python work in a thread stalls the window, so a thread is used only for work that is done at once; besides, a child
process can be paused, and killed at any time. The counting itself, and its result, belong to the core.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import is_typed_counts, read_typed_counts
from wordpiece_studio.corpus.counts import PartsReader
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.corpus_child import (
    KEEP,
    PAUSE,
    READY,
    RESUME,
    TEXT,
    count_in_child,
    pieces_of,
    read_progress,
    written_count_order,
)
from wordpiece_studio.session.garbage import free_words_slowly
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

LONGEST_WORD = 1000
"""In characters; longer words are skipped unless the user sets another limit."""
LARGEST_IN_THREAD = 200_000
"""In characters; a longer text is counted in a child process."""


class CountingControl:
    """Sends commands to a running count from the window's thread; queues them until the child has started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._queued: list[bytes] = []

    def send(self, command: bytes) -> None:
        """Send `command` to the child, at once or when it is attached."""
        with self._lock:
            if self._child is None:
                self._queued.append(command)
            else:
                _send(self._child, command)

    def attach(self, child: ChildProcess) -> None:
        """Send commands to `child` from now on, the queued ones first."""
        with self._lock:
            self._child = child
            for command in self._queued:
                _send(child, command)

    def detach(self) -> None:
        """Send nothing more to the child, which is about to end."""
        with self._lock:
            self._child, self._queued = None, []


@dataclass(frozen=True, slots=True)
class CountOrder:
    """What to count: `text`, or, if it is None, `files`."""

    text: str | None
    files: tuple[CorpusFile, ...]
    normalizer: str | Normalizer | None
    pre_tokenizer: str | PreTokenizer
    max_word_length: int = LONGEST_WORD
    control: CountingControl = field(default_factory=CountingControl)


class CountingJob(BackgroundJob):
    """Counts words; a new order cancels the previous one.

    Signals
    -------
    finished(WordCounts), failed(StudioError)
        How the latest order ended; neither after `stop`.
    reported(CountingProgress)
        At most about 20 times a second, for large texts and files.
    paused_changed(bool)
        The new value of `is_paused`.
    """

    paused_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(count, "The words cannot be counted", parent)
        self._control = CountingControl()
        self._is_paused = False
        self.running_changed.connect(self._on_self_running_changed)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def count_text(
        self,
        text: str,
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        max_word_length: int = LONGEST_WORD,
    ) -> None:
        """Count the words of `text`, skipping those of more than `max_word_length` characters."""
        self._count(CountOrder(text, (), normalizer, pre_tokenizer, max_word_length))

    def count_files(
        self,
        files: Sequence[CorpusFile],
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        max_word_length: int = LONGEST_WORD,
    ) -> None:
        """Count the words of files, in the order given, skipping those of more than `max_word_length` characters."""
        self._count(CountOrder(None, tuple(files), normalizer, pre_tokenizer, max_word_length))

    def pause(self) -> None:
        """Pause the count: all its processes halt a moment later."""
        if self.is_running and not self._is_paused:
            self._control.send(PAUSE)
            self._set_paused(True)

    def resume(self) -> None:
        if self._is_paused:
            self._control.send(RESUME)
            self._set_paused(False)

    def stop_and_keep(self) -> None:
        """End the count and keep what was counted so far: `finished` delivers the counts of a first part."""
        if self.is_running:
            self._control.send(KEEP)
            self._set_paused(False)

    def _count(self, order: CountOrder) -> None:
        self._control = order.control
        self._set_paused(False)
        self.begin(order)

    def _on_self_running_changed(self, is_running: bool) -> None:
        if not is_running:
            self._set_paused(False)

    def _set_paused(self, is_paused: bool) -> None:
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self.paused_changed.emit(is_paused)


def count(order: CountOrder, stop: threading.Event, report: Report) -> WordCounts | None:
    """Return the counts; None if canceled."""
    from wordpiece_studio.corpus.counting.counting import count_texts, count_words
    from wordpiece_studio.corpus.counts import CountingStopped
    from wordpiece_studio.text.normalizers import resolve_normalizer
    from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

    normalizer, pre_tokenizer = resolve_normalizer(order.normalizer), resolve_pre_tokenizer(order.pre_tokenizer)
    is_small = order.text is not None and len(order.text) <= LARGEST_IN_THREAD
    written = ""
    if order.text is not None and is_typed_counts(order.text):
        is_small = True  # a line takes much less time than the words in it
    if not is_small:
        try:
            files = order.files if order.text is None else None
            written = written_count_order(normalizer, pre_tokenizer, files, order.max_word_length)
        except StudioError:  # a custom pipeline cannot be sent: count here, though it slows the window
            is_small = True
    try:
        if not is_small:
            return _counted_in_child(written, order, PartsReader(normalizer, pre_tokenizer), stop, report)
        most, should_stop = order.max_word_length, stop.is_set
        if order.text is not None and is_typed_counts(order.text):
            counts = read_typed_counts(order.text, normalizer, pre_tokenizer, should_stop)
        elif order.text is not None:
            counts = count_texts([order.text], normalizer, pre_tokenizer, max_word_length=most, should_stop=should_stop)
        else:
            counts = count_words(order.files, normalizer, pre_tokenizer, max_word_length=most, should_stop=should_stop)
        _ = counts.alphabet_size, counts.symbols  # worked out here, not in the window's thread
        return counts
    except CountingStopped:
        return None


def _counted_in_child(
    written: str, order: CountOrder, reader: PartsReader, stop: threading.Event, report: Report
) -> WordCounts | None:
    child = ChildProcess(count_in_child, written, failure="The words cannot be counted")
    order.control.attach(child)
    try:
        for kind, content in child.messages(stop):
            if kind == b"p":
                report(read_progress(bytes(content)))
            elif kind == READY:
                _send_text(child, order.text or "", stop)
            else:
                reader.take(kind, bytes(content))
    finally:
        order.control.detach()
        child.end()
    if stop.is_set():
        return None
    counts = reader.counts()
    free_words_slowly(counts)
    return counts


def _send_text(child: ChildProcess, text: str, stop: threading.Event) -> None:
    """Send a text in pieces, then an empty one to end it."""
    for piece in pieces_of(text):
        if stop.is_set():
            return
        child.send(TEXT + piece)
    child.send(TEXT)


def _send(child: ChildProcess, command: bytes) -> None:
    try:
        child.send(command)
    except StudioError:
        return  # the child died: whoever reads its messages reports that
