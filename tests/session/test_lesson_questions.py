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
        is_whole = score.value.denominator == 1
        is_close = "/" in typed or abs(Fraction(typed) - score.value) <= (0 if is_whole else score.value / 200)
        assert is_answer(typed, score) or not is_close
    assert not is_answer(f"{n + 1 + n // 100}/({left} × {right})", score)


@pytest.mark.parametrize(
    ("value", "right", "wrong"),
    [
        (
            Fraction(1, 36),
            ("0.028", "0.0278", "0,0278", ".028", "15/(15x36)", "15 / (15 X 36)"),
            ("0.03", "0.027", "28"),
        ),
        (Fraction(1, 20), (".05", "0,05", "5/100"), ("0.1", "0.06", ".", "0,0,5", "1,20")),
        (Fraction(1234), ("1,234", "1234", "1234.0"), ("1,23", "1.234", "12,34")),
    ],
)
def test_a_number_is_typed_as_people_write_it(value: Fraction, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    assert {typed: is_answer(typed, Solution(value, "", "")) for typed in right + wrong} == {
        **dict.fromkeys(right, True), **dict.fromkeys(wrong, False),
    }  # fmt: skip


def test_what_is_said_is_of_the_case_that_is_asked_about() -> None:
    unknown = ask("tokens", "mug bug")
    assert unknown.value == ("[UNK]", "b", "##u", "##g")
    assert unknown.why == "“mug bug” becomes [UNK] b ##u ##g: m is no token, so its whole word is [UNK]."
    assert ask("size", "2").why == "7 tokens before the first merge, and 2 from the merges: 9."

    def rule(name: str, about: str, step: int) -> str:
        return rule_of(Question(kind="ask", line=1, name=name, about=about, step=step), RUN)

    assert rule("symbols", "hug", 0) == "Before the first merge, each character is a symbol of its own."
    assert rule("symbols", "hug", 1) == "Apply the merges in their order."
    assert "the whole word is unknown" in rule("tokens", "mug", 2)
    assert "with a space" in rule("merge", "1", 0)
    before = solution(Question(kind="ask", line=1, name="symbols", about="hug"), RUN)
    assert before.why == "At step 0, the symbols of “hug” are h ##u ##g."


def test_a_lesson_that_trains_for_long_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    words = " ".join(f"{number * 7919 % 100_003:05}" for number in range(150))
    lines = "\n".join(words for _ in range(80))
    path.write_text(f"---\nlesson: Long\n---\n\n```\n{lines}\n```\n\n## Look\n", encoding="utf-8")
    assert len(open_lesson(path)[1].runs[0].history) > 100
    with pytest.raises(PreparationStopped):
        open_lesson(path, should_stop=lambda: True)
