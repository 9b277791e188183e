"""Counting on a Dask cluster: the same words, order, counts and messages as on one machine.

The corpus is divided into stretches of neighbouring segments, each a separate task; the counts of neighbours are
merged in a tree, so that no process holds all the counts except the one that has the result. Tasks are pure functions,
and a fault is a result like any other: what a worker loses when it dies is computed again. Not here: the cluster
itself (`cluster_connection`).
"""

from __future__ import annotations

import functools
import os
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting.cluster_connection import Connection
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, lines_of, merged
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter, can_be_sent, with_lines_before
from wordpiece_studio.corpus.counting.segments import Segment, divided, notes_on_files, text_bytes
from wordpiece_studio.corpus.counting.word_counters import are_kernels_worth_it
from wordpiece_studio.corpus.counts import CountingStopped, ProgressMeter, WordCounts, stop_check
from wordpiece_studio.corpus.files import FileOnDisk, checked_file, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distributed import Future

    from wordpiece_studio.corpus.counting.cluster_connection import Key
    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.text.pipeline import Pipeline

LARGEST_STRETCH = 64 << 20
FAN_IN = 8
_PART_BYTES = 64 << 20
_SECONDS_BETWEEN_QUESTIONS = 0.5
_FEW_WORDS = 50_000  # merged quickly without kernels


def count_on_cluster(
    address: str,
    files: Sequence[CorpusFile],
    pipeline: Pipeline,
    longest: int,
    min_count: int,
    progress: Callable[[CountingProgress], None] | None,
    should_stop: Callable[[], bool] | None,
    keeps_when_stopped: bool,
) -> WordCounts:
    """Count the words of files on a cluster, whose workers must find them by the same paths or URLs.

    `address` is the scheduler's, such as ``"tcp://host:8786"``; the other arguments are those of `count_words`.
    """
    if not can_be_sent(pipeline):
        raise StudioError(
            "A custom normalizer or pre-tokenizer cannot be sent to a cluster",
            "Count on this machine, or use the built-in ones.",
        )
    files = [checked_file(file) for file in files]
    on_disk = [FileOnDisk(file.path) for file in files]
    meter = ProgressMeter(progress, sum(file.size for file in on_disk), len(files))
    counts, is_partial = None, True
    try:
        with Connection(address, should_stop) as connection:
            counting = _ClusterCounting(connection, files, on_disk, pipeline, longest, min_count, meter)
            counts, is_partial = counting.result(keeps_when_stopped=keeps_when_stopped)
    except CountingStopped:
        if not keeps_when_stopped:
            raise
    counts = counts or Merging(PlainWordNumbers()).result()
    notes = notes_on_files(files, on_disk, counts.files)
    return counts.word_counts(pipeline, [file.name for file in on_disk], is_partial=is_partial, **notes)


