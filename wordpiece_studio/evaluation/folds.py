"""What folds say of a figure: its mean and standard deviation, and whether a difference may be chance.

Each fold judges by one block of a text what was trained on the others. As the training parts overlap, the variance of
a paired difference is corrected as by Nadeau and Bengio (2003, "Inference for the Generalization Error", Machine
Learning 52). The blocks are those of `held_out.Fold`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of a figure over the folds, and its standard deviation, with n - 1 in the denominator."""

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of a paired difference over the folds, and the ends of its interval.

    >>> difference([1.0, 1.2, 1.1], [1.1, 1.1, 1.1]).may_be_zero
    True
    """

    mean: float
    low: float
    high: float

    @property
    def may_be_zero(self) -> bool:
        """Whether 0 lies in the interval: the data do not say which of the two is larger."""
        return self.low <= 0 <= self.high


def spread(values: Sequence[float]) -> Spread:
    """Return the mean and standard deviation of two or more values, one for each fold."""
    return Spread(float(np.mean(values)), float(np.std(values, ddof=1)))


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return the difference first - second over the same two or more folds, with its interval.

    The variance of the differences is multiplied by 1/n + 1/(n - 1): one block is judged by, n - 1 are trained on.
    """
    found = spread(np.subtract(first, second).tolist())
    folds = len(first)
    half = t_quantile((1 + LEVEL) / 2, folds - 1) * found.deviation * math.sqrt(1 / folds + 1 / (folds - 1))
    return Difference(found.mean, found.mean - half, found.mean + half)


def t_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t for a probability of 0.5 or more and whole degrees of freedom.

    Its distribution is a finite sum of powers of a cosine (Abramowitz and Stegun 26.7.3 and 26.7.4); the angle is found
    by halving.

    >>> round(t_quantile(0.975, 9), 4)
    2.2622
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        sine, cosine, is_odd = math.sin(angle), math.cos(angle), degrees % 2
        term, total = (cosine, 0.0) if is_odd else (1.0, 0.0)
        for power in range(2 + is_odd, degrees + 1, 2):  # as many terms as the sum has
            total += term
            term *= cosine**2 * (power - 1) / power
        within = 2 / math.pi * (angle + sine * total) if is_odd else sine * total  # plus and minus the quantile
        low, high = (angle, high) if within < 2 * probability - 1 else (low, angle)
    return math.sqrt(degrees) * math.tan(low)
