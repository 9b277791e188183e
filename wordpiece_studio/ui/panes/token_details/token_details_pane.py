"""The details of the selection: merge tree, parents, children, birth and words.

A low pane has one line on how the token came to be; a higher one shows everything. Every chip, word and step can be
chosen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.token_details.details_state import (
    FEW,
    MANY,
    MORE,
    DetailsState,
    Subject,
    birth_text,
    chain_items,
    children_items,
    children_of,
    chip,
    other_origin,
    shortened,
    step_item,
    subject_of,
    word_item,
)
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MergeTreeView
from wordpiece_studio.ui.widgets.chip_area import ChipFlow
from wordpiece_studio.ui.widgets.chip_style import FlowItem
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.run import Candidates
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "TokenDetails")
_HEAD_POINTS, _LONG = 5, 18  # characters
_MOST_NAME = 400  # characters passed to a screen reader
_DOTS = FlowItem("…")
_MOST_LOW = 60
"""No low pane has room for this many tokens of a word."""
_SIDES, _ABOVE, _BELOW = 14, 4, 1


class ListPart(QWidget):
    """A heading with chips below it; hidden if both are empty."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = plain_label("", self, role="heading", wrap=True)
        self.flow = ChipFlow(theme, self, points=-0.5)
        fill(QVBoxLayout(self), self.heading, self.flow, spacing=3)

    def show_items(self, heading: str, items: Sequence[FlowItem]) -> None:
        set_plain_text(self.heading, heading)
        self.flow.show_items(items, heading)
        self.setVisible(bool(items) or bool(heading))


