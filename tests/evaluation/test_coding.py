"""Bits of texts and vocabularies, against plain Python."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

import wordpiece_studio as wps
from tests.evaluation.test_held_out import divided
from wordpiece_studio.evaluation.coding import ANY_CHARACTER_BITS, Spelling, adaptive_code_bits, code_bits
from wordpiece_studio.evaluation.held_out import LAST_TENTH, Fold

if TYPE_CHECKING:
    from pathlib import Path


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
    assert spelling.symbols == 2 + 3 + 4 + 5 + 3 + 2
    assert spelling.alphabet == {*"hug#ж", "##", "</w>"}
    assert spelling.symbol_bits == 3
    assert spelling.bits == (2 + 3 + 4 + 5 + 3 + 2) * 3
    unknown = spelling.bits_of_unknown(["hx", "жg"], np.array([2, 1]))
    assert unknown == pytest.approx(2 * (3 + ANY_CHARACTER_BITS + 3) + 3 * 3)


LINES = [
    "the hug and the pug", "a mug hums", "they bug the hugs", "buns and runs", "the pugs hug", "жук and hug", "hums",
    "a pun the bun", "the gun", "mugs and hugs xyz",
] * 12  # fmt: skip


def by_hand(tokens: list[str], judged: list[str], rest: list[str], share: float) -> tuple[float, float, float]:
    """Return the bits of a text, of a vocabulary, and the description length, as the help page defines them."""

    def tokenized(lines: list[str]) -> list[tuple[str, str]]:
        found = []
        for word in (word for line in lines for word in line.split()):
            start, parts = 0, []
            while start < len(word):
                ends = range(len(word), start, -1)
                known = (("##" if start else "") + word[start:end] for end in ends)
                parts.append(next((part for part in known if part in tokens), "[UNK]"))
                if parts[-1] == "[UNK]":
                    parts = ["[UNK]"]
                    break
                start += len(parts[-1].removeprefix("##") if start else parts[-1])
            found += [(part, word) for part in parts]
        return found

    spelled = [token for token in tokens if token[0] != "["]
    alphabet = {letter for token in spelled for letter in token.removeprefix("##")} | {"##"}
    letter = math.log2(len(alphabet) + 1)
    vocabulary = sum(len(token.removeprefix("##")) + token.startswith("##") + 1 for token in spelled) * letter
    counts = Counter(token for token, _ in tokenized(rest))
    total = sum(counts[token] + 1 for token in tokens)
    bits = 0.0
    for token, word in tokenized(judged):
        bits -= math.log2((counts[token] + 1) / total)
        if token == "[UNK]":
            bits += sum(letter if each in alphabet else math.log2(0x110000) for each in word) + letter
    return bits, vocabulary, bits / share + vocabulary


def test_the_description_length_is_that_by_hand(tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in LINES)
    (tmp_path / "text.txt").write_text(text, encoding="utf-8", newline="")
    for fold in (LAST_TENTH, Fold(0, 3), Fold(1, 3)):
        rest, judged = (part.splitlines() for part in divided(text, fold=fold))
        held_out = divided(text, fold=fold)[1]
        run = wps.train(wps.count_texts(LINES[:5]), wps.TrainingConfig(vocab_size=40))
        given = {"run": run, "loaded": run.tokenizer()}
        found = wps.evaluate(given, tmp_path / "text.txt", is_held_out=True, fold=fold).figures
        expected = by_hand(run.vocabulary.tokens, judged, rest, len(held_out) / len(text))
        for each in found:
            assert each.unknown > 0
            measured = each.code_length, each.vocabulary_bits, each.description_length
            assert measured == pytest.approx(expected, rel=1e-12)
            assert each.bits_per_character == pytest.approx(expected[0] / len("\n".join([*judged, ""])), rel=1e-12)
            assert each.coded_by == "rest"


def test_what_is_known_of_the_training_codes_the_tokens() -> None:
    run = wps.train(wps.count_texts(LINES[:20]), wps.TrainingConfig(vocab_size=40))
    (alone,) = wps.evaluate(run, texts=LINES).figures
    expected = by_hand(run.vocabulary.tokens, LINES, LINES[:20], 1)
    assert alone.coded_by == "training"
    assert (alone.code_length, alone.description_length) == pytest.approx((expected[0], expected[2]), rel=1e-12)
    beside = wps.evaluate([run, run.tokenizer()], texts=LINES).figures  # all in one table are coded alike
    assert [each.coded_by for each in beside] == ["before"] * 2
    assert beside[0].code_length == beside[1].code_length != alone.code_length
