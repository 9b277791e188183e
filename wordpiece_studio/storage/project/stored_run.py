"""The large parts of a project file: word counts, and a run with its history rows and the places of its merges.

Counts and merges are read when a project is opened; the words themselves and the places of the merges when they are
first needed. The words are those that a run was learned from, and those of the present corpus.
"""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec
import numpy as np

from wordpiece_studio.corpus.counts import LARGEST_COUNT, CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import LibraryHistory, LibraryRun, Repetition, check_library_settings
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.storage.project.container import Container, array_part, damaged, strings_parts, text_part
from wordpiece_studio.storage.project.contents import (
    LibraryHead,
    ProjectCorpus,
    Run,
    RunHead,
    RunOrigin,
    from_json,
    steps_of,
)
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.engine import StopReason
from wordpiece_studio.training.history import COLUMNS, HistoryTable, MergeHistory
from wordpiece_studio.training.segmentation import HistoryPlaces
from wordpiece_studio.training.stored_history import restored_history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from wordpiece_studio.libraries.library_training import LibraryTrainer
    from wordpiece_studio.storage.project.container import PackedPart, Part
    from wordpiece_studio.storage.project.contents import CountsHead


# Word counts.


_SKIPPED = tuple(field.name for field in dataclasses.fields(SkippedWord))


def words_parts(words: str, counts: WordCounts) -> list[PackedPart]:
    skipped = [dataclasses.astuple(word) for word in counts.skipped]
    statistics = json.dumps({"statistics": dataclasses.asdict(counts.statistics), "skipped": skipped})
    return [
        array_part(f"{words}/counts", counts.counts),
        text_part(f"{words}/statistics", statistics),
        *strings_parts(words, counts.words),
    ]


def read_counts(container: Container, words: str, head: CountsHead) -> WordCounts:
    """Return word counts whose words are read when first needed: then, they must be expected of the file."""
    name, statistics_name = f"{words}/counts", f"{words}/statistics"
    counts = container.array(name, "i").astype(np.int64)
    if len(counts) and (counts.min() < 1 or not _is_sum_small(counts)):
        raise damaged(container.path, part=name)

    reading = threading.Lock()

    @cache
    def read() -> list[str]:
        with container.read_last(words):
            found = container.strings(words, len(counts))
            if not all(found):
                raise damaged(container.path, "{path} is damaged at {part}: a word is empty", part=words)
        return found

    def read_once() -> list[str]:
        with reading:  # whichever threads need them
            return read()

    values = from_json(container.text(statistics_name))
    statistics = msgspec.convert(values["statistics"], CorpusStatistics)
    skipped = [msgspec.convert(dict(zip(_SKIPPED, word, strict=True)), SkippedWord) for word in values["skipped"]]
    if not _are_possible(statistics, skipped):
        what = "{path} is damaged at {part}: no corpus can have such values"
        raise damaged(container.path, what, part=statistics_name)
    steps = normalizers.from_spec(head.normalizer), pre_tokenizers.from_spec(head.pre_tokenizer)
    return WordCounts(read_once, counts, *steps, statistics, skipped)


def _are_possible(statistics: CorpusStatistics, skipped: list[SkippedWord]) -> bool:
    """Return whether the values are possible: no number is negative, and if words were skipped, some are named."""
    records: list[Any] = [statistics, *statistics.files, *skipped]
    values = [getattr(record, field.name) for record in records for field in dataclasses.fields(record)]
    numbers = [value for value in (*values, *statistics.spelled_out.values()) if isinstance(value, int)]
    return bool(skipped or not statistics.skipped_words) and all(0 <= number <= LARGEST_COUNT for number in numbers)


def _is_sum_small(numbers: np.ndarray[Any, Any]) -> bool:
    return float(numbers.sum(dtype=np.float64)) < LARGEST_COUNT / 2 or sum(numbers.tolist()) <= LARGEST_COUNT


# Runs being written.


