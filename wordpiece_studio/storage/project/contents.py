"""The contents of a project as plain records, and settings, corpus and runs as JSON and back, but for large parts.

The files of a corpus are named by relative path, so that they can move together with the project, and by absolute path.
None of them is opened here; one that is in neither place keeps its absolute path, and can be searched for.

A project comes from anywhere, and a file that it names may be on another computer, which would learn of the user; or a
device, or a pipe. So it may only touch files in its folder, unless they are reached through a link, and those that this
user has agreed to, or has saved it with, here. What was agreed to is remembered as one hash for each project's folder
and the places outside it, in the folder of the user's state: neither can be read from it, and a project that names one
place more is asked about anew.
"""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import json
import os
import stat
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import platformdirs

from wordpiece_studio.corpus.decoding import ErrorHandling, known_encoding
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference, FileKind, is_relative, is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import LibraryRun, LibraryRunTokenizer
from wordpiece_studio.storage.project.container import SourceRow
from wordpiece_studio.storage.view import RunTab, View, run_letter
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerByMerges, TokenizerInWindow
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import bpe_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.text.pipeline import Pipeline
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.training.history import MergeHistory


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Size = Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]

_MARKS = {"", *(mark.hex() for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))}
_MARKS |= {codecs.BOM_UTF32_LE.hex(), codecs.BOM_UTF32_BE.hex()}
_MOST_MEMORY = 256 << 20
_BRACE_BYTES, _BRACKET_BYTES, _COMMA_BYTES = 240, 64, 60  # their greatest cost as Python objects


