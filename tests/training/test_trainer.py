"""The engines against the definition, and every way of moving through a training."""

from __future__ import annotations

import copy
import dataclasses
import io
import itertools
import pickle
import random
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training import definition
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import numba_engine as compiled
from wordpiece_studio.training.kernels import columns as columns
from wordpiece_studio.training.plain_engine import PlainEngine
from wordpiece_studio.training.segmentation import NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator

HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]

words = st.text(alphabet="ab#é😀", min_size=1, max_size=12) | st.sampled_from(
    ["aaaa", "aaaaaaa", "abababab", "babab", "##a", "a##", "[UNK]", "[UNK]b", "aab</w>", "_a_"]
)
weights = st.sampled_from([1, 1, 1, 2, 3, 7, 1000, 2**40])
corpora = st.lists(st.tuples(words, weights), min_size=1, max_size=12, unique_by=lambda pair: pair[0])
configs = st.builds(
    wps.TrainingConfig,
    objective=st.sampled_from(["score", "likelihood", "count"]),
    tie=st.sampled_from(["first", "ids"]),
    max_merges=st.integers(0, 25),
    min_frequency=st.sampled_from([0, 0, 1, 2, 5]),
    min_value=st.sampled_from([None, None, 0.01, 1.0]),
    max_token_length=st.sampled_from([None, None, 2, 3, 5]),
    special_tokens=st.sampled_from([(), ("[UNK]",), ("[PAD]", "[UNK]", "##ab", "a", "aa")]),
    user_tokens=st.sampled_from([(), (), ("b", "##ba", "ba")]),
    continuing_subword_prefix=st.sampled_from(["##", "##", "", "#"]),
    end_of_word_suffix=st.sampled_from([None, None, "</w>", "_"]),
    end_of_word=st.sampled_from(["symbol", "attached"]),
)

alphabets = st.fixed_dictionaries({
    "alphabet": st.sampled_from(["seen", "huggingface"]),
    "alphabet_limit": st.sampled_from([None, None, 1, 2, 4]),
    "alphabet_overflow": st.sampled_from(["unk", "remove"]),
    "initial_alphabet": st.sampled_from([(), ("z", "a"), ("é", "{}z", "{}a", "z")]),
    "continuing_order": st.sampled_from([None, ("{}b", "{}x", "{}#")]),
})  # fmt: skip
"""``{}`` stands for the prefix."""


def with_alphabet(config: wps.TrainingConfig, alphabet: dict[str, Any]) -> wps.TrainingConfig:
    for name in ("initial_alphabet", "continuing_order"):
        if alphabet[name] is not None:
            alphabet[name] = tuple(text.format(config.continuing_subword_prefix) for text in alphabet[name])
    return dataclasses.replace(config, **alphabet)


def contents(trainer: wps.Trainer) -> bytes:
    """Everything that the history holds, to the byte."""
    history = trainer.history
    columns = ("left_id", "right_id", "new_id", "pair_frequency", "symbols_before", "value", "ties", "is_new")
    parts = [history.column(name).tobytes() for name in columns]
    parts += [history.positions(index).tobytes() for index in range(len(history))]
    return b"|".join([*parts, "\n".join(history.vocabulary(len(history)).tokens).encode("utf-8", "surrogatepass")])


