"""Counting words in a child process.

The result of a count comes in blocks of long byte strings, because receiving millions of small objects, or one very
long string, would stall the window. This module is imported by the child, which has no window: it must not import Qt.
"""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counts import CountingProgress, parts_of
from wordpiece_studio.corpus.files import CorpusFile, check_agreed
from wordpiece_studio.system.child_process import lower_priority
from wordpiece_studio.text import normalizers, pre_tokenizers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.system.child_process import ParentConnection
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

PROGRESS_INTERVAL_SECONDS = 0.05
_FIELDS = tuple(field.name for field in dataclasses.fields(CorpusFile))
TEXT_PIECE = 1 << 20  # characters
PAUSE, RESUME, KEEP = b"p", b"r", b"k"
"""The window's commands to a running count: pause, resume, and stop but keep what has been counted."""
READY, TEXT = b"?", b"t"
"""Message kinds: ready to receive; a piece of the text, in a count an empty one at its end."""


def count_in_child(connection: ParentConnection, order: str) -> None:
    """Carry out `order`, see `written_count_order`, and send the blocks of the result.

    Message kinds: ``?`` ready for the text, ``p`` progress, ``w`` words of a block, ``l`` their lengths, ``c``
    their counts, ``s`` statistics and the rest.
    """
    from wordpiece_studio.corpus.counting.counting import count_texts, count_words

    wanted = json.loads(order)
    normalizer = normalizers.from_spec(wanted["normalizer"])
    pre_tokenizer = pre_tokenizers.from_spec(wanted["pre_tokenizer"])
    lower_priority()  # the window comes first
    progress, commands = _Progress(connection), _Commands(connection)
    commands.start()
    if wanted["files"] is None:
        connection.send_bytes(READY)
        text = commands.text()
        counts = count_texts(
            [text], normalizer, pre_tokenizer, max_word_length=wanted["max_word_length"], progress=progress,
            should_stop=commands.should_stop,
        )  # fmt: skip
    else:
        files = [CorpusFile(**file) for file in wanted["files"]]
        counts = count_words(
            files, normalizer, pre_tokenizer, max_word_length=wanted["max_word_length"], processes=None,
            progress=progress, should_stop=commands.should_stop, keeps_when_stopped=True,
        )  # fmt: skip
    for kind, content in parts_of(counts):
        connection.send_bytes(kind + content)


def written_count_order(
    normalizer: Normalizer, pre_tokenizer: PreTokenizer, files: Sequence[CorpusFile] | None, max_word_length: int
) -> str:
    """Return an order as JSON; without files, the text is sent once the child is ready."""
    return json.dumps(
        {
            "normalizer": normalizers.to_spec(normalizer),
            "pre_tokenizer": pre_tokenizers.to_spec(pre_tokenizer),
            "files": None if files is None else [written_file(file) for file in files],
            "max_word_length": max_word_length,
        }
    )


def written_file(file: CorpusFile) -> dict[str, Any]:
    """Return a file as plain data for a child, which reads it.

    `dataclasses.asdict` takes ten times as long, and there may be thousands.
    """
    check_agreed(file)
    return {name: getattr(file, name) for name in _FIELDS}


def read_progress(content: bytes) -> CountingProgress:
    """Return the content of a message of kind ``p``."""
    return CountingProgress(**json.loads(content))


class _Commands(threading.Thread):
    """Receives the window's messages: the text to count, and the commands to pause, resume, or stop and keep."""

    def __init__(self, connection: ParentConnection) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self._text: list[str] = []
        self._text_is_complete = threading.Event()
        self._is_unpaused = threading.Event()
        self._is_unpaused.set()
        self._is_stopped = False

    def run(self) -> None:
        """Listen forever."""
        while True:
            message = self._connection.recv_bytes()
            self._obey(message[:1], message[1:])

    def text(self) -> str:
        self._text_is_complete.wait()
        return "".join(self._text)

    def should_stop(self) -> bool:
        """Return whether to stop now; block while the count is paused."""
        self._is_unpaused.wait()
        return self._is_stopped

    def _obey(self, command: bytes, content: bytes) -> None:
        if command == TEXT and content:
            self._text.append(content.decode("utf-8", "surrogatepass"))
        elif command == TEXT:
            self._text_is_complete.set()
        elif command == PAUSE:
            self._is_unpaused.clear()
        else:
            self._is_stopped = self._is_stopped or command == KEEP
            self._is_unpaused.set()


class _Progress:
    """Reports the progress to the parent, at most 20 times a second."""

    def __init__(self, connection: ParentConnection) -> None:
        self._connection = connection
        self._next = 0.0

    def __call__(self, progress: CountingProgress) -> None:
        now = time.monotonic()
        if now >= self._next or progress.bytes_done >= progress.bytes_total:
            self._next = now + PROGRESS_INTERVAL_SECONDS
            self._connection.send_bytes(b"p" + json.dumps(dataclasses.asdict(progress)).encode())


def pieces_of(text: str) -> Iterator[bytes]:
    for start in range(0, len(text), TEXT_PIECE):
        yield text[start : start + TEXT_PIECE].encode("utf-8", "surrogatepass")
