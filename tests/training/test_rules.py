"""Required and forbidden tokens, forbidden pairs and chosen merges: engines, histories and candidates against the page
that defines them.
"""

from __future__ import annotations

import dataclasses
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training.test_trainer import (
    HUG,
    alphabets,
    assert_equals_definition,
    configs,
    contents,
    corpora,
    every_engine,  # noqa: F401 (a fixture)
    with_alphabet,
)
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import reference, rules
from wordpiece_studio.training.numba_engine import CompiledEngine
from wordpiece_studio.training.trainer import candidates, candidates_at, input_at, train_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[str, int]]
    Draw = Callable[[st.SearchStrategy[Any]], Any]

COUNTS = wps.WordCounts.from_pairs(HUG)


@st.composite
def random_rules(draw: Draw, pairs: Pairs, config: wps.TrainingConfig) -> wps.TrainingConfig:
    """Random rules that the words of the corpus give something to do."""
    prefix = config.continuing_subword_prefix
    suffix = config.end_of_word_suffix or ""
    texts = st.sampled_from([word + end for word, _ in pairs for end in {"", suffix}])

    @st.composite
    def parts(draw: Draw) -> str:
        text = draw(texts)
        begin = draw(st.integers(0, len(text) - 1))
        part = text[begin : draw(st.integers(begin + 1, len(text)))]
        return prefix + part if begin else part

    def is_token(token: str) -> bool:
        return len(token.removeprefix(prefix)) > 1 and token == token.strip()

    tokens = st.lists(parts().filter(is_token), max_size=4, unique=True)
    rights = parts().map(lambda token: token if token.startswith(prefix) else prefix + token)
    forbidden_pairs = st.lists(st.tuples(parts(), rights), max_size=3, unique=True)
    required = [] if suffix and not prefix else draw(tokens)
    config = dataclasses.replace(
        config,
        required_tokens=tuple(token for token in required if token not in config.reserved_tokens),
        forbidden_tokens=tuple(draw(tokens)),
        forbidden_pairs=tuple(pair for pair in draw(forbidden_pairs) if pair[1] != prefix),
    )
    for step in sorted(draw(st.sets(st.integers(1, 12), max_size=3))):
        try:
            trainer = wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine="plain")
            trainer.seek(step - 1)
        except StudioError:  # no word is left, or it ends before
            break
        found = trainer.top(100)
        if found:
            pair = draw(st.sampled_from(found))
            chosen = (*config.chosen_merges, (step, pair.left, pair.right))
            config = dataclasses.replace(config, chosen_merges=chosen)
    return config


def with_rules(data: st.DataObject, pairs: Pairs, config: Any, alphabet: Any) -> wps.TrainingConfig:
    return data.draw(random_rules(pairs, with_alphabet(config, alphabet)))  # type: ignore[no-any-return, call-arg]


def assert_defined(build: Any, pairs: Pairs, config: wps.TrainingConfig, data: st.DataObject) -> None:
    """Compare every engine with the definition: merges, places, words, candidates, and after going back and forth."""
    try:
        trainers = build(pairs, config)
    except StudioError:
        return  # no word is left
    for trainer in trainers:
        trainer.run()
        assert_equals_definition(trainer, pairs, config)
    plain, *others = trainers
    assert {trainer.stop_reason for trainer in trainers} == {plain.stop_reason}
    for step in data.draw(st.lists(st.integers(0, len(plain.history)), max_size=3)):
        for trainer in trainers:
            trainer.seek(step)
        expected = plain.top(7)
        assert [trainer.top(7) for trainer in others] == [expected] * 2
        history = plain.history
        assert candidates_at(history, step, 7) == expected
        begun = CompiledEngine(input_at(history, step), capacity=2)
        assert candidates(begun, history, step, 7) == expected
        if step < len(history):
            merge = history[step]
            assert (expected[0].left, expected[0].right, expected[0].value) == (merge.left, merge.right, merge.value)
        trainer = wps.Trainer(plain.counts, config, history=pickle.loads(pickle.dumps(history)), step=step)
        trainer.run()
        assert contents(trainer) == contents(plain)
    for trainer in others:
        trainer._engine.forget(0, trainer.history.vocabulary_size(0))
        trainer.history = wps.Trainer(plain.counts, config).history
        trainer.run()
        assert contents(trainer) == contents(plain)


