"""How many bits a text and a vocabulary take: the two parts of a description length (Rissanen 1978).

A token takes ``-log2`` of its share, which is what was learned of it: its count on the training part plus one, divided
by all of them. Of a text without a training part, each token is coded by those before it in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

ANY_CHARACTER_BITS = math.log2(0x110000)  # of one of all code points


def code_bits(judged: NDArray[np.int64], trained: NDArray[np.int64], entries: int) -> float:
    """Return the bits of a text in the code that a training part gives.

    Parameters
    ----------
    judged, trained
        How often each token occurs in the text and in the training part, by id: int64, shape (n_ids,).
    entries
        How many tokens the vocabulary has, which is less than `n_ids` where ids have gaps.

    >>> round(code_bits(np.array([1, 3]), np.array([2, 4]), 2), 3)  # shares of 3/8 and 5/8
    3.449
    """
    used = judged > 0
    return float((judged[used] * np.log2((trained.sum() + entries) / (trained[used] + 1))).sum())


def adaptive_code_bits(judged: NDArray[np.int64], entries: int) -> float:
    """Return the bits of a text in which each token is coded by those before it; their order does not matter.

    The share of a token is its count so far plus one, divided by all of them. Arguments as for `code_bits`.

    >>> round(adaptive_code_bits(np.array([1, 2]), 2), 3)  # shares of 1/2, 1/3 and 2/4, in any order
    3.585
    """
    found = math.lgamma(int(judged.sum()) + entries) - math.lgamma(entries)
    return (found - sum(map(math.lgamma, (judged[judged > 0] + 1).tolist()))) / math.log(2)


@dataclass(frozen=True, slots=True)
class Spelling:
    """The tokens of a vocabulary as they are spelled: the prefix within words is one symbol, and so is the suffix.

    Attributes
    ----------
    symbols
        How many symbols all tokens have together, with an end for each; special tokens are not spelled.
    alphabet
        The different symbols.
    """

    symbols: int
    alphabet: frozenset[str]

    @classmethod
    def of(
        cls, tokens: Iterable[str], special_tokens: Collection[str] = (), prefix: str = "", suffix: str = ""
    ) -> Spelling:
        symbols, alphabet = 0, set[str]()
        for token in tokens:
            if token not in special_tokens:
                has_prefix = bool(prefix) and token.startswith(prefix) and token != prefix
                has_suffix = bool(suffix) and token.endswith(suffix)
                text = token[len(prefix) * has_prefix : len(token) - len(suffix) * has_suffix]
                symbols += len(text) + has_prefix + has_suffix + 1
                alphabet.update(text, [prefix] * has_prefix, [suffix] * has_suffix)
        return cls(symbols, frozenset(alphabet))

    @property
    def symbol_bits(self) -> float:
        """The bits of a symbol, or of an end: all are equally long."""
        return math.log2(len(self.alphabet) + 1)

    @property
    def bits(self) -> float:
        """The bits of all tokens.

        >>> round(Spelling.of(["[UNK]", "a", "##a"], ["[UNK]"], "##").bits, 3)  # 5 * log2(3)
        7.925
        """
        return self.symbols * self.symbol_bits

    def bits_of_unknown(self, words: Sequence[str], counts: NDArray[np.int64]) -> float:
        """Return the bits that words take beside the unknown token that stands for them: they are spelled.

        A character outside the alphabet takes those of one of all code points.
        """
        known = self.symbol_bits
        bits = (known + sum(known if each in self.alphabet else ANY_CHARACTER_BITS for each in word) for word in words)
        return float(np.fromiter(bits, np.float64, len(words)) @ counts)
