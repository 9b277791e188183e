from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.peers.foreign import library
from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer
from wordpiece_studio.peers.models import BpeModel, BpeOptions, UnigramModel, WordPieceModel
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

WORDS = st.text("abc", min_size=1, max_size=12)


def merged_one_by_one(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Return what is left of a word's characters after each merge in turn was done everywhere."""
    symbols = list(word)
    while True:
        pairs = list(pairwise(symbols))
        known = [merges.index(pair) for pair in pairs if pair in merges]
        if not known:
            return symbols
        left, right = merges[min(known)]
        at = pairs.index((left, right))
        symbols[at : at + 2] = [left + right]


@given(word=WORDS, seed=st.integers(0, 10**6))
def test_bpe_does_the_first_merge_of_the_list_first(word: str, seed: int) -> None:
    rng = random.Random(seed)
    tokens, merges = list("abc"), []
    for _ in range(rng.randrange(8)):
        pair = rng.choice(tokens), rng.choice(tokens)
        if pair not in merges and "".join(pair) not in tokens:
            merges.append(pair)
            tokens.append("".join(pair))
    model = BpeModel({token: number for number, token in enumerate(tokens)}, merges, BpeOptions())
    found = model.tokenize(word)
    assert [token.token for token in found] == merged_one_by_one(word, merges)
    assert [word[token.start : token.end] for token in found] == [token.token for token in found]


@given(word=WORDS, scores=st.lists(st.floats(-9, 0), min_size=7, max_size=7))
def test_unigram_finds_the_best_segmentation(word: str, scores: list[float]) -> None:
    pieces = dict(zip(["a", "b", "c", "ab", "bc", "abc", "ca"], scores, strict=True))
    found = [token.token for token in UnigramModel(list(pieces.items()), None).tokenize(word)]

    def best(rest: str) -> float:
        if not rest:
            return 0.0
        return max(score + best(rest[len(piece) :]) for piece, score in pieces.items() if rest.startswith(piece))

    assert "".join(found) == word
    assert sum(pieces[piece] for piece in found) == pytest.approx(best(word))


def test_scores_are_read_with_the_two_roundings_that_the_library_reads_them_with(tmp_path: Path) -> None:
    """Where two segmentations have the same sum but for the last bit, that decides."""
    library()
    from tokenizers import Tokenizer, models

    rng = random.Random(4)
    scores = [-rng.random() * 10 ** rng.randrange(-8, 3) for _ in range(2000)] + [
        0.0,
        -0.0,
        3.0,
        1e22,
        -5e-324,
        1.5e300,
    ]
    pieces = [(f"x{number}", score) for number, score in enumerate(scores)]
    theirs = Tokenizer(models.Unigram(pieces, 0))
    theirs.save(str(tmp_path / "first.json"))
    again = json.loads(Tokenizer.from_file(str(tmp_path / "first.json")).to_str())["model"]["vocab"]
    ours = load_tokenizer(tmp_path / "first.json")
    assert isinstance(ours, ImportedTokenizer)
    assert isinstance(ours.model, UnigramModel)
    assert ours.model._scores == [score for _, score in again]
    assert ours.model._scores != scores


def test_what_unigram_does_not_know_without_an_unknown_piece() -> None:
    with pytest.raises(StudioError, match="no piece for 'z'"):
        UnigramModel([("a", -1.0)], None).tokenize("az")


def test_word_piece_with_ids_of_its_own() -> None:
    model = WordPieceModel({"[UNK]": 7, "é": 900, "##b": 3}, "[UNK]", "##", 4)
    assert model.tokenize("éb") == [(900, "é", 0, 2), (3, "##b", 2, 3)]
    assert model.tokenize("éx") == [(7, "[UNK]", 0, 3)]
    assert model.tokenize("ébbbb") == [(7, "[UNK]", 0, 6)]
