"""How far a training surely comes, so that no progress and no time is promised towards a size that is out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.system.in_slices import lengths_of

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig


def sure_size(counts: WordCounts, config: TrainingConfig, first_size: int) -> int:
    """Return a vocabulary size that a training without limits of size, merges and time reaches for certain.

    Parameters
    ----------
    first_size
        The size before the first merge: special tokens and alphabet.

    A word with pairs frequent enough is merged until it is a token of its own, so there are at least as many merges as
    such words. Where other rules stop the merging, nothing beyond `first_size` is sure.
    """
    if config.min_value is not None or config.max_token_length is not None or config.alphabet_limit is not None:
        return first_size
    floor = max(1, config.min_frequency)
    return first_size + int(np.count_nonzero((counts.counts >= floor) & (lengths_of(counts.words) > 1)))
