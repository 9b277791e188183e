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
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec
import numpy as np

from wordpiece_studio.corpus.counts import LARGEST_COUNT, CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_history import LibraryHistory
from wordpiece_studio.libraries.library_training import LibraryRun, Repetition, check_library_settings
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.storage.project.container_reading import Container
from wordpiece_studio.storage.project.container_writing import array_part, renamed, strings_parts, text_part
from wordpiece_studio.storage.project.contents import ProjectRun
from wordpiece_studio.storage.project.layout import PART, damaged
from wordpiece_studio.storage.project.records import CountsHead, LibraryRunHead, RunHead, from_json
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.engine import StopReason
from wordpiece_studio.training.history import COLUMNS, HistoryTable, table_of
from wordpiece_studio.training.stored_history import HistoryPlaces, places_of, restored_history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from wordpiece_studio.libraries.library_training import LibraryTrainer
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
    """Return word counts whose words are read when first needed."""
    container = later.container
    name = _COUNTS.format(words)
    counts = container.array(name, "i").astype(np.int64)
    if len(counts) and (counts.min() < 1 or not _is_sum_small(counts)):
        raise damaged(container.path, PART, part=name)

    def load() -> list[str]:
        found = container.strings(words, len(counts))
        later.note_read(words)
        if not all(found):
            raise damaged(container.path, "{path} is damaged at {part}: a word is empty", part=words)
        return found

    later.expect(words)
    values = from_json(container.text(_STATISTICS.format(words)))
    statistics = msgspec.convert(values["statistics"], CorpusStatistics)
    skipped = [msgspec.convert(dict(zip(_SKIPPED, word, strict=True)), SkippedWord) for word in values["skipped"]]
    if not _are_possible(statistics, skipped):
        what = "{path} is damaged at {part}: no corpus can have such values"
        raise damaged(container.path, what, part=_STATISTICS.format(words))
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
_WORD_NAMES = frozenset(part_names(_RUN_WORDS))
_FILE, _LEARNED = "file", "learned"
LIBRARY_RUN_PARTS = NAMES | {_FILE, _LEARNED}
"""The names of all parts that a run of another library may have."""
_PLACES = "places"
_USER = "user"
_REASONS = (None, _USER, "peer", *get_args(StopReason))
"""Why a training ended; of others, which a newer program may have, only that it did."""


def prefix_of(place: int, *, is_library_run: bool = False) -> str:
    """Return what the names of the parts of a run begin with; `place`: its place among our runs, or those of libraries.

    >>> prefix_of(0), prefix_of(2), prefix_of(0, is_library_run=True)
    ('', 'runs/2/', 'peers/0/')
    """
    if is_library_run:
        return f"peers/{place}/"
    return f"runs/{place}/" if place else ""


def part_name(name: str, place: int, words: int, *, is_library_run: bool = False) -> str:
    """Return the full name of a part of the run at `place`, whose words are those of the run at `words`."""
    return prefix_of(words if name in _WORD_NAMES else place, is_library_run=is_library_run) + name


