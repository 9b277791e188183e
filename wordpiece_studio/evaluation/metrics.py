"""Figures of a training for curves and histograms: pure functions over its history.

Definitions. A *step* k is the state after k merges. N(k) is the number of symbols that the corpus consists of *under
merging*, weighted by the words' counts; longest match with the vocabulary of step k may split a word differently, so
its number of tokens may differ. *Fertility* is N(k) divided by the number of words (not distinct ones) trained on. The
*length* of a token is its number of characters (code points) without continuing subword prefix and end-of-word suffix.
Nothing is estimated or drawn here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

MUCH_UNKNOWN = 0.01
"""The share of unknown tokens beyond which tokens per word say little: however long, an unknown word is one token."""


def symbols_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return N, the weighted number of symbols in the corpus under merging, after each of `steps` merges.

    Parameters
    ----------
    steps
        int64, shape (n,), each from 0 to ``len(history)``.

    Returns
    -------
    int64, shape (n,).
    """
    before = history.column("symbols_before")
    is_last = steps == len(before)
    if not is_last.any():
        return before[steps]
    symbols = np.full(len(steps), history.symbols_after(len(before)), dtype=np.int64)
    symbols[~is_last] = before[steps[~is_last]]
    return symbols


def vocabulary_sizes_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of tokens, including special ones and alphabet, after each of `steps` merges.

    Parameters
    ----------
    steps
        int64, shape (n,), each from 0 to ``len(history)``.

    Returns
    -------
    int64, shape (n,).
    """
    sizes = np.full(len(steps), history.vocabulary_size(0), dtype=np.int64)
    is_later = steps > 0
    sizes[is_later] = history.vocabulary_sizes()[steps[is_later] - 1]
    return sizes


def fertility_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return N divided by the number of words, after each of `steps` merges; 1 is one token per word.

    Parameters
    ----------
    steps
        int64, shape (n,), each from 0 to ``len(history)``.

    Returns
    -------
    float64, shape (n,); zeros if there are no words.
    """
    words = history.total_words
    return symbols_at(history, steps) / words if words else np.zeros(len(steps), dtype=np.float64)


def tokens_in_use_at(history: MergeHistory) -> NDArray[np.int64]:
    """Return how many different tokens the corpus consists of after each step: int64, shape (len(history) + 1,).

    A merge adds its token and takes away those that occurred nowhere else: both, one or none. So the number changes by
    -1, 0 or 1, or by one less if other merges had made the same token before.

    >>> from wordpiece_studio.training.trainer import train
    >>> tokens_in_use_at(train({"hug": 10, "pug": 5, "hugs": 5}).history).tolist()
    [5, 4, 4, 3, 3]
    """
    count = len(history)  # to which a training may be appending
    steps = np.arange(count + 1)
    merged = -np.diff(symbols_at(history, steps))
    vocabulary, initial = history.vocabulary(0), history.tokens_in_use(0)
    # What becomes of each token: it occurs `changes` times more or less after a step.
    first = np.array([vocabulary.id_of(token) for token in initial], dtype=np.int64)
    ids = np.concatenate((first, *(history.column(name)[:count] for name in ("left_id", "right_id", "new_id"))))
    at = np.concatenate((np.zeros(len(first), dtype=np.int64), *[steps[1:]] * 3))
    changes = np.concatenate((np.array([*initial.values()], dtype=np.int64), -merged, -merged, merged))
    order = np.lexsort((at, ids))
    ids, at, changes = ids[order], at[order], changes[order]
    totals = np.cumsum(changes)
    begins = np.diff(ids, prepend=-1) != 0
    totals -= np.repeat((totals - changes)[begins], np.diff(np.flatnonzero(np.append(begins, True))))
    is_last = (np.diff(ids, append=-1) != 0) | (np.diff(at, append=-1) != 0)  # of several changes in one step
    ids, at, is_used = ids[is_last], at[is_last], totals[is_last] > 0
    was_used = np.append(False, is_used[:-1]) & (np.diff(ids, prepend=-1) == 0)
    more = np.bincount(at[is_used & ~was_used], minlength=len(steps))
    fewer = np.bincount(at[was_used & ~is_used], minlength=len(steps))
    return np.cumsum(more - fewer)


def length_histogram(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many tokens have each length: int64, entry n counts those of n characters.

    Parameters
    ----------
    lengths
        The length of each token, shape (n_tokens,), in characters.

    >>> length_histogram(np.array([1, 3, 1], dtype=np.int32)).tolist()
    [0, 2, 0, 1]
    """
    return np.bincount(lengths).astype(np.int64) if len(lengths) else np.zeros(0, dtype=np.int64)


def rank_frequency(frequencies: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tokens that occur, most frequent first: rank r (from 1) is at index r - 1.

    Parameters
    ----------
    frequencies
        int64, shape (n_tokens,): how often each token occurs, by id.

    Returns
    -------
    The ids and their frequencies, int64, shape (n_occurring,); equally frequent ones in order of id.

    >>> [column.tolist() for column in rank_frequency(np.array([2, 0, 7, 2]))]
    [[2, 0, 3], [7, 2, 2]]
    """
    ids, size = np.flatnonzero(frequencies), len(frequencies)
    most = int(frequencies.max(initial=0))
    if most < np.iinfo(np.int64).max // max(size, 1):
        # Sorting plain numbers that combine frequency and id takes a third of the time of an argsort.
        ids = np.sort((most - frequencies[ids]) * size + ids) % size if size else ids
    else:
        ids = ids[np.argsort(-frequencies[ids], kind="stable")]
    return ids, frequencies[ids]
