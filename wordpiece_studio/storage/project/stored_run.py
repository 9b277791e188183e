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
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import msgspec
import numpy as np

from wordpiece_studio.corpus.counts import LARGEST_COUNT, CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import LibraryHistory, LibraryRun, Repetition, check_library_settings
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.storage.project.container import Container, array_part, damaged, renamed, strings_parts, text_part
from wordpiece_studio.storage.project.contents import CountsHead, LibraryRunHead, ProjectRun, RunHead, from_json
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.engine import StopReason
from wordpiece_studio.training.history import COLUMNS, HistoryTable, table_of
from wordpiece_studio.training.segmentation import HistoryPlaces
from wordpiece_studio.training.stored_history import restored_history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from wordpiece_studio.libraries.library_training import LibraryTrainer
    from wordpiece_studio.storage.project.container import PackedPart, Part
    from wordpiece_studio.storage.project.contents import ProjectCorpus, ProjectSettings
    from wordpiece_studio.training.history import MergeHistory


_RUN_WORDS, CORPUS_WORDS = "words", "corpus/words"
"""Prefixes of the part names."""
_COUNTS, _STATISTICS = "{}/counts", "{}/statistics"
_BYTES_A_WORD = 12  # approximately, before compression
_SKIPPED = tuple(field.name for field in dataclasses.fields(SkippedWord))


def part_names(words: str) -> tuple[str, ...]:
    return (_COUNTS.format(words), _STATISTICS.format(words), f"{words}/text", f"{words}/lengths")


def words_work(counts: WordCounts) -> int:
    return _BYTES_A_WORD * len(counts)


def words_parts(words: str, counts: WordCounts) -> Iterator[PackedPart]:
    yield array_part(_COUNTS.format(words), counts.counts)
    skipped = [dataclasses.astuple(word) for word in counts.skipped]
    statistics = json.dumps({"statistics": dataclasses.asdict(counts.statistics), "skipped": skipped})
    yield text_part(_STATISTICS.format(words), statistics)
    yield from strings_parts(words, counts.words)


def read_counts(
    container: Container, words: str, normalizer: dict[str, Any], pre_tokenizer: dict[str, Any]
) -> WordCounts:
    """Return word counts whose words are read when first needed."""
    name = _COUNTS.format(words)
    counts = container.array(name, "i").astype(np.int64)
    if len(counts) and (counts.min() < 1 or not _is_sum_small(counts)):
        raise damaged(container.path, part=name)

    reading = threading.Lock()

    @cache
    def read() -> list[str]:
        found = container.strings(words, len(counts))
        if not all(found):
            raise damaged(container.path, "{path} is damaged at {part}: a word is empty", part=words)
        container.note_read(words)
        return found

    def read_once() -> list[str]:
        with reading:  # whichever threads need them
            return read()

    container.expect(words)
    values = from_json(container.text(_STATISTICS.format(words)))
    statistics = msgspec.convert(values["statistics"], CorpusStatistics)
    skipped = [msgspec.convert(dict(zip(_SKIPPED, word, strict=True)), SkippedWord) for word in values["skipped"]]
    if not _are_possible(statistics, skipped):
        what = "{path} is damaged at {part}: no corpus can have such values"
        raise damaged(container.path, what, part=_STATISTICS.format(words))
    steps = normalizers.from_spec(normalizer), pre_tokenizers.from_spec(pre_tokenizer)
    return WordCounts(read_once, counts, *steps, statistics, skipped)


def _are_possible(statistics: CorpusStatistics, skipped: list[SkippedWord]) -> bool:
    """Return whether the values are possible: no number is negative, and if words were skipped, some are named."""
    records: list[Any] = [statistics, *statistics.files, *skipped]
    values = [getattr(record, field.name) for record in records for field in dataclasses.fields(record)]
    numbers = [value for value in (*values, *statistics.spelled_out.values()) if isinstance(value, int)]
    return bool(skipped or not statistics.skipped_words) and all(0 <= number <= LARGEST_COUNT for number in numbers)


def read_corpus_counts(
    container: Container, head: CountsHead, corpus: ProjectCorpus, settings: ProjectSettings
) -> WordCounts | None:
    """Return the word counts of a corpus; None if they belong to another corpus or were counted differently.

    This happens if a program that does not support word counts kept them although it changed the corpus.
    """
    if not _is_counted_so(head.corpus, head, corpus, settings):
        return None
    return read_counts(container, CORPUS_WORDS, head.normalizer, head.pre_tokenizer)


