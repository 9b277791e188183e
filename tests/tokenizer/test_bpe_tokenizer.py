from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.contents import tokenizer_at
from wordpiece_studio.text.pre_tokenizers import ByteLevel
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer, LongestFirstTokenizer

VOCAB = {
    "h": 0,
    "u": 1,
    "g": 2,
    "s": 3,
    "s</w>": 4,
    "g</w>": 5,
    "ug": 6,
    "hug": 7,
    "ug</w>": 8,
    "<unk>": 9,
    "[CLS]": 10,
}
MERGES = [("u", "g"), ("h", "ug"), ("u", "g</w>")]


def made(**options: object) -> BpeTokenizer:
    return BpeTokenizer(VOCAB, MERGES, "lowercase", "whitespace", **options)


def test_words_special_tokens_and_offsets() -> None:
    tokenizer = made(special_tokens=["[CLS]"], unk_token="<unk>", end_of_word_suffix="</w>")
    found = tokenizer.encode("[CLS]HUGS  ug\nxu")
    assert found.tokens == ["[CLS]", "hug", "s</w>", "ug</w>", "<unk>", "<unk>"]
    assert found.offsets == [(0, 5), (5, 8), (8, 9), (11, 13), (14, 15), (15, 16)]
    assert found.words == [0, 1, 1, 2, 3, 3]
    assert found.ids == [10, 7, 4, 8, 9, 9]
    assert tokenizer.decode(found.ids[:4]) == "hugs ug"
    assert tokenizer.decode(found.ids[:2], skip_special_tokens=False) == "[CLS]hug"
    assert (len(tokenizer), tokenizer.id_of("hug"), tokenizer.id_of("x")) == (11, 7, None)


def test_without_an_unknown_token_unknown_symbols_are_left_out() -> None:
    found = made().encode("uxg hug")
    assert found.tokens == ["ug", "hug"]  # the library's too
    assert found.offsets == [(0, 3), (4, 7)]


