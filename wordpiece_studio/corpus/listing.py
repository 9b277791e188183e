"""Which files make up a corpus, in a fixed order, and the text of each, to be read once in pieces.

A table of words and their counts is recognized by its rows: read as text, its counts would be dropped silently.
Not here: what else is in files (`inspection`), and how a kind is read (`files`, `rows`, `parquet`).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.files import (
    COMPRESSED_SUFFIXES,
    KIND_OF_SUFFIX,
    MAY_BE_COUNTS,
    CorpusFile,
    TextOnDisk,
    TextStream,
    check_agreed,
    files_at,
    is_url,
    kind_of_name,
    regular_file_status,
    unreadable,
)
from wordpiece_studio.corpus.rows import JsonLines, delimited_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from io import BufferedIOBase

    from wordpiece_studio.corpus.counts import CorpusStatistics
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import FileKind
    from wordpiece_studio.corpus.parquet import ParquetTexts

    Place = str | bytes | os.PathLike[str]
    Source = TextOnDisk | ParquetTexts | TextStream

# Which files are taken from a folder; a .json file there is usually one object with settings rather than lines.
FOLDER_SUFFIXES = tuple(suffix for suffix in KIND_OF_SUFFIX if suffix != ".json")

NO_COLUMN_ADVICE = "Specify no column; or if the lines are rows, specify their kind."
_WITHOUT_COLUMNS = ("text", "word-counts")  # the kinds of file whose text is in no column, or in known ones
_ONE = (str, bytes, os.PathLike, CorpusFile)


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a corpus in order, and what was decided about them without being requested: see the statistics."""

    files: tuple[CorpusFile, ...]
    guessed_tables: tuple[str, ...] = ()
    left_out_files: int = 0
    left_out_example: str = ""

    def noted(self, statistics: CorpusStatistics) -> CorpusStatistics:
        return replace(
            statistics,
            guessed_tables=self.guessed_tables,
            left_out_files=self.left_out_files,
            left_out_example=self.left_out_example,
        )


def listing(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile] | Listing,
    *,
    kind: FileKind | None = None,
    column: str | None = None,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    looks_inside: bool = True,
) -> Listing:
    """Return the files that paths stand for, in order; a listing is returned unchanged.

    Paths are files, folders and patterns such as ``"texts/**/*.jsonl.gz"``; a `CorpusFile` is kept unchanged. From a
    folder, every file with a usual suffix is taken, those in folders below it too, in natural order (``2.txt`` before
    ``10.txt``), except for hidden ones. Links to folders are followed, to each folder once. A pattern stands for files
    only, with any suffix. Files already listed are not taken again from a folder or a pattern; a file named twice is
    read twice.

    Without a kind, it is what the suffix says, or text. If neither kind nor column is given and it `looks_inside`, csv,
    tsv and parquet files that look like tables of words and their counts are read as such, and texts whose first line
    says so. `column` (for files that have some), `encoding` and `errors` are those of `CorpusFile`.
    """
    if isinstance(paths, Listing):
        return paths
    one_or_many = [paths] if isinstance(paths, (*_ONE, Mapping)) or not isinstance(paths, Iterable) else paths
    found: list[CorpusFile] = []
    listed: set[str] = set()
    guessed_tables: list[str] = []
    left_out: list[str] = []

    def as_file(path: str) -> CorpusFile:
        file = CorpusFile(path, kind or kind_of_name(path) or "text", column, encoding, errors)
        if looks_inside and kind is None and column is None and file.kind in MAY_BE_COUNTS:
            from wordpiece_studio.corpus.count_tables import looks_like_word_counts

            if looks_like_word_counts(file):
                guessed_tables.append(display_name(path))
                return replace(file, kind="word-counts")
        return file

    for entry in one_or_many:
        if not isinstance(entry, _ONE):
            raise StudioError("Files are expected, not {value}", "Pass their paths.", value=repr(entry)[:100])
        if isinstance(entry, CorpusFile):
            check_agreed(entry)
        names = [] if isinstance(entry, CorpusFile) else _files_of(os.fsdecode(entry), listed, left_out)
        files = [entry] if isinstance(entry, CorpusFile) else list(map(as_file, names))
        found += files
        listed.update(file.path for file in files)
    if not found:
        raise StudioError("There is no file to read", "Specify at least one.")
    if column is not None and all(file.kind in _WITHOUT_COLUMNS for file in found):
        raise _no_column(display_name(found[0].path), found[0].kind, column)
    left_out = [path for path in dict.fromkeys(left_out) if path not in listed]
    return Listing(tuple(found), tuple(guessed_tables), len(left_out), display_name(left_out[0]) if left_out else "")


def _no_column(name: str, kind: FileKind, column: str) -> StudioError:
    what = '{path} has no column "{column}": it is read as words and their counts'
    if kind == "text":
        what = '{path} has no column "{column}": it is read as plain text'
    return StudioError(what, NO_COLUMN_ADVICE, path=name, column=column)


