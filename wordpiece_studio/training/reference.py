"""The obvious engine: counts everything anew at every step, in plain Python; and the value of a pair that it goes by.

The order of the operations on float64 values is part of the definition, because equal values are ties. The compiled
kernels carry out the same operations in the same order.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.training.engine import Limits, MergeBatch, RankedPair, StopReason

if TYPE_CHECKING:
    from wordpiece_studio.training.config import Objective
    from wordpiece_studio.training.initial_state import TrainingInput


_PairValue = Callable[[int, int, int, int], float]
"""(n(a, b), f(a), f(b), N) → value."""


def score(n: int, left: int, right: int, symbols: int) -> float:
    """Return n / (f(a) · f(b)), the score of the Hugging Face course, chapter 6.6.

    >>> score(5, 20, 5, 113)
    0.05
    """
    return float(n) / (float(left) * float(right))


def likelihood(n: int, left: int, right: int, symbols: int) -> float:
    """Return n · ln(n · N / (f(a) · f(b))): the first-order gain in the corpus's unigram log-likelihood.

    This is the rule in words of Schuster & Nakajima, "Japanese and Korean voice search" (2012). The logarithm is the
    mathematics library's, so the last bit may differ between platforms.
    """
    return float(n) * math.log((float(n) * float(symbols)) / (float(left) * float(right)))


def count(n: int, left: int, right: int, symbols: int) -> float:
    """Return n: byte pair encoding (Sennrich, Haddow & Birch, 2016)."""
    return float(n)


_PAIR_VALUES: dict[Objective, _PairValue] = {"score": score, "likelihood": likelihood, "count": count}


Pair = tuple[int, int]
Word = list[tuple[int, int]]
"""(symbol, first cell) of every symbol in a word."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A pair with its numbers: n, f(left), f(right), value."""

    pair: Pair
    n: int
    left: int
    right: int
    value: float


@dataclass(frozen=True, slots=True)
class _Step:
    """A merge that was found, and the words as they were before it."""

    pair: Pair
    new: int
    before: dict[int, Word]


