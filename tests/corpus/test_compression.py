from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import TYPE_CHECKING

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.reading import corpus_file, refusal, text_of
from wordpiece_studio.corpus import compression
from wordpiece_studio.corpus.compression import DecompressedStream, compression_of
from wordpiece_studio.corpus.files import TextStream
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Compress = Callable[[bytes], bytes]


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(data)


COMPRESSORS: dict[str, Compress] = {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress, "zstd": zstd}
EACH = pytest.mark.parametrize("name", COMPRESSORS)
# Letters that do not repeat soon, so that what is compressed is not a few bytes.
TEXT = "".join(f"{number * 2654435761 % 2**32:x} {number}\n" for number in range(10_000)).encode()


def decompressed(data: bytes, size: int = 1 << 20) -> bytes:
    found = compression_of(data[: compression.MAGIC_BYTES])
    assert found is not None
    stream = DecompressedStream(io.BytesIO(data).read, found, "x")
    parts = []
    while part := stream.read(size):
        parts.append(part)
    return b"".join(parts)


@EACH
def test_the_first_bytes_show_the_compression(name: str) -> None:
    assert compression_of(COMPRESSORS[name](b"")) == name
    assert compression_of(COMPRESSORS[name](TEXT)[: compression.MAGIC_BYTES]) == name


@given(st.text())
def test_no_text_is_taken_for_compressed(text: str) -> None:
    assert compression_of(text.encode()) is None
    assert compression_of(b"BZh9 is no more than a word") is None


@EACH
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_streams_one_after_the_other_are_one_text(name: str, size: int) -> None:
    compress = COMPRESSORS[name]
    text = TEXT[: 200 * size] if size < 1000 else TEXT
    half = len(text) // 2
    data = compress(text[:half]) + compress(b"") + compress(text[half:])
    assert decompressed(data, size) == text
    assert decompressed(data + bytes(512), size) == text  # padding, as on a tape


@pytest.mark.slow
@EACH
def test_memory_does_not_depend_on_the_size_of_the_content(name: str) -> None:
    data = COMPRESSORS[name](bytes(64 << 20))
    stream = DecompressedStream(io.BytesIO(data).read, compression_of(data), "x")  # type: ignore[arg-type]
    # zstandard gives all that comes of four kilobytes.
    assert len(stream.read(1000)) == 1000 or name == "zstd"


@EACH
def test_a_file_is_read_whatever_its_name_says_and_its_bytes_are_counted(name: str, tmp_path: Path) -> None:
    data = COMPRESSORS[name](TEXT)
    file = corpus_file(tmp_path / "a.txt", data)
    source = opened(file)
    read = [source.bytes_read for _ in source.pieces()]
    assert text_of(file).encode() == TEXT
    assert (source.size, source.bytes_read) == (len(data), len(data))
    assert read == sorted(read)
    assert text_of(corpus_file(tmp_path / "plain.gz", TEXT)).encode() == TEXT


@EACH
def test_lines_and_bytes_are_those_of_the_content(name: str, tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "a.txt.x", COMPRESSORS[name]("é\n".encode() * 1000 + b"\xe9"))
    assert "line 1001: the bytes E9 at byte 3000 are not UTF-8" in refusal(file)


@EACH
def test_a_compressed_stream_is_read(name: str) -> None:
    stream = TextStream(io.BytesIO(COMPRESSORS[name](TEXT)), "stdin")
    assert "".join(piece.text for piece in stream.pieces()).encode() == TEXT


@EACH
@pytest.mark.parametrize("cut", [12, 40, 1000, -1, -4])
def test_a_truncated_file_is_refused(name: str, cut: int, tmp_path: Path) -> None:
    message = refusal(corpus_file(tmp_path / "a.txt", COMPRESSORS[name](TEXT)[:cut]))
    assert f"a.txt cannot be decompressed ({name}) beyond " in message
    assert "it ends prematurely" in message


@EACH
def test_what_follows_after_the_end_is_refused(name: str, tmp_path: Path) -> None:
    message = refusal(corpus_file(tmp_path / "a.txt", COMPRESSORS[name](b"ab\n") + b"and this"))
    assert "beyond 3 bytes of its content: something else follows after its end" in message


@EACH
@given(place=st.integers(0, 10**6), byte=st.integers(1, 255))
def test_a_changed_byte_is_noticed_or_changes_nothing(name: str, place: int, byte: int) -> None:
    data = bytearray(COMPRESSORS[name](TEXT[:20_000]))
    data[place % len(data)] ^= byte
    if compression_of(bytes(data)) is not None:
        try:
            assert decompressed(bytes(data)) == TEXT[:20_000]
        except StudioError:
            pass


@pytest.mark.slow
@EACH
def test_a_bomb_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "UNSUSPICIOUS_BYTES", 1 << 20)
    monkeypatch.setattr(compression, "LARGEST_RATIO", 500)
    message = refusal(corpus_file(tmp_path / "a.gz", COMPRESSORS[name](b"a\n" * (2 << 20)), errors="replace"))
    assert "which is implausible for text" in message


def test_a_window_larger_than_usual_programs_need_is_rejected(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=29, enable_ldm=True)
    big = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    file = corpus_file(tmp_path / "a.zst", big.compress(TEXT) + big.flush())
    assert "(zstd) takes more memory than" in refusal(file)
