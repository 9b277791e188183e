"""What counts the words of pieces of text: the plain way, right for every pipeline and at once for small texts.

Not here: the compiled way for large corpora (`compiled_counter`), which gives the same words in the same order, and
what else is noted of a text (`corpus_count`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.counts import SkippedWord
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.core.corpus.decoding import TextPiece
    from wordpiece_studio.core.text.pipeline import Pipeline

_MOST_SKIPPED_WORDS = 1000
_STOP_CHECK_CHUNKS = 20_000


class WordCounter(ABC):
    """Counts the words of pieces of text.

    Parameters
    ----------
    pipeline
        What turns the text into words.
    longest
        Words of more characters than this are left out.
    check_stop
        Called now and then; it raises if the count is to be given up.

    Attributes
    ----------
    skipped, skipped_words
        The first words that were left out, and how many there were.
    """

    def __init__(self, pipeline: Pipeline, longest: int, check_stop: Callable[[], None]) -> None:
        self._pipeline = pipeline
        self._longest = longest
        # A stretch of at most this length yields no word that is too long: one character becomes at most four when
        # it is decomposed. Of longer ones it must be known where they are.
        self._longest_stretch = max(longest // 4, 1)
        self._check_stop = check_stop
        self.skipped: list[SkippedWord] = []
        self.skipped_words = 0

    @abstractmethod
    def add(self, piece: TextPiece) -> None:
        """Count a piece, which begins and ends where words do."""

    @abstractmethod
    def result(self) -> tuple[list[str], Sequence[int] | NDArray[np.int64]]:
        """Return the words of all pieces in order of first appearance, and how often each occurs; call it once."""

    @abstractmethod
    def spelled_out(self) -> dict[str, int]:
        """Return how often each of BERT's special tokens was written out; call it after `result`."""

    @property
    def _is_listing(self) -> bool:
        """Whether the next word to be left out will be listed."""
        return len(self.skipped) < _MOST_SKIPPED_WORDS

    def _skip(self, length: int, piece: TextPiece, start: int) -> None:
        """Leave out a word; the stretch that holds it begins at the character `start` of the piece."""
        self.skipped_words += 1
        if self._is_listing:
            line, byte = piece.locate(start)
            self.skipped.append(SkippedWord(piece.source, line, byte, length))


class PlainCounter(WordCounter):
    """Counts the stretches between blanks first, or the lines where a pipeline looks across blanks."""

    def __init__(self, pipeline: Pipeline, longest: int, check_stop: Callable[[], None]) -> None:
        super().__init__(pipeline, longest, check_stop)
        # Distinct stretches; a word that was cut from a long one stands in a tuple of its own.
        self._stretches: Counter[str | tuple[str]] = Counter()
        self._spelled_out: Counter[str] = Counter()

    def add(self, piece: TextPiece) -> None:
        """Count the stretches of a piece."""
        text = piece.text
        self._spelled_out.update({token: text.count(token) for token in BERT_SPECIAL_TOKENS})
        stretches = text.replace("\n", " ").split(" ") if self._pipeline.is_local else text.split("\n")
        if max(map(len, stretches)) > self._longest_stretch:
            # Cut at once, while it is known where they are, and not kept.
            self._stretches.update(self._long_ones_cut(stretches, piece))
        else:
            self._stretches.update(stretches)

    def result(self) -> tuple[list[str], Sequence[int]]:
        """Return the words, each distinct stretch cut once, and their counts."""
        words: dict[str, int] = {}
        cut, longest = self._pipeline.words, self._longest
        for number, (stretch, count) in enumerate(self._stretches.items()):
            if number % _STOP_CHECK_CHUNKS == 0:
                self._check_stop()
            for word in stretch if isinstance(stretch, tuple) else cut(stretch):
                if len(word) <= longest:
                    words[word] = words.get(word, 0) + count
                else:
                    self.skipped_words += count
        return list(words), list(words.values())

    def spelled_out(self) -> dict[str, int]:
        """Return how often each special token was written out."""
        return dict(+self._spelled_out)

    def _long_ones_cut(self, stretches: list[str], piece: TextPiece) -> Iterator[str | tuple[str]]:
        start = 0
        for stretch in stretches:
            if len(stretch) <= self._longest_stretch:
                yield stretch
            else:
                for word in self._pipeline.iterate(stretch):
                    if len(word) <= self._longest:
                        yield (word,)
                    else:
                        self._skip(len(word), piece, start)
            start += len(stretch) + 1
