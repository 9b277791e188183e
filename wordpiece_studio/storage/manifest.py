"""The reproducibility manifest: how text is read, and everything needed to reproduce the exported files.

In a folder, it is ``wordpiece-studio.json``; beside a single file, ``merges.csv.card.json``. Elsewhere: the vocabulary
itself (`vocab_txt`), the files of other programs (`huggingface`), reproducing them (`storage.verification`).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import CorpusRecord, published_record, published_statistics
from wordpiece_studio.storage.small_files import small_file_bytes
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.config import TrainingConfig

MANIFEST_FILE = "wordpiece-studio.json"
SIDE_SUFFIX = ".card.json"
FORMAT = 2
"""Format 1 had neither the number of merges nor the origin of the words; both formats can be read."""
_LARGEST_BYTES = 12 << 20  # it names up to `MOST_FILES` files
_LARGEST_STEPS_BYTES = 1 << 20  # of a normalizer or pre-tokenizer, which may be any JSON here
_MOST_FIGURES = 1000  # files for which the manifest has the numbers of lines and words

ManifestKind = Literal["tokenizer", "vocabulary", "bpe", "merges", "word-counts", "ids"]


class ManifestCorpus(CorpusRecord, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the words came from, and what identifies them."""

    distinct_words: int
    words: int
    word_counts_sha256: str
    # For people to read; it is never interpreted, so it may be any JSON.
    statistics: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))


@decodable
class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about exported files beyond their content.

    Attributes
    ----------
    format, program
        The version of this structure, and who wrote it.
    kind, files
        What was exported, and the file names; a tokenizer's folder needs none.
    file_sha256
        The SHA-256, in hexadecimal, of the files written together with the manifest, by name; see `files_together`.
        Empty if not recorded.
    normalizer, pre_tokenizer
        The results of ``normalizers.to_spec`` and ``pre_tokenizers.to_spec``.
    max_word_length
        A word of more characters is unknown.
    vocabulary_size, vocabulary_sha256
        See `vocabulary_digest`; 0 and None if words were exported without training.
    training
        ``TrainingConfig.to_dict``, if known.
    merges
        The number of merges made; None if unknown.
    parts
        Which merges a table of merges contains: all, or some that were filtered or sorted.
    corpus
        Where the words came from.
    versions
        The versions of everything involved, and the platform.
    """

    format: int
    program: str
    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]
    kind: ManifestKind = "tokenizer"
    files: tuple[str, ...] = ()
    file_sha256: dict[str, str] = {}
    special_tokens: list[str] = []
    continuing_subword_prefix: str = "##"
    end_of_word_suffix: str | None = None
    unk_token: str = "[UNK]"
    max_word_length: int = 100
    vocabulary_size: int = 0
    vocabulary_sha256: str | None = None
    # How it was made; not needed to tokenize.
    training: dict[str, str | int | float | bool | list[str] | None] | None = None
    merges: int | None = None
    parts: Literal["all", "some"] = "all"
    corpus: ManifestCorpus | None = None
    versions: dict[str, str] = {}


@decodable
class _Head(msgspec.Struct, frozen=True):
    """The fields that a manifest of any version has."""

    format: int
    program: str = "another program"
    normalizer: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    pre_tokenizer: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How a vocabulary was made, besides settings and word counts.

    Attributes
    ----------
    merges
        The number of merges made; None if unknown.
    corpus
        Where the words came from.
    """

    merges: int | None = None
    corpus: CorpusRecord = field(default_factory=CorpusRecord)


