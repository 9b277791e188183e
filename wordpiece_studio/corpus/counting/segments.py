"""Segments of a corpus: whole files, and line-aligned parts of large ones, each readable independently.

Also what is noted about a file while its text is read: its size, its lines, its faults.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from wordpiece_studio.corpus.compression import MAGIC_BYTES, compression_of
from wordpiece_studio.corpus.counts import FileStatistics
from wordpiece_studio.corpus.decoding import LONGEST_STRETCH_BYTES, TextPiece, decoded_pieces, marked_encoding
from wordpiece_studio.corpus.files import COMPRESSED_SUFFIXES, CorpusFile, bytes_around, reading
from wordpiece_studio.system.arrays import BEHIND_BLOCK
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


LARGEST_SEGMENT, SMALLEST_SEGMENT = 8 << 20, 1 << 20
BLOCK_BYTES = 1 << 20

_UTF8_MARK = b"\xef\xbb\xbf"
_USUAL_RATIO = 4  # of compressed text
_SEARCH_BYTES = 64 << 10
_LINE_END = ord("\n")
_LAST_CONTINUATION = np.int8(-65)  # bytes 0x80 to 0xBF, at most this as signed numbers, continue a character


class NotPlainUtf8(Exception):  # never shown to a user
    """Raised when what was read as plain UTF-8 is not, or has a fault that `decoding` reports better."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines of a file, given by its number, that begin at or after byte `start` and before byte `end`."""

    file: int
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class RawBlock:
    """A stretch of plain UTF-8 that cuts no chunk at either end: the first `size` bytes of `text`.

    `BEHIND_BLOCK` others follow. The content is valid until the next block is read. `line` is that in the segment,
    `byte` that in the file.
    """

    text: NDArray[np.uint8]
    size: int
    source: str
    line: int
    byte: int

    replaced = skipped_lines = 0
    encoding = "utf-8"

    @property
    def utf8(self) -> NDArray[np.uint8]:
        return self.text[: self.size]

    @property
    def characters(self) -> int:
        return int(np.count_nonzero(self.utf8.view(np.int8) > _LAST_CONTINUATION))

    @property
    def end_byte(self) -> int:
        return self.byte + self.size

    def locate(self, index: int) -> tuple[int, int]:
        return self.line + int(np.count_nonzero(self.text[:index] == ord("\n"))), self.byte + index


