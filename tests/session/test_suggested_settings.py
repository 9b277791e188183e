"""The limits suggested for a newly opened corpus."""

from __future__ import annotations

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session import counts_with_figures
from wordpiece_studio.session.counts_with_figures import with_figures
from wordpiece_studio.session.suggested_settings import SuggestedSettings, propose
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.initial_state import minimum_vocab_size

COURSE = (
    "This is the Hugging Face Course.\nThis chapter is about tokenization.\n"
    "This section shows several tokenizer algorithms.\n"
    "Hopefully, you will be able to understand how they are trained and generate tokens.\n"
)


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        (1, SuggestedSettings(70)),  # the course's own
        (100, SuggestedSettings(500)),
        (4500, SuggestedSettings(8000)),
        (6000, SuggestedSettings(8000, min_frequency=2)),
        (60_000, SuggestedSettings(30_000, min_frequency=2)),
    ],
)
def test_it_grows_with_the_corpus(repeats: int, expected: SuggestedSettings) -> None:
    assert propose(count_texts([COURSE * repeats]), TrainingConfig()) == expected


def test_it_is_never_below_special_tokens_and_alphabet() -> None:
    text = " ".join(chr(0xAC00 + number) + chr(0xAC00 + number) for number in range(6000))
    counts = count_texts([text], pre_tokenizer="whitespace-split", normalizer=None)
    assert propose(counts, TrainingConfig()).vocab_size > minimum_vocab_size(counts, TrainingConfig())


def test_the_size_of_the_alphabet_is_that_of_a_training() -> None:
    counts = count_texts([COURSE, "汉字 😀x x😀 ab\U00010400"])
    specials = len(TrainingConfig().special_tokens)
    assert counts_with_figures.alphabet_size(counts.words) + specials == minimum_vocab_size(counts, TrainingConfig())
    assert counts_with_figures.alphabet_size([]) == 0


def test_the_alphabet_does_not_depend_on_how_the_words_are_cut_into_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    words = count_texts([COURSE]).words
    whole = counts_with_figures.alphabet_size(words)
    monkeypatch.setattr(counts_with_figures, "_BLOCK", 3)
    assert counts_with_figures.alphabet_size(words) == whole


def test_what_was_counted_in_the_background_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{chr(0x4E00 + number % 20_000)}{number}" for number in range(30_000)]
    plain = WordCounts.from_pairs([(word, 1) for word in words])
    counts = with_figures(plain)
    expected = propose(plain, TrainingConfig())
    assert expected.vocab_size > 20_000
    monkeypatch.setattr(
        counts_with_figures, "alphabet_size", lambda words: pytest.fail("counted in the window's thread")
    )
    assert propose(counts, TrainingConfig()) == expected
