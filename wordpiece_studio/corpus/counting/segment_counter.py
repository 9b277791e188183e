"""Counting segments one after the other, anywhere: in the caller's thread, another thread, or a child process.

Not here: which segments (`segments`), and what happens to their parts (`workers`, `counting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from wordpiece_studio.corpus.counting.part_counts import PartCounts
from wordpiece_studio.corpus.counting.segments import (
    NotPlainUtf8,
    RawBlock,
    ReadingNotes,
    first_byte,
    raw_blocks,
    segment_pieces,
)
from wordpiece_studio.corpus.counting.word_counters import PlainCounter
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.decoding import DETECT, TextPiece
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.word_numbers import spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counting.word_counters import WordCounter
    from wordpiece_studio.corpus.counts import FileStatistics
    from wordpiece_studio.corpus.files import CorpusFile, TextOnDisk
    from wordpiece_studio.corpus.parquet import ParquetTexts
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_table import TableWordNumbers

AnyPiece = TypeVar("AnyPiece", TextPiece, RawBlock)


def can_be_sent(pipeline: Pipeline) -> bool:
    """Return whether another process can have a pipeline: whether its steps are the built-in ones."""
    try:
        normalizers.to_spec(pipeline.normalizer)
        pre_tokenizers.to_spec(pipeline.pre_tokenizer)
    except StudioError:
        return False
    return True


def counter_for(
    pipeline: Pipeline, longest: int, check_stop: Callable[[], None], *, is_compiled: bool, **options: Any
) -> WordCounter:
    """Return a counter of words; if it is compiled, the pipeline must be local, and it takes further options."""
    if not is_compiled:
        return PlainCounter(pipeline, longest, check_stop)
    from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

    return CompiledCounter(pipeline, longest, check_stop, **options)


class SegmentCounter:
    """Counts segments of files.

    Parameters
    ----------
    is_compiled
        Whether to count with compiled kernels; the pipeline must then be local.
    part_bytes, bytes_to_come
        About how much text becomes one part, and how much there will be.
    sends_words
        Whether parts bring the new words; not needed if the receiver reads `numbers` directly.
    numbers
        The words and their numbers, if other compiled counters use them too; its own are an attribute.
    on_block
        Called before each block of text with the bytes on disk read for the current part; not given, it is
        `check_stop`.
    check_stop
        Called now and then while text is split into words. Both may raise.
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
        self._is_local = pipeline.is_local
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
        """Yield what is counted in a segment, in one part or several; each is complete when it is yielded.

        After a fault, the current part is forgotten.
        """
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
        if self._add_raw is not None and _may_be_raw(file):
            try:
                yield from self._read(segment, raw_blocks(file, segment), self._add_raw)
            except NotPlainUtf8:
                self._counter.abandon_part()
                if self._parts_done:  # it was plain so far, so there is a fault to report
                    raise self._fault_in(file, segment) from None
            else:
                return
        if segment.start == 0 and segment.end is None:
            source = opened(file, splits_at_blanks=self._is_local)
            yield from self._read(segment, source.pieces(), self._counter.add, source)
        else:
            pieces = segment_pieces(file, segment, splits_at_blanks=self._is_local)
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
        """Count pieces; what they take on disk is known to their source, if there is one."""
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
        """Return the current part."""
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
        """Return the error from `decoding` for a file that contains invalid UTF-8."""
        try:
            for _ in segment_pieces(file, segment, splits_at_blanks=self._is_local):
                self._on_block(0)
        except CountingStopped:
            raise
        except StudioError as error:
            return error
        return StudioError("{path} changed while it was read", "Count it again.", path=display_name(file.path))

    def _table(self, file: CorpusFile) -> PartCounts:
        """Return the words of a table of words and their counts; they may contain blanks."""
        from wordpiece_studio.corpus.word_counts import read_word_counts

        self._on_block(0)
        counts = read_word_counts(file)
        numbers = self.numbers.numbers_of(*spelled_out(counts.words))
        read = counts.statistics.files[0]
        return self._part(read, numbers, counts.counts, bytes_read=FileOnDisk(file.path).size)


def with_lines_before(error: StudioError, lines: int) -> StudioError:
    """Return an error whose line is counted in a segment, shifted by the lines of the file before it."""
    if isinstance(line := error.values.get("line"), int):
        error.values["line"] = line + lines
    return error


def _may_be_raw(file: CorpusFile) -> bool:
    return file.kind == "text" and file.errors == "strict" and file.encoding in (None, "utf-8", DETECT)