class PlainEngine:
    """See :class:`~wordpiece_studio.training.engine.Engine`."""

    def __init__(self, input_: TrainingInput) -> None:
        config = input_.config
        self._config = config
        self._value = _PAIR_VALUES[config.objective]
        self._weights = input_.weights.tolist()
        self._words: list[Word] = [
            list(input_.symbols_between(start, start + length))
            for start, length in zip(input_.word_starts.tolist(), input_.word_lengths.tolist(), strict=True)
        ]
        # One entry a symbol; a symbol is known by its text and by whether it continues a word.
        self._symbols = list(input_.symbols)
        self._index = {symbol: index for index, symbol in enumerate(self._symbols)}
        self._ids = input_.symbol_ids.tolist()
        self._tokens = {token: index for index, token in enumerate(input_.vocabulary_tokens)}
        self._steps: list[_Step] = []
        self._current_step = 0

    @property
    def current_step(self) -> int:
        """The number of merges carried out."""
        return self._current_step

    @property
    def known(self) -> int:
        """The number of merges ever found."""
        return len(self._steps)

    def advance(self, merges: int, limits: Limits) -> tuple[MergeBatch, StopReason | None]:
        """Carry out at most `merges` merges."""
        rows: list[dict[str, object]] = []
        places: list[list[int]] = []
        lengths: list[int] = []
        reason: StopReason | None = None
        for _ in range(merges):
            if self.current_step < self.known:
                step = self._steps[self.current_step]
                self._merge(step.pair, step.new)
                continue
            if limits.vocab_size is not None and len(self._tokens) >= limits.vocab_size:
                reason = "vocab_size"
                break
            found = self._candidates()
            if not found:
                reason = self._why_none()
                break
            best = found[0]
            if limits.min_value is not None and best.value < limits.min_value:
                reason = "min_value"
                break
            row, positions = self._merge_best(best, sum(one.value == best.value for one in found))
            rows.append(row)
            places.append(positions)
            lengths.append(len(self._symbols[best.pair[0]].text))
        return _batch(rows, places, lengths), reason

    def retreat(self, merges: int) -> None:
        """Undo the last `merges` merges."""
        for _ in range(merges):
            self._current_step -= 1
            for index, word in self._steps[self.current_step].before.items():
                self._words[index] = word

    def forget(self, known: int, vocabulary_size: int) -> None:
        """Undo and unlearn all merges after the first `known`."""
        self.retreat(max(0, self._current_step - known))
        del self._steps[known:]
        while len(self._tokens) > vocabulary_size:
            self._tokens.popitem()

    def ranked(self, limit: int) -> list[RankedPair]:
        """Return the best candidates at this step."""
        return [
            RankedPair(self._ids[one.pair[0]], self._ids[one.pair[1]], one.n, one.left, one.right, one.value)
            for one in self._candidates()[:limit]
        ]

    def _count(self) -> tuple[dict[Pair, int], dict[int, int], int]:
        """Return n of every pair in order of first occurrence, f of every symbol, and N."""
        pairs: dict[Pair, int] = defaultdict(int)
        symbols: dict[int, int] = defaultdict(int)
        for word, weight in zip(self._words, self._weights, strict=True):
            for symbol, _ in word:
                symbols[symbol] += weight
            for (left, _), (right, _) in itertools.pairwise(word):
                pairs[left, right] += weight
        return pairs, symbols, sum(symbols.values())

    def _candidates(self) -> list[_Found]:
        """Return every candidate, best first; sorting is stable, so equals stay in order of first occurrence."""
        pairs, symbols, total = self._count()
        longest = self._config.max_token_length
        found = [
            _Found(
                (left, right), n, symbols[left], symbols[right], self._value(n, symbols[left], symbols[right], total)
            )
            for (left, right), n in pairs.items()
            if n >= self._config.min_frequency
            and (longest is None or len(self._symbols[left].text) + len(self._symbols[right].text) <= longest)
        ]
        if self._config.tie == "ids":
            found.sort(key=lambda one: (self._ids[one.pair[0]], self._ids[one.pair[1]]))
        return sorted(found, key=lambda one: -one.value)

    def _why_none(self) -> StopReason:
        pairs = self._count()[0]
        if not pairs:
            return "no_pair"
        return "min_frequency" if max(pairs.values()) < self._config.min_frequency else "max_token_length"

    def _merge_best(self, best: _Found, ties: int) -> tuple[dict[str, object], list[int]]:
        """Merge a pair for the first time; return its record and its places."""
        left, right = best.pair
        symbol = self._symbols[left].joined(self._symbols[right])
        token = symbol.token(self._config.continuing_subword_prefix)
        is_new = token not in self._tokens
        token_id = self._tokens.setdefault(token, len(self._tokens))
        if symbol not in self._index:
            self._index[symbol] = len(self._symbols)
            self._symbols.append(symbol)
            self._ids.append(token_id)
        new = self._index[symbol]
        total = self._count()[2]
        before, positions = self._merge(best.pair, new)
        self._steps.append(_Step(best.pair, new, before))
        row: dict[str, object] = {
            "left_id": self._ids[left],
            "right_id": self._ids[right],
            "new_id": token_id,
            "pair_frequency": best.n,
            "left_frequency": best.left,
            "right_frequency": best.right,
            "symbols_before": total,
            "value": best.value,
            "ties": ties,
            "is_new": is_new,
        }
        return row, positions

    def _merge(self, pair: Pair, new: int) -> tuple[dict[int, Word], list[int]]:
        """Join `pair` from left to right in every word; return the words as they were, and the places."""
        left, right = pair
        before: dict[int, Word] = {}
        after: dict[int, Word] = {}
        positions: list[int] = []
        for index, word in enumerate(self._words):
            joined: Word = []
            for symbol, cell in word:
                if joined and symbol == right and joined[-1][0] == left:
                    positions.append(joined[-1][1])
                    joined[-1] = (new, joined[-1][1])
                else:
                    joined.append((symbol, cell))
            if len(joined) != len(word):
                before[index], after[index] = word, joined
        for index, word in after.items():
            self._words[index] = word
        self._current_step += 1
        return before, positions


def _batch(rows: list[dict[str, object]], places: list[list[int]], lengths: list[int]) -> MergeBatch:
    names = rows[0] if rows else {"is_new": False}
    return MergeBatch(
        columns={name: np.array([row[name] for row in rows]) for name in names},
        position_counts=np.array([len(positions) for positions in places], dtype=np.int64),
        positions=np.array([cell for positions in places for cell in positions], dtype=np.int32),
        left_lengths=np.array(lengths, dtype=np.int64),
    )
