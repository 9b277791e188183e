"""Counting files, in this process alone or with others: what pays, and what the result tells of the files.

Not here: who counts which part (`counting_run`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, load_kernels
from wordpiece_studio.corpus.corpus_file import COMPRESSED_SUFFIXES
from wordpiece_studio.corpus.counting.counting_progress import ProgressMeter
from wordpiece_studio.corpus.counting.counting_run import CountingRun
from wordpiece_studio.corpus.counting.helpers import Helpers, most_processes
from wordpiece_studio.corpus.counting.segments import Segment, divided
from wordpiece_studio.corpus.counting.text_counting import FEW_BYTES, FEW_BYTES_UNCOMPILED
from wordpiece_studio.corpus.counting.worker import written_settings
from wordpiece_studio.corpus.decoding import checked_error_handling
from wordpiece_studio.corpus.encodings import known_encoding
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.counting.counting_progress import CountingProgress
    from wordpiece_studio.corpus.counts import FileStatistics, WordCounts
    from wordpiece_studio.text.pipeline import Pipeline

# So much text is worth a process more, which takes about 0.4 s to start; counting without kernels takes longer.
_BYTES_PER_PROCESS, _BYTES_PER_PROCESS_UNCOMPILED = 64 << 20, 8 << 20
_LEAST_BYTES = 4 << 20  # are never given to another process
_USUAL_RATIO = 4  # of compressed text


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
        If a file cannot be read or decoded, or counting was stopped and nothing is to be kept.
    """
    files = [checked_file(file) for file in files]
    on_disk = [FileOnDisk(file.path) for file in files]
    sizes = [file.size for file in on_disk]
    bytes_to_come = sum(map(text_bytes, files, sizes))
    has_tables = any(file.kind == "word-counts" for file in files)
    least = FEW_BYTES if kernels_are_cached("text") else FEW_BYTES_UNCOMPILED
    is_compiled = pipeline.is_local and bytes_to_come >= least and not has_tables
    helping = 0 if has_tables else _helping(processes, bytes_to_come, is_compiled)
    segments = [Segment(number) for number in range(len(files))]
    helpers = None
    if helping:
        with contextlib.suppress(StudioError):  # a pipeline of somebody's own cannot be sent
            each = bytes_to_come // (helping + 1)
            settings = written_settings(files, pipeline, longest, is_compiled=is_compiled, bytes_to_come=each)
            if is_compiled and not kernels_are_cached("text"):
                load_kernels("text")  # compiled once, not by each process
            helpers = Helpers(helping, settings)
            segments = divided(files, sizes, helping + 1)
    counting = CountingRun(
        files,
        segments,
        pipeline,
        longest,
        is_compiled=is_compiled,
        bytes_to_come=bytes_to_come,
        helpers=helpers,
        meter=ProgressMeter(progress, sum(sizes), len(files)),
        should_stop=should_stop,
        keeps_when_stopped=keeps_when_stopped,
    )
    is_partial = counting.run()
    notes = notes_on_files(files, on_disk, counting.counts.files)
    return counting.counts.word_counts(pipeline, [file.name for file in on_disk], is_partial=is_partial, **notes)


def notes_on_files(
    files: Sequence[CorpusFile], on_disk: Sequence[FileOnDisk], read: Sequence[FileStatistics]
) -> dict[str, Any]:
    """Return the `CorpusStatistics.changed_files` and `marked_files` of files, of which `read` tells the first ones."""
    marked = {
        place.name: told.encoding
        for file, place, told in zip(files, on_disk, read, strict=False)
        if file.encoding is None and told.encoding != "utf-8"  # no one said so but its byte order mark
    }
    return {"changed_files": tuple(file.name for file in on_disk if file.has_changed()), "marked_files": marked}


def checked_file(file: CorpusFile) -> CorpusFile:
    """Return a file with its encoding by the usual name; raises `StudioError` if there is no such one."""
    checked_error_handling(file.errors)
    return file if file.encoding is None else dataclasses.replace(file, encoding=known_encoding(file.encoding))


def text_bytes(file: CorpusFile, size: int) -> int:
    """Return about how much text there is in a file."""
    is_packed = file.kind == "parquet" or file.path.lower().endswith(COMPRESSED_SUFFIXES)
    return size * _USUAL_RATIO if is_packed else size


def _helping(processes: int | None, bytes_to_come: int, is_compiled: bool) -> int:
    """Return how many other processes are to help."""
    if processes is not None and processes < 1:
        raise StudioError("At least one process must count, not {n}", n=processes)
    if bytes_to_come < _LEAST_BYTES:
        return 0
    if getattr(sys, "frozen", False) or not sys.executable:
        return 0  # there is no interpreter to start
    if processes is None:
        each = _BYTES_PER_PROCESS if is_compiled else _BYTES_PER_PROCESS_UNCOMPILED
        processes = min(most_processes(), bytes_to_come // each + 1)
    return processes - 1
