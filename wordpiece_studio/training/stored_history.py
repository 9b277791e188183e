"""A history from a file, and the checks when it is read.

It has two parts, because its rows can be shown without the words of the corpus: a table says what was merged, the
places say where. The rows are checked when they are read; the places, and the spelling of the tokens, when the places
are read, which happens beside the window. Code that walks over a history relies on these checks. Two things are not
checked: whether a training would choose the same pairs (`Trainer` notices when it continues), and whether a merge left
out a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import lengths_of, repeated, slices
from wordpiece_studio.training.history import HistoryTable, MergeHistory
from wordpiece_studio.training.segmentation import MOST_SYMBOLS, NEVER, MergePlaces, initial_boundaries, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.segmentation import HistoryPlaces, TrainingInput


def restored_history(
    table: HistoryTable,
    load: Callable[[], tuple[WordCounts, HistoryPlaces]],
    explained: Callable[[StudioError], StudioError] | None = None,
) -> MergeHistory:
    """Return a history whose rows are checked at once.

    `load` is called once, from any thread, when words or places are first needed; what it returns is checked then.
    `explained` turns an error of that check into the one to raise, such as one that also names the file.
    """
    history = StoredHistory(table, load, explained)
    _check_table(table)  # last: a token that occurs twice is best reported as such
    return history


class StoredHistory(MergeHistory):
    """A history that loads words and places when they are first needed; until then only its rows are in memory."""

    def __init__(
        self,
        table: HistoryTable,
        load: Callable[[], tuple[WordCounts, HistoryPlaces]],
        explained: Callable[[StudioError], StudioError] | None = None,
    ) -> None:
        self._stored, self._load, self._explained = table, load, explained
        self._set_rows(table)
        self._error: StudioError | None = None

    @property
    def is_damaged(self) -> bool:
        return self._error is not None

    def _made_places(self) -> MergePlaces:
        if self._dropped is not None:
            return super()._made_places()
        if self._error is not None:
            raise self._error  # the places are read only once
        try:
            return self._read_places()
        except StudioError as error:
            self._error = error if self._explained is None else self._explained(error)
            raise self._error from error

    def _read_places(self) -> MergePlaces:  # another library's history makes them instead
        counts, stored = self._load()
        input_ = prepare(counts, self.config)
        if input_.vocabulary_tokens != self._table.tokens[: self._stored.initial_size]:
            raise StudioError("The merges were not learned from these words", _UNFIT)
        _check_places(input_, self._stored, stored)
        places = MergePlaces(input_)
        places.extend(0, stored)
        return places


_UNFIT = "Start again from the corpus; the file was damaged or made by another program."
_MOST_CHARACTERS = 1 << 30  # in the tokens of all merges: far more than any corpus gives
_TOLERANCE = 1e-9  # relative, of a value: older files hold those of other logarithms, which differ in their last bits


# The rows.


def _check_table(table: HistoryTable) -> None:
    columns, merges = table.columns, len(table.columns["is_new"])
    if not all(len(column) == merges for column in columns.values()) or not _ids_fit(table):
        raise StudioError("The merges do not fit the tokens that they made", _UNFIT)
    if "" in table.tokens:
        raise StudioError("The vocabulary holds an empty token", _UNFIT)
    if not _numbers_fit(table):
        raise StudioError("The frequencies or scores of the merges are impossible", _UNFIT)


def _ids_fit(table: HistoryTable) -> bool:
    left, right, new, is_new = (table.columns[name] for name in ("left_id", "right_id", "new_id", "is_new"))
    sizes = table.initial_size + np.cumsum(is_new, dtype=np.int64)
    before = sizes - is_new
    return (
        0 < table.initial_size <= len(table.tokens) == table.initial_size + np.count_nonzero(is_new)
        and _hold(left >= 0, left < before, right >= 0, right < before, new >= 0, new < sizes)
        and _hold(new[is_new] == before[is_new])
    )


def _hold(*conditions: NDArray[np.bool_]) -> bool:
    return all(bool(each.all()) for each in conditions)


def _is_spelled(table: HistoryTable) -> bool:
    """Return whether each merge makes the left token and the text of the right one, which has the prefix and more."""
    tokens, prefix, characters = table.tokens, table.config.continuing_subword_prefix, 0
    for merge in zip(*(table.columns[name].tolist() for name in ("left_id", "right_id", "new_id")), strict=True):
        left, right, new = (tokens[token_id] for token_id in merge)
        characters += len(new)
        rest = right.removeprefix(prefix)
        if not rest or not right.startswith(prefix) or characters > _MOST_CHARACTERS or new != left + rest:
            return False
    return True


def _numbers_fit(table: HistoryTable) -> bool:
    columns = table.columns
    pairs, before = columns["pair_frequency"], columns["symbols_before"]
    frequencies = columns["left_frequency"], columns["right_frequency"]
    # Every merge leaves fewer symbols than before, and at least one per word.
    after = np.append(before[1:], table.symbols_after)[: len(before)]
    if not 0 < table.word_count <= table.total_words <= table.symbols_after <= MOST_SYMBOLS:
        return False
    conditions = [pairs >= 1, before - pairs <= after, after < before, columns["ties"] >= 1, columns["ties"] <= before]
    for frequency in frequencies:
        conditions += [pairs <= frequency, frequency <= before]
    if not _hold(*conditions):
        return False
    wanted = _values(table.config, pairs, *frequencies, before)
    allowed = _TOLERANCE * (np.abs(wanted) + (pairs if table.config.objective == "likelihood" else 0))
    return _hold(np.abs(columns["value"] - wanted) <= allowed)  # false for infinities and NaN


def _values(config: TrainingConfig, *numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    pairs, left, right, symbols = (each.astype(np.float64) for each in numbers)
    if config.objective == "count":
        return pairs
    if config.objective == "score":
        return pairs / (left * right)
    return np.asarray(pairs * np.log(pairs * symbols / (left * right)))


# The places.


def _check_places(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> None:
    if (
        len(input_.weights) != table.word_count
        or int(input_.weights.sum()) != table.total_words
        or input_.total_symbols != int(np.append(table.columns["symbols_before"], table.symbols_after)[0])
    ):
        raise StudioError("The merges were not learned from these words", _UNFIT)
    if not _is_spelled(table):
        raise StudioError("A merge creates a token that is not its two parts joined", _UNFIT)
    if not _lie_within(input_, table, stored) or not _stand_there(input_, table, stored):
        raise StudioError("The merges do not fit the words that they are said to have changed", _UNFIT)


def _lie_within(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Return whether there are as many places as stated, ascending for each merge, all of them in words."""
    counts, lengths, places = stored.position_counts, stored.left_lengths, stored.positions
    cells = input_.cells
    fits = (
        len(counts) == len(lengths) == len(table.columns["is_new"])
        and _hold(counts >= 1, lengths >= 1, lengths < len(cells), places >= 1, places < len(cells))
        and int(counts.sum()) == len(places)
    )
    if not fits:
        return False
    ascends = np.diff(places, prepend=0) > 0
    ascends[np.cumsum(counts) - counts] = True
    boundaries = places + repeated(lengths.astype(np.int64), counts)
    return _hold(ascends, boundaries < len(cells), cells[places] >= 0) and _hold(cells[boundaries] >= 0)


