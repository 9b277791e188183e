"""The files of a corpus as a manifest names them: manifests are published, and where files lie is no one's matter.

A file in the folder above the manifest's, or anywhere below that, is named from the manifest's folder:
``../texts/a.txt``. Of any other only the name is left, of a URL all but its user, password and query.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from wordpiece_studio.corpus.remote_files import is_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import CorpusStatistics
    from wordpiece_studio.storage.corpus_record import CorpusRecord, RecordedFile


def published_path(path: str, folder: str | os.PathLike[str] | None) -> str:
    """Return a path as a manifest in `folder` names it; None is any folder.

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
    # Next to the root everything lies below the folder above.
    if not is_near or os.path.dirname(above) == above:
        return name
    return PurePath(os.path.relpath(place, own)).as_posix()


def published_record(record: CorpusRecord, folder: str | os.PathLike[str] | None) -> CorpusRecord:
    """Return a record with its files named as a manifest in `folder` names them."""
    files = tuple(msgspec.structs.replace(file, path=published_path(file.path, folder)) for file in record.files)
    return msgspec.structs.replace(record, files=files)


def published_statistics(statistics: CorpusStatistics, folder: str | os.PathLike[str] | None) -> CorpusStatistics:
    """Return what was read, with the files named as a manifest in `folder` names them."""
    return dataclasses.replace(
        statistics,
        files=tuple(dataclasses.replace(file, name=published_path(file.name, folder)) for file in statistics.files),
        changed_files=tuple(published_path(name, folder) for name in statistics.changed_files),
        guessed_tables=tuple(published_path(name, folder) for name in statistics.guessed_tables),
        left_out_example=statistics.left_out_example and published_path(statistics.left_out_example, folder),
        marked_files={published_path(name, folder): coding for name, coding in statistics.marked_files.items()},
    )


def places_of(file: RecordedFile, folder: str | os.PathLike[str]) -> Iterator[str]:
    """Yield where a file that the manifest in `folder` names may be: as named, beside or above it, and here."""
    if is_url(file.path) or file.path.startswith(("//", "\\\\")):
        return  # a manifest may come from anywhere: nothing is fetched because it says so
    own = os.path.abspath(folder)
    for start in (own, os.path.dirname(own), os.getcwd()):
        yield os.path.normpath(os.path.join(start, file.path))


def _published_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL"
    if parts.scheme.lower() in ("file", "local"):
        return PurePath(parts.path).name
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
