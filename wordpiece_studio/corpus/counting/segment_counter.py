"""Counting segments one after the other, in this process or in one of several.

Not here: which segments (`segments`), and what becomes of their parts (`counting_run`, `worker`).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counting.part_counts import PartCounts
from wordpiece_studio.corpus.counting.reading_notes import ReadingNotes
from wordpiece_studio.corpus.counting.segments import NotPlainUtf8, first_byte, raw_blocks, segment_pieces
from wordpiece_studio.corpus.counting.word_counters import PlainCounter
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.encodings import DETECT
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.corpus.sources import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.word_numbers import spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wordpiece_studio.corpus.corpus_file import CorpusFile
    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counting.word_counters import WordCounter
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.text.word_numbers import WordNumbers


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
    on_block
        Called before each block of text with the bytes on the disk that were read of the part in hand; it may raise.
    check_stop
        Called now and then while words are made of what was read; it may raise.
    """

    def __init__(
        self,
        files: Sequence[CorpusFile],
        pipeline: Pipeline,
        longest: int,
        *,
        is_compiled: bool,
        part_bytes: int,
        bytes_to_come: int = 0,
        on_block: Callable[[int], None] = lambda _: None,
        check_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._files = files
        self._is_local = pipeline.is_local
        self._part_bytes = part_bytes
        self._on_block = on_block
        self._counter: WordCounter
        self._add_raw = None
        if is_compiled:
            from wordpiece_studio.corpus.counting.compiled_counter import CompiledCounter

            compiled = CompiledCounter(pipeline, longest, check_stop, bytes_to_come=bytes_to_come)
            self._counter, self._add_raw = compiled, compiled.add_raw
        else:
            self._counter = PlainCounter(pipeline, longest, check_stop)
        self._notes = ReadingNotes()
        self._bytes_read = self._parts_done = 0  # of the part in hand; of the segment in hand
        self._name, self._first_line = "", 1

    @property
    def numbers(self) -> WordNumbers:
        """The words met so far, and their numbers, by which parts name them."""
        return self._counter.numbers

    def parts(self, segment: Segment, line: int = 1) -> Iterator[PartCounts]:
        """Yield what is counted in a segment, in one part or several; each is complete when it is yielded.

        `line` is the number of its first line in the file, for messages.

        Raises
        ------
        StudioError
            If it cannot be read; the part in hand is then forgotten.
        """
        file = self._files[segment.file]
        self._name, self._bytes_read, self._parts_done, self._first_line = display_name(file.path), 0, 0, 1
        if file.kind == "word-counts":
            yield self._table(file)
            return
        if self._add_raw is not None and _may_be_raw(file):
            try:
                yield from self._raw_parts(file, segment)
            except NotPlainUtf8:
                self._counter.abandon_part()
                if self._parts_done:  # it was plain up to here, so there is a fault to be told
                    raise self._fault_in(file, segment, line) from None
            else:
                return
        self._first_line = line
        yield from self._text_parts(file, segment, line)

    def interrupted(self) -> PartCounts:
        """Return the part in hand, after `on_block` raised."""
        self._notes.end_text()
        return self._taken()

    def abandon(self) -> None:
        """Forget the part in hand."""
        self._counter.abandon_part()

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

    def _text_parts(self, file: CorpusFile, segment: Segment, line: int) -> Iterator[PartCounts]:
        if segment.is_whole:
            source = opened(file, splits_at_blanks=self._is_local)
            pieces = source.pieces()
        else:
            source, pieces = None, segment_pieces(file, segment, line, splits_at_blanks=self._is_local)
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
        """Return the part in hand; its lines are numbered from the beginning of the segment."""
        part = self._counter.end_part(self._notes.taken(self._name), self._bytes_read)
        self._bytes_read = 0
        self._parts_done += 1
        if self._first_line == 1 or not part.skipped:
            return part
        skipped = tuple(dataclasses.replace(word, line=word.line - self._first_line + 1) for word in part.skipped)
        return dataclasses.replace(part, skipped=skipped)

    def _fault_in(self, file: CorpusFile, segment: Segment, line: int) -> StudioError:
        """Return what `decoding` says of a file that is no valid UTF-8 somewhere."""
        try:
            for _ in segment_pieces(file, segment, line, splits_at_blanks=self._is_local):
                self._on_block(0)
        except CountingStopped:
            raise
        except StudioError as error:
            return error
        return StudioError("{path} changed while it was read", "Count it again.", path=self._name)

    def _table(self, file: CorpusFile) -> PartCounts:
        """Return the words of a table of words and their counts; they may hold blanks."""
        from wordpiece_studio.corpus.word_counts import read_word_counts

        self._on_block(0)
        counts = read_word_counts(file)
        numbers = self._counter.numbers.numbers_of(*spelled_out(counts.words))
        return PartCounts(numbers, counts.counts, counts.statistics.files[0], bytes_read=FileOnDisk(file.path).size)


def _may_be_raw(file: CorpusFile) -> bool:
    return file.kind == "text" and file.errors == "strict" and file.encoding in (None, "utf-8", DETECT)