_COLUMN = "merges/{}"
_POSITIONS = "places/positions"
_PLACE_PARTS = ("places/counts", "places/left_lengths", _POSITIONS)
_WORD_PARTS = ("words/counts", "words/statistics", "words/text", "words/lengths")
_FILE, _LEARNED = "file", "learned"
_GROUPS = ("merges", "tokens", "places", "words", _FILE, _LEARNED)
_OF_TABLE = ("initial_size", "symbols_after", "word_count", "total_words")  # what the record of a run has of it
_REASONS = (None, "user", "peer", *get_args(StopReason))  # why a training ended; of others, only that it did


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that holds, as run `number`, the first `merges` merges of a history with these words."""

    path: str
    number: int
    merges: int
    counts: weakref.ref[WordCounts]
    parts: dict[str, Part]  # by what their names are without `own` and `words` of the run

    def is_in(self, container: Container) -> bool:
        return all(container.parts.get(part.name) == part for part in self.parts.values())


# The file that last held each history. A history is only appended to: its first merges never change.
_copies: weakref.WeakKeyDictionary[MergeHistory, _Copy] = weakref.WeakKeyDictionary()


def note_copy(path: str | os.PathLike[str], run: Run, head: RunHead, parts: Mapping[str, Part]) -> None:
    """Remember that the file at `path` holds a run, in those of its parts that the record of the run names."""
    held = {}
    for name, part in parts.items():
        prefix = head.words if name.startswith(f"{head.words}words/") else head.parts
        own_name = name.removeprefix(prefix)
        if name.startswith(prefix) and own_name.partition("/")[0] in _GROUPS:
            held[own_name] = part
    _copies[run.history] = _Copy(os.path.realpath(path), run.number, run.merge_count, weakref.ref(run.counts), held)


def copy_of(run: Run) -> str | None:
    """Return the file that last held a run as it is, and may still hold it; None if none did."""
    copy = _copies.get(run.history)
    is_same = copy and (copy.number, copy.merges) == (run.number, run.merge_count) and copy.counts() is run.counts
    return copy.path if copy and is_same else None


def last_copy_of(run: Run) -> str | None:
    """Return the file that last held a run, perhaps with fewer merges, and may still hold it; None if none did."""
    copy = _copies.get(run.history)
    return copy.path if copy and copy.number == run.number else None


def link_copy(runs: Sequence[Run], path: Path) -> bool:
    """Give the file that holds these runs already the name `path` too; return False if there is none, or no way.

    A project file is replaced, never changed: the runs are still there under the new name when the old one is gone.
    """
    places = {copy_of(run) for run in runs}
    place = places.pop()
    if places or place is None:
        return False
    try:
        os.link(place, path)
    except (OSError, NotImplementedError):  # such as from one disk to another
        return False
    with suppress(StudioError):
        container = Container(path)
        container.close()
        if all(_copies[run.history].is_in(container) for run in runs):
            return True
    path.unlink()
    return False


class CopiedParts:
    """The parts of runs that files hold already; each file is opened once."""

    def __init__(self) -> None:
        self._files: dict[str, Container | None] = {}

    def of(self, run: Run) -> Callable[..., list[PackedPart]]:
        """Return what returns parts of a run, by name, for another file; none if no file has them, or damaged ones."""
        path = None if run.history.is_damaged else copy_of(run)
        if path is not None and path not in self._files:
            self._files[path] = None
            with suppress(StudioError):
                self._files[path] = Container(path)
        container = None if path is None else self._files[path]
        if container is None or not _copies[run.history].is_in(container):
            return lambda *_names: []
        parts = _copies[run.history].parts

        def copied(prefix: str, *names: str) -> list[PackedPart]:
            with suppress(StudioError):
                return [container.packed(parts[name].name, prefix + name) for name in names if name in parts]
            return []

        return copied

    def close(self) -> None:
        """Close the files: on Windows, none can be replaced while it is open."""
        for container in filter(None, self._files.values()):
            container.close()


def run_parts(
    run: Run, table: HistoryTable, head: RunHead, copied: Callable[..., list[PackedPart]]
) -> Iterator[PackedPart]:
    own, merges = head.parts, run.merge_count
    if run.history.has_steps:
        for column, values in table.columns.items():
            name = _COLUMN.format(column)
            yield from copied(own, name) or [array_part(own + name, values)]
        yield from copied(own, "tokens/text", "tokens/lengths") or strings_parts(f"{own}tokens", table.tokens)
        yield from copied(own, *_PLACE_PARTS) or map(
            array_part, [own + name for name in _PLACE_PARTS], run.history.places_until(merges)
        )
    if head.words == own:
        yield from copied(own, *_WORD_PARTS) or words_parts(f"{own}words", run.counts)
    if run.library_run is not None:
        contents = (run.library_run.content, msgspec.msgpack.encode(run.library_run.learned))
        yield from copied(own, _FILE, _LEARNED) or [
            array_part(own + name, np.frombuffer(content, dtype=np.int8))
            for name, content in zip((_FILE, _LEARNED), contents, strict=True)
        ]


def head_of(run: Run, table: HistoryTable, parts: str, words: str, text: str | None) -> RunHead:
    library_run, library = run.library_run, None
    if library_run is not None:
        repetition = library_run.repetition
        library = LibraryHead(
            trainer=library_run.trainer, config=library_run.config.to_dict(), has_steps=run.history.has_steps,
            repetition=None if repetition is None else dataclasses.astuple(repetition),
        )  # fmt: skip
    return RunHead(
        parts=parts, words=words, text=text, config=run.config.to_dict(), first_config=table.config.to_dict(),
        **steps_of(run.counts), **{name: getattr(table, name) for name in _OF_TABLE}, stop_reason=run.stop_reason,
        corpus_name=run.origin.corpus_name, is_of_corpus=run.is_of_corpus, is_wanted=run.origin.is_wanted,
        number=run.number, library=library,
    )  # fmt: skip


# Runs being read.


def read_run(container: Container, head: RunHead, known: dict[str, WordCounts], *, with_merges: bool) -> Run | None:
    """Return a run, whose words and places are read when first needed; `known`: the words that runs may share.

    Without merges and tokens, everything else is checked, and nothing is returned.
    """
    if head.words not in known:
        known[head.words] = read_counts(container, f"{head.words}words", head)
    counts = known[head.words]
    if head.word_count > len(counts) or head.total_words > counts.total:
        what = "{path} is damaged at {part}: there are too few words"
        raise damaged(container.path, what, part=f"{head.words}words/counts")
    library_run = None if head.library is None else _read_library_run(container, head.library, head.parts, counts)
    config = _config(container, head)
    origin = RunOrigin(head.is_wanted, head.corpus_name)
    if head.text is not None:
        origin = replace(origin, corpus=ProjectCorpus(name=head.corpus_name, text=container.text(head.text)))
    if not with_merges:
        return None
    run = Run(
        counts, config, _history(container, head, counts, library_run), origin=origin, is_of_corpus=head.is_of_corpus,
        stop_reason=head.stop_reason if head.stop_reason in _REASONS else "user", number=head.number,
        library_run=library_run,
    )  # fmt: skip
    container.expect(f"{head.words}words")
    if run.history.has_steps:
        container.expect(f"{head.parts}places")
    note_copy(container.path, run, head, container.parts)
    return run


def _history(container: Container, head: RunHead, counts: WordCounts, library_run: LibraryRun | None) -> MergeHistory:
    def explained(error: StudioError) -> StudioError:
        if "path" in error.values:
            return error
        return damaged(container.path, "{path} is damaged at its merges: {reason}", reason=error.what)

    history: MergeHistory
    if library_run is not None and head.library is not None and not head.library.has_steps:
        without_words = partial(_without_words, library_run)
        history = LibraryHistory(library_run, counts, None, head.symbols_after, without_words)
    else:
        try:
            table = _read_table(container, head)
            history = restored_history(table, lambda: (counts, _places(container, head.parts)), explained)
        except StudioError as error:
            raise explained(error) from error
    if library_run is not None and history.vocabulary(len(history)).tokens != list(library_run.tokens):
        raise damaged(container.path, part=head.parts + _LEARNED)
    return history


def _read_library_run(container: Container, head: LibraryHead, prefix: str, counts: WordCounts) -> LibraryRun:
    content, learned_bytes = (container.array(prefix + name, "i") for name in (_FILE, _LEARNED))
    learned = msgspec.msgpack.decode(learned_bytes.tobytes(), type=Learned)
    config, tokens = TrainingConfig.from_dict(head.config, counts.pre_tokenizer), learned.tokens
    trainer = cast("LibraryTrainer", head.trainer)  # which is checked
    check_library_settings(trainer, config)
    if tokens[: len(config.special_tokens)] != config.special_tokens or "" in tokens or not tokens:
        raise damaged(container.path, part=prefix + _LEARNED)
    repetition = None if head.repetition is None else Repetition(*head.repetition)
    return LibraryRun(trainer, config, counts, learned, content.tobytes(), repetition)


def _without_words(library_run: LibraryRun, error: StudioError) -> StudioError:
    what = "The words of the run trained with {trainer} cannot be shown: {reason}"
    advice = "It stays in the project. Install the library if it is missing, else train again."
    return StudioError(what, advice, trainer=library_run.trainer, reason=error.what)


def _config_of(head: RunHead, values: dict[str, Any]) -> TrainingConfig:
    return TrainingConfig.from_dict(values, pre_tokenizers.from_spec(head.pre_tokenizer))


def _config(container: Container, head: RunHead) -> TrainingConfig:
    """Return the run's present settings, which must equal its first ones except for the limits."""
    config, first = _config_of(head, head.config), _config_of(head, head.first_config)
    limits = {name: getattr(first, name) for name in LIMITS}
    if replace(config, **limits) != first:
        what = "{path} is damaged at its records: the settings are not those that the training started with"
        raise damaged(container.path, what)
    return config


