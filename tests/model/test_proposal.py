"""The limits proposed for a corpus that was opened."""

from __future__ import annotations

import pytest

from wordpiece_studio.core.corpus.counting import count_texts
from wordpiece_studio.core.training.config import TrainingConfig
from wordpiece_studio.core.training.preparation import minimum_vocab_size
from wordpiece_studio.model.proposal import Proposal, propose

COURSE = (
    "This is the Hugging Face Course.\nThis chapter is about tokenization.\n"
    "This section shows several tokenizer algorithms.\n"
    "Hopefully, you will be able to understand how they are trained and generate tokens.\n"
)


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        (1, Proposal(70)),  # the course's own
        (100, Proposal(500)),
        (4500, Proposal(8000)),
        (6000, Proposal(8000, min_frequency=2)),
        (60_000, Proposal(30_000, min_frequency=2)),
    ],
)
def test_it_grows_with_the_corpus(repeats: int, expected: Proposal) -> None:
    assert propose(count_texts([COURSE * repeats]), TrainingConfig()) == expected


def test_it_is_never_below_special_tokens_and_alphabet() -> None:
    text = " ".join(chr(0xAC00 + number) + chr(0xAC00 + number) for number in range(6000))
    counts = count_texts([text], pre_tokenizer="whitespace", normalizer=None)
    assert propose(counts, TrainingConfig()).vocab_size > minimum_vocab_size(counts, TrainingConfig())
