"""A history taken apart and put together again says the same, and one that does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.training.history import HistoryTable, table_of
from wordpiece_studio.training.stored_history import (
    StoredHistory,
    restored_history,
)

if TYPE_CHECKING:
    from wordpiece_studio.training.segmentation import HistoryPlaces

PAIRS = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5), ("bunbun", 3)]
WORDS = st.dictionaries(st.text("abcé", min_size=1, max_size=7), st.integers(1, 50), min_size=1, max_size=12)
OBJECTIVES = ["score", "likelihood", "count"]


def stored(run: wps.TrainingRun, end: int | None = None) -> StoredHistory:
    return restored_history(table_of(run.history, end), lambda: (run.counts, run.history.places_until(end)))


@pytest.mark.slow
@settings(max_examples=60)
@given(WORDS, st.sampled_from(OBJECTIVES), st.sampled_from(["##", ""]), st.data())
def test_a_restored_history_equals_the_original(
    words: dict[str, int], objective: Any, prefix: str, data: st.DataObject
) -> None:
    config = wps.TrainingConfig(objective=objective, continuing_subword_prefix=prefix)
    run = wps.train(wps.WordCounts.from_pairs(words), config)
    end = data.draw(st.integers(0, len(run.history)))
    again = stored(run, end)
    assert list(again) == list(run.history)[:end]
    assert again.vocabulary(end).tokens == run.history.vocabulary(end).tokens
    assert again.symbols_after(end) == run.history.symbols_after(end)
    assert again.pair_steps() == {pair: step for pair, step in run.history.pair_steps().items() if step <= end}
    assert not again.is_whole
    for step in range(end + 1):
        assert again.symbols_after(step) == run.history.symbols_after(step)
        for word in words:
            assert again.segmentation(word, step) == run.history.segmentation(word, step)
    assert [again.words_touched(index) for index in range(end)] == [run.history.words_touched(i) for i in range(end)]
    assert again.is_whole or not end


@pytest.mark.slow
@settings(max_examples=40)
@given(WORDS, st.sampled_from(OBJECTIVES), st.data())
def test_a_trainer_continues_from_it(words: dict[str, int], objective: Any, data: st.DataObject) -> None:
    counts, config = wps.WordCounts.from_pairs(words), wps.TrainingConfig(objective=objective)
    straight = wps.train(counts, config)
    end = data.draw(st.integers(0, len(straight.history)))
    trainer = wps.Trainer(counts, config, history=stored(straight, end))
    assert trainer.current_step == end
    trainer.run()
    assert list(trainer.history) == list(straight.history)
    assert trainer.stop_reason == straight.stop_reason
    other = wps.Trainer(counts, config)
    for step in data.draw(st.lists(st.integers(0, len(straight.history)), max_size=6)):
        other.seek(step)
        trainer.seek(step)
        assert (trainer.current_step, trainer.top(3)) == (step, other.top(3))
        assert trainer.step() == other.step()
        assert trainer.step_back() == other.step_back()


def test_words_are_read_when_first_needed() -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS))
    calls = []

    def load() -> list[str]:
        calls.append(1)
        return run.counts.words

    counts = wps.WordCounts(load, run.counts.counts, run.counts.normalizer, run.counts.pre_tokenizer)
    history = restored_history(table_of(run.history), lambda: (counts, run.history.places_until()))
    assert (len(counts), counts.total, history[1].token) == (len(PAIRS), 39, run.history[1].token)
    assert not calls
    assert history.words_touched(0) == run.history.words_touched(0)
    assert counts == run.counts
    assert calls == [1]
    short = wps.WordCounts(lambda: ["hug"], run.counts.counts, run.counts.normalizer, run.counts.pre_tokenizer)
    with pytest.raises(wps.StudioError, match="There are 1 words, but 6 counts"):
        len(short.words)


def change(table: HistoryTable, column: str, index: int, value: int) -> HistoryTable:
    columns = {name: array.copy() for name, array in table.columns.items()}
    columns[column][index] = value
    return replace(table, columns=columns)


@pytest.mark.parametrize(
    ("column", "index", "value"),
    [("left_id", 0, 10**12), ("left_id", 2, -1), ("right_id", 1, 17), ("new_id", 3, 2), ("is_new", 0, 0)],
)
def test_rows_that_contradict_each_other_are_refused(column: str, index: int, value: int) -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS), wps.TrainingConfig(special_tokens=()))
    table = change(table_of(run.history), column, index, value)
    with pytest.raises(wps.StudioError, match="The merges do not fit the tokens"):
        restored_history(table, lambda: (run.counts, run.history.places_until()))


def test_a_missing_row_is_refused() -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS))
    table = table_of(run.history)
    for wrong in (
        replace(table, tokens=table.tokens[:-1]),
        replace(table, initial_size=0),
        replace(table, columns=table.columns | {"value": table.columns["value"][:-1]}),
    ):
        with pytest.raises(wps.StudioError, match="The merges do not fit the tokens"):
            restored_history(wrong, lambda: (run.counts, run.history.places_until()))


@pytest.mark.parametrize(
    ("name", "value"), [("positions", 0), ("positions", 10**6), ("left_lengths", 50), ("left_lengths", 0)]
)
def test_places_that_do_not_fit_are_refused(name: str, value: int) -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS))
    places = run.history.places_until()
    array = getattr(places, name).copy()
    array[0] = value
    wrong: HistoryPlaces = places._replace(**{name: array})
    history = restored_history(table_of(run.history), lambda: (run.counts, wrong))
    assert history[0] == run.history[0]
    with pytest.raises(wps.StudioError, match="The merges do not fit the words"):
        history.words_touched(0)


def test_other_words_are_refused() -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS))
    other = wps.WordCounts.from_pairs([("xyz", 3)])
    history = restored_history(table_of(run.history), lambda: (other, run.history.places_until()))
    with pytest.raises(wps.StudioError, match="not learned from these words"):
        history.words_touched(0)


def test_values_of_another_logarithm_are_continued() -> None:
    """Older files hold those of the platform's library, which may differ in the last bit."""
    run = wps.train(wps.WordCounts.from_pairs(PAIRS))
    table = table_of(run.history)
    values = np.nextafter(table.columns["value"], np.inf)
    table = replace(table, columns=table.columns | {"value": values})
    history = restored_history(table, lambda: (run.counts, run.history.places_until()))
    trainer = wps.Trainer(run.counts, run.config, history=history, step=1)
    assert trainer.run() == len(run.history) - 1
    assert np.array_equal(history.column("left_id"), run.history.column("left_id"))
    assert np.array_equal(history.column("value"), values)


def test_figures_that_do_not_fit_the_words_are_found_when_training_again() -> None:
    run = wps.train(wps.WordCounts.from_pairs(PAIRS), wps.TrainingConfig(objective="score"))
    table = table_of(run.history)
    frequency, value = table.columns["left_frequency"].copy(), table.columns["value"].copy()
    value[2] *= frequency[2] / (frequency[2] + 1)
    frequency[2] += 1
    table = replace(table, columns=table.columns | {"left_frequency": frequency, "value": value})
    history = restored_history(table, lambda: (run.counts, run.history.places_until()))
    trainer = wps.Trainer(run.counts, run.config, history=history, step=1)
    assert trainer.step() == run.history[1]
    with pytest.raises(wps.StudioError, match="The merges after 2 are not those that the words"):
        trainer.step()
    assert np.array_equal(history.column("left_id"), run.history.column("left_id"))
