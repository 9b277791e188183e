"""The reasons why tokens are never used: each is checked against the corpus itself."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.evaluation.dead_tokens import DeadReason, DeadTokens, WordTexts
from wordpiece_studio.evaluation.usage import count_usage
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

COURSE = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)


class Case:
    """A training, and the reasons for its dead tokens at a step."""

    def __init__(self, counts: WordCounts, step: int | None = None, **config: object) -> None:
        trainer = Trainer(counts, TrainingConfig(**config), engine="plain")  # type: ignore[arg-type]
        trainer.run()
        self.history = trainer.history
        self.step = len(self.history) if step is None else min(step, len(self.history))
        self.tokenizer = Tokenizer(self.history.vocabulary(self.step), counts.normalizer, counts.pre_tokenizer)
        self.words = counts.words
        usage = count_usage(self.tokenizer, counts, engine="plain")
        assert usage is not None
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
    for looks in (False, True):
        texts = WordTexts(SimpleNamespace(input=SimpleNamespace(words=["aba", "a", "b\nc", "ba"])))
        if looks:
            texts.index_characters()
        assert texts.first(text, begins) == first
        assert texts.count(text, begins) == count
