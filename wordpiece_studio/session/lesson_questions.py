"""The questions of a lesson, answered by the run that they are asked of: what is right, and why, in one sentence."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.samples import planned_project
from wordpiece_studio.storage.lesson import LAST_STEP, Lesson, Question, read_lesson
from wordpiece_studio.system.printable import file_error, printable
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.training.engine import RULES, formula_of, fraction_text, number_text, value_text
from wordpiece_studio.training.trainer import candidates_at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run
    from wordpiece_studio.training.engine import Merge

_tr = partial(QCoreApplication.translate, "lesson_questions")
_MOST_NAMED = 6  # words and pairs
_MOST_CANDIDATES = 1_000_000
_CLOSE = Fraction(1, 200)  # of the value: a rounded number is right
_FACTOR = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_BETWEEN = re.compile(r"[\s|,;·+]+")


class Solution(NamedTuple):
    """The right answer: a number, or texts; as it is shown, and how it is worked out."""

    value: Fraction | tuple[str, ...]
    text: str
    why: str


def open_lesson(path: Path, *, should_stop: Callable[[], bool] = lambda: False) -> tuple[Lesson, Project]:
    """Return a lesson with its project, if all that it asks can be answered."""
    lesson = read_lesson(path)
    project = planned_project(lesson.title, lesson.corpus, lesson.runs, lesson.pages[0].view, should_stop=should_stop)
    runs = {run.number: run for run in project.runs}
    for page in lesson.pages:
        asked = page.question
        run = runs.get(page.view.current if asked is None or asked.run is None else asked.run)
        if asked is not None and asked.kind == "ask" and run is not None:  # else a run that the student trains
            try:
                solution(asked, run, page.view.step)
            except StudioError as error:
                what = "{path}, line {line}: {reason}"
                raise file_error(path, what, "Ask something else.", line=asked.line, reason=error.what) from None
    return lesson, project


def solution(asked: Question, run: Run, step: int) -> Solution:
    """Return the answer at the step that is asked about, or else at `step`; raise a `StudioError` if there is none."""
    step = min(step if asked.step is None else asked.step, len(run.history))
    return _SOLUTIONS[asked.name](run, asked.about, step)


def is_answer(typed: str, right: Solution) -> bool:
    """Return whether what was typed is the right answer: rounded, or as a fraction; tokens with or without prefix.

    >>> eighth = Solution(Fraction(1, 8), "1/8", "")
    >>> [is_answer(each, eighth) for each in ("15 / (15 × 8)", "0.125", "0.13", "a/8", "1/0")]
    [True, True, False, False, False]
    >>> [is_answer(each, Solution(("hu", "##gs"), "", "")) for each in ("hu ##gs", "hu|gs", "hugs")]
    [True, True, False]
    """
    if isinstance(right.value, Fraction):
        number = _number(typed)
        is_whole = right.value.denominator == 1
        return number is not None and abs(number - right.value) <= (0 if is_whole else abs(right.value) * _CLOSE)
    # A comma may stand between tokens, or be one.
    typings = [[word for word in words if word] for words in (typed.split(), _BETWEEN.split(typed))]
    bare = [right.value[0], *(token.removeprefix("##") for token in right.value[1:])] if right.value else []
    return [*right.value] in typings or bare in typings


def rule_of(asked: Question, run: Run) -> str:
    """Return how the answer is found, for whoever has a wrong one."""
    if asked.name == "score":
        return filled(_tr("The objective is {rule}."), rule=RULES[run.config.objective])
    if asked.name in ("tokens", "symbols") and (asked.name == "symbols" or run.config.is_byte_pair_encoding):
        return _tr("Apply the merges in their order.")
    return {
        "n": _tr("Count it in every word, times the count of the word."),
        "merge": _tr("The pair with the best merge score is merged, and of equal ones that of the tie-breaking order."),
        "ties": _tr("Compare the merge scores before the merge, and count those that equal the best."),
        "tie_word": _tr("Read the words in the order of the corpus, and look for the pair that is merged."),
        "tokens": _tr("Take the longest token that fits, then go on with the rest of the word."),
        "words": _tr("Apply the normalizer first, then split as the pre-tokenizer does."),
        "characters": _tr("Count them after the normalizer, which may take one apart or remove it."),
        "size": _tr("Count special tokens, alphabet, and the new token of each merge."),
        "size_for": _tr("Each step adds a token to the vocabulary, and joins symbols in the corpus."),
        "step": _tr("The merge history has the step that created each token."),
    }[asked.name]


def _number(typed: str) -> Fraction | None:
    """Return the value of numbers that are multiplied, divided by others after a slash: ``15/(15 × 36)``."""
    above, _, below = typed.replace(",", "").replace("÷", "/").partition("/")
    parts = []
    for product in (above, below or "1"):
        factors = [factor.strip(" ()") for factor in re.split(r"[×*·]", product)]
        if not all(map(_FACTOR.fullmatch, factors)):
            return None
        parts.append(prod(map(Fraction, factors)))
    return Fraction(parts[0]) / parts[1] if parts[1] else None


def _some(texts: Sequence[str]) -> str:
    more = _tr(" and others") if len(texts) > _MOST_NAMED else ""
    return printable(", ".join(texts[:_MOST_NAMED])) + more


def _whole(number: int, why: str) -> Solution:
    return Solution(Fraction(number), number_text(number), printable(why))


def _count(run: Run, about: str, step: int) -> Solution:
    symbols, history = tuple(about.split()), run.history
    token_id = history.vocabulary(step).id_of(symbols[0])
    if len(symbols) == 2:
        words = history.words_with_pair(*symbols, step)
        places = [pairwise(history.segmentation(word, step)) for word, _ in words]
        number = sum(times * [*pairs].count(symbols) for (_, times), pairs in zip(words, places, strict=True))
    else:
        words = [] if token_id is None else history.words_with_token(token_id, step)
        number = history.tokens_in_use(step).get(about, 0)
    text = plural(number, _tr("{about} occurs once: {where}."), _tr("{about} occurs {number} times: {where}."))
    where = _some([f"{word} × {times:,}" for word, times in words])
    text = text if number else _tr("{about} does not occur at step {step}.")
    return _whole(number, filled(text, about=" + ".join(symbols), number=number, where=where, step=step))


def _score(run: Run, about: str, step: int) -> Solution:
    pairs = candidates_at(run.history, step, _MOST_CANDIDATES)
    pair = next((each for each in pairs if [each.left, each.right] == about.split()), None)
    if pair is None:
        raise StudioError("{pair} is no candidate at step {step}", pair=printable(about), step=step)
    value = Fraction(pair.value)
    if run.config.objective == "score":
        value = Fraction(pair.pair_frequency, pair.left_frequency * pair.right_frequency)
    text = fraction_text(value) if run.config.objective == "score" else value_text(pair.value)
    return Solution(value, text, f"{formula_of(run.config.objective, pair, pair.symbols_before).text}.")


def _merge_at(run: Run, about: str) -> Merge:
    step = int(about)
    if not 1 <= step <= len(run.history):
        raise StudioError("there is no step {step}", step=step)
    return run.history[step - 1]


def _merged(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    pair, numbers = f"{merge.left} {merge.right}", formula_of(merge.objective, merge, merge.symbols_before).text
    why = filled(_tr("{pair} becomes {token}: {numbers}."), pair=pair, token=merge.token, numbers=numbers)
    return Solution((merge.left, merge.right), pair, printable(why))


def _ties(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    pairs = [each for each in candidates_at(run.history, merge.step - 1, merge.ties) if each.value == merge.value]
    text = plural(merge.ties, _tr("Only {pairs} has {value}."), _tr("{number} pairs share {value}: {pairs}."))
    value = formula_of(merge.objective, merge, merge.symbols_before)
    shown = value.reduced[0] if merge.objective == "score" and value.reduced else value.value
    why = filled(text, number=merge.ties, value=shown, pairs=_some([f"{each.left} {each.right}" for each in pairs]))
    return _whole(merge.ties, why)


def _tie_word(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    word = run.history.words_touched(merge.step - 1)[0]
    text = _tr("{pair} occurs first in {word}, which is word {number} of the corpus.")
    number = run.history.input.words.index(word) + 1
    why = filled(text, pair=f"{merge.left} {merge.right}", word=word, number=number)
    return Solution((word,), word, printable(why))


def _listed(texts: Sequence[str], text: str, about: str, step: int) -> Solution:
    shown = printable(" ".join(texts))
    return Solution(
        tuple(texts), shown, filled(text, about=printable(about), shown=shown, step=step, number=len(texts))
    )


def _tokens(run: Run, about: str, step: int) -> Solution:
    tokens = list(map(str, run.new_tokenizer(step).encode(about).tokens))
    return _listed(tokens, _tr("At step {step}, “{about}” is split into {shown}."), about, step)


def _symbols(run: Run, about: str, step: int) -> Solution:
    symbols = run.history.segmentation(about, step)
    return _listed(symbols, _tr("At step {step}, the merges have made {shown} of “{about}”."), about, step)


def _words(run: Run, about: str, step: int) -> Solution:
    words = Pipeline(run.counts.normalizer, run.counts.pre_tokenizer).words(about)
    text = plural(len(words), _tr("“{about}” is one word: {shown}."), _tr("“{about}” becomes {number} words: {shown}."))
    return _listed(words, text, about, step)


def _characters(run: Run, about: str, _step: int) -> Solution:
    words = Pipeline(run.counts.normalizer, run.counts.pre_tokenizer).words(about)
    text = _tr("The normalizer makes {number} characters of “{about}”: {shown}.")
    number, shown = sum(map(len, words)), " ".join(character for word in words for character in word)
    return _whole(number, filled(text, number=number, about=about, shown=shown))


def _size(run: Run, about: str, _step: int) -> Solution:
    step = int(about)
    if step and step != LAST_STEP:
        _merge_at(run, about)
    size, first = run.history.vocabulary_size(step), run.history.vocabulary_size(0)
    text = _tr("{first} special tokens and characters, and {new} from the merges: {number}.")
    return _whole(size, filled(text, first=first, new=size - first, number=size))


def _size_for(run: Run, about: str, _step: int) -> Solution:
    history, wanted = run.history, int(about)
    symbols = np.append(history.column("symbols_before"), history.symbols_after(len(history)))
    steps = np.flatnonzero(symbols <= wanted)
    if not len(steps):
        raise StudioError("the corpus never has as few as {number} symbols", number=wanted)
    step = int(steps[0])
    text = counted(step, "After 1 merge", "After {count} merges")
    said = _tr("{after}, the corpus has {symbols} symbols, and the vocabulary {number} tokens.")
    number = history.vocabulary_size(step)
    return _whole(number, filled(said, after=text, symbols=int(symbols[step]), number=number))


def _step_of(run: Run, about: str, _step: int) -> Solution:
    token_id = run.history.vocabulary(len(run.history)).id_of(about)
    if token_id is None:
        raise StudioError("there is no token {token}", token=printable(about))
    step = run.history.birth_step(token_id)
    if not step:
        return _whole(0, filled(_tr("{token} is in the vocabulary before the first merge."), token=about))
    merge = run.history[step - 1]
    said = _tr("At step {step}, {pair} becomes {token}.")
    return _whole(step, filled(said, step=step, pair=f"{merge.left} {merge.right}", token=merge.token))


_SOLUTIONS: dict[str, Callable[[Run, str, int], Solution]] = {
    "n": _count, "score": _score, "merge": _merged, "ties": _ties, "tie_word": _tie_word, "tokens": _tokens,
    "symbols": _symbols, "words": _words, "characters": _characters, "size": _size,
    "size_for": _size_for, "step": _step_of,
}  # fmt: skip
