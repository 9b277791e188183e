"""What can be exported of a training: each kind knows its files, what is in them, and why it may be impossible.

Elsewhere: how each format is written.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.bpe_files import bpe_files, bpe_names, check_bpe_symbols, why_no_bpe
from wordpiece_studio.storage.corpus_record import CorpusRecord, record_of_project
from wordpiece_studio.storage.huggingface.tokenizer_json import CONFIG_FILE, why_not_expressible
from wordpiece_studio.storage.manifest import (
    MANIFEST_FILE,
    TOKENIZER_FILE,
    make_counts_manifest,
    make_library_manifest,
    make_manifest,
    side_manifest,
    write_with_manifest,
    write_word_counts_with_manifest,
)
from wordpiece_studio.storage.merge_table import write_merge_table
from wordpiece_studio.storage.tokenizer_directory import (
    TOKENIZER_FILES,
    Only,
    check_no_mixture,
    check_no_other_files,
    check_saving,
    tokenizer_files,
    written_names,
)
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE, vocabulary_bytes
from wordpiece_studio.system.atomic_write import make_folder, written_together
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory

ExportKind = Literal["folder", "vocabulary", "bpe", "word-counts", "merges", "library"]
COUNTS_FILE = "word-counts.tsv"
_COUNTS_CSV = "word-counts.csv"


@dataclass(frozen=True, slots=True, eq=False)
class Exported:
    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    step: int
    record: CorpusRecord = field(default_factory=CorpusRecord)
    model_max_length: int = MODEL_MAX_LENGTH  # of a text in tokens, as it is written for other programs
    max_word_length: int = 100

    @property
    def vocabulary(self) -> Vocabulary:
        return self.history.vocabulary(self.step)

    @property
    def tokenizer(self) -> Tokenizer:
        steps = self.counts.normalizer, self.counts.pre_tokenizer
        lengths = {name: getattr(self, name) for name in ("max_word_length", "model_max_length")}
        return Tokenizer(self.vocabulary, *steps, **lengths)


@dataclass(frozen=True, slots=True)
class Export:
    """Files of one kind at a place: a folder with a manifest in it, or a file with its manifest beside it."""

    kind: ExportKind
    place: Path
    only: Only | None = None  # of the files of a tokenizer's folder

    @property
    def is_folder(self) -> bool:
        return self.kind in ("folder", "bpe")

    @property
    def folder(self) -> Path:
        return self.place if self.is_folder else self.place.parent

    def files(self, tokenizer: Tokenizer | None = None) -> list[Path]:
        """Return the files that are made for a tokenizer, or that may be made for any; the manifest is the last.

        >>> from pathlib import Path
        >>> [path.name for path in Export("vocabulary", Path("out/vocab.txt")).files()]
        ['vocab.txt', 'vocab.txt.card.json']
        """
        if not self.is_folder:
            return [self.place, side_manifest(self.place)]
        names = written_names(self.only) if self.kind == "folder" else bpe_names(tokenizer)
        return [self.place / name for name in (*names, MANIFEST_FILE)]

    def why_not(self, exported: Exported) -> StudioError | None:
        """Return why the export is impossible; None if it probably is possible. Nothing is written."""
        try:
            reason = None
            if self.kind == "folder":
                reason = why_not_expressible(exported.tokenizer)
            elif self.kind == "bpe":
                reason = why_no_bpe(exported.config)
            elif self.kind == "vocabulary":
                vocabulary_bytes(exported.vocabulary.tokens)
            if reason is None:  # the manifest contains these
                normalizers.to_spec(exported.counts.normalizer)
                pre_tokenizers.to_spec(exported.counts.pre_tokenizer)
        except StudioError as error:
            return error
        return reason

    def why_incomplete(self, exported: Exported) -> StudioError | None:
        """Return why not all files are written: no ``vocab.txt`` of some tokens, or only the two files of BPE."""
        if self.kind == "bpe":
            return why_not_expressible(exported.tokenizer, is_bpe=True)
        try:
            if self.kind == "folder" and self.only is None:
                vocabulary_bytes(exported.vocabulary.tokens)
        except StudioError as error:
            return error
        return None

    def check(self, tokenizer: Tokenizer, config: TrainingConfig) -> None:
        """Check before a training whether the export will be possible after it.

        The vocabulary may be the initial one: a token that cannot be written ends in, or contains, a symbol that cannot
        either.
        """
        if self.kind == "folder":
            check_saving(tokenizer, self.place, self.only)
        elif self.kind == "bpe":
            if (reason := why_no_bpe(config)) is not None:
                raise reason
            self._check_tokenizer_stays_whole(tokenizer)
            check_bpe_symbols(tokenizer.vocabulary.tokens)

    def manifest(
        self, exported: Exported, *, parts: Literal["all", "some"] = "all", is_preview: bool = False
    ) -> Manifest:
        """Return the manifest, without hashes; of a preview, it names files as if they were far from the place."""
        folder = None if is_preview else self.folder
        if self.kind == "word-counts":
            return make_counts_manifest(exported.counts, exported.record, (self.place.name,), folder)
        assert self.kind != "library"  # see `write_library_files`
        files: tuple[str, ...] = () if self.kind == "folder" else (self.place.name,)
        return make_manifest(
            exported.tokenizer,
            config=exported.config,
            counts=exported.counts,
            record=exported.record,
            merges=exported.step,
            kind="tokenizer" if self.kind == "folder" else self.kind,
            files=bpe_names(exported.tokenizer) if self.kind == "bpe" else files,
            parts=parts,
            folder=folder,
        )

    def write(self, exported: Exported) -> None:
        """Write all files or none; a folder is created if it does not exist."""
        if self.kind == "folder" and self.why_incomplete(exported) is not None:
            replace(self, only="tokenizer.json").write(exported)
            return
        if self.kind == "folder":
            check_no_other_files(self.place, written_names(self.only))
        else:
            self._check_tokenizer_stays_whole(exported.tokenizer)
        manifest = self.manifest(exported)
        if self.kind == "word-counts":
            write_word_counts_with_manifest(self.place, exported.counts, exported.record)
        elif self.kind == "merges":
            write_merge_table(self.place, exported.history, manifest=manifest)
        else:
            if self.kind == "folder":
                files = tokenizer_files(exported.tokenizer, self.only)
            elif self.kind == "bpe":
                files = bpe_files(exported.history, exported.step, exported.tokenizer)
            else:
                files = {self.place.name: vocabulary_bytes(exported.vocabulary.tokens)}
            write_with_manifest(manifest, self.files()[-1], files)

    def _check_tokenizer_stays_whole(self, tokenizer: Tokenizer) -> None:
        """Check that no file of a tokenizer's folder would be replaced while the others stay."""
        if self.kind == "bpe":
            check_no_mixture(self.place, bpe_names(tokenizer), (TOKENIZER_FILE, CONFIG_FILE, VOCABULARY_FILE))
        elif self.place.name in TOKENIZER_FILES:
            check_no_mixture(self.folder, (), (TOKENIZER_FILE, CONFIG_FILE))