def text_name(number: int, *, is_library_run: bool = False) -> str:
    """Return the name of a part that is a text which runs were trained on."""
    return f"{'peers' if is_library_run else 'runs'}/text/{number}"


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that holds the first `merges` merges of a history, with these words, in parts with these hashes.

    `names`: the full name of each part there.
    """

    path: str
    merges: int
    counts: weakref.ref[WordCounts]
    names: dict[str, str]
    hashes: dict[str, bytes]

    def opened(self, path: str | os.PathLike[str]) -> Container | None:
        """Return the file, found at `path`, opened; None if it is no longer that file."""
        try:
            container = Container(path)
        except StudioError:
            return None
        if _hashes(container.parts, self.names) == self.hashes:
            return container
        container.close()
        return None


_copies: weakref.WeakKeyDictionary[MergeHistory, _Copy] = weakref.WeakKeyDictionary()
"""The file that last held each history. A history is only appended to: its first merges never change."""


def note_copy(
    path: str | os.PathLike[str], run: ProjectRun, parts: Mapping[str, Part], place: int = 0, words: int = 0
) -> None:
    """Remember that the file at `path` holds a run at `place`, with the words of the run at `words`, in these parts."""
    is_library_run = run.library_run is not None
    names = {
        name: part_name(name, place, words, is_library_run=is_library_run)
        for name in (LIBRARY_RUN_PARTS if is_library_run else NAMES)
    }
    hashes = _hashes(parts, names)
    _copies[run.history] = _Copy(os.path.realpath(path), run.merge_count, weakref.ref(run.counts), names, hashes)


def _hashes(parts: Mapping[str, Part], names: Mapping[str, str]) -> dict[str, bytes]:
    return {name: parts[full].hash for name, full in names.items() if full in parts}


def link_copy(runs: Sequence[ProjectRun], path: Path) -> bool:
    """Give the file that holds these runs already the name `path` too; return False if there is none, or no way.

    A project file is replaced, never changed: the runs are still there under the new name when the old one is gone.
    """
    copies = [_copy_of(run) for run in runs]
    copy = copies[0] if copies else None
    if copy is None or any(each is None or each.path != copy.path for each in copies):
        return False
    try:
        os.link(copy.path, path)
    except (OSError, NotImplementedError):  # such as from one disk to another
        return False
    for each in filter(None, copies):
        container = each.opened(path)
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
    place, words
        Its place among the runs of the file, and that of the run whose words it shares, or its own.
    text
        The number of the text that it was trained on.
    """

    def __init__(self, run: ProjectRun, place: int = 0, words: int = 0, text: int | None = None) -> None:
        self.run = replace(run, merges=run.merge_count)
        self.place, self.words = place, words
        self._is_library_run = run.library_run is not None
        self._prefix = prefix_of(place, is_library_run=self._is_library_run)
        self._table = table = table_of(run.history, self.run.merges)
        copy = None if run.history.is_damaged else _copy_of(self.run)
        self._copy = None if copy is None else copy.opened(copy.path)
        self._held = {} if copy is None else copy.names
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
            number=run.number,
            words=words,
            text=text,
        )

    def shares_words(self, parts: Mapping[str, Part]) -> RunHead:
        """Return the record with the hash of the words that it shares; `parts`: those of the file."""
        if self.words == self.place:
            return self.head
        found = parts[self._name(_COUNTS.format(_RUN_WORDS))]
        return msgspec.structs.replace(self.head, words_hash=found.hash.hex())

    def library_run_head(
        self, parts: Mapping[str, Part], corpus: ProjectCorpus, settings: ProjectSettings
    ) -> LibraryRunHead:
        """Return the record of a run of another library; `corpus`, `settings`: those of the project."""
        library_run = self.run.library_run
        assert library_run is not None
        repetition = library_run.repetition
        return LibraryRunHead(
            run=self.shares_words(parts),
            trainer=library_run.trainer,
            config=library_run.config.to_dict(),
            has_steps=self.run.history.has_steps,
            repetition=None if repetition is None else (repetition.tokens, repetition.ids, repetition.scores),
            corpus=_digest(corpus, settings.max_word_length) if self.run.is_of_corpus else "",
        )

    @cached_property
    def _places(self) -> HistoryPlaces:
        return places_of(self.run.history, self.run.merges)

    @property
    def work(self) -> int:
        """The approximate size of the parts in bytes."""
        own = words_work(self.run.counts) if self.words == self.place else 0
        own += 0 if self.run.library_run is None else len(self.run.library_run.content)
        if not self.run.history.has_steps:
            return own
        held = None if self._copy is None else self._copy.parts.get(self._held_name(_POSITIONS))
        places = len(self._places.positions) if held is None else held.n
        return 45 * self.run.merge_count + 4 * places + own

    def parts(self) -> Iterator[PartContent | PackedPart]:
        """Yield the parts, copied from the file that has them, or created on demand."""
        columns, prefix = self._table.columns, self._prefix
        has_steps = self.run.history.has_steps
        for part in COLUMNS if has_steps else ():
            name = _COLUMN.format(part)
            yield from self._copied(name) or (array_part(prefix + name, columns[part]),)
        if has_steps:
            yield from self._copied(*_TOKEN_PARTS) or strings_parts(prefix + _TOKENS, self._table.tokens)
        if self.words == self.place:
            yield from self._copied(*part_names(_RUN_WORDS)) or words_parts(prefix + _RUN_WORDS, self.run.counts)
        if has_steps:
            yield from self._copied(_PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS) or self._places_parts()
        if self.run.library_run is not None:
            yield from self._copied(_FILE, _LEARNED) or self._library_parts(self.run.library_run)
        if self._copy is not None:
            self._copy.close()  # on Windows, no file can be replaced while it is open

    def _library_parts(self, library_run: LibraryRun) -> Iterator[PartContent]:
        for name, content in ((_FILE, library_run.content), (_LEARNED, msgspec.msgpack.encode(library_run.learned))):
            yield array_part(self._prefix + name, np.frombuffer(content, dtype=np.int8))

    def _places_parts(self) -> Iterator[PartContent]:
        prefix = self._prefix
        yield array_part(prefix + _PLACE_COUNTS, np.asarray(self._places.position_counts))
        yield array_part(prefix + _LEFT_LENGTHS, np.asarray(self._places.left_lengths))
        yield array_part(prefix + _POSITIONS, self._places.positions)

    def _held_name(self, name: str) -> str:
        """Return the full name of a part in the file that has this run already."""
        return self._held[name]

    def _name(self, name: str) -> str:
        return part_name(name, self.place, self.words, is_library_run=self._is_library_run)

    def _copied(self, *names: str) -> list[PackedPart]:
        """Return these parts as they are in the file that has them; none if no file has, or they are damaged there."""
        if self._copy is None:
            return []
        held = {name: self._held_name(name) for name in names if self._held_name(name) in self._copy.parts}
        try:
            packed = [(name, self._copy.packed(full)) for name, full in held.items()]
        except StudioError:
            return []
        return [renamed(part, self._name(name)) for name, part in packed]


