"""Files of a corpus, on disk or behind a URL, and streams to be read once: of which kind each is, and its plain text.

Not here: which files there are and how those of other kinds are read (`listing`).
"""

from __future__ import annotations

import io
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast, get_args

from wordpiece_studio.corpus.compression import MAGIC_BYTES, Compression, DecompressedStream, compression_of
from wordpiece_studio.corpus.decoding import (
    AROUND_BYTES,
    DETECT,
    PIECE_BYTES,
    EncodingGuess,
    checked_error_handling,
    decoded_pieces,
    guessed_encoding,
    known_encoding,
    marked_encoding,
)
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import BufferedIOBase

    from wordpiece_studio.corpus.decoding import ErrorHandling, TextPiece

    TextsOf = Callable[[Iterator[TextPiece]], Iterator[TextPiece]]

FileKind = Literal["text", "jsonl", "csv", "tsv", "parquet", "word-counts"]

COMPRESSED_SUFFIXES = (".gz", ".xz", ".bz2", ".zst")

KIND_OF_SUFFIX: dict[str, FileKind] = {
    ".txt": "text", ".text": "text", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv",
    ".tsv": "tsv", ".parquet": "parquet",
}  # fmt: skip

# The kinds of file that may be a table of words and their counts, as those that the Studio writes are.
MAY_BE_COUNTS: tuple[FileKind, ...] = ("text", "csv", "tsv", "parquet")

_URL = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://", re.IGNORECASE)
NO_FILE_ADVICE = "Choose a file on a disk."


def is_url(path: str) -> bool:
    """Return whether a path is a URL; a Windows drive is not.

    >>> is_url("s3://bucket/a.txt"), is_url("C:/a.txt"), is_url("a.txt")
    (True, False, False)
    """
    return _URL.match(path) is not None


_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ .]*(\..*)?", re.IGNORECASE)


def is_relative(path: str) -> bool:
    r"""Return whether a path leads on from a folder on every system, without a drive, another computer or a device.

    It may lead out of the folder through ``..``.

    >>> is_relative("../texts/a.txt"), is_relative("/\\server/share/a.txt"), is_relative("s3://bucket/a.txt")
    (True, False, False)
    """
    if is_url(path) or PurePosixPath(path).is_absolute() or PureWindowsPath(path).anchor:
        return False
    return os.name != "nt" or not any(":" in part or _DEVICE.fullmatch(part) for part in PureWindowsPath(path).parts)


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus and how it is read.

    Whether it is compressed is not recorded here: its first bytes show that.

    Attributes
    ----------
    path
        Where it is, from `os.fsdecode`.
    kind
        Its content: lines of text, rows with a text in one of their fields, or words and their counts.
    column
        The field of jsonl, ``"meta.text"`` for one within another; the column of csv, tsv and parquet, in csv and tsv
        also its number from 1 where there is no header. None: the only one with text, or one with a usual name.
    encoding
        Its encoding; None for UTF-8 or what a byte order mark says, ``"detect"`` to detect it.
    errors
        What to do about undecodable bytes: raise, replace them, or leave out the line. Rows with other faults can only
        be left out.
    unagreed
        Where it is looked for, the first of these being its path, once the user agrees: a project names these places,
        which are outside its folder. Until then nothing there is touched. Empty for all other files.
    """

    path: str
    kind: FileKind = "text"
    column: str | None = None
    encoding: str | None = None
    errors: ErrorHandling = "strict"
    unagreed: tuple[str, ...] = field(default=(), compare=False)

    def __reduce__(self) -> tuple[type[CorpusFile], tuple[object, ...]]:
        """To be pickled is to be read, by another process."""
        check_agreed(self)
        return type(self), astuple(self)

    def agreed(self) -> CorpusFile:
        """Return the file, which may be read now; of several places, where it is found."""
        if not self.unagreed:
            return self
        found = (place for place in self.unagreed[:-1] if is_url(place) or os.path.exists(place))
        place = next(found, self.unagreed[-1])
        return replace(self, path=place, unagreed=())


@dataclass(frozen=True, slots=True)
class CorpusReference:
    """A file of the corpus as it was when last read; a size or time of -1 and an empty digest are unknown.

    The time of the last change is in nanoseconds since 1970; the digest, of all its bytes, is in hexadecimal.
    """

    file: CorpusFile
    size: int = -1
    modified_ns: int = -1
    sha256: str = ""


def kind_of_name(path: str) -> FileKind | None:
    """Return the kind of file that its suffix indicates; None if it indicates none.

    >>> kind_of_name("wiki.jsonl.zst")
    'jsonl'
    """
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED_SUFFIXES:
        stem, suffix = os.path.splitext(stem)
    return KIND_OF_SUFFIX.get(suffix)


def checked_kind(name: str) -> FileKind:
    if name in get_args(FileKind):
        return cast("FileKind", name)
    what = 'There is no kind of file called "{name}"'
    raise StudioError(what, "Use one of {kinds}.", name=name, kinds=", ".join(get_args(FileKind)))


def checked_file(file: CorpusFile) -> CorpusFile:
    """Return a file with its encoding's standard name."""
    check_agreed(file)
    checked_error_handling(file.errors)
    return file if file.encoding is None else replace(file, encoding=known_encoding(file.encoding))


