"""A history taken apart into plain arrays and lists, for a file, and put together again, checked.

In two parts, because the rows of a history can be shown without the words of its corpus: the table says what was
merged, the places where. The words, of which the places are counted, are those of the word counts. The rows are checked
when they are read; the places of the merges, and what the tokens spell, when the places are, which is beside the
window. Who walks over a history relies on that. What is not found out: whether another training would have chosen the
same pairs (`Trainer` notices when it goes on), and whether a merge left a place out.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.in_slices import code_points_of, lengths_of, repeated, slices
from wordpiece_studio.tokenizer.vocabulary import TokenList
from wordpiece_studio.training.history import COLUMNS, MergeHistory
from wordpiece_studio.training.initial_state import MOST_SYMBOLS, prepare
from wordpiece_studio.training.segmentation import NEVER, MergePlaces, initial_boundaries

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.initial_state import TrainingInput


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
    _check_table(table)  # last: a token that is there twice is best reported as that
    return history


class StoredHistory(MergeHistory):
    """A history of which only the rows are in memory until someone asks for words or places."""

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
        self._table = TokenList.of(table.tokens)
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
            raise StudioError("The merges were not learned from these words", _UNFIT)
        _check_places(input_, table, stored)
        places = MergePlaces(input_)
        places.extend(0, stored.position_counts.astype(np.int64), stored.left_lengths, stored.positions)
        return places


_UNFIT = "Start again from the corpus; the file was damaged or made by another program."
_MOST_CHARACTERS = 1 << 30
"""Of the tokens of all merges: far more than any corpus gives."""
_CHARACTERS_AT_ONCE = 1 << 20
_TOLERANCE = 1e-9
"""Of a value: logarithms differ in their last bits between platforms."""


# The rows.


def _check_table(table: HistoryTable) -> None:
    """Check that every merge joins tokens that there are, makes the next one or one that there is, and its numbers.

    Raises
    ------
    StudioError
        If not.
    """
    columns, merges = table.columns, len(table.columns["is_new"])
    if not all(len(column) == merges for column in columns.values()) or not _ids_fit(table):
        raise StudioError("The merges do not fit the tokens that they made", _UNFIT)
    if "" in table.tokens:
        raise StudioError("The vocabulary holds an empty token", _UNFIT)
    if not _numbers_fit(table):
        raise StudioError("The frequencies or values of the merges cannot be those of a training", _UNFIT)


def _ids_fit(table: HistoryTable) -> bool:
    columns, merges = table.columns, len(table.columns["is_new"])
    sizes = table.initial_size + np.cumsum(columns["is_new"], dtype=np.int64)
    before = sizes - columns["is_new"]
    is_new = columns["is_new"]
    return (
        0 < table.initial_size <= len(table.tokens)
        and (int(sizes[-1]) if merges else table.initial_size) == len(table.tokens)
        and all(bool(((columns[name] >= 0) & (columns[name] < before)).all()) for name in ("left_id", "right_id"))
        and bool(((columns["new_id"] >= 0) & (columns["new_id"] < sizes)).all())
        and bool((columns["new_id"][is_new] == before[is_new]).all())
    )


def _is_spelled(table: HistoryTable) -> bool:
    """Tell whether each merge makes the left token with the right one behind it, which bears the prefix and more."""
    lengths = lengths_of(table.tokens)
    codes, starts = code_points_of(table.tokens, lengths), np.cumsum(lengths) - lengths
    prefix = [ord(character) for character in table.config.continuing_subword_prefix]
    left, right, new = (table.columns[name] for name in ("left_id", "right_id", "new_id"))
    rest = lengths[right] - len(prefix)
    fits = bool((rest > 0).all() and (lengths[new] == lengths[left] + rest).all())
    fits = fits and int(lengths[new].sum()) <= _MOST_CHARACTERS
    if not fits or any((codes[starts[right] + place] != code).any() for place, code in enumerate(prefix)):
        return False
    middle = starts[new] + lengths[left]
    return _are_equal(codes, starts[new], starts[left], lengths[left]) and _are_equal(
        codes, middle, starts[right] + len(prefix), rest
    )


def _are_equal(
    codes: NDArray[np.int32], first: NDArray[np.int64], second: NDArray[np.int64], lengths: NDArray[np.int64]
) -> bool:
    """Tell whether the stretches of `codes` that begin at `first` and at `second` are equal, each so many long."""
    ends = np.cumsum(lengths)
    begin = 0
    while begin < len(lengths):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _CHARACTERS_AT_ONCE, side="right")))
        some = lengths[begin:end]
        within = np.arange(int(some.sum())) - np.repeat(np.cumsum(some) - some, some)
        one, other = (codes[np.repeat(places[begin:end], some) + within] for places in (first, second))
        if not np.array_equal(one, other):
            return False
        begin = end
    return True


def _numbers_fit(table: HistoryTable) -> bool:
    columns = table.columns
    pairs, before = columns["pair_frequency"], columns["symbols_before"]
    frequencies = columns["left_frequency"], columns["right_frequency"]
    # Every merge leaves fewer symbols than there were, and each word at least one.
    after = np.append(before[1:], table.symbols_after)[: len(before)]
    if not 0 < table.word_count <= table.total_words <= table.symbols_after <= MOST_SYMBOLS:
        return False
    fits = bool((pairs >= 1).all() and (before - pairs <= after).all() and (after < before).all())
    fits = fits and all(bool(((pairs <= each) & (each <= before)).all()) for each in frequencies)
    fits = fits and bool(((columns["ties"] >= 1) & (columns["ties"] <= before)).all())
    if not fits:
        return False
    wanted = _values(table.config, pairs, *frequencies, before)
    allowed = _TOLERANCE * (np.abs(wanted) + (pairs if table.config.objective == "likelihood" else 0))
    return bool((np.abs(columns["value"] - wanted) <= allowed).all())  # never so for infinity and what is no number


def _values(config: TrainingConfig, *numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the objective's values of pairs, but for the last bits, see `reference`."""
    pairs, left, right, symbols = (each.astype(np.float64) for each in numbers)
    if config.objective == "count":
        return pairs
    if config.objective == "score":
        return pairs / (left * right)
    return np.asarray(pairs * np.log(pairs * symbols / (left * right)))


