"""Files that were written together, identified by the SHA-256 digests in their manifest.

A process that is killed while it puts several files in place leaves a mixture of two saves, though each file is whole:
different settings with the same tokens, or new merges beside an old vocabulary. The manifest is put in place first and
has the hash of every other file, so that such a mixture is always detected.
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
_ADVICE_BPE = "Save again; or move {manifest} away to read the files without it."
_LARGEST_BYTES = 1 << 30  # nothing larger is read in these formats


def with_manifest(manifest: Manifest, files: Mapping[str, bytes], name: str = MANIFEST_FILE) -> dict[str, bytes]:
    """Return files by name, preceded by their manifest with their hashes.

    Parameters
    ----------
    manifest
        The manifest, without hashes.
    files
        The contents of the files by name.
    name
        The name of the manifest file.
    """
    hashes = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
    return {name: manifest_bytes(msgspec.structs.replace(manifest, file_sha256=hashes)), **files}


def with_side_manifest(
    manifest: Manifest, path: str | os.PathLike[str], write: Callable[[BinaryIO], object]
) -> dict[str | os.PathLike[str], Content]:
    """Return a single file and its manifest, which has its hash.

    Parameters
    ----------
    manifest
        The manifest, without hashes.
    path
        The path of the file.
    write
        Writes the content to the open, empty file.
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
    """Check that a file, if it exists, was written by this program and is unchanged, according to its manifest.

    Raises
    ------
    StudioError
        If not, or if this cannot be determined.
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
            "{path} was not written by this program, or has been changed since",
            REPLACE_ADVICE,
            path=display_name(path),
        )


def check_together(manifest_path: Path, manifest: Manifest, names: Collection[str]) -> None:
    """Check that the files beside a manifest are the ones written with it.

    Line ends that a tool converted to CR LF are ignored.

    Parameters
    ----------
    manifest_path, manifest
        The manifest and its path.
    names
        The files to read; nothing else is touched, since a manifest may come from anywhere.

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
                "{path} is not the file that was written together with {manifest}: it has changed since, or saving was "
                "interrupted",
                _ADVICE_BPE if manifest.kind == "bpe" else _ADVICE,
                path=display_name(path),
                manifest=manifest_path.name,
            )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
