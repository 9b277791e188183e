"""A merge history of a million made-up merges, and a model that shows it: for measuring tables, not for learning from.

>>> history = million_history(1_000_000)
>>> model = MillionModel(history)  # for HistoryTableModel(model), HistoryPane(model, theme): no thread, no engine

In a whole window: ``show_history(window.model, history)`` puts the history in the place of the run that is shown.
"""

from __future__ import annotations

import random

import numpy as np

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import MergeBatch
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.segmentation import HistoryPlaces, prepare

_LETTERS = "abcde"
_WORDS = 20_000
_MOST_PLACES = 8


def million_history(rows: int = 1_000_000, seed: int = 1) -> MergeHistory:
    """Return a history of `rows` made-up merges: every token gets five children, each a letter longer than itself.

    Values fall as they do in a training, a third of the merges are ties, every twentieth token is not new, and each
    merge changed 1 to 8 words. Takes some seconds for a million.
    """
    rng = np.random.default_rng(seed)
    history = MergeHistory(prepare(_counts(seed), TrainingConfig(special_tokens=())))
    tokens = history.vocabulary(0).tokens
    letters = np.array([tokens.index("##" + letter) for letter in _LETTERS])
    is_new = np.ones(rows, dtype=np.bool_)
    is_new[19::20] = False
    # The token of a merge that makes nothing new is the one that the merge before it made.
    made = np.cumsum(is_new) - 1
    columns = {
        "left_id": made // len(letters),
        "right_id": letters[made % len(letters)],
        "new_id": len(tokens) + made,
        "is_new": is_new,
        "symbols_before": np.arange(20 * rows, 10 * rows, -10),
        "value": 1 / (1 + np.arange(rows)) * rng.uniform(0.5, 1, rows),
        "ties": np.maximum(1, rng.integers(-2, 4, rows)),
        "pair_frequency": np.sort(rng.integers(1, 1_000_000, rows))[::-1],
        "left_frequency": rng.integers(1, 10_000_000, rows),
        "right_frequency": rng.integers(1, 10_000_000, rows),
    }
    counts = rng.integers(1, _MOST_PLACES + 1, rows)
    places = HistoryPlaces(counts, np.ones(rows, dtype=np.int64), _places(history, counts, rng))
    history.extend(MergeBatch(columns, places))
    history.vocabulary(rows)  # spells the tokens out
    return history


def _counts(seed: int) -> WordCounts:
    rng = random.Random(seed)
    words = {"".join(rng.choices(_LETTERS, k=rng.randint(2, 12))) for _ in range(_WORDS)}
    return WordCounts.from_pairs([(word, rng.randint(1, 40)) for word in sorted(words | {*_LETTERS, "abcde"})])


def _places(history: MergeHistory, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the places that the merges changed: the beginnings of words at equal distances, ascending per merge."""
    input_ = history.input
    starts = input_.word_starts[input_.word_lengths > 1]
    stride = rng.integers(1, len(starts) // (2 * _MOST_PLACES), len(counts))
    first = rng.integers(0, len(starts) // 2, len(counts))
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(first, counts) + number * np.repeat(stride, counts)
    return starts[places].astype(np.int32)


def show_history(model: TrainerModel, history: MergeHistory, counts: WordCounts | None = None) -> None:
    """Let `model` show all of a history, at its end, as if it had been trained."""
    config = history.input.config
    counts = counts if counts is not None else WordCounts.from_pairs([("abcde", 1)])
    last = len(history)
    model._show_whole(Run(counts, config, history, history.vocabulary_size(last)), TrainerState.FINISHED, last)


class MillionModel(TrainerModel):
    """A model that shows a history and nothing else; in the place of the trainer's for tables and panes."""

    def __init__(self, history: MergeHistory) -> None:
        super().__init__()
        show_history(self, history)