@settings(max_examples=30)
@given(corpora, configs, alphabets, st.data())
def test_engines_equal_the_definition_with_rules(
    every_engine: Any,  # noqa: F811
    pairs: Pairs,
    config: Any,
    alphabet: Any,
    data: st.DataObject,
) -> None:
    assert_defined(every_engine, pairs, with_rules(data, pairs, config, alphabet), data)


@pytest.mark.exhaustive
@settings(max_examples=10_000)
@given(corpora, configs, alphabets, st.data())
def test_engines_equal_the_definition_with_rules_on_many_corpora(
    every_engine: Any,  # noqa: F811
    pairs: Pairs,
    config: Any,
    alphabet: Any,
    data: st.DataObject,
) -> None:
    assert_defined(every_engine, pairs, with_rules(data, pairs, config, alphabet), data)


@given(st.data(), st.sampled_from(["score", "likelihood", "count"]))
def test_the_reference_is_what_is_trained(data: st.DataObject, objective: Any) -> None:
    config = wps.TrainingConfig(objective=objective, special_tokens=(), max_merges=9)
    config = data.draw(random_rules(HUG, config))  # type: ignore[call-arg]
    config = dataclasses.replace(config, max_merges=None, vocab_size=16)
    try:
        run = wps.train(COUNTS, config)
    except StudioError:  # a chosen pair is not a candidate any more, or the size is too small
        return
    forbidden = config.forbidden_tokens, config.forbidden_pairs
    vocabulary, merges = rules.train(
        dict(HUG), getattr(reference, objective), 16, config.required_tokens, *forbidden, config.chosen_merges
    )
    assert run.vocabulary.tokens == vocabulary
    assert [(merge.left, merge.right) for merge in run.history] == merges


def test_a_required_token_is_used_and_a_merge_that_makes_it_adds_nothing() -> None:
    config = wps.TrainingConfig(objective="count", special_tokens=("[UNK]",), required_tokens=("hugs", "##zz"))
    run = wps.train(COUNTS, config)
    size = len(run.history.vocabulary(0))
    assert run.history.vocabulary(0).tokens[-2:] == ["hugs", "##zz"]
    assert [merge.token for merge in run.history if not merge.is_new] == ["hugs"]
    assert run.history.birth_step(size - 2) == 0
    assert (
        run.history.first_size() == size - 2 == len(wps.train(COUNTS, wps.TrainingConfig(max_merges=0)).vocabulary) - 4
    )
    before = dataclasses.replace(run, config=config).history.vocabulary(0)
    assert wps.Tokenizer(before).encode("hugs").tokens == ["hugs"]


def test_what_ends_a_training_of_which_all_pairs_are_forbidden() -> None:
    pairs = (*((left, "##u") for left in "hpb"), ("##u", "##g"), ("##u", "##n"), ("##g", "##s"))
    for engine in ("plain", "compiled"):
        trainer = wps.Trainer(COUNTS, wps.TrainingConfig(forbidden_pairs=pairs), engine=engine)
        assert trainer.run() == 0
        assert (trainer.stop_reason, trainer.top(5)) == ("forbidden", [])


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_chosen_pair_that_is_not_a_candidate_is_reported_before_its_step(engine: Any) -> None:
    config = wps.TrainingConfig(objective="count", chosen_merges=((4, "h", "##u"), (2, "p", "##u")))
    assert config.chosen_merges == ((2, "p", "##u"), (4, "h", "##u"))
    trainer = wps.Trainer(
        COUNTS, dataclasses.replace(config, chosen_merges=((1, "b", "##u"), (3, "b", "##u"))), engine=engine
    )
    for _ in range(2):
        with pytest.raises(StudioError, match=r"b \+ ##u, chosen for step 3, is not a candidate there"):
            trainer.run()
        assert [merge.token for merge in trainer.history] == ["bu", "##ug"]
        assert trainer.current_step == 2
    trainer.seek(0)
    assert trainer.top(1)[0].token == "bu"
    trainer.seek(2)
    assert trainer.top(1)[0].token == "hug"


