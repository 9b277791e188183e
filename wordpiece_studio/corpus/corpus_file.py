"""A file of a corpus and how it is read. Not here: which files there are (`listing`), reading (`sources`)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from wordpiece_studio.corpus.decoding import ErrorHandling

FileKind = Literal["text", "jsonl", "csv", "tsv", "parquet", "word-counts"]

COMPRESSED_SUFFIXES = (".gz", ".xz", ".bz2", ".zst")

KIND_OF_SUFFIX: dict[str, FileKind] = {
    ".txt": "text",
    ".text": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


MAY_BE_COUNTS: tuple[FileKind, ...] = ("csv", "tsv", "parquet")
"""The kinds of file that may be a table of words and their counts, as those that the Studio writes are."""

FOLDER_SUFFIXES = tuple(suffix for suffix in KIND_OF_SUFFIX if suffix != ".json")
"""Which files are taken from a folder; a .json file there is usually one object with settings rather than lines."""


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
    """

    path: str
    kind: FileKind = "text"
    column: str | None = None
    encoding: str | None = None
    errors: ErrorHandling = "strict"


def kind_of_name(path: str) -> FileKind | None:
    """Return the kind of file that its suffix indicates; None if it indicates none.

    >>> kind_of_name("wiki.jsonl.zst")
    'jsonl'
    """
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED_SUFFIXES:
        stem, suffix = os.path.splitext(stem)
    return KIND_OF_SUFFIX.get(suffix)


def is_taken_from_folders(name: str) -> bool:
    """Return whether a file of that name is taken from a folder that contains it."""
    name = name.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return not name.startswith(".") and name.endswith(FOLDER_SUFFIXES)


def checked_kind(name: str) -> FileKind:
    """Return `name` if it is a kind of file.

    Raises
    ------
    StudioError
        If it is not.
    """
    if name in get_args(FileKind):
        return cast("FileKind", name)
    raise StudioError(
        'There is no kind of file called "{name}"',
        "Use one of {kinds}.",
        name=name,
        kinds=", ".join(get_args(FileKind)),
    )


def natural_order(name: str) -> tuple[object, ...]:
    """Return a key that sorts names as people do, with numbers by value.

    >>> sorted(["b10", "b9", "b"], key=natural_order)
    ['b', 'b9', 'b10']
    """
    parts: list[object] = re.split(r"([0-9]+)", name)
    parts[1::2] = [int(part) for part in parts[1::2] if isinstance(part, str)]
    return tuple(parts), name  # "01" and "1" are equal by value
