"""The initial symbols and the layouts of the alphabet."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
from wordpiece_studio.text.word_numbers import JoinedWords
from wordpiece_studio.training.segmentation import PreparationStopped, minimum_vocab_size, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator


def tokens(pairs: list[tuple[str, int]], **settings: Any) -> list[str]:
    config = wps.TrainingConfig(special_tokens=["[UNK]"], **settings)
    return prepare(wps.WordCounts.from_pairs(pairs), config).vocabulary_tokens


def words(pairs: list[tuple[str, int]], **settings: Any) -> list[list[str]]:
    run = wps.train(wps.WordCounts.from_pairs(pairs), wps.TrainingConfig(max_merges=0, **settings))
    return [run.history.segmentation(word, 0) for word in run.history.input.words]


def test_seen_layout_is_sorted_text() -> None:
    assert tokens([("ba", 1), ("ab", 1)]) == ["[UNK]", "##a", "##b", "a", "b"]


def test_huggingface_layout() -> None:
    # All bare characters by code point, then the continuing ones in order of first occurrence in the sorted words.
    assert tokens([("cab", 1), ("bd", 1)], alphabet="huggingface") == ["[UNK]", *"abcd", "##d", "##a", "##b"]


def test_order_given_for_continuing_symbols() -> None:
    found = tokens([("cab", 1), ("bd", 1)], alphabet="huggingface", continuing_order=["##b", "##x", "##d"])
    assert found == ["[UNK]", *"abcd", "##b", "##d", "##a"]


def test_initial_alphabet_need_not_occur() -> None:
    assert tokens([("ab", 1)], initial_alphabet=["z", "##z"]) == ["[UNK]", "##b", "##z", "a", "z"]
    assert tokens([("ab", 1)], initial_alphabet=["z"], alphabet="huggingface") == ["[UNK]", "a", "b", "z", "##b"]


def test_special_token_written_like_a_letter_keeps_its_id() -> None:
    counts = wps.WordCounts.from_pairs([("ab", 1)])
    assert prepare(counts, wps.TrainingConfig(special_tokens=["a"])).vocabulary_tokens == ["a", "##b"]


def test_alphabet_limit_drops_the_rarest_and_of_equals_the_later_seen() -> None:
    pairs = [("ab", 5), ("ac", 5), ("ad", 9)]
    assert tokens(pairs, alphabet_limit=3) == ["[UNK]", "##b", "##d", "a"]
    assert words(pairs, alphabet_limit=3) == [["a", "##b"], ["a", "##d"]]


def test_neighbors_of_a_removed_character_become_adjacent() -> None:
    pairs = [("abc", 5), ("acb", 5), ("x", 1), ("xbc", 1)]
    found = words(pairs, alphabet_limit=3, alphabet_overflow="remove")
    assert found == [["a", "##b", "##c"], ["a", "##c", "##b"], ["##b", "##c"]]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"continuing_subword_prefix": "", "end_of_word_suffix": "</w>"}, ["a", "b", "</w>"]),
        (
            {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "end_of_word": "attached"},
            ["a", "b</w>"],
        ),
        ({"end_of_word_suffix": "</w>", "end_of_word": "attached"}, ["a", "##b</w>"]),
        ({"continuing_subword_prefix": "_"}, ["a", "_b"]),
    ],
)
def test_prefix_and_suffix(settings: dict[str, Any], expected: list[str]) -> None:
    assert words([("ab", 1)], **settings) == [expected]


def test_minimum_vocab_size() -> None:
    counts = wps.WordCounts.from_pairs([("hug", 1), ("bun", 1)])
    assert minimum_vocab_size(counts, wps.TrainingConfig(vocab_size=1)) == 5 + len({"h", "b", "##u", "##g", "##n"})


def test_no_word_left_by_the_alphabet_limit() -> None:
    with pytest.raises(StudioError, match="No word is left"):
        words([("abc", 3)], alphabet_limit=1)


def test_limit_counts_the_initial_alphabet_but_no_special_token() -> None:
    # As in Hugging Face: w counts although it does not occur, and q is in the vocabulary anyway.
    pairs = [("xy", 5), ("yx", 2), ("zx", 1), ("qx", 1)]
    settings: dict[str, Any] = {"initial_alphabet": ["w"], "alphabet_limit": 2, "alphabet_overflow": "remove"}
    config = wps.TrainingConfig(special_tokens=["q"], max_merges=0, **settings)
    found = wps.train(wps.WordCounts.from_pairs(pairs), config).history
    assert [found.segmentation(word, 0) for word in found.input.words] == [["x"], ["##x"], ["##x"], ["q", "##x"]]


def test_prefix_character_in_the_initial_alphabet() -> None:
    found = tokens([("ab", 1)], continuing_subword_prefix="#", initial_alphabet=["#", "#z"])
    assert found == ["[UNK]", "#", "#b", "#z", "a"]


def test_stopped_at_every_call() -> None:
    """`should_stop` returns true at its first call, then at its second, …, until there is no such call."""
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("bun", 4)])
    for wanted in itertools.count(1):
        asked = itertools.count(1)

        def should_stop(asked: Iterator[int] = asked, wanted: int = wanted) -> bool:
            return next(asked) == wanted

        try:
            wps.Trainer(counts, wps.TrainingConfig(), engine="compiled", should_stop=should_stop)
        except PreparationStopped:
            continue
        break
    assert wanted > 6
    assert next(asked) == wanted


def test_pairs_counted_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from wordpiece_studio.training import numba_engine as compiled

    counts = wps.WordCounts.from_pairs([(f"w{number * 7919 % 1000}x{number}", number + 1) for number in range(200)])
    whole = wps.train(counts, wps.TrainingConfig(max_merges=300), engine="compiled")
    for size in (1, 7, 100):
        monkeypatch.setattr(compiled, "_CELLS_AT_ONCE", size)
        parts = wps.train(counts, wps.TrainingConfig(max_merges=300), engine="compiled")
        assert list(parts.history) == list(whole.history)


@pytest.mark.parametrize("settings", [{}, {"continuing_subword_prefix": ""}, {"alphabet": "huggingface"}])
def test_words_in_one_piece_are_laid_out_like_texts(settings: dict[str, Any]) -> None:
    texts = ["a", "né", "中文", "x\U0001f600b", "\U0001f600", "\0\x7f\x80\u07ff\u0800\uffff\U0010ffff"]
    joined = JoinedWords("".join(f"{text} " for text in texts).encode())
    config = wps.TrainingConfig(**settings)
    one, other = (
        prepare(wps.WordCounts(words, range(1, 7), BertNormalizer(), BertPreTokenizer()), config)
        for words in (joined, texts)
    )
    for field in dataclasses.fields(one):
        found, expected = getattr(one, field.name), getattr(other, field.name)
        if field.name != "counts":
            assert np.array_equal(found, expected) if isinstance(found, np.ndarray) else found == expected
            assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


def byte_counts(*texts: str) -> wps.WordCounts:
    return wps.count_texts(texts, "none", "byte-level")


@pytest.mark.parametrize(
    ("settings", "size"),
    [
        ({}, 2 * 256),
        ({"continuing_subword_prefix": ""}, 256),
        ({"continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "end_of_word": "attached"}, 2 * 256),
        ({"end_of_word_suffix": "</w>", "end_of_word": "attached"}, 4 * 256),
        ({"end_of_word_suffix": "</w>"}, 2 * 256 + len(["##</w>"])),
        ({"alphabet_limit": 3, "alphabet_overflow": "remove"}, 2 * 256),
        ({"initial_alphabet": ["日"]}, 2 * 256 + 1),
        ({"alphabet": "huggingface"}, 256 + len(["##h", "##u", "##g"])),
        ({"byte_alphabet": "seen"}, len(["Ġ", "##h", "##u", "##g"])),
    ],
)  # fmt: skip
def test_all_bytes_are_in_the_alphabet_of_a_byte_level_pre_tokenizer(settings: dict[str, Any], size: int) -> None:
    counts, config = byte_counts("hug"), wps.TrainingConfig(special_tokens=["[UNK]"], **settings)
    found = prepare(counts, config).vocabulary_tokens
    assert len(found) == minimum_vocab_size(counts, config) == 1 + size
    if config.byte_alphabet == "all":
        assert {*wps.ByteLevel.alphabet()} <= {*found}
        assert wps.train(counts, dataclasses.replace(config, vocab_size=1 + size)).history.vocabulary(0).tokens == found
        with pytest.raises(StudioError, match=f"alphabet alone are {1 + size:,}"):
            prepare(counts, dataclasses.replace(config, vocab_size=size))


@pytest.mark.parametrize("objective", ["likelihood", "score", "count"])
@pytest.mark.parametrize("pre_tokenizer", ["byte-level", "whitespace-split+byte-level"])
def test_no_text_is_unknown_to_bytes(objective: Any, pre_tokenizer: str) -> None:
    counts = wps.count_texts(["hug pug"], "none", pre_tokenizer)
    assert counts.alphabet_size == 2 * 256
    tokenizer = wps.train(counts, wps.TrainingConfig(objective=objective)).tokenizer()
    assert tokenizer.unk_token not in tokenizer.encode("Hello 日本 \x00\U0010ffff").tokens


def test_a_limit_below_the_initial_alphabet_with_a_suffix() -> None:
    settings: dict[str, Any] = {"end_of_word_suffix": "</w>", "end_of_word": "attached"}
    found = tokens([("ab", 2), ("ac", 1)], initial_alphabet=["c</w>"], alphabet_limit=2, **settings)
    assert found == ["[UNK]", "##c</w>", "a", "c</w>"]
