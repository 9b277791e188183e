"""What counts segments of a corpus: the caller's thread, other threads, or child processes.

Kernels run in parallel threads; Python code, such as a pattern, needs processes. Each child is driven by a thread here,
so all workers are alike. A lost child costs nothing but time.
"""

from __future__ import annotations

import contextlib
import os
import threading
from queue import Empty, PriorityQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from wordpiece_studio.corpus.count_tables import read_tables
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, PlainCounter, Renumbering, WordCounter
from wordpiece_studio.corpus.counting.segments import (
    NotPlainUtf8,
    RawBlock,
    ReadingNotes,
    first_byte,
    raw_blocks,
    segment_pieces,
    text_bytes,
)
from wordpiece_studio.corpus.counts import CountingStopped, ProgressMeter, resident_bytes
from wordpiece_studio.corpus.decoding import DETECT, TextPiece
from wordpiece_studio.corpus.files import CorpusFile, FileOnDisk, TextOnDisk, checked_file
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child import POLL_SECONDS, Child, Stopped
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.word_numbers import PlainWordNumbers, spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counts import CountingProgress, FileStatistics, WordCounts
    from wordpiece_studio.corpus.parquet import ParquetTexts
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_table import TableWordNumbers

    CounterMaker = Callable[..., "SegmentCounter"]
    Answer = tuple[int, PartCounts | StudioError | str]
    Said = tuple["Worker", int | None, Any]

AnyPiece = TypeVar("AnyPiece", TextPiece, RawBlock)

_PARTS_AT_ONCE = 2  # of each worker that wait to be received; then it pauses
# What is said of a segment besides parts and errors: it is done, or will be counted again from its beginning.
OVER, LOST = "over", "lost"


def can_be_sent(pipeline: Pipeline) -> bool:
    """Return whether the steps of a pipeline are the built-in ones."""
    try:
        normalizers.to_spec(pipeline.normalizer)
        pre_tokenizers.to_spec(pipeline.pre_tokenizer)
    except StudioError:
        return False
    return True


def counter_for(
    pipeline: Pipeline, longest: int, check_stop: Callable[[], None], *, is_compiled: bool, **options: Any
) -> WordCounter:
    if not is_compiled:
        return PlainCounter(pipeline, longest, check_stop)
    from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

    return CompiledCounter(pipeline, longest, check_stop, **options)


class CountedFiles:
    """The files that are counted, as they are when counting begins; `meter` reports how far that is."""

    def __init__(self, files: Sequence[CorpusFile], progress: Callable[[CountingProgress], None] | None) -> None:
        self.files = [checked_file(file) for file in files]
        self._on_disk = [FileOnDisk(file.path) for file in self.files]
        self.names = [file.name for file in self._on_disk]
        self.sizes = [file.size for file in self._on_disk]
        self.text_bytes = sum(map(text_bytes, self.files, self.sizes))
        self.has_tables = any(file.kind == "word-counts" for file in self.files)
        self.meter = ProgressMeter(progress, sum(self.sizes), len(self.files))

    def word_counts(self, counts: PartCounts | Merging, pipeline: Pipeline, *, is_partial: bool) -> WordCounts:
        marked = {
            name: read.encoding
            for file, name, read in zip(self.files, self.names, counts.files, strict=False)
            if file.encoding is None and read.encoding != "utf-8"  # known only from its byte order mark
        }
        changed = tuple(file.name for file in self._on_disk if file.has_changed())
        return counts.word_counts(
            pipeline, self.names, is_partial=is_partial, changed_files=changed, marked_files=marked
        )


