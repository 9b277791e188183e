"""What is noted of a file while its text is read: its size, its lines, its faults.

Not here: its words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.counts import FileStatistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.decoding import TextPiece

_LINE_END = ord("\n")
_LAST_CONTINUATION = np.int8(-65)  # bytes 0x80 to 0xBF, as signed numbers at most this, go on with a character


class ReadingNotes:
    """The notes of one file or a part of it, or of several texts that are read as one.

    Parameters
    ----------
    first_byte
        Where in the file reading begins.
    """

    def __init__(self, first_byte: int = 0) -> None:
        self._end = first_byte  # of what was read
        self._line_bytes = 0  # of the line in hand
        self._encoding = "utf-8"
        self._clear()

    def add(self, piece: TextPiece) -> None:
        """Note a piece of text."""
        self._add_lines(np.frombuffer(piece.utf8, dtype=np.uint8))
        self._characters += len(piece.text)
        self._replaced += piece.replaced
        self._skipped_lines += piece.skipped_lines
        self._encoding = piece.encoding
        self._read_to(piece.end_byte)

    def add_raw(self, text: NDArray[np.uint8], end_byte: int) -> None:
        """Note a stretch of UTF-8 and where it ends in the file."""
        self._add_lines(text)
        self._characters += int(np.count_nonzero(text.view(np.int8) > _LAST_CONTINUATION))
        self._read_to(end_byte)

    def end_text(self) -> None:
        """Note that a file or text is over; its last line need have no line end, and the next begins at byte 0."""
        if self._line_bytes:
            self._lines += 1
            self._end_line()
        self._end = 0

    def taken(self, name: str) -> FileStatistics:
        """Return what was noted of the file of that name, words left out, and note what follows for itself."""
        statistics = self.statistics(name)
        self._clear()
        return statistics

    def statistics(self, name: str) -> FileStatistics:
        """Return what was noted of the file of that name, words left out."""
        return FileStatistics(
            name=name,
            bytes=self._bytes,
            lines=self._lines,
            characters=self._characters,
            most_line_bytes=max(self._most_line_bytes, self._line_bytes),
            encoding=self._encoding,
            replaced=self._replaced,
            skipped_lines=self._skipped_lines,
        )

    def _clear(self) -> None:
        self._lines = self._characters = self._bytes = self._replaced = self._skipped_lines = 0
        self._most_line_bytes = 0

    def _read_to(self, end_byte: int) -> None:
        # Byte order marks and lines that are left out stand between pieces.
        self._bytes += end_byte - self._end
        self._end = end_byte

    def _add_lines(self, text: NDArray[np.uint8]) -> None:
        ends = np.flatnonzero(text == _LINE_END)
        if not len(ends):
            self._line_bytes += len(text)
            return
        self._line_bytes += int(ends[0]) + 1
        self._end_line()
        self._lines += len(ends)
        if len(ends) > 1:
            self._most_line_bytes = max(self._most_line_bytes, int(np.diff(ends).max()))
        self._line_bytes = len(text) - int(ends[-1]) - 1

    def _end_line(self) -> None:
        self._most_line_bytes = max(self._most_line_bytes, self._line_bytes)
        self._line_bytes = 0
