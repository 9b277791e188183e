"""Files on a disk and streams that are read once: what may be read, and how their text comes."""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus import decoding
from wordpiece_studio.corpus.files import TextOnDisk, TextStream, decoded_lines
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Buffer


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "gb18030"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "text.txt"


def read(path: Path, piece_bytes: int = 1 << 20, **options: object) -> str:
    return "".join(piece.text for piece in TextOnDisk(path, **options).pieces(piece_bytes))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text(st.sampled_from("ab \n\r\t한中ĊȠ🙂\u2028\u0a00"), max_size=40), piece_bytes=st.integers(1, 9))
def test_text_comes_whole_whatever_the_encoding_and_the_pieces(
    tmp_path_factory: pytest.TempPathFactory, encoding: str, text: str, piece_bytes: int
) -> None:
    path = tmp_path_factory.mktemp("files") / "text.txt"
    path.write_bytes(text.encode(encoding))
    given_encoding = None if encoding in ("utf-8-sig", "utf-16", "utf-32") else encoding
    for splits in (False, True):
        pieces = list(TextOnDisk(path, encoding=given_encoding, splits_at_blanks=splits).pieces(piece_bytes))
        assert "".join(piece.text for piece in pieces) == text
        assert all(piece.text.endswith(("\n", " ") if splits else "\n") for piece in pieces[:-1])
        line = 1
        for piece in pieces:
            assert piece.line == line
            line += piece.text.count("\n")
            whole = path.read_bytes()[piece.byte : piece.end_byte]
            assert whole.decode(piece.encoding) == piece.text
            assert piece.locate(len(piece.text)) == (line, piece.end_byte)


def test_undecodable_bytes_are_named_with_line_and_byte(path: Path) -> None:
    path.write_bytes(b"one\ntwo \xe9\xe8\nthree\n")
    for piece_bytes in (1, 4, 100):
        with pytest.raises(StudioError, match=r"text\.txt, line 2: the bytes E9 at byte 8 are not UTF-8"):
            read(path, piece_bytes)


def test_undecodable_bytes_after_a_mark_are_named_where_they_are(path: Path) -> None:
    path.write_bytes("a\nb".encode("utf-16") + b"\x00\xd8")
    with pytest.raises(StudioError, match="line 2: the bytes 00 D8 at byte 8 are not UTF-16-LE"):
        read(path)


@pytest.mark.parametrize("piece_bytes", [1, 5, 1000])
def test_faults_can_be_replaced_or_their_lines_skipped_and_are_counted(path: Path, piece_bytes: int) -> None:
    path.write_bytes("good\nb\ufffdd\n".encode() + b"b\xe9d \xe8\nbad\0\nlast \xff")
    replaced = list(TextOnDisk(path, errors="replace").pieces(piece_bytes))
    assert "".join(piece.text for piece in replaced) == "good\nb\ufffdd\nb\ufffdd \ufffd\nbad\ufffd\nlast \ufffd"
    assert sum(piece.replaced for piece in replaced) == 4
    kept = list(TextOnDisk(path, errors="skip-line").pieces(piece_bytes))
    assert "".join(piece.text for piece in kept) == "good\nb\ufffdd\n"
    assert sum(piece.skipped_lines for piece in kept) == 3
    assert kept[-1].end_byte == path.stat().st_size


def test_a_binary_file_is_refused(path: Path) -> None:
    path.write_bytes(b"text\n\x01\x00\x02")
    with pytest.raises(StudioError, match="line 2: there is a NUL character at byte 6, as in a binary file"):
        read(path)


def test_a_bare_encoding_needs_a_mark_where_bytes_have_an_order(path: Path) -> None:
    path.write_bytes("ab".encode("utf-16-le"))
    with pytest.raises(StudioError, match="utf-16-le or utf-16-be"):
        read(path, encoding="utf-16")
    assert read(path, encoding="utf-16-le") == "ab"


@pytest.mark.parametrize("name", ["latin-17", "base64", "utf-7", "rot13", "", "a\0b", "idna\n"])
def test_unknown_encodings_are_refused(path: Path, name: str) -> None:
    path.write_bytes(b"")
    with pytest.raises(StudioError, match="no text encoding"):
        TextOnDisk(path, encoding=name)


def test_unknown_error_handling_is_refused(path: Path) -> None:
    path.write_bytes(b"")
    with pytest.raises(StudioError, match="strict, replace or skip-line"):
        TextOnDisk(path, errors="ignore")


def test_things_that_are_not_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="is a folder"):
        TextOnDisk(tmp_path)
    with pytest.raises(StudioError, match=r"gone\.txt does not exist"):
        TextOnDisk(tmp_path / "gone.txt")
    with pytest.raises(StudioError, match="null"):
        TextOnDisk("a\0b")


@POSIX
def test_pipes_devices_and_endless_files_are_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(StudioError, match="not a regular file"):
            TextOnDisk(name)


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_an_undecodable_name_is_shown_escaped(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"a\xff.txt")
    Path(os.fsdecode(path)).write_bytes(b"x")
    assert read(os.fsdecode(path)) == "x"
    assert TextOnDisk(os.fsdecode(path)).name.endswith("a\\udcff.txt")


@pytest.mark.parametrize(("path", "shown"), [("a\nb", r"a\nb"), ("a\0b", r"a\x00b"), ("", '""'), ("한.txt", "한.txt")])
def test_every_name_can_be_shown_in_one_line(path: str, shown: str) -> None:
    assert display_name(path) == shown
    with pytest.raises(StudioError, match=re.escape(shown)):
        TextOnDisk(path)


def test_a_file_that_vanishes_is_named(path: Path) -> None:
    path.write_bytes(b"x")
    file = TextOnDisk(path)
    assert not file.has_changed()
    path.unlink()
    assert file.has_changed()
    with pytest.raises(StudioError, match=r"text\.txt does not exist"):
        list(file.pieces())


def test_a_file_that_grows_has_changed(path: Path) -> None:
    path.write_bytes(b"x")
    file = TextOnDisk(path)
    path.write_bytes(b"xy")
    assert file.has_changed()


def test_an_endless_stretch_is_refused_in_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LONGEST_STRETCH_BYTES", 1 << 20)
    path.write_bytes(b"x" * (3 << 20))
    with pytest.raises(StudioError, match="MB without a line break"):
        read(path, 1 << 16)


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
        (b"a\nb\xff\n", "stdin, line 2: the bytes FF at byte 3 are not UTF-8. Set the file's encoding"),
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
