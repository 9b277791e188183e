"""The tokenizers of the steps looked at last, so that a pane may ask again for nothing."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.history import MergeHistory

_KEPT = 16


class TokenizerCache:
    """Tokenizers of one history by step; the vocabularies of a history share their tokens, so each is small."""

    def __init__(self) -> None:
        self._by_step: OrderedDict[int, Tokenizer] = OrderedDict()

    def clear(self) -> None:
        """Forget all, because there is another history."""
        self._by_step.clear()

    def at(self, history: MergeHistory, counts: WordCounts, step: int) -> Tokenizer:
        """Return the tokenizer after `step` merges."""
        from wordpiece_studio.tokenizer.tokenizer import Tokenizer

        found = self._by_step.pop(step, None)
        if found is None:
            found = Tokenizer(history.vocabulary(step), counts.normalizer, counts.pre_tokenizer)
            while len(self._by_step) >= _KEPT:
                self._by_step.popitem(last=False)
        self._by_step[step] = found
        return found