@decodable
class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the next training, as in the training bar and the corpus pane."""

    training: dict[str, Any]  # `TrainingConfig.to_dict`
    normalizer: dict[str, Any]  # `normalizers.to_spec`
    pre_tokenizer: dict[str, Any]
    max_word_length: Annotated[int, msgspec.Meta(ge=1, le=2**31)] = 1000  # of the words that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCorpus:
    """The corpus: a text stored in the project itself, line breaks as they are, or references to files."""

    name: str = ""  # if it has no file
    text: str | None = ""  # None if the corpus is a list of files
    encoding: str = "utf-8"  # how the text is written to a file: a Python codec, and a byte order mark
    mark: bytes = b""
    is_edited: bool = False  # whether the text has edits that are in no file but the project
    origin: CorpusReference | None = None  # the file that the text was opened from or saved to
    files: tuple[CorpusReference, ...] = ()  # in reading order

    @property
    def references(self) -> tuple[CorpusReference, ...]:
        return self.files if self.origin is None else (*self.files, self.origin)


@dataclass(frozen=True, slots=True)
class RunOrigin:
    is_wanted: bool = False  # the user asked for it, or kept it; else the Studio began it by itself
    corpus_name: str = ""  # what it was called
    text_serial: int = -1  # which state of the corpus it was, see `CorpusCounting`; -1 for none there is now
    corpus: ProjectCorpus | None = None  # so that it can be brought back; None if it is not known any more
    max_word_length: int | None = None  # of the words that were counted; None if it is not known


LONG_SECONDS = 10.0  # training that took longer is not lost without a question
_TOKENIZERS_KEPT = 16
# Distinct words; for more, it takes too long to count at each step the tokens that they consist of.
_QUICK_WORDS = 50_000


@dataclass(slots=True, eq=False)
class Run:
    """What was trained; `config`, with the limits that hold now, and `stop_reason` change when it is trained further.

    A project has copies, which do not change. What another library trained has a `library_run`, and the tokenizer that
    this library runs; an opened project loads that in the background.
    """

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int | None = None  # the vocabulary size that it can reach for certain; None if it can reach any
    notices: tuple[Notice, ...] = ()  # what is unusual about the corpus
    stop_reason: str | None = None  # a stop rule's name, or "user"; None while the training has not ended
    origin: RunOrigin = RunOrigin()
    is_of_corpus: bool = False  # of a project: the counts are those of its corpus, which need not be counted again
    merges: int | None = None  # of a project: how many belong to it, as a training may be appending to the history
    saved_merges: int = -1  # how many of its merges are in a file of the user's; -1 if it is in none
    name: str = ""  # what the user calls it; empty for what tells it from the others
    number: int = 0  # its place among the letters; no two runs of a session have the same
    color: int = 0
    is_kept: bool = True  # it stays when another one is trained; False for a preview
    is_compared: bool = False
    step: int = 0  # at which it was left
    seconds: float = 0.0  # that training took, without pauses
    library_run: LibraryRun | None = None
    library: LibraryTokenizer | None = None
    _tokenizers: OrderedDict[tuple[int, bool], Tokenizer] = field(default_factory=OrderedDict, init=False, repr=False)

    @property
    def merge_count(self) -> int:
        return len(self.history) if self.merges is None else self.merges

    @property
    def text(self) -> str | None:
        """The text that it was trained on; None for files, for the corpus of its project, or if it is not known."""
        return None if self.is_of_corpus or self.origin.corpus is None else self.origin.corpus.text

    @property
    def letter(self) -> str:
        return run_letter(self.number)

    @property
    def tab(self) -> RunTab:
        return RunTab(*(getattr(self, name) for name in RunTab.__struct_fields__))

    @property
    def is_unsaved(self) -> bool:
        """Whether it is, or has merges, that the user asked for and did not save, and not made again in no time."""
        return self.origin.is_wanted and len(self.history) > self.saved_merges and self.is_worth_asking

    @property
    def is_worth_asking(self) -> bool:
        return self.seconds > LONG_SECONDS or bool(self.name)

    @property
    def can_cut_longest_first(self) -> bool:
        """Whether it can also cut words by the longest token first, wherever it stands, at any step without a wait."""
        return self.config.is_byte_pair_encoding and self.history.has_steps and self.history.word_count <= _QUICK_WORDS

    @property
    def has_best_segmentations(self) -> bool:
        """Whether a library trained it that cuts words by probabilities."""
        return self.library_run is not None and self.library_run.trainer.endswith("unigram")

    def is_run_by_library(self, step: int) -> bool:
        """Return whether the library that trained it tokenizes: at the end, except WordPiece, which we can as well."""
        trainer = None if self.library_run is None else self.library_run.trainer
        return trainer not in (None, "tokenizers-wordpiece") and step == len(self.history)

    def tokenizer_at(self, step: int, *, longest_first: bool = False) -> Tokenizer:
        """Return the tokenizer after `step` merges, with the pipeline of the counts; those of a few steps are kept.

        `longest_first`: a `LongestFirstTokenizer` rather than the merges.
        """
        found = self._tokenizers.pop((step, longest_first), None)
        if found is None:
            if longest_first:
                encoder = bpe_tokenizer(self.history, self.counts, step, longest_first=True)
                found = TokenizerInWindow(self.history.vocabulary(step), encoder)
            else:
                found = self.new_tokenizer(step)
            while len(self._tokenizers) >= _TOKENIZERS_KEPT:
                self._tokenizers.popitem(last=False)
        self._tokenizers[step, longest_first] = found
        return found

    def new_tokenizer(self, step: int) -> Tokenizer:
        """Return a tokenizer after `step` merges that is nobody else's, for a thread.

        What another library trained is run by it at the end, except WordPiece, which is longest match here and there.
        """
        if self.is_run_by_library(step):
            return LibraryRunTokenizer(self.history, self.counts, self.library)
        return tokenizer_at(self.history, self.counts, step)

    def set_library(self, library: LibraryTokenizer) -> None:
        self.library = library
        self.drop_tokenizers()

    def drop_tokenizers(self) -> None:
        self._tokenizers.clear()

    def is_trained_on(self, counts: WordCounts, config: TrainingConfig) -> bool:
        """Return whether our training with these words and settings would give the same merges."""
        mine, steps = self.counts, (counts.normalizer, counts.pre_tokenizer)
        is_alike = (self.config, self.library_run, mine.normalizer, mine.pre_tokenizer) == (config, None, *steps)
        return is_alike and mine == counts


def tokenizer_at(history: MergeHistory, counts: WordCounts, step: int) -> Tokenizer:
    """Return a tokenizer after `step` merges, with the pipeline of the counts: by merges for byte pair encoding."""
    config = history.config
    parts = history.vocabulary(step), counts.normalizer, counts.pre_tokenizer
    if config.is_byte_pair_encoding:
        return TokenizerByMerges(*parts, steps=history.pair_steps(), step=step, end_of_word=config.end_of_word)
    return Tokenizer(*parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A whole project. An opened project reads words and places from its file when they are first needed."""

    settings: ProjectSettings
    corpus: ProjectCorpus
    view: View
    runs: tuple[Run, ...] = ()  # the one that is shown first
    counts: WordCounts | None = None  # of the present corpus, if known and not those of the run
    lost: tuple[tuple[str, StudioError], ...] = ()  # what of its file is damaged, as the user calls it, and the reason

    @property
    def run(self) -> Run | None:
        return self.runs[0] if self.runs else None

    def check_whole(self) -> None:
        """Raise the reason if a part is lost."""
        for _, error in self.lost:
            raise error


# As JSON.


@decodable
class CorpusHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `ProjectCorpus` without its text and files. `mark`: in hexadecimal."""

    name: str
    has_text: bool
    encoding: str = "utf-8"
    mark: str = ""
    is_edited: bool = False


@decodable
class SourceAbout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `CorpusReference` without its path. `role`: one of the files, or the origin of the text."""

    role: Literal["file", "origin"]
    kind: FileKind = "text"
    column: str | None = None
    encoding: str | None = None
    errors: ErrorHandling = "strict"
    size: _Size = -1
    modified_ns: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = -1
    sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""