@pytest.fixture(params=["plain", "compiled", "cramped"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Every engine; the cramped one starts with tiny arrays and must grow and choose a new shortlist all the time."""
    if request.param == "cramped":
        whole = compiled.CompiledEngine
        monkeypatch.setattr(compiled, "CompiledEngine", lambda input_, **asked: whole(input_, capacity=2, **asked))
    return "plain" if request.param == "plain" else "compiled"


@pytest.fixture(scope="module")
def every_engine() -> Any:
    """All engines at once, for tests that hypothesis calls many times."""

    def build(pairs: list[tuple[str, int]], config: wps.TrainingConfig) -> list[wps.Trainer]:
        trainers = [wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine=e) for e in ("plain", "compiled")]
        trainers.append(wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine="plain"))
        trainers[-1]._place = 0, compiled.CompiledEngine(trainers[-1].history.input, capacity=2)
        return trainers

    return build


# A merge makes a symbol that existed before: its f rises, and the values of its pairs fall.
@example([("aba", 1), ("aab</w>", 1)], wps.TrainingConfig(special_tokens=(), end_of_word_suffix="</w>"))
# Two symbols of one text but different lengths, where the suffix is spelled out.
@example([("a", 1), ("aaaa", 1)], wps.TrainingConfig(objective="count", end_of_word_suffix="</w>", max_merges=3))
# An unlisted pair rises because the f of its symbol falls, but by too little for all its pairs to be checked.
@example(
    [("b", 7), ("aa", 1), ("#b", 2), ("#éa", 1), ("#aaa#a#béaéa", 2)],
    wps.TrainingConfig(objective="likelihood", max_merges=2, special_tokens=(), continuing_subword_prefix=""),
)
@settings(max_examples=120)
@given(corpora, configs)
def test_engines_equal_the_definition(every_engine: Any, pairs: list[tuple[str, int]], config: Any) -> None:
    assert_defined(every_engine, pairs, config)


@pytest.mark.slow
@settings(max_examples=60)
@given(corpora, configs, alphabets)
def test_engines_equal_the_definition_of_every_alphabet(
    every_engine: Any, pairs: list[tuple[str, int]], config: Any, alphabet: dict[str, Any]
) -> None:
    assert_defined(every_engine, pairs, with_alphabet(config, alphabet))


@pytest.mark.exhaustive
@settings(max_examples=3000)
@given(corpora, configs)
def test_engines_equal_it_on_many_corpora(every_engine: Any, pairs: list[tuple[str, int]], config: Any) -> None:
    assert_defined(every_engine, pairs, config)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(words, min_size=1, max_size=6), configs, alphabets)
def test_engines_equal_the_definition_of_bytes(texts: list[str], config: Any, alphabet: dict[str, Any]) -> None:
    config = with_alphabet(config, alphabet)
    counts = wps.count_texts(texts, "none", wps.ByteLevel())
    for engine in ("plain", "compiled"):
        trainer = wps.Trainer(counts, config, engine=engine)
        trainer.run()
        assert_equals_definition(trainer, list(counts.items()), config.for_words_of(counts.pre_tokenizer))


def assert_defined(every_engine: Any, pairs: list[tuple[str, int]], config: wps.TrainingConfig) -> None:
    if not definition.initial_corpus(pairs, definition.kept_characters(pairs, config), config):
        with pytest.raises(StudioError, match="No word is left"):
            every_engine(pairs, config)
        return
    for trainer in every_engine(pairs, config):
        trainer.run()
        assert_equals_definition(trainer, pairs, config)


def assert_equals_definition(trainer: wps.Trainer, pairs: list[tuple[str, int]], config: wps.TrainingConfig) -> None:
    expected, merges = definition.train(pairs, config)
    history = trainer.history
    assert {name: history.column(name).tolist() for name in merges.columns} == {
        name: column.tolist() for name, column in merges.columns.items()
    }
    ends = np.cumsum(merges.places.position_counts)[:-1]
    places = np.split(merges.places.positions, ends) if len(merges) else []
    assert [history.positions(index).tolist() for index in range(len(history))] == [part.tolist() for part in places]
    assert trainer.vocabulary.tokens == expected.vocabulary
    words = history.input.words
    assert [history.segmentation(word, len(history)) for word in words] == expected.segmentations


@pytest.mark.slow
@given(corpora, configs, alphabets, st.data())
def test_places_made_again_are_those_that_were_dropped(
    pairs: list[tuple[str, int]], config: Any, alphabet: dict[str, Any], data: st.DataObject
) -> None:
    counts, config = wps.WordCounts.from_pairs(pairs), with_alphabet(config, alphabet)
    try:
        trainer = wps.Trainer(counts, config, engine="plain")
    except wps.StudioError:
        return  # no word is left
    trainer.run()
    history = trainer.history
    before, numbers, expected = contents(trainer), history.places_until(len(history)), history.places
    steps = expected.boundary_steps.copy()
    history.drop_places(counts)
    end = data.draw(st.integers(0, len(history)))
    found = history.places_until(end)
    assert not history.is_whole
    assert [each.tolist() for each in found] == [
        numbers[0][:end].tolist(),
        numbers[1][:end].tolist(),
        numbers[2][: numbers[0][:end].sum()].tolist(),
    ]
    assert contents(trainer) == before
    assert history.places is not expected
    assert history.is_whole
    assert np.array_equal(history.places.boundary_steps, steps)
    for mine, old in zip(history.places_until(len(history)), numbers, strict=True):
        assert np.array_equal(mine, old)
    for name in ("words", "symbols", "vocabulary_tokens"):
        assert getattr(history.input, name) == getattr(expected.input, name)
    assert np.array_equal(history.input.cells, expected.input.cells)


@pytest.mark.slow
@given(corpora, configs, st.integers(0, 25))
def test_a_training_goes_on_after_its_places_were_dropped(
    pairs: list[tuple[str, int]], config: Any, early: int
) -> None:
    counts = wps.WordCounts.from_pairs(pairs)
    straight, trainer = wps.Trainer(counts, config), wps.Trainer(counts, config)
    straight.run()
    trainer.run(early)
    trainer.history.drop_places(counts)
    trainer.run()
    assert contents(trainer) == contents(straight)


@pytest.mark.slow
@settings(max_examples=60)
@given(corpora, configs, st.lists(st.integers(0, 25), max_size=6))
def test_any_walk_ends_where_a_straight_run_does(
    every_engine: Any, pairs: list[tuple[str, int]], config: Any, walk: list[int]
) -> None:
    for straight, walker in zip(every_engine(pairs, config), every_engine(pairs, config), strict=True):
        walker.run()
        for step in walk:
            walker.seek(min(step, len(walker.history)))
            fresh = straight
            fresh.seek(walker.current_step)
            assert walker.top(3) == fresh.top(3)
            assert walker.vocabulary.tokens == fresh.vocabulary.tokens
            fresh.seek(0)
        walker.run()
        straight.run()
        assert contents(walker) == contents(straight)


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_forward_back_forward_gives_the_same_bytes(engine: Any, objective: Any, sample_words: Any) -> None:
    config = wps.TrainingConfig(objective=objective, max_merges=200)
    trainer = wps.Trainer(sample_words, config, engine=engine)
    done = trainer.run()
    before = contents(trainer)
    while trainer.step_back() is not None:
        pass
    assert trainer.current_step == 0
    assert len(trainer.history) == done
    assert trainer.run() == done
    assert contents(trainer) == before


def test_arrays_after_a_walk_are_those_of_a_fresh_training(sample_words: Any) -> None:
    config = wps.TrainingConfig(max_merges=300)
    walker, fresh = (wps.Trainer(sample_words, config, engine="compiled") for _ in range(2))
    walker.run()
    walker.seek(120)
    fresh.seek(120)
    one, other = walker._engine._state, fresh._engine._state  # type: ignore[attr-defined]
    used = int(other.scalars[columns.PAIRS])
    assert int(one.scalars[columns.PAIRS]) == used
    assert np.array_equal(one.cells, other.cells)
    numbers = [columns.LEFT, columns.RIGHT, columns.START, columns.SIZE]
    assert np.array_equal(one.pairs[:used, numbers], other.pairs[:used, numbers])
    assert np.array_equal(one.counts[:used], other.counts[:used])
    symbols = int(other.scalars[columns.SYMBOLS])
    assert np.array_equal(one.frequencies[:symbols], other.frequencies[:symbols])


def test_first_candidate_is_the_next_merge(engine: Any, sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=60), engine=engine)
    while True:
        best = trainer.top(1)[0]
        merge = trainer.step()
        if merge is None:
            break
        assert (best.left, best.right, best.token, best.value) == (merge.left, merge.right, merge.token, merge.value)
        assert best.is_tied == (merge.ties > 1)


def test_candidates_are_ordered_and_complete(engine: Any) -> None:
    config = wps.TrainingConfig(objective="score", special_tokens=())
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), config, engine=engine)
    trainer.run(1)
    candidates = trainer.top(100)
    assert [(c.left, c.right) for c in candidates if c.is_tied] == [
        ("h", "##u"),
        ("##u", "##g"),
        ("p", "##u"),
        ("##u", "##n"),
        ("b", "##u"),
        ("##u", "##gs"),
    ]
    assert [c.value for c in candidates] == sorted((c.value for c in candidates), reverse=True)


def test_all_candidates_are_those_that_there_are(engine: Any) -> None:
    letters = map(chr, range(0x4E00, 0x4E00 + 40))
    words = {"".join(pair): 1 + place % 9 for place, pair in enumerate(itertools.permutations(letters, 2))}
    trainer = wps.Trainer(words, engine=engine)
    trainer.run(2)
    everything = trainer.top(10**30)
    assert len(everything) > 1500
    assert everything == trainer.top(10**9) == trainer.top(len(everything))


@pytest.mark.parametrize("name", ["run", "seek", "top"])
def test_steps_are_whole_numbers_of_any_kind(engine: Any, name: str) -> None:
    trainer, other = (wps.Trainer(dict(HUG), engine=engine) for _ in range(2))
    for wrong in (2.5, 2.0, "2"):
        with pytest.raises(TypeError):
            getattr(trainer, name)(wrong)
    assert trainer.current_step == 0
    assert getattr(trainer, name)(np.int64(2)) == getattr(other, name)(2)
    assert trainer.current_step == other.current_step


def test_threads_may_share_a_trainer(engine: Any, sample_words: Any) -> None:
    config = wps.TrainingConfig(max_merges=50)
    straight, shared = (wps.Trainer(sample_words, config, engine=engine) for _ in range(2))
    straight.run()
    failures: list[BaseException] = []

    def walk(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(60):
                chance.choice([
                    shared.step,
                    shared.step_back,
                    lambda: shared.seek(chance.randrange(50)),
                    lambda: shared.run(chance.randrange(9)),
                    lambda: shared.top(3),
                    lambda: (repr(shared), shared.vocabulary),
                ])()  # fmt: skip
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=walk, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    shared.run()
    assert contents(shared) == contents(straight)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_trainer_is_pickled_whole_while_others_go_on(engine: Any, sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=50), engine=engine)
    trainer.run(5)

    class Pickler(pickle.Pickler):
        """While it writes the parts one by one, another thread trains."""

        def persistent_id(self, part: Any) -> None:
            if part is not trainer:
                trainer.run(1)

    file = io.BytesIO()
    Pickler(file).dump(trainer)
    copied = pickle.loads(file.getvalue())
    assert copied.current_step == len(copied.history) == 5
    copied.run()
    trainer.run()
    assert contents(copied) == contents(trainer)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_copy_is_a_trainer_of_its_own(engine: Any) -> None:
    trainer = wps.Trainer(dict(HUG), engine=engine)
    trainer.run(1)
    for copied in (pickle.loads(pickle.dumps(trainer)), copy.copy(trainer), copy.deepcopy(trainer)):
        copied.run()
        assert trainer.current_step == len(trainer.history) == 1
    trainer.run()
    assert contents(copied) == contents(trainer)


def test_step_back_keeps_the_history_and_step_replays_it(engine: Any) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(special_tokens=()), engine=engine)
    trainer.run(5)
    undone = trainer.step_back()
    assert undone is not None
    assert undone.step == 5
    assert (trainer.current_step, len(trainer.history), len(trainer.vocabulary)) == (4, 5, 7 + 4)
    assert trainer.step() == undone
    assert trainer.current_step == len(trainer.history) == 5


def test_counts_beyond_32_bits(engine: Any) -> None:
    counts = wps.WordCounts.from_pairs([("ab" * 500, 45_000_000), ("cd", 3)])
    trainer = wps.Trainer(counts, wps.TrainingConfig(objective="count", max_merges=1), engine=engine)
    merge = trainer.step()
    assert merge is not None
    assert (merge.left, merge.right, merge.pair_frequency) == ("##b", "##a", 499 * 45_000_000)


@pytest.mark.parametrize(
    ("limits", "reason", "merges"),
    [
        ({"vocab_size": 9}, "vocab_size", 2),
        ({"max_merges": 3}, "max_merges", 3),
        ({}, "no_pair", 9),
        ({"min_frequency": 5}, "min_frequency", 7),
        ({"min_value": 0.06}, "min_value", 0),
        ({"max_token_length": 1}, "max_token_length", 0),
        ({"max_seconds": 0}, "max_seconds", 0),
    ],
)
def test_stop_rules(engine: Any, limits: dict[str, Any], reason: str, merges: int) -> None:
    config = wps.TrainingConfig(objective="score", special_tokens=(), **limits)
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), config, engine=engine)
    assert trainer.run() == merges
    assert trainer.stop_reason == reason
    assert trainer.step() is None


def test_training_further_continues_where_it_stopped(engine: Any, sample_words: Any) -> None:
    short = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=20), engine=engine)
    short.run()
    short.change_limits(max_merges=50)
    assert short.run() == 30
    whole = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=50), engine=engine)
    whole.run()
    assert contents(short) == contents(whole)


def test_training_much_further_switches_to_the_fast_engine(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordpiece_studio.training.trainer.PLAIN_WORK", 30_000)
    monkeypatch.setattr("wordpiece_studio.training.trainer.kernels_are_loaded", lambda _package: False)
    grown = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=10))
    assert isinstance(grown._engine, PlainEngine)
    grown.run()
    grown.step_back()
    grown.change_limits(max_merges=60)
    assert isinstance(grown._engine, compiled.CompiledEngine)
    assert (grown.current_step, len(grown.history)) == (9, 10)
    grown.run()
    whole = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=60), engine="plain")
    whole.run()
    assert contents(grown) == contents(whole)


def test_should_stop_keeps_what_was_learned(sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(), engine="compiled")
    answers = iter([False, True])
    assert 0 < trainer.run(should_stop=lambda: next(answers)) == len(trainer.history)
    assert trainer.stop_reason is None


def test_training_reports_its_progress_and_can_be_stopped(sample_words: Any) -> None:
    told: list[tuple[int, int | None]] = []
    config = wps.TrainingConfig(vocab_size=1000)
    run = wps.train(sample_words, config, engine="compiled", progress=lambda *figures: told.append(figures))
    assert told == sorted(set(told))
    assert told[-1] == (len(run.vocabulary), 1000)
    stopped = wps.train(
        sample_words, config, engine="compiled", progress=lambda *_: told.clear(), should_stop=lambda: not told
    )
    assert 0 < len(stopped.history) < len(run.history)
    with pytest.raises(wps.PreparationStopped):
        wps.train(sample_words, config, should_stop=lambda: True)


@pytest.mark.parametrize("steps", [-1, 10])
def test_seek_beyond_the_ends(engine: Any, steps: int) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(special_tokens=()), engine=engine)
    with pytest.raises(StudioError, match="There is no step"):
        trainer.seek(steps)


@pytest.mark.parametrize("pairs", [[("a", 3)], [("a", 3), ("b", 1)]])
def test_one_letter_words_have_no_pair(engine: Any, pairs: list[tuple[str, int]]) -> None:
    trainer = wps.Trainer(wps.WordCounts.from_pairs(pairs), engine=engine)
    assert trainer.step() is None
    assert trainer.stop_reason == "no_pair"
    assert trainer.top(5) == []


def test_empty_corpus() -> None:
    with pytest.raises(StudioError, match="no words"):
        wps.Trainer(wps.WordCounts.from_pairs([]))


def test_target_below_the_alphabet_names_the_minimum() -> None:
    counts = wps.WordCounts.from_pairs(HUG)
    with pytest.raises(StudioError, match="12 or more"):
        wps.Trainer(counts, wps.TrainingConfig(vocab_size=11))
    assert wps.Trainer(counts, wps.TrainingConfig(vocab_size=12)).run() == 0


def test_spelled_out_special_token_does_not_grow_the_vocabulary(engine: Any) -> None:
    counts = wps.WordCounts.from_pairs([("[UNK]", 5), ("##a", 3), ("ba", 4)])
    trainer = wps.Trainer(counts, wps.TrainingConfig(special_tokens=("[UNK]",)), engine=engine)
    trainer.run()
    made = {merge.token: merge.is_new for merge in trainer.history}
    assert made["[UNK]"] is False
    assert made["##a"] is False  # the word "##a" is written like the symbol a inside a word
    assert len(set(trainer.vocabulary.tokens)) == len(trainer.vocabulary)
    assert trainer.history.vocabulary_size(trainer.current_step) == len(trainer.vocabulary)


def test_no_boundary_disappears_twice(sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(), engine="compiled")
    trainer.run()
    gone = np.count_nonzero(trainer.history.places.boundary_steps != NEVER)
    assert gone == sum(len(trainer.history.positions(index)) for index in range(len(trainer.history)))


def test_interrupted_between_engine_and_history(
    engine: Any, sample_words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight, trainer = (wps.Trainer(sample_words, wps.TrainingConfig(max_merges=30), engine=engine) for _ in range(2))
    straight.run()
    trainer.run(10)
    monkeypatch.setattr(trainer.history, "extend", raise_interrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run(10)
    monkeypatch.undo()
    assert trainer.current_step == len(trainer.history) == 10
    trainer.run()
    assert contents(trainer) == contents(straight)


def raise_interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("config", [{"min_frequency": 2**63 - 1}, {"max_token_length": 2**63 - 1}])
def test_settings_with_the_largest_numbers(engine: Any, sample_words: Any, config: dict[str, Any]) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=3, **config), engine=engine)
    assert trainer.run() == (0 if "min_frequency" in config else 3)


def test_without_merges_the_words_are_not_read_one_by_one(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordpiece_studio.training.trainer.PLAIN_WORK", 100)
    assert not isinstance(wps.Trainer(sample_words, wps.TrainingConfig(max_merges=0))._engine, PlainEngine)


@pytest.mark.parametrize(("is_cached", "kind"), [(True, compiled.CompiledEngine), (False, PlainEngine)])
def test_more_is_trained_plainly_before_kernels_are_compiled_than_before_they_are_loaded(
    is_cached: bool, kind: type, sample_words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = sum(map(len, sample_words.words)) + len(sample_words) + 1
    monkeypatch.setattr("wordpiece_studio.training.trainer.PLAIN_WORK", 10 * cells - 1)
    monkeypatch.setattr("wordpiece_studio.training.trainer.PLAIN_WORK_UNCOMPILED", 10 * cells)
    monkeypatch.setattr("wordpiece_studio.training.trainer.kernels_are_loaded", lambda _package: False)
    monkeypatch.setattr("wordpiece_studio.training.trainer.kernels_are_cached", lambda _package: is_cached)
    assert isinstance(wps.Trainer(sample_words, wps.TrainingConfig(max_merges=10))._engine, kind)
