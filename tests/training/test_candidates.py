"""The candidates at a step of a history against those of a trainer that was taken there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training.test_trainer import configs, corpora
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import segmentation
from wordpiece_studio.training.numba_engine import CompiledEngine
from wordpiece_studio.training.plain_engine import PlainEngine
from wordpiece_studio.training.trainer import candidates_at, candidates_memory, input_at

if TYPE_CHECKING:
    from wordpiece_studio.training.history import MergeHistory

COLUMNS = ("left_id", "right_id", "new_id", "pair_frequency", "symbols_before", "value", "ties", "is_new")


@settings(max_examples=60, deadline=None)
@given(corpora, configs, st.data())
def test_candidates_are_those_of_a_trainer_at_that_step(
    pairs: list[tuple[str, int]], config: wps.TrainingConfig, data: Any
) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine="plain")
    trainer.run()
    step = data.draw(st.integers(0, len(trainer.history)))
    trainer.seek(step)
    assert candidates_at(trainer.history, step, 50) == trainer.top(50)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(corpora, configs, st.data())
def test_an_engine_that_starts_at_a_step_finds_the_merges_that_follow(
    pairs: list[tuple[str, int]], config: wps.TrainingConfig, data: Any
) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine="compiled")
    trainer.run()
    history = trainer.history
    step = data.draw(st.integers(0, len(history)))
    input_ = input_at(history, step)
    assert input_ is not None
    assert input_.total_symbols == history.symbols_after(step)
    for engine in (PlainEngine.of(input_), CompiledEngine(input_)):
        batch, _ = engine.advance(len(history) - step, config.vocab_size, config.min_value)
        if step < len(history):
            later = [history.column(name)[step:].tolist() for name in COLUMNS]
            assert [np.asarray(batch.columns[name]).tolist() for name in COLUMNS] == later


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_the_history_is_only_read(sample_words: Any, objective: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(objective=objective, max_merges=200), engine="compiled")
    trainer.run()
    history = trainer.history
    before = (history.input.cells.copy(), history.input.symbol_counts.copy(), list(history.input.symbols))
    for step in (200, 0, 77):
        found = candidates_at(history, step, 1000)
        trainer.seek(step)
        assert found == trainer.top(1000)
    assert (history.input.cells == before[0]).all()
    assert (history.input.symbol_counts == before[1]).all()
    assert history.input.symbols == before[2]


def test_candidates_are_right_while_another_thread_appends(sample_words: Any) -> None:
    config = wps.TrainingConfig(objective="score", max_merges=400)
    reference = wps.Trainer(sample_words, config, engine="compiled")
    reference.run()
    expected = {}
    for step in (0, 5, 60):
        reference.seek(step)
        expected[step] = reference.top(40)
    trainer = wps.Trainer(sample_words, config, engine="compiled")
    trainer.run(60)
    thread = threading.Thread(target=trainer.run)
    thread.start()
    found = {step: candidates_at(trainer.history, step, 40) for step in expected}
    thread.join()
    assert found == expected
    assert len(trainer.history) == 400


def test_words_are_processed_block_by_block(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    history = wps.train(sample_words, wps.TrainingConfig(max_merges=60)).history
    whole = candidates_at(history, 40, 100)
    monkeypatch.setattr(segmentation, "_BLOCK", 7)
    assert candidates_at(history, 40, 100) == whole
    asked = iter([False, False, True])
    with pytest.raises(wps.PreparationStopped):
        candidates_at(history, 40, 100, lambda: next(asked))


def test_it_stops_when_asked(sample_words: Any) -> None:
    history = wps.train(sample_words, wps.TrainingConfig(max_merges=3)).history
    with pytest.raises(wps.PreparationStopped):
        candidates_at(history, 2, 5, lambda: True)
    with pytest.raises(StudioError, match="no step 4"):
        candidates_at(history, 4, 5)


def test_memory_grows_with_corpus_and_merges(sample_words: Any) -> None:
    def history(merges: int) -> MergeHistory:
        return wps.train(sample_words, wps.TrainingConfig(max_merges=merges)).history

    assert candidates_memory(history(0)) > 40 * len(history(0).input.cells)
    assert candidates_memory(history(50)) > candidates_memory(history(10))


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_candidates_and_merges_after_a_long_replay_are_the_same(sample_words: Any, objective: Any) -> None:
    config = wps.TrainingConfig(objective=objective)
    whole, walked = (wps.Trainer(sample_words, config, engine="compiled") for _ in range(2))
    whole.run()
    walked.run(300)
    for step in (0, 290, 3, 4, 200):
        walked.seek(step)
        assert walked.top(30) == candidates_at(whole.history, step, 30)
    walked.run()
    assert list(walked.history) == list(whole.history)
