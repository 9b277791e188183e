"""What longest match makes of a corpus, token by token, compared with the tokenizer's own results word by word."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import CountingStopped, WordCounts
from wordpiece_studio.evaluation import usage as usage_module
from wordpiece_studio.evaluation.usage import (
    DeadReason,
    DeadTokens,
    Usage,
    WordTexts,
    count_usage,
    fertility_at,
    rank_frequency,
    symbols_at,
    tokens_in_use_at,
    vocabulary_sizes_at,
)
from wordpiece_studio.system import arrays
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer, train

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.training.history import MergeHistory

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
    whole = tokens = 0
    for word, count in counts.items():
        trace = tokenizer.explain(word)
        unknown += [count] if trace.unknown is not None else []
        whole += count * (len(trace.tokens) == 1 and trace.unknown is None)
        tokens += count * len(trace.tokens)
        ids = [vocabulary.id_of(token) for token in trace.tokens]
        for token_id in ids:
            if token_id is not None:
                frequencies[token_id] += count
        words[[token_id for token_id in set(ids) if token_id is not None]] += 1
    return Usage(frequencies, words, len(unknown), sum(unknown), whole, counts.total, tokens)


def counted(
    tokenizer: Tokenizer, counts: WordCounts, engine: str, should_stop: Callable[[], bool] | None = None
) -> Usage:
    """Count by kernels, or without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usage_module, "_is_worth_kernels", lambda _words: engine == "compiled")
        return count_usage(tokenizer, counts, should_stop)


def assert_same(found: Usage, expected: Usage) -> None:
    assert found.frequencies.tolist() == expected.frequencies.tolist()
    assert found.word_counts.tolist() == expected.word_counts.tolist()
    for name in ("unknown_words", "unknown_occurrences", "whole_occurrences", "words", "tokens"):
        assert getattr(found, name) == getattr(expected, name), name


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@settings(max_examples=60)
@given(tokens=TOKENS, pairs=PAIRS, has_unknown=st.booleans())
def test_equals_the_tokenizers_account(
    engine: str, tokens: list[str], pairs: list[tuple[str, int]], has_unknown: bool
) -> None:
    special = ["[UNK]"] if has_unknown else []
    tokenizer = Tokenizer(Vocabulary([*special, *tokens], special))
    counts = counts_of(pairs)
    assert_same(counted(tokenizer, counts, engine), explained(tokenizer, counts))


@pytest.mark.parametrize("prefix", ["##", ""])
@pytest.mark.parametrize("suffix", [None, "</w>"])
def test_prefixes_and_suffixes(prefix: str, suffix: str | None) -> None:
    tokens = ["a", "b", "ab", f"{prefix}c", f"{prefix}ca", f"{prefix}</w>", f"{prefix}c</w>", "##ab"]
    tokenizer = Tokenizer(Vocabulary(tokens, (), prefix, suffix))
    counts = counts_of([("ab", 3), ("abca", 2), ("acc", 5), ("x", 7), ("aab", 1)])
    for engine in ("plain", "compiled"):
        assert_same(counted(tokenizer, counts, engine), explained(tokenizer, counts))


def test_large_counts_are_exact() -> None:
    tokenizer = Tokenizer(Vocabulary(["a", "##a"]))
    found = count_usage(tokenizer, counts_of([("a", 2**53 + 1), ("aa", 2**53 + 2)]))
    assert found.frequencies.tolist() == [2**54 + 3, 2**53 + 2]


