"""Which words hold a token or a pair at a step, against segmenting every word anew at every step."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training.oracle import train as oracle_train
from wordpiece_studio.training import segmentation

if TYPE_CHECKING:
    import pytest

words = st.text(alphabet="ab#é😀", min_size=1, max_size=10) | st.sampled_from(
    ["aaaa", "aaaaaaa", "abababab", "babab", "##a", "a##", "##ab", "[UNK]", "[UNK]b", "aab</w>", "_a_"]
)
corpora = st.lists(
    st.tuples(words, st.sampled_from([1, 1, 1, 2, 3, 1000, 2**40])),
    min_size=1,
    max_size=10,
    unique_by=lambda pair: pair[0],
)
configs = st.builds(
    wps.TrainingConfig,
    objective=st.sampled_from(["score", "likelihood", "count"]),
    max_merges=st.integers(0, 12),
    special_tokens=st.sampled_from([(), ("[UNK]",), ("[UNK]", "##ab", "a", "aa")]),
    continuing_subword_prefix=st.sampled_from(["##", "##", "", "#"]),
    end_of_word_suffix=st.sampled_from([None, None, "</w>", "_", "a", "ab"]),
    end_of_word=st.sampled_from(["symbol", "attached"]),
)
HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
TWO_TOKENS_WRITTEN_ALIKE = [("##ab", 2), ("xab", 9), ("yab", 9)]


def most_frequent_first(found: list[str], weights: dict[str, int]) -> list[tuple[str, int]]:
    """Return the words with their weights; equal ones keep the order of the corpus, in which they must be given."""
    return sorted(((word, weights[word]) for word in found), key=lambda pair: -pair[1])


# The symbol `a` inside a word and the symbol `#` with its suffix are both written "#a".
@example([("#", 2), ("ba", 3)], wps.TrainingConfig(
    special_tokens=(), continuing_subword_prefix="#", end_of_word_suffix="a", end_of_word="attached"
))  # fmt: skip
# `ba` inside a word and `aba` at its beginning are both written "aba".
@example([("ababa", 3)], wps.TrainingConfig(objective="count", special_tokens=(), continuing_subword_prefix="a"))
@example(TWO_TOKENS_WRITTEN_ALIKE, wps.TrainingConfig(objective="count", special_tokens=()))
@given(corpora, configs)
def test_words_that_hold_a_token_or_a_pair(pairs: list[tuple[str, int]], config: Any) -> None:
    history = wps.train(wps.WordCounts.from_pairs(pairs), config, engine="plain").history
    weights = dict(pairs)
    before: dict[str, list[str]] = {}
    for step in range(len(history) + 1):
        now = oracle_train(pairs, dataclasses.replace(config, max_merges=step))["segmentation"]
        vocabulary = history.vocabulary(step)
        per_token = history.words_per_token(step).tolist()
        assert {word: history.segmentation(word, step) for word in weights} == now
        for token_id, token in enumerate(vocabulary):
            expected = most_frequent_first([word for word in weights if token in now[word]], weights)
            assert history.words_with_token(token_id, step) == expected
            assert history.words_with_token(token_id, step, limit=2) == expected[:2]
            assert history.number_of_words(token_id, step) == per_token[token_id] == len(expected)
        neighbours = {word: set(itertools.pairwise(tokens)) for word, tokens in now.items()}
        met = set().union(*neighbours.values())
        for left, right in [*met, ("a", "a"), (vocabulary[0], vocabulary[len(vocabulary) - 1])]:
            expected = most_frequent_first([word for word in weights if (left, right) in neighbours[word]], weights)
            assert history.words_with_pair(left, right, step) == expected
            assert history.words_with_pair(left, right, step, limit=1) == expected[:1]
            assert history.number_of_words_with_pair(left, right, step) == len(expected)
        if step:
            assert history.words_touched(step - 1) == [word for word in weights if now[word] != before[word]]
        before = now


def test_words_of_a_token_at_every_step() -> None:
    history = wps.train(wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(special_tokens=())).history
    ids = history.vocabulary(len(history)).id_of
    assert history.words_with_token(ids("##u"), 0) == [("pun", 12), ("hug", 10), ("pug", 5), ("hugs", 5), ("bun", 4)]
    assert history.words_with_token(ids("##gs"), 0) == []
    assert history.words_with_token(ids("##gs"), 1) == [("hugs", 5)]
    assert history.words_with_token(ids("##gs"), 3) == []
    assert history.words_with_token(ids("hu"), 2) == [("hug", 10), ("hugs", 5)]
    assert history.words_with_pair("##u", "##g", 0) == [("hug", 10), ("pug", 5), ("hugs", 5)]
    assert history.words_with_pair("##u", "##g", 2) == [("pug", 5)]
    assert history.words_with_pair("hug", "##s", 2) == []


def test_removed_characters_let_neighbours_touch() -> None:
    pairs = [("axb", 3), ("ab", 4), ("aab", 5), ("bbb", 6)]
    config = wps.TrainingConfig(special_tokens=(), alphabet_limit=2, alphabet_overflow="remove")
    history = wps.train(wps.WordCounts.from_pairs(pairs), config).history
    assert history.words_with_pair("a", "##b", 0) == [("ab", 4), ("axb", 3)]


def test_words_are_counted_block_by_block(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    history = wps.train(sample_words, wps.TrainingConfig(max_merges=60)).history
    whole = [history.words_per_token(step).tolist() for step in (0, 30, 60)]
    monkeypatch.setattr(segmentation, "_BLOCK", 7)
    assert [history.words_per_token(step).tolist() for step in (0, 30, 60)] == whole
    assert whole[2] == [history.number_of_words(token_id, 60) for token_id in range(len(whole[2]))]


def test_answers_about_the_past_stay_while_the_history_grows(sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=80), engine="compiled")
    trainer.run(40)
    ids = range(len(trainer.vocabulary))
    before = [trainer.history.words_with_token(token_id, 40) for token_id in ids]
    trainer.run()
    assert len(trainer.history) == 80
    assert [trainer.history.words_with_token(token_id, 40) for token_id in ids] == before
