"""What a manifest says about the corpus: its files, how they were read, and the hash that identifies them.

The hash of a corpus of files is the SHA-256 of the SHA-256 digests (32 bytes each) of its files, in order; that of a
text without a file, the SHA-256 of its UTF-8 bytes. Files are hashed as they are on disk, compressed or not, and only
while their size and modification time are those from before they were counted.

Manifests get published, and the location of files is private. A file in the parent of the manifest's folder, or
anywhere below it, is named relative to the manifest's folder: ``../texts/a.txt``. Of any other file only the name is
kept; of a URL, everything but user, password and query.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from wordpiece_studio.corpus.files import CorpusFile, CorpusReference, is_relative, is_url
from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wordpiece_studio.corpus.counts import CorpusStatistics
    from wordpiece_studio.storage.project.contents import Project


_READING = ("kind", "column", "encoding", "errors")
ONLY_COUNTS = "only the word counts are known"
STREAM = "it was read from standard input"
PARTIAL = "counting was stopped, and only the beginning of the corpus was taken"
HELD_OUT = "a part of the corpus was held out"
HASHING_STOPPED = "hashing was stopped"
OTHER_CORPUS = "the corpus was changed or replaced after it was counted"
_CHANGED = "the file was changed after it was counted"
_REMOTE = "the file is behind a URL"
_UNKNOWN = "it is not known what the file was when it was counted"
# A manifest names at most this many files, lest it become too large to read; the hash covers all files.
MOST_FILES = 10_000
_PIECE_BYTES = 1 << 20  # hashed at a time, with the interpreter lock released


@decodable
class RecordedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file of the corpus and how it was read, see `CorpusFile`."""

    path: str  # as given, or as returned by `published_path`; undecodable bytes are backslash escapes
    kind: Literal["text", "jsonl", "csv", "tsv", "parquet", "word-counts"] = "text"
    column: str | None = None
    encoding: str | None = None
    errors: Literal["strict", "replace", "skip-line"] = "strict"
    bytes: int | None = None  # when it was counted
    sha256: str | None = None  # of all its bytes, in hexadecimal
    sha256_missing: str = ""  # why it is not known

    def file(self, path: str) -> CorpusFile:
        return CorpusFile(path, **{name: getattr(self, name) for name in _READING})


@decodable
class CorpusRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    sha256: str | None = None  # the corpus hash, in hexadecimal
    sha256_of: Literal["", "files", "text"] = ""
    sha256_missing: str = ONLY_COUNTS  # why it is not known
    files: tuple[RecordedFile, ...] = ()  # in reading order; none for a text, or if there are more than `MOST_FILES`
    max_word_length: int | None = None  # the most characters a word could have to be counted
    min_count: int = 1  # the least occurrences that a word needed

    @property
    def was_stopped(self) -> bool:
        return self.sha256_missing.endswith(HASHING_STOPPED)


def noted_files(files: Iterable[CorpusFile]) -> list[CorpusReference]:
    """Return files with their present size and modification time; call it before they are counted."""
    return [_noted(file) for file in files]


def recorded_files(
    references: Iterable[CorpusReference], should_stop: Callable[[], bool] = lambda: False
) -> tuple[RecordedFile, ...]:
    """Return the records of files as they were before they were counted, hashed now if they have not changed since.

    A known hash is used unless the file looks changed. Failures are recorded, not raised; once `should_stop` returns
    True, the remaining hashes are not computed.
    """
    return tuple(_recorded(reference, should_stop) for reference in references)


def record_of_files(files: tuple[RecordedFile, ...], *, max_word_length: int, min_count: int = 1) -> CorpusRecord:
    missing = next((file for file in files if file.sha256 is None), None)
    reason = "" if missing is None else f"{published_path(missing.path, None)}: {missing.sha256_missing}"
    return CorpusRecord(
        sha256=corpus_hash([file.sha256 for file in files if file.sha256]) if files and missing is None else None,
        sha256_of="files",
        sha256_missing=reason if files else ONLY_COUNTS,
        files=files if len(files) <= MOST_FILES else (),
        max_word_length=max_word_length,
        min_count=min_count,
    )


def record_of_text(text: str, *, max_word_length: int) -> CorpusRecord:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return CorpusRecord(sha256=digest, sha256_of="text", sha256_missing="", max_word_length=max_word_length)


def record_of_rest(record: CorpusRecord) -> CorpusRecord:
    return msgspec.structs.replace(record, sha256=None, sha256_of="", sha256_missing=HELD_OUT)


def record_of_project(project: Project, should_stop: Callable[[], bool] = lambda: False) -> CorpusRecord:
    """Return the record of the corpus that a project's training was learned from, hashing files where necessary."""
    corpus, longest = project.corpus, project.settings.max_word_length
    if project.run is None or not project.run.is_of_corpus:
        return CorpusRecord(sha256_missing=OTHER_CORPUS)
    if project.run.counts.statistics.is_partial:
        return CorpusRecord(sha256_missing=PARTIAL)
    if corpus.text is not None and not corpus.files:
        # A text identical to a file's content counts as that file, as on the command line.
        if corpus.origin is not None and not corpus.is_edited:
            record = record_of_files(recorded_files([corpus.origin], should_stop), max_word_length=longest)
            if record.sha256 is not None or record.was_stopped:
                return record
        return record_of_text(corpus.text, max_word_length=longest)
    return record_of_files(recorded_files(corpus.files, should_stop), max_word_length=longest)


