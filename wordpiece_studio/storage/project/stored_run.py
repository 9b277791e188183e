"""The large parts of a project file: word counts, and a training with its history rows and the places of its merges.

Counts and merges are read when a project is opened; the words themselves and the places of the merges when they are
first needed. The words are those that a training was learned from, and those of the present corpus.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
import weakref
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import numpy as np

from wordpiece_studio.corpus.counts import LARGEST_COUNT, CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container_reading import Container
from wordpiece_studio.storage.project.container_writing import array_part, strings_parts, text_part
from wordpiece_studio.storage.project.contents import ProjectRun
from wordpiece_studio.storage.project.layout import damaged
from wordpiece_studio.storage.project.records import CountsHead, RunHead, from_json
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.engine import StopReason
from wordpiece_studio.training.history import COLUMNS
from wordpiece_studio.training.stored_history import HistoryPlaces, HistoryTable, places_of, restored_history, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from wordpiece_studio.storage.project.container_writing import PartContent
    from wordpiece_studio.storage.project.contents import PackedPart, ProjectCorpus, ProjectSettings
    from wordpiece_studio.storage.project.layout import Part
    from wordpiece_studio.training.history import MergeHistory


_RUN_WORDS, CORPUS_WORDS = "words", "corpus/words"
"""Prefixes of the part names."""
_COUNTS, _STATISTICS = "{}/counts", "{}/statistics"
_BYTES_A_WORD = 12  # approximately, before compression
_SKIPPED = tuple(field.name for field in dataclasses.fields(SkippedWord))


class LaterReads:
    """Pending reads from an opened project's file, which is closed when none are left."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self._awaited: set[str] = set()

    def expect(self, what: str) -> None:
        """Keep the file open until this has been read."""
        self._awaited.add(what)

    def note_read(self, what: str) -> None:
        """Record that this has been read."""
        self._awaited.discard(what)
        if not self._awaited:
            self.container.close()


def part_names(words: str) -> tuple[str, ...]:
    """Return the names of all parts of word counts, in order; `words`: `_RUN_WORDS` or `CORPUS_WORDS`."""
    return (_COUNTS.format(words), _STATISTICS.format(words), f"{words}/text", f"{words}/lengths")


def words_work(counts: WordCounts) -> int:
    """Return the approximate size of the parts in bytes."""
    return _BYTES_A_WORD * len(counts)


def words_parts(words: str, counts: WordCounts) -> Iterator[PartContent]:
    """Yield the parts of word counts, created on demand."""
    yield array_part(_COUNTS.format(words), counts.counts)
    yield text_part(_STATISTICS.format(words), _statistics_json(counts))
    yield from strings_parts(words, counts.words)


def read_counts(later: LaterReads, words: str, normalizer: dict[str, Any], pre_tokenizer: dict[str, Any]) -> WordCounts:
    """Return word counts whose words are read when first needed.

    Raises
    ------
    StudioError
        If they are damaged; if the words are, when those are needed.
    """
    container = later.container
    name = _COUNTS.format(words)
    counts = container.array(name, "i").astype(np.int64)
    if len(counts) and (counts.min() < 1 or not _is_sum_small(counts)):
        raise damaged(container.path, name)

    def load() -> list[str]:
        found = container.strings(words, len(counts))
        later.note_read(words)
        if not all(found):
            raise damaged(container.path, words, "a word is empty")
        return found

    later.expect(words)
    values = from_json(container.text(_STATISTICS.format(words)))
    statistics = msgspec.convert(values["statistics"], CorpusStatistics)
    skipped = [msgspec.convert(dict(zip(_SKIPPED, word, strict=True)), SkippedWord) for word in values["skipped"]]
    if not _are_possible(statistics, skipped):
        raise damaged(container.path, _STATISTICS.format(words), "no corpus can have such values")
    return WordCounts(
        _read_once(load),
        counts,
        normalizers.from_spec(normalizer),
        pre_tokenizers.from_spec(pre_tokenizer),
        statistics,
        skipped,
    )