class DetailsBody(QScrollArea):
    """Token or word, birth, figures, formula, tree, children and words."""

    def __init__(self, theme: Theme, state: DetailsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.head = ChipFlow(theme, points=_HEAD_POINTS)
        self.summary = WholeLabel(role="hint")
        self.birth = QPushButton()
        self.birth.setAccessibleName(self.tr("Go to the step that created the token"))
        self.formula = ChipFlow(theme)
        self.facts = WholeLabel()
        self.tree = MergeTreeView(theme)
        explain("step", self.birth)
        explain("merge", self.tree)
        self.parts = ListPart(theme)
        self.children_ = ListPart(theme)
        self.words = ListPart(theme)
        content = QWidget()
        content.setObjectName("scroll_contents")
        beside = fill(QVBoxLayout(), self.head, self.summary, spacing=2)
        top = fill(QHBoxLayout(), (beside, 1), (self.birth, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        parts = self.formula, self.facts, self.tree, self.parts, self.children_, self.words
        fill(QVBoxLayout(content), top, *parts, 1, margins=(14, 8, 10, 8), spacing=8)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)

    def chips(self) -> tuple[ChipFlow | MergeTreeView, ...]:
        return self.head, self.formula, self.tree, self.parts.flow, self.children_.flow, self.words.flow

    def show_head(self, item: FlowItem, name: str, summary: str, birth: int = 0) -> None:
        """Show the subject, a line about it, and a button to its birth step unless that is 0."""
        self.head.set_points(_HEAD_POINTS if len(item.text) <= _LONG else 0)
        self.head.show_items([item], name)
        self.summary.show_text(summary)
        self.birth.setVisible(birth > 0)
        self.birth.setText(self.tr("Step {step}").format(step=number_text(birth)))

    def show_no_lists(self) -> None:
        self.tree.show_tree(None, None, 0)
        for part in (self.parts, self.children_, self.words):
            part.show_items("", [])

    def show_facts(self, *sentences: str) -> None:
        text = "\n".join(sentence for sentence in sentences if sentence)
        self.facts.show_text(text)
        self.facts.setVisible(bool(text))

    def show_subject(self, history: MergeHistory, subject: Subject) -> None:
        if subject.kind == "word":
            self._fill_word(history, subject)
        elif subject.kind == "token":
            self._fill_token(history, subject)
        else:
            self._fill_unlearned(history, subject)

    # -- a token

    def _fill_token(self, history: MergeHistory, subject: Subject) -> None:
        step, name = self._state.model.step, token_text(subject.text, _MOST_NAME)
        item = FlowItem(subject.text, "chip", tip=name, faded=subject.birth > step)
        self.show_head(item, name, birth_text(subject, self._state.number_of_special, step, history), subject.birth)
        self._fill_formula(history, subject)
        self.show_facts(other_origin(subject), self._state.use(subject), self._state.best_text(subject.text))
        self.tree.show_tree(history, history.merge_tree(subject.token_id), step)
        self.parts.show_items("", [])
        self._fill_children(history, subject)
        self._fill_words(subject)

    def _fill_formula(self, history: MergeHistory, subject: Subject) -> None:
        if not subject.birth:
            self.formula.show_items([], "")
            return
        merge = history[subject.birth - 1]
        faded = subject.birth > self._state.model.step
        formula = self._state.named_formula(merge, merge.symbols_before)
        items = [chip(merge.left, faded=faded), FlowItem("+"), chip(merge.right, faded=faded)]
        items.append(FlowItem(formula, faded=faded))
        name = _tr("The pair merged into {token} and its merge score").format(token=token_text(subject.text))
        self.formula.show_items(items, name)

    def _fill_children(self, history: MergeHistory, subject: Subject) -> None:
        model, most = self._state.model, self._state.most_children
        steps = children_of(history, subject.token_id, model.merge_count)
        items = children_items(history, steps[:most].tolist(), model.step)
        if len(steps) > most and most < MANY:
            more = _tr("{count} more").format(count=number_text(len(steps) - most))
            items.append(FlowItem(more, "link", MORE, _tr("Show more")))
        heading = plural(len(steps), "Part of one later merge", "Part of {count} later merges")
        self.children_.show_items(heading.format(count=number_text(len(steps))) if items else "", items)

    def _fill_words(self, subject: Subject) -> None:
        words = self._state.words_at(subject)
        is_special = subject.token_id < self._state.number_of_special  # merges never make a special token
        if words is None or is_special or subject.birth > self._state.model.step:
            self.words.show_items("", [])
            return
        items = [word_item(word, count) for word, count in words.words]
        heading = _tr("Occurs in no word at this step")
        if words.total:
            heading = plural(
                words.total,
                "Occurs in one word at this step",
                "Occurs in {count} words at this step, most frequent first",
            )
        if words.total > len(words.words):
            items.append(FlowItem("…"))
        self.words.show_items(heading.format(count=number_text(words.total)), items)

    # -- what is not a token

    def _fill_unlearned(self, history: MergeHistory, subject: Subject) -> None:
        item = FlowItem(subject.text, "chip", faded=True)
        self.show_head(item, token_text(subject.text, _MOST_NAME), self._state.unlearned(history, subject))
        formula: list[FlowItem] = []
        if subject.pair is not None:
            left, right = subject.pair
            formula = [chip(left), FlowItem("+"), chip(right), FlowItem("→"), item]
        self.formula.show_items(formula, _tr("The pair"))
        self.show_facts()
        self.show_no_lists()

    # -- a word

    def _fill_word(self, history: MergeHistory, subject: Subject) -> None:
        state, now = self._state, self._state.model.step
        growth, name = state.growth_of(subject), token_text(subject.text, _MOST_NAME)
        self.show_head(FlowItem(subject.text, "word"), name, state.growth_said(history, subject))
        self.formula.show_items(state.word_items(history, subject), _tr("Tokens of the word at this step"))
        self.show_facts(state.cut_otherwise(history, subject), state.best_text(subject.text))
        self.show_no_lists()
        steps = growth.steps if growth is not None else ()
        items = [step_item(step, now) for step in steps[:MANY]]
        self.parts.show_items(_tr("Changed at steps") if items else "", items)


class DetailsLine(QWidget):
    """The merges of a token in one line; where not all fit, the last ones."""

    def __init__(self, theme: Theme, state: DetailsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.chain = ChipFlow(theme, points=-0.5)
        self.note = WholeLabel(role="hint")
        fill(QVBoxLayout(self), self.chain, self.note, 1, margins=(_SIDES, _ABOVE, _SIDES, _BELOW), spacing=4)

    def show_subject(self, history: MergeHistory, subject: Subject, width: int, height: int) -> None:
        room = max(width - 2 * _SIDES, 1), max(height - _ABOVE - _BELOW, 1)
        if subject.kind == "word":
            items = self._beginning(self._state.word_items(history, subject), room)
            name = self.tr("Tokens of the word")
        else:
            items = self._token_items(history, subject, room)
            name = self.tr("How {token} was built").format(token=token_text(subject.text))
        self.chain.show_items(items, name)
        self._show_note(self._note(history, subject), room[1] - self.chain.height_of(items, room[0]))

    def _token_items(self, history: MergeHistory, subject: Subject, room: tuple[int, int]) -> list[FlowItem]:
        groups: list[list[FlowItem]] = []
        if subject.kind == "token" and subject.birth:
            groups = chain_items(history, history.merge_tree(subject.token_id), self._state.model.step)
        if groups:
            return self._fitting(groups, room)
        is_learned = subject.kind == "token"
        return [FlowItem(subject.text, "chip", selected=is_learned, faded=not is_learned)]

    def _fitting(self, groups: Sequence[Sequence[FlowItem]], room: tuple[int, int]) -> list[FlowItem]:
        first = 0
        while first < len(groups) - 1 and self.chain.height_of(shortened(groups, first), room[0]) > room[1]:
            first = min(first + max(1, (len(groups) - first) // 16), len(groups) - 1)
        return shortened(groups, first)

    def _beginning(self, items: Sequence[FlowItem], room: tuple[int, int]) -> list[FlowItem]:
        """Return as many tokens of a word as fit above one line of the note, then an ellipsis if any are left out."""
        width, height = room[0], max(room[1] - self.note.fontMetrics().height() - 6, 1)
        if self.chain.height_of(items, width) <= height:
            return list(items)
        fits = [self.chain.height_of([*items[:count], _DOTS], width) <= height for count in range(1, _MOST_LOW)]
        return [*items[: max(fits.count(True), 1)], _DOTS]

    def _note(self, history: MergeHistory, subject: Subject) -> str:
        state, step = self._state, self._state.model.step
        if subject.kind == "word":
            return f"{state.growth_said(history, subject)}\n{state.best_text(subject.text)}".strip()
        if subject.kind != "token":
            return state.unlearned(history, subject)
        summary = birth_text(subject, state.number_of_special, step, history)
        return f"{summary}\n{state.use(subject)}".strip()

    def _show_note(self, text: str, room: int) -> None:
        """Show as many lines of a text as fit."""
        lines = text.split("\n")
        height, width = self.note.fontMetrics().height(), max(self.chain.width(), 1)
        while lines:
            needed = sum(1 + self.note.fontMetrics().horizontalAdvance(line) // width for line in lines) * height + 6
            if needed <= room:
                break
            lines.pop()
        self.note.show_text("\n".join(lines))
        self.note.setVisible(bool(lines))


_SMALLEST = QSize(120, 44)
_LOW_LINES = 9
"""A pane lower than this many lines of text is low."""


class TokenDetailsPane(Pane):
    """Shows what is known about the selection."""

    def __init__(self, model: TrainerModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent, usage=usage)
        self._state = DetailsState(model, usage, self)
        self._subject: Subject | None = None
        self.body = DetailsBody(theme, self._state, self)
        self.line = DetailsLine(theme, self._state, self)
        self.empty = QWidget(self)
        self.empty_text = WholeLabel(role="hint")
        self.show_merge = QPushButton(self.tr("Show this merge’s token"))
        parts = self.empty_text, (self.show_merge, 0, Qt.AlignmentFlag.AlignLeft), 1
        fill(QVBoxLayout(self.empty), *parts, margins=(14, 5, 14, 3), spacing=4)
        self._stack = QStackedLayout(self)
        for page in (self.empty, self.line, self.body):
            self._stack.addWidget(page)
        self._connect(usage)

    def _connect(self, usage: TokenUsage) -> None:
        for chips in (self.line.chain, *self.body.chips()):
            chips.chosen.connect(self._on_chips_chosen)
        self.body.birth.clicked.connect(self._on_birth_clicked)
        self.show_merge.clicked.connect(self._on_show_merge_clicked)
        self.follow(usage.changed, self._model.step_changed, self._model.merges_appended)
        for task in self._state.tasks:
            self.follow(task.finished, task.failed)
        self._model.selection_changed.connect(self._on_model_selection_changed)
        self._model.candidates_changed.connect(self._on_model_candidates_changed)

    @property
    def is_low(self) -> bool:
        return self.height() < _LOW_LINES * self.fontMetrics().height()

    # -- contents

    def forget(self) -> None:
        self._state.forget()

    def refresh(self) -> None:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            self._subject = None
            self._show_nothing(history)
            return
        self._subject = subject_of(history, selection, self._model.merge_count)
        self._show_heading(self._subject)
        self._state.look_up(history, self._subject, with_words=not self.is_low)
        if self.is_low:
            self._stack.setCurrentWidget(self.line)
            self.line.show_subject(history, self._subject, self.width(), self.height())
        else:
            self._stack.setCurrentWidget(self.body)
            self.body.show_subject(history, self._subject)

    def _show_nothing(self, history: MergeHistory | None) -> None:
        self._stack.setCurrentWidget(self.empty)
        self.set_heading()
        text = self.tr("Click any token to see how it was built and where it occurs.")
        if history is None:
            text = self.tr("Nothing has been trained yet. Train to see how each token was built.")
        elif self.is_low:
            text = self.tr("Click any token.")
        self.empty_text.show_text(text)
        self.show_merge.setVisible(history is not None and self._model.step > 0)

    def _show_heading(self, subject: Subject) -> None:
        hint = token_text(subject.text, 40)
        if subject.birth > self._model.step:
            hint = self.tr("{token} · created at step {step}").format(token=hint, step=number_text(subject.birth))
        self.set_heading(hint)

    def close_jobs(self) -> None:
        for task in self._state.tasks:
            task.close()

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
        elif target == MORE:
            self._state.most_children = MANY
            self.refresh_later()

    def _on_birth_clicked(self) -> None:
        if self._subject is not None and self._subject.birth > 0:
            self._model.seek(self._subject.birth)

    def _on_show_merge_clicked(self) -> None:
        history, step = self._model.history, self._model.step
        if history is not None and step:
            self._model.set_selection(Selection("token", text=history[step - 1].token))

    def _on_model_selection_changed(self) -> None:
        self._state.most_children = FEW
        self.refresh_later()

    def _on_model_candidates_changed(self, candidates: Candidates) -> None:
        self._state.candidates = candidates
        if self._subject is not None and self._subject.kind == "pair":
            self.refresh_later()
