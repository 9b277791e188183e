"""The settings of the next training: those suggested for a corpus that was opened, and those that the user chose."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus import counts as counts_module
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.session import SuggestedSettings, suggested_settings
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.segmentation import minimum_vocab_size
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable

COURSE = (
    "This is the Hugging Face Course.\nThis chapter is about tokenization.\n"
    "This section shows several tokenizer algorithms.\n"
    "Hopefully, you will be able to understand how they are trained and generate tokens.\n"
)


LATIN = "abcdefghijklmnopqrstuvwxyz"
KINDS = {
    "letters": (LATIN, 7, 1),
    "vowel signs": ("कखगचजटडतदनपबमयरलवसहािीुूेैोौं", 7, 1),
    "no blanks": ("กขคงจชดตทนบปมยรลวสหอะาิีุู", 5, 4),
    "syllables": ("".join(map(chr, range(0xAC00, 0xD7A3, 21))), 3, 1),
    "characters": ("".join(map(chr, range(0x4E00, 0x9FA5, 21))), 2, 5),
}
"""Letters, how many a word has at most, and how many words may be joined without a blank."""


def text_of(letters: str, longest: int, joined: int, words: int) -> str:
    """Return words by Zipf's law, a third of them in Latin letters, and every hundredth a code seen nowhere else."""
    chance = random.Random(7)
    stems = ["".join(chance.choices(letters, k=chance.randint(1, longest))) for _ in range(2000)]
    stems += ["".join(chance.choices(LATIN, k=chance.randint(1, 7))) for _ in range(1000)]
    chance.shuffle(stems)
    weights = [1 / (rank + 3) for rank in range(len(stems))]
    pieces = ["".join(chance.choices(stems, weights, k=chance.randint(1, joined))) for _ in range(words)]
    pieces[::100] = [f"{chance.getrandbits(64):x}" for _ in pieces[::100]]
    return " ".join(pieces)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "words"), [*((kind, 4000) for kind in KINDS), (next(iter(KINDS)), 30_000)])
def test_trainings_end_in_words_and_not_in_codes(kind: str, words: int) -> None:
    counts = count_texts([text_of(*KINDS[kind], words)])
    config = TrainingConfig()
    suggested = suggested_settings(counts, config)
    least = minimum_vocab_size(counts, config)
    assert suggested.vocab_size >= least * 5 // 4
    limits = {"vocab_size": suggested.vocab_size, "min_frequency": suggested.min_frequency}
    run = train(counts, replace(config, **limits))
    last = [merge.token.removeprefix("##") for merge in list(run.history)[-10:]]
    of_codes = [token for token in last if any(character.isdigit() for character in token)]
    assert len(last) == 10
    assert len(of_codes) <= 3  # there are only 256 pairs of digits: some occur as often as words do
    assert all(len(token) <= 2 for token in of_codes)


def text_with(words: int) -> str:
    return " ".join(f"a{number:05d}" for number in range(words) for _ in range(6))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lambda: COURSE, SuggestedSettings(70)),  # the course's own
        (lambda: COURSE * 100, SuggestedSettings(500)),
        (lambda: text_with(2000), SuggestedSettings(2000)),
        (lambda: text_with(1900), SuggestedSettings(1000)),
        (lambda: text_with(9000), SuggestedSettings(8000)),
        (lambda: text_with(40_000), SuggestedSettings(30_000, min_frequency=2)),
    ],
    ids=["toy", "few words", "2,000 words", "fewer", "9,000", "40,000 in a megabyte"],
)
def test_it_grows_with_the_words_that_are_not_rare(text: Callable[[], str], expected: SuggestedSettings) -> None:
    assert suggested_settings(count_texts([text()]), TrainingConfig()) == expected


def test_it_is_never_below_special_tokens_and_alphabet() -> None:
    text = " ".join(chr(0xAC00 + number) + chr(0xAC00 + number) for number in range(6000))
    counts = count_texts([text], pre_tokenizer="whitespace-split", normalizer=None)
    assert suggested_settings(counts, TrainingConfig()).vocab_size > minimum_vocab_size(counts, TrainingConfig())


def test_what_was_counted_beside_the_window_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{chr(0x4E00 + number % 20_000)}{number}" for number in range(30_000)]
    plain = WordCounts.from_pairs([(word, 1) for word in words])
    expected = suggested_settings(plain, TrainingConfig())
    assert expected.vocab_size > 20_000
    received = pickle.loads(pickle.dumps(plain))
    monkeypatch.setattr(counts_module, "distinct_symbols", lambda *_: pytest.fail("counted in the window's thread"))
    assert suggested_settings(received, TrainingConfig()) == expected
