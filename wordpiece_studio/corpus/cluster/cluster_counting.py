"""Counting on a Dask cluster: the same words, order, counts and messages as on one machine.

The corpus is divided into stretches of neighbouring segments, each a separate task; the counts of neighbours are
merged in a tree, so that no process holds all the counts except the one that has the result. What a worker loses when
it dies is computed again. Not here: what the workers do (`tasks`), and the cluster itself (`connection`).
"""

from __future__ import annotations

import dataclasses
import functools
import os
import uuid
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.cluster import tasks
from wordpiece_studio.corpus.cluster.connection import Connection
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts
from wordpiece_studio.corpus.counting.segments import Segment, divided, notes_on_files, text_bytes
from wordpiece_studio.corpus.counts import CountingStopped, ProgressMeter, WordCounts
from wordpiece_studio.corpus.files import FileOnDisk, checked_file, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Future

    from wordpiece_studio.corpus.cluster.connection import Key
    from wordpiece_studio.corpus.cluster.tasks import Fault, Summary
    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.text.pipeline import Pipeline

LARGEST_STRETCH = 64 << 20
FAN_IN = 8
_FETCHED_BYTES = 32 << 20  # at once


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
    """Count the words of files on a cluster.

    Parameters
    ----------
    address
        The scheduler's, such as ``"tcp://host:8786"``.
    files
        The files; the workers must find them by the same paths or URLs.
    pipeline, longest, min_count, progress, should_stop, keeps_when_stopped
        As for `count_words`.
    """
    _check_pipeline(pipeline)
    files = [checked_file(file) for file in files]
    on_disk = [FileOnDisk(file.path) for file in files]
    meter = ProgressMeter(progress, sum(file.size for file in on_disk), len(files))
    data, is_partial = b"", True
    try:
        with Connection(address, should_stop) as connection:
            counting = _counting(connection, files, on_disk, pipeline, longest, min_count, meter)
            data, is_partial = counting.run(keeps_when_stopped=keeps_when_stopped)
    except CountingStopped:
        if not keeps_when_stopped:
            raise
    return _word_counts(data, files, on_disk, pipeline, is_partial=is_partial)


def _counting(
    connection: Connection,
    files: Sequence[CorpusFile],
    on_disk: Sequence[FileOnDisk],
    pipeline: Pipeline,
    longest: int,
    min_count: int,
    meter: ProgressMeter,
) -> ClusterCounting:
    sizes = [file.size for file in on_disk]
    stretches = _stretches(files, sizes, connection.threads)
    has_tables = any(file.kind == "word-counts" for file in files)
    bytes_to_come = 0 if has_tables else sum(map(text_bytes, files, sizes)) // connection.threads
    placed = [file if is_url(file.path) else _placed(file) for file in files]
    names = zip((display_name(file.path) for file in placed), (file.name for file in on_disk), strict=True)
    return ClusterCounting(
        connection,
        [tasks.written_order(placed, stretch, pipeline, longest, bytes_to_come=bytes_to_come) for stretch in stretches],
        [stretch[0].file for stretch in stretches] + [len(files)],
        meter,
        min_count=min_count,
        bytes_total=sum(sizes),
        may_compile=pipeline.is_by_character and not has_tables,
        renamed=dict(names),
    )


def _check_pipeline(pipeline: Pipeline) -> None:
    try:
        normalizers.to_spec(pipeline.normalizer)
        pre_tokenizers.to_spec(pipeline.pre_tokenizer)
    except StudioError as error:
        raise StudioError(
            "A custom normalizer or pre-tokenizer cannot be sent to a cluster",
            "Count on this machine, or use the built-in ones.",
        ) from error


def _placed(file: CorpusFile) -> CorpusFile:
    """Return a file with a path that does not depend on a process's working directory."""
    return dataclasses.replace(file, path=os.path.abspath(file.path))


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


def _word_counts(
    data: bytes,
    files: Sequence[CorpusFile],
    on_disk: Sequence[FileOnDisk],
    pipeline: Pipeline,
    *,
    is_partial: bool,
) -> WordCounts:
    counts = PartCounts.from_bytes(data) if data else Merging(PlainWordNumbers()).result()
    notes = notes_on_files(files, on_disk, counts.files)
    return counts.word_counts(pipeline, [file.name for file in on_disk], is_partial=is_partial, **notes)