def _read_once(read: Callable[[], list[str]]) -> Callable[[], list[str]]:
    """Return a function that reads only the first time, whichever threads call it, and raises its error each time."""
    reading = threading.Lock()
    results: list[list[str] | StudioError] = []

    def words() -> list[str]:
        with reading:
            if not results:
                try:
                    results.append(read())
                except StudioError as error:
                    results.append(error)
        if isinstance(results[0], StudioError):
            raise results[0]
        return results[0]

    return words


def _are_possible(statistics: CorpusStatistics, skipped: list[SkippedWord]) -> bool:
    """Return whether the values are possible: no number is negative, and if words were skipped, some are named."""
    records: list[Any] = [statistics, *statistics.files, *skipped]
    values = [getattr(record, field.name) for record in records for field in dataclasses.fields(record)]
    numbers = [value for value in (*values, *statistics.spelled_out.values()) if isinstance(value, int)]
    return bool(skipped or not statistics.skipped_words) and all(0 <= number <= LARGEST_COUNT for number in numbers)


def head_of_counts(counts: WordCounts, corpus: ProjectCorpus, settings: ProjectSettings) -> CountsHead:
    """Return the record of a corpus' word counts."""
    return CountsHead(
        normalizer=normalizers.to_spec(counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(counts.pre_tokenizer),
        corpus=_digest(corpus, settings.max_word_length),
    )


def read_corpus_counts(
    later: LaterReads, head: CountsHead, corpus: ProjectCorpus, settings: ProjectSettings
) -> WordCounts | None:
    """Return the word counts of a corpus; None if they belong to another corpus or were counted differently.

    This happens if a program that does not support word counts kept them although it changed the corpus.

    Raises
    ------
    StudioError
        If they are damaged; if the words are, when those are needed.
    """
    is_same_pipeline = (head.normalizer, head.pre_tokenizer) == (settings.normalizer, settings.pre_tokenizer)
    if not is_same_pipeline or head.corpus != _digest(corpus, settings.max_word_length):
        return None
    return read_counts(later, CORPUS_WORDS, head.normalizer, head.pre_tokenizer)


def _digest(corpus: ProjectCorpus, max_word_length: int) -> str:
    """Return a hash of what a corpus is counted from: its text, or its files as they were when last read.

    The location of the files is excluded: they may have been moved since.
    """
    result = hashlib.sha256(f"{max_word_length}\0".encode())
    if corpus.text is not None:
        result.update(b"text\0" + corpus.text.encode("utf-8", "surrogatepass"))
    for reference in corpus.files:
        file = reference.file
        about = [file.kind, file.column, file.encoding, file.errors, reference.size, reference.modified_ns]
        result.update(json.dumps(about).encode() + b"\0")
    return result.hexdigest()


def _is_sum_small(numbers: np.ndarray[Any, Any]) -> bool:
    """Return whether the sum of numbers fits in an int64."""
    return float(numbers.sum(dtype=np.float64)) < LARGEST_COUNT / 2 or sum(numbers.tolist()) <= LARGEST_COUNT


def _statistics_json(counts: WordCounts) -> str:
    skipped = [dataclasses.astuple(word) for word in counts.skipped]
    return json.dumps({"statistics": dataclasses.asdict(counts.statistics), "skipped": skipped})


_TOKENS = "tokens"
_TOKEN_PARTS = (f"{_TOKENS}/text", f"{_TOKENS}/lengths")
_COLUMN = "merges/{}"
_PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS = "places/counts", "places/left_lengths", "places/positions"
NAMES = frozenset(
    [*_TOKEN_PARTS, _PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS, *part_names(_RUN_WORDS), *map(_COLUMN.format, COLUMNS)]
)
"""The names of all parts that a run has."""
_PLACES = "places"
_USER = "user"
_REASONS = (None, _USER, *get_args(StopReason))  # a newer program may have more; the training has ended all the same


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that holds the first `merges` merges of a history, with these words, in parts with these hashes."""

    path: str
    merges: int
    counts: weakref.ref[WordCounts]
    hashes: dict[str, bytes]

    def opened(self, path: str | os.PathLike[str]) -> Container | None:
        """Return the file, found at `path`, opened; None if it is no longer that file."""
        try:
            container = Container(path)
        except StudioError:
            return None
        if {name: part.hash for name, part in container.parts.items() if name in NAMES} == self.hashes:
            return container
        container.close()
        return None


_copies: weakref.WeakKeyDictionary[MergeHistory, _Copy] = weakref.WeakKeyDictionary()
"""The file that last held each history. A history is only appended to: its first merges never change."""


def note_copy(path: str | os.PathLike[str], run: ProjectRun, parts: Mapping[str, Part]) -> None:
    """Remember that the file at `path` holds a run, in these parts."""
    hashes = {name: part.hash for name, part in parts.items() if name in NAMES}
    _copies[run.history] = _Copy(os.path.realpath(path), run.merge_count, weakref.ref(run.counts), hashes)


def link_copy(run: ProjectRun, path: Path) -> bool:
    """Give the file that holds a run already the name `path` too; return False if there is none, or no way.

    A project file is replaced, never changed: the run is still there under the new name when the old one is gone.
    """
    copy = _copy_of(run)
    if copy is None:
        return False
    try:
        os.link(copy.path, path)
    except (OSError, NotImplementedError):  # such as from one disk to another
        return False
    container = copy.opened(path)
    if container is None:
        path.unlink()
        return False
    container.close()
    return True


def _copy_of(run: ProjectRun) -> _Copy | None:
    copy = _copies.get(run.history)
    return copy if copy and copy.merges == run.merge_count and copy.counts() is run.counts else None


class WrittenRun:
    """A run being written to a file: `head` for the records, and its parts one by one.

    Parameters
    ----------
    run
        The run. Merges appended to its history from now on are not included; `run`, the attribute, says so.

    Raises
    ------
    StudioError
        If its normalizer or pre-tokenizer cannot be written to a file.
    """

    def __init__(self, run: ProjectRun) -> None:
        self.run = replace(run, merges=run.merge_count)
        self._table = table = table_of(run.history, self.run.merges)
        copy = None if run.history.is_damaged else _copy_of(self.run)
        self._copy = None if copy is None else copy.opened(copy.path)
        self.head = RunHead(
            config=run.config.to_dict(),
            first_config=table.config.to_dict(),
            normalizer=normalizers.to_spec(run.counts.normalizer),
            pre_tokenizer=pre_tokenizers.to_spec(run.counts.pre_tokenizer),
            initial_size=table.initial_size,
            symbols_after=table.symbols_after,
            word_count=table.word_count,
            total_words=table.total_words,
            stop_reason=run.stop_reason,
            corpus_name=run.corpus_name,
            is_of_corpus=run.is_of_corpus,
            is_wanted=run.is_wanted,
        )

    @cached_property
    def _places(self) -> HistoryPlaces:
        return places_of(self.run.history, self.run.merges)

    @property
    def work(self) -> int:
        """The approximate size of the parts in bytes."""
        places = len(self._places.positions) if self._copy is None else self._copy.parts[_POSITIONS].n
        return 45 * self.run.merge_count + 4 * places + words_work(self.run.counts)

    def parts(self) -> Iterator[PartContent | PackedPart]:
        """Yield the parts, copied from the file that has them, or created on demand."""
        columns = self._table.columns
        for name in COLUMNS:
            yield from self._copied(_COLUMN.format(name)) or (array_part(_COLUMN.format(name), columns[name]),)
        yield from self._copied(*_TOKEN_PARTS) or strings_parts(_TOKENS, self._table.tokens)
        yield from self._copied(*part_names(_RUN_WORDS)) or words_parts(_RUN_WORDS, self.run.counts)
        yield from self._copied(_PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS) or self._places_parts()
        if self._copy is not None:
            self._copy.close()  # on Windows, no file can be replaced while it is open

    def _places_parts(self) -> Iterator[PartContent]:
        yield array_part(_PLACE_COUNTS, np.asarray(self._places.position_counts))
        yield array_part(_LEFT_LENGTHS, np.asarray(self._places.left_lengths))
        yield array_part(_POSITIONS, self._places.positions)

    def _copied(self, *names: str) -> list[PackedPart]:
        """Return these parts as they are in the file that has them; none if no file has, or they are damaged there."""
        if self._copy is None:
            return []
        try:
            return [self._copy.packed(name) for name in names if name in self._copy.parts]
        except StudioError:
            return []


def read_run(later: LaterReads, head: RunHead) -> ProjectRun:
    """Return the run of a project; its file stays open until words and places are in memory.

    Raises
    ------
    StudioError
        If what is read now is damaged; if words or places are, when those are needed.
    """
    counts = _read_counts(later, head)
    later.expect(_PLACES)

    def explained(error: StudioError) -> StudioError:
        return error if "path" in error.values else damaged(later.container.path, "its merges", error.what)

    try:
        table = _read_table(later.container, head)
        history = restored_history(table, lambda: (counts, _places(later)), explained)
    except StudioError as error:
        raise explained(error) from error
    run = ProjectRun(
        counts=counts,
        config=_config(later.container, head),
        history=history,
        stop_reason=head.stop_reason if head.stop_reason in _REASONS else _USER,
        corpus_name=head.corpus_name,
        is_of_corpus=head.is_of_corpus,
        is_wanted=head.is_wanted,
    )
    note_copy(later.container.path, run, later.container.parts)
    return run


def check_head(later: LaterReads, head: RunHead) -> None:
    """Check what `read_run` reads of a run except its merges and tokens.

    Raises
    ------
    StudioError
        If something is damaged.
    """
    _read_counts(later, head)
    _config(later.container, head)


def _config(container: Container, head: RunHead) -> TrainingConfig:
    """Return the run's present settings, which must equal its first ones except for the limits."""
    config, first = TrainingConfig.from_dict(head.config), TrainingConfig.from_dict(head.first_config)
    limits = {name: getattr(first, name) for name in LIMITS}
    if replace(config, **limits) != first:
        raise damaged(container.path, "its records", "the settings are not those that the training started with")
    return config


def _places(later: LaterReads) -> HistoryPlaces:
    container = later.container
    counts, lengths, positions = (container.array(name, "i") for name in (_PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS))
    later.note_read(_PLACES)
    if positions.dtype.itemsize > 4 or not _is_sum_small(counts):
        raise damaged(container.path, _POSITIONS)
    return HistoryPlaces(counts.astype(np.int64), lengths.astype(np.int64), positions.astype(np.int32))


def _read_counts(later: LaterReads, head: RunHead) -> WordCounts:
    counts = read_counts(later, _RUN_WORDS, head.normalizer, head.pre_tokenizer)
    if head.word_count > len(counts) or head.total_words > counts.total:
        raise damaged(later.container.path, f"{_RUN_WORDS}/counts", "there are too few words")
    return counts


def _read_table(container: Container, head: RunHead) -> HistoryTable:
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for name, dtype in COLUMNS.items():
        kind = np.dtype(dtype).kind
        columns[name] = container.array(_COLUMN.format(name), kind).astype(dtype, copy=False)
        if kind == "i" and len(columns[name]) and columns[name].min() < 0:
            raise damaged(container.path, _COLUMN.format(name), "a number is negative")
    config = TrainingConfig.from_dict(head.first_config)
    tokens = container.strings(_TOKENS, head.initial_size + int(np.count_nonzero(columns["is_new"])))
    if tuple(tokens[: len(config.special_tokens)]) != config.special_tokens:
        raise damaged(container.path, _TOKENS, "they do not begin with the special tokens")
    return HistoryTable(
        config, tokens, head.initial_size, columns, head.symbols_after, head.word_count, head.total_words
    )
