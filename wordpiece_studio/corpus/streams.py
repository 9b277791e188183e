"""Text from a stream that can be read only once, such as standard input. Not here: files (`files`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.corpus.compression import DecompressedStream, compression_of
from wordpiece_studio.corpus.decoding import PIECE_BYTES, checked_error_handling, decoded_pieces
from wordpiece_studio.corpus.encodings import DETECT, known_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece


class TextStream:
    """A stream of text to be read once; without a name of its encoding, what a byte order mark says, or UTF-8.

    If it is compressed, the text is what it holds.
    The parameters are those of `TextFile`, but for `name`, which is what messages call it.

    Raises
    ------
    StudioError
        If there is no such encoding.
    """

    size = 0  # unknown

    def __init__(
        self,
        stream: BufferedIOBase,
        name: str,
        *,
        encoding: str | None = None,
        errors: ErrorHandling = "strict",
        splits_at_blanks: bool = False,
    ) -> None:
        self.name = name
        self.bytes_read = 0
        self._stream = stream
        self._head = b""
        self._given_encoding = None if encoding is None else known_encoding(encoding)
        self._errors = checked_error_handling(errors)
        self._splits_at_blanks = splits_at_blanks

    def pieces(self, piece_bytes: int = PIECE_BYTES, *, by_line: bool = False) -> Iterator[TextPiece]:
        """Yield the text in pieces of about `piece_bytes`; with `by_line` line by line as they come, unless in UTF-16.

        Raises
        ------
        StudioError
            With ``errors="strict"``, if something cannot be decoded; the message says where.
        """
        head = self._read_line(piece_bytes)  # no more than one line: someone may be typing
        # In UTF-16 and UTF-32 the byte LF is a part of other characters too.
        is_wide = b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))
        read = self._read_line if by_line and not is_wide else self._read
        compression = compression_of(head)
        if compression is not None:
            self._head = head
            read = DecompressedStream(self._read, compression, self.name).read
            head = read(piece_bytes)
        elif self._given_encoding == DETECT:  # one line tells little
            head += self._read(piece_bytes)
        yield from decoded_pieces(
            read,
            head,
            self.name,
            encoding=self._given_encoding,
            errors=self._errors,
            splits_at_blanks=self._splits_at_blanks,
            piece_bytes=piece_bytes,
        )

    def has_changed(self) -> bool:
        """Return False: what was read is all there was."""
        return False

    def _read_line(self, size: int) -> bytes:
        line = self._stream.readline(size)
        self.bytes_read += len(line)
        return line

    def _read(self, size: int) -> bytes:
        """Read as `read` does, but so that Ctrl-C is seen between two portions that come."""
        parts = [self._head] if self._head else []
        size -= len(self._head)
        self._head = b""
        while size > 0 and (data := self._stream.read1(size)):
            parts.append(data)
            self.bytes_read += len(data)
            size -= len(data)
        return b"".join(parts)


def decoded_lines(stream: BufferedIOBase, name: str) -> Iterator[str]:
    """Yield the lines of a stream, as they come, without their line ends; `name` is for messages.

    It is UTF-8, or what a byte order mark says.

    Raises
    ------
    StudioError
        If bytes cannot be decoded, or there is a NUL character; the message names the line and the byte.
    """
    for piece in TextStream(stream, name).pieces(by_line=True):
        for line in piece.text.removesuffix("\n").split("\n"):
            yield line.removesuffix("\r")
