"""A run through the segments of a corpus: who counts which, and their parts put in order.

Segments are given out in the order of the corpus, and their parts are added in that order too. So the result is the
same for any number of processes, what was added is at any moment the beginning of the corpus, and of several faults
the first one in the corpus is told. A segment whose helper was lost, or found a fault, is counted again here.
Not here: the processes (`helpers`), and the reading (`segment_counter`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counting import worker
from wordpiece_studio.corpus.counting.merging import Merging
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.counting.counting_progress import ProgressMeter
    from wordpiece_studio.corpus.counting.helpers import Helper, Helpers
    from wordpiece_studio.corpus.counting.part_counts import PartCounts
    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counting.worker import Message
    from wordpiece_studio.text.pipeline import Pipeline

PART_BYTES = 64 << 20
_WAIT_SECONDS = 0.02


class _Overtaken(Exception):  # nothing that a user meets
    """Raised when a helper was faster with a segment that is counted here too."""


class CountingRun:
    """A count of files in progress.

    Parameters
    ----------
    files
        The files.
    segments
        What they are divided into, in order.
    pipeline, longest
        As for `WordCounter`.
    is_compiled
        Whether to count with compiled kernels.
    bytes_to_come
        About how much text there will be.
    helpers
        Other processes that count; they are ended at the end.
    meter
        Who is told how far it is.
    should_stop
        Called now and then; if it returns True, counting stops.
    keeps_when_stopped
        Whether what was counted is then kept.

    Attributes
    ----------
    counts
        What was counted so far, the beginning of the corpus.
    """

    def __init__(
        self,
        files: Sequence[CorpusFile],
        segments: Sequence[Segment],
        pipeline: Pipeline,
        longest: int,
        *,
        is_compiled: bool,
        bytes_to_come: int,
        helpers: Helpers | None,
        meter: ProgressMeter,
        should_stop: Callable[[], bool] | None,
        keeps_when_stopped: bool,
    ) -> None:
        self._segments = segments
        self._helpers = helpers
        self._meter = meter
        self._should_stop = should_stop
        self._keeps_when_stopped = keeps_when_stopped
        self._counter = SegmentCounter(
            files,
            pipeline,
            longest,
            is_compiled=is_compiled,
            part_bytes=PART_BYTES if helpers is None else worker.PART_BYTES,  # as in the others, parts being skipped
            bytes_to_come=bytes_to_come,
            on_block=self._on_block,
            check_stop=self._check_stop,
        )
        self.counts = Merging(self._counter.numbers)
        self._file_count = len(files)
        self._next = 0  # the first segment that no one has
        self._head = 0  # the first segment that is not wholly added
        self._added = 0  # parts of it that are
        self._lines_before = 0  # lines of its file before it
        self._parts: dict[int, list[PartCounts]] = {}  # of segments from the head on, those not added
        self._over: set[int] = set()  # segments of which all parts are there
        self._lost: set[int] = set()  # segments to be counted here, their helper being gone
        self._faulty: set[int] = set()  # segments to be counted here when they are the head
        self._shared: int | None = None  # the segment that is counted here although a helper has it
        self._finished_here: set[int] = set()  # such segments that were over here first
        self._bytes_waiting = self._bytes_added = 0

    def run(self) -> bool:
        """Count everything; return whether it was stopped before the end.

        Raises
        ------
        StudioError
            If a file cannot be read, or counting was stopped and nothing is to be kept.
        """
        try:
            while self._head < len(self._segments):
                number = self._segment_for_this_process()
                if number is not None:
                    self._count_here(number)
                elif (shared := self._segment_to_share()) is not None:
                    self._count_shared(shared)
                else:
                    self._hear(_WAIT_SECONDS)
                    self._on_block(0)
        except CountingStopped:
            if not self._keeps_when_stopped:
                raise
            return True
        finally:
            if self._helpers is not None:
                self._helpers.end()
            del self._counter  # its tables are large, and only the words are wanted now
        self._tell()
        return False

    def _segment_for_this_process(self) -> int | None:
        """Return the segment to be counted here next; None if those left are all in other hands."""
        if self._head in self._faulty or self._head in self._lost:
            return self._head
        if self._lost:
            return min(self._lost)
        return self._give_out()

    def _segment_to_share(self) -> int | None:
        """Return a segment of a helper of which nothing is there yet; rather one that it has not begun with."""
        if self._helpers is None or self._faulty:
            return None
        waiting = [
            (place, number)
            for helper in self._helpers
            for place, number in enumerate(helper.segments)
            if number not in self._finished_here and not self._is_begun(number)
        ]
        return max(waiting)[1] if waiting else None

    def _is_begun(self, number: int) -> bool:
        """Tell whether something is there of a segment, or known about it."""
        is_added = number < self._head or (number == self._head and self._added > 0)
        return is_added or number in self._parts or number in self._over or number in self._faulty

    def _give_out(self) -> int | None:
        """Return the first segment that no one has, which is then taken; none behind one with a fault."""
        if self._next >= len(self._segments) or self._faulty:
            return None
        self._next += 1
        return self._next - 1

    def _count_here(self, number: int) -> None:
        self._lost.discard(number)
        is_head = number == self._head
        self._faulty.discard(number)
        line = self._lines_before + 1 if is_head else 1
        known = self._added if is_head else 0  # parts that came from a helper and were added before it was lost
        in_hand = 0
        try:
            for in_hand, part in enumerate(self._counter.parts(self._segments[number], line), start=1):
                if in_hand > known:
                    self._parts.setdefault(number, []).append(part)
                    self._bytes_waiting += part.bytes_read
                    self._add_parts()
        except CountingStopped:
            if self._keeps_when_stopped and number == self._head and in_hand >= known:
                self._parts.setdefault(number, []).append(self._counter.interrupted())
                self._add_parts()
            raise
        except StudioError:
            self._counter.abandon()
            if is_head:
                raise
            self._faulty.add(number)
            self._drop_parts(number)
        else:
            self._over.add(number)
            self._add_parts()

    def _count_shared(self, number: int) -> None:
        """Count a segment that a helper has; whoever has the first part of it first is right."""
        self._shared = number
        try:
            parts = list(self._counter.parts(self._segments[number]))
        except CountingStopped:
            raise
        except (_Overtaken, StudioError):  # the helper will come upon the same fault
            self._counter.abandon()
            if not self._is_begun(number):
                self._faulty.add(number)
        else:
            self._lost.discard(number)
            self._finished_here.add(number)
            self._parts[number] = parts
            self._bytes_waiting += sum(part.bytes_read for part in parts)
            self._over.add(number)
            self._add_parts()
        finally:
            self._shared = None

    def _add_parts(self) -> None:
        """Add to the count what comes next in the corpus, as far as it is there."""
        while self._head < len(self._segments):
            segment = self._segments[self._head]
            for part in self._parts.pop(self._head, ()):
                self.counts.add_part(part, segment.file, self._lines_before)
                self._added += 1
                self._bytes_waiting -= part.bytes_read
                self._bytes_added += part.bytes_read
            if self._head not in self._over:
                return
            self._over.discard(self._head)
            self._head += 1
            self._added = 0
            goes_on = self._head < len(self._segments) and self._segments[self._head].file == segment.file
            self._lines_before = self.counts.lines_of(segment.file) if goes_on else 0

    def _on_block(self, bytes_in_hand: int) -> None:
        """Do what is to be done now and then: hear of others, give out work, tell how far it is, stop."""
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped
        if self._helpers is not None:
            self._hear()
            for helper in self._helpers:
                while helper.has_room and (number := self._give_out()) is not None:
                    helper.give(number, self._segments[number])
            if self._shared is not None and self._is_begun(self._shared):
                raise _Overtaken
        self._tell(bytes_in_hand)

    def _tell(self, bytes_in_hand: int = 0) -> None:
        over = self._head == len(self._segments)
        files = self._file_count if over else self._segments[self._head].file
        done = self._bytes_added + self._bytes_waiting + bytes_in_hand
        self._meter.note(done, files, self.counts.total, self._helpers.memory if self._helpers is not None else 0)

    def _check_stop(self) -> None:
        """Stop, if nothing is to be kept: what is in hand cannot be kept here."""
        if not self._keeps_when_stopped and self._should_stop is not None and self._should_stop():
            raise CountingStopped

    def _hear(self, seconds: float = 0.0) -> None:
        """Take in what the helpers say; wait some seconds for the first word."""
        if self._helpers is None:
            return
        while (heard := self._helpers.heard(seconds)) is not None:
            self._take_in(*heard)
            seconds = 0.0

    def _take_in(self, helper: Helper, message: Message | None) -> None:
        if message is None:
            helper.has_ended = True
            for number in set(helper.segments) - self._finished_here:
                self._lost.add(number)
                self._drop_parts(number)
            return
        header, _ = message
        number = header.get("segment", -1)
        if "part" in header:
            helper.memory = header["memory"] or 0
            part = helper.part_in(message, self._counter.numbers)
            if number in self._finished_here:
                return
            self._parts.setdefault(number, []).append(part)
            self._bytes_waiting += part.bytes_read
        elif "is_ready" in header:
            helper.is_ready = True
        else:
            helper.segments.remove(number)
            if number in self._finished_here:
                return
            if "is_faulty" in header:
                self._faulty.add(number)
                self._drop_parts(number)
            else:
                self._over.add(number)
        self._add_parts()

    def _drop_parts(self, number: int) -> None:
        for part in self._parts.pop(number, ()):
            self._bytes_waiting -= part.bytes_read
