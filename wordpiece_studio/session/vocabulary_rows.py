"""Which tokens of a vocabulary a table shows, and in which order: index arrays made with NumPy.

They are made for the whole vocabulary of a training and cut to that of a step, which costs next to nothing. Not here:
the search for a text in tokens (`vocabulary_search`), and the table (`vocabulary_table`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

import numpy as np

from wordpiece_studio.session.history_ranks import token_ranks
from wordpiece_studio.system.in_slices import lengths_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.training.history import MergeHistory

Kind = Literal["all", "special", "alphabet", "learned", "dead"]
SPECIAL_BIRTH = -1
"""What stands for the birth step of a special token where tokens are put in order."""


class VocabularyColumn(IntEnum):
    """The columns of the table, left to right."""

    TOKEN = 0
    ID = 1
    BORN = 2
    FREQUENCY = 3
    WORDS = 4
    LENGTH = 5
    REASON = 6


@dataclass(frozen=True, slots=True)
class TokenNumbers:
    """How many tokens there are of each kind; `dead` is None as long as it is not known."""

    special: int
    alphabet: int
    learned: int
    dead: int | None

    @property
    def all(self) -> int:
        """How many there are in all."""
        return self.special + self.alphabet + self.learned


class VocabularyRows:
    """Sorts and filters the tokens of one training; keeps what is dear about them.

    Parameters
    ----------
    history
        The training.
    usage
        Tells how often tokens are used; what it does not know yet comes last.
    """

    def __init__(self, history: MergeHistory, usage: TokenUsage) -> None:
        self._history = history
        self._usage = usage
        self.special = len(history.config.special_tokens)
        self.initial = history.vocabulary_size(0)
        self._ranks = np.empty(0, dtype=np.int64)
        self._lengths = np.empty(0, dtype=np.int64)

    def birth(self, token_id: int) -> int:
        """Return the step that made a token; 0 for the alphabet, SPECIAL_BIRTH for special tokens."""
        return SPECIAL_BIRTH if token_id < self.special else self._history.birth_step(token_id)

    def length(self, token_id: int) -> int:
        """Return the number of characters of a token, without prefix and end-of-word suffix."""
        config = self._history.config
        token = self._history.token(token_id)
        if token_id < self.special:
            return len(token)
        return len(_bare(token, config.continuing_subword_prefix, config.end_of_word_suffix or ""))

    def numbers(self, size: int) -> TokenNumbers:
        """Return how many of the first `size` tokens are of each kind."""
        dead = int(np.count_nonzero(self._usage.dead)) if self._usage.is_current else None
        return TokenNumbers(self.special, self.initial - self.special, size - self.initial, dead)

    def ordered(
        self, size: int, kind: Kind, found: NDArray[np.bool_] | None, column: VocabularyColumn, *, descending: bool
    ) -> NDArray[np.int64]:
        """Return the ids of the tokens to show among the first `size`: int64, shape (n_rows,).

        Equal tokens stand in the order of their ids. `found` tells of the tokens whether the search found them, None
        that nothing is sought.
        """
        ids = np.flatnonzero(self._mask(size, kind, found))
        if column is VocabularyColumn.ID or column is VocabularyColumn.BORN:  # the order of birth is that of the ids
            return ids[::-1] if descending else ids
        keys = self._keys(size, column)[ids]
        return ids[np.argsort(-keys if descending else keys, kind="stable")]

    def _mask(self, size: int, kind: Kind, found: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        mask = np.zeros(size, dtype=np.bool_)
        if kind == "dead":
            dead = self._usage.dead[:size]
            mask[: len(dead)] = dead
        else:
            first, end = {
                "all": (0, size),
                "special": (0, self.special),
                "alphabet": (self.special, self.initial),
                "learned": (self.initial, size),
            }[kind]
            mask[first:end] = True
        if found is not None:
            mask[: len(found)] &= found[:size]
            mask[len(found) :] = False
        return mask

    def _keys(self, size: int, column: VocabularyColumn) -> NDArray[np.int64]:
        if column is VocabularyColumn.TOKEN:
            if len(self._ranks) != size:
                self._ranks = token_ranks(self._tokens(size))
            return self._ranks
        if column is VocabularyColumn.LENGTH:
            if len(self._lengths) != size:
                self._lengths = self._bare_lengths(size)
            return self._lengths
        if column is VocabularyColumn.REASON:
            return _padded(self._usage.dead[:size].astype(np.int64), size)
        numbers = self._usage.frequencies if column is VocabularyColumn.FREQUENCY else self._usage.word_counts
        return _padded(numbers[:size], size)

    def _bare_lengths(self, size: int) -> NDArray[np.int64]:
        config, tokens = self._history.config, self._tokens(size)
        prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
        return lengths_of(tokens[: self.special] + [_bare(token, prefix, suffix) for token in tokens[self.special :]])

    def _tokens(self, size: int) -> list[str]:
        return self._history.vocabulary(len(self._history)).tokens[:size]


def _bare(token: str, prefix: str, suffix: str) -> str:
    """Return a token without prefix and suffix, unless nothing else is in it."""
    bare = token.removeprefix(prefix)
    return (bare.removesuffix(suffix) or bare) if bare else token


def _padded(numbers: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the numbers of the first `size` tokens, -1 for those that are not known."""
    padded = np.full(size, -1, dtype=np.int64)
    padded[: len(numbers)] = numbers
    return padded
