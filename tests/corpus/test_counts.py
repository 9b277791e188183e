from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
from wordpiece_studio.text.word_numbers import JoinedWords
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.segmentation import minimum_vocab_size

HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]


def test_pairs_keep_their_order() -> None:
    counts = WordCounts.from_pairs(HUG)
    assert counts.items() == HUG
    assert (len(counts), counts.total) == (5, 36)
    assert counts.words == ["hug", "pug", "pun", "bun", "hugs"]
    assert counts.counts.dtype == np.int64
    assert (counts.normalizer, counts.pre_tokenizer) == (BertNormalizer(), BertPreTokenizer())


def test_counts_of_a_repeated_word_add_up() -> None:
    assert WordCounts.from_pairs([("a", 1), ("b", 2), ("a", 3)]).items() == [("a", 4), ("b", 2)]


def test_mappings_lists_and_numpy_counts_are_taken() -> None:
    assert WordCounts.from_pairs({"a": 1}) == WordCounts.from_pairs([["a", np.int32(1)]])
    assert WordCounts.from_pairs([]).items() == []


@pytest.mark.parametrize(
    "pair",
    [
        ("", 1),
        ("a", 0),
        ("a", -1),
        ("a", 1.0),
        ("a", True),
        ("a", "1"),
        (1, 1),
        "ab",
        ("a",),
        ("\ud800", 1),
        ("a", 2**63),
    ],
)
def test_invalid_entries_are_rejected(pair: object) -> None:
    with pytest.raises(StudioError, match="Entry 2 of the word counts"):
        WordCounts.from_pairs([("x", 1), pair])


@pytest.mark.parametrize("pairs", [None, 5])
def test_things_that_are_not_pairs_are_rejected(pairs: object) -> None:
    with pytest.raises(StudioError, match="Words with their counts are expected, not"):
        WordCounts.from_pairs(pairs)


def test_the_total_must_fit() -> None:
    with pytest.raises(StudioError, match="2\\*\\*63"):
        WordCounts.from_pairs([("a", 2**63 - 1), ("b", 1)])


@pytest.mark.parametrize("words", [["hug"], ["aé", "##é", "中", "x" * 70_000, "\U0001f600b", *map(str, range(99_000))]])
def test_words_in_one_piece_are_like_texts(words: list[str]) -> None:
    joined = JoinedWords("".join(f"{word} " for word in words).encode())
    one, other = (
        WordCounts(each, range(1, len(words) + 1), BertNormalizer(), BertPreTokenizer()) for each in (joined, words)
    )
    for found, expected in zip(one.characters(), other.characters(), strict=True):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    for stride in (1, 7):
        assert one.sample(stride) == words[::stride]
    assert one.indices_with(["99998", "é9"]) == {"99998": [], "é9": []}
    assert (one.digest(), one.symbols) == (other.digest(), other.symbols)
    assert one._words is joined  # no texts were made so far
    sought = ["é", "89", ""]
    assert one.indices_with(sought) == other.indices_with(sought)
    assert one.words == words


def test_equality_and_digest_see_order_and_counts() -> None:
    counts = WordCounts.from_pairs(HUG)
    assert counts == WordCounts.from_pairs(HUG, "bert-uncased")
    for other in (HUG[::-1], HUG[:-1], [*HUG[:-1], ("hugs", 6)], [("hug 10\n3:pug", 1)]):
        assert counts != WordCounts.from_pairs(other)
        assert counts.digest() != WordCounts.from_pairs(other).digest()
    assert counts.digest() == WordCounts.from_pairs(HUG).digest()
    assert counts != HUG


def test_the_size_of_the_alphabet_is_that_of_a_training() -> None:
    pairs = [("汉字", 1), ("😀x", 2), ("x😀", 1), ("ab\U00010400", 3), *HUG]
    specials = len(TrainingConfig().special_tokens)
    expected = minimum_vocab_size(WordCounts.from_pairs(pairs), TrainingConfig()) - specials
    assert WordCounts.from_pairs(pairs).alphabet_size == expected
    assert WordCounts.from_pairs([]).alphabet_size == 0


@pytest.mark.parametrize("is_joined", [False, True])
def test_the_alphabet_of_many_words_takes_little_memory(is_joined: bool) -> None:
    words = [f"word-{number:07}" for number in range(300_000)]
    joined = JoinedWords(b"".join(word.encode() + b" " for word in words))
    one = WordCounts.from_pairs([("a", 1)])
    counts = WordCounts(joined if is_joined else words, [1] * len(words), one.normalizer, one.pre_tokenizer)
    tracemalloc.start()
    try:
        assert counts.alphabet_size == len("w" + "ord-0123456789")
        assert tracemalloc.get_traced_memory()[1] < 10 << 20  # all characters would take 14 million bytes, twice
    finally:
        tracemalloc.stop()


def test_counts_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        WordCounts.from_pairs(HUG).counts[0] = 1


def test_at_least() -> None:
    counts = WordCounts.from_pairs([("b", 1), ("a", 3), ("c", 2), ("d", 1)])
    common = counts.at_least(2)
    assert common.items() == [("a", 3), ("c", 2)]
    assert (common.statistics.rare_words, common.statistics.rare_occurrences) == (2, 2)
    rarer = common.at_least(3)
    assert (rarer.statistics.rare_words, rarer.statistics.rare_occurrences) == (3, 4)
    assert counts.at_least(1) is counts
    assert len(counts.at_least(4)) == 0