class ClusterCounting:
    """A count on a cluster in progress.

    Parameters
    ----------
    connection
        The cluster.
    orders
        The order to a worker for each stretch of the corpus, in sequence.
    first_files
        The number of the first file of each stretch, and then the number of files.
    meter
        Receives the progress.
    min_count
        Words that occur less often are left out.
    bytes_total
        How many bytes there are.
    may_compile
        Whether counts may be merged with compiled kernels.
    renamed
        The name of a file in messages, by its name on the workers.
    """

    def __init__(
        self,
        connection: Connection,
        orders: Sequence[bytes],
        first_files: Sequence[int],
        meter: ProgressMeter,
        *,
        min_count: int,
        bytes_total: int,
        may_compile: bool,
        renamed: dict[str, str],
    ) -> None:
        self._connection = connection
        self._orders = orders
        self._first_files = first_files
        self._meter = meter
        self._min_count = min_count
        self._bytes_total = bytes_total
        self._merge = functools.partial(tasks.merged_counts, may_compile=may_compile)
        self._renamed = renamed
        run = uuid.uuid4().hex
        self._counts, self._summary, self._merged = (f"wordpiece-{what}-{run}" for what in ("count", "sum", "merge"))
        self._summaries: list[Summary | None] = [None] * len(orders)
        self._head = 0  # the first stretch that is not counted
        self._bytes = self._words = 0
        self._fault: tuple[int, Fault] | None = None  # the first known in the corpus, and its stretch

    def run(self, *, keeps_when_stopped: bool) -> tuple[bytes, bool]:
        """Return the `PartCounts` of all, or of the beginning, as bytes (maybe empty), and whether it is the latter."""
        graph, root = self._graph(len(self._orders))
        keys = [(self._summary, number) for number in range(len(self._orders))]
        for key in keys:
            graph[key] = (tasks.summary_of, (self._counts, key[1]))
        *summaries, result = self._wanted(graph, [*keys, root])
        try:
            self._gather(summaries, result)
            self._connection.wait_for(result)
            data = self._fetched(result)
        except CountingStopped:
            if not keeps_when_stopped:
                raise
            self._connection.should_stop = None
            return self._beginning([*summaries, result]), True
        self._report()
        return data, False

    def _graph(self, stretches: int) -> tuple[dict[Key, Any], Key]:
        """Return the tasks that count and merge some stretches from the first on, and the key of the result.

        A complete subtree has the same key in every longer tree.
        """
        keys: list[Key] = [(self._counts, number) for number in range(stretches)]
        graph: dict[Key, Any] = {key: (tasks.counted, self._orders[key[1]]) for key in keys}
        width = 1
        while len(keys) > 1:
            width *= FAN_IN
            above: list[Key] = []
            for number, start in enumerate(range(0, len(keys), FAN_IN)):
                is_whole = (number + 1) * width <= stretches
                key = (f"{self._merged}-{width}" if is_whole else f"{self._merged}-{width}-of-{stretches}", number)
                graph[key] = (self._merge, keys[start : start + FAN_IN])
                above.append(key)
            keys = above
        return graph, keys[0]

    def _wanted(self, graph: dict[Key, Any], keys: list[Key]) -> list[Future]:
        """Request tasks in the order of the corpus, so that the first of several faults is found first."""
        counts = self._counts
        return self._connection.wanted(graph, keys, lambda key: -key[1] if key[0] == counts else 1)

    def _gather(self, summaries: Sequence[Future], result: Future) -> None:
        """Receive the summary of each stretch; raise the first fault in the corpus."""
        numbers = {future.key: number for number, future in enumerate(summaries)}
        wanted = list(summaries)
        while wanted:
            for found in self._connection.results(wanted):
                self._report()
                if found is not None and self._take_in(numbers[found[0]], found[1]):
                    break  # what follows a fault is no longer wanted
            else:
                wanted = []
                continue
            assert self._fault is not None
            self._connection.no_longer_wanted([*summaries[self._fault[0] :], result])
            wanted = [summaries[n] for n in range(self._fault[0]) if self._summaries[n] is None]
        if self._fault is not None:
            raise self._error(*self._fault)

    def _take_in(self, number: int, data: bytes) -> bool:
        """Receive the summary of a stretch; return whether it is a fault."""
        fault = tasks.fault_in(data)
        if fault is not None:
            self._fault = (number, fault)
            return True
        summary = self._summaries[number] = tasks.summary_in(data)
        self._bytes += summary.bytes_read
        self._words += summary.words
        while self._head < len(self._summaries) and self._summaries[self._head] is not None:
            self._head += 1
        return False

    def _error(self, number: int, fault: Fault) -> StudioError:
        before = [summary for summary in self._summaries[:number] if summary is not None]
        lines = sum(
            summary.lines[fault.file - summary.first_file]
            for summary in before
            if fault.file < summary.first_file + len(summary.lines)
        )
        return fault.error(lines, lambda value: self._renamed.get(value, value) if isinstance(value, str) else value)

    def _report(self) -> None:
        over = self._head == len(self._orders)  # a file may have become shorter
        self._meter.note(self._bytes_total if over else self._bytes, self._first_files[self._head], self._words)

    def _fetched(self, result: Future) -> bytes:
        """Return a result, fetched in parts of bounded size."""
        connection = self._connection
        if self._min_count > 1:
            result = connection.derived(tasks.common, result, self._min_count)
        size = self._brought([connection.derived(len, result)])[0]
        starts = range(0, size, _FETCHED_BYTES)
        stretch = tasks.stretch
        parts = [connection.derived(stretch, result, start, start + _FETCHED_BYTES) for start in starts]
        return b"".join(self._brought(parts))

    def _brought(self, futures: Sequence[Future]) -> list[Any]:
        found = dict(found for found in self._connection.results(futures) if found is not None)
        return [found[future.key] for future in futures]

    def _beginning(self, futures: Sequence[Future]) -> bytes:
        """Return the counts of the stretches before the first one not counted; drop the others."""
        graph, root = self._graph(self._head) if self._head else ({}, None)
        kept = self._wanted(graph, [root]) if root else []
        self._connection.no_longer_wanted([future for future in futures if future.key != root])
        if not kept:
            return b""
        self._connection.wait_for(kept[0])
        return self._fetched(kept[0])
