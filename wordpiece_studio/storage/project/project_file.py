"""Project files: a project saved, opened and checked.

A file is always written as a new one that replaces the old one (`atomic_write`); first it is built and opened in
memory, and read back from disk. The file layout is in `container`. Of a file of which a part is damaged, the rest is
opened. Files of older formats are read as if they had today's (`older`); newer ones are refused.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import (
    PROGRAM,
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
    Project,
    ProjectSettings,
    RunHead,
    checked_settings,
    folder_of,
    from_json,
    note_agreed,
    read_corpus,
    steps_of,
    to_json,
    write_corpus,
)
from wordpiece_studio.storage.project.older import upgrade, with_tokens
from wordpiece_studio.storage.project.stored_run import (
    CopiedParts,
    head_of,
    note_copy,
    read_counts,
    read_run,
    run_parts,
    words_parts,
)
from wordpiece_studio.storage.view import View, run_letter
from wordpiece_studio.system.atomic_write import atomic_write_all
from wordpiece_studio.system.printable import file_error, printable
from wordpiece_studio.training.history import table_of
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.project.container import Part
    from wordpiece_studio.storage.project.contents import Run


_SETTINGS, _CORPUS, _VIEW, _RUNS, _COUNTS = "settings", "corpus", "view", "runs", "counts"
# All records that are JSON; the last two are those of older formats.
_RECORDS = (_SETTINGS, _CORPUS, _VIEW, _RUNS, _COUNTS, "run", "peers")
_TEXT, _LIVE_TEXT, _CORPUS_WORDS = "corpus/text", "view/watched_text", "corpus/words"
_PARTS_OF_A_RUN = 17
_READ_AT_ONCE = 1 << 20
# What invalid values in a file may raise while being converted.
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)


def save_project(
    path: str | os.PathLike[str], project: Project, *, about: msgspec.Struct | None = None,
    progress: Callable[[int, int], object] | None = None, should_stop: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Write a project to the file at `path` atomically; an existing file is replaced.

    The parts of a run that a file already holds are copied from it. A training may continue meanwhile; what it appends
    is left out. `about`: what else to say of it, see `read_about`. `progress` is called regularly with how much is done
    and the approximate total.
    """
    runs = [replace(run, merges=run.merge_count) for run in project.runs]
    image, heads, parts = _image(path, replace(project, runs=tuple(runs)), about, progress, should_stop)
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
    for run, head in zip(runs, heads, strict=True):
        note_copy(path, run, head, parts)


def open_project(path: str | os.PathLike[str]) -> Project:
    """Return the project in a file. The words and places of its runs are read when first needed."""
    container = Container(path)
    try:
        project = _read(container)
    except (StudioError, *_FAULTS) as error:
        container.close()
        raise _explained(error, path) from error
    container.close_if_read()
    return project


def read_about(path: str | os.PathLike[str]) -> Any:
    """Return what `save_project` was told about the project, decoded from JSON; None if nothing, or by another."""
    with contextlib.closing(Container(path)) as container:
        return from_json(container.meta.get("about", "null"))


def is_project(path: str | os.PathLike[str]) -> bool:
    """Return whether a file looks like a project of any version, complete or not."""
    try:
        read_head(path)
    except StudioError:
        return False
    return True


# Saving.


def _image(
    path: str | os.PathLike[str], project: Project, about: msgspec.Struct | None,
    progress: Callable[[int, int], object] | None, should_stop: Callable[[], bool],
) -> tuple[bytes, list[RunHead], dict[str, Part]]:  # fmt: skip
    texts = {run.text: "" for run in project.runs if run.text is not None}
    texts = {text: f"runs/text/{number}" for number, text in enumerate(texts)}
    expected = 2 + len(texts) + _PARTS_OF_A_RUN * len(project.runs)
    with (
        contextlib.closing(Image(expected, progress, should_stop)) as image,
        contextlib.closing(CopiedParts()) as copied,
    ):
        if project.corpus.text is not None:
            image.add(text_part(_TEXT, project.corpus.text))
        image.add(text_part(_LIVE_TEXT, project.view.live_text))
        for text, name in texts.items():
            image.add(text_part(name, text))
        heads: list[RunHead] = []
        for place, run in enumerate(project.runs):
            words = next(first for first, each in enumerate(project.runs) if each.counts is run.counts)
            table = table_of(run.history, run.merge_count)
            text_name = None if run.text is None else texts[run.text]
            heads.append(head_of(run, table, f"runs/{place}/", f"runs/{words}/", text_name))
            for part in run_parts(run, table, heads[-1], copied.of(run)):
                image.add(part)
        records: dict[str, Any] = {
            _SETTINGS: project.settings,
            _VIEW: msgspec.structs.replace(project.view, live_text=""),
            _RUNS: heads,
        }
        records[_CORPUS], sources = write_corpus(project.corpus, path)
        if about is not None:
            records["about"] = about
        if project.counts is not None:
            for part in words_parts(_CORPUS_WORDS, project.counts):
                image.add(part)
            records[_COUNTS] = CountsHead(**steps_of(project.counts))
        meta = {name: to_json(record) for name, record in records.items()}
        return image.finished({**meta, PROGRAM: f"WordPiece Studio {__version__}"}, sources), heads, image.parts


