"""Bits of texts and vocabularies, against plain Python."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from wordpiece_studio.evaluation.coding import ANY_CHARACTER_BITS, Spelling, adaptive_code_bits, code_bits


def test_a_token_takes_what_was_learned_of_it() -> None:
    chance = random.Random(3)
    for _ in range(50):
        size = chance.randint(1, 40)
        judged, trained = ([chance.choice([0, 0, 1, 5, 900]) for _ in range(size)] for _ in range(2))
        gaps = chance.randint(0, 3)  # ids without tokens
        everything = sum(trained) + size - gaps
        expected = sum(n * -math.log2((t + 1) / everything) for n, t in zip(judged, trained, strict=True))
        assert code_bits(np.array(judged), np.array(trained), size - gaps) == pytest.approx(expected, rel=1e-12)
    text, other = np.array([90, 10]), np.array([10, 90])
    entropy = -100 * sum(share * math.log2(share) for share in (0.9, 0.1))
    assert entropy < code_bits(text, text * 1000, 2) < entropy * 1.001 < code_bits(text, other, 2)


def test_without_a_training_part_a_token_takes_what_was_seen_before_it() -> None:
    text = [0, 2, 2, 1, 2, 0]
    for order in itertools.permutations(text):
        seen, bits = [1] * 5, 0.0
        for token in order:
            bits -= math.log2(seen[token] / sum(seen))
            seen[token] += 1
        assert adaptive_code_bits(np.bincount(text, minlength=5), 5) == pytest.approx(bits, rel=1e-12)
    assert adaptive_code_bits(np.zeros(3, np.int64), 3) == 0


def test_a_vocabulary_is_spelled_in_its_alphabet() -> None:
    tokens = ["[UNK]", "h", "##u", "##ug", "hug</w>", "##", "ж"]
    spelling = Spelling.of(tokens, ["[UNK]"], "##", "</w>")
    assert spelling.lengths.tolist() == [-1, 1, 2, 3, 4, 2, 1]
    assert spelling.alphabet == {*"hug#ж", "##", "</w>"}
    assert spelling.symbol_bits == 3
    assert spelling.bits() == (2 + 3 + 4 + 5 + 3 + 2) * 3
    assert [spelling.bits(size) for size in range(4)] == [0, 0, 2 * 3, 5 * 3]
    unknown = spelling.bits_of_unknown(["hx", "жg"], np.array([2, 1]))
    assert unknown == pytest.approx(2 * (3 + ANY_CHARACTER_BITS + 3) + 3 * 3)
