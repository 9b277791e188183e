"""Training a WordPiece vocabulary: the whole definition on one page.

This is what training means, in plain Python. It counts the whole corpus again at every merge, so it is slow; but every
line can be checked by hand, and every engine of this program must make exactly the same merges. If you like, start with
`train` near the end: the functions before it are its steps, in order.

The examples use the five words of the Hugging Face course and how often each occurs:

    hug 10, pug 5, pun 12, bun 4, hugs 5

Special tokens and limits to the alphabet are in `segmentation.py`, other prefixes, suffixes and tie rules in
`plain_engine.py`, which is this page with them; `rules.py` defines what can be required, forbidden and chosen.
`kernels/__init__.py` explains how the same merges are found a thousand times faster.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable

Pair = tuple[str, str]
Corpus = list[tuple[list[str], int]]
"""The distinct words of a text in order of first occurrence: the symbols of each, and how often it occurs."""
Objective = Callable[[int, int, int, int], float]
"""A rule that says how good a pair is: (n, left, right, total) → value, see `score`."""

PREFIX = "##"
WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


# Splitting: at first, the symbols of a word are its characters.


def split(word: str) -> list[str]:
    """Return the characters of a word, with the prefix on all but the first.

    >>> split("hug")
    ['h', '##u', '##g']
    """
    return [word[0], *(PREFIX + character for character in word[1:])]


def corpus_of(words: dict[str, int]) -> Corpus:
    """Return the words split into symbols, each with its number of occurrences.

    >>> corpus_of(WORDS)[:2]
    [(['h', '##u', '##g'], 10), (['p', '##u', '##g'], 5)]
    """
    return [(split(word), times) for word, times in words.items()]


# Counting: a word that occurs ten times counts ten times.


def count_symbols(corpus: Corpus) -> dict[str, int]:
    """Return how often each symbol occurs.

    >>> count_symbols(corpus_of(WORDS))
    {'h': 15, '##u': 36, '##g': 20, 'p': 17, '##n': 16, 'b': 4, '##s': 5}
    """
    counts: dict[str, int] = defaultdict(int)
    for symbols, times in corpus:
        for symbol in symbols:
            counts[symbol] += times
    return dict(counts)


def count_pairs(corpus: Corpus) -> dict[Pair, int]:
    """Return how often each pair of adjacent symbols occurs. The pairs are in the order of their first occurrence.

    >>> list(count_pairs(corpus_of(WORDS)).items())[:3]
    [(('h', '##u'), 15), (('##u', '##g'), 20), (('p', '##u'), 17)]

    Occurrences may overlap: ``##a ##a`` occurs twice in ``a ##a ##a ##a``.

    >>> count_pairs(corpus_of({"aaaa": 1}))
    {('a', '##a'): 1, ('##a', '##a'): 2}
    """
    counts: dict[Pair, int] = defaultdict(int)
    for symbols, times in corpus:
        for pair in itertools.pairwise(symbols):
            counts[pair] += times
    return dict(counts)


# Objectives: how good is a pair? n is the count of the pair, `left` and `right` are the counts of its two symbols, and
# `total` is the number of all symbols. Counts are exact. Values are 64-bit floats, computed by these operations in this
# order: that is part of the definition, because pairs with equal values tie.


def score(n: int, left: int, right: int, total: int) -> float:
    """Return the score of a pair: how often its symbols meet, compared with how often they occur.

    This is the WordPiece of the Hugging Face course, chapter 6.6. For ``##g ##s``, which occurs 5 times, it is 1/20:

    >>> score(5, 20, 5, total=113)
    0.05
    """
    return float(n) / (float(left) * float(right))


def likelihood(n: int, left: int, right: int, total: int) -> float:
    """Return the gain, to first order, in the corpus's unigram log-likelihood if the pair becomes one symbol.

    This is the rule in words of Schuster & Nakajima, "Japanese and Korean voice search" (2012). The ratio compares how
    often the symbols meet with how often they would meet by chance. The logarithm is the natural one, see `ln`.

    >>> round(likelihood(5, 20, 5, total=113), 2)
    8.66
    """
    return float(n) * ln((float(n) * float(total)) / (float(left) * float(right)))


def count(n: int, left: int, right: int, total: int) -> float:
    """Return how often the pair occurs: byte pair encoding (Sennrich, Haddow & Birch, 2016).

    >>> count(5, 20, 5, total=113)
    5.0
    """
    return float(n)


def pair_values(
    pairs: dict[Pair, int], symbols: dict[str, int], objective: Objective, min_frequency: int = 0
) -> dict[Pair, float]:
    """Return the value of every candidate, that is, of every pair that occurs at least `min_frequency` times.

    >>> corpus = corpus_of(WORDS)
    >>> pair_values(count_pairs(corpus), count_symbols(corpus), count, min_frequency=16)
    {('##u', '##g'): 20.0, ('p', '##u'): 17.0, ('##u', '##n'): 16.0}
    """
    total = sum(symbols.values())
    return {
        (left, right): objective(n, symbols[left], symbols[right], total)
        for (left, right), n in pairs.items()
        if n >= min_frequency
    }


# Choosing: the highest value wins; ties are broken by the order of the corpus.


def best_pair(values: dict[Pair, float]) -> Pair:
    """Return the pair with the highest value; among equals, the one that occurs first in the corpus.

    This is what `max` does: it returns the first of equal items, and the pairs are in the order of the corpus. Once
    ``##g ##s`` is merged, six pairs tie at 1/36:

    >>> corpus = [(merge(symbols, "##g", "##s", "##gs"), times) for symbols, times in corpus_of(WORDS)]
    >>> values = pair_values(count_pairs(corpus), count_symbols(corpus), score)
    >>> [pair for pair, value in values.items() if value == 1 / 36]
    [('h', '##u'), ('##u', '##g'), ('p', '##u'), ('##u', '##n'), ('b', '##u'), ('##u', '##gs')]
    >>> best_pair(values)
    ('h', '##u')
    """
    return max(values, key=values.__getitem__)


# Merging: the two symbols become one wherever they are adjacent.


def join(left: str, right: str) -> str:
    """Return the symbol that a pair becomes.

    >>> join("##g", "##s")
    '##gs'
    """
    return left + right.removeprefix(PREFIX)


def merge(symbols: list[str], left: str, right: str, new: str) -> list[str]:
    """Return the symbols of a word with `new` in place of `left` and `right`, from left to right.

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


