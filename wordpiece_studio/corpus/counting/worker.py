"""What runs in a process that helps to count, and how the two talk: lines of JSON, and raw bytes behind them.

The helper is started by `helpers`; it reads its settings and then one segment a line from its standard input. When that
is closed it ends at once, in the midst of a segment too, so it never outlives the process that started it.

It answers on its standard output, part by part. A fault is not told but left to be found again by whoever asked, who
knows the lines before it.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import sys
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.corpus.corpus_file import CorpusFile
from wordpiece_studio.corpus.counting.counting_progress import resident_bytes
from wordpiece_studio.corpus.counting.segment_counter import SegmentCounter
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from queue import SimpleQueue

    Message = tuple[dict[str, Any], list[bytes]]

PART_BYTES = 8 << 20


def written_settings(
    files: Sequence[CorpusFile], pipeline: Pipeline, longest: int, *, is_compiled: bool, bytes_to_come: int = 0
) -> bytes:
    """Return what a helper must know of a corpus, in one line; the arguments are those of `SegmentCounter`.

    Raises
    ------
    StudioError
        If the pipeline is not built in and so cannot be described.
    """
    settings = {
        "files": [dataclasses.astuple(file) for file in files],
        "normalizer": normalizers.to_spec(pipeline.normalizer),
        "pre_tokenizer": pre_tokenizers.to_spec(pipeline.pre_tokenizer),
        "longest": longest,
        "is_compiled": is_compiled,
        "bytes_to_come": bytes_to_come,
    }
    return json.dumps(settings).encode() + b"\n"


def counter_for(settings: bytes) -> SegmentCounter:
    """Return what counts segments as `written_settings` says."""
    wanted: dict[str, Any] = json.loads(settings)
    pipeline = Pipeline(normalizers.from_spec(wanted["normalizer"]), pre_tokenizers.from_spec(wanted["pre_tokenizer"]))
    files = [CorpusFile(*values) for values in wanted["files"]]
    return SegmentCounter(
        files,
        pipeline,
        wanted["longest"],
        is_compiled=wanted["is_compiled"],
        part_bytes=PART_BYTES,
        bytes_to_come=wanted["bytes_to_come"],
    )


def write_message(stream: IO[bytes], header: dict[str, Any], contents: Sequence[bytes] = ()) -> None:
    """Write a message."""
    line = json.dumps({**header, "sizes": [len(content) for content in contents]}).encode()
    stream.write(b"\n".join([line, b"".join(contents)]))
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """Read a message; None if there is none any more, or no whole one."""
    try:
        header: dict[str, Any] = json.loads(stream.readline())
    except ValueError:
        return None
    contents = [stream.read(size) for size in header["sizes"]]
    return (header, contents) if [*map(len, contents)] == header["sizes"] else None


class Answers:
    """What a helper answers to orders.

    Parameters
    ----------
    counter
        What counts.
    """

    def __init__(self, counter: SegmentCounter) -> None:
        self._counter = counter
        self._told = 0  # how many words the other side knows

    def to(self, order: bytes) -> Iterator[Message]:
        """Yield what is to be said about the segment that an order names."""
        number, *segment = json.loads(order)
        try:
            for part in self._counter.parts(Segment(*segment)):
                words, ends = self._counter.numbers.spelled(self._told)
                self._told = len(self._counter.numbers)
                plain, contents = part.plain_data()
                header = {"segment": number, "part": plain, "memory": resident_bytes()}
                yield header, [words, ends.astype("<i8").tobytes(), *contents]
        except (StudioError, MemoryError):
            self._counter.abandon()
            yield {"segment": number, "is_faulty": True}, []
        else:
            yield {"segment": number, "is_over": True}, []


def main(orders: SimpleQueue[bytes]) -> None:
    """Count what is asked for, for ever: who puts the orders there ends this process when there will be none."""
    said = sys.stdout.buffer
    answers = Answers(counter_for(orders.get()))
    gc.enable()  # what is loaded until then would be looked through again and again
    write_message(said, {"is_ready": True})
    while True:
        for message in answers.to(orders.get()):
            write_message(said, *message)


def words_in(contents: Sequence[bytes]) -> tuple[bytes, np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the words that a message of `main` brings, one after the other, and where each ends."""
    return contents[0], np.frombuffer(contents[1], dtype="<i8").astype(np.int64)
