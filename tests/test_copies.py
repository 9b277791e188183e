"""What the library returns can be copied, pickled and sent to new processes, also after it was used."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import wordpiece_studio as wps
from wordpiece_studio.text.pipeline import PatternOverrunError
from wordpiece_studio.training.history import table_of
from wordpiece_studio.training.stored_history import restored_history

if TYPE_CHECKING:
    from collections.abc import Callable

HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
TEXTS = ["hug pugs", "[UNK] buns, mugs"]
CONFIG = wps.TrainingConfig(vocab_size=18)
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}
copies = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


def run() -> wps.TrainingRun:
    return wps.train(wps.WordCounts.from_pairs(HUG), CONFIG)


def bpe() -> wps.BpeTokenizer:
    return wps.BpeTokenizer({"h": 0, "u": 1, "hu": 2}, [("h", "u")], "lowercase", "whitespace")


@copies
def test_tokenizers_and_vocabularies(copied: Callable[[Any], Any]) -> None:
    for tokenizer in (run().tokenizer(), bpe()):
        expected = tokenizer.encode(TEXTS)
        size = len(pickle.dumps(tokenizer))
        tokenizer.encode(" ".join(map("".join, itertools.product("hugs", repeat=5))))
        assert len(pickle.dumps(tokenizer)) == size  # what it remembers of texts is left out
        assert copied(tokenizer).encode(TEXTS) == expected
        assert copied(expected) == expected
    vocabulary = run().vocabulary.first(14)
    again = copied(vocabulary)
    assert (again, again.longest, list(map(again.id_of, vocabulary))) == (vocabulary, vocabulary.longest, [*range(14)])
    assert again.id_of(run().vocabulary[14]) is None


@copies
def test_word_counts(copied: Callable[[Any], Any]) -> None:
    counts = wps.WordCounts(lambda: ["hug", "bug"], [2, 1], wps.BertNormalizer(), wps.PatternPreTokenizer("a+"))
    again = copied(counts)
    assert (again.items(), again.pre_tokenizer) == ([("hug", 2), ("bug", 1)], wps.PatternPreTokenizer("a+"))
    assert not again.counts.flags.writeable


def stored(history: wps.MergeHistory, counts: wps.WordCounts) -> wps.MergeHistory:
    return restored_history(table_of(history), lambda: (counts, history.places_until()))


def dropped(history: wps.MergeHistory, counts: wps.WordCounts) -> wps.MergeHistory:
    history.drop_places(counts)
    return history


@copies
@pytest.mark.parametrize("state", [lambda history, _: history, dropped, stored], ids=["whole", "dropped", "stored"])
def test_runs_and_histories(copied: Callable[[Any], Any], state: Callable[[Any, Any], Any]) -> None:
    training = run()
    merges = [*training.history]
    places = [training.history.positions(index).tolist() for index in range(len(merges))]
    whole = wps.TrainingRun(training.counts, CONFIG, state(training.history, training.counts), training.stop_reason)
    again = copied(whole)
    assert (again.counts, again.config, again.stop_reason) == (training.counts, CONFIG, "vocab_size")
    assert again.tokenizer().encode(TEXTS) == training.tokenizer().encode(TEXTS)
    assert [*again.history] == merges
    assert [again.history.positions(index).tolist() for index in range(len(merges))] == places
    assert again.history.segmentation("hugs", 2) == training.history.segmentation("hugs", 2)
    assert again.history.symbols_after(len(merges)) == training.history.symbols_after(len(merges))
    assert again.history.vocabulary(3) == training.history.vocabulary(3)


@copies
def test_a_copy_goes_its_own_way(copied: Callable[[Any], Any]) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(), engine="plain")
    trainer.run(3)
    again = wps.Trainer(trainer.counts, trainer.config, engine="plain", history=copied(trainer.history))
    again.run()
    assert (len(trainer.history), len(trainer.history.vocabulary(3))) == (3, trainer.history.vocabulary_size(3))
    trainer.run()
    assert [*again.history] == [*trainer.history]
    assert again.vocabulary == trainer.vocabulary


def test_a_history_can_be_pickled_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(), engine="plain")
    trainer.run(3)
    vocabulary = trainer.history.vocabulary

    def grown_meanwhile(step: int) -> wps.Vocabulary:
        if len(trainer.history) == 3:
            trainer.run(2)  # as another thread may at this moment
        return vocabulary(step)

    monkeypatch.setattr(trainer.history, "vocabulary", grown_meanwhile)
    again = pickle.loads(pickle.dumps(trainer.history))
    assert len(trainer.history) == 5
    assert [*again] == [*trainer.history][:3]
    assert again.segmentation("hugs", 3) == trainer.history.segmentation("hugs", 3)


@copies
def test_errors(copied: Callable[[Any], Any]) -> None:
    errors: list[wps.StudioError] = [wps.EncodingStopped(), wps.CountingStopped(), wps.PreparationStopped()]
    errors += [wps.StudioError("{path} is empty", "Choose another.", path="a"), PatternOverrunError("x", "a+", "aa")]
    for error in errors:
        again = copied(error)
        assert (type(again), str(again), again.values) == (type(error), str(error), error.values)


@pytest.mark.slow
def test_new_processes(tmp_path: Any) -> None:
    training = run()
    training.tokenizer().save(tmp_path)
    library = wps.LibraryTokenizer(tmp_path / "tokenizer.json")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for tokenizer in (training.tokenizer(), bpe(), library):
            expected = [tokenizer.encode(text) for text in TEXTS]
            assert list(pool.map(tokenizer.encode, TEXTS)) == expected
        segmentation = training.history.segmentation
        assert pool.submit(segmentation, "hugs", 3).result() == segmentation("hugs", 3)
        again = pool.submit(wps.TrainingRun.tokenizer, training).result()
        assert again.encode(TEXTS) == training.tokenizer().encode(TEXTS)
        assert pool.submit(training.vocabulary.id_of, "hu").result() == training.vocabulary.id_of("hu")
        with pytest.raises(wps.StudioError, match="Text 2 is not a string: 3"):
            pool.submit(again.encode, ["a", 3]).result()
        with pytest.raises(wps.EncodingStopped):
            pool.submit(again.encode, ["a"], should_stop="x".isalpha).result()