def make_manifest(
    vocabulary: Vocabulary,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    *,
    max_word_length: int = 100,
    config: TrainingConfig | None = None,
    counts: WordCounts | None = None,
    origin: Origin | None = None,
    kind: ManifestKind = "tokenizer",
    files: Sequence[str] = (),
    parts: Literal["all", "some"] = "all",
    folder: str | os.PathLike[str] | None = None,
) -> Manifest:
    """Return the manifest of a vocabulary.

    Parameters
    ----------
    vocabulary, normalizer, pre_tokenizer, max_word_length
        The tokenizer.
    config, counts, origin
        How the vocabulary was trained and on what, as far as known.
    kind, files, parts
        What is exported, see `Manifest`.
    folder
        The folder of the manifest: nearby corpus files are named relative to it, others by name alone, see
        `corpus_record`.

    Raises
    ------
    StudioError
        If a normalizer or pre-tokenizer is not built in.
    """
    origin = origin or Origin()
    return Manifest(
        format=FORMAT,
        program=f"wordpiece-studio {__version__}",
        normalizer=normalizers.to_spec(normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(pre_tokenizer),
        kind=kind,
        files=tuple(files),
        special_tokens=list(vocabulary.special_tokens),
        continuing_subword_prefix=vocabulary.continuing_subword_prefix,
        end_of_word_suffix=vocabulary.end_of_word_suffix,
        unk_token=vocabulary.unk_token,
        max_word_length=max_word_length,
        vocabulary_size=len(vocabulary),
        vocabulary_sha256=vocabulary_digest(vocabulary.tokens),
        training=None if config is None else config.to_dict(),
        merges=origin.merges,
        parts=parts,
        corpus=None if counts is None else _corpus(counts, origin.corpus, folder),
        versions=present_versions(),
    )


def make_counts_manifest(
    counts: WordCounts, corpus: CorpusRecord, files: Sequence[str], folder: str | os.PathLike[str] | None = None
) -> Manifest:
    """Return the manifest of a table of word counts; the arguments are those of `make_manifest`.

    Raises
    ------
    StudioError
        If a normalizer or pre-tokenizer is not built in.
    """
    return Manifest(
        format=FORMAT,
        program=f"wordpiece-studio {__version__}",
        normalizer=normalizers.to_spec(counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(counts.pre_tokenizer),
        kind="word-counts",
        files=tuple(files),
        corpus=_corpus(counts, corpus, folder),
        versions=present_versions(),
    )


def side_manifest(path: str | os.PathLike[str]) -> Path:
    """Return the path of the manifest of a single file.

    >>> side_manifest("out/merges.csv").name
    'merges.csv.card.json'
    """
    path = Path(path)
    return path.with_name(path.name + SIDE_SUFFIX)


@cache
def present_versions() -> dict[str, str]:
    """Return the versions of everything involved in training here."""
    libraries = {name: importlib.metadata.version(name) for name in ("numba", "regex")}
    return {
        "wordpiece-studio": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        **libraries,
        "platform": platform.platform(),
    }


def read_manifest(path: Path) -> Manifest:
    """Return the manifest in a file.

    Raises
    ------
    StudioError
        If it cannot be read, is damaged, or a newer version wrote it.
    """
    name = display_name(path)
    data = small_file_bytes(path, _LARGEST_BYTES, "a manifest", "Train again to write a new one.")
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format > FORMAT:
            raise StudioError(
                "{path} was written by {program}, in a format that this version does not know",
                "Install a newer version.",
                path=name,
                program=head.program,
            )
        if max(len(bytes(head.normalizer)), len(bytes(head.pre_tokenizer))) > _LARGEST_STEPS_BYTES:
            raise msgspec.ValidationError("normalizer or pre-tokenizer is too large")
        manifest = msgspec.json.decode(data, type=Manifest)
        if manifest.format < 1:
            raise msgspec.ValidationError(f"there is no format {manifest.format}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError(
            "{path} is damaged: {reason}",
            "Train again to write a new one, or name vocab.txt in another folder.",
            path=name,
            reason=str(error),
        ) from error
    return manifest


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the content of a manifest's file.

    Raises
    ------
    StudioError
        If it contains half a character.
    """
    try:
        return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        raise StudioError(
            "The settings contain half a character (U+{code:04X}), which cannot be written",
            "Remove it from the special tokens, the prefix, the suffix and the characters removed from the text.",
            code=ord(error.object[error.start]),
        ) from None


def vocabulary_digest(tokens: Sequence[str]) -> str:
    """Return the SHA-256, in hexadecimal, of the tokens as lines of a ``vocab.txt``."""
    return hashlib.sha256("".join(f"{token}\n" for token in tokens).encode("utf-8")).hexdigest()


def _corpus(counts: WordCounts, record: CorpusRecord, folder: str | os.PathLike[str] | None) -> ManifestCorpus:
    record = published_record(record, folder)
    statistics = msgspec.to_builtins(published_statistics(counts.statistics, folder))
    if len(counts.statistics.files) > _MOST_FIGURES:
        statistics["files"] = []
    return ManifestCorpus(
        **{name: getattr(record, name) for name in CorpusRecord.__struct_fields__},
        distinct_words=len(counts),
        words=counts.total,
        word_counts_sha256=counts.digest(),
        statistics=msgspec.Raw(msgspec.json.encode(statistics)),
    )
