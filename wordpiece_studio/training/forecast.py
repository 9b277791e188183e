"""What can be told of a training beforehand, from the word counts and the settings alone.

The numbers of merges, of their places and of new pairs are estimated from trainings on English and on text in many
scripts. The forecast of memory errs on the high side; that of time is within a factor of two. The word counts
themselves and the program with its kernels are not included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.counts import WordCounts, distinct_symbols
from wordpiece_studio.system.arrays import code_points_of, lengths_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.training.config import TrainingConfig

# This many words give the length of all to one percent; looking at each of a million would take too long.
_SAMPLE = 1 << 15

# Bytes per cell, word, place, pair and merge, in all columns of all arrays together.
_CELL, _WORD, _PLACE, _PAIR, _MERGE = 30, 56, 15, 76, 535
_NAME = 420  # per merge whose token may be written like another one: symbol and token, each in a dictionary
_KEPT_CELL, _MOST_KEPT = 12, 8 << 20  # per cell, up to this many: freed, but kept by the C library
_PASSING_PAIR, _PASSING_PLACE, _PASSING_MERGE = 72, 4, 272  # while a shortlist is chosen, or while arrays are enlarged

# Estimates from measured trainings.
# The share of all possible merges that are made, without a minimum frequency and with one.
_MERGES = {"score": (0.5, 0.33), "likelihood": (0.28, 0.18), "count": (0.28, 0.18)}
_SCORED_PLACES = (4, 3, 0.75)  # per merge under the score, which prefers rare pairs: 4 + 3 · floor ** 0.75
_COUNTED_PLACES = 0.05  # under the others, which prefer frequent pairs: most of all places, (merges / all) ** 0.05
_DISTINCT_PAIRS = 1.25  # times the cube root of merges · places²
_MOST_DISTINCT_PAIRS = 0.8  # times the places

# Seconds on a machine whose pace is 1.
_START, _WORD_SECONDS, _PLACE_SECONDS = 0.004, 2e-7, 1e-8
# Per cell; per merge; and per merge times the square root of the number of pairs it is chosen from.
_SECONDS = {"score": (7.5e-8, 3e-6, 7e-9), "likelihood": (1e-7, 2e-6, 3e-9), "count": (1e-7, 2e-6, 3e-9)}
_WATCHED_START, _WATCHED_MERGE = 0.03, 1.2e-5  # if merges are shown as they are made: at most a thousand per 16 ms


@dataclass(frozen=True, slots=True)
class MemoryForecast:
    held: int  # bytes in use at the end of the training
    passing: int  # and besides at the peak

    @property
    def peak(self) -> int:
        return self.held + self.passing

    def beyond(self, present: MemoryForecast) -> int:
        """Return what this training still needs if it continues `present`, whose passing memory has been freed."""
        return self.peak - present.held


@dataclass(frozen=True, slots=True)
class _Work:
    cells: float
    merges: float
    places: float  # that the merges change
    pairs: float  # distinct ones, at the end


class Forecaster:
    """Forecasts for one corpus with any settings; each takes microseconds. Of many words only a sample is read."""

    def __init__(self, counts: WordCounts) -> None:
        stride = len(counts) // _SAMPLE | 1  # odd: words may alternate
        sample = counts.sample(stride)
        self._words = len(counts)
        self._lengths = lengths_of(sample)
        self._weights = counts.counts[::stride]
        self._scale = self._words / max(1, len(sample))
        of_sample = distinct_symbols([(code_points_of(sample, self._lengths), self._lengths)])
        self.alphabet = counts.alphabet_size if counts.pre_tokenizer.is_byte_level else of_sample

    def memory(self, config: TrainingConfig) -> MemoryForecast:
        """Return the memory that a training with these settings will need on top of the words.

        >>> from wordpiece_studio.corpus.counts import WordCounts
        >>> from wordpiece_studio.training.config import TrainingConfig
        >>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("hugs", 5)])
        >>> Forecaster(counts).memory(TrainingConfig(max_merges=0)).peak
        756
        """
        work = self._work(config)
        is_named = config.end_of_word_suffix or not config.continuing_subword_prefix or config.has_rules
        names = _NAME if is_named else 0
        held = (
            self._words * _WORD
            + work.cells * (_CELL + _KEPT_CELL * (work.cells <= _MOST_KEPT))
            + work.places * _PLACE
            + work.pairs * _PAIR
            + work.merges * (_MERGE + names)
        )
        passing = max(work.pairs * _PASSING_PAIR, work.places * _PASSING_PLACE, work.merges * _PASSING_MERGE)
        return MemoryForecast(int(held), int(passing))

    def seconds(self, config: TrainingConfig, pace: float = 1.0, *, is_watched: bool = False) -> float:
        """Return the seconds that a training will take on a machine with this pace, or in the window, `is_watched`."""
        work = self._work(config)
        cell, merge, choice = _SECONDS[config.objective]
        seconds = _START + pace * (
            self._words * _WORD_SECONDS
            + work.cells * cell
            + work.merges * (merge + choice * work.pairs**0.5)
            + work.places * _PLACE_SECONDS
        )
        if is_watched:
            seconds += _WATCHED_START + work.merges * _WATCHED_MERGE
        return float(seconds if config.max_seconds is None else min(seconds, config.max_seconds))

    def _work(self, config: TrainingConfig) -> _Work:
        suffix = config.end_of_word_suffix or ""
        has_own_symbol = bool(suffix) and config.end_of_word == "symbol"
        characters = self._scale * float(self._lengths.sum())
        adjacent = characters - self._words * (not has_own_symbol)
        merges = self._merges(config, has_own_symbol)
        places = adjacent
        if config.objective == "score":
            least, factor, exponent = _SCORED_PLACES
            places = min(adjacent, merges * (least + factor * float(config.min_frequency**exponent)))
        elif adjacent:
            places *= min(1.0, merges / adjacent) ** _COUNTED_PLACES
        pairs = min(_DISTINCT_PAIRS * (merges * places**2) ** (1 / 3), _MOST_DISTINCT_PAIRS * places)
        return _Work(characters + self._words * (1 + len(suffix)) + 1, merges, places, pairs)

    def _merges(self, config: TrainingConfig, has_own_symbol: bool) -> float:
        # Occurrences must add up to the floor: two adjacent symbols make at most 1 / floor of a merge possible for each
        # time that their word occurs.
        floor = max(1, config.min_frequency)
        shares = np.minimum(1.0, self._weights / floor)
        could = self._scale * float(((self._lengths - (not has_own_symbol)) * shares).sum())
        limits = [could * _MERGES[config.objective][floor > 1]]
        if config.vocab_size is not None:
            initial = len(config.base_tokens or (*config.reserved_tokens, *range(self.alphabet)))
            initial += len(config.required_tokens)
            limits.append(config.vocab_size - initial)
        if config.max_merges is not None:
            limits.append(config.max_merges)
        return max(0.0, min(limits))


# Notices.


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence with ``{named}`` fields, which a window can translate, and their values."""

    template: str
    values: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


