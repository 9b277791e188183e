"""What can be exported of a training, the files that an export consists of, and writing them with their manifest.

Elsewhere: the table of merges (`merge_table`), and how each format is written.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.corpus.word_counts import write_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import MERGES_FILE, VOCAB_JSON_FILE
from wordpiece_studio.storage.bpe_files import why_no_bpe, write_bpe_files
from wordpiece_studio.storage.corpus_record import record_of_project
from wordpiece_studio.storage.huggingface.tokenizer_json import CONFIG_FILE, TOKENIZER_FILE, why_not_expressible
from wordpiece_studio.storage.manifest import (
    MANIFEST_FILE,
    Origin,
    make_counts_manifest,
    make_library_manifest,
    make_manifest,
    side_manifest,
    with_manifest,
    with_side_manifest,
)
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES, save_tokenizer
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE, vocabulary_bytes
from wordpiece_studio.system.atomic_write import atomic_write_all, make_folder, written_together
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory

ExportKind = Literal["folder", "vocabulary", "bpe", "word-counts"]
BPE_FILES = (VOCAB_JSON_FILE, MERGES_FILE)
_BPE_FOLDER = (*BPE_FILES, *(name for name in TOKENIZER_FILES if name != VOCABULARY_FILE))
COUNTS_FILE = "word-counts.tsv"
_COUNTS_CSV = "word-counts.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Exported:
    """What is exported: the state of a training at a step."""

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    step: int
    origin: Origin = field(default_factory=Origin)
    model_max_length: int = MODEL_MAX_LENGTH  # of a text in tokens, as it is written for other programs

    @property
    def vocabulary(self) -> Vocabulary:
        return self.history.vocabulary(self.step)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer at the step."""
        counts, longest = self.counts, self.model_max_length
        return Tokenizer(self.vocabulary, counts.normalizer, counts.pre_tokenizer, model_max_length=longest)


def is_folder(kind: ExportKind) -> bool:
    """Return whether the place of an export is a folder."""
    return kind in ("folder", "bpe")


def files_of(kind: ExportKind, place: Path) -> list[Path]:
    """Return the files that an export makes, the manifest last.

    >>> from pathlib import Path
    >>> [path.name for path in files_of("vocabulary", Path("out/vocab.txt"))]
    ['vocab.txt', 'vocab.txt.card.json']
    """
    if not is_folder(kind):
        return [place, side_manifest(place)]
    return [place / name for name in (*(TOKENIZER_FILES if kind == "folder" else _BPE_FOLDER), MANIFEST_FILE)]


def default_name(kind: ExportKind, counts: WordCounts) -> str:
    """Return a default name for the file or folder."""
    if kind == "word-counts":
        return counts_name(counts)
    return VOCABULARY_FILE if kind == "vocabulary" else "bpe" if kind == "bpe" else "tokenizer"


def counts_name(counts: WordCounts) -> str:
    """Return the name of a table for these words: tab-separated unless a word has a tab, a line break or the like."""
    text = "".join(counts.words)
    is_plain = not any(character in text for character in "\t\n\0") and not text.startswith("\ufeff")
    return COUNTS_FILE if is_plain else _COUNTS_CSV


def why_not(kind: ExportKind, exported: Exported) -> StudioError | None:
    """Return why this kind of export is impossible; None if it probably is possible. Nothing is written."""
    try:
        reason = why_no_vocab_txt(exported) if kind == "vocabulary" else None
        if kind == "folder":
            reason = why_not_expressible(exported.tokenizer)
        elif kind == "bpe":
            reason = why_no_bpe(exported.config)
        if reason is None:  # the manifest contains these
            normalizers.to_spec(exported.counts.normalizer)
            pre_tokenizers.to_spec(exported.counts.pre_tokenizer)
    except StudioError as error:
        return error
    return reason


def why_no_vocab_txt(exported: Exported) -> StudioError | None:
    """Return why a tokenizer's folder is written without ``vocab.txt``; None if it has one."""
    try:
        vocabulary_bytes(exported.vocabulary.tokens)
    except StudioError as error:
        return error
    return None