class StoredRuns:
    """Reads our runs in a project; its file stays open until words and places of all are in memory.

    Parameters
    ----------
    later
        The file.
    heads
        The records of all runs, in the order of their places.
    """

    is_library_run = False

    def __init__(self, later: LaterReads, heads: Sequence[RunHead]) -> None:
        self._later = later
        self._heads = heads
        self._words: dict[int, WordCounts] = {}

    def all(self) -> list[ProjectRun]:
        """Return the runs."""
        return [self._run(place, head) for place, head in enumerate(self._heads) if self._has_words(place)]

    def check(self) -> None:
        """Check what `all` reads except merges and tokens."""
        for place, head in enumerate(self._heads):
            self._check(place, head)

    def _check(self, place: int, head: RunHead) -> None:
        self._counts(place, head)
        _config(self._later.container, head)

    def _has_words(self, place: int) -> bool:
        """Return whether the words of a run are those that it was saved with.

        An older program keeps runs that it does not know, and may replace the words that they share with the first.
        """
        head = self._heads[place]
        if head.words == place:
            return True
        part = self._later.container.parts.get(self._counts_name(head.words))
        return head.words < place and part is not None and part.hash.hex() == head.words_hash

    def _counts(self, place: int, head: RunHead) -> WordCounts:
        if head.words not in self._words:
            words = prefix_of(head.words, is_library_run=self.is_library_run) + _RUN_WORDS
            self._words[head.words] = read_counts(self._later, words, head.normalizer, head.pre_tokenizer)
        counts = self._words[head.words]
        if head.word_count > len(counts) or head.total_words > counts.total:
            name = self._counts_name(head.words)
            what = "{path} is damaged at {part}: there are too few words"
            raise damaged(self._later.container.path, what, part=name)
        return counts

    def _counts_name(self, words: int) -> str:
        return part_name(_COUNTS.format(_RUN_WORDS), words, words, is_library_run=self.is_library_run)

    def _run(self, place: int, head: RunHead) -> ProjectRun:
        run = self._read(place, head, self._counts(place, head))
        note_copy(self._later.container.path, run, self._later.container.parts, place, head.words)
        return run

    def _read(self, place: int, head: RunHead, counts: WordCounts) -> ProjectRun:
        return self._run_of(head, counts, _read_history(self._later, head, counts, prefix_of(place)))

    def _run_of(self, head: RunHead, counts: WordCounts, history: MergeHistory) -> ProjectRun:
        container = self._later.container
        return ProjectRun(
            counts=counts,
            config=_config(container, head),
            history=history,
            stop_reason=head.stop_reason if head.stop_reason in _REASONS else _USER,
            corpus_name=head.corpus_name,
            is_of_corpus=head.is_of_corpus,
            is_wanted=head.is_wanted,
            number=head.number,
            text=None
            if head.text is None
            else container.text(text_name(head.text, is_library_run=self.is_library_run)),
        )


