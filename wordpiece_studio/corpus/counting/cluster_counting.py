"""Counting on a Dask cluster: the same words, order, counts and messages as on one machine.

The corpus is divided into stretches of neighbouring segments, each a separate task; the counts of neighbours are
merged in a tree, so that no process holds all the counts except the one that has the result. Tasks are pure functions,
and a fault is a result like any other: what a worker loses when it dies is computed again. Every wait is bounded,
and none prevents the caller from stopping. Importing this module does not load Dask.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import os
import pkgutil
import threading
import time
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, are_kernels_worth_it, lines_of, merged
from wordpiece_studio.corpus.counting.segments import Segment, divided
from wordpiece_studio.corpus.counting.workers import CountedFiles, SegmentCounter, can_be_sent, with_lines_before
from wordpiece_studio.corpus.counts import CountingProgress, CountingStopped, WordCounts, stop_check
from wordpiece_studio.corpus.files import CorpusFile, FileOnDisk, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from distributed import Client, Future

    from wordpiece_studio.text.pipeline import Pipeline

    Key = tuple[str, int]

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
) -> WordCounts:
    if not can_be_sent(pipeline):
        what = "A custom normalizer or pre-tokenizer cannot be sent to a cluster"
        raise StudioError(what, "Count on this machine, or use the built-in ones.")
    corpus = CountedFiles(files, progress)
    with Connection(address, should_stop) as connection:
        counts = _ClusterCounting(connection, corpus, pipeline, longest, min_count).result()
    return corpus.word_counts(counts, pipeline, is_partial=False)


class _ClusterCounting:
    def __init__(
        self, connection: Connection, corpus: CountedFiles, pipeline: Pipeline, longest: int, min_count: int
    ) -> None:
        # How much one process will count in all; 0 if that must be done without kernels.
        bytes_to_come = 0 if corpus.has_tables else corpus.text_bytes // connection.threads
        # Workers have other working directories.
        paths = (file.path if is_url(file.path) else os.path.abspath(file.path) for file in corpus.files)
        placed = [replace(file, path=path) for file, path in zip(corpus.files, paths, strict=True)]
        stretches = _stretches(corpus.files, corpus.sizes, connection.threads)
        # A worker is sent the files of its stretch only.
        sent = ({segment.file: placed[segment.file] for segment in stretch} for stretch in stretches)
        rest = pipeline, longest, bytes_to_come
        self._tasks = [
            functools.partial(counted, files, stretch, *rest) for files, stretch in zip(sent, stretches, strict=True)
        ]
        self._first_files = [stretch[0].file for stretch in stretches] + [len(corpus.files)]
        self._renamed = {display_name(there.path): name for there, name in zip(placed, corpus.names, strict=True)}
        may_compile = pipeline.is_by_character and not corpus.has_tables  # kernels take no word with a blank
        self._merge = functools.partial(merged_counts, may_compile=may_compile)
        self._connection = connection
        self._meter = corpus.meter
        self._min_count = min_count
        self._bytes_total = sum(corpus.sizes)
        kinds, run = ("count", "sum", "merge"), uuid.uuid4().hex
        self._count_key, self._summary_key, self._merge_key = (f"wordpiece-{kind}-{run}" for kind in kinds)
        self._summaries: list[PartCounts | None] = [None] * len(stretches)

    def result(self) -> PartCounts:
        graph, root = self._graph()
        keys = [(self._summary_key, number) for number in range(len(self._tasks))]
        for key in keys:
            graph[key] = (summary_of, (self._count_key, key[1]))
        first = self._count_key  # the scheduler is sent the function
        # In the order of the corpus, so that the first of several faults is found first.
        wanted = self._connection.wanted(graph, [*keys, root], lambda key: -key[1] if key[0] == first else 1)
        *summaries, result = wanted
        self._gather(summaries, result)
        if self._min_count > 1:
            result = self._connection.derived(PartCounts.at_least, result, self._min_count)
        counts: PartCounts = next(found[1] for found in self._connection.results([result]) if found is not None)
        self._report()
        return counts

    def _graph(self) -> tuple[dict[Key, Any], Key]:
        keys: list[Key] = [(self._count_key, number) for number in range(len(self._tasks))]
        graph: dict[Key, Any] = {key: (self._tasks[key[1]],) for key in keys}
        while len(keys) > 1:
            parts = [keys[start : start + FAN_IN] for start in range(0, len(keys), FAN_IN)]
            keys = [(f"{self._merge_key}-{len(parts)}", number) for number in range(len(parts))]
            graph |= {key: (self._merge, part) for key, part in zip(keys, parts, strict=True)}
        return graph, keys[0]

    def _gather(self, summaries: Sequence[Future], result: Future) -> None:
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
        return next((number for number, each in enumerate(self._summaries) if each is None), len(self._summaries))

    def _error(self, number: int, fault: Fault) -> StudioError:
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
        head, known = self._head, [summary for summary in self._summaries if summary is not None]
        over = head == len(self._tasks)  # a file may have become shorter
        done = self._bytes_total if over else sum(summary.bytes_read for summary in known)
        words = sum(file.words for summary in known for file in summary.files)
        self._meter.note(done, self._first_files[head], words)


def _stretches(files: Sequence[CorpusFile], sizes: Sequence[int], threads: int) -> list[list[Segment]]:
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
            what = "The cluster's workers cannot find {path}"
            advice = "Put it in a folder that all machines share, or use a URL such as s3://."
            raise StudioError(what, advice, path=display_name(file.path)) from error
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


# ---- the cluster itself ----------------------------------------------------------------------------------------------

CONNECTING_SECONDS = 10.0
WORKERS_SECONDS = 30.0  # how long to wait for the first worker
REPLACEMENT_SECONDS = 8.0  # how long to wait for a new worker once the scheduler has reported that none is left

_POLL_SECONDS = 0.02
_WATCH_SECONDS = 1.0
_CLOSING_SECONDS = 2.0
_RETRIES = 2  # of a task that failed in a way that no text can cause
# Reported in other words by the errors raised here, or handled by Dask itself.
_EXPECTED_LOG = ("Couldn't gather", "Failed to reconnect")
_VERSION = "wordpiece_studio:__version__"


class Connection:
    """A connection to a scheduler, to be used in a ``with`` statement.

    Now and then `should_stop` is called; if it returns True, `CountingStopped` is raised.
    """

    def __init__(self, address: str, should_stop: Callable[[], bool] | None = None) -> None:
        try:
            import distributed
        except ImportError as error:
            what = "Counting on a cluster needs Dask, which is not installed"
            raise StudioError(what, 'Install it: pip install "dask[distributed]" fsspec') from error
        self._distributed = distributed
        self._address = printable(address)
        self.check_stop = stop_check(should_stop)
        self._is_over = threading.Event()
        self._connected: concurrent.futures.Future[Client] = concurrent.futures.Future()
        self.threads = 1  # how many tasks the workers can run at the same time, as far as is known
        self._alone_since: float | None = None  # when the scheduler reported that no worker is left
        self._log = logging.getLogger("distributed.client")
        self._log.addFilter(self._is_unexpected)
        threading.Thread(target=self._connect, args=(address,), daemon=True).start()
        try:
            self._client = self._connected_client()
        except BaseException:
            self._is_over.set()  # makes the connecting thread give up
            self._log.removeFilter(self._is_unexpected)
            raise
        threading.Thread(target=self._watch, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        closing = threading.Thread(target=self._close, args=(self._client,), daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        self._log.removeFilter(self._is_unexpected)

    def wanted(self, graph: dict[Key, Any], keys: list[Key], priority_of: Callable[[Key], int]) -> list[Future]:
        """Let the cluster compute the results under `keys` of a Dask graph, those of high priority first."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GB"}):
            futures: list[Future] = self._client.get(graph, keys, sync=False, retries=_RETRIES, priority=priority_of)
        return futures

    def derived(self, function: Callable[..., Any], future: Future, *arguments: object) -> Future:
        return self._client.submit(function, future, *arguments, pure=False, retries=_RETRIES)

    def no_longer_wanted(self, futures: Iterable[Future]) -> None:
        """Let the cluster drop results that are no longer wanted; `results` must not be waiting for them."""
        self._client.cancel(list(futures), force=True)

    def results(self, futures: Iterable[Future]) -> Iterator[tuple[Key, Any] | None]:
        """Yield key and result of each as they arrive, and None many times a second in between."""
        waiting = self._distributed.as_completed(futures, loop=self._client.loop, with_results=True, raise_errors=False)
        while not waiting.is_empty():
            self.check()
            batch = waiting.next_batch(block=False)
            for future, result in batch:
                # A tuple has an error. The future itself may be pending again if its worker is gone.
                if isinstance(result, tuple | BaseException):
                    raise self._failure(result[1] if isinstance(result, tuple) else result)
                yield future.key, result
            if not batch:
                yield None
                time.sleep(_POLL_SECONDS)

    def check(self) -> None:
        self.check_stop()
        if self._client.status != "running":
            raise self._lost()
        if self._alone_since is not None and time.monotonic() - self._alone_since > REPLACEMENT_SECONDS:
            what = "The scheduler {address} lost its last worker, along with the counts so far"
            raise self._error(what, "Start workers again (dask worker {address}), and count again.")

    def _connect(self, address: str) -> None:
        client: Client | None = None
        try:
            client = self._distributed.Client(address, timeout=CONNECTING_SECONDS, set_as_default=False)
            client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            self._check_versions(client)
            self.threads = max(1, sum(client.nthreads().values()))
            if self._is_over.is_set():
                self._close(client)
            self._connected.set_result(client)
        except StudioError as error:
            self._connected.set_exception(error)
        except Exception as error:  # an address can be wrong in many ways
            no_workers = client is not None and isinstance(error, TimeoutError)
            without_workers = self._error("The scheduler {address} has no workers", "Start some: dask worker {address}")
            self._connected.set_exception(without_workers if no_workers else self._unreachable(error))
        else:
            return
        if client is not None:
            self._close(client)

    def _connected_client(self) -> Client:
        deadline = time.monotonic() + CONNECTING_SECONDS + WORKERS_SECONDS
        while time.monotonic() < deadline:
            self.check_stop()
            with contextlib.suppress(TimeoutError):
                return self._connected.result(timeout=_POLL_SECONDS)
        raise self._unreachable(TimeoutError("it does not respond like a Dask scheduler"))

    def _check_versions(self, client: Client) -> None:
        """Check that this version of the Studio runs everywhere; the scheduler too loads what tasks call."""
        found: dict[str, Any] = client.run(pkgutil.resolve_name, _VERSION, on_error="return")
        versions = [("worker", worker, version) for worker, version in found.items()]
        try:
            of_scheduler: Any = client.run_on_scheduler(pkgutil.resolve_name, _VERSION)
        except ImportError as error:
            of_scheduler = error
        for kind, address, version in [*versions, ("scheduler", self._address, of_scheduler)]:
            if isinstance(version, Exception):
                what = f"The {kind} {{address}} cannot load WordPiece Studio: {{reason}}"
                advice = "Install version {version} there from its folder or wheel; it is not on a package index."
                raise StudioError(
                    what, advice, address=printable(address), version=__version__, reason=printable(str(version))
                ) from version
            if version != __version__:
                raise StudioError(
                    f"The {kind} {{address}} runs WordPiece Studio {{other}}, but this machine runs {{version}}",
                    "Install the same version everywhere, or the words might differ.",
                    address=printable(address),
                    other=printable(str(version)),
                    version=__version__,
                )

    def _watch(self) -> None:
        """Check until the end whether there are workers; the request can take long if the scheduler hangs."""
        while not self._is_over.wait(_WATCH_SECONDS):
            try:
                threads = sum(self._client.nthreads().values())
            except Exception:  # then the client's status shows it
                return
            if threads:
                self._alone_since = None
            elif self._alone_since is None:
                self._alone_since = time.monotonic()

    @staticmethod
    def _is_unexpected(record: logging.LogRecord) -> bool:
        was_cancelled = isinstance(record.msg, asyncio.CancelledError)  # closed while reconnecting
        return not was_cancelled and not str(record.msg).startswith(_EXPECTED_LOG)

    def _close(self, client: Client) -> None:
        with contextlib.suppress(Exception):  # nothing is lost with it now
            client.close(timeout=_CLOSING_SECONDS)

    def _failure(self, error: object) -> StudioError:
        if isinstance(error, self._distributed.CancelledError):
            return self._lost()
        if isinstance(error, self._distributed.KilledWorker):
            return StudioError(
                "One part of the corpus killed {n} workers of the cluster, one after the other",
                "Increase the workers' memory: the system probably killed them because there was too little.",
                n=error.allowed_failures + 1,
            )
        if isinstance(error, MemoryError):
            return StudioError("A cluster worker ran out of memory", "Increase the workers' memory.")
        what = "A worker of the cluster failed: {reason}"
        advice = "Look at its log. Python, Dask and WordPiece Studio must have the same versions everywhere."
        return StudioError(what, advice, reason=printable(f"{type(error).__name__}: {error}")[:500])

    def _unreachable(self, error: Exception) -> StudioError:
        what = "The scheduler {address} cannot be reached: {reason}"
        advice = "Check the address that the scheduler prints when it starts, and that no firewall blocks it."
        return self._error(what, advice, reason=printable(str(error)).rstrip(".") or type(error).__name__)

    def _lost(self) -> StudioError:
        what = "The connection to the scheduler {address} was lost, along with the counts so far"
        return self._error(what, "Check whether the scheduler is still running, and count again.")

    def _error(self, what: str, advice: str, **values: object) -> StudioError:
        return StudioError(what, advice, address=self._address, **values)