def bpe_names(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return the names of the files of byte pair encoding: without ``tokenizer.json`` if it cannot express this."""
    return _BPE_FOLDER if why_not_expressible(tokenizer, is_bpe=True) is None else BPE_FILES


def manifest_of(
    kind: ExportKind | Literal["merges"],
    exported: Exported,
    name: str,
    *,
    parts: Literal["all", "some"] = "all",
    folder: Path | None = None,
) -> Manifest:
    """Return the manifest of an export.

    Parameters
    ----------
    kind, exported, name
        What is exported, and the name of its file.
    parts
        For a table of merges: whether it contains all of them.
    folder
        The folder of the manifest, see `make_manifest`.
    """
    if kind == "word-counts":
        return make_counts_manifest(exported.counts, exported.origin.corpus, (name,), folder)
    return make_manifest(
        exported.tokenizer,
        config=exported.config,
        counts=exported.counts,
        origin=exported.origin,
        kind="tokenizer" if kind == "folder" else kind,
        files=() if kind == "folder" else bpe_names(exported.tokenizer) if kind == "bpe" else (name,),
        parts=parts,
        folder=folder,
    )


def write_export(kind: ExportKind, exported: Exported, place: Path) -> None:
    """Write an export with its manifest: all of its files or none.

    Parameters
    ----------
    kind
        What is exported.
    exported
        The training and the step.
    place
        The folder or the file; a folder is created if it does not exist.
    """
    counts = exported.counts
    if kind == "folder":
        save_tokenizer(
            place,
            exported.tokenizer,
            config=exported.config,
            counts=counts,
            origin=exported.origin,
            only=None if why_no_vocab_txt(exported) is None else "tokenizer.json",
        )
        return
    check_tokenizer_stays_whole(place, bpe_names(exported.tokenizer) if kind == "bpe" else ())
    manifest = manifest_of(kind, exported, place.name, folder=place if kind == "bpe" else place.parent)
    if kind == "word-counts":
        write_word_counts(place, counts, together=partial(with_side_manifest, manifest))
    elif kind == "bpe":
        write_bpe_files(
            place, exported.history, exported.step, manifest=manifest, tokenizer=exported.tokenizer
        )  # fmt: skip
    else:
        _write_beside(place, vocabulary_bytes(exported.vocabulary.tokens), manifest)


def _write_beside(place: Path, content: bytes, manifest: Manifest) -> None:
    """Write a file and its manifest."""
    files = with_manifest(manifest, {place.name: content}, side_manifest(place).name)
    atomic_write_all({place.with_name(name): data for name, data in files.items()})


def export(
    kind: ExportKind,
    project: Project,
    step: int,
    place: Path,
    with_counts: bool,
    may_replace: bool,
    *,
    should_stop: Callable[[], bool],
) -> tuple[str, ...]:
    """Write what was learned in the first `step` merges of a project's run, and its manifest.

    Parameters
    ----------
    place
        The folder or the file.
    with_counts
        Whether the word counts are written into the folder too.
    may_replace
        Whether the user agreed to replace what is there. If not, and there is something, nothing is written, and the
        names of these files are returned.
    """
    run = project.run
    assert run is not None
    if not is_folder(kind) and os.path.isdir(place):
        raise file_error(place, "{path} is a folder", "Choose a file in it.")
    table = place / counts_name(run.counts) if with_counts else None
    if not may_replace:
        files = files_of(kind, place) + (files_of("word-counts", table) if table is not None else [])
        if in_the_way := tuple(path.name for path in files if os.path.lexists(path)):
            return in_the_way
    origin = Origin(merges=step, corpus=record_of_project(project, should_stop))
    exported = Exported(run.counts, run.config, run.history, step, origin)
    if not should_stop():
        with written_together():
            make_folder(place if is_folder(kind) else place.parent)
            write_export(kind, exported, place)
            if table is not None:
                write_export("word-counts", exported, table)
    return ()


def export_library(project: Project, place: Path, *, should_stop: Callable[[], bool]) -> None:
    """Write the file of another library, whose run the project shows, and its manifest."""
    run = project.run
    assert run is not None
    assert run.library_run is not None
    record = record_of_project(project, should_stop)
    if not should_stop():
        manifest = make_library_manifest(run.library_run, run.counts, record, place)
        _write_beside(place, run.library_run.content, manifest)


def check_tokenizer_stays_whole(place: Path, bpe: Sequence[str] = ()) -> None:
    """Check that no file of a tokenizer's folder would be replaced while the others stay.

    Parameters
    ----------
    place
        The file, or the folder of byte pair encoding.
    bpe
        The names of the files of the latter.
    """
    folder = place if bpe else place.parent
    others = [name for name in (TOKENIZER_FILE, CONFIG_FILE, *([VOCABULARY_FILE] if bpe else [])) if name not in bpe]
    is_part = bpe or place.name in TOKENIZER_FILES
    if is_part and (found := next((name for name in others if (folder / name).exists()), None)):
        raise file_error(
            folder,
            "{path} contains a tokenizer with a {name} that would not match the new files",
            "Choose another folder.",
            name=found,
        )