class SegmentCounter:
    """Counts segments of files, compiled if the pipeline is local.

    About `part_bytes` of text become one part. Parts bring the new words unless the receiver reads `numbers` directly,
    which other compiled counters may use too. `on_block` is called before each block of text with the bytes on disk
    read for the current part, `check_stop` while text is split into words, and instead of it; both may raise.
    """

    def __init__(
        self,
        files: Sequence[CorpusFile] | Mapping[int, CorpusFile],
        pipeline: Pipeline,
        longest: int,
        *,
        is_compiled: bool,
        part_bytes: int,
        bytes_to_come: int = 0,
        sends_words: bool = False,
        numbers: TableWordNumbers | None = None,
        on_block: Callable[[int], None] | None = None,
        check_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._files = files
        self._pipeline = pipeline
        self._part_bytes = part_bytes
        self._on_block = on_block or (lambda _: check_stop())
        self._counter = counter_for(
            pipeline, longest, check_stop, is_compiled=is_compiled, bytes_to_come=bytes_to_come, numbers=numbers
        )
        self._add_raw: Callable[[RawBlock], None] | None = getattr(self._counter, "add_raw", None)
        self.numbers = self._counter.numbers
        self._words_sent = 0 if sends_words else None  # how many words parts have brought
        self._notes = ReadingNotes()
        self._bytes_read = 0  # of the current part
        self._file = self._parts_done = self._lines_before = 0  # of the segment; the lines of its finished parts

    def parts(self, segment: Segment) -> Iterator[PartCounts]:
        try:
            yield from self._parts(segment)
        except CountingStopped:
            raise
        except StudioError:
            self._counter.abandon_part()
            raise

    def _parts(self, segment: Segment) -> Iterator[PartCounts]:
        file = self._files[segment.file]
        self._file, self._bytes_read, self._parts_done, self._lines_before = segment.file, 0, 0, 0
        if file.kind == "word-counts":
            yield self._table(file)
            return
        may_be_raw = file.kind == "text" and file.errors == "strict" and file.encoding in (None, "utf-8", DETECT)
        if self._add_raw is not None and may_be_raw:
            try:
                yield from self._read(segment, raw_blocks(file, segment), self._add_raw)
            except NotPlainUtf8:
                self._counter.abandon_part()
                if self._parts_done:  # it was plain so far, so there is a fault to report
                    raise self._fault_in(file, segment) from None
            else:
                return
        if segment.start == 0 and segment.end is None:
            source = opened(file, splits_at_blanks=self._pipeline.is_local)
            yield from self._read(segment, source.pieces(), self._counter.add, source)
        else:
            pieces = segment_pieces(file, segment, splits_at_blanks=self._pipeline.is_local)
            yield from self._read(segment, pieces, self._counter.add)

    def interrupted(self) -> PartCounts:
        """Return the current part, after `on_block` raised."""
        self._notes.end_text()
        return self._taken()

    def _read(
        self,
        segment: Segment,
        pieces: Iterable[AnyPiece],
        add: Callable[[AnyPiece], None],
        source: TextOnDisk | ParquetTexts | None = None,
    ) -> Iterator[PartCounts]:
        held = read_before = 0
        self._notes = ReadingNotes(0 if segment.start == 0 else first_byte(self._files[segment.file], segment))
        for piece in pieces:
            self._on_block(self._bytes_read)
            add(piece)
            self._notes.add(piece)
            size = piece.end_byte - piece.byte
            held += size
            self._bytes_read = self._bytes_read + size if source is None else source.bytes_read - read_before
            if held >= self._part_bytes:
                yield self._taken()
                held, read_before = 0, 0 if source is None else source.bytes_read
        self._notes.end_text()
        yield self._taken()

    def _taken(self) -> PartCounts:
        tally, read = self._counter.end_part(), self._notes.taken()
        self._parts_done += 1
        part = self._part(
            read,
            tally.numbers,
            tally.counts,
            skipped=tuple(
                (self._file, word.line - self._lines_before, word.byte, word.length) for word in tally.skipped
            ),
            skipped_words=tally.skipped_words,
            spelled_out=tally.spelled_out,
            bytes_read=self._bytes_read,
        )
        self._bytes_read = 0
        self._lines_before += read.lines + read.skipped_lines
        return part

    def _part(
        self, read: FileStatistics, numbers: NDArray[np.int32], counts: NDArray[np.int64], **others: Any
    ) -> PartCounts:
        if self._words_sent is not None:
            others["words"], others["ends"] = self.numbers.spelled(self._words_sent)
            self._words_sent = len(self.numbers)
        return PartCounts.of_file(self._file, read, numbers, counts, **others)

    def _fault_in(self, file: CorpusFile, segment: Segment) -> StudioError:
        try:
            for _ in segment_pieces(file, segment, splits_at_blanks=self._pipeline.is_local):
                self._on_block(0)
        except CountingStopped:
            raise
        except StudioError as error:
            return error
        return StudioError("{path} changed while it was read", "Count it again.", path=display_name(file.path))

    def _table(self, file: CorpusFile) -> PartCounts:
        self._on_block(0)
        counts = read_tables([file], self._pipeline.normalizer, self._pipeline.pre_tokenizer)
        numbers = self.numbers.numbers_of(*spelled_out(counts.words))
        read = counts.statistics.files[0]
        return self._part(read, numbers, counts.counts, bytes_read=FileOnDisk(file.path).size)


def with_lines_before(error: StudioError, lines: int) -> StudioError:
    if isinstance(line := error.values.get("line"), int):
        error.values["line"] = line + lines
    return error


class Workers:
    """Several workers, each with a counter of its own, which take the segments in their order.

    `numbers` are those of words used here; workers use a table too, and must then be threads.
    """

    def __init__(
        self,
        make_counter: CounterMaker,
        count: int,
        numbers: PlainWordNumbers | TableWordNumbers,
        segments: Sequence[Segment],
        *,
        are_children: bool,
    ) -> None:
        self.make_counter = make_counter
        self.numbers = numbers
        self.segments = segments
        self.to_count: PriorityQueue[int] = PriorityQueue()  # the numbers of segments; the one after the last ends
        for number in range(len(segments)):
            self.to_count.put(number)
        self._end = len(segments)  # the first segment that need not be counted any more
        self.said: SimpleQueue[Said] = SimpleQueue()
        self.stop = threading.Event()
        self._all: list[Worker] = []
        self._begin(is_child=are_children)
        with contextlib.suppress(RuntimeError):  # no resources for another thread: use fewer
            for _ in range(count - 1):
                self._begin(is_child=are_children)

    @property
    def memory(self) -> int:
        return sum(worker.memory for worker in self._all)

    def heard(self, seconds: float) -> Answer | None:
        """Return the number of a segment and what is said about it next; None if that takes over `seconds`."""
        try:
            worker, number, said = self.said.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(said, PartCounts):
            worker.waiting_parts.release()
            said = said if worker.renumbering is None else worker.renumbering.renumbered(said)
        elif isinstance(said, LostChildError):
            self._lose(worker, number)
            said = LOST
        elif isinstance(said, StudioError) and number is not None:
            self._leave_from(number)
        elif isinstance(said, BaseException):
            raise said
        return None if number is None else (number, said)

    def end(self) -> None:
        self.stop.set()
        for _ in self._all:
            self.to_count.put(len(self.segments))
        for worker in self._all:
            worker.join()

    def _begin(self, *, is_child: bool) -> None:
        worker = Worker(self, is_child=is_child)
        worker.start()
        self._all.append(worker)

    def _leave_from(self, fault: int) -> None:
        self._end = min(self._end, fault)
        with self.to_count.mutex:
            self.to_count.queue[:] = sorted(number for number in self.to_count.queue if number < fault)  # a heap too

    def _lose(self, worker: Worker, number: int | None) -> None:
        """Drop a child; others count the segment it had. If no worker is left, a thread of this process counts."""
        if number is not None and number < self._end:
            self.to_count.put(number)
        worker.join()
        self._all.remove(worker)
        if not self._all:
            self._begin(is_child=False)


class Worker(threading.Thread):
    """A thread that counts segments, itself or through a child process, and reports the results.

    `renumbering` is None if its word numbers are those used here. `waiting_parts` is to be released when a part was
    received: until then it pauses.
    """

    def __init__(self, workers: Workers, *, is_child: bool) -> None:
        super().__init__(daemon=True, name="counting")
        self.memory = 0
        self.renumbering = Renumbering(workers.numbers) if isinstance(workers.numbers, PlainWordNumbers) else None
        self.waiting_parts = threading.Semaphore(_PARTS_AT_ONCE)
        self._workers = workers
        self._is_child = is_child

    def run(self) -> None:
        number, workers = None, self._workers
        try:
            with contextlib.ExitStack() as stack:
                counter = self._counter(stack)
                while (number := workers.to_count.get()) < len(workers.segments):
                    self._count(counter, number)
        except CountingStopped:
            return
        except BaseException as error:
            self._say(number, error)

    def _counter(self, stack: contextlib.ExitStack) -> SegmentCounter | ChildCounter:
        make_counter = self._workers.make_counter
        if not self._is_child:
            numbers = None if self.renumbering else self._workers.numbers
            return make_counter(numbers=numbers, sends_words=numbers is None, check_stop=self._check_stop)
        try:
            child = stack.enter_context(Child("The words cannot be counted"))
        except OSError as error:
            raise LostChildError from error  # the system cannot start another process
        return ChildCounter(child, make_counter, self._workers.stop)

    def _count(self, counter: SegmentCounter | ChildCounter, number: int) -> None:
        try:
            for part in counter.parts(self._workers.segments[number]):
                while not self.waiting_parts.acquire(timeout=POLL_SECONDS):
                    self._check_stop()
                self._say(number, part)
        except CountingStopped:
            raise
        except StudioError as error:
            self._say(number, error)
        else:
            self.memory = counter.memory if isinstance(counter, ChildCounter) else 0
            self._say(number, OVER)

    def _say(self, number: int | None, what: object) -> None:
        self._workers.said.put((self, number, what))

    def _check_stop(self) -> None:
        if self._workers.stop.is_set():
            raise CountingStopped


class LostChildError(Exception):  # never shown to a user
    """A child that counts has ended, or has too little memory."""


class ChildCounter:
    """Counts segments like `SegmentCounter`, in a child process, which counts a part only when it is asked for it."""

    def __init__(self, child: Child, make_counter: CounterMaker, stop: threading.Event) -> None:
        self.memory = 0
        self.pid = child.pid
        self.child = child
        self._stop = stop
        self._ask(start_counting, make_counter)

    def parts(self, segment: Segment) -> Iterator[PartCounts]:
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
_parts: Iterator[PartCounts] = iter(())  # what counts in a child process, and the parts of the segment that it counts


def start_counting(make_counter: CounterMaker) -> None:
    global _counter
    _counter = make_counter(sends_words=True)


def next_part(segment: Segment | None) -> PartCounts | StudioError | int:
    """Return the next part of a new segment or the present one, or its fault; at its end, the memory of this child."""
    global _parts
    assert _counter is not None
    if segment is not None:
        _parts = _counter.parts(segment)
    try:
        return next(_parts, None) or resident_bytes() or 0
    except StudioError as error:
        return error


def most_workers() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1
