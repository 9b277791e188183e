"""The workers that count segments of a corpus at the same time: threads of this process, or child processes.

Kernels run in parallel threads; Python code, such as a pattern, needs processes. Each child is driven by a thread here,
so all workers are alike. A lost child costs nothing but time. Not here: which worker counts which segment, and what
happens to the parts (`counting`).
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.corpus.counting.part_counts import PartCounts, Renumbering
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter, counter_for
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.counts import CountingStopped, resident_bytes
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child_process import POLL_SECONDS, ChildProcess, read_error, written_error
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.system.child_process import ParentConnection
    from wordpiece_studio.text.word_table import TableWordNumbers

_AT_ONCE = 2  # segments that a worker has, one of them in progress
_PARTS_AT_ONCE = 2  # of each worker that wait to be received; then it pauses
_READY, _PART, _FAULT, _OVER = b"r", b"p", b"f", b"o"
"""A child's messages: it is ready; a part; a segment has a fault; a segment is done, with the child's memory."""
_GO_ON = b"g"
"""What a child waits for after each part."""


class Answer(NamedTuple):
    """A worker's message about a segment.

    Attributes
    ----------
    segment
        The number of the segment.
    part, fault
        A part of it, or why it cannot be read; neither if it is done.
    is_lost
        Whether it must be counted again.
    """

    segment: int
    part: PartCounts | None = None
    fault: StudioError | None = None
    is_lost: bool = False


class Workers:
    """Several workers that share an order.

    Parameters
    ----------
    order
        From `segment_counter.written_order`.
    count
        How many.
    numbers
        The numbers of words used here; workers use a table too, and must then be threads.
    are_children
        Whether each runs in a child process.
    """

    def __init__(
        self,
        order: dict[str, Any],
        count: int,
        numbers: PlainWordNumbers | TableWordNumbers,
        *,
        are_children: bool,
    ) -> None:
        self._order = order
        self._numbers = numbers
        self._said: SimpleQueue[tuple[Worker, object]] = SimpleQueue()
        self._stop = threading.Event()
        self._all: list[Worker] = []
        self._lost: list[int] = []  # lost segments not reported yet
        self._begin(is_child=are_children)
        with contextlib.suppress(RuntimeError):  # no resources for another thread: use fewer
            for _ in range(count - 1):
                self._begin(is_child=are_children)

    @property
    def free(self) -> Worker | None:
        """The worker that can best take a segment; None if there is none."""
        ready = [worker for worker in self._all if worker.is_ready and len(worker.segments) < _AT_ONCE]
        return min(ready, key=lambda worker: len(worker.segments), default=None)

    @property
    def memory(self) -> int:
        """How many bytes of memory their child processes hold."""
        return sum(worker.memory for worker in self._all)

    def heard(self, seconds: float = 0.0) -> Answer | None:
        """Return the next message of a worker; None if there is none within `seconds`."""
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
            part = said if worker.renumbering is None else worker.renumbering.renumbered(said)
            return Answer(worker.segments[0], part=part)
        elif isinstance(said, StudioError):
            return Answer(worker.segments.pop(0), fault=said)
        elif isinstance(said, LostChildError):
            self._lose(worker)
        elif isinstance(said, BaseException):
            raise said
        return self.heard()

    def end(self) -> None:
        """End all workers; counts that were not received are discarded."""
        self._stop.set()
        for worker in self._all:
            worker.end()

    def _begin(self, *, is_child: bool) -> None:
        shared = None if isinstance(self._numbers, PlainWordNumbers) else self._numbers
        renumbering = Renumbering(self._numbers) if shared is None else None
        worker = Worker(self._order, self._said, self._stop, renumbering, is_child=is_child, numbers=shared)
        worker.start()
        self._all.append(worker)

    def _lose(self, worker: Worker) -> None:
        """Drop a child and the segments it had. If no worker is left, a thread of this process counts."""
        self._lost += worker.segments
        worker.end()
        self._all.remove(worker)
        if not self._all:
            self._begin(is_child=False)


class Worker(threading.Thread):
    """A thread that counts segments, itself or through a child process, and reports the results.

    Attributes
    ----------
    segments
        The numbers of the segments it has, in the order in which it counts them.
    is_ready
        Whether it can be given segments.
    memory
        How many bytes of memory its process holds; 0 if it is this one.
    renumbering
        Converts its word numbers; None if they are those used here.
    waiting_parts
        To be released when a part was received: until then it pauses.
    """

    def __init__(
        self,
        order: dict[str, Any],
        said: SimpleQueue[tuple[Worker, object]],
        stop: threading.Event,
        renumbering: Renumbering | None,
        *,
        is_child: bool,
        numbers: TableWordNumbers | None = None,
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
        self._numbers = numbers
        self._given: SimpleQueue[Segment | None] = SimpleQueue()

    def give(self, number: int, segment: Segment) -> None:
        """Give it a segment to count."""
        self.segments.append(number)
        self._given.put(segment)

    def end(self) -> None:
        """Wait until it has ended, which it does when it has nothing left to do or was stopped."""
        self._given.put(None)
        self.join()

    def run(self) -> None:
        """Count the given segments."""
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
            return counter_for(self._order, self._check_stop, sends_words=self._numbers is None, numbers=self._numbers)
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


class LostChildError(Exception):  # never shown to a user
    """Raised when a child that counts has ended, or has too little memory."""


class ChildCounter:
    """Counts segments like `SegmentCounter`, in a child process.

    Attributes
    ----------
    memory
        How many bytes of memory the child holds.
    """

    def __init__(self, order: dict[str, Any], stop: threading.Event) -> None:
        self.memory = 0
        self._stop = stop
        try:
            self._child = ChildProcess(count_segments, order, failure="The words cannot be counted")
        except OSError as error:
            raise LostChildError from error  # the system cannot start another process

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    def wait_until_ready(self) -> None:
        """Wait until it has loaded what it needs."""
        for _ in self._messages():
            return
        raise CountingStopped

    def parts(self, segment: Segment) -> Iterator[PartCounts]:
        """Yield what is counted in a segment, like `SegmentCounter`."""
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
        """Do nothing: the child abandons its part itself."""

    def end(self) -> None:
        """End the child at once."""
        self._child.end()

    def _messages(self, order: bytes = b"") -> Iterator[tuple[bytes, memoryview]]:
        """Yield the child's messages, in reply to an order if there is one, until counting is stopped."""
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
    """Count the requested segments in a child, for ever.

    A fault reports the line in the segment; the parent knows the lines before it.
    """
    gc.disable()  # loading creates many objects and no garbage
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
    """Return how many workers can count at the same time on this machine."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1