def test_byte_pair_encoding_is_counted_by_its_merges() -> None:
    vocab = {"[UNK]": 0, "h": 1, "u": 2, "g": 3, "s": 4, "ug": 5, "hug": 6}  # longest match would take "hug" first
    bpe = BpeTokenizer(vocab, [("u", "g"), ("h", "ug")], "none", "whitespace", unk_token="[UNK]")
    found = count_usage(bpe, counts_of([("hug", 5), ("gug", 2), ("éhugx", 3), ("é", 7)]))
    assert found.frequencies.tolist() == [3 * 2 + 7, 0, 0, 2, 0, 2, 5 + 3]
    assert (found.tokens, found.whole_occurrences) == (5 + 2 * 2 + 3 * 3 + 7, 5)
    assert (found.unknown_words, found.unknown_occurrences) == (1, 7)
    encoded = bpe.encode_words(["éhugs"])[0]
    assert (encoded.tokens, encoded.offsets) == (["[UNK]", "hug", "s"], [(0, 1), (1, 4), (4, 5)])


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_more_words_than_are_looked_at_together(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SLICE", 64)
    monkeypatch.setattr(usage_module, "_PLAIN_PART", 64)
    counts = counts_of([(f"{'ab' * (n % 3)}{chr(0x4E00 + n % 50)}{n}", 1 + n % 7) for n in range(1000)])
    characters = sorted(set("".join(counts.words)))
    tokenizer = Tokenizer(Vocabulary([*characters, *(f"##{each}" for each in characters), "##11", "ab", "##b1"]))
    assert_same(counted(tokenizer, counts, engine), explained(tokenizer, counts))


def test_special_tokens_are_never_dead() -> None:
    tokenizer = Tokenizer(Vocabulary(["[UNK]", "[CLS]", "a", "b", "##b"], ["[UNK]", "[CLS]"]))
    found = count_usage(tokenizer, counts_of([("a", 1)]))
    assert found.dead(2).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_it_can_be_stopped(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SLICE", 2)
    monkeypatch.setattr(usage_module, "_PLAIN_PART", 2)
    tokenizer, counts = Tokenizer(Vocabulary(["a"])), counts_of([("a" * n, 1) for n in range(1, 10)])
    for before in range(3):  # parts that are looked at
        answers = iter([False] * before + [True])
        with pytest.raises(CountingStopped):
            counted(tokenizer, counts, engine, lambda answers=answers: next(answers))


@pytest.mark.slow
def test_a_small_corpus_needs_no_kernels() -> None:
    code = """
import sys
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.evaluation.usage import count_usage
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
assert count_usage(Tokenizer(Vocabulary(["a"])), WordCounts.from_pairs([("a", 3)])).frequencies.tolist() == [3]
assert "llvmlite" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_module, "kernels_are_loaded", lambda _package: False)
    monkeypatch.setattr(usage_module, "kernels_are_cached", lambda _package: False)
    assert not usage_module._is_worth_kernels(10**7)
    monkeypatch.setattr(usage_module, "kernels_are_cached", lambda _package: True)
    assert usage_module._is_worth_kernels(10**7)
    assert not usage_module._is_worth_kernels(100)


# The reasons why tokens are never used: each is checked against the corpus itself.

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


class Case:
    """A training, and the reasons for its dead tokens at a step."""

    def __init__(self, counts: WordCounts, step: int | None = None, **config: Any) -> None:
        trainer = Trainer(counts, TrainingConfig(**{"objective": "score", **config}), engine="plain")
        trainer.run()
        self.history = trainer.history
        self.step = len(self.history) if step is None else min(step, len(self.history))
        self.tokenizer = Tokenizer(self.history.vocabulary(self.step), counts.normalizer, counts.pre_tokenizer)
        self.words = counts.words
        usage = counted(self.tokenizer, counts, "plain")
        self.dead = usage.dead(len(trainer.config.special_tokens))
        self.reasons = DeadTokens(self.history, self.step, self.dead, self.tokenizer)

    def by_token(self) -> dict[str, DeadReason]:
        return {self.history.token(each): self.reasons.reason(each) for each in self.dead.nonzero()[0].tolist()}

    def check(self) -> None:
        """Check that everything the reasons say is true."""
        vocabulary = self.tokenizer.vocabulary
        for token, reason in self.by_token().items():
            token_id = vocabulary.id_of(token)
            assert token_id is not None
            spelled = [word for word in self.words if is_spelled(token, word)]
            assert self.reasons.number_of_words(token_id) == len(spelled)
            assert all(token not in self.tokenizer.explain(word).tokens for word in self.words)
            if reason.kind == "absent":
                assert not spelled
                continue
            assert reason.word in self.words
            if reason.kind == "merged":
                merge = self.history[reason.step - 1]
                assert token in (merge.left, merge.right)
                assert (merge.token, reason.step <= self.step) == (reason.token, True)
                assert not self.history.words_with_token(token_id, self.step)
                takers = [m for m in list(self.history)[: self.step] if token in (m.left, m.right)]
                assert (len(takers), takers[-1].step) == (reason.merges, reason.step)
                assert token in self.history.segmentation(reason.word, reason.step - 1)
            elif reason.kind == "covered":
                assert reason.token in self.tokenizer.explain(reason.word).tokens
                assert self.history.birth_step(vocabulary.id_of(reason.token) or 0) == reason.step
                assert is_spelled(token, reason.word)
            else:
                assert self.tokenizer.explain(reason.word).unknown is not None


def is_spelled(token: str, word: str) -> bool:
    return token.removeprefix("##") in word[1:] if token.startswith("##") else word.startswith(token)


def test_the_course() -> None:
    case = Case(count_texts(COURSE), vocab_size=70)
    case.check()
    found = case.by_token()
    assert found["##full"] == DeadReason("merged", "Hopefully", "##fully", 8, 1)
    assert found["##h"].merges == 5
    assert "##fully" not in found


def test_at_an_earlier_step_what_came_later_says_nothing() -> None:
    case = Case(count_texts(COURSE), step=7, vocab_size=70)
    case.check()
    found = case.by_token()
    assert found["##ful"].step == 7
    assert "##full" not in found


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["score", "count"]), st.integers(0, 40))
def test_what_they_say_is_so(seed: int, objective: str, step: int) -> None:
    chance = random.Random(seed)
    words = {"".join(chance.choices("abcd", k=chance.randint(1, 8))): chance.randint(1, 9) for _ in range(25)}
    Case(WordCounts.from_pairs(words), step, objective=objective, max_merges=40).check()


def test_longest_match_takes_another_token() -> None:
    """The training leaves it in a word that longest match splits with a token of step 2."""
    case = Case(WordCounts.from_pairs([("acb", 3), ("aba", 5), ("ccbac", 6)]), 4, special_tokens=(), max_merges=8)
    assert "##ba" in case.history.segmentation("ccbac", 4)
    assert case.by_token()["##ba"] == DeadReason("covered", "ccbac", "##cb", 2)
    case.check()


def test_a_symbol_that_no_word_begins_with_is_absent() -> None:
    case = Case(WordCounts.from_pairs([("ab", 3), ("ac", 2)]), 0, initial_alphabet=("b", "##x", "a"))
    found = case.by_token()
    assert found == {"b": DeadReason("absent"), "##x": DeadReason("absent")}
    case.check()


def test_characters_that_were_left_out() -> None:
    """Without x "bxd" was trained on as "bd", and that is spelled in no word."""
    counts = WordCounts.from_pairs([("bxd", 9), ("d", 30), ("b", 30)])
    case = Case(counts, alphabet_limit=2, alphabet_overflow="remove", max_merges=1)
    assert case.by_token()["bd"] == DeadReason("absent")


def test_words_that_are_unknown_as_a_whole() -> None:
    counts = WordCounts.from_pairs([("ab" * 60, 9), ("a", 1)])
    assert {reason.kind for reason in Case(counts, 0).by_token().values()} == {"unknown"}


@pytest.mark.parametrize(
    ("text", "begins", "first", "count"),
    [
        ("a", True, (0, 0), 2),
        ("a", False, (0, 2), 2),
        ("a", None, (0, 0), 3),
        ("\n", False, (2, 1), 1),
        ("b\nc", None, (2, 0), 1),
        ("aa", None, (-1, -1), 0),
        ("c", True, (-1, -1), 0),
    ],
)
def test_texts_in_words(text: str, begins: bool | None, first: tuple[int, int], count: int) -> None:
    texts = WordTexts(SimpleNamespace(input=SimpleNamespace(words=["aba", "a", "b\nc", "ba"])))
    assert texts.first(text, begins) == first
    assert texts.count(text, begins) == count


# -- for curves, against the obvious way of finding them

TEXTS = ["hug pug pun bun hugs", "hug hug pug bunbun", "pun"]


@pytest.fixture(scope="module")
def history() -> MergeHistory:
    return train(count_texts(TEXTS), TrainingConfig(vocab_size=60)).history


def every_step(history: MergeHistory) -> np.ndarray:
    return np.arange(len(history) + 1, dtype=np.int64)


def test_symbols_are_those_of_all_words_written_out(history: MergeHistory) -> None:
    words = " ".join(TEXTS).split()
    expected = [sum(len(history.segmentation(word, step)) for word in words) for step in range(len(history) + 1)]
    assert symbols_at(history, every_step(history)).tolist() == expected
    assert expected[0] > expected[-1]


def test_symbols_of_the_last_step_alone(history: MergeHistory) -> None:
    last = np.array([len(history)])
    assert symbols_at(history, last).tolist() == [history.symbols_after(len(history))]


def test_fertility_counts_every_word_as_often_as_it_occurs(history: MergeHistory) -> None:
    assert history.total_words == len(" ".join(TEXTS).split()) == 10
    steps = every_step(history)
    assert fertility_at(history, steps).tolist() == [history.symbols_after(int(step)) / 10 for step in steps]


def test_vocabulary_sizes_begin_with_special_tokens_and_alphabet(history: MergeHistory) -> None:
    sizes = vocabulary_sizes_at(history, every_step(history))
    assert sizes.tolist() == [len(history.vocabulary(step)) for step in range(len(history) + 1)]


@given(
    st.dictionaries(st.text("ab#", min_size=1, max_size=7), st.sampled_from([1, 2, 2**40]), min_size=1, max_size=8),
    st.sampled_from(["score", "count"]),
    st.sampled_from([("##", None, "symbol"), ("", None, "symbol"), ("", "</w>", "symbol"), ("##", "</w>", "attached")]),
)
def test_tokens_in_use_are_those_of_all_words(
    words: dict[str, int], objective: Any, marks: tuple[str, str | None, Any]
) -> None:
    prefix, suffix, end = marks
    config = TrainingConfig(
        objective=objective, continuing_subword_prefix=prefix, end_of_word_suffix=suffix, end_of_word=end
    )
    history = train(words, config, engine="plain").history
    numbers = []
    for step in range(len(history) + 1):
        expected: Counter[str] = Counter()
        for word, times in words.items():
            for token in history.segmentation(word, step):
                expected[token] += times
        assert list(history.tokens_in_use(step).items()) == list(expected.items())
        numbers.append(len(expected))
    assert tokens_in_use_at(history).tolist() == numbers


@pytest.mark.parametrize("most", [40, 2**60])
def test_ranks_are_those_of_a_plain_sort(most: int) -> None:
    frequencies = np.random.default_rng(3).integers(0, 30, 500)
    frequencies[77] = most
    expected = sorted(np.flatnonzero(frequencies).tolist(), key=lambda token: (-frequencies[token], token))
    assert rank_frequency(frequencies)[0].tolist() == expected
    assert rank_frequency(np.zeros(0, dtype=np.int64))[0].tolist() == []


def test_ranks_leave_out_what_does_not_occur_and_keep_the_order_of_ids_among_equals() -> None:
    ids, frequencies = rank_frequency(np.array([0, 3, 9, 3, 0, 1]))
    assert ids.tolist() == [2, 1, 3, 5]
    assert frequencies.tolist() == [9, 3, 3, 1]
