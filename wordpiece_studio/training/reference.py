"""Training a WordPiece vocabulary: the whole definition on one page.

This is what training means here, in plain Python. It counts the corpus anew at every merge, so it is slow; but each
line can be checked by hand, and every engine of this program must give exactly the same merges. Read `train` at the
end first if you like: the functions before it are its steps, in order.

The examples use the corpus of the Hugging Face course: five words and how often each occurs.

    hug 10, pug 5, pun 12, bun 4, hugs 5

What is left out, such as special tokens, a limit to the alphabet, and words that contain ``##`` themselves, is in
`oracle.py`. `kernels/__init__.py` explains how the same result is found a thousand times faster.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable

Pair = tuple[str, str]
Corpus = list[tuple[list[str], int]]
"""The words of a text, each as a list of symbols, with the number of times that it occurs."""
Objective = Callable[[int, int, int, int], float]
"""A rule for how good a pair is: (n, left, right, total) → value, see `score`."""

PREFIX = "##"
WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


# Splitting: a word begins as its characters.


def split(word: str) -> list[str]:
    """Return the characters of a word, with the prefix on all but the first.

    >>> split("hug")
    ['h', '##u', '##g']
    """
    return [word[0], *(PREFIX + character for character in word[1:])]


# Counting: a word that occurs ten times counts ten times.


def count_symbols(corpus: Corpus) -> dict[str, int]:
    """Return how often each symbol occurs.

    >>> count_symbols([(split("hug"), 10), (split("hugs"), 5)])
    {'h': 15, '##u': 15, '##g': 15, '##s': 5}
    """
    counts: dict[str, int] = defaultdict(int)
    for symbols, times in corpus:
        for symbol in symbols:
            counts[symbol] += times
    return dict(counts)


def count_pairs(corpus: Corpus) -> dict[Pair, int]:
    """Return how often each two symbols stand side by side, in the order in which the pairs first occur.

    >>> count_pairs([(split("hug"), 10), (split("hugs"), 5)])
    {('h', '##u'): 15, ('##u', '##g'): 15, ('##g', '##s'): 5}

    Occurrences may overlap: ``##a ##a`` stands twice in ``aaaa``, that is ``a ##a ##a ##a``.

    >>> count_pairs([(split("aaaa"), 1)])
    {('a', '##a'): 1, ('##a', '##a'): 2}
    """
    counts: dict[Pair, int] = defaultdict(int)
    for symbols, times in corpus:
        for pair in itertools.pairwise(symbols):
            counts[pair] += times
    return dict(counts)


# Objectives: how good is a pair? Let n be the count of the pair, `left` and `right` the counts of its two symbols, and
# `total` the number of all symbols. The counts are exact. A value is a 64-bit float, and the operations that make it
# are carried out in the order written here, because pairs with equal values tie.


def score(n: int, left: int, right: int, total: int) -> float:
    """Return the score of a pair: how often its symbols meet, measured by how often they occur.

    This is the WordPiece of the Hugging Face course. Of ``##g ##s``, which occurs 5 times:

    >>> score(5, 20, 5, total=113)
    0.05
    """
    return float(n) / (float(left) * float(right))


def likelihood(n: int, left: int, right: int, total: int) -> float:
    """Return about how much the log-likelihood of the corpus grows if the pair becomes one symbol.

    Schuster & Nakajima give this rule in words in "Japanese and Korean voice search" (2012). The logarithm is taken of
    the ratio between how often the two symbols meet and how often they would meet by chance. It comes from the
    platform's mathematics library, so its last bit may differ between platforms.

    >>> round(likelihood(5, 20, 5, total=113), 2)
    8.66
    """
    return float(n) * math.log((float(n) * float(total)) / (float(left) * float(right)))


def count(n: int, left: int, right: int, total: int) -> float:
    """Return how often the pair occurs: byte pair encoding (Sennrich, Haddow & Birch, 2016).

    >>> count(5, 20, 5, total=113)
    5.0
    """
    return float(n)


def pair_values(
    pairs: dict[Pair, int], symbols: dict[str, int], objective: Objective, min_frequency: int = 0
) -> dict[Pair, float]:
    """Return the value of every candidate: of the pairs that occur at least `min_frequency` times.

    >>> corpus = [(split("hug"), 10), (split("hugs"), 5)]
    >>> pair_values(count_pairs(corpus), count_symbols(corpus), count, min_frequency=10)
    {('h', '##u'): 15.0, ('##u', '##g'): 15.0}
    """
    total = sum(symbols.values())
    return {
        (left, right): objective(n, symbols[left], symbols[right], total)
        for (left, right), n in pairs.items()
        if n >= min_frequency
    }


# Choosing: the highest value wins, and ties are broken by the order of the corpus.


def best_pair(values: dict[Pair, float]) -> Pair:
    """Return the pair with the highest value; among equals, the one that occurs first in the corpus.

    Of equal values `max` returns the first, and `count_pairs` puts the pairs in the order of the corpus.

    >>> best_pair({("h", "##u"): 1 / 36, ("##u", "##g"): 1 / 36, ("##g", "##s"): 1 / 20})
    ('##g', '##s')
    >>> best_pair({("h", "##u"): 1 / 36, ("##u", "##g"): 1 / 36})
    ('h', '##u')
    """
    return max(values, key=values.__getitem__)


# Merging: the two symbols become one wherever they stand side by side.


def join(left: str, right: str) -> str:
    """Return the symbol that a pair becomes.

    >>> join("##g", "##s")
    '##gs'
    """
    return left + right.removeprefix(PREFIX)


def merge(symbols: list[str], left: str, right: str, new: str) -> list[str]:
    """Return the symbols of a word with `new` in place of each `left` `right`, found from left to right.

    >>> merge(["h", "##u", "##g", "##s"], "##g", "##s", "##gs")
    ['h', '##u', '##gs']
    >>> merge(["a", "##a", "##a", "##a"], "##a", "##a", "##aa")
    ['a', '##aa', '##a']
    """
    merged: list[str] = []
    for symbol in symbols:
        if merged and merged[-1] == left and symbol == right:
            merged[-1] = new
        else:
            merged.append(symbol)
    return merged


# Training: all of the above, again and again.


def train(
    words: dict[str, int], objective: Objective = score, min_frequency: int = 0, size: int | None = None
) -> tuple[list[str], list[Pair]]:
    """Return the vocabulary and the pairs that were merged, in order.

    It ends when the vocabulary has `size` tokens or no candidate is left.

    >>> vocabulary, merges = train(WORDS, size=10)
    >>> vocabulary
    ['##g', '##n', '##s', '##u', 'b', 'h', 'p', '##gs', 'hu', 'hugs']
    >>> merges
    [('##g', '##s'), ('h', '##u'), ('hu', '##gs')]

    Other objectives learn other tokens:

    >>> train(WORDS, likelihood, size=10)[0][7:]
    ['##ug', '##un', 'hug']
    >>> train(WORDS, count, min_frequency=13)[1]
    [('##u', '##g'), ('##u', '##n'), ('h', '##ug')]
    """
    corpus = [(split(word), times) for word, times in words.items()]
    vocabulary = sorted(count_symbols(corpus))  # the alphabet
    merges: list[Pair] = []
    while size is None or len(vocabulary) < size:
        values = pair_values(count_pairs(corpus), count_symbols(corpus), objective, min_frequency)
        if not values:
            break
        left, right = best_pair(values)
        new = join(left, right)
        corpus = [(merge(symbols, left, right, new), times) for symbols, times in corpus]
        merges.append((left, right))
        if new not in vocabulary:
            vocabulary.append(new)
    return vocabulary, merges


# Tokenizing: the vocabulary is all that is kept; the merges are not used again.


def longest_match(word: str, vocabulary: Iterable[str]) -> list[str]:
    """Return the tokens of a word: the longest that it begins with, then the longest that the rest begins with.

    >>> vocabulary, _ = train(WORDS, size=10)
    >>> longest_match("hugs", vocabulary)
    ['hugs']
    >>> longest_match("bugs", vocabulary)
    ['b', '##u', '##gs']

    If no token fits somewhere, the whole word is unknown.

    >>> longest_match("mug", vocabulary)
    ['[UNK]']
    """
    tokens: list[str] = []
    start = 0
    while start < len(word):
        prefix = PREFIX if start else ""
        fitting = [end for end in range(start + 1, len(word) + 1) if prefix + word[start:end] in vocabulary]
        if not fitting:
            return ["[UNK]"]
        tokens.append(prefix + word[start : fitting[-1]])
        start = fitting[-1]
    return tokens
