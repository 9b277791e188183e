"""How many characters each token has, found as the merges come and without spelling the tokens out.

A merged token is as long as its two parts together. Plain Python: no Qt.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_MERGES_A_TURN = 40_000
"""These take about 8 ms; more at once would hold up the window."""


class TokenLengths:
    """The lengths of the tokens of one history, in characters without prefix and suffix, by vocabulary id."""

    def __init__(self) -> None:
        self._history: MergeHistory | None = None
        self._lengths = array("i")
        self._merges = 0

    @property
    def merges(self) -> int:
        """How many merges were taken in."""
        return self._merges

    def catch_up(self, history: MergeHistory, merges: int) -> bool:
        """Take in merges up to `merges`, at most some ten thousand; return whether that was all."""
        if history is not self._history:
            self._begin(history)
        end = min(merges, self._merges + _MERGES_A_TURN)
        names = ("left_id", "right_id", "new_id")
        columns = (history.column(name)[self._merges : end].tolist() for name in names)
        lengths = self._lengths
        for left, right, new in zip(*columns, strict=True):
            if new == len(lengths):
                lengths.append(lengths[left] + lengths[right])
        self._merges = max(end, self._merges)
        return self._merges >= merges

    def first(self, size: int) -> NDArray[np.int32]:
        """Return the lengths of the first `size` tokens, or of those known; int32, special tokens included."""
        return np.array(self._lengths[:size], dtype=np.int32)

    def of(self, token_id: int) -> int | None:
        """Return the length of one token; None if it is not known yet."""
        return self._lengths[token_id] if token_id < len(self._lengths) else None

    def _begin(self, history: MergeHistory) -> None:
        config = history.config
        prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
        tokens = history.vocabulary(0).tokens
        self._history, self._merges = history, 0
        self._lengths = array("i", (len(token.removeprefix(prefix).removesuffix(suffix)) for token in tokens))
