"""Every answer and number of the lessons, computed again by the reference."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session.lesson_questions import is_answer, open_lesson, solution
from wordpiece_studio.storage.lesson import LAST_STEP, lesson_paths
from wordpiece_studio.storage.project.contents import steps_of
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.training import reference
from wordpiece_studio.training.reference import (
    Corpus,
    Pair,
    best_pair,
    corpus_of,
    count_pairs,
    count_symbols,
    join,
    longest_match,
    merge,
    pair_values,
    score,
)

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.storage.lesson import Lesson, Question
    from wordpiece_studio.storage.project.contents import Run

HUG = reference.WORDS


def joined(symbols: list[str]) -> str:
    return "".join(symbol.removeprefix("##") for symbol in symbols)


class Reference:
    """The corpus of a run before each of its merges, with the pair that is merged, as the reference page has it."""

    def __init__(self, run: Run) -> None:
        config = run.config
        self.objective = getattr(reference, config.objective)
        self.chosen = {step: pair for step, *pair in config.chosen_merges}
        self.corpora = [corpus_of(dict(run.counts.items()))]
        self.pipeline = Pipeline(run.counts.normalizer, run.counts.pre_tokenizer)
        self.special = list(config.special_tokens)
        self.merges: list[Pair] = []
        size = config.vocab_size or 10_000
        while len(self.vocabulary(LAST_STEP)) < size and (values := self.values(len(self.merges))):
            left, right = self.chosen.get(len(self.merges) + 1, best_pair(values))
            self.merges.append((left, right))
            corpus = self.corpora[-1]
            self.corpora.append([(merge(symbols, left, right, join(left, right)), times) for symbols, times in corpus])

    def corpus(self, step: int) -> Corpus:
        return self.corpora[min(step, len(self.merges))]

    def values(self, step: int) -> dict[Pair, float]:
        corpus = self.corpus(step)
        return pair_values(count_pairs(corpus), count_symbols(corpus), self.objective)

    def vocabulary(self, step: int) -> list[str]:
        tokens = [*self.special, *sorted(count_symbols(self.corpora[0]))]
        return [*dict.fromkeys([*tokens, *(join(*pair) for pair in self.merges[:step])])]

    def answer(self, asked: Question, step: int) -> str:
        """Return the answer to a question as a student would type it."""
        about, corpus = asked.about, self.corpus(step)
        symbols, pairs = count_symbols(corpus), count_pairs(corpus)
        if asked.name == "n":
            pair = tuple(about.split())
            return str(symbols[about] if len(pair) == 1 else pairs[pair])
        if asked.name == "score":
            left, right = about.split()
            if self.objective is score:
                return f"{pairs[left, right]}/({symbols[left]} × {symbols[right]})"
            return str(self.values(step)[left, right])
        if asked.name == "merge":
            return " ".join(self.merges[int(about) - 1])
        if asked.name == "ties":
            values = self.values(int(about) - 1)
            return str([*values.values()].count(max(values.values())))
        if asked.name == "tie_word":
            number = int(about) - 1
            return next(joined(word) for word, _ in self.corpora[number] if self.merges[number] in pairwise(word))
        if asked.name == "tokens":
            words, vocabulary = self.pipeline.words(about), self.vocabulary(step)
            return " ".join(token for word in words for token in longest_match(word, vocabulary))
        if asked.name == "symbols":
            return next(" ".join(word) for word, _ in corpus if joined(word) == about)
        if asked.name == "size":
            return str(len(self.vocabulary(int(about))))
        if asked.name == "size_for":
            lengths = [sum(count_symbols(corpus).values()) for corpus in self.corpora]
            return str(len(self.vocabulary(next(at for at, length in enumerate(lengths) if length <= int(about)))))
        assert asked.name == "step"
        return str([join(*pair) for pair in self.merges].index(about) + 1)


def opened(name: str) -> tuple[Lesson, dict[int, Run]]:
    path = next(path for path in lesson_paths() if path.stem == name)
    lesson, project = open_lesson(path)
    return lesson, {run.number: run for run in project.runs}


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_the_answers_are_those_of_the_reference(path: Path) -> None:
    lesson, runs = opened(path.stem)
    # Byte pair encoding and the order of IDs are not on the page of the reference: their own tests define them.
    pages = {number: Reference(run) for number, run in runs.items()
             if run.config.continuing_subword_prefix and run.config.tie == "first"}  # fmt: skip
    asked = 0
    for page in lesson.pages:
        question = page.question
        if question is None or question.kind != "ask" or question.name in ("words", "characters"):
            continue
        if question.run in pages:
            answer = pages[question.run].answer(question, question.step)
            assert is_answer(answer, solution(question, runs[question.run])), (page.title, answer)
            asked += 1
    assert asked


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_the_settings_are_those_of_the_run_that_is_shown_first(path: Path) -> None:
    lesson, project = open_lesson(path)
    run = project.run
    assert run is not None
    assert (run.number, run.is_of_corpus) == (lesson.pages[0].view.current, True)
    assert (project.settings.training, project.settings.normalizer) == (
        run.config.to_dict(),
        steps_of(run.counts)["normalizer"],
    )


def said(name: str) -> str:
    """Return all that a lesson says, its choices and reasons too."""
    path = next(path for path in lesson_paths() if path.stem == name)
    return " ".join(path.read_text("utf-8").split())


def test_the_numbers_in_their_texts_are_those_of_the_reference() -> None:
    corpus = corpus_of(HUG)
    pairs, symbols = count_pairs(corpus), count_symbols(corpus)
    most = max(pairs, key=pairs.__getitem__)
    n, left, right = pairs[most], symbols[most[0]], symbols[most[1]]
    assert f"{' '.join(most)} occurs {n} times, more often than any other pair." in said("score")
    assert f"{n}/({left} × {right}) is only {Fraction(n, left * right)}" in said("score")

    page = Reference(opened("ties")[1][0])
    tied = [pair for pair, value in page.values(1).items() if value == max(page.values(1).values())]
    symbols, pairs = count_symbols(page.corpus(1)), count_pairs(page.corpus(1))
    value = {Fraction(pairs[pair], symbols[pair[0]] * symbols[pair[1]]) for pair in tied}
    assert f"the six pairs a score of {value.pop()}" in said("ties")
    assert (len(tied), value) == (6, set())
    assert f"Each has ##u, which occurs {symbols['##u']} times." in said("ties")
    others = [next(symbol for symbol in pair if symbol != "##u") for pair in tied]
    assert all("##u" in pair for pair in tied)
    assert [symbols[other] for other in others] == [pairs[pair] for pair in tied]  # each is always beside ##u

    page = Reference(opened("course-exercises")[1][0])
    after = count_symbols(page.corpus(3))
    left = count_pairs(page.corpus(3))
    n, product = left["p", "##u"], after["p"] * after["##u"]
    assert f"There are {n} p ##u, but only {left['hu', '##gs']} hu ##gs." in said("course-exercises")
    assert f"It still occurs {after['##u']} times, so p ##u has only" in said("course-exercises")
    assert f"{n}/({after['p']} × {after['##u']}) = {Fraction(n, product)}." in said("course-exercises")
    assert all("##u" in pair for pair in page.values(3) if pair != ("hu", "##gs"))
    assert max(left, key=left.__getitem__) == ("p", "##u")
    assert page.merges[:3] == [("##g", "##s"), ("h", "##u"), ("hu", "##g")]

    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    pairs = count_pairs(corpus_of(words))
    assert "newest 6 times and widest 3 times" in said("byte-pair-encoding")
    assert "because: w ##i occurs 3 times." in said("byte-pair-encoding")
    assert pairs["w", "##i"] == 3
    frequent: Counter[Pair] = Counter()
    for word, times in words.items():
        frequent.update(dict.fromkeys(pairwise([*word, "</w>"]), times))
    assert [*frequent.values()].count(max(frequent.values())) == 3
    assert "Three pairs are equally frequent." in said("byte-pair-encoding")
    values = Reference(opened("byte-pair-encoding")[1][0]).values(0)
    assert values["##i", "##d"] == values["w", "##i"] == max(values.values()) == 1 / 3
    assert "##i ##d has 1/3, too," in said("byte-pair-encoding")


def test_the_runs_of_the_lesson_on_objectives_differ_as_it_says() -> None:
    _, runs = opened("objectives")
    pages = [Reference(runs[number]) for number in range(3)]
    assert pages[0].merges[1] == ("##f", "##u")
    symbols, pairs = count_symbols(pages[0].corpora[0]), count_pairs(pages[0].corpora[0])
    three = [("T", "##h"), ("##e", "##r"), ("a", "##b")]
    for left, right in three:
        counts_of_pair = f"{pairs[left, right]}/({symbols[left]} × {symbols[right]})"
        assert f"{left} {right} with {counts_of_pair}" in said("objectives")
    assert {page.merges[0] for page in pages} == {*three}
    assert f"where N = {sum(symbols.values())} counts all symbols of the corpus." in said("objectives")
    lengths = [[sum(count_symbols(corpus).values()) for corpus in page.corpora] for page in pages]
    needed = [next(step for step, length in enumerate(each) if length <= 120) for each in lengths]
    assert needed[0] > 2 * needed[1]
    counts = [count_pairs(pages[0].corpora[step])[pages[0].merges[step]] for step in range(needed[0])]
    assert counts.count(1) > len(counts) / 2
