"""Files that were written together, known by the SHA-256 in their manifest.

A process that is killed while it puts several files in place leaves a mixture of two saves, each file of which is
whole: other settings with the same tokens, or new merges beside an old vocabulary. The manifest is put in place first
and names the hash of every other file, so that such a mixture is noticed whichever file comes from which save.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import MANIFEST_FILE, SIDE_SUFFIX, manifest_bytes, read_manifest, side_manifest
from wordpiece_studio.storage.small_files import small_file_bytes
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import BinaryIO

    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.system.atomic_write import Content

REPLACE_ADVICE = "Write to another place, or move that file away."
_ADVICE = "Save again; or name the file to read, tokenizer.json or vocab.txt, instead of the folder."
_ADVICE_BPE = "Save again; or move {manifest} away to have the files read without it."
_LARGEST_BYTES = 1 << 30  # nothing larger is read in these formats


def with_manifest(manifest: Manifest, files: Mapping[str, bytes], name: str = MANIFEST_FILE) -> dict[str, bytes]:
    """Return files by name, before them their manifest, which knows them by their hashes.

    Parameters
    ----------
    manifest
        The manifest, without hashes.
    files
        The contents of the files by name.
    name
        What the manifest's file is called.
    """
    hashes = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
    return {name: manifest_bytes(msgspec.structs.replace(manifest, file_sha256=hashes)), **files}


def with_side_manifest(
    manifest: Manifest, path: str | os.PathLike[str], write: Callable[[BinaryIO], object]
) -> dict[str | os.PathLike[str], Content]:
    """Return a file that stands alone, and its manifest beside it, which knows it by its hash.

    Parameters
    ----------
    manifest
        The manifest, without hashes.
    path
        Where the file is to be.
    write
        Writes it to the open file, which is empty.
    """
    hashes: dict[str, str] = {}

    def write_hashed(file: BinaryIO) -> None:
        write(file)
        file.seek(0)
        hashes[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def write_manifest(file: BinaryIO) -> None:
        file.write(manifest_bytes(msgspec.structs.replace(manifest, file_sha256=hashes)))

    return {path: write_hashed, side_manifest(path): write_manifest}


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Check that a file, if it is there, was written by this program and not changed since: its manifest knows it.

    Raises
    ------
    StudioError
        If not; or if that cannot be determined.
    """
    place = Path(path)
    if not os.path.lexists(place):
        return
    try:
        if place.name == MANIFEST_FILE or place.name.endswith(SIDE_SUFFIX):
            read_manifest(place)
            return
        manifests = [
            read_manifest(manifest)
            for manifest in (side_manifest(place), place.with_name(MANIFEST_FILE))
            if manifest.is_file()
        ]
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        is_known = any(manifest.file_sha256.get(place.name) == digest for manifest in manifests)
    except (StudioError, OSError):
        is_known = False
    if not is_known:
        raise StudioError(
            "{path} was not written by this program, or was changed since",
            REPLACE_ADVICE,
            path=display_name(path),
        )


def check_together(manifest_path: Path, manifest: Manifest, names: Collection[str]) -> None:
    """Check that the files beside a manifest are those that were written with it.

    Line ends that a tool made Windows' are no difference.

    Parameters
    ----------
    manifest_path, manifest
        The manifest, and where it is.
    names
        Which files are read; nothing else is looked at, as a manifest may come from anywhere.

    Raises
    ------
    StudioError
        If one was changed, comes from another save, or is missing.
    """
    for name, digest in manifest.file_sha256.items():
        if name not in names:
            continue
        path = manifest_path.with_name(name)
        if not path.exists():
            raise StudioError(
                "{path} is missing; it was written together with {manifest}",
                _ADVICE_BPE if manifest.kind == "bpe" else _ADVICE,
                path=display_name(path),
                manifest=manifest_path.name,
            )
        data = small_file_bytes(path, _LARGEST_BYTES, "a tokenizer", "Save again.")
        if digest not in (_hash(data), _hash(data.replace(b"\r\n", b"\n"))):
            raise StudioError(
                "{path} is not the file that was written together with {manifest}: it was changed since, or saving was "
                "interrupted",
                _ADVICE_BPE if manifest.kind == "bpe" else _ADVICE,
                path=display_name(path),
                manifest=manifest_path.name,
            )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
