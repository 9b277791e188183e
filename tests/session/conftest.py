"""Models that are closed at the end of a test, and corpora for them."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.session.fakes import FakeTrainer
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.document import Document
from wordpiece_studio.session.trainer_model import TrainerModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HUGS = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]


@pytest.fixture
def hugs() -> WordCounts:
    return WordCounts.from_pairs(HUGS)


def random_counts(seed: int, words: int = 60, letters: str = "abcde") -> WordCounts:
    rng = random.Random(seed)
    spelled = ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(words)]
    return WordCounts.from_pairs([(word, rng.randint(1, 40)) for word in spelled])


@pytest.fixture
def make_model(qapp: object) -> Iterator[Callable[..., TrainerModel]]:
    """Return a factory of models; arguments are for the `FakeTrainer`; without any, the trainer is real."""
    models: list[TrainerModel] = []

    def make(**fake: Any) -> TrainerModel:
        model = TrainerModel(trainer_factory=partial(FakeTrainer, **fake)) if fake else TrainerModel()  # type: ignore[arg-type]
        models.append(model)
        return model

    yield make
    for model in models:
        model.close()


@pytest.fixture
def model(make_model: Callable[..., TrainerModel]) -> TrainerModel:
    return make_model()


@pytest.fixture
def document(qapp: object) -> Iterator[Document]:
    document = Document()
    yield document
    document.close()
