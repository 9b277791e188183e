"""The figures of the charts against the obvious way of finding them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.evaluation.metrics import (
    fertility_at,
    length_histogram,
    rank_frequency,
    symbols_at,
    tokens_in_use_at,
    vocabulary_sizes_at,
)
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from wordpiece_studio.training.history import MergeHistory

TEXTS = ["hug pug pun bun hugs", "hug hug pug bunbun", "pun"]


@pytest.fixture(scope="module")
def history() -> MergeHistory:
    return train(count_texts(TEXTS), TrainingConfig(vocab_size=60)).history


def every_step(history: MergeHistory) -> np.ndarray:
    return np.arange(len(history) + 1, dtype=np.int64)


def test_symbols_are_those_of_all_words_written_out(history: MergeHistory) -> None:
    words = " ".join(TEXTS).split()
    expected = [sum(len(history.segmentation(word, step)) for word in words) for step in range(len(history) + 1)]
    assert symbols_at(history, every_step(history)).tolist() == expected
    assert expected[0] > expected[-1]


def test_symbols_of_the_last_step_alone(history: MergeHistory) -> None:
    last = np.array([len(history)])
    assert symbols_at(history, last).tolist() == [history.symbols_after(len(history))]


def test_fertility_counts_every_word_as_often_as_it_occurs(history: MergeHistory) -> None:
    assert history.total_words == len(" ".join(TEXTS).split()) == 10
    steps = every_step(history)
    assert fertility_at(history, steps).tolist() == [history.symbols_after(int(step)) / 10 for step in steps]


def test_vocabulary_sizes_begin_with_special_tokens_and_alphabet(history: MergeHistory) -> None:
    sizes = vocabulary_sizes_at(history, every_step(history))
    assert sizes.tolist() == [len(history.vocabulary(step)) for step in range(len(history) + 1)]


@given(
    st.dictionaries(st.text("ab#", min_size=1, max_size=7), st.sampled_from([1, 2, 2**40]), min_size=1, max_size=8),
    st.sampled_from(["score", "count"]),
    st.sampled_from([("##", None, "symbol"), ("", None, "symbol"), ("", "</w>", "symbol"), ("##", "</w>", "attached")]),
)
def test_tokens_in_use_are_those_of_all_words(
    words: dict[str, int], objective: Any, marks: tuple[str, str | None, Any]
) -> None:
    prefix, suffix, end = marks
    config = TrainingConfig(
        objective=objective, continuing_subword_prefix=prefix, end_of_word_suffix=suffix, end_of_word=end
    )
    history = train(words, config, engine="plain").history
    numbers = []
    for step in range(len(history) + 1):
        expected: Counter[str] = Counter()
        for word, times in words.items():
            for token in history.segmentation(word, step):
                expected[token] += times
        assert list(history.tokens_in_use(step).items()) == list(expected.items())
        numbers.append(len(expected))
    assert tokens_in_use_at(history).tolist() == numbers


def test_length_histogram_counts_each_length() -> None:
    assert length_histogram(np.array([1, 1, 4], dtype=np.int32)).tolist() == [0, 2, 0, 0, 1]
    assert length_histogram(np.zeros(0, dtype=np.int32)).tolist() == []


@pytest.mark.parametrize("most", [40, 2**60])
def test_ranks_are_those_of_a_plain_sort(most: int) -> None:
    frequencies = np.random.default_rng(3).integers(0, 30, 500)
    frequencies[77] = most
    expected = sorted(np.flatnonzero(frequencies).tolist(), key=lambda token: (-frequencies[token], token))
    assert rank_frequency(frequencies)[0].tolist() == expected
    assert rank_frequency(np.zeros(0, dtype=np.int64))[0].tolist() == []


def test_ranks_leave_out_what_does_not_occur_and_keep_the_order_of_ids_among_equals() -> None:
    ids, frequencies = rank_frequency(np.array([0, 3, 9, 3, 0, 1]))
    assert ids.tolist() == [2, 1, 3, 5]
    assert frequencies.tolist() == [9, 3, 3, 1]
