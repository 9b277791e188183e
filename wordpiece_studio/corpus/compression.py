"""Compressed files, recognized by their first bytes and read as a stream, so that memory does not depend on their size.

Several compressed streams in one file, one after the other, are one text; a stream that ends too early or is damaged
is an error. Data that compressed to less than a thousandth is not text: beyond 128 MB of it such a file is rejected.
Not here: what the bytes mean (`decoding`).
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

Compression = Literal["gzip", "xz", "bzip2", "zstd"]

MAGIC_BYTES = 10  # how many of a file's first bytes show whether it is compressed

LARGEST_RATIO, UNSUSPICIOUS_BYTES = 1000, 128 << 20
_READ_BYTES = 64 << 10
# One byte can become 32 KB, and this decompressor returns everything its input expands to.
_ZSTD_READ_BYTES = 4 << 10
# More than any level of the usual programs requires.
_LARGEST_WINDOW = 128 << 20
_LARGEST_XZ_MEMORY = 256 << 20
# How the decompressors report that a file requires more than that; damage raises the same types of errors.
_MEMORY_WORDS = re.compile(r"memory usage limit|too much memory", re.IGNORECASE)

_MAGIC: tuple[tuple[bytes, int, Compression], ...] = (
    (b"\x1f\x8b\x08", 0, "gzip"),
    (b"\xfd7zXZ\0", 0, "xz"),
    (b"\x28\xb5\x2f\xfd", 0, "zstd"),
    (b"1AY&SY", 4, "bzip2"),  # after "BZh" and the level
    (b"\x17\x72\x45\x38\x50\x90", 4, "bzip2"),  # the same for empty content
)


def compression_of(head: bytes) -> Compression | None:
    """Return how a file that begins with `head` is compressed, or None.

    >>> compression_of(bytes.fromhex("1f8b0800"))
    'gzip'
    """
    for magic, offset, compression in _MAGIC:
        if head[offset : offset + len(magic)] == magic and (compression != "bzip2" or head.startswith(b"BZh")):
            return compression
    if head[1:4] == b"*M\x18" and 0x50 <= head[0] <= 0x5F:  # skippable zstd frames may come first
        return "zstd"
    return None


class DecompressedStream:
    """The content of a compressed file; `read` returns its next bytes, at most as many as asked for."""

    def __init__(self, read: Callable[[int], bytes], compression: Compression, name: str) -> None:
        self._read_file = read
        self._compression = compression
        self._name = name
        self._decompressor = self._new_decompressor()  # None at the end
        self.rest = b""  # read from the file and not yet decompressed
        self._bytes_in = self._bytes_out = 0

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and (data := self._next(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def _next(self, size: int) -> bytes:
        while (decompressor := self._decompressor) is not None:
            # Only those of bzip2 and xz keep what they have not used yet, and say whether they have anything.
            if not self.rest and getattr(decompressor, "needs_input", True) and not self._read_more():
                raise self._fault("it ends prematurely")
            at_most = () if self._compression == "zstd" else (size,)
            try:
                data: bytes = decompressor.decompress(self.rest, *at_most)
            except MemoryError:
                raise
            except Exception as error:  # each decompressor has its own exceptions
                raise self._fault(str(error).removeprefix("zstd decompressor error: ")) from error
            self._bytes_out += len(data)
            self.rest = getattr(decompressor, "unconsumed_tail", b"")
            if decompressor.eof:
                self.rest = decompressor.unused_data
                self._decompressor = self._following()
            self._check_ratio()
            if data:
                return data
        return b""

    def _read_more(self) -> bool:
        data = self._read_file(_ZSTD_READ_BYTES if self._compression == "zstd" else _READ_BYTES)
        self._bytes_in += len(data)
        self.rest += data
        return bool(data)

    def _following(self) -> Any:
        while not self.rest.strip(b"\0"):
            self.rest = b""
            if not self._read_more():
                return None
        self.rest = self.rest.lstrip(b"\0")
        while len(self.rest) < MAGIC_BYTES and self._read_more():
            pass
        if compression_of(self.rest) != self._compression:
            raise self._fault("something else follows after its end")
        return self._new_decompressor()

    def _new_decompressor(self) -> Any:
        # Some builds of Python lack one or the other, which matters only for such files.
        match self._compression:
            case "gzip":
                return zlib.decompressobj(wbits=31)
            case "xz":
                import lzma

                return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_LARGEST_XZ_MEMORY)
            case "bzip2":
                import bz2

                return bz2.BZ2Decompressor()
            case "zstd":
                import zstandard

                return zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()

    def _check_ratio(self) -> None:
        if self._bytes_out > UNSUSPICIOUS_BYTES and self._bytes_out > LARGEST_RATIO * self._bytes_in:
            what = "{path} expands from {size} KB to more than {n} MB, which is implausible for text"
            advice = "Decompress it yourself if you trust it."
            raise StudioError(what, advice, path=self._name, n=self._bytes_out >> 20, size=max(self._bytes_in >> 10, 1))

    def _fault(self, reason: str) -> StudioError:
        if _MEMORY_WORDS.search(reason):
            what = "Decompressing {path} ({compression}) takes more memory than such files normally need"
            return StudioError(
                what, "Decompress it yourself if you trust it.", path=self._name, compression=self._compression
            )
        what = "{path} cannot be decompressed ({compression}) beyond {n} bytes of its content: {reason}"
        advice = "Get a new copy; the file is damaged or incomplete."
        return StudioError(
            what, advice, path=self._name, compression=self._compression, n=f"{self._bytes_out:,}", reason=reason
        )