def test_where_a_chosen_pair_is_not_a_candidate_elsewhere_the_best_one_is_merged() -> None:
    chosen = ((1, "p", "##u"), (2, "x", "##y"), (3, "b", "##u"))
    config = wps.TrainingConfig(objective="count", chosen_merges=chosen, max_merges=4)
    run = train_elsewhere(COUNTS, config)
    assert [merge.token for merge in run.history] == ["pu", "hu", "bu", "hug"]
    assert run.config.chosen_merges == (chosen[0], chosen[2])
    fitting = dataclasses.replace(config, chosen_merges=(chosen[0], chosen[2]))
    assert list(wps.train(COUNTS, fitting).history) == list(run.history)
    with pytest.raises(StudioError) as caught:
        wps.train(COUNTS, config)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("rule", [
    {"required_tokens": ["[UNK]"]},
    {"required_tokens": ["##"]},
    {"required_tokens": ["ab", "ab"]},
    {"required_tokens": ["a" * 101]},
    {"required_tokens": "ab"},
    {"forbidden_tokens": ["a"]},
    {"forbidden_tokens": ["a" * 101]},
    {"forbidden_tokens": [f"a{number}" for number in range(10_001)]},
    {"forbidden_tokens": ["##a"]},
    {"forbidden_tokens": ["a\nb"]},
    {"forbidden_tokens": ["ab", "ab"]},
    {"forbidden_pairs": [("a",)]},
    {"forbidden_pairs": [("a", "b")]},
    {"forbidden_pairs": [("a", "##")]},
    {"forbidden_pairs": ["ab"]},
    {"forbidden_pairs": [("a", "##b"), ("a", "##b")]},
    {"chosen_merges": [(0, "a", "##b")]},
    {"chosen_merges": [(None, "a", "##b")]},
    {"chosen_merges": [()]},
    {"chosen_merges": [(1, "a", 2)]},
    {"chosen_merges": [(1, "a", "##b"), (1, "a", "##c")]},
    {"chosen_merges": 5},
])  # fmt: skip
def test_refuses_and_names_the_rule(rule: dict[str, Any]) -> None:
    with pytest.raises(StudioError, match=f"The setting {next(iter(rule))} "):
        wps.TrainingConfig(**rule)


def test_what_is_chosen_cannot_be_forbidden() -> None:
    for rule in ({"forbidden_tokens": ("##ug",)}, {"forbidden_pairs": (("##u", "##g"),)}):
        with pytest.raises(StudioError, match="both forbidden and chosen for step 1"):
            wps.TrainingConfig(chosen_merges=((1, "##u", "##g"),), **rule)  # type: ignore[arg-type]


def test_byte_pair_encoding_uses_no_required_token() -> None:
    bpe: dict[str, Any] = {"objective": "count", "continuing_subword_prefix": "", "end_of_word_suffix": "</w>"}
    with pytest.raises(StudioError, match="cannot be required"):
        wps.TrainingConfig(required_tokens=("hug",), **bpe)
    wps.TrainingConfig(forbidden_tokens=("hug",), **bpe)


def test_settings_without_rules_are_written_as_before() -> None:
    assert not {"required_tokens", "forbidden_tokens", "forbidden_pairs", "chosen_merges"} & {
        *wps.TrainingConfig().to_dict()
    }
    config = wps.TrainingConfig(
        required_tokens=["ab"], forbidden_tokens=["cd"], forbidden_pairs=[["a", "##b"]], chosen_merges=[[3, "a", "##c"]]
    )
    values = config.to_dict()
    assert (values["forbidden_pairs"], values["chosen_merges"]) == ([["a", "##b"]], [[3, "a", "##c"]])
    assert wps.TrainingConfig.from_dict(values) == config
