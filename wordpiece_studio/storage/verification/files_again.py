"""Writes the files of a manifest once more, into another folder, from a training that was made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.corpus.word_counts import write_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.exports import BPE_FILES, Exported, write_export
from wordpiece_studio.storage.huggingface.tokenizer_json import TOKENIZER_FILE
from wordpiece_studio.storage.merge_table import write_merge_table
from wordpiece_studio.storage.tokenizer_directory import tokenizer_files
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE, write_vocabulary
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.tokenizer_directory import Only
    from wordpiece_studio.training.trainer import Trainer


def write_again(
    target: Path, folder: Path, name: str, manifest: Manifest, trainer: Trainer | None, counts: WordCounts
) -> list[str]:
    """Write the files that a manifest is about into `target`, and return the names of those to be compared.

    Parameters
    ----------
    folder
        Where the exported ones are; of a tokenizer's files those that its manifest names are made again.
    name
        What the file is called that the manifest stands beside; not asked of the manifest, which may come from
        anywhere.

    Raises
    ------
    StudioError
        If they cannot be written.
    """
    if manifest.kind == "word-counts":
        write_word_counts(target / name, counts)
        return [name]
    if trainer is None:
        raise StudioError("Nothing was trained")
    exported = Exported(counts, trainer.config, trainer.history, trainer.current_step)
    if manifest.kind == "merges":
        write_merge_table(target / name, trainer.history)
        return [name]
    if manifest.kind == "vocabulary":
        write_vocabulary(target / name, trainer.vocabulary.tokens)
        return [name]
    if manifest.kind == "bpe":
        write_export("bpe", exported, target)
        return list(BPE_FILES)
    return _tokenizer_again(target, folder, manifest, exported)


def _tokenizer_again(target: Path, folder: Path, manifest: Manifest, exported: Exported) -> list[str]:
    """Write those files of a tokenizer that were exported: all, or without those that could not hold it."""
    counts = exported.counts
    tokenizer = Tokenizer(
        exported.vocabulary, counts.normalizer, counts.pre_tokenizer, max_word_length=manifest.max_word_length
    )
    names = manifest.file_sha256 or {path.name for path in folder.iterdir()}  # of an older manifest, what is there
    has_vocabulary, has_json = VOCABULARY_FILE in names, TOKENIZER_FILE in names
    only: Only | None = None if has_vocabulary == has_json else "vocab.txt" if has_vocabulary else "tokenizer.json"
    files = tokenizer_files(tokenizer, only)
    for name, data in files.items():
        (target / name).write_bytes(data)
    return list(files)
