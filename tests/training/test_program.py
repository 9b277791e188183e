"""The definition as text: its code and values, and programs that print the same merges as a run."""

from __future__ import annotations

import doctest
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import program
from wordpiece_studio.training.plain_engine import OBJECTIVES
from wordpiece_studio.training.program import MOST_WORDS, PHASES, code_of, program_of, values_of

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.training.history import MergeHistory

WORDS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
SETTINGS: dict[str, dict[str, Any]] = {
    "score": {"objective": "score", "vocab_size": 24},
    "likelihood": {"objective": "likelihood", "max_merges": 9},
    "count": {"objective": "count", "min_frequency": 3, "special_tokens": ()},
    "ids": {"objective": "count", "tie": "ids", "alphabet": "huggingface", "vocab_size": 26},
    "no prefix": {"objective": "score", "continuing_subword_prefix": ""},
    "other prefix": {"objective": "likelihood", "continuing_subword_prefix": "_'\"", "min_frequency": 2},
    "rare characters": {"objective": "count", "alphabet_limit": 4},
    "required": {"objective": "score", "required_tokens": ("##ab", "abc"), "max_merges": 12},
}


def learned(words: dict[str, int], **settings: Any) -> MergeHistory:
    return wps.train(wps.WordCounts.from_pairs(words.items()), wps.TrainingConfig(**settings)).history


def printed(text: str, folder: Path) -> list[list[str]]:
    """Run a program where nothing but Python is found."""
    path = folder / "program.py"
    path.write_text(text, "utf-8")
    done = subprocess.run([sys.executable, "-I", "-S", path], capture_output=True, cwd=folder, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return [line.split("\t") for line in done.stdout.decode("utf-8").splitlines()]


def steps_of(history: MergeHistory) -> list[list[str]]:
    return [[str(merge.step), merge.left, merge.right, merge.token] for merge in history]


def random_words(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    letters = chance.choice(["abc", "aé한😀", "ab\\'\"{", "aab"])
    found = {"".join(chance.choices(letters, k=chance.randint(1, 7))) for _ in range(chance.randint(3, 25))}
    words = chance.sample(sorted(found), len(found))
    return {word: chance.choice([1, 1, 2, 5, 1000, 2**40]) for word in words}


def test_the_examples_hold() -> None:
    failed, tried = doctest.testmod(program)
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_program_prints_the_merges_of_its_run(settings: str, tmp_path: Path) -> None:
    tried = 0
    for seed in range(3):
        history = learned(random_words(10 * seed + len(settings)), **SETTINGS[settings] | {"vocab_size": None})
        tried += len(history)
        assert printed(program_of(history, len(history)), tmp_path) == steps_of(history)
    history = learned(WORDS, **SETTINGS[settings])
    assert len(history) > 2
    assert printed(program_of(history, len(history)), tmp_path) == steps_of(history)
    assert printed(program_of(history, 2), tmp_path) == steps_of(history)[:2]
    assert tried > 20


def test_a_program_ends_with_a_merge_that_adds_no_token(tmp_path: Path) -> None:
    history = learned(
        {"abc": 2, "abcd": 1, "bcab": 3, "cabc": 1}, required_tokens=("bcab",), continuing_subword_prefix=""
    )
    is_new = [merge.is_new for merge in history]
    end = is_new.index(False) + 1
    assert printed(program_of(history, end), tmp_path) == steps_of(history)[:end]
    assert printed(program_of(history, 0), tmp_path) == []


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (WORDS, {"max_token_length": 3}, "a maximum token length"),
        (WORDS, {"forbidden_tokens": ("hu",)}, "forbidden tokens"),
        (WORDS, {"chosen_merges": ((1, "h", "##u"),)}, "chosen merges"),
        (WORDS, {"objective": "count", "end_of_word_suffix": "</w>", "continuing_subword_prefix": ""}, "suffix"),
        ({"##ab": 2, "ab": 3}, {}, "looks like the inside of a word"),
        ({"ab": 2, "xab": 9, "ba": 10}, {"alphabet_limit": 2, "alphabet_overflow": "remove"}, "looks like the inside"),
        ({f"w{number}": 1 for number in range(MOST_WORDS + 1)}, {"max_merges": 1}, "5,001 distinct words"),
    ],
)  # fmt: skip
def test_it_is_said_why_there_is_no_program(words: dict[str, int], settings: dict[str, Any], said: str) -> None:
    with pytest.raises(StudioError, match=said):
        program_of(history := learned(words, **settings), len(history))


def test_a_run_that_goes_on_has_no_program() -> None:
    run = wps.train(WORDS, wps.TrainingConfig(max_merges=2))
    config = run.history.config.continued(run.vocabulary.tokens, [(each.left, each.right) for each in run.history])
    with pytest.raises(StudioError, match="merges of an earlier training"):
        program_of(wps.train(WORDS, config).history, 1)


@pytest.mark.parametrize("tie", ["first", "ids"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_lines_of_the_phases_are_those_of_the_functions(objective: Any, tie: Any) -> None:
    code = code_of(objective, tie)
    lines = code.text.splitlines()
    compile(code.text, "code", "exec")
    assert '"""' not in code.text
    assert len(code.lines) == PHASES == len(set(code.lines))
    names = [max((line for line in lines[:at] if line.startswith("def ")), key=lines.index) for at in code.lines]
    assert [name.split("(")[0][4:] for name in names] == [
        "count_pairs",
        "count_symbols",
        objective,
        "best_pair",
        "merge",
    ]
    assert ("enumerate(vocabulary)" in code.text) == (tie == "ids")


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_values_are_what_the_objective_computes(objective: Any) -> None:
    for merge in learned(random_words(7), objective=objective):
        pairs, _, value, best, made = values_of(merge)
        counts, _, found = value.partition(" → ")
        names = dict(part.split("=") for part in counts.split(", "))
        told = {name: int(number) for name, number in names.items()}
        assert OBJECTIVES[objective](**{"left": 1, "right": 1, "total": 1, **told}) == float(found)
        assert pairs == f"{merge.left} {merge.right} → {merge.pair_frequency}"
        assert values_of(merge, is_chosen=True)[3] == f"{merge.left} {merge.right}, chosen for this step"
        assert (made, best.startswith(f"{merge.left} {merge.right}")) == (merge.token, True)
