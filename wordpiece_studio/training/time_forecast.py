"""How long a training will take, from the word counts and the settings alone: about, within a factor of two.

What there is to do is estimated by the forecast of memory. What each part of it takes was measured on one machine, from
trainings of real corpora and of text in many scripts; how much faster or slower another machine is, is found out there
by a short training. The counting, and loading or compiling the kernels, are not part of it.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.memory_forecast import TrainingExtent

# Seconds.
_START = 0.004
_WORD = 2e-7  # its place in the index by word, and what is asked of each word at the start
_CELL = {"score": 7.5e-8, "likelihood": 1e-7, "count": 1e-7}
_MERGE = {"score": 3e-6, "likelihood": 2e-6, "count": 2e-6}
_SOUGHT = {"score": 7e-9, "likelihood": 3e-9, "count": 3e-9}
"""Of a merge, times the square root of the number of pairs: choosing it among them."""
_PLACE = 1e-8
_WATCHED_START, _WATCHED_MERGE = 0.03, 1.2e-5  # where the merges are shown as they come: a thousand in 16 ms at most

_TRIAL_WORDS, _TRIAL_MERGES = 4000, 2000
_TRIAL_SECONDS = 0.006  # of the trial, where the figures above were measured
_TRIALS = 3
_SLOWEST = 50.0


def forecast_seconds(
    extent: TrainingExtent, config: TrainingConfig, pace: float = 1.0, *, is_watched: bool = False
) -> float:
    """Return the seconds that a training takes on a machine with this pace, see `measured_pace`.

    `is_watched`: in the window, where the merges are shown as they are learned.
    """
    objective = config.objective
    work = (
        extent.words * _WORD
        + extent.cells * _CELL[objective]
        + extent.merges * (_MERGE[objective] + _SOUGHT[objective] * extent.pairs**0.5)
        + extent.places * _PLACE
    )
    seconds = _START + pace * work
    if is_watched:
        seconds += _WATCHED_START + extent.merges * _WATCHED_MERGE
    return float(seconds if config.max_seconds is None else min(seconds, config.max_seconds))


def measured_pace() -> float:
    """Train a little, always the same, and return how many times as long it took here as where all was measured.

    Takes a tenth of a second, and loads the kernels if they are not.
    """
    from wordpiece_studio.training.trainer import Trainer

    counts = _trial_counts()
    config = TrainingConfig(max_merges=_TRIAL_MERGES)
    fastest = float("inf")
    for _ in range(_TRIALS):
        began = time.perf_counter()
        Trainer(counts, config, engine="compiled").run()
        fastest = min(fastest, time.perf_counter() - began)
    return min(fastest / _TRIAL_SECONDS, _SLOWEST)


def _trial_counts() -> WordCounts:
    from wordpiece_studio.corpus.counts import WordCounts

    rng = random.Random(2012)
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    words = ("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(_TRIAL_WORDS))
    return WordCounts.from_pairs((word, 1 + int(1000 / (rank + 1))) for rank, word in enumerate(words))
