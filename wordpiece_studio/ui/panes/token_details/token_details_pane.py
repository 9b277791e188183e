"""The details of the selection: merge tree, parents, children, birth and words; in a low pane, one line."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from wordpiece_studio.libraries.library_child import WORD_MARK
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.step_marks import step_of_pair, text_of_token
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.token_usage import growth_of_word, words_of_token
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MergeTreeView, merges_of
from wordpiece_studio.ui.widgets.chips import ChipArea, ChipFlow, FlowItem
from wordpiece_studio.ui.widgets.pane import BareArea, Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, explain, plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import dead_sentence, formula_of, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, Segmentation
    from wordpiece_studio.session.token_usage import TokenUsage, TokenWords, WordGrowth
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory, MergeTree
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "TokenDetails")
_HEAD_POINTS, _LONG = 5, 18  # characters
_MOST_NAME = 400  # characters passed to a screen reader
_DOTS = FlowItem("…")
_SIDES, _ABOVE, _BELOW = 14, 4, 1
_MORE = "more"  # the target of the link that shows the rest of a list
_FEW, _MANY = 24, 500  # how many children, or steps of a word, are shown at first and at most


@dataclass(frozen=True, slots=True)
class Subject:
    """What is selected: a token, also the one that a pair makes; a text that is no token of this run; or a word."""

    kind: Literal["token", "unlearned", "word"]
    text: str
    token_id: int = -1
    birth: int = -1  # the step that made it, 0 for special tokens and the alphabet; -1: none
    pair: tuple[str, str] | None = None  # if a pair is selected
    pair_step: int = 0  # the first that merged it; 0: none
    is_special: bool = False


def subject_of(history: MergeHistory, selection: Selection, end: int) -> Subject:
    if selection.kind == "word":
        return Subject("word", selection.text)
    vocabulary = history.vocabulary(end)
    pair, text, step = None, text_of_token(selection, vocabulary), 0
    if selection.kind == "pair":
        pair = (selection.left, selection.right)
        step = step_of_pair(selection, history, end) or 0
    token_id = vocabulary.id_of(text)
    if token_id is None:
        return Subject("unlearned", text, pair=pair)
    is_special = token_id < len(history.config.reserved_tokens)
    return Subject("token", text, token_id, history.birth_step(token_id), pair, step, is_special)


def formula_in_short(pair: Merge | Candidate, symbols: int, history: MergeHistory) -> str:
    """Return the value of a pair with the numbers it was computed from; `symbols` is N before the merge."""
    formula = formula_of(history.config.objective, pair, symbols)
    return f"{formula.numbers or formula.rule} = {formula.value}"


# What is said about it.


def usage_text(frequency: int, words: int, *, is_as_trained: bool = False) -> str:
    """Return how often a token is used on the corpus, or stands in the words as they were trained."""
    if not frequency:
        return _tr("No word of the corpus contains it.") if is_as_trained else ""
    if is_as_trained:
        return counted(
            frequency, "It occurs once in the corpus.",
            "It occurs {count} times in the corpus; distinct words: {words}.", words=words,
        )  # fmt: skip
    return counted(
        frequency, "It is used once in the corpus.",
        "It is used {count} times in the corpus; distinct words: {words}.", words=words,
    )  # fmt: skip


def unknown_text(words: int, occurrences: int) -> str:
    if not words:
        return _tr("No word in the corpus is unknown.")
    text = plural(
        words, "One word in the corpus is unknown; occurrences: {count}.",
        "{words} distinct words in the corpus are unknown; occurrences: {count}.",
    )  # fmt: skip
    return filled(text, words=words, count=occurrences)


def other_origin(subject: Subject) -> str:
    """Return what is unusual about a pair whose token exists; empty if nothing is."""
    if subject.pair is None or subject.pair_step == subject.birth:
        return ""
    text = _tr("The pair {left} + {right} was not merged; another pair created the token.")
    if subject.pair_step:
        text = _tr("The pair {left} + {right} created it again at step {step}.")
    left, right = map(token_text, subject.pair)
    return filled(text, left=left, right=right, step=subject.pair_step)


def unborn_pair(formula: str = "", step: int = 0) -> str:
    if not formula:
        return _tr("Not learned yet.")
    text = plural(
        step, "Not learned yet. A candidate after 1 merge: {formula}",
        "Not learned yet. A candidate after {step} merges: {formula}",
    )  # fmt: skip
    return filled(text, step=step, formula=formula)


def growth_text(growth: WordGrowth, step: int) -> str:
    """Return how often a word occurs, and since when it has been a single token; step -1: there are no steps."""
    if growth.index is None:
        return _tr("Not a word of the training corpus.")
    times = counted(growth.count, "Once in the corpus.", "{count} times in the corpus.")
    if step < 0:
        return times
    if not growth.is_whole:
        text = _tr("Still several tokens after the last merge.")
    elif not growth.steps:
        text = _tr("A single symbol from the start.")
    else:
        last = growth.steps[-1]
        text = _tr("One token since step {step}.") if last <= step else _tr("One token from step {step}.")
        text = filled(text, step=last)
    return f"{times} {text}"


def chip(token: str, *, faded: bool = False, selected: bool = False, tip: str = "") -> FlowItem:
    return FlowItem(token, "chip", Selection("token", text=token), tip or token_text(token, 400), faded, selected)


def born_chip(token: str, step: int, now: int, *, selected: bool = False) -> FlowItem:
    tip = filled(_tr("{token}, created at step {step}"), token=token_text(token), step=step)
    return chip(token, faded=step > now, selected=selected, tip=tip)


def word_item(word: str, count: int) -> FlowItem:
    times = f" ×{number_text(count)}" if count > 1 else ""
    return FlowItem(f"{token_text(word, 40)}{times}", "word", Selection("word", text=word), token_text(word, 400))


def step_item(step: int, now: int) -> FlowItem:
    return FlowItem(number_text(step), "link", step, filled(_tr("Go to step {step}"), step=step), faded=step > now)


def chain_items(history: MergeHistory, tree: MergeTree, now: int) -> list[list[FlowItem]]:
    """Return the merges that made a token, one list per merge: ``##fu + ##l → ##ful``, then ``+ ##l → ##full``.

    A merge whose left part is not the previous result starts over with both parts.
    """
    groups: list[list[FlowItem]] = []
    made = -1
    for merge in merges_of(tree):
        assert merge.left is not None  # this is a merge
        assert merge.right is not None
        left, right, token = (history.token(node.token_id) for node in (merge.left, merge.right, merge))
        faded = merge.step > now
        group = [] if merge.left.token_id == made else [chip(left, faded=faded)]
        if group and groups:
            group.insert(0, FlowItem("·"))
        group += [FlowItem("+"), chip(right, faded=faded), FlowItem("→")]
        group.append(born_chip(token, merge.step, now, selected=merge is tree))
        groups.append(group)
        made = merge.token_id
    return groups


def shortened(groups: Sequence[Sequence[FlowItem]], first: int) -> list[FlowItem]:
    """Return the merges of a chain from index `first` on, after an ellipsis for those left out."""
    items = [item for group in groups[first:] for item in group]
    if not first:
        return items
    return [_DOTS, *(items[1:] if items and items[0].text == "·" else items)]


# Where it is shown.


NamedItems = tuple[str, "Sequence[FlowItem]"]  # items under a heading, which is also their accessible name
_NO_ITEMS: NamedItems = "", ()


class ListPart(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = plain_label("", self, role="heading", wrap=True)
        self.flow = ChipFlow(theme, self, points=-0.5)
        fill(QVBoxLayout(self), self.heading, self.flow, spacing=3)

    def show_items(self, heading: str, items: Sequence[FlowItem]) -> None:
        set_plain_text(self.heading, heading)
        self.flow.show_items(items, heading)
        self.setVisible(bool(items) or bool(heading))


class DetailsBody(BareArea):
    """Token or word, birth, figures, formula, tree, children and words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        content = QWidget()
        super().__init__(content, parent)
        self.head = ChipFlow(theme, points=_HEAD_POINTS)
        self.summary = WholeLabel(role="hint")
        self.birth = QPushButton()
        self.birth.setAccessibleName(_tr("Go to the step that created the token"))
        self.formula = ChipFlow(theme)
        self.facts = WholeLabel()
        self.tree = MergeTreeView(theme)
        explain("step", self.birth)
        explain("merge", self.tree)
        self.parts, self.children_, self.words = ListPart(theme), ListPart(theme), ListPart(theme)
        beside = fill(QVBoxLayout(), self.head, self.summary, spacing=2)
        top = fill(QHBoxLayout(), (beside, 1), (self.birth, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        parts = self.formula, self.facts, self.tree, self.parts, self.children_, self.words
        fill(QVBoxLayout(content), top, *parts, 1, margins=(14, 8, 10, 8), spacing=8)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_content(
        self, head: FlowItem, summary: str, formula: NamedItems = _NO_ITEMS, *, birth: int = 0,
        facts: Sequence[str] = (), parts: NamedItems = _NO_ITEMS, children: NamedItems = _NO_ITEMS,
        words: NamedItems = _NO_ITEMS,
    ) -> None:  # fmt: skip
        self.head.set_points(_HEAD_POINTS if len(head.text) <= _LONG else 0)
        self.head.show_items([head], token_text(head.text, _MOST_NAME))
        self.summary.show_text(summary)
        self.birth.setVisible(birth > 0)
        self.birth.setText(filled(_tr("Step {step}"), step=birth))
        name, items = formula
        self.formula.show_items(items, name if items else "")
        self.facts.show_text("\n".join(filter(None, facts)))
        self.parts.show_items(*parts)
        self.children_.show_items(*children)
        self.words.show_items(*words)


class DetailsLine(QWidget):
    """The merges of a token in one line, or the tokens of a word, and as much of a note as fits below."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chain = ChipFlow(theme, points=-0.5)
        self.note = WholeLabel(role="hint")
        fill(QVBoxLayout(self), self.chain, self.note, 1, margins=(_SIDES, _ABOVE, _SIDES, _BELOW), spacing=4)

    def show_line(self, items: Sequence[FlowItem], name: str, note: str, room: QSize) -> None:
        self.chain.show_items(items, name)
        height, lines = room.height() - self.chain.height_of(items, room.width()), note.split("\n")
        metrics, width = self.note.fontMetrics(), max(self.chain.width(), 1)
        while lines:
            needed = sum(1 + metrics.horizontalAdvance(line) // width for line in lines) * metrics.height() + 6
            if needed <= height:
                break
            lines.pop()
        self.note.show_text("\n".join(lines))

    def fitting(
        self, variant: Callable[[int], Sequence[FlowItem]], variants: int, width: int, height: int
    ) -> Sequence[FlowItem]:
        """Return the first of so many variants, each shorter than the one before, that fits; else the last."""

        def fits(number: int) -> bool:
            return self.chain.height_of(variant(number), width) <= height

        return variant(bisect_left(range(variants - 1), True, key=fits))

    def first_tokens(self, items: Sequence[FlowItem], room: QSize) -> Sequence[FlowItem]:
        """Return as many tokens of a word as fit above one line of the note, then an ellipsis if any are left out."""
        most = min(len(items), 60)  # no low pane has room for this many tokens of a word

        def without(left_out: int) -> Sequence[FlowItem]:
            return [*items[: most - left_out], _DOTS] if left_out else items

        return self.fitting(without, most, room.width(), room.height() - self.note.fontMetrics().height() - 6)


def _best_splits(library: LibraryTokenizer, text: str) -> list[Segmentation]:
    return library.best_segmentations(text.removeprefix(WORD_MARK) if library.kind == "SentencePiece" else text)


def _answer(task: Task, *request: object) -> Any:
    return task.answer if task.answered is not None and task.answered[: len(request)] == request else None


_SMALLEST = QSize(120, 44)


class TokenDetailsPane(Pane):
    def __init__(self, model: TrainerModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent, usage=usage)
        self._usage = usage
        self._birth = 0
        self._most_children = _FEW
        self._words = Task(words_of_token, "The words with a token cannot be found", self)
        self._growth = Task(growth_of_word, "The words with a token cannot be found", self)
        self._best = Task(_best_splits, "The best splits cannot be found", self)  # by the library of the run
        self._tasks = self._words, self._growth, self._best
        self.body = DetailsBody(theme, self)
        self.line = DetailsLine(theme, self)
        self.empty = QWidget(self)
        self.empty_text = WholeLabel(role="hint")
        self.show_merge = QPushButton(self.tr("Show this merge’s token"))
        parts = self.empty_text, (self.show_merge, 0, Qt.AlignmentFlag.AlignLeft), 1
        fill(QVBoxLayout(self.empty), *parts, margins=(14, 5, 14, 3), spacing=4)
        self._stack = QStackedLayout(self)
        for page in (self.empty, self.line, self.body):
            self._stack.addWidget(page)
        for chips in self.findChildren(ChipArea):
            chips.chosen.connect(self._on_chips_chosen)
        self.body.birth.clicked.connect(lambda: model.seek(self._birth))
        self.show_merge.clicked.connect(self._on_show_merge_clicked)
        self.follow(usage.changed, model.step_changed, model.merges_appended, model.candidates_changed)
        for task in self._tasks:
            self.follow(task.finished, task.failed)
        model.selection_changed.connect(self._on_model_selection_changed)

    @property
    def is_low(self) -> bool:
        return self.height() < 9 * self.fontMetrics().height()  # a pane lower than this many lines of text is low

    # -- contents

    def forget(self) -> None:
        for task in self._tasks:
            task.forget()
        if not self.body.tree.isVisible():  # else it would flicker
            self.body.tree.show_tree(None, None, 0)

    def refresh(self) -> None:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            self._show_nothing(history)
            return
        subject, step = subject_of(history, selection, self._model.merge_count), self._model.step
        self._birth, hint = subject.birth, token_text(subject.text, 40)
        if subject.birth > step:
            hint = filled(self.tr("{token} · created at step {step}"), token=hint, step=subject.birth)
        self.set_heading(hint)
        self._look_up(history, subject)
        self._stack.setCurrentWidget(self.line if self.is_low else self.body)
        if self.is_low:
            self._show_line(history, subject)
            return
        show = {"token": self._show_token, "unlearned": self._show_unlearned, "word": self._show_word}[subject.kind]
        show(history, subject)
        tree = history.merge_tree(subject.token_id) if subject.kind == "token" else None
        self.body.tree.show_tree(history, tree, step)

    def _show_nothing(self, history: MergeHistory | None) -> None:
        self._stack.setCurrentWidget(self.empty)
        self.body.tree.show_tree(None, None, 0)
        self.line.show_line((), "", "", QSize())
        self.set_heading()
        text = self.tr("Click any token to see how it was built and where it occurs.")
        if history is None:
            text = self.tr("Nothing has been trained yet. Train to see how each token was built.")
        elif self.is_low:
            text = self.tr("Click any token.")
        self.empty_text.show_text(text)
        self.show_merge.setVisible(history is not None and self._model.step > 0)

    def _show_line(self, history: MergeHistory, subject: Subject) -> None:
        room = QSize(max(self.width() - 2 * _SIDES, 1), max(self.height() - _ABOVE - _BELOW, 1))
        items: Sequence[FlowItem]
        name = self.tr("How {token} was built").format(token=token_text(subject.text))
        if subject.kind == "word":
            name = self.tr("Tokens of the word")
            said, tokens, _otherwise = self._cut(history, subject)
            items = self.line.first_tokens(tokens, room)
            note = f"{said}\n{self._best_text(subject.text)}".strip()
        elif subject.kind == "unlearned":
            items = [FlowItem(subject.text, "chip", faded=True)]
            note = self._why_unlearned(history, subject)
        else:
            items = [FlowItem(subject.text, "chip", selected=True)]
            if subject.birth:
                chain = chain_items(history, history.merge_tree(subject.token_id), self._model.step)
                items = self.line.fitting(partial(shortened, chain), len(chain), room.width(), room.height())
            note = f"{self._birth_text(history, subject)}\n{self._use(history, subject)}".strip()
        self.line.show_line(items, name, note, room)

    # -- what is looked up: what needs a search of the whole corpus, or another library

    def _look_up(self, history: MergeHistory, subject: Subject) -> None:
        model, usage = self._model, self._usage
        if subject.kind == "word":
            self._growth.ask(history, subject.text, model.merge_count)
        elif subject.kind == "token" and subject.birth <= model.step and not self.is_low:
            is_dead = usage.is_current and usage.reason(subject.token_id) is not None
            self._words.ask(history, subject.token_id, model.step, usage.reasons if is_dead else None)
        run = model.run
        if run is not None and run.library is not None and run.has_best_segmentations and not subject.is_special:
            self._best.ask(run.library, subject.text)
        else:
            self._best.stop()

    def _best_text(self, word: str) -> str:
        if self._best.error is not None:
            return str(self._best.error)
        if self._best.answered is None or self._best.answered[1] != word or not self._best.answer:
            return ""
        lines = [f"{each.score:.3f}   {' '.join(map(token_text, each.tokens))}" for each in self._best.answer]
        return "\n".join([_tr("Most probable splits, with log probabilities:"), *lines])

    # -- a token

    def _show_token(self, history: MergeHistory, subject: Subject) -> None:
        is_born = subject.birth <= self._model.step
        self.body.show_content(
            FlowItem(subject.text, "chip", tip=token_text(subject.text, _MOST_NAME), faded=not is_born),
            self._birth_text(history, subject),
            self._parents(history, subject) if subject.birth else _NO_ITEMS,
            birth=subject.birth,
            facts=(other_origin(subject), self._use(history, subject), self._best_text(subject.text)),
            children=self._children(history, subject),
            # Merges never make a special token.
            words=self._words_with(history, subject) if is_born and not subject.is_special else _NO_ITEMS,
        )

    def _birth_text(self, history: MergeHistory, subject: Subject) -> str:
        step = self._model.step
        if subject.is_special:
            kind = _tr("special token")
        elif history.scores is not None:
            kind = filled(_tr("score {score}"), score=f"{history.scores[subject.token_id]:.3f}")
        elif not history.has_steps:
            kind = _tr("step not recorded")
        elif not subject.birth:
            is_required = subject.text in history.config.required_tokens
            kind = _tr("required from the start") if is_required else _tr("in the alphabet from the start")
        elif subject.birth > step:
            kind = _tr("not created until step {birth}; now at step {step}")
        else:
            kind = _tr("created at step {birth}")
        return filled(_tr("ID {id}") + " · " + kind, id=subject.token_id, step=step, birth=subject.birth)

    def _parents(self, history: MergeHistory, subject: Subject) -> NamedItems:
        merge, faded = history[subject.birth - 1], subject.birth > self._model.step
        named = {"score": _tr("score {formula}"), "likelihood": _tr("gain {formula}"), "count": "{formula}"}
        formula = named[history.config.objective].format(formula=formula_in_short(merge, merge.symbols_before, history))
        items = [chip(merge.left, faded=faded), FlowItem("+"), chip(merge.right, faded=faded)]
        name = _tr("The pair merged into {token} and its merge score").format(token=token_text(subject.text))
        return name, [*items, FlowItem(formula, faded=faded)]

    def _use(self, history: MergeHistory, subject: Subject) -> str:
        usage, token_id = self._usage, subject.token_id
        if subject.birth > self._model.step or not usage.is_current or token_id >= len(usage.frequencies):
            return ""
        if subject.is_special and subject.text == history.vocabulary(self._model.step).unk_token:
            return unknown_text(*usage.unknown_words)
        reason = usage.reason(token_id)
        if reason is None:
            figures = int(usage.frequencies[token_id]), int(usage.word_counts[token_id])
            return usage_text(*figures, is_as_trained=usage.reasons is None)
        words: TokenWords | None = _answer(self._words, history, token_id)
        return dead_sentence(reason, None if words is None else words.spelled)

    def _children(self, history: MergeHistory, subject: Subject) -> NamedItems:
        most, end = self._most_children, self._model.merge_count
        lefts, rights = history.column("left_id")[:end], history.column("right_id")[:end]
        steps = np.flatnonzero((lefts == subject.token_id) | (rights == subject.token_id)) + 1
        items: dict[str, FlowItem] = {}
        for step in steps[:most].tolist():
            token = history.token(int(history.column("new_id")[step - 1]))
            items.setdefault(token, born_chip(token, step, self._model.step))
        shown = list(items.values())
        left_out = len(steps) - most
        if left_out > 0 and most < _MANY:
            shown.append(FlowItem(filled(_tr("{count} more"), count=left_out), "link", _MORE, _tr("Show more")))
        return counted(len(steps), "Part of one later merge", "Part of {count} later merges") if shown else "", shown

    def _words_with(self, history: MergeHistory, subject: Subject) -> NamedItems:
        found: TokenWords | None = _answer(self._words, history, subject.token_id, self._model.step)
        if found is None:
            return _NO_ITEMS
        if not found.total:
            is_required = subject.text in history.config.required_tokens  # it is not merging that uses it
            return ("" if is_required else _tr("Occurs in no word at this step")), ()
        items = [word_item(word, count) for word, count in found.words]
        if found.total > len(found.words):
            items.append(_DOTS)
        heading = counted(
            found.total, "Occurs in one word at this step", "Occurs in {count} words at this step, most frequent first"
        )
        return heading, items

    # -- what is not a token

    def _show_unlearned(self, history: MergeHistory, subject: Subject) -> None:
        item, items = FlowItem(subject.text, "chip", faded=True), list[FlowItem]()
        if subject.pair is not None:
            left, right = map(chip, subject.pair)
            items = [left, FlowItem("+"), right, FlowItem("→"), item]
        self.body.show_content(item, self._why_unlearned(history, subject), (_tr("The pair"), items))

    def _why_unlearned(self, history: MergeHistory, subject: Subject) -> str:
        if subject.pair is None:
            return _tr("Not in the vocabulary of this run.")
        candidates = self._model.candidates
        if candidates is None or abs(candidates.step - self._model.step) > 1:
            return unborn_pair()
        found = next((each for each in candidates.pairs if (each.left, each.right) == subject.pair), None)
        if found is None:
            return unborn_pair()
        return unborn_pair(formula_in_short(found, history.symbols_after(candidates.step), history), candidates.step)

    # -- a word

    def _show_word(self, history: MergeHistory, subject: Subject) -> None:
        growth: WordGrowth | None = _answer(self._growth, history, subject.text)
        said, items, otherwise = self._cut(history, subject)
        steps = growth.steps[:_MANY] if growth is not None else ()
        self.body.show_content(
            FlowItem(subject.text, "word"),
            said,
            (_tr("Tokens of the word at this step"), items),
            facts=(otherwise, self._best_text(subject.text)),
            parts=(_tr("Changed at steps") if steps else "", [step_item(step, self._model.step) for step in steps]),
        )

    def _cut(self, history: MergeHistory, subject: Subject) -> tuple[str, list[FlowItem], str]:
        """Return what is said of a word, its tokens, and how longest match splits it if that differs.

        The tokens are as merged; those of a word that is not in the training corpus, as longest match splits it.
        """
        growth: WordGrowth | None = _answer(self._growth, history, subject.text)
        if growth is None:
            return "", [FlowItem(subject.text, "word")], ""
        said, longest = growth_text(growth, self._model.step if history.has_steps else -1), list[str]()
        if (tokenizer := self._model.tokenizer_at(self._model.step)) is not None:
            spans = tokenizer.spans(subject.text)
            longest = [tokenizer.vocabulary.unk_token] if spans is None else [token for token, _, _ in spans]
        if growth.index is None:
            return said, list(map(chip, longest)), ""
        tokens = history.places.tokens(growth.index, self._model.step)
        otherwise = _tr("Longest match splits it differently: {tokens}")
        otherwise = otherwise.format(tokens=" ".join(map(token_text, longest)))
        return said, list(map(chip, tokens)), "" if longest == tokens else otherwise

    # -- events

    def minimumSizeHint(self) -> QSize:
        return _SMALLEST  # not that of the largest page

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh_later()

    def _on_chips_chosen(self, target: object) -> None:
        if isinstance(target, Selection):
            self._model.set_selection(target)
        elif isinstance(target, int):
            self._model.seek(target)
        elif target == _MORE:
            self._most_children = _MANY
            self.refresh_later()

    def _on_show_merge_clicked(self) -> None:
        if (history := self._model.history) is not None:
            self._model.set_selection(Selection("token", text=history[self._model.step - 1].token))

    def _on_model_selection_changed(self) -> None:
        self._most_children = _FEW
        self.refresh_later()
