"""What can be exported, in words: the lines of a manifest that a reader wants to see, and how the files are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.libraries.library_child import VOCAB_JSON_FILE
from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.corpus_record import CorpusRecord
from wordpiece_studio.storage.exports import (
    Export,
    Exported,
    ExportKind,
    counts_name,
)
from wordpiece_studio.storage.manifest import Origin, manifest_bytes
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project

_tr = partial(QCoreApplication.translate, "export_work")

_HASH_LETTERS = 16  # enough to compare by eye; the manifest holds all 64
_PENDING = "computed when the files are written"


def usage_lines(export: Export) -> str:
    """Return two lines of Python that load what is exported.

    >>> from pathlib import PurePosixPath
    >>> print(usage_lines(Export("folder", PurePosixPath("/texts/tokenizer"))))
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained('/texts/tokenizer')
    """
    kind, place = export.kind, export.place
    if kind == "folder":
        return f"from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained({_quoted(place)})"
    if kind == "word-counts":
        return f"import wordpiece_studio as wps\ncounts = wps.read_word_counts({_quoted(place)})"
    loaded = place / VOCAB_JSON_FILE if kind == "bpe" else place
    return f"import wordpiece_studio as wps\ntokenizer = wps.load_tokenizer({_quoted(loaded)})"


def _quoted(place: Path) -> str:
    return repr(str(place))  # whatever the name holds, Python reads it back


def _manifest_rows(manifest: Manifest, corpus_name: str) -> list[tuple[str, str]]:
    """Return captions and their values.

    Parameters
    ----------
    manifest
        Of an export that is not written yet: its corpus is not hashed.
    corpus_name
        What the user calls the corpus.
    """
    rows = []
    if manifest.vocabulary_sha256 is not None:
        size = manifest.vocabulary_size or 0
        words = plural(size, "1 token", "{size} tokens")
        if manifest.merges is not None:
            words = plural(size, "1 token, after merge {step}", "{size} tokens, after merge {step}")
        step = number_text(manifest.merges or 0)
        rows.append((_tr("Vocabulary"), words.format(size=number_text(size), step=step)))
    if manifest.training is not None:
        rows.append((_tr("Trained with"), _objective(manifest.training)))
    normalizer = normalizers.from_spec(manifest.normalizer).name
    pre_tokenizer = pre_tokenizers.from_spec(manifest.pre_tokenizer).name
    steps = _tr("Normalizer {normalizer}, pre-tokenizer {pre_tokenizer}")
    rows.append((_tr("Text processing"), steps.format(normalizer=normalizer, pre_tokenizer=pre_tokenizer)))
    if manifest.corpus is not None:
        count, distinct = manifest.corpus.words, manifest.corpus.distinct_words
        parts = (
            corpus_name,
            plural(count, "1 word", "{count} words").format(count=number_text(count)),
            plural(distinct, "1 distinct word", "{count} distinct words").format(count=number_text(distinct)),
        )
        rows.append((_tr("Corpus"), " · ".join(filter(None, parts))))
        rows.append((_tr("Corpus hash"), _tr("Computed during export")))
        rows.append((_tr("Word counts hash"), _short(manifest.corpus.word_counts_sha256)))
    if manifest.vocabulary_sha256 is not None:
        rows.append((_tr("Vocabulary hash"), _short(manifest.vocabulary_sha256)))
    versions = [f"{name} {manifest.versions[name]}" for name in ("python", "numpy") if name in manifest.versions]
    rows.append((_tr("Created with"), ", ".join([manifest.program, *versions])))
    return rows


def _objective(training: dict[str, str | int | float | bool | list[str] | None]) -> str:
    names = {
        "score": _tr("Score"),
        "likelihood": _tr("Likelihood"),
        "count": _tr("Count (BPE)"),
    }
    objective = str(training.get("objective"))
    name, size = names.get(objective, objective), training.get("vocab_size")
    if not isinstance(size, int):
        return name
    words = plural(size, "{objective}, up to 1 token", "{objective}, up to {size} tokens")
    return words.format(objective=name, size=number_text(size))


def _short(digest: str) -> str:
    return f"{digest[:_HASH_LETTERS]}…"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be exported from a training.

    Attributes
    ----------
    step
        After this many merges.
    reasons
        Why a kind cannot be exported; kinds that can are not in it.
    names
        The suggested names of the file or folder.
    left_out
        Why a tokenizer's folder is written without its ``vocab.txt``; None if it is not.
    manifests
        The manifests of the kinds that can be exported: in words, see `_manifest_rows`, and as they are written.
    """

    step: int
    reasons: dict[ExportKind, StudioError]
    names: dict[ExportKind, str]
    left_out: StudioError | None
    manifests: dict[ExportKind, tuple[list[tuple[str, str]], str]]


def inspect(project: Project, step: int, *, should_stop: Callable[[], bool]) -> Inspection:
    """Find out what is possible with the run of a project."""
    run = project.run
    assert run is not None
    origin = Origin(merges=step, corpus=CorpusRecord(sha256_missing=_PENDING))
    exported = Exported(run.counts, run.config, run.history, step, origin)
    names: dict[ExportKind, str] = {"folder": "tokenizer", "vocabulary": VOCABULARY_FILE, "bpe": "bpe"}
    names["word-counts"] = counts_name(exported.counts)
    exports = {kind: Export(kind, Path(name)) for kind, name in names.items()}
    found = Inspection(step, {}, names, exports["folder"].why_incomplete(exported), {})
    for kind, export in exports.items():
        if should_stop():
            break
        reason = export.why_not(exported)
        if reason is not None:
            found.reasons[kind] = reason
        else:
            manifest = export.manifest(exported, is_preview=True)
            rows = _manifest_rows(manifest, _corpus_name(project))
            found.manifests[kind] = rows, manifest_bytes(manifest).decode()
    return found


def _corpus_name(project: Project) -> str:
    """Return what the corpus is called: its first file stands for all."""
    corpus = project.corpus
    if corpus.files:
        name = Path(corpus.files[0].file.path).name
        return name if len(corpus.files) == 1 else f"{name}, … ({len(corpus.files):,})"
    return corpus.name if corpus.origin is None else Path(corpus.origin.file.path).name
