"""What the workers of a cluster do: pure functions from bytes to bytes, whose results can be recomputed anywhere.

A fault is a result like any other. Nothing here depends on Dask except one check: whether the result is still wanted.
Not here: which segments there are and what is merged when (`cluster_counting`).
"""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.counting import segment_counter
from wordpiece_studio.corpus.counting.part_counts import Merging, PartCounts, header_of, merged, with_header
from wordpiece_studio.corpus.counting.segment_counter import counter_for, with_lines_before
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.counting.word_counters import are_kernels_worth_it
from wordpiece_studio.corpus.counts import CountingStopped, FileStatistics
from wordpiece_studio.corpus.files import CorpusFile, FileOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child_process import read_error, written_error
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.text.pipeline import Pipeline

_PART_BYTES = 64 << 20
_SECONDS_BETWEEN_QUESTIONS = 0.5
_FEW_WORDS = 50_000  # merged quickly without kernels


def written_order(
    files: Sequence[CorpusFile],
    segments: Sequence[Segment],
    pipeline: Pipeline,
    longest: int,
    *,
    bytes_to_come: int,
) -> bytes:
    """Return, as JSON, what a worker needs to count neighbouring segments.

    Parameters
    ----------
    files
        The files of the corpus, by paths that mean the same on every machine.
    segments
        The segments; at least one.
    pipeline, longest
        As for `WordCounter`.
    bytes_to_come
        About how much text the process that gets this order will count in total, including other stretches; 0 if that
        must be done without compiled kernels.
    """
    first, last = segments[0].file, segments[-1].file
    is_compiled = pipeline.is_local and bytes_to_come > 0
    order = {
        "first_file": first,
        "segments": [[segment.file - first, segment.start, segment.end] for segment in segments],
        "bytes_to_come": bytes_to_come,
        "counter": segment_counter.written_order(
            files[first : last + 1], pipeline, longest, is_compiled=is_compiled, part_bytes=_PART_BYTES
        ),
    }
    return json.dumps(order).encode()


def counted(order: bytes) -> bytes:
    """Carry out an order of `written_order`: return the bytes of `PartCounts`, or the first fault, see `fault_in`."""
    wanted: dict[str, Any] = json.loads(order)
    first: int = wanted["first_file"]
    how = wanted["counter"]
    files = [CorpusFile(*values) for values in how["files"]]
    how["is_compiled"] = how["is_compiled"] and are_kernels_worth_it(wanted["bytes_to_come"])
    counter = counter_for(how, _check_of_wish(), sends_words=False)
    merging = Merging(counter.numbers)
    for segment in (Segment(*values) for values in wanted["segments"]):
        lines_before = merging.lines_of(segment.file)
        try:
            _check_presence(files[segment.file])
            for part in counter.parts(segment):
                merging.add(part)
        except CountingStopped:
            raise
        except StudioError as error:
            is_cut = segment.file == 0 and wanted["segments"][0][1] > 0
            fault = with_lines_before(error, lines_before)
            return with_header({"fault": [first + segment.file, is_cut]}, written_error(fault))
    return merging.result().moved(first).to_bytes()


def summary_of(counts: bytes) -> bytes:
    """Return the summary of counts that is reported before they are merged: a few bytes, see `Summary`."""
    if fault_in(counts) is not None:
        return counts
    header, _ = header_of(counts)
    files = [FileStatistics(*file) for file in header["files"]]
    summary = Summary(
        bytes_read=header["bytes_read"],
        words=sum(file.words for file in files),
        first_file=header["first_file"],
        lines=tuple(file.lines + file.skipped_lines for file in files),
    )
    return with_header({"summary": dataclasses.asdict(summary)})


def merged_counts(parts: Sequence[bytes], *, may_compile: bool) -> bytes:
    """Return the merged counts of neighbours, or the first fault. With `may_compile` no word may contain a blank."""
    for part in parts:
        if fault_in(part) is not None:
            return part
    counts = [PartCounts.from_bytes(part) for part in parts]
    are_many = sum(len(each.ends) for each in counts) > _FEW_WORDS and kernels_are_cached("text")
    return merged(counts, is_compiled=may_compile and are_many).to_bytes()


def common(counts: bytes, min_count: int) -> bytes:
    """Return counts without the words that occur less than `min_count` times."""
    return PartCounts.from_bytes(counts).at_least(min_count).to_bytes()


def stretch(data: bytes, start: int, end: int) -> bytes:
    return data[start:end]


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the counts of a stretch of a corpus.

    Attributes
    ----------
    bytes_read
        How many bytes of the files it covers.
    words
        How many words it has, including repetitions.
    first_file
        The number of its first file, from 0.
    lines
        How many lines there are in each of its files, including skipped ones.
    """

    bytes_read: int
    words: int
    first_file: int
    lines: tuple[int, ...]


class Fault(NamedTuple):
    """The first error in a stretch of a corpus.

    Attributes
    ----------
    raised
        The error, with the line counted in the stretch.
    file
        The number of its file, from 0.
    has_lines_before
        Whether the file has lines before the stretch; their number must be added to the line that it reports.
    """

    raised: StudioError
    file: int
    has_lines_before: bool

    def error(self, lines_before: int, renamed: Callable[[Any], Any]) -> StudioError:
        """Return the error, with each value replaced by `renamed` of it."""
        values = {name: renamed(value) for name, value in self.raised.values.items()}
        error = StudioError(self.raised.what_template, self.raised.advice_template, **values)
        return with_lines_before(error, lines_before) if self.has_lines_before else error


def fault_in(data: bytes) -> Fault | None:
    """Return the fault if a result is one, else None."""
    header, start = header_of(data)
    return Fault(read_error(data[start:]), *header["fault"]) if "fault" in header else None


def summary_in(data: bytes) -> Summary:
    """Return what `summary_of` wrote."""
    header, _ = header_of(data)
    return Summary(**{**header["summary"], "lines": tuple(header["summary"]["lines"])})


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
