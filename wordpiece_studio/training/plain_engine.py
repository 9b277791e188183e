"""The engine that trains small corpora before the fast one is loaded: as slow and as obvious as the definition.

`reference.py` defines counting, values, the choice of the best pair, and merging, `rules.py` what is forbidden; their
functions are used unchanged.
This module adds what :class:`~wordpiece_studio.training.config.TrainingConfig` lets choose besides: any prefix,
suffixes, tie rules, floors, and the maximum token length. It can step back, too.

**Identity.** A token does not identify a symbol: the word ``##a`` as a whole is written like an ``a`` inside a word.
So symbols are strings here with a mark before their text, ``^`` at the beginning of a word and ``~`` inside; equal
strings are the same symbol. With an empty prefix all have ``^``: then a symbol is its text alone. Vocabulary ids belong
to tokens, so two symbols may share one.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wordpiece_studio.training.engine import MergeBatch, NotACandidateError, RankedPair, StopReason
from wordpiece_studio.training.history import COLUMNS
from wordpiece_studio.training.reference import (
    Corpus,
    Pair,
    best_pair,
    count,
    count_pairs,
    count_symbols,
    likelihood,
    merge,
    pair_values,
    score,
)
from wordpiece_studio.training.rules import is_allowed
from wordpiece_studio.training.segmentation import HistoryPlaces, TrainingInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.training.config import TrainingConfig

OBJECTIVES = {"score": score, "likelihood": likelihood, "count": count}
BEGINS, CONTINUES = "^", "~"


def token_of(symbol: str, prefix: str) -> str:
    """Return how the vocabulary writes a symbol.

    >>> token_of("^hu", "##"), token_of("~gs", "##")
    ('hu', '##gs')
    """
    return prefix + symbol[1:] if symbol[0] == CONTINUES else symbol[1:]


def written(pair: Pair, prefix: str) -> Pair:
    return token_of(pair[0], prefix), token_of(pair[1], prefix)


def join(left: str, right: str) -> str:
    """Return the symbol that a pair becomes.

    >>> join("~g", "~s")
    '~gs'
    """
    return left + right[1:]


def split(word: str, config: TrainingConfig) -> list[str]:
    """Return one symbol for each character of a word, and a suffix, attached to the last one or as a symbol."""
    continues = CONTINUES if config.continuing_subword_prefix else BEGINS
    symbols = [BEGINS + word[0], *(continues + character for character in word[1:])]
    if config.end_of_word_suffix and config.end_of_word == "attached":
        symbols[-1] += config.end_of_word_suffix
    elif config.end_of_word_suffix:
        symbols.append(continues + config.end_of_word_suffix)
    return symbols


def candidates(
    pairs: dict[Pair, int], symbols: dict[str, int], ids: dict[str, int], config: TrainingConfig
) -> dict[Pair, float]:
    """Return the value of every candidate, in the order by which ties are broken; `ids` are those of the tokens."""
    values = pair_values(pairs, symbols, OBJECTIVES[config.objective], config.min_frequency)
    longest, prefix = config.max_token_length, config.continuing_subword_prefix
    if longest is not None:
        values = {pair: value for pair, value in values.items() if len(join(*pair)[1:]) <= longest}
    if config.forbidden_tokens or config.forbidden_pairs:
        rules = {*config.forbidden_tokens}, {*config.forbidden_pairs}
        values = {
            pair: value
            for pair, value in values.items()
            if is_allowed(*written(pair, prefix), token_of(join(*pair), prefix), *rules)
        }
    if config.tie == "ids":
        by_ids = sorted(values, key=lambda pair: [ids[token] for token in written(pair, prefix)])
        values = {pair: values[pair] for pair in by_ids}
    return values


class _Step(NamedTuple):
    left: str
    right: str
    before: dict[int, list[str]]


class PlainEngine:
    """A segmentation of the corpus that moves forward and back, one merge at a time, as the trainer drives it.

    `corpus` and `vocabulary` are the words and the tokens before its first merge, which `begin` others came before.
    """

    def __init__(self, config: TrainingConfig, corpus: Corpus, vocabulary: Iterable[str], begin: int = 0) -> None:
        self._config = config
        self._begin, self._choices = begin, config.choices
        self._corpus = corpus
        self._ids = {token: index for index, token in enumerate(vocabulary)}
        self._steps: list[_Step] = []
        self._current_step = 0
        sizes = [sum(len(symbol) - 1 for symbol in symbols) for symbols, _ in corpus]
        self._starts = list(itertools.accumulate((size + 1 for size in sizes), initial=1))  # see `segmentation`

    @classmethod
    def of(cls, input_: TrainingInput) -> PlainEngine:
        symbols = [(CONTINUES if symbol.continues else BEGINS) + symbol.text for symbol in input_.symbols]
        starts, lengths = input_.word_starts.tolist(), input_.word_lengths.tolist()
        corpus = [
            ([symbols[index] for index, _ in input_.symbols_between(start, start + length)], times)
            for start, length, times in zip(starts, lengths, input_.weights.tolist(), strict=True)
        ]
        return cls(input_.config, corpus, input_.vocabulary_tokens, input_.step)

    @property
    def current_step(self) -> int:
        return self._current_step

    @property
    def known(self) -> int:
        """The number of merges found so far, undone ones included; up to here, `advance` replays without choosing."""
        return len(self._steps)

    def advance(
        self, merges: int, vocab_size: int | None = None, min_value: float | None = None
    ) -> tuple[MergeBatch, StopReason | None]:
        """Carry out at most `merges` merges; return the new ones, and the reason if a limit stopped it early.

        None is found at this vocabulary size, or if the best value is below this floor. Before a chosen merge that is
        not a candidate, it returns early without a reason, or raises a `StudioError` if this is the first.
        """
        start = self._current_step
        rows: list[dict[str, Any]] = []
        places: list[list[int]] = []
        lengths: list[int] = []
        reason: StopReason | None = None
        for _ in range(merges):
            if self._current_step < len(self._steps):
                self._merge(*self._steps[self._current_step][:2])
                continue
            if vocab_size is not None and len(self._ids) >= vocab_size:
                reason = "vocab_size"
                break
            pairs, symbols = count_pairs(self._corpus), count_symbols(self._corpus)
            values = candidates(pairs, symbols, self._ids, self._config)
            if not values:
                reason = self._why_none(pairs)
                break
            if min_value is not None and max(values.values()) < min_value:
                reason = "min_value"
                break
            if (next_ := self._next_pair(values)) is None:
                if self._current_step > start:
                    break
                step = self._begin + self._current_step + 1
                raise NotACandidateError(step, self._choices[step])
            left, right = next_
            rows.append(self._row(left, right, pairs, symbols, values))
            places.append(self._merge(left, right))
            lengths.append(len(left) - 1)
        return _batch(rows, places, lengths), reason

    def retreat(self, merges: int) -> None:
        for _ in range(merges):
            self._current_step -= 1
            for index, symbols in self._steps[self._current_step].before.items():
                self._corpus[index] = symbols, self._corpus[index][1]

    def forget(self, known: int, vocabulary_size: int) -> None:
        """Undo and forget all merges after the first `known`, at which the vocabulary has `vocabulary_size` tokens.

        Needs no memory, and repairs whatever `advance` left behind when memory ran out.
        """
        self.retreat(max(0, self._current_step - known))
        del self._steps[known:]
        while len(self._ids) > vocabulary_size:
            self._ids.popitem()

    def ranked(self, limit: int) -> list[RankedPair]:
        """Return the best `limit` candidates at this step, the next merge first; ties in the order of the tie rule."""
        pairs, symbols = count_pairs(self._corpus), count_symbols(self._corpus)
        values = candidates(pairs, symbols, self._ids, self._config)
        best = sorted(values, key=values.__getitem__, reverse=True)  # equals stay in order
        if values and (chosen := self._next_pair(values)) is not None:
            best.sort(key=lambda pair: pair != chosen)
        best = best[:limit]
        return [
            (self._id(left), self._id(right), pairs[left, right], symbols[left], symbols[right], values[left, right])
            for left, right in best
        ]

    def _next_pair(self, values: dict[Pair, float]) -> Pair | None:
        """Return the pair to merge at this step, or None if one is chosen that is not a candidate."""
        chosen = self._choices.get(self._begin + self._current_step + 1)
        if chosen is None:
            return best_pair(values)
        prefix = self._config.continuing_subword_prefix
        so_written = {pair: value for pair, value in values.items() if written(pair, prefix) == chosen}
        return best_pair(so_written) if so_written else None

    def _token(self, symbol: str) -> str:
        return token_of(symbol, self._config.continuing_subword_prefix)

    def _id(self, symbol: str) -> int:
        return self._ids[self._token(symbol)]

    def _row(
        self, left: str, right: str, pairs: dict[Pair, int], symbols: dict[str, int], values: dict[Pair, float]
    ) -> dict[str, Any]:
        size, value = len(self._ids), values[left, right]
        return {
            "left_id": self._id(left),
            "right_id": self._id(right),
            "new_id": self._ids.setdefault(self._token(join(left, right)), size),
            "pair_frequency": pairs[left, right],
            "left_frequency": symbols[left],
            "right_frequency": symbols[right],
            "symbols_before": sum(symbols.values()),
            "value": value,
            "ties": sum(other == value for other in values.values()),
            "is_new": len(self._ids) > size,
        }

    def _merge(self, left: str, right: str) -> list[int]:
        new, before, places = join(left, right), {}, []
        corpus = list(self._corpus)
        for index, (symbols, times) in enumerate(self._corpus):
            merged = merge(symbols, left, right, new)
            if len(merged) < len(symbols):
                before[index], corpus[index] = symbols, (merged, times)
                old = set(_standing(symbols, self._starts[index]))
                places += [cell for cell, symbol in _standing(merged, self._starts[index]) if (cell, symbol) not in old]
        if self._current_step == len(self._steps):
            self._steps.append(_Step(left, right, before))
        self._corpus, self._current_step = corpus, self._current_step + 1  # together, should Ctrl-C come between
        return places

    def _why_none(self, pairs: dict[Pair, int]) -> StopReason:
        if not pairs:
            return "no_pair"
        if max(pairs.values()) < self._config.min_frequency:
            return "min_frequency"
        frequent = [join(*pair)[1:] for pair, n in pairs.items() if n >= self._config.min_frequency]
        longest = self._config.max_token_length
        return "max_token_length" if longest is not None and min(map(len, frequent)) > longest else "forbidden"


def _standing(symbols: list[str], cell: int) -> list[tuple[int, str]]:
    starts = itertools.accumulate((len(symbol) - 1 for symbol in symbols), initial=cell)
    return list(zip(starts, symbols, strict=False))


def _batch(rows: list[dict[str, Any]], places: list[list[int]], lengths: list[int]) -> MergeBatch:
    return MergeBatch(
        {name: np.array([row[name] for row in rows], dtype=dtype) for name, dtype in COLUMNS.items()},
        HistoryPlaces(
            position_counts=np.array([len(cells) for cells in places], dtype=np.int64),
            left_lengths=np.array(lengths, dtype=np.int64),
            positions=np.array([cell for cells in places for cell in cells], dtype=np.int32),
        ),
    )
