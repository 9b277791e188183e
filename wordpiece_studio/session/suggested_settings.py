"""Sensible limits for training on a newly opened corpus: a vocabulary size, and a minimum pair frequency.

Plain Python, based on the word counts; the user sees and can change the suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.session.counts_with_figures import corpus_figures
from wordpiece_studio.training.initial_state import minimum_vocab_size

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig

_SIZES = (500, 1000, 2000, 4000, 8000, 16_000, 30_000)
_TOY_BYTES = 5000
_TOY_MERGES = 25
_MANY_BYTES = 1_000_000
_BOOK_BYTES, _BOOK_SIZE = 900_000, 8000  # about a megabyte
_LIBRARY_BYTES, _LIBRARY_SIZE = 10_000_000, 30_000
_MOST_WORDS = 20_000
"""Up to this many distinct words, the least size is computed as in training; beyond it, from the characters alone."""


@dataclass(frozen=True, slots=True)
class SuggestedSettings:
    """A vocabulary size, 0 for no limit, and a minimum pair frequency, 0 for none."""

    vocab_size: int
    min_frequency: int = 0


def propose(counts: WordCounts, config: TrainingConfig) -> SuggestedSettings:
    """Return limits for training on this corpus with these settings.

    A toy text gets a few merges to look at; a larger one, the smallest usual size that leaves merges at least half as
    many tokens as special tokens and alphabet take. Above a megabyte, a pair must occur twice: otherwise the score,
    which divides by the counts of both parts, first learns words that occur once.
    """
    size = max(counts.statistics.bytes, counts.statistics.characters)
    least = _least_size(counts, config)
    if size <= _TOY_BYTES:
        return SuggestedSettings(-(-(least + _TOY_MERGES) // 5) * 5)
    wanted = max(least * 3 // 2, _usual_size(size))
    fitting = next((usual for usual in _SIZES if usual >= wanted), -(-wanted // 1000) * 1000)
    return SuggestedSettings(fitting, 2 if size > _MANY_BYTES else 0)


def _usual_size(size: int) -> int:
    if size >= _LIBRARY_BYTES:
        return _LIBRARY_SIZE
    return _BOOK_SIZE if size >= _BOOK_BYTES else 0


def _least_size(counts: WordCounts, config: TrainingConfig) -> int:
    if len(counts) <= _MOST_WORDS:
        return minimum_vocab_size(counts, config)
    return len(config.special_tokens) + corpus_figures(counts).alphabet
