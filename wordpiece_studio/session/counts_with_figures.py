"""Word counts with their figures, computed where the words are counted.

Going through a million words would stall the window, so the figures come along with the counts.
"""

from __future__ import annotations

import threading
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.system.in_slices import lengths_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FREED_AT_ONCE, _FREED_SLICE, _FREEING_PAUSE_SECONDS = 300_000, 20_000, 0.002
_BLOCK = 1 << 16  # words processed together, to limit memory
_CODE_POINTS = 0x110000


@dataclass(frozen=True, slots=True)
class CorpusFigures:
    """The size of a corpus.

    Attributes
    ----------
    lines, words, distinct
        Lines read, words counted with repetitions, and distinct words.
    symbols
        Characters of all words, with repetitions: the symbols that training starts with.
    alphabet
        How many characters occur at the start of a word plus how many occur inside one: the size of the smallest
        vocabulary without special tokens.
    digest
        The result of `WordCounts.digest` if it was computed, else empty.
    """

    lines: int
    words: int
    distinct: int
    symbols: int
    alphabet: int
    digest: str = ""


class CountsWithFigures(WordCounts):
    """Word counts with their figures.

    Attributes
    ----------
    figures : CorpusFigures
        The result of `corpus_figures` for these counts.
    """

    __slots__ = ("__weakref__", "figures")

    figures: CorpusFigures

    def __eq__(self, other: object) -> bool:
        if isinstance(other, CountsWithFigures) and self.figures.digest and other.figures.digest:
            return self.figures.digest == other.figures.digest
        return super().__eq__(other)

    __hash__ = None  # like the base class


def with_figures(counts: WordCounts) -> CountsWithFigures:
    """Return word counts together with their figures; only for few words, since it goes through all of them."""
    result = CountsWithFigures(
        counts.words, counts.counts, counts.normalizer, counts.pre_tokenizer, counts.statistics, counts.skipped
    )
    result.figures = corpus_figures(counts)
    return result


def free_slowly_later(counts: CountsWithFigures) -> None:
    """Have the words freed little by little once they are unused: freeing all at once would stall the window."""
    if len(counts) > _FREED_AT_ONCE:
        weakref.finalize(counts, _free_slowly, counts.words).atexit = False


def _free_slowly(words: list[str]) -> None:
    # A copy, since the list itself may still be in use; it costs a hundredth of freeing the words.
    threading.Thread(target=_free, args=(words.copy(),), daemon=True).start()


def _free(words: list[str]) -> None:
    while words:
        del words[-_FREED_SLICE:]
        time.sleep(_FREEING_PAUSE_SECONDS)


def corpus_figures(counts: WordCounts, *, with_digest: bool = False) -> CorpusFigures:
    """Return the figures of word counts, reusing those already computed."""
    if isinstance(counts, CountsWithFigures):
        return counts.figures
    lengths = lengths_of(counts.words)
    return CorpusFigures(
        counts.statistics.lines,
        counts.total,
        len(counts),
        int((lengths * counts.counts).sum()),
        alphabet_size(counts.words),
        counts.digest() if with_digest else "",
    )


def alphabet_size(words: Sequence[str]) -> int:
    """Return how many characters occur at the start of a word plus how many occur inside one."""
    is_initial, is_inner = np.zeros(_CODE_POINTS, dtype=np.bool_), np.zeros(_CODE_POINTS, dtype=np.bool_)
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        characters = np.frombuffer("".join(block).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        lengths = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        is_first = np.zeros(len(characters), dtype=np.bool_)
        is_first[np.cumsum(lengths) - lengths] = True
        is_initial[characters[is_first]] = True
        is_inner[characters[~is_first]] = True
    return int(np.count_nonzero(is_initial) + np.count_nonzero(is_inner))
