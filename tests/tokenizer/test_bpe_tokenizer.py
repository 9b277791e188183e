from __future__ import annotations

import random

import pytest
from tokenizers import models

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pre_tokenizers import ByteLevel
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer

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
    with pytest.raises(StudioError, match="No token has the id 99"):
        made().decode([0, 99])


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
