"""What longest match makes of a corpus, token by token, compared with the tokenizer's own results word by word."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.evaluation import usage as usage_module
from wordpiece_studio.evaluation.usage import Usage, count_usage
from wordpiece_studio.system import arrays
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

LETTERS = "abé한😀 \n"
WORDS = st.text(LETTERS, min_size=1, max_size=8) | st.sampled_from(["[UNK]", "[UNK]a", "a" * 101, "\ud800b"])
TOKENS = st.lists(
    st.builds(str.__add__, st.sampled_from(["", "##"]), st.text("abé한😀", min_size=1, max_size=3)), unique=True
)
PAIRS = st.lists(st.tuples(WORDS, st.integers(1, 2**40)), min_size=1, max_size=25, unique_by=lambda pair: pair[0])


def counts_of(pairs: list[tuple[str, int]]) -> WordCounts:
    words, counts = zip(*pairs, strict=True)
    plain = WordCounts.from_pairs([("a", 1)])
    return WordCounts(list(words), list(counts), plain.normalizer, plain.pre_tokenizer)


def explained(tokenizer: Tokenizer, counts: WordCounts) -> Usage:
    """Count the tokens that `Tokenizer.explain` reports for each word."""
    vocabulary = tokenizer.vocabulary
    frequencies, words = np.zeros(len(vocabulary), np.int64), np.zeros(len(vocabulary), np.int64)
    unknown = []
    for word, count in counts.items():
        trace = tokenizer.explain(word)
        unknown += [count] if trace.unknown is not None else []
        ids = [vocabulary.id_of(token) for token in trace.tokens]
        for token_id in ids:
            if token_id is not None:
                frequencies[token_id] += count
        words[[token_id for token_id in set(ids) if token_id is not None]] += 1
    return Usage(frequencies, words, len(unknown), sum(unknown))


def assert_same(found: Usage | None, expected: Usage) -> None:
    assert found is not None
    assert found.frequencies.tolist() == expected.frequencies.tolist()
    assert found.word_counts.tolist() == expected.word_counts.tolist()
    assert (found.unknown_words, found.unknown_occurrences) == (expected.unknown_words, expected.unknown_occurrences)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@settings(max_examples=60)
@given(tokens=TOKENS, pairs=PAIRS, has_unknown=st.booleans())
def test_equals_the_tokenizers_account(
    engine: str, tokens: list[str], pairs: list[tuple[str, int]], has_unknown: bool
) -> None:
    special = ["[UNK]"] if has_unknown else []
    tokenizer = Tokenizer(Vocabulary([*special, *tokens], special))
    counts = counts_of(pairs)
    assert_same(count_usage(tokenizer, counts, engine=engine), explained(tokenizer, counts))  # type: ignore[arg-type]


@pytest.mark.parametrize("prefix", ["##", ""])
@pytest.mark.parametrize("suffix", [None, "</w>"])
def test_prefixes_and_suffixes(prefix: str, suffix: str | None) -> None:
    tokens = ["a", "b", "ab", f"{prefix}c", f"{prefix}ca", f"{prefix}</w>", f"{prefix}c</w>", "##ab"]
    tokenizer = Tokenizer(Vocabulary(tokens, (), prefix, suffix))
    counts = counts_of([("ab", 3), ("abca", 2), ("acc", 5), ("x", 7), ("aab", 1)])
    for engine in ("plain", "compiled"):
        assert_same(count_usage(tokenizer, counts, engine=engine), explained(tokenizer, counts))  # type: ignore[arg-type]


def test_large_counts_are_exact() -> None:
    tokenizer = Tokenizer(Vocabulary(["a", "##a"]))
    found = count_usage(tokenizer, counts_of([("a", 2**53 + 1), ("aa", 2**53 + 2)]))
    assert found is not None
    assert found.frequencies.tolist() == [2**54 + 3, 2**53 + 2]


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_more_words_than_are_looked_at_together(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SLICE", 64)
    monkeypatch.setattr(usage_module, "_PLAIN_PART", 64)
    counts = counts_of([(f"{'ab' * (n % 3)}{chr(0x4E00 + n % 50)}{n}", 1 + n % 7) for n in range(1000)])
    characters = sorted(set("".join(counts.words)))
    tokenizer = Tokenizer(Vocabulary([*characters, *(f"##{each}" for each in characters), "##11", "ab", "##b1"]))
    assert_same(count_usage(tokenizer, counts, engine=engine), explained(tokenizer, counts))  # type: ignore[arg-type]


def test_special_tokens_are_never_dead() -> None:
    tokenizer = Tokenizer(Vocabulary(["[UNK]", "[CLS]", "a", "b", "##b"], ["[UNK]", "[CLS]"]))
    found = count_usage(tokenizer, counts_of([("a", 1)]))
    assert found is not None
    assert found.dead(2).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_it_can_be_stopped(engine: str) -> None:
    tokenizer = Tokenizer(Vocabulary(["a"]))
    assert count_usage(tokenizer, counts_of([("a", 1)]), lambda: True, engine=engine) is None  # type: ignore[arg-type]


def test_a_small_corpus_needs_no_numba() -> None:
    code = """
import sys
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.evaluation.usage import count_usage
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
assert count_usage(Tokenizer(Vocabulary(["a"])), WordCounts.from_pairs([("a", 3)])).frequencies.tolist() == [3]
assert not {"numba", "llvmlite"} & set(sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_module, "kernels_are_loaded", lambda _package: False)
    monkeypatch.setattr(usage_module, "kernels_are_cached", lambda _package: False)
    assert not usage_module._is_worth_kernels(10**7)
    monkeypatch.setattr(usage_module, "kernels_are_cached", lambda _package: True)
    assert usage_module._is_worth_kernels(10**7)
    assert not usage_module._is_worth_kernels(100)