def listed_files(
    paths: Place | CorpusFile | Iterable[Place | CorpusFile], *, kind: FileKind | None = None
) -> list[CorpusFile]:
    """Return the files that paths stand for as `listing` does, but each of the kind that its name indicates."""
    return list(listing(paths, kind=kind, looks_inside=False).files)


def _is_taken_from_folders(path: str) -> bool:
    name = path.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.endswith(FOLDER_SUFFIXES)


def _files_of(path: str, listed: set[str], left_out: list[str]) -> list[str]:
    if is_url(path):
        kind, names = files_at(path)
        names.sort(key=_order)
    elif os.path.isdir(path):
        kind, names = "folder", list(_walk(path, set()))
    elif glob.has_magic(path) and not os.path.lexists(path):
        found = filter(os.path.isfile, glob.iglob(path, recursive=True))
        kind, names = "pattern", sorted(found, key=_order)
    else:
        regular_file_status(path)
        kind = "file"
    if kind == "file":
        return [path]
    if kind == "folder":
        left_out += [name for name in names if not _is_taken_from_folders(name)]
        names = list(filter(_is_taken_from_folders, names))
    if not names and kind == "folder":
        what = "The folder {path} contains no files that end in {suffixes}"
        advice = "Specify files with other extensions one by one, or with a pattern such as *.log."
        raise StudioError(what, advice, path=display_name(path), suffixes=", ".join(FOLDER_SUFFIXES))
    if not names:
        raise StudioError("No file matches {pattern}", "Check the pattern.", pattern=display_name(path))
    return [name for name in names if name not in listed]


def _natural_order(name: str) -> tuple[object, ...]:
    """Return a key that sorts names as people do, with numbers by value.

    >>> sorted(["b10", "b9", "b"], key=_natural_order)
    ['b', 'b9', 'b10']
    """
    parts: list[object] = re.split(r"([0-9]+)", name)
    parts[1::2] = [int(part) for part in parts[1::2] if isinstance(part, str)]
    return tuple(parts), name  # "01" and "1" are equal by value


def _order(path: str) -> list[object]:
    return [_natural_order(part) for part in Path(path).parts]


def _kind_of(entry: os.DirEntry[str]) -> tuple[bool, bool]:
    """Return whether it is a folder, and whether it is a file; a broken or circular link is neither."""
    with suppress(OSError):
        return entry.is_dir(), entry.is_file()
    return False, False


def _walk(folder: str, seen: set[tuple[int, int]]) -> Iterator[str]:
    try:
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            visible = [(entry.name, *_kind_of(entry)) for entry in entries if entry.name[0] != "."]
    except OSError as error:
        raise unreadable(folder, error) from error
    for name, is_folder, is_file in sorted(visible, key=lambda entry: _natural_order(entry[0])):
        path = os.path.join(folder, name)
        if is_folder:
            yield from _walk(path, seen)
        elif is_file:
            yield path


def opened(file: CorpusFile, *, splits_at_blanks: bool = False) -> TextOnDisk | ParquetTexts:
    """Return a reader of a file, which is opened when its text is requested.

    A piece may end at a blank instead, if there is no line end for a long stretch.
    """
    check_agreed(file)
    if file.kind == "parquet":
        from wordpiece_studio.corpus.parquet import ParquetTexts

        return ParquetTexts(file.path, file.column, file.errors)
    if file.kind == "word-counts":
        what = "{path} is a table of words and their counts, not a text"
        advice = "Only counting and training accept it. If it is not one, specify its kind."
        raise StudioError(what, advice, path=display_name(file.path))
    reading = _reading(display_name(file.path), file, splits_at_blanks)
    return TextOnDisk(file.path, decompresses=True, **reading)


def opened_stream(
    stream: BufferedIOBase, name: str, kind: FileKind = "text", *, splits_at_blanks: bool = False, **options: Any
) -> TextStream:
    """Return a reader of a stream of bytes, such as standard input, as `opened` does for a file with these options."""
    file = CorpusFile(name, kind, **options)
    if kind in ("parquet", "word-counts"):
        raise StudioError(
            "A file of the kind {kind} cannot be read from {name}", "Specify the file instead.", kind=kind, name=name
        )  # fmt: skip
    if file.column is not None and kind == "text":
        raise _no_column(name, kind, file.column)
    return TextStream(stream, name, **_reading(name, file, splits_at_blanks))


def _reading(name: str, file: CorpusFile, splits_at_blanks: bool) -> dict[str, Any]:
    reading: dict[str, Any] = {"encoding": file.encoding, "errors": file.errors}
    if file.kind == "jsonl":
        return {**reading, "texts_of": JsonLines(name, file.column, file.errors).texts}
    if file.kind in ("csv", "tsv"):
        given: dict[str, Any] = {"name": name, "column": file.column, "errors": file.errors}
        return {**reading, "texts_of": partial(delimited_texts, **given, is_tsv=file.kind == "tsv")}
    return {**reading, "splits_at_blanks": splits_at_blanks}