def divided(
    files: Sequence[CorpusFile], sizes: Sequence[int], parts: int, largest: int = LARGEST_SEGMENT
) -> list[Segment]:
    """Return the segments of files of these sizes, in order, for this many processes.

    They get smaller towards the end, so that no process waits long; one may be half as large again as `largest`.
    """
    left, smallest = sum(sizes), max(SMALLEST_SEGMENT, largest // 8)
    segments: list[Segment] = []
    for number, (file, size) in enumerate(zip(files, sizes, strict=True)):
        start = 0
        if size > 2 * smallest and is_divisible(file):
            while size - start > smallest * 3 // 2:
                step = max(smallest, min(largest, left // (3 * parts)))
                if size - start <= step * 3 // 2:
                    break
                segments.append(Segment(number, start, start + step))
                start += step
                left -= step
        segments.append(Segment(number, start))
        left -= size - start
    return segments


def text_bytes(file: CorpusFile, size: int) -> int:
    is_packed = file.kind == "parquet" or file.path.lower().endswith(COMPRESSED_SUFFIXES)
    return size * _USUAL_RATIO if is_packed else size


def is_divisible(file: CorpusFile) -> bool:
    """Return whether parts of a file can be read independently."""
    if file.kind != "text" or file.encoding not in (None, "utf-8"):
        return False
    with reading(file.path) as stream:
        return is_plain_utf8(stream.read(MAGIC_BYTES), file)


def is_plain_utf8(head: bytes, file: CorpusFile) -> bool:
    marked = marked_encoding(head)
    is_utf8 = marked is None or marked[0] == "utf-8" or file.encoding == "utf-8"
    return is_utf8 and compression_of(head) is None


def segment_pieces(file: CorpusFile, segment: Segment, *, splits_at_blanks: bool) -> Iterator[TextPiece]:
    """Yield a segment of a divisible file like `decoding` does a whole file; its lines are numbered from 1."""
    with reading(file.path) as stream:
        start, end = _bounds(stream, segment)
        stream.seek(start)

        def read(size: int) -> bytes:
            return stream.read(size if end is None else max(0, min(size, end - stream.tell())))

        yield from decoded_pieces(
            read,
            read(BLOCK_BYTES),
            display_name(file.path),
            encoding=None if start == 0 else "utf-8",
            errors=file.errors,
            splits_at_blanks=splits_at_blanks,
            byte=start,
            around=partial(bytes_around, file.path),
        )


def first_byte(file: CorpusFile, segment: Segment) -> int:
    with reading(file.path) as stream:
        return _line_start(stream, segment.start)


def raw_blocks(file: CorpusFile, segment: Segment, block_bytes: int = BLOCK_BYTES) -> Iterator[RawBlock]:
    """Yield a segment of a text file as blocks of UTF-8, whether valid or not."""
    with reading(file.path) as stream:
        buffer, filled, line = bytearray(max(block_bytes, MAGIC_BYTES) + BEHIND_BLOCK), 0, 1
        start, end = _bounds(stream, segment)
        stream.seek(start)
        name, byte, is_over, mark = display_name(file.path), start, False, 0
        while not is_over:
            room = len(buffer) - BEHIND_BLOCK - filled
            wanted = room if end is None else min(room, end - byte - filled)
            count = stream.readinto(memoryview(buffer)[filled : filled + wanted]) if wanted else 0  # type: ignore[attr-defined]
            is_over = not count
            if byte == 0 and filled == 0:
                if not is_plain_utf8(bytes(buffer[:MAGIC_BYTES]), file):
                    raise NotPlainUtf8
                mark = len(_UTF8_MARK) if buffer.startswith(_UTF8_MARK) else 0
            filled += count or 0
            cut = filled if is_over else buffer.rfind(b"\n", 0, filled) + 1 or buffer.rfind(b" ", 0, filled) + 1
            if cut:
                text = np.frombuffer(buffer, dtype=np.uint8)
                if cut > mark:
                    yield RawBlock(text[mark:], cut - mark, name, line, byte + mark)
                mark = 0
                line += int(np.count_nonzero(text[:cut] == ord("\n")))
                rest = bytes(buffer[cut:filled])
                buffer[: len(rest)] = rest
                byte, filled = byte + cut, len(rest)
            elif filled > LONGEST_STRETCH_BYTES:
                raise NotPlainUtf8
            elif not is_over and filled == len(buffer) - BEHIND_BLOCK:
                buffer = buffer[:filled] + bytes(filled + BEHIND_BLOCK)


def _bounds(stream: BinaryIO, segment: Segment) -> tuple[int, int | None]:
    start = _line_start(stream, segment.start)
    return start, None if segment.end is None else max(start, _line_start(stream, segment.end))


def _line_start(stream: BinaryIO, byte: int) -> int:
    if byte == 0:
        return 0
    place = byte - 1
    stream.seek(place)
    while data := stream.read(_SEARCH_BYTES):
        found = data.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(data)
    return place


class ReadingNotes:
    """Notes on a file or a part of it from `first_byte` on, or on several texts that are read as one."""

    def __init__(self, first_byte: int = 0) -> None:
        self._end = first_byte  # of what was read
        self._line_bytes = 0  # of the current line
        self._most_line_bytes = 0
        self._encoding = "utf-8"
        self._sums: Counter[str] = Counter()  # by the fields of the statistics

    def add(self, piece: TextPiece | RawBlock) -> None:
        self._add_lines(np.frombuffer(piece.utf8, dtype=np.uint8))
        self._sums.update(
            characters=piece.characters,
            replaced=piece.replaced,
            skipped_lines=piece.skipped_lines,
            bytes=piece.end_byte - self._end,  # between pieces there may be marks, and lines that are left out
        )
        self._encoding = piece.encoding
        self._end = piece.end_byte

    def end_text(self) -> None:
        """Note the end of a file or text; its last line may lack a line end."""
        if self._line_bytes:
            self._sums["lines"] += 1
            self._end_line()
        self._end = 0

    def taken(self) -> FileStatistics:
        """Return what was noted, without words and name, and start new notes."""
        statistics = self.statistics("")
        self._sums.clear()
        self._most_line_bytes = 0
        return statistics

    def statistics(self, name: str) -> FileStatistics:
        most_line_bytes = max(self._most_line_bytes, self._line_bytes)
        return FileStatistics(name, encoding=self._encoding, most_line_bytes=most_line_bytes, **self._sums)

    def _add_lines(self, text: NDArray[np.uint8]) -> None:
        ends = np.flatnonzero(text == _LINE_END)
        if not len(ends):
            self._line_bytes += len(text)
            return
        self._line_bytes += int(ends[0]) + 1
        self._end_line()
        self._sums["lines"] += len(ends)
        if len(ends) > 1:
            self._most_line_bytes = max(self._most_line_bytes, int(np.diff(ends).max()))
        self._line_bytes = len(text) - int(ends[-1]) - 1

    def _end_line(self) -> None:
        self._most_line_bytes = max(self._most_line_bytes, self._line_bytes)
        self._line_bytes = 0
