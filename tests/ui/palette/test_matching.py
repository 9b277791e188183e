"""What is typed and what it fits."""

from __future__ import annotations

import doctest

import pytest

from wordpiece_studio.ui.dialogs.palette import matching
from wordpiece_studio.ui.dialogs.palette.entries import Entry, matching_entries, step_entry
from wordpiece_studio.ui.dialogs.palette.matching import fit, folded

ENTRIES = [
    Entry("Save vocabulary…", "File", "Ctrl+S", "Save the vocabulary at the step shown"),
    Entry("Vocabulary", "View › Panes"),
    Entry("Breakpoints…", "Step", "Ctrl+B", "Choose where playing and running halt"),
    Entry("Größerer Text", "View › Text size", "Ctrl++"),
    Entry("한국어 예문", "File › Sample corpora"),
]


def titles(text: str) -> list[str]:
    return [entry.title for entry in matching_entries(ENTRIES, text)]


def test_the_examples_hold() -> None:
    assert not doctest.testmod(matching).failed


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("voc", "Vocabulary"),
        ("SAVE", "Save vocabulary…"),
        ("voc sav", "Save vocabulary…"),
        ("grosser", "Größerer Text"),
        ("brkp", "Breakpoints…"),
        ("ctrl+b", "Breakpoints…"),
        ("halt", "Breakpoints…"),
        ("panes", "Vocabulary"),
        ("예문", "한국어 예문"),
        ("한구", "한국어 예문"),
    ],
)
def test_the_best_fit_comes_first(text: str, first: str) -> None:
    assert titles(text)[:1] == [first]


def test_every_word_must_fit_and_nothing_typed_is_everything() -> None:
    assert titles("save xyz") == []
    assert titles("  ") == [entry.title for entry in ENTRIES]


def test_letters_count_only_from_the_beginning_of_a_word() -> None:
    assert fit("rkp", folded("Breakpoints")) == 0
    assert fit("bp", folded("Breakpoints")) > 0


@pytest.mark.parametrize(
    ("text", "step"), [("12", 12), ("1,200", 1200), ("step 7", 7), ("٣", 3), ("a", None), ("-5", None)]
)
def test_a_number_is_a_step(text: str, step: int | None) -> None:
    entry = step_entry(text, 5000)
    assert (entry.step if entry is not None else None) == step


def test_a_step_that_is_not_learned_says_so() -> None:
    assert step_entry("26", 25).reason == "25 merges are learned"
    assert not step_entry("25", 25).reason
