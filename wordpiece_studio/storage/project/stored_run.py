"""A training in a project file: its record, the rows of its history, and where its merges took place.

What the rows need is read when a project is opened; words and places are when they are first asked for. How the words
are written is in `stored_words`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container_writing import array_part, strings_parts
from wordpiece_studio.storage.project.contents import ProjectRun
from wordpiece_studio.storage.project.layout import damaged
from wordpiece_studio.storage.project.records import RunHead
from wordpiece_studio.storage.project.stored_words import (
    RUN_WORDS,
    is_sum_small,
    part_names,
    read_counts,
    words_parts,
    words_work,
)
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.engine import StopReason
from wordpiece_studio.training.history import COLUMNS
from wordpiece_studio.training.stored_history import (
    HistoryPlaces,
    HistoryTable,
    places_of,
    restored_history,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.project.container_reading import Container
    from wordpiece_studio.storage.project.container_writing import PartContent
    from wordpiece_studio.storage.project.stored_words import LaterReads

TOKENS = "tokens"
COLUMN = "merges/{}"
PLACE_COUNTS, LEFT_LENGTHS, POSITIONS = "places/counts", "places/left_lengths", "places/positions"
NAMES = frozenset(
    [f"{TOKENS}/text", f"{TOKENS}/lengths", PLACE_COUNTS, LEFT_LENGTHS, POSITIONS, *part_names(RUN_WORDS)]
    + [COLUMN.format(name) for name in COLUMNS]
)
"""The names of all parts that a run has."""
_PLACES = "places"
_USER = "user"
_REASONS = (None, _USER, *get_args(StopReason))  # a newer program may know more: the training has ended all the same


class WrittenRun:
    """A run on its way into a file: `head` for the records, and its parts one by one.

    Parameters
    ----------
    run
        The run. Merges that are appended to its history from now on do not belong to it.

    Raises
    ------
    StudioError
        If its normalizer or pre-tokenizer cannot be written to a file.
    """

    def __init__(self, run: ProjectRun) -> None:
        self._counts, self._history = run.counts, run.history
        self._end = len(run.history) if run.merges is None else run.merges
        self._table = table = table_of(run.history, self._end)
        self._places = places_of(run.history, self._end)
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

    @property
    def work(self) -> int:
        """About how many bytes the parts have."""
        return 45 * self._end + 4 * len(self._places.positions) + words_work(self._counts)

    def parts(self) -> Iterator[PartContent]:
        """Yield the parts, made when they are asked for."""
        table, counts = self._table, self._counts
        for name in COLUMNS:
            yield array_part(COLUMN.format(name), table.columns[name])
        yield from strings_parts(TOKENS, table.tokens)
        yield from words_parts(RUN_WORDS, counts)
        yield array_part(PLACE_COUNTS, np.asarray(self._places.position_counts))
        yield array_part(LEFT_LENGTHS, np.asarray(self._places.left_lengths))
        yield array_part(POSITIONS, self._places.positions)


def read_run(later: LaterReads, head: RunHead) -> ProjectRun:
    """Return the run of a project; its file is kept and read from until words and places are in memory.

    Raises
    ------
    StudioError
        If what is read now is damaged; when words and places are asked for, if those are.
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
    return ProjectRun(
        counts=counts,
        config=_config(later.container, head),
        history=history,
        stop_reason=head.stop_reason if head.stop_reason in _REASONS else _USER,
        corpus_name=head.corpus_name,
        is_of_corpus=head.is_of_corpus,
        is_wanted=head.is_wanted,
    )


def check_head(later: LaterReads, head: RunHead) -> None:
    """Check what `read_run` reads of a run but for its merges and tokens.

    Raises
    ------
    StudioError
        If something is damaged.
    """
    _read_counts(later, head)
    _config(later.container, head)


def _config(container: Container, head: RunHead) -> TrainingConfig:
    """Return the settings that the run has now: they are those that it began with but for the limits."""
    config, first = TrainingConfig.from_dict(head.config), TrainingConfig.from_dict(head.first_config)
    limits = {name: getattr(first, name) for name in LIMITS}
    if dataclasses.replace(config, **limits) != first:
        raise damaged(container.path, "its records", "the settings are not those that the training began with")
    return config


def _places(later: LaterReads) -> HistoryPlaces:
    container = later.container
    counts, lengths, positions = (container.array(name, "i") for name in (PLACE_COUNTS, LEFT_LENGTHS, POSITIONS))
    later.note_read(_PLACES)
    if positions.dtype.itemsize > 4 or not is_sum_small(counts):
        raise damaged(container.path, POSITIONS)
    return HistoryPlaces(counts.astype(np.int64), lengths.astype(np.int64), positions.astype(np.int32))


def _read_counts(later: LaterReads, head: RunHead) -> WordCounts:
    counts = read_counts(later, RUN_WORDS, head.normalizer, head.pre_tokenizer)
    if head.word_count > len(counts) or head.total_words > counts.total:
        raise damaged(later.container.path, f"{RUN_WORDS}/counts", "there are too few words")
    return counts


def _read_table(container: Container, head: RunHead) -> HistoryTable:
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for name, dtype in COLUMNS.items():
        kind = np.dtype(dtype).kind
        columns[name] = container.array(COLUMN.format(name), kind).astype(dtype, copy=False)
        if kind == "i" and len(columns[name]) and columns[name].min() < 0:
            raise damaged(container.path, COLUMN.format(name), "a number is negative")
    config = TrainingConfig.from_dict(head.first_config)
    tokens = container.strings(TOKENS, head.initial_size + int(np.count_nonzero(columns["is_new"])))
    if tuple(tokens[: len(config.special_tokens)]) != config.special_tokens:
        raise damaged(container.path, TOKENS, "they do not begin with the special tokens")
    return HistoryTable(
        config, tokens, head.initial_size, columns, head.symbols_after, head.word_count, head.total_words
    )
