"""What the workers of a cluster do: pure functions from bytes to bytes, whose results can be computed again anywhere.

A fault is a result like any other. Nothing here knows Dask but for one question: whether anyone still wants the result.
Not here: which segments there are and who merges what (`cluster_counting`).
"""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
from wordpiece_studio.corpus.corpus_file import CorpusFile
from wordpiece_studio.corpus.counting.mergeable_counts import MergeableCounts, header_of, with_header
from wordpiece_studio.corpus.counting.merging import Merging, merged
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.counting.text_counting import FEW_BYTES, FEW_BYTES_UNCOMPILED
from wordpiece_studio.corpus.counts import CountingStopped, FileStatistics
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PART_BYTES = 64 << 20
_SECONDS_BETWEEN_QUESTIONS = 0.5
_FEW_WORDS = 50_000  # are merged at once by the plain way


def written_order(
    files: Sequence[CorpusFile],
    segments: Sequence[Segment],
    pipeline: Pipeline,
    longest: int,
    *,
    bytes_to_come: int,
) -> bytes:
    """Return what a worker must know to count neighbouring segments, as JSON.

    Parameters
    ----------
    files
        The files of the corpus, by paths that mean the same on every machine.
    segments
        The segments; at least one.
    pipeline, longest
        As for `WordCounter`.
    bytes_to_come
        About how much text the process that takes this order will count in all, this and other stretches; 0 if that
        must be done without compiled kernels.

    Raises
    ------
    StudioError
        If the pipeline is not built in and so cannot be described.
    """
    first, last = segments[0].file, segments[-1].file
    order = {
        "first_file": first,
        "files": [dataclasses.astuple(file) for file in files[first : last + 1]],
        "segments": [[segment.file - first, segment.start, segment.end] for segment in segments],
        "normalizer": normalizers.to_spec(pipeline.normalizer),
        "pre_tokenizer": pre_tokenizers.to_spec(pipeline.pre_tokenizer),
        "longest": longest,
        "bytes_to_come": bytes_to_come,
    }
    return json.dumps(order).encode()


def counted(order: bytes) -> bytes:
    """Return what `written_order` asks for: mergeable counts, or the first fault, see `fault_in`."""
    wanted: dict[str, Any] = json.loads(order)
    files = [CorpusFile(*values) for values in wanted["files"]]
    pipeline = Pipeline(normalizers.from_spec(wanted["normalizer"]), pre_tokenizers.from_spec(wanted["pre_tokenizer"]))
    check = _check_of_wish()
    least = FEW_BYTES if kernels_are_cached("text") else FEW_BYTES_UNCOMPILED
    counter = SegmentCounter(
        files,
        pipeline,
        wanted["longest"],
        is_compiled=pipeline.is_local and wanted["bytes_to_come"] >= least,
        part_bytes=_PART_BYTES,
        on_block=lambda _: check(),
        check_stop=check,
    )
    first: int = wanted["first_file"]
    merging = Merging(counter.numbers, first)
    for number, start, end in wanted["segments"]:
        lines_before = merging.lines_of(first + number)
        try:
            _check_presence(files[number])
            for part in counter.parts(Segment(number, start, end), lines_before + 1):
                merging.add_part(part, first + number, lines_before)
        except CountingStopped:
            raise
        except StudioError as error:
            return _written_fault(error, first + number, in_first=number == 0 and wanted["segments"][0][1] > 0)
    return merging.result().to_bytes()


def summary_of(counts: bytes) -> bytes:
    """Return what is told of counts before they are merged: a few bytes, see `Summary`."""
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
    """Return the counts of neighbours together; of faults the first. No word may hold a blank if it `may_compile`."""
    for part in parts:
        if fault_in(part) is not None:
            return part
    counts = [MergeableCounts.from_bytes(part) for part in parts]
    are_many = sum(len(each.ends) for each in counts) > _FEW_WORDS and kernels_are_cached("text")
    return merged(counts, is_compiled=may_compile and are_many).to_bytes()


def common(counts: bytes, min_count: int) -> bytes:
    """Return counts without the words that occur less than `min_count` times."""
    return MergeableCounts.from_bytes(counts).at_least(min_count).to_bytes()


def stretch(data: bytes, start: int, end: int) -> bytes:
    """Return a stretch of bytes."""
    return data[start:end]


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """What is told of the counts of a stretch of a corpus.

    Attributes
    ----------
    bytes_read
        How many bytes of the files it is.
    words
        How many words, repetitions counted.
    first_file
        The number of its first file, from 0.
    lines
        How many lines there are in each of its files, those included that were skipped.
    """

    bytes_read: int
    words: int
    first_file: int
    lines: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """A `StudioError` as plain data.

    Attributes
    ----------
    what, advice, values
        Its templates and their values.
    file
        The number of its file, from 0.
    has_lines_before
        Whether there are lines of the file before the stretch that it was found in; they are to be added to the line
        that it tells.
    """

    what: str
    advice: str
    values: dict[str, Any]
    file: int
    has_lines_before: bool

    def error(self, lines_before: int, renamed: Callable[[Any], Any]) -> StudioError:
        """Return the error; `renamed` is called for each value."""
        values = {name: renamed(value) for name, value in self.values.items()}
        if self.has_lines_before and isinstance(values.get("line"), int):
            values["line"] += lines_before
        return StudioError(self.what, self.advice, **values)


def fault_in(data: bytes) -> Fault | None:
    """Return the fault that a result is; None if it is none."""
    header, _ = header_of(data)
    return Fault(**header["fault"]) if "fault" in header else None


def summary_in(data: bytes) -> Summary:
    """Return what `summary_of` wrote."""
    header, _ = header_of(data)
    return Summary(**{**header["summary"], "lines": tuple(header["summary"]["lines"])})


def _written_fault(error: StudioError, file: int, *, in_first: bool) -> bytes:
    values = {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in error.values.items()
    }
    fault = Fault(error.what_template, error.advice_template, values, file, in_first)
    return with_header({"fault": dataclasses.asdict(fault)})


def _check_presence(file: CorpusFile) -> None:
    """Raise if a file that was there where it was listed is not there here."""
    try:
        FileOnDisk(file.path)
    except StudioError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise StudioError(
                "{path} is not where the cluster's workers look for it",
                "Put it into a folder that all machines share, or name it by a URL such as s3://.",
                path=display_name(file.path),
            ) from error
        raise


def _check_of_wish() -> Callable[[], None]:
    """Return what raises `CountingStopped` once no one wants the result of this task any more."""
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