def corpus_hash(digests: Iterable[str]) -> str:
    """Return the hash of a corpus, in hexadecimal, from the hashes of its files in order.

    >>> corpus_hash([hashlib.sha256(b"a").hexdigest()]) == hashlib.sha256(hashlib.sha256(b"a").digest()).hexdigest()
    True
    """
    return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()


def _noted(file: CorpusFile) -> CorpusReference:
    if not (is_url(file.path) or file.unagreed):
        with suppress(OSError, ValueError):
            status = os.stat(file.path)
            if stat.S_ISREG(status.st_mode):  # reading a pipe might never end
                return CorpusReference(file, status.st_size, status.st_mtime_ns)
    return CorpusReference(file)


def _recorded(reference: CorpusReference, should_stop: Callable[[], bool]) -> RecordedFile:
    file = reference.file
    digest, reason = _digest(reference, should_stop)
    return RecordedFile(
        path=os.fsencode(file.path).decode("utf-8", "backslashreplace"),
        **{name: getattr(file, name) for name in _READING},
        bytes=reference.size if reference.size >= 0 else None,
        sha256=digest,
        sha256_missing=reason,
    )


def _digest(reference: CorpusReference, should_stop: Callable[[], bool]) -> tuple[str | None, str]:
    if reference.file.unagreed:
        return None, "it is outside the project's folder and has not been read"
    if is_url(reference.file.path):
        return None, _REMOTE
    if reference.size < 0 or reference.modified_ns < 0:
        return None, _UNKNOWN
    noted = CorpusReference(reference.file, reference.size, reference.modified_ns)
    try:
        if _noted(reference.file) != noted:
            return None, _CHANGED if os.path.exists(reference.file.path) else "the file is no longer there"
        if reference.sha256:
            return reference.sha256, ""
        digest = _hashed(reference.file.path, should_stop)
    except OSError as error:
        return None, f"the file cannot be read: {error.strerror or error}"
    if digest is None:
        return None, HASHING_STOPPED
    return (digest, "") if _noted(reference.file) == noted else (None, _CHANGED)


def _hashed(path: str, should_stop: Callable[[], bool]) -> str | None:
    result, piece = hashlib.sha256(), memoryview(bytearray(_PIECE_BYTES))
    with open(path, "rb", buffering=0) as file:
        while size := file.readinto(piece):
            if should_stop():
                return None
            result.update(piece[:size])
    return result.hexdigest()


def published_path(path: str, folder: str | os.PathLike[str] | None) -> str:
    """Return a path as a manifest in `folder` names it; None stands for any folder.

    >>> published_path("/home/ann/texts/a.txt", "/home/ann/out"), published_path("/home/ann/texts/a.txt", "/srv/out")
    ('../texts/a.txt', 'a.txt')
    >>> published_path("https://ann:secret@example.org/a.txt?key=1", "/srv/out")
    'https://example.org/a.txt'
    """
    if is_url(path):
        return _published_url(path)
    name = PurePath(path).name
    if folder is None or not name:
        return name
    own, place = os.path.abspath(folder), os.path.abspath(path)
    above = os.path.dirname(own)
    try:
        is_near = os.path.commonpath([above, place]) == above
    except ValueError:  # another drive
        return name
    # In a child of the root, everything lies below the parent folder.
    if not is_near or os.path.dirname(above) == above:
        return name
    return PurePath(os.path.relpath(place, own)).as_posix()


def published_record(record: CorpusRecord, folder: str | os.PathLike[str] | None) -> CorpusRecord:
    files = tuple(msgspec.structs.replace(file, path=published_path(file.path, folder)) for file in record.files)
    return msgspec.structs.replace(record, files=files)


def published_statistics(statistics: CorpusStatistics, folder: str | os.PathLike[str] | None) -> CorpusStatistics:
    return dataclasses.replace(
        statistics,
        files=tuple(dataclasses.replace(file, name=published_path(file.name, folder)) for file in statistics.files),
        changed_files=tuple(published_path(name, folder) for name in statistics.changed_files),
        guessed_tables=tuple(published_path(name, folder) for name in statistics.guessed_tables),
        left_out_example=statistics.left_out_example and published_path(statistics.left_out_example, folder),
        marked_files={published_path(name, folder): coding for name, coding in statistics.marked_files.items()},
    )


def places_of(file: RecordedFile, folder: str | os.PathLike[str]) -> Iterator[str]:
    """Yield where a file named by the manifest in `folder` may be: relative to it, its parent or the working folder.

    Manifests are untrusted, and nothing is fetched on their word: what `published_path` never returns is not looked
    for. A name that is not UTF-8 is looked for as its bytes, too.
    """
    own = os.path.abspath(folder)
    for path in dict.fromkeys((file.path, _unescaped(file.path))):
        if is_relative(path) and PurePosixPath(os.path.normpath(path).replace(os.sep, "/")).parts.count("..") <= 1:
            for start in (own, os.path.dirname(own), os.getcwd()):
                yield os.path.normpath(os.path.join(start, path))


def _unescaped(path: str) -> str:
    r"""Return the path that `_recorded` writes as `path`, whose undecodable bytes are backslash escapes there.

    >>> _unescaped("caf\\xe9.txt") in ("caf\udce9.txt", "caf\\xe9.txt")  # the latter on Windows
    True
    """
    if os.name != "posix":
        return path
    escape = re.compile(rb"\\x([89a-f][0-9a-f])")
    return os.fsdecode(escape.sub(lambda found: bytes.fromhex(found[1].decode()), path.encode("utf-8", "replace")))


def _published_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL"
    if parts.scheme.lower() in ("file", "local"):
        return PurePath(parts.path).name
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
