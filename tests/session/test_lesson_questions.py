"""What the questions of lessons take for an answer; `test_lesson_numbers.py` has the answers of every lesson."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.lesson_questions import Solution, is_answer, open_lesson, rule_of, solution
from wordpiece_studio.storage.lesson import FUNCTIONS, Question, lesson_paths
from wordpiece_studio.training.segmentation import PreparationStopped

if TYPE_CHECKING:
    from pathlib import Path

_, PROJECT = open_lesson(next(path for path in lesson_paths() if path.stem == "score"))
RUN = PROJECT.runs[0]
ANSWERS = {
    "n": ("hu ##gs", "5", "hugs × 5"),
    "score": ("hu ##gs", "1/15", "5 / (15 × 5)"),
    "merge": ("2", "h ##u", "15 / (15 × 36)"),
    "ties": ("2", "6", "b ##u"),
    "tie_word": ("2", "hug", "word 1"),
    "tokens": ("bugs pug", "b ##u ##gs p ##u ##g", "“bugs pug”"),
    "symbols": ("hugs", "hu ##gs", "step 2"),
    "words": ("Hug, pug", "Hug , pug", "3 words"),
    "characters": ("Hug pug", "6", "H u g p u g"),
    "size": ("2", "9", "7"),
    "size_for": ("100", "9", "93 symbols"),
    "step": ("hugs", "3", "hu ##gs"),
}
"""About what each function is asked of the five words after two merges, the answer, and a part of the reason."""


def ask(name: str, about: str) -> Solution:
    return solution(Question(kind="ask", line=1, name=name, about=about, step=2), RUN)


def test_every_function_is_asked_here() -> None:
    assert ANSWERS.keys() == FUNCTIONS.keys()


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_and_its_reason(name: str) -> None:
    about, answer, reason = ANSWERS[name]
    right = ask(name, about)
    assert right.text == answer
    assert reason in right.why
    assert is_answer(answer, right)
    assert not is_answer(f"{answer}7", right)
    assert rule_of(Question(kind="ask", line=1, name=name, about=about), RUN)


@pytest.mark.parametrize(
    ("name", "about"),
    [("merge", "99"), ("merge", "0"), ("score", "z ##z"), ("size", "99"), ("size_for", "1"), ("step", "zz"),
     ("symbols", "zebra")],
)  # fmt: skip
def test_what_has_no_answer_is_refused(name: str, about: str) -> None:
    with pytest.raises(StudioError):
        ask(name, about)


def test_case_counts_in_an_answer() -> None:
    words = ask("words", "Hug pug")
    assert is_answer("Hug pug", words)
    assert not is_answer("hug pug", words)


def test_what_does_not_occur_is_counted_as_none() -> None:
    assert [ask("n", about).value for about in ("##s h", "zz", "h ##u")] == [0, 0, 0]


@given(st.text(st.sampled_from("0123456789/×*()., u#+|"), max_size=20))
def test_whatever_is_typed_is_right_or_wrong(typed: str) -> None:
    for value in (Fraction(1, 36), Fraction(15), ("hu", "##gs"), ()):
        assert is_answer(typed, Solution(value, "", "")) in (True, False)


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 500))
def test_a_fraction_may_be_typed_in_any_form(n: int, left: int, right: int) -> None:
    score = Solution(Fraction(n, left * right), "", "")
    for typed in (f"{n}/({left} × {right})", f"{n} / ({left}*{right})", f"{score.value}", f"{float(score.value):.4f}"):
        is_exact = (
            "/" in typed or score.value.denominator == 1 or abs(Fraction(typed) - score.value) <= score.value / 200
        )
        assert is_answer(typed, score) == is_exact
    assert not is_answer(f"{n + 1 + n // 100}/({left} × {right})", score)


def test_a_lesson_that_trains_for_long_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    words = " ".join(f"{number * 7919 % 100_003:05}" for number in range(150))
    lines = "\n".join(words for _ in range(80))
    path.write_text(f"---\nlesson: Long\n---\n\n```\n{lines}\n```\n\n## Look\n", encoding="utf-8")
    assert len(open_lesson(path)[1].runs[0].history) > 100
    with pytest.raises(PreparationStopped):
        open_lesson(path, should_stop=lambda: True)