class StoredLibraryRuns(StoredRuns):
    """Reads the runs of other libraries in a project.

    Parameters
    ----------
    later, heads
        As for `StoredRuns`.
    corpus, settings
        Those of the project.
    """

    is_library_run = True

    def __init__(
        self, later: LaterReads, heads: Sequence[LibraryRunHead], corpus: ProjectCorpus, settings: ProjectSettings
    ) -> None:
        super().__init__(later, [head.run for head in heads])
        self._libraries = heads
        self._pipeline = settings.normalizer, settings.pre_tokenizer
        self._digest = _digest(corpus, settings.max_word_length)

    def _check(self, place: int, head: RunHead) -> None:
        super()._check(place, head)
        self._library_run(place, self._counts(place, head))

    def _read(self, place: int, head: RunHead, counts: WordCounts) -> ProjectRun:
        more, prefix = self._libraries[place], prefix_of(place, is_library_run=True)
        library_run = self._library_run(place, counts)
        history: MergeHistory = LibraryHistory(
            library_run, counts, None, head.symbols_after, partial(_without_words, library_run)
        )
        if more.has_steps:
            history = _read_history(self._later, head, counts, prefix)
        if history.vocabulary(len(history)).tokens != list(library_run.tokens):
            raise damaged(self._later.container.path, PART, part=prefix + _LEARNED)
        is_of_corpus = (more.corpus, head.normalizer, head.pre_tokenizer) == (self._digest, *self._pipeline)
        return replace(self._run_of(head, counts, history), is_of_corpus=is_of_corpus, library_run=library_run)

    def _library_run(self, place: int, counts: WordCounts) -> LibraryRun:
        return _read_library_run(
            self._later.container, self._libraries[place], prefix_of(place, is_library_run=True), counts
        )


def _read_library_run(container: Container, head: LibraryRunHead, prefix: str, counts: WordCounts) -> LibraryRun:
    content, learned_bytes = (container.array(prefix + name, "i") for name in (_FILE, _LEARNED))
    learned = msgspec.msgpack.decode(learned_bytes.tobytes(), type=Learned)
    config, tokens = TrainingConfig.from_dict(head.config, counts.pre_tokenizer), learned.tokens
    trainer = cast("LibraryTrainer", head.trainer)  # which is checked
    check_library_settings(trainer, config)
    if tokens[: len(config.special_tokens)] != config.special_tokens or "" in tokens or not tokens:
        raise damaged(container.path, PART, part=prefix + _LEARNED)
    repetition = None if head.repetition is None else Repetition(*head.repetition)
    return LibraryRun(trainer, config, counts, learned, content.tobytes(), repetition)


def _without_words(library_run: LibraryRun, error: StudioError) -> StudioError:
    """Return the error for a run of a library that cannot run what it trained."""
    return StudioError(
        "The words of the run trained with {trainer} cannot be shown: {reason}",
        "It stays in the project. Install the library if it is missing, else train again.",
        trainer=library_run.trainer,
        reason=error.what,
    )


def _read_history(later: LaterReads, head: RunHead, counts: WordCounts, prefix: str) -> MergeHistory:
    later.expect(prefix + _PLACES)

    def explained(error: StudioError) -> StudioError:
        if "path" in error.values:
            return error
        return damaged(later.container.path, "{path} is damaged at its merges: {reason}", reason=error.what)

    try:
        table = _read_table(later.container, head, prefix)
        return restored_history(table, lambda: (counts, _places(later, prefix)), explained)
    except StudioError as error:
        raise explained(error) from error


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


def _places(later: LaterReads, prefix: str) -> HistoryPlaces:
    container = later.container
    names = (prefix + name for name in (_PLACE_COUNTS, _LEFT_LENGTHS, _POSITIONS))
    counts, lengths, positions = (container.array(name, "i") for name in names)
    later.note_read(prefix + _PLACES)
    if positions.dtype.itemsize > 4 or not _is_sum_small(counts):
        raise damaged(container.path, PART, part=prefix + _POSITIONS)
    return HistoryPlaces(counts.astype(np.int64), lengths.astype(np.int64), positions.astype(np.int32))


def _read_table(container: Container, head: RunHead, prefix: str) -> HistoryTable:
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for name, dtype in COLUMNS.items():
        kind = np.dtype(dtype).kind
        part = prefix + _COLUMN.format(name)
        columns[name] = container.array(part, kind).astype(dtype, copy=False)
        if kind == "i" and len(columns[name]) and columns[name].min() < 0:
            raise damaged(container.path, "{path} is damaged at {part}: a number is negative", part=part)
    config = _config_of(head, head.first_config)
    tokens = container.strings(prefix + _TOKENS, head.initial_size + int(np.count_nonzero(columns["is_new"])))
    if tuple(tokens[: len(config.special_tokens)]) != config.special_tokens:
        what = "{path} is damaged at {part}: they do not begin with the special tokens"
        raise damaged(container.path, what, part=prefix + _TOKENS)
    return HistoryTable(
        config, tokens, head.initial_size, columns, head.symbols_after, head.word_count, head.total_words
    )
