"""Going on with a training on other words: what that means, and how it is found fast.

The old merges are replayed on the new words: each in its turn, wherever its pair stands then. All old tokens keep their
ids, characters that they lack follow, and from there the training goes on as any other, by the counts of the new words
alone. Whoever wants to count the old words, too, passes both.

>>> replayed(["h", "##u", "##g", "##s"], [("##u", "##g"), ("h", "##u"), ("h", "##ug")])
['hug', '##s']
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from wordpiece_studio.training.reference import join, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wordpiece_studio.training.reference import Pair

    NumberPair = tuple[int, int]


def replayed(symbols: list[str], merges: Iterable[Pair]) -> list[str]:
    """Return the symbols of a word after merges in their order: the definition."""
    for left, right in merges:
        symbols = merge(symbols, left, right, join(left, right))
    return symbols


def replayed_words(words: Iterable[list[int]], merges: Iterable[tuple[NumberPair, int]]) -> Iterator[list[int]]:
    """Yield words after merges, each of two numbered symbols into one, as `replayed` does.

    In each word the next merge is the earliest after the last one whose pair stands there.
    """
    merge_numbers = cast("Callable[[list[int], int, int, int], list[int]]", merge)
    turns: defaultdict[NumberPair, list[int]] = defaultdict(list)
    made: dict[NumberPair, int] = {}
    for turn, (pair, new) in enumerate(merges):
        turns[pair].append(turn)
        made[pair] = new
    for word in words:
        last = -1
        while len(word) > 1:
            coming = [
                (found[place], pair)
                for pair in pairwise(word)
                if (found := turns.get(pair)) and (place := bisect_right(found, last)) < len(found)
            ]
            if not coming:
                break
            last, pair = min(coming)
            word = merge_numbers(word, *pair, made[pair])
        yield word
