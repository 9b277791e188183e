"""Counting files: distributing segments to workers, merging the parts in order, and the notes on the files.

Segments are given out in the order of the corpus, and their parts are added in that order too. So the result is the
same for any number of workers, what has been added is always the beginning of the corpus, and of several faults the
first one in the corpus is reported. Not here: the workers (`workers`), and the reading (`segment_counter`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counting import workers
from wordpiece_studio.corpus.counting.part_counts import Merging
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter, with_lines_before, written_order
from wordpiece_studio.corpus.counting.segments import Segment, divided
from wordpiece_studio.corpus.counting.word_counters import are_kernels_worth_it
from wordpiece_studio.corpus.counts import CountingStopped, ProgressMeter
from wordpiece_studio.corpus.decoding import checked_error_handling
from wordpiece_studio.corpus.encodings import known_encoding
from wordpiece_studio.corpus.files import COMPRESSED_SUFFIXES, FileOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.counting.part_counts import PartCounts
    from wordpiece_studio.corpus.counting.workers import Answer, Workers
    from wordpiece_studio.corpus.counts import CountingProgress, FileStatistics, WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_numbers import WordNumbers

# This much text is worth another worker. A process takes about 0.4 s to start, but its counting takes longer.
_BYTES_PER_THREAD, _BYTES_PER_CHILD = 16 << 20, 8 << 20
_LEAST_BYTES = 4 << 20  # less is never divided
PART_BYTES = 64 << 20  # with a single worker
# With several: small where counting is slow, so that all can pause soon, and much is kept when they stop.
SEGMENT_BYTES, CHILD_SEGMENT_BYTES = 8 << 20, 2 << 20
_USUAL_RATIO = 4  # of compressed text
_WAIT_SECONDS = 0.02


def count_files(
    files: Sequence[CorpusFile],
    pipeline: Pipeline,
    longest: int,
    *,
    processes: int | None = 1,
    progress: Callable[[CountingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    keeps_when_stopped: bool = False,
) -> WordCounts:
    """Count the words of files; the arguments are those of `count_words`.

    Raises
    ------
    StudioError
        If a file cannot be read or decoded, or counting was stopped and nothing is kept.
    """
    if processes is not None and processes < 1:
        raise StudioError("At least one process must count, not {n}", n=processes)
    files = [checked_file(file) for file in files]
    on_disk = [FileOnDisk(file.path) for file in files]
    meter = ProgressMeter(progress, sum(file.size for file in on_disk), len(files))
    run = CountingRun(files, [file.size for file in on_disk], pipeline, longest, meter, should_stop, keeps_when_stopped)
    is_partial = run.run(processes)
    notes = notes_on_files(files, on_disk, run.counts.files)
    return run.counts.word_counts(pipeline, [file.name for file in on_disk], is_partial=is_partial, **notes)


def notes_on_files(
    files: Sequence[CorpusFile], on_disk: Sequence[FileOnDisk], read: Sequence[FileStatistics]
) -> dict[str, Any]:
    """Return the `CorpusStatistics.changed_files` and `marked_files`; `read` covers the first of the files."""
    marked = {
        place.name: each.encoding
        for file, place, each in zip(files, on_disk, read, strict=False)
        if file.encoding is None and each.encoding != "utf-8"  # known only from its byte order mark
    }
    return {"changed_files": tuple(file.name for file in on_disk if file.has_changed()), "marked_files": marked}


def checked_file(file: CorpusFile) -> CorpusFile:
    """Return a file with its encoding's standard name; raises `StudioError` if there is no such encoding."""
    checked_error_handling(file.errors)
    return file if file.encoding is None else dataclasses.replace(file, encoding=known_encoding(file.encoding))


def text_bytes(file: CorpusFile, size: int) -> int:
    """Return about how much text there is in a file."""
    is_packed = file.kind == "parquet" or file.path.lower().endswith(COMPRESSED_SUFFIXES)
    return size * _USUAL_RATIO if is_packed else size


