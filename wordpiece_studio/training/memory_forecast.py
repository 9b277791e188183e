"""How much memory a training will take, from the word counts and the settings alone, before any of it is taken.

What the corpus decides is computed: the cells, and the arrays that have an entry for each. What the merges will come
to, how many there are, in how many places and with how many new pairs, is estimated from what trainings of English and
of text in many scripts came to, rather too much than too little. The word counts themselves and the program with its
kernels are not part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig

_SAMPLE = 1 << 15
"""So many words tell the length of all to one part in a hundred; to look at each of a million would take too long."""

# Bytes an entry, all columns of all arrays that have one together.
_CELL = 4
_WEIGHT = 8  # of a cell
_INPUT_WORD = 8 + 3 * 8  # in the list of words; start, length, number of symbols
_LAID_OUT_CHARACTER = 4 * 4 + 8  # code point, key, width, symbol; place
_LAID_OUT_WORD = 3 * 8
_PLACE = 4
_PAIR = 8 * 4 + 8  # a row of pairs, n
_CHANGE = 4 * 4 + 8  # a row of changes, the weight
_MERGE = 17 * 8 + 8  # a row of merges, the value
_SYMBOL = 15 * 8 + 8  # a row of symbols, f
_RECORD = 9 * 8 + 1 + 2 * 8 + 4  # columns of the history; vocabulary size, offset of the places, length of left
_TOKEN = 170  # as text, in a list and in a dictionary
_NAME = 420  # of a merge whose token could be written like another one: symbol and token, each in a dictionary
_CHOSEN_PAIR = 72  # while the best are chosen: rows, values, bounds, masks, and its share of those that tie

# How the engine makes room.
_PAIRS_AT_FIRST = 1 / 4  # of the cells
_MERGES_AT_FIRST = 1 << 16
_LARGEST_KEPT = 32 << 20  # bytes; smaller arrays that are given back stay with the C library, for others as small

# What trainings come to.
_MERGES = {"score": (0.5, 0.33), "likelihood": (0.28, 0.18), "count": (0.28, 0.18)}
"""The part of all merges there could be that there are, without a floor for the count of a pair and with one."""
_NEW_PAIRS = 1.6  # occurrences for each place that is merged: one on either side, where the word goes on
_SCORED_PLACES = (4, 3, 0.75)  # of a merge under the score, which prefers what is rare: 4 + 3 · floor ** 0.75
_COUNTED_PLACES = 0.05  # under the others, which prefer what is frequent: most of all, (merges / all) ** 0.05
_DISTINCT_PAIRS = 1.25  # times the third root of merges · places²
_MOST_DISTINCT_PAIRS = 0.8  # of the places


@dataclass(frozen=True, slots=True)
class MemoryForecast:
    """Bytes.

    Attributes
    ----------
    input
        The words as cells, there as long as the training is.
    preparation
        Beside it, while the words are laid out.
    kept
        What of that stays with the C library after it was given back.
    start
        Beside these two, while the engine is made.
    engine, history
        Beside them, at the end of the training.
    passing
        Beside all these, at the worst moment: arrays that are enlarged, and what it takes to choose among all pairs.
    """

    input: int
    preparation: int
    kept: int
    start: int
    engine: int
    history: int
    passing: int

    @property
    def peak(self) -> int:
        """The most that is taken at one time."""
        later = max(self.start, self.engine + self.history + self.passing)
        return self.input + max(self.preparation, self.kept + later)

    def beyond(self, present: MemoryForecast) -> int:
        """Return what it still takes to come to the end of this training from that of `present`, the same but shorter.

        That one holds its arrays; what it took besides has been given back.
        """
        return self.engine + self.history + self.passing - present.engine - present.history


@dataclass(frozen=True, slots=True)
class TrainingExtent:
    """How much there is to do: computed, or estimated as the module's docstring says.

    Attributes
    ----------
    words, characters
        Of the distinct words.
    cells, adjacent
        Cells of their layout, and pairs of neighbours at the beginning.
    merges, places, pairs
        How many merges there may be, in how many places, and how many distinct pairs there are by then.
    """

    words: int
    characters: float
    cells: float
    adjacent: float
    merges: float
    places: float
    pairs: float


class MemoryForecaster:
    """Forecasts for one corpus with any settings; each takes microseconds.

    Parameters
    ----------
    counts
        The words to train on. Of many words some are looked at; that takes milliseconds.
    """

    def __init__(self, counts: WordCounts) -> None:
        stride = len(counts) // _SAMPLE | 1  # odd: words can come in turns
        sample = counts.words[::stride]
        self._words = len(counts)
        self._lengths = np.fromiter(map(len, sample), dtype=np.int64, count=len(sample))
        self._weights = counts.counts[::stride]
        self._scale = self._words / max(1, len(sample))
        self._alphabet = _alphabet_size(sample, self._lengths)

    def extent(self, config: TrainingConfig) -> TrainingExtent:
        """Return how much a training with these settings will have to do."""
        suffix = config.end_of_word_suffix or ""
        own = bool(suffix) and config.end_of_word == "symbol"
        characters = self._scale * float(self._lengths.sum())
        cells = characters + self._words * (1 + len(suffix)) + 1
        adjacent = characters - self._words * (not own)
        merges = self._merges(config, own)
        places = _places(config, adjacent, merges)
        pairs = min(_DISTINCT_PAIRS * (merges * places**2) ** (1 / 3), _MOST_DISTINCT_PAIRS * places)
        return TrainingExtent(self._words, characters, cells, adjacent, merges, places, pairs)

    def forecast(self, config: TrainingConfig) -> MemoryForecast:
        """Return what a training with these settings will take."""
        suffix = config.end_of_word_suffix or ""
        extent = self.extent(config)
        characters, cells, adjacent = extent.characters, extent.cells, extent.adjacent
        merges, places, pairs = extent.merges, extent.places, extent.pairs
        weighted_cells = cells * (_CELL + _WEIGHT)  # the engine has a copy of the cells
        table = _table(cells, pairs)
        names = _NAME if suffix or not config.continuing_subword_prefix else 0
        return MemoryForecast(
            input=int(cells * _CELL + self._words * _INPUT_WORD),
            preparation=int(characters * _LAID_OUT_CHARACTER + self._words * _LAID_OUT_WORD),
            kept=int(_kept(characters, cells, self._words)),
            start=int(cells * 2 * _CELL + weighted_cells + table + adjacent * _PLACE),
            engine=int(
                weighted_cells
                + table
                + (adjacent + _NEW_PAIRS * places) * _PLACE
                + places * _PLACE
                + pairs * (_PAIR + _CHANGE)
                + merges * (_MERGE + _SYMBOL + names)
            ),
            history=int(cells * _CELL + places * _PLACE + merges * (_RECORD + _TOKEN)),
            passing=int(_enlarging(cells, places, pairs, merges)),
        )

    def _merges(self, config: TrainingConfig, own: bool) -> float:
        """Return how many merges there may be.

        A merge needs occurrences that weigh as much as the floor, so there cannot be more than adjacent symbols with
        one part in floor of a merge for each time that their word occurs.
        """
        floor = max(1, config.min_frequency)
        shares = np.minimum(1.0, self._weights / floor)
        could = self._scale * float(((self._lengths - (not own)) * shares).sum())
        limits = [could * _MERGES[config.objective][floor > 1]]
        if config.vocab_size is not None:
            limits.append(config.vocab_size - len(config.special_tokens) - self._alphabet)
        if config.max_merges is not None:
            limits.append(config.max_merges)
        return max(0.0, min(limits))


def _alphabet_size(words: list[str], lengths: NDArray[np.int64]) -> int:
    """Return the number of symbols in these words; one at the beginning of a word and one inside differ."""
    if not words:
        return 0
    characters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    keys = characters * 2
    keys[np.cumsum(lengths) - lengths] += 1
    occurs = np.zeros(int(keys.max()) + 1, dtype=np.bool_)
    occurs[keys] = True
    return int(occurs.sum())


def _places(config: TrainingConfig, adjacent: float, merges: float) -> float:
    """Return in how many places there will be a merge; in each of the adjacent pairs there can be one."""
    if not adjacent:
        return 0.0
    if config.objective != "score":
        return float(adjacent * min(1.0, merges / adjacent) ** _COUNTED_PLACES)
    least, factor, exponent = _SCORED_PLACES
    return min(adjacent, merges * (least + factor * float(config.min_frequency**exponent)))


def _table(cells: float, pairs: float) -> int:
    """Return the bytes of the hash table, which is at most half full."""
    rows = int(max(1024, cells * _PAIRS_AT_FIRST, pairs))
    return 4 << (2 * rows - 1).bit_length()


def _kept(characters: float, cells: float, words: int) -> float:
    """Return the bytes that are given back before the first merge and stay with the C library."""
    kept = 0.0
    if cells * _CELL <= _LARGEST_KEPT:
        # The history's cells and the engine's find room there; the row of the pair at each cell is kept as well.
        kept += max(0.0, characters * 4 * 4 - cells * 2 * _CELL) + cells * _CELL
    if words * 8 <= _LARGEST_KEPT:
        kept += words * _LAID_OUT_WORD
    return kept


def _enlarging(cells: float, places: float, pairs: float, merges: float) -> float:
    """Return the bytes of the largest thing that is there for a moment only: mostly the old copy of an array."""
    grown_pairs = pairs * (_PAIR + _CHANGE) if pairs > cells * _PAIRS_AT_FIRST else 0.0
    grown_merges = merges * (_MERGE + _SYMBOL) if merges > _MERGES_AT_FIRST else 0.0
    return max(pairs * _CHOSEN_PAIR, places * _PLACE, grown_pairs, grown_merges)


def forecast_memory(counts: WordCounts, config: TrainingConfig) -> MemoryForecast:
    """Return what a training of these words with these settings will take on top of them.

    >>> from wordpiece_studio.corpus.counts import WordCounts
    >>> from wordpiece_studio.training.config import TrainingConfig
    >>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("hugs", 5)])
    >>> forecast_memory(counts, TrainingConfig()).input
    152
    """
    return MemoryForecaster(counts).forecast(config)