def _is_counted_so(digest: str, head: CountsHead | RunHead, corpus: ProjectCorpus, settings: ProjectSettings) -> bool:
    """Return whether words, counted from what has this `corpus_digest`, are those that the settings give now."""
    now = (corpus_digest(corpus, settings.max_word_length), settings.normalizer, settings.pre_tokenizer)
    return (digest, head.normalizer, head.pre_tokenizer) == now


def corpus_digest(corpus: ProjectCorpus, max_word_length: int) -> str:
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
    return float(numbers.sum(dtype=np.float64)) < LARGEST_COUNT / 2 or sum(numbers.tolist()) <= LARGEST_COUNT


_TOKENS = "tokens"
_TOKEN_PARTS = (f"{_TOKENS}/text", f"{_TOKENS}/lengths")
_COLUMN = "merges/{}"
_POSITIONS = "places/positions"
_PLACE_PARTS = ("places/counts", "places/left_lengths", _POSITIONS)
_FILE, _LEARNED = "file", "learned"
_RUN_COUNTS = _COUNTS.format(_RUN_WORDS)
_WORD_PARTS = part_names(_RUN_WORDS)
_PARTS = (*_TOKEN_PARTS, *_PLACE_PARTS, *_WORD_PARTS, *map(_COLUMN.format, COLUMNS))
_PLACES = "places"
_OF_TABLE = ("initial_size", "symbols_after", "word_count", "total_words")
_OF_RUN = ("stop_reason", "corpus_name", "is_of_corpus", "is_wanted", "number")
"""What the record of a run has from its history and from the run itself."""
_USER = "user"
_REASONS = (None, _USER, "peer", *get_args(StopReason))
"""Why a training ended; of others, which a newer program may have, only that it did."""


RunKind = Literal["runs", "peers"]
"""Ours, or those of other libraries, which a program before format 1.4 keeps without showing them."""


def kind_of(run: ProjectRun) -> RunKind:
    return "runs" if run.library_run is None else "peers"


def _prefix_of(place: int, kind: RunKind) -> str:
    return f"{kind}/{place}/" if place or kind == "peers" else ""


def run_parts(place: int, words: int, kind: RunKind = "runs") -> dict[str, str]:
    """Return the full names of all parts that a run may have.

    `place`, `words`: its place among the runs of its kind in the file, and that of the run whose words it shares.

    >>> [run_parts(*places)["places/counts"] for places in ((0, 0), (2, 0))], run_parts(2, 0)["words/counts"]
    (['places/counts', 'runs/2/places/counts'], 'words/counts')
    """
    own, shared = _prefix_of(place, kind), _prefix_of(words, kind)
    names = (*_PARTS, _FILE, _LEARNED) if kind == "peers" else _PARTS
    return {name: (shared if name in _WORD_PARTS else own) + name for name in names}


def text_name(number: int, kind: RunKind) -> str:
    return f"{kind}/text/{number}"


@dataclass(frozen=True, slots=True)
class _Copy:
    """A file that holds the first `merges` merges of a history, with these words, in these parts."""

    path: str
    merges: int
    counts: weakref.ref[WordCounts]
    parts: dict[str, Part]

    def opened(self, path: str | os.PathLike[str]) -> Container | None:
        """Return the file, found at `path`, opened; None if it is no longer that file."""
        try:
            container = Container(path)
        except StudioError:
            return None
        if all(container.parts.get(part.name) == part for part in self.parts.values()):
            return container
        container.close()
        return None


_copies: weakref.WeakKeyDictionary[MergeHistory, _Copy] = weakref.WeakKeyDictionary()
"""The file that last held each history. A history is only appended to: its first merges never change."""


