"""A corpus of some size for the tests of training."""

from __future__ import annotations

import random
from typing import Any

import pytest

import wordpiece_studio as wps


@pytest.fixture(scope="session")
def sample_words() -> Any:
    """Some hundred words that share stems and endings, with Zipfian weights."""
    chance = random.Random(20)
    stems = ["".join(chance.choices("aeioubcdlmnrst한é", k=chance.randint(1, 5))) for _ in range(60)]
    endings = ["", "s", "ing", "ed", "er", "tion", "aaa"]
    words = dict.fromkeys(chance.choice(stems) + chance.choice(endings) for _ in range(400))
    return wps.WordCounts.from_pairs([(word, 1 + 1000 // (rank + 1)) for rank, word in enumerate(words)])
