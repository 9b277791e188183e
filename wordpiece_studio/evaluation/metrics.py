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
