"""The workers that count segments of a corpus at the same time: threads of this process, or child processes.

Kernels run in parallel threads; Python code, such as a pattern, needs processes. Each child is driven by a thread here,
so all workers are alike. A lost child costs nothing but time. Not here: which worker counts which segment, and what
happens to the parts (`counting`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counting.part_counts import PartCounts, Renumbering
from wordpiece_studio.corpus.counts import CountingStopped, resident_bytes
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child import POLL_SECONDS, Child, Stopped
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter
    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.text.word_table import TableWordNumbers

    CounterMaker = Callable[..., SegmentCounter]
    Answer = tuple[int, PartCounts | StudioError | str]

_AT_ONCE = 2  # segments that a worker has, one of them in progress
_PARTS_AT_ONCE = 2  # of each worker that wait to be received; then it pauses
_READY, OVER, LOST = "ready", "over", "lost"
"""What is said besides parts and errors: a worker can count; a segment is done, or must be counted again."""


class Workers:
    """Several workers, each with a counter of its own.

    `numbers` are those of words used here; workers use a table too, and must then be threads.
    """

    def __init__(
        self,
        make_counter: CounterMaker,
        count: int,
        numbers: PlainWordNumbers | TableWordNumbers,
        *,
        are_children: bool,
    ) -> None:
        self._make_counter = make_counter
        self._numbers = numbers
        self._said: SimpleQueue[tuple[Worker, Any]] = SimpleQueue()
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
        """Return the number of a segment and the next that is said about it; None if that takes over `seconds`.

        That is a part of it, why it cannot be read, `OVER` or `LOST`.
        """
        if self._lost:
            return self._lost.pop(), LOST
        try:
            worker, said = self._said.get(timeout=seconds)
        except Empty:
            return None
        if said is _READY:
            worker.is_ready = True
        elif said == OVER or isinstance(said, StudioError):
            return worker.segments.pop(0), said
        elif isinstance(said, PartCounts):
            worker.waiting_parts.release()
            part = said if worker.renumbering is None else worker.renumbering.renumbered(said)
            return worker.segments[0], part
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
        worker = Worker(self._make_counter, self._said, self._stop, self._numbers, is_child=is_child)
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

    `segments` are the numbers of those it has, in the order in which it counts them. `renumbering` is None if its word
    numbers are those used here. `waiting_parts` is to be released when a part was received: until then it pauses.
    """

    def __init__(
        self,
        make_counter: CounterMaker,
        said: SimpleQueue[tuple[Worker, Any]],
        stop: threading.Event,
        numbers: PlainWordNumbers | TableWordNumbers,
        *,
        is_child: bool,
    ) -> None:
        super().__init__(daemon=True, name="counting")
        self.segments: list[int] = []
        self.is_ready = False
        self.memory = 0
        self.renumbering = Renumbering(numbers) if isinstance(numbers, PlainWordNumbers) else None
        self.waiting_parts = threading.Semaphore(_PARTS_AT_ONCE)
        self._make_counter = make_counter
        self._said = said
        self._stop_event = stop
        self._is_child = is_child
        self._shared_numbers = None if isinstance(numbers, PlainWordNumbers) else numbers
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
            numbers = self._shared_numbers
            return self._make_counter(numbers=numbers, sends_words=numbers is None, check_stop=self._check_stop)
        try:
            child = stack.enter_context(Child("The words cannot be counted"))
        except OSError as error:
            raise LostChildError from error  # the system cannot start another process
        return ChildCounter(child, self._make_counter, self._stop_event)

    def _count(self, counter: SegmentCounter | ChildCounter, segment: Segment) -> None:
        try:
            for part in counter.parts(segment):
                while not self.waiting_parts.acquire(timeout=POLL_SECONDS):
                    self._check_stop()
                self._say(part)
        except CountingStopped:
            raise
        except StudioError as error:
            self._say(error)
        else:
            self.memory = counter.memory if isinstance(counter, ChildCounter) else 0
            self._say(OVER)

    def _say(self, what: object) -> None:
        self._said.put((self, what))

    def _check_stop(self) -> None:
        if self._stop_event.is_set():
            raise CountingStopped


class LostChildError(Exception):  # never shown to a user
    """Raised when a child that counts has ended, or has too little memory."""


class ChildCounter:
    """Counts segments like `SegmentCounter`, in a child process, which counts a part only when it is asked for it."""

    def __init__(self, child: Child, make_counter: CounterMaker, stop: threading.Event) -> None:
        self.memory = 0
        self.pid = child.pid
        self.child = child
        self._stop = stop
        self._ask(start_counting, make_counter)

    def parts(self, segment: Segment) -> Iterator[PartCounts]:
        """Yield what is counted in a segment, like `SegmentCounter`."""
        found = self._ask(next_part, segment)
        while isinstance(found, PartCounts):
            yield found
            found = self._ask(next_part, None)
        if isinstance(found, StudioError):
            raise found
        self.memory = found

    def _ask(self, function: Callable[[Any], Any], argument: object) -> Any:
        try:
            return self.child.call(function, argument, should_stop=self._stop.is_set)
        except Stopped:
            raise CountingStopped from None
        except Exception as error:
            raise LostChildError from error


_counter: SegmentCounter | None = None
_parts: Iterator[PartCounts] = iter(())
"""What counts in a child process, and the parts of the segment that it counts."""


def start_counting(make_counter: CounterMaker) -> None:
    """Make the counter of this child."""
    global _counter
    _counter = make_counter(sends_words=True)


def next_part(segment: Segment | None) -> PartCounts | StudioError | int:
    """Return the next part of a new segment or the present one, or its fault; at its end, the memory of this child.

    A fault reports the line in the segment; the parent knows the lines before it.
    """
    global _parts
    assert _counter is not None
    if segment is not None:
        _parts = _counter.parts(segment)
    try:
        return next(_parts, None) or resident_bytes() or 0
    except StudioError as error:
        return error


def most_workers() -> int:
    """Return how many workers can count at the same time on this machine."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1