def corpus_notices(counts: WordCounts, config: TrainingConfig) -> list[Notice]:
    prefix, seen = config.continuing_subword_prefix, counts.statistics.spelled_out
    sought = {token for token in config.special_tokens if len(token) > 1 and not seen.get(token)}
    bodies = _ordinary_bodies(config)
    found = counts.indices_with(sought | set(bodies.values()) | ({prefix} - {""}))
    notices = [*_spelled_out(counts, config, found), *_also_ordinary(counts, prefix, bodies, found)]
    not_taken_out = [token for token in config.user_tokens if token not in counts.statistics.user_tokens]
    if not_taken_out:
        words = (
            "The words were counted without taking the user tokens out of the text: {tokens}. Where they are spelled "
            "out, their letters are trained on as ordinary text."
        )
        more = ", …" if len(not_taken_out) > 5 else ""
        notices.append(Notice(words, {"tokens": ", ".join(not_taken_out[:5]) + more}))
    if not prefix and config.end_of_word_suffix is None and config.objective != "count":  # byte pair encoding has none
        notices.append(
            Notice(
                "The prefix of tokens inside words is empty: they are written like tokens at the beginning of a word "
                "and share their IDs, so decoding cannot tell where a word begins."
            )
        )
    holding = (counts.words[index] for index in found.get(prefix, ()))
    prefixed = [word for word in holding if word.startswith(prefix) and word != prefix]
    if prefixed:
        words = (
            "Words of the corpus begin with the prefix {prefix}, such as {word} ({number:,} in all). Their tokens can "
            "be written like tokens inside a word, and then share an ID with them."
        )
        notices.append(Notice(words, {"number": len(prefixed), "prefix": prefix, "word": prefixed[0]}))
    unk_token = config.vocabulary(config.special_tokens).unk_token
    if unk_token not in config.special_tokens:
        words = "{token} is not among the special tokens: words that the vocabulary cannot spell will have no ID."
        notices.append(Notice(words, {"token": unk_token}))
    return notices


def _spelled_out(counts: WordCounts, config: TrainingConfig, found: dict[str, list[int]]) -> Iterator[Notice]:
    occurring: list[tuple[str, int]] = []
    for token in config.special_tokens:
        times = counts.statistics.spelled_out.get(token, 0)
        if not times and len(token) > 1:
            times = sum(counts.counts[index].item() for index in found[token])
        if times:
            occurring.append((token, times))
    words = (
        "The corpus spells out the special tokens {tokens}. They are trained on as ordinary text; a tokenizer will "
        "take them for the special tokens."
    )
    if len(occurring) == 1:
        words = (
            "The corpus spells out the special token {tokens}. It is trained on as ordinary text; a tokenizer will "
            "take it for the special token."
        )
    if occurring:
        yield Notice(words, {"tokens": ", ".join(f"{token} ({times:,}×)" for token, times in occurring)})


def _ordinary_bodies(config: TrainingConfig) -> dict[str, str]:
    """Return the special tokens that may be ordinary tokens too, each with the text that it would be in a word."""
    prefix = config.continuing_subword_prefix
    bodies = {token: token for token in config.special_tokens if len(token) == 1}
    inside = [token for token in config.special_tokens if prefix and token.startswith(prefix) and token != prefix]
    return bodies | {token: token.removeprefix(prefix) for token in inside}


def _also_ordinary(
    counts: WordCounts, prefix: str, bodies: dict[str, str], found: dict[str, list[int]]
) -> Iterator[Notice]:
    for token, body in bodies.items():
        begins_words = token == body and bool(prefix)
        words = (counts.words[index] for index in found[body])
        if any(word.startswith(body) if begins_words else word.find(body, len(token) > 1) >= 0 for word in words):
            yield Notice(
                "The special token {token} is also an ordinary token of this corpus, or may become one. Both share "
                "one ID, and a tokenizer takes it for the special token.",
                {"token": token},
            )
