"""The background work of an export: finds out what is possible, checks the place, hashes the corpus, writes.

Also describes the result: the few lines of a manifest that a reader wants to see, and lines of Python to load it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import VOCAB_JSON_FILE
from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.corpus_record import CorpusRecord, record_of_project
from wordpiece_studio.storage.exports import (
    Exported,
    ExportKind,
    counts_name,
    default_name,
    manifest_of,
    names_of,
    why_no_vocab_txt,
    why_not,
    write_export,
)
from wordpiece_studio.storage.manifest import (
    Origin,
    make_library_manifest,
    manifest_bytes,
    side_manifest,
    with_manifest,
)
from wordpiece_studio.system.atomic_write import atomic_write_all, make_folder, written_together
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.project.contents import Project, ProjectRun

_HASH_LETTERS = 16  # enough to compare by eye; the manifest holds all 64
KINDS: tuple[ExportKind, ...] = get_args(ExportKind)
_PENDING = "computed when the files are written"


def usage_lines(kind: ExportKind, place: Path) -> str:
    """Return two lines of Python that load what is exported to `place`.

    >>> from pathlib import PurePosixPath
    >>> print(usage_lines("folder", PurePosixPath("/texts/tokenizer")))
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained('/texts/tokenizer')
    """
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


def _tr(text: str) -> str:
    return QCoreApplication.translate("manifest_words", text)


@dataclass(frozen=True, slots=True, eq=False)
class ExportOrder:
    """What is exported, and where.

    Attributes
    ----------
    kind
        In which format.
    project
        The training, as it is now.
    step
        The vocabulary after this many merges.
    place
        The folder or the file.
    with_counts
        Whether the word counts are written into the folder too.
    may_replace
        Whether the user agreed to replace what is there.
    """

    kind: ExportKind
    project: Project
    step: int
    place: Path
    with_counts: bool = False
    may_replace: bool = False

    def replacing(self) -> ExportOrder:
        """Return the same order, now that the user agreed."""
        return replace(self, may_replace=True)


@dataclass(frozen=True, slots=True)
class InTheWay:
    """Files that would be replaced: nothing was written."""

    order: ExportOrder
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class InspectionOrder:
    """Which training is inspected, after how many merges."""

    project: Project
    step: int


@dataclass(frozen=True, slots=True)
class ShownManifest:
    """A manifest in words, see `_manifest_rows`, and as it is written."""

    rows: list[tuple[str, str]]
    json: str


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
    counts_name
        The name that the table of words would have.
    left_out
        Why a tokenizer's folder is written without its ``vocab.txt``; None if it is not.
    manifests
        The manifests of the kinds that can be exported.
    """

    step: int
    reasons: dict[ExportKind, StudioError]
    names: dict[ExportKind, str]
    counts_name: str
    left_out: StudioError | None
    manifests: dict[ExportKind, ShownManifest]


def inspect(order: Any, stop: threading.Event, _report: Report) -> Inspection | None:
    """Find out what is possible; the work of a `BackgroundJob` with an `InspectionOrder`."""
    exported = _exported(order.project, order.step, CorpusRecord(sha256_missing=_PENDING))
    if exported is None:
        return None
    reasons: dict[ExportKind, StudioError] = {}
    manifests: dict[ExportKind, ShownManifest] = {}
    corpus_name = _corpus_name(order.project)
    names = {kind: default_name(kind, exported.counts) for kind in KINDS}
    for kind in KINDS:
        if stop.is_set():
            return None
        reason = why_not(kind, exported)
        if reason is not None:
            reasons[kind] = reason
        else:
            manifest = manifest_of(kind, exported, names[kind])
            manifests[kind] = ShownManifest(_manifest_rows(manifest, corpus_name), manifest_bytes(manifest).decode())
    return Inspection(
        order.step, reasons, names, counts_name(exported.counts), why_no_vocab_txt(exported), manifests
    )  # fmt: skip


def export(order: Any, stop: threading.Event, _report: Report) -> ExportOrder | InTheWay | None:
    """Write what was ordered; the work of a `BackgroundJob` with an `ExportOrder`."""
    exported = _exported(order.project, order.step, CorpusRecord())
    if exported is None:
        return None
    if not is_folder(order.kind) and os.path.isdir(order.place):
        raise StudioError("{path} is a folder", "Choose a file in it.", path=display_name(order.place))
    table = order.place / counts_name(exported.counts) if order.with_counts else None
    if not order.may_replace:
        files = files_of(order.kind, order.place)
        files += files_of("word-counts", table) if table is not None else []
        in_the_way = tuple(path.name for path in files if os.path.lexists(path))
        if in_the_way:
            return InTheWay(order, in_the_way)
    origin = Origin(merges=order.step, corpus=record_of_project(order.project, stop.is_set))
    if stop.is_set():
        return None
    exported = replace(exported, origin=origin)
    with written_together():
        make_folder(order.place if is_folder(order.kind) else order.place.parent)
        write_export(order.kind, exported, order.place)
        if table is not None:
            write_export("word-counts", exported, table)
    written: ExportOrder = order
    return written


@dataclass(frozen=True, slots=True, eq=False)
class LibraryExport:
    """What another library trained, and the file that it is written to; `run`: that of the project."""

    project: Project
    run: ProjectRun
    place: Path


def export_library(order: LibraryExport, stop: threading.Event, _report: Report) -> LibraryExport | None:
    """Write the file of another library and its manifest; the work of a `BackgroundJob`."""
    place, library_run = order.place, order.run.library_run
    record = record_of_project(order.project, stop.is_set)
    if stop.is_set() or library_run is None:
        return None
    manifest = make_library_manifest(library_run, order.run.counts, record, place)
    files = with_manifest(manifest, {place.name: library_run.content}, side_manifest(place).name)
    atomic_write_all({place.with_name(name): data for name, data in files.items()})
    return order


def files_of(kind: ExportKind, place: Path) -> list[Path]:
    """Return the files that an export makes.

    >>> from pathlib import Path
    >>> [path.name for path in files_of("vocabulary", Path("out/vocab.txt"))]
    ['vocab.txt', 'vocab.txt.card.json']
    """
    folder = place if is_folder(kind) else place.parent
    return [folder / name for name in names_of(kind, place.name)]


def is_folder(kind: ExportKind) -> bool:
    """Return whether the place of an export is a folder."""
    return kind in ("folder", "bpe")


def _corpus_name(project: Project) -> str:
    """Return what the corpus is called: its first file stands for all."""
    corpus = project.corpus
    if corpus.files:
        name = Path(corpus.files[0].file.path).name
        return name if len(corpus.files) == 1 else f"{name}, … ({len(corpus.files):,})"
    return corpus.name if corpus.origin is None else Path(corpus.origin.file.path).name


def _exported(project: Project, step: int, record: CorpusRecord) -> Exported | None:
    run = project.run
    if run is None:
        return None
    return Exported(run.counts, run.config, run.history, step, Origin(merges=step, corpus=record))
