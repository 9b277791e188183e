"""The questions of a lesson, answered by the run that they are asked of: what is right, and why, in one sentence."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.samples import planned_project
from wordpiece_studio.storage.lesson import Lesson, Question, read_lesson
from wordpiece_studio.system.printable import file_error, printable
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.encoding import UnknownToken
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
_FACTOR = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|\.[0-9]{1,15}")
_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9,])")
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
        if asked is not None and asked.kind == "ask" and asked.run in runs:  # else a run that the student trains
            try:
                solution(asked, runs[asked.run])
            except StudioError as error:
                what = "{path}, line {line}: {reason}"
                raise file_error(path, what, "Ask something else.", line=asked.line, reason=error.what) from None
    return lesson, project


def solution(asked: Question, run: Run) -> Solution:
    """Return the answer; raise a `StudioError` if there is none."""
    return _SOLUTIONS[asked.name](run, asked.about, min(asked.step, len(run.history)))


def is_answer(typed: str, right: Solution) -> bool:
    """Return whether what was typed is the right answer: rounded, or as a fraction; tokens with or without prefix.

    >>> eighth = Solution(Fraction(1, 8), "1/8", "")
    >>> [is_answer(each, eighth) for each in ("15 / (15x8)", ".125", "0,13", "0.14", "0.1", "a/8", "1/0")]
    [True, True, True, False, False, False, False]
    >>> [is_answer(each, Solution(("hu", "##gs"), "", "")) for each in ("hu ##gs", "hu|gs", "hugs")]
    [True, True, False]
    """
    if isinstance(right.value, Fraction):
        typed = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), typed).replace(",", ".")
        number, digits = _number(typed), typed.strip().lstrip("0.")
        if number is None or right.value.denominator == 1:
            return number == right.value
        places = len(typed.strip().partition(".")[2]) if "/" not in typed and len(digits.replace(".", "")) > 1 else 0
        return abs(number - right.value) <= max(abs(right.value) * _CLOSE, Fraction(bool(places), 2 * 10**places))
    # A comma may stand between tokens, or be one.
    typings = [[word for word in words if word] for words in (typed.split(), _BETWEEN.split(typed))]
    bare = [right.value[0], *(token.removeprefix("##") for token in right.value[1:])] if right.value else []
    return [*right.value] in typings or bare in typings


def rule_of(asked: Question, run: Run) -> str:
    """Return how the answer is found, for whoever has a wrong one."""
    first = _tr("Before the first merge, each character is a symbol of its own.")
    merges = _tr("Apply the merges in their order.") if asked.step else first
    return {
        "n": _tr("Count it in every word, times the count of the word."),
        "score": filled(_tr("The objective is {rule}."), rule=RULES[run.config.objective]),
        "merge": _tr(
            "The pair with the best merge score is merged, and in a tie the first by the tie-breaking order. "
            "Type its two symbols with a space between them."
        ),
        "ties": _tr("Compare the merge scores before the merge, and count those that equal the best."),
        "tie_word": _tr("Read the words in the order of the corpus, and look for the pair that is merged."),
        "tokens": merges
        if run.config.is_byte_pair_encoding
        else _tr(
            "Take the longest token that fits, then go on with the rest of the word. If at some place none fits, "
            "the whole word is unknown."
        ),
        "symbols": merges,
        "words": _tr("Apply the normalizer first, then split as the pre-tokenizer does."),
        "characters": _tr("Count them after the normalizer, which may take one apart or remove it."),
        "size": _tr("Count the tokens that are there before the first merge, and the new one of each merge."),
        "size_for": _tr("Each step adds a token to the vocabulary, and joins symbols in the corpus."),
        "step": _tr("The merge history has the step that created each token."),
    }[asked.name]


def _number(typed: str) -> Fraction | None:
    """Return the value of numbers that are multiplied, divided by others after a slash: ``15/(15 × 36)``."""
    above, _, below = typed.replace("÷", "/").partition("/")
    parts = []
    for product in (above, below or "1"):
        factors = [factor.strip(" ()") for factor in re.split(r"[×xX*·]", product)]
        if not all(map(_FACTOR.fullmatch, factors)):
            return None
        parts.append(prod(map(Fraction, factors)))
    return Fraction(parts[0]) / parts[1] if parts[1] else None


def _some(texts: Sequence[str]) -> str:
    more = _tr(" and others") if len(texts) > _MOST_NAMED else ""
    return printable(", ".join(texts[:_MOST_NAMED])) + more


def _found(value: int | Sequence[str], why: str, /, **fields: object) -> Solution:
    """Return a number or texts as the answer, with a sentence, whose fields are also ``{number}`` and ``{shown}``."""
    number = value if isinstance(value, int) else len(value)
    shown = number_text(value) if isinstance(value, int) else printable(" ".join(value))
    said = printable(filled(why, **{"number": number, "shown": shown} | fields))
    return Solution(Fraction(value) if isinstance(value, int) else tuple(value), shown, said)


def _count(run: Run, about: str, step: int) -> Solution:
    symbols, history = tuple(about.split()), run.history
    if len(symbols) == 2:
        words = history.words_with_pair(*symbols, step)
        number = sum(times * [*pairwise(history.segmentation(word, step))].count(symbols) for word, times in words)
    else:
        token_id = history.vocabulary(step).id_of(about)
        words = [] if token_id is None else history.words_with_token(token_id, step)
        number = history.tokens_in_use(step).get(about, 0)
    why = plural(number, _tr("{about} occurs once: {where}."), _tr("{about} occurs {number} times: {where}."))
    why = why if number else _tr("{about} does not occur at step {step}.")
    where = _some([f"{word} × {times:,}" for word, times in words])
    return _found(number, why, about=" + ".join(symbols), where=where, step=step)


def _score(run: Run, about: str, step: int) -> Solution:
    pairs = candidates_at(run.history, step, _MOST_CANDIDATES)
    pair = next((each for each in pairs if [each.left, each.right] == about.split()), None)
    if pair is None:
        raise StudioError("{pair} is no candidate at step {step}", pair=printable(about), step=step)
    value, text = Fraction(pair.value), value_text(pair.value)
    if run.config.objective == "score":
        value = Fraction(pair.pair_frequency, pair.left_frequency * pair.right_frequency)
        text = fraction_text(value)
    return Solution(value, text, f"{formula_of(run.config.objective, pair, pair.symbols_before).text}.")


def _merge_at(run: Run, about: str) -> Merge:
    step = int(about)
    if not 1 <= step <= len(run.history):
        raise StudioError("there is no step {step}", step=step)
    return run.history[step - 1]


def _merged(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    numbers = formula_of(merge.objective, merge, merge.symbols_before).text
    pair = merge.left, merge.right
    return _found(pair, _tr("{shown} becomes {token}: {numbers}."), token=merge.token, numbers=numbers)


def _ties(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    pairs = [each for each in candidates_at(run.history, merge.step - 1, merge.ties) if each.value == merge.value]
    why = plural(merge.ties, _tr("Only {pairs} has {value}."), _tr("{number} pairs share {value}: {pairs}."))
    value = formula_of(merge.objective, merge, merge.symbols_before).short
    return _found(merge.ties, why, value=value, pairs=_some([f"{each.left} {each.right}" for each in pairs]))


def _tie_word(run: Run, about: str, _step: int) -> Solution:
    merge = _merge_at(run, about)
    word = run.history.words_touched(merge.step - 1)[0]
    why = _tr("{pair} occurs first in {shown}, which is word {number} of the corpus.")
    number = run.history.input.words.index(word) + 1
    return _found((word,), why, pair=f"{merge.left} {merge.right}", number=number)


def _tokens(run: Run, about: str, step: int) -> Solution:
    tokens = run.new_tokenizer(step).encode(about).tokens
    unknown = [each for each in tokens if isinstance(each, UnknownToken)]
    why = _tr("At step {step}, “{about}” is split into {shown}.")
    if unknown and unknown[0].reason.kind == "symbol":
        why = _tr("“{about}” becomes {shown}: {symbol} is no token, so its whole word is {token}.")
    symbol, token = (unknown[0].reason.symbol, unknown[0]) if unknown else ("", "")
    return _found(list(map(str, tokens)), why, about=about, step=step, symbol=symbol, token=token)


def _symbols(run: Run, about: str, step: int) -> Solution:
    why = _tr("At step {step}, the symbols of “{about}” are {shown}.")
    return _found(run.history.segmentation(about, step), why, about=about, step=step)


def _words(run: Run, about: str, _step: int) -> Solution:
    words = Pipeline(run.counts.normalizer, run.counts.pre_tokenizer).words(about)
    why = plural(len(words), _tr("“{about}” is one word: {shown}."), _tr("“{about}” becomes {number} words: {shown}."))
    return _found(words, why, about=about)


def _characters(run: Run, about: str, _step: int) -> Solution:
    words = Pipeline(run.counts.normalizer, run.counts.pre_tokenizer).words(about)
    why = _tr("The normalizer makes {number} characters of “{about}”: {shown}.")
    characters = "".join(words)
    return _found(len(characters), why, about=about, shown=" ".join(characters))


def _size(run: Run, about: str, _step: int) -> Solution:
    step = int(about)
    if step:
        _merge_at(run, about)
    size, first = run.history.vocabulary_size(step), run.history.vocabulary_size(0)
    why = _tr("{first} tokens before the first merge, and {new} from the merges: {number}.")
    return _found(size, why, first=first, new=size - first)


def _size_for(run: Run, about: str, _step: int) -> Solution:
    history, wanted = run.history, int(about)
    step = next((step for step in range(len(history) + 1) if history.symbols_after(step) <= wanted), None)
    if step is None:
        raise StudioError("the corpus never has as few as {number} symbols", number=wanted)
    after = counted(step, "After 1 merge", "After {count} merges")
    why = _tr("{after}, the corpus has {symbols} symbols, and the vocabulary {number} tokens.")
    return _found(history.vocabulary_size(step), why, after=after, symbols=history.symbols_after(step))


def _step_of(run: Run, about: str, _step: int) -> Solution:
    token_id = run.history.vocabulary(len(run.history)).id_of(about)
    if token_id is None:
        raise StudioError("there is no token {token}", token=printable(about))
    step = run.history.birth_step(token_id)
    if not step:
        return _found(0, _tr("{token} is in the vocabulary before the first merge."), token=about)
    merge = run.history[step - 1]
    return _found(step, _tr("At step {number}, {pair} becomes {token}."), pair=f"{merge.left} {merge.right}",
                  token=merge.token)  # fmt: skip


_SOLUTIONS: dict[str, Callable[[Run, str, int], Solution]] = {
    "n": _count, "score": _score, "merge": _merged, "ties": _ties, "tie_word": _tie_word, "tokens": _tokens,
    "symbols": _symbols, "words": _words, "characters": _characters, "size": _size,
    "size_for": _size_for, "step": _step_of,
}  # fmt: skip