def _places(container: Container, prefix: str) -> HistoryPlaces:
    with container.read_last(f"{prefix}places"):
        counts, lengths, positions = (container.array(prefix + name, "i") for name in _PLACE_PARTS)
    if positions.dtype.itemsize > 4 or not _is_sum_small(counts):
        raise damaged(container.path, part=prefix + _POSITIONS)
    return HistoryPlaces(counts.astype(np.int64), lengths.astype(np.int64), positions.astype(np.int32))


def _read_table(container: Container, head: RunHead) -> HistoryTable:
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for name, dtype in COLUMNS.items():
        kind = np.dtype(dtype).kind
        part = head.parts + _COLUMN.format(name)
        columns[name] = container.array(part, kind).astype(dtype, copy=False)
        if kind == "i" and len(columns[name]) and columns[name].min() < 0:
            raise damaged(container.path, "{path} is damaged at {part}: a number is negative", part=part)
    config = _config_of(head, head.first_config)
    name = f"{head.parts}tokens"
    tokens = container.strings(name, head.initial_size + int(np.count_nonzero(columns["is_new"])))
    if tuple(tokens[: len(config.special_tokens)]) != config.special_tokens:
        what = "{path} is damaged at {part}: they do not begin with the special tokens"
        raise damaged(container.path, what, part=name)
    return HistoryTable(config, tokens, columns=columns, **{name: getattr(head, name) for name in _OF_TABLE})
