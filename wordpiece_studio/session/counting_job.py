"""Counting words beside the window: small texts in a thread, large ones and files in a child process.

Pure Python work in a thread stalls the window, so a thread is used only where the work is over at once; a child
process can besides be held, and ended at any moment. What counts, and what the counts are, is the core's affair.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.counts import PartsReader
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.counting_child import (
    GO_ON,
    KEEP,
    PAUSE,
    TEXT,
    TEXT_PIECE,
    count_in_child,
    read_progress,
    written_order,
)
from wordpiece_studio.session.garbage import free_words_slowly
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

LONGEST_WORD = 1000
"""Characters; a longer word is left out unless the user says otherwise."""
LARGEST_IN_THREAD = 200_000
"""Characters; a longer text is counted in a child process."""


class CountingControl:
    """What is said to a counting while it runs, from the window's thread; kept for a child that has yet to begin."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._said: list[bytes] = []

    def say(self, command: bytes) -> None:
        """Tell the child `command`, at once or when it is there."""
        with self._lock:
            if self._child is None:
                self._said.append(command)
            else:
                _tell(self._child, command)

    def attach(self, child: ChildProcess) -> None:
        """Speak to `child` from now on."""
        with self._lock:
            self._child = child
            for command in self._said:
                _tell(child, command)

    def detach(self) -> None:
        """Do not speak to the child any more: it ends."""
        with self._lock:
            self._child, self._said = None, []


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
    """Counts words; the latest order wins, and the ones before are given up.

    Signals
    -------
    finished(WordCounts), failed(StudioError)
        How the latest order ended; neither after `stop`.
    reported(CountingProgress)
        At most about 20 times a second, for large texts and files.
    paused_changed(bool)
        Whether the counting is held now.
    """

    paused_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(count, "The counting", parent)
        self._control = CountingControl()
        self._is_paused = False
        self.running_changed.connect(self._on_self_running_changed)

    @property
    def is_paused(self) -> bool:
        """Whether a counting is held."""
        return self._is_paused

    def count_text(
        self,
        text: str,
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        max_word_length: int = LONGEST_WORD,
    ) -> None:
        """Count the words of `text`, but those of more than `max_word_length` characters."""
        self._count(CountOrder(text, (), normalizer, pre_tokenizer, max_word_length))

    def count_files(
        self,
        files: Sequence[CorpusFile],
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        max_word_length: int = LONGEST_WORD,
    ) -> None:
        """Count the words of files, in the order given, but those of more than `max_word_length` characters."""
        self._count(CountOrder(None, tuple(files), normalizer, pre_tokenizer, max_word_length))

    def pause(self) -> None:
        """Hold what runs: all its processes stand still a moment later."""
        if self.is_running and not self._is_paused:
            self._control.say(PAUSE)
            self._set_paused(True)

    def resume(self) -> None:
        """Go on with what is held."""
        if self._is_paused:
            self._control.say(GO_ON)
            self._set_paused(False)

    def stop_and_keep(self) -> None:
        """End what runs and have what was counted so far: `finished` comes with the counts of a first part of it."""
        if self.is_running:
            self._control.say(KEEP)
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
    """Return the counts; None if given up."""
    from wordpiece_studio.corpus.counting.counting import count_texts, count_words
    from wordpiece_studio.corpus.counts import CountingStopped
    from wordpiece_studio.text.normalizers import resolve_normalizer
    from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

    normalizer, pre_tokenizer = resolve_normalizer(order.normalizer), resolve_pre_tokenizer(order.pre_tokenizer)
    is_small = order.text is not None and len(order.text) <= LARGEST_IN_THREAD
    written = ""
    if not is_small:
        try:
            files = order.files if order.text is None else None
            written = written_order(normalizer, pre_tokenizer, files, order.max_word_length)
        except StudioError:  # a custom pipeline cannot be sent: count it here, slower for the window
            is_small = True
    try:
        if not is_small:
            return _counted_in_child(written, order, PartsReader(normalizer, pre_tokenizer), stop, report)
        most, should_stop = order.max_word_length, stop.is_set
        if order.text is not None:
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
    child = ChildProcess(count_in_child, written, name="The counting")
    order.control.attach(child)
    try:
        for kind, content in child.messages(stop):
            if kind == b"p":
                report(read_progress(bytes(content)))
            elif kind == b"?":
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
    """Send a text in pieces, and an empty one to end it."""
    for start in range(0, len(text), TEXT_PIECE):
        if stop.is_set():
            return
        child.send(TEXT + text[start : start + TEXT_PIECE].encode("utf-8", "surrogatepass"))
    child.send(TEXT)


def _tell(child: ChildProcess, command: bytes) -> None:
    try:
        child.send(command)
    except StudioError:
        return  # it died: whoever hears its messages tells so
