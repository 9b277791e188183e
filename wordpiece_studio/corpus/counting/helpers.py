"""Processes that help to count: starting them, giving them segments, and hearing of the parts that they counted.

Not here: what runs in them (`worker`), and who gets which segment (`counting_run`).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.compiled.arrays import with_room
from wordpiece_studio.corpus.counting import worker
from wordpiece_studio.corpus.counting.part_counts import PartCounts
from wordpiece_studio.stopping import finished, undo_if_stopped

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counting.worker import Message
    from wordpiece_studio.text.word_numbers import WordNumbers

_AT_ONCE = 2  # segments that a helper has, one of them in hand
# The helper finds what its parent found, wherever that comes from; Ctrl-C is the parent's affair.
_PROGRAM = (
    "import gc, json, os, queue, signal, sys, threading\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN); gc.disable()\n"
    "lines = queue.SimpleQueue()\n"
    "def listen():\n"
    "    for line in sys.stdin.buffer: lines.put(line)\n"
    "    os._exit(0)\n"  # from the first moment on: loading takes long on a busy machine
    "threading.Thread(target=listen, daemon=True).start()\n"
    "sys.path[:] = json.loads(lines.get())\n"
    "from wordpiece_studio.corpus.counting.worker import main; main(lines)\n"
)


class Helper:
    """A process that counts segments; it is known to be gone when `has_ended`.

    Attributes
    ----------
    segments
        The numbers of the segments that it has.
    memory
        How many bytes of memory it holds.
    """

    def __init__(self, settings: bytes, messages: SimpleQueue[tuple[Helper, Message | None]]) -> None:
        self.segments: list[int] = []
        self.is_ready = self.has_ended = False
        self.memory = 0
        self._numbers = np.zeros(0, dtype=np.int32)  # by its number of a word ours
        self._known = 0
        self._start(settings, messages)

    def _start(self, settings: bytes, messages: SimpleQueue[tuple[Helper, Message | None]]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM],  # a json.py beside the texts is not to be run
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        undo_if_stopped(self, self._process.kill)  # it ends by itself, unless it hangs
        self._listener = threading.Thread(target=self._listen, args=(settings, messages), daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def has_room(self) -> bool:
        """Whether it can be given a segment."""
        return self.is_ready and not self.has_ended and len(self.segments) < _AT_ONCE

    def give(self, number: int, segment: Segment) -> None:
        """Have it count a segment."""
        self.segments.append(number)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # then it is gone, which its answers will end with
            self._process.stdin.write(json.dumps([number, segment.file, segment.start, segment.end]).encode() + b"\n")
            self._process.stdin.flush()

    def part_in(self, message: Message, numbers: WordNumbers) -> PartCounts:
        """Return the part that a message brings, its words by our numbers."""
        header, contents = message
        new = numbers.numbers_of(*worker.words_in(contents))
        self._numbers = with_room(self._numbers, self._known + len(new))
        self._numbers[self._known : self._known + len(new)] = new
        self._known += len(new)
        part = PartCounts.from_plain_data(header["part"], *contents[2:])
        return part.renumbered(self._numbers)

    def end(self) -> None:
        """End it at once; nothing that it counted and did not tell is wanted."""
        self._process.kill()
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._listener.join()
        finished(self)

    def _listen(self, settings: bytes, messages: SimpleQueue[tuple[Helper, Message | None]]) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdout as stdout, contextlib.suppress(OSError, ValueError):
            process.stdin.write(json.dumps(sys.path).encode() + b"\n" + settings)
            process.stdin.flush()
            while (message := worker.read_message(stdout)) is not None:
                messages.put((self, message))
        messages.put((self, None))


class Helpers:
    """Several of them.

    Parameters
    ----------
    count
        How many.
    settings
        From `worker.written_settings`.
    """

    def __init__(self, count: int, settings: bytes) -> None:
        self._messages: SimpleQueue[tuple[Helper, Message | None]] = SimpleQueue()
        self._all: list[Helper] = []
        with contextlib.suppress(OSError):  # no room for another process: then fewer help
            for _ in range(count):
                self._all.append(Helper(settings, self._messages))

    def __iter__(self) -> Any:
        return iter([helper for helper in self._all if not helper.has_ended])

    @property
    def memory(self) -> int:
        """How many bytes of memory they hold."""
        return sum(helper.memory for helper in self)

    def heard(self, seconds: float = 0.0) -> tuple[Helper, Message | None] | None:
        """Return the next message of one, None in its place at its end; None if there is none within some seconds."""
        try:
            return self._messages.get(timeout=seconds) if seconds else self._messages.get_nowait()
        except Empty:
            return None

    def end(self) -> None:
        """End all."""
        for helper in self._all:
            helper.end()


def most_processes() -> int:
    """Return how many processes can count at the same time on this machine, this one included."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1