# The places.


def _check_places(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> None:
    """Check that each merge takes place where its two tokens stand side by side at its step, and makes what they spell.

    Raises
    ------
    StudioError
        If not.
    """
    if (
        len(input_.words) != table.word_count
        or int(input_.weights.sum()) != table.total_words
        or input_.total_symbols != int(np.append(table.columns["symbols_before"], table.symbols_after)[0])
    ):
        raise StudioError("The merges were not learned from these words", _UNFIT)
    if not _is_spelled(table):
        raise StudioError("A merge makes a token that is not its two parts together", _UNFIT)
    if not _lie_within(input_, table, stored) or not _stand_there(input_, table, stored):
        raise StudioError("The merges do not fit the words that they are said to have changed", _UNFIT)


def _lie_within(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Tell whether there are as many places as stated, ascending for each merge, all of them in words."""
    counts, lengths, places = stored.position_counts, stored.left_lengths, stored.positions
    cells = input_.cells
    fits = (
        len(counts) == len(lengths) == len(table.columns["is_new"])
        and bool((counts >= 1).all() and ((lengths >= 1) & (lengths < len(cells))).all())
        and int(counts.sum()) == len(places)
        and bool(((places >= 1) & (places < len(cells))).all())
    )
    if not fits:
        return False
    ascends = np.diff(places, prepend=0) > 0
    ascends[np.cumsum(counts) - counts] = True
    boundaries = places + repeated(lengths.astype(np.int64), counts)
    return bool(
        ascends.all()
        and (boundaries < len(cells)).all()
        and (cells[places] >= 0).all()
        and (cells[boundaries] >= 0).all()
    )


def _stand_there(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Tell whether at each place the two symbols are there that the merge joins.

    What begins at a cell changes only by merges that have this cell as a place. So the left symbol is what the merge
    before with the same place made, the right one what the last merge of all at the boundary did, and an initial symbol
    where there is none; the lengths of tokens then say that one ends where the other begins.
    """
    counts, places = stored.position_counts, stored.positions
    steps = repeated(np.arange(1, len(counts) + 1, dtype=np.int32), counts)
    boundaries = places + repeated(stored.left_lengths.astype(np.int32), counts)
    removed_at = initial_boundaries(input_)
    if not (removed_at[boundaries] == NEVER).all():  # there never was one inside an initial symbol
        return False
    before = np.count_nonzero(removed_at == NEVER)
    removed_at[boundaries] = steps
    if before - np.count_nonzero(removed_at == NEVER) != len(places):  # a boundary goes twice
        return False
    if not (removed_at[places] > steps).all():  # no symbol begins there any more
        return False
    made_last, made_before = _last_steps(places, steps, len(input_.cells))
    left, right = table.columns["left_id"], table.columns["right_id"]
    return (
        bool((made_last[boundaries] < steps).all())
        and _are_ids(input_, table, places, made_before, left[steps - 1])
        and _are_ids(input_, table, boundaries, made_last[boundaries], right[steps - 1])
        and _lengths_fit(input_, table, stored)
        and _weights_fit(input_, table, stored)
    )


def _last_steps(
    places: NDArray[np.int32], steps: NDArray[np.int32], cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for each cell the last step that has it as a place, and for each place the last one before; 0 for none."""
    order = np.argsort(places, kind="stable")
    ordered, in_order = places[order], steps[order]
    is_same = ordered[1:] == ordered[:-1]
    before = np.zeros(len(places), dtype=np.int32)
    before[order[1:][is_same]] = in_order[:-1][is_same]
    last = np.zeros(cells, dtype=np.int32)
    is_last = np.append(~is_same, True)[: len(places)]
    last[ordered[is_last]] = in_order[is_last]
    return last, before


def _are_ids(
    input_: TrainingInput,
    table: HistoryTable,
    cells: NDArray[np.integer[Any]],
    made: NDArray[np.int32],
    wanted: NDArray[np.int64],
) -> bool:
    """Tell whether the symbols at `cells`, made by those steps (0: initial ones), have the ids that are wanted."""
    new_ids = table.columns["new_id"]
    for part in slices(len(cells)):
        steps = made[part]
        found = input_.symbol_ids[input_.cells[cells[part]]]
        found[steps > 0] = new_ids[steps[steps > 0] - 1]
        if not np.array_equal(found, wanted[part]):
            return False
    return True


def _lengths_fit(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Tell whether the left symbols have as many cells as their tokens have characters, the prefix taken off."""
    lengths = lengths_of(table.tokens)[table.columns["left_id"]]
    # Not where words begin: a character beyond the alphabet that was removed may have stood before.
    bears_prefix = np.array([symbol.continues for symbol in input_.symbols])[input_.cells[stored.positions]]
    taken_off = np.where(bears_prefix, len(table.config.continuing_subword_prefix), 0)
    return bool((repeated(lengths - stored.left_lengths, stored.position_counts) == taken_off).all())


def _weights_fit(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Tell whether each merge takes away as many symbols as its places weigh; the words add up to N, so it fits."""
    if not len(stored.positions):
        return True
    words = input_.word_starts.searchsorted(stored.positions, side="right") - 1
    weights = input_.weights[words]
    counts = stored.position_counts
    gone = np.add.reduceat(weights, np.cumsum(counts) - counts)
    left = np.append(table.columns["symbols_before"], table.symbols_after)
    return bool((-np.diff(left) == gone).all())
