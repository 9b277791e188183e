from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.files import TextStream, decoded_lines
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Buffer


def test_lines_come_without_their_ends() -> None:
    stream = io.BytesIO("\ufeffa\r\n\nb\x85\u2028c\rd\n".encode() + "\ufeffe".encode())
    assert list(decoded_lines(stream, "x")) == ["a", "", "b\x85\u2028c\rd", "\ufeffe"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["", "\n", "h", "ab\n\nc", "\u0a0a\n\u0a41\u010a\r\n\u0a0a"])
def test_a_byte_order_mark_is_believed(encoding: str, text: str) -> None:
    expected = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    data = text.encode(encoding)
    assert list(decoded_lines(io.BytesIO(data), "x")) == expected
    assert list(decoded_lines(io.BufferedReader(Slow(data), 1), "x")) == expected


class Slow(io.RawIOBase):
    """A stream that gives one byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        byte = self._data.read(1)
        memoryview(buffer)[: len(byte)] = byte
        return len(byte)


def test_a_line_is_there_before_the_next_is_typed() -> None:
    stream = io.BytesIO(b"a\nb\n")
    lines = decoded_lines(stream, "x")
    assert (next(lines), stream.tell()) == ("a", 2)
    assert (next(lines), stream.tell()) == ("b", 4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\nb\xff\n", "stdin, line 2: the bytes FF at byte 3 are not UTF-8. Give the file's encoding"),
        (b"a\nb\0\n", "stdin, line 2: there is a NUL character at byte 3, as in a binary file. If it is"),
        (b"\xff\xfea\0\n", "stdin, line 1: the bytes 0A at byte 4 are not UTF-16-LE"),
    ],
)
def test_bad_bytes_are_named(data: bytes, message: str) -> None:
    with pytest.raises(StudioError, match=message):
        list(decoded_lines(io.BytesIO(data), "stdin"))


def test_a_stream_is_repaired_like_a_file() -> None:
    pieces = list(TextStream(io.BytesIO(b"a\nb\xff\nc"), "x", errors="replace").pieces())
    assert ("".join(piece.text for piece in pieces), sum(piece.replaced for piece in pieces)) == ("a\nb\ufffd\nc", 1)
