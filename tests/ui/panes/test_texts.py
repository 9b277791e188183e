"""How tokens, numbers, values and formulas are written; the numbers of the timeline curve; the words of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from wordpiece_studio.evaluation.usage import DeadReason
from wordpiece_studio.ui.panes.scoreboard.words_panel import changed_tokens, joined
from wordpiece_studio.ui.panes.token_details.token_details_pane import unborn_pair, unknown_text, usage_text
from wordpiece_studio.ui.training_bar import size_words
from wordpiece_studio.ui.widgets.token_text import (
    dead_sentence,
    dead_words,
    formula_of,
    number_text,
    token_text,
    value_text,
)


@dataclass(frozen=True)
class Pair:
    pair_frequency: int
    left_frequency: int
    right_frequency: int
    value: float


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ("##ful", "##ful"),
        ("<b>", "<b>"),
        ("a b", "a b"),
        ("\t", "⟨U+0009⟩"),
        ("##\u200b", "##⟨U+200B⟩"),
        ("##\u0301", "##◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("##\u200d", "##⟨U+200D⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("x" * 70, "x" * 59 + "…"),
        ("한" * 70, "한" * 59 + "…"),
    ],
)
def test_invisible_characters_are_spelled_out(token: str, text: str) -> None:
    assert token_text(token) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 6, "0.1667"),
        (1.0, "1"),
        (0.0, "0"),
        (-2.5, "-2.500"),
        (56.2449, "56.24"),
        (1.2345e-5, "1.234e-5"),
        (1234567.5, "1,234,567.5"),
        (0.0009358, "0.0009358"),
        (0.000099, "9.900e-5"),
        (29792.4, "29,792.4"),
        (float("inf"), "inf"),
    ],
)
def test_values(value: float, text: str) -> None:
    assert value_text(value) == text


def test_numbers_beyond_32_bits() -> None:
    assert number_text(3_000_000_000).replace(",", "") == "3000000000"


@pytest.mark.parametrize(
    ("objective", "pair", "text"),
    [
        ("score", Pair(5, 20, 5, 1 / 20), "n(ab) / (n(a) × n(b)) = 5 / (20 × 5) = 1/20 = 0.05000"),
        ("score", Pair(1, 1, 1, 1.0), "n(ab) / (n(a) × n(b)) = 1 / (1 × 1) = 1"),
        ("count", Pair(7, 20, 5, 7.0), "n(ab) = 7"),
        (
            "likelihood",
            Pair(2, 6, 2, 6.2418),
            "n(ab) × ln(n(ab) × N / (n(a) × n(b))) = 2 × ln(2 × 136 / (6 × 2)) = 2 × ln(68/3) = 2 × 3.121 = 6.242",
        ),
    ],
)
def test_formulas(objective: str, pair: Pair, text: str) -> None:
    assert formula_of(objective, pair, 136).text == text


def test_what_a_merge_changes_in_a_word() -> None:
    before = ("c", "##a", "##b", "##a", "##b", "##c")
    after = joined(before, "##a", "##b", "##ab")
    assert after == ("c", "##ab", "##ab", "##c")
    assert changed_tokens(before, after) == ([False, True, True, True, True, False], [False, True, True, False])


def test_one_thing_is_said_in_the_singular() -> None:
    assert usage_text(1, 1) == "It is used once in the corpus."
    assert usage_text(1, 1, is_as_trained=True) == "It occurs once in the corpus."
    assert usage_text(8, 1) == "It is used 8 times in the corpus; distinct words: 1."
    assert unknown_text(1, 3) == "One word in the corpus is unknown; occurrences: 3."
    assert unborn_pair("n(ab) = 3", 1) == "Not learned yet. A candidate after 1 merge: n(ab) = 3"
    assert (size_words(1, None), size_words(1, 30_000)) == ("1 token", "1 of 30,000 tokens")
    once, often = (DeadReason("merged", "hugs", "hug", 7, merges) for merges in (1, 3))
    assert dead_words(once) == "All merged into hug at step 7"
    assert dead_words(often) == "Merged into 3 others, the last being hug at step 7"
    assert dead_sentence(once, 1).endswith("as in “hugs”. One word contains it; longest match splits that word "
                                           "differently.")  # fmt: skip
    assert "3 merges absorbed every occurrence" in dead_sentence(often, 2)