class _ClusterCounting:
    """A count on a cluster in progress."""

    def __init__(
        self,
        connection: Connection,
        files: Sequence[CorpusFile],
        on_disk: Sequence[FileOnDisk],
        pipeline: Pipeline,
        longest: int,
        min_count: int,
        meter: ProgressMeter,
    ) -> None:
        sizes = [file.size for file in on_disk]
        has_tables = any(file.kind == "word-counts" for file in files)
        # How much one process will count in all; 0 if that must be done without kernels.
        bytes_to_come = 0 if has_tables else sum(map(text_bytes, files, sizes)) // connection.threads
        placed = [file if is_url(file.path) else _placed(file) for file in files]
        stretches = _stretches(files, sizes, connection.threads)
        # The tasks: a worker is sent the files of its stretch only.
        self._tasks = [
            functools.partial(
                counted,
                {segment.file: placed[segment.file] for segment in stretch},
                stretch,
                pipeline,
                longest,
                bytes_to_come,
            )
            for stretch in stretches
        ]
        self._first_files = [stretch[0].file for stretch in stretches] + [len(files)]
        self._renamed = {display_name(there.path): file.name for there, file in zip(placed, on_disk, strict=True)}
        self._merge = functools.partial(
            merged_counts, may_compile=pipeline.is_by_character and not has_tables
        )  # kernels take no word with a blank
        self._connection = connection
        self._meter = meter
        self._min_count = min_count
        self._bytes_total = sum(sizes)
        run = uuid.uuid4().hex
        self._count_key, self._summary_key, self._merge_key = (
            f"wordpiece-{what}-{run}" for what in ("count", "sum", "merge")
        )
        self._summaries: list[PartCounts | None] = [None] * len(stretches)

    def result(self, *, keeps_when_stopped: bool) -> tuple[PartCounts | None, bool]:
        """Return the counts of all, or of the beginning if there is one, and whether it is the latter."""
        graph, root = self._graph(len(self._tasks))
        keys = [(self._summary_key, number) for number in range(len(self._tasks))]
        for key in keys:
            graph[key] = (summary_of, (self._count_key, key[1]))
        *summaries, result = self._wanted(graph, [*keys, root])
        try:
            self._gather(summaries, result)
            counts = self._fetched(result)
        except CountingStopped:
            if not keeps_when_stopped:
                raise
            self._connection.check_stop = stop_check(None)
            return self._beginning([*summaries, result]), True
        self._report()
        return counts, False

    def _graph(self, stretches: int) -> tuple[dict[Key, Any], Key]:
        """Return the tasks that count and merge some stretches from the first on, and the key of the result.

        A complete subtree has the same key in every longer tree.
        """
        keys: list[Key] = [(self._count_key, number) for number in range(stretches)]
        graph: dict[Key, Any] = {key: (self._tasks[key[1]],) for key in keys}
        width = 1
        while len(keys) > 1:
            width *= FAN_IN
            above: list[Key] = []
            for number, start in enumerate(range(0, len(keys), FAN_IN)):
                is_whole = (number + 1) * width <= stretches
                name = f"{self._merge_key}-{width}" if is_whole else f"{self._merge_key}-{width}-of-{stretches}"
                graph[name, number] = (self._merge, keys[start : start + FAN_IN])
                above.append((name, number))
            keys = above
        return graph, keys[0]

    def _wanted(self, graph: dict[Key, Any], keys: list[Key]) -> list[Future]:
        """Request tasks in the order of the corpus, so that the first of several faults is found first."""
        counts = self._count_key  # the scheduler is sent the function
        return self._connection.wanted(graph, keys, lambda key: -key[1] if key[0] == counts else 1)

    def _gather(self, summaries: Sequence[Future], result: Future) -> None:
        """Receive the summary of each stretch; raise the first fault in the corpus."""
        numbers = {future.key: number for number, future in enumerate(summaries)}
        wanted = list(summaries)
        first_fault: tuple[int, Fault] | None = None  # the first known in the corpus, and its stretch
        while wanted:
            for found in self._connection.results(wanted):
                self._report()
                if found is None:
                    continue
                number, summary = numbers[found[0]], found[1]
                if isinstance(summary, Fault):
                    first_fault = number, summary
                    self._connection.no_longer_wanted([*summaries[number:], result])  # what follows a fault
                    wanted = [summaries[n] for n in range(number) if self._summaries[n] is None]
                    break
                self._summaries[number] = summary
            else:
                break
        if first_fault is not None:
            raise self._error(*first_fault)

    @property
    def _head(self) -> int:
        """The first stretch that is not counted."""
        return next((number for number, each in enumerate(self._summaries) if each is None), len(self._summaries))

    def _error(self, number: int, fault: Fault) -> StudioError:
        """Return the error of a fault, with the file's name here and the line's number in the file."""
        error = fault.error
        error.values = {
            name: self._renamed.get(value, value) if isinstance(value, str) else value
            for name, value in error.values.items()
        }
        if not fault.has_lines_before:
            return error
        before = [summary for summary in self._summaries[:number] if summary is not None]
        return with_lines_before(error, sum(lines_of(each.files, fault.file - each.first_file) for each in before))

    def _report(self) -> None:
        head, counted = self._head, [summary for summary in self._summaries if summary is not None]
        over = head == len(self._tasks)  # a file may have become shorter
        done = self._bytes_total if over else sum(summary.bytes_read for summary in counted)
        words = sum(file.words for summary in counted for file in summary.files)
        self._meter.note(done, self._first_files[head], words)

    def _fetched(self, result: Future) -> PartCounts:
        if self._min_count > 1:
            result = self._connection.derived(PartCounts.at_least, result, self._min_count)
        found = [found[1] for found in self._connection.results([result]) if found is not None]
        counts: PartCounts = found[0]
        return counts

    def _beginning(self, futures: Sequence[Future]) -> PartCounts | None:
        """Return the counts of the stretches before the first one not counted; drop the others."""
        head = self._head
        graph, root = self._graph(head) if head else ({}, None)
        kept = self._wanted(graph, [root]) if root else []
        self._connection.no_longer_wanted([future for future in futures if future.key != root])
        return self._fetched(kept[0]) if kept else None