def _check_read_back(file: BinaryIO, contents: tuple[bytes, ...], path: str | os.PathLike[str]) -> None:
    file.seek(0)
    pieces = (data[at : at + _READ_AT_ONCE] for data in contents for at in range(0, len(data), _READ_AT_ONCE))
    if any(file.read(len(piece)) != piece for piece in pieces) or file.read(1):
        what = "{path} cannot be written: what is read back differs from what was written"
        raise file_error(path, what, "Any existing file is unchanged. Save to another location.")


def _check_opens(path: str | os.PathLike[str], image: bytes) -> None:
    """Open what was built, so that the old file is never replaced by one that this program would refuse."""
    try:
        with contextlib.closing(Container(path, image)) as container:
            _read(container, with_merges=False).check_whole()  # not the merges: they are plain copied numbers
    except (StudioError, *_FAULTS) as error:
        reason = error.what if isinstance(error, StudioError) else _shown(error)
        what = "{path} cannot be written: it could not be opened again ({reason})"
        raise file_error(path, what, "Any existing file is unchanged.", reason=reason) from error


# Opening.


def _read(container: Container, *, with_merges: bool = True) -> Project:
    records = {name: from_json(container.meta[name]) for name in _RECORDS if name in container.meta}
    lost: dict[str, StudioError] = {}

    @contextlib.contextmanager
    def reading(part: str) -> Iterator[None]:
        """Go on without a damaged part."""
        try:
            yield
        except (StudioError, *_FAULTS) as error:
            lost.setdefault(part, _explained(error, container.path))

    settings = checked_settings(msgspec.convert(records[_SETTINGS], ProjectSettings))
    corpus_head, text = msgspec.convert(records[_CORPUS], CorpusHead), None
    if corpus_head.has_text:
        text = ""
        with reading("the text"):
            text = container.text(_TEXT)
    corpus = read_corpus(corpus_head, container.sources, text, folder_of(container.path))
    if container.major == 1:
        upgrade(container, records, corpus)
    try:
        view = msgspec.convert(records[_VIEW], View)
    except StudioError as error:
        what = "{path} is damaged at its breakpoints: {reason}"
        raise damaged(container.path, what, reason=error.what) from error
    with reading("the live text"):
        view = msgspec.structs.replace(view, live_text=container.text(_LIVE_TEXT))
    runs: list[Run] = []
    words: dict[str, WordCounts] = {}
    for head in msgspec.convert(records[_RUNS], list[RunHead]):
        with reading(f"run {run_letter(head.number)}"):
            run = read_run(container, head, words, with_merges=with_merges)
            runs += [] if run is None else [run]
    if container.major == 1:
        view = with_tokens(view, runs)
    counts = None
    if _COUNTS in records:
        counts_head = msgspec.convert(records[_COUNTS], CountsHead)
        with reading("the word counts"):
            counts = read_counts(container, _CORPUS_WORDS, counts_head)
    if "the text" in lost:
        runs, counts = [replace(run, is_of_corpus=False) for run in runs], None
    if counts is not None:
        container.expect(_CORPUS_WORDS)
    return Project(
        settings=settings, corpus=corpus, view=view, runs=tuple(runs), counts=counts, lost=tuple(lost.items())
    )


def _explained(error: Exception, path: str | os.PathLike[str]) -> StudioError:
    """Return the error that names the file in which the values were that raised this one."""
    if not isinstance(error, StudioError):
        return damaged(path, "{path} is damaged at its records: {reason}", reason=_shown(error))
    if "path" in error.values:
        return error
    return damaged(path, "{path} is damaged at its records: {reason}", reason=error.what)


def _shown(error: Exception) -> str:
    return printable(str(error))[:200]
