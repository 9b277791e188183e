"""Counting segments one after the other, anywhere: in the caller's thread, another thread, or a child process.

Not here: which segments (`segments`), and what happens to their parts (`workers`, `counting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counting.part_counts import PartCounts
from wordpiece_studio.corpus.counting.segments import (
    NotPlainUtf8,
    ReadingNotes,
    first_byte,
    raw_blocks,
    segment_pieces,
)
from wordpiece_studio.corpus.counting.word_counters import PlainCounter
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.encodings import DETECT
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.text.word_numbers import spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counting.word_counters import WordCounter
    from wordpiece_studio.corpus.counts import FileStatistics
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_numbers import WordNumbers
    from wordpiece_studio.text.word_table import TableWordNumbers


def can_be_sent(pipeline: Pipeline) -> bool:
    """Return whether another process can have a pipeline: whether its steps are the built-in ones."""
    try:
        normalizers.to_spec(pipeline.normalizer)
        pre_tokenizers.to_spec(pipeline.pre_tokenizer)
    except StudioError:
        return False
    return True


class SegmentCounter:
    """Counts segments of files.

    Parameters
    ----------
    files
        The files of the corpus.
    pipeline, longest
        As for `WordCounter`.
    is_compiled
        Whether to count with compiled kernels; the pipeline must then be local.
    part_bytes
        About how many bytes of text become one part.
    bytes_to_come
        About how much text there will be.
    sends_words
        Whether parts bring the new words; not needed if the receiver reads `numbers` directly.
    numbers
        The words and their numbers, if other compiled counters use them too.
    on_block
        Called before each block of text with the bytes on disk read for the current part; it may raise. Not given,
        it is `check_stop`.
    check_stop
        Called now and then while text is split into words; it may raise.
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
        self._counter: WordCounter
        self._add_raw = None
        if is_compiled:
            from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

            compiled = CompiledCounter(pipeline, longest, check_stop, bytes_to_come=bytes_to_come, numbers=numbers)
            self._counter, self._add_raw = compiled, compiled.add_raw
        else:
            self._counter = PlainCounter(pipeline, longest, check_stop)
        self._words_sent = 0 if sends_words else None  # how many words parts have brought
        self._notes = ReadingNotes()
        self._bytes_read = 0  # of the current part
        self._file = self._parts_done = self._lines_before = 0  # of the segment; the lines of its finished parts

    @property
    def numbers(self) -> WordNumbers:
        """The words met so far, and their numbers, which parts use."""
        return self._counter.numbers

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
                yield from self._raw_parts(file, segment)
            except NotPlainUtf8:
                self._counter.abandon_part()
                if self._parts_done:  # it was plain so far, so there is a fault to report
                    raise self._fault_in(file, segment) from None
            else:
                return
        yield from self._text_parts(file, segment)

    def interrupted(self) -> PartCounts:
        """Return the current part, after `on_block` raised."""
        self._notes.end_text()
        return self._taken()

    def _raw_parts(self, file: CorpusFile, segment: Segment) -> Iterator[PartCounts]:
        assert self._add_raw is not None
        held = 0
        self._notes = ReadingNotes(0 if segment.start == 0 else first_byte(file, segment))
        for block in raw_blocks(file, segment):
            self._on_block(self._bytes_read)
            self._add_raw(block)
            self._notes.add_raw(block.bytes, block.byte + block.size)
            held += block.size
            self._bytes_read += block.size
            if held >= self._part_bytes:
                yield self._taken()
                held = 0
        self._notes.end_text()
        yield self._taken()

    def _text_parts(self, file: CorpusFile, segment: Segment) -> Iterator[PartCounts]:
        if segment.is_whole:
            source = opened(file, splits_at_blanks=self._is_local)
            pieces = source.pieces()
        else:
            source, pieces = None, segment_pieces(file, segment, splits_at_blanks=self._is_local)
        held = read_before = 0
        self._notes = ReadingNotes(0 if segment.start == 0 else first_byte(file, segment))
        for piece in pieces:
            self._on_block(self._bytes_read)
            self._counter.add(piece)
            self._notes.add(piece)
            size = piece.end_byte - piece.byte
            held += size
            if source is None:
                self._bytes_read += size
            else:
                self._bytes_read = source.bytes_read - read_before
            if held >= self._part_bytes:
                yield self._taken()
                held, read_before = 0, 0 if source is None else source.bytes_read
        self._notes.end_text()
        yield self._taken()

    def _taken(self) -> PartCounts:
        """Return the current part."""
        tally, read = self._counter.end_part(), self._notes.taken("")
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
        part = PartCounts.of_file(self._file, read, numbers, counts, **others)
        if self._words_sent is None:
            return part
        sent, self._words_sent = self._words_sent, len(self.numbers)
        return part.with_words(self.numbers, sent)

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
        numbers = self._counter.numbers.numbers_of(*spelled_out(counts.words))
        read = counts.statistics.files[0]
        return self._part(read, numbers, counts.counts, bytes_read=FileOnDisk(file.path).size)


def with_lines_before(error: StudioError, lines: int) -> StudioError:
    """Return an error whose line is counted in a segment, shifted by the lines of the file before it."""
    if isinstance(line := error.values.get("line"), int):
        error.values["line"] = line + lines
    return error


def _may_be_raw(file: CorpusFile) -> bool:
    return file.kind == "text" and file.errors == "strict" and file.encoding in (None, "utf-8", DETECT)