def check_agreed(file: CorpusFile) -> None:
    if file.unagreed:
        what = "{path} is outside the project's folder and has not been read"
        raise StudioError(what, "Agree to reading it, or add it yourself.", path=display_name(file.path))


class FileOnDisk:
    """A regular file, or one behind a URL, with its size when this was created; `name` is its name in messages."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.name = display_name(self.path)
        self.bytes_read = 0
        self.size, self._version = self._state(is_known=True)

    def has_changed(self) -> bool:
        try:
            return self._state(is_known=False) != (self.size, self._version)
        except StudioError:
            return True

    def _state(self, *, is_known: bool) -> tuple[int, object]:
        """Return the size, 0 if unknown, and what tells the content from others; perhaps as a listing said."""
        if is_url(self.name):
            return remote_state(self.path, is_known=is_known)
        status = regular_file_status(self.path)
        return status.st_size, status.st_mtime_ns


class _Text:
    """Text to be read once, from start to end; `encoding` and `errors` are those of `CorpusFile`.

    A piece may end at a blank instead, if there is no line end for a long stretch. `texts_of` finds the text in pieces
    of a file that consists of rows; their own pieces must then end at line ends.
    """

    name: str

    def _prepare(
        self,
        encoding: str | None = None,
        errors: ErrorHandling = "strict",
        splits_at_blanks: bool = False,
        texts_of: TextsOf = iter,
    ) -> None:
        self._encoding = None if encoding is None else known_encoding(encoding)
        errors = checked_error_handling(errors)
        self._decode = partial(decoded_pieces, name=self.name, errors=errors, splits_at_blanks=splits_at_blanks)
        self._texts_of = texts_of


class TextOnDisk(FileOnDisk, _Text):
    def __init__(self, path: str | os.PathLike[str], *, decompresses: bool = False, **reading: Any) -> None:
        super().__init__(path)
        self._prepare(**reading)
        self._decompresses = decompresses

    def pieces(self, piece_bytes: int = PIECE_BYTES) -> Iterator[TextPiece]:
        """Yield the text in pieces of about `piece_bytes`, each ending at a line end or with the file."""
        return self._texts_of(self._decoded(piece_bytes))

    def _decoded(self, piece_bytes: int) -> Iterator[TextPiece]:
        encoding = found_encoding(self.path) if self._encoding == DETECT else self._encoding
        self.bytes_read = 0
        with reading(self.path) as file:

            def read_file(size: int) -> bytes:
                data = file.read(size)
                self.bytes_read += len(data)
                return data

            compression = compression_in(file) if self._decompresses else None
            read = DecompressedStream(read_file, compression, self.name).read if compression else read_file
            head = read(max(piece_bytes, 4))
            around = None if compression else partial(bytes_around, self.path)
            yield from self._decode(read, head, encoding=encoding, piece_bytes=piece_bytes, around=around)


class _FileAsItWas(io.FileIO):
    """A file that ends where it ended when it was opened: one that grows for ever would never end.

    Some files that the system generates as they are read have a reported size of 0; these are read to their end.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._end = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any) -> int | None:
        view = memoryview(buffer).cast("B")
        return super().readinto(view[: max(0, self._end - self.tell())] if self._end else view)

    def readall(self) -> bytes:
        if not self._end:
            return super().readall()
        parts = []
        while part := super().read(max(0, self._end - self.tell())):
            parts.append(part)
        return b"".join(parts)


