"""What a manifest says, in words: the few lines of it that a reader wants to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.text import normalizers, pre_tokenizers

if TYPE_CHECKING:
    from wordpiece_studio.storage.manifest import Manifest

_HASH_LETTERS = 16  # enough to compare by eye; the manifest holds all 64


def manifest_rows(manifest: Manifest, corpus_name: str) -> list[tuple[str, str]]:
    """Return captions and what stands beside them.

    Parameters
    ----------
    manifest
        Of an export that is not written yet: its corpus is not hashed.
    corpus_name
        What the user calls the corpus.
    """
    rows = []
    if manifest.vocabulary_sha256 is not None:
        size = _tr("{size:,} tokens").format(size=manifest.vocabulary_size)
        if manifest.merges is not None:
            size = _tr("{size:,} tokens, after merge {step:,}").format(
                size=manifest.vocabulary_size, step=manifest.merges
            )
        rows.append((_tr("Vocabulary"), size))
    if manifest.training is not None:
        rows.append((_tr("Trained by"), _objective(manifest.training)))
    normalizer = normalizers.from_spec(manifest.normalizer).name
    pre_tokenizer = pre_tokenizers.from_spec(manifest.pre_tokenizer).name
    steps = _tr("normalizer {normalizer}, pre-tokenizer {pre_tokenizer}")
    rows.append((_tr("Text read with"), steps.format(normalizer=normalizer, pre_tokenizer=pre_tokenizer)))
    if manifest.corpus is not None:
        words = _tr("{words:,} words, {distinct:,} distinct").format(
            words=manifest.corpus.words, distinct=manifest.corpus.distinct_words
        )
        rows.append((_tr("Corpus"), f"{corpus_name}: {words}" if corpus_name else words))
        rows.append((_tr("Hash of the corpus"), _tr("worked out while the files are written")))
        rows.append((_tr("Hash of its words"), _short(manifest.corpus.word_counts_sha256)))
    if manifest.vocabulary_sha256 is not None:
        rows.append((_tr("Hash of the tokens"), _short(manifest.vocabulary_sha256)))
    versions = [f"{name} {manifest.versions[name]}" for name in ("python", "numpy") if name in manifest.versions]
    rows.append((_tr("Made with"), ", ".join([manifest.program, *versions])))
    return rows


def _objective(training: dict[str, str | int | float | bool | list[str] | None]) -> str:
    names = {
        "score": _tr("WordPiece score"),
        "likelihood": _tr("likelihood"),
        "count": _tr("count, as in byte pair encoding"),
    }
    objective = str(training.get("objective"))
    name, size = names.get(objective, objective), training.get("vocab_size")
    return name if not isinstance(size, int) else _tr("{objective}, up to {size:,} tokens").format(
        objective=name, size=size
    )  # fmt: skip


def _short(digest: str) -> str:
    return f"{digest[:_HASH_LETTERS]}…"


def _tr(text: str) -> str:
    return QCoreApplication.translate("manifest_words", text)