def test_ids_without_a_token() -> None:
    with pytest.raises(StudioError, match="No token has the ID 99"):
        made().decode([0, 99])


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ((["h"], []), {}, "is not a vocabulary"),
        (({"h": 0}, None), {}, "Merges must be pairs"),
        (({"h": 0}, [("h",)]), {}, "Merges must be pairs"),
        (({"h": 0, "u": 1}, [("h", "u")]), {}, "The token 'hu' is not in the vocabulary"),
        (({"h": 0}, []), {"unk_token": "[UNK]"}, r"'\[UNK\]' is not in the vocabulary"),
        (({"h": 0}, []), {"end_of_word_suffix": "</w>", "end_of_word": "symbol"}, "'</w>' is not in the vocabulary"),
        (({"h": 0}, []), {"end_of_word": "other"}, "Invalid end of word: 'other'"),
    ],
)
def test_what_makes_no_tokenizer(parts: tuple[Any, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudioError, match=message):
        BpeTokenizer(*parts, "none", "bert", **options)


def test_frequencies_of_other_tokens() -> None:
    with pytest.raises(StudioError, match="The token 'u' is not in the vocabulary"):
        LongestFirstTokenizer({"h": 0}, {"u": 1}, "none", "bert")


@pytest.mark.parametrize("seed", range(20))
def test_the_same_as_the_library(seed: int) -> None:
    rng = random.Random(seed)
    symbols, merges = list("abcd"), []
    for _ in range(25):
        pair = rng.choice(symbols), rng.choice(symbols)
        if pair not in merges:
            merges.append(pair)
            symbols.append("".join(pair))
    vocab = {token: number for number, token in enumerate(dict.fromkeys([*symbols, "<unk>"]))}
    theirs = models.BPE(vocab, merges, unk_token="<unk>")
    ours = BpeTokenizer(vocab, merges, "none", "whitespace-split", unk_token="<unk>")
    for _ in range(200):
        word = "".join(rng.choices("abcdx", weights=[5, 5, 4, 3, 1], k=rng.randrange(1, 30)))
        expected = [(token.id, token.value, token.offsets) for token in theirs.tokenize(word)]
        found = ours.encode(word)
        assert list(zip(found.ids, found.tokens, found.offsets, strict=True)) == expected


def test_a_very_long_word() -> None:
    assert len(made().encode("hug" * 10_000)) == 10_000


@pytest.mark.parametrize("suffix", ["", "</w>"])
def test_bytes_become_text_again(suffix: str) -> None:
    letters = ByteLevel.alphabet()
    vocab = {
        token: number for number, token in enumerate([*letters, *(letter + suffix for letter in letters if suffix)])
    }
    tokenizer = BpeTokenizer(vocab, [], "none", "byte-level:no-prefix", end_of_word_suffix=suffix)
    assert tokenizer.decode(tokenizer.ids("naïve  日本 👍")) == "naïve  日本 👍"


def encoded_by_the_article(text: str, tokens: list[str]) -> list[str]:
    """Return the tokens of a word with its mark; the definition, recursive as it was published."""
    for place, token in enumerate(tokens):
        found = [match.start() for match in re.finditer(re.escape(token.replace(".", "[.]")), text)]
        if found:
            encoded, done = [], 0
            for start in found:
                encoded += [*encoded_by_the_article(text[done:start], tokens[place + 1 :]), token]
                done = start + len(token)
            return encoded + encoded_by_the_article(text[done:], tokens[place + 1 :])
    return ["</u>"] if text else []


words = st.text("ab.[]w<", min_size=1, max_size=8)


@given(st.dictionaries(words, st.sampled_from([1, 2, 5]), min_size=1, max_size=6), st.integers(0, 8), st.lists(words))
def test_the_longest_token_first_and_the_merges_with_a_symbol_for_the_end(
    counts: dict[str, int], merges: int, texts: list[str]
) -> None:
    config = wps.TrainingConfig(
        objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>", special_tokens=("</u>",),
        unk_token="</u>", max_merges=merges,
    )  # fmt: skip
    run = wps.train(wps.WordCounts.from_pairs(counts, "none", "whitespace-split"), config, engine="plain")
    merging, longest = run.bpe_tokenizer(), run.bpe_tokenizer(longest_first=True)
    step = len(run.history)
    in_use = run.history.tokens_in_use(step)
    order = sorted(in_use, key=lambda token: (len(token.replace("</w>", "E")), in_use[token]), reverse=True)
    for word in (*texts, *counts):
        stored = run.history.segmentation(word, step) if word in counts else None
        expected = encoded_by_the_article(f"{word}</w>", order)
        assert longest.tokens_of_unknown(word) == expected
        encoded = longest.encode(word)
        assert encoded.tokens == (stored or expected)
        assert all(0 <= start <= end <= len(word) for start, end in encoded.offsets)
        assert stored in (None, merging.encode(word).tokens)
        assert merging.decode(merging.ids(word)) == word or not stored


def test_why_a_word_is_cut_there_by_merges() -> None:
    counts = wps.WordCounts.from_pairs(dict.fromkeys(["low", "newest", "widest"], 1), "none", "whitespace-split")
    config = wps.TrainingConfig(
        objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>", end_of_word="symbol",
        special_tokens=("[UNK]",),
    )  # fmt: skip
    trace = tokenizer_at(wps.train(counts, config).history, counts, 2).explain("best")
    tried = [[(trial.candidate, trial.matched) for trial in position.tried] for position in trace.positions]
    assert trace.tokens == ("[UNK]", "est", "</w>")
    assert tried == [[("b", False)], [("est</w>", False), ("est", True)], [("</w>", True)]]
    assert [position.start for position in trace.positions] == [0, 1, 4]
    after_it = tokenizer_at(wps.train(counts, config).history, counts, 2).explain("ebe").positions[0]
    assert [trial.candidate for trial in after_it.tried] == ["e"]  # not joined to the unknown token


def test_no_merges_where_symbols_have_a_prefix() -> None:
    with pytest.raises(StudioError, match="have a prefix"):
        wps.train({"hug": 1}, wps.TrainingConfig(objective="count")).bpe_tokenizer()
