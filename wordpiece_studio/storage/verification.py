"""Repeats the training of an export, writes its files again, and reports for each file whether its bytes agree.

The command prints the result.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.corpus.counting.counting import count_words, read_word_counts
from wordpiece_studio.corpus.files import KIND_OF_SUFFIX, CorpusFile, reading, regular_file_status
from wordpiece_studio.corpus.listing import listed_files
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import divided_corpus
from wordpiece_studio.stopping import finished, undisturbed, undo_if_stopped
from wordpiece_studio.storage.bpe_files import BPE_FILES
from wordpiece_studio.storage.corpus_record import (
    HELD_OUT,
    CorpusRecord,
    noted_files,
    places_of,
    record_of_files,
    record_of_project,
    recorded_files,
)
from wordpiece_studio.storage.exports import Export, Exported, ExportKind
from wordpiece_studio.storage.manifest import (
    MANIFEST_FILE,
    SIDE_SUFFIX,
    TOKENIZER_FILE,
    present_versions,
    read_manifest,
    side_manifest,
    vocabulary_digest,
    write_word_counts_with_manifest,
)
from wordpiece_studio.storage.project.container import SUFFIX
from wordpiece_studio.storage.project.project_file import is_project, open_project
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES, Only
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.arrays import common_length
from wordpiece_studio.system.printable import display_name, file_error
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
    from wordpiece_studio.storage.manifest import Manifest


Outcome = Literal["agrees", "differs", "unchecked"]
_SLICE = 1000  # merges between two reports
_MOST_OTHERS = 100
_LONGEST_WORD = 1000
_READ_BY_OTHERS = {*TOKENIZER_FILES, *BPE_FILES, "added_tokens.json"}
_UNCHECKED = {"ids": "texts are not encoded again", "peer": "another library trained it"}  # by the manifest's kind
_EXPORTS: dict[str, ExportKind] = {"tokenizer": "folder", "vocabulary": "vocabulary", "bpe": "bpe", "merges": "merges",
                                   "word-counts": "word-counts"}  # fmt: skip
_OF_VOCABULARY = ("special_tokens", "continuing_subword_prefix", "end_of_word_suffix", "unk_token", "added_tokens",
                  "vocabulary_size")  # fmt: skip
_OF_WORDS = ("words", "distinct_words")


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    outcome: Outcome
    detail: str = ""  # the first difference, or why it was not compared


@dataclass(frozen=True, slots=True)
class Verification:
    source: str  # what it was trained on
    tokens: int  # 0 if only words were exported
    merges: int
    checks: tuple[Check, ...]
    versions: tuple[tuple[str, str, str], ...]  # those that have changed: name, version then, version now
    notes: tuple[str, ...]  # sentences

    @property
    def agrees(self) -> bool:
        outcomes = {check.outcome for check in self.checks}
        return "agrees" in outcomes and "differs" not in outcomes


def verify(
    place: str | os.PathLike[str],
    sources: Sequence[str] = (),
    *,
    is_counts: bool = False,
    processes: int | None = None,
    counting: Callable[[CountingProgress], None] | None = None,
    training: Callable[[int, int | None], None] = lambda _done, _all: None,
) -> Verification:
    """Train again with the settings of a manifest, in a folder or beside a file, and compare.

    `sources` are a project, tables of word counts (which need no manifest if `is_counts`), or the files of the corpus.
    If empty: a table exported to the folder, unless the manifest is that of a table itself, or else the files that the
    manifest names, if they are unchanged. `training` is called with the merges made and their number.
    """
    folder, manifests = _manifests_of(Path(place))
    main = next((manifest for manifest in manifests.values() if manifest.training is not None), None)
    main = main or next(iter(manifests.values()))
    if all(manifest.kind == "ids" for manifest in manifests.values()):
        what = "{path} contains token IDs, and verify does not encode text again"
        raise file_error(place, what, "Run encode again with another output, and compare the files.")
    words = _recount(folder, main, sources, is_counts, processes, counting)
    if not words.counts:
        raise StudioError(
            "There are no words in {source}", "Specify the corpus, its word counts or the project.", source=words.source
        )
    checks = _corpus_checks(main, words)
    with _scratch_folder() as scratch:
        again = _Again(words.counts, scratch, training)
        for path, manifest in manifests.items():
            checks += again.checks(path, manifest)
    trained = [(len(trainer.vocabulary), trainer.current_step) for trainer in again.trainers.values()]
    now = present_versions()
    return Verification(
        words.source,
        *next(iter(trained), (0, 0)),
        tuple(checks + _foreign(folder, manifests, checks)),
        tuple((name, then, now[name]) for name, then in main.versions.items() if now.get(name, then) != then),
        _notes(main),
    )


@contextlib.contextmanager
def _scratch_folder() -> Iterator[Path]:
    with undisturbed():
        folder = tempfile.TemporaryDirectory(prefix="wordpiece-studio-")
        undo_if_stopped(folder, partial(shutil.rmtree, folder.name, ignore_errors=True))
    try:
        with folder as name:
            yield Path(name)
    finally:
        finished(folder)


def _manifests_of(place: Path) -> tuple[Path, dict[Path, Manifest]]:
    if place.is_dir():
        folder, paths = place, [place / MANIFEST_FILE, *sorted(place.glob(f"*{SIDE_SUFFIX}"))]
    else:
        regular_file_status(place)
        folder, paths = place.parent, [side_manifest(place), place.parent / MANIFEST_FILE]
    paths = [path for path in paths if path.is_file()][: None if place.is_dir() else 1]
    if not paths:
        what = "{path} has no manifest that says how it was made"
        raise file_error(
            place, what, "Tokenizers exported by this version have one, called {name}.", name=MANIFEST_FILE
        )
    return folder, {path: read_manifest(path) for path in paths}


@dataclass
class _Again:
    """What is made again from words, in a scratch folder; manifests with the same settings share a training."""

    counts: WordCounts
    scratch: Path
    report: Callable[[int, int | None], None]
    trainers: dict[str, Trainer] = field(default_factory=dict)

    def checks(self, path: Path, manifest: Manifest) -> list[Check]:
        name, folder, trainer = path.name.removesuffix(SIDE_SUFFIX), path.parent, None
        if manifest.kind in _UNCHECKED:
            return [Check(name, "unchecked", _UNCHECKED[manifest.kind])]
        checks = []
        if manifest.kind != "word-counts":
            config = _settings(manifest, path)
            if (trainer := self.trainers.get(repr(config))) is None:
                trainer = self.trainers[repr(config)] = Trainer(self.counts, config)
                while trainer.run(_SLICE):
                    self.report(trainer.current_step, manifest.merges)
            is_same = vocabulary_digest(trainer.vocabulary.tokens) == manifest.vocabulary_sha256
            sizes = "" if is_same else f"{manifest.vocabulary_size:,} tokens then, {len(trainer.vocabulary):,} now"
            title = "vocabulary" if path.name == MANIFEST_FILE else f"vocabulary of {name}"
            checks.append(Check(title, "agrees" if is_same else "differs", sizes))
        if manifest.parts == "some":
            return [*checks, Check(name, "unchecked", "it contains only some of the merges")]
        target = self.scratch / (path.name + ".again")
        target.mkdir()
        try:
            made = self._written(target, path, manifest, trainer)
        except StudioError as error:
            return [*checks, Check(name, "differs", f"it cannot be reproduced: {error}")]
        if others := _other_fields(manifest, made):
            checks.append(Check(display_name(path.name), "differs", f"wrong in it: {', '.join(others)}"))
        names = list(made.file_sha256)
        if manifest.kind == "bpe":  # earlier versions wrote no tokenizer.json
            names = [file for file in names if file in (*BPE_FILES, *manifest.file_sha256)]
        return checks + [_compared(folder / file, target / file) for file in names]

    def _written(self, target: Path, path: Path, manifest: Manifest, trainer: Trainer | None) -> Manifest:
        """Write the files that a manifest covers to `target`, and return their new manifest.

        The name of a file is not taken from the manifest, which is untrusted.
        """
        kind = _EXPORTS[manifest.kind]
        place = target if kind in ("folder", "bpe") else target / path.name.removesuffix(SIDE_SUFFIX)
        export = Export(kind, place, _only(path.parent, manifest) if kind == "folder" else None)
        if trainer is None:
            write_word_counts_with_manifest(place, self.counts, CorpusRecord())
        else:
            lengths = {name: getattr(manifest, name) for name in ("model_max_length", "max_word_length")}
            export.write(Exported(self.counts, trainer.config, trainer.history, trainer.current_step, **lengths))
        return read_manifest(export.files()[-1])


def _settings(manifest: Manifest, path: Path) -> TrainingConfig:
    if manifest.training is None:
        raise file_error(path, "{path} does not say how the vocabulary was trained", "Train it again.")
    try:
        config = TrainingConfig.from_dict(manifest.training, manifest.steps[1])
    except TypeError as error:
        raise file_error(path, "{path} is damaged: {reason}", reason=error) from error
    if manifest.merges is not None:
        limits: dict[str, Any] = {"vocab_size": None, "max_seconds": None, "min_value": None}
        return dataclasses.replace(config, max_merges=manifest.merges, **limits)
    if config.max_seconds is not None:
        return dataclasses.replace(config, max_seconds=None, vocab_size=manifest.vocabulary_size)
    return config


def _only(folder: Path, manifest: Manifest) -> Only | None:
    """Return which files of a tokenizer were exported, if not all: the others could not express it."""
    names = manifest.file_sha256 or {path.name for path in folder.iterdir()}  # for an older manifest, the files present
    has_vocabulary, has_json = VOCABULARY_FILE in names, TOKENIZER_FILE in names
    return None if has_vocabulary == has_json else "vocab.txt" if has_vocabulary else "tokenizer.json"


def _corpus_checks(manifest: Manifest, words: _Words) -> list[Check]:
    then, now = manifest.corpus, words.corpus
    if then is None:
        return [Check("word counts", "unchecked", "the manifest does not have their hash")]
    is_same = then.word_counts_sha256 == words.counts.digest()
    counts = Check("word counts", "agrees") if is_same else Check("word counts", "differs", f"those in {words.source}")
    # The editor's text, if it has been saved since, is a file with these bytes.
    is_saved_text = then.sha256_of == "text" and now.sha256_of == "files" and len(now.files) == 1
    digest = now.files[0].sha256 if is_saved_text else now.sha256
    if then.sha256 is None:
        corpus = Check("corpus", "unchecked", f"no hash was recorded: {then.sha256_missing}")
    elif digest is None or (then.sha256_of != now.sha256_of and not is_saved_text):
        reason = now.sha256_missing or "it was trained on a different kind of corpus"
        corpus = Check("corpus", "unchecked", reason)
    else:
        others = [new.path for old, new in zip(then.files, now.files, strict=False) if old.sha256 != new.sha256]
        named = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        corpus = Check("corpus", "agrees" if digest == then.sha256 else "differs", named)
    return [corpus, counts]


def _other_fields(then: Manifest, now: Manifest) -> list[str]:
    """Return which parts of a manifest differ from the reproduced one, ignoring those that depend on the time."""
    of_vocabulary = _OF_VOCABULARY if then.roles is None else (*_OF_VOCABULARY, "roles")
    others = [name for name in of_vocabulary if getattr(then, name) != getattr(now, name)]
    if then.corpus is not None and now.corpus is not None:
        others += [name for name in _OF_WORDS if getattr(then.corpus, name) != getattr(now.corpus, name)]
    hashes = then.file_sha256.keys() & now.file_sha256.keys()
    others += [f"file_sha256 of {name}" for name in hashes if then.file_sha256[name] != now.file_sha256[name]]
    return sorted(others)


def _compared(then: Path, now: Path) -> Check:
    name = display_name(then.name)
    if not then.is_file():
        return Check(name, "differs", "it does not exist")
    size, new = then.stat().st_size, now.read_bytes()
    with reading(then) as file:  # which may be far larger than what was exported
        old = file.read(len(new) + 1)
    if old == new:
        return Check(name, "agrees")
    byte = common_length(old, new)
    if byte == min(len(old), len(new)):
        which = "the file ends there" if len(old) < len(new) else "the file continues there, the new one ends"
        return Check(name, "differs", f"first difference at byte {byte:,} of {size:,}: {which}")
    line = old.count(b"\n", 0, byte) + 1
    where = f"byte {byte:,}" if b"\0" in old[:1024] else f"line {line:,}, byte {byte:,}"
    return Check(name, "differs", f"first difference at {where}")


def _foreign(folder: Path, manifests: Mapping[Path, Manifest], compared: Sequence[Check]) -> list[Check]:
    """Return the other files in an exported folder; those that readers would take for a part of it differ."""
    if folder / MANIFEST_FILE not in manifests:
        return []
    known = {*(path.name for path in manifests), *(check.name for check in compared)}
    names = {path.name for path in folder.iterdir() if display_name(path.name) not in known}
    read, others = sorted(names & _READ_BY_OTHERS), sorted(names - _READ_BY_OTHERS)
    checks = [Check(name, "differs", "it was not exported, but other programs read it") for name in read]
    checks += [Check(display_name(name), "unchecked", "no manifest covers it") for name in others[:_MOST_OTHERS]]
    if len(others) > _MOST_OTHERS:
        checks.append(Check(f"{len(others) - _MOST_OTHERS:,} more files", "unchecked", "no manifest covers them"))
    return checks


def _notes(manifest: Manifest) -> tuple[str, ...]:
    seconds = (manifest.training or {}).get("max_seconds")
    if seconds is None:
        return ()
    what = "the vocabulary's size was" if manifest.merges is None else f"exactly its {manifest.merges:,} merges were"
    return (f"The training ended after {seconds} s at the latest, which depended on the machine: {what} reproduced.",)


# The words again: from a project, a table, or the files of the corpus.


@dataclass(frozen=True, slots=True)
class _Words:
    counts: WordCounts
    source: str
    corpus: CorpusRecord


def _recount(
    folder: Path,
    manifest: Manifest,
    sources: Sequence[str],
    is_counts: bool,
    processes: int | None,
    progress: Callable[[CountingProgress], None] | None,
) -> _Words:
    """Return the words that a manifest in a folder refers to; see `verify` for the sources."""
    table = None if sources or manifest.kind == "word-counts" else _table_in(folder)
    record = manifest.corpus or CorpusRecord()
    source = sources[0] if len(sources) == 1 else ""
    if source.lower().endswith(SUFFIX) or (os.path.isfile(source) and is_project(source)):
        project = open_project(source)
        project.check_whole()
        if project.run is None:
            raise file_error(source, "The project {path} contains no run", "Specify the corpus or its word counts.")
        return _Words(project.run.counts, display_name(source), record_of_project(project))
    if table is not None or (sources and (is_counts or all(map(_is_exported_table, sources)))):
        tables = [*sources] if table is None else [str(table)]
        counts, corpus = read_word_counts(tables, *manifest.steps), CorpusRecord()
        if record.files and all(file.kind == "word-counts" for file in record.files):
            corpus = _record_of(listed_files(tables, kind="word-counts"))
        if table is not None:
            with contextlib.suppress(StudioError):  # a file may be missing
                corpus = _record_of(_files_of(manifest, folder))
        return _Words(counts, ", ".join(map(display_name, tables)), corpus)
    files = listed_files([*sources]) if sources else _files_of(manifest, folder)
    if len(record.files) == len(files):  # then they are read as those were
        files = [old.file(file.path) for old, file in zip(record.files, files, strict=True)]
    noted = noted_files(files)
    if not sources:  # hashed before, lest other files be counted in vain
        for place, (new, old) in enumerate(zip(recorded_files(noted), record.files, strict=True)):
            if new.sha256 != old.sha256:
                what = "{path} is not the file that was trained on: its SHA-256 differs"
                advice = "Specify the corpus, its word counts or the project after the folder."
                raise StudioError(what, advice, path=new.path)
            noted[place] = dataclasses.replace(noted[place], sha256=new.sha256 or "")
    user_tokens = None if manifest.corpus is None else manifest.corpus.user_tokens
    reading: Any = {
        "max_word_length": _LONGEST_WORD if record.max_word_length is None else record.max_word_length,
        "user_tokens": (manifest.training or {}).get("user_tokens", ()) if user_tokens is None else user_tokens,
        "progress": progress,
    }
    if record.sha256_missing == HELD_OUT:
        counts = divided_corpus(files, *manifest.steps, **reading).rest.at_least(record.min_count)
    else:
        counts = count_words(files, *manifest.steps, **reading, min_count=record.min_count, processes=processes)
    corpus = record_of_files(recorded_files(noted), max_word_length=_LONGEST_WORD)
    return _Words(counts, display_name(files[0].path) if len(files) == 1 else f"{len(files):,} files", corpus)


def _record_of(files: Sequence[CorpusFile]) -> CorpusRecord:
    return record_of_files(recorded_files(noted_files(files)), max_word_length=_LONGEST_WORD)


def _table_in(folder: Path) -> Path | None:
    beside = (path.with_name(path.name.removesuffix(SIDE_SUFFIX)) for path in sorted(folder.glob(f"*{SIDE_SUFFIX}")))
    return next((path for path in beside if path.is_file() and _is_word_counts(path)), None)


def _files_of(manifest: Manifest, folder: Path) -> list[CorpusFile]:
    record = manifest.corpus
    advice = "Specify the corpus, its word counts or the project after the folder."
    if record is None or not record.files:
        raise file_error(folder, "The manifest of {path} does not list the files that it was trained on", advice)
    files = []
    for file in record.files:
        there = [place for place in places_of(file, folder) if os.path.isfile(place)]
        # If several of these places have a file of that name, prefer one of the right size.
        place = next((place for place in there if os.path.getsize(place) == file.bytes), next(iter(there), None))
        if place is None:
            raise StudioError("{path}, one of the files it was trained on, does not exist", advice, path=file.path)
        if file.sha256 is None:
            raise StudioError("The contents of {path} at the time of training are unknown", advice, path=file.path)
        files.append(file.file(place))
    return files


def _is_exported_table(source: str) -> bool:
    return os.path.splitext(source.lower())[1] in KIND_OF_SUFFIX and _is_word_counts(Path(source))


def _is_word_counts(path: Path) -> bool:
    manifest = side_manifest(path)
    return manifest.is_file() and read_manifest(manifest).kind == "word-counts"
