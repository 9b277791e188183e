"""The tokens that a vocabulary lacks for a domain, as `extension_reference.py` defines them, found fast.

What each token would save is kept up to date: joining one changes the words that it occurs in, and nothing else. The
best is on top of a heap, whose entries may be out of date.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from wordpiece_studio.training.extension_reference import joined, savings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from wordpiece_studio.training.reference import Corpus

_AT_ONCE = 1 << 10  # words or tokens between two calls of `check_stop`


def additions(
    corpus: Corpus,
    vocabulary: Collection[str],
    *,
    min_frequency: int = 0,
    prefix: str = "##",
    excluded: Collection[str] = (),
    check_stop: Callable[[], None] = lambda: None,
) -> Iterator[tuple[str, int]]:
    """Yield the tokens to add, best first, each with what it saves when its turn comes.

    `corpus`: the words as they are split at first, which changes as tokens are joined. None of `excluded` is added or
    joined.
    """
    known = set(vocabulary)
    values: Counter[str] = Counter()
    places: defaultdict[str, set[int]] = defaultdict(set)
    for index, (symbols, times) in enumerate(corpus):
        if not index % _AT_ONCE:
            check_stop()
        for token, saved in savings(symbols, times, known, min_frequency, prefix):
            values[token] += saved
            places[token].add(index)
    for token in excluded:
        places.pop(token, None)
    heap = [(-value, token) for token, value in values.items() if token in places]
    heapq.heapify(heap)
    joins = 0
    while heap and -heap[0][0] >= min_frequency:
        value, token = heapq.heappop(heap)
        if values[token] != -value or not value:
            continue
        joins += 1
        if not joins % _AT_ONCE:
            check_stop()
        is_new = token not in known
        changes: Counter[str] = Counter()
        inside = places[token]
        for index in inside:
            symbols, times = corpus[index]
            for other, saved in savings(symbols, times, known, min_frequency, prefix):
                changes[other] -= saved
        known.add(token)
        for index in inside:
            symbols, times = corpus[index]
            symbols = joined(symbols, token, may_be_whole=times >= min_frequency, prefix=prefix)
            corpus[index] = symbols, times
            for other, saved in savings(symbols, times, known, min_frequency, prefix):
                changes[other] += saved
                if other not in excluded:
                    places[other].add(index)
        for other, change in changes.items():
            if change:
                values[other] += change
                if other in places and values[other]:
                    heapq.heappush(heap, (-values[other], other))
        if is_new:
            yield token, -value
