"""The fewest tokens of words, against all ways to split them."""

from __future__ import annotations

import itertools
import random

import pytest

import wordpiece_studio as wps
from wordpiece_studio.tokenizer.shortest_path import FewestTokens


def brute(word: str, tokens: set[str], prefix: str, suffix: str) -> int:
    """Return the fewest tokens over all ways to split a word; a suffix is one more place."""
    places = len(word) + bool(suffix)
    for parts in range(1, places + 1):
        for cuts in itertools.combinations(range(1, places), parts - 1):
            ends = itertools.pairwise((0, *cuts, places))
            spelled = [
                (prefix if start else "") + word[start:end] + (suffix if end > len(word) else "") for start, end in ends
            ]
            if tokens.issuperset(spelled):
                return parts
    return 0


@pytest.mark.parametrize(("prefix", "suffix"), [("##", ""), ("", ""), ("", "_"), ("#", "__")])
def test_no_way_to_split_a_word_has_fewer_tokens(prefix: str, suffix: str) -> None:
    chance, longer = random.Random(f"{prefix} {suffix}"), 0
    for _ in range(250):
        parts = {"".join(chance.choices("ab", k=chance.randint(1, 4))) for _ in range(chance.randint(1, 24))}
        tokens = {chance.choice(["", prefix, prefix]) + part + chance.choice(["", suffix]) for part in parts}
        tokens |= {before + letter for letter in "ab" for before in ("", prefix)} | {prefix + suffix} - {"", prefix}
        vocabulary = wps.Vocabulary(["[UNK]", *sorted(tokens)], ["[UNK]"], prefix, suffix or None)
        fewest, tokenizer = FewestTokens(vocabulary), wps.Tokenizer(vocabulary, "none", "whitespace-split")
        words = {"".join(chance.choices("ab", k=chance.randint(2, 7))) for _ in range(12)}
        greedy = total = 0
        for word in words:
            assert fewest.number(word) == brute(word, tokens, prefix, suffix)
            if (spans := tokenizer.spans(word)) is not None:
                greedy, total = greedy + len(spans), total + fewest.number(word)
                assert 0 < fewest.number(word) <= len(spans)
        (figures,) = wps.evaluate(tokenizer, texts=[" ".join(words)], with_greedy_gap=True).figures
        assert figures.greedy_gap == (pytest.approx(greedy / total, rel=1e-12) if total else None)
        longer += greedy > total
    assert longer > 20  # longest match does miss some


def test_only_longest_match_has_a_gap() -> None:
    by_merges = wps.BpeTokenizer({"h": 0, "u": 1}, [], "none", "whitespace")
    assert wps.evaluate(by_merges, texts=["hu"], with_greedy_gap=True).figures[0].greedy_gap is None
    unasked = wps.Tokenizer(wps.Vocabulary(["hu"]))
    assert wps.evaluate(unasked, texts=["hu"]).figures[0].greedy_gap is None
