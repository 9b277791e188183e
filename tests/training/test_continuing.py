"""Going on with a training on other words, against the definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.training import reference
from wordpiece_studio.training.continuing import replayed

if TYPE_CHECKING:
    from wordpiece_studio.training.trainer import EngineName

WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 20), min_size=1, max_size=12)
OBJECTIVES = {"score": reference.score, "likelihood": reference.likelihood, "count": reference.count}


def defined(
    first: dict[str, int], second: dict[str, int], objective: str, merges: int
) -> tuple[list[str], list[reference.Pair], list[reference.Pair]]:
    """Return the vocabulary and the merges of both trainings by the functions of the reference."""
    value = OBJECTIVES[objective]
    vocabulary, old = reference.train(
        first, value, size=len(set(reference.count_symbols(reference.corpus_of(first)))) + merges
    )
    corpus = [(replayed(symbols, old), times) for symbols, times in reference.corpus_of(second)]
    characters = sorted(reference.count_symbols(reference.corpus_of(second)))
    vocabulary = list(dict.fromkeys((*vocabulary, *characters)))
    new: list[reference.Pair] = []
    for _ in range(merges):
        values = reference.pair_values(reference.count_pairs(corpus), reference.count_symbols(corpus), value)
        if not values:
            break
        left, right = reference.best_pair(values)
        token = reference.join(left, right)
        corpus = [(reference.merge(symbols, left, right, token), times) for symbols, times in corpus]
        new.append((left, right))
        vocabulary += [token] if token not in vocabulary else []
    return vocabulary, old, new


def check(first: dict[str, int], second: dict[str, int], objective: str, merges: int, engine: EngineName) -> None:
    config = wps.TrainingConfig(objective=objective, special_tokens=())  # type: ignore[arg-type]
    vocabulary, old, new = defined(first, second, objective, merges)
    run = wps.train(first, config, engine=engine)
    learned = [(merge.left, merge.right) for merge in run.history][: len(old)]
    assert learned == old
    further = config.continued(run.history.vocabulary(len(old)).tokens, learned, max_merges=merges)
    trainer = wps.Trainer(second, further, engine=engine)
    trainer.run()
    assert [(merge.left, merge.right) for merge in trainer.history] == new
    assert trainer.vocabulary.tokens == vocabulary
    for step in (0, len(new) // 2, len(new)):
        segmented = [trainer.history.segmentation(word, step) for word in second]
        corpus = [replayed(reference.split(word), old + new[:step]) for word in second]
        assert segmented == corpus
    trainer.seek(0)
    trainer.seek(len(new))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.sampled_from(list(OBJECTIVES)), st.integers(0, 8))
def test_goes_on_as_the_definition_says(
    engine: EngineName, first: dict[str, int], second: dict[str, int], objective: str, merges: int
) -> None:
    check(first, second, objective, merges, engine)


@pytest.mark.exhaustive
@settings(max_examples=10_000, deadline=None)
@given(WORDS, WORDS, st.sampled_from(list(OBJECTIVES)), st.integers(0, 12))
def test_goes_on_as_the_definition_says_in_ten_thousand_corpora(
    first: dict[str, int], second: dict[str, int], objective: str, merges: int
) -> None:
    check(first, second, objective, merges, "compiled")
