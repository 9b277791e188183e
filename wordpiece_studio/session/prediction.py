"""*Which pair is merged next?* The question at a step, what is answered, and whether that is right.

While prediction is on, nothing knows the future: the history that all panes read ends at the step. A class is asked,
and the merge revealed; or a student goes on alone, and every choice is graded by the training's own merges.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.plural import filled, plural
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.system.printable import printable
from wordpiece_studio.training.engine import Candidate, formula_of, ratio_of, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.engine import Merge

Pair = tuple[str, str]
Counts = tuple[int | None, int | None, int | None]  # n(ab), n(a), n(b) as they were counted; None if they were not
# What becomes of a wrong choice: nothing but an explanation, another try, the right merge, or no word until the end.
Exercise = Literal["", "undo", "correct", "leave"]
NO_COUNTS: Counts = (None, None, None)
_FIRST = 30  # candidates
_MOST_CELLS = 1 << 20  # characters of all distinct words in which a word is found in no time


def pair_of(either: Merge | Candidate) -> Pair:
    return either.left, either.right


def counts_of(candidate: Candidate) -> tuple[int, int, int]:
    return candidate.pair_frequency, candidate.left_frequency, candidate.right_frequency


class Answer(NamedTuple):
    """What was answered at a step; `tries` are the pairs chosen in vain before."""

    step: int
    merged: Pair
    chosen: Pair | None
    is_right: bool
    counts: Counts = NO_COUNTS
    are_counts_right: bool = True
    tries: tuple[Pair, ...] = ()


class Prediction(QObject):
    changed = Signal()  # the question, what is chosen and counted, or whether it is revealed

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.exercise: Exercise = ""
        self.answers: dict[int, Answer] = {}  # by step, the latest
        self.limit = _FIRST  # of the candidates that are asked for
        self._of = model.run  # which the answers are about
        self._others: list[tuple[object, dict[int, Answer]]] = []  # the answers about other runs
        self._was_on = False
        self._forget_question()
        model.step_changed.connect(self._ask)
        model.state_changed.connect(self._ask)
        model.candidates_changed.connect(self._on_model_candidates_changed)

    @property
    def is_on(self) -> bool:
        return self._model.hides_future

    def begin(self, exercise: Exercise = "") -> None:
        """Hide what comes after the step, and ask which pair is merged next."""
        self.exercise, self.answers, self._others = exercise, {}, []
        self._model.hide_future(True)
        self._ask()

    def end(self) -> None:
        self._model.hide_future(False)
        self._ask()

    # The question.

    def _forget_question(self) -> None:
        self.candidates: Sequence[Candidate] = ()  # in the order of the alphabet until it is revealed
        self.has_more = False
        self.chosen: Pair | None = None
        self.counts: Counts = NO_COUNTS
        self.is_revealed = False
        self.remark = ""  # about a choice that may be made anew, without saying which is right
        self._tries: tuple[Pair, ...] = ()
        self._step = self._model.step

    @property
    def step(self) -> int:
        """The merge that is asked for, from 1."""
        return self._step + 1

    @property
    def has_question(self) -> bool:
        return self.is_on and self._model.hidden_merge is not None

    def _ask(self) -> None:
        if self._model.run is not self._of:
            self._others.append((self._of, self.answers))
            self._of = self._model.run
            self.answers = next((answers for run, answers in self._others if run is self._of), {})
            self._others = [each for each in self._others if each[1] and each[0] is not self._of]
        if not (self.is_on or self._was_on):
            return
        self._was_on = self.is_on
        self._forget_question()
        self.limit = _FIRST
        if self.has_question and self._model.state is not TrainerState.TRAINING:
            self._model.request_candidates(self.limit, self._step)
        self.changed.emit()

    def ask_for_more(self) -> None:
        self.limit *= 2
        self._model.request_candidates(self.limit, self._step)

    def _on_model_candidates_changed(self) -> None:
        found = self._model.candidates
        if self.has_question and found is not None and found.step == self._step:
            self.has_more = len(found.pairs) >= self.limit
            self.candidates = found.pairs if self.is_revealed else sorted(found.pairs, key=pair_of)
            self.changed.emit()

    def candidate(self, pair: Pair | None) -> Candidate | None:
        return next((each for each in self.candidates if pair_of(each) == pair), None)

    # What is answered.

    def choose(self, pair: Pair | None) -> None:
        if self.has_question and not self.is_revealed and pair != self.chosen:
            self.chosen, self.counts, self.remark = pair, NO_COUNTS, ""
            self.changed.emit()

    def count(self, together: int | None, left: int | None, right: int | None) -> None:
        """Note how often the chosen pair and its symbols were counted: n(ab), n(a) and n(b)."""
        if not self.is_revealed and (together, left, right) != self.counts:
            self.counts = together, left, right
            self.changed.emit()

    def reveal(self) -> None:
        """Grade what is chosen, if anything is, and show which pair is merged."""
        merge = self._model.hidden_merge
        if merge is None or self.is_revealed:
            return
        self.is_revealed, self.remark = True, ""
        self.candidates = sorted(self.candidates, key=lambda each: (-each.value, pair_of(each) != pair_of(merge)))
        self._note(merge)
        self.changed.emit()

    def _note(self, merge: Merge) -> None:
        if self.chosen is not None or self._tries:
            self.answers[merge.step] = Answer(
                merge.step, pair_of(merge), self.chosen, self.is_right and not self._tries, self.counts,
                all(self.counted_right), self._tries,
            )  # fmt: skip

    def go_on(self) -> None:
        """Reveal the merge; if it is revealed, do it. In an exercise a pair must be chosen first."""
        merge = self._model.hidden_merge
        if merge is None:
            return
        if self.is_revealed:
            self._model.next_merge()
        elif self.exercise and self.chosen is None:
            self._say(self.tr("Choose a pair first."))
        elif self.exercise == "undo" and not self.is_right:
            assert self.chosen is not None
            self._tries += (self.chosen,)
            said = filled(self.tr("Not {pair}. Choose again."), pair=printable(" ".join(self.chosen)))
            self.chosen, self.counts = None, NO_COUNTS
            self._say(said)
        elif self.exercise == "leave":
            self._note(merge)
            self._model.next_merge()
        else:
            self.reveal()

    def _say(self, remark: str) -> None:
        self.remark = remark
        self.changed.emit()

    @property
    def is_right(self) -> bool:
        """Whether the pair that is chosen is the one that is merged, or one of those tied with it."""
        merge, chosen = self._model.hidden_merge, self.candidate(self.chosen)
        if merge is None or self.chosen is None:
            return False
        is_tied = chosen is not None and chosen.value == merge.value and not self._is_by_rule(merge)
        return is_tied or self.chosen == pair_of(merge)

    def _is_by_rule(self, merge: Merge) -> bool:
        config = self._model.config
        return config is not None and merge.step in config.choices

    @property
    def counted_right(self) -> list[bool]:
        """Return for each of the three counts whether it is right; what was not counted is."""
        chosen = self.candidate(self.chosen)
        actual = self.counts if chosen is None else counts_of(chosen)
        return [count in (None, number) for count, number in zip(self.counts, actual, strict=True)]

    @property
    def tally(self) -> str:
        """How many choices were right, and how many there were; empty if there were none."""
        right, asked = sum(each.is_right for each in self.answers.values()), len(self.answers)
        return filled(self.tr("{right} of {asked} right"), right=right, asked=asked) if asked else ""

    # What is said.

    def sentence(self) -> str:
        """Return why the pair is merged, and first why the one that was chosen is not."""
        merge = self._model.hidden_merge
        if merge is None and self.exercise:
            return self._summary()
        if merge is None or not self.is_revealed:
            return self.remark
        chosen, parts = self.candidate(self.chosen), []
        if self.chosen is not None:
            tied = self.tr("Right: it is tied.") if self.chosen != pair_of(merge) else self.tr("Right.")
            parts.append(tied if self.is_right else self.tr("Not this one."))
        if chosen is not None and not self.is_right:
            parts.append(self._why_not(chosen, merge))
        text = self.tr("{pair} has the highest: {numbers}.") if parts[1:] else self.tr("{pair} is merged: {numbers}.")
        if self._is_by_rule(merge):
            text = self.tr("{pair} was chosen for this step: {numbers}.")
        elif merge.ties > 1:
            text = plural(merge.ties, "", "{count} pairs share {value}: a tie. {pair} is merged, as {rule}.")
            if self.is_right and self.chosen != pair_of(merge):
                text = self.tr("Another of the {count} pairs that share {value}, {pair}, is merged by the tie-breaking "
                               "order, as {rule}.")  # fmt: skip
        parts.append(filled(
            text, pair=_name(merge), numbers=self._numbers(merge, merge), count=merge.ties, rule=self._tie_rule(merge),
            value=formula_of(merge.objective, merge, merge.symbols_before).short,
        ))  # fmt: skip
        return " ".join(parts)

    def _summary(self) -> str:
        """Return how an exercise went that is at its end."""
        answers = [self.answers[step] for step in sorted(self.answers)]
        wrong = ", ".join(str(each.step) for each in answers if not each.is_right)
        counts = ", ".join(str(each.step) for each in answers if not each.are_counts_right)
        texts = (
            ("{tally}.", self.tally),
            (self.tr("Wrong choices: merges {tally}."), wrong),
            (self.tr("Wrong counts: merges {tally}."), counts),
        )
        return " ".join(filled(text, tally=said) for text, said in texts if said)

    def _tie_rule(self, merge: Merge) -> str:
        """Return why a merge comes before those tied with it, with the word that decides if it is found at once."""
        history = self._model.history
        if history is None or history.config.tie == "ids":
            return self.tr("its symbols have the lowest IDs")
        if not history.is_whole or len(history.input.cells) > _MOST_CELLS:
            return self.tr("it occurs first in the corpus")
        word = history.words_with_pair(merge.left, merge.right, self._step, 1, in_text_order=True)[0][0]
        number = history.places.index_of(word) + 1
        text = self.tr("it occurs first: in {word}, distinct word {number}")
        text = text if number > 1 else self.tr("it occurs first: in {word}, the first word")
        return filled(text, word=printable(word), number=number)

    def _numbers(self, pair: Merge | Candidate, merge: Merge) -> str:
        """Return the merge score as it is worked out, shortly: ``20 / (36 × 20) = 1/36``."""
        formula = formula_of(merge.objective, pair, merge.symbols_before)
        return " = ".join(filter(None, (formula.numbers, formula.short)))

    def _why_not(self, chosen: Candidate, merge: Merge) -> str:
        """Return the sentence about a pair that is not merged: what it has, and what is missing."""
        text, often = self.tr("{pair} has {numbers}."), (chosen.left_frequency, chosen.right_frequency)
        if self._is_by_rule(merge):
            pass
        elif merge.objective == "count" or chosen.pair_frequency * 2 <= merge.pair_frequency:
            text = self.tr("{pair} has {numbers}: it occurs too rarely.")
        elif merge.objective == "score" and chosen.pair_frequency > merge.pair_frequency:
            counts = self._model.counts
            is_everywhere = counts is not None and max(often) * 2 >= counts.total
            text = self.tr("{pair} has {numbers}: frequent, but so are its symbols.")
            text = self.tr("{pair} has {numbers}: frequent, but {symbol} is everywhere.") if is_everywhere else text
        elif merge.objective == "score":
            text = self.tr("{pair} has {numbers}: its symbols are too frequent for that.")
        elif chosen.pair_frequency >= merge.pair_frequency:
            text = self.tr("{pair} has {numbers}: frequent, but only {ratio} times as often as expected by chance.")
        return filled(
            text, pair=_name(chosen), numbers=self._numbers(chosen, merge),
            ratio=value_text(float(ratio_of(chosen, merge.symbols_before))),
            symbol=chosen.left if often[0] >= often[1] else chosen.right,
        )  # fmt: skip

    def report(self, corpus: str, settings: str) -> str:
        """Return what was done as a page of Markdown, for a teacher to read."""
        rules: dict[Exercise, str] = {
            "": self.tr("Asked in class"), "undo": self.tr("Chosen again after a wrong choice"),
            "correct": self.tr("A wrong choice was put right"), "leave": self.tr("Graded at the end"),
        }  # fmt: skip
        columns = self.tr("Step"), self.tr("Chosen"), self.tr("n(ab), n(a), n(b)"), self.tr("Merged"), self.tr("Result")
        rows = [columns, ("---",) * len(columns)]
        for answer in (self.answers[step] for step in sorted(self.answers)):
            chosen = [*answer.tries, *([] if answer.chosen is None else [answer.chosen])]
            counts = ", ".join("–" if count is None else str(count) for count in answer.counts)
            wrong_counts = "" if answer.are_counts_right else self.tr("counts wrong")
            result = self.tr("right") if answer.is_right else self.tr("wrong")
            if answer.is_right and answer.chosen != answer.merged:
                result = self.tr("right: tied, and another is merged by the tie-breaking order")
            rows.append((
                str(answer.step), ", ".join(map(_code, chosen)), "" if answer.counts == NO_COUNTS else counts,
                _code(answer.merged), "; ".join(filter(None, (result, wrong_counts))),
            ))  # fmt: skip
        lines = [
            "# " + self.tr("Which pair is merged next?"), "", f"{corpus} · {settings}", "",
            f"{rules[self.exercise]} · {self.tally} · {time.strftime('%Y-%m-%d %H:%M')}", "",
            *("| " + " | ".join(row) + " |" for row in rows), "",
        ]  # fmt: skip
        return "\n".join(lines)


def _name(pair: Merge | Candidate) -> str:
    return printable(f"{pair.left} {pair.right}")


def _code(pair: Pair) -> str:
    """Return a pair as code in a table of Markdown, in which neither may end it."""
    return "`" + printable(" ".join(pair)).replace("`", "ˋ").replace("|", "¦") + "`"
