"""The records of a project as JSON, and back: settings, corpus, view and run, except their large parts.

The files of a corpus are named by relative path, so that they can move together with the project, and by absolute path.
None of them is opened here; one that is in neither place keeps its absolute path, and can be searched for. Anyone may
have made a project: what it names outside its folder is not even looked for unless the user has agreed, see
`agreed_files`.
"""

from __future__ import annotations

import codecs
import json
import os
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from wordpiece_studio.corpus.decoding import (
    ErrorHandling,
    known_encoding,
)
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference, FileKind, is_relative, is_url
from wordpiece_studio.storage.project import agreed_files
from wordpiece_studio.storage.project.contents import ProjectCorpus
from wordpiece_studio.storage.project.layout import SourceRow
from wordpiece_studio.system.printable import decodable, display_name
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.storage.project.contents import ProjectSettings


_Record = TypeVar("_Record", bound=msgspec.Struct)
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Size = Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]

_MARKS = {"", *(mark.hex() for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))}
_MARKS |= {codecs.BOM_UTF32_LE.hex(), codecs.BOM_UTF32_BE.hex()}
_MOST_MEMORY = 256 << 20
_BRACE_BYTES, _BRACKET_BYTES, _COMMA_BYTES = 240, 64, 60  # their greatest cost as Python objects


@decodable
class CorpusHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `ProjectCorpus` without its text and files. `mark`: in hexadecimal."""

    name: str
    has_text: bool
    encoding: str = "utf-8"
    mark: str = ""
    is_edited: bool = False


@decodable
class SourceAbout(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
class RunHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `ProjectRun` without words and merges, and the numbers of a `HistoryTable`.

    Attributes
    ----------
    config, first_config
        The settings with limits raised since, and those that the training started with.
    normalizer, pre_tokenizer
        How the words were made.
    number
        See `ProjectRun`.
    words, words_hash
        The place, among the runs of the file, of the one whose words are also those of this run, and the hash of their
        counts; the run's own place if it has words of its own.
    text
        The number of the text that it was trained on; None if there is none.
    """

    config: dict[str, Any]
    first_config: dict[str, Any]
    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]
    initial_size: _Count
    symbols_after: _Count
    word_count: _Count
    total_words: _Count
    stop_reason: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    corpus_name: str = ""
    is_of_corpus: bool = False
    is_wanted: bool = True
    number: _Count = 0
    words: _Count = 0
    words_hash: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    text: _Count | None = None


@decodable
class LibraryRunHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What another library trained.

    Attributes
    ----------
    run
        The run; its `words` is a place among the runs of libraries, whose words no other program replaces.
    trainer, config
        See `LibraryRun`.
    has_steps
        Whether the run has the merges of our training.
    repetition
        The numbers of a `Repetition`; None if it was not trained twice.
    corpus
        A hash of what the words were counted from, if that was the corpus of the project; else empty.
    """

    run: RunHead
    trainer: Annotated[str, msgspec.Meta(max_length=100)]
    config: dict[str, Any]
    has_steps: bool
    repetition: tuple[_Count, _Count, _Count] | None = None
    corpus: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$")] = ""


@decodable
class CountsHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Word counts of the corpus without the words; `corpus`: a hash of what they were counted from."""

    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]
    corpus: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


def to_json(record: Any, more: dict[str, Any] | None = None) -> str:
    """Return a record, or several, as ASCII JSON, which allows lone surrogates; `more`: fields to add."""
    values = msgspec.to_builtins(record)
    return json.dumps({**values, **more} if more else values)


def from_json(text: str) -> Any:
    """Return the value of a JSON text."""
    memory = _BRACE_BYTES * text.count("{") + _BRACKET_BYTES * text.count("[") + _COMMA_BYTES * text.count(",")
    if memory + len(text) > _MOST_MEMORY:
        raise ValueError(f"{len(text)} characters of JSON")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_record(text: str, kind: type[_Record], unknown: dict[str, Any] | None = None) -> _Record:
    """Return the record in a JSON text; unknown fields go into `unknown`, if given."""
    values = from_json(text)
    if unknown is not None and isinstance(values, dict):
        unknown.update({name: values.pop(name) for name in values.keys() - _fields(kind)})
    return msgspec.convert(values, kind)


