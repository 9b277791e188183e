"""The words for repeating a training: from a project, a table, or the files of the corpus."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import KIND_OF_SUFFIX, CorpusFile
from wordpiece_studio.corpus.listing import listed_files
from wordpiece_studio.corpus.word_counts import read_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import divided_corpus
from wordpiece_studio.storage.corpus_record import (
    HELD_OUT,
    CorpusRecord,
    noted_files,
    places_of,
    record_of_files,
    record_of_project,
    recorded_files,
)
from wordpiece_studio.storage.manifest import SIDE_SUFFIX, read_manifest, side_manifest
from wordpiece_studio.storage.project.container import SUFFIX
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
    from wordpiece_studio.storage.manifest import Manifest

_LONGEST_WORD = 1000


@dataclass(frozen=True, slots=True)
class WordsAgain:
    """The words, their source, and what is known about their corpus."""

    counts: WordCounts
    source: str
    corpus: CorpusRecord = field(default_factory=CorpusRecord)


def words_again(
    folder: Path,
    manifest: Manifest,
    sources: Sequence[str],
    *,
    is_counts: bool = False,
    processes: int | None = None,
    progress: Callable[[CountingProgress], None] | None = None,
) -> WordsAgain:
    """Return the words that a manifest refers to.

    Parameters
    ----------
    folder
        The folder of the manifest.
    sources
        A project, tables of word counts, or the files of the corpus. If empty: a table exported to `folder`, unless the
        manifest is that of a table itself, or else the files that the manifest names, if they are unchanged.
    is_counts
        Whether `sources` are tables of words; otherwise, only those whose manifest says so are.
    processes, progress
        As in `count_words`.
    """
    if not sources:
        table = None if manifest.kind == "word-counts" else _table_in(folder)
        if table is not None:
            words = _of_tables([str(table)], manifest)
            return dataclasses.replace(words, corpus=_record_where_it_was(folder, manifest) or words.corpus)
        files = _files_of(manifest, folder)
        record = manifest.corpus or CorpusRecord()
        hashed = recorded_files(noted_files(files))
        changed = next(
            (file for file, old in zip(hashed, record.files, strict=True) if file.sha256 != old.sha256), None
        )
        if changed is not None:
            raise StudioError(
                "{path} is not the file that was trained on: its SHA-256 differs",
                "Specify the corpus, its word counts or the project after the folder.",
                path=changed.path,
            )
        return _of_files(files, manifest, processes, progress)
    if len(sources) == 1 and _is_project(sources[0]):
        return _of_project(sources[0])
    if is_counts or all(_is_exported_table(source) for source in sources):
        return _of_tables(sources, manifest)
    return _of_files(_as_recorded(listed_files(list(sources)), manifest), manifest, processes, progress)


def _record_where_it_was(folder: Path, manifest: Manifest) -> CorpusRecord | None:
    """Return the record of the files that a manifest names, hashed now; None if any is missing."""
    try:
        files = _files_of(manifest, folder)
    except StudioError:
        return None
    return record_of_files(recorded_files(noted_files(files)), max_word_length=_LONGEST_WORD)


def _of_project(path: str) -> WordsAgain:
    from wordpiece_studio.storage.project.project_file import open_project

    project = open_project(Path(path))
    if project.run is None:
        raise StudioError(
            "The project {path} contains no run", "Specify the corpus or its word counts.", path=display_name(path)
        )
    return WordsAgain(project.run.counts, display_name(path), record_of_project(project))


def _of_tables(paths: Sequence[str], manifest: Manifest) -> WordsAgain:
    normalizer = normalizers.from_spec(manifest.normalizer)
    counts = read_word_counts(list(paths), normalizer, pre_tokenizers.from_spec(manifest.pre_tokenizer))
    names = ", ".join(map(display_name, paths))
    record = manifest.corpus
    if record is not None and record.files and all(file.kind == "word-counts" for file in record.files):
        files = recorded_files(noted_files(listed_files(list(paths), kind="word-counts")))
        return WordsAgain(counts, names, record_of_files(files, max_word_length=_LONGEST_WORD))
    return WordsAgain(counts, names)


def _of_files(
    files: list[CorpusFile],
    manifest: Manifest,
    processes: int | None,
    progress: Callable[[CountingProgress], None] | None,
) -> WordsAgain:
    record = manifest.corpus or CorpusRecord()
    longest = _LONGEST_WORD if record.max_word_length is None else record.max_word_length
    user_tokens: Any = None if manifest.corpus is None else manifest.corpus.user_tokens
    if user_tokens is None:
        user_tokens = (manifest.training or {}).get("user_tokens", ())
    noted = noted_files(files)
    steps = normalizers.from_spec(manifest.normalizer), pre_tokenizers.from_spec(manifest.pre_tokenizer)
    reading: Any = {"max_word_length": longest, "user_tokens": user_tokens, "progress": progress}
    if record.sha256_missing == HELD_OUT:
        counts = divided_corpus(files, *steps, **reading).rest.at_least(record.min_count)
    else:
        counts = count_words(files, *steps, **reading, min_count=record.min_count, processes=processes)
    names = display_name(files[0].path) if len(files) == 1 else f"{len(files):,} files"
    hashed = recorded_files(noted)
    return WordsAgain(counts, names, record_of_files(hashed, max_word_length=longest, min_count=record.min_count))


def _table_in(folder: Path) -> Path | None:
    """Return the table of words exported to a folder."""
    for path in sorted(folder.glob(f"*{SIDE_SUFFIX}")):
        table = path.with_name(path.name.removesuffix(SIDE_SUFFIX))
        if table.is_file() and read_manifest(path).kind == "word-counts":
            return table
    return None


def _files_of(manifest: Manifest, folder: Path) -> list[CorpusFile]:
    """Return the files that a manifest names, wherever they are found."""
    record = manifest.corpus
    advice = "Specify the corpus, its word counts or the project after the folder."
    if record is None or not record.files:
        raise StudioError(
            "The manifest of {path} does not list the files that it was trained on", advice, path=display_name(folder)
        )
    files = []
    for file in record.files:
        there = [place for place in places_of(file, folder) if _is_file(place)]
        # If several of these places have a file of that name, prefer one of the right size.
        place = next((place for place in there if os.path.getsize(place) == file.bytes), next(iter(there), None))
        if place is None:
            raise StudioError("{path}, one of the files it was trained on, does not exist", advice, path=file.path)
        if file.sha256 is None:
            raise StudioError(
                "The contents of {path} at the time of training are unknown", advice, path=file.path
            )  # fmt: skip
        files.append(file.file(place))
    return files


def _is_file(place: str) -> bool:
    try:
        return os.path.isfile(place)
    except (OSError, ValueError):  # a NUL in the path, or a name that is too long
        return False


def _as_recorded(files: list[CorpusFile], manifest: Manifest) -> list[CorpusFile]:
    """Return files with the reading options of those in the manifest, if there are equally many."""
    recorded = manifest.corpus.files if manifest.corpus is not None else ()
    if len(recorded) != len(files):
        return files
    return [old.file(file.path) for old, file in zip(recorded, files, strict=True)]


def _is_project(source: str) -> bool:
    from wordpiece_studio.storage.project.project_file import is_project

    return source.lower().endswith(SUFFIX) or (Path(source).is_file() and is_project(Path(source)))


def _is_exported_table(source: str) -> bool:
    path = side_manifest(source) if Path(source).name else None
    is_table = os.path.splitext(source.lower())[1] in KIND_OF_SUFFIX
    return is_table and path is not None and path.is_file() and read_manifest(path).kind == "word-counts"
