"""The settings of the next training: those suggested for a corpus that was opened, and those that the user chose."""

from __future__ import annotations

import pytest

from wordpiece_studio.corpus import counts as counts_module
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import PartsReader, WordCounts, parts_of
from wordpiece_studio.session.chosen_settings import SuggestedSettings, suggested_settings
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
    assert suggested_settings(count_texts([COURSE * repeats]), TrainingConfig()) == expected


def test_it_is_never_below_special_tokens_and_alphabet() -> None:
    text = " ".join(chr(0xAC00 + number) + chr(0xAC00 + number) for number in range(6000))
    counts = count_texts([text], pre_tokenizer="whitespace-split", normalizer=None)
    assert suggested_settings(counts, TrainingConfig()).vocab_size > minimum_vocab_size(counts, TrainingConfig())


def test_what_was_counted_beside_the_window_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{chr(0x4E00 + number % 20_000)}{number}" for number in range(30_000)]
    plain = WordCounts.from_pairs([(word, 1) for word in words])
    expected = suggested_settings(plain, TrainingConfig())
    assert expected.vocab_size > 20_000
    reader = PartsReader(plain.normalizer, plain.pre_tokenizer)
    for kind, content in parts_of(plain):
        reader.take(kind, content)
    monkeypatch.setattr(counts_module, "_alphabet_size", lambda words: pytest.fail("counted in the window's thread"))
    assert suggested_settings(reader.counts(), TrainingConfig()) == expected