# Training: all of this, again and again.


def train(
    words: dict[str, int], objective: Objective, min_frequency: int = 0, size: int | None = None
) -> tuple[list[str], list[Pair]]:
    """Return the vocabulary and the merged pairs, in order; stop at `size` tokens or when no candidate is left.

    >>> vocabulary, merges = train(WORDS, score, size=10)
    >>> vocabulary
    ['##g', '##n', '##s', '##u', 'b', 'h', 'p', '##gs', 'hu', 'hugs']
    >>> merges
    [('##g', '##s'), ('h', '##u'), ('hu', '##gs')]

    (The course prints ``hug`` as the third: its code is right, but its text takes 10 / (15 · 15) for 1/15.) Other
    objectives learn other tokens:

    >>> train(WORDS, likelihood, size=10)[0][7:]
    ['##ug', '##un', 'hug']
    >>> train(WORDS, count, min_frequency=13)[1]
    [('##u', '##g'), ('##u', '##n'), ('h', '##ug')]
    """
    corpus = corpus_of(words)
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


# Tokenizing: this needs the vocabulary only, not the merges.


def longest_match(word: str, vocabulary: Iterable[str]) -> list[str]:
    """Return the tokens of a word: the longest that it begins with, then the longest that the rest begins with.

    >>> vocabulary, _ = train(WORDS, score, size=10)
    >>> longest_match("hugs", vocabulary)
    ['hugs']
    >>> longest_match("bugs", vocabulary)
    ['b', '##u', '##gs']

    If no token fits at some point, the whole word is unknown.

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


# The logarithm of `likelihood`, the same to the last bit on every machine. Mathematics libraries differ in that bit,
# and the same one does between processors; where two pairs nearly tie, that would decide which is merged. So this is
# our own: the method of fdlibm's `__ieee754_log`, in float64, one rounding an operation, in this order. It is called
# here as plain Python, the kernels compile it, and neither may fuse a product with a sum or reorder anything. The
# result is off by less than one unit in the last place. Like that of any such method, it need not rise with its
# argument everywhere: it may fall by a bit where the argument hardly changes.

_SQRT_HALF = 0.7071067811865476
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # together ln 2
_L1, _L2, _L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
_L4, _L5, _L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01


def ln(x: float) -> float:
    """Return the natural logarithm of a positive number, which must be finite and not subnormal.

    >>> ln(1.0), ln(2.0), ln(0.25)
    (0.0, 0.6931471805599453, -1.3862943611198906)
    """
    # x = m · 2^e with √½ ≤ m < √2, and ln m = 2 artanh s, a series in s².
    m, e = math.frexp(x)
    if m < _SQRT_HALF:
        m *= 2.0
        e -= 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    t1 = w * (_L2 + w * (_L4 + w * _L6))
    t2 = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    r = t2 + t1
    h = 0.5 * f * f
    return e * _LN2_HIGH - ((h - (s * (h + r) + e * _LN2_LOW)) - f)
