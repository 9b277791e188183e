"""Which pair is best: the value of a pair under each objective, one float64 operation at a time.

The order of the operations is part of the definition, because equal float64 values are ties. The compiled kernels
carry out the same operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.training.config import Objective

PairValue = Callable[[int, int, int, int], float]
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


PAIR_VALUES: dict[Objective, PairValue] = {"score": score, "likelihood": likelihood, "count": count}
