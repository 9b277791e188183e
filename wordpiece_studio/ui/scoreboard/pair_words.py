"""The words in which a pair occurs, before and after it is merged: asked of the history, most frequent first.

No widget: it says what :mod:`~wordpiece_studio.ui.scoreboard.words_view` shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.core.training.history import MergeHistory

_SHOWN = 100


@dataclass(frozen=True, slots=True)
class PairWord:
    """A word of the corpus with its weight, and its symbols before and after the merge of a pair."""

    word: str
    count: int
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairWords:
    """The most frequent words that a pair occurs in, at most 100 of them, and how many there are in all."""

    words: tuple[PairWord, ...]
    total: int


NO_WORDS = PairWords((), 0)


def words_of_merge(history: MergeHistory, step: int) -> PairWords:
    """Return the words that the merge `step` (from 1) changed."""
    # By number and not by text: a table of a million words and their counts would hold up the window.
    segmentations = history.segmentations
    touched = segmentations.words_at(history.positions(step - 1))
    touched = touched[np.diff(touched, prepend=-1) > 0]
    weights = history.input.weights[touched]
    frequent = np.argsort(-weights, kind="stable")[:_SHOWN]
    words = (
        PairWord(
            history.input.words[index],
            weight,
            tuple(segmentations.tokens(index, step - 1)),
            tuple(segmentations.tokens(index, step)),
        )
        for index, weight in zip(touched[frequent].tolist(), weights[frequent].tolist(), strict=True)
    )
    return PairWords(tuple(words), len(touched))


def words_of_pair(history: MergeHistory, left: str, right: str, token: str, moment: int) -> PairWords:
    """Return the words in which a pair occurs after `moment` merges, and what they would become by its merge."""
    found = history.words_with_pair(left, right, moment)
    words = []
    for word, count in _most_frequent(found):
        before = tuple(history.segmentation(word, moment))
        words.append(PairWord(word, count, before, joined(before, left, right, token)))
    return PairWords(tuple(words), len(found))


def joined(tokens: Sequence[str], left: str, right: str, token: str) -> tuple[str, ...]:
    """Return the tokens with each `left right` replaced by `token`, from left to right.

    >>> joined(("a", "##a", "##a"), "##a", "##a", "##aa")
    ('a', '##aa')
    """
    result: list[str] = []
    index = 0
    while index < len(tokens):
        is_pair = tuple(tokens[index : index + 2]) == (left, right)
        result.append(token if is_pair else tokens[index])
        index += 2 if is_pair else 1
    return tuple(result)


def changed_tokens(before: Sequence[str], after: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Say of each token before a merge whether it was merged, and of each token after it whether the merge made it.

    >>> changed_tokens(("a", "##a", "##b"), ("aa", "##b"))
    ([True, True, False], [True, False])
    """
    is_merged: list[bool] = []
    is_made: list[bool] = []
    for token in after:
        same = len(is_merged) < len(before) and before[len(is_merged)] == token
        is_made.append(not same)
        is_merged += [False] if same else [True, True]
    return is_merged, is_made


def _most_frequent(words: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return nlargest(_SHOWN, words, key=_count_of)  # stable: among equals the first in the corpus comes first


def _count_of(item: tuple[str, int]) -> int:
    return item[1]
