"""What files contain, as records say it: small texts as they are, without what varies, everything else by its hash."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unchanged.records import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 6_000
_TEXTS = (".json", ".jsonl", ".csv", ".tsv", ".txt")
_MANIFESTS = ("wordpiece-studio.json", ".card.json")
"""They tell when and by which version they were written."""


def places(folder: Path) -> dict[str, str]:
    """Return what stands instead of the paths and the version that a checkout has."""
    import wordpiece_studio

    checkout = str(Path(wordpiece_studio.__file__).parents[1])
    return {
        str(folder): "@", str(folder.resolve()): "@", checkout: "<checkout>",
        wordpiece_studio.__version__: "<version>",
    }  # fmt: skip


def content_of(path: Path, folder: Path) -> str:
    """Return what a file contains: its text if that is short or varies, else its length and hash."""
    data = path.read_bytes()
    is_manifest = path.name.endswith(_MANIFESTS)
    if is_manifest or (len(data) <= _LONGEST and path.suffix in _TEXTS):
        text = data.decode("utf-8", "backslashreplace")
        return normalised(text, places(folder)) if is_manifest else text
    return f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}"


def contents_of_folder(folder: Path) -> dict[str, str]:
    """Return the contents of all files of a folder, by hash except manifests, which vary."""
    found = {}
    for path in _files_in(folder):
        data = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = (
            content_of(path, folder) if path.name.endswith(_MANIFESTS) else hashlib.sha256(data).hexdigest()
        )
    return found


def states(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Return what tells whether the files of a folder have been written to."""
    found = {}
    for path in _files_in(folder):
        state = path.stat()
        found[path] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found


def _files_in(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if path.is_file():
                yield path
