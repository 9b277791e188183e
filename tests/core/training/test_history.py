"""What can be read from a history without an engine."""

from __future__ import annotations

from typing import Any

import pytest

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError


@pytest.fixture
def history() -> Any:
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    return wps.train(counts, wps.TrainingConfig(special_tokens=["[UNK]"])).history


def test_segmentation_at_every_step(history: Any) -> None:
    assert history.segmentation("hugs", 0) == ["h", "##u", "##g", "##s"]
    assert history.segmentation("hugs", 1) == ["h", "##u", "##gs"]
    assert history.segmentation("hugs", 2) == ["hu", "##gs"]
    assert history.segmentation("hugs", 3) == ["hugs"]
    with pytest.raises(StudioError, match="'mug'"):
        history.segmentation("mug", 1)


def test_vocabularies_of_all_moments(history: Any) -> None:
    assert len(history.vocabulary(0)) == 8
    assert history.vocabulary(2).tokens[-2:] == ["##gs", "hu"]
    assert "hugs" not in history.vocabulary(2)
    assert "hugs" in history.vocabulary(3)
    assert [history.birth_step(token_id) for token_id in (0, 7, 8, 10)] == [0, 0, 1, 3]


def test_symbols_after_each_step(history: Any) -> None:
    symbols = [history.symbols_after(step) for step in range(len(history) + 1)]
    assert symbols[0] == 3 * 10 + 3 * 5 + 3 * 12 + 3 * 4 + 4 * 5
    for step, expected in enumerate(symbols):
        weights = dict(zip(history.input.words, history.input.weights.tolist(), strict=True))
        assert expected == sum(len(history.segmentation(word, step)) * n for word, n in weights.items())


def test_words_with_pair(history: Any) -> None:
    assert history.words_with_pair("##u", "##g", 0) == [("hug", 10), ("pug", 5), ("hugs", 5)]
    assert history.words_with_pair("##u", "##g", 2) == [("pug", 5)]


def test_columns_agree_with_merges(history: Any) -> None:
    for name in ("pair_frequency", "left_frequency", "right_frequency", "symbols_before", "value", "ties", "is_new"):
        assert history.column(name).tolist() == [getattr(merge, name) for merge in history]
    assert history[-1] == history[len(history) - 1]
    with pytest.raises(IndexError):
        history[len(history)]


def test_steps_and_merges_that_are_not_there(history: Any) -> None:
    last = len(history)
    assert history.words_touched(-1) == history.words_touched(last - 1)
    for ask in (history.words_touched, history.positions):
        with pytest.raises(IndexError):
            ask(last)
    for step in (-1, last + 1):
        for query in (history.vocabulary, history.symbols_after, history.vocabulary_size):
            with pytest.raises(StudioError, match="no step"):
                query(step)
        with pytest.raises(StudioError, match="no step"):
            history.segmentation("hug", step)