def open_binary(path: str | os.PathLike[str]) -> BinaryIO:
    """Return the bytes of a file, on disk or behind a URL; what is appended to it from now on is not read."""
    where = os.fspath(path)
    return open_url(where) if is_url(os.fsdecode(where)) else io.BufferedReader(_FileAsItWas(where))


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file as `open_binary` does, and say in words what goes wrong while it is open."""
    try:
        with open_binary(path) as file:
            yield file
    except OSError as error:
        raise unreadable(path, error) from error


def compression_in(file: BinaryIO) -> Compression | None:
    compression = compression_of(file.read(MAGIC_BYTES))
    file.seek(0)
    return compression


def bytes_around(path: str | os.PathLike[str], byte: int) -> bytes:
    """Return the bytes around a byte of a file, from a multiple of four on; nothing if it cannot be read."""
    with suppress(OSError), open_binary(path) as file:
        file.seek(max(0, byte - AROUND_BYTES // 2) & ~3)
        return file.read(AROUND_BYTES)
    return b""


def regular_file_status(path: str | os.PathLike[str]) -> os.stat_result:
    """Return the status of a regular file, without opening it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if stat.S_ISREG(status.st_mode):
        return status
    if stat.S_ISDIR(status.st_mode):
        raise StudioError("{path} is a folder", "Choose files.", path=display_name(path))
    raise StudioError("{path} is not a regular file", NO_FILE_ADVICE, path=display_name(path))


def unreadable(path: str | os.PathLike[str], error: Exception) -> StudioError:
    if isinstance(error, FileNotFoundError):
        return StudioError("{path} does not exist", "Check the name.", path=display_name(path))
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return StudioError("{path} cannot be read: {reason}", path=display_name(path), reason=reason)


_HEAD_BYTES, _PART_BYTES, _PARTS = 256 << 10, 64 << 10, 4


def found_encoding(path: str | os.PathLike[str]) -> str | None:
    """Return the encoding that a file seems to be in; None for UTF-8, or if none fits."""
    guess = encoding_of(sample_of(FileOnDisk(path))[1])
    return None if guess is None or guess.how in ("byte order mark", "mixed") else guess.name


def sample_of(file: FileOnDisk) -> tuple[Compression | None, list[bytes]]:
    """Return how a file is compressed, and a few parts of its content, each from a multiple of four bytes on."""
    with reading(file.path) as content:
        compression = compression_in(content)
        if compression is not None:
            head = DecompressedStream(content.read, compression, file.name).read(_HEAD_BYTES)
            return compression, [head[:_HEAD_BYTES]]
        parts = [content.read(_HEAD_BYTES)]
        for number in range(1, _PARTS + 1) if file.size > 2 * _HEAD_BYTES else ():
            content.seek(((file.size - _PART_BYTES) * number // _PARTS) & ~3)
            parts.append(content.read(_PART_BYTES))
        return None, parts


def encoding_of(sample: Sequence[bytes]) -> EncodingGuess | None:
    """Return the encoding that a file seems to be in, from its mark or its bytes; None if none fits."""
    marked = marked_encoding(sample[0])
    return EncodingGuess(marked[0], "byte order mark") if marked else guessed_encoding(*sample)


class TextStream(_Text):
    """A stream of text, which is decompressed; its `name` is for messages."""

    size = 0  # unknown

    def __init__(self, stream: BufferedIOBase, name: str, **reading: Any) -> None:
        self.name = name
        self.bytes_read = 0
        self._stream = stream
        self._head = b""
        self._prepare(**reading)

    def pieces(self, piece_bytes: int = PIECE_BYTES, *, by_line: bool = False) -> Iterator[TextPiece]:
        """Yield the text in pieces of about `piece_bytes`, or with `by_line` line by line, unless UTF-16."""
        return self._texts_of(self._decoded(piece_bytes, by_line=by_line))

    def _decoded(self, piece_bytes: int, *, by_line: bool) -> Iterator[TextPiece]:
        head = self._read_line(piece_bytes)  # no more than one line: a user may be typing
        # In UTF-16 and UTF-32 the byte LF is also part of other characters.
        is_wide = b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))
        read = self._read_line if by_line and not is_wide else self._read
        compression = compression_of(head)
        if compression is not None:
            self._head = head
            read = DecompressedStream(self._read, compression, self.name).read
            head = read(piece_bytes)
        elif self._encoding == DETECT:  # one line is too little to detect it
            head += self._read(piece_bytes)
        yield from self._decode(read, head, encoding=self._encoding, piece_bytes=piece_bytes)

    def has_changed(self) -> bool:
        return False  # a stream cannot be read again

    def _read_line(self, size: int) -> bytes:
        line = self._stream.readline(size)
        self.bytes_read += len(line)
        return line

    def _read(self, size: int) -> bytes:
        """Read like `read`, but so that Ctrl-C is noticed between the portions that arrive."""
        parts = [self._head] if self._head else []
        size -= len(self._head)
        self._head = b""
        while size > 0 and (data := self._stream.read1(size)):
            parts.append(data)
            self.bytes_read += len(data)
            size -= len(data)
        return b"".join(parts)