@decodable
class LibraryHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `LibraryRun` without what is in parts. `has_steps`: whether the run has the merges of our training."""

    trainer: Annotated[str, msgspec.Meta(max_length=100)]
    config: dict[str, Any]
    has_steps: bool
    repetition: tuple[_Count, _Count, _Count] | None = None  # None if it was not trained twice


@decodable
class CountsHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Word counts without the words."""

    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]


@decodable
class RunHead(CountsHead, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `Run` in a file: its parts by name, and the numbers of a `HistoryTable`."""

    parts: str  # what the names of its parts begin with
    words: str  # the same of the parts with its words, which runs may share
    text: str | None = None  # the part with the text that it was trained on
    config: dict[str, Any]
    first_config: dict[str, Any]  # that the training started with: limits may have been raised since
    initial_size: _Count
    symbols_after: _Count
    word_count: _Count
    total_words: _Count
    stop_reason: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    corpus_name: str = ""
    is_of_corpus: bool = False
    is_wanted: bool = True
    number: _Count = 0
    library: LibraryHead | None = None


def steps_of(pipeline: WordCounts | Pipeline) -> dict[str, Any]:
    return {
        "normalizer": normalizers.to_spec(pipeline.normalizer),
        "pre_tokenizer": pre_tokenizers.to_spec(pipeline.pre_tokenizer),
    }


def to_json(record: Any) -> str:
    return json.dumps(msgspec.to_builtins(record))


def from_json(text: str) -> Any:
    memory = _BRACE_BYTES * text.count("{") + _BRACKET_BYTES * text.count("[") + _COMMA_BYTES * text.count(",")
    if memory + len(text) > _MOST_MEMORY:
        raise ValueError(f"{len(text)} characters of JSON")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def checked_settings(settings: ProjectSettings) -> ProjectSettings:
    """Return settings from a file, with those that an older program did not have, if they can start a training."""
    normalizers.from_spec(settings.normalizer)
    config = TrainingConfig.from_dict(settings.training, pre_tokenizers.from_spec(settings.pre_tokenizer))
    return msgspec.structs.replace(settings, training=config.to_dict())


def write_corpus(corpus: ProjectCorpus, path: str | os.PathLike[str]) -> tuple[CorpusHead, list[SourceRow]]:
    """Return a corpus without its text, and the rows of its files; `path`: the future path of the project."""
    folder, named = folder_of(path), os.path.dirname(os.path.abspath(path))
    folders = [folder, named] if os.path.realpath(named) == folder else [folder]
    record = CorpusHead(corpus.name, corpus.text is not None, corpus.encoding, corpus.mark.hex(), corpus.is_edited)
    rows = [placed(reference.file, folders, _about(reference, "file")) for reference in corpus.files]
    if corpus.origin is not None:
        rows.append(placed(corpus.origin.file, folders, _about(corpus.origin, "origin")))
    return record, rows


def folder_of(path: str | os.PathLike[str]) -> str:
    """Return the folder of the project at `path`, without links on the way."""
    return os.path.dirname(os.path.realpath(path))


def _about(reference: CorpusReference, role: Literal["file", "origin"]) -> str:
    file = reference.file
    read_as = (file.kind, file.column, file.encoding, file.errors)
    return to_json(SourceAbout(role, *read_as, reference.size, reference.modified_ns, reference.sha256))


def read_corpus(record: CorpusHead, rows: Sequence[SourceRow], text: str | None, folder: str) -> ProjectCorpus:
    """Return the corpus from the output of `write_corpus`; `folder`: the present folder of the project."""
    origins: list[CorpusReference] = []
    files: list[CorpusReference] = []
    located = [located_file(row, folder) for row in rows]
    is_agreed = are_agreed(folder, [path for _, unagreed in located for path in unagreed])
    for row, (path, unagreed) in zip(rows, located, strict=True):
        about = msgspec.convert(from_json(row.about), SourceAbout)
        if about.encoding is not None:
            known_encoding(about.encoding)
        file = CorpusFile(path, about.kind, about.column, about.encoding, about.errors, unagreed)
        file = file.agreed() if is_agreed else file
        reference = CorpusReference(file, about.size, about.modified_ns, about.sha256)
        (files if about.role == "file" else origins).append(reference)
    if len(origins) > 1 or record.mark not in _MARKS:
        raise ValueError(record.mark)
    known_encoding(record.encoding)
    return ProjectCorpus(
        name=record.name, text=text, encoding=record.encoding, mark=bytes.fromhex(record.mark),
        is_edited=record.is_edited, origin=origins[0] if origins else None, files=tuple(files),
    )  # fmt: skip


_LONGEST = 1 << 16  # no system supports longer paths


def placed(file: CorpusFile, folders: Sequence[str], about: str) -> SourceRow:
    """Return the row of a file for a project in a folder, of which these are the names: the real one, and with links.

    Of a file that is not read yet, both places are kept.
    """
    path, other = file.path, file.unagreed[-1] if file.unagreed else file.path
    absolute, way = _absolute(other), None
    if not is_url(path):
        path = os.path.abspath(path)
        folder = next((each for each in folders if path.startswith(os.path.join(each, ""))), folders[0])
        with contextlib.suppress(ValueError):  # on another drive
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            # A name that another system takes for an absolute path is found by its own absolute path only.
            way = _bytes(relative) if is_relative(relative) else None
    return SourceRow(display_name(absolute), _bytes(absolute), way, about)


def located_file(row: SourceRow, folder: str) -> tuple[str, tuple[str, ...]]:
    """Return the path of a row's file for a project in `folder`, and the places that need the user's agreement.

    Without any, it is in the folder, or was. Nothing else is touched.
    """
    places = [_text(row.absolute)]
    if row.relative is not None:
        relative = _text(row.relative)
        if is_relative(relative):
            places.insert(0, os.path.normpath(os.path.join(folder, relative)))
    found = {place: found_inside(place, folder) for place in places}
    if True in found.values():
        return next(place for place in places if found[place]), ()
    unagreed = tuple(place for place in found if found[place] is None)
    return unagreed[0] if unagreed else places[-1], unagreed


def _bytes(path: str) -> bytes:
    """Return a path as bytes; undecodable bytes, which are lone surrogates in `path`, are preserved."""
    return path.encode("utf-8", "surrogatepass")


def _text(path: bytes) -> str:
    if not 0 < len(path) <= _LONGEST or b"\0" in path:
        raise ValueError(f"a path of {len(path)} bytes")
    return path.decode("utf-8", "surrogatepass")


# Files outside the folder.


_MOST_KEPT = 2000
_LINE_BYTES = 65  # a hash in hexadecimal, and the line end
_LINK_TAGS = {getattr(stat, "IO_REPARSE_TAG_SYMLINK", -1), getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)}
_writing = threading.Lock()


def found_inside(path: str, folder: str) -> bool | None:
    """Return whether a regular file at `path` is in the folder; None if that is another place, and not looked at.

    A link in the folder leads to another place.
    """
    beginning = os.path.join(folder, "")
    if is_url(path) or os.path.normpath(path) != path or not path.startswith(beginning):
        return None
    inside, place = path.removeprefix(beginning), folder
    if not inside or not is_relative(inside):
        return None
    parts = inside.split(os.sep)
    for number, part in enumerate(parts, 1):
        place = os.path.join(place, part)
        try:
            status = os.lstat(place)
        except (OSError, ValueError):
            return False
        if getattr(status, "st_reparse_tag", 0) in _LINK_TAGS:
            return None
        if number < len(parts) and not stat.S_ISDIR(status.st_mode):
            return None if stat.S_ISLNK(status.st_mode) else False
    return True if stat.S_ISREG(status.st_mode) else None


def are_agreed(folder: str, places: Iterable[str]) -> bool:
    digest = _digest(folder, places)
    return digest is None or digest in _known()


def note_agreed(project: str | os.PathLike[str], corpus: ProjectCorpus) -> None:
    """Remember that a project that was just saved or agreed to may touch its files.

    Where it cannot be remembered, the user is asked again.
    """
    folder = folder_of(project)
    files = [reference.file for reference in corpus.references]
    paths = [place for file in files for place in file.unagreed or (_absolute(file.path),)]
    digest = _digest(folder, [path for path in paths if found_inside(path, folder) is None])
    with _writing:
        known = _known()
        if digest is None or digest in known:
            return
        kept = [*known, digest][-_MOST_KEPT:]
        with contextlib.suppress(OSError, StudioError):
            _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            atomic_write(_file(), "".join(f"{each}\n" for each in kept).encode())


def _absolute(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)


def _digest(folder: str, places: Iterable[str]) -> str | None:
    known = sorted({place.encode("utf-8", "surrogatepass") for place in places})
    if not known:
        return None
    return hashlib.sha256(b"\0".join([folder.encode("utf-8", "surrogatepass"), *known])).hexdigest()


def _known() -> list[str]:
    try:
        with open(_file(), "rb") as file:
            return file.read(_LINE_BYTES * _MOST_KEPT).decode("ascii").split()
    except (OSError, ValueError):
        return []


def _file() -> Path:
    return platformdirs.user_state_path("wordpiece-studio", appauthor=False) / "agreed-files"
