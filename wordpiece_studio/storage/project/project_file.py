"""Project files: a project saved, opened and checked.

A file is always written as a new one that replaces the old one (`atomic_write`); first it is built and opened in
memory, and read back from disk. The file layout is in `container`.

What an older file lacks is filled in, what a newer one adds is kept: with a newer minor number, unknown records, fields
and parts are kept as `UnknownContents`.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import (
    MAJOR,
    MINOR,
    PROGRAM,
    ROOT,
    Container,
    Image,
    SavingStopped,
    damaged,
    read_head,
    text_part,
    trailer,
)
from wordpiece_studio.storage.project.contents import (
    CorpusHead,
    CountsHead,
    LibraryRunHead,
    Project,
    ProjectSettings,
    RunHead,
    UnknownContents,
    checked_settings,
    folder_of,
    from_json,
    note_agreed,
    read_corpus,
    read_heads,
    read_record,
    to_json,
    write_corpus,
)
from wordpiece_studio.storage.project.stored_run import (
    CORPUS_WORDS,
    RunKind,
    WrittenRun,
    corpus_digest,
    kind_of,
    note_copy,
    part_names,
    read_corpus_counts,
    read_runs,
    run_parts,
    text_name,
    words_parts,
    words_work,
)
from wordpiece_studio.storage.view import Bookmark, View
from wordpiece_studio.system.atomic_write import atomic_write_all
from wordpiece_studio.system.printable import file_error, printable
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from wordpiece_studio.storage.project.container import PackedPart, Part
    from wordpiece_studio.storage.project.contents import ProjectRun


_SETTINGS, _CORPUS, _VIEW, _RUN, _COUNTS = "settings", "corpus", "view", "run", "counts"
_RUNS = "runs"
"""The record of all our runs but the first."""
_LIBRARY_RUNS = "peers"
"""The record of the runs of other libraries. A program before format 1.4 keeps them without showing them."""
_KINDS: tuple[RunKind, ...] = get_args(RunKind)
_TEXT, _LIVE_TEXT, _NOTES = "corpus/text", "view/watched_text", "view/notes"
_RECORDS = frozenset([PROGRAM, ROOT, _SETTINGS, _CORPUS, _VIEW, _RUN, _RUNS, _LIBRARY_RUNS, _COUNTS])
_PARTS = frozenset([_TEXT, _LIVE_TEXT, _NOTES, *part_names(CORPUS_WORDS), *run_parts(0, 0).values()])
_READ_AT_ONCE = 1 << 20
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""What invalid values in a file may raise while being converted."""