def counts_name(counts: WordCounts) -> str:
    text = "".join(counts.words)
    is_plain = not any(character in text for character in "\t\n\0") and not text.startswith("\ufeff")
    return COUNTS_FILE if is_plain else _COUNTS_CSV


def export_run(
    export: Export,
    project: Project,
    step: int,
    with_counts: bool,
    may_replace: bool,
    *,
    should_stop: Callable[[], bool],
) -> tuple[str, ...]:
    """Write what was learned in the first `step` merges of a project's run, or another library's file; and a manifest.

    If something is there that may not be replaced, nothing is written, and the names of these files are returned.
    """
    run = project.run
    assert run is not None
    if not export.is_folder and os.path.isdir(export.place):
        raise file_error(export.place, "{path} is a folder", "Choose a file in it.")
    exports = [export]
    if with_counts:
        exports.append(Export("word-counts", export.place / counts_name(run.counts)))
    found = tuple(path.name for each in exports for path in each.files() if os.path.lexists(path))
    if found and not may_replace:
        return found
    record = record_of_project(project, should_stop)
    exported = Exported(run.counts, run.config, run.history, step, record)
    if should_stop():
        return ()
    if run.library_run is not None:
        write_library_files(
            export.place, {export.place.name: run.library_run.content}, run.library_run, run.counts, record
        )
    else:
        with written_together():
            make_folder(export.folder)
            for each in exports:
                each.write(exported)
    return ()


def write_library_files(
    place: Path, files: Mapping[str, bytes], run: LibraryRun, counts: WordCounts, record: CorpusRecord
) -> None:
    """Write what another library trained at `place`, other files beside it, and the manifest."""
    if run.is_adapted:  # nothing was trained on these words
        vocabulary = run.config.vocabulary(run.tokens)
        manifest = make_manifest(Tokenizer(vocabulary, counts.normalizer.kept, counts.pre_tokenizer), files=[*files])
    else:
        manifest = make_library_manifest(run, counts, record, place)
    write_with_manifest(manifest, side_manifest(place), files)