def decoded_lines(stream: BufferedIOBase, name: str) -> Iterator[str]:
    for piece in TextStream(stream, name).pieces(by_line=True):
        for line in piece.text.removesuffix("\n").split("\n"):
            yield line.removesuffix("\r")


# ---- behind URLs, read through fsspec, which is loaded only then -----------------------------------------------------

_VERSION_KEYS = ("size", "mtime", "ETag", "etag", "LastModified", "last_modified", "updated", "md5Hash")
_BUFFER_BYTES = 1 << 20


def remote_state(url: str, *, is_known: bool) -> tuple[int, list[str]]:
    """Return what `FileOnDisk` needs; if that `is_known` from a listing of the folder, the file is not asked for."""
    with _told(url):
        system, path = _system_of(url)
        if not is_known:
            system.invalidate_cache()
        info = dict(system.info(path))
        if info.get("type") == "directory":
            raise StudioError("{path} is a folder", "Choose files.", path=printable(url))
        return int(info.get("size") or 0), [str(info.get(key)) for key in _VERSION_KEYS]


def open_url(url: str) -> BinaryIO:
    """Return the bytes of a file, readable from any position."""
    with _as_os_errors():
        system, path = _system_of(url)
        return cast("BinaryIO", io.BufferedReader(_RawFile(system.open(path, "rb")), _BUFFER_BYTES))


def files_at(url: str) -> tuple[Literal["file", "folder", "pattern"], list[str]]:
    """Return what a URL stands for, and the URLs of the files there, in any order; hidden ones are left out."""
    with _told(url):
        from fsspec.utils import get_protocol

        system, path = _system_of(url)
        kind: Literal["folder", "pattern"] = "pattern"
        if re.search(r"[*?\[]", path) and get_protocol(url) not in ("http", "https"):
            names = [name for name in system.glob(path) if not system.isdir(name)]
        elif system.info(path).get("type") == "directory":
            kind = "folder"
            names = [name for name in system.find(path) if "/." not in f"/{name.removeprefix(path)}"]
        else:
            return "file", [url]
        return kind, [str(system.unstrip_protocol(name)) for name in names]


def _system_of(url: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url)
    return system, str(path)


class _RawFile(io.RawIOBase):
    """A file of fsspec, whose many exceptions all become `OSError`."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        with _as_os_errors():
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        with _as_os_errors():
            return int(self._file.seek(offset, whence))

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except (OSError, StudioError):
        raise
    except Exception as error:
        raise OSError(str(error) or type(error).__name__) from error


@contextmanager
def _told(url: str) -> Iterator[None]:
    shown = printable(url)
    try:
        yield
    except StudioError:
        raise
    except FileNotFoundError as error:
        raise StudioError("{path} does not exist", "Check the name.", path=shown) from error
    except ImportError as error:
        what = "{path} cannot be read: {reason}"
        advice = "Install the missing package; URLs always need fsspec: pip install fsspec"
        raise StudioError(what, advice, path=shown, reason=printable(str(error)).rstrip(".")) from error
    except Exception as error:  # each kind of file system has its own exceptions
        reason = printable(str(error)) or type(error).__name__
        raise StudioError("{path} cannot be read: {reason}", path=shown, reason=reason) from error
