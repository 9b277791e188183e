"""Where a token stands after any number of merges: the places of the merges that made it, less what was merged later.

No index is kept that would have to grow with the history. All steps are taken as checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory


def occurrences(history: MergeHistory, token_id: int, step: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the places where a token begins and those where it ends (exclusive) after `step` merges."""
    symbols, makers = _origins(history, token_id, step)
    begins: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
    ends = begins.copy()
    for symbol in symbols:
        begins.append(history.segmentations.places_of_symbol(symbol, step))
        ends.append(begins[-1] + len(history.input.symbols[symbol].text))
    for index in makers:
        places, width = _made_by(history, index, step)
        begins.append(places)
        ends.append(places + width)
    return np.concatenate(begins), np.concatenate(ends)


def begins_at(history: MergeHistory, places: NDArray[Any], token_id: int, step: int) -> NDArray[np.bool_]:
    """Tell at which of the places, boundaries after `step` merges, a token begins."""
    symbols, makers = _origins(history, token_id, step)
    begins = np.zeros(len(places), dtype=np.bool_)
    for symbol in symbols:
        begins |= history.segmentations.stands_at(places, symbol, step)
    for index in makers:
        begins |= np.isin(places, _made_by(history, index, step)[0], kind="table")
    return begins


def words_per_token(history: MergeHistory, step: int) -> NDArray[np.int64]:
    """Return how many distinct words hold each token after `step` merges: int64, by vocabulary id."""
    size, words = history.vocabulary_size(step), history.word_count
    numbers = np.zeros(size, dtype=np.int64)
    for ids, inside in history.segmentations.tokens_by_block(step, history.column("new_id")):
        both = ids * words + inside
        both.sort()
        distinct = both[np.diff(both, prepend=-1) > 0]
        numbers += np.bincount(distinct // words, minlength=size)
    return numbers


def _origins(history: MergeHistory, token_id: int, step: int) -> tuple[list[int], list[int]]:
    """Return the initial symbols with an id, and the indices of the merges up to `step` that made it.

    There may be several: tokens that are different symbols can be written alike.
    """
    made = history.column("new_id")[:step]
    return np.flatnonzero(history.input.symbol_ids == token_id).tolist(), np.flatnonzero(made == token_id).tolist()


def _made_by(history: MergeHistory, index: int, step: int) -> tuple[NDArray[np.int32], int]:
    """Return where the token that merge `index` made is still there after `step` merges, and its width in cells."""
    places = history.positions(index)
    width = history.segmentations.width(int(places[0]), index + 1)
    return history.segmentations.standing(places, width, step), width
