"""Those who count segments of a corpus at the same time: threads of this process, or child processes; all are equal.

Kernels run beside each other in threads; what is Python, such as a pattern, needs processes. A child has a thread here
that asks it, so one worker is like another. A child that is lost costs nothing but time. Not here: who counts which
segment, and what becomes of the parts (`counting_run`).
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.corpus.counting.counting_progress import resident_bytes
from wordpiece_studio.corpus.counting.part_counts import PartCounts, Renumbering
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter, counter_for
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child_process import POLL_SECONDS, ChildProcess, read_error, written_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.system.child_process import ParentConnection
    from wordpiece_studio.text.word_numbers import WordNumbers

_AT_ONCE = 2  # segments that a worker has, one of them in hand
_PARTS_AT_ONCE = 2  # that wait to be heard, of each worker; then it rests
_READY, _PART, _FAULT, _OVER = b"r", b"p", b"f", b"o"
"""What a child says: it can begin; a part; that a segment has a fault; that it is over, and how much memory it has."""
_GO_ON = b"g"
"""What a child waits for after each part."""


class Answer(NamedTuple):
    """What a worker says of a segment.

    Attributes
    ----------
    segment
        The number of the segment.
    part, fault
        A part of it, or why it cannot be read; neither if it is over.
    is_lost
        Whether it must be counted again.
    """

    segment: int
    part: PartCounts | None = None
    fault: StudioError | None = None
    is_lost: bool = False


class Workers:
    """Several of them.

    Parameters
    ----------
    order
        From `segment_counter.written_order`.
    count
        How many.
    numbers
        The numbers that words have here.
    are_children
        Whether each has a process of its own.
    """

    def __init__(self, order: dict[str, Any], count: int, numbers: WordNumbers, *, are_children: bool) -> None:
        self._order = order
        self._numbers = numbers
        self._said: SimpleQueue[tuple[Worker, object]] = SimpleQueue()
        self._stop = threading.Event()
        self._all: list[Worker] = []
        self._lost: list[int] = []  # segments that were lost and not told yet
        self._begin(is_child=are_children)
        with contextlib.suppress(RuntimeError):  # no room for another thread: then fewer count
            for _ in range(count - 1):
                self._begin(is_child=are_children)

    @property
    def free(self) -> Worker | None:
        """The one that can best be given a segment; None if there is none."""
        ready = [worker for worker in self._all if worker.is_ready and len(worker.segments) < _AT_ONCE]
        return min(ready, key=lambda worker: len(worker.segments), default=None)

    @property
    def memory(self) -> int:
        """How many bytes of memory their processes hold."""
        return sum(worker.memory for worker in self._all)

    def heard(self, seconds: float = 0.0) -> Answer | None:
        """Return the next that one says; None if nothing was said within some seconds.

        Raises
        ------
        BaseException
            What ended a thread of this process.
        """
        if self._lost:
            return Answer(self._lost.pop(), is_lost=True)
        try:
            worker, said = self._said.get(timeout=seconds)
        except Empty:
            return None
        if said is _READY:
            worker.is_ready = True
        elif said is _OVER:
            return Answer(worker.segments.pop(0))
        elif isinstance(said, PartCounts):
            worker.waiting_parts.release()
            return Answer(worker.segments[0], part=worker.renumbering.renumbered(said))
        elif isinstance(said, StudioError):
            return Answer(worker.segments.pop(0), fault=said)
        elif isinstance(said, LostChildError):
            self._lose(worker)
        elif isinstance(said, BaseException):
            raise said
        return self.heard()

    def end(self) -> None:
        """End all; nothing that was counted and not heard is wanted."""
        self._stop.set()
        for worker in self._all:
            worker.end()

    def _begin(self, *, is_child: bool) -> None:
        worker = Worker(self._order, self._said, self._stop, Renumbering(self._numbers), is_child=is_child)
        worker.start()
        self._all.append(worker)

    def _lose(self, worker: Worker) -> None:
        """Do without a child; what it had is lost. Where there is none left, a thread of this process counts."""
        self._lost += worker.segments
        worker.end()
        self._all.remove(worker)
        if not self._all:
            self._begin(is_child=False)


class Worker(threading.Thread):
    """A thread that counts segments, or has a child process count them, and says what comes of it.

    Attributes
    ----------
    segments
        The numbers of those that it has, in the order in which it counts them.
    is_ready
        Whether it can be given some.
    memory
        How many bytes of memory its process holds; 0 if it is this one.
    renumbering
        Its words.
    waiting_parts
        To be released when a part was heard: as long as none is, it rests.
    """

    def __init__(
        self,
        order: dict[str, Any],
        said: SimpleQueue[tuple[Worker, object]],
        stop: threading.Event,
        renumbering: Renumbering,
        *,
        is_child: bool,
    ) -> None:
        super().__init__(daemon=True, name="counting")
        self.segments: list[int] = []
        self.is_ready = False
        self.memory = 0
        self.renumbering = renumbering
        self.waiting_parts = threading.Semaphore(_PARTS_AT_ONCE)
        self._order = order
        self._said = said
        self._stop_event = stop
        self._is_child = is_child
        self._given: SimpleQueue[Segment | None] = SimpleQueue()

    def give(self, number: int, segment: Segment) -> None:
        """Have it count a segment."""
        self.segments.append(number)
        self._given.put(segment)

    def end(self) -> None:
        """Wait until it has ended, which it does when it has nothing to do, or was stopped."""
        self._given.put(None)
        self.join()

    def run(self) -> None:
        """Count what is given."""
        try:
            with contextlib.ExitStack() as stack:
                counter = self._counter(stack)
                self._say(_READY)
                while (segment := self._given.get()) is not None:
                    self._count(counter, segment)
        except CountingStopped:
            return
        except BaseException as error:
            self._say(error)

    def _counter(self, stack: contextlib.ExitStack) -> SegmentCounter | ChildCounter:
        if not self._is_child:
            return counter_for(self._order, self._check_stop)
        child = ChildCounter(self._order, self._stop_event)
        stack.callback(child.end)
        child.wait_until_ready()
        return child

    def _count(self, counter: SegmentCounter | ChildCounter, segment: Segment) -> None:
        try:
            for part in counter.parts(segment):
                while not self.waiting_parts.acquire(timeout=POLL_SECONDS):
                    self._check_stop()
                self._say(part)
        except CountingStopped:
            raise
        except StudioError as error:
            counter.abandon()
            self._say(error)
        else:
            self.memory = counter.memory if isinstance(counter, ChildCounter) else 0
            self._say(_OVER)

    def _say(self, what: object) -> None:
        self._said.put((self, what))

    def _check_stop(self) -> None:
        if self._stop_event.is_set():
            raise CountingStopped


class LostChildError(Exception):  # nothing that a user meets
    """Raised when a child that counts has ended, or has too little memory."""


class ChildCounter:
    """Counts segments as `SegmentCounter` does, in a child process.

    Attributes
    ----------
    memory
        How many bytes of memory the child holds.
    """

    def __init__(self, order: dict[str, Any], stop: threading.Event) -> None:
        self.memory = 0
        self._stop = stop
        try:
            self._child = ChildProcess(count_segments, order, name="A process that helps to count")
        except OSError as error:
            raise LostChildError from error  # there is no room for another process

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._child.pid

    def wait_until_ready(self) -> None:
        """Wait until it has loaded what it needs."""
        for _ in self._messages():
            return
        raise CountingStopped

    def parts(self, segment: Segment) -> Iterator[PartCounts]:
        """Yield what is counted in a segment, as `SegmentCounter` does.

        Raises
        ------
        LostChildError
            If the child cannot go on.
        """
        for kind, content in self._messages(json.dumps([segment.file, segment.start, segment.end]).encode()):
            if kind == _PART:
                yield PartCounts.from_bytes(content)
                self._send(_GO_ON)
            elif kind == _FAULT:
                raise read_error(content)
            else:
                self.memory = int(bytes(content))
                return
        raise CountingStopped

    def abandon(self) -> None:
        """Do nothing: the child has done so."""

    def end(self) -> None:
        """End the child at once."""
        self._child.end()

    def _messages(self, order: bytes = b"") -> Iterator[tuple[bytes, memoryview]]:
        """Yield what the child says, to an order if there is one; until counting is stopped."""
        if order:
            self._send(order)
        try:
            yield from self._child.messages(self._stop)
        except StudioError as error:
            raise LostChildError from error

    def _send(self, content: bytes) -> None:
        try:
            self._child.send(content)
        except StudioError as error:
            raise LostChildError from error


def count_segments(connection: ParentConnection, order: dict[str, Any]) -> None:
    """Count what is asked for in a child, for ever.

    A fault tells the line in the segment; whoever asked knows the lines before it.
    """
    gc.disable()  # loading makes many objects and no garbage
    counter = counter_for(order)
    gc.enable()
    connection.send_bytes(_READY)
    while True:
        segment = Segment(*json.loads(connection.recv_bytes()))
        try:
            for part in counter.parts(segment):
                connection.send_bytes(_PART + part.to_bytes())
                connection.recv_bytes()  # `_GO_ON`
        except StudioError as error:
            counter.abandon()
            connection.send_bytes(_FAULT + written_error(error))
        else:
            connection.send_bytes(_OVER + str(resident_bytes() or 0).encode())


def most_workers() -> int:
    """Return how many can count at the same time on this machine."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1