class CountingRun:
    """A count of files in progress.

    Parameters
    ----------
    files, sizes
        The files, and how many bytes each has.
    pipeline, longest
        As for `WordCounter`.
    meter
        Receives the progress.
    should_stop
        Called now and then; if it returns True, counting stops.
    keeps_when_stopped
        Whether what was counted by then is kept.

    Attributes
    ----------
    counts : Merging
        What has been counted so far, the beginning of the corpus.
    """

    counts: Merging

    def __init__(
        self,
        files: Sequence[CorpusFile],
        sizes: Sequence[int],
        pipeline: Pipeline,
        longest: int,
        meter: ProgressMeter,
        should_stop: Callable[[], bool] | None,
        keeps_when_stopped: bool,
    ) -> None:
        self._files = files
        self._sizes = sizes
        self._pipeline = pipeline
        self._longest = longest
        self._meter = meter
        self._should_stop = should_stop
        self._keeps_when_stopped = keeps_when_stopped
        self._bytes_to_come = sum(map(text_bytes, files, sizes))
        has_tables = any(file.kind == "word-counts" for file in files)
        self._is_divisible = not has_tables and self._bytes_to_come >= _LEAST_BYTES
        self._is_compiled = pipeline.is_local and not has_tables and are_kernels_worth_it(self._bytes_to_come)
        self._in_threads = self._is_compiled and pipeline.is_by_character
        self._segments = [Segment(number) for number in range(len(files))]
        self._workers: Workers | None = None
        self._next = 0  # the first segment not given out
        self._head = 0  # the first segment not completely added
        self._added = 0  # how many of its parts are added
        self._lines_before = 0  # lines of its file before it
        self._parts: dict[int, list[PartCounts]] = {}  # of segments from the head on, not added yet
        self._over: set[int] = set()  # segments whose parts have all arrived
        self._lost: set[int] = set()  # segments to be given out again
        self._known: dict[int, int] = {}  # how many parts will come again that were added before the segment was lost
        self._faults: dict[int, StudioError] = {}
        self._bytes_waiting = self._bytes_added = 0

    def run(self, processes: int | None) -> bool:
        """Count everything with `processes` workers; return whether it was stopped before the end.

        Raises
        ------
        StudioError
            If a file cannot be read, or counting was stopped and nothing is kept.
        """
        count = self._count_of_workers(processes) if self._is_divisible else 1
        try:
            if count == 1 or not self._begin_workers(count):
                self._count_here()
            else:
                self._count_with_workers()
        except CountingStopped:
            if not self._keeps_when_stopped:
                raise
            return True
        finally:
            if self._workers is not None:
                self._workers.end()
        self._report()
        return False

    def _count_of_workers(self, wanted: int | None) -> int:
        """Return the number of workers to use."""
        if not self._in_threads and (getattr(sys, "frozen", False) or not sys.executable):
            return 1  # there is no interpreter to start
        if wanted is not None:
            return wanted
        each = _BYTES_PER_THREAD if self._in_threads else _BYTES_PER_CHILD
        return min(workers.most_workers(), self._bytes_to_come // each + 1)

    def _begin_workers(self, count: int) -> bool:
        """Start workers and divide the files; return False if the pipeline cannot be described to them."""
        largest = SEGMENT_BYTES if self._in_threads else CHILD_SEGMENT_BYTES
        each = self._bytes_to_come // count
        try:
            order = written_order(
                self._files,
                self._pipeline,
                self._longest,
                is_compiled=self._is_compiled,
                part_bytes=2 * largest,  # so that a segment is one part, except for indivisible files
                bytes_to_come=each,
            )
        except StudioError:  # a custom pipeline
            return False
        self._segments = divided(self._files, self._sizes, count, largest)
        numbers = self._new_numbers()
        self.counts = Merging(numbers)
        self._workers = workers.Workers(order, count, numbers, are_children=not self._in_threads)
        return True

    def _new_numbers(self) -> WordNumbers:
        if not self._is_compiled:
            return PlainWordNumbers()
        from wordpiece_studio.text.word_table import TableWordNumbers  # loads the kernels, compiled once if necessary

        return TableWordNumbers(1 << 16) if self._in_threads else PlainWordNumbers()

    def _count_here(self) -> None:
        """Count everything in this thread."""
        counter = SegmentCounter(
            self._files,
            self._pipeline,
            self._longest,
            is_compiled=self._is_compiled,
            part_bytes=PART_BYTES,
            bytes_to_come=self._bytes_to_come,
            on_block=self._on_block,
            check_stop=lambda: None if self._keeps_when_stopped else self._check_stop(),  # the current part is lost
        )
        self.counts = Merging(counter.numbers)
        try:
            for segment in self._segments:
                for part in counter.parts(segment):
                    self._add(part)
                self._head += 1
        except CountingStopped:
            if self._keeps_when_stopped:
                self._add(counter.interrupted())
            raise

    def _on_block(self, bytes_in_hand: int) -> None:
        self._check_stop()
        self._report(bytes_in_hand)

    def _check_stop(self) -> None:
        if self._should_stop is not None and self._should_stop():
            raise CountingStopped

    def _report(self, bytes_in_hand: int = 0) -> None:
        over = self._head == len(self._segments)
        files = len(self._files) if over else self._segments[self._head].file
        done = self._bytes_added + self._bytes_waiting + bytes_in_hand
        self._meter.note(done, files, self.counts.total, self._workers.memory if self._workers is not None else 0)

    def _add(self, part: PartCounts) -> None:
        self.counts.add(part)
        self._added += 1
        self._bytes_added += part.bytes_read

    def _count_with_workers(self) -> None:
        """Let the workers count all segments."""
        assert self._workers is not None
        while self._head < len(self._segments):
            self._check_stop()
            self._report()
            while (worker := self._workers.free) and (number := self._segment_to_give()) is not None:
                worker.give(number, self._segments[number])
            if (answer := self._workers.heard(_WAIT_SECONDS)) is not None:
                self._take_in(answer)
                self._add_parts()

    def _segment_to_give(self) -> int | None:
        """Return the first segment not given out, marking it as given; None after a segment with a fault."""
        number = min(self._lost, default=self._next)
        if number == len(self._segments) or any(fault < number for fault in self._faults):
            return None
        self._lost.discard(number)
        self._next = max(self._next, number + 1)
        return number

    def _take_in(self, answer: Answer) -> None:
        number = answer.segment
        if answer.is_lost:
            for part in self._parts.pop(number, ()):
                self._bytes_waiting -= part.bytes_read
            self._lost.add(number)
            self._known[number] = self._added if number == self._head else 0
        elif answer.fault is not None:
            self._faults[number] = answer.fault
        elif answer.part is None:
            self._over.add(number)
        elif self._known.get(number):
            self._known[number] -= 1
        else:
            self._parts.setdefault(number, []).append(answer.part)
            self._bytes_waiting += answer.part.bytes_read

    def _add_parts(self) -> None:
        """Add the parts that come next in the corpus, as far as they have arrived; raise a fault that comes next."""
        while self._head < len(self._segments):
            file = self._segments[self._head].file
            for part in self._parts.pop(self._head, ()):
                self._bytes_waiting -= part.bytes_read
                self._add(part)
            if self._head in self._faults:
                raise with_lines_before(self._faults[self._head], self._lines_before)
            if self._head not in self._over:
                return
            self._head += 1
            self._added = 0
            goes_on = self._head < len(self._segments) and self._segments[self._head].file == file
            self._lines_before = self.counts.lines_of(file) if goes_on else 0
