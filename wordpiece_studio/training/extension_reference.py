"""Extending a vocabulary: the whole definition on one page, which goes on where `reference.py` ends.

Given a vocabulary and the words of a domain, which tokens are missing? Training goes on *on top of* the vocabulary:
every word begins as the tokens that it has now, and at each step the token comes that saves most. It is joined wherever
two neighbors spell it, and wherever a whole word is spelled like it; so a long word of the domain costs one token,
where merging pairs alone would take one for every piece on the way.

The examples use a vocabulary of some pieces, and the five words of the Hugging Face course:

    hug 10, pug 5, pun 12, bun 4, hugs 5

`extension.py` finds the same tokens a thousand times faster.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from wordpiece_studio.training.reference import PREFIX, Corpus, longest_match, split

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PIECES = ["##n", "##u", "b", "h", "p", "##ug"]


def spelled(symbols: list[str], prefix: str = PREFIX) -> str:
    """Return the token that adjacent symbols spell together.

    >>> spelled(["##u", "##g", "##s"])
    '##ugs'
    """
    return symbols[0] + "".join(symbol.removeprefix(prefix) for symbol in symbols[1:])


def begun(words: dict[str, int], vocabulary: Collection[str]) -> Corpus:
    """Return the words as the vocabulary splits them; one that it cannot split is split into its characters.

    >>> from wordpiece_studio.training.reference import WORDS
    >>> begun(WORDS, PIECES)[3:]
    [(['b', '##u', '##n'], 4), (['h', '##u', '##g', '##s'], 5)]
    """
    found = ((word, longest_match(word, vocabulary), times) for word, times in words.items())
    return [(split(word) if tokens == ["[UNK]"] else tokens, times) for word, tokens, times in found]


def savings(
    symbols: list[str], times: int, known: Collection[str], min_frequency: int, prefix: str = PREFIX
) -> Iterator[tuple[str, int]]:
    """Yield the tokens that a word proposes, and how many symbols each of them saves in it.

    Two neighbors save one symbol at each occurrence of the word, the word as a whole all of its symbols but one, if it
    is frequent enough by itself. A character that the vocabulary lacks saves none, but the word is unknown without it:
    that counts like a symbol.

    >>> list(savings(["h", "##u", "##g", "##s"], 5, PIECES, 0))
    [('hu', 5), ('##ug', 5), ('##gs', 5), ('hugs', 15), ('##g', 5), ('##s', 5)]
    """
    last = ""
    for pair in itertools.pairwise(symbols):
        token = spelled(list(pair), prefix)
        if token != last:  # of two that overlap, one can be joined
            yield token, times
        last = token if token != last else ""
    if len(symbols) > 2 and times >= min_frequency:
        yield spelled(symbols, prefix), times * (len(symbols) - 1)
    for symbol in symbols:
        if symbol not in known:
            yield symbol, times


def joined(symbols: list[str], token: str, *, may_be_whole: bool, prefix: str = PREFIX) -> list[str]:
    """Return the symbols of a word with a token wherever two neighbors, from left to right, or all of them spell it.

    >>> joined(["h", "##u", "##g", "##s"], "##gs", may_be_whole=True)
    ['h', '##u', '##gs']
    >>> joined(["h", "##u", "##g", "##s"], "hugs", may_be_whole=True)
    ['hugs']
    """
    if may_be_whole and spelled(symbols, prefix) == token:
        return [token]
    merged: list[str] = []
    for symbol in symbols:
        if merged and spelled([merged[-1], symbol], prefix) == token:
            merged[-1] = token
        else:
            merged.append(symbol)
    return merged


def extend(
    words: dict[str, int], vocabulary: Collection[str], budget: int, min_frequency: int = 0
) -> list[tuple[str, int]]:
    """Return the tokens to add, best first, each with what it saves when its turn comes; at most `budget`.

    The token that saves most comes next; among equals, the one that is first in the order of characters. One that the
    vocabulary has already is joined, too, and costs nothing: so words that were unknown find its tokens. None comes
    that saves less than `min_frequency`, or nothing.

    >>> from wordpiece_studio.training.reference import WORDS
    >>> extend(WORDS, PIECES, budget=3)
    [('pun', 24), ('hugs', 15), ('hug', 10)]
    >>> extend(WORDS, PIECES, budget=3, min_frequency=6)
    [('pun', 24), ('hug', 10)]
    """
    corpus, known = begun(words, vocabulary), set(vocabulary)
    added: list[tuple[str, int]] = []
    while len(added) < budget:
        values: Counter[str] = Counter()
        for symbols, times in corpus:
            for token, saved in savings(symbols, times, known, min_frequency):
                values[token] += saved
        if not values:
            break
        token = min(values, key=lambda each: (-values[each], each))
        if values[token] < min_frequency:
            break
        if token not in known:
            known.add(token)
            added.append((token, values[token]))
        corpus = [(joined(symbols, token, may_be_whole=times >= min_frequency), times) for symbols, times in corpus]
    return added