def _stand_there(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Return whether the two symbols that a merge joins stand at each of its places.

    The symbol that starts at a cell changes only by merges that have this cell as a place. So the left symbol was made
    by the previous merge with the same place, the right symbol by the last merge of all with the boundary as its place;
    without such a merge it is an initial symbol. The lengths of the tokens show that one ends where the other starts.
    """
    counts, places = stored.position_counts, stored.positions
    steps = repeated(np.arange(1, len(counts) + 1, dtype=np.int32), counts)
    boundaries = places + repeated(stored.left_lengths.astype(np.int32), counts)
    removed_at = initial_boundaries(input_)
    if not (removed_at[boundaries] == NEVER).all():  # inside an initial symbol there never was a boundary
        return False
    before = np.count_nonzero(removed_at == NEVER)
    removed_at[boundaries] = steps
    if before - np.count_nonzero(removed_at == NEVER) != len(places):  # a boundary is removed twice
        return False
    if not (removed_at[places] > steps).all():  # no symbol starts there any more
        return False
    made_last, made_before = _last_steps(places, steps, len(input_.cells))
    left, right = table.columns["left_id"], table.columns["right_id"]
    return (
        _hold(made_last[boundaries] < steps)
        and _are_ids(input_, table, places, made_before, left[steps - 1])
        and _are_ids(input_, table, boundaries, made_last[boundaries], right[steps - 1])
        and _lengths_fit(input_, table, stored)
        and _weights_fit(input_, table, stored)
    )


def _last_steps(
    places: NDArray[np.int32], steps: NDArray[np.int32], cells: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
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
    """Return whether the symbols at `cells`, made by the steps `made` (0: initial), have the ids `wanted`."""
    new_ids = table.columns["new_id"]
    for part in slices(len(cells)):
        steps = made[part]
        found = input_.symbol_ids[input_.cells[cells[part]]]
        found[steps > 0] = new_ids[steps[steps > 0] - 1]
        if not np.array_equal(found, wanted[part]):
            return False
    return True


def _lengths_fit(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    lengths = lengths_of(table.tokens)[table.columns["left_id"]]
    # Not by where words begin: there may have been a character before that was removed as beyond the alphabet.
    has_prefix = np.array([symbol.continues for symbol in input_.symbols])[input_.cells[stored.positions]]
    prefix_lengths = np.where(has_prefix, len(table.config.continuing_subword_prefix), 0)
    return _hold(repeated(lengths - stored.left_lengths, stored.position_counts) == prefix_lengths)


def _weights_fit(input_: TrainingInput, table: HistoryTable, stored: HistoryPlaces) -> bool:
    """Return whether each merge removes as many symbols as the weights of its places."""
    if not len(stored.positions):
        return True
    words = input_.word_starts.searchsorted(stored.positions, side="right") - 1
    weights = input_.weights[words]
    counts = stored.position_counts
    gone = np.add.reduceat(weights, np.cumsum(counts) - counts)
    left = np.append(table.columns["symbols_before"], table.symbols_after)
    return _hold(-np.diff(left) == gone)