def save_project(
    path: str | os.PathLike[str],
    project: Project,
    *,
    progress: Callable[[int, int], object] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Write a project to the file at `path` atomically; an existing file is replaced.

    The parts of a run that a file already holds are copied from it. A training may continue meanwhile; what it appends
    is left out. `progress` is called regularly with the bytes done and the approximate total.
    """
    ours, library_runs = (_written(project.runs, kind) for kind in _KINDS)
    image, parts = _image(path, project, ours, library_runs, progress, should_stop)
    _check_opens(path, image)
    end = trailer(image)

    def write(file: BinaryIO) -> None:
        file.write(image)
        file.write(end)
        file.flush()
        _check_read_back(file, (image, end), path)

    if should_stop():
        raise SavingStopped
    atomic_write_all({path: write})
    if not any(reference.file.unagreed for reference in project.corpus.references):
        note_agreed(path, project.corpus)
    for run in (*ours, *library_runs):
        note_copy(path, run.run, parts, run.place, run.words)


def open_project(path: str | os.PathLike[str]) -> Project:
    """Return the project in a file. The words and places of its run are read when first needed."""
    container = Container(path)
    try:
        project = _read(container)
    except (StudioError, *_FAULTS) as error:
        container.close()
        if isinstance(error, StudioError):
            raise _with_path(error, path) from error
        raise damaged(path, "{path} is damaged at its records: {reason}", reason=_shown(error)) from error
    if project.run is None and project.counts is None:
        container.close()
    return project


def is_project(path: str | os.PathLike[str]) -> bool:
    """Return whether a file looks like a project of any version, complete or not."""
    try:
        read_head(path)
    except StudioError:
        return False
    return True


# Saving.


def _texts(runs: Iterable[ProjectRun]) -> list[str]:
    return list(dict.fromkeys(run.text for run in runs if run.text is not None))


def _written(all_runs: Sequence[ProjectRun], kind: RunKind) -> list[WrittenRun]:
    """Return the runs of a kind, to be written; those of the same words share them."""
    runs = [run for run in all_runs if kind_of(run) == kind]
    texts, words = _texts(runs), [run.counts for run in runs]
    first = [next(place for place, each in enumerate(words) if each is own) for own in words]
    numbers = [None if run.text is None else texts.index(run.text) for run in runs]
    return [WrittenRun(run, place, first[place], numbers[place]) for place, run in enumerate(runs)]


def _image(
    path: str | os.PathLike[str],
    project: Project,
    ours: Sequence[WrittenRun],
    library_runs: Sequence[WrittenRun],
    progress: Callable[[int, int], object] | None,
    should_stop: Callable[[], bool],
) -> tuple[bytes, dict[str, Part]]:
    unknown, counts = project.unknown, project.counts
    contents, runs = list(_small_parts(project)), [*ours, *library_runs]
    for kind, some in zip(_KINDS, (ours, library_runs), strict=True):
        texts = _texts(run.run for run in some)
        contents += (text_part(text_name(number, kind), text) for number, text in enumerate(texts))
    work = sum(part.n for part in contents) + sum(run.work for run in runs)
    work += 0 if counts is None else words_work(counts)
    minor = max(MINOR, unknown.minor if unknown else 0)
    with contextlib.closing(Image(minor, work, progress, should_stop)) as image:
        corpus_words = () if counts is None else words_parts(CORPUS_WORDS, counts)
        for part in chain(contents, *(run.parts() for run in runs), corpus_words, unknown.parts if unknown else ()):
            image.add(part)
        records: dict[str, Any] = {_SETTINGS: project.settings, _VIEW: project.view.without_texts()}
        records[_CORPUS], sources = write_corpus(project.corpus, path)
        heads = [run.head(image.parts) for run in ours]
        if heads:
            records[_RUN] = heads[0]
        if len(heads) > 1:
            records[_RUNS] = heads[1:]
        if library_runs:
            of_project = image.parts, project.corpus, project.settings
            records[_LIBRARY_RUNS] = [run.library_head(*of_project) for run in library_runs]
        if counts is not None:
            records[_COUNTS] = CountsHead(
                normalizer=normalizers.to_spec(counts.normalizer),
                pre_tokenizer=pre_tokenizers.to_spec(counts.pre_tokenizer),
                corpus=corpus_digest(project.corpus, project.settings.max_word_length),
            )
        fields = unknown.fields if unknown else {}
        meta = {name: to_json(record, fields.get(name)) for name, record in records.items()}
        program = {PROGRAM: f"WordPiece Studio {__version__}"}
        return image.finished({**(unknown.records if unknown else {}), **meta, **program}, sources), image.parts


def _small_parts(project: Project) -> Iterator[PackedPart]:
    if project.corpus.text is not None:
        yield text_part(_TEXT, project.corpus.text)
    yield text_part(_LIVE_TEXT, project.view.live_text)
    notes = [msgspec.structs.replace(note, run=None, owner=None) for note in project.view.notes]
    yield text_part(_NOTES, to_json(notes))


def _check_read_back(file: BinaryIO, contents: tuple[bytes, ...], path: str | os.PathLike[str]) -> None:
    """Read back what was written, while the old file still exists."""
    file.seek(0)
    pieces = (data[at : at + _READ_AT_ONCE] for data in contents for at in range(0, len(data), _READ_AT_ONCE))
    if any(file.read(len(piece)) != piece for piece in pieces) or file.read(1):
        raise file_error(
            path,
            "{path} cannot be written: what is read back differs from what was written",
            "Any existing file is unchanged. Save to another location.",
        )


def _check_opens(path: str | os.PathLike[str], image: bytes) -> None:
    """Open what was built, so that the old file is never replaced by one that this program would refuse."""
    try:
        with contextlib.closing(Container(path, image)) as container:
            _read(container, with_merges=False)  # which are plain copied numbers
    except (StudioError, *_FAULTS) as error:
        reason = error.what if isinstance(error, StudioError) else _shown(error)
        raise file_error(
            path,
            "{path} cannot be written: it could not be opened again ({reason})",
            "Any existing file is unchanged.",
            reason=reason,
        ) from error


# Opening.


def _read(container: Container, *, with_merges: bool = True) -> Project:
    records = container.meta
    if container.major < MAJOR:
        what = "{path} is damaged at its version: there was never a format {major}"
        raise damaged(container.path, what, major=container.major)
    is_newer = container.minor > MINOR
    fields: dict[str, dict[str, Any]] = {name: {} for name in (_SETTINGS, _CORPUS, _VIEW, _RUN, _COUNTS)}
    # Only a newer program adds fields; otherwise an extra field is damage.
    more = fields.get if is_newer else lambda _name: None
    settings = checked_settings(read_record(records[_SETTINGS], ProjectSettings, more(_SETTINGS)))
    head = read_record(records[_CORPUS], CorpusHead, more(_CORPUS))
    text = container.text(_TEXT) if head.has_text else None
    try:
        view = read_record(records[_VIEW], View, more(_VIEW))
    except StudioError as error:
        what = "{path} is damaged at its breakpoints: {reason}"
        raise damaged(container.path, what, reason=error.what) from error
    notes = msgspec.convert(from_json(container.text(_NOTES)), tuple[Bookmark, ...])
    corpus = read_corpus(head, container.sources, text, folder_of(container.path))
    heads = [read_record(records[_RUN], RunHead, more(_RUN))] if _RUN in records else []
    if heads and _RUNS in records:
        heads += read_heads(records[_RUNS], RunHead, drops_unknown=is_newer)
    library_heads = read_heads(records.get(_LIBRARY_RUNS, "[]"), LibraryRunHead, drops_unknown=is_newer)
    runs = read_runs(container, heads, corpus, settings, with_merges=with_merges)
    runs += read_runs(container, library_heads, corpus, settings, with_merges=with_merges)
    if library_heads:
        runs = sorted(_numbered(runs), key=lambda run: run.number != view.current)
    counts = None
    if _COUNTS in records:
        counts_head = read_record(records[_COUNTS], CountsHead, more(_COUNTS))
        counts = read_corpus_counts(container, counts_head, corpus, settings)
    return Project(
        settings=settings,
        corpus=corpus,
        view=view.with_texts(container.text(_LIVE_TEXT), notes),
        runs=tuple(runs),
        counts=counts,
        unknown=_unknown_contents(container, fields, _known_parts(heads, library_heads)),
    )


def _numbered(runs: Sequence[ProjectRun]) -> list[ProjectRun]:
    """Return runs with a number each; a program that does not know the runs of libraries may have given theirs away."""
    numbered: dict[int, ProjectRun] = {}
    for run in runs:
        number = run.number
        if number in numbered:
            number = 1 + max(each.number for each in runs) + len(numbered)
        numbered[number] = replace(run, number=number)
    return list(numbered.values())


def _known_parts(heads: Sequence[RunHead], library_heads: Sequence[LibraryRunHead]) -> set[str]:
    known = {*_PARTS}
    for kind, run_heads in zip(_KINDS, (heads, [head.run for head in library_heads]), strict=True):
        for place, head in enumerate(run_heads):
            known.update(run_parts(place, place, kind).values())
            if head.text is not None:
                known.add(text_name(head.text, kind))
    return known


def _with_path(error: StudioError, path: str | os.PathLike[str]) -> StudioError:
    if "path" in error.values:
        return error
    return damaged(path, "{path} is damaged at its records: {reason}", reason=error.what)


def _shown(error: Exception) -> str:
    return printable(str(error))[:200]


def _unknown_contents(
    container: Container, fields: dict[str, dict[str, Any]], known_parts: set[str]
) -> UnknownContents | None:
    """Return the unknown contents of a project; None if everything is known.

    `fields` has the unknown fields of known records.
    """
    others = {name: text for name, text in container.meta.items() if name not in _RECORDS}
    names = sorted(container.parts.keys() - known_parts)
    fields = {name: values for name, values in fields.items() if values}
    if not others and not names and not fields:
        return None
    return UnknownContents(container.minor, others, fields, tuple(map(container.packed, names)))
