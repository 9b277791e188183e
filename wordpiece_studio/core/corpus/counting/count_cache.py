"""Counts kept from one run to the next in the user's cache, for the same files counted in the same way.

A file counts as the same while its path, size and time of change are. What is kept is checked when it is read; where
anything is amiss the words are counted again. Not here: texts and streams, which are never kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.core.corpus.counting.mergeable_counts import header_of, with_header
from wordpiece_studio.core.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.core.kernel_cache import private_folder
from wordpiece_studio.core.text import normalizers, pre_tokenizers
from wordpiece_studio.core.text.word_numbers import spelled_out, words_in
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wordpiece_studio.core.corpus.corpus_file import CorpusFile
    from wordpiece_studio.core.text.pipeline import Pipeline

MOST_BYTES = 2 << 30
"""So much is kept; what was not asked for longest goes first."""

_FORMAT = 1  # to be raised when the same text would give other counts, or they are written differently
_SUFFIX = ".counts"
_DIGEST_BYTES = 32


def key_of(files: Sequence[CorpusFile], pipeline: Pipeline, longest: int) -> str | None:
    """Return what identifies the counts of files; None if they are none to be kept, the pipeline being somebody's own.

    Raises
    ------
    StudioError
        If there is no such file.
    """
    try:
        steps = [normalizers.to_spec(pipeline.normalizer), pre_tokenizers.to_spec(pipeline.pre_tokenizer)]
    except StudioError:
        return None
    described = []
    for file in files:
        with contextlib.suppress(OSError, ValueError):  # reading it will tell
            status = os.stat(file.path)
            where = os.path.abspath(file.path)
            described.append([where, status.st_size, status.st_mtime_ns, *dataclasses.astuple(file)[1:]])
    if len(described) < len(files):
        return None
    text = json.dumps([_FORMAT, described, steps, longest])
    return hashlib.sha256(text.encode()).hexdigest()


def find(key: str, pipeline: Pipeline) -> WordCounts | None:
    """Return the counts that were kept under a key; None if there are none, or not whole ones."""
    try:
        path = _folder() / f"{key}{_SUFFIX}"
        data = path.read_bytes()
        counts = _counts_in(data, pipeline)
        os.utime(path)
    except (OSError, ValueError, KeyError, TypeError, StudioError):
        return None
    return counts


def keep(key: str, counts: WordCounts) -> None:
    """Keep counts under a key; if there is no room for them they are not kept."""
    from wordpiece_studio.core.formats.atomic_write import atomic_write

    with contextlib.suppress(OSError, StudioError):
        folder = _folder()
        data = _written(counts)
        if len(data) <= MOST_BYTES:
            atomic_write(folder / f"{key}{_SUFFIX}", data)
            _remove_oldest(folder)


def clear() -> None:
    """Remove everything that is kept."""
    with contextlib.suppress(OSError, StudioError):
        for path in _folder().glob(f"*{_SUFFIX}"):
            path.unlink()


def _folder() -> Path:
    return private_folder("counts")


def _written(counts: WordCounts) -> bytes:
    """Return counts as bytes: their hash, the length of the header, the header, words, their ends, their counts."""
    words, ends = spelled_out(counts.words)
    parts = [words, ends.astype("<i8").tobytes(), counts.counts.astype("<i8").tobytes()]
    header = {
        "sizes": [len(part) for part in parts],
        "statistics": dataclasses.asdict(counts.statistics),
        "skipped": [dataclasses.astuple(word) for word in counts.skipped],
    }
    content = with_header(header, b"".join(parts))
    return hashlib.sha256(content).digest() + content


def _counts_in(data: bytes, pipeline: Pipeline) -> WordCounts:
    """Return what `_written` wrote; raises `ValueError` if it is not whole."""
    content = memoryview(data)[_DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != data[:_DIGEST_BYTES]:
        raise ValueError
    header, start = header_of(content)
    parts: list[bytes] = []
    for size in header["sizes"]:
        parts.append(bytes(content[start : start + size]))
        start += size
    words = words_in(parts[0], np.frombuffer(parts[1], dtype="<i8"))
    return WordCounts(
        words,
        np.frombuffer(parts[2], dtype="<i8").astype(np.int64),
        pipeline.normalizer,
        pipeline.pre_tokenizer,
        CorpusStatistics.from_dict(header["statistics"]),
        [SkippedWord(*word) for word in header["skipped"]],
    )


def _remove_oldest(folder: Path) -> None:
    """Remove what was not asked for longest, until the rest is not too much."""
    entries = []
    for path in folder.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError):  # somebody else was faster
            status = path.stat()
            entries.append((status.st_mtime_ns, status.st_size, path))
    size = sum(size for _, size, _ in entries)
    for _, of_one, path in sorted(entries, key=lambda entry: entry[0]):
        if size <= MOST_BYTES:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        size -= of_one
