"""The definition of training: its examples, its likeness in README.md, and the engines that must equal it."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.training import definition
from wordpiece_studio.training import plain_engine, reference
from wordpiece_studio.training.plain_engine import OBJECTIVES

README = Path(__file__).parents[2] / "README.md"

words = st.text(alphabet="abcé한", min_size=1, max_size=9) | st.sampled_from(
    ["aaaaaaa", "abababab", "cabcab", "bababa"]
)
corpora = st.dictionaries(words, st.sampled_from([1, 1, 2, 3, 7, 1000, 2**40]), min_size=1, max_size=10)


@pytest.mark.parametrize("module", [reference, plain_engine], ids=["reference", "plain"])
def test_the_examples_hold(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_every_function_of_the_definition_has_an_example() -> None:
    tests = {test.name: test.examples for test in doctest.DocTestFinder(exclude_empty=False).find(reference)}
    assert all(
        tests[f"{reference.__name__}.{name}"] for name in functions_of(Path(reference.__file__).read_text("utf-8"))
    )


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
@given(pairs=corpora, min_frequency=st.sampled_from([0, 1, 3]), more=st.none() | st.integers(0, 12))
def test_engines_equal_the_definition(
    objective: Any, pairs: dict[str, int], min_frequency: int, more: int | None
) -> None:
    alphabet = len({symbol for word in pairs for symbol in reference.split(word)})
    size = None if more is None else alphabet + more
    vocabulary, merges = reference.train(pairs, OBJECTIVES[objective], min_frequency, size)
    config = wps.TrainingConfig(objective=objective, min_frequency=min_frequency, vocab_size=size, special_tokens=())
    slow, batch = definition.train(list(pairs.items()), config)
    assert slow.vocabulary == vocabulary
    assert named(batch.columns, vocabulary) == merges
    for engine in ("plain", "compiled"):
        run = wps.train(wps.WordCounts.from_pairs(pairs.items()), config, engine=engine)  # type: ignore[arg-type]
        assert run.vocabulary.tokens == vocabulary
        assert [(merge.left, merge.right) for merge in run.history] == merges


def named(columns: dict[str, Any], vocabulary: list[str]) -> list[reference.Pair]:
    ids = zip(columns["left_id"].tolist(), columns["right_id"].tolist(), strict=True)
    return [(vocabulary[left], vocabulary[right]) for left, right in ids]


@given(corpora, words, st.integers(0, 12))
def test_tokenizers_equal_the_longest_match_of_the_definition(pairs: dict[str, int], word: str, more: int) -> None:
    vocabulary, _ = reference.train(
        pairs, reference.score, size=len({s for w in pairs for s in reference.split(w)}) + more
    )
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", *vocabulary]), normalizer=None, pre_tokenizer="whitespace-split")
    for text in (word, *pairs):
        assert tokenizer.encode(text).tokens == reference.longest_match(text, vocabulary)


def functions_of(source: str) -> dict[str, str]:
    """Return each function of a source by its name, without its docstring, as an expression of its meaning."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = ast.dump(node)
    return found


def test_the_code_in_the_readme_is_the_definition() -> None:
    section = README.read_text(encoding="utf-8").split("## How training works, in code", 1)[1].split("\n## ", 1)[0]
    shown = functions_of("\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL)))
    defined = functions_of(Path(reference.__file__).read_text(encoding="utf-8"))
    assert set(shown) >= {"train", "split", "score", "best_pair", "merge"}
    assert {name: defined[name] for name in shown} == shown
