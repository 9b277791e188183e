"""Word counts of which the words are still in a file: they are read when somebody asks for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer


class StoredWordCounts(WordCounts):
    """As `WordCounts`; how many words there are, and how often they occur together, is known without the words.

    Parameters
    ----------
    load_words
        Called once, from any thread, when the words are first asked for; it must return as many as there are counts.
    counts, normalizer, pre_tokenizer, statistics, skipped
        As for `WordCounts`.
    """

    __slots__ = ("_error", "_load_words", "_loading", "_words")

    def __init__(
        self,
        load_words: Callable[[], list[str]],
        counts: Sequence[int] | NDArray[np.int64],
        normalizer: Normalizer,
        pre_tokenizer: PreTokenizer,
        statistics: CorpusStatistics | None = None,
        skipped: Sequence[SkippedWord] = (),
    ) -> None:
        self._load_words = load_words
        self._loading = threading.Lock()
        self._error: StudioError | None = None
        super().__init__([], counts, normalizer, pre_tokenizer, statistics, skipped)
        self._words: list[str] | None = None

    @property
    def words(self) -> list[str]:
        """The distinct words, in order of first appearance.

        Raises
        ------
        StudioError
            If they cannot be read.
        """
        if self._words is None:
            with self._loading:
                if self._words is None:
                    self._words = self._loaded()
        return self._words

    @words.setter
    def words(self, words: list[str]) -> None:
        self._words = words

    def _loaded(self) -> list[str]:
        if self._error is not None:
            raise self._error  # they are read once
        try:
            words = self._load_words()
            if len(words) != len(self.counts):
                raise StudioError(
                    "There are {words:,} words and {counts:,} counts of words",
                    "The file is damaged.",
                    words=len(words),
                    counts=len(self.counts),
                )
        except StudioError as error:
            self._error = error
            raise
        return words