def read_heads(text: str, kind: type[_Record], *, drops_unknown: bool) -> list[_Record]:
    """Return the records of several runs in a JSON text; `drops_unknown`: a newer program may have added fields."""
    values = from_json(text)
    if drops_unknown and isinstance(values, list):
        values = [_known(each, kind) for each in values]
    return msgspec.convert(values, list[kind])  # type: ignore[valid-type]


def _known(values: Any, kind: type[msgspec.Struct]) -> Any:
    if not isinstance(values, dict):
        return values
    kept = {name: values[name] for name in values.keys() & _fields(kind)}
    return {**kept, "run": _known(kept["run"], RunHead)} if kind is LibraryRunHead and "run" in kept else kept


def _fields(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def checked_settings(settings: ProjectSettings) -> ProjectSettings:
    """Return settings from a file if they can start a training."""
    TrainingConfig.from_dict(settings.training)
    normalizers.from_spec(settings.normalizer)
    pre_tokenizers.from_spec(settings.pre_tokenizer)
    return settings


def write_corpus(corpus: ProjectCorpus, path: str | os.PathLike[str]) -> tuple[CorpusHead, list[SourceRow]]:
    """Return a corpus without its text, and the rows of its files; `path`: the future path of the project."""
    folder, named = folder_of(path), os.path.dirname(os.path.abspath(path))
    folders = [folder, named] if os.path.realpath(named) == folder else [folder]
    record = CorpusHead(
        name=corpus.name,
        has_text=corpus.text is not None,
        encoding=corpus.encoding,
        mark=corpus.mark.hex(),
        is_edited=corpus.is_edited,
    )
    rows = [placed(reference.file, folders, _about(reference, "file")) for reference in corpus.files]
    if corpus.origin is not None:
        rows.append(placed(corpus.origin.file, folders, _about(corpus.origin, "origin")))
    return record, rows


def folder_of(path: str | os.PathLike[str]) -> str:
    """Return the folder of the project at `path`, without links on the way."""
    return os.path.dirname(os.path.realpath(path))


def _about(reference: CorpusReference, role: Literal["file", "origin"]) -> str:
    file = reference.file
    return to_json(
        SourceAbout(
            role=role,
            kind=file.kind,
            column=file.column,
            encoding=file.encoding,
            errors=file.errors,
            size=reference.size,
            modified_ns=reference.modified_ns,
            sha256=reference.sha256,
        )
    )


def read_corpus(record: CorpusHead, rows: Sequence[SourceRow], text: str | None, folder: str) -> ProjectCorpus:
    """Return the corpus from the output of `write_corpus`; `folder`: the present folder of the project."""
    origins: list[CorpusReference] = []
    files: list[CorpusReference] = []
    located = [located_file(row, folder) for row in rows]
    is_agreed = agreed_files.are_agreed(folder, [path for _, unagreed in located for path in unagreed])
    for row, (path, unagreed) in zip(rows, located, strict=True):
        about = read_record(row.about, SourceAbout)
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
        name=record.name,
        text=text,
        encoding=record.encoding,
        mark=bytes.fromhex(record.mark),
        is_edited=record.is_edited,
        origin=origins[0] if origins else None,
        files=tuple(files),
    )


_LONGEST = 1 << 16  # no system supports longer paths


def placed(file: CorpusFile, folders: Sequence[str], about: str) -> SourceRow:
    """Return the row of a file for a project in a folder, of which these are the names: the real one, and with links.

    Of a file that is not read yet, both places are kept.
    """
    path, other = file.path, file.unagreed[-1] if file.unagreed else file.path
    absolute = other if is_url(other) else os.path.abspath(other)
    if is_url(path):
        return SourceRow(display_name(absolute), _bytes(absolute), None, about)
    path = os.path.abspath(path)
    folder = next((each for each in folders if path.startswith(os.path.join(each, ""))), folders[0])
    try:
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        relative = ""
    # A name that another system takes for an absolute path is found by its own absolute path only.
    way = _bytes(relative) if relative and is_relative(relative) else None
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
    found = {place: agreed_files.found_inside(place, folder) for place in places}
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