def note_copy(path: str | os.PathLike[str], run: ProjectRun, parts: Mapping[str, Part], place: int, words: int) -> None:
    """Remember that the file at `path` holds a run at `place`, with the words of the run at `words`, in these parts."""
    names = run_parts(place, words, kind_of(run))
    held = {name: parts[full] for name, full in names.items() if full in parts}
    _copies[run.history] = _Copy(os.path.realpath(path), run.merge_count, weakref.ref(run.counts), held)


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
    """A run being written to a file: its parts one by one, and then its record.

    Merges appended to its history from now on are not included. `place`, `words`: its place among the runs of the file,
    and that of the run whose words it shares, or its own; `text`: the number of the text that it was trained on.
    """

    def __init__(self, run: ProjectRun, place: int, words: int, text: int | None) -> None:
        self.run = replace(run, merges=run.merge_count)
        self.place, self.words, self._text = place, words, text
        self._names = run_parts(place, words, kind_of(run))
        self._prefix = _prefix_of(place, kind_of(run))
        self._table = table_of(run.history, self.run.merges)
        copy = None if run.history.is_damaged else _copy_of(self.run)
        self._copy = None if copy is None else copy.opened(copy.path)
        self._held = {} if copy is None or self._copy is None else copy.parts

    def head(self, parts: Mapping[str, Part]) -> RunHead:
        run, table = self.run, self._table
        return RunHead(
            config=run.config.to_dict(),
            first_config=table.config.to_dict(),
            normalizer=normalizers.to_spec(run.counts.normalizer),
            pre_tokenizer=pre_tokenizers.to_spec(run.counts.pre_tokenizer),
            **{name: getattr(table, name) for name in _OF_TABLE},
            **{name: getattr(run, name) for name in _OF_RUN},
            words=self.words,
            words_hash="" if self.words == self.place else parts[self._names[_RUN_COUNTS]].hash.hex(),
            text=self._text,
        )

    def library_head(
        self, parts: Mapping[str, Part], corpus: ProjectCorpus, settings: ProjectSettings
    ) -> LibraryRunHead:
        library_run = self.run.library_run
        assert library_run is not None
        repetition = library_run.repetition
        return LibraryRunHead(
            run=self.head(parts),
            trainer=library_run.trainer,
            config=library_run.config.to_dict(),
            has_steps=self.run.history.has_steps,
            repetition=None if repetition is None else dataclasses.astuple(repetition),
            corpus=corpus_digest(corpus, settings.max_word_length) if self.run.is_of_corpus else "",
        )

    @cached_property
    def _places(self) -> HistoryPlaces:
        return self.run.history.places_until(self.run.merges)

    @property
    def work(self) -> int:
        own = words_work(self.run.counts) if self.words == self.place else 0
        own += 0 if self.run.library_run is None else len(self.run.library_run.content)
        if not self.run.history.has_steps:
            return own
        held = self._held.get(_POSITIONS)
        places = len(self._places.positions) if held is None else held.n
        return 45 * self.run.merge_count + 4 * places + own

    def parts(self) -> Iterator[PackedPart]:
        """Yield the parts, copied from the file that has them, or created on demand."""
        run = self.run
        if run.history.has_steps:
            for column, values in self._table.columns.items():
                name = _COLUMN.format(column)
                yield from self._copied(name) or self._arrays([(name, values)])
            yield from self._copied(*_TOKEN_PARTS) or strings_parts(self._prefix + _TOKENS, self._table.tokens)
        if self.words == self.place:
            yield from self._copied(*_WORD_PARTS) or words_parts(self._prefix + _RUN_WORDS, run.counts)
        if run.history.has_steps:
            yield from self._copied(*_PLACE_PARTS) or self._arrays(zip(_PLACE_PARTS, self._places, strict=True))
        if run.library_run is not None:
            contents = (run.library_run.content, msgspec.msgpack.encode(run.library_run.learned))
            arrays = zip((_FILE, _LEARNED), (np.frombuffer(each, dtype=np.int8) for each in contents), strict=True)
            yield from self._copied(_FILE, _LEARNED) or self._arrays(arrays)
        if self._copy is not None:
            self._copy.close()  # on Windows, no file can be replaced while it is open

    def _arrays(self, arrays: Iterable[tuple[str, NDArray[Any]]]) -> Iterator[PackedPart]:
        return (array_part(self._names[name], values) for name, values in arrays)

    def _copied(self, *names: str) -> list[PackedPart]:
        """Return these parts as they are in the file that has them; none if no file has, or they are damaged there."""
        if self._copy is None:
            return []
        try:
            held = [(name, self._copy.packed(self._held[name].name)) for name in names if name in self._held]
        except StudioError:
            return []
        return [renamed(part, self._names[name]) for name, part in held]


