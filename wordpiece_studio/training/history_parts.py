"""A history taken apart into plain arrays and lists, for a file, and put together again, checked.

In two parts, because the rows of a history can be shown without the words of its corpus: the table says what was
merged, the places where. The words, of which the places are counted, are those of the word counts.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.vocabulary import TokenTable
from wordpiece_studio.training.history import COLUMNS, MergeHistory
from wordpiece_studio.training.history_checks import UNFIT, check_places, check_table
from wordpiece_studio.training.initial_state import prepare
from wordpiece_studio.training.merge_places import MergePlaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """What the rows of a history say.

    Attributes
    ----------
    config
        The settings that the training began with.
    tokens
        All tokens in id order: special tokens, alphabet, then those that merges made.
    initial_size
        How many of them there are before the first merge.
    columns
        The columns of the history by name, shape (n_merges,), see `MergeHistory`.
    symbols_after
        N after the last merge.
    word_count, total_words
        How many distinct words are trained on, and how often they occur together.
    """

    config: TrainingConfig
    tokens: list[str]
    initial_size: int
    columns: dict[str, NDArray[Any]]
    symbols_after: int
    word_count: int
    total_words: int


@dataclass(frozen=True, slots=True)
class HistoryPlaces:
    """Where the merges took place, as in `MergeBatch`.

    Attributes
    ----------
    position_counts
        Integers, shape (n_merges,): how many places each merge changed.
    left_lengths
        Integers, shape (n_merges,): cells in the left symbol of each merge.
    positions
        int32: the places of all merges one after the other, ascending per merge.
    """

    position_counts: NDArray[np.integer[Any]]
    left_lengths: NDArray[np.integer[Any]]
    positions: NDArray[np.int32]


def table_of(history: MergeHistory, end: int | None = None) -> HistoryTable:
    """Return the table of the first `end` merges, or of all; the arrays are views of the history's own."""
    end = len(history) if end is None else end
    vocabulary = history.vocabulary(end)
    return HistoryTable(
        history.config,
        vocabulary.tokens,
        history.vocabulary_size(0),
        {name: history.column(name)[:end] for name in COLUMNS},
        history.symbols_after(end),
        history.word_count,
        history.total_words,
    )


def places_of(history: MergeHistory, end: int | None = None) -> HistoryPlaces:
    """Return the places of the first `end` merges, or of all; views of the history's own arrays."""
    end = len(history) if end is None else end
    places = history.places
    return HistoryPlaces(places.counts(0, end), places.left_lengths(end), places.between(0, end))


def restored_history(
    table: HistoryTable,
    load: Callable[[], tuple[WordCounts, HistoryPlaces]],
    explained: Callable[[StudioError], StudioError] | None = None,
) -> MergeHistory:
    """Return the history that was taken apart.

    Parameters
    ----------
    table
        Its rows; they are checked at once.
    load
        Called once, from any thread, when words or places are first asked for. What it returns is checked then.
    explained
        Returns what to tell in the place of an error that is raised here then, such as one that names the file too.

    Raises
    ------
    StudioError
        If the rows contradict each other, or a token is there twice; later, where the places do not fit them.
    """
    history = StoredHistory(table, load, explained)
    check_table(table)  # last: a token that is there twice is best told as that
    return history


class StoredHistory(MergeHistory):
    """A history of which only the rows are in memory until somebody asks for words or places."""

    def __init__(
        self,
        table: HistoryTable,
        load: Callable[[], tuple[WordCounts, HistoryPlaces]],
        explained: Callable[[StudioError], StudioError] | None = None,
    ) -> None:
        self._stored, self._load, self._explained = table, load, explained
        self._loading = threading.Lock()
        self.config = table.config
        self.word_count, self.total_words = table.word_count, table.total_words
        self._count = self._named = len(table.columns["is_new"])
        self._columns = {name: np.asarray(table.columns[name], dtype=dtype) for name, dtype in COLUMNS.items()}
        self._sizes = table.initial_size + np.cumsum(self._columns["is_new"])
        self._symbols_known = (self._count, table.symbols_after)
        self._table = TokenTable.of(table.tokens)
        self._initial = self._view_of_table(table.initial_size)
        self._naming = threading.Lock()
        self._loaded: MergePlaces | None = None
        self._error: StudioError | None = None

    @property
    def places(self) -> MergePlaces:
        """Where the merges took place: read now, if they were not yet.

        Raises
        ------
        StudioError
            If they cannot be read, or do not fit what was merged.
        """
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._explained_places()
        return self._loaded

    @property
    def is_whole(self) -> bool:
        """Whether the places are in memory."""
        return self._loaded is not None

    @property
    def is_damaged(self) -> bool:
        """Whether they were asked for and cannot be read."""
        return self._error is not None

    def _explained_places(self) -> MergePlaces:
        if self._error is not None:
            raise self._error  # it is read once
        try:
            _ = self._table.ids  # which would keep whoever lets it be trained further waiting
            return self._read_places()
        except StudioError as error:
            self._error = error if self._explained is None else self._explained(error)
            raise self._error from error

    def _read_places(self) -> MergePlaces:
        table = self._stored
        counts, stored = self._load()
        input_ = prepare(counts, table.config)
        if input_.vocabulary_tokens != self._table.tokens[: table.initial_size]:
            raise StudioError("The merges were not learned from these words", UNFIT)
        check_places(input_, table, stored)
        places = MergePlaces(input_)
        places.extend(0, stored.position_counts.astype(np.int64), stored.left_lengths, stored.positions)
        return places
