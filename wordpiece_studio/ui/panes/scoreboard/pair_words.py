"""The words that contain a pair or a token, before and after a merge, from the history, most frequent first.

No widgets here: :mod:`~wordpiece_studio.ui.panes.scoreboard.words_panel` shows the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.records import Selection
    from wordpiece_studio.training.history import MergeHistory

_SHOWN = 100


@dataclass(frozen=True, slots=True)
class PairWord:
    """A word of the corpus with its weight, and its symbols before and after a merge.

    `token`: the symbol to keep visible if the merge changes nothing; empty for none.
    """

    word: str
    count: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    token: str = ""


@dataclass(frozen=True, slots=True)
class PairWords:
    """The most frequent words, at most 100, and the total number of words."""

    words: tuple[PairWord, ...]
    total: int


NO_WORDS = PairWords((), 0)


@dataclass(frozen=True, slots=True)
class WordsWish:
    """A request for words.

    Attributes
    ----------
    history
        The history to query.
    step
        The merge in question, from 1; 0 before the first one.
    selection
        A pair, a token or a word.
    token
        The token that the pair makes.
    is_merge
        Whether the pair is the one merged at `step`; its words are then known without a search.
    """

    history: MergeHistory
    step: int
    selection: Selection
    token: str = ""
    is_merge: bool = False


def find_words(wish: WordsWish, _stop: threading.Event | None = None, _report: Report | None = None) -> PairWords:
    """Return the words requested. Runs in a `BackgroundJob` where the corpus is large."""
    history, selection, step = wish.history, wish.selection, wish.step
    if selection.kind == "word":
        return _the_word(history, selection.text, step)
    if selection.kind == "token":
        return _words_of_token(history, selection.text, step)
    if wish.is_merge:
        return words_of_merge(history, step)
    return _words_of_pair(history, selection.left, selection.right, wish.token, max(step - 1, 0))


def words_of_merge(history: MergeHistory, step: int) -> PairWords:
    """Return the words that the merge `step` (from 1) changed."""
    # By index, not by text: a table of a million words and their counts would block the window.
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


def _words_of_pair(history: MergeHistory, left: str, right: str, token: str, step: int) -> PairWords:
    """Return the words in which a pair occurs after `step` merges, and what merging it would make of them."""
    words = []
    for word, count in history.words_with_pair(left, right, step, _SHOWN):
        before = tuple(history.segmentation(word, step))
        words.append(PairWord(word, count, before, joined(before, left, right, token)))
    return PairWords(tuple(words), history.number_of_words_with_pair(left, right, step))


def _words_of_token(history: MergeHistory, token: str, step: int) -> PairWords:
    """Return the words that contain a token after `step` merges, and what the last of these merges did to them."""
    token_id = history.vocabulary(step).id_of(token)
    if token_id is None:
        return NO_WORDS
    earlier = max(step - 1, 0)
    words = (
        PairWord(
            word, count, tuple(history.segmentation(word, earlier)), tuple(history.segmentation(word, step)), token
        )
        for word, count in history.words_with_token(token_id, step, _SHOWN)
    )
    return PairWords(tuple(words), history.number_of_words(token_id, step))


def _the_word(history: MergeHistory, word: str, step: int) -> PairWords:
    """Return what the merge `step` did to a word; nothing if it is not in the training corpus."""
    try:
        index = history.segmentations.index_of(word)
    except StudioError:
        return NO_WORDS
    before, after = (tuple(history.segmentation(word, merges)) for merges in (max(step - 1, 0), step))
    return PairWords((PairWord(word, int(history.input.weights[index]), before, after),), 1)


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
    """Return, per token before a merge, whether it was merged, and per token after, whether the merge made it.

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