def read_runs(
    container: Container,
    heads: Sequence[RunHead | LibraryRunHead],
    corpus: ProjectCorpus,
    settings: ProjectSettings,
    *,
    with_merges: bool,
) -> list[ProjectRun]:
    """Return the runs of a project, whose words and places are read when first needed.

    `heads` are the records of all runs of a kind, in the order of their places. Without merges and tokens, everything
    else is checked, and no run is returned.
    """
    known: dict[int, WordCounts] = {}
    runs = []
    for place, each in enumerate(heads):
        library_head, head = (each, each.run) if isinstance(each, LibraryRunHead) else (None, each)
        kind: RunKind = "runs" if library_head is None else "peers"
        counts_name = run_parts(place, head.words, kind)[_RUN_COUNTS]
        counts = _words_of(container, known, place, head, counts_name)
        if counts is None:
            continue
        prefix = _prefix_of(place, kind)
        library_run, has_steps, is_of_corpus = None, True, head.is_of_corpus
        if library_head is not None:
            library_run = _read_library_run(container, library_head, prefix, counts)
            has_steps = library_head.has_steps
            is_of_corpus = _is_counted_so(library_head.corpus, head, corpus, settings)
        history = _history(container, head, counts, prefix, library_run, has_steps) if with_merges else None
        config = _config(container, head)
        if history is None:
            continue
        text = None if head.text is None else container.text(text_name(head.text, kind))
        kept: dict[str, Any] = {name: getattr(head, name) for name in _OF_RUN} | {"is_of_corpus": is_of_corpus}
        if head.stop_reason not in _REASONS:
            kept["stop_reason"] = _USER
        run = ProjectRun(counts=counts, config=config, history=history, text=text, library_run=library_run, **kept)
        note_copy(container.path, run, container.parts, place, head.words)
        runs.append(run)
    return runs


def _words_of(
    container: Container, known: dict[int, WordCounts], place: int, head: RunHead, counts_name: str
) -> WordCounts | None:
    """Return the words of a run, unless they are no longer those that it was saved with; `known`: by place.

    An older program keeps runs that it does not know, and may replace the words that they share with the first.
    """
    if head.words != place:
        part = container.parts.get(counts_name)
        if head.words > place or part is None or part.hash.hex() != head.words_hash:
            return None
    if head.words not in known:
        words = counts_name.removesuffix(_COUNTS.format(""))
        known[head.words] = read_counts(container, words, head.normalizer, head.pre_tokenizer)
    counts = known[head.words]
    if head.word_count > len(counts) or head.total_words > counts.total:
        raise damaged(container.path, "{path} is damaged at {part}: there are too few words", part=counts_name)
    return counts


def _history(
    container: Container,
    head: RunHead,
    counts: WordCounts,
    prefix: str,
    library_run: LibraryRun | None,
    has_steps: bool,
) -> MergeHistory:
    def explained(error: StudioError) -> StudioError:
        if "path" in error.values:
            return error
        return damaged(container.path, "{path} is damaged at its merges: {reason}", reason=error.what)

    history: MergeHistory
    if library_run is not None and not has_steps:
        without_words = partial(_without_words, library_run)
        history = LibraryHistory(library_run, counts, None, head.symbols_after, without_words)
    else:
        container.expect(prefix + _PLACES)
        try:
            table = _read_table(container, head, prefix)
            history = restored_history(table, lambda: (counts, _places(container, prefix)), explained)
        except StudioError as error:
            raise explained(error) from error
    if library_run is not None and history.vocabulary(len(history)).tokens != list(library_run.tokens):
        raise damaged(container.path, part=prefix + _LEARNED)
    return history


def _read_library_run(container: Container, head: LibraryRunHead, prefix: str, counts: WordCounts) -> LibraryRun:
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
    return StudioError(
        "The words of the run trained with {trainer} cannot be shown: {reason}",
        "It stays in the project. Install the library if it is missing, else train again.",
        trainer=library_run.trainer,
        reason=error.what,
    )


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
    counts, lengths, positions = (container.array(prefix + name, "i") for name in _PLACE_PARTS)
    container.note_read(prefix + _PLACES)
    if positions.dtype.itemsize > 4 or not _is_sum_small(counts):
        raise damaged(container.path, part=prefix + _POSITIONS)
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
    return HistoryTable(config, tokens, columns=columns, **{name: getattr(head, name) for name in _OF_TABLE})