def _placed(file: CorpusFile) -> CorpusFile:
    """Return a file with a path that does not depend on a process's working directory."""
    return replace(file, path=os.path.abspath(file.path))


def _stretches(files: Sequence[CorpusFile], sizes: Sequence[int], threads: int) -> list[list[Segment]]:
    """Return the segments of files, with small neighbours grouped."""
    least = max(1, min(LARGEST_STRETCH, sum(sizes) // (4 * threads)))
    stretches: list[list[Segment]] = []
    room = 0
    for segment in divided(files, sizes, threads, LARGEST_STRETCH):
        size = (sizes[segment.file] if segment.end is None else segment.end) - segment.start
        if room < size or not stretches:
            stretches.append([])
            room = least
        stretches[-1].append(segment)
        room -= size
    return stretches


# ---- what the workers do ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """The first error in a stretch of a corpus, in which its line is counted, and the number of its file."""

    error: StudioError
    file: int
    has_lines_before: bool


def counted(
    files: Mapping[int, CorpusFile], segments: Sequence[Segment], pipeline: Pipeline, longest: int, bytes_to_come: int
) -> PartCounts | Fault:
    """Return the counts of neighbouring segments of files, or the first fault in them.

    The files have the numbers that they have in the corpus, and paths that mean the same on every machine.
    """
    counter = SegmentCounter(
        files,
        pipeline,
        longest,
        is_compiled=pipeline.is_local and bytes_to_come > 0 and are_kernels_worth_it(bytes_to_come),
        part_bytes=_PART_BYTES,
        check_stop=_check_of_wish(),
    )
    first = segments[0]
    merging = Merging(counter.numbers, first.file)
    for segment in segments:
        lines_before = lines_of(merging.files, segment.file - first.file)
        try:
            _check_presence(files[segment.file])
            for part in counter.parts(segment):
                merging.add(part)
        except CountingStopped:
            raise
        except StudioError as error:
            is_cut = segment.file == first.file and first.start > 0
            return Fault(with_lines_before(error, lines_before), segment.file, is_cut)
    return merging.result()


def summary_of(counts: PartCounts | Fault) -> PartCounts | Fault:
    """Return counts without their words: a few bytes, reported before they are merged."""
    return counts if isinstance(counts, Fault) else counts.without_words()


def merged_counts(parts: Sequence[PartCounts | Fault], *, may_compile: bool) -> PartCounts | Fault:
    """Return the merged counts of neighbours, or the first fault. With `may_compile` no word may contain a blank."""
    counts: list[PartCounts] = []
    for part in parts:
        if isinstance(part, Fault):
            return part
        counts.append(part)
    are_many = sum(len(each.ends) for each in counts) > _FEW_WORDS and kernels_are_cached("text")
    return merged(counts, is_compiled=may_compile and are_many)


def _check_presence(file: CorpusFile) -> None:
    """Raise if a file that existed on the machine that listed it does not exist here."""
    try:
        FileOnDisk(file.path)
    except StudioError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise StudioError(
                "The cluster's workers cannot find {path}",
                "Put it in a folder that all machines share, or use a URL such as s3://.",
                path=display_name(file.path),
            ) from error
        raise


def _check_of_wish() -> Callable[[], None]:
    """Return a function that raises `CountingStopped` once the result of this task is no longer wanted."""
    try:
        from distributed import get_worker

        worker = get_worker()
        key = worker.get_current_task()
        tasks = worker.state.tasks
    except (ImportError, ValueError, AttributeError):  # not on a worker
        return lambda: None
    last = time.monotonic()

    def check() -> None:
        nonlocal last
        if time.monotonic() - last < _SECONDS_BETWEEN_QUESTIONS:
            return
        last = time.monotonic()
        task = tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CountingStopped

    return check
