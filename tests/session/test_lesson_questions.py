"""The answers to the questions of lessons: those of every lesson are what `training/reference.py` finds."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.lesson_questions import Solution, is_answer, open_lesson, rule_of, solution
from wordpiece_studio.storage.lesson import FUNCTIONS, Question, lesson_paths
from wordpiece_studio.training import reference

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run
    from wordpiece_studio.training.reference import Corpus, Pair

LESSONS = {path.stem: path for path in lesson_paths()}


class State(NamedTuple):
    """The reference after some merges: the words in symbols, and the pairs that were merged."""

    corpus: Corpus
    merges: tuple[Pair, ...]
    vocabulary: tuple[str, ...]


@cache
def opened(path: Path) -> tuple[Project, list[tuple[Question, Run, int]]]:
    lesson, project = open_lesson(path)
    runs, asked = {run.number: run for run in project.runs}, []
    for page in lesson.pages:
        question = page.question
        if question is not None and question.kind == "ask":
            number = page.view.current if question.run is None else question.run
            run = runs.get(number, project.runs[0])
            step = page.view.step if question.step is None else question.step
            asked.append((question, run, min(step, len(run.history))))
    return project, asked


def values_of(run: Run, corpus: Corpus) -> dict[Pair, float]:
    objective = getattr(reference, run.config.objective)
    pairs, symbols = reference.count_pairs(corpus), reference.count_symbols(corpus)
    return reference.pair_values(pairs, symbols, objective, run.config.min_frequency)


def states(run: Run) -> Iterator[State]:
    """Yield the states of a run from step 0 on, by the functions of the reference alone."""
    config, prefix = run.config, run.config.continuing_subword_prefix
    corpus: Corpus = []
    for word, times in run.counts.items():
        symbols = [word[0], *(prefix + each for each in word[1:])]
        corpus.append((symbols + ([config.end_of_word_suffix] if config.end_of_word_suffix else []), times))
    vocabulary = [*config.special_tokens, *sorted(reference.count_symbols(corpus))]
    merges: list[Pair] = []
    while True:
        yield State(corpus, tuple(merges), tuple(vocabulary))
        values = values_of(run, corpus)
        if not values or len(vocabulary) == config.vocab_size:
            return
        pair = reference.best_pair(values)
        if config.tie == "ids":
            best = [each for each in values if values[each] == values[pair]]
            pair = min(best, key=lambda each: [vocabulary.index(symbol) for symbol in each])
        left, right = config.choices.get(len(merges) + 1, pair)
        new = left + right.removeprefix(prefix)
        corpus = [(reference.merge(symbols, left, right, new), times) for symbols, times in corpus]
        merges.append((left, right))
        vocabulary += [] if new in vocabulary else [new]


def expected(asked: Question, run: Run, step: int) -> object:
    """Return the answer by the reference; None where it has no say, about words and characters."""
    all_states, about = list(states(run)), asked.about
    assert len(all_states) == len(run.history) + 1
    now = all_states[step]
    pair = tuple(about.split())
    if asked.name == "n":
        counts = {**reference.count_symbols(now.corpus), **reference.count_pairs(now.corpus)}
        return Fraction(counts.get(pair if len(pair) == 2 else about, 0))
    if asked.name == "score":
        n = reference.count_pairs(now.corpus)[pair]
        symbols = reference.count_symbols(now.corpus)
        if run.config.objective == "score":
            return Fraction(n, symbols[pair[0]] * symbols[pair[1]])
        return Fraction(values_of(run, now.corpus)[pair])
    if asked.name == "merge":
        return all_states[-1].merges[int(about) - 1]
    if asked.name in ("ties", "tie_word"):
        before, merged = all_states[int(about) - 1], all_states[-1].merges[int(about) - 1]
        values = values_of(run, before.corpus)
        if asked.name == "ties":
            return Fraction(sum(value == values[merged] for value in values.values()))
        words = zip(run.counts.words, before.corpus, strict=True)
        return (next(word for word, (symbols, _) in words if merged in reference.count_pairs([(symbols, 1)])),)
    if asked.name == "symbols":
        return tuple(now.corpus[run.counts.words.index(about)][0])
    if asked.name == "tokens" and not run.config.is_byte_pair_encoding:
        words = run.counts.pre_tokenizer.split(run.counts.normalizer.normalize(about))
        return tuple(token for word in words for token in reference.longest_match(word, now.vocabulary))
    if asked.name == "size":
        return Fraction(len(all_states[int(about)].vocabulary))
    if asked.name == "size_for":
        sizes = (
            len(each.vocabulary) for each in all_states
            if sum(reference.count_symbols(each.corpus).values()) <= int(about)
        )  # fmt: skip
        return Fraction(next(sizes))
    if asked.name == "step":
        return Fraction(next(at for at, each in enumerate(all_states) if about in each.vocabulary))
    return None


@pytest.mark.parametrize("name", LESSONS)
def test_every_answer_of_every_lesson_is_that_of_the_reference(name: str) -> None:
    _, asked = opened(LESSONS[name])
    for question, run, step in asked:
        right, wanted = solution(question, run, step), expected(question, run, step)
        if question.name == "score" and run.config.objective != "score":
            assert isinstance(wanted, Fraction)
            assert isinstance(right.value, Fraction)
            assert abs(right.value - wanted) < Fraction(1, 10**9)
        elif wanted is not None:
            assert right.value == wanted, question
        assert is_answer(right.text, right)
        assert right.text in right.why
        assert rule_of(question, run)


def test_the_lessons_ask_by_most_functions_and_the_reference_answers_most() -> None:
    asked = [each for path in LESSONS.values() for each in opened(path)[1]]
    assert len(asked) > 15
    assert len({question.name for question, _, _ in asked}) > len(FUNCTIONS) // 2
    assert sum(expected(*each) is not None for each in asked) > len(asked) * 0.7


def ask(name: str, about: str) -> Solution:
    project, _ = opened(LESSONS["score"])
    return solution(Question(kind="ask", line=1, name=name, about=about), project.runs[0], 2)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("words", "characters")])
def test_every_function_answers_as_the_reference_does(name: str) -> None:
    about = {"pair": "hu ##gs", "symbols": "hu ##g", "step": "2", "word": "hugs", "text": "bugs mug", "token": "hugs",
             "number": "80"}[FUNCTIONS[name]]  # fmt: skip
    project, _ = opened(LESSONS["score"])
    assert ask(name, about).value == expected(Question(kind="ask", line=1, name=name, about=about), project.runs[0], 2)


@pytest.mark.parametrize(
    ("name", "about"),
    [("merge", "99"), ("merge", "0"), ("score", "z ##z"), ("size", "99"), ("size_for", "1"), ("step", "zz"),
     ("symbols", "zebra")],
)  # fmt: skip
def test_what_has_no_answer_is_refused(name: str, about: str) -> None:
    with pytest.raises(StudioError):
        ask(name, about)


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
        is_exact = "/" in typed or score.value.denominator == 1 or abs(float(typed) - score.value) <= score.value / 200
        assert is_answer(typed, score) == is_exact
    assert not is_answer(f"{n + 1 + n // 100}/({left} × {right})", score)
