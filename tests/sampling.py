"""Tests of which the default run takes some, and the slow run all others."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def one_example_in(share: int) -> settings:
    """Return the settings of a test that is repeated for many parameters: a part of the profile's examples for each."""
    return settings(max_examples=settings().max_examples // share)


def some_pairs(names: tuple[str, str], first: Sequence[Any], second: Sequence[Any]) -> pytest.MarkDecorator:
    """Return a parametrization by all pairs; the default run has each of the first with one of the second, in turn."""
    kept = [(one, second[number % len(second)]) for number, one in enumerate(first)]
    pairs = [pytest.param(*pair, marks=() if pair in kept else pytest.mark.slow) for pair in product(first, second)]
    return pytest.mark.parametrize(names, pairs)
